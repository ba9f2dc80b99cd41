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


def change_at_random(connection: sqlite3.Connection, chance: random.Random) -> Change | None:
    """Change something; None if the database does not let it be changed so."""
    table = chance.choice(TABLES)
    kind = chance.choices(list(_KINDS), weights=[6, 1, 1, 1])[0]
    rows = connection.execute(f"SELECT * FROM ledger_{table}").fetchall()
    if not rows:
        return None
    try:
        return _KINDS[kind](connection, f"ledger_{table}", rows, chance)
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


def _column(connection: sqlite3.Connection, table: str, rows: list[Any], chance: random.Random) -> Change:
    row = chance.choice(rows)
    names, _ = _columns(connection, table)
    column = chance.choice(names)
    value = row[names.index(column)]
    beside = [other[names.index(column)] for other in rows]
    new = chance.choice(beside) if chance.random() < 0.25 else _another(value, chance)
    _set(connection, table, row, column, new)
    return Change(f"a value became {new!r}", table, column, row)


def _delete(connection: sqlite3.Connection, table: str, rows: list[Any], chance: random.Random) -> Change:
    row = chance.choice(rows)
    where, values = _where(connection, table, row)
    connection.execute(f"DELETE FROM {table} WHERE {where}", values)
    return Change("a row was deleted", table, row=row)


def _insert(connection: sqlite3.Connection, table: str, rows: list[Any], chance: random.Random) -> Change:
    row = list(chance.choice(rows))
    names, keys = _columns(connection, table)
    place = names.index(chance.choice(keys))
    numbers = [other[place] for other in rows if isinstance(other[place], int)]
    if isinstance(row[place], int):
        row[place] = chance.choice([max(numbers) + 1, 0, -5, max(numbers) + 1000])
    else:
        row[place] = f"{row[place]}2"[-64:]
    connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    return Change("a row was added", table, row=tuple(row))


def _swap(connection: sqlite3.Connection, table: str, rows: list[Any], chance: random.Random) -> Change | None:
    names, keys = _columns(connection, table)
    free = [name for name in names if name not in keys]
    if len(rows) < 2 or not free:
        return None
    one, other = chance.sample(rows, 2)
    column = chance.choice(free)
    place = names.index(column)
    _set(connection, table, one, column, other[place])
    _set(connection, table, other, column, one[place])
    return Change("two rows exchanged a value", table, column, one, other)


_KINDS: dict[str, Callable[..., Change | None]] = {
    "column": _column,
    "delete": _delete,
    "insert": _insert,
    "swap": _swap,
}
