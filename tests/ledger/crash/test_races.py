"""Many processes and threads ask for four times what there is: just that much is accepted, and the sum is exact."""

from __future__ import annotations

import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.ledger.conftest import SPACE, new_database
from tests.ledger.crash.clients import COST
from tests.ledger.crash.races import charge, race, race_to_open
from tests.ledger.crash.referee import in_the_books, read_database
from tests.processes import folder_in_memory, in_clean_process

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerUnavailable
from viameter.ledger.stores import files

EACH = pytest.mark.parametrize(
    ("each", "expected"),
    [
        (200, Counter(all=400, some=120)),
        pytest.param(500, Counter(all=1000, some=300), marks=pytest.mark.long),
        pytest.param(500, Counter(all=1000), marks=pytest.mark.long),
    ],
)
"""How much each of the processes asks for: of a hundred by each, who checks first and charges later is found."""


@EACH
def test_a_race_of_processes_on_a_file(each: int, expected: Counter[str]) -> None:
    with folder_in_memory() as folder:
        accepted, wrong = in_clean_process(race, str(folder / "budget.db"), two_scopes="some" in expected, each=each)
    assert wrong == []
    assert accepted == expected


@EACH
def test_a_race_of_processes_on_a_server(
    each: int, expected: Counter[str], server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    accepted, wrong = in_clean_process(race, new_database(server), two_scopes="some" in expected, each=each)
    assert wrong == []
    assert accepted == expected


def test_threads_share_a_ledger() -> None:
    with folder_in_memory() as folder, ledgers.open(folder / "budget.db") as book:
        book.define("all", vm.pure(COST.epsilon * 100), SPACE)
        with ThreadPoolExecutor(64) as pool:
            accepted = list(pool.map(lambda number: charge(book, f"{number}", ["all"]), range(640)))
        assert sum(accepted) == 100 and book.scope("all").left == vm.pure(0)
        assert ledgers.verify(book).ok
        assert list(in_the_books(read_database(str(folder / "budget.db")))) == []


def test_threads_share_a_ledger_in_memory() -> None:
    book = ledgers.in_memory()
    book.define("all", vm.pure(COST.epsilon * 100), SPACE)
    with ThreadPoolExecutor(64) as pool:
        accepted = list(pool.map(lambda number: charge(book, f"{number}", ["all"]), range(640)))
    assert sum(accepted) == 100 and book.scope("all").left == vm.pure(0)
    assert ledgers.verify(book).ok


def test_a_new_ledger_is_opened_by_many_at_once() -> None:
    with folder_in_memory() as folder:
        assert in_clean_process(race_to_open, str(folder)) == []


def test_a_file_that_is_somebody_elses_for_a_moment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where another process is about to write to a file without a log, SQLite refuses at once to turn it on.
    other = sqlite3.connect(tmp_path / "budget.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    refused: list[float] = []

    def pause(seconds: float) -> None:
        refused.append(seconds)
        other.execute("ROLLBACK")

    with closing(other):
        monkeypatch.setattr(files, "_pause", pause)
        with ledgers.open(tmp_path / "budget.db") as book:
            book.define("all", vm.pure(1), SPACE)
            assert ledgers.verify(book).ok
    assert len(refused) == 1


def test_a_file_that_stays_somebody_elses_is_refused_when_patience_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viameter.ledger.stores.dialects.PATIENCE", 0.05)
    with closing(sqlite3.connect(tmp_path / "budget.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match="is locked by another program"):
            ledgers.open(tmp_path / "budget.db")
