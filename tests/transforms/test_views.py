"""measured_by: every pair of metrics that a theorem relates, by brute force, and every other one refused."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each
from tests.spaces.oracles import (
    GREATEST,
    INFINITY,
    LEAST,
    NORMS,
    ROW_METRICS,
    own_distance,
    prepared,
    sequences,
    table_of,
)
from tests.transforms.oracles import check_stability

import viameter as vm
from viameter.core import Metric
from viameter.errors import NoTheorem, ParameterError
from viameter.transforms.views import norm_of_a_sized_vector

SYMMETRIC, INSERT_DELETE, CHANGE_ONE, HAMMING = ROW_METRICS
L1, L2, LINF = NORMS
SYMMETRIC_ID, CHANGE_ONE_ID = vm.SymmetricIdDistance("user"), vm.ChangeOneIdDistance("user")
USERS = vm.tables({"user": str, "value": int})
USER_ROWS = list(itertools.product("uv", (0, 1)))
ALL: tuple[Metric, ...] = (
    *ROW_METRICS,
    *NORMS,
    SYMMETRIC_ID,
    CHANGE_ONE_ID,
    vm.SymmetricIdDistance("value"),
    vm.ChangeOneIdDistance("value"),
    vm.AbsoluteDistance(),
    vm.DiscreteDistance(),
)

COARSER: list[tuple[Metric, Metric]] = [
    (INSERT_DELETE, SYMMETRIC),
    (HAMMING, CHANGE_ONE),
    (L1, L2),
    (L1, LINF),
    (L2, LINF),
]
TWICE: list[tuple[Metric, Metric]] = [
    (CHANGE_ONE, SYMMETRIC),
    (HAMMING, SYMMETRIC),
    (HAMMING, INSERT_DELETE),
    (CHANGE_ONE_ID, SYMMETRIC_ID),
]
HALF: list[tuple[Metric, Metric]] = [(SYMMETRIC, CHANGE_ONE), (INSERT_DELETE, CHANGE_ONE)]
SPREAD: dict[tuple[Metric, Metric], int] = {(L2, L1): 2, (LINF, L2): 2, (LINF, L1): 1}


def datasets(metric: Metric, size: int | None) -> tuple[Any, list[Any]]:
    """A domain that the metric measures, and small members of it."""
    least, most = (0, 3) if size is None else (size, size)
    if metric in (SYMMETRIC_ID, CHANGE_ONE_ID):
        return vm.tables(dict(USERS.columns), size=size), [
            table_of(USERS.names, rows) for rows in sequences(USER_ROWS, most, least)
        ]
    letters = [LEAST, 0, 3] if metric in NORMS else [0, 1, 2]
    return vm.vectors(int, size=size), sequences(letters, most, least)


@for_each("size", [None, 0, 3])
@for_each(("one", "other"), COARSER)
def test_coarser_metric_ensures_d_in(one: Metric, other: Metric, size: int | None) -> None:
    domain, members = datasets(one, size)
    made = vm.Space(domain, one) >> vm.measured_by(other)
    attained = check_stability(made, members)
    assert made.output_space == vm.Space(domain, other)
    assert [made.map(d) for d in (0, 1, 7, INFINITY)] == [0, 1, 7, INFINITY]
    assert size == 0 or attained & {1, 2, 3}


@for_each("metric", ALL)
def test_coarser_metric_ensures_that_a_metric_is_no_coarser_than_itself(metric: Metric) -> None:
    domain = next(domain for domain in (vm.vectors(int), USERS, vm.scalars(int)) if metric.fits(domain) is None)
    made = vm.Space(domain, metric) >> vm.measured_by(metric)
    assert made.input_space == made.output_space
    assert [made.map(d) for d in (0, 1, INFINITY)] == [0, 1, INFINITY]


ALLOWED = {*COARSER, *TWICE, (vm.ChangeOneIdDistance("value"), vm.SymmetricIdDistance("value"))}


@for_each("domain", [vm.vectors(int), vm.vectors(float), USERS, vm.scalars(int)])
def test_coarser_metric_requires_that_the_pair_is_one_of_those(domain: Any) -> None:
    for one, other in itertools.product(ALL, repeat=2):
        if one.fits(domain) or other.fits(domain) or one == other or (one, other) in ALLOWED:
            continue
        with pytest.raises(NoTheorem) as caught:
            vm.Space(domain, one) >> vm.measured_by(other)
        assert repr(one) in str(caught.value)
        assert repr(other) in str(caught.value)


def test_coarser_metric_requires_its_direction() -> None:
    # The other way round the conclusion fails: a permutation is 0 apart without order, and 2 apart with it.
    one, other = np.array([0, 1]), np.array([1, 0])
    assert SYMMETRIC.distance(one, other) == 0 < INSERT_DELETE.distance(one, other)
    assert CHANGE_ONE.distance(one, other) == 0 < HAMMING.distance(one, other)
    assert LINF.distance(np.array([0, 0]), np.array([1, 1])) == 1 < L1.distance(np.array([0, 0]), np.array([1, 1]))


def test_coarser_metric_requires_users_of_the_same_column() -> None:
    with pytest.raises(NoTheorem):
        vm.Space(USERS, vm.ChangeOneIdDistance("user")) >> vm.measured_by(vm.SymmetricIdDistance("value"))
    with pytest.raises(NoTheorem):
        vm.Space(USERS, vm.SymmetricIdDistance("user")) >> vm.measured_by(vm.SymmetricIdDistance("value"))


# Metrics that users define are of one class. 1 and 2 are 1 apart in the one and 100 apart in the other.
def test_coarser_metric_requires_that_two_metrics_of_ones_own_are_the_same() -> None:
    near = vm.metric("near", distance=lambda a, b: abs(a - b), trust="it is a metric")
    far = vm.metric("far", distance=lambda a, b: 100 * abs(a - b), trust="it is a metric")
    space = vm.Space(vm.scalars(int), near)
    assert (space >> vm.measured_by(near)).map(1) == 1
    assert space.distance(1, 2) == 1 < vm.Space(vm.scalars(int), far).distance(1, 2)
    with pytest.raises(NoTheorem):
        space >> vm.measured_by(far)


@for_each("size", [None, 3])
@for_each(("one", "other"), TWICE)
def test_added_from_replaced_ensures_2_d_in(one: Metric, other: Metric, size: int | None) -> None:
    domain, members = datasets(one, size)
    made = vm.Space(domain, one) >> vm.measured_by(other)
    assert 1 in check_stability(made, members)
    assert made.output_space == vm.Space(domain, other)
    assert [made.map(d) for d in (0, 1, 7, INFINITY)] == [0, 2, 14, INFINITY]


def test_added_from_replaced_requires_that_the_pair_is_one_of_those() -> None:
    # From change-one to insert-delete the conclusion fails: a permutation is no change, and two steps.
    one, other = np.array([0, 1]), np.array([1, 0])
    assert CHANGE_ONE.distance(one, other) == 0 < INSERT_DELETE.distance(one, other)
    for size in (None, 2):
        with pytest.raises(NoTheorem):
            vm.Space(vm.vectors(int, size=size), CHANGE_ONE) >> vm.measured_by(INSERT_DELETE)


@for_each("size", [0, 1, 2, 3])
@for_each(("one", "other"), HALF)
def test_replaced_from_added_ensures_half_of_d_in_rounded_down(one: Metric, other: Metric, size: int) -> None:
    for domain, members in (
        (vm.vectors(int, size=size), sequences([0, 1, 2], size, size)),
        (vm.tables({"a": int}, size=size), [{"a": rows} for rows in sequences([0, 1], size, size)]),
    ):
        made = vm.Space(domain, one) >> vm.measured_by(other)
        attained = check_stability(made, members)
        assert made.output_space == vm.Space(domain, other)
        assert [made.map(d) for d in (0, 1, 2, 3, 4, INFINITY)] == [0, 0, 1, 1, 2, INFINITY]
        assert size == 0 or 2 in attained


def test_replaced_from_added_ensures_that_change_one_is_half_of_the_symmetric_distance() -> None:
    members = [np.array(rows) for rows in sequences([0, 1, 2], 3, 3)]
    for one, other in itertools.product(members, repeat=2):
        mine, theirs = prepared(SYMMETRIC, one), prepared(SYMMETRIC, other)
        assert 2 * own_distance(CHANGE_ONE, mine, theirs) == own_distance(SYMMETRIC, mine, theirs)


def test_replaced_from_added_requires_that_the_number_of_rows_is_public() -> None:
    # Without it the conclusion fails: one row more is infinitely far by replacements.
    assert SYMMETRIC.distance(np.array([0]), np.array([0, 1])) == 1
    assert CHANGE_ONE.distance(np.array([0]), np.array([0, 1])) == INFINITY
    for one, other in HALF:
        for domain in (vm.vectors(int), vm.tables({"a": int})):
            with pytest.raises(NoTheorem, match=r"resize\(size=\.\.\.\)"):
                vm.Space(domain, one) >> vm.measured_by(other)


def test_replaced_from_added_requires_metrics_of_rows_and_not_of_users_or_of_order() -> None:
    sized = vm.tables(dict(USERS.columns), size=2)
    for one, other in ((SYMMETRIC_ID, CHANGE_ONE_ID), (SYMMETRIC, HAMMING), (INSERT_DELETE, HAMMING)):
        with pytest.raises(NoTheorem):
            vm.Space(sized, one) >> vm.measured_by(other)


@for_each("size", [0, 1, 2, 3, 4])
@for_each(("one", "other"), SPREAD)
def test_norm_of_a_sized_vector_ensures_n_or_the_root_of_n(one: Metric, other: Metric, size: int) -> None:
    domain = vm.vectors(int, size=size)
    made = vm.Space(domain, one) >> vm.measured_by(other)
    attained = check_stability(made, sequences([-3, 0, 1] if size < 4 else [-3, 0], size, size))
    assert made.output_space == vm.Space(domain, other)
    assert made.map(INFINITY) == (INFINITY if size else 0)
    for d_in in (Fraction(0), Fraction(1), Fraction(7, 3)):
        bound = made.map(d_in)
        if SPREAD[one, other] == 1:
            assert bound == size * d_in
        else:
            assert size * d_in**2 <= bound**2 <= size * d_in**2 * (1 + Fraction(1, 2**100))
    if size in (1, 4):
        assert {1, 3, 2, 6} & attained


def test_norm_of_a_sized_vector_ensures_a_root_that_is_rounded_up() -> None:
    for size in range(200):
        bound = norm_of_a_sized_vector(Fraction(3), size=size, root=2)
        assert bound**2 >= 9 * size
        assert (bound**2 == 9 * size) == (math.isqrt(size) ** 2 == size)


def test_norm_of_a_sized_vector_requires_that_the_number_of_coordinates_is_public() -> None:
    for one, other in SPREAD:
        for kind in (int, float):
            with pytest.raises(NoTheorem, match=r"resize\(size=\.\.\.\)"):
                vm.Space(vm.vectors(kind), one) >> vm.measured_by(other)
    # Without it there is no factor: n coordinates of 1 are 1 in Linf and n in L1.
    for size in (1, 10, 100):
        assert L1.distance(np.ones(size, dtype=int), np.zeros(size, dtype=int)) == size


def test_data_are_left_as_they_are() -> None:
    values = np.array([GREATEST, LEAST])
    made = vm.Space(vm.vectors(int), HAMMING) >> vm.measured_by(SYMMETRIC)
    assert np.shares_memory(made(values), values)


def test_two_views_in_a_row_are_chained() -> None:
    made = vm.Space(vm.vectors(int, size=2), HAMMING) >> vm.measured_by(SYMMETRIC) >> vm.measured_by(CHANGE_ONE)
    assert made.map(3) == 3
    check_stability(made, sequences([0, 1, 2], 2, 2))


@for_each("metric", [None, 5, "SymmetricDistance", vm.SymmetricDistance])
def test_what_is_no_metric_is_refused_by_name(metric: Any) -> None:
    with pytest.raises(ParameterError, match="metric="):
        vm.Space(vm.vectors(int), SYMMETRIC) >> vm.measured_by(metric)


def test_a_metric_that_does_not_measure_the_domain_is_refused() -> None:
    with pytest.raises(ParameterError, match="does not measure"):
        vm.Space(vm.vectors(str), SYMMETRIC) >> vm.measured_by(L1)
