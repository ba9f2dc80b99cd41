"""The theorems on what an engine does: what becomes of a unit alone is what becomes of it among others, and no more."""

import random
from collections.abc import Callable, Collection
from fractions import Fraction
from typing import Any

import pytest
from tests.tables.held import held

import viameter as vm
from viameter.tables.contributing import contributing
from viameter.tables.public_tables import public
from viameter.tables.relation import Relation
from viameter.tables.rows import UNIT
from viameter.tables.units import Unit

Columns = dict[str, list[Any]]
PUBLIC = public({"k": ["x", "x", "y"], "z": [1, 2, 3]})


@pytest.fixture(autouse=True)
def one_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each salt the theorems hold: here it is the same for all tables that are compared."""
    monkeypatch.setattr("viameter.tables.collecting.fresh_salt", lambda: "0123456789abcdef")


def table_of(seed: int, units: str = "abc", rows: int = 12) -> Columns:
    dice = random.Random(seed)
    found: Columns = {"u": [], "k": [], "x": [], "day": list(range(rows))}
    for _ in range(rows):
        found["u"].append(dice.choice(units))
        found["k"].append(dice.choice("xyyz"))
        found["x"].append(dice.choice([None, -9, -2, 0, 1, 3, 40]))
    return found


def only(columns: Columns, values: Collection[Any], by: str = "u") -> Columns:
    """The rows that have one of these values."""
    kept = [place for place, value in enumerate(columns[by]) if value in values]
    return {name: [column[place] for place in kept] for name, column in columns.items()}


def question(columns: Columns, unit: Unit, change: Callable[[Any], Any] = lambda table: table) -> Any:
    """Statistics of all kinds, by group and of all rows."""
    types = {"u": "s", "k": "s", "x": 0, "day": 0}
    # A row of nobody in front, so that a table without rows has types too; one that no key is of.
    whole = {name: [types[name], *values] for name, values in columns.items()}
    whole["u"][0], whole["k"][0], whole["day"][0] = None, "nowhere", -1000
    table = change(vm.open(held(whole), unit=unit, budget=vm.pure(1)))
    return table.group_by("k", keys=["x", "y"]).agg(
        n=vm.count(), m=vm.mean("x", bounds=(-5, 10)), q=vm.median("x", bounds=(-5, 10))
    )


def integers(asked: Any) -> dict[Any, list[int]]:
    """The exact integers of each statistic, before noise."""
    statistics = list(dict.fromkeys(s for reading in asked.plan.readings.values() for s in reading.statistics))
    found = asked.plan.collecting(asked.plan.relation.rows(), statistics)
    return {statistic: numbers.tolist() for statistic, numbers in zip(statistics, found, strict=True)}


def assert_within_bounds(left: Any, right: Any) -> None:
    """No statistic of the two questions is further apart than its theorem says, in L1 and L2."""
    there = integers(right)
    for statistic, here in integers(left).items():
        moved = [abs(a - b) for a, b in zip(here, there[statistic], strict=True)]
        one = contributing(left.plan.relation, statistic, left.plan.collecting, vm.L1Distance()).map(1)
        two = contributing(left.plan.relation, statistic, left.plan.collecting, vm.L2Distance()).map(1)
        assert sum(moved) <= one and sum(step**2 for step in moved) <= Fraction(two) ** 2, (statistic, here)


LIMITS: list[dict[str, Any]] = [
    {"rows": 1},
    {"rows": 3},
    {"rows": 4, "groups": 1},
    {"groups": 2, "per_group": 1},
    {"rows": 3, "per_group": 2},
    {"rows": 3, "groups": 2, "per_group": 2},
    {"rows": 3, "keep": "first by x"},
]


@pytest.mark.parametrize("limits", LIMITS, ids=repr)
@pytest.mark.parametrize("replace", [False, True])
def test_integers_of_tables_that_differ_in_a_unit_are_within_bounds(limits: dict[str, Any], replace: bool) -> None:
    columns = table_of(seed=sum(limit for limit in limits.values() if isinstance(limit, int)))
    unit = vm.per("u", **limits, replace=replace)
    whole = question(columns, unit)
    for who in ("a",) if replace else ("a", "b"):
        other = only(columns, set("abc") - {who})
        if replace:
            more = table_of(seed=7, units=who, rows=6)
            other = {name: [*other[name], *more[name]] for name in other}
        assert_within_bounds(whole, question(other, unit))


@pytest.mark.parametrize("unit", [vm.per_row(), vm.per_row(replace=True), vm.per_event("day")], ids=repr)
@pytest.mark.parametrize("joined", [False, True])
def test_integers_of_tables_that_differ_in_a_row_are_within_bounds(unit: Unit, joined: bool) -> None:
    def change(table: Any) -> Any:
        return table.join(PUBLIC, on="k") if joined else table

    columns = table_of(seed=3)
    whole = question(columns, unit, change)
    for place in range(4):
        other = only(columns, set(columns["day"]) - {place}, by="day")
        if unit.replaces:
            row = {**{name: values[place] for name, values in columns.items()}, "k": "x", "x": 40}
            other = {name: [*values, row[name]] for name, values in other.items()}
        assert_within_bounds(whole, question(other, unit, change))


@pytest.mark.parametrize("window", [2, 5])
def test_integers_of_tables_that_differ_in_a_window_are_within_bounds(window: int) -> None:
    unit = vm.per_event("day", window=window)
    columns = table_of(seed=5)
    whole = question(columns, unit)
    for start in (0, 4):
        days = range(start, start + window)
        other = {name: list(values) for name, values in columns.items()}
        for place in days:
            other["k"][place], other["x"][place] = "x", 40
        assert_within_bounds(whole, question(other, unit))
        without = only(columns, set(columns["day"]) - set(days), by="day")
        assert_within_bounds(whole, question(without, unit))


def window_of_days() -> Any:
    return vm.open(held({"day": list(range(7))}), unit=vm.per_event("day", window=7), budget=vm.pure(1))


def row_that_a_join_doubles() -> Any:
    return vm.open(held({"k": ["x"]}), unit=vm.per_row(), budget=vm.pure(1)).join(PUBLIC, on="k")


@pytest.mark.parametrize("opened", [window_of_days, row_that_a_join_doubles])
def test_units_that_are_several_rows_are_counted_within_bounds(opened: Callable[[], Any]) -> None:
    asked = opened().agg(n=vm.count_units())
    ((statistic, (number,)),) = integers(asked).items()  # all rows are of one unit: without it, the count is 0
    assert number <= contributing(asked.plan.relation, statistic, asked.plan.collecting, vm.L1Distance()).map(1)


# --- one by one ------------------------------------------------------------------------------------------------------


def rows_by_unit(relation: Relation) -> dict[str, list[tuple[Any, ...]]]:
    """What an engine holds of each unit."""
    expression = relation.rows().expression
    found: dict[str, list[tuple[Any, ...]]] = {}
    for row in expression.to_pyarrow().to_pylist():
        found.setdefault(row.pop(UNIT), []).append(tuple(row.values()))
    return {unit: sorted(rows, key=repr) for unit, rows in found.items()}


STEPS: dict[str, Callable[[Any], Any]] = {
    "all rows": lambda table: table,
    "filter": lambda table: table.filter(table["x"] > 0),
    "derive": lambda table: table.derive(y=table["x"] / table["day"], u=table["k"]),
    "select": lambda table: table.select("k"),
    "public join": lambda table: table.join(PUBLIC, on="k"),
    "several": lambda table: (t := table.filter(table["day"] > 2).derive(w=table["x"] * 2)).filter(t["w"] > -100),
}


@pytest.mark.parametrize("step", STEPS)
def test_what_becomes_of_a_unit_does_not_depend_on_others(step: str) -> None:
    columns = table_of(seed=11)
    unit = vm.per("u", rows=3)

    def found(some: Columns) -> dict[str, list[tuple[Any, ...]]]:
        return rows_by_unit(STEPS[step](vm.open(held(some), unit=unit, budget=vm.pure(1))).relation)

    together = found(columns)
    assert set(together) == set("abc")
    for who in "abc":
        assert found(only(columns, {who})) == {who: together[who]}


def test_what_becomes_of_a_unit_in_two_tables_does_not_depend_on_others() -> None:
    left, right = table_of(seed=11), table_of(seed=12)
    right = {"u": right["u"], "k": right["k"], "other": right["day"]}
    unit = vm.per("u", rows=3)

    def found(one: Columns, two: Columns) -> dict[str, list[tuple[Any, ...]]]:
        tables = vm.open({"one": held(one), "two": held(two)}, unit=unit, budget=vm.pure(1))
        return rows_by_unit(tables["one"].join(tables["two"], on="k").relation)

    together = found(left, right)
    assert set(together) == set("abc")
    for who in "abc":
        alone = [only(columns, {who}) for columns in (left, right)]
        assert found(*alone) == {who: together[who]}


def test_a_sample_has_all_rows_of_a_unit_or_none() -> None:
    columns = table_of(seed=13, units="abcdefgh", rows=30)
    table = vm.open(held(columns), unit=vm.per("u", rows=3), budget=vm.pure(1))
    everything = rows_by_unit(table.relation)
    sampled = rows_by_unit(table.relation.sample("1/2", salt="s"))
    assert 0 < len(sampled) < len(everything)
    assert all(everything[unit] == rows for unit, rows in sampled.items())


# --- text that an engine takes for the same --------------------------------------------------------------------------


@pytest.fixture
def nocase() -> Any:
    """An engine with columns in which 'a' equals 'A'."""
    import ibis

    connection = ibis.duckdb.connect()
    for name in ("one", "two"):
        connection.raw_sql(f"create table {name} (u varchar collate nocase, {name} varchar collate nocase)")
        connection.raw_sql(f"insert into {name} values ('p', 'a')")
    connection.raw_sql("insert into one values ('P', 'b')")
    return connection


def test_a_public_join_gives_no_more_rows_than_the_bound_says_whatever_the_collation(nocase: Any) -> None:
    table = vm.open(nocase.table("two"), unit=vm.per_row(), budget=vm.pure(1))
    asked = table.join(public({"two": ["a", "A"], "z": [1, 2]}), on="two").agg(n=vm.count())
    ((statistic, (number,)),) = integers(asked).items()
    assert number <= contributing(asked.plan.relation, statistic, asked.plan.collecting, vm.L1Distance()).map(1)


def test_a_private_join_is_on_the_unit_whatever_the_collation(nocase: Any) -> None:
    sources = {name: nocase.table(name) for name in ("one", "two")}
    tables = vm.open(sources, unit=vm.per("u", rows=3), budget=vm.pure(1))
    assert set(rows_by_unit(tables["one"].relation)) == {"p", "P"}
    assert set(rows_by_unit(tables["one"].join(tables["two"]).relation)) == {"p"}
