"""A query in its engine: fetch its rows, cancel it from another thread, ask how far it is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import OrderedDict
from datetime import UTC
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.engines.capabilities import DUCKDB, POSTGRES, PYSPARK, known_engine
from viameter.tables.engines.compiled import Statement
from viameter.tables.engines.names import fresh_name
from viameter.tables.engines.postgres_links import link_of
from viameter.tables.engines.turns import turn_of

MOST_PREPARED = 256
"""How many queries DuckDB keeps planned for one backend."""
LATE = 5
"""Seconds after a deadline at which PostgreSQL ends a query by itself."""


class Job(ABC):
    """One query that is to be run once. `fetch` is called in a thread of its own, the rest from any thread."""

    def __init__(self, backend: Any, statement: Statement, seconds: float | None = None) -> None:
        self.backend, self.statement, self.sql = backend, statement, statement.sql
        self.seconds = seconds
        """For how long somebody waits for it, if that is known: engines that can end a query by themselves do."""

    @abstractmethod
    def fetch(self) -> list[Any]:
        """The rows as sequences of Python values."""

    @abstractmethod
    def cancel(self) -> None:
        """Ask the engine to stop; `fetch` then raises soon. It may be called before `fetch` began, to no effect."""

    def abandon(self) -> None:
        """Let go of an engine that does not stop, if another connection to it can be had; `fetch` then raises."""
        return

    def share(self) -> float | None:
        """The share of the work that is done, between 0 and 1, if the engine knows."""
        return None

    def lost(self) -> bool:
        """Whether the engine is gone."""
        return False


class DuckdbJob(Job):
    """A query in the DuckDB of this process, on the connection that knows the registered frames."""

    def fetch(self) -> list[Any]:
        """Run it on the backend's connection."""
        require_plain_texts(self.backend)
        rows: list[Any] = self.backend.con.execute(self._prepared() or self.sql).fetchall()
        return rows

    def _prepared(self) -> str:
        """The query as one that DuckDB has planned before, if it is asked again; to plan takes longer than to run.

        The turn of the backend is held: nobody else prepares or runs.
        """
        template, known = self.statement.template, turn_of(self.backend).prepared
        if not template:
            return ""
        name = known.pop(template, None)
        if template not in turn_of(self.backend).asked_once and name is None:
            turn_of(self.backend).asked_once[template] = True
            _forget_oldest(turn_of(self.backend).asked_once)
            return ""
        if name is None:
            name = fresh_name("prepared")
            self.backend.con.execute(f"PREPARE {name} AS {template}")
        known[template] = name
        for old in _forget_oldest(known):
            self.backend.con.execute(f"DEALLOCATE {old}")
        return f"EXECUTE {name}({self.statement.salt})"

    def cancel(self) -> None:
        """Ask the engine to stop."""
        self.backend.con.interrupt()

    def share(self) -> float | None:
        """What the engine says of its progress."""
        percent = self.backend.con.query_progress()
        return percent / 100 if percent >= 0 else None


POSTGRES_SETTINGS = "; ".join(
    f"SET LOCAL {name} = {value}"
    for name, value in {
        # A backslash in a constant is a backslash, and a date is written in one way.
        "standard_conforming_strings": "on",
        "datestyle": "'ISO, YMD'",
        "timezone": "'UTC'",
        # In other encodings there are texts that cannot be handed over.
        "client_encoding": "'UTF8'",
        # To compile takes minutes where there is much to compile, and does not look whether it was cancelled.
        "jit": "off",
    }.items()
)
"""What a query runs under, whatever the server, the role or the connection is set to."""


class PostgresJob(Job):
    """A query on a connection to a PostgreSQL server."""

    def fetch(self) -> list[Any]:
        """Run it on the backend's connection."""
        connection = self.backend.con
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute(POSTGRES_SETTINGS)
            if self.seconds is not None:
                # For a server that is not told to stop: it is reached no more, or nobody is left to tell it.
                cursor.execute(f"SET LOCAL statement_timeout = '{math.ceil(self.seconds) + LATE}s'")
            rows: list[Any] = cursor.execute(self.sql).fetchall()
            return rows

    def cancel(self) -> None:
        """Ask the engine to stop."""
        self.backend.con.cancel_safe(timeout=2)

    def abandon(self) -> None:
        """Cut the connection, if it is one of ours."""
        link = link_of(self.backend)
        if link is not None:
            link.abandon()

    def lost(self) -> bool:
        """Whether the connection is closed."""
        return bool(self.backend.con.closed)


class SparkJob(Job):
    """A query in a Spark session; a name of its own tells its tasks from those of other threads."""

    def __init__(self, backend: Any, statement: Statement, seconds: float | None = None) -> None:
        super().__init__(backend, statement, seconds)
        self.session, self.name = backend._session, fresh_name("query")
        # Spark Connect has no context on this side, and knows operations by tags.
        self.context = None if "connect" in type(self.session).__module__ else self.session.sparkContext

    def fetch(self) -> list[Any]:
        """Run it under its name, which Spark keeps by thread: this one ends with the query."""
        if self.context is None:
            self.session.addTag(self.name)
        else:
            self.context.setJobGroup(self.name, "viameter", interruptOnCancel=True)
        # A constant such as '${x}' is itself, and not the value of a variable.
        self.session.conf.set("spark.sql.variable.substitute", "false")
        answered = self.session.sql(self.sql)
        moments = [field.dataType.typeName() == "timestamp" for field in answered.schema]
        # Spark hands over times of the world as those of the zone of this process.
        return [
            tuple(_utc(value) if moment else value for value, moment in zip(row, moments, strict=True))
            for row in answered.collect()
        ]

    def cancel(self) -> None:
        """Ask the engine to stop."""
        if self.context is None:
            self.session.interruptTag(self.name)
        else:
            self.context.cancelJobGroup(self.name)

    def lost(self) -> bool:
        """Whether the session was stopped."""
        return is_stopped(self.session)


def is_stopped(session: Any) -> bool:
    """Whether a Spark session of this process was stopped; of others nothing is known before they are asked."""
    return "connect" not in type(session).__module__ and session.sparkContext._jsc is None


def require_plain_texts(backend: Any) -> None:
    """Refuse a DuckDB that takes different texts for equal everywhere: limits would be kept of other groups."""
    ((collation,),) = backend.con.execute("SELECT current_setting('default_collation')").fetchall()
    if collation:
        raise ParameterError(
            f"this DuckDB compares texts by default_collation={collation!r}, so that different texts are equal; "
            "RESET default_collation first"
        )


def _utc(moment: Any) -> Any:
    return moment if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


JOBS: dict[str, type[Job]] = {DUCKDB: DuckdbJob, POSTGRES: PostgresJob, PYSPARK: SparkJob}


def job_of(backend: Any, statement: Statement, seconds: float | None = None) -> Job:
    """The query as a job of its engine, for which somebody waits for so many seconds at most."""
    return JOBS[known_engine(backend.name)](backend, statement, seconds)


def _forget_oldest(kept: OrderedDict[str, Any]) -> list[Any]:
    """Let go of what was used longest ago, where there is too much; what that was."""
    return [kept.popitem(last=False)[1] for _ in range(len(kept) - MOST_PREPARED)]
