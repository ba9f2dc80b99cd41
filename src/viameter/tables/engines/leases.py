"""Leases: an engine that is free and answers, held by a question from before it is charged until it is answered.

What waits for an engine is not charged yet, and what is charged waits for nothing: if the engine is gone, or works on a
query that does not stop, this is known before anything is spent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from viameter.errors import SourceUnavailable
from viameter.tables.engines.capabilities import POSTGRES, PYSPARK
from viameter.tables.engines.jobs import is_stopped
from viameter.tables.engines.postgres_links import link_of
from viameter.tables.engines.table import EngineTable, File
from viameter.tables.engines.turns import Turn, turn_of

_HELD: ContextVar[tuple[Turn, ...]] = ContextVar("held", default=())
"""The backends that are held by what runs in this context, and by the threads that work for it."""


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
    backend, turn = tables[0].backend, turn_of(tables[0].backend)
    if not turn.lock.acquire(timeout=-1 if patience is None else patience):
        raise SourceUnavailable(
            f"{backend.name} still works on a query that was cancelled: try again when it has ended; nothing was spent"
        )
    try:
        _require_engine(backend)
        for file in dict.fromkeys(file for table in tables for file in table.files):
            _require_file(backend, file)
    finally:
        turn.lock.release()


def _require_engine(backend: Any) -> None:
    link = link_of(backend)
    if link is not None:
        link.require(backend)
    elif _is_gone(backend):
        raise SourceUnavailable(f"the connection to {backend.name} is closed: open the source again; nothing was spent")


def _is_gone(backend: Any) -> bool:
    """Whether a connection that somebody else opened is known to be closed."""
    if backend.name == POSTGRES:
        return bool(backend.con.closed)
    return backend.name == PYSPARK and is_stopped(backend._session)


def _require_file(backend: Any, file: File) -> None:
    try:
        can_be_read = file.can_be_read(backend)
    except OSError as error:
        raise SourceUnavailable(f"a file is gone ({type(error).__name__}): put it back; nothing was spent") from None
    except Exception:  # of the engine: it is no such file any more
        can_be_read = False
    if not can_be_read:
        raise SourceUnavailable(
            "a file has changed, and cannot be read as it was opened: open it again; nothing was spent"
        )
