"""Values such that what an engine takes for the same is the same: the columns of units and groups as they are compared.

Limits hold for each group as the engine groups. Where it takes two values for one although their digests differ (0.0
and -0.0; 'a' and 'A' under a collation; the decimals 1.0 and 1.00), a group would have two places in the order of a
unit's rows, and twice as many of them would be kept. Such values are made one, or told apart, before anything else.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from viameter.errors import ParameterError

__all__ = ["comparable"]

_PLAIN = ("integer", "boolean", "date", "time", "timestamp", "decimal", "uuid")


def comparable(engine: str, column: Any, *, name: str) -> Any:
    """The column, such that values are equal in the engine exactly if they have the same digest."""
    import ibis

    kind = column.type()
    if kind.is_string():
        return _without_collation(engine, column)
    if kind.is_floating():
        return ibis.ifelse(column == 0, 0.0, column).cast(kind)
    if kind.is_decimal() and engine == "postgres":
        return _builtin("trim_scale", kind, kind)(column)
    if any(getattr(kind, f"is_{plain}")() for plain in _PLAIN):
        return column
    raise ParameterError(
        f"column {name!r} is of type {kind}: expected text, numbers, truth values, dates or times to tell units or "
        "groups apart; make one of these of it first"
    )


def _without_collation(engine: str, column: Any) -> Any:
    """Text that is equal only if every character is; by way of bytes, since a cast keeps a collation."""
    import ibis

    if engine == "duckdb":
        return _builtin("decode", "binary", "string")(_builtin("encode", "string", "binary")(column))
    if engine == "postgres":
        encoding = _builtin("getdatabaseencoding", None, "string")()
        as_bytes = _builtin("convert_to", "string", "binary", more="string")(column, encoding)
        return _builtin("convert_from", "binary", "string", more="string")(as_bytes, encoding)
    # Made as an operation: Ibis leaves out a cast that changes nothing by its own types.
    return ibis.expr.operations.Cast(column, to=ibis.dtype("string")).to_expr()


@cache
def _builtin(name: str, takes: Any, gives: Any, *, more: Any = None) -> Any:
    """A function that the engine has, under its own name."""
    import ibis

    kinds = tuple(ibis.dtype(kind) for kind in (takes, more) if kind is not None)
    # Ibis counts the parameters of what it is given.
    stub = (lambda: None, lambda value: None, lambda value, other: None)[len(kinds)]
    return ibis.udf.scalar.builtin(stub, name=name, signature=(kinds, ibis.dtype(gives)))
