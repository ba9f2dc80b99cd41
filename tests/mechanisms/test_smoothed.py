"""Discrete Gaussian noise counted as real noise: against both laws of a vector, enumerated or convolved."""

import itertools
import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.cases import for_each

import viameter as vm
from viameter.arith import INFINITY
from viameter.measures import GaussianDP
from viameter.mechanisms.smoothed import SMOOTHING, smoothed_gaussian, smoothed_gaussian_on_integers

SHIFTS = [(1,), (3,), (1, 1), (2, 1), (1, 1, 1, 1), (2, 0, 0, 0), (-1, 1, 0, 3), (1,) * 9, (3, *[0] * 8), (1,) * 25]


@lru_cache(maxsize=8)
def losses_of(shift: tuple[int, ...], scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The law of the sum of all privacy losses between noise and noise that was moved."""
    reach = math.ceil(9 * scale) + max(map(abs, shift))
    at = np.arange(-reach, reach + 1)
    one = np.exp(-(at**2) / (2 * scale**2))
    one /= one.sum()
    # A coordinate that moves by k loses (k^2 - 2 k z)/2s^2: whole numbers of 1/2s^2, that add up.
    law = {0: 1.0}
    for k in shift:
        if k:
            steps = dict(zip((k * k - 2 * k * at).tolist(), one.tolist(), strict=True))
            lost = np.array(list(steps)), np.array(list(law))
            chances = np.outer(list(steps.values()), list(law.values())).ravel()
            places = np.add.outer(*lost).ravel()
            values, back = np.unique(places, return_inverse=True)
            law = dict(zip(values.tolist(), np.bincount(back, chances).tolist(), strict=True))
    return np.array(list(law)) / (2 * scale**2), np.array(list(law.values()))


def delta(shift: tuple[int, ...], scale: float, epsilon: float) -> float:
    """The least delta between noise and noise that was moved."""
    losses, chances = losses_of(shift, scale)
    return float((chances * np.maximum(0.0, -np.expm1(np.minimum(epsilon - losses, 0.0)))).sum())


@for_each("shift", SHIFTS)
@for_each("scale", ["1", "3/2", "2", "3", "6"])
@for_each("smoothing", ["1/4", "1", "2"])
def test_smoothed_gaussian_on_integers_ensures_the_delta_of_real_gaussians_at_every_epsilon(
    shift: tuple[int, ...], scale: str, smoothing: str
) -> None:
    far = math.isqrt(sum(k * k for k in shift) * 10**24) + 1
    loss = smoothed_gaussian_on_integers(
        Fraction(far, 10**12), scale=Fraction(scale), size=len(shift), smoothing=Fraction(smoothing)
    )
    for epsilon in ("0", "1/10", "1/2", "1", "2", "4", "8"):
        if loss.is_finite:
            allowed = loss.to(vm.ApproxDP, epsilon=epsilon)
            truth = delta(shift, float(Fraction(scale)), float(Fraction(epsilon)))
            assert truth <= float(allowed.delta) * (1 + 1e-9) + 1e-15, epsilon


def test_smoothed_gaussian_on_integers_ensures_little_more_than_real_noise_where_it_is_not_small() -> None:
    for scale, size in ((20, 1), (42, 100), (1000, 10**6)):
        loss = smoothed_gaussian_on_integers(Fraction(10), scale=Fraction(scale), size=size, smoothing=SMOOTHING)
        assert 10 / scale < float(loss.mu) < 10 / scale * (1 + 1.5 / scale**2)
    # The profile of one integer that moves by 2 is below that of four that move by 1.
    assert delta((2, 0, 0, 0), 1, 4) < 0.052 and delta((1, 1, 1, 1), 1, 4) > 0.075
    four = smoothed_gaussian_on_integers(Fraction(2), scale=Fraction(1), size=4, smoothing=Fraction(1, 2))
    assert float(four.to(vm.ApproxDP, epsilon=4).delta) > 0.0753


def test_smoothed_gaussian_on_integers_ensures_nothing_for_nothing_and_no_claim_where_it_has_none() -> None:
    def loss(d_in: Any, scale: str = "10", size: int = 3, smoothing: str = "2") -> Any:
        return smoothed_gaussian_on_integers(d_in, scale=Fraction(scale), size=size, smoothing=Fraction(smoothing))

    assert loss(Fraction(0)) == vm.gdp(0) and loss(INFINITY) == GaussianDP.infinite
    assert loss(Fraction(1)).is_finite and loss(Fraction(1), smoothing="99").is_finite
    for smoothing in ("100", "101", "0", "-1", "1/10"):
        assert loss(Fraction(1), smoothing=smoothing) == GaussianDP.infinite, smoothing
    assert loss(Fraction(1), size=10**17) == loss(Fraction(1), scale="0") == GaussianDP.infinite


def test_smoothed_gaussian_on_integers_requires_data_that_are_integers() -> None:
    # Half an integer and an integer never give the same: the delta is 1 at every epsilon.
    claimed = smoothed_gaussian_on_integers(Fraction(1, 2), scale=Fraction(5), size=1, smoothing=Fraction(2))
    assert float(claimed.to(vm.ApproxDP, epsilon=8).delta) < 1e-9
    support = set(range(-50, 51))
    assert support.isdisjoint(z + Fraction(1, 2) for z in support)


def test_smoothed_gaussian_on_integers_requires_noise_that_is_drawn_exactly() -> None:
    # Noise that stops at two scales is not seen beyond: the last integer tells the two apart.
    scale, stop = 5.0, 10
    weights = np.exp(-(np.arange(-stop, stop + 1) ** 2) / (2 * scale**2))
    seen = weights[-1] / weights.sum()
    claimed = smoothed_gaussian_on_integers(Fraction(1), scale=Fraction(5), size=1, smoothing=Fraction(2))
    assert seen > float(claimed.to(vm.ApproxDP, epsilon=2).delta)


@pytest.mark.parametrize("size", [1, 100, 10**6])
def test_noise_for_a_gaussian_loss_costs_no_more_and_hardly_less(size: int) -> None:
    space = vm.Space(vm.vectors(int, size=size), vm.L2Distance())
    for mu, distance in itertools.product(("1/1000", "1/4", "2"), (Fraction(1), Fraction(7, 3), Fraction(1000))):
        target = vm.gdp(mu)
        made = smoothed_gaussian(space, distance=distance, mu_squared=Fraction(target.mu_squared))
        assert made is not None
        loss = made.map(distance)
        assert loss <= target and loss.mu_squared >= target.mu_squared * (1 - Fraction(1, 10**12))
    assert smoothed_gaussian(space, distance=Fraction(1), mu_squared=Fraction(1, 10**50)) is None
