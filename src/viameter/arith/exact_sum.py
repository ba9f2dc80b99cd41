"""The exact sum of a float64 array, whatever the order of its elements, as a Fraction."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from viameter.arith.arrays import Floats, float64_array, require_ieee
from viameter.errors import NumberError

__all__ = ["exact_sum"]

# A float is an integer mantissa of 53 bits times a power of two. The mantissa is cut into a high part of 27 bits and a
# low one of 26, and the parts are added in one bin per exponent by np.bincount, whose float64 sums are exact while they
# stay below 2**53: with this many elements they stay below 2**27 * 2**20.
_CHUNK = 2**20
_LOW_BITS = 26

# Bin 0 is for frexp's smallest exponent, that of 2**-1074 = 0.5 * 2**-1073; its unit is 2**(-1073 - 53).
_SMALLEST_EXPONENT = -1073
_UNIT_EXPONENT = _SMALLEST_EXPONENT - 53
_BINS = 1024 - _SMALLEST_EXPONENT + 1


def exact_sum(a: ArrayLike) -> Fraction:
    """The sum of all elements, exactly; 0 if there are none.

    >>> exact_sum([1e308, 1.0, -1e308])
    Fraction(1, 1)
    """
    require_ieee("exact_sum")
    numbers = float64_array("exact_sum", a).ravel()
    finite = np.isfinite(numbers)
    if not finite.all():
        bad = float(numbers[~finite][0])
        raise NumberError(f"exact_sum was given {bad!r} among its elements: expected finite numbers")
    units = sum(_sum_in_units(numbers[start : start + _CHUNK]) for start in range(0, numbers.size, _CHUNK))
    return Fraction(units, 2**-_UNIT_EXPONENT)


def _sum_in_units(numbers: Floats) -> int:
    fraction, exponent = np.frexp(numbers)
    # Zero has no exponent of its own; what frexp gives it is in range, and it adds 0 there.
    mantissa = np.ldexp(fraction, 53)
    high = np.trunc(np.ldexp(mantissa, -_LOW_BITS))
    low = mantissa - np.ldexp(high, _LOW_BITS)
    bins = exponent - _SMALLEST_EXPONENT
    high_sums = np.bincount(bins, weights=high, minlength=_BINS)
    low_sums = np.bincount(bins, weights=low, minlength=_BINS)
    total = 0
    for used in np.flatnonzero((high_sums != 0) | (low_sums != 0)).tolist():
        total += ((int(high_sums[used]) << _LOW_BITS) + int(low_sums[used])) << used
    return total
