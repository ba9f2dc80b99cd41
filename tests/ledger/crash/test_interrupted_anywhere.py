"""A request that is interrupted after each call that it makes, one after the other: the next one goes through."""

from __future__ import annotations

import contextlib
import dis
import sys
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.ledger.conftest import SPACE
from tests.processes import alone, folder_in_memory
from tests.threads import in_threads

import viameter as vm
from viameter import ledger as ledgers
from viameter.ledger import Ledger

WATCHED = (str(Path(ledgers.__file__).parent), contextlib.__file__)
"""Interrupts come in this code; within others' (the database's driver, say) they are theirs to stand."""

LOOKED_FOR = ("CALL", "JUMP_BACKWARD", "RESUME")
"""Instructions after which CPython looks for an interrupt."""


class Interrupt:
    """Raises KeyboardInterrupt at the nth place at which one could come."""

    def __init__(self, place: int) -> None:
        self.left = place
        self._last: dict[FrameType, str] = {}

    def watch(self, frame: FrameType, event: str, _: Any) -> Any:
        """Trace every instruction of the code that is watched."""
        if not frame.f_code.co_filename.startswith(WATCHED):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            last = self._last.get(frame, "")
            self._last[frame] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if last.startswith(LOOKED_FOR):
                self.left -= 1
                if self.left == 0:
                    raise KeyboardInterrupt
        return self.watch

    def __enter__(self) -> Interrupt:
        self._before = sys.gettrace()
        sys.settrace(self.watch)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)


def interrupted(book: Ledger, place: int) -> BaseException | None:
    """Charge, interrupted at a place; None if it went through before it came there."""
    try:
        with Interrupt(place) as interrupt:
            book.reserve(vm.pure(1), scopes=["all"], key=f"{place}")
    except KeyboardInterrupt as caught:
        return caught
    assert interrupt.left > 0
    return None


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
                caught = interrupted(book, place)  # kept, as an interactive session keeps it, with all its frames
                in_threads(partial(book.reserve, vm.pure(1), scopes=["all"], key=f"after {place}"))
                ended, place = caught is None, place + step
            charged = [entry for entry in book.entries() if entry.kind == "reserve"]
            assert book.scope("all").spent == vm.pure(len(charged))
            assert ledgers.verify(book).ok
        assert place > 50
