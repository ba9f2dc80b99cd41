"""What the tests of selection compare with: MPFR with many bits, tapes with chosen bits, goodness of fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]

from viameter.sampling import Tape

BITS = 3000
CONTEXT = gmpy2.context(precision=BITS, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max())
ALARM = 1e-9
"""How often a right sampler would be called wrong, if the tapes were not fixed."""


def exp_minus(x: Fraction, bits: int = BITS) -> Fraction:
    """exp(-x) to so many bits; 0 where it is below 2^-100000."""
    if x > 100_000:
        return Fraction(0)
    context = gmpy2.context(precision=bits)
    value = context.exp(gmpy2.mpfr(gmpy2.mpq(-x.numerator, x.denominator), 0, context))
    return Fraction(*map(int, value.as_integer_ratio()))


def exponents(scores: Sequence[Any], scale: Fraction) -> list[Fraction]:
    top = max(Fraction(score) for score in scores)
    return [(top - Fraction(score)) / scale for score in scores]


def boundaries(scores: Sequence[Any], scale: Fraction) -> list[Fraction]:
    """Where u passes from one candidate to the next: partial sums over the total, and 1 at the end."""
    weights = [exp_minus(x) for x in exponents(scores, scale)]
    total = sum(weights)
    return [sum(weights[: i + 1], Fraction(0)) / total for i in range(len(weights))]


def located(ends: Sequence[Fraction], u: Fraction) -> int:
    """The candidate of a uniform number; the ends must be known well enough to tell."""
    for index, end in enumerate(ends):
        assert index == len(ends) - 1 or abs(u - end) > Fraction(2) ** (64 - BITS), "the oracle has too few bits"
        if u < end:
            return index
    raise AssertionError("u is not below 1")


def tape(u: Fraction, length: int = 1024) -> Tape:
    """The bits of a number in [0, 1), up to so many bytes."""
    return Tape(math.floor(u * 2 ** (8 * length)).to_bytes(length, "big"))


def chance_of_more(statistic: float, degrees: int) -> float:
    """P(chi-square > statistic), for an even number of degrees of freedom."""
    assert degrees % 2 == 0
    half = statistic / 2
    return math.exp(-half) * sum(half**j / math.factorial(j) for j in range(degrees // 2))


def fit(counts: Sequence[int], chances: Sequence[float]) -> float:
    """How probable it is that counts of cells with these chances are as far off as these are, or more."""
    total = sum(counts)
    assert abs(sum(chances) - 1) < 1e-9 and min(chances) * total > 50
    statistic = sum(
        (count - total * chance) ** 2 / (total * chance) for count, chance in zip(counts, chances, strict=True)
    )
    return chance_of_more(statistic, len(counts) - 1)
