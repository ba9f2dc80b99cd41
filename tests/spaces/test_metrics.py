"""Metrics: against a search over single steps, against their definition, and as metrics."""

from __future__ import annotations

import itertools
import math
import struct
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
    ORDERED,
    ROW_METRICS,
    Extended,
    Rows,
    loose,
    name_of,
    own_distance,
    prepared,
    rows_of,
    scale,
    search,
    sequences,
    single_steps,
    table_of,
    user_steps,
    without_order,
)
from tests.transforms.oracles import drawn

import viameter as vm
from viameter.core import Domain, Metric
from viameter.errors import NotExact, NumberError, ParameterError
from viameter.spaces import NormDistance, UserMetric

USER_METRICS: tuple[UserMetric, ...] = (vm.SymmetricIdDistance("user"), vm.ChangeOneIdDistance("user"))
NUMBERS: tuple[Metric, ...] = (vm.AbsoluteDistance(), *NORMS)
ALL_METRICS: tuple[Metric, ...] = (*ROW_METRICS, *USER_METRICS, vm.DiscreteDistance(), *NUMBERS)
VISITS = vm.tables({"user": str, "value": int})
QUIET_NAN = float("nan")
OTHER_NAN: float = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]


def of_rows(metric: Metric, rows: Rows) -> Rows:
    return rows if isinstance(metric, ORDERED) else without_order(rows)


@for_each("metric", ROW_METRICS)
@for_each(
    ("element", "letters", "most"),
    [
        (vm.scalars(str), ["a", "b"], 3),
        (vm.scalars(int), [LEAST, 0, GREATEST], 2),
        (vm.scalars(float, nan=True), [0.0, -0.0, QUIET_NAN], 2),
        (vm.scalars(float, nan=True), [QUIET_NAN, OTHER_NAN], 3),
        (vm.categories([3, 1]), [1, 3], 3),
    ],
)
def test_a_distance_of_rows_is_the_least_number_of_steps(
    metric: Metric, element: Any, letters: list[Any], most: int
) -> None:
    space = vm.Space(vm.vectors(element), metric)
    members = [space.domain.admit(rows) for rows in sequences(letters, most)]
    steps = single_steps(metric, rows_of(letters), most)
    for left in members:
        reached = search(of_rows(metric, rows_of(left)), steps)
        for right in members:
            expected: Extended = reached.get(of_rows(metric, rows_of(right)), INFINITY)
            assert metric.distance(left, right) == expected
            assert own_distance(metric, prepared(metric, left), prepared(metric, right)) == expected


@for_each("metric", ROW_METRICS)
def test_rows_of_tables_are_compared_as_a_whole(metric: Metric) -> None:
    space = vm.Space(vm.tables({"name": str, "value": int}), metric)
    letters = list(itertools.product("ab", (0, 1)))
    members = [space.domain.admit(table_of(("name", "value"), rows)) for rows in sequences(letters, 2)]
    steps = single_steps(metric, [rows_of(table_of(("name", "value"), [row]))[0] for row in letters], 2)
    for left in members:
        reached = search(of_rows(metric, rows_of(left)), steps)
        for right in members:
            assert metric.distance(left, right) == reached.get(of_rows(metric, rows_of(right)), INFINITY)


@pytest.mark.parametrize("metric", USER_METRICS, ids=name_of)
def test_a_distance_of_users_is_the_least_number_of_steps(metric: UserMetric) -> None:
    letters = list(itertools.product("uv", (0, 1)))
    steps = user_steps(metric, letters, 3)
    tables = sequences(letters, 3)
    classes = sorted({without_order(rows) for rows in tables}, key=repr)
    reached = {rows: search(rows, steps) for rows in classes}
    some_order = {rows: VISITS.admit(table_of(("user", "value"), reversed(rows))) for rows in classes}  # type: ignore[arg-type]
    for rows in tables:
        member = VISITS.admit(table_of(("user", "value"), rows))
        for other in classes:
            expected: Extended = reached[without_order(rows)].get(other, INFINITY)
            assert metric.distance(member, some_order[other]) == expected
            assert own_distance(metric, prepared(metric, member), prepared(metric, some_order[other])) == expected


def test_a_user_who_is_an_integer_or_a_category_counts_as_one() -> None:
    for kind, users in ((vm.scalars(int), [7, 7, 8]), (vm.categories(["x", "y"]), ["x", "x", "y"])):
        space = vm.Space(vm.tables({"user": kind, "value": int}), vm.SymmetricIdDistance("user"))
        full = {"user": users, "value": [1, 2, 3]}
        less = {"user": users[2:], "value": [3]}
        assert space.distance(full, less) == 1
        assert space.distance(full, {"user": users, "value": [1, 3, 3]}) == 2


