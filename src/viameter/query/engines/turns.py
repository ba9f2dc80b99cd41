"""Whose turn it is on a backend: one query at a time, and between queries what is left over is dropped."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

_ATTRIBUTE = "_viameter_turn"


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """The lock of a backend, and what to drop when it is held next.

    A cancel reaches whatever runs on the connection, so no two queries may run on one. What garbage collection finds
    unused is dropped later, under the lock: a finalizer may run in the middle of a query, and would wait for itself.
    """

    lock: Lock = field(default_factory=Lock)
    to_drop: deque[Callable[[], None]] = field(default_factory=deque)
    public: WeakValueDictionary[str, Any] = field(default_factory=WeakValueDictionary)
    """The small public tables that are there, by what they hold, as long as something refers to them."""
    sizes: dict[str, int] = field(default_factory=dict)
    """How many bytes each of them has, by its name."""
    asked_once: OrderedDict[str, bool] = field(default_factory=OrderedDict)
    """Queries that were run once, by their text without the salt."""
    prepared: OrderedDict[str, str] = field(default_factory=OrderedDict)
    """Those that the engine has planned, by the same, under their names there."""

    def drop_what_is_unused(self) -> None:
        """Drop it; a connection that is gone took its temporary tables with it."""
        while self.to_drop:
            with suppress(Exception):
                self.to_drop.popleft()()


def turn_of(backend: Any) -> Turn:
    """The turn of a backend. It hangs on the backend itself: Ibis takes two backends in memory for equal."""
    turn: Turn = vars(backend).setdefault(_ATTRIBUTE, Turn())
    return turn
