"""Bounds that are found privately: two quantiles over even or widening bins, rounded outward."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.tables.held import held

import viameter as vm
from viameter.errors import NumberError, OverBudget, ParameterError
from viameter.tables.plans.bounds import BINS, edges_of, rounded_outward

loose: Any = vm
LOUD = vm.zcdp(10**6)


def opened(values: list[Any], budget: Any = LOUD) -> Any:
    return vm.open(held({"u": list(range(len(values))), "x": values}), unit=vm.per("u", rows=1), budget=budget)


@pytest.mark.parametrize("within", [(-1000, 1000), (-(10**9), 10**9), (0, 2**50)], ids=str)
def test_bounds_hold_most_rows_and_are_not_far_from_them(within: Any) -> None:
    values = [float(value) for value in np.random.default_rng(3).normal(100, 15, 4000)]
    found = opened(values).find_bounds("x", within=within, spend=vm.zcdp(10**5))
    lower, upper = found.bounds
    assert 30 <= lower <= float(np.quantile(values, 0.01)) + 10
    assert float(np.quantile(values, 0.99)) - 10 <= upper <= 180
    low, high = found["low"], found["high"]
    assert low.lower[0] <= np.quantile(values, 0.01) <= low.upper[0]
    assert high.lower[0] <= np.quantile(values, 0.99) <= high.upper[0]
    assert found.columns[:2] == ("low", "low_lower")


def test_bounds_are_ready_for_the_next_question_and_cost_what_a_release_costs() -> None:
    table = opened([place % 120 for place in range(6000)], vm.zcdp(1))
    spend = vm.zcdp("1/10")
    question = table.bounds_question("x", within=(0, 128))
    assert question.preview(spend=spend).loss <= spend
    found = table.find_bounds("x", within=(0, 128), spend=spend)
    assert found.loss == table.spent <= spend
    assert found.bounds == (0, 120)
    answer = table.agg(m=vm.mean("x", bounds=found.bounds)).release(spend=spend)
    assert abs(float(answer["m"].value[0]) - 59.5) < 5
    assert {node.theorem.slug for node in found.explain().derivation.nodes()} >= {"contributions-of-added-units"}
    with pytest.raises(OverBudget):
        table.find_bounds("x", within=(0, 128), spend=vm.zcdp(1))


def test_other_quantiles_may_be_asked_for_and_tables_filtered() -> None:
    table = opened([place % 1000 for place in range(20_000)])
    found = table.find_bounds("x", within=(0, 1024), spend=vm.zcdp(1000), q=("1/4", 0.75))
    assert found.bounds in ((240, 760), (250, 750), (240, 750), (250, 760))
    assert found.estimates["low"].value[0] == pytest.approx(250, abs=5)
    high = table.filter(table["x"] >= 500).find_bounds("x", within=(0, 1024), spend=vm.zcdp(1000))
    assert 490 <= high.bounds[0] <= 510


def test_a_column_of_one_value_or_none_has_bounds_too() -> None:
    for values in ([5.0] * 3000, [None, *[5.0] * 2999], [float("nan"), *[5.0] * 2999]):
        for within in ((0, 1000), (5, 6)) if values[0] is None else ((-(10**6), 10**6),):
            lower, upper = opened(values).find_bounds("x", within=within, spend=vm.zcdp(100)).bounds
            assert within[0] <= lower <= 5 <= upper <= within[1] and lower < upper
            assert upper - lower < 10
    empty = opened([1.0] * 10)
    nothing = empty.filter(empty["x"] > 2)
    lower, upper = nothing.find_bounds("x", within=(0, 100), spend=vm.zcdp(1)).bounds
    assert 0 <= lower < upper <= 100


def test_quantiles_that_are_the_same_number_are_told_apart_by_their_intervals() -> None:
    found = opened([5.0] * 3000).find_bounds("x", within=(0, 1000), spend=vm.zcdp(100))
    place = replace(found["low"], value=np.array([5.0]), lower=np.array([4.0]), upper=np.array([6.0]))
    assert replace(found, estimates={"low": place, "high": place}).bounds == (4, 6)


@pytest.mark.parametrize(
    "within",
    [(0, 1), (-5, 3), (-9999, 0), (0, 10_000), (-(10**6), 10**3), (10**6, 10**8), (-(2**52), -(10**4)), (-1, 2**52)],
    ids=str,
)
def test_edges_rise_from_end_to_end_and_are_numbers_that_engines_compare_with(within: tuple[int, int]) -> None:
    lower, upper = map(Fraction, within)
    for spacing in (None, "even", "logarithmic"):
        edges = edges_of((lower, upper), spacing)
        assert edges[0] == lower and edges[-1] == upper
        assert all(a < b for a, b in itertools.pairwise(edges))
        assert 2 <= len(edges) - 1 <= BINS
        if spacing == "logarithmic":
            assert all(Fraction(float(edge)) == edge for edge in edges)
            center = min(max(Fraction(0), lower), upper)
            ratios = [
                abs(b - center) / abs(a - center)
                for a, b in itertools.pairwise(edges)
                if (a - center) * (b - center) > 0
            ]
            assert all(Fraction(2, 5) < ratio < Fraction(5, 2) for ratio in ratios)
    assert edges_of((lower, upper)) == edges_of((lower, upper), "even" if upper - lower < 10_000 else "logarithmic")


def test_bounds_are_rounded_outward_to_two_digits_of_their_distance() -> None:
    wide = (Fraction(-(10**9)), Fraction(10**9))
    for given, other, expected in (
        ("-27", "171", (-30, 180)), ("0.01", "0.99", (0.01, 0.99)), ("1", "9.99", (1, 10)),
        ("-3", "-2.01", (-3, -2.01)), ("100000", "100001", (100000, 100001)),
        ("1234567", "7654321", (1200000, 7700000)),
    ):  # fmt: skip
        assert rounded_outward(Fraction(given), Fraction(other), wide) == expected
    random = np.random.default_rng(5)
    for _ in range(300):
        low, high = sorted(Fraction(float(random.normal()) * 10.0 ** random.integers(-6, 8)) for _ in range(2))
        lower, upper = map(Fraction, rounded_outward(low, high, wide))
        slack = (high - low) / 10**6
        assert lower <= low + slack and high - slack <= upper
        assert upper - lower <= (high - low) * Fraction(13, 10) + slack
    assert rounded_outward(Fraction(1), Fraction(9), (Fraction(2), Fraction(8))) == (2, 8)
    assert rounded_outward(Fraction(3), Fraction(3), (Fraction(2), Fraction(8))) == (2, 8)


def test_what_is_no_range_or_quantile_is_refused_before_anything_is_spent() -> None:
    table = vm.open(held({"u": [1], "x": [1.0], "s": ["a"]}), unit=vm.per("u", rows=1), budget=LOUD)
    spend = vm.zcdp(1)
    refused: list[tuple[type[Exception], dict[str, Any]]] = [
        (ParameterError, {"within": 5}), (NumberError, {"within": (5, 1)}), (NumberError, {"within": (0, 2**53)}),
        (ParameterError, {"within": (0, 1), "q": 0.5}), (NumberError, {"within": (0, 1), "q": ("3/4", "1/4")}),
        (NumberError, {"within": (0, 1), "q": (0, 2)}), (ParameterError, {"within": (0, 1), "spacing": "wide"}),
        (NumberError, {"within": (0, 1), "alpha": 0}),
    ]  # fmt: skip
    for error, options in refused:
        with pytest.raises(error):
            table.find_bounds("x", spend=spend, **options)
    with pytest.raises(ParameterError, match="no number"):
        table.find_bounds("s", within=(0, 1), spend=spend)
    assert table.history == ()
