"""Sums of exact rationals that stay exact while they are narrow and are rounded up once when they grow wide."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import islice

from viameter.arith.rationals import INFINITY, Extended

WIDTH = 512
"""A sum whose denominator has at most this many bits is exact."""

SIGNIFICANT = 256
"""A wider one is rounded up to a dyadic rational of so many significant bits, or to an integer that has more."""

CHUNK = 4096

_SHORT = 10**12


def settle_up(number: Fraction) -> Fraction:
    """Return the number itself if its denominator is at most `WIDTH` bits wide, else a dyadic one just above it.

    >>> settle_up(Fraction(1, 10))
    Fraction(1, 10)
    >>> wide = Fraction(1, 3**400)
    >>> wide < settle_up(wide) < wide * (1 + Fraction(1, 2**255))
    True
    """
    if number.denominator.bit_length() <= WIDTH:
        return number
    shift = max(0, SIGNIFICANT - (number.numerator.bit_length() - number.denominator.bit_length()))
    return Fraction(_ceil_div(number.numerator << shift, number.denominator), 1 << shift)


def add_settled_up(left: Extended, right: Extended) -> Extended:
    """Add two numbers exactly, or rounded up where the exact sum is wide."""
    if isinstance(left, float) or isinstance(right, float):
        return INFINITY
    return settle_up(left + right)


def difference_down(budget: Extended, spent: Extended) -> Extended:
    """What is left of a budget, and nothing if more was spent; what is no short number is cut off after 12 digits.

    So what is shown of it is not more than there is, and can be asked for as it is shown.

    >>> difference_down(Fraction(1), Fraction(1, 10)), difference_down(Fraction(1), INFINITY)
    (Fraction(9, 10), Fraction(0, 1))
    >>> difference_down(Fraction(1), Fraction(1, 3**40)) < 1
    True
    """
    if isinstance(spent, float):
        return Fraction(0)
    if isinstance(budget, float):
        return INFINITY
    left = max(budget - spent, Fraction(0))
    if left.denominator <= _SHORT:
        return left
    # left is at least 10^(digits - 1), so that 12 digits or more are before the point of left 10^places; 12 are kept.
    digits = len(str(left.numerator)) - len(str(left.denominator))
    places = 12 - digits
    kept = left.numerator * 10 ** max(places, 0) // (left.denominator * 10 ** max(-places, 0))
    while kept >= _SHORT:
        kept, places = kept // 10, places - 1
    return Fraction(kept * 10 ** max(-places, 0), 10 ** max(places, 0))


def sum_settled_up(terms: Iterable[Extended]) -> Extended:
    """Add many numbers >= 0: exactly while their common denominator is at most `WIDTH` bits wide, else rounded up.

    Terms are gathered by denominator, so that a million tenths are a million integer additions. Once the common
    denominator is too wide, every further term is rounded up to one fixed grid, so fine that the result is above the
    exact sum by less than n 2^-(SIGNIFICANT - 2) of it, n being the number of terms.

    >>> sum_settled_up([Fraction(1, 10)] * 10)
    Fraction(1, 1)
    """
    remaining = iter(terms)
    numerators: dict[int, int] = {}
    common = 1
    while chunk := tuple(islice(remaining, CHUNK)):
        known = len(numerators)
        for term in chunk:
            if type(term) is float:
                return INFINITY
            numerator, denominator = term.as_integer_ratio()
            numerators[denominator] = numerators.get(denominator, 0) + numerator
        for denominator in islice(numerators, known, None):
            common = math.lcm(common, denominator)
            if common.bit_length() > WIDTH:
                return _sum_on_grid_up(numerators, remaining)
    return Fraction(sum(n * (common // d) for d, n in numerators.items()), common)


def _sum_on_grid_up(numerators: dict[int, int], remaining: Iterator[Extended]) -> Extended:
    # On this grid the largest term so far has SIGNIFICANT bits or one less; the sum can only be larger.
    magnitude = max(n.bit_length() - d.bit_length() for d, n in numerators.items() if n)
    shift = max(0, SIGNIFICANT - magnitude)
    total = sum(_ceil_div(n << shift, d) for d, n in numerators.items())
    for term in remaining:
        if type(term) is float:
            return INFINITY
        numerator, denominator = term.as_integer_ratio()
        total -= (-numerator << shift) // denominator
    return settle_up(Fraction(total, 1 << shift))


def _ceil_div(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
