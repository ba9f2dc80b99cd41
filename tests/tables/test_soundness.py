"""On every engine the integers that a release starts from are exactly those of plain Python, whatever the rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.tables.soundness.asked import SALT, Both, Columns, opened, opened_together
from tests.tables.soundness.cases import EVEN, UNEVEN, Case, a_few, everything, of_keys, sums
from tests.tables.soundness.nasty import DAYS, MOMENTS, PLACES, REALS, WHOLE, arrow, nasty, without_rows
from tests.tables.soundness.plain import owned

import viameter as vm
from viameter.tables.bounding import Limits
from viameter.tables.engines import EngineTable
from viameter.tables.expressions import Column, Kind, Type
from viameter.tables.statistics import Bins, FixedPoint, Total, Units
from viameter.tables.units import Unit

Load = Callable[[Any, str, Any], EngineTable]
ALL_LIMITS = Limits(rows=5, groups=4, per_group=3)


@pytest.fixture(autouse=True)
def one_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which rows are kept is the same each time."""
    monkeypatch.setattr("viameter.tables.collecting.fresh_salt", lambda: SALT)


def both(backend: Any, load: Load, columns: Columns, unit: Unit) -> Both:
    return opened(load(backend, "soundness", arrow(columns)).expression, columns, unit)


def assert_exact(rows: Both, case: Case) -> list[list[int]]:
    changed, collecting, statistics = case.asked(rows)
    expected = changed.expected(collecting, statistics)
    assert changed.found(collecting, statistics) == expected
    return expected


