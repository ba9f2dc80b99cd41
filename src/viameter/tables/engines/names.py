"""Names of tables: fresh ones for what is opened, and "schema.table" taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex

from viameter.errors import ParameterError, plain


def fresh_name(kind: str) -> str:
    """A name that no other table has: two sources opened on one backend must not replace one another."""
    return f"viameter_{kind}_{token_hex(8)}"


def split_name(table: str) -> tuple[str | None, str]:
    """A name as users write it, taken apart at its last dot.

    >>> split_name("flights"), split_name("air.flights")
    ((None, 'flights'), ('air', 'flights'))
    """
    if not isinstance(table, str):
        raise ParameterError(f"table={plain(table)} is not a name; expected 'table' or 'schema.table'")
    schema, dot, name = table.rpartition(".")
    if not name or (dot and not schema):
        raise ParameterError(f"table={table!r} is not a name; expected 'table' or 'schema.table'")
    return schema or None, name


def require_different(names: Sequence[str], *, where: str) -> None:
    """Refuse names that stand twice, or differ in capitals alone: an engine would rename or mix them up."""
    known: dict[str, str] = {}
    for name in names:
        other = known.get(name.casefold())
        if other is not None:
            how = "twice" if other == name else f"beside {other!r}"
            raise ParameterError(f"{where!r} has the column {name!r} {how}: expected different names, capitals apart")
        known[name.casefold()] = name
