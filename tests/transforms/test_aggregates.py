"""count, sum, mean: what they compute in machine arithmetic, and the sensitivity that holds there."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import sys
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
    name_of,
    sequences,
    shown,
    table_of,
)
from tests.transforms.oracles import check_order_is_ignored, check_stability, drawn, image

import viameter as vm
from viameter.core import Metric
from viameter.errors import NoTheorem, ParameterError
from viameter.transforms.aggregates import (
    changes,
    mean_of_replaced_rows,
    saturated,
    sum_int64,
    sum_of_added_rows,
    sum_of_floats,
    sum_of_replaced_rows,
)

LARGEST, TINY, EPSILON = sys.float_info.max, 5e-324, 2.0**-52
SYMMETRIC, CHANGE_ONE = vm.SymmetricDistance(), vm.ChangeOneDistance()
ADDING: tuple[Metric, ...] = (SYMMETRIC, vm.InsertDeleteDistance())
EVERY_METRIC = for_each("metric", ROW_METRICS)


def steps(metric: Metric) -> int:
    """How many steps replace a row of a dataset of public size."""
    return 1 if isinstance(metric, REPLACING) else 2


def exact_total(data: list[Any]) -> Fraction:
    return sum(map(Fraction, data), Fraction(0))


# --- count -----------------------------------------------------------------------------------------------------------


@EVERY_METRIC
def test_count_of_rows_ensures_d_in_or_0_where_the_size_cannot_change(metric: Metric) -> None:
    made = vm.Space(vm.vectors(str), metric) >> vm.count()
    attained = check_stability(made, sequences("ab", 3))
    if isinstance(metric, REPLACING):
        assert [made.map(d) for d in (0, 1, 7, INFINITY)] == [0, 0, 0, INFINITY]
    else:
        assert [made.map(d) for d in (0, 1, 7, INFINITY)] == [0, 1, 7, INFINITY]
        assert {1, 2, 3} <= attained


@EVERY_METRIC
def test_count_of_rows_ensures_0_where_the_size_is_public(metric: Metric) -> None:
    for domain, data in (
        (vm.vectors(int, size=2), sequences([0, 1], 2, 2)),
        (vm.tables({"a": int}, size=2), [{"a": rows} for rows in sequences([0, 1], 2, 2)]),
    ):
        made = vm.Space(domain, metric) >> vm.count()
        check_stability(made, data)
        assert [made.map(d) for d in (0, 1, 7, INFINITY)] == [0, 0, 0, INFINITY]


@EVERY_METRIC
def test_count_of_rows_ensures_the_same_for_tables(metric: Metric) -> None:
    made = vm.Space(vm.tables({"a": int, "b": str}), metric) >> vm.count()
    letters = list(itertools.product((0, 1), "xy"))
    check_stability(made, [table_of(("a", "b"), rows) for rows in sequences(letters, 2)])
    assert made({"a": [1, 1, 1], "b": ["", "", ""]}) == 3


def test_count_of_rows_requires_fewer_than_2_to_the_63_rows() -> None:
    # No array is longer, and the output domain holds every length.
    made = vm.Space(vm.vectors(int), SYMMETRIC) >> vm.count()
    assert made.output_space.domain == vm.scalars(int, bounds=(0, GREATEST))
    assert sys.maxsize <= GREATEST


def test_count_of_rows_requires_a_metric_that_counts_rows() -> None:
    with pytest.raises(NoTheorem, match="limit_rows"):
        vm.Space(vm.tables({"user": str}), vm.SymmetricIdDistance("user")) >> vm.count()
    with pytest.raises(NoTheorem, match="not for DiscreteDistance"):
        vm.Space(vm.vectors(int), vm.DiscreteDistance()) >> vm.count()


# --- sums of integers ------------------------------------------------------------------------------------------------

BOUNDS = [(-5, 3), (0, 4), (-4, 0), (2, 3), (0, 0), (-1, GREATEST), (LEAST, GREATEST), (LEAST, 0)]


def inside(bounds: tuple[int, int]) -> list[int]:
    return sorted({bounds[0], bounds[1], (bounds[0] + bounds[1]) // 2})


@for_each("bounds", BOUNDS)
@for_each("metric", ADDING)
def test_sum_of_added_rows_ensures_d_in_times_the_largest_row(metric: Metric, bounds: tuple[int, int]) -> None:
    made = vm.Space(vm.vectors(int, bounds=bounds), metric) >> vm.sum()
    attained = check_stability(made, sequences(inside(bounds), 3))
    largest = max(abs(bound) for bound in bounds)
    assert [made.map(d) for d in (0, 1, 3)] == [0, largest, 3 * largest]
    assert made.map(INFINITY) == (INFINITY if largest else 0)
    if largest < 2**60:
        assert {1, 2, 3} <= attained
    for data in sequences(inside(bounds), 3):
        assert made(data) == min(max(sum(data), LEAST), GREATEST)
    check_order_is_ignored(made, [inside(bounds) * 2])


def test_sum_of_added_rows_ensures_its_bound_for_fractions_of_bounds_too() -> None:
    assert sum_of_added_rows(Fraction(2), lower=Fraction(-5), upper=Fraction(3)) == 10
    assert sum_of_added_rows(Fraction(2), lower=Fraction(-1), upper=Fraction(3)) == 6
    assert sum_of_added_rows(INFINITY, lower=Fraction(0), upper=Fraction(0)) == 0


@for_each("width", [1, 2, 3, 63, 64, 1000])
def test_sum_of_added_rows_requires_a_sum_that_does_not_wrap_around(width: int) -> None:
    made = vm.Space(vm.vectors(int, bounds=(LEAST, GREATEST)), SYMMETRIC) >> vm.sum()
    for end in (LEAST, GREATEST):
        data = np.full(width, end)
        assert sum_int64(data, 2**63) == width * end
        assert made(data) == end
        mixed = np.concatenate([data, np.full(width, -1 - end), [7]])
        assert sum_int64(mixed, 2**63) == 7 - width
        assert made(mixed) == 7 - width
    if width > 2:
        # What NumPy makes of it is not even near, and neighbors are not near each other.
        assert int(np.full(width, GREATEST).sum()) != width * GREATEST


@given(
    data=st.lists(st.one_of(st.integers(LEAST, GREATEST), st.sampled_from([LEAST, GREATEST, -1, 2**32])), max_size=20)
)
@drawn
def test_sum_of_added_rows_requires_the_sum_of_the_integers(data: list[int]) -> None:
    values = np.array(data, dtype=np.int64)
    largest = max(map(abs, data), default=0)
    assert sum_int64(values, 2**63) == sum_int64(values, largest) == sum(data)


def test_sum_of_added_rows_requires_that_what_it_stops_at_brings_sums_no_further_apart() -> None:
    ends = [LEAST - 5, LEAST, LEAST + 1, -1, 0, 1, GREATEST - 1, GREATEST, GREATEST + 5, 2**70]
    for one, two in itertools.product(ends, repeat=2):
        assert abs(saturated(one) - saturated(two)) <= abs(one - two)
    assert [saturated(end) for end in (LEAST - 5, 3, 2**70)] == [LEAST, 3, GREATEST]


def test_sum_of_added_rows_requires_bounds() -> None:
    for domain in (vm.vectors(int), vm.vectors(float, size=3)):
        with pytest.raises(NoTheorem, match="clamp"):
            vm.Space(domain, SYMMETRIC) >> vm.sum()


@for_each("bounds", [bounds for bounds in BOUNDS if bounds[0] < bounds[1]])
@for_each("metric", [CHANGE_ONE, vm.HammingDistance()])
def test_sum_of_replaced_rows_ensures_d_in_times_the_width(metric: Metric, bounds: tuple[int, int]) -> None:
    made = vm.Space(vm.vectors(int, bounds=bounds), metric) >> vm.sum()
    attained = check_stability(made, sequences(inside(bounds), 3))
    width = bounds[1] - bounds[0]
    assert [made.map(d) for d in (0, 1, 3, INFINITY)] == [0, width, 3 * width, INFINITY]
    if width < 2**60:
        assert {1, 2, 3} <= attained


@for_each("bounds", BOUNDS)
@EVERY_METRIC
def test_sum_of_replaced_rows_ensures_the_same_where_the_size_is_public(
    metric: Metric, bounds: tuple[int, int]
) -> None:
    made = vm.Space(vm.vectors(int, bounds=bounds, size=3), metric) >> vm.sum()
    attained = check_stability(made, sequences(inside(bounds), 3, 3))
    width = bounds[1] - bounds[0]
    assert [made.map(d) for d in (0, 1, 2, 3, 5)] == [width * (d // steps(metric)) for d in (0, 1, 2, 3, 5)]
    if 0 < width < 2**60:
        assert {steps(metric), 2 * steps(metric), 3 * steps(metric)} <= attained


# 0 times infinity is not 0 here: datasets infinitely far apart may differ in size, and [5] and [5, 5] have the sums 5
# and 10.
@pytest.mark.parametrize("metric", [CHANGE_ONE, vm.HammingDistance()], ids=name_of)
def test_sum_of_replaced_rows_ensures_nothing_for_datasets_of_different_size(metric: Metric) -> None:
    made = vm.Space(vm.vectors(int, bounds=(5, 5)), metric) >> vm.sum()
    check_stability(made, sequences([5], 3))
    assert made.map(7) == 0


def test_sum_of_replaced_rows_requires_that_the_size_is_public_or_a_step_replaces() -> None:
    # Without either, the bound of added rows is used, and it is needed: a row of 3 more is 3 more, not 3 - 2.
    made = vm.Space(vm.vectors(int, bounds=(2, 3)), SYMMETRIC) >> vm.sum()
    assert made.bound.theorem.slug == "sum-of-added-rows"
    assert (
        made([2, 3]) - made([2])
        == 3
        > sum_of_replaced_rows(Fraction(1), lower=Fraction(2), upper=Fraction(3), steps_per_change=1)
    )


def test_sum_of_replaced_rows_requires_the_sum_of_the_integers() -> None:
    made = vm.Space(vm.vectors(int, bounds=(0, GREATEST), size=4), CHANGE_ONE) >> vm.sum()
    full = [GREATEST] * 4
    assert made(full) == GREATEST
    assert abs(made(full) - made([0, *full[1:]])) <= made.map(1)
    wrapped = int(np.array(full).sum()), int(np.array([0, 0, 1, GREATEST]).sum())
    assert wrapped[0] != 4 * GREATEST
    assert wrapped[1] < 0


def test_changes_are_whole_and_rounded_down() -> None:
    assert [changes(Fraction(d), 2) for d in range(5)] == [0, 0, 1, 1, 2]
    assert [changes(Fraction(d), 1) for d in range(3)] == [0, 1, 2]
    assert changes(INFINITY, 2) == INFINITY


# --- sums of floats --------------------------------------------------------------------------------------------------

HARD: list[tuple[tuple[Any, Any], list[float]]] = [
    ((0, 1), [0.0, 1.0, EPSILON, EPSILON * 0.75]),
    ((-1, 1), [-1.0, 1.0, 0.1, 2.0**-53]),
    ((0, "1e-320"), [0.0, TINY, 1e-320]),
    ((0, 2**53), [2.0**53, 1.0, 0.5, 0.0]),
    (("0.1", "0.3"), [0.1, 0.2, math.nextafter(0.3, 0.0)]),
    ((-(10**300), 10**300), [9e299, -9e299, 1.0, TINY]),
    ((0, Fraction(0.6666666666666666)), [0.0, 0.6666666666666666, 0.3]),  # three of it are just below 2, and no float
    ((Fraction(LARGEST / 8), Fraction(LARGEST / 4)), [LARGEST / 8, LARGEST / 4, 4e307]),
]


@for_each(("bounds", "letters"), HARD)
@EVERY_METRIC
def test_sum_of_floats_ensures_the_width_and_one_ulp(
    metric: Metric, bounds: tuple[Any, Any], letters: list[float]
) -> None:
    made = vm.Space(vm.vectors(float, bounds=bounds, size=3), metric) >> vm.sum()
    check_stability(made, sequences(letters, 3, 3))
    check_order_is_ignored(made, [letters[:3], [letters[-1], letters[-1], letters[0]]])
    lower, upper = map(Fraction, made.input_space.domain.element.bounds)  # type: ignore[attr-defined]
    most = 3 * max(abs(lower), abs(upper))
    above = float(most) if Fraction(float(most)) >= most else math.nextafter(float(most), math.inf)
    spacing = Fraction(math.ulp(above))
    for d_in in range(1, 7):
        changed = d_in // steps(metric)
        assert made.map(d_in) == (changed * (upper - lower) + spacing if changed else 0)
    assert made.map(INFINITY) == INFINITY


def test_sum_of_floats_ensures_a_bound_that_needs_its_ulp() -> None:
    # The exact sums are 1 + EPSILON apart; both are rounded, one up and one down, to a spacing of 4 EPSILON.
    largest = 1 + EPSILON
    made = vm.Space(vm.vectors(float, bounds=(0, Fraction(largest)), size=7), CHANGE_ONE) >> vm.sum()
    rest = [1.0, 1.0, 1.0, 1.0, 1.0, EPSILON + 2.0**-60]
    one, other = made([*rest, largest]), made([*rest, 0.0])
    assert Fraction(one) - Fraction(other) == 1 + 4 * Fraction(EPSILON)
    assert Fraction(one) - Fraction(other) > Fraction(largest) + Fraction(math.ulp(7.0)) / 2
    assert Fraction(one) - Fraction(other) <= made.map(1) == Fraction(largest) + Fraction(math.ulp(7.0))


@given(
    rows=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6),
    replaced=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6),
)
@drawn
def test_sum_of_floats_ensures_its_bound_for_whatever_is_drawn(rows: list[float], replaced: list[float]) -> None:
    for metric in ROW_METRICS:
        made = vm.Space(vm.vectors(float, bounds=(-1000, 1000), size=len(rows)), metric) >> vm.sum()
        check_stability(made, [rows, (replaced + rows)[: len(rows)], sorted(rows)])


@given(data=st.lists(st.floats(-(2.0**1000), 2.0**1000), max_size=8))
@drawn
def test_sum_of_floats_ensures_the_float_nearest_to_the_exact_sum(data: list[float]) -> None:
    made = vm.Space(vm.vectors(float, bounds=(-(2**1000), 2**1000), size=len(data)), CHANGE_ONE) >> vm.sum()
    assert image(made, data) == float(exact_total(data)) == math.fsum(data)


@for_each(
    "data",
    [
        [2.0**53, 1.0, 1.0, 1.0, 1.0],
        [1e16, 1.0, -1e16, 1e-16],
        [TINY] * 5,
        [2.0**-1022, -TINY, -TINY],
        [0.1] * 10,
        [-0.0, -0.0],
        [1e300, -1e300, 1e284, TINY],
    ],
)
def test_sum_of_floats_ensures_a_sum_that_does_not_depend_on_the_order(data: list[float]) -> None:
    made = vm.Space(vm.vectors(float, bounds=(-(10**301), 10**301), size=len(data)), SYMMETRIC) >> vm.sum()
    found = {image(made, rows) for rows in itertools.islice(itertools.permutations(data), 200)}
    assert found == {float(exact_total(data))}


def test_sum_of_floats_ensures_its_bound_at_the_largest_float() -> None:
    half = Fraction(LARGEST / 2)
    made = vm.Space(vm.vectors(float, bounds=(-half, half), size=2), CHANGE_ONE) >> vm.sum()
    check_stability(made, sequences([LARGEST / 2, -LARGEST / 2, 1.0, 0.0], 2, 2))
    assert made([LARGEST / 2, LARGEST / 2]) == LARGEST


def test_sum_of_floats_requires_that_the_size_is_public() -> None:
    for metric in ROW_METRICS:
        with pytest.raises(NoTheorem, match="not public") as caught:
            vm.Space(vm.vectors(float, bounds=(0, 1)), metric) >> vm.sum()
        assert "resize(size=...)" in str(caught.value)
        assert "to_grid(step=...)" in str(caught.value)


def test_sum_of_floats_requires_that_no_sum_is_beyond_the_largest_float() -> None:
    half = Fraction(LARGEST / 2)
    vm.Space(vm.vectors(float, bounds=(0, half), size=2), CHANGE_ONE) >> vm.sum()
    for bounds in ((0, half), (-half, 0)):
        with pytest.raises(NoTheorem, match="beyond the largest float"):
            vm.Space(vm.vectors(float, bounds=bounds, size=3), CHANGE_ONE) >> vm.sum()


def one_after_the_other(data: list[float]) -> float:
    """A plain sum; since Python 3.12 the built-in one makes up for what it rounds."""
    return functools.reduce(operator.add, data)


def test_sum_of_floats_requires_a_sum_that_is_exact_before_it_is_rounded() -> None:
    # One addition after the other: two orders of the same rows differ by more than any multiple of d_in = 0.
    data = [2.0**53, *([1.0] * 100)]
    assert one_after_the_other(data) != one_after_the_other(data[::-1])
    bound = sum_of_floats(Fraction(0), lower=Fraction(0), upper=Fraction(2**53), size=101, steps_per_change=1)
    assert bound == 0
    made = vm.Space(vm.vectors(float, bounds=(0, 2**53), size=101), CHANGE_ONE) >> vm.sum()
    assert made(data) == made(data[::-1]) == 2.0**53 + 100


# --- means -----------------------------------------------------------------------------------------------------------


@for_each(("bounds", "letters"), HARD)
@EVERY_METRIC
def test_mean_of_replaced_rows_ensures_the_width_over_the_size_and_one_ulp(
    metric: Metric, bounds: tuple[Any, Any], letters: list[float]
) -> None:
    made = vm.Space(vm.vectors(float, bounds=bounds, size=3), metric) >> vm.mean()
    check_stability(made, sequences(letters, 3, 3))
    check_order_is_ignored(made, [letters[:3]])
    lower, upper = map(Fraction, made.input_space.domain.element.bounds)  # type: ignore[attr-defined]
    for d_in in range(7):
        changed = d_in // steps(metric)
        rounding = Fraction(math.ulp(float(max(abs(lower), abs(upper))))) if changed else 0
        assert made.map(d_in) == changed * (upper - lower) / 3 + rounding
    assert made.map(INFINITY) == INFINITY


@for_each("bounds", BOUNDS)
@EVERY_METRIC
def test_mean_of_replaced_rows_ensures_the_same_for_integers(metric: Metric, bounds: tuple[int, int]) -> None:
    made = vm.Space(vm.vectors(int, bounds=bounds, size=3), metric) >> vm.mean()
    check_stability(made, sequences(inside(bounds), 3, 3))
    for data in sequences(inside(bounds), 3, 3):
        assert image(made, data) == float(Fraction(sum(data), 3))


def test_mean_of_replaced_rows_ensures_a_bound_that_is_attained_with_its_ulp() -> None:
    largest = float.fromhex("0x1.e666666666666p+0")
    made = vm.Space(vm.vectors(float, bounds=(0, Fraction(largest)), size=6), CHANGE_ONE) >> vm.mean()
    rest = [largest, largest, largest, largest, float.fromhex("0x1.59103bf5d7296p-1")]
    assert Fraction(made([*rest, largest])) - Fraction(made([*rest, 0.0])) == made.map(1)


@given(data=st.lists(st.floats(-LARGEST, LARGEST), min_size=1, max_size=7))
@drawn
def test_mean_of_replaced_rows_ensures_the_float_nearest_to_the_exact_mean(data: list[float]) -> None:
    space = vm.Space(vm.vectors(float, bounds=(-Fraction(LARGEST), Fraction(LARGEST)), size=len(data)), CHANGE_ONE)
    assert image(space >> vm.mean(), data) == float(exact_total(data) / len(data))


def test_mean_of_replaced_rows_requires_that_the_size_is_public_and_not_0() -> None:
    for metric in ROW_METRICS:
        for kind in (int, float):
            with pytest.raises(NoTheorem, match="not public"):
                vm.Space(vm.vectors(kind, bounds=(0, 1)), metric) >> vm.mean()
            with pytest.raises(ParameterError, match="no rows"):
                vm.Space(vm.vectors(kind, bounds=(0, 1), size=0), metric) >> vm.mean()


def test_mean_of_replaced_rows_requires_a_mean_that_is_exact_before_it_is_rounded() -> None:
    # One addition after the other, and a division: two orders of the same rows have different means.
    data = [2.0**53, *([1.0] * 99)]
    assert one_after_the_other(data) / 100 != one_after_the_other(data[::-1]) / 100
    made = vm.Space(vm.vectors(float, bounds=(0, 2**53), size=100), CHANGE_ONE) >> vm.mean()
    assert made(data) == made(data[::-1]) == float(Fraction(2**53 + 99, 100))
    assert mean_of_replaced_rows(Fraction(0), lower=Fraction(0), upper=Fraction(1), size=2, steps_per_change=1) == 0
    # The sum may be far beyond the largest float; the mean is not.
    large = vm.Space(vm.vectors(float, bounds=(0, Fraction(LARGEST)), size=100), CHANGE_ONE) >> vm.mean()
    assert large([LARGEST] * 100) == LARGEST


# --- what they ask for -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", [vm.sum(), vm.mean()], ids=shown)
def test_sums_and_means_say_what_is_missing(recipe: Any) -> None:
    for domain, error, said in (
        (vm.vectors(str, size=2), ParameterError, "cast"),
        (vm.vectors(vm.categories([1]), size=2), ParameterError, "cast"),
        (vm.tables({"a": int}, size=2), ParameterError, "column"),
        (vm.vectors(float, nan=True, bounds=(0, 1), size=2), NoTheorem, "impute"),
        (vm.vectors(int, size=2), NoTheorem, "clamp"),
    ):
        with pytest.raises(error, match=said):
            vm.Space(domain, SYMMETRIC) >> recipe
    for metric in (*NORMS, vm.DiscreteDistance()):
        with pytest.raises(NoTheorem, match="metrics that count rows"):
            vm.Space(vm.vectors(int, bounds=(0, 1), size=2), metric) >> recipe


def test_aggregates_are_numbers_under_the_absolute_distance() -> None:
    space = vm.Space(vm.vectors(int, bounds=(0, 5), size=2), CHANGE_ONE)
    for recipe, data, expected in ((vm.count(), [5, 5], 2), (vm.sum(), [5, 4], 9), (vm.mean(), [5, 4], 4.5)):
        made = space >> recipe
        assert made.output_space.metric == vm.AbsoluteDistance()
        found = image(made, np.array(data))
        assert type(found) is type(expected)
        assert found == expected