def test_removing_one_row_of_a_user_with_others_is_a_change_of_that_user() -> None:
    full, less = {"user": ["u", "u"], "value": [1, 1]}, {"user": ["u"], "value": [1]}
    assert vm.Space(VISITS, vm.SymmetricIdDistance("user")).distance(full, less) == 2
    assert vm.Space(VISITS, vm.ChangeOneIdDistance("user")).distance(full, less) == 1
    assert vm.Space(VISITS, vm.ChangeOneIdDistance("user")).distance(full, {"user": [], "value": []}) == INFINITY


def small_members(metric: Metric) -> list[Any]:
    """A few members of a space with this metric, equal ones and extreme ones among them."""
    if isinstance(metric, UserMetric):
        letters = list(itertools.product("uv", (0, 1)))
        return [VISITS.admit(table_of(("user", "value"), rows)) for rows in sequences(letters, 2)]
    if isinstance(metric, vm.AbsoluteDistance):
        return [0.0, -0.0, 0.1, -1.0, 5e-324, 1.7976931348623157e308, -1.7976931348623157e308, math.inf, -math.inf]
    if isinstance(metric, NormDistance):
        vectors = vm.vectors(float)
        return [vectors.admit(rows) for rows in sequences([-0.0, 0.1, -1e300, math.inf], 2)]
    vectors = vm.vectors(float, nan=True)
    return [vectors.admit(rows) for rows in sequences([0.0, -0.0, QUIET_NAN], 2)]


@for_each("metric", ALL_METRICS)
def test_every_metric_is_one(metric: Metric) -> None:
    members = small_members(metric)
    apart = {(i, j): metric.distance(a, b) for (i, a), (j, b) in itertools.product(enumerate(members), repeat=2)}
    places = range(len(members))
    # The Euclidean distance is rounded up, to 128 bits.
    slack = 1 + Fraction(1, 2**120) if isinstance(metric, vm.L2Distance) else Fraction(1)
    for i, j in itertools.product(places, repeat=2):
        assert apart[i, i] == 0
        assert apart[i, j] == apart[j, i]
        assert apart[i, j] >= 0
        assert metric.read_distance(apart[i, j]) == apart[i, j]
        for k in places:
            if INFINITY not in (apart[i, j], apart[j, k]):
                assert apart[i, k] <= slack * (apart[i, j] + apart[j, k])


@pytest.mark.parametrize("metric", ROW_METRICS, ids=name_of)
@given(left=st.lists(st.sampled_from("abc"), max_size=12), right=st.lists(st.sampled_from("abc"), max_size=12))
@drawn
def test_a_distance_of_rows_agrees_with_its_definition(metric: Metric, left: list[str], right: list[str]) -> None:
    space = vm.Space(vm.vectors(str), metric)
    mine, theirs = (prepared(metric, space.domain.admit(rows)) for rows in (left, right))
    assert space.distance(left, right) == own_distance(metric, mine, theirs)


any_number = st.integers(LEAST, GREATEST)
any_float = st.floats(allow_nan=False)


@given(left=st.one_of(any_number, any_float), right=st.one_of(any_number, any_float))
@drawn
def test_the_absolute_difference_is_exact(left: float, right: float) -> None:
    metric = vm.AbsoluteDistance()
    expected = own_distance(metric, prepared(metric, left), prepared(metric, right))
    assert metric.distance(left, right) == expected
    assert type(metric.distance(left, right)) in (Fraction, float)


def test_the_absolute_difference_of_floats_is_not_rounded() -> None:
    space = vm.Space(vm.scalars(float), vm.AbsoluteDistance())
    assert space.distance(1.0, 1e-30) == 1 - Fraction(1e-30) != Fraction(1.0 - 1e-30)
    assert space.distance(1.7976931348623157e308, -1.7976931348623157e308) == 2 * Fraction(1.7976931348623157e308)
    assert space.distance(5e-324, -5e-324) == Fraction(2, 2**1074)
    assert space.distance(math.inf, math.inf) == 0
    assert space.distance(math.inf, -math.inf) == space.distance(math.inf, 0.0) == INFINITY


def test_the_absolute_difference_of_integers_does_not_wrap_around() -> None:
    assert vm.Space(vm.scalars(int), vm.AbsoluteDistance()).distance(LEAST, GREATEST) == 2**64 - 1
    space = vm.Space(vm.vectors(int), vm.L1Distance())
    assert space.distance([LEAST, GREATEST], [GREATEST, LEAST]) == 2 * (2**64 - 1)


