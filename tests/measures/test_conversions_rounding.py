"""Every step of every conversion is rounded outward: computed with a few bits, bounds are loose, and still bounds.

At full precision the last rounding, upward to 128 bits, would hide a step that is rounded the wrong way.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.measures.conversion_oracles import (
    at_most,
    gaussian_delta,
    number,
    response,
    shifted,
    zcdp_delta,
    zcdp_epsilon,
)
from tests.measures.conversion_oracles import hockey_stick as stick
from tests.measures.conversion_oracles import renyi as divergence

import viameter as vm
from viameter.measures.conversions import concentrated, directed, gaussian, renyi, single_ranges
from viameter.measures.conversions import response as of_response


@pytest.fixture(params=[6, 10, 17])
def few_bits(request: pytest.FixtureRequest) -> Iterator[int]:
    """The contexts of the work, at a precision at which every rounding shows."""
    try:
        directed.UP.precision = directed.DOWN.precision = request.param
        yield request.param
    finally:
        directed.UP.precision = directed.DOWN.precision = directed.WORK


def draw(chance: random.Random, low: float, high: float) -> Fraction:
    """A number of some size, without a short binary form."""
    return Fraction(int(10 ** (chance.uniform(low, high) + 9)) + 1, 10**9 + 7)


def chances(count: int, seed: int) -> Iterator[random.Random]:
    chance = random.Random(seed)
    return (chance for _ in range(count))


def check(compute: Callable[..., Any], truth: Callable[..., Any], *numbers: Fraction) -> None:
    assert at_most(truth(*numbers), compute(*numbers)), numbers


def sharp(eta: Fraction) -> Any:
    x = number(eta) / mp.expm1(number(eta))
    return x - 1 - mp.log(x)


def response_epsilon(epsilon: Fraction, known: Fraction, delta: Fraction) -> Any:
    allowed = (number(delta) - number(known)) / (1 - number(known))
    inside = mp.exp(number(epsilon)) - allowed * (1 + mp.exp(number(epsilon)))
    return mp.log(inside) if inside > 1 else mp.mpf(0)


def test_the_precision_is_what_it_is_meant_to_be() -> None:
    assert directed.UP.precision == directed.DOWN.precision == directed.WORK == 256


def test_bounds_from_pure_approximate_and_bounded_range_losses_are_rounded_outward(few_bits: int) -> None:
    for chance in chances(120, 51):
        amount, order = draw(chance, -1.5, 1), 1 + draw(chance, -1, 1.5)
        check(lambda eta: vm.bounded_range(eta).to(vm.ZCDP, by="bounded-range-to-zcdp-sharp").rho, sharp, amount)
        check(lambda e: vm.pure(e).to(vm.ZCDP).rho, lambda e: number(e) * mp.tanh(number(e) / 2), amount)
        check(of_response._renyi_of_pure, lambda e, a: divergence(response(e), a), amount, order)
        known, delta = sorted(Fraction(chance.random()) for _ in range(2))
        delta = known + (delta - known) * Fraction(chance.random())
        check(of_response._response_epsilon, response_epsilon, amount, known, delta)
        wanted = amount * Fraction(chance.random())
        check(of_response._response_delta, lambda e, d, w: stick(response(e, d), w), amount, known, wanted)


def test_bounds_from_a_huge_range_are_rounded_outward(few_bits: int) -> None:
    for chance in chances(100, 52):
        eta = 1000 + draw(chance, 0, 5)
        check(lambda e: vm.bounded_range(e).to(vm.ZCDP, by="bounded-range-to-zcdp-sharp").rho, sharp, eta)


def test_bounds_from_concentrated_losses_are_rounded_outward(few_bits: int) -> None:
    for chance in chances(50, 53):
        rho, delta = draw(chance, -4, 1), Fraction(10) ** chance.randint(-30, -1) * Fraction(chance.uniform(1, 9.9))
        check(concentrated.epsilon_of_zcdp, zcdp_epsilon, rho, delta)
        epsilon = rho + draw(chance, -1, 0.7) * Fraction(float(rho) ** 0.5)
        check(concentrated.delta_of_zcdp, zcdp_delta, rho, epsilon)


def renyi_epsilon(order: Fraction, bound: Fraction, delta: Fraction) -> Any:
    a = number(order)
    return number(bound) + mp.log(1 - 1 / a) - mp.log(a * number(delta)) / (a - 1)


def test_bounds_from_renyi_losses_are_rounded_outward(few_bits: int) -> None:
    def delta_at(order: Fraction, bound: Fraction, wanted: Fraction) -> Any:
        a = number(order)
        return mp.exp((a - 1) * (number(bound) - number(wanted))) * (1 - 1 / a) ** a / (a - 1)

    for chance in chances(150, 54):
        order, bound, delta = 1 + draw(chance, -1, 2), draw(chance, -1, 1), Fraction(chance.random()) ** 3
        check(renyi._epsilon, renyi_epsilon, order, bound, delta)
        wanted = bound + draw(chance, -2, 0.5)
        truth = delta_at(order, bound, wanted)
        assert renyi._delta(order, bound, wanted) == 1 or at_most(truth, renyi._delta(order, bound, wanted))


def test_what_a_large_delta_takes_off_a_renyi_loss_is_rounded_down(few_bits: int) -> None:
    for chance in chances(60, 58):
        # The order less 1 is just below a number of a bit more, so that rounding it down shows most.
        order = 1 + 2 ** chance.randint(6, 12) * (1 + Fraction(2, 2**few_bits) * Fraction(99, 100))
        delta, bound = Fraction(chance.uniform(0.3, 1)), Fraction(1)
        # A power of two, and so near what is taken off it that their difference is exact.
        while renyi_epsilon(order, bound / 2, delta) > 0:
            bound /= 2
        check(renyi._epsilon, renyi_epsilon, order, bound, delta)


def test_the_epsilon_of_a_range_at_a_delta_is_rounded_up(few_bits: int) -> None:
    for chance in chances(100, 59):
        eta, delta = draw(chance, -1.5, 1), Fraction(chance.random()) ** 3
        epsilon = Fraction(single_ranges._epsilon(eta, delta))
        # Two outcomes with the losses (eta + epsilon)/2 and (epsilon - eta)/2 are the worst.
        assert at_most(stick(shifted(eta, (eta + epsilon) / 2), epsilon), delta), (eta, delta)


@for_each("bits", [0, 1, 2, 7, 40])
@for_each("start", [Fraction(1, 10**6), Fraction(1), Fraction(10**6)])
def test_the_greatest_number_that_fits_was_seen_to_fit_and_little_more_does_not(bits: int, start: Fraction) -> None:
    for greatest in (Fraction(1, 3), Fraction(2, 7), Fraction(5), Fraction(999, 1000), Fraction(10**9, 7)):
        tried: set[Fraction] = set()

        def fits(x: Fraction, greatest: Fraction = greatest, tried: set[Fraction] = tried) -> bool:
            tried.add(x)
            return x <= greatest

        found = directed.greatest_that_fits(fits, start=start, bits=bits)
        assert found in tried and found <= greatest < found * (1 + Fraction(1, 2**bits))


def test_where_nothing_fits_the_greatest_number_that_fits_is_zero() -> None:
    assert directed.greatest_that_fits(lambda x: False, start=Fraction(1), bits=40) == 0


@for_each("bits", [6, 10, 17, 40])
def test_bounds_from_gaussian_losses_are_rounded_outward(bits: int) -> None:
    for chance in chances(120, 55):
        mu_squared, epsilon = draw(chance, -2, 1), draw(chance, -2, 0.7)
        truth = gaussian_delta(mp.sqrt(number(mu_squared)), epsilon)
        above, below = (exact(gaussian._delta(mu_squared, epsilon, bits, up=up)) for up in (True, False))
        assert below <= truth <= above


def exact(x: Any) -> Any:
    numerator, denominator = x.as_integer_ratio()
    return mp.mpf(int(numerator)) / int(denominator)


def test_bounds_from_huge_gaussian_losses_are_rounded_outward(few_bits: int) -> None:
    for chance in chances(60, 56):
        mu_squared, delta = 2**40 * draw(chance, 0, 3), Fraction(chance.random()) ** 5
        mu = mp.sqrt(number(mu_squared))
        tail = mp.sqrt(2 * mp.log(1 / (2 * number(delta)))) if delta < Fraction(1, 2) else mp.mpf(0)
        assert at_most(mu * mu / 2 + mu * tail, gaussian._tail_epsilon(mu_squared, delta))


def test_a_bad_guess_of_a_gaussian_epsilon_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    true = vm.gdp(1).to(vm.ApproxDP, delta="1e-5").epsilon
    for factor in (Fraction(1, 2), 1 - Fraction(1, 10**9), 1 - Fraction(1, 10**16), Fraction(1), Fraction(3)):
        monkeypatch.setattr(gaussian, "_guess", lambda *_, factor=factor: true * factor)
        found = vm.gdp(1).to(vm.ApproxDP, delta="1e-5").epsilon
        assert gaussian_delta(mp.mpf(1), found) <= mp.mpf("1e-5")


def test_a_bad_order_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    import gmpy2  # type: ignore[import-untyped]

    for factor in (0.01, 0.5, 0.999, 1.001, 3.0, 1000.0):
        for rho, delta in ((Fraction(1, 5), Fraction(1, 10**6)), (Fraction(1, 10**6), Fraction(1, 100))):
            best = concentrated._best_for_delta(directed.real(rho, directed.UP), -gmpy2.log(gmpy2.mpfr(delta)))
            with monkeypatch.context() as patch:
                patch.setattr(concentrated, "_best_for_delta", lambda *_, b=best * factor: b)
                assert at_most(zcdp_epsilon(rho, delta), concentrated.epsilon_of_zcdp(rho, delta))
            epsilon = rho + 3 * Fraction(float(rho) ** 0.5)
            best = concentrated._best_for_epsilon(rho, epsilon)
            with monkeypatch.context() as patch:
                patch.setattr(concentrated, "_best_for_epsilon", lambda *_, b=best * factor: b)
                assert at_most(zcdp_delta(rho, epsilon), concentrated.delta_of_zcdp(rho, epsilon))


def test_the_logarithm_of_delta_is_rounded_outward(few_bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Orders and rhos that are powers of two leave little else to round.
    import gmpy2

    for chance in chances(200, 57):
        delta, b = Fraction(chance.random()) ** 4 / 100, 2.0 ** chance.randint(-2, 1)
        rho = Fraction(1, 2 ** chance.randint(1, 20))
        monkeypatch.setattr(concentrated, "_best_for_delta", lambda *_, b=b: gmpy2.mpfr(b))
        a = 1 + mp.mpf(b)
        truth = number(rho) * a + mp.log(1 / (a * number(delta))) / (a - 1) + mp.log(1 - 1 / a)
        assert at_most(truth, concentrated.epsilon_of_zcdp(rho, delta))
