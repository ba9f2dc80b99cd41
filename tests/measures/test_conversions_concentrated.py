"""From zCDP and approximate zCDP: the formulas by golden section with mpmath, and Gaussians and leaks as the truth."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.measures.conversion_oracles import (
    EPSILONS,
    INFINITY,
    ORDERS,
    above,
    at_most,
    close_above,
    gaussian_delta,
    hockey_stick,
    max_divergence,
    number,
    pairs,
    renyi,
    zcdp_delta,
    zcdp_epsilon,
)

import viameter as vm
from viameter.errors import NoTheorem

RHOS = [Fraction(text) for text in ("1e-12", "1e-6", "1e-2", "1/32", "1/5", "1", "30", "1000", "1e6")]
DELTAS = [Fraction(text) for text in ("1e-300", "1e-50", "1e-9", "1e-6", "1e-3", "0.1", "0.5", "0.9", "0.999")]


def powers(low: int, high: int) -> st.SearchStrategy[Fraction]:
    """Numbers of all sizes."""
    return st.builds(
        lambda mantissa, exponent: Fraction(mantissa, 1000) * Fraction(10) ** exponent,
        st.integers(1000, 9999),
        st.integers(low, high - 1),
    )


@pytest.mark.parametrize(
    ("rho", "delta", "reference"),
    [
        ("1/32", "1e-3", "0.688002455487808"),
        ("1/5", "1e-6", "3.1310556807643472"),
        ("1/2", "1e-7", "5.67085883546877"),
    ],
)
def test_zcdp_to_approx_ensures_the_reference_values(rho: str, delta: str, reference: str) -> None:
    made = vm.zcdp(rho).to(vm.ApproxDP, delta=delta)
    assert made.delta == Fraction(delta)
    assert close_above(zcdp_epsilon(rho, delta), made.epsilon)
    # The references have 15 digits or so.
    assert (
        Fraction(reference) * (1 - Fraction(1, 10**14))
        <= made.epsilon
        <= Fraction(reference) * (1 + Fraction(1, 10**12))
    )
    assert (
        Fraction("3.131055680764347")
        <= vm.zcdp("1/5").to(vm.ApproxDP, delta="1e-6").epsilon
        <= Fraction("3.13105568076436")
    )


@pytest.mark.parametrize("rho", RHOS, ids=str)
def test_zcdp_to_approx_ensures_its_formula_over_the_whole_range(rho: Fraction) -> None:
    for delta in DELTAS:
        truth, ours = zcdp_epsilon(rho, delta), vm.zcdp(rho).to(vm.ApproxDP, delta=delta).epsilon
        assert close_above(truth, ours) or (truth == ours == 0)


@settings(max_examples=60)
@given(rho=powers(-12, 6), delta=powers(-300, 0))
def test_zcdp_to_approx_ensures_its_formula_everywhere(rho: Fraction, delta: Fraction) -> None:
    truth, ours = zcdp_epsilon(rho, delta), vm.zcdp(rho).to(vm.ApproxDP, delta=delta).epsilon
    assert close_above(truth, ours) or (truth == ours == 0)


@settings(max_examples=60)
@given(mu=powers(-4, 2), delta=powers(-60, 0))
def test_zcdp_to_approx_ensures_the_truth_of_gaussians(mu: Fraction, delta: Fraction) -> None:
    epsilon = vm.zcdp(mu**2 / 2).to(vm.ApproxDP, delta=delta).epsilon
    with mp.workdps(200):
        assert gaussian_delta(number(mu), epsilon) <= number(delta)


def test_zcdp_to_approx_ensures_the_hockey_stick_of_random_pairs() -> None:
    orders = [1 + mp.mpf(10) ** (mp.mpf(exponent) / 8) for exponent in range(-24, 33)]
    for pair in pairs(40, seed=21):
        # The divergence D(a) rises with a, so that D(a)/a between two orders is at most D(the next)/(the last).
        at = [renyi(pair, order) for order in orders] + [max_divergence(pair)]
        rho = above(max(mine / lower for mine, lower in zip(at, [mp.mpf(1), *orders], strict=True)))
        for delta in ("1e-6", "1e-3", "0.1"):
            assert at_most(hockey_stick(pair, vm.zcdp(rho).to(vm.ApproxDP, delta=delta).epsilon), delta)


def test_zcdp_to_approx_ensures_something_where_numbers_are_extreme() -> None:
    for rho in ("1e-3000", "1e-320", "1e320", "1e3000"):
        for delta in ("1e-3000", "1e-320", Fraction(10**40 - 1, 10**40), "1/2"):
            made = vm.zcdp(rho).to(vm.ApproxDP, delta=delta)
            assert made.delta == Fraction(delta)
            # At least what each order gives is never below the mean of the loss, less what delta may hide.
            assert made.epsilon >= 0 and made.epsilon < INFINITY
            if Fraction(rho) > 1:
                assert made.epsilon >= Fraction(rho)


def test_zcdp_to_approx_requires_a_delta_above_0_for_a_finite_epsilon() -> None:
    assert vm.zcdp(1).to(vm.ApproxDP, delta=0) == vm.approx(INFINITY, 0)
    assert vm.zcdp(1).to(vm.ApproxDP, delta=1) == vm.approx(0, 1)
    assert vm.zcdp("1e-9").to(vm.ApproxDP, delta="0.9") == vm.approx(0, "0.9")
    assert vm.zcdp(INFINITY).to(vm.ApproxDP, delta="1e-6") == vm.ApproxDP.infinite
    assert vm.zcdp(0).to(vm.ApproxDP, delta="1e-6") == vm.ApproxDP.zero


@pytest.mark.parametrize("rho", RHOS, ids=str)
def test_zcdp_to_approx_at_epsilon_ensures_its_formula_over_the_whole_range(rho: Fraction) -> None:
    spread = Fraction(above(mp.sqrt(number(rho))))
    for epsilon in (Fraction(0), rho / 2, rho, rho + spread / 10, rho + spread, rho + 6 * spread, rho + 30 * spread):
        truth, made = zcdp_delta(rho, epsilon), vm.zcdp(rho).to(vm.ApproxDP, epsilon=epsilon)
        assert made.epsilon == epsilon
        assert close_above(truth, made.delta)


@settings(max_examples=60)
@given(rho=powers(-8, 3), times=powers(-3, 1))
def test_zcdp_to_approx_at_epsilon_ensures_its_formula_and_the_truth_of_gaussians(
    rho: Fraction, times: Fraction
) -> None:
    epsilon = rho + times * Fraction(above(mp.sqrt(number(rho))))
    delta = vm.zcdp(rho).to(vm.ApproxDP, epsilon=epsilon).delta
    assert close_above(zcdp_delta(rho, epsilon), delta)
    with mp.workdps(120):
        assert gaussian_delta(mp.sqrt(2 * number(rho)), epsilon) <= number(delta)


def test_zcdp_to_approx_at_epsilon_ensures_an_inverse() -> None:
    for rho in RHOS[1:-1]:
        for delta in DELTAS[1:6]:
            epsilon = vm.zcdp(rho).to(vm.ApproxDP, delta=delta).epsilon
            again = vm.zcdp(rho).to(vm.ApproxDP, epsilon=epsilon).delta
            assert again <= delta * (1 + Fraction(1, 10**12)) or epsilon == 0
            if epsilon > 0:
                assert again >= delta * (1 - Fraction(1, 10**9))


def test_zcdp_to_approx_at_epsilon_requires_a_loss_that_is_not_hopeless() -> None:
    # Far below the mean of the loss nothing is promised.
    assert vm.zcdp(1000).to(vm.ApproxDP, epsilon=1).delta == 1
    assert vm.zcdp(INFINITY).to(vm.ApproxDP, epsilon=1) == vm.ApproxDP.infinite
    assert vm.zcdp(0).to(vm.ApproxDP, epsilon=1) == vm.ApproxDP.zero
    # Deltas that nobody needs are rounded up to one that fits.
    assert 0 < vm.zcdp("1e-12").to(vm.ApproxDP, epsilon=1000).delta <= Fraction(1, 2**16384)


def test_zcdp_is_approx_zcdp_ensures_delta_0() -> None:
    assert vm.zcdp("1/3").to(vm.ApproxZCDP) == vm.approx_zcdp("1/3", 0)
    assert vm.zcdp(0).to(vm.ApproxZCDP) == vm.ApproxZCDP.zero


def test_zcdp_is_approx_zcdp_requires_a_finite_loss_for_a_finite_one() -> None:
    assert vm.zcdp(INFINITY).to(vm.ApproxZCDP) == vm.ApproxZCDP.infinite


def test_zcdp_to_renyi_ensures_rho_times_the_order() -> None:
    for order in ORDERS:
        assert vm.zcdp("1/3").to(vm.RenyiDP, order=order) == vm.renyi({order: order / 3})
    assert vm.zcdp("1/3").to(vm.RenyiDP, order=[2, "7/2"]) == vm.renyi({2: "2/3", "7/2": "7/6"})
    assert vm.zcdp(0).to(vm.RenyiDP, order=2) == vm.RenyiDP.zero


def test_zcdp_to_renyi_requires_finite_orders_for_a_finite_loss() -> None:
    assert vm.zcdp("1/3").to(vm.RenyiDP, order=INFINITY) == vm.RenyiDP.infinite
    assert vm.zcdp("1/3").to(vm.RenyiDP, order=[2, INFINITY]) == vm.renyi({2: "2/3"})
    assert vm.zcdp(INFINITY).to(vm.RenyiDP, order=2) == vm.RenyiDP.infinite


def test_approx_zcdp_is_zcdp_ensures_the_same_rho() -> None:
    assert vm.approx_zcdp("1/3", 0).to(vm.ZCDP) == vm.zcdp("1/3")
    assert vm.approx_zcdp("1/3", 1).to(vm.ZCDP) == vm.ZCDP.infinite
    assert vm.approx_zcdp("1/3", 0).to(vm.RenyiDP, order=2) == vm.renyi({2: "2/3"})


def test_approx_zcdp_is_zcdp_requires_a_delta_of_0() -> None:
    for arguments in ({}, {"order": 2}):
        with pytest.raises(NoTheorem, match="delta > 0"):
            vm.approx_zcdp("1/3", "1e-9").to(vm.RenyiDP if arguments else vm.ZCDP, **arguments)  # type: ignore[arg-type]


def test_approx_zcdp_to_approx_ensures_its_formula() -> None:
    for rho in RHOS:
        for known, delta in (("1e-9", "1e-6"), ("0.1", "0.2"), ("0", "1e-6"), ("1e-6", "1.001e-6")):
            made = vm.approx_zcdp(rho, known).to(vm.ApproxDP, delta=delta)
            inside = (Fraction(delta) - Fraction(known)) / (1 - Fraction(known))
            truth = zcdp_epsilon(rho, inside)
            assert made.delta == Fraction(delta)
            assert close_above(truth, made.epsilon) or (truth == made.epsilon == 0)
    assert vm.approx_zcdp(1, 0).to(vm.ApproxDP, delta="1e-6") == vm.zcdp(1).to(vm.ApproxDP, delta="1e-6")


def test_approx_zcdp_to_approx_ensures_the_truth_of_gaussians_that_leak() -> None:
    # With probability d all is said, else N(0, 1) or N(mu, 1).
    for mu, known in (
        (Fraction(1), Fraction(1, 10**3)),
        (Fraction(1, 5), Fraction(1, 100)),
        (Fraction(3), Fraction(1, 5)),
    ):
        loss = vm.approx_zcdp(mu**2 / 2, known)
        for epsilon in EPSILONS:
            truth = number(known) + (1 - number(known)) * gaussian_delta(number(mu), epsilon)
            assert at_most(truth, loss.to(vm.ApproxDP, epsilon=epsilon).delta)
        for delta in (known * 2, known + Fraction(1, 10**6)):
            epsilon = loss.to(vm.ApproxDP, delta=delta).epsilon
            truth = number(known) + (1 - number(known)) * gaussian_delta(number(mu), epsilon)
            assert at_most(truth, delta)


def test_approx_zcdp_to_approx_requires_a_delta_above_its_own() -> None:
    for delta in ("1e-6", "1e-7", 0):
        with pytest.raises(NoTheorem, match="not above"):
            vm.approx_zcdp(1, "1e-6").to(vm.ApproxDP, delta=delta)
    assert vm.approx_zcdp(0, "1e-6").to(vm.ApproxDP, delta="1e-6") == vm.approx(0, "1e-6")
    with pytest.raises(NoTheorem, match="not above"):
        vm.approx_zcdp(0, "1e-6").to(vm.ApproxDP, delta="1e-7")
    assert vm.approx_zcdp(1, 0).to(vm.ApproxDP, delta=0) == vm.approx(INFINITY, 0)
    assert vm.approx_zcdp(1, 1).to(vm.ApproxDP, delta="1e-6") == vm.ApproxDP.infinite
    assert vm.approx_zcdp(0, 0).to(vm.ApproxDP, delta="1e-6") == vm.ApproxDP.zero


def test_approx_zcdp_to_approx_at_epsilon_ensures_its_formula() -> None:
    for rho in RHOS[2:-2]:
        for known in ("0", "1e-9", "0.1"):
            for epsilon in EPSILONS:
                made = vm.approx_zcdp(rho, known).to(vm.ApproxDP, epsilon=epsilon)
                truth = number(known) + (1 - number(known)) * zcdp_delta(rho, epsilon)
                assert close_above(truth, made.delta)
                assert made.epsilon == epsilon


def test_approx_zcdp_to_approx_at_epsilon_requires_a_finite_loss_for_a_finite_one() -> None:
    assert vm.approx_zcdp(INFINITY, 0).to(vm.ApproxDP, epsilon=1) == vm.ApproxDP.infinite
    assert vm.approx_zcdp(0, 0).to(vm.ApproxDP, epsilon=1) == vm.ApproxDP.zero
    assert vm.approx_zcdp(0, "1e-6").to(vm.ApproxDP, epsilon=1) == vm.approx(1, "1e-6")
