"""Columns by the types that engines themselves name: which can be read without an error on any row, and how.

A cast that fails on some values, a comparison that a collation forbids or an operation that a type lacks raises in the
engine, for some rows, after the charge: whoever sees the error has learned of these rows. So a column is usable only if
its type is on a list here, for which every operation of the expression language is total; where a type needs it, the
column is first turned into a plain one by SQL that is total too. Whatever is not on the list, such as a type that a
later version of an engine brings, is not usable, whether or not there are rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Final, NamedTuple

from viameter.errors import ParameterError
from viameter.tables.engines.capabilities import DUCKDB, POSTGRES, PYSPARK
from viameter.tables.engines.imports import import_ibis
from viameter.tables.engines.table import EngineTable

AS_IT_IS: Final = "{0}"


class Reading(NamedTuple):
    """How a column is read: the Ibis type of what is read, and the SQL that makes it of the column `{0}`."""

    dtype: Any
    sql: str = AS_IT_IS


def readable(table: EngineTable) -> EngineTable:
    """The table with those columns that can be read without an error on any row, as plain types; no row is read.

    The names of the others are in `unusable`.
    """
    import ibis.expr.operations as ops

    replaced: dict[Any, Any] = {}
    unusable: list[str] = []
    for node in table.expression.op().find(ops.DatabaseTable):
        found = READINGS[table.engine](table.backend, node)
        unusable += [name for name, reading in found.items() if reading is None]
        usable = {name: reading for name, reading in found.items() if reading is not None}
        if len(usable) < len(found) or any(not _is_plain(node, name, reading) for name, reading in usable.items()):
            replaced[node] = _projected(table, node, usable)
    if not replaced:
        return table
    try:
        expression = table.expression.op().replace(replaced).to_expr()
    except Exception as error:  # Ibis has several kinds for a column that is not there, or of another type
        listed = f", one of {', '.join(sorted(unusable))}" if unusable else ""
        raise ParameterError(
            f"the Ibis table uses a column whose type cannot be read without errors on some rows{listed} "
            f"({type(error).__name__}); make a view in the database that casts it, and open that"
        ) from None
    return table.with_expression(expression, unusable=(*table.unusable, *unusable))


def _is_plain(node: Any, name: str, reading: Reading) -> bool:
    return reading.sql == AS_IT_IS and reading.dtype == node.schema[name]


def _projected(table: EngineTable, node: Any, usable: dict[str, Reading]) -> Any:
    """The columns of a table of the database, read; as a query that engines merge with what is asked of it."""
    import ibis.expr.operations as ops
    import sqlglot as sg

    if not usable:
        raise ParameterError("the table has no column of a type that questions can use")
    dialect = table.backend.dialect
    source = written_name(table.backend, node.name, node.namespace)
    columns = []
    for name, reading in usable.items():
        quoted = sg.to_identifier(name, quoted=True).sql(dialect)
        columns.append(f"{reading.sql.format(quoted)} AS {quoted}")
    schema = import_ibis().schema({name: reading.dtype for name, reading in usable.items()})
    return ops.SQLQueryResult(query=f"SELECT {', '.join(columns)} FROM {source}", schema=schema, source=table.backend)


def written_name(backend: Any, name: str, namespace: Any) -> str:
    """The name of a table in the SQL of its engine."""
    from sqlglot.expressions import table_

    return table_(name, db=namespace.database, catalog=namespace.catalog, quoted=True).sql(backend.dialect)


def _moment(kind: str, ends: tuple[str, str], made: str, zone: str = "") -> str:
    """A moment as a timestamp of microseconds; NULL outside of what every engine hands over.

    What is cast is NULL already where the cast would fail: engines may compute both sides of a CASE.
    """
    first, last = (f"CAST('{end}{zone}' AS {kind})" for end in ends)
    inside = f"CASE WHEN {{0}} BETWEEN {first} AND {last} THEN {{0}} END"
    return made.format(f"({inside})")


# Beyond those that are read by a moment, and within what 64 bits of nanoseconds hold besides the infinite ones.
_LONG, _SHORT = ("0002-01-01 00:00:00", "9999-01-01 00:00:00"), ("1677-09-21 00:12:44", "2262-04-11 23:47:16")
_CAST, _IN_UTC = "CAST({} AS TIMESTAMP)", "timezone('UTC', {})"

DUCKDB_TYPES: Final[dict[str, tuple[str, str]]] = {
    **{
        name: (dtype, AS_IT_IS)
        for name, dtype in {
            "BOOLEAN": "boolean", "TINYINT": "int8", "SMALLINT": "int16", "INTEGER": "int32", "BIGINT": "int64",
            "UTINYINT": "uint8", "USMALLINT": "uint16", "UINTEGER": "uint32", "UBIGINT": "uint64", "FLOAT": "float32",
            "DOUBLE": "float64", "VARCHAR": "string", "DATE": "date", "TIMESTAMP": "timestamp(6)",
        }.items()
    },
    # What has no value at all; by another type it can be called by types=.
    '"NULL"': ("string", "CAST({0} AS VARCHAR)"),
    # By way of text: DuckDB's own cast of integers of 39 digits is not to the nearest float.
    "HUGEINT": ("float64", "CAST(CAST({0} AS VARCHAR) AS DOUBLE)"),
    "ENUM": ("string", "CAST({0} AS VARCHAR)"),
    "TIMESTAMP_S": ("timestamp(6)", _moment("TIMESTAMP_S", _LONG, _CAST)),
    "TIMESTAMP_MS": ("timestamp(6)", _moment("TIMESTAMP_MS", _LONG, _CAST)),
    "TIMESTAMP_NS": ("timestamp(6)", _moment("TIMESTAMP_NS", _SHORT, _CAST)),
    "TIMESTAMP WITH TIME ZONE": ("timestamp(6)", _moment("TIMESTAMPTZ", _LONG, _IN_UTC, "+00")),
    "TIMESTAMPTZ_NS": ("timestamp(6)", _moment("TIMESTAMPTZ_NS", _SHORT, _IN_UTC, "+00")),
}  # fmt: skip
"""Types of DuckDB's catalog, but decimals."""

