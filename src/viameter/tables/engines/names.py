"""Names of tables: fresh ones for what is opened, and "schema.table" taken apart; and what addresses are."""

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


def is_path(address: str) -> bool:
    """Whether an address is that of files, here or by a URL; else of a server."""
    return "://" not in address or address.startswith(("s3://", "http://", "https://"))


def refuse_table(table: str | None, kind: str) -> None:
    """Refuse the name of a table where what is opened is one."""
    if table is not None:
        raise ParameterError(f"table={table!r} names a table of a database, but a {kind} is one already")
