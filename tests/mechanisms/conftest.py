"""Oracles compute with `PRECISION` bits, and leave the caller's context as it was; noise that does as it is told."""

from collections.abc import Iterator

import gmpy2  # type: ignore[import-untyped]
import pytest
from tests.mechanisms.oracles import PRECISION, Script

from viameter.mechanisms import additive


@pytest.fixture(autouse=True)
def _precise() -> Iterator[None]:
    with gmpy2.context(precision=PRECISION):
        yield


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """What both kinds of noise are drawn from, in mechanisms that are made after this."""
    told = Script()
    monkeypatch.setattr(additive, "discrete_laplace", told)
    monkeypatch.setattr(additive, "discrete_gaussian", told)
    return told
