"""Counts and sums: exact coverage, and ends that are rounded outward."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from tests.tables.estimates.laws import law, missed

from viameter.errors import NumberError, ParameterError
from viameter.tables.estimates import Noise, count_estimate, noise_only, sum_estimate
from viameter.tables.estimates.noise import Kind

F = Fraction


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [F(1, 2), F(3), F(25)])
@pytest.mark.parametrize("count", [0, 1, 40])
@pytest.mark.parametrize("alpha", [F(1, 20), F(1, 1000)])
def test_counts_are_covered_and_no_number_is_negative(kind: Kind, scale: Fraction, count: int, alpha: Fraction) -> None:
    reach = 600
    noisy, chances = count + np.arange(-reach, reach + 1), law(kind, scale, reach)
    for raw in (False, True):
        found = count_estimate(noisy, Noise(kind, scale), alpha, raw=raw)
        inside = (found.lower <= count) & (count <= found.upper)
        # One step narrower would not be enough; where raw counts are not cut off, it is seen exactly.
        assert missed(chances, inside) <= alpha
        if raw:
            narrower = (found.lower + 1 < count) & (count < found.upper - 1)
            assert missed(chances, narrower) > alpha
            assert (found.value == noisy).all()
        else:
            assert min(found.value.min(), found.lower.min(), found.upper.min()) == 0
        assert (found.lower <= found.value).all() and (found.value <= found.upper).all()


def test_counts_at_the_ends_of_64_bits_do_not_wrap_around() -> None:
    found = count_estimate(np.array([2**63 - 1, -(2**63)]), Noise("laplace", F(2**50)), raw=True)
    assert found.upper[0] == 2**63 - 1 and found.lower[1] == -(2**63)
    assert (found.lower <= found.upper).all()


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_sums_are_exact_numbers_rounded_outward(kind: Kind) -> None:
    dice = random.Random(7)
    for _ in range(200):
        noise = Noise(kind, F(dice.randint(1, 10**6), 1000))
        unit, offset = F(dice.randint(1, 999), dice.randint(1, 999)), F(dice.randint(-999, 999), 7)
        integer, alpha = dice.choice([3, -5, 10**6, 2**60 + 1, -(2**62) - 1]), F(1, dice.choice([2, 20, 1000]))
        found = sum_estimate([integer], noise, alpha, unit=unit, offset=offset)
        low, high = (offset + unit * (integer + sign * noise.width(alpha)) for sign in (-1, 1))
        lower, upper = F(float(found.lower[0])), F(float(found.upper[0]))
        assert lower <= low and high <= upper
        close = (abs(low) + abs(high) + 1) / 2**49
        assert low - lower < close and upper - high < close
        assert abs(F(float(found.value[0])) - (offset + unit * integer)) < close


def test_the_rounding_of_rows_widens_sums() -> None:
    noise = Noise("gaussian", F(0))
    found = sum_estimate([100, 100], noise, unit="1/8", row_error="1/8", rows=[10, 1000])
    assert found.lower[0] <= 100 / 8 - 10 / 8 and found.upper[0] >= 100 / 8 + 10 / 8
    assert found.upper[0] == pytest.approx(110 / 8) and found.upper[1] == pytest.approx(1100 / 8)
    with pytest.raises(ParameterError, match="rows"):
        sum_estimate([100], noise, row_error=1)


def test_sums_stay_where_they_must_be() -> None:
    found = sum_estimate([-50, 50], Noise("gaussian", F(10)), at_least=0, at_most=60)
    assert found.lower.min() >= 0 and found.upper.max() <= 60
    assert found.value.tolist() == [0.0, 50.0]


def test_what_is_no_statistic_is_refused() -> None:
    noise = Noise("laplace", F(1))
    for wrong in ([1.5], ["a"], [2**64], [True]):
        with pytest.raises(ParameterError, match="noisy"):
            count_estimate(wrong, noise)
    with pytest.raises(ParameterError, match="unit"):
        sum_estimate([1], noise, unit=0)
    with pytest.raises(NumberError, match="row_error"):
        sum_estimate([1], noise, row_error=-1, rows=[1])
    assert count_estimate([], noise).value.shape == (0,)
    assert count_estimate(5, noise).value.shape == ()


def test_an_estimate_says_what_it_covers() -> None:
    assert count_estimate([1], Noise("laplace", F(1))).covers == noise_only("the count of the kept rows", F(1, 20))
    assert "noise only" in sum_estimate([1], Noise("laplace", F(1))).covers
