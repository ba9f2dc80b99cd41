"""Means: the ratio of a noisy sum and a noisy count, with one interval for both noises.

*The interval of a ratio* (after Fieller). Let S and N >= 1 be the true integers, m = S/N, and S', N' the noisy ones.
Then S' - m N' = Z - m Z', a sum of two weighted noises: no truth is left in it. If W(m) is a width of that sum,
|S' - m N'| <= W(m) but for a chance of alpha, so the set of all m with that inequality holds the true m with
probability at least 1 - alpha; alpha is not split. Here |m| runs through cells, each with one W for all weights in it,
and the interval is the hull of what is left of each cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from viameter.arith import Number, exact, floats, nonnegative
from viameter.errors import NumberError, ParameterError
from viameter.tables.estimates.basic import LARGEST_BOUND, Estimate, ends, noise_only
from viameter.tables.estimates.noise import Noise, read_alpha
from viameter.tables.estimates.outward import (
    Floats,
    Ints,
    Span,
    add,
    divide,
    from_fraction,
    from_integers,
    multiply,
    read_integers,
)
from viameter.tables.estimates.sums import Weighted, widths_of_sums

CELLS = 32
"""Cells of |m|: a width is too large by at most the growth within one."""


def mean_estimate(
    total: object,
    total_noise: Noise,
    count: object,
    count_noise: Noise,
    alpha: Number = "1/20",
    *,
    bounds: tuple[Number, Number],
    center: Number = 0,
    unit: Number = 1,
    row_error: Number = 0,
) -> Estimate:
    """The means center + unit * S/N of groups, from noisy sums S of integers and noisy counts N of the same rows.

    Each row's number is within `row_error` of center + unit * its integer, and within `bounds`. Where the count may be
    0 by its own width, the interval is all of the bounds; where the noisy count is not above 0, the value is their
    middle. A group without rows has no mean: nothing is said of it.

    >>> noise, count_noise = Noise("laplace", Fraction(10)), Noise("laplace", Fraction(1))
    >>> found = mean_estimate([500], noise, [100], count_noise, bounds=(0, 10))
    >>> found.value.tolist(), [round(float(end[0]), 2) for end in (found.lower, found.upper)]
    ([5.0], [4.67, 5.34])
    """
    chance, (low, high) = read_alpha(alpha), ends(bounds)
    middle, size = exact(center, name="center"), exact(unit, name="unit")
    error = nonnegative(row_error, name="row_error")
    if size <= 0:
        raise ParameterError(f"unit={unit!s} is not above 0: expected what one step of the integers is worth")
    lowest, highest = (low - error - middle) / size, (high + error - middle) / size
    ratio = ratio_estimate(
        read_integers(total, name="total"),
        total_noise,
        read_integers(count, name="count"),
        count_noise,
        chance,
        lowest=lowest,
        highest=highest,
    )
    start, step, slack = from_fraction(middle), from_fraction(size), floats.from_fraction_up(error)
    lower, upper = add(add(start, multiply(step, ratio.span)), (np.asarray(-slack), np.asarray(slack)))
    value = np.where(ratio.known, float(start[0]) + float(step[0]) * ratio.value, float((low + high) / 2))
    least, most = floats.from_fraction_down(low), floats.from_fraction_up(high)
    lower, upper = (np.where(ratio.sure, np.clip(x, least, most), y) for x, y in ((lower, least), (upper, most)))
    value = np.clip(value, lower, upper)
    return Estimate(value, lower, upper, chance, noise_only("the mean of the kept rows, clipped", chance))


@dataclass(frozen=True, slots=True)
class Ratio:
    """Estimates of ratios: the span that covers them, and where the count is above 0, noisily and surely."""

    value: Floats
    span: Span
    known: npt.NDArray[np.bool_]
    sure: npt.NDArray[np.bool_]


def ratio_estimate(
    total: Ints,
    total_noise: Noise,
    count: Ints,
    count_noise: Noise,
    alpha: Fraction,
    *,
    lowest: Fraction,
    highest: Fraction,
) -> Ratio:
    """The ratios total/count, known to be from `lowest` to `highest`, as in this file."""
    total, count = np.broadcast_arrays(total, count)
    if max(abs(lowest), abs(highest)) > LARGEST_BOUND:
        raise NumberError("the bounds are more than 2^200 units: expected a unit with which they are 64-bit integers")
    low, high = floats.from_fraction_down(lowest), floats.from_fraction_up(highest)
    known, sure = count > 0, count > min(math.ceil(count_noise.width(alpha)), 2**63 - 1)
    edges, widths = _cells(total_noise, count_noise, alpha, max(abs(lowest), abs(highest)))
    starts = np.concatenate([-edges[:0:-1], edges[:-1]])
    stops = np.concatenate([-edges[-2::-1], edges[1:]])
    both = np.concatenate([widths[::-1], widths])
    s, n = from_integers(total[..., None]), from_integers(np.maximum(count, 1)[..., None])
    quotient = divide(add(s, (-both, both)), n)
    first, last = np.maximum(quotient[0], starts), np.minimum(quotient[1], stops)
    left = first <= last
    value = np.clip(s[0][..., 0] / n[0][..., 0], low, high)
    lower = np.minimum(np.where(left, first, np.inf).min(axis=-1), value)
    upper = np.maximum(np.where(left, last, -np.inf).max(axis=-1), value)
    # Whether a group may be empty is not asked here: it has no ratio then.
    span = (np.where(known, np.clip(lower, low, high), low), np.where(known, np.clip(upper, low, high), high))
    return Ratio(value, span, known, sure)


@lru_cache(maxsize=256)
def _cells(total_noise: Noise, count_noise: Noise, alpha: Fraction, largest: Fraction) -> tuple[Floats, Floats]:
    """Edges of cells of |m| from 0 to at least the largest, and for each cell a width that holds for all m in it."""
    edges = np.linspace(0.0, 1.0, CELLS + 1) * floats.from_fraction_up(largest)
    edges[-1] = floats.from_fraction_up(largest)
    one = Weighted(np.ones((CELLS, 1)), total_noise)
    other = Weighted(edges[1:, None], count_noise, edges[:-1, None])
    nothing = not total_noise.scale and not count_noise.scale
    widths = np.zeros(CELLS) if nothing else widths_of_sums([one, other], alpha)
    return edges, widths
