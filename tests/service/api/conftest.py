"""Programs and certificates without a process for each, for tests that are about something else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from viameter.service.api import proofs


@pytest.fixture(scope="module")
def no_processes() -> Iterator[None]:
    """Programs are not verified, and no certificate holds: processes of their own would take a while to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proofs, "verify_submitted", lambda *_, **__: [])
        patch.setattr(proofs, "check_submitted", lambda *_, **__: {"holds": False, "report": ""})
        yield
