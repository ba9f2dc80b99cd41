"""Columns of stated types: what a custodian says that a column is, and how many of its values are none."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.engines import DataWarning, EngineTable, UnreadableData, run
from viameter.tables.expressions import Column, Expression, Kind, case, to_ibis, type_of_ibis
from viameter.tables.expressions.building import kind_named


def typed(table: EngineTable, types: Mapping[str, str], *, strict: bool) -> EngineTable:
    """The table with columns of these types. Values that are none are NULL: a DataWarning says how many, or, if it is
    strict, UnreadableData is raised.
    """
    schema, made = table.ibis_schema, {}
    lossy: dict[str, Kind] = {}
    for name, wanted in types.items():
        kind = kind_named(wanted)
        if name not in schema:
            if name in table.unusable:
                raise ParameterError(f"types: column {name!r} is of a type that questions cannot use")
            raise ParameterError(f"types: there is no column {plain(name)}. There are: {', '.join(schema)}")
        known = type_of_ibis(schema[name])
        if known is None:
            raise ParameterError(f"types: column {name!r} is of a type that questions cannot use")
        column = Column(name, known)
        if known.kind is not kind:
            made[name] = to_ibis(_as(column, kind), table.expression)
            lossy[name] = kind
    if not made:
        return table
    _report(table, made, lossy, strict=strict)
    return table.with_expression(table.expression.mutate(**made))


def _as(column: Expression, kind: Kind) -> Expression:
    if column.type.kind is Kind.REAL and kind is Kind.INTEGER:
        # Rounded, another number would be counted than the one that is there.
        whole = column.floor()
        return case((whole.cast("real") == column, whole), default=None)
    return column.cast(kind)


def _report(table: EngineTable, made: Mapping[str, Any], kinds: Mapping[str, Kind], *, strict: bool) -> None:
    """Count the values that are there and become NULL."""
    lost = {
        f"lost_{place}": (table.expression[name].notnull() & value.isnull()).sum().fill_null(0)
        for place, (name, value) in enumerate(made.items())
    }
    (found,) = run(table, table.expression.aggregate(**lost))
    said = [
        f"{count} of {name!r} {'is' if count == 1 else 'are'} no {kinds[name].value.lower()}"
        for name, count in zip(made, found.values(), strict=True)
        if count
    ]
    if not said:
        return
    text = f"types: values that cannot be read: {', '.join(said)}"
    if strict:
        raise UnreadableData(f"{text}; mend the data, or open it without strict to read them as NULL")
    warnings.warn(f"{text}; they are read as NULL (strict=True refuses them)", DataWarning, stacklevel=4)
