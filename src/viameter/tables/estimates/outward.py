"""Rounding of arrays to the outside: every sum, product and quotient of floats is moved to the next float.

NumPy's + - * / and sqrt on float64 give the float nearest to the exact result, so that the next float below (above) is
below (above) the exact result. Overflow is cut at the largest float: intervals end at bounds far inside in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from viameter.arith import floats
from viameter.errors import ParameterError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Span = tuple[Floats, Floats]

LARGEST = float(np.finfo(np.float64).max)


def read_integers(numbers: object, *, name: str) -> Ints:
    """Take integers that fit into 64 bits, as an array; a number alone becomes an array of no dimension."""
    array = np.asarray(numbers)
    if array.dtype == object and all(type(x) is int and -(2**63) <= x < 2**63 for x in array.flat):
        array = array.astype(np.int64)
    if array.dtype.kind == "u" and not (array > np.uint64(2**63 - 1)).any():
        array = array.astype(np.int64)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind != "i":
        raise ParameterError(f"{name} holds {array.dtype}: expected integers below 2^63, the noisy statistics")
    return array.astype(np.int64)


def below(x: Floats) -> Floats:
    """The next floats below, finite."""
    return np.clip(np.nextafter(x, -np.inf), -LARGEST, LARGEST)


def above(x: Floats) -> Floats:
    """The next floats above, finite."""
    return np.clip(np.nextafter(x, np.inf), -LARGEST, LARGEST)


def from_integers(numbers: Ints) -> Span:
    """Floats at or below, and at or above, integers: exact up to 2^53."""
    near = numbers.astype(np.float64)
    fits = np.abs(near) < 2.0**53
    return np.where(fits, near, below(near)), np.where(fits, near, above(near))


def from_fraction(number: Fraction) -> Span:
    """Floats at or below, and at or above, a rational."""
    return np.asarray(floats.from_fraction_down(number)), np.asarray(floats.from_fraction_up(number))


def add(a: Span, b: Span) -> Span:
    """Every sum of a number in one span and one in the other."""
    return below(a[0] + b[0]), above(a[1] + b[1])


def multiply(a: Span, b: Span) -> Span:
    """Every product of a number in one span and one in the other."""
    with np.errstate(over="ignore"):
        return _around([a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]])


def divide(a: Span, b: Span) -> Span:
    """Every quotient of a number in one span and one in the other, which holds positive numbers only."""
    with np.errstate(over="ignore"):
        return _around([a[0] / b[0], a[0] / b[1], a[1] / b[0], a[1] / b[1]])


def widen(a: Span, by: float) -> Span:
    """Everything within `by` of a span."""
    return below(a[0] - by), above(a[1] + by)


def _around(corners: Sequence[Floats]) -> Span:
    return below(np.minimum.reduce(corners)), above(np.maximum.reduce(corners))
