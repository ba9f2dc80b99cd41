"""Connect the dots, continuous noise and bounded ranges: against exact profiles in 60 digits."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.composition.accounting.oracles import (
    gaussian_delta as true_gaussian,
)
from tests.composition.accounting.oracles import (
    hockey_stick,
    inverted_epsilon,
    mp,
    normal_tail,
    profile,
)

from viameter.composition.accounting import range_delta, range_epsilon
from viameter.composition.accounting.continuous import (
    continuous_gaussian_pair,
    continuous_laplace_pair,
    gaussian_delta,
    gaussian_epsilon,
)
from viameter.composition.accounting.distribution import LossDistribution
from viameter.composition.accounting.dots import normal_cells, spread
from viameter.composition.accounting.pairs import discrete_gaussian_pair, discrete_laplace_pair
from viameter.composition.accounting.ranges import range_pair
from viameter.composition.accounting.tight import TightAccount
from viameter.errors import NoTheorem, NumberError, ParameterError
from viameter.theorem import Numbers, find_theorem

TARGET = Fraction(1, 10**6)


def of(distribution: LossDistribution, epsilon: Any) -> Any:
    return profile(distribution.losses.tolist(), distribution.weights.tolist(), epsilon, distribution.infinity)


# --- connect-the-dots -------------------------------------------------------------------------------------------------


def test_connect_the_dots_ensures_domination_at_every_real_epsilon() -> None:
    source = random.Random(2)
    for _ in range(60):
        losses = np.unique(np.array([source.uniform(-4, 4) for _ in range(source.randint(1, 40))]))
        weights = np.array([source.random() for _ in losses])
        distribution = LossDistribution(losses, weights / weights.sum(), 0.0)
        inner = sorted(source.uniform(-4, 4) for _ in range(source.randint(0, 9)))
        nodes = np.unique(np.array([losses[0], *inner, losses[-1] + 0.1]).clip(losses[0], losses[-1] + 0.1))
        fewer = spread(distribution, nodes=nodes)
        assert set(fewer.losses.tolist()) <= set(nodes.tolist())
        for epsilon in (-5.0, -2.2, -0.7, 0.0, 0.4, 1.3, 3.1, *inner):
            assert of(fewer, epsilon) >= of(distribution, epsilon)
        # Both probabilities are kept, but for the rounding.
        assert abs(fewer.weights.sum() - 1) < 1e-10
        theirs = distribution.weights @ np.exp(-distribution.losses)
        assert abs(fewer.weights @ np.exp(-fewer.losses) / theirs - 1) < 1e-10


def test_connect_the_dots_ensures_an_error_of_second_order() -> None:
    losses = np.linspace(-1, 1, 4001)
    distribution = LossDistribution(losses, np.full(4001, 1 / 4001))
    excess = []
    for cells in (10, 20, 40):
        fewer = spread(distribution, nodes=np.linspace(-1, 1, cells + 1))
        # The mean over epsilons: at a single one, the place in its cell matters.
        levels = np.linspace(0, 0.9, 371)[:, None]
        deltas = [
            float((law.weights * np.maximum(0, -np.expm1(levels - law.losses))).sum()) for law in (fewer, distribution)
        ]
        excess.append(deltas[0] - deltas[1])
    assert excess[0] / excess[1] > 3
    assert excess[1] / excess[2] > 3


def test_connect_the_dots_ensures_weights_above_what_float64_cannot_hold() -> None:
    tiny = LossDistribution(np.array([0.0, 0.5, 1.0]), np.array([5e-324, 5e-324, 1.0]))
    fewer = spread(tiny, nodes=np.array([0.0, 0.75, 1.0]))
    for epsilon in (0.0, 0.25, 0.6, 0.9):
        assert of(fewer, epsilon) >= of(tiny, epsilon)
    assert (continuous_laplace_pair(Fraction(1), scale=Fraction(1, 10**4)).weights > 0).all()
    assert (normal_cells(Fraction(900)).weights > 0).all()


def test_connect_the_dots_requires_nodes_around_all_losses() -> None:
    distribution = LossDistribution(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    for nodes in ([0.5, 1.0], [0.0, 0.5], [0.0, 0.0, 1.0], [1.0, 0.0], [0.0]):
        with pytest.raises(ParameterError):
            spread(distribution, nodes=np.array(nodes))


# --- normal-loss-by-cells ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(5), Fraction(25)])
def test_normal_loss_by_cells_ensures_domination_of_the_gaussian_profile(mu: Fraction) -> None:
    law = normal_cells(mu * mu)
    assert law.infinity < 1e-36
    # What is beyond the cells is counted, above as infinite, below at the lowest loss.
    first, last = ((mp(float(law.losses[n])) - mp(mu) ** 2 / 2) / mp(mu) for n in (0, -1))
    assert mp(law.infinity) >= normal_tail(last)
    assert mp(float(law.weights[0])) >= normal_tail(-first)
    for deviations in (-6, -3, -1.01, -0.3, 0.0, 0.7, 2.003, 4.5, 7.7):
        epsilon = float(mu * mu / 2) + deviations * float(mu)
        e, m = mp(epsilon), mp(mu)
        true = normal_tail(e / m - m / 2) - mpmath.exp(e) * normal_tail(e / m + m / 2)
        found = of(law, epsilon)
        assert found >= true
        if deviations < 5:
            assert found <= true * (1 + mp(10) ** -2) + mp(10) ** -9


def test_normal_loss_by_cells_ensures_the_masses_of_cells_to_ten_digits() -> None:
    mu = Fraction(1)
    law = normal_cells(mu, cells_per_deviation=50)
    nodes = law.losses
    for j in (100, 400, 660, 700, 900):
        # The weight of a node: shares of the two cells beside it, by quadrature in 60 digits.
        before, here, after = (mp(float(nodes[n])) for n in (j - 1, j, j + 1))

        def density(x: Any) -> Any:
            return mpmath.npdf(x, mp(Fraction(1, 2)), 1)

        up = mpmath.quad(
            lambda x, a=before, b=here: density(x) * -mpmath.expm1(a - x) / -mpmath.expm1(a - b), [before, here]
        )
        down = mpmath.quad(
            lambda x, a=here, b=after: density(x) * (mpmath.exp(a - x) - mpmath.exp(a - b)) / -mpmath.expm1(a - b),
            [here, after],
        )
        assert up + down <= mp(float(law.weights[j])) <= (up + down) * (1 + mp(10) ** -10)


def test_normal_loss_by_cells_requires_continuous_noise() -> None:
    assert find_theorem("normal-loss-by-cells").numbers is Numbers.IDEALIZED
    # Discrete noise of scale 1 is not dominated.
    assert of(normal_cells(Fraction(1)), 1) < of(discrete_gaussian_pair(1, scale=Fraction(1)), 1)
    for mu_squared, cells in ((Fraction(10**4), 100), (Fraction(0), 100), (Fraction(1), 10)):
        with pytest.raises(ParameterError):
            normal_cells(mu_squared, cells_per_deviation=cells)


# --- dominating-continuous-laplace and gaussian-profile ---------------------------------------------------------------


@pytest.mark.parametrize("e", [Fraction(1, 20), Fraction(1), Fraction(6)])
def test_dominating_continuous_laplace_ensures_the_known_profile(e: Fraction) -> None:
    pair = continuous_laplace_pair(Fraction(1), scale=1 / e)
    smaller = continuous_laplace_pair(Fraction(1, 2), scale=1 / e)
    for part in (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(99, 100)):
        epsilon = e * part
        true = -mpmath.expm1((mp(epsilon) - mp(e)) / 2)
        found = of(pair, epsilon)
        assert true <= found <= true * (1 + mp(10) ** -4) + mp(10) ** -9
        assert of(smaller, epsilon) <= found
    # At negative epsilons: delta(-x) = 1 - e^-x + e^-x delta(x) for a symmetric pair.
    x = mp(e) / 3
    true = -mpmath.expm1(-x) + mpmath.exp(-x) * -mpmath.expm1((x - mp(e)) / 2)
    assert true <= of(pair, -x) <= true * (1 + mp(10) ** -4)


def laplace_transform(z: Any, e: float) -> Any:
    inner = 0.25 * math.exp(-e / 2) * 2 * np.sinh((z + 0.5) * e) / (z + 0.5)
    return np.log(0.5 * np.exp(z * e) + 0.5 * np.exp(-(z + 1) * e) + inner)


def test_dominating_continuous_laplace_ensures_the_reference_of_a_thousand() -> None:
    account = TightAccount()
    account.add(continuous_laplace_pair(Fraction(1), scale=Fraction(20)), 1000)
    found = float(account.epsilon(TARGET))
    true = inverted_epsilon(lambda z: 1000 * laplace_transform(z, 0.05), 1e-6, 3.1, 0.05, 4000)
    assert round(true, 6) == 8.20444
    assert true - 1e-8 <= found <= true * (1 + 2e-5)


def test_dominating_continuous_laplace_requires_continuous_noise() -> None:
    assert find_theorem("dominating-continuous-laplace").numbers is Numbers.IDEALIZED
    continuous = continuous_laplace_pair(Fraction(1), scale=Fraction(1))
    discrete = discrete_laplace_pair(1, scale=Fraction(1))
    assert any(of(discrete, e) > of(continuous, e) for e in (0.1, 0.5, 0.9))
    assert not continuous_laplace_pair(Fraction(0), scale=Fraction(1)).has_points
    assert not continuous_gaussian_pair(Fraction(0), scale=Fraction(1)).mu_squared


@pytest.mark.parametrize("mu_squared", [Fraction(1, 10**6), Fraction(2, 5), Fraction(1), Fraction(30), Fraction(10**4)])
def test_gaussian_profile_ensures_the_formula_rounded_up(mu_squared: Fraction) -> None:
    mpmath.mp.dps = 120
    try:
        mu = mpmath.sqrt(mp(mu_squared))
        for epsilon in (Fraction(0), Fraction(1, 1000), Fraction(1), Fraction(20)):
            true = true_gaussian(epsilon, mu)
            found = mp(gaussian_delta(mu_squared, epsilon=epsilon))
            assert true <= found <= true * (1 + mp(10) ** -30) + mp(10) ** -50
    finally:
        mpmath.mp.dps = 60


def test_gaussian_profile_ensures_the_reference_values() -> None:
    for found, reference in (
        (gaussian_delta(1, epsilon=1), "0.126936737506644"),
        (gaussian_epsilon(1, delta="1e-5"), "4.37717809568122"),
    ):
        exact = Fraction(reference)
        assert exact - Fraction(1, 10**14) <= found <= exact * (1 + Fraction(1, 10**12))
    assert gaussian_delta(0, epsilon=1) == 0
    assert gaussian_epsilon(1, delta="0.9") == 0


def test_gaussian_profile_requires_continuous_noise_and_numbers_in_their_range() -> None:
    assert find_theorem("gaussian-profile").numbers is Numbers.IDEALIZED
    assert of(discrete_gaussian_pair(1, scale=Fraction(1)), 1) > mp(gaussian_delta(1, epsilon=1)) * mp("1.1")
    with pytest.raises(NumberError):
        gaussian_delta(1, epsilon=-1)
    with pytest.raises(ParameterError):
        gaussian_epsilon(1, delta=0)


# --- bounded ranges ---------------------------------------------------------------------------------------------------


def two_ends(eta: Any, t: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The worst pair with losses in [t - eta, t]."""
    p = (mpmath.exp(eta) - mpmath.exp(t)) / mpmath.expm1(eta)
    return {"high": p, "low": 1 - p}, {"high": p * mpmath.exp(-t), "low": (1 - p) * mpmath.exp(eta - t)}


