"""Confidence bounds on a probability from counts (Clopper and Pearson), in rationals that are rounded outward."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from viameter.arith import dyadic
from viameter.errors import ParameterError

_GRID = 40
"""Bounds are multiples of 2^-_GRID."""
_FIXED = 256
"""Tails are summed up in multiples of 2^-_FIXED."""


def lower_bound(count: int, *, of: int, error: Fraction) -> Fraction:
    """A number that is above the probability of an event at most with probability `error`, when it came `count` times.

    >>> lower_bound(0, of=100, error=Fraction(1, 20))
    Fraction(0, 1)
    >>> float(round(lower_bound(90, of=100, error=Fraction(1, 40)), 4))
    0.8238
    """
    if not 0 <= count <= of or of < 1:
        raise ParameterError(f"{count} of {of}: expected a count from 0 to the number of draws")
    if not 0 < error < Fraction(1, 2):
        raise ParameterError(f"error={error}: expected a number between 0 and 1/2")
    if count == 0:
        return Fraction(0)
    # The largest p on the grid at which so many, or more, are surely as unlikely as `error`.
    low, high = 0, (1 << _GRID) * count // of
    while low < high:
        middle = (low + high + 1) // 2
        if tail_up(count, of=of, probability=Fraction(middle, 1 << _GRID)) <= error:
            low = middle
        else:
            high = middle - 1
    return Fraction(low, 1 << _GRID)


def upper_bound(count: int, *, of: int, error: Fraction) -> Fraction:
    """A number that is below the probability of an event at most with probability `error`."""
    return 1 - lower_bound(of - count, of=of, error=error)


def tail_up(count: int, *, of: int, probability: Fraction) -> Fraction:
    """At least the probability that an event comes `count` times or more, and little more than it.

    >>> float(tail_up(2, of=2, probability=Fraction(1, 2)))
    0.25
    """
    if probability == 0 or count <= of * probability:
        return Fraction(int(probability > 0 or count <= 0))
    first = dyadic.mul_up(dyadic.powi_up(probability, count), dyadic.powi_up(1 - probability, of - count)) * comb(
        of, count
    )
    term = _ceil(first.numerator << _FIXED, first.denominator)
    odds = probability / (1 - probability)
    total = 0
    for at in range(count, of + 1):
        total += term
        # Each term is the one before times (of - at) / (at + 1) times the odds, and that ratio only falls: from where
        # terms are no more than their rounding on, all that are left are at most so many.
        if term <= 1:
            return Fraction(total + (of - at), 1 << _FIXED)
        term = _ceil(term * (of - at) * odds.numerator, (at + 1) * odds.denominator)
    return Fraction(total, 1 << _FIXED)


def _ceil(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
