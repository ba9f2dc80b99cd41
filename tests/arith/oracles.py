"""What the tests of directed rounding compare with: exact rationals, MPFR with many bits, and floats that are nasty."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

INF = math.inf
SMALLEST = 2.0**-1074
LEAST_NORMAL = 2.0**-1022
LARGEST = (2.0 - 2.0**-52) * 2.0**1023

_POSITIVE = [
    0.0,
    SMALLEST,
    2 * SMALLEST,
    3 * SMALLEST,
    2.0**-1050 + SMALLEST,
    LEAST_NORMAL - SMALLEST,
    LEAST_NORMAL,
    LEAST_NORMAL + SMALLEST,
    1e-200,
    2.0**-537,
    2.0**-75,
    2.0**-54,
    1.5 * 2.0**-54,
    2.0**-53,
    2.0**-30,
    0.1,
    1 / 3,
    0.5,
    1.0 - 2.0**-53,
    1.0,
    1.0 + 2.0**-52,
    1.5,
    math.pi,
    40.0,
    709.5,
    720.0,
    2.0**53 - 1,
    2.0**53,
    1e200,
    2.0**1023,
    LARGEST,
    INF,
]
NASTY = [sign * x for x in _POSITIVE for sign in (1.0, -1.0)]
"""Signed zeros, subnormals, the ends of the normal range, floats next to 1, infinities, and what lies between."""


def bits(x: float) -> int:
    """The bit pattern of a float, which tells 0.0 from -0.0."""
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def any_floats(seed: int, count: int) -> NDArray[np.float64]:
    """Random bit patterns, so over the whole range of exponents; no NaN."""
    patterns = np.random.default_rng(seed).integers(0, 2**64, 2 * count, dtype=np.uint64)
    floats = patterns.view(np.float64)
    return floats[~np.isnan(floats)][:count]


def is_up(result: float, exact: Fraction) -> bool:
    """Whether the result is the least float, or infinity, that is at least the exact number."""
    below = math.nextafter(result, -INF)
    return _at_least(result, exact) and not _at_least(below, exact)


def is_down(result: float, exact: Fraction) -> bool:
    """Whether the result is the greatest float, or infinity, that is at most the exact number."""
    return is_up(-result, -exact)


def _at_least(x: float, exact: Fraction) -> bool:
    return x > 0 if math.isinf(x) else Fraction(x) >= exact


def is_root_up(result: float, x: float) -> bool:
    """Whether the result is the least float whose square is at least x, for x > 0."""
    return Fraction(result) ** 2 >= Fraction(x) > Fraction(math.nextafter(result, 0.0)) ** 2


def is_root_down(result: float, x: float) -> bool:
    """Whether the result is the greatest float whose square is at most x, for x > 0."""
    return Fraction(result) ** 2 <= Fraction(x) < Fraction(math.nextafter(result, INF)) ** 2


_BITS = 300
_LOW = gmpy2.context(precision=_BITS, round=gmpy2.RoundDown)
_HIGH = gmpy2.context(precision=_BITS, round=gmpy2.RoundUp)
MANY_BITS = gmpy2.context(precision=_BITS)


def is_function_up(result: float, function: str, *operands: Any) -> bool:
    """Whether the result is the least float that is at least the value of an MPFR function.

    MPFR encloses the value in [low, high]; if they differ, the value is strictly between them, since it would have
    been given exactly otherwise. So nothing is lost by the equality signs.
    """
    low, high = getattr(_LOW, function)(*operands), getattr(_HIGH, function)(*operands)
    below = math.nextafter(result, -INF)
    if low == high:
        return bool(below < low <= result)
    return bool(below <= low and high <= result)


def is_function_down(result: float, function: str, *operands: Any) -> bool:
    """Whether the result is the greatest float that is at most the value of an MPFR function."""
    low, high = getattr(_LOW, function)(*operands), getattr(_HIGH, function)(*operands)
    above = math.nextafter(result, INF)
    if low == high:
        return bool(result <= high < above)
    return bool(result <= low and high <= above)


def exp_bounds(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Rationals around e**x that differ by about 2**-digits relatively: Taylor's series, in rationals only."""
    halvings = max(0, math.ceil(abs(x)).bit_length())
    r = x / 2**halvings
    term, total, k = Fraction(1), Fraction(1), 0
    while abs(term) > Fraction(1, 2 ** (digits + halvings + 4)):
        k += 1
        term = term * r / k
        total += term
    # |r| <= 1, so the terms left out are less than the last one taken, in total.
    return (total - abs(term)) ** 2**halvings, (total + abs(term)) ** 2**halvings


def log_bounds(q: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Rationals around log(q), for 1/3 <= q <= 3, that differ by about 2**-digits relatively: twice artanh's series."""
    z = (q - 1) / (q + 1)
    power, total, k = z, z, 1
    while abs(power) > abs(z) / 2 ** (digits + 4):
        power, k = power * z * z, k + 2
        total += power / k
    # z**2 <= 1/4, so the terms left out are less than the last power, and of its sign.
    ends = (2 * total, 2 * (total + power))
    return min(ends), max(ends)
