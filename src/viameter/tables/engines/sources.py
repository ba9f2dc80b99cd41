"""Open a source of rows, wherever it is, as an EngineTable; no row is read and nothing copied, but text files are.

Beside a table of a DuckDB file other files are copied, too: its engine reaches no file but that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.engines import duckdb_files, duckdb_tables, postgres_tables, spark_tables
from viameter.tables.engines.capabilities import DUCKDB, POSTGRES, PYSPARK, known_engine
from viameter.tables.engines.columns import arrow_table
from viameter.tables.engines.imports import import_ibis
from viameter.tables.engines.jobs import require_plain_texts
from viameter.tables.engines.native_types import readable
from viameter.tables.engines.postgres_links import require_utf8
from viameter.tables.engines.row_by_row import require_row_by_row
from viameter.tables.engines.table import EngineTable

_WHAT = (
    "expected a path to .parquet, .csv or a DuckDB file (.duckdb, .ddb, .db), a postgresql:// URL, a SparkSession with "
    "table=..., a Spark, pandas or Polars DataFrame, an Arrow table, a mapping of names to lists, or an Ibis table"
)


def open_source(source: Any, *, table: str | None = None, beside: EngineTable | None = None) -> EngineTable:
    """A private table where it lives; `beside` opens it on another table's backend, so that the two can be joined.

    `table` names the table of a database ("schema.table" where the schema is not the usual one).

    >>> open_source({"carrier": ["UA", "AA"], "delay": [3, None]})
    EngineTable(duckdb; carrier: string, delay: int64)
    """
    import_ibis()
    if beside is not None and not isinstance(beside, EngineTable):
        raise ParameterError(f"beside= takes an EngineTable, not {type(beside).__name__}")
    return readable(_opened(source, table, beside))


def _opened(source: Any, table: str | None, beside: EngineTable | None) -> EngineTable:
    if isinstance(source, str | Path):
        return _open_address(str(source), table, beside)
    kind = _kind(source)
    if kind == "SparkSession":
        return _beside(spark_tables.open_session(source, table=table), beside)
    if table is not None:
        raise ParameterError(
            f"table={table!r} names a table of a database, but a {type(source).__name__} is one already"
        )
    if kind == "spark frame":
        return spark_tables.open_dataframe(source, beside=beside)
    if kind == "ibis":
        return _beside(_open_ibis(source), beside)
    if kind == "frame":
        return _open_frame(source, beside)
    if isinstance(source, Mapping):
        return _open_frame(arrow_table(source), beside)
    raise ParameterError(f"cannot open a {type(source).__name__}: {_WHAT}")


def _kind(source: Any) -> str:
    """What kind of source it is, told by its class alone: no library is imported to ask."""
    for ancestor in type(source).__mro__:
        library = ancestor.__module__.partition(".")[0]
        name = ancestor.__name__
        if library == "pyspark":
            if name == "SparkSession":
                return name
            if name == "DataFrame":
                return "spark frame"
        if library in ("pandas", "polars", "pyarrow") and name in ("DataFrame", "LazyFrame", "Table"):
            return "frame"
        if library == "ibis" and name == "Table":
            return "ibis"
    return ""


def _open_address(address: str, table: str | None, beside: EngineTable | None) -> EngineTable:
    if address.startswith(("postgresql://", "postgres://")):
        return postgres_tables.open_url(address, table=table, beside=beside)
    if "://" in address and not address.startswith(("s3://", "http://", "https://")):
        raise ParameterError(f"URLs that start with {address.partition('://')[0]}:// cannot be opened: {_WHAT}")
    suffix = Path(address.removesuffix("/")).suffix.lower()
    if suffix in duckdb_files.DATABASE_SUFFIXES:
        backend = None if beside is None else _duckdb_backend(beside)
        return duckdb_files.open_database(address, table=table, backend=backend)
    if table is not None:
        raise ParameterError(f"table={table!r} names a table of a database, but a {suffix or 'folder'} is one already")
    if beside is not None and beside.engine == PYSPARK:
        return spark_tables.open_file(address, suffix, beside=beside)
    backend = _duckdb_backend(beside)
    if suffix == ".csv":
        return duckdb_tables.open_csv(address, backend)
    if suffix == ".parquet" or Path(address).is_dir():
        return duckdb_tables.open_parquet(address, backend)
    raise ParameterError(f"cannot tell from its name what {address!r} is: {_WHAT}")


def _duckdb_backend(beside: EngineTable | None) -> Any:
    if beside is None:
        return duckdb_tables.memory_backend()
    if beside.engine != DUCKDB:
        raise ParameterError(
            f"files and frames are read by DuckDB, but the table beside is in {beside.engine}: load this one there "
            "first, and open it by its name"
        )
    return beside.backend


def _open_frame(frame: Any, beside: EngineTable | None) -> EngineTable:
    if beside is not None and beside.engine == PYSPARK:
        return spark_tables.open_local(frame, beside=beside)
    return duckdb_tables.open_frame(frame, _duckdb_backend(beside))


def _open_ibis(expression: Any) -> EngineTable:
    ibis = import_ibis()
    try:
        backend = expression.get_backend()
    except ibis.IbisError as error:
        raise ParameterError(f"the Ibis table has no single backend ({type(error).__name__}): bind it to one") from None
    if known_engine(backend.name) == DUCKDB:
        require_plain_texts(backend)
    if backend.name == POSTGRES:
        require_utf8(backend.con)
    require_row_by_row(expression)
    return _with_memtables(EngineTable(expression, backend))


def _with_memtables(table: EngineTable) -> EngineTable:
    """The table with what Ibis holds in memory handed to the engine now, where its types can be looked at."""
    import ibis.expr.operations as ops

    memtables = table.expression.op().find(ops.InMemoryTable)
    held = {node: _open_frame(node.data.to_pyarrow(node.schema), table) for node in memtables}
    if not held:
        return table
    replaced = {node: frame.expression.op() for node, frame in held.items()}
    keeps = tuple(kept for frame in held.values() for kept in frame.keeps)
    return replace(table, expression=table.expression.op().replace(replaced).to_expr(), keeps=(*table.keeps, *keeps))


def _beside(opened: EngineTable, beside: EngineTable | None) -> EngineTable:
    """What was opened, if it is on the backend of the table beside."""
    if beside is not None and opened.backend is not beside.backend:
        raise ParameterError(
            f"two tables can be joined on one backend only: one is in {beside.engine}, the other in another "
            f"{opened.engine}; open both from one database, or load one of them there"
        )
    return opened