LISTED = [place for place in PLACES if place != "unlisted"]
PUBLIC: Columns = {"k": ["north", "north", "no'rth", "nobody", None], "z": [1, 2, 3, 4, 5]}
CASES = {
    "all limits, all combinations of keys, NULL among them, and others": Case(
        lambda rows: rows.filter(lambda t: (t["i"] > -10) | t["i"].is_null()).derive(
            first=lambda t: t["text"].slice(0, 1)
        ),
        ("k", "g"), {"k": LISTED, "g": (*WHOLE[:6], None)}, True, ALL_LIMITS, everything,
    ),
    "tuples of keys, NULL among them, and others": Case(
        lambda rows: rows,
        ("k", "day", "yes"),
        [(place, day, yes) for place in LISTED for day in DAYS for yes in (True, None)],
        True, Limits(groups=4, per_group=2), a_few,
    ),
    "more keys than are written out": Case(
        lambda rows: rows.derive(key=lambda t: t["i"] % 1200 + (t["g"].fill_null(5) % 3) * 1000),
        ("key",), list(range(-100, 4000)), limits=Limits(rows=4, per_group=2), statistics=a_few,
    ),
    "a public join, a sample, a derived key": Case(
        lambda rows: rows.join_public(PUBLIC, ["k"]).sample(Fraction(2, 3)).derive(
            key=lambda t: t["moment"].year() + t["z"]
        ),
        ("key",), [1970 + 1, 1970 + 2, 2024 + 3, 1969 + 1], True, Limits(rows=6, groups=2), a_few,
    ),
    "statistics of the columns that group, and others": Case(
        lambda rows: rows.derive(twice=lambda t: t["i"] % 5 * 2).filter(lambda t: t["g"].is_null() | (t["g"] > -5)),
        ("g", "i"), {"g": (0, 3, None), "i": (0, 1, -3, 7)}, True, Limits(rows=7), of_keys,
    ),
    "statistics of tuples of columns that group, and others": Case(
        lambda rows: rows.join_public(PUBLIC, ["k"]),
        ("i", "k", "g"), [(3, "north", 0), (None, "north", 3), (7, "no'rth", None)], True,
        Limits(groups=3, per_group=2), of_keys,
    ),
    "the first by a time": Case(
        lambda rows: rows, ("k",), LISTED, True, Limits(rows=5, keep="first by moment"), a_few,
    ),
    "the first by a real, in few groups": Case(
        lambda rows: rows, ("k",), LISTED, limits=Limits(rows=6, groups=3, keep="first by x"), statistics=a_few,
    ),
    "the first by an integer, some in each group": Case(
        lambda rows: rows, ("k",), LISTED, limits=Limits(rows=6, per_group=2, keep="first by i"), statistics=a_few,
    ),
    "the first by a date of all rows": Case(limits=Limits(rows=3, keep="first by day"), statistics=a_few),
    "all rows": Case(limits=Limits(rows=3, groups=7, per_group=9), statistics=a_few),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_integers_by_unit_are_exact_on_every_engine(backend: Any, load: Load, name: str) -> None:
    columns = nasty(400, seed=len(name), engine=backend.name)
    unit = vm.per("number" if "join" in name or "more" in name else "text", rows=9)
    found = assert_exact(both(backend, load, columns, unit), CASES[name])
    assert all(any(numbers) for numbers in found[:2]), "rows are kept, so that something is compared"


def test_where_rows_are_units_all_are_kept(backend: Any, load: Load) -> None:
    columns = nasty(300, seed=3, engine=backend.name)
    rows = both(backend, load, columns, vm.per_row())
    case = Case(by=("moment",), keys=list(MOMENTS), other=True, limits=Limits(rows=1), statistics=a_few)
    counts = assert_exact(rows, case)[0]
    assert sum(counts) == 300
    joined = Case(lambda rows: rows.join_public(PUBLIC, ["k"]), limits=Limits(rows=2), statistics=a_few)
    assert_exact(rows, joined)


def test_a_table_without_rows_gives_zeros(backend: Any, load: Load) -> None:
    rows = both(backend, load, without_rows(), vm.per("small", rows=2))
    for case in (
        Case(limits=ALL_LIMITS, statistics=a_few),
        Case(by=("k",), keys=LISTED, other=True, limits=ALL_LIMITS),
    ):
        assert not any(map(any, assert_exact(rows, case)))


def assert_exact_of_a_heavy_unit(backend: Any, load: Load, size: int) -> None:
    rows = nasty(200, seed=9, engine=backend.name)
    columns = {name: (values * (size // 200 + 1))[:size] for name, values in rows.items()}
    columns["small"] = [-3] * (size - 1) + [5]
    case = Case(
        by=("k",), keys=LISTED, limits=Limits(rows=700, groups=5, per_group=400),
        statistics=lambda table: [Total(), Units(), *sums(table["i"], -10, 10)[:2]],
    )  # fmt: skip
    found = assert_exact(both(backend, load, columns, vm.per("small", rows=700)), case)
    assert 700 <= sum(found[0]) <= 701


def test_one_unit_with_very_many_rows(backend: Any, load: Load) -> None:
    assert_exact_of_a_heavy_unit(backend, load, 5_000)


@pytest.mark.long
def test_one_unit_with_a_million_rows(duckdb_backend: Any, load: Load) -> None:
    assert_exact_of_a_heavy_unit(duckdb_backend, load, 1_000_000)


def test_pairs_of_rows_of_a_unit_in_two_private_tables(backend: Any, load: Load) -> None:
    columns = {name: nasty(150, seed=seed, engine=backend.name) for seed, name in enumerate(("one", "two"))}
    columns["two"] = {name: columns["two"][name] for name in ("text", "k", "g")}
    tables = {name: load(backend, f"soundness_{name}", arrow(columns[name])).expression for name in columns}
    rows = opened_together(tables, columns, vm.per("text", rows=9))
    joined = rows["one"].select("k", "x", "i", "day").filter(lambda t: t["x"] < 5).join(rows["two"], ["k"])
    case = Case(by=("g",), keys=[3, None, 2**62], limits=Limits(rows=5, per_group=2), statistics=a_few)
    assert sum(assert_exact(joined, case)[0]) > 5


def test_entities_over_three_tables(backend: Any, load: Load) -> None:
    columns: dict[str, Columns] = {
        "patients": {"id": ["p", "q'", "r", None], "i": [1, 2, 3, 4]},
        "visits": {"nr": [10, 11, 12, 13, 14, None], "patient": ["p", "p", "q'", None, "gone", "r"], "i": [0] * 6},
        "drugs": {
            "visit": [10, 10, 11, 12, 12, 13, 14, 99, None] * 3,
            "k": list("xyzxyzxyz") * 3,
            "i": list(range(27)),
        },
    }
    links: dict[str, Any] = {"visits": ("patient", "patients"), "drugs": ("visit", "visits", "nr")}
    unit = vm.per_entity("patients", key="id", links=links, rows=4)
    tables = {name: load(backend, f"soundness_{name}", table).expression for name, table in columns.items()}
    made = vm.open(tables, unit=unit, budget=vm.pure(1), order="portable")
    whose = dict(zip(columns["visits"]["nr"], columns["visits"]["patient"], strict=True)) | {None: None}
    drugs: Columns = {**columns["drugs"], "whose": [whose.get(visit) for visit in columns["drugs"]["visit"]]}
    rows = Both(made["drugs"].relation, owned(drugs, "whose"))
    case = Case(
        by=("k",), keys=["x", "y"], other=True, limits=Limits(rows=4, per_group=2),
        statistics=lambda table: [Total(), Units(), *sums(table["i"], 0, 20)],
    )  # fmt: skip
    # Three have rows in 3, 2 and 1 groups, and 4 rows of the first are in 2 or 3 of them.
    assert 5 <= sum(assert_exact(rows, case)[1]) <= 6


def test_what_a_row_gives_is_its_number_in_steps_and_its_bin() -> None:
    value = Column("x", Type(Kind.REAL))
    lower, upper = Fraction(-1 / 3), Fraction(9.999999999999998)
    for centered in (False, True):
        found = FixedPoint.of((lower, upper), Kind.REAL, centered=centered)
        for number in (*(x for x in REALS if x is not None and abs(x) < 1e50), -0.33, 4.8333, 9.99):
            off = found.center + found.step * found.evaluate(number) - min(max(Fraction(number), lower), upper)
            assert abs(off) <= found.row_error < Fraction(1, 10**6)
    assert [Bins(value, EVEN).is_even, Bins(value, UNEVEN).is_even, Bins(value, UNEVEN[:2]).is_even] == [
        True,
        False,
        True,
    ]
    for edges in (EVEN, UNEVEN):
        for leaf, (left, right) in enumerate(itertools.pairwise(edges)):
            assert Bins(value, edges).evaluate({"x": float((left + right) / 2)}) == leaf
            if edges is UNEVEN:
                assert Bins(value, edges).evaluate({"x": float(left)}) == leaf
        ends = [Bins(value, edges).evaluate({"x": end}) for end in (-1e40, 1e40, float("nan"), None)]
        assert ends == [0, len(edges) - 2, None, None]


def test_whole_numbers_within_whole_bounds_are_exact() -> None:
    for lower, upper in ((0, 10), (0, 9), (-4, 3), (7, 7), (-(2**23), 2**23 - 1)):
        for centered in (False, True):
            point = FixedPoint.of((Fraction(lower), Fraction(upper)), Kind.INTEGER, centered=centered)
            assert point.row_error == 0
            for number in {lower, lower + 1, (lower + upper) // 2, upper - 1, upper} & set(range(lower, upper + 1)):
                assert point.center + point.step * point.evaluate(number) == number
