"""Killed at every named point of a request: how far it came is what the books say, and a retry gets just that."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.ledger.conftest import new_database
from tests.ledger.crash.points import POINTS, kill_at_points, kill_while_made
from tests.processes import in_clean_process

AS_FAR_AS: dict[str, tuple[str, list[str]]] = {name: (reached, []) for name, (_, _, reached) in POINTS.items()}


def test_killed_at_every_point_on_a_file() -> None:
    assert in_clean_process(kill_at_points, None) == AS_FAR_AS


def test_killed_at_every_point_on_a_server(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert in_clean_process(kill_at_points, new_database(server)) == AS_FAR_AS


def test_a_ledger_whose_maker_was_killed_can_be_opened(tmp_path: Path) -> None:
    assert in_clean_process(kill_while_made, str(tmp_path)) == ["opened"] * 3
