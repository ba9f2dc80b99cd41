"""Columns and constants on engines: how each is read, so that all engines see the same values."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from functools import reduce
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.expressions.nodes import Column
from viameter.tables.expressions.types import FIRST_MOMENT, LAST_MOMENT, REACH, Kind, type_of_ibis

IBIS_NAMES = {
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.BOOLEAN: "boolean",
    Kind.TEXT: "string",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
}
FIRST_DAY, LAST_DAY = date.min, date.max


def constant(value: Any, kind: Kind) -> Any:
    """A constant of an engine; None is NULL."""
    import ibis

    if value is None:
        return ibis.null(IBIS_NAMES[kind])
    if kind is Kind.REAL:
        # As text, which every engine reads as the nearest float: a bare one is a decimal, whose products may overflow.
        return ibis.literal(repr(value)).cast("float64")
    if kind is Kind.INTEGER:
        # A bare one has 32 bits, and arithmetic of those would fail where that of 64 does not. Made as an operation,
        # since Ibis leaves out a cast that changes nothing by its own types.
        return ibis.expr.operations.Cast(ibis.literal(value, "int64"), to=ibis.dtype("int64")).to_expr()
    return ibis.literal(value, IBIS_NAMES[kind])


def is_null_constant(value: Any) -> bool:
    """Whether it is NULL on every row, and Ibis knows: it makes `x IS NULL` of `x == NULL`."""
    import ibis.expr.operations as ops

    node = value.op()
    return isinstance(node, ops.Literal) and node.value is None


def reading(column: Column, table: Any) -> Any:
    """A column of a table as its kind in one width, with NULL for what is no value of that kind."""
    value = table[column.name]
    dtype, kind = value.type(), column.type.kind
    found = type_of_ibis(dtype)
    if found is None or found.kind is not kind:
        raise ParameterError(
            f"the column {column.name!r} is {'unusable' if found is None else found.kind.value} in the table, "
            f"and {kind.value} in the expression"
        )
    if kind is Kind.REAL:
        return settled(_float(value, dtype))
    if kind is Kind.INTEGER:
        if dtype.is_decimal():
            value = value.cast("float64").isnan().ifelse(None, value)  # PostgreSQL's decimals may be NaN
        return (below(value, constant_like(2**63, dtype)) if dtype.is_uint64() else value).cast("int64")
    if kind is Kind.DATE:
        return _within(value, constant(FIRST_DAY, kind), constant(LAST_DAY, kind))
    if kind is Kind.TIMESTAMP:
        return representable(value.cast("timestamp"))
    return value


def representable(moment: Any) -> Any:
    """A timestamp of the years that every engine hands over; NULL elsewhere."""
    return _within(moment, constant(FIRST_MOMENT, Kind.TIMESTAMP), constant(LAST_MOMENT, Kind.TIMESTAMP))


def constant_like(value: int, dtype: Any) -> Any:
    """An integer as a constant of an Ibis type."""
    import ibis

    return ibis.literal(Decimal(value) if dtype.is_decimal() else value, dtype)


def below(value: Any, end: Any) -> Any:
    """The value where it is less than the end; NULL elsewhere. The value is mentioned once."""
    import ibis

    return ibis.least(value, end).nullif(end)


def above(value: Any, end: Any) -> Any:
    """The value where it is greater than the end; NULL elsewhere, but NaN stays. The value is mentioned once."""
    import ibis

    return ibis.greatest(value, end).nullif(end)


def settled(value: Any) -> Any:
    """A REAL that is 0 or between 2**-REACH and 2**REACH in magnitude; NULL beyond and for NaN."""
    import ibis

    size, least, most = value.abs(), constant(2.0**-REACH, Kind.REAL), constant(2.0**REACH, Kind.REAL)
    return ibis.cases((size.between(least, most), value), (size < least, constant(0.0, Kind.REAL)))


def _within(value: Any, lower: Any, upper: Any) -> Any:
    import ibis

    return ibis.ifelse(value.between(lower, upper), value, ibis.null(value.type()))


def _float(value: Any, dtype: Any) -> Any:
    if not dtype.is_decimal():
        return value.cast("float64")
    if dtype.precision is None or dtype.precision > 38:
        # Only PostgreSQL has such decimals: as floats they might overflow or underflow.
        import ibis.expr.datatypes as dt

        free = dt.Decimal()
        end = constant_like(10**50, free)
        value = above(below(value, end), constant_like(-(10**50), free))
        return value.cast(dt.Decimal(150, 70)).cast("string").cast("float64")
    if dtype.precision > 15:
        # By way of text: DuckDB's own cast of integers of 38 digits is not to the nearest float.
        return value.cast("string").cast("float64")
    return value.cast("float64")


def one_of(value: Any, others: Sequence[Any]) -> Any:
    """Whether a value is one of several that are not NULL; NULL for NULL."""
    if not value.type().is_boolean():
        return value.isin(others)
    # Written as `x = 1 IN (TRUE, FALSE)`, without parentheses, it would be compared with what is in the list.
    return reduce(lambda left, right: left | right, [value == other for other in others])