@pytest.mark.parametrize("metric", NORMS, ids=name_of)
@given(pairs=st.lists(st.tuples(any_float, any_float), max_size=4))
@drawn
def test_a_norm_is_never_below_the_truth(metric: NormDistance, pairs: list[tuple[float, float]]) -> None:
    space = vm.Space(vm.vectors(float), metric)
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    exact = own_distance(metric, *(prepared(metric, space.domain.admit(x)) for x in (left, right)))
    found = space.distance(left, right)
    if isinstance(metric, vm.L2Distance) and exact != INFINITY:
        assert exact <= found**2 <= exact * (1 + Fraction(1, 2**50))
    else:
        assert found == exact


@for_each("ones", range(17))
def test_the_euclidean_distance_is_exact_for_squares_and_rounded_up_for_others(ones: int) -> None:
    metric = vm.L2Distance()
    left, right = np.ones(ones, dtype=np.int64), np.zeros(ones, dtype=np.int64)
    found = metric.distance(left, right)
    assert found**2 >= ones
    assert (found**2 == ones) == (math.isqrt(ones) ** 2 == ones)
    assert own_distance(metric, prepared(metric, left), prepared(metric, right)) <= scale(metric, found)


def test_vectors_of_different_size_are_infinitely_far_apart_in_every_norm() -> None:
    for metric in NORMS:
        space = vm.Space(vm.vectors(int), metric)
        assert space.distance([1], [1, 0]) == INFINITY
        assert space.distance([], []) == 0
        assert vm.Space(vm.vectors(float), metric).distance([math.inf, 1.0], [0.0, 1.0]) == INFINITY
        assert vm.Space(vm.vectors(float), metric).distance([math.inf, 1.0], [math.inf, 3.0]) == 2


@for_each(
    ("domain", "one", "other"),
    [
        (vm.scalars(int), 1, 2),
        (vm.scalars(str), "a", "b"),
        (vm.vectors(int), [1, 2], [2, 1]),
        (vm.vectors(float, nan=True), [QUIET_NAN], [OTHER_NAN]),
        (vm.vectors(float), [0.0], [-0.0]),
        (VISITS, {"user": ["u"], "value": [1]}, {"user": ["u"], "value": [2]}),
        (vm.finite(["yes", "no"]), "yes", "no"),
        (vm.graphs(), ([1, 2], [(1, 2)]), ([1, 2], [])),
        (vm.streams(int), [(0, "u", 1)], [(1, "u", 1)]),
    ],
)
def test_the_discrete_distance_is_1_between_different_members_of_any_domain(
    domain: Domain, one: Any, other: Any
) -> None:
    space = vm.Space(domain, vm.DiscreteDistance())
    assert space.distance(one, other) == space.distance(other, one) == 1
    assert space.distance(one, one) == space.distance(other, other) == 0


def test_the_discrete_distance_of_nan_to_itself_is_0() -> None:
    space = vm.Space(vm.scalars(float, nan=True), vm.DiscreteDistance())
    assert space.distance(QUIET_NAN, QUIET_NAN) == 0


# Every admission makes another NaN object, and tuples compare with `==`.
def test_the_discrete_distance_of_a_stream_with_nan_to_itself_is_0() -> None:
    space = vm.Space(vm.streams(vm.scalars(float, nan=True)), vm.DiscreteDistance())
    assert space.distance([(0, "u", QUIET_NAN)], [(0, "u", QUIET_NAN)]) == 0


# 0.0 == -0.0, but str(), 1/x and copysign tell the two from each other.
def test_the_discrete_distance_tells_the_two_zeros_apart() -> None:
    space = vm.Space(vm.scalars(float), vm.DiscreteDistance())
    assert space.distance(0.0, -0.0) == 1


# Once: float.hex() is "nan" for all of them, while [NaN] and [another NaN] are 1 apart; struct.pack tells them apart.
def test_the_discrete_distance_tells_one_nan_from_another() -> None:
    space = vm.Space(vm.scalars(float, nan=True), vm.DiscreteDistance())
    assert space.distance(QUIET_NAN, OTHER_NAN) == 1


class OneForAll(vm.SymmetricDistance):
    """What may not be: a metric of one's own in the clothes of one of the library's."""

    def distance(self, left: Any, right: Any) -> Extended:
        """1 between any two datasets that differ."""
        return Fraction(int(rows_of(left) != rows_of(right)))


# Once: a class of one's own that extends a metric (they are exported) is taken as one of the library's, without trust.
# [] and [1, 2] are 1 apart in it, the counts are 2 apart, and the map of count says 1.
def test_a_metric_of_ones_own_asks_for_trust() -> None:
    domain = vm.vectors(int)
    try:
        space = vm.Space(domain, OneForAll())
    except ParameterError:
        return
    counted = space >> vm.count()
    assert space.assumptions or counted.map(space.distance([], [1, 2])) >= 2


