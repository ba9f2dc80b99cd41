"""Poisson subsampling: both orders against subsets that are enumerated, and ten thousand steps against inversion."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.cases import for_each
from tests.composition.accounting.oracles import (
    Law,
    gaussian_pmf,
    hockey_stick,
    inverted_epsilon,
    laplace_pmf,
    mp,
    product_law,
    profile,
    shifted,
)

from viameter.composition.accounting import (
    Accountant,
    Subsample,
    approximate,
    continuous_gaussian,
    continuous_laplace,
    discrete_gaussian,
    discrete_laplace,
    poisson_subsampled,
    pure,
    together,
    zcdp,
)
from viameter.composition.accounting.distribution import LossDistribution, gaussian_factor
from viameter.composition.accounting.dots import normal_cells
from viameter.composition.accounting.pairs import discrete_gaussian_pair, discrete_laplace_pair, pure_pair
from viameter.composition.accounting.subsampling import amplified_addition, amplified_removal
from viameter.composition.accounting.tight import TightAccount
from viameter.errors import NoTheorem, NumberError, ParameterError

LEVELS = [-5, -1, -0.4, -0.1, -0.01, 0, 0.003, 0.05, 0.2, 0.5, 0.69, 1, 2, 4]
RATES = [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(1)]


def of(distribution: LossDistribution, epsilon: Any) -> Any:
    return profile(distribution.losses.tolist(), distribution.weights.tolist(), epsilon, distribution.infinity)


def subsampled(rows: list[int], rate: Fraction, noise: Law) -> Law:
    """The law of a noisy sum of the rows that are kept, over all subsets."""
    law: Law = {}
    for kept in itertools.product((0, 1), repeat=len(rows)):
        chance = mp(1)
        for one in kept:
            chance *= mp(rate) if one else 1 - mp(rate)
        total = sum(row for row, one in zip(rows, kept, strict=True) if one)
        for z, p in noise.items():
            law[total + z] = law.get(total + z, mp(0)) + chance * p
    return law


NOISES = {
    "laplace": (laplace_pmf(Fraction(1), 60), discrete_laplace_pair(1, scale=Fraction(1))),
    "gaussian": (gaussian_pmf(Fraction(4, 3), 30), discrete_gaussian_pair(1, scale=Fraction(4, 3))),
}


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("name", NOISES)
def test_poisson_subsampling_remove_ensures_domination_over_all_subsets(name: str, rate: Fraction) -> None:
    noise, inner = NOISES[name]
    pair = amplified_removal(inner, rate=rate)
    for others in ([], [1], [1, 0, 1]):
        without, with_row = subsampled(others, rate, noise), subsampled([*others, 1], rate, noise)
        for epsilon in LEVELS:
            true = hockey_stick(with_row, without, epsilon)
            assert of(pair, epsilon) >= true - mp(10) ** -24
            if not others:
                assert of(pair, epsilon) <= true + mp(10) ** -12


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("name", NOISES)
def test_poisson_subsampling_add_ensures_domination_over_all_subsets(name: str, rate: Fraction) -> None:
    noise, inner = NOISES[name]
    pair = amplified_addition(inner, rate=rate)
    for others in ([], [1], [1, 0, 1]):
        without, with_row = subsampled(others, rate, noise), subsampled([*others, 1], rate, noise)
        for epsilon in LEVELS:
            true = hockey_stick(without, with_row, epsilon)
            assert of(pair, epsilon) >= true - mp(10) ** -24
            if not others:
                assert of(pair, epsilon) <= true + mp(10) ** -12


@for_each("rate", RATES)
def test_poisson_subsampling_remove_ensures_the_same_with_a_mass_at_infinity(rate: Fraction) -> None:
    inner = pure_pair(Fraction(1), delta=Fraction(1, 10))
    high, low = mp(Fraction(9, 10)) / (1 + mpmath.exp(-1)), mp(Fraction(9, 10)) / (1 + mpmath.exp(1))
    a: Law = {"yes": high, "no": low, "one": mp(Fraction(1, 10)), "zero": mp(0)}
    b: Law = {"yes": low, "no": high, "one": mp(0), "zero": mp(Fraction(1, 10))}
    q = mp(rate)
    mixed = {key: (1 - q) * b[key] + q * a[key] for key in a}
    removal, addition = amplified_removal(inner, rate=rate), amplified_addition(inner, rate=rate)
    for epsilon in LEVELS:
        for bound, true in (
            (of(removal, epsilon), hockey_stick(mixed, b, epsilon)),
            (of(addition, epsilon), hockey_stick(b, mixed, epsilon)),
        ):
            assert true - mp(10) ** -50 <= bound <= true + mp(10) ** -12


def test_poisson_subsampling_remove_requires_a_subsample_of_its_own_for_each_mechanism() -> None:
    # Two answers from the same subsample cost more than two amplified ones from their own.
    noise, q = laplace_pmf(Fraction(1), 20), Fraction(1, 10)
    moved, same = shifted(noise, 1), noise
    both_with, both_without = product_law([moved] * 2), product_law([same] * 2)
    true = {
        key: mp(q) * both_with.get(key, mp(0)) + mp(1 - q) * both_without.get(key, mp(0))
        for key in both_with.keys() | both_without.keys()
    }
    one = amplified_removal(discrete_laplace_pair(1, scale=Fraction(1)), rate=q)
    independent = TightAccount()
    independent.add(one, 2)
    level = 0.3
    assert hockey_stick(true, both_without, level) > mp(independent.delta(Fraction(level)))
    # The accountant refuses it, and amplifies what is declared to be together.
    accountant = Accountant()
    sample = Subsample(q, "monday")
    accountant.add(poisson_subsampled(discrete_laplace(1), sample))
    with pytest.raises(NoTheorem, match="together"):
        accountant.add(poisson_subsampled(discrete_laplace(1), sample))
    with pytest.raises(NoTheorem, match="together"):
        accountant.add(poisson_subsampled(discrete_laplace(2), Subsample(q, "monday")))
    with pytest.raises(NoTheorem, match="together"):
        accountant.add(poisson_subsampled(discrete_laplace(1), Subsample(q, "tuesday")), 2)
    assert sum(accountant.counts.values()) == 1
    accountant.add(poisson_subsampled(discrete_laplace(1), Subsample(q, "tuesday")))
    whole = Accountant()
    whole.add(poisson_subsampled(together(discrete_laplace(1), discrete_laplace(1)), sample))
    assert mp(whole.delta(epsilon=Fraction(level))) >= hockey_stick(true, both_without, level) - mp(10) ** -8
    # Twice in one description is refused as well.
    twice = together(poisson_subsampled(pure(1), sample), poisson_subsampled(pure(2), sample))
    with pytest.raises(NoTheorem, match="same rows"):
        Accountant().add(twice)


def test_poisson_subsampling_remove_requires_points_and_a_rate() -> None:
    for amplify in (amplified_removal, amplified_addition):
        with pytest.raises(NoTheorem, match="cells"):
            amplify(gaussian_factor(Fraction(1)), rate=Fraction(1, 2))
        assert not amplify(pure_pair(Fraction(1)), rate=Fraction(0)).has_points
    for rate in (-1, 2, "x"):
        with pytest.raises(NumberError):
            poisson_subsampled(pure(1), rate)
    with pytest.raises(ParameterError):
        Subsample(Fraction(1, 2), 7)  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        poisson_subsampled("pure", "0.1")  # type: ignore[arg-type]


def test_poisson_subsampling_add_requires_the_other_order_to_be_counted_as_well() -> None:
    # Removing costs more here, so that the addition pair alone is too small for both orders.
    inner, rate = pure_pair(Fraction(1)), Fraction(1, 10)
    assert of(amplified_addition(inner, rate=rate), 0.1) < of(amplified_removal(inner, rate=rate), 0.1)
    accountant = Accountant()
    accountant.add(poisson_subsampled(pure(1), rate))
    for level in (Fraction(0), Fraction(1, 20), Fraction(1, 10)):
        bound = mp(accountant.delta(epsilon=level))
        assert bound >= of(amplified_removal(inner, rate=rate), level) * (1 - mp(10) ** -12)
        assert bound >= of(amplified_addition(inner, rate=rate), level) * (1 - mp(10) ** -12)


def test_the_order_that_costs_more_is_the_one_that_counts() -> None:
    # For a mechanism with a leak the addition order may cost more: a (0, 1/2) leak at q = 9/10, above ln 2.
    found = Accountant()
    found.add(poisson_subsampled(approximate(3, "1e-3"), "0.9"), 3)
    account = {order: TightAccount() for order in ("remove", "add")}
    inner = pure_pair(Fraction(3), delta=Fraction(1, 1000))
    account["remove"].add(amplified_removal(inner, rate=Fraction(9, 10)), 3)
    account["add"].add(amplified_addition(inner, rate=Fraction(9, 10)), 3)
    for level in (Fraction(0), Fraction(1), Fraction(2), Fraction(5), Fraction(6)):
        both = [one.delta(level) for one in account.values()]
        assert found.delta(epsilon=level) == max(both)


@for_each("rate", RATES)
@for_each("leak", ["1e-3", "1/4"])
def test_a_leak_on_a_subsample_is_still_a_leak_at_every_epsilon(leak: str, rate: Fraction) -> None:
    # Who is kept with probability q and then shown with probability delta is shown with probability q delta.
    shown = rate * Fraction(leak)
    accountant = Accountant()
    accountant.add(poisson_subsampled(approximate(1, leak), rate))
    for epsilon in (1, 3, 50, 10**6):
        assert shown <= accountant.delta(epsilon=epsilon) <= shown * (1 + Fraction(1, 10**9))
    for delta in (Fraction(0), shown / 2):
        assert accountant.epsilon(delta=delta) == math.inf


def test_a_subsample_that_was_counted_is_counted_in_every_copy() -> None:
    sample = Subsample(Fraction(1, 10), "monday")
    accountant = Accountant()
    accountant.add(poisson_subsampled(pure(1), sample))
    for copied in (accountant.copy(), accountant.copy().copy()):
        with pytest.raises(NoTheorem, match="counted once only"):
            copied.add(poisson_subsampled(pure(1), sample))
        assert copied.counts == accountant.counts
        # What a copy counts later is its own.
        copied.add(poisson_subsampled(pure(1), Subsample(Fraction(1, 10), "tuesday")))
    accountant.add(poisson_subsampled(pure(1), Subsample(Fraction(1, 10), "tuesday")))


def mixture(z: Any, rate: float, *, removal: bool) -> Any:
    """ln M of subsampled Gaussian noise of scale 1, by a sum that is accurate to rounding."""
    x = np.arange(-11, 14, 0.01)
    density = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * 0.01
    ratio = np.log1p(rate * np.expm1(x - 0.5))
    powers = np.multiply.outer(z + 1 if removal else -z, ratio)
    return np.log(np.exp(powers) @ density)


def test_ten_thousand_subsampled_gaussians_are_within_a_ten_thousandth_of_the_truth() -> None:
    true_removal = inverted_epsilon(lambda z: 10_000 * mixture(z, 0.01, removal=True), 1e-6, 3.3, 0.1, 150)
    true_addition = inverted_epsilon(lambda z: 10_000 * mixture(z, 0.01, removal=False), 1e-6, 4.1, 0.1, 150)
    assert abs(true_removal - 6.907385) < 1e-6
    assert round(true_addition, 3) == 6.207
    inner = normal_cells(Fraction(1))
    for pair, true in (
        (amplified_removal(inner, rate=Fraction(1, 100)), true_removal),
        (amplified_addition(inner, rate=Fraction(1, 100)), true_addition),
    ):
        account = TightAccount()
        account.add(pair, 10_000)
        assert true - 1e-8 <= float(account.epsilon(Fraction(1, 10**6))) <= true * (1 + 1e-4)
    accountant = Accountant(idealized=True)
    accountant.add(poisson_subsampled(continuous_gaussian(1), "0.01"), 10_000)
    assert true_removal - 1e-8 <= float(accountant.epsilon(delta="1e-6")) <= true_removal * (1 + 1e-4)


def test_subsampled_discrete_noise_and_subsampled_laplace_noise_have_answers() -> None:
    for mechanism, idealized in (
        (discrete_gaussian(1), False),
        (discrete_laplace(1), False),
        (discrete_laplace(1, 3), False),
        (continuous_laplace(1), True),
        (together(discrete_gaussian(2), pure("0.1")), False),
        (together(continuous_gaussian(2), pure("0.1")), True),
    ):
        whole, part = Accountant(idealized=idealized), Accountant(idealized=idealized)
        whole.add(mechanism, 20)
        part.add(poisson_subsampled(mechanism, "0.05"), 20)
        assert 0 < part.epsilon(delta="1e-5") < whole.epsilon(delta="1e-5")


def test_what_has_no_profile_or_too_many_losses_cannot_be_amplified() -> None:
    with pytest.raises(NoTheorem, match="profile"):
        poisson_subsampled(zcdp("0.1"), "0.1")
    with pytest.raises(NoTheorem, match="subsample of a subsample"):
        poisson_subsampled(poisson_subsampled(pure(1), "0.1"), "0.1")
    with pytest.raises(NoTheorem, match="subsample of a subsample"):
        poisson_subsampled(together(pure(1), together(poisson_subsampled(pure(1), "0.1"))), "0.1")
    for heavy in (
        together(discrete_gaussian(50), discrete_gaussian(50)),
        together(pure(1), zcdp(1)),
        together(continuous_gaussian(1), discrete_gaussian(30)),
    ):
        accountant = Accountant(idealized=True)
        with pytest.raises(NoTheorem):
            accountant.add(poisson_subsampled(heavy, "0.1"))
        assert accountant.counts == {}
    wide = Accountant()
    wide.add(poisson_subsampled(discrete_gaussian(10**7, 10**7), "0.1"))
    narrow = Accountant()
    narrow.add(poisson_subsampled(discrete_gaussian(10**4, 10**4), "0.1"))
    of_wide, of_narrow = (Fraction(one.epsilon(delta="1e-6")) for one in (wide, narrow))
    assert abs(of_wide / of_narrow - 1) < Fraction(1, 1000)
