"""What is kept of a unit is within the limits and depends on its own rows and the salt alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tests.tables.bounding import reference
from tests.tables.bounding.reference import Row
from tests.tables.bounding.tables import (
    UNITS,
    Table,
    as_rows,
    awkward,
    keeping,
    kept_by_engine,
    of_units,
    selected,
    sums_by_engine,
)

from viameter.tables.bounding import Limits, kept_rows
from viameter.tables.engines import EngineTable
from viameter.tables.engines.duckdb import DuckDB

Load = Callable[[Any, str, Any], EngineTable]
GROUPS, TOTALS, BINS = ["place", "year"], ["value", "other"], "bin"
COLUMNS: dict[str, Any] = {"groups": GROUPS, "totals": TOTALS, "bins": BINS}
SHAPES = [
    Limits(),
    Limits(rows=5),
    Limits(per_group=2),
    Limits(groups=3),
    Limits(groups=3, per_group=2),
    Limits(rows=4, groups=3),
    Limits(rows=5, per_group=2),
    Limits(rows=5, groups=4, per_group=3),
]


def kept(table: EngineTable, limits: Limits) -> Counter[Row]:
    return Counter(kept_by_engine(table, limits, **COLUMNS))


def kept_of_each(backend: Any, load: Load, limits: Limits) -> Callable[[Table], Counter[Row]]:
    """What is kept of one table after the other, each in the place of the last."""
    rows_of = keeping(load(backend, "rows", awkward()), limits, **COLUMNS)

    def found(data: Table) -> Counter[Row]:
        load(backend, "rows", data)
        return Counter(rows_of("salt"))

    return found


def shuffled(table: Table, *, seed: int) -> Table:
    places = list(range(len(table["unit"])))
    Random(seed).shuffle(places)
    return selected(table, places)


def assert_within(limits: Limits, rows: Counter[Row], of: Counter[Row]) -> None:
    """The limits hold, of each unit what is kept are its own rows, and no more is dropped than must be."""
    assert rows <= of
    for unit in {row.unit for row in of}:
        own = Counter({row: n for row, n in of.items() if row.unit == unit})
        left = Counter({row: n for row, n in rows.items() if row.unit == unit})
        groups, all_groups = Counter[Any](), Counter[Any]()
        for row, n in left.items():
            groups[row.group] += n
        for row, n in own.items():
            all_groups[row.group] += n
        assert left.total() <= (limits.rows or own.total())
        assert len(groups) <= (limits.groups or len(all_groups))
        assert max(groups.values()) <= (limits.per_group or own.total())
        if limits.rows is None:
            assert len(groups) == min(limits.groups or len(all_groups), len(all_groups))
            assert all(
                n == min(limits.per_group or all_groups[group], all_groups[group]) for group, n in groups.items()
            )
        elif limits.groups is None:
            each = limits.per_group or own.total()
            assert left.total() == min(limits.rows, sum(min(each, n) for n in all_groups.values()))


@pytest.mark.parametrize("limits", SHAPES, ids=str)
def test_a_unit_keeps_the_same_rows_in_any_order_of_the_table_and_whoever_else_is_in_it(
    duckdb_backend: Any, load: Load, limits: Limits
) -> None:
    found = kept_of_each(duckdb_backend, load, limits)
    for seed in range(2):
        data = awkward(seed=seed)
        all_kept = found(data)
        assert_within(limits, all_kept, Counter(as_rows(data, GROUPS, [*TOTALS, BINS])))
        assert found(shuffled(data, seed=seed)) == all_kept
        for gone in (UNITS[0], "heavy"):
            without = found(of_units(shuffled(data, seed=seed + 9), set(UNITS) - {gone}))
            assert without == Counter({row: n for row, n in all_kept.items() if row.unit != gone})


@pytest.mark.parametrize("limits", [Limits(rows=4), Limits(rows=5, per_group=2), Limits(rows=4, groups=1)], ids=str)
def test_rows_that_add_the_same_and_differ_in_what_they_are_kept_by_are_told_apart(
    duckdb_backend: Any, load: Load, limits: Limits
) -> None:
    rows = [("ab"[n % 2], n % 3, n // 6 % 2) for n in range(24)]
    data = {name: [row[at] for row in rows] for at, name in enumerate(("place", "other", "value"))}
    data["unit"] = [1] * 24
    rows_of = keeping(
        load(duckdb_backend, "rows", data), limits, groups=["place"], totals=["value"], first="other"
    )  # fmt: skip
    found: dict[str, set[Any]] = {"1": set(), "2": set(), "3": set()}
    for seed in range(8):
        load(duckdb_backend, "rows", shuffled(data, seed=seed))
        for salt, several in found.items():
            several.add(frozenset(Counter(rows_of(salt)).items()))
    assert all(len(several) == 1 for several in found.values())


def test_native_orders_are_stable_on_every_engine(backend: Any, load: Load) -> None:
    data, limits = awkward(120, seed=5), Limits(rows=5, groups=4, per_group=3)
    all_kept = kept(load(backend, "rows", data), limits)
    assert_within(limits, all_kept, Counter(as_rows(data, GROUPS, [*TOTALS, BINS])))
    without = kept(load(backend, "fewer", of_units(shuffled(data, seed=1), set(UNITS[1:]))), limits)
    assert without == Counter({row: n for row, n in all_kept.items() if row.unit != UNITS[0]})


@pytest.mark.parametrize("limits", SHAPES, ids=str)
def test_sums_in_the_native_order_are_those_of_the_kept_rows(duckdb_backend: Any, load: Load, limits: Limits) -> None:
    data = awkward(seed=6)
    table = load(duckdb_backend, "rows", data)
    chosen = list(kept(table, limits).elements())
    sums = sums_by_engine(table, limits, groups=GROUPS, totals=TOTALS, bins=BINS)
    assert sums == reference.sums(chosen, [0, 1], 2)


@pytest.mark.parametrize("limits", SHAPES[1:], ids=str)
def test_another_salt_keeps_other_rows_and_other_groups(duckdb_backend: Any, load: Load, limits: Limits) -> None:
    table = load(duckdb_backend, "rows", awkward(seed=7))
    rows_of = keeping(table, limits, **COLUMNS)
    kept_with = [Counter(rows_of(str(salt))) for salt in range(3)]
    assert kept_with[0] != kept_with[1] != kept_with[2] != kept_with[0]
    if limits.groups is not None:
        groups = [{(row.unit, row.group) for row in rows} for rows in kept_with]
        assert groups[0] != groups[1] != groups[2] != groups[0]


def test_units_do_not_all_prefer_the_same_groups(duckdb_backend: Any, load: Load) -> None:
    places = [f"p{n}" for n in range(8)]
    data = {"unit": [unit for unit in range(400) for _ in places], "place": places * 400}
    rows = kept_by_engine(load(duckdb_backend, "rows", data), Limits(groups=1), groups=["place"], totals=[])
    counts = Counter(row.group for row in rows)
    assert counts.total() == 400
    assert all(20 < counts[place,] < 90 for place in places)


@pytest.mark.parametrize("limits", SHAPES, ids=str)
def test_rows_whose_digests_tie_are_told_apart_by_what_they_hold(
    duckdb_backend: Any, load: Load, limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ibis

    monkeypatch.setattr(DuckDB, "native_digest", lambda engine, parts, salt: ibis.literal(7, "int64"))
    data = awkward(seed=8)
    rule = (limits.rows, limits.groups, limits.per_group)
    expected = reference.kept(as_rows(data, GROUPS, [*TOTALS, BINS]), rule, "salt", lambda parts, salt: 7)
    found = kept_of_each(duckdb_backend, load, limits)
    for seed in range(2):
        assert found(shuffled(data, seed=seed)) == Counter(expected)


@pytest.mark.parametrize("limits", SHAPES, ids=str)
def test_an_empty_table_gives_no_groups_and_zeros_where_all_is_one_group(
    duckdb_backend: Any, load: Load, limits: Limits
) -> None:
    nobody = of_units(awkward(), set())
    import pyarrow as pa

    kinds = [("unit", pa.string()), ("place", pa.string()), *((name, pa.int64()) for name in ("year", *TOTALS, BINS))]
    table = load(duckdb_backend, "nobody", pa.table(nobody, schema=pa.schema(kinds, None)))
    assert sums_by_engine(table, limits, groups=GROUPS, totals=TOTALS) == {}
    assert sums_by_engine(table, limits, groups=[], totals=TOTALS) == {(): [0, 0, 0]}
    assert sums_by_engine(table, limits, groups=[], totals=[]) == {(): [0]}


def test_where_every_row_is_a_unit_all_are_kept(backend: Any, load: Load) -> None:
    data = awkward(60, seed=9)
    table = load(backend, "rows", data)
    rows = as_rows(data, ["place"], ["value"])
    sums = sums_by_engine(table, Limits(rows=1), groups=["place"], totals=["value"], unit=None)
    assert sums == reference.sums(rows, [0], None)
    how: dict[str, Any] = {"unit": None, "groups": ["place"], "limits": Limits(), "salt": "salt"}
    kept_all = kept_rows(table.expression, engine=table.engine, totals=["value"], **how)
    assert kept_all.columns == ("place", "value")
    binned = sums_by_engine(table, Limits(), groups=["place"], totals=[], bins="bin", unit=None)
    assert sum(n for [n] in binned.values()) == len(rows)
