"""Open Spark DataFrames and tables of a SparkSession: as temporary views of what stays where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.engines.imports import import_ibis, import_optional, table_not_found
from viameter.tables.engines.names import fresh_name, split_name
from viameter.tables.engines.quiet import silence_spark, without_warnings_of_engines
from viameter.tables.engines.table import EngineTable

_ATTRIBUTE = "_viameter_backend"
UNKNOWN_TYPE = (NotImplementedError, TypeError, KeyError)
"""How Ibis says that it does not know a type, of which its own errors are kinds."""


def connect(session: Any) -> Any:
    """The Ibis backend of a session, whose time zone Ibis sets to UTC and whose logs are switched off.

    It is one for each session, so that all tables of a session can be joined.
    """
    kept = vars(session).get(_ATTRIBUTE)
    if kept is not None:
        return kept
    import_optional("ibis.backends.pyspark", extra="spark", wanted_for="Spark tables")
    with without_warnings_of_engines():
        silence_spark(session)
        # By this name, under which Ibis also sets up the engine's options.
        return vars(session).setdefault(_ATTRIBUTE, import_ibis().pyspark.connect(session))


def open_session(session: Any, *, table: str | None) -> EngineTable:
    """A table or view of a session, by its name."""
    if table is None:
        raise ParameterError("a SparkSession holds several tables: say which by table='name' or table='schema.name'")
    schema, name = split_name(table)
    backend = connect(session)
    with without_warnings_of_engines():
        try:
            return EngineTable(backend.table(name, database=schema), backend)
        except table_not_found():
            raise ParameterError(f"the SparkSession has no table {table!r}") from None
        except UNKNOWN_TYPE as error:
            raise _not_described(error) from None


def open_dataframe(frame: Any, *, beside: EngineTable | None = None) -> EngineTable:
    """A Spark DataFrame as a temporary view of its session."""
    backend = _backend(frame.sparkSession, beside)
    name = fresh_name("frame")
    with without_warnings_of_engines():
        frame.createOrReplaceTempView(name)
        try:
            return EngineTable(backend.table(name), backend, keeps=(frame,))
        except UNKNOWN_TYPE as error:
            raise _not_described(error) from None


def _not_described(error: Exception) -> ParameterError:
    return ParameterError(
        f"the table has a column of a type that Ibis does not know, such as an interval ({type(error).__name__}): "
        "select the other columns first"
    )


def open_file(path: str, suffix: str, *, beside: EngineTable) -> EngineTable:
    """A Parquet file or folder, read by the Spark of another table."""
    if suffix != ".parquet" and not Path(path).is_dir():
        raise ParameterError(
            f"beside a Spark table only Parquet files are opened, not {path!r}: read it by Spark first"
        )
    session = beside.backend._session
    try:
        frame = session.read.parquet(path)
    except Exception as error:
        raise ParameterError(f"Spark cannot read {path!r} as Parquet ({type(error).__name__})") from None
    return open_dataframe(frame, beside=beside)


def open_local(frame: Any, *, beside: EngineTable) -> EngineTable:
    """A frame of this process, handed to the Spark of another table."""
    raise ParameterError(
        f"a {type(frame).__name__} of this process would have to be copied to Spark to be joined with the table "
        "beside: call spark.createDataFrame(...) yourself and open its result"
    )


def _backend(session: Any, beside: EngineTable | None) -> Any:
    if beside is None:
        return connect(session)
    if getattr(beside.backend, "_session", None) is not session:
        raise ParameterError(
            f"two tables can be joined on one backend only: the table beside is in {beside.engine}, not in this "
            "DataFrame's SparkSession"
        )
    return beside.backend
