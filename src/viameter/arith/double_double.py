"""Double-double arithmetic on float64 arrays: a number as an unevaluated sum high + low, good for about 104 bits.

u = 2**-53 is the unit of rounding. A pair is normalized if high is the float nearest to high + low. Where no step
overflows or underflows:

- `two_sum`, `fast_two_sum` and `two_prod` are error-free: the pair they give *is* the exact sum or product
  (Knuth, Dekker). `fast_two_sum` needs |a| >= |b| or a = 0.
- `add` and `multiply` have a relative error of at most 4 u**2 and 7 u**2
  (AccurateDWPlusDW and DWTimesDW1 of Joldes, Muller, Popescu, ACM TOMS 44(2), 2017).
- `add_small` needs |b| <= |a| / 4. It rounds twice, a[1] + b[1] and that plus the low part of the high sum: errors of
  1.25 u * u|a| and 2.5 u * u|a|, relative to |a + b| >= 0.75|a| together at most 8 u**2.
- `reciprocal` uses 1/a = q + (1 - q a)/a with q the quotient 1/a[0]. The residual 1 - q a is at most 2u + 2u**2; it is
  rounded three times (u**2, u**2, 2u**2), then divided (2u**2) by a[0] instead of a (2u**2): at most 16 u**2 with a
  wide margin.
"""

from __future__ import annotations

from typing import TypeAlias

from viameter.arith.arrays import Floats

Pair: TypeAlias = tuple[Floats, Floats]

_SPLITTER = 2.0**27 + 1.0


def two_sum(a: Floats, b: Floats) -> Pair:
    """The sum a + b, exactly."""
    total = a + b
    b_part = total - a
    a_part = total - b_part
    return total, (a - a_part) + (b - b_part)


def fast_two_sum(a: Floats, b: Floats) -> Pair:
    """The sum a + b, exactly, where |a| >= |b| or a = 0."""
    total = a + b
    return total, b - (total - a)


def two_prod(a: Floats, b: Floats) -> Pair:
    """The product a * b, exactly."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _split(a: Floats) -> Pair:
    """Two halves of at most 26 bits each, so that products of halves are exact (Veltkamp)."""
    scaled = a * _SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def add(a: Pair, b: Pair) -> Pair:
    """The sum a + b of normalized pairs, also where they cancel."""
    high, high_error = two_sum(a[0], b[0])
    low, low_error = two_sum(a[1], b[1])
    high, rest = fast_two_sum(high, high_error + low)
    return fast_two_sum(high, rest + low_error)


def add_small(a: Pair, b: Pair) -> Pair:
    """The sum a + b of normalized pairs with |b| <= |a| / 4."""
    high, low = fast_two_sum(a[0], b[0])
    return fast_two_sum(high, low + (a[1] + b[1]))


def multiply(a: Pair, b: Pair) -> Pair:
    """The product a * b of normalized pairs."""
    high, low = two_prod(a[0], b[0])
    return fast_two_sum(high, low + (a[0] * b[1] + a[1] * b[0]))


def reciprocal(a: Pair) -> Pair:
    """The reciprocal 1 / a of a normalized pair."""
    quotient = 1.0 / a[0]
    high, low = two_prod(quotient, a[0])
    residual = ((1.0 - high) - low) - quotient * a[1]
    return fast_two_sum(quotient, residual / a[0])
