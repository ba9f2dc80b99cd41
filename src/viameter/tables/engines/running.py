"""Run one query where the rows are, so that Ctrl-C cancels it there and progress can be told meanwhile."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from viameter.core.deadlines import in_line, seconds_left, while_awaited
from viameter.tables.engines.compiled import Statement, compile_query
from viameter.tables.engines.engine import Job
from viameter.tables.engines.errors import ConnectionLost, EngineError
from viameter.tables.engines.table import EngineTable
from viameter.tables.engines.turns import turn_of

THREAD_NAME = "viameter query"
"""The name of threads in which queries run."""
HALF_A_SECOND = 0.5
LOOK_AGAIN = 0.1
"""Seconds after which it is looked at again whether a query is still wanted, or has stopped."""
ABANDON_AFTER = 4.0
"""Seconds after a query was first cancelled at which its connection is abandoned, if the engine has not stopped."""
LONGEST_END = 30.0
"""Seconds that a process waits at its end for queries that it has cancelled."""


def run(table: EngineTable, query: Any, *, progress: Callable[[str], None] | None = None) -> list[dict[str, Any]]:
    """The rows of an Ibis query, or of a Statement that was made of one, as Python values; for small results.

    Interrupted by Ctrl-C, or by an error of `progress`, it cancels the query in the engine and raises that on; the
    table can be asked again. `progress` is told about twice a second how long it has taken.

    >>> from viameter.tables.engines import open_source
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
    running = _Running(table, statement)
    try:
        running.thread.start()
        with in_line():
            while not running.begun:
                if not running.hears(HALF_A_SECOND):
                    tell()
        while not running.finished:
            if not running.hears(HALF_A_SECOND):
                tell(running.share())
    except BaseException:
        running.is_cancelled = True  # first, and no call: an interrupt may come on entry to one
        running.cancel()
        raise
    return [dict(zip(statement.columns, row, strict=True)) for row in while_awaited(running.rows())]


class _Running:
    """A query in a thread of its own, which waits for the backend's lock, and releases it when the engine is done.

    Signals reach the main thread alone, so none comes between taking the lock and noting so, whoever still waits for
    the rows.
    """

    def __init__(self, table: EngineTable, statement: Statement) -> None:
        self._engine, self._turn = table.engine, turn_of(table.backend)
        self._job, self._is_asked = Job(table.backend, statement, seconds_left()), False
        self._gate, self.is_cancelled, self._is_abandoned = Lock(), False, False
        self._rows: list[Any] | None = None
        self._error: Exception | None = None
        self.begun = self.finished = False
        """Whether it has the lock, or does not want it any more; and whether the engine is done."""
        self._news: SimpleQueue[None] = SimpleQueue()
        """Told of both. The lock of an Event would stay locked if the one who waits was interrupted on taking it."""
        self.thread = Thread(target=self._work, name=THREAD_NAME, daemon=True)

    def _work(self) -> None:
        _UNDER_WAY.add(self)
        has_turn = False
        try:
            while not (has_turn or self.is_cancelled or _IS_ENDING.is_set()):
                has_turn = self._turn.lock.acquire(timeout=LOOK_AGAIN)
            self.begun = True
            self._news.put(None)
            if _IS_ENDING.is_set():
                self._error = EngineError(self._engine.name, "the process ends")
            elif has_turn and not self.is_cancelled:
                self._fetch()
        finally:
            with self._gate:  # no cancel is on its way any more: it would reach the next query
                self.begun = self.finished = True
            if has_turn:
                self._turn.lock.release()
            self._news.put(None)
            _UNDER_WAY.discard(self)

    def _fetch(self) -> None:
        self._turn.drop_what_is_unused()
        backend, query = self._job.backend, self._job.statement.query
        self._is_asked = True
        try:
            if query is not None:
                # Hands over small tables that the expression holds, if they are not there (any more).
                backend._run_pre_execute_hooks(query)
            self._rows = self._engine.fetch(self._job)
        except BaseException as error:
            # The engine's error ends here: its text and its traceback may hold rows.
            kind = ConnectionLost if self._engine.is_gone(backend) else EngineError
            self._error = kind(self._engine.name, type(error).__name__)

    def hears(self, seconds: float) -> bool:
        """Wait until it has begun or is done, for some time; whether there was news."""
        try:
            self._news.get(timeout=seconds)
        except Empty:
            return False
        return True

    def share(self) -> float | None:
        """The share of the work that is done."""
        try:
            return self._engine.share(self._job) if self._is_asked else None
        except Exception:
            return None

    def cancel(self, *, until: float = inf) -> None:
        """Cancel, again and again until the engine has stopped: it may not have begun when it was first told.

        An engine that does not listen is abandoned, if there is another way to it.
        """
        self.is_cancelled = True
        patient_until = time.monotonic() + ABANDON_AFTER
        while self.thread.is_alive() and not self.finished and time.monotonic() < until:
            with self._gate, suppress(Exception):
                if self._is_asked and not self.finished:
                    self._cancel_or_abandon(patient_until)
            self.hears(LOOK_AGAIN)

    def _cancel_or_abandon(self, patient_until: float) -> None:
        """Under the gate: neither reaches another query, nor the next connection."""
        if time.monotonic() < patient_until:
            self._engine.cancel(self._job)
        elif not self._is_abandoned:
            self._is_abandoned = True
            self._engine.abandon(self._job)

    def end(self, *, until: float) -> None:
        """Cancel, and wait until nothing of it runs any more."""
        self.cancel(until=until)
        self.thread.join(max(until - time.monotonic(), 0))

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
