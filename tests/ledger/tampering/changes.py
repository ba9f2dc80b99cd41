"""Changes of a ledger by hand, in SQL: any column of any table, and rows that are taken away, added or exchanged."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.ledger.tampering.example import TABLES


@dataclass(frozen=True)
class Change:
    """What was changed, for whoever reads of a change that was not found."""

    how: str
    table: str
    column: str = ""
    row: tuple[Any, ...] = ()
    """The row as it was."""
    other: tuple[Any, ...] = ()
    """The other one, if there are two."""


Wanted = tuple[str, str, str]
"""A kind of change, the table, and the column."""


def all_changes(connection: sqlite3.Connection) -> list[Wanted]:
    """Every kind of change of every column of every table; texts and bytes that hold much are changed more often."""
    found: list[Wanted] = []
    for table in TABLES:
        names, keys = _columns(connection, f"ledger_{table}")
        found.append(("delete", table, ""))
        found += [("insert", table, key) for key in keys]
        found += [("swap", table, name) for name in names if name not in keys]
        for name in names:
            times = 6 if name in ("body", "state", "content") else 2
            found += [("beside", table, name), *[("another", table, name)] * times]
    return found


def make(wanted: Wanted, connection: sqlite3.Connection, chance: random.Random) -> Change | None:
    """Make a change, of rows and values at random; None if there is none or the database does not let it be."""
    kind, table, column = wanted
    rows = connection.execute(f"SELECT * FROM ledger_{table}").fetchall()
    if not rows:
        return None
    try:
        return _KINDS[kind](connection, f"ledger_{table}", column, rows, chance)
    except sqlite3.IntegrityError:
        connection.rollback()
        return None


def _columns(connection: sqlite3.Connection, table: str) -> tuple[list[str], list[str]]:
    """The columns of a table, and those of its primary key."""
    found = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return [row[1] for row in found], [row[1] for row in found if row[5]]


def _where(connection: sqlite3.Connection, table: str, row: tuple[Any, ...]) -> tuple[str, list[Any]]:
    names, keys = _columns(connection, table)
    return " AND ".join(f'"{key}" IS ?' for key in keys), [row[names.index(key)] for key in keys]


def _set(connection: sqlite3.Connection, table: str, row: tuple[Any, ...], column: str, value: Any) -> None:
    where, values = _where(connection, table, row)
    connection.execute(f'UPDATE {table} SET "{column}" = ? WHERE {where}', [value, *values])


def _another(value: Any, chance: random.Random) -> Any:
    """Another value, much like this one or not at all."""
    if value is None:
        return chance.choice([1, "x"])
    if isinstance(value, int):
        return chance.choice([value + 1, value - 1, 0, -value, value + 10**9, f"{value}x", b"1"])
    if isinstance(value, bytes):
        flipped = bytearray(value)
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        return chance.choice([bytes(flipped), value[:-1], value + b" ", b"", None, value.decode("ascii", "replace")])
    at = chance.randrange(len(value))
    other = chr(ord(value[at]) ^ 1)
    digit = "".join("9" if letter == "1" else letter for letter in value)
    changed = value[:at] + other + value[at + 1 :]
    return chance.choice([changed, digit, value[:at], value + " ", "", value.upper(), value.encode(), 7, None])


def _another_value(
    connection: sqlite3.Connection, table: str, column: str, rows: list[Any], chance: random.Random
) -> Change:
    row = chance.choice(rows)
    return _become(connection, table, row, column, _another(_value(connection, table, row, column), chance))


def _value_beside(
    connection: sqlite3.Connection, table: str, column: str, rows: list[Any], chance: random.Random
) -> Change:
    values = [_value(connection, table, row, column) for row in rows]
    return _become(connection, table, chance.choice(rows), column, chance.choice(values))


def _value(connection: sqlite3.Connection, table: str, row: tuple[Any, ...], column: str) -> Any:
    return row[_columns(connection, table)[0].index(column)]


def _become(connection: sqlite3.Connection, table: str, row: tuple[Any, ...], column: str, new: Any) -> Change:
    _set(connection, table, row, column, new)
    return Change(f"a value became {new!r}", table, column, row)


def _delete(connection: sqlite3.Connection, table: str, _: str, rows: list[Any], chance: random.Random) -> Change:
    row = chance.choice(rows)
    where, values = _where(connection, table, row)
    connection.execute(f"DELETE FROM {table} WHERE {where}", values)
    return Change("a row was deleted", table, row=row)


def _insert(connection: sqlite3.Connection, table: str, key: str, rows: list[Any], chance: random.Random) -> Change:
    row = list(chance.choice(rows))
    place = _columns(connection, table)[0].index(key)
    numbers = [other[place] for other in rows if isinstance(other[place], int)]
    if isinstance(row[place], int):
        row[place] = chance.choice([max(numbers) + 1, 0, -5, max(numbers) + 1000])
    else:
        row[place] = f"{row[place]}2"[-64:]
    connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    return Change("a row was added", table, row=tuple(row))


def _swap(
    connection: sqlite3.Connection, table: str, column: str, rows: list[Any], chance: random.Random
) -> Change | None:
    if len(rows) < 2:
        return None
    one, other = chance.sample(rows, 2)
    _set(connection, table, one, column, _value(connection, table, other, column))
    _set(connection, table, other, column, _value(connection, table, one, column))
    return Change("two rows exchanged a value", table, column, one, other)


_KINDS: dict[str, Callable[..., Change | None]] = {
    "another": _another_value,
    "beside": _value_beside,
    "delete": _delete,
    "insert": _insert,
    "swap": _swap,
}
