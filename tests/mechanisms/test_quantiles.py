"""Quantiles: how stable their scores are on all small data sets, and which candidate is drawn."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each
from tests.mechanisms.oracles import (
    INFINITY,
    VISITS,
    at_most,
    exponential_law,
    loose,
    loss_range,
    max_divergence,
    renyi,
    slugs,
    words,
)
from tests.spaces.oracles import ROW_METRICS, sequences
from tests.transforms.oracles import check_order_is_ignored, check_stability

import viameter as vm
from viameter.errors import NoTheorem, NumberError, ParameterError
from viameter.mechanisms import selection
from viameter.mechanisms.selection import (
    quantile_scores_stability,
)

# --- quantile-scores -------------------------------------------------------------------------------------------------


def score(data: Sequence[int], candidate: int, alpha: Fraction) -> int:
    less = sum(x < candidate for x in data)
    greater = sum(x > candidate for x in data)
    return -abs((alpha.denominator - alpha.numerator) * less - alpha.numerator * greater)


LEVELS = [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)]


@for_each("metric", ROW_METRICS)
@for_each("alpha", LEVELS)
def test_quantile_scores_ensures_its_stability_on_all_small_datasets(alpha: Fraction, metric: Any) -> None:
    space = vm.Space(vm.vectors(int), metric)
    made = vm.quantile_scores(space, alpha=alpha, candidates=[0, 1, 2])
    data = sequences([-1, 1, 2], 4)
    for rows in data:
        assert made(rows).tolist() == [score(rows, candidate, alpha) for candidate in (0, 1, 2)]
        assert made(rows).dtype == np.int64
    attained = check_stability(made, data)
    check_order_is_ignored(made, sequences([-1, 1, 2], 3))
    p, q = alpha.numerator, alpha.denominator
    each = q if metric.replaces else max(p, q - p)
    assert [made.map(d) for d in (0, 1, 2, 3, 100)] == [0, each, 2 * each, 3 * each, 100 * each]
    assert made.map(INFINITY) == INFINITY
    # Of four rows, no more than two can be replaced by such as are on the other side.
    assert ({1, 2} if metric.replaces else {1, 2, 3}) <= attained


@for_each("metric", ROW_METRICS)
def test_quantile_scores_ensures_its_stability_where_the_size_is_public(metric: Any) -> None:
    space = vm.Space(vm.vectors(int, size=3), metric)
    for alpha in (Fraction(1, 2), Fraction(1, 4)):
        made = vm.quantile_scores(space, alpha=alpha, candidates=[0, 2])
        attained = check_stability(made, sequences([-1, 0, 1, 3], 3, 3))
        q = alpha.denominator
        if metric.replaces:
            assert [made.map(d) for d in (0, 1, 2, 3)] == [0, q, 2 * q, 3 * q]
            assert 1 in attained
        else:
            assert [made.map(d) for d in (0, 1, 2, 3, 5)] == [0, 0, q, q, 2 * q]
            assert 2 in attained


def test_quantile_scores_ensures_the_numbers_of_its_formula() -> None:
    assert quantile_scores_stability(Fraction(7), numerator=3, denominator=10, steps_per_change=None) == 49
    assert quantile_scores_stability(Fraction(7), numerator=3, denominator=10, steps_per_change=2) == 30
    assert quantile_scores_stability(Fraction(7), numerator=3, denominator=10, steps_per_change=1) == 70
    for steps in (None, 1, 2):
        assert quantile_scores_stability(INFINITY, numerator=0, denominator=1, steps_per_change=steps) == INFINITY
        assert quantile_scores_stability(Fraction(0), numerator=1, denominator=1, steps_per_change=steps) == 0


def test_quantile_scores_requires_a_metric_that_counts_rows() -> None:
    for metric in (vm.L1Distance(), vm.L2Distance(), vm.LInfDistance(), vm.DiscreteDistance()):
        with pytest.raises(NoTheorem, match="count rows"):
            vm.quantile_scores(vm.Space(vm.vectors(int), metric), alpha="1/2", candidates=[1])


def test_quantile_scores_requires_that_scores_are_exact_in_64_bits() -> None:
    # The largest denominator, and candidates and rows at the ends of 64 bits.
    least, greatest = -(2**63), 2**63 - 1
    made = vm.quantile_scores(VISITS, alpha=Fraction(999_999, 1_000_000), candidates=[least, 0, greatest])
    rows = [least] * 3 + [greatest] * 4 + [0]
    assert made(rows).tolist() == [score(rows, c, Fraction(999_999, 1_000_000)) for c in (least, 0, greatest)]
    many = np.zeros(2_000_000, dtype=np.int64)
    assert made(many).tolist() == [-999_999 * 2_000_000, 0, -2_000_000]
    # More rows than any machine holds would still fit.
    assert 10**6 * 2**42 < 2**62
    for alpha in (Fraction(1, 1_000_001), "-1/2", "3/2", 0.5, "median", None):
        with pytest.raises((ParameterError, NumberError)):
            loose.quantile_scores(VISITS, alpha=alpha, candidates=[1])


def test_quantile_scores_takes_rising_integers_as_candidates_and_nothing_else() -> None:
    candidates: Any
    for candidates in ([], [1, 1], [2, 1], [1.0], [2**63], [True], ["a"], "12", 5, None, [[1]], {3, 1, 2} - {1, 2, 3}):
        with pytest.raises(ParameterError):
            loose.quantile_scores(VISITS, alpha="1/2", candidates=candidates)
    for candidates in (range(3), (0, 1, 2), np.arange(3), iter([0, 1, 2]), [np.int64(0), 1, 2]):
        assert loose.quantile_scores(VISITS, alpha="1/2", candidates=candidates)([1]).tolist() == [-1, 0, -1]
    for space in (
        vm.Space(vm.vectors(float), vm.SymmetricDistance()),
        vm.Space(vm.vectors(str), vm.SymmetricDistance()),
        vm.Space(vm.tables({"a": int}), vm.SymmetricDistance()),
    ):
        with pytest.raises(ParameterError):
            vm.quantile_scores(space, alpha="1/2", candidates=[1])


# --- private_quantile ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [vm.PureDP, vm.ZCDP, vm.BoundedRange], ids=repr)
def test_a_private_quantile_is_the_exponential_mechanism_on_its_scores(
    measure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scale, alpha, candidates = Fraction(2), Fraction(1, 3), (10, 20, 30)
    made = vm.private_quantile(VISITS, alpha=alpha, candidates=candidates, scale=scale, measure=measure)
    data = [rows for rows in words((5, 20, 35), 0, 3) if list(rows) == sorted(rows)]
    laws = {rows: exponential_law([score(rows, c, alpha) for c in candidates], scale) for rows in data}
    for mine, theirs in itertools.product(data, repeat=2):
        d = int(VISITS.distance(list(mine), list(theirs)))
        bound = made.map(d)
        if measure == vm.PureDP:
            assert at_most(max_divergence(laws[mine], laws[theirs]), bound.epsilon)
        elif measure == vm.BoundedRange:
            assert at_most(loss_range(laws[mine], laws[theirs]), bound.eta)
        else:
            assert at_most(renyi(laws[mine], laws[theirs], Fraction(2)), 2 * bound.rho)
    # The scores move by at most 2 for a row, each.
    assert (
        made.map(1)
        == {
            vm.PureDP: vm.pure(2),
            vm.BoundedRange: vm.bounded_range(2),
            vm.ZCDP: vm.zcdp("1/2"),
        }[measure]
    )
    follows = {vm.PureDP: ["bounded-range-is-pure"], vm.BoundedRange: [], vm.ZCDP: ["bounded-range-to-zcdp"]}[measure]
    assert slugs(made) == ["post-processing", *follows, "chain", "quantile-scores", "exponential-range"]


def test_a_private_quantile_releases_the_candidate_that_was_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def draw(scores: Any, scale: Any) -> int:
        asked.append((scores.tolist(), scale))
        return len(asked) - 1

    monkeypatch.setitem(selection.DRAWS, "gumbel", draw)
    made = vm.private_quantile(VISITS, alpha="1/2", candidates=[-5, 0, 2**63 - 1], scale=3)
    assert [made([1, 1, -7]) for _ in range(3)] == [-5, 0, 2**63 - 1]
    assert asked == [([-1, -1, -3], Fraction(3))] * 3


def test_a_private_quantile_of_much_data_is_the_quantile() -> None:
    rows = list(range(1000))
    for alpha, expected in (("1/4", 250), ("1/2", 500), ("9/10", 900)):
        made = vm.private_quantile(VISITS, alpha=alpha, candidates=range(0, 1000, 50), scale="1/100")
        assert made(rows) == expected
    assert vm.private_quantile(VISITS, alpha="1/2", candidates=[3], scale=1)([]) == 3
