"""histogram: which bin a row falls into, and how stable the counts are in each norm."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each
from tests.spaces.oracles import (
    GREATEST,
    INFINITY,
    LEAST,
    NORMS,
    REPLACING,
    ROW_METRICS,
    loose,
    sequences,
    shown,
)
from tests.transforms.oracles import check_order_is_ignored, check_stability, drawn, image

import viameter as vm
from viameter.core import Metric
from viameter.errors import NotExact, NoTheorem, NumberError, ParameterError, ViameterError
from viameter.spaces import NormDistance
from viameter.transforms.histograms import histogram_of_replaced_rows

NAN, INF, LARGEST, TINY = math.nan, math.inf, 1.7976931348623157e308, 5e-324
SYMMETRIC = vm.SymmetricDistance()
ADDING: tuple[Metric, ...] = (SYMMETRIC, vm.InsertDeleteDistance())
EACH_NORM = for_each("norm", NORMS)

BINS: list[tuple[Any, dict[str, Any], list[Any]]] = [
    (vm.scalars(str), {"keys": ["a", "b"]}, ["a", "b", "c"]),
    (vm.scalars(int), {"keys": [LEAST, 0]}, [LEAST, 0, GREATEST]),
    (vm.categories(["x", "y"]), {}, ["x", "y"]),
    (vm.categories([3, 1, 2]), {"keys": [1]}, [1, 2, 3]),
    (vm.scalars(int), {"edges": [LEAST, "-0.5", "0.5", GREATEST]}, [LEAST, 0, GREATEST]),
    (vm.scalars(float, nan=True), {"edges": [0, "0.1", 1]}, [NAN, 0.1, -0.0, INF]),
]
EACH_KIND = for_each(("element", "bins", "letters"), BINS)


def in_bins(edges: list[Any], data: list[Any], *, other: bool) -> list[int]:
    """The counts in exact arithmetic: [e0, e1), [e1, e2), ..."""
    exact = [Fraction(edge) for edge in edges]
    counts = [0] * len(exact)
    for value in data:
        number = value if isinstance(value, float) and not math.isfinite(value) else Fraction(value)
        found = [place for place in range(len(exact) - 1) if exact[place] <= number < exact[place + 1]]
        counts[found[0] if found else -1] += 1
    return counts if other else counts[:-1]


@EACH_KIND
@EACH_NORM
@for_each("metric", ADDING)
def test_histogram_of_added_rows_ensures_d_in_in_every_norm(
    metric: Metric, norm: NormDistance, element: Any, bins: dict[str, Any], letters: list[Any]
) -> None:
    for other in (False, True):
        made = vm.Space(vm.vectors(element), metric) >> vm.histogram(**bins, other=other, metric=norm)
        # All three norms are attained by rows that fall into one bin.
        assert {1, 2} <= check_stability(made, sequences(letters, 2))
        assert made.output_space.metric == norm
        assert [made.map(d) for d in (0, 1, 7, INFINITY)] == [0, 1, 7, INFINITY]


@EACH_KIND
def test_histogram_of_added_rows_requires_that_a_row_is_in_at_most_one_bin_by_itself_alone(
    element: Any, bins: dict[str, Any], letters: list[Any]
) -> None:
    for other in (False, True):
        made = vm.Space(vm.vectors(element), SYMMETRIC) >> vm.histogram(**bins, other=other)
        alone = [image(made, [letter]) for letter in letters]
        for counts in alone:
            assert counts.sum() == 1 if other else counts.sum() <= 1
            assert set(counts.tolist()) <= {0, 1}
        assert image(made, letters * 40).tolist() == (40 * sum(alone)).tolist()
        assert image(made, []).tolist() == [0] * len(alone[0])
        check_order_is_ignored(made, [letters, letters[:2] * 2])


def test_histogram_of_added_rows_requires_disjoint_bins() -> None:
    # With bins that overlap, one row more is two counts more. Edges rise and keys differ, so that none do.
    overlapping = [(0, 10), (5, 15)]
    assert sum(lower <= 7 < upper for lower, upper in overlapping) == 2
    space = vm.Space(vm.vectors(int), SYMMETRIC)
    for edges in ([0, 10, 5], [0, 0, 1], ["0.5", "1/2"]):
        with pytest.raises(ParameterError, match="rising"):
            space >> vm.histogram(edges=edges)
    with pytest.raises(ParameterError, match="different values"):
        space >> vm.histogram(keys=[1, 1])


def test_histogram_of_added_rows_requires_a_metric_that_counts_rows() -> None:
    for metric in (*NORMS, vm.DiscreteDistance()):
        with pytest.raises(NoTheorem, match="metrics that count rows"):
            vm.Space(vm.vectors(int), metric) >> vm.histogram(keys=[1])


@EACH_KIND
@EACH_NORM
@for_each("metric", ROW_METRICS)
def test_histogram_of_replaced_rows_ensures_2_c_or_sqrt_2_c_or_c(
    metric: Metric, norm: NormDistance, element: Any, bins: dict[str, Any], letters: list[Any]
) -> None:
    for other in (False, True):
        made = vm.Space(vm.vectors(element, size=3), metric) >> vm.histogram(**bins, other=other, metric=norm)
        attained = check_stability(made, sequences(letters[:3], 3, 3))
        per_change = 1 if isinstance(metric, REPLACING) else 2
        assert made.map(INFINITY) == INFINITY
        for d_in in range(8):
            bound, changed = made.map(d_in), Fraction(d_in // per_change)
            if made.output_space.domain.size == 1:  # type: ignore[attr-defined]
                assert bound == changed
            elif isinstance(norm, vm.L2Distance):
                assert 2 * changed**2 <= bound**2 <= 2 * changed**2 * (1 + Fraction(1, 2**100))
            else:
                assert bound == (2 if isinstance(norm, vm.L1Distance) else 1) * changed
        if not isinstance(norm, vm.L2Distance) or made.output_space.domain.size == 1:  # type: ignore[attr-defined]
            assert per_change in attained


@EACH_NORM
@for_each("metric", [vm.ChangeOneDistance(), vm.HammingDistance()])
def test_histogram_of_replaced_rows_ensures_the_same_where_the_size_is_not_public(
    metric: Metric, norm: NormDistance
) -> None:
    for other in (False, True):
        made = vm.Space(vm.vectors(str), metric) >> vm.histogram(keys=["a", "b"], other=other, metric=norm)
        check_stability(made, sequences("abc", 3))
        assert made.map(INFINITY) == INFINITY
        assert made.bound.theorem.slug == "histogram-of-replaced-rows"


def test_histogram_of_replaced_rows_ensures_a_root_that_is_rounded_up() -> None:
    for d_in in range(1, 50):
        bound = histogram_of_replaced_rows(Fraction(d_in), norm="L2", steps_per_change=1)
        assert bound**2 > 2 * d_in**2


def test_histogram_of_replaced_rows_requires_as_many_bins_as_there_are() -> None:
    # One row that turns from the first bin's to the second's moves both.
    two = vm.Space(vm.vectors(str), vm.ChangeOneDistance()) >> vm.histogram(keys=["a", "b"])
    moved = np.abs(two(["a"]) - two(["b"])).sum()
    assert moved > histogram_of_replaced_rows(Fraction(1), norm="L1", steps_per_change=1, bins=1)
    assert moved == histogram_of_replaced_rows(Fraction(1), norm="L1", steps_per_change=1, bins=2) == two.map(1)


def test_histogram_of_replaced_rows_requires_that_a_row_is_in_at_most_one_bin() -> None:
    # Two rows of three bins each: replacing one changes six counts, not two.
    bins = [{0, 1}, {0, 2}, {0, 3}, {9, 4}, {9, 5}, {9, 6}]
    counts = [np.array([value in one for one in bins], dtype=int) for value in (0, 9)]
    assert np.abs(counts[0] - counts[1]).sum() == 6
    for other in (False, True):
        made = vm.Space(vm.vectors(int), vm.ChangeOneDistance()) >> vm.histogram(edges=range(-3, 4), other=other)
        assert all(image(made, [value]).sum() <= 1 for value in range(-9, 9))


def test_histogram_of_replaced_rows_requires_that_the_size_is_public_or_a_step_replaces() -> None:
    # Where neither holds, its bound for Linf would be too small: two rows more in one bin, and two steps.
    made = vm.Space(vm.vectors(str), SYMMETRIC) >> vm.histogram(keys=["a"], metric=vm.LInfDistance())
    assert made.bound.theorem.slug == "histogram-of-added-rows"
    assert made(["a", "a"]).max() == 2 > histogram_of_replaced_rows(Fraction(2), norm="Linf", steps_per_change=2)


EDGES: list[list[Any]] = [
    [0, 1],
    ["0.1", "0.2", "0.3"],
    ["-1/3", 0, "1/3", 5],
    [LEAST, 0, GREATEST],
    [LEAST, "-0.5", "0.5", "0.7", 3],
    ["1e-330", "1e-320"],
]
FLOATS = [NAN, -INF, -LARGEST, -1 / 3, -TINY, -0.0, 0.0, TINY, 1e-320, 0.1, 0.2, 0.3, 1 / 3, 0.5, 1.0, 5.0]
FLOATS += [LARGEST, INF]
FLOATS += [math.nextafter(value, side) for value in (0.1, 0.2, 0.3, 1 / 3, 1.0) for side in (-INF, INF)]


@for_each("edges", EDGES)
@for_each("other", [False, True])
def test_edges_are_exact_numbers_and_belong_to_the_bin_above_them(edges: list[Any], other: bool) -> None:
    made = vm.Space(vm.vectors(float, nan=True), SYMMETRIC) >> vm.histogram(edges=edges, other=other)
    for value in FLOATS:
        assert image(made, [value]).tolist() == in_bins(edges, [value], other=other), value
    assert image(made, FLOATS).tolist() == in_bins(edges, FLOATS, other=other)


@for_each("edges", EDGES[:5])
def test_edges_of_integers_are_exact(edges: list[Any]) -> None:
    made = vm.Space(vm.vectors(int), SYMMETRIC) >> vm.histogram(edges=edges, other=True)
    for value in (LEAST, LEAST + 1, -1, 0, 1, 2, 3, 5, 2**53, 2**53 + 1, GREATEST - 1, GREATEST):
        assert image(made, [value]).tolist() == in_bins(edges, [value], other=True), value


def test_edges_beyond_the_floats_are_still_edges() -> None:
    edges = [-(10**400), 0, 10**400, 10**401]
    made = vm.Space(vm.vectors(float), SYMMETRIC) >> vm.histogram(edges=edges, other=True)
    for value in (-INF, -LARGEST, 0.0, LARGEST, INF):
        assert image(made, [value]).tolist() == in_bins(edges, [value], other=True)


@given(
    data=st.lists(st.floats(), max_size=6),
    edges=st.lists(st.fractions(-10, 10, max_denominator=99), min_size=2, max_size=6, unique=True).map(sorted),
)
@drawn
def test_a_histogram_by_edges_agrees_with_exact_arithmetic(data: list[float], edges: list[Fraction]) -> None:
    data += [float(edge) for edge in edges]
    made = vm.Space(vm.vectors(float, nan=True), SYMMETRIC) >> vm.histogram(edges=edges, other=True)
    assert image(made, data).tolist() == in_bins(edges, data, other=True)


def test_a_histogram_by_keys_counts_in_the_order_of_the_keys() -> None:
    made = vm.Space(vm.vectors(str), SYMMETRIC) >> vm.histogram(keys=["b", "a"], other=True)
    assert image(made, ["a", "b", "a", "c", ""]).tolist() == [1, 2, 2]
    whole = vm.Space(vm.vectors(int), SYMMETRIC) >> vm.histogram(keys=[GREATEST, LEAST])
    assert image(whole, [LEAST, LEAST, 0, GREATEST]).tolist() == [1, 2]
    every = vm.Space(vm.vectors(vm.categories(["x", "y"])), SYMMETRIC) >> vm.histogram(other=True)
    assert image(every, ["y", "y", "x"]).tolist() == [1, 2, 0]


def test_a_histogram_is_a_vector_of_counts_of_public_size() -> None:
    made = vm.Space(vm.vectors(str), SYMMETRIC) >> vm.histogram(keys=["b", "a"], other=True)
    assert made.output_space == vm.Space(vm.vectors(int, bounds=(0, GREATEST), size=3), vm.L1Distance())
    assert image(made, ["a"] * 1000).dtype == np.int64


@for_each(
    ("element", "parameters", "said"),
    [
        (vm.scalars(str), {}, "needs its bins"),
        (vm.scalars(int), {"keys": [1], "edges": [0, 1]}, "not both"),
        (vm.scalars(int), {"keys": []}, "one or more"),
        (vm.scalars(int), {"keys": [1, 1]}, "different values"),
        (vm.scalars(int), {"keys": ["a"]}, "no element"),
        (vm.scalars(int), {"keys": [True]}, "no element"),
        (vm.scalars(int), {"keys": [1, 2.0]}, "keys|no element"),
        (vm.scalars(float), {"keys": [1]}, "has floats"),
        (vm.scalars(str), {"keys": "ab"}, "'ab'"),
        (vm.scalars(str), {"edges": [0, 1]}, "only numbers"),
        (vm.categories([1, 2]), {"edges": [0, 1]}, "only numbers"),
        (vm.scalars(int), {"edges": []}, "two or more"),
        (vm.scalars(int), {"edges": [0]}, "two or more"),
        (vm.scalars(int), {"edges": [0, 2**64]}, "64 bits"),
        (vm.scalars(int), {"edges": [0, "x"]}, "'x'"),
        (vm.scalars(float), {"edges": [0, NAN]}, "nan"),
        (vm.scalars(float), {"edges": [0, INF]}, "inf"),
        (vm.scalars(int), {"keys": [1], "metric": vm.AbsoluteDistance()}, "metric=AbsoluteDistance"),
        (vm.scalars(int), {"keys": [1], "metric": vm.L1Distance}, "metric="),
        (vm.scalars(int), {"keys": [1], "metric": None}, "metric=None"),
    ],
)
def test_bins_that_make_no_sense_are_refused_by_name(element: Any, parameters: dict[str, Any], said: str) -> None:
    with pytest.raises((ParameterError, NumberError), match=said):
        vm.Space(vm.vectors(element), SYMMETRIC) >> vm.histogram(**parameters)


def test_a_float_as_an_edge_asks_for_the_number_that_was_meant() -> None:
    with pytest.raises(NotExact, match=r"edge=0\.1 is a float"):
        vm.Space(vm.vectors(float), SYMMETRIC) >> loose.histogram(edges=[0, 0.1])


def test_a_histogram_takes_vectors_only() -> None:
    with pytest.raises(ParameterError, match="column"):
        vm.Space(vm.tables({"a": int}), SYMMETRIC) >> vm.histogram(keys=[1])
    with pytest.raises(ParameterError, match="takes vectors"):
        vm.Space(vm.scalars(int), vm.AbsoluteDistance()) >> vm.histogram(keys=[1])


@pytest.mark.parametrize("parameters", [{"keys": 5}, {"edges": 5}, {"keys": [{}]}], ids=shown)
def test_bins_that_are_no_list_are_refused_by_name(parameters: dict[str, Any]) -> None:
    with pytest.raises(ViameterError, match=r"keys|edges|is_in"):
        vm.Space(vm.vectors(int), SYMMETRIC) >> vm.histogram(**parameters)


# A set has no order (and one of strings has another in every run), so nobody knows which count is whose.
def test_keys_without_an_order_are_refused() -> None:
    with pytest.raises(ParameterError, match="keys"):
        vm.Space(vm.vectors(str), SYMMETRIC) >> loose.histogram(keys={"a", "b", "c"})


def test_the_bins_of_a_histogram_hold_what_a_pair_of_datasets_moves() -> None:
    # Worked by hand: one row goes from the first bin to the other bin.
    space = vm.Space(vm.vectors(int), vm.ChangeOneDistance())
    for norm, expected in zip(NORMS, (2, 2, 1), strict=True):
        made = space >> vm.histogram(edges=[0, 10], other=True, metric=norm)
        one, other = made([5, 6]), made([5, 60])
        assert one.tolist() == [2, 0] and other.tolist() == [1, 1]
        squared = isinstance(norm, vm.L2Distance)
        assert (made.map(1) ** 2 if squared else made.map(1)) >= expected
