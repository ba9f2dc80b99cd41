"""Variances and standard deviations: exact coverage by combinations of three noises, and by draws."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.tables.estimates.laws import grid, law, missed

from viameter.errors import ParameterError
from viameter.sampling import Tape, discrete_gaussian, discrete_laplace
from viameter.tables.estimates import Noise, std_estimate, variance_estimate
from viameter.tables.estimates.noise import Kind

F = Fraction


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("rows", [[3], [0, 0, 0], [-4, 4], [4] * 30, [-4, 0, 1, 2] * 10, [-4] * 20 + [4] * 20])
@pytest.mark.parametrize("alpha", [F(1, 20), F(1, 4)])
def test_variances_are_covered_by_every_combination_of_noises(kind: Kind, rows: list[int], alpha: Fraction) -> None:
    scales, reach = (F(3, 2), F(1), F(1, 2)), (16, 11, 6)
    (q, z, y), chances = grid([law(kind, s, r) for s, r in zip(scales, reach, strict=True)])
    n = len(rows)
    found = variance_estimate(
        sum(x * x for x in rows) + q, Noise(kind, scales[0]), sum(rows) + z, Noise(kind, scales[1]), n + y,
        Noise(kind, scales[2]), alpha, bounds=(6, 14), center=10,
    )  # fmt: skip
    truth = float(F(sum(x * x for x in rows), n) - F(sum(rows), n) ** 2)
    assert missed(chances, (found.lower <= truth) & (truth <= found.upper)) <= alpha
    assert found.lower.min() >= 0 and found.upper.max() <= 16
    assert (found.lower <= found.value).all() and (found.value <= found.upper).all()
    roots = std_estimate(found)
    assert missed(chances, (roots.lower <= truth**0.5) & (truth**0.5 <= roots.upper)) <= alpha
    assert roots.lower.min() >= 0 and (roots.lower <= roots.value).all() and (roots.value <= roots.upper).all()


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_variances_of_many_rows_are_sharp(kind: Kind) -> None:
    draw = discrete_laplace if kind == "laplace" else discrete_gaussian
    groups, entropy = 5000, Tape.seeded(5)
    squares = 10_000 * 2000 + draw(groups, F(100_000), entropy=entropy)
    total = 10_000 * 20 + draw(groups, F(2000), entropy=entropy)
    count = 10_000 + draw(groups, F(20), entropy=entropy)
    noises = [Noise(kind, F(s)) for s in (100_000, 2000, 20)]
    found = variance_estimate(squares, noises[0], total, noises[1], count, noises[2], bounds=(-100, 100))
    share = 1 - ((found.lower <= 1600) & (found.upper >= 1600)).mean()
    assert 0 < share <= 0.05
    assert np.median(found.upper - found.lower) < 150


def test_the_rounding_of_rows_is_covered() -> None:
    dice, quiet = random.Random(11), Noise("laplace", F(0))
    for _ in range(100):
        unit, square_unit = F(1, dice.choice([1, 2, 8])), F(dice.choice([1, 2]), dice.choice([1, 4]))
        rows = [F(dice.randint(-400, 400), 100) for _ in range(dice.randint(1, 6))]
        if dice.random() < 0.3:
            rows = [F(dice.choice([-4, 4])) for _ in rows]
        n = len(rows)
        way = dice.choice([math.floor, math.ceil])
        total, squares = sum(way(x / unit) for x in rows), sum(way(x * x / square_unit) for x in rows)
        found = variance_estimate(
            [squares], quiet, [total], quiet, [n], quiet, bounds=(-3, 5), center=1, unit=unit, squares_unit=square_unit,
            row_error=unit, square_error=square_unit,
        )  # fmt: skip
        truth = sum(x * x for x in rows) / n - (sum(rows) / n) ** 2
        assert F(float(found.lower[0])) <= truth <= F(float(found.upper[0]))


def test_a_group_that_may_be_empty_has_all_variances_that_the_bounds_allow() -> None:
    noise = Noise("gaussian", F(2))
    found = variance_estimate([100, 100], noise, [3, 3], noise, [-1, 2], noise, bounds=(0, 6))
    assert found.lower.tolist() == [0.0, 0.0] and found.upper.tolist() == [9.0, 9.0]
    assert found.value[0] == 3.0
    with pytest.raises(ParameterError, match="squares_unit"):
        variance_estimate([1], noise, [1], noise, [1], noise, bounds=(0, 6), squares_unit=0)


CASES: dict[str, Any] = {
    "spread out": lambda n: np.arange(n) * 200 // n - 100,
    "off the center": lambda n: 60 + np.arange(n) % 21 - 10,
    "skewed": lambda n: np.where(np.arange(n) % 10 == 0, 90, -95),
    "two ends": lambda n: np.where(np.arange(n) % 2 == 0, -100, 100),
    "one number": lambda n: np.full(n, 37),
    "one end": lambda n: np.full(n, 100),
}


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n", [20, 400, 4000])
def test_variances_are_covered_about_as_often_as_is_said(kind: Kind, case: str, n: int) -> None:
    # Of 6000 draws 300 misses are allowed; a false alarm takes six standard deviations.
    rows, groups, entropy = CASES[case](n), 6000, Tape.seeded(n)
    draw = discrete_laplace if kind == "laplace" else discrete_gaussian
    scales = [F(20_000), F(200), F(2)]
    exact = [int((rows**2).sum()), int(rows.sum()), n]
    noisy = [number + draw(groups, scale, entropy=entropy) for number, scale in zip(exact, scales, strict=True)]
    noises = [Noise(kind, scale) for scale in scales]
    found = variance_estimate(
        noisy[0], noises[0], noisy[1], noises[1], noisy[2], noises[2], bounds=(-100, 100)
    )  # fmt: skip
    truth = float(rows.var())
    missed = ((found.lower > truth) | (truth > found.upper)).mean()
    assert missed <= 0.05 + 6 * math.sqrt(0.05 * 0.95 / groups)
    if n == 4000 and case in ("spread out", "skewed"):
        # Nor too wide: misses are not rare, and no interval from the same draws could be much narrower.
        assert missed > 0.025
        narrowest = 2 * np.quantile(np.abs(found.value - truth), 0.95)
        assert np.median(found.upper - found.lower) < 1.15 * narrowest


def test_intervals_of_variances_are_narrower_than_a_box_of_two_means() -> None:
    # What two intervals, of the mean of squares and of the mean, would leave: the most that was known before.
    noises = [Noise("gaussian", F(scale)) for scale in (20_000, 200, 2)]
    rows = CASES["skewed"](4000)
    found = variance_estimate(
        [int((rows**2).sum())], noises[0], [int(rows.sum())], noises[1], [4000], noises[2], bounds=(-100, 100)
    )  # fmt: skip
    assert found.upper[0] - found.lower[0] < 55  # the box was 128 wide


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_what_is_not_known_of_the_mean_counts_by_its_square(kind: Kind) -> None:
    # The mean is off by 5 or so, its square by 25, and all else is known to a tenth of that.
    rows, groups, entropy = CASES["off the center"](100), 4000, Tape.seeded(77)
    draw = discrete_laplace if kind == "laplace" else discrete_gaussian
    scales = [F(50), F(500), F(1, 8)]
    exact = [int((rows**2).sum()) - 120 * int(rows.sum()) + 3600 * 100, int(rows.sum()) - 6000, 100]
    noisy = [number + draw(groups, scale, entropy=entropy) for number, scale in zip(exact, scales, strict=True)]
    noises = [Noise(kind, scale) for scale in scales]
    found = variance_estimate(
        noisy[0], noises[0], noisy[1], noises[1], noisy[2], noises[2], bounds=(-40, 160), center=60
    )  # fmt: skip
    truth = float(rows.var())
    missed = (found.lower > truth) | (truth > found.upper)
    assert missed.mean() <= 0.05 + 6 * math.sqrt(0.05 * 0.95 / groups)
    # The value itself is off by that square, and to one side.
    assert (found.value < truth - 1).mean() > 0.5