_TEXT = '{0}::text COLLATE "C"'
POSTGRES_TYPES: Final[dict[str, tuple[str, str]]] = {
    **{
        name: (dtype, AS_IT_IS)
        for name, dtype in {
            "bool": "boolean", "int2": "int16", "int4": "int32", "int8": "int64", "float4": "float32",
            "float8": "float64", "date": "date", "timestamp": "timestamp(6)",
        }.items()
    },
    # Nondeterministic collations lack operations, and others take texts for equal that are not.
    **dict.fromkeys(("text", "varchar", "bpchar", "name"), ("string", _TEXT)),
    "oid": ("int64", "{0}::int8"),
    "timestamptz": ("timestamp(6)", _moment("timestamptz", _LONG, "({} AT TIME ZONE 'UTC')", "+00")),
}  # fmt: skip
"""Types of pg_catalog, but numeric; enums are read as text, domains as what they are made of."""


def _duckdb(backend: Any, node: Any) -> dict[str, Reading | None]:
    return duckdb_columns(backend, node.name, node.namespace)


def duckdb_columns(backend: Any, name: str, namespace: Any) -> dict[str, Reading | None]:
    """How each column of a table is read; the table must be there."""
    ibis = import_ibis()
    found: dict[str, Reading | None] = {}
    for column, kind, null, *_ in backend.con.execute(f"DESCRIBE {written_name(backend, name, namespace)}").fetchall():
        decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", kind)
        if decimal is not None:
            sizes = map(int, decimal.groups())
            found[column] = Reading(ibis.expr.datatypes.Decimal(*sizes, nullable=null == "YES"))
        else:
            dtype, sql = DUCKDB_TYPES.get("ENUM" if kind.startswith("ENUM(") else kind, ("", ""))
            found[column] = Reading(ibis.dtype(dtype, nullable=null == "YES"), sql) if dtype else None
    return found


def native_table(backend: Any, name: str, namespace: Any, columns: dict[str, Reading | None]) -> Any:
    """A table of a database as an Ibis expression. Ibis itself fails on some types, and loads extensions for others."""
    import ibis.expr.datatypes as dt
    import ibis.expr.operations as ops

    kinds = {column: dt.unknown if reading is None else reading.dtype for column, reading in columns.items()}
    schema = import_ibis().schema(kinds)
    return ops.DatabaseTable(name=name, schema=schema, source=backend, namespace=namespace).to_expr()


