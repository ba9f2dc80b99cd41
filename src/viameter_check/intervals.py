"""Intervals that surely hold a real number: sums, products, square roots, exp, log and tanh with proven error bounds.

Ends are Fractions, rounded outward to `BITS` significant bits where they grow longer. Functions are computed on
integers scaled by a power of two, every step rounded to the side that is named, and the remainder of the series is
added on top. All arguments that may come from a file are bounded first, so that nothing takes long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from viameter_check.amounts import INFINITY, Number

BITS = 320
"""How many significant bits an end keeps; the library rounds to 128 or 256, so its bounds are told from the truth."""

_GUARD = 64
_LARGEST_EXPONENT = 2**21
"""exp of more than this is taken to be anything from exp of this up."""


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `low` to `high`, which may be infinite; what it stands for is one of them, and is >= 0."""

    low: Number
    high: Number

    @property
    def is_point(self) -> bool:
        """Whether the number is known exactly."""
        return self.low == self.high

    def __add__(self, other: Interval) -> Interval:
        return outward(_plus(self.low, other.low), _plus(self.high, other.high))

    def __mul__(self, other: Interval) -> Interval:
        """The product of numbers >= 0; of none is infinity times 0."""
        return outward(_product(self.low, other.low), _product(self.high, other.high))

    def minus(self, other: Interval) -> Interval:
        """The difference, or 0 where it is negative."""
        low = Fraction(0) if isinstance(other.high, float) else _plus(self.low, -other.high)
        high = self.high if isinstance(other.low, float) else _plus(self.high, -other.low)
        return outward(max(Fraction(0), low), max(Fraction(0), high))

    def over(self, other: Interval) -> Interval:
        """The quotient by a number > 0."""
        low = Fraction(0) if isinstance(other.high, float) else _product(self.low, 1 / Fraction(other.high))
        high = INFINITY if other.low == 0 else _product(self.high, 1 / Fraction(other.low))
        return outward(low, high)

    def at_most(self, ceiling: Fraction) -> Interval:
        """The lesser of the number and the ceiling."""
        return Interval(min(self.low, ceiling), min(self.high, ceiling))


def point(number: Number | int) -> Interval:
    """A number that is known exactly."""
    exact = number if isinstance(number, float) else Fraction(number)
    return Interval(exact, exact)


def outward(low: Number, high: Number, bits: int = BITS) -> Interval:
    """The interval, its ends moved apart to short numbers; a short point stays a point."""
    if low == high and (isinstance(low, float) or low.denominator.bit_length() <= 16 * BITS):
        return Interval(low, high)
    return Interval(_rounded(low, bits, up=False), _rounded(high, bits, up=True))


