"""Renyi curves and privacy profiles: monotone curves known at a few points. The oracle looks at the points given."""

import copy
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import for_each

import viameter as vm
from viameter.errors import FormatError, IncomparableLosses, NumberError, ParameterError

INFINITY = float("inf")
orders = st.one_of(st.fractions(min_value=Fraction(11, 10), max_value=100, max_denominator=20), st.just(INFINITY))
amounts = st.one_of(st.fractions(min_value=0, max_value=10, max_denominator=50), st.just(INFINITY))
curves = st.dictionaries(orders, amounts, min_size=1, max_size=5)
epsilons = st.builds(Fraction, st.integers(0, 100), st.integers(10, 20))
profiles = st.dictionaries(epsilons, st.integers(0, 50).map(lambda n: Fraction(n, 50)), min_size=1, max_size=5)


@settings(max_examples=30)
@given(curves, orders)
def test_a_renyi_bound_is_the_least_listed_at_this_order_or_a_higher_one(bounds: dict[Any, Any], order: Any) -> None:
    expected = min((bound for known, bound in bounds.items() if known >= order), default=INFINITY)
    assert vm.renyi(bounds).at(order) == expected


@settings(max_examples=30)
@given(curves)
def test_a_renyi_curve_keeps_no_point_that_a_higher_order_implies(bounds: dict[Any, Any]) -> None:
    curve = vm.renyi(bounds)
    for order, bound in curve.points:
        assert bounds[order] == bound < INFINITY
        assert all(other > bound for known, other in bounds.items() if known > order)
    assert list(curve.orders) == sorted(set(curve.orders))


@settings(max_examples=30)
@given(curves, curves, orders)
def test_renyi_losses_add_at_each_order(left: dict[Any, Any], right: dict[Any, Any], order: Any) -> None:
    a, b = vm.renyi(left), vm.renyi(right)
    assert (a + b).at(order) == a.at(order) + b.at(order)  # type: ignore[attr-defined]


def test_a_lower_bound_at_a_higher_order_is_all_that_is_kept() -> None:
    assert vm.renyi({2: "0.1", 4: "0.05"}) == vm.renyi({4: "0.05"})
    assert repr(vm.renyi({2: "0.1", 4: "0.05"})) == "renyi({4: 1/20})"
    assert repr(vm.renyi({4: "0.3", 2: "0.1"})) == "renyi({2: 1/10, 4: 3/10})"
    assert vm.renyi({2: "0.1", 4: "0.1"}) == vm.renyi({4: "0.1"})


def test_one_order_given_twice_counts_once() -> None:
    # Once: both points are kept: unequal to what bounds the same, shown twice, and stored with one of them lost.
    twice: Any = {2: "0.1", "2": "0.3"}
    curve = vm.renyi(twice)
    assert curve == vm.renyi({2: "0.1"})
    assert vm.loss_from_json(curve.to_json()) == curve


def test_renyi_sums_with_a_wide_bound_are_never_below_the_exact_sum() -> None:
    left, right = Fraction(1, 3**400), Fraction(1, 5**300)
    total = vm.renyi({2: left, 8: 1}) + vm.renyi({3: right})
    assert total.at(2) >= left + right  # type: ignore[attr-defined]
    assert total.at(3) >= 1 + right  # type: ignore[attr-defined]
    assert total.at(4) == INFINITY  # type: ignore[attr-defined]


@for_each("order", [1, "1", 0, "1/2", "0.999999", -2])
def test_renyi_orders_are_above_one(order: Any) -> None:
    with pytest.raises(NumberError, match="order") as refused:
        vm.renyi({order: 1})
    assert str(order) in str(refused.value)
    with pytest.raises(NumberError, match="order"):
        vm.renyi({2: 1}).at(order)


def test_a_renyi_order_that_is_too_long_to_be_written_is_refused_as_every_other() -> None:
    # Once: ValueError (Exceeds the limit (4300 digits)) from the text of the error.
    with pytest.raises(NumberError, match="order"):
        vm.renyi({Fraction(1, 10**5000): 1})


@for_each("bounds", [{}, [], None, 1, [(2, 1)], "2"])
def test_a_renyi_loss_is_made_from_bounds_by_order(bounds: Any) -> None:
    with pytest.raises(ParameterError, match="bounds by order"):
        vm.renyi(bounds)


