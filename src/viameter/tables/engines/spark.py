"""Spark: DataFrames and tables of a session, of this process or of Spark Connect, left where they are."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC
from pathlib import Path
from typing import Any

from viameter.errors import ParameterError, SourceUnavailable, plain
from viameter.tables.engines.digests import builtin
from viameter.tables.engines.engine import Engine, Job
from viameter.tables.engines.imports import import_ibis, import_optional, is_of
from viameter.tables.engines.names import fresh_name, is_path, refuse_table, split_name
from viameter.tables.engines.places import Place
from viameter.tables.engines.readings import Reading, written_name
from viameter.tables.engines.running import THREAD_NAME
from viameter.tables.engines.table import EngineTable

_ATTRIBUTE = "_viameter_backend"
USABLE = (
    "BooleanType", "ByteType", "ShortType", "IntegerType", "LongType", "FloatType", "DoubleType", "DecimalType",
    "StringType", "CharType", "VarcharType", "DateType", "TimestampType", "TimestampNTZType",
)  # fmt: skip
PLAIN_TEXT = "UTF8_BINARY"
"""The collation by which texts are equal only if every character is."""
LONGEST_PROBE = 3.0
"""Seconds within which a server that is up accepts a connection."""
UNKNOWN_TYPE = (NotImplementedError, TypeError, KeyError)
"""How Ibis says that it does not know a type, of which its own errors are kinds."""


class Spark(Engine):
    """Sessions of Spark, each of which is one backend, so that all of its tables can be joined."""

    name = "pyspark"
    title = "Spark"
    opens = "a SparkSession with table=..., a Spark DataFrame"
    # PySpark leaves the sockets by which results come to the collector of garbage.
    noise = (("unclosed <socket\\.socket", ResourceWarning),)
    # All tables of a session are on one backend: those of one dataset must not wait for another's.
    runs_many = True
    # Spark adds ten digits to a decimal that it sums.
    summed_as = "decimal(28, 0)"
    setting = "spark"
    setting_like = "local[2]"
    parts_of_name = 3

    def open(self, source: Any, *, table: str | None, beside: EngineTable | None) -> EngineTable | None:
        """A session's table, a DataFrame, or beside a table of a session what its Spark reads."""
        if is_of(source, "pyspark", "SparkSession"):
            return self._named(source, table)
        if is_of(source, "pyspark", "DataFrame"):
            refuse_table(table, "DataFrame")
            if beside is not None and getattr(beside.backend, "_session", None) is not source.sparkSession:
                raise ParameterError(
                    f"two tables can be joined on one backend only: the table beside is in {beside.engine.title}, not "
                    "in this DataFrame's SparkSession"
                )
            return self._frame(source)
        if beside is None or beside.engine is not self:
            return None
        if isinstance(source, str):
            return self._file(source, table, beside.backend._session) if is_path(source) else None
        raise ParameterError(
            f"a {type(source).__name__} of this process would have to be copied to Spark to be joined with the table "
            "beside: call spark.createDataFrame(...) yourself and open its result"
        )

    def connect(self, session: Any) -> Any:
        """The Ibis backend of a session, whose time zone Ibis sets to UTC and whose logs are switched off."""
        kept = vars(session).get(_ATTRIBUTE)
        if kept is not None:
            return kept
        import_optional("ibis.backends.pyspark", extra="spark", wanted_for="Spark tables")
        with self.quiet():
            _silence(session)
            # By this name, under which Ibis also sets up the engine's options.
            return vars(session).setdefault(_ATTRIBUTE, import_ibis().pyspark.connect(session))

    def _named(self, session: Any, table: str | None) -> EngineTable:
        if table is None:
            raise ParameterError(
                "a SparkSession holds several tables: say which by table='name' or table='schema.name'"
            )
        self._found(session, table)  # refused here: Ibis lets errors of Java through, with all that they say
        schema, name = split_name(table)
        return self._table(session, name, database=schema)

    def _frame(self, frame: Any) -> EngineTable:
        """A DataFrame as a temporary view of its session."""
        name = fresh_name("frame")
        with self.quiet():
            frame.createOrReplaceTempView(name)
        return self._table(frame.sparkSession, name, keeps=(frame,))

    def _table(
        self, session: Any, name: str, *, database: str | None = None, keeps: tuple[Any, ...] = ()
    ) -> EngineTable:
        backend = self.connect(session)
        try:
            with self.quiet():
                return EngineTable(backend.table(name, database=database), backend, keeps=keeps)
        except UNKNOWN_TYPE as error:
            raise ParameterError(
                "the table has a column of a type that Ibis does not know, such as an interval "
                f"({type(error).__name__}): select the other columns first"
            ) from None

    def _file(self, path: str, table: str | None, session: Any) -> EngineTable:
        refuse_table(table, Path(path).suffix or "folder")
        if Path(path).suffix.lower() != ".parquet" and not Path(path).is_dir():
            raise ParameterError(
                f"beside a Spark table only Parquet files are opened, not {path!r}: read it by Spark first"
            )
        try:
            frame = session.read.parquet(path)
        except Exception as error:
            raise ParameterError(f"Spark cannot read {path!r} as Parquet ({type(error).__name__})") from None
        return self._frame(frame)

    def readings(self, backend: Any, node: Any) -> dict[str, Reading | None]:
        """How each column is read: text of another collation is compared as it is written."""
        found: dict[str, Reading | None] = {}
        for field in backend._session.table(written_name(backend, node.name, node.namespace)).schema:
            if type(field.dataType).__name__ not in USABLE:
                found[field.name] = None
            elif getattr(field.dataType, "collation", PLAIN_TEXT) != PLAIN_TEXT:
                found[field.name] = Reading("string", f"{{0}} COLLATE {PLAIN_TEXT}")
            else:
                found[field.name] = Reading(node.schema[field.name])
        return found

    def bring(self, backend: Any, name: str, rows: Any) -> Callable[[], None]:
        """Make a temporary view of an Arrow table."""
        session = backend._session
        frame_of(session, rows).createOrReplaceTempView(name)
        return lambda: session.catalog.dropTempView(name)

    def reached(self, setting: str) -> Any:
        """The session of a master, or of a server of Spark Connect (`sc://host:15002`)."""
        session = import_optional("pyspark.sql", extra="spark", wanted_for="Spark tables").SparkSession
        builder = session.builder.appName("viameter")
        return (builder.remote(setting) if setting.startswith("sc://") else builder.master(setting)).getOrCreate()

    def place(self, backend: Any, source: Any, table: str) -> Place:
        """A table as Spark finds it; in one process there is one session, whatever master others ask for."""
        server = f" {source.client.host}".casefold() if _is_remote(source) else ""
        return Place((f"spark{server}",), f"#{self._found(source, table)}")

    def _found(self, session: Any, table: str) -> str:
        """A table as Spark finds it, which knows it by its catalog and database or without, in capitals or without."""
        schema, name = split_name(table)
        parts = [*(schema.split(".") if schema else ()), name]
        quoted = ".".join("`{}`".format(part.replace("`", "``")) for part in parts)
        with self.quiet():
            try:
                found = session.catalog.getTable(quoted)
            except Exception:  # by the name of its kind in each of Spark's clients; its words may say more
                raise ParameterError(f"the SparkSession has no table {plain(table)}") from None
        # Views that end with the session are in no catalog.
        return ".".join([found.catalog or "", *(found.namespace or ()), found.name]).casefold()

    def fetch(self, job: Job) -> list[Any]:
        """Run it under its name, which Spark keeps by thread: this one ends with the query."""
        session = job.backend._session
        if _is_remote(session):
            session.addTag(job.name)
        else:
            session.sparkContext.setJobGroup(job.name, "viameter", interruptOnCancel=True)
        # A constant such as '${x}' is itself, and not the value of a variable.
        session.conf.set("spark.sql.variable.substitute", "false")
        answered = session.sql(job.statement.sql)
        moments = [field.dataType.typeName() == "timestamp" for field in answered.schema]
        # Spark hands over times of the world as those of the zone of this process.
        return [
            tuple(_utc(value) if moment else value for value, moment in zip(row, moments, strict=True))
            for row in answered.collect()
        ]

    def cancel(self, job: Job) -> None:
        """Cancel by name; Spark Connect has no context on this side, and knows operations by tags."""
        session = job.backend._session
        if _is_remote(session):
            session.interruptTag(job.name)
        else:
            session.sparkContext.cancelJobGroup(job.name)

    def is_gone(self, backend: Any) -> bool:
        """Whether a session was stopped, or its server does not listen: Spark Connect would try for minutes."""
        session = backend._session
        if not _is_remote(session):
            return session.sparkContext._jsc is None
        try:
            host, _, port = session.client._builder.endpoint.rpartition(":")
            socket.create_connection((host, int(port)), LONGEST_PROBE).close()
        except (OSError, ValueError):
            return True
        return bool(session.is_stopped)

    def require_reachable(self, backend: Any, tables: Sequence[EngineTable]) -> None:
        """Make sure that a server still has the session: it ends one that was idle for an hour, with its views."""
        super().require_reachable(backend, tables)
        if _is_remote(backend._session):
            try:
                backend._session.conf.get("spark.sql.session.timeZone")
            except Exception as error:
                raise SourceUnavailable(
                    f"the session of Spark Connect has ended ({type(error).__name__}): make another, and open the "
                    "source again; nothing was spent"
                ) from None

    def native_digest(self, parts: tuple[Any, ...], salt: str) -> Any:
        """Each part seeds the hash of the next. NULL is passed over, so that it is said apart where it stands."""
        first = import_ibis().literal(int(salt), type="int64")
        chain = [first, *(piece for part in parts for piece in (part.isnull(), part))]
        return builtin("xxhash64", tuple(piece.type() for piece in chain), "int64")(*chain)

    def seconds_and_micros(self, moment: Any) -> tuple[Any, Any]:
        """By functions of Spark: what Ibis makes of these gives a fraction, or is not there."""
        digits = builtin("date_format", (moment.type(), "string"), "string")(moment, "SSSSSS")
        return builtin("second", (moment.type(),), "int32")(moment), digits.cast("int32")


def frame_of(session: Any, rows: Any) -> Any:
    """A DataFrame of an Arrow table; of one without rows, Spark Connect finds no types."""
    if rows.num_rows:
        return session.createDataFrame(rows)
    from pyspark.sql.pandas.types import from_arrow_schema

    return session.createDataFrame([], from_arrow_schema(rows.schema))


class _NotOfQueries(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return record.threadName != THREAD_NAME


_NOT_OF_QUERIES = _NotOfQueries()


def _silence(session: Any) -> None:
    """Switch off the logs of a session's Spark: when a task fails, they show the value that it failed on.

    What Python's side of Spark logs is left out for this library's queries alone.
    """
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        from pyspark.logger import PySparkLogger

        PySparkLogger.getLogger(name).addFilter(_NOT_OF_QUERIES)
    # A session of Spark Connect has its logs elsewhere.
    with suppress(Exception):
        session.sparkContext.setLogLevel("OFF")


def _is_remote(session: Any) -> bool:
    """Whether a session is one of Spark Connect."""
    return "connect" in type(session).__module__


def _utc(moment: Any) -> Any:
    return moment if moment is None else moment.astimezone(UTC).replace(tzinfo=None)
