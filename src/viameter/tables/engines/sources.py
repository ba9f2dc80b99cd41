"""Open a source of rows, wherever it is, as an EngineTable; no row is read and nothing copied, but text files are.

Beside a table of a database file other files are copied, too: its engine reaches no file but that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.engines.imports import import_ibis, is_of
from viameter.tables.engines.names import is_path, refuse_table
from viameter.tables.engines.public import arrow_table
from viameter.tables.engines.readings import readable
from viameter.tables.engines.registry import engine_of, engines
from viameter.tables.engines.row_by_row import require_row_by_row
from viameter.tables.engines.table import EngineTable


def open_source(source: Any, *, table: str | None = None, beside: EngineTable | None = None) -> EngineTable:
    """A private table where it lives; `beside` opens it on another table's backend, so that the two can be joined.

    `table` names the table of a database ("schema.table" where the schema is not the usual one).

    >>> open_source({"carrier": ["UA", "AA"], "delay": [3, None]})
    EngineTable(duckdb; carrier: string, delay: int64)
    """
    import_ibis()
    if beside is not None and not isinstance(beside, EngineTable):
        raise ParameterError(f"beside= takes an EngineTable, not {type(beside).__name__}")
    opened = _opened(str(source) if isinstance(source, Path) else source, table, beside)
    if beside is not None and opened.backend is not beside.backend:
        raise ParameterError(
            f"two tables can be joined on one backend only: one is in {beside.engine.title}, the other in another "
            f"{opened.engine.title}; open both from one database, or load one of them there"
        )
    return readable(opened)


def copied(table: EngineTable) -> EngineTable:
    """The rows of a table as they are now, copied into the memory of its engine: files need not be read each time."""
    return table.engine.copied(table)


def _opened(source: Any, table: str | None, beside: EngineTable | None) -> EngineTable:
    if is_of(source, "ibis", "Table") or isinstance(source, Mapping):
        refuse_table(table, type(source).__name__)
        if not isinstance(source, Mapping):
            return _open_ibis(source)
        source = arrow_table(source)
    # The engine of the table beside comes first: what it can open itself can be joined.
    for engine in (*(() if beside is None else (beside.engine,)), *engines()):
        opened: EngineTable | None = engine.open(source, table=table, beside=beside)
        if opened is not None:
            return opened
    expected = f"expected {', '.join(each.opens for each in engines())}, a mapping of names to lists, or an Ibis table"
    if not isinstance(source, str):
        raise ParameterError(f"cannot open a {type(source).__name__}: {expected}")
    if not is_path(source):
        raise ParameterError(f"URLs that start with {source.partition('://')[0]}:// cannot be opened: {expected}")
    raise ParameterError(f"cannot tell from its name what {source!r} is: {expected}")


def _open_ibis(expression: Any) -> EngineTable:
    ibis = import_ibis()
    try:
        backend = expression.get_backend()
    except ibis.IbisError as error:
        raise ParameterError(f"the Ibis table has no single backend ({type(error).__name__}): bind it to one") from None
    engine_of(backend).require_known(backend)
    require_row_by_row(expression)
    return _with_memtables(EngineTable(expression, backend))


def _with_memtables(table: EngineTable) -> EngineTable:
    """The table with what Ibis holds in memory handed to the engine now, where its types can be looked at."""
    import ibis.expr.operations as ops

    memtables = table.expression.op().find(ops.InMemoryTable)
    held = {node: _opened(node.data.to_pyarrow(node.schema), None, table) for node in memtables}
    if not held:
        return table
    replaced = {node: frame.expression.op() for node, frame in held.items()}
    keeps = tuple(kept for frame in held.values() for kept in frame.keeps)
    return replace(table, expression=table.expression.op().replace(replaced).to_expr(), keeps=(*table.keeps, *keeps))