def test_the_infinite_order_is_that_of_pure_privacy() -> None:
    curve = vm.renyi({"inf": "0.1"})
    assert curve.at("inf") == curve.at(10**9) == curve.at("1.001") == Fraction(1, 10)


def test_a_renyi_loss_without_a_finite_bound_promises_nothing() -> None:
    assert vm.renyi({2: "inf"}) == vm.RenyiDP.infinite
    assert not vm.renyi({2: "inf"}).is_finite
    assert vm.renyi({2: 1}) <= vm.RenyiDP.infinite
    assert not vm.RenyiDP.infinite <= vm.renyi({2: 10**9})


def test_the_text_of_renyi_losses_and_measures() -> None:
    assert repr(vm.RenyiDP) == "RenyiDP" and repr(vm.Profile) == "Profile"
    assert repr(vm.RenyiDP.zero) == "renyi({inf: 0})"
    assert repr(vm.RenyiDP.infinite) == "renyi({})"
    assert repr(vm.Profile.zero) == "profile({0: 0})"
    assert repr(vm.profile({2: "1e-6", 1: "1e-3"})) == "profile({1: 1/1000, 2: 1/1000000})"


@settings(max_examples=30)
@given(profiles, epsilons)
def test_a_delta_is_the_least_listed_at_this_epsilon_or_a_lower_one(points: dict[Any, Any], epsilon: Fraction) -> None:
    expected = min((delta for known, delta in points.items() if known <= epsilon), default=Fraction(1))
    assert vm.profile(points).at(epsilon) == expected


@settings(max_examples=30)
@given(profiles)
def test_a_profile_keeps_no_point_that_a_lower_epsilon_implies(points: dict[Any, Any]) -> None:
    for epsilon, delta in vm.profile(points).points:
        assert points[epsilon] == delta < 1
        assert all(other > delta for known, other in points.items() if known < epsilon)


def test_one_epsilon_given_twice_counts_once() -> None:
    twice: Any = {1: "0.3", "1": "0.1"}
    assert vm.profile(twice) == vm.profile({1: "0.1"})


def test_profiles_do_not_add() -> None:
    known = vm.profile({1: "1e-6"})
    for add in (lambda: known + known, lambda: sum([known, known]), lambda: vm.Profile.total([known, known])):
        with pytest.raises(IncomparableLosses, match="do not add"):
            add()


def test_a_profile_given_by_a_function_is_asked_exactly_and_checked() -> None:
    asked = []

    def half_by_one(epsilon: Fraction) -> Fraction:
        asked.append(epsilon)
        return max(Fraction(0), (1 - epsilon) / 2)

    known = vm.profile(half_by_one)
    assert known.at("1/3") == Fraction(1, 3)
    assert asked == [Fraction(1, 3)]
    assert known.is_finite
    assert repr(known) == "profile(half_by_one)"
    with pytest.raises(NumberError, match="epsilon"):
        known.at(-1)
    for wrong in (2, -1, 0.5, float("nan"), None, True):
        with pytest.raises(NumberError, match="delta"):
            vm.profile(lambda _, wrong=wrong: wrong).at(1)  # type: ignore[misc]


def test_a_profile_given_by_a_function_is_equal_to_itself_only_and_is_not_stored() -> None:
    known, other = vm.profile(lambda _: 0), vm.profile(lambda _: 0)
    same = copy.copy(known)
    assert known == same and known <= same and known != other
    listed = vm.profile({0: 0})
    for left, right in ((known, other), (known, listed), (listed, known)):
        with pytest.raises(IncomparableLosses, match="function"):
            left <= right  # noqa: B015
    with pytest.raises(FormatError, match="function"):
        known.to_json()


@for_each("deltas", [{}, [], None, 1, "1"])
def test_a_profile_is_made_from_deltas_by_epsilon(deltas: Any) -> None:
    with pytest.raises(ParameterError, match="deltas by epsilon"):
        vm.profile(deltas)


@for_each("epsilon", ["inf", INFINITY, -1, 0.5])
def test_an_epsilon_of_a_profile_is_finite_and_exact(epsilon: Any) -> None:
    with pytest.raises(NumberError, match="epsilon"):
        vm.profile({epsilon: 0})
    with pytest.raises(NumberError, match="epsilon"):
        vm.profile({1: 0}).at(epsilon)
