"""Bounded range to (epsilon, delta): the exact optimum for one mechanism, and never for those chosen by answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.viameter_check.zoo import SCORES

import viameter as vm
from viameter.composition.accounting import range_delta
from viameter.errors import NoTheorem
from viameter.measures.conversions.single_ranges import bounded_range_to_approx, bounded_range_to_approx_at_epsilon
from viameter_check import check

ETAS = ["1e-40", "1e-9", "1/100", "1/2", "1", "4", "30", "700", "1e6", "1e30"]
DELTAS = ["0", "1e-300", "1e-12", "1e-6", "1/5", "9/10", "1"]


def real(number: Any) -> Any:
    exact = Fraction(number)
    return mp.mpf(exact.numerator) / exact.denominator


def worst_delta(eta: Fraction, epsilon: Fraction, steps: int = 400) -> Any:
    """The largest delta of two outcomes with losses t and t - eta, over a grid of t: from below, and no formula."""
    best = mp.mpf(0)
    for place in range(1, steps):
        t = real(eta) * place / steps
        # P(first) e^-t + P(second) e^(eta - t) = 1.
        first = (mp.exp(real(eta) - t) - 1) / (mp.exp(real(eta) - t) - mp.exp(-t))
        losses = ((first, t), (1 - first, t - real(eta)))
        best = max(best, sum(p * max(0, 1 - mp.exp(real(epsilon) - loss)) for p, loss in losses))
    return best


@pytest.mark.parametrize("eta", ["1/100", "1/2", "1", "4", "30"])
def test_bounded_range_to_approx_ensures_the_optimum_over_two_outcomes(eta: str) -> None:
    with mp.workdps(60):
        for delta in ("1e-6", "1/100", "1/5"):
            found = bounded_range_to_approx(vm.bounded_range(eta), delta=Fraction(delta))
            epsilon = Fraction(found.epsilon)
            assert worst_delta(Fraction(eta), epsilon) <= real(delta) * (1 + mp.mpf(10) ** -30)
            if epsilon > 0:
                assert worst_delta(Fraction(eta), epsilon * Fraction(99, 100)) > real(delta) * mp.mpf("0.99")


@for_each("eta", ETAS)
def test_bounded_range_to_approx_at_epsilon_ensures_a_delta_that_is_not_below_the_optimum(eta: str) -> None:
    with mp.workdps(200):
        for share in ("0", "1/3", "9/10", "1", "2"):
            epsilon = Fraction(eta) * Fraction(share)
            found = bounded_range_to_approx_at_epsilon(vm.bounded_range(eta), epsilon=epsilon)
            assert found.epsilon == epsilon and 0 <= found.delta <= 1
            if Fraction(eta) > 10**4:
                continue
            x = real(eta)
            true = (1 - mp.exp((real(epsilon) - x) / 2)) ** 2 / (1 - mp.exp(-x)) if Fraction(share) < 1 else mp.mpf(0)
            assert true <= real(found.delta) <= true * (1 + mp.mpf(10) ** -30)
    assert range_delta("1/2", count=1, epsilon="1/4", adaptive=False) == pytest.approx(
        bounded_range_to_approx_at_epsilon(vm.bounded_range("1/2"), epsilon=Fraction(1, 4)).delta, rel=1e-12
    )


@for_each("eta", ETAS)
def test_bounded_range_to_approx_ensures_an_inverse_of_its_delta_at_all_extremes(eta: str) -> None:
    for delta in DELTAS:
        found = bounded_range_to_approx(vm.bounded_range(eta), delta=Fraction(delta))
        assert found.delta == Fraction(delta) and 0 <= found.epsilon <= Fraction(eta)
        back = bounded_range_to_approx_at_epsilon(vm.bounded_range(eta), epsilon=Fraction(found.epsilon))
        assert back.delta <= Fraction(delta) * (1 + Fraction(1, 10**30))
        assert found.epsilon <= vm.bounded_range(eta).to(vm.ZCDP).to(vm.ApproxDP, delta=delta).epsilon
    assert vm.bounded_range(4).to(vm.ApproxDP, delta="1/5").epsilon < Fraction("2.8293")


def test_bounded_range_to_approx_ensures_the_ends() -> None:
    for eta, expected in (("0", vm.approx(0, 0)), ("inf", vm.approx("inf", 1))):
        assert bounded_range_to_approx(vm.bounded_range(eta), delta=Fraction(1, 5)) == expected
        assert bounded_range_to_approx_at_epsilon(vm.bounded_range(eta), epsilon=Fraction(1)) == expected


def test_bounded_range_to_approx_requires_one_mechanism() -> None:
    # Two of range 1/2 chosen by answers have delta .115812 at epsilon .1; what two chosen in advance have is less.
    assert range_delta("1/2", count=2, epsilon="1/10", adaptive=False) < Fraction("0.1158")
    with pytest.raises(NoTheorem):
        range_delta("1/2", count=2, epsilon="1/10", adaptive=True)
    with pytest.raises(NoTheorem):
        vm.compose_losses([vm.bounded_range("1/2")] * 2, into=vm.BoundedRange, adaptivity=vm.Adaptivity.ADAPTIVE)


def test_bounded_range_to_approx_at_epsilon_requires_both_orders() -> None:
    assert "both orders" in bounded_range_to_approx.__viameter_theorem__.statement.requires  # type: ignore[attr-defined]


@for_each("given", [{"delta": "1e-6"}, {"delta": "9/10"}, {"epsilon": "1/3"}, {"delta": 0}, {"delta": 1}])
def test_a_certificate_of_the_conversion_is_derived_again_and_no_smaller_number_is(given: dict[str, Any]) -> None:
    for scale in (1, 100, "1/50", "1/1000000"):
        computation = vm.exponential(SCORES, scale=scale).to(vm.ApproxDP, **given)
        report = check(computation.certificate(2).text)
        assert report.ok, report
