"""Columns by the types that engines themselves name: which can be read without an error on any row, and how.

A cast that fails on some values, a comparison that a collation forbids or an operation that a type lacks raises in the
engine, for some rows, after the charge: whoever sees the error has learned of these rows. So a column is usable only if
its type is on the list of its engine, for which every operation of the expression language is total; where a type needs
it, the column is first turned into a plain one by SQL that is total too. Whatever is not on the list, such as a type
that a later version of an engine brings, is not usable, whether or not there are rows.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from viameter.errors import ParameterError
from viameter.tables.engines.imports import import_ibis
from viameter.tables.engines.table import EngineTable

AS_IT_IS: Final = "{0}"
# Beyond moments that are read, and within what 64 bits of nanoseconds hold besides the infinite ones.
LONG, SHORT = ("0002-01-01 00:00:00", "9999-01-01 00:00:00"), ("1677-09-21 00:12:44", "2262-04-11 23:47:16")


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
        found = table.engine.readings(table.backend, node)
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


def moment(kind: str, ends: tuple[str, str], made: str, zone: str = "") -> str:
    """A moment as a timestamp of microseconds; NULL outside of what every engine hands over.

    What is cast is NULL already where the cast would fail: engines may compute both sides of a CASE.
    """
    first, last = (f"CAST('{end}{zone}' AS {kind})" for end in ends)
    inside = f"CASE WHEN {{0}} BETWEEN {first} AND {last} THEN {{0}} END"
    return made.format(f"({inside})")


def plain(**dtypes: str) -> dict[str, tuple[str, str]]:
    """Types of an engine that are read as they are, each by its Ibis type."""
    return {name: (dtype, AS_IT_IS) for name, dtype in dtypes.items()}


def reading_of(types: dict[str, tuple[str, str]], kind: str, *, nullable: bool) -> Reading | None:
    """How a column of a type on the list is read; None for others."""
    dtype, sql = types.get(kind, ("", ""))
    return Reading(import_ibis().dtype(dtype, nullable=nullable), sql) if dtype else None


def native_table(backend: Any, name: str, namespace: Any, columns: dict[str, Reading | None]) -> Any:
    """A table of a database as an Ibis expression. Ibis itself fails on some types, and loads extensions for others."""
    import ibis.expr.datatypes as dt
    import ibis.expr.operations as ops

    kinds = {column: dt.unknown if reading is None else reading.dtype for column, reading in columns.items()}
    schema = import_ibis().schema(kinds)
    return ops.DatabaseTable(name=name, schema=schema, source=backend, namespace=namespace).to_expr()
