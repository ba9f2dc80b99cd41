"""Power loss: whatever was acknowledged is there afterwards, however the disk ordered and tore its writes."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger.conftest import SPACE
from tests.ledger.power.disk import Operation, after_power_loss, write_files
from tests.ledger.power.recording import recorded
from tests.processes import folder_in_memory

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerError

COST = Fraction(1, 1000)


@pytest.fixture
def folder() -> Iterator[Path]:
    with folder_in_memory() as made:
        yield made


def work(path: Path, monkeypatch: pytest.MonkeyPatch, requests: int, **options: object) -> list[Operation]:
    """Make a ledger, charge and answer requests, and return what was asked of the disk and acknowledged."""
    with recorded(monkeypatch, **options) as recording, ledgers.open(path) as book:  # type: ignore[arg-type]
        for name in ("visits", "ann"):
            book.define(name, vm.pure(1), SPACE)
        for number in range(requests):
            key, answer = f"request {number}", b"%d" % number * (1 + number * 97 % 1500)
            reserved = book.reserve(vm.pure(COST), scopes=["visits", "ann"], key=key, by="ann")
            recording.acknowledge(key)
            if number % 5 != 4:
                book.commit(reserved, answer)
                recording.acknowledge(key, answer)
        return list(recording.log)  # power fails while it is open: closing moves everything into the file


def lost(log: Sequence[Operation], cut: int, seed: int, folder: Path) -> str | None:
    """What is wrong with the ledger if power fails after so many operations; None if nothing is."""
    write_files(after_power_loss(log[:cut], random.Random(seed)), folder)
    promised = dict[str, bytes | None]()
    for one in log[:cut]:
        if one.said is not None:
            promised[one.said[0]] = one.said[1]
    asked = {one.said[0] for one in log if one.said is not None}
    try:
        with ledgers.open(folder / "budget.db") as book:
            found = {request.key: request for request in book.store.requests()}
            missing = [key for key in promised if key not in found]
            if missing:
                return f"{missing} were charged and are not there"
            for key, answer in promised.items():
                if answer is not None and [one.content for one in book.stored(found[key])] != [answer]:
                    return f"the answer to {key} was stored, and is another or none"
            if set(found) - asked:
                return "there are charges that nobody asked for"
            for scope in book.scopes():
                if scope.spent != vm.pure(COST * len(found)):
                    return f"{len(found)} charges, and {scope.spent} spent"
            verified = ledgers.verify(book)
            return None if verified.ok else str(verified)
    except LedgerError as refused:
        return str(refused)


def losses(log: Sequence[Operation], cuts: int, seed: int, folder: Path) -> list[str]:
    """What is found wrong at cuts of a log, all of them as likely."""
    chance = random.Random(seed)
    problems = []
    for number in range(cuts):
        cut = chance.randrange(len(log) + 1)
        here = folder / f"cut-{number}"
        here.mkdir()
        problem = lost(log, cut, chance.getrandbits(64), here)
        if problem is not None:
            problems.append(f"power failed after {cut} of {len(log)} operations: {problem}")
        shutil.rmtree(here)
    return problems


@pytest.mark.parametrize("checkpoint", [1000, 40])
def test_no_acknowledged_charge_is_lost(folder: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: int) -> None:
    """Commits that are not synced are found at a quarter of the cuts, so 60 of them miss such a fault once in 10**7."""
    log = work(folder / "budget.db", monkeypatch, 12, checkpoint=checkpoint)
    moved = [one for one in log if one.kind == "write" and one.file == "budget.db"]
    assert (len(moved) > 20) == (checkpoint == 40)  # whether pages were moved into the file meanwhile
    assert losses(log, 60, 1, folder) == []


@pytest.mark.long
@pytest.mark.parametrize("checkpoint", [1000, 40, 7])
def test_no_acknowledged_charge_is_lost_at_thousands_of_cuts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: int
) -> None:
    log = work(folder / "budget.db", monkeypatch, 40, checkpoint=checkpoint)
    assert losses(log, 2000, checkpoint, folder) == []


def test_commits_that_are_not_synced_are_found_to_be_lost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = work(folder / "budget.db", monkeypatch, 12, synchronous="NORMAL")
    assert len(losses(log, 40, 2, folder)) > 10


def test_every_acknowledgment_comes_after_the_sync_of_what_it_tells_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = work(folder / "budget.db", monkeypatch, 6)
    for place, one in enumerate(log):
        if one.kind == "acknowledged":
            pending = {other.file for other in log[:place] if other.kind == "write"}
            for name in pending:
                last = max(at for at, other in enumerate(log[:place]) if other.file == name)
                assert log[last].kind in ("sync", "delete"), f"{name} was written to after its last sync"
