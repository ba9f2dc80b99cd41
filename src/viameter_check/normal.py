"""The delta of two Gaussians, from above: the normal distribution by its series, with as many bits as cancel.

With half(x) the probability that a standard normal is between 0 and x,

    half(x) = exp(-x^2/2)/sqrt(2 pi) (x + x^3/3 + x^5/(3 5) + x^7/(3 5 7) + ...),

all of whose terms are positive for x > 0. The upper tail is 1/2 - half(x), or 1/2 + half(-x) for x < 0.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from viameter_check.intervals import exp, root
from viameter_check.report import Refused

_MOST_BITS = 6000
"""More bits than this are not computed with: it would take long, and nobody releases anything at such a delta."""


_FAR = 150


def gaussian_delta_up(mu_squared: Fraction, epsilon: Fraction) -> Fraction:
    """At least Q(e/mu - mu/2) - exp(e) Q(e/mu + mu/2), Q being the upper tail of a standard normal; for mu > 0."""
    # It rises with mu, which is rounded up.
    mu = Fraction(root(mu_squared).high)
    far = epsilon / mu + mu / 2
    if epsilon / mu - mu / 2 > _FAR:
        # The tail beyond x is at most half of exp(-x^2/2), which is next to nothing here.
        x = epsilon / mu - mu / 2
        return Fraction(exp(-x * x / 2).high) / 2
    # Both terms are about exp(-far^2/2 + e), and cancel to about mu times that.
    lost = far * far + 2 * epsilon + 4 * max(0, mu.denominator.bit_length() - mu.numerator.bit_length())
    if lost > _MOST_BITS:
        raise Refused("two Gaussians this far apart, or at such an epsilon, are beyond what this checker computes")
    bits = 320 + math.ceil(lost)
    near = _short(epsilon / mu - mu / 2, bits, up=False)
    above = _tail(near, bits)[1]
    below = _tail(_short(far, bits, up=True), bits)[0]
    delta = above - Fraction(exp(epsilon, bits).low) * max(below, Fraction(0))
    return min(Fraction(1), max(Fraction(0), delta))


def _tail(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of the upper tail."""
    low, high = _half(abs(x), bits)
    one_half = Fraction(1, 2)
    return (one_half - high, one_half - low) if x >= 0 else (one_half + low, one_half + high)


def _half(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of half(x) for x >= 0."""
    if x == 0:
        return x, x
    low, high = _series(x, bits)
    density = exp(-x * x / 2, bits)
    two_pi = tuple(2 * end for end in _pi(bits))
    # The square roots of the ends, rounded outward, on the same number of places.
    shift = bits + 8
    least = Fraction(math.isqrt(math.floor(two_pi[0] * 4**shift)), 2**shift)
    most = Fraction(math.isqrt(math.floor(two_pi[1] * 4**shift)) + 1, 2**shift)
    return low * Fraction(density.low) / most, high * Fraction(density.high) / least


def _series(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of x + x^3/3 + x^5/(3 5) + ..., on integers."""
    shift = bits + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    low_square = math.floor(x * x * 2**shift)
    high_square = low_square + 1
    low_term = math.floor(x * 2**shift)
    high_term = low_term + 1
    low, high = low_term, high_term
    odd = 1
    # From 2 x^2 on, each term is at most half of the one before, and what is left out less than the last.
    while high_term > 4 or odd < 2 * x * x:
        odd += 2
        low_term = (low_term * low_square >> shift) // odd
        high_term = (high_term * high_square >> shift) // odd + 2  # at least what it would be rounded up
        low, high = low + low_term, high + high_term
    return Fraction(low, 1 << shift), Fraction(high + high_term, 1 << shift)


@cache
def _pi(bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of pi = 16 arctan(1/5) - 4 arctan(1/239)."""
    five, other = _arctan_inverse(5, bits), _arctan_inverse(239, bits)
    return 16 * five[0] - 4 * other[1], 16 * five[1] - 4 * other[0]


def _arctan_inverse(n: int, bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of arctan(1/n) = 1/n - 1/3n^3 + 1/5n^5 - ...; each of the terms is rounded by less than one unit."""
    shift = bits + 32
    power, odd, sign, total, terms = (1 << shift) // n, 1, 1, 0, 0
    while power:
        total += sign * (power // odd)
        power, odd, sign, terms = power // (n * n), odd + 2, -sign, terms + 1
    # Powers and quotients are each below the truth by less than two units; what is left out is less than one.
    return Fraction(total - 4 * terms - 1, 1 << shift), Fraction(total + 4 * terms + 1, 1 << shift)


def _short(x: Fraction, bits: int, *, up: bool) -> Fraction:
    """About x, to so many places, on the side that is named."""
    scaled = x * 2**bits
    return Fraction(math.ceil(scaled) if up else math.floor(scaled), 1 << bits)
