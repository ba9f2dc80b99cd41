"""Interrupts for tests: one at each place at which Ctrl-C could come in some code, one after the other."""

from __future__ import annotations

import dis
import gc
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

LOOKED_FOR = ("CALL", "JUMP_BACKWARD", "RESUME")
"""Instructions after which CPython looks for an interrupt."""


class Interrupt:
    """Raises KeyboardInterrupt at the nth place at which one could come in some files, in this thread."""

    def __init__(self, place: int, watched: tuple[str, ...]) -> None:
        self.left = place
        self._watched = watched
        self._last: dict[int, str] = {}  # by the frame's number: a frame that is kept keeps what it holds

    def watch(self, frame: FrameType, event: str, _: Any) -> Any:
        """Trace every instruction of the code that is watched."""
        if not frame.f_code.co_filename.startswith(self._watched):
            return None
        frame.f_trace_opcodes = True
        now = dis.opname[frame.f_code.co_code[frame.f_lasti]]
        if event == "call":
            self._last[id(frame)] = now  # RESUME, of which there is no other event, or where something is thrown in
        if event == "opcode":
            last, self._last[id(frame)] = self._last.get(id(frame), ""), now
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


def interrupted(function: Callable[[], Any], place: int, watched: tuple[str, ...]) -> BaseException | None:
    """Call a function, interrupted at a place; None if it went through before it came there."""
    try:
        with Interrupt(place, watched) as interrupt:
            function()
    except KeyboardInterrupt as caught:
        return caught
    assert interrupt.left > 0
    return None


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Raise KeyboardInterrupt in the main thread after some time, as Ctrl-C does, unless the block has ended by then.

    No garbage is collected meanwhile: Hypothesis is called back by every collection, and CPython drops what a signal
    raises within such a call.
    """
    armed, collected = True, gc.isenabled()

    def interrupt(*_: object) -> None:
        if armed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if collected:
            gc.enable()
