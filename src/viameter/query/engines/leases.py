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
from viameter.query.engines.capabilities import POSTGRES, PYSPARK
from viameter.query.engines.jobs import is_stopped
from viameter.query.engines.postgres_links import link_of
from viameter.query.engines.table import EngineTable, File
from viameter.query.engines.turns import Turn, turn_of

_HELD: ContextVar[tuple[Turn, ...]] = ContextVar("held", default=())
"""The backends that are held by what runs in this context, and by the threads that work for it."""


@contextmanager
def ready(tables: Sequence[EngineTable], *, patience: float | None = None) -> Iterator[None]:
    """Hold the backend of these tables, alone, once it is free and answers.

    SourceUnavailable, and nothing was asked of it, if the tables cannot be reached, or if after `patience` seconds
    another query still runs there. To hold a backend that is held here already is to go on.

    >>> from viameter.query.engines import open_source, run
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
        return
    is_gone = {POSTGRES: lambda: backend.con.closed, PYSPARK: lambda: is_stopped(backend._session)}
    if is_gone.get(backend.name, bool)():
        raise SourceUnavailable(f"the connection to {backend.name} is closed: open the source again; nothing was spent")


def _require_file(backend: Any, file: File) -> None:
    try:
        if not file.is_changed():
            return
    except OSError as error:
        raise SourceUnavailable(f"a file is gone ({type(error).__name__}): put it back; nothing was spent") from None
    try:
        # Other rows are read as they are; other columns, or what is no such file, are refused by this.
        backend.con.execute(f'SELECT * FROM "{file.view}" LIMIT 0').fetchall()
    except Exception as error:
        raise SourceUnavailable(
            f"a file has changed, and cannot be read as it was opened ({type(error).__name__}): open it again; nothing "
            "was spent"
        ) from None
