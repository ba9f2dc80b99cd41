"""A lock per backend: one query at a time, and between queries what is left over is dropped."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from viameter.tables.engines.capabilities import PYSPARK

_ATTRIBUTE = "_viameter_turn"


class NoLock:
    """The lock of an engine that runs many queries at once, and cancels each by its own name: it is always free."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Go on."""
        return True

    def release(self) -> None:
        """Nobody waits."""

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *_: object) -> None:
        """Nobody waits."""


@dataclass(slots=True, eq=False)
class Turn:
    """The locks of a backend, and what belongs to its present connection.

    A cancel reaches whatever runs on the connection, so no two queries may run on one. What garbage collection finds
    unused is dropped later, under the lock: a finalizer may run in the middle of a query, and would wait for itself.
    """

    lock: Lock | NoLock = field(default_factory=Lock)
    """Held by each query, as long as the engine works on it, whoever still waits for its rows."""
    reserved: Lock | NoLock = field(default_factory=Lock)
    """Held for a question from before it is charged until it is answered (see `engines.leases`)."""
    connection: int = 0
    """The number of the present connection: what was made on an earlier one is gone."""
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

    def forget_connection(self) -> None:
        """Another connection: temporary tables and planned queries of the last one are gone. The lock is held."""
        self.connection += 1
        for made in (self.to_drop, self.public, self.sizes, self.asked_once, self.prepared):
            made.clear()


def turn_of(backend: Any) -> Turn:
    """The turn of a backend. It hangs on the backend itself: Ibis takes two backends in memory for equal."""
    found: Turn | None = vars(backend).get(_ATTRIBUTE)
    if found is None:
        # All tables of a Spark session are on one backend: those of one dataset must not wait for another's.
        made = Turn(NoLock(), NoLock()) if backend.name == PYSPARK else Turn()
        found = vars(backend).setdefault(_ATTRIBUTE, made)
    return found
