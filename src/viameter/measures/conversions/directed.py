"""MPFR numbers with a direction: what the conversions compute with, between exact rationals in and out.

`UP` and `DOWN` are MPFR contexts of `WORK` bits: every operation through their methods is rounded that way. They are
shared by all threads; only their flags are ever written, and nobody reads those.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import gmpy2  # type: ignore[import-untyped]

from viameter.arith import ZERO

Real: TypeAlias = Any
"""An MPFR number."""

WORK = 256
"""Bits of the work."""

BITS = 128
"""Bits of a result."""

LEAST_DELTA = Fraction(1, 2**16384)
"""A smaller delta that has to be computed is rounded up to this: nobody needs it, and it would fill the memory."""


def context(bits: int, *, up: bool) -> Any:
    """An MPFR context that rounds one way, with the widest range of exponents."""
    direction = gmpy2.RoundUp if up else gmpy2.RoundDown
    return gmpy2.context(precision=bits, round=direction, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max())


UP, DOWN = context(WORK, up=True), context(WORK, up=False)
_RESULT = context(BITS, up=True)


def real(q: Fraction, rounded: Any) -> Real:
    """A rational as an MPFR number, rounded as the context says."""
    return gmpy2.mpfr(gmpy2.mpq(q.numerator, q.denominator), 0, rounded)


def log(q: Fraction, rounded: Any) -> Real:
    """The natural logarithm of a rational above 0, also where it is near 1."""
    if 1 <= 2 * q <= 4:
        return rounded.log1p(real(q - 1, rounded))
    return rounded.log(real(q, rounded))


def amount_up(x: Real) -> Fraction:
    """An exact number at or just above x, of `BITS` bits; 0 if x is negative."""
    if x <= 0:
        return ZERO
    numerator, denominator = gmpy2.mpfr(x, 0, _RESULT).as_integer_ratio()
    return Fraction(int(numerator), int(denominator))


def probability_up(exponent: Real) -> Fraction:
    """A probability at or just above e**x; 1 if x is not negative."""
    if exponent >= 0:
        return Fraction(1)
    chance = UP.exp(exponent)
    return chance_up(chance)


def chance_up(chance: Real) -> Fraction:
    """A probability at or just above a number: between `LEAST_DELTA` and 1, and 0 only for 0."""
    if chance >= 1:
        return Fraction(1)
    if 0 < chance < _LEAST:
        return LEAST_DELTA
    return amount_up(chance)


_LEAST = real(LEAST_DELTA, UP)


def root(
    slope_and_value: Callable[[Real], tuple[Real, Real]], low: Real, high: Real, *, steps: int = 80, bits: int = 64
) -> Real:
    """About where an increasing function is 0, between low and high: Newton's steps, or halving where they leave.

    Nothing rests on how good it is: bounds hold at any point, and are best at this one.
    """
    with gmpy2.context(precision=bits, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
        point = gmpy2.sqrt(low * high)
        for _ in range(steps):
            slope, value = slope_and_value(point)
            if value > 0:
                high = point
            else:
                low = point
            moved = point - value / slope
            if not low <= moved <= high:
                moved = gmpy2.sqrt(low * high)
            if abs(moved - point) <= point * _CLOSE:
                return moved
            point = moved
        return point


# The bounds are flat where they are best, so that half of the digits are enough, and this is more.
_CLOSE = 2.0**-50


_HALVINGS = 600


def greatest_that_fits(fits: Callable[[Fraction], bool], *, start: Fraction, bits: int) -> Fraction:
    """A number that fits, at or just below the greatest one, where all smaller ones fit too; `start` is a guess.

    >>> float(greatest_that_fits(lambda x: x * x <= 2, start=Fraction(100), bits=50))
    1.414213562373095
    """
    high = start
    while fits(high):
        high *= 2
    low = high / 2
    for _ in range(_HALVINGS):
        if fits(low):
            break
        low, high = low / 2, low
    else:
        return Fraction(0)  # nothing that small can be told from nothing: nothing fits
    # Now low fits and high = 2 low does not; each step halves the gap, and what is kept was seen to fit.
    for _ in range(bits):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
