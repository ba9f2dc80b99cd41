"""Dominating pairs with finitely many losses, against laws that are enumerated in 60 digits."""

from __future__ import annotations

import itertools
import random
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
    laplace_pmf,
    mp,
    product_law,
    profile,
    shifted,
)

from viameter.composition.accounting.distribution import LossDistribution, gaussian_factor, points, together
from viameter.composition.accounting.enumeration import enumerable, enumerate_points, points_delta, points_epsilon
from viameter.composition.accounting.pairs import (
    discrete_gaussian_pair,
    discrete_laplace_pair,
    pure_pair,
    response_pair,
)
from viameter.composition.accounting.product import Product
from viameter.errors import NoTheorem, NumberError

# Composition averages profiles at every real epsilon, so that domination is checked at negative ones as well.
LEVELS = [-20, -6, -3, -1.5, -1, -0.5, -0.2, -0.05, 0, 0.05, 0.2, 0.5, 1, 1.5, 3, 6, 20]


def of(distribution: LossDistribution, epsilon: Any) -> Any:
    return profile(distribution.losses.tolist(), distribution.weights.tolist(), epsilon, distribution.infinity)


def dominated(left: Law, right: Law, distribution: LossDistribution, *, missing: float = 0.0) -> None:
    for epsilon in LEVELS:
        true = hockey_stick(left, right, epsilon)
        assert of(distribution, epsilon) + mp(missing) >= true - mp(10) ** -50, epsilon


def tight(left: Law, right: Law, distribution: LossDistribution, tolerance: float = 1e-12) -> None:
    for epsilon in LEVELS:
        assert of(distribution, epsilon) <= hockey_stick(left, right, epsilon) + mp(tolerance), epsilon


def response(epsilon: Any, delta: Any = 0) -> tuple[Law, Law]:
    e, d = mp(epsilon), mp(delta)
    high, low = (1 - d) / (1 + mpmath.exp(-e)), (1 - d) / (1 + mpmath.exp(e))
    return {"yes": high, "no": low, "I am one": d}, {"yes": low, "no": high, "I am zero": d}


# --- dominating-pure --------------------------------------------------------------------------------------------------


@for_each("epsilon", ["1e-9", "0.1", "1/3", "1", "5", "40"])
@for_each("delta", ["0", "1e-6", "0.25"])
def test_dominating_pure_ensures_the_worst_pair_and_nothing_much_worse(epsilon: str, delta: str) -> None:
    pair = pure_pair(Fraction(epsilon), delta=Fraction(delta))
    left, right = response(Fraction(epsilon), Fraction(delta))
    dominated(left, right, pair)
    dominated(right, left, pair)
    tight(left, right, pair)


def test_dominating_pure_ensures_domination_of_every_pair_that_is_private() -> None:
    source = random.Random(1)
    checked = 0
    for _ in range(200):
        size = source.randint(2, 5)
        a, b = ([mp(source.randint(1, 30)) for _ in range(size)] for _ in range(2))
        left = {n: x / mpmath.fsum(a) for n, x in enumerate(a)}
        right = {n: x / mpmath.fsum(b) for n, x in enumerate(b)}
        epsilon = Fraction(source.randint(1, 200), 100)
        delta = max(hockey_stick(left, right, epsilon), hockey_stick(right, left, epsilon))
        above = Fraction(int(mpmath.ceil(delta * 10**12)), 10**12)
        dominated(left, right, pure_pair(epsilon, delta=above))
        dominated(right, left, pure_pair(epsilon, delta=above))
        checked += 0 < above < 1
    assert checked > 100


def test_dominating_pure_ensures_the_ends() -> None:
    assert not pure_pair(Fraction(0)).has_points
    leak = pure_pair(Fraction(0), delta=Fraction(1, 4))
    assert (leak.losses.tolist(), leak.weights.tolist(), leak.infinity) == ([0.0], [0.75], 0.25)
    assert pure_pair(Fraction(10) ** 400).infinity == 1


def test_dominating_pure_requires_privacy_in_both_directions() -> None:
    # (1, 0)-private in one order only: the other order has events of probability 0.
    left: Law = {"a": mp(1)}
    right: Law = {"a": mp(Fraction(1, 2)), "b": mp(Fraction(1, 2))}
    assert hockey_stick(left, right, 1) == 0
    with pytest.raises(AssertionError):
        dominated(right, left, pure_pair(Fraction(1)))


