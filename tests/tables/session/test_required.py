"""Columns that must have a value, and statistics that aggregates of one column share."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.tables.held import held

import viameter as vm
from viameter.errors import NoTheorem, ParameterError
from viameter.tables.aggregates import read_aggregate
from viameter.tables.estimates.noise import Kind
from viameter.tables.sharing import read_together
from viameter_check import check

ROWS: dict[str, Any] = {
    "u": [place // 2 for place in range(60)],
    "k": [place % 3 for place in range(60)],
    "x": [None if place % 5 == 0 else place % 8 + 1 for place in range(60)],
    "y": [float("nan") if place % 7 == 0 else None if place % 7 == 1 else place / 4 for place in range(60)],
}
THREE = {"n": vm.count(), "m": vm.mean("x", bounds=(0, 10)), "s": vm.sum("x", bounds=(0, 10))}
LOUD, MUCH = vm.zcdp(10**9), vm.zcdp(10**12)


def opened(budget: vm.Loss = MUCH, unit: Any = None, **given: Any) -> Any:
    return vm.open(held(ROWS), unit=unit or vm.per("u", rows=2), budget=budget, **given)


def names(question: Any, spend: vm.Loss = LOUD) -> list[str]:
    return sorted(repr(part.statistic) for part in question.plan.noise(spend, {}).parts)


def test_count_mean_and_sum_of_a_required_column_take_two_statistics() -> None:
    assert names(opened(required=["x"]).agg(**THREE)) == ["rows", "sum of x"]
    # NULLs may be there: rows, and rows with a value.
    assert names(opened().agg(**THREE)) == ["rows", "rows with x", "sum of x"]
    spread = {**THREE, "v": vm.variance("x", bounds=(0, 10)), "d": vm.std("x", bounds=(0, 10))}
    assert names(opened(required=["x"]).agg(**spread)) == ["rows", "sum of x", "sum of x squared"]


def test_rows_without_a_value_are_left_out_of_every_question() -> None:
    kept = [x for x in ROWS["x"] if x is not None]
    answer = opened(required=["x"]).agg(**THREE, v=vm.variance("x", bounds=(0, 10))).release(spend=LOUD)
    row = answer.to_dicts()[0]
    assert row["n"] == len(kept) == 48
    assert row["m"] == pytest.approx(np.mean(kept), abs=1e-3) and row["v"] == pytest.approx(np.var(kept), abs=1e-2)
    assert row["s"] == pytest.approx(sum(kept), abs=1e-2)
    whole = opened().agg(**THREE).release(spend=LOUD).to_dicts()[0]
    assert whole["n"] == 60 and whole["s"] == pytest.approx(sum(kept), abs=1e-2)
    # NaN is no value either.
    values = [y for y in ROWS["y"] if y is not None and y == y]  # noqa: PLR0124
    both = opened(required=["x", "y"]).agg(n=vm.count()).release(spend=LOUD)
    pairs = [1 for x, y in zip(ROWS["x"], ROWS["y"], strict=True) if x is not None and y in values]
    assert both["n"].value.tolist() == [len(pairs)]


def test_a_required_column_is_a_step_that_the_checker_sees() -> None:
    for unit in (vm.per("u", rows=2), vm.per_row(), vm.per_row(replace=True), vm.per_event("k", window=2)):
        made = opened(unit=unit, required=["x"]).agg(**THREE).measurement(spend=vm.zcdp("1/10"))
        assert "filter(~x.is_null())" in str(made.explain(1))
        assert check(made.certificate(1).text).ok


def test_what_is_known_of_columns_follows_them_through_steps() -> None:
    table = opened()
    assert table.schema.required == frozenset()
    some = table.filter(~table["x"].is_null())
    assert some.schema.required == {"x"} and some.schema == table.schema
    assert some.select("x", "k").schema.required == {"x"} and some.select("k").schema.required == frozenset()
    derived = some.derive(z=some["x"].clip(0, 5), w=2 / some["x"], k=some["k"].fill_null(0), x=some["y"])
    assert derived.schema.required == {"z", "k"}
    assert some.derive(x=some["x"].clip(0, 5)).schema.required == {"x"}
    assert some.sample("1/2").schema.required == {"x"}
    public = vm.public({"k": [0, 1], "name": ["a", None]})
    assert some.join(public, on="k").schema.required == {"x"}
    z = vm.mean("z", bounds=(0, 5))
    assert names(derived.agg(n=vm.count(), z=z)) == ["rows", "sum of z"]
    assert names(derived.agg(n=vm.count(), x=vm.mean("x", bounds=(0, 5)))) == ["rows", "rows with x", "sum of x"]
    filled = table.agg(n=vm.count(), m=vm.mean(table["x"].fill_null(0), bounds=(0, 9)))
    assert len(names(filled)) == 2


def test_a_real_that_columns_cannot_hold_is_not_known_to_have_a_value() -> None:
    table = opened().filter(opened()["y"] > 0)
    square = table["y"] * table["y"]
    assert not square.type.is_settled
    assert table.derive(z=square).schema.required == {"y"}
    assert table.derive(z=table["y"].clip(0, 1)).schema.required == {"y", "z"}


def test_private_tables_that_are_joined_keep_what_is_known_of_both() -> None:
    both = vm.open({"a": held({"u": [1, 2], "x": [1, None]}), "b": held({"u": [1, 2], "z": [3, None]})},
                   unit=vm.per("u", rows=3), budget=vm.zcdp(1))  # fmt: skip
    left, right = both["a"].filter(~both["a"]["x"].is_null()), both["b"].filter(both["b"]["z"] > 0)
    assert left.join(right).schema.required == {"x", "z"} and left.join(both["b"]).schema.required == {"x"}


@pytest.mark.parametrize("required", ["x", 7, None])
def test_required_is_a_list_of_columns(required: Any) -> None:
    with pytest.raises(ParameterError, match="expected a list of columns"):
        opened(required=required)


def test_required_columns_must_be_there_and_in_one_table() -> None:
    with pytest.raises(ParameterError, match="no column 'wait'"):
        opened(required=["wait"])
    with pytest.raises(ParameterError, match="filter each of them"):
        vm.open({"a": held(ROWS), "b": held(ROWS)}, unit=vm.per("u", rows=3), budget=vm.zcdp(1), required=["x"])


@pytest.mark.parametrize("budget", [vm.pure("1/10"), vm.zcdp("1/200")], ids=repr)
@pytest.mark.parametrize("bounds", [(0, 10), (50, 100), (1000, 1001), (-3, 10), (-100, -50)])
def test_a_sum_beside_a_mean_has_no_more_noise_than_one_by_itself_would_have(
    bounds: tuple[int, int], budget: vm.Loss
) -> None:
    table = opened(budget)
    asked = {"n": vm.count(), "m": vm.mean("x", bounds=bounds), "s": vm.sum("x", bounds=bounds)}
    shared = table.agg(**asked)
    assert len(names(shared, budget)) == 3
    # Other bounds share nothing.
    apart = table.agg(**{**asked, "s": vm.sum("x", bounds=(bounds[0], bounds[1] + Fraction(1, 2**20)))})
    assert len(names(apart, budget)) == 4
    ours, theirs = ({row.name: row.widths for row in one.preview(spend=budget).rows} for one in (shared, apart))
    for name in asked:
        assert all(ours[name][at] <= theirs[name][at] * 1.01 for at in ours[name]), name
    assert ours["m"][" at 10,000 rows"] < theirs["m"][" at 10,000 rows"]


def test_about_a_center_of_0_a_mean_and_a_sum_are_the_same_statistic() -> None:
    question = opened().agg(m=vm.mean("x", bounds=(-10, 10)), s=vm.sum("x", bounds=(-10, 10)))
    assert names(question) == ["rows with x", "sum of x"]
    assert question.plan.readings["s"].made_of == ()


def test_sharing_is_decided_from_what_is_asked_alone() -> None:
    asked = {name: read_aggregate(name, given) for name, given in THREE.items()}
    schema = opened(required=["x"]).schema
    kinds: tuple[Kind, ...] = ("laplace", "gaussian")
    for kind in kinds:
        readings = read_together(asked, schema, kind)
        assert list(readings) == ["n", "m", "s"] and readings["s"].statistics == readings["m"].statistics
    alone = read_together({"s": asked["s"]}, schema, "laplace")
    assert len(alone["s"].statistics) == 1


@pytest.mark.parametrize("budget", [vm.pure(10**6), vm.zcdp(10**6), vm.approx(10**6, "1e-6")], ids=repr)
@pytest.mark.parametrize("width", [3, 50, 777])
def test_a_width_of_a_shared_sum_is_reached_at_the_least_loss(budget: vm.Loss, width: int) -> None:
    question = opened(budget, required=["x"]).agg(**THREE)
    found = question.spend_for({"s": width})
    (row,) = [row for row in question.preview(spend=found).rows if row.name == "s"]
    # Noise of one row moves a sum by the center: there are no widths between.
    assert (width * 0.95 if width > 5 else 0) <= row.widths[""] <= width
    both = question.spend_for({"s": width, "n": 2})
    widths = {row.name: row.widths.get("") for row in question.preview(spend=both).rows}
    assert widths["s"] <= width and widths["n"] <= 2
    with pytest.raises(NoTheorem):
        question.spend_for({"m": 1})


def test_weights_go_to_the_statistics_that_an_aggregate_shares() -> None:
    question = opened(required=["x"]).agg(**THREE)
    plan = question.plan.noise(LOUD, {"n": Fraction(4)})
    assert {repr(part.statistic): part.share for part in plan.parts} == {
        "rows": Fraction(5, 6),
        "sum of x": Fraction(1, 6),
    }
    with pytest.raises(ParameterError, match=r"weights\['s'\]"):
        question.preview(spend=LOUD, weights={"s": 0})


@pytest.mark.parametrize("spend", [vm.pure(1), vm.zcdp("1/8")], ids=repr)
def test_intervals_of_shared_sums_cover_as_often_as_they_say(spend: vm.Loss) -> None:
    # 400 times the same rows, of other units and under other keys: noise of each group is drawn by itself.
    copies = {
        "u": [copy * 30 + unit for copy in range(400) for unit in ROWS["u"]],
        "k": [copy * 3 + key for copy in range(400) for key in ROWS["k"]],
        "x": ROWS["x"] * 400,
    }
    table = vm.open(held(copies), unit=vm.per("u", rows=2), budget=spend, required=["x"])
    question = table.group_by("k", keys=range(1200)).agg(**THREE)
    few = opened(spend, required=["x"]).group_by("k", keys=range(3)).agg(**THREE)
    assert question.preview(spend=spend).rows == few.preview(spend=spend).rows, "no more noise than of three groups"
    truth = [
        sum(x for x, at in zip(ROWS["x"], ROWS["k"], strict=True) if x is not None and at == key) for key in range(3)
    ]
    found = question.release(spend=spend, alpha="1/10")["s"]
    missed = sum(not low <= true <= high for low, true, high in zip(found.lower, truth * 400, found.upper, strict=True))
    # Of 1200 at most a tenth, and of bounds that are close to the truth not far fewer; 1e-9 either way.
    assert 30 <= missed <= 190