@pytest.mark.parametrize("eta", ["0.01", "0.5", "1", "6"])
def test_dominating_bounded_range_ensures_domination_of_all_pairs_of_that_range(eta: str) -> None:
    pair = range_pair(Fraction(eta))
    width = mp(Fraction(eta))
    bounds = {width * mp(level): of(pair, width * mp(level)) for level in (-1.5, -1, -0.7, -0.2, 0, 0.2, 0.55, 0.9, 1)}
    for step in range(21):
        left, right = two_ends(width, width * step / 20)
        assert abs(mpmath.fsum(right.values()) - 1) < mp(10) ** -50
        for epsilon, bound in bounds.items():
            assert bound >= hockey_stick(left, right, epsilon) - mp(10) ** -50
    for level in (-0.9, -0.3, 0.0, 0.4, 0.8):
        epsilon = width * mp(level)
        exact = (mpmath.exp(width / 2) - mpmath.exp(epsilon / 2)) ** 2 / mpmath.expm1(width)
        assert exact <= of(pair, epsilon) <= exact * (1 + mp(10) ** -3)


def test_dominating_bounded_range_ensures_more_than_any_adaptive_pair_of_two() -> None:
    # The adaptive optimum for eta = 1/2 at epsilon = 1/10 is .115812: a pair that composes adaptively is above it.
    account = TightAccount()
    account.add(range_pair(Fraction(1, 2)), 2)
    assert account.delta(Fraction(1, 10)) > Fraction("0.115812")
    assert not range_pair(Fraction(0)).has_points
    assert range_pair(Fraction(10**4)).losses[-1] == 10**4