# --- dominating-randomized-response -----------------------------------------------------------------------------------


@for_each(
    ("answers", "probability"),
    [(2, "3/4"), (2, "1/4"), (5, "2/5"), (5, "1/10"), (3, "1/3"), (3, "0"), (3, "1"), (2, "0")],
)
def test_dominating_randomized_response_ensures_the_law_itself(answers: int, probability: str) -> None:
    p = mp(Fraction(probability))
    laws = [{n: p if n == truth else (1 - p) / (answers - 1) for n in range(answers)} for truth in range(answers)]
    pair = response_pair(1, answers=answers, probability=Fraction(probability))
    for left, right in itertools.permutations(laws, 2):
        dominated(left, right, pair)
        tight(left, right, pair)


def test_dominating_randomized_response_requires_one_answer() -> None:
    # Two answers that both change are not one: the product is above.
    p = mp(Fraction(3, 4))
    left, right = ({0: p, 1: 1 - p}, {0: 1 - p, 1: p})
    with pytest.raises(AssertionError):
        dominated(
            product_law([left] * 2), product_law([right] * 2), response_pair(1, answers=2, probability=Fraction(3, 4))
        )


# --- dominating-discrete-laplace --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("scale", "sensitivity"), [("1", 1), ("20", 1), ("2", 3), ("1/2", 2), ("7/3", 5), ("1", 30)])
def test_dominating_discrete_laplace_ensures_the_law_of_every_distance_up_to_the_sensitivity(
    scale: str, sensitivity: int
) -> None:
    noise = laplace_pmf(Fraction(scale), int(60 * Fraction(scale)) + 40)
    pair = discrete_laplace_pair(sensitivity, scale=Fraction(scale))
    for distance in {1, sensitivity // 2, sensitivity - 1, sensitivity} - {0}:
        # What was cut off has a probability below 1e-24.
        dominated(noise, shifted(noise, distance), pair, missing=1e-20)
        dominated(shifted(noise, distance), noise, pair, missing=1e-20)
    tight(noise, shifted(noise, sensitivity), pair, 1e-11)


def test_dominating_discrete_laplace_ensures_domination_where_points_are_gathered() -> None:
    scale, sensitivity = Fraction(1000), 5000
    pair = discrete_laplace_pair(sensitivity, scale=scale)
    assert len(pair.losses) < 2100
    r = mpmath.exp(-1 / mp(scale))
    losses = [Fraction(sensitivity - 2 * x) / scale for x in range(sensitivity + 1)]
    inner = [r**x * (1 - r) / (1 + r) for x in range(sensitivity + 1)]
    inner[0], inner[-1] = 1 / (1 + r), r**sensitivity / (1 + r)
    for epsilon in (-4.9, -1.0003, 0.0, 0.3337, 2.7, 4.9):
        true = profile(losses, inner, epsilon)
        assert true <= of(pair, epsilon) <= true * (1 + mp(10) ** -4)


def test_dominating_discrete_laplace_requires_integers_and_discrete_noise() -> None:
    # The same scale with continuous noise is dominated, but not the other way around.
    continuous = 0.5 * (1 - np.exp((0.5 - 1) / 2)) * 2
    pair = discrete_laplace_pair(1, scale=Fraction(1))
    assert of(pair, 0.5) < mp(continuous) or of(pair, 0.5) > mp(continuous) / 2
    with pytest.raises(NoTheorem, match="count it as pure"):
        discrete_laplace_pair(10**9, scale=Fraction(1))
    # A vector that changes in two places is not one integer.
    noise = laplace_pmf(Fraction(1), 25)
    moved = shifted(noise, 1)
    with pytest.raises(AssertionError):
        dominated(product_law([noise] * 2), product_law([moved] * 2), pair)


# --- dominating-discrete-gaussian -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("scale", "sensitivity"), [("1", 1), ("1/2", 1), ("2", 3), ("7/3", 1), ("3", 10)])
def test_dominating_discrete_gaussian_ensures_the_law_of_every_distance_up_to_the_sensitivity(
    scale: str, sensitivity: int
) -> None:
    noise = gaussian_pmf(Fraction(scale), 140)
    pair = discrete_gaussian_pair(sensitivity, scale=Fraction(scale))
    assert pair.infinity < 1e-40
    for distance in {1, sensitivity // 2, sensitivity} - {0}:
        dominated(noise, shifted(noise, distance), pair)
        dominated(shifted(noise, distance), noise, pair)
    tight(noise, shifted(noise, sensitivity), pair, 1e-12)
    # What is beyond the last point that is listed has an infinite loss.
    beyond = max(
        z
        for z in noise
        if Fraction(sensitivity * (sensitivity + 2 * z)) / (2 * Fraction(scale) ** 2) <= float(pair.losses[-1])
    )
    assert mp(pair.infinity) >= mpmath.fsum(p for z, p in noise.items() if z > beyond) > 0


def test_dominating_discrete_gaussian_ensures_domination_where_points_are_gathered() -> None:
    scale = Fraction(200)
    pair = discrete_gaussian_pair(3, scale=scale)
    assert len(pair.losses) < 2100
    noise = gaussian_pmf(scale, 3200)
    losses = [Fraction(3 * (3 - 2 * z)) / (2 * scale**2) for z in noise]
    for epsilon in (-0.06, -0.01, 0.0, 0.0151, 0.05):
        true = profile(losses, noise.values(), epsilon)
        assert true <= of(pair, epsilon) <= true * (1 + mp(10) ** -3)


def test_dominating_discrete_gaussian_ensures_the_known_value_at_scale_1() -> None:
    assert round(float(of(discrete_gaussian_pair(1, scale=Fraction(1)), 1)), 5) == 0.14135
    assert not discrete_gaussian_pair(0, scale=Fraction(1)).has_points


def test_dominating_discrete_gaussian_requires_discrete_noise_and_a_scale_that_can_be_listed() -> None:
    # The continuous formula is below the truth of discrete noise.
    noise = gaussian_pmf(Fraction(1), 60)
    true = hockey_stick(noise, shifted(noise, 1), 1)
    assert true > mp("0.1269367375066")
    with pytest.raises(NoTheorem, match="zcdp"):
        discrete_gaussian_pair(1, scale=Fraction(10**9))
    two = product_law([gaussian_pmf(Fraction(1), 9)] * 2)
    moved = {(a + 1, b + 1): p for (a, b), p in two.items()}
    with pytest.raises(AssertionError):
        dominated(two, moved, discrete_gaussian_pair(1, scale=Fraction(1)))


# --- dominating-pairs-compose and loss-distribution-delta -------------------------------------------------------------


def test_dominating_pairs_compose_ensures_the_product_also_for_adaptive_choices() -> None:
    # The second mechanism is randomized response of 1/2 on one or the other question, or a leak within its budget.
    pair = pure_pair(Fraction(1, 2), delta=Fraction(1, 100))
    left, right = response(Fraction(1, 2), Fraction(1, 100))
    whole = together(pair, after=pair)
    choices: list[tuple[Law, Law]] = [(left, right), (right, left), ({0: mp(1)}, {0: mp(1)})]
    for plan in itertools.product(range(3), repeat=len(left)):
        mine: Law = {}
        theirs: Law = {}
        for first, choice in zip(("yes", "no", "I am one"), plan, strict=True):
            a, b = choices[choice]
            for second in a.keys() | b.keys():
                mine[first, second] = left[first] * a.get(second, mp(0))
                theirs[first, second] = right.get(first, mp(0)) * b.get(second, mp(0))
        theirs["I am zero",] = right["I am zero"]
        dominated(mine, theirs, whole)
    # Infinities add up here, so that the product is a little above d (2 - d).
    assert 0.0199 <= whole.infinity <= 0.02 + 1e-15


def test_dominating_pairs_compose_requires_pairs_that_are_fixed_in_advance() -> None:
    # Which pair comes second depends on the first answer: neither product dominates (the natural filter).
    d = Fraction(1, 1000)
    second = 2 * mpmath.atanh(mp(d) * (1 + mpmath.exp(-1)))
    left, right = response(1)
    a, b = response(second)
    mine = {("yes", key): left["yes"] * p for key, p in a.items()} | {("no", 0): left["no"] * mp(d)}
    theirs = {("yes", key): right["yes"] * p for key, p in b.items()} | {("no", 0): mp(0)}
    mine["no", 1], theirs["no", 1] = left["no"] * (1 - mp(d)), right["no"]
    one = pure_pair(Fraction(1))
    for follows in (pure_pair(Fraction(mpmath.nstr(second, 30))), pure_pair(Fraction(0), delta=d)):
        assert of(together(one, after=follows), 1) < hockey_stick(mine, theirs, 1)


def test_loss_distribution_delta_ensures_an_upper_bound_close_to_the_mean() -> None:
    source = random.Random(4)
    for _ in range(100):
        size = source.randint(1, 30)
        losses = np.unique(np.array([source.uniform(-5, 5) for _ in range(size)]))
        weights = np.array([source.random() for _ in losses])
        distribution = LossDistribution(losses, weights, source.random() / 100)
        epsilon = source.uniform(-6, 6)
        true = of(distribution, epsilon)
        assert true <= mp(points_delta(distribution, epsilon=epsilon)) <= true * (1 + mp(10) ** -13) + mp(10) ** -300


def test_loss_distribution_delta_ensures_an_epsilon_that_is_enough_and_hardly_more() -> None:
    source = random.Random(5)
    for _ in range(100):
        losses = np.unique(np.array([source.uniform(-5, 5) for _ in range(source.randint(1, 30))]))
        weights = np.array([source.random() for _ in losses])
        distribution = LossDistribution(losses, weights / weights.sum())
        target = Fraction(10 ** source.uniform(-9, -0.3))
        found = Fraction(points_epsilon(distribution, delta=target))
        assert of(distribution, found) <= mp(target)
        if found > 0:
            assert of(distribution, found - Fraction(1, 10**6)) > mp(target)
    single = LossDistribution(np.array([-1.0]), np.array([1.0]))
    assert points_epsilon(single, delta=Fraction(1, 10)) == 0
    assert points_epsilon(pure_pair(Fraction(2)), delta=Fraction(0)) == 2


def test_loss_distribution_delta_requires_finite_rising_losses_and_weights() -> None:
    for losses, weights, infinity in (
        ([1.0, 0.0], [0.5, 0.5], 0.0),
        ([0.0, 1.0], [0.5, -0.5], 0.0),
        ([0.0, np.inf], [0.5, 0.5], 0.0),
        ([0.0, 0.5, np.nan], [0.5, 0.5, 0.5], 0.0),
        ([0.0, 0.5, 0.5], [0.5, 0.5, 0.5], 0.0),
        ([0.0], [np.inf], 0.0),
        ([0.0], [1.0], 1.5),
        ([], [], 0.0),
    ):
        with pytest.raises(NumberError):
            LossDistribution(np.array(losses), np.array(weights), infinity)
    with pytest.raises(NoTheorem, match="Gaussian factor"):
        points_delta(gaussian_factor(Fraction(1)), epsilon=1.0)
    # Points that stand for the same loss are joined.
    assert len(points(np.array([1.0, 1.0]), np.array([0.5, 0.5])).losses) == 1


def test_products_of_few_points_are_written_out() -> None:
    product = Product()
    product.add(pure_pair(Fraction(1, 3)), 5)
    product.add(response_pair(1, answers=4, probability=Fraction(1, 2)), 2)
    assert enumerable(product)
    whole = enumerate_points(product)
    left, right = response(Fraction(float(pure_pair(Fraction(1, 3)).losses[1])))
    p = mp(Fraction(1, 2))
    a, b = ({n: p if n == truth else (1 - p) / 3 for n in range(4)} for truth in (0, 1))
    laws = product_law([left] * 5 + [a] * 2), product_law([right] * 5 + [b] * 2)
    for epsilon in (0.0, 0.4, 1.1, 2.5):
        true = hockey_stick(*laws, epsilon)
        assert true <= of(whole, epsilon) <= true * (1 + mp(10) ** -12)
    product.add(pure_pair(Fraction(1, 7)), 40)
    assert not enumerable(product)
