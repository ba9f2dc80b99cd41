"""Weights of candidates: floats and double-double are better than claimed, integers are within their enclosure."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.cases import for_each
from tests.sampling.oracles import exp_to_bits, exponents

from viameter.errors import NumberError
from viameter.sampling import weights as module
from viameter.sampling.weights import (
    FIXED_NEAR_BITS,
    FIXED_NEAR_ERROR_BITS,
    NEAR_DROPPED,
    NEAR_ERROR,
    Weights,
    fixed_exp,
)

LN2 = 0.6931471805599453
# Where the table is entered half way between two entries: the ends of the polynomial.
HALFWAY = (np.arange(4096) + 0.5) * LN2 / 64


def random_floats(seed: int, count: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(0, 64 * LN2, count)


def wide_integers(seed: int, count: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(-(2**63), 2**63 - 1, count, endpoint=True)


CASES: dict[str, tuple[NDArray[Any], Fraction]] = {
    "floats": (-random_floats(1, 60_000), Fraction(1)),
    "halfway": (-np.concatenate([HALFWAY, np.nextafter(HALFWAY, 0), np.nextafter(HALFWAY, 99)]), Fraction(1)),
    "odd scale": (-random_floats(2, 10_000) / 3, Fraction(1, 3)),
    "last entries": (-np.random.default_rng(3).uniform(44.0, 44.4, 10_000), Fraction(1)),
    "tiny": (-np.ldexp(random_floats(4, 4_000), -(np.arange(4_000) % 1100)), Fraction(1)),
    "far from 0": (1e6 - random_floats(5, 4_000), Fraction(7, 5)),
    "small factor": (np.arange(-500, 0), Fraction(255, 128)),
    "small integers": (np.arange(-500, 500), Fraction(11, 3)),
    "wide integers": (wide_integers(6, 4_000), Fraction(2**60)),
    "odd integers": (2**63 - 1 - np.arange(2**53 - 1, 2**53 + 3_000), Fraction(2**50 + 1)),
    "wide floats": (
        np.append(np.ldexp(random_floats(7, 2_000) - 20, 1017), [5e-324, -1.7e308, 1.7e308]),
        Fraction(3 * 10**307),
    ),
    "subnormal floats": (np.arange(400) * 5e-324, Fraction(2) ** -1068),
    "tiny scale": (np.arange(400) * 5e-324, Fraction(2) ** -1072 / 3),
    "scale beyond floats": (np.array([0.0, 1e308, -1e308, 1.5e308]), Fraction(10) ** 310),
    "huge scale": (np.array([0.0, 1e308, -1e308, 1.0]), Fraction(10) ** 4000),
    "scale near nothing": (np.array([0.0, 5e-324, 0.0, -1.0]), Fraction(1, 10**4000)),
}


def near(weights: Weights, start: int, stop: int) -> list[float]:
    with np.errstate(all="ignore"):
        return list(map(float, weights.near(start, stop)))


@for_each("name", CASES)
def test_floats_are_far_better_than_claimed(name: str) -> None:
    """About 1e5 points in all, among them those that are worst by construction."""
    scores, scale = CASES[name][0], Fraction(CASES[name][1])
    worst = 0.0
    context = gmpy2.context(precision=120)
    top, divisor = gmpy2.mpq(scores.max().item()), gmpy2.mpq(scale.numerator, scale.denominator)
    for approximation, score in zip(near(Weights.of(scores, scale), 0, len(scores)), scores.tolist(), strict=True):
        weight = context.exp(gmpy2.mpfr((gmpy2.mpq(score) - top) / divisor, 0, context))
        if approximation == 0.0:
            assert weight < NEAR_DROPPED
        else:
            worst = max(worst, abs(float(context.sub(context.div(approximation, weight), 1))))
    assert worst < NEAR_ERROR / 6, math.log2(worst)


@for_each("name", CASES)
def test_pairs_are_far_better_than_claimed(name: str) -> None:
    scores, scale = CASES[name][0][-1_500:], Fraction(CASES[name][1])
    for fixed, x in zip(Weights.of(scores, scale).fixed_near(), exponents(scores.tolist(), scale), strict=True):
        weight = exp_to_bits(x, 300) * 2**FIXED_NEAR_BITS
        assert abs(fixed - weight) <= 3 + weight / 2 ** (FIXED_NEAR_ERROR_BITS + 10)


def test_the_polynomial_is_as_good_as_its_analysis() -> None:
    """Where the exponent is small, the error is that of the cubic in place of the fifth power: below 2^-48."""
    scores = -np.linspace(0, 1.5 * LN2 / 64, 3_001)
    given = near(Weights.of(scores, Fraction(1)), 0, len(scores))
    exact = [exp_to_bits(x, 120) for x in exponents(scores.tolist(), Fraction(1))]
    assert max(abs(float(Fraction(a) / e - 1)) for a, e in zip(given, exact, strict=True)) < 2.0**-48


@for_each("name", ["small integers", "wide floats", "huge scale", "scale near nothing"])
@for_each("bits", [20, 93, 300])
def test_integers_are_within_two_units(name: str, bits: int) -> None:
    scores, scale = CASES[name][0][:150], Fraction(CASES[name][1])
    for fixed, x in zip(Weights.of(scores, scale).fixed(bits), exponents(scores.tolist(), scale), strict=True):
        assert fixed <= exp_to_bits(x, bits + 100) * 2**bits <= fixed + 2


@pytest.mark.parametrize("limit", [2**18, 2])
@pytest.mark.parametrize("bits", [1, 30, 500])
def test_integers_of_large_exponents(monkeypatch: pytest.MonkeyPatch, limit: int, bits: int) -> None:
    """Also by halving the exponent, which otherwise is for exponents of which hardly anyone sees the weight."""
    monkeypatch.setattr(module, "_LARGEST_EXPONENT", limit)
    for x in [Fraction(k, 7) for k in range(0, 4000, 13)] + [Fraction(10) ** 40]:
        fixed = fixed_exp(x, bits)
        assert fixed <= exp_to_bits(x, bits + 100) * 2**bits <= fixed + 2
    assert bits < 500 or fixed_exp(Fraction(300), bits) > 2**60
    assert module._OCTAVES < 1 / LN2


def test_a_weight_that_dyadic_numbers_do_not_hold() -> None:
    """exp(-800000) is below 2^-2^20; its first bits are found nevertheless."""
    fixed = fixed_exp(Fraction(800_000), 1_154_200)
    assert fixed.bit_length() == 1_154_200 - math.floor(800_000 / LN2)


def test_exponents_are_exact() -> None:
    weights = Weights.of(np.array([2**63 - 1, -(2**63), 0]), Fraction(1, 3))
    assert [weights.exponent(i) for i in range(3)] == [0, 3 * (2**64 - 1), 3 * (2**63 - 1)]
    weights = Weights.of(np.array([0.1, -1.7e308]), Fraction(3))
    assert weights.exponent(1) == (Fraction(0.1) + Fraction(1.7e308)) / 3


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused_without_a_word_about_the_rest(bad: float) -> None:
    for scores in ([bad], [12345.0, bad, 1.0], [1.0, 2.0, bad]):
        with pytest.raises(NumberError, match="not all finite") as caught:
            Weights.of(np.array(scores), Fraction(1))
        assert "12345" not in str(caught.value)
