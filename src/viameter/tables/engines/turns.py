"""A lock per backend: one query at a time, and between queries what is left over is dropped.

A lease is a backend that is free and answers, held by a question from before it is charged until it is answered: what
waits for an engine is not charged yet, and what is charged waits for nothing. If the engine is gone, or works on a
query that does not stop, this is known before anything is spent.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from viameter.errors import SourceUnavailable
from viameter.tables.engines.registry import engine_of

if TYPE_CHECKING:
    from viameter.tables.engines.table import EngineTable

_ATTRIBUTE = "_viameter_turn"
_HELD: ContextVar[tuple[Turn, ...]] = ContextVar("held", default=())
"""The backends that are held by what runs in this context, and by the threads that work for it."""


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
    """Held for a question from before it is charged until it is answered (see `ready`)."""
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
        made = Turn(NoLock(), NoLock()) if engine_of(backend).runs_many else Turn()
        found = vars(backend).setdefault(_ATTRIBUTE, made)
    return found


@contextmanager
def ready(tables: Sequence[EngineTable], *, patience: float | None = None) -> Iterator[None]:
    """Hold the backend of these tables, alone, once it is free and answers.

    SourceUnavailable, and nothing was asked of it, if the tables cannot be reached, or if after `patience` seconds
    another query still runs there. To hold a backend that is held here already is to go on.

    >>> from viameter.tables.engines import open_source, run
    >>> flights = open_source({"carrier": ["UA", "AA"]})
    >>> with ready([flights]):
    ...     run(flights, flights.expression.agg(n=flights.expression.count()))
    [{'n': 2}]
    """
    backend = tables[0].backend
    turn = turn_of(backend)
    if any(turn is held for held in _HELD.get()):
        yield
        return
    with turn.reserved:
        probe(tables, patience=patience)
        token = _HELD.set((*_HELD.get(), turn))
        try:
            yield
        finally:
            _HELD.reset(token)


def probe(tables: Sequence[EngineTable], *, patience: float | None = None) -> None:
    """Find out whether tables of one backend can be reached, and see to it if they can be; else SourceUnavailable."""
    backend = tables[0].backend
    engine, turn = engine_of(backend), turn_of(backend)
    if not turn.lock.acquire(timeout=-1 if patience is None else patience):
        raise SourceUnavailable(
            f"{engine.name} still works on a query that was cancelled: try again when it has ended; nothing was spent"
        )
    try:
        engine.require_reachable(backend, tables)
    finally:
        turn.lock.release()
