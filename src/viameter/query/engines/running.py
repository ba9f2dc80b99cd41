"""Run one query where the rows are, so that Ctrl-C cancels it there and progress can be told meanwhile."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from threading import Event, Lock, Thread
from typing import Any

from viameter.core.deadlines import in_line, while_awaited
from viameter.query.engines.compiled import Statement, compile_query, written_sql
from viameter.query.engines.errors import ConnectionLost, EngineError
from viameter.query.engines.jobs import Job, job_of
from viameter.query.engines.quiet import THREAD_NAME
from viameter.query.engines.table import EngineTable
from viameter.query.engines.turns import Turn, turn_of

HALF_A_SECOND = 0.5
LONGEST_END = 30.0
"""Seconds that a process waits at its end for queries that it has cancelled."""


def run(table: EngineTable, query: Any, *, progress: Callable[[str], None] | None = None) -> list[dict[str, Any]]:
    """The rows of an Ibis query, or of a Statement that was made of one, as Python values; for small results.

    Interrupted by Ctrl-C, or by an error of `progress`, it cancels the query in the engine and raises that on; the
    table can be asked again. `progress` is told about twice a second how long it has taken.

    >>> from viameter.query.engines import open_source
    >>> flights = open_source({"carrier": ["UA", "AA", "UA"]})
    >>> run(flights, flights.expression.group_by("carrier").agg(n=flights.expression.count()).order_by("carrier"))
    [{'carrier': 'AA', 'n': 1}, {'carrier': 'UA', 'n': 2}]
    """
    began = time.monotonic()

    def tell(share: float | None = None) -> None:
        if progress is not None:
            seconds = f"{time.monotonic() - began:.0f} s"
            progress(seconds if share is None else f"{seconds}, {share:.0%} done")

    statement = query if isinstance(query, Statement) else compile_query(table.backend, query)
    turn = turn_of(table.backend)
    if not turn.lock.acquire(blocking=False):
        with in_line():
            while not turn.lock.acquire(timeout=HALF_A_SECOND):
                tell()
    try:
        running = _Running(_prepared(table, statement, turn), turn)
        running.start()
    except BaseException:
        turn.lock.release()
        raise
    try:
        while not running.finished.wait(HALF_A_SECOND):
            tell(running.share())
    except BaseException:
        running.cancel()
        raise
    return [dict(zip(statement.columns, row, strict=True)) for row in while_awaited(running.rows())]


def sql_of(table: EngineTable, query: Any, *, pretty: bool = True) -> str:
    """The SQL that the engine is given for a query."""
    return written_sql(table.backend, query, pretty=pretty)


class _Running:
    """A job in a thread of its own. The thread gives back the turn when the engine is done, whoever still waits."""

    def __init__(self, job: Job, turn: Turn) -> None:
        self._job, self._turn = job, turn
        self._gate, self._is_cancelled = Lock(), False
        self._rows: list[Any] | None = None
        self._error: EngineError | None = None
        self.finished = Event()
        self._thread = Thread(target=self._fetch, name=THREAD_NAME, daemon=True)

    def start(self) -> None:
        _UNDER_WAY.add(self)
        if _IS_ENDING.is_set():
            _UNDER_WAY.discard(self)
            raise EngineError(self._job.backend.name, "the process ends")
        try:
            self._thread.start()
        except BaseException:
            _UNDER_WAY.discard(self)
            raise

    def _fetch(self) -> None:
        try:
            if not self._is_cancelled:
                self._rows = self._job.fetch()
        except BaseException as error:
            # The engine's error ends here: its text and its traceback may hold rows.
            self._error = _sealed(self._job, error)
        finally:
            with self._gate:  # no cancel is on its way any more: it would reach the next query
                self.finished.set()
            self._turn.lock.release()
            _UNDER_WAY.discard(self)

    def share(self) -> float | None:
        """The share of the work that is done."""
        try:
            return self._job.share()
        except Exception:
            return None

    def cancel(self, *, until: float = inf) -> None:
        """Cancel, again and again until the engine has stopped: it may not have begun when it was first told."""
        self._is_cancelled = True
        while not self.finished.is_set() and time.monotonic() < until:
            with self._gate, suppress(Exception):
                if not self.finished.is_set():
                    self._job.cancel()
            self.finished.wait(0.1)

    def end(self, *, until: float) -> None:
        """Cancel, and wait until nothing of it runs any more."""
        self.cancel(until=until)
        if self._thread.ident is not None:
            self._thread.join(max(until - time.monotonic(), 0))

    def rows(self) -> list[Any]:
        """What was fetched."""
        if self._error is not None:
            raise self._error
        assert self._rows is not None
        return self._rows


_UNDER_WAY: set[_Running] = set()
"""The queries that run, among them those for which nobody waits any more."""
_IS_ENDING = Event()


@atexit.register
def _end_all() -> None:
    """Stop what runs before the interpreter goes: an engine within the process that comes back after it aborts."""
    _IS_ENDING.set()
    until = time.monotonic() + LONGEST_END
    for running in list(_UNDER_WAY):
        running.end(until=until)


# A child has none of the threads of its parent.
os.register_at_fork(after_in_child=_UNDER_WAY.clear)


def _prepared(table: EngineTable, statement: Statement, turn: Turn) -> Job:
    turn.drop_what_is_unused()
    job = job_of(table.backend, statement)
    error: EngineError | None = None
    if statement.query is not None:
        try:
            # Hands over small tables that the expression holds, if they are not there (any more).
            table.backend._run_pre_execute_hooks(statement.query)
        except Exception as cause:
            error = _sealed(job, cause)
    if error is not None:
        raise error
    return job


def _sealed(job: Job, error: BaseException) -> EngineError:
    kind = type(error).__name__
    return (ConnectionLost if job.lost() else EngineError)(job.backend.name, kind)
