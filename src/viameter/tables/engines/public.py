"""Bring a small public table, such as a list of keys, into a private table's engine; it is dropped when out of use."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.engines.capabilities import DUCKDB, POSTGRES, require
from viameter.tables.engines.columns import arrow_table
from viameter.tables.engines.errors import EngineError
from viameter.tables.engines.imports import import_ibis
from viameter.tables.engines.names import fresh_name
from viameter.tables.engines.postgres_links import aside
from viameter.tables.engines.quiet import without_warnings_of_engines
from viameter.tables.engines.table import EngineTable
from viameter.tables.engines.turns import turn_of


def public_table(
    table: EngineTable, columns: Mapping[str, Sequence[Any]], *, types: Mapping[str, Any] | None = None
) -> Any:
    """An Ibis table on the backend of `table`, for joins with it. `types` gives Ibis types where they are not plain.

    It is a temporary one: it goes when no query uses it any more, at the latest with the connection. As long as one
    does, the same rows are the same table, so that a query with it is the same query.

    >>> from viameter.tables.engines import open_source, run
    >>> flights = open_source({"carrier": ["UA", "XX"]})
    >>> names = public_table(flights, {"carrier": ["UA", "AA"], "name": ["United", "American"]})
    >>> run(flights, flights.expression.join(names, "carrier"))
    [{'carrier': 'UA', 'name': 'United'}]
    """
    if not isinstance(table, EngineTable):
        raise ParameterError(f"public_table takes an EngineTable first, not {plain(table)}")
    require(table.engine, "public tables")
    rows = arrow_table(columns, types=types)
    backend, turn, content = table.backend, turn_of(table.backend), _content(rows)
    if table.is_sketch:
        ibis = import_ibis()
        return ibis.table(ibis.Schema.from_pyarrow(rows.schema), name=f"public_{content}")
    failed = ""
    with turn.lock, aside(backend), without_warnings_of_engines():
        turn.drop_what_is_unused()
        known = turn.public.get(content)
        if known is not None:
            return known.to_expr()
        name = fresh_name("public")
        try:
            drop = _bring(backend, name, rows)
            expression = backend.table(name)
        except Exception as error:
            failed = type(error).__name__
        else:
            turn.public[content] = expression.op()
            turn.sizes[name] = rows.nbytes
    if failed:
        raise EngineError(table.engine, failed, "may this user make temporary tables there?")

    def forget() -> None:
        turn.sizes.pop(name, None)
        drop()

    weakref.finalize(expression.op(), turn.to_drop.append, forget).atexit = False
    return expression


def _content(rows: Any) -> str:
    """What tells an Arrow table from others: all of its values, with their types."""
    from pyarrow import BufferOutputStream, ipc

    sink = BufferOutputStream()
    with ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return hashlib.sha256(sink.getvalue()).hexdigest()


def _bring(backend: Any, name: str, rows: Any) -> Callable[[], None]:
    """Make it, and say how to drop it."""
    if backend.name == DUCKDB:
        backend.con.register(name, rows)
        return lambda: backend.con.unregister(name)
    if backend.name == POSTGRES:
        _copy(backend, name, rows)
        return lambda: backend.con.execute(f'DROP TABLE IF EXISTS pg_temp."{name}"')
    session = backend._session
    session.createDataFrame(rows).createOrReplaceTempView(name)
    return lambda: session.catalog.dropTempView(name)


def _copy(backend: Any, name: str, rows: Any) -> None:
    schema = import_ibis().Schema.from_pyarrow(rows.schema)
    definitions = ", ".join(column.sql("postgres") for column in schema.to_sqlglot_column_defs("postgres"))
    with backend.con.transaction(), backend.con.cursor() as cursor:
        cursor.execute(f'CREATE TEMPORARY TABLE "{name}" ({definitions})')
        with cursor.copy(f'COPY pg_temp."{name}" FROM STDIN') as copy:
            for row in rows.to_pylist():
                copy.write_row(tuple(row.values()))