_OF_RELATION = """
WITH RECURSIVE found AS (
  SELECT a.attnum, a.attname, a.atttypid AS kind, a.atttypmod AS modifier, NOT a.attnotnull AS nullable,
    pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT') AS readable
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  WHERE c.oid = pg_catalog.to_regclass(%(relation)s) AND a.attnum > 0 AND NOT a.attisdropped
    AND (%(is_qualified)s OR c.relnamespace IN (current_schema()::regnamespace, pg_catalog.pg_my_temp_schema()))
  UNION ALL
  SELECT f.attnum, f.attname, t.typbasetype, t.typtypmod, f.nullable, f.readable
  FROM found f JOIN pg_catalog.pg_type t ON t.oid = f.kind AND t.typtype = 'd'
)
SELECT f.attname, t.typtype, t.typnamespace = 'pg_catalog'::regnamespace, t.typname, f.modifier, f.nullable, f.readable
FROM found f JOIN pg_catalog.pg_type t ON t.oid = f.kind AND t.typtype <> 'd'
ORDER BY f.attnum
"""
"""The columns of a table, by the types that domains are made of, and whether this user may read them."""


def _postgres(backend: Any, node: Any) -> dict[str, Reading | None]:
    return postgres_columns(backend, node.namespace.database, node.name)


def postgres_columns(
    backend: Any, schema: str | None, name: str, *, reading: Sequence[str] = ()
) -> dict[str, Reading | None]:
    """How each column of a table is read; empty if there is no such table. Ibis fails on some types.

    With columns that are read, by the same query: it fails if the server does not let them be read, or hides rows.
    """
    import ibis.expr.operations as ops

    relation = written_name(backend, name, ops.Namespace(database=schema))
    wanted = {"relation": relation, "is_qualified": schema is not None}
    # The columns are in what is asked for: else the server would leave out what a view computes for them.
    tables = f"({_OF_RELATION}) found {_while_reading(relation, reading) if reading else ''}"
    question = f"SELECT found.*, {'read IS NULL' if reading else 'true'} FROM {tables}"
    alone = nullcontext() if backend.con.autocommit else backend.con.transaction()
    with alone, backend.con.cursor() as cursor:
        columns = cursor.execute(question, wanted).fetchall()
    return {column: _postgres_reading(*kind) if may_read else None for column, *kind, may_read, _ in columns}


def _while_reading(relation: str, columns: Sequence[str]) -> str:
    """Read no row of these columns, and find nothing if policies hide rows from this user."""
    listed = ", ".join('"{}"'.format(column.replace('"', '""')) for column in columns)
    read = f"SELECT {listed} FROM {relation} LIMIT 0".replace("%", "%%")
    return (
        f"LEFT JOIN ({read}) AS read ON true "
        "WHERE NOT pg_catalog.row_security_active(pg_catalog.to_regclass(%(relation)s))"
    )


def _postgres_reading(kind: Any, is_builtin: bool, name: str, modifier: int, nullable: bool) -> Reading | None:
    ibis = import_ibis()
    if kind in ("e", b"e"):
        return Reading(ibis.dtype("string", nullable=nullable), _TEXT)
    if not is_builtin or kind not in ("b", b"b"):
        return None
    if name == "numeric":
        precision, scale = (modifier - 4) >> 16 & 0xFFFF, ((modifier - 4 & 0x7FF) ^ 1024) - 1024
        # Without a precision, or with a scale that is negative or beyond it, as other engines have none.
        is_usual = modifier >= 4 and precision <= 38 and 0 <= scale <= precision
        return Reading(ibis.expr.datatypes.Decimal(*((precision, scale) if is_usual else ()), nullable=nullable))
    dtype, sql = POSTGRES_TYPES.get(name, ("", ""))
    return Reading(ibis.dtype(dtype, nullable=nullable), sql) if dtype else None


SPARK_TYPES: Final = (
    "BooleanType", "ByteType", "ShortType", "IntegerType", "LongType", "FloatType", "DoubleType", "DecimalType",
    "StringType", "CharType", "VarcharType", "DateType", "TimestampType", "TimestampNTZType",
)  # fmt: skip


def _spark(backend: Any, node: Any) -> dict[str, Reading | None]:
    found: dict[str, Reading | None] = {}
    for field in backend._session.table(written_name(backend, node.name, node.namespace)).schema:
        kind = type(field.dataType).__name__
        if kind not in SPARK_TYPES:
            found[field.name] = None
        elif getattr(field.dataType, "collation", "UTF8_BINARY") != "UTF8_BINARY":
            found[field.name] = Reading("string", "{0} COLLATE UTF8_BINARY")
        else:
            found[field.name] = Reading(node.schema[field.name])
    return found


READINGS: Final[dict[str, Callable[[Any, Any], dict[str, Reading | None]]]] = {
    DUCKDB: _duckdb,
    POSTGRES: _postgres,
    PYSPARK: _spark,
}