DOMAINS: dict[str, Domain] = {
    "int": vm.scalars(int),
    "float": vm.scalars(float),
    "float with NaN": vm.scalars(float, nan=True),
    "str": vm.scalars(str),
    "category": vm.categories([1, 2]),
    "vector of int": vm.vectors(int),
    "vector of float": vm.vectors(float),
    "vector of float with NaN": vm.vectors(float, nan=True),
    "vector of str": vm.vectors(str),
    "vector of category": vm.vectors(vm.categories([1, 2])),
    "table": vm.tables({"value": int}),
    "table of users": VISITS,
    "table of float users": vm.tables({"user": float}),
    "finite": vm.finite([1]),
    "graph": vm.graphs(),
    "stream": vm.streams(int),
}
FITS: dict[Metric, frozenset[str]] = (
    dict.fromkeys(ROW_METRICS, frozenset(name for name in DOMAINS if name.startswith(("vector", "table"))))
    | dict.fromkeys(USER_METRICS, frozenset({"table of users"}))
    | dict.fromkeys(NORMS, frozenset({"vector of int", "vector of float"}))
    | {vm.AbsoluteDistance(): frozenset({"int", "float"}), vm.DiscreteDistance(): frozenset(DOMAINS)}
)


@for_each("name", DOMAINS)
@for_each("metric", ALL_METRICS)
def test_a_metric_measures_the_domains_that_it_says_and_refuses_all_others(metric: Metric, name: str) -> None:
    if name in FITS[metric]:
        assert vm.Space(DOMAINS[name], metric).assumptions == ()
    else:
        with pytest.raises(ParameterError, match="does not measure") as caught:
            vm.Space(DOMAINS[name], metric)
        assert repr(metric) in str(caught.value)
        assert repr(DOMAINS[name]) in str(caught.value)


def test_users_are_not_named_by_floats_nor_by_a_column_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match="has floats"):
        vm.Space(vm.tables({"user": float}), vm.SymmetricIdDistance("user"))
    with pytest.raises(ParameterError, match="no column 'patient'"):
        vm.Space(VISITS, vm.ChangeOneIdDistance("patient"))


def test_metrics_are_equal_by_kind_and_by_column() -> None:
    for one, two in itertools.product(range(len(ALL_METRICS)), repeat=2):
        assert (ALL_METRICS[one] == ALL_METRICS[two]) == (one == two)
    assert len(set(ALL_METRICS)) == len(ALL_METRICS)
    assert vm.SymmetricDistance() == vm.SymmetricDistance()
    assert hash(vm.SymmetricIdDistance("a")) == hash(vm.SymmetricIdDistance("a"))
    assert vm.SymmetricIdDistance("a") != vm.SymmetricIdDistance("b")
    assert repr(vm.L2Distance()) == "L2Distance()"
    assert repr(vm.SymmetricIdDistance("a")) == "SymmetricIdDistance(id='a')"


@for_each("metric", ALL_METRICS)
def test_distances_are_read_as_people_write_them(metric: Metric) -> None:
    assert metric.read_distance(3) == metric.read_distance("3") == metric.read_distance(np.int64(3)) == 3  # type: ignore[arg-type]
    assert metric.read_distance(0) == 0
    assert metric.read_distance("inf") == metric.read_distance(math.inf) == INFINITY
    for bad in (-1, "-1/2", "three", True, math.nan, -math.inf, None, [1]):
        with pytest.raises(NumberError, match="d_in"):
            metric.read_distance(bad)  # type: ignore[arg-type]
    with pytest.raises(NotExact, match=r"d_in=1\.0 is a float"):
        metric.read_distance(1.0)
    with pytest.raises(NumberError, match="d_out"):
        metric.read_distance(-1, name="d_out")


@for_each("metric", ALL_METRICS)
def test_only_metrics_that_do_not_count_have_fractions(metric: Metric) -> None:
    if metric in NUMBERS:
        assert metric.read_distance("1/2") == Fraction(1, 2)
    else:
        with pytest.raises(NumberError, match="not whole"):
            metric.read_distance("1/2")


def test_a_dataset_that_is_not_in_canonical_form_is_refused() -> None:
    with pytest.raises(ParameterError, match="canonical form"):
        vm.SymmetricDistance().distance([1], [2])


def test_a_space_takes_a_domain_and_a_metric() -> None:
    with pytest.raises(ParameterError, match="not a Domain"):
        loose.Space(int, vm.SymmetricDistance())
    with pytest.raises(ParameterError, match="not a Metric"):
        loose.Space(vm.vectors(int), vm.SymmetricDistance)
