"""Public rows: columns given as lists, and small tables that are brought into the engine of a private one."""

from __future__ import annotations

import hashlib
import re
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.engines.errors import EngineError
from viameter.tables.engines.imports import import_ibis, import_optional
from viameter.tables.engines.names import fresh_name
from viameter.tables.engines.table import EngineTable
from viameter.tables.engines.turns import turn_of

_UNFIT = re.compile("[\0\ud800-\udfff]")
"""Letters of names at which engines cut, or Arrow fails."""


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
    rows = arrow_table(columns, types=types)
    backend, engine, turn, content = table.backend, table.engine, turn_of(table.backend), _content(rows)
    if table.is_sketch:
        ibis = import_ibis()
        return ibis.table(ibis.Schema.from_pyarrow(rows.schema), name=f"public_{content}")
    failed = ""
    with turn.lock, engine.aside(backend), engine.quiet():
        turn.drop_what_is_unused()
        known = turn.public.get(content)
        if known is not None:
            return known.to_expr()
        name = fresh_name("public")
        try:
            drop = engine.bring(backend, name, rows)
            expression = backend.table(name)
        except Exception as error:
            failed = type(error).__name__
        else:
            turn.public[content] = expression.op()
            turn.sizes[name] = rows.nbytes
    if failed:
        raise EngineError(engine.name, failed, "may this user make temporary tables there?")

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


def arrow_table(columns: Mapping[str, Sequence[Any]], *, types: Mapping[str, Any] | None = None) -> Any:
    """An Arrow table of columns of one length, each of one type; None is NULL. No message shows a value.

    `types` maps names of columns to Ibis types, for those whose values do not tell.
    """
    arrow = import_optional("pyarrow", extra="query", wanted_for="tables given as lists")
    if not isinstance(columns, Mapping) or not columns or not all(isinstance(name, str) for name in columns):
        raise ParameterError("a table given as lists is a mapping of names of columns to their values")
    if unfit := [name for name in columns if _UNFIT.search(name)]:
        raise ParameterError(
            f"column name {plain(unfit[0])}: expected Unicode without NUL and surrogates, as engines take; rename it"
        )
    types = dict(types or {})
    if unknown := sorted(types.keys() - columns.keys()):
        raise ParameterError(f"types= names columns that are not there: {', '.join(unknown)}")
    arrays = {name: _array(arrow, name, values, types.get(name)) for name, values in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ParameterError(f"the columns have different lengths: {', '.join(sorted(lengths))}")
    return arrow.table(arrays)


def _array(arrow: Any, name: str, values: Sequence[Any], kind: Any) -> Any:
    if isinstance(values, str | bytes):
        raise ParameterError(f"the column {name!r} is one text; expected a list of values")
    wanted = None if kind is None else import_ibis().dtype(kind).to_pyarrow()
    try:
        array = arrow.array(list(values), type=wanted)
    except (arrow.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ParameterError(
            f"the column {name!r} cannot be made ({type(error).__name__}): its values must be of one type (int64, "
            "float, bool, text, date or datetime; None where there is none)"
        ) from None
    if arrow.types.is_null(array.type):
        raise ParameterError(f"the column {name!r} has no value that tells its type")
    return array
