"""A deadline that long loops of the search look at: `tick()` raises `TimeUp` once the time of `within(until)` is up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

_UNTIL: ContextVar[float] = ContextVar("until", default=inf)


class TimeUp(Exception):
    """The time that was given is over."""


@contextmanager
def within(until: float) -> Iterator[None]:
    """What runs inside has time until then, by `time.monotonic`, or until a deadline around it that is earlier."""
    token = _UNTIL.set(min(until, _UNTIL.get()))
    try:
        yield
    finally:
        _UNTIL.reset(token)


def tick() -> None:
    """Raise `TimeUp` if the time is over."""
    if time.monotonic() > _UNTIL.get():
        raise TimeUp


def milliseconds(most: int) -> int:
    """How many milliseconds a question to a solver may take: `most`, or what is left."""
    left = _UNTIL.get() - time.monotonic()
    return most if left == inf else max(1, min(most, int(1000 * left)))