def root(x: Fraction) -> Interval:
    """The square root of x >= 0: exact where it is rational."""
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if top * top == x.numerator and bottom * bottom == x.denominator:
        return point(Fraction(top, bottom))
    shift = BITS + max(0, (x.denominator.bit_length() - x.numerator.bit_length()) // 2 + 1)
    # floor(sqrt(x) 2**shift) is the integer root of floor(x 4**shift); sqrt(x) lies below the next integer.
    scaled = math.isqrt((x.numerator << 2 * shift) // x.denominator)
    return outward(Fraction(scaled, 1 << shift), Fraction(scaled + 1, 1 << shift))


def exp(x: Fraction, bits: int = BITS) -> Interval:
    """e**x for x of any sign."""
    if x < 0:
        above = exp(-x, bits)
        low = Fraction(0) if isinstance(above.high, float) else 1 / above.high
        return outward(low, 1 / Fraction(above.low), bits)
    if x == 0:
        return point(1)
    if x > _LARGEST_EXPONENT:
        return Interval(exp(Fraction(_LARGEST_EXPONENT)).low, INFINITY)
    # exp(x) = exp(x / 2**halvings)**(2**halvings): squaring doubles the relative error, for which the guard bits are.
    halvings = math.ceil(x).bit_length() + 8
    low, high = _expm1_small(x / 2**halvings, bits)
    return outward(_squared(1 + low, halvings, bits, up=False), _squared(1 + high, halvings, bits, up=True), bits)


def expm1(x: Fraction) -> Interval:
    """e**x - 1 for x >= 0, to full relative precision where x is small."""
    if x <= Fraction(1, 256):
        return outward(*_expm1_small(x, BITS)) if x else point(0)
    return exp(x).minus(point(1))


def log(x: Fraction) -> Interval:
    """The natural logarithm of x >= 1."""
    if x == 1:
        return point(0)
    power = x.numerator.bit_length() - x.denominator.bit_length()
    if x < Fraction(2) ** power:
        power -= 1
    # x = m 2**power with 1 <= m < 2, and log m = 2 artanh((m - 1)/(m + 1)).
    m = x / Fraction(2) ** power
    low, high = _double_artanh((m - 1) / (m + 1))
    two_low, two_high = _log2()
    return outward(low + power * two_low, high + power * two_high)


def tanh(x: Fraction) -> Interval:
    """The hyperbolic tangent of x >= 0: t/(t + 2) with t = e**(2x) - 1."""
    if x == 0:
        return point(0)
    if x > 4 * BITS:
        return outward(tanh(Fraction(4 * BITS)).low, Fraction(1))
    t = expm1(2 * x)
    # t/(t + 2) rises with t, so that each end is that of its own t.
    low, high = Fraction(t.low), Fraction(t.high)
    return outward(low / (low + 2), high / (high + 2))


def _squared(base: Fraction, times: int, bits: int, *, up: bool) -> Fraction:
    """base**(2**times) for a dyadic base >= 1, rounded to the side that is named after every squaring."""
    mantissa, exponent = base.numerator, 1 - base.denominator.bit_length()
    for _ in range(times):
        mantissa, exponent = mantissa * mantissa, 2 * exponent
        excess = max(0, mantissa.bit_length() - bits - _GUARD)
        mantissa, exponent = _shifted(mantissa, excess, up=up), exponent + excess
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def _expm1_small(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of e**x - 1 for 0 < x <= 1/256, by the series x + x^2/2! + x^3/3! + ..."""
    shift = _places(x, bits)
    low_x = (x.numerator << shift) // x.denominator
    high_x = low_x + 1
    low_term, high_term = low_x, high_x
    low, high = low_term, high_term
    count = 1
    while high_term > 1:
        count += 1
        low_term = _shifted(low_term * low_x, shift, up=False) // count
        high_term = -(-_shifted(high_term * high_x, shift, up=True) // count)
        low, high = low + low_term, high + high_term
    # What was left out is less than the last term, since each term is less than half of the one before.
    return Fraction(low, 1 << shift), Fraction(high + high_term, 1 << shift)


def _double_artanh(z: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of 2 artanh(z) for 0 <= z <= 1/3, by the series 2 (z + z^3/3 + z^5/5 + ...)."""
    if z == 0:
        return z, z
    shift = _places(z, BITS)
    low_z = (z.numerator << shift) // z.denominator
    high_z = low_z + 1
    low_power, high_power = low_z, high_z
    low, high = low_power, high_power
    odd = 1
    while high_power > 1:
        odd += 2
        low_power = _shifted(low_power * low_z * low_z, 2 * shift, up=False)
        high_power = _shifted(high_power * high_z * high_z, 2 * shift, up=True)
        low, high = low + low_power // odd, high - (-high_power // odd)
    # What was left out is less than the last power, since each power is at most 1/9 of the one before.
    return Fraction(2 * low, 1 << shift), Fraction(2 * (high + high_power), 1 << shift)


@cache
def _log2() -> tuple[Fraction, Fraction]:
    return _double_artanh(Fraction(1, 3))


def _places(x: Fraction, bits: int) -> int:
    """A number of binary places that keeps bits + _GUARD significant bits of 0 < x < 1."""
    return bits + _GUARD + x.denominator.bit_length() - x.numerator.bit_length() + 1


def _shifted(number: int, places: int, *, up: bool) -> int:
    """The number over 2**places, rounded to the side that is named."""
    return -(-number >> places) if up else number >> places


def _plus(left: Number, right: Number) -> Number:
    return INFINITY if isinstance(left, float) or isinstance(right, float) else left + right


def _product(left: Number, right: Number) -> Number:
    if left == 0 or right == 0:
        return Fraction(0)
    return INFINITY if isinstance(left, float) or isinstance(right, float) else left * right


def _rounded(number: Number, bits: int, *, up: bool) -> Number:
    """A number of bits + 1 significant bits or less, on the side that is named."""
    if isinstance(number, float):
        return number
    shift = bits - number.numerator.bit_length() + number.denominator.bit_length()
    top, bottom = number.numerator << max(shift, 0), number.denominator << max(-shift, 0)
    quotient = -(-top // bottom) if up else top // bottom
    return Fraction(quotient << max(-shift, 0), 1 << max(shift, 0))