def test_dominating_bounded_range_requires_a_range_and_not_only_pure_privacy() -> None:
    # A pure mechanism of epsilon has range 2 epsilon: taken for a range of epsilon it is not dominated.
    e = mp(1)
    left = {0: 1 / (1 + mpmath.exp(-e)), 1: 1 / (1 + mpmath.exp(e))}
    right = {0: left[1], 1: left[0]}
    assert of(range_pair(Fraction(1)), 0) < hockey_stick(left, right, 0) < of(range_pair(Fraction(2)), 0)


def test_bounded_range_optimum_ensures_the_reference_value() -> None:
    reference = Fraction("0.0955508026486")
    found = range_delta("0.5", count=3, epsilon="0.25", adaptive=False)
    assert abs(found - reference) < Fraction(1, 10**13)
    assert round(float(range_delta("0.5", count=2, epsilon="0.1", adaptive=False)), 6) == 0.112458


@pytest.mark.parametrize(("eta", "count"), [("0.5", 1), ("0.5", 2), ("1", 3), ("0.1", 4), ("3", 3)])
def test_bounded_range_optimum_ensures_the_largest_delta_over_all_pairs(eta: str, count: int) -> None:
    width = mp(Fraction(eta))
    for part in (Fraction(0), Fraction(1, 5), Fraction(1, 2)):
        epsilon = Fraction(eta) * count * part
        found = mp(range_delta(eta, count=count, epsilon=epsilon, adaptive=False))
        best = mp(0)
        for step in range(201):
            t = width * step / 200
            left, _ = two_ends(width, t)
            losses = [count * t - i * width for i in range(count + 1)]
            weights = [
                mpmath.binomial(count, i) * left["high"] ** (count - i) * left["low"] ** i for i in range(count + 1)
            ]
            best = max(best, profile(losses, weights, epsilon))
        assert best * (1 - mp(10) ** -40) <= found <= best * (1 + mp(10) ** -3)


