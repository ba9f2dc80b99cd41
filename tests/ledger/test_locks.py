"""Locks: a file's is held by one at a time, and who waits beside a transaction hears what came of it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.conftest import SPACE
from tests.threads import PATIENCE

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerUnavailable
from viameter.ledger.locking import locked
from viameter.ledger.writer import Line, Ticket, call_alone


def test_the_lock_of_a_file_is_held_by_one(tmp_path: Path) -> None:
    place = tmp_path / "lock"
    refused = pytest.raises(LedgerUnavailable, match="locked by another program")
    with place.open("w") as one, place.open("w") as other:
        for mine, theirs in ((one.fileno(), other.fileno()), (other.fileno(), one.fileno())):
            with locked(mine), refused, locked(theirs, patience=0):
                raise AssertionError("two hold it")
            with pytest.raises(KeyError), locked(mine, patience=0):
                raise KeyError
            with locked(theirs, patience=0):  # let go of, whatever ended it
                pass


def test_all_who_are_written_together_hear_that_it_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one of them may take itself for charged, and run."""
    book = ledgers.in_memory()
    book.define("visits", vm.pure(1), SPACE)
    writer = book._live()[2]
    write, joined, sizes = writer._write, threading.Event(), []

    def failing(batch: Sequence[Any], own: Any) -> None:
        sizes.append(len(batch))
        if len(sizes) == 1:
            assert joined.wait(PATIENCE)
            return write(batch, own)
        raise LedgerUnavailable("the store is gone")

    heard: dict[str, BaseException | None] = {}

    def charge(key: str) -> None:
        heard[key] = None
        try:
            book.reserve(vm.pure("1/10"), scopes=["visits"], by="ann", key=key)
        except LedgerUnavailable as error:
            heard[key] = error

    monkeypatch.setattr(writer, "_write", failing)
    threads = [threading.Thread(target=charge, args=(key,)) for key in ("first", "a", "b", "c")]
    threads[0].start()
    while not sizes:
        threads[0].join(0.001)
    for thread in threads[1:]:
        thread.start()
    while len(writer.line) < len(threads):
        threads[1].join(0.001)
    joined.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert sizes == [1, 3] and heard["first"] is None
    assert all(isinstance(heard[key], LedgerUnavailable) for key in ("a", "b", "c"))
    monkeypatch.undo()
    assert book.scope("visits").spent == vm.pure("1/10") and ledgers.verify(book).ok


def test_who_stands_in_for_the_writer_knows_whether_somebody_writes() -> None:
    """A fork, or a close, must not believe so because it has waited for long."""
    told: list[bool] = []
    writing = Ticket(None)
    lines: list[tuple[Line, bool]] = [({}, True), ({writing: None}, False)]
    for line, nobody_writes in lines:
        other = threading.Thread(target=call_alone, args=(line, 0.05, told.append))
        other.start()
        other.join(PATIENCE)
        assert told.pop() is nobody_writes and list(line) == ([] if nobody_writes else [writing])
