"""Mechanisms known by moments beside others: the pair that dominates them, and no cliff for the others."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.composition.accounting.oracles import (
    gaussian_delta,
    gaussian_pmf,
    hockey_stick,
    kov_delta,
    mp,
    profile,
    shifted,
)

import viameter as vm
from viameter.composition.accounting import (
    Accountant,
    approximate,
    bounded_range,
    discrete_gaussian,
    discrete_laplace,
    poisson_subsampled,
    pure,
    randomized_response,
    renyi,
    zcdp,
)
from viameter.composition.accounting.claims import moments_pair
from viameter.composition.accounting.moments import Moments
from viameter.composition.accounting.pairs import wide_discrete_gaussian_pair

RHOS = ["1e-300", "1e-9", "1/1000", "1/32", "1/2", "9", "1000"]


def of(pair: Any, epsilon: Any) -> Any:
    return profile(pair.losses.tolist(), pair.weights.tolist(), epsilon, pair.infinity)


@pytest.mark.parametrize("rho", RHOS)
def test_dominating_moments_ensures_the_profile_of_mechanisms_with_those_moments(rho: str) -> None:
    pair = moments_pair(Moments(rho=Fraction(rho)))
    assert math.fsum(pair.weights) + pair.infinity >= 1 - 1e-15
    mu = mpmath.sqrt(2 * mp(Fraction(rho)))
    for share in (-9, -3, -1, 0, mp("0.3"), 1, 2, 5, 9):
        level = mp(Fraction(rho)) + share * mu
        # Continuous Gaussian noise of mu^2 = 2 rho has these moments, in both directions.
        assert of(pair, level) >= gaussian_delta(level, mu) * (1 - mp(10) ** -20), share


def test_dominating_moments_ensures_the_profile_of_discrete_gaussian_noise_at_negative_epsilons_too() -> None:
    noise = gaussian_pmf(Fraction(2), 60)
    pair = moments_pair(Moments(rho=Fraction(9, 8)))
    for epsilon in ("-8", "-2", "-0.1", "0", "0.7", "3", "9"):
        level = Fraction(epsilon)
        assert of(pair, level) >= hockey_stick(noise, shifted(noise, 3), level)
        assert of(pair, level) >= hockey_stick(shifted(noise, 3), noise, level)


@pytest.mark.parametrize("loss", ["1/10", "1", "5"])
def test_dominating_moments_ensures_the_profile_of_randomized_response_by_its_orders(loss: str) -> None:
    e = mp(Fraction(loss))
    orders = [Fraction(3, 2), 2, 5, 30]
    p, q = mpmath.exp(e) / (1 + mpmath.exp(e)), 1 / (1 + mpmath.exp(e))

    def divergence(a: Any) -> Any:
        a = mp(Fraction(a))
        return mpmath.log(p**a * q ** (1 - a) + q**a * p ** (1 - a)) / (a - 1)

    bounds = {a: Fraction(str(mpmath.nstr(divergence(a) * (1 + mp(10) ** -12), 30))) for a in orders}
    pair = moments_pair(Moments(curves={vm.renyi(bounds): 1}))
    for share in (-1, mp("-0.5"), 0, mp("0.5"), mp("0.99"), 1):
        level = share * e
        true = max(mp(0), p - mpmath.exp(level) * q) + max(mp(0), q - mpmath.exp(level) * p)
        assert of(pair, level) >= true * (1 - mp(10) ** -20)


@for_each("count", [2, 3, 7])
def test_dominating_moments_ensures_the_profile_of_many_mechanisms_with_a_largest_loss(count: int) -> None:
    """Randomized response loses 1 at most: so many of them together lose more than 1, and `count` at most."""
    each = vm.renyi({"inf": 1})
    pair, accountant = moments_pair(Moments(curves={each: count})), Accountant()
    accountant.add(renyi(each), count)
    for share in ("0", "0.3", "0.6", "0.99"):
        level = count * Fraction(share)
        true = kov_delta(level, 1, count)
        assert true > 0
        assert of(pair, level) >= true * (1 - mp(10) ** -20)
        assert mp(accountant.delta(epsilon=level)) >= true * (1 - mp(10) ** -20)
    assert of(pair, count) == 0 == accountant.delta(epsilon=count)


def test_dominating_moments_ensures_a_tight_bound() -> None:
    for rho in ("1/32", "9"):
        pair = moments_pair(Moments(rho=Fraction(rho)))
        alone = Accountant()
        alone.add(zcdp(rho))
        for delta in ("1e-2", "1e-6", "1e-30"):
            epsilon = Fraction(alone.epsilon(delta=delta))
            assert of(pair, epsilon * (1 + Fraction(1, 1000))) <= mp(Fraction(delta))


def test_dominating_moments_ensures_nothing_for_nothing_and_all_for_no_bound() -> None:
    assert not moments_pair(Moments()).has_points
    assert not moments_pair(Moments(curves={vm.renyi({"inf": 0}): 3})).has_points
    assert of(moments_pair(Moments(curves={vm.RenyiDP.infinite: 1})), Fraction(5)) >= 1


def test_dominating_moments_requires_bounds_in_both_directions_and_parameters_fixed_in_advance() -> None:
    requires = moments_pair.__viameter_theorem__.statement.requires  # type: ignore[attr-defined]
    assert "both directions" in requires and "filters" in requires
    # A claim in one direction is not enough: the profile at negative epsilons is of the other one.
    pair = moments_pair(Moments(rho=Fraction(1, 50)))
    one_sided = mp("0.9")  # a mechanism that with probability 1/10 shows what only the other data can show
    assert of(pair, Fraction(-3)) < 1 - mpmath.exp(mp(-3)) * one_sided


@pytest.mark.parametrize("distance", [1, 2**12, 2**18, 5 * 2**18])
def test_dominating_wide_discrete_gaussian_ensures_the_law_of_the_noise(distance: int) -> None:
    # For a scale at which the noise can be listed; the proof is for any.
    scale = Fraction(200)
    near = max(1, distance * 200 // 2**18)
    noise = gaussian_pmf(scale, 3200)
    pair = wide_discrete_gaussian_pair(near, scale=scale)
    for share in (-2, 0, mp("0.5"), 2, 6):
        level = mp(near) ** 2 / (2 * mp(scale) ** 2) + share * near / mp(scale)
        true = hockey_stick(noise, shifted(noise, -near), level)
        assert of(pair, level) >= true * (1 - mp(10) ** -12)
        assert of(pair, level + mp(near) / mp(scale) / 100) <= true * (1 + mp("0.01")) + mp(10) ** -30


def test_dominating_wide_discrete_gaussian_requires_the_half_step() -> None:
    # Between the losses that integers have, continuous noise of the same scale costs less, the factor included.
    scale, below = Fraction(12), 0
    noise = gaussian_pmf(scale, 250)
    for near in (12,):
        pair = wide_discrete_gaussian_pair(near, scale=scale)
        for z in range(-60, 12, 3):
            level = Fraction(near * (near - 2 * z - 1)) / (2 * scale**2)
            true = hockey_stick(noise, shifted(noise, near), level)
            assert of(pair, level) >= true
            factor = mpmath.exp(1 / (8 * mp(scale) ** 2))
            below += gaussian_delta(level, mp(near) / mp(scale)) * factor < true
    assert below > 3


BESIDE: list[Any] = [
    zcdp(0),
    renyi(vm.renyi({"inf": 0})),
    discrete_gaussian(2**17),
    discrete_gaussian(2**17 + 1),
    discrete_gaussian(2**40),
    discrete_gaussian(2**400),
    zcdp("1e-9"),
    bounded_range(0),
    bounded_range("1e-6"),
    pure("1e-300"),
    approximate(0, "1e-15"),
    randomized_response(3, "1/3"),
    discrete_laplace(2**60),
    discrete_laplace(2**60, 2**23),
    poisson_subsampled(discrete_gaussian(2**20), "1/1000"),
    poisson_subsampled(pure(5), "1e-9"),
]


@pytest.mark.parametrize("small", BESIDE, ids=str)
def test_a_mechanism_that_costs_next_to_nothing_switches_nothing_off(small: Any) -> None:
    accountant = Accountant()
    accountant.add(discrete_laplace(20), 1000)
    alone = accountant.epsilon(delta="1e-6")
    assert round(float(alone), 4) == 8.2836
    accountant.add(small)
    both = accountant.epsilon(delta="1e-6")
    assert alone * (1 - Fraction(1, 10**6)) <= both <= alone * (1 + Fraction(1, 10**4))
    assert accountant.delta(epsilon=Fraction(both)) <= Fraction(1, 10**6)


def test_what_is_known_by_moments_costs_what_it_costs_beside_others() -> None:
    # 1000 Laplaces and zCDP of 1/200: below by moments of all, above the Gaussian of that rho in place of the claim.
    accountant, least = Accountant(), Accountant(idealized=True)
    for one in (accountant, least):
        one.add(discrete_laplace(20), 1000)
    accountant.add(zcdp("1/200"))
    least.add(vm.accounting.continuous_gaussian(10))
    report = accountant.report(delta="1e-6")
    by = {reading.representation: reading.epsilon for reading in report.readings}
    assert least.epsilon(delta="1e-6") <= accountant.epsilon(delta="1e-6") < by["moments"] * Fraction(96, 100)
    # Ranges count by their zCDP beside others, where that is less.
    ranges = Accountant()
    ranges.add(discrete_laplace(20), 500)
    ranges.add(bounded_range("1/2"), 50)
    found = {r.representation: r.epsilon for r in ranges.report(delta="1e-6").readings}
    assert (
        ranges.epsilon(delta="1e-6")
        == found["loss distribution, ranges by zCDP"]
        < min(found["loss distribution"], found["moments"])
    )
