"""A request that is interrupted after each call that it makes, one after the other: the next one goes through."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path

import pytest
from tests.interrupting import Interrupt, interrupted
from tests.ledger.conftest import SPACE
from tests.processes import alone, folder_in_memory
from tests.threads import in_threads

import viameter as vm
from viameter import ledger as ledgers
from viameter.ledger import Ledger, writer
from viameter.ledger import ledger as ledger_module

WATCHED = (str(Path(ledgers.__file__).parent), contextlib.__file__)
"""Interrupts come in this code; within others' (the database's driver, say) they are theirs to stand."""


def reserve(book: Ledger, key: str) -> None:
    book.reserve(vm.pure(1), scopes=["all"], key=key)


@pytest.mark.parametrize(
    ("in_memory", "step"),
    [(True, 1), (False, 3), pytest.param(False, 1, marks=pytest.mark.long)],
    ids=["memory", "file", "file, every place"],
)
@alone  # CPython does not expect an interrupt in all of these places, and may go on as if it handled an error for ever
def test_the_next_request_goes_through(in_memory: bool, step: int) -> None:
    with folder_in_memory() as folder:
        place, ended = 1, False
        with ledgers.in_memory() if in_memory else ledgers.open(folder / "budget.db") as book:
            book.define("all", vm.pure(10_000), SPACE)
            while not ended:
                # Kept, as an interactive session keeps it, with all its frames.
                caught = interrupted(partial(reserve, book, f"{place}"), place, WATCHED)
                in_threads(partial(reserve, book, f"after {place}"))
                ended, place = caught is None, place + step
            charged = [entry for entry in book.entries() if entry.kind == "reserve"]
            assert book.scope("all").spent == vm.pure(len(charged))
            assert ledgers.verify(book).ok
        assert place > 50


@alone
def test_whoever_waits_until_nobody_writes_holds_nobody_up_after_an_interrupt() -> None:
    """As `close` does, and whatever closes a ledger that nobody uses any more."""
    book = ledgers.in_memory()
    book.define("all", vm.pure(10_000), SPACE)
    kept: list[BaseException | None] = [KeyboardInterrupt()]
    while kept[-1] is not None:
        place = len(kept)
        kept.append(interrupted(partial(writer.call_alone, book._live()[2].line, 1.0, lambda _: None), place, WATCHED))
        in_threads(partial(reserve, book, f"after {place}"))
    assert place > 20


def fork_that_drops_interrupts(interrupt: list[str]) -> None:
    """What the interpreter calls when it is forked: an exception in one of these is printed, and ends only that."""
    for hook in (ledger_module._before_fork, ledger_module._after_fork_in_parent, ledger_module._after_fork_in_parent):
        try:
            hook()
        except KeyboardInterrupt:
            interrupt.append(hook.__name__)


@alone
def test_a_fork_that_is_interrupted_holds_nobody_up() -> None:
    with folder_in_memory() as folder, ledgers.open(folder / "budget.db") as book:
        book.define("all", vm.pure(10_000), SPACE)
        place, came, hit = 0, True, set()
        while came:
            place += 1
            dropped: list[str] = []
            with Interrupt(place, WATCHED):
                fork_that_drops_interrupts(dropped)
            came = bool(dropped)
            hit |= set(dropped)
            in_threads(partial(reserve, book, f"after {place}"), lambda: book.head)
            in_threads(partial(fork_that_drops_interrupts, []))  # another thread can fork
        assert place > 50 and hit == {"_before_fork", "_after_fork_in_parent"}
        assert ledgers.verify(book).ok
