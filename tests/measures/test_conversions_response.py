"""From pure, approximate and bounded-range losses: random finite distributions, and the worst ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each
from tests.measures.conversion_oracles import (
    EPSILONS,
    INFINITY,
    ORDERS,
    above,
    at_most,
    close_above,
    hockey_stick,
    loss_range,
    max_divergence,
    number,
    pairs,
    renyi,
    response,
    shifted,
)

import viameter as vm
from viameter.errors import NoTheorem

AMOUNTS = [Fraction(text) for text in ("1e-30", "1e-12", "1e-3", "1/10", "1/2", "1", "3", "10", "50", "2000", "1e7")]
amounts = st.fractions(min_value=Fraction(1, 10**6), max_value=40)
DELTAS = [Fraction(text) for text in ("0", "1e-300", "1e-9", "1e-3", "0.1", "0.4", "0.75", "0.999", "1")]


def test_bounded_range_is_pure_ensures_that_no_loss_is_above_the_range() -> None:
    for pair in pairs(150):
        eta = above(loss_range(pair))
        assert at_most(max_divergence(pair), vm.bounded_range(eta).to(vm.PureDP).epsilon)
    assert vm.bounded_range("1/3").to(vm.PureDP) == vm.pure("1/3")
    # It is approached, by two outcomes of which one is rare.
    assert max_divergence(shifted(1, Fraction(999, 1000))) > Fraction(998, 1000)


def test_bounded_range_is_pure_requires_a_range() -> None:
    assert vm.bounded_range(INFINITY).to(vm.PureDP) == vm.PureDP.infinite
    assert vm.bounded_range(0).to(vm.PureDP) == vm.PureDP.zero


@pytest.mark.parametrize("by", ["bounded-range-to-zcdp", "bounded-range-to-zcdp-sharp"])
def test_bounded_range_to_zcdp_ensures_rho_at_every_order_for_random_pairs(by: str) -> None:
    for pair in pairs(120):
        rho = vm.bounded_range(above(loss_range(pair))).to(vm.ZCDP, by=by).rho
        for order in ORDERS:
            assert at_most(renyi(pair, order), rho * order)
    assert vm.bounded_range("1/2").to(vm.ZCDP, by="bounded-range-to-zcdp") == vm.zcdp("1/32")


def test_bounded_range_to_zcdp_ensures_an_eighth_of_the_square_exactly() -> None:
    assert vm.bounded_range("1/2").to(vm.ZCDP) == vm.zcdp("1/32")
    for eta in AMOUNTS:
        assert vm.bounded_range(eta).to(vm.ZCDP) == vm.zcdp(eta**2 / 8)
    assert vm.bounded_range(0).to(vm.ZCDP) == vm.ZCDP.zero
    assert vm.bounded_range(INFINITY).to(vm.ZCDP) == vm.ZCDP.infinite


def test_bounded_range_to_zcdp_requires_the_range_of_both_orders() -> None:
    # A pure loss of eps is a range of 2 eps and no less: eps^2/8 would be wrong for randomized response.
    assert renyi(response(1), Fraction(101, 100)) > number(Fraction(101, 800))
    assert at_most(renyi(response(1), 2), 2 * vm.bounded_range(2).to(vm.ZCDP).rho)


def sharp(eta: Any) -> Any:
    e = number(eta)
    with mp.workdps(200):
        x = e / mp.expm1(e)
        return x - 1 - mp.log(x)


@for_each("eta", AMOUNTS)
def test_bounded_range_to_zcdp_sharp_ensures_its_formula(eta: Fraction) -> None:
    rho = vm.bounded_range(eta).to(vm.ZCDP, by="bounded-range-to-zcdp-sharp").rho
    assert close_above(sharp(eta), rho)
    assert rho <= eta**2 / 8


@given(eta=amounts)
def test_bounded_range_to_zcdp_sharp_ensures_its_formula_everywhere(eta: Fraction) -> None:
    assert close_above(sharp(eta), vm.bounded_range(eta).to(vm.ZCDP, by="bounded-range-to-zcdp-sharp").rho)


@pytest.mark.parametrize("eta", [Fraction(1, 10), Fraction(1), Fraction(3), Fraction(12)], ids=str)
def test_bounded_range_to_zcdp_sharp_ensures_rho_for_all_two_outcomes_and_it_is_approached(eta: Fraction) -> None:
    # The worst pairs have two outcomes; every shift of them, at many orders.
    rho = vm.bounded_range(eta).to(vm.ZCDP, by="bounded-range-to-zcdp-sharp").rho
    best = mp.mpf(0)
    for step in range(1, 100):
        pair = shifted(eta, eta * step / 100)
        for order in ORDERS:
            divergence = renyi(pair, order)
            assert at_most(divergence, rho * order)
            best = max(best, divergence / number(order))
    assert best > number(rho) * mp.mpf("0.998")
    if eta == 1:
        assert float(rho) == pytest.approx(0.12330156, rel=1e-7)


def test_bounded_range_to_zcdp_sharp_requires_a_finite_range() -> None:
    by = "bounded-range-to-zcdp-sharp"
    assert vm.bounded_range(INFINITY).to(vm.ZCDP, by=by) == vm.ZCDP.infinite
    assert vm.bounded_range(0).to(vm.ZCDP, by=by) == vm.ZCDP.zero
    # A pure loss is not a range: the formula at eps would be too small for randomized response.
    assert renyi(response(1), Fraction(101, 100)) > Fraction(101, 100) * sharp(1)


def test_pure_to_bounded_range_ensures_twice_the_loss() -> None:
    for pair in pairs(100):
        assert at_most(loss_range(pair), vm.pure(above(max_divergence(pair))).to(vm.BoundedRange).eta)
    assert vm.pure("1/3").to(vm.BoundedRange) == vm.bounded_range("2/3")
    assert mp.almosteq(loss_range(response(1)), 2)


def test_pure_to_bounded_range_requires_both_orders() -> None:
    assert vm.pure(INFINITY).to(vm.BoundedRange) == vm.BoundedRange.infinite
    assert vm.pure(0).to(vm.BoundedRange) == vm.BoundedRange.zero


def test_pure_to_zcdp_ensures_rho_at_every_order_for_random_pairs() -> None:
    for pair in pairs(120, seed=8):
        loss = vm.pure(above(max_divergence(pair)))
        rho = loss.to(vm.ZCDP).rho
        assert rho <= loss.to(vm.ZCDP, by="pure-to-zcdp-quadratic").rho
        for order in ORDERS:
            assert at_most(renyi(pair, order), rho * order)


@for_each("epsilon", AMOUNTS)
def test_pure_to_zcdp_ensures_its_formula_which_randomized_response_approaches(epsilon: Fraction) -> None:
    rho = vm.pure(epsilon).to(vm.ZCDP).rho
    assert close_above(number(epsilon) * mp.tanh(number(epsilon) / 2), rho)
    if Fraction(1, 100) < epsilon < 60:
        assert renyi(response(epsilon), Fraction(10001, 10000)) > number(rho) * mp.mpf("0.999")


@given(epsilon=amounts)
def test_pure_to_zcdp_ensures_its_formula_everywhere(epsilon: Fraction) -> None:
    assert close_above(number(epsilon) * mp.tanh(number(epsilon) / 2), vm.pure(epsilon).to(vm.ZCDP).rho)


def test_pure_to_zcdp_requires_both_orders() -> None:
    assert vm.pure(INFINITY).to(vm.ZCDP) == vm.ZCDP.infinite
    assert vm.pure(0).to(vm.ZCDP) == vm.ZCDP.zero
    # The max divergence of one order alone, here ln(7/5), is not enough.
    pair = [mp.mpf("0.5"), mp.mpf("0.5")], [mp.mpf("0.3"), mp.mpf("0.7")]
    one_way = above(mp.log(mp.mpf(7) / 5))
    assert renyi(pair, Fraction(101, 100)) > Fraction(101, 100) * number(vm.pure(one_way).to(vm.ZCDP).rho)


def test_pure_to_zcdp_quadratic_ensures_half_of_the_square_exactly() -> None:
    for epsilon in AMOUNTS:
        assert vm.pure(epsilon).to(vm.ZCDP, by="pure-to-zcdp-quadratic") == vm.zcdp(epsilon**2 / 2)
        assert vm.pure(epsilon).to(vm.ZCDP) <= vm.zcdp(epsilon**2 / 2)


def test_pure_to_zcdp_quadratic_requires_to_be_named() -> None:
    assert vm.pure(1).to(vm.ZCDP) < vm.pure(1).to(vm.ZCDP, by="pure-to-zcdp-quadratic")
    assert vm.pure(INFINITY).to(vm.ZCDP, by="pure-to-zcdp-quadratic") == vm.ZCDP.infinite


def test_pure_to_approx_zcdp_ensures_the_rho_of_zcdp_and_delta_0() -> None:
    for epsilon in AMOUNTS:
        made = vm.pure(epsilon).to(vm.ApproxZCDP)
        assert (made.rho, made.delta) == (vm.pure(epsilon).to(vm.ZCDP).rho, 0)
        assert close_above(number(epsilon) * mp.tanh(number(epsilon) / 2), made.rho)


def test_pure_to_approx_zcdp_requires_a_finite_loss_for_a_finite_one() -> None:
    assert vm.pure(INFINITY).to(vm.ApproxZCDP) == vm.ApproxZCDP.infinite
    assert vm.pure(0).to(vm.ApproxZCDP) == vm.ApproxZCDP.zero


def test_pure_is_renyi_ensures_the_bound_at_infinite_order_and_below() -> None:
    assert vm.pure("1/3").to(vm.RenyiDP) == vm.renyi({"inf": "1/3"})
    for pair in pairs(30):
        loss = vm.pure(above(max_divergence(pair))).to(vm.RenyiDP)
        assert all(at_most(renyi(pair, order), loss.at(order)) for order in ORDERS)


def test_pure_is_renyi_requires_a_finite_loss_for_a_finite_one() -> None:
    assert vm.pure(INFINITY).to(vm.RenyiDP) == vm.RenyiDP.infinite
    assert vm.pure(0).to(vm.RenyiDP) == vm.RenyiDP.zero


def test_pure_to_renyi_ensures_the_divergence_of_every_random_pair() -> None:
    for pair in pairs(120, seed=9):
        loss = vm.pure(above(max_divergence(pair))).to(vm.RenyiDP, order=ORDERS)
        for order in ORDERS:
            assert at_most(renyi(pair, order), loss.at(order))


@for_each("epsilon", [a for a in AMOUNTS if a < 100])
def test_pure_to_renyi_ensures_the_curve_of_randomized_response(epsilon: Fraction) -> None:
    for order in [*ORDERS, Fraction(10**30 + 1, 10**30), Fraction(10**9)]:
        with mp.workdps(150):
            truth = renyi(response(epsilon), order)
        bound = vm.pure(epsilon).to(vm.RenyiDP, order=order).at(order)
        assert close_above(truth, bound)
        assert bound <= epsilon
    assert vm.pure(epsilon).to(vm.RenyiDP, order="inf") == vm.renyi({"inf": epsilon})


def test_pure_to_renyi_ensures_only_the_orders_that_were_asked_for() -> None:
    assert vm.pure(1).to(vm.RenyiDP, order=["2", 8]).orders == (2, 8)
    assert vm.pure(0).to(vm.RenyiDP, order=2).at(2) == 0


def test_pure_to_renyi_requires_a_loss() -> None:
    assert vm.pure(INFINITY).to(vm.RenyiDP, order=2) == vm.RenyiDP.infinite


def test_pure_to_profile_ensures_the_hockey_stick_of_every_random_pair() -> None:
    for pair in pairs(100, seed=10):
        curve = vm.pure(above(max_divergence(pair))).to(vm.Profile)
        for epsilon in EPSILONS:
            assert at_most(hockey_stick(pair, epsilon), curve.at(epsilon))
    curve = vm.pure(2).to(vm.Profile)
    for epsilon in EPSILONS:
        assert close_above(hockey_stick(response(2), epsilon), curve.at(epsilon)) or (epsilon >= 2)
    assert curve.at(2) == curve.at(3) == 0
    assert curve == vm.pure(2).to(vm.Profile) != vm.pure(1).to(vm.Profile)
    assert repr(curve) == "profile(response(2, 0))"


def test_pure_to_profile_requires_a_finite_loss_for_a_finite_one() -> None:
    assert vm.pure(INFINITY).to(vm.Profile) == vm.Profile.infinite
    assert vm.pure(0).to(vm.Profile) == vm.Profile.zero


def test_pure_is_approx_ensures_delta_0() -> None:
    assert vm.pure("1/3").to(vm.ApproxDP) == vm.approx("1/3", 0)
    for pair in pairs(30):
        assert at_most(hockey_stick(pair, above(max_divergence(pair))), 0)


def test_pure_is_approx_requires_a_finite_loss_for_a_finite_one() -> None:
    assert vm.pure(INFINITY).to(vm.ApproxDP) == vm.ApproxDP.infinite
    assert vm.pure(0).to(vm.ApproxDP) == vm.ApproxDP.zero


def response_epsilon(epsilon: Any, delta: Any) -> Any:
    """The least e with (exp(eps) - exp(e))/(1 + exp(eps)) <= delta."""
    with mp.workdps(400):
        inside = mp.exp(number(epsilon)) - number(delta) * (1 + mp.exp(number(epsilon)))
        return max(mp.mpf(0), mp.log(inside)) if inside > 0 else mp.mpf(0)


@for_each("epsilon", AMOUNTS)
def test_pure_to_approx_ensures_the_least_epsilon_of_randomized_response(epsilon: Fraction) -> None:
    for delta in DELTAS:
        made = vm.pure(epsilon).to(vm.ApproxDP, delta=delta)
        assert made.delta == delta
        if epsilon < 300:
            truth = response_epsilon(epsilon, delta)
            assert close_above(truth, made.epsilon) or (truth == made.epsilon == 0)
            with mp.workdps(120):
                assert hockey_stick(response(epsilon), made.epsilon) <= number(delta) + SMALL
        assert made.epsilon <= epsilon


SMALL = mp.mpf(10) ** -100


def test_pure_to_approx_ensures_the_hockey_stick_of_random_pairs() -> None:
    for pair in pairs(60, seed=11):
        loss = vm.pure(above(max_divergence(pair)))
        for delta in ("1e-6", "0.01", "0.2"):
            assert at_most(hockey_stick(pair, loss.to(vm.ApproxDP, delta=delta).epsilon), delta)


def test_pure_to_approx_requires_a_finite_loss_for_a_finite_one() -> None:
    assert vm.pure(INFINITY).to(vm.ApproxDP, delta="1e-6") == vm.ApproxDP.infinite
    assert vm.pure(0).to(vm.ApproxDP, delta="1e-6") == vm.ApproxDP.zero


def test_pure_to_approx_at_epsilon_ensures_the_hockey_stick() -> None:
    for pair in pairs(60, seed=12):
        loss = vm.pure(above(max_divergence(pair)))
        for epsilon in EPSILONS:
            made = loss.to(vm.ApproxDP, epsilon=epsilon)
            assert made.epsilon == epsilon
            assert at_most(hockey_stick(pair, epsilon), made.delta)
    for epsilon in EPSILONS:
        assert close_above(hockey_stick(response(6), epsilon), vm.pure(6).to(vm.ApproxDP, epsilon=epsilon).delta)
    assert vm.pure(1).to(vm.ApproxDP, epsilon=1) == vm.approx(1, 0)
    tiny = vm.pure("1e-30").to(vm.ApproxDP, epsilon=0).delta
    assert close_above(mp.tanh(number("1e-30") / 2), tiny)


def test_pure_to_approx_at_epsilon_requires_a_finite_loss_for_a_finite_one() -> None:
    assert vm.pure(INFINITY).to(vm.ApproxDP, epsilon=1) == vm.ApproxDP.infinite
    assert vm.pure(0).to(vm.ApproxDP, epsilon=1) == vm.ApproxDP.zero


def test_approx_is_pure_ensures_the_same_epsilon() -> None:
    assert vm.approx("1/3", 0).to(vm.PureDP) == vm.pure("1/3")
    assert vm.approx("1/3", 0).to(vm.ZCDP, by="pure-to-zcdp-quadratic") == vm.zcdp("1/18")
    assert vm.approx(INFINITY, 0).to(vm.PureDP) == vm.approx(1, 1).to(vm.PureDP) == vm.PureDP.infinite


def test_approx_is_pure_requires_a_delta_of_0() -> None:
    for target in (vm.PureDP, vm.ZCDP, vm.BoundedRange):
        with pytest.raises(NoTheorem, match="delta > 0"):
            vm.approx(1, "1e-30").to(target)


def leaky_pairs(count: int, *, seed: int) -> Any:
    """Random pairs, some with outcomes that only one of the two has."""
    for index, pair in enumerate(pairs(count, seed=seed)):
        if index % 2:
            yield pair
        else:
            leak = mp.mpf(10) ** -(index % 5 + 1)
            left, right = ([(1 - leak) * p for p in law] for law in pair)
            yield [*left, leak, mp.mpf(0)], [*right, mp.mpf(0), leak]


def test_approx_at_larger_delta_ensures_the_hockey_stick_of_random_pairs() -> None:
    for pair in leaky_pairs(80, seed=13):
        for epsilon in ("0.1", "0.7", "2"):
            loss = vm.approx(epsilon, min(Fraction(1), above(hockey_stick(pair, epsilon))))
            for more in ("1e-4", "0.05", "0.3"):
                delta = min(Fraction(1), loss.delta + Fraction(more))
                made = loss.to(vm.ApproxDP, delta=delta)
                assert made.delta == delta or not loss.is_finite
                if loss.is_finite:
                    assert at_most(hockey_stick(pair, made.epsilon), delta)
                    assert made.epsilon <= loss.epsilon


def test_approx_at_larger_delta_ensures_the_least_epsilon_of_a_leak_before_randomized_response() -> None:
    for epsilon, known, delta in (("1", "1e-6", "0.1"), ("3", "0.2", "0.3"), ("1/10", "0", "1e-3")):
        made = vm.approx(epsilon, known).to(vm.ApproxDP, delta=delta)
        pair = response(epsilon, known)
        assert hockey_stick(pair, made.epsilon) <= number(delta) + SMALL
        assert hockey_stick(pair, made.epsilon * (1 - Fraction(1, 10**12))) > number(delta)
    assert vm.approx(1, "1e-6").to(vm.ApproxDP, delta="1e-6") == vm.approx(1, "1e-6")
    assert vm.approx(0, "1e-6").to(vm.ApproxDP, delta="1e-3") == vm.approx(0, "1e-3")
    assert vm.approx(0, 0).to(vm.ApproxDP, delta="1e-3") == vm.ApproxDP.zero
    assert vm.approx(3, "1/2").to(vm.ApproxDP, delta=1) == vm.approx(0, 1)


def test_approx_at_larger_delta_requires_a_delta_that_is_not_smaller() -> None:
    with pytest.raises(NoTheorem, match="smaller delta"):
        vm.approx(1, "1e-6").to(vm.ApproxDP, delta="1e-7")
    assert vm.approx(INFINITY, "1e-6").to(vm.ApproxDP, delta="1e-7") == vm.ApproxDP.infinite


def test_approx_at_other_epsilon_ensures_the_hockey_stick_of_random_pairs() -> None:
    for pair in leaky_pairs(80, seed=14):
        for epsilon in ("0.1", "0.7", "2"):
            loss = vm.approx(epsilon, min(Fraction(1), above(hockey_stick(pair, epsilon))))
            for other in EPSILONS:
                assert at_most(hockey_stick(pair, other), loss.to(vm.ApproxDP, epsilon=other).delta)
    for other in EPSILONS:
        made = vm.approx(2, "0.1").to(vm.ApproxDP, epsilon=other)
        assert close_above(hockey_stick(response(2, "0.1"), other), made.delta)
    assert vm.approx(2, "0.1").to(vm.ApproxDP, epsilon=3) == vm.approx(3, "0.1")


def test_approx_at_other_epsilon_requires_a_finite_loss_for_a_finite_one() -> None:
    assert vm.approx(2, 1).to(vm.ApproxDP, epsilon=1) == vm.ApproxDP.infinite
    assert vm.approx(0, 0).to(vm.ApproxDP, epsilon=1) == vm.ApproxDP.zero


def test_approx_to_approx_zcdp_ensures_rho_where_nothing_leaks_and_it_is_approached() -> None:
    for epsilon, delta in (("1/2", "1e-6"), ("2", "0.1"), ("1", "0")):
        made = vm.approx(epsilon, delta).to(vm.ApproxZCDP)
        assert made.delta == Fraction(delta)
        assert close_above(number(epsilon) * mp.tanh(number(epsilon) / 2), made.rho)
        # The worst mechanism: a leak of probability delta, else randomized response.
        for order in ORDERS:
            assert at_most(renyi(response(epsilon), order), made.rho * order)
        assert renyi(response(epsilon), Fraction(10001, 10000)) > number(made.rho) * mp.mpf("0.999")


def test_approx_to_approx_zcdp_ensures_what_follows_for_random_pairs() -> None:
    for pair in leaky_pairs(60, seed=15):
        loss = vm.approx("0.7", min(Fraction(1), above(hockey_stick(pair, "0.7")))).to(vm.ApproxZCDP)
        for epsilon in EPSILONS:
            assert at_most(hockey_stick(pair, epsilon), loss.to(vm.ApproxDP, epsilon=epsilon).delta)


def test_approx_to_approx_zcdp_requires_a_finite_loss_for_a_finite_one() -> None:
    assert vm.approx(1, 1).to(vm.ApproxZCDP) == vm.ApproxZCDP.infinite
    assert vm.approx(0, 0).to(vm.ApproxZCDP) == vm.ApproxZCDP.zero
    # Without coins of their own, events of two outcomes cannot have a probability that no outcome has.
    assert vm.approx(1, "1e-6").to(vm.ApproxZCDP).delta == Fraction("1e-6")


def test_approx_to_approx_zcdp_quadratic_ensures_half_of_the_square_which_is_no_less_than_needed() -> None:
    for epsilon, delta in (("1/2", "1e-6"), ("2", "0.1"), ("1e-9", "0")):
        made = vm.approx(epsilon, delta).to(vm.ApproxZCDP, by="approx-to-approx-zcdp-quadratic")
        assert made == vm.approx_zcdp(Fraction(epsilon) ** 2 / 2, delta)
        assert vm.approx(epsilon, delta).to(vm.ApproxZCDP) <= made


def test_approx_to_approx_zcdp_quadratic_requires_to_be_named() -> None:
    by = "approx-to-approx-zcdp-quadratic"
    assert vm.approx(1, "1e-6").to(vm.ApproxZCDP) < vm.approx(1, "1e-6").to(vm.ApproxZCDP, by=by)
    assert not vm.approx(INFINITY, "1e-6").to(vm.ApproxZCDP, by=by).is_finite


def test_approx_to_profile_ensures_the_hockey_stick() -> None:
    curve = vm.approx(2, "0.1").to(vm.Profile)
    for epsilon in EPSILONS:
        assert close_above(hockey_stick(response(2, "0.1"), epsilon), curve.at(epsilon))
        assert vm.approx(2, "0.1").to(vm.ApproxDP, epsilon=epsilon).delta == curve.at(epsilon)
    assert curve.to(vm.ApproxDP, delta="0.1") == vm.approx(2, "0.1")


def test_approx_to_profile_requires_a_finite_loss_for_a_finite_one() -> None:
    assert vm.approx(1, 1).to(vm.Profile) == vm.Profile.infinite
    assert vm.approx(0, 0).to(vm.Profile) == vm.Profile.zero
    with pytest.raises(NoTheorem, match="does not come down"):
        vm.approx(2, "0.1").to(vm.Profile).to(vm.ApproxDP, delta="0.01")
