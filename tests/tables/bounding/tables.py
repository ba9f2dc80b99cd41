"""Small tables with all that is awkward: duplicates, one unit with very many rows, NULLs, quotes, huge numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from tests.tables.bounding.reference import Row

from viameter.tables.bounding import Limits, contributions, kept_rows
from viameter.tables.engines import EngineTable, run
from viameter.tables.engines.compiled import compile_query

UNITS = ("O'Brien", '"x"', "", "a", "A", "NULL", "ünï€", "a;b|c", "heavy")
PLACES = ("north", "no'rth", None, "", "n", "t1:n")
YEARS = (2024, 2025, None)
HUGE = (2**62, -(2**62), 2**63 - 1, -(2**63))
COLUMNS = ("unit", "place", "year", "value", "other", "bin")

Table = dict[str, list[Any]]


def awkward(rows: int = 240, *, seed: int = 1) -> Table:
    """Seeded rows; a third are of one unit, many occur twice or more."""
    dice = Random(seed)
    table: Table = {name: [] for name in COLUMNS}
    while len(table["unit"]) < rows:
        row = {
            "unit": dice.choice((*UNITS, "heavy", "heavy", "heavy")),
            "place": dice.choice(PLACES),
            "year": dice.choice(YEARS),
            "value": dice.choice((*HUGE, 0, 1, 1, 1, -3, dice.randrange(1000))),
            "other": dice.randrange(3),
            "bin": dice.choice((None, 0, 1, 2)),
        }
        for _ in range(dice.choice((1, 1, 1, 2, 5))):
            for name, value in row.items():
                table[name].append(value)
    return table


def selected(table: Table, places: list[int]) -> Table:
    return {name: [column[place] for place in places] for name, column in table.items()}


def of_units(table: Table, units: set[str]) -> Table:
    return selected(table, [place for place, unit in enumerate(table["unit"]) if unit in units])


def as_rows(table: Table, groups: list[str], content: list[str]) -> list[Row]:
    return [
        Row(table["unit"][place], tuple(table[name][place] for name in groups), tuple(table[n][place] for n in content))
        for place in range(len(table["unit"]))
    ]


def kept_by_engine(
    table: EngineTable,
    limits: Limits,
    *,
    groups: list[str],
    totals: list[str],
    bins: str | None = None,
    first: str | None = None,
    salt: str = "salt",
    order: Any = "native",
) -> list[Row]:
    return keeping(table, limits, groups=groups, totals=totals, bins=bins, first=first, order=order)(salt)


def keeping(
    table: EngineTable,
    limits: Limits,
    *,
    groups: list[str],
    totals: list[str],
    bins: str | None = None,
    first: str | None = None,
    order: Any = "native",
) -> Callable[[str], list[Row]]:
    """From a salt to what is kept; compiled once, also for other rows that come in the place of the table."""
    query = kept_rows(
        table.expression,
        engine=table.engine,
        unit="unit",
        groups=groups,
        totals=totals,
        bins=bins,
        first=first,
        limits=limits,
        salt="salt",
        order=order,
    )
    content = [*totals, *([] if bins is None else [bins])]
    statement, placeholder = compile_query(table.backend, query), table.engine.salt_in_sql(order, "salt")

    def kept(salt: str) -> list[Row]:
        sql = statement.sql.replace(placeholder, table.engine.salt_in_sql(order, salt))
        return [
            Row(row["unit"], tuple(row[name] for name in groups), tuple(row[name] for name in content))
            for row in run(table, replace(statement, sql=sql))
        ]

    return kept


def sums_by_engine(
    table: EngineTable,
    limits: Limits,
    *,
    groups: list[str],
    totals: list[str],
    bins: str | None = None,
    unit: str | None = "unit",
    salt: str = "salt",
    order: Any = "native",
) -> dict[tuple[Any, ...], list[int]]:
    """From (group values, bin) to the count of rows and sums."""
    query = contributions(
        table.expression,
        engine=table.engine,
        unit=unit,
        groups=groups,
        totals={"rows kept": 1} | {f"sum of {name}": name for name in totals},
        bins=bins,
        limits=limits,
        salt=salt,
        order=order,
    )
    sums: dict[tuple[Any, ...], list[int]] = {}
    for row in run(table, query):
        group = tuple(row[name] for name in groups)
        key = group if bins is None else (*group, row[bins])
        assert key not in sums, "a group came twice"
        texts = [row["rows kept"], *(row[f"sum of {name}"] for name in totals)]
        assert all(isinstance(text, str) for text in texts)
        sums[key] = [int(text) for text in texts]
    return sums
