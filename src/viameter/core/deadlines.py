"""Deadlines: what takes too long is given up, and looks like whatever else failed.

Time that is spent in line, for something that others use meanwhile, does not count: it is no fault of what runs.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from viameter.errors import ParameterError, SealedError, ViameterError, plain

T = TypeVar("T")

IN_LINE = 16
"""How many times its limit something may stand in line: those before it have limits too, unless what they use hangs."""
LOOK_AGAIN = 0.05
"""Seconds after which it is looked at again whether something still stands in line."""
AT_ONCE = 4096
"""How many items of a long loop are gone through before it is looked at again whether anybody waits."""


class GivenUp(ViameterError):
    """Something ran past its deadline, and is told to stop. Nobody sees this, since nobody waits any more."""


def read_deadline(given: Any) -> float | None:
    """Seconds to run for, or None."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < float("inf"):
        raise ParameterError(f"deadline={plain(given)}: expected seconds above 0, or None")
    return float(given)


class _Clock:
    """How long something has run, and how long it has stood in line."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._ran = self._stood = 0.0
        self._since, self._stands = time.monotonic(), False
        self._lock = threading.Lock()
        self.given_up = threading.Event()

    def switch(self, *, stands: bool) -> None:
        """It stands in line from now on, or runs."""
        with self._lock:
            self._count()
            self._stands = stands

    def wait(self) -> float:
        """Seconds after which to look again; 0 if it is late."""
        with self._lock:
            self._count()
            left, left_in_line = self._limit - self._ran, IN_LINE * self._limit - self._stood
            return max(min(LOOK_AGAIN, left_in_line) if self._stands else left, 0.0)

    @property
    def left(self) -> float:
        """Seconds that it may still run."""
        with self._lock:
            self._count()
            return max(self._limit - self._ran, 0.0)

    def _count(self) -> None:
        now = time.monotonic()
        if self._stands:
            self._stood += now - self._since
        else:
            self._ran += now - self._since
        self._since = now


_CLOCK: contextvars.ContextVar[_Clock | None] = contextvars.ContextVar("clock", default=None)


def is_given_up() -> bool:
    """Whether nobody waits any more for what runs here: long work may ask, and stop."""
    clock = _CLOCK.get()
    return clock is not None and clock.given_up.is_set()


def seconds_left() -> float | None:
    """How long what runs here may still run; None if that is for ever."""
    clock = _CLOCK.get()
    return None if clock is None else clock.left


def stop_if_given_up() -> None:
    """End what runs here if nobody waits for it any more: long loops ask once a round, and nothing else changes."""
    if is_given_up():
        raise GivenUp("nobody waits for this any more")


def while_awaited(items: Iterable[T]) -> Iterator[T]:
    """The same items in the same order, for a loop over many small ones that is to end once nobody waits for it.

    >>> list(while_awaited([3, 1, 2]))
    [3, 1, 2]
    """
    rest = iter(items)
    while some := list(islice(rest, AT_ONCE)):
        stop_if_given_up()
        yield from some


@contextmanager
def in_line() -> Iterator[None]:
    """Wait for something that others use: the time does not count."""
    clock = _CLOCK.get()
    if clock is None:
        yield
        return
    clock.switch(stands=True)
    try:
        yield
    finally:
        clock.switch(stands=False)


def run_by(limit: float | None, function: Callable[[], T]) -> T:
    """Call a function, and give up on it after so many seconds: what it returns is dropped, and it can learn so."""
    if limit is None:
        return function()
    clock = _Clock(limit)
    done: list[T] = []

    def run() -> None:
        try:
            done.append(context.run(function))
        except BaseException:  # late or failed: the same
            return

    context = contextvars.copy_context()
    context.run(_CLOCK.set, clock)
    worker = threading.Thread(target=run, name="viameter-release", daemon=True)
    worker.start()
    try:
        while worker.is_alive() and (seconds := clock.wait()) > 0:
            worker.join(seconds)
    finally:
        clock.given_up.set()
    if not done:
        raise SealedError
    return done[0]
