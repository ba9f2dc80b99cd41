"""Sums of noises: widths against convolutions of the laws."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from tests.tables.estimates.laws import law, law_of_sum

from viameter.errors import ParameterError
from viameter.tables.estimates import Noise, width_of_sum
from viameter.tables.estimates.noise import Kind
from viameter.tables.estimates.sums import Weighted, normal_width, widths_of_sums

F = Fraction


def _least(values: npt.NDArray[np.int64], chances: npt.NDArray[np.float64], alpha: Fraction) -> int:
    sizes = np.abs(values)
    beyond = np.cumsum(np.bincount(sizes, weights=chances)[::-1])[::-1]
    return int(np.argmax(beyond <= float(alpha))) - 1 if (beyond <= float(alpha)).any() else len(beyond)


@pytest.mark.parametrize("kinds", [("laplace",), ("gaussian",), ("laplace", "gaussian")])
@pytest.mark.parametrize("seed", range(12))
def test_a_sum_leaves_its_width_with_a_chance_of_at_most_alpha_and_the_width_is_not_absurd(
    kinds: tuple[Kind, ...], seed: int
) -> None:
    dice = random.Random(seed)
    terms: list[tuple[int, Kind, Fraction]] = []
    for _ in range(dice.choice([2, 2, 3, 5, 9])):
        terms.append((dice.randint(1, 8), dice.choice(kinds), dice.choice([F(1, 3), F(1), F(5, 2), F(4), F(9)])))
    values, chances = law_of_sum(terms, 200)
    for alpha in (F(1, 3), F(1, 20), F(1, 1000), F(1, 10**5)):
        width = width_of_sum([(weight * (-1) ** i, Noise(k, s), 1) for i, (weight, k, s) in enumerate(terms)], alpha)
        assert chances[np.abs(values) > float(width)].sum() <= float(alpha)
        least = _least(values, chances, alpha)
        assert float(width) <= 1.9 * least + 8
        union = sum(weight * Noise(k, s).width(alpha / len(terms)) for weight, k, s in terms)
        assert width <= union * F(1 + 10**-8)


def test_many_copies_of_gaussian_noise_are_hardly_wider_than_the_normal_law_and_of_laplace_noise_by_two_fifths() -> (
    None
):
    kinds: list[tuple[Kind, float]] = [("gaussian", 1.06), ("laplace", 1.45)]
    for kind, most in kinds:
        scale = F(40)
        deviation = float((40 * 40 * 20 * (2 if kind == "laplace" else 1)) ** 0.5)
        width = width_of_sum([(1, Noise(kind, scale), 20)], "1/20")
        assert 1.9 * deviation < float(width) < most * 1.96 * deviation
        values, chances = law_of_sum([(1, kind, scale)] * 20, 900)
        assert 1e-3 < chances[np.abs(values) > float(width)].sum() <= 0.05


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [F(1, 2), F(2), F(12)])
def test_a_width_for_a_range_of_weights_holds_for_each_of_them(kind: Kind, scale: Fraction) -> None:
    for low, high in ((0, 8), (16, 20), (0, 24)):
        for alpha in (F(1, 2), F(1, 20)):
            blocks = [
                Weighted(np.full((1, 1), 8.0), Noise(kind, scale)),
                Weighted(np.full((1, 1), float(high)), Noise(kind, scale), np.full((1, 1), float(low))),
            ]
            width = widths_of_sums(blocks, alpha)[0]
            for weight in range(low, high + 1):
                values, chances = law_of_sum([(8, kind, scale), (weight, kind, scale)], 80)
                assert chances[np.abs(values) > width].sum() <= float(alpha)


def test_for_the_first_laplace_term_a_smaller_weight_may_need_a_larger_factor() -> None:
    # The two ends of a range are both looked at: at the upper end alone the factor is below what the lower end needs.
    from viameter.tables.estimates.sums import _first

    scale = np.array([10.0])
    tails = np.cumsum(law("laplace", F(10), 400)[::-1])[::-1]
    k = np.arange(-400, 401)
    for step in (0.02, 0.2, 0.5, 0.8, 0.97, 1.0):
        t = step / 10
        needed = (tails * np.exp(t * k)).max()
        factor = _first(np.array([t]), scale)[0]
        assert needed <= factor <= needed * 1.01
    assert _first(np.array([0.02]), scale)[0] > _first(np.array([0.1]), scale)[0]


@pytest.mark.parametrize("scale", [F(2), F(3), F(10)])
def test_gaussian_noise_and_the_normal_law_differ_by_at_most_one(scale: Fraction) -> None:
    beyond = 2 * np.cumsum(law("gaussian", scale, 120)[::-1])
    theta = 1 + 3 * np.exp(-19 * float(scale) ** 2)
    for step in range(40 * int(scale)):
        t = step / 8
        sooner, later = (beyond[119 - math.floor(x)] for x in (t, t + 1))
        normal_sooner, normal_later = (math.erfc(x / (float(scale) * 2**0.5)) for x in (t, t + 1))
        assert later <= normal_sooner / theta * (1 + 1e-12)
        assert normal_later / theta <= sooner * (1 + 1e-12)


def test_the_width_of_the_normal_law_is_that_of_tables() -> None:
    for alpha, width in (
        (F(1, 20), 1.959963984540054),
        (F(1, 1000), 3.2905267314919255),
        (F(1, 2), 0.6744897501960817),
    ):
        assert 0 <= normal_width(alpha) - width < 1e-9


def test_one_term_has_its_own_width_and_none_has_none() -> None:
    noise = Noise("gaussian", F(30))
    assert width_of_sum([(1, noise, 1)], "1/20") == noise.width("1/20")
    assert width_of_sum([("-1/3", noise, 1), (0, noise, 5), (1, noise, 0)], "1/20") == noise.width("1/20") / 3
    assert width_of_sum([], "1/20") == 0
    assert width_of_sum([(5, Noise("laplace", F(0)), 3)], "1/20") == 0
    with pytest.raises(ParameterError, match="copies"):
        width_of_sum([(1, noise, -1)], "1/20")
