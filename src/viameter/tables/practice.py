"""Practice: a table of made-up rows that behaves like a private one, so that questions can be tried for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from viameter.errors import ParameterError
from viameter.tables.collecting import Order
from viameter.tables.expressions import Kind
from viameter.tables.synthetic import synthetic
from viameter.tables.units import Described, PerEntity

if TYPE_CHECKING:
    from viameter.tables.table import Table

ARROW = {
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.BOOLEAN: "bool_",
    Kind.TEXT: "string",
    Kind.DATE: "date32",
}


def practice_table(table: Table, *, rows: int, values: Mapping[str, Any] | None) -> Table:
    """Made-up rows with the columns, the unit and the budget of a table, in a session of their own."""
    import pyarrow as pa

    from viameter.tables.opening import open

    if table.source.steps or table.source.table or isinstance(table.unit, Described | PerEntity):
        raise ParameterError("dry_run: ask it of a single table as it was opened, and then write the same questions")
    schema = table.schema
    made = synthetic(schema, rows=rows, unit=table.unit.column, values=values)
    types = {
        name: getattr(pa, ARROW[kind.kind])() if kind.kind in ARROW else pa.timestamp("us")
        for name, kind in schema.items()
    }
    columns = {}
    for name, column in made.items():
        try:
            columns[name] = pa.array(column, type=types[name])
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            kind = schema[name].kind.value
            raise ParameterError(f"dry_run: values[{name!r}] are no values of a column that is {kind}") from None
    arrow = pa.table(columns)
    required = sorted(schema.required)
    order: Order
    order, progress = (table.session.order, table.session.progress) if table.is_here else ("native", None)
    opened: Table = open(arrow, unit=table.unit, budget=table.budget, required=required, order=order, progress=progress)
    return opened