def test_bounded_range_optimum_ensures_an_epsilon_that_is_enough_and_hardly_more() -> None:
    for eta, count, delta in (("0.5", 3, "1e-6"), ("0.1", 20, "1e-3"), ("1", 5, "0.05")):
        found = range_epsilon(eta, count=count, delta=delta, adaptive=False)
        assert range_delta(eta, count=count, epsilon=Fraction(found), adaptive=False) <= Fraction(delta)
        less = Fraction(found) * (1 - Fraction(1, 10**9))
        assert range_delta(eta, count=count, epsilon=less, adaptive=False) > Fraction(delta)
    assert range_epsilon("0.5", count=4, delta=0, adaptive=False) == 2
    assert range_epsilon("0.5", count=4, delta="0.9", adaptive=False) == 0
    assert range_delta(0, count=4, epsilon=0, adaptive=False) == range_delta(1, count=0, epsilon=0, adaptive=False) == 0


def test_bounded_range_optimum_requires_mechanisms_that_are_chosen_in_advance() -> None:
    with pytest.raises(NoTheorem, match="chosen in advance"):
        range_delta("0.5", count=2, epsilon="0.1", adaptive=True)
    with pytest.raises(NoTheorem, match="zCDP"):
        range_epsilon("0.5", count=2, delta="0.1", adaptive=True)
    # What an adversary gets who chooses the second mechanism by the first answer.
    width, epsilon = mp(Fraction(1, 2)), mp(Fraction(1, 10))

    def exact_best(e: Any) -> Any:
        if e >= width:
            return mp(0)
        return (
            (mpmath.exp(width / 2) - mpmath.exp(e / 2)) ** 2 / mpmath.expm1(width) if e > -width else -mpmath.expm1(e)
        )

    adaptive = mp(0)
    for n in range(101):
        t = width * n / 100
        left, _ = two_ends(width, t)
        adaptive = max(adaptive, left["high"] * exact_best(epsilon - t) + left["low"] * exact_best(epsilon - t + width))
    assert round(float(adaptive), 5) == 0.11581
    assert adaptive > mp(range_delta("0.5", count=2, epsilon="0.1", adaptive=False))
