"""Counts and sums: estimates and intervals of single noisy integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from viameter.arith import Number, exact, floats, nonnegative, show
from viameter.errors import NumberError, ParameterError
from viameter.tables.estimates.noise import Noise, read_alpha
from viameter.tables.estimates.outward import (
    LARGEST,
    Ints,
    add,
    from_fraction,
    from_integers,
    multiply,
    read_integers,
    widen,
)
from viameter.tables.estimates.sums import width_of_sum

LARGEST_BOUND = 2**200


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimates, group by group: lower <= truth <= upper but for a chance of alpha, in each group by itself.

    `covers` says what the truth is. Integers for counts, else floats; lower and upper are rounded outward, and infinite
    where no interval is known. A value is NaN where nothing is known.
    """

    value: npt.NDArray[np.float64] | Ints
    lower: npt.NDArray[np.float64] | Ints
    upper: npt.NDArray[np.float64] | Ints
    alpha: Fraction
    covers: str

    @property
    def has_intervals(self) -> bool:
        """Whether there are intervals: of quantiles that were picked, there are none. One that is the whole line, since
        nothing is known, is one.
        """
        none = np.isneginf(self.lower).all() and np.isposinf(self.upper).all() and not np.isnan(self.value).any()
        return not bool(none) or not self.value.size


def without_guesses(estimate: Estimate, span: tuple[Fraction, Fraction]) -> Estimate:
    """An estimate whose value is NaN where its interval is all of `span`: what the truth is between whatever the rows.

    Such an interval says nothing, and no number in it is better than another.

    >>> known = Estimate(np.array([120.0, 30.5]), np.array([0.0, 20.5]), np.array([240.0, 40.5]), Fraction(1, 20), "")
    >>> without_guesses(known, (Fraction(0), Fraction(240))).value.tolist()
    [nan, 30.5]
    """
    least, most = floats.from_fraction_up(span[0]), floats.from_fraction_down(span[1])
    says_nothing = (estimate.lower <= least) & (estimate.upper >= most)
    return replace(estimate, value=np.where(says_nothing, np.nan, estimate.value))


def noise_only(what: str, alpha: Fraction) -> str:
    """What an interval covers, in a sentence.

    >>> noise_only("the count of the kept rows", Fraction(1, 20))
    'noise only: but for a chance of 1/20, in each group by itself, the interval holds the count of the kept rows'
    """
    return f"noise only: but for a chance of {show(alpha)}, in each group by itself, the interval holds {what}"


def count_estimate(noisy: object, noise: Noise, alpha: Number = "1/20", *, raw: bool = False) -> Estimate:
    """The counts behind noisy counts. Unless `raw`, no number is below 0: counts are not, so nothing true is cut off.

    >>> found = count_estimate([12, -3], Noise("laplace", Fraction(1)))
    >>> found.value.tolist(), found.lower.tolist(), found.upper.tolist()
    ([12, 0], [9, 0], [15, 0])
    """
    counts, chance = read_integers(noisy, name="noisy"), read_alpha(alpha)
    width = min(math.ceil(noise.width(chance)), 2**62)
    least, most = (-(2**63) if raw else 0), 2**63 - 1
    # Where 64 bits end the interval ends: the counts are of 64 bits too.
    lower = np.maximum(np.maximum(counts, -(2**63) + width) - width, least)
    upper = np.maximum(np.minimum(counts, most - width) + width, least)
    return Estimate(np.maximum(counts, least), lower, upper, chance, noise_only("the count of the kept rows", chance))


def sum_estimate(
    noisy: object,
    noise: Noise,
    alpha: Number = "1/20",
    *,
    unit: Number = 1,
    offset: Number = 0,
    row_error: Number = 0,
    rows: object = None,
    at_least: Number | None = None,
    at_most: Number | None = None,
) -> Estimate:
    """The sums behind noisy sums in fixed point: offset + unit * integer.

    Each row's number may differ from its fixed-point form by `row_error` (in numbers, not in units); then `rows` bounds
    the number of rows of each group, by an integer that is public or the upper end of an interval whose alpha is not
    part of this one. `at_least` and `at_most` are bounds that the true sum cannot leave, such as 0 for numbers >= 0.

    >>> found = sum_estimate([100], Noise("gaussian", Fraction(10)), unit="1/4")
    >>> found.value.tolist(), [round(float(end[0]), 6) for end in (found.lower, found.upper)]
    ([25.0], [20.0, 30.0])
    """
    numbers, chance = read_integers(noisy, name="noisy"), read_alpha(alpha)
    size, error = exact(unit, name="unit"), nonnegative(row_error, name="row_error")
    if size <= 0:
        raise ParameterError(f"unit={unit!s} is not above 0: expected what one step of the integers is worth")
    if error and rows is None:
        raise ParameterError("row_error without rows: say how many rows a group has at most, or round nothing")
    start = from_fraction(exact(offset, name="offset"))
    scale = from_fraction(size)
    span = widen(from_integers(numbers), floats.from_fraction_up(noise.width(chance)))
    lower, upper = add(start, multiply(scale, span))
    if error:
        most = from_integers(np.maximum(read_integers(rows, name="rows"), 0))
        wider = multiply(from_fraction(error), most)[1]
        lower, upper = add((lower, upper), (-wider, wider))
    value = np.clip(float(start[0]) + float(scale[0]) * numbers.astype(np.float64), -LARGEST, LARGEST)
    least = -LARGEST if at_least is None else floats.from_fraction_down(exact(at_least, name="at_least"))
    most_ = LARGEST if at_most is None else floats.from_fraction_up(exact(at_most, name="at_most"))
    value, lower, upper = (np.clip(x, least, most_) for x in (value, lower, upper))
    covers = "the sum of the kept rows, clipped" + ("" if error else " and rounded")
    return Estimate(np.clip(value, lower, upper), lower, upper, chance, noise_only(covers, chance))


def centered_sum_estimate(
    total: object,
    total_noise: Noise,
    count: object,
    count_noise: Noise,
    alpha: Number = "1/20",
    *,
    center: Number,
    unit: Number = 1,
) -> Estimate:
    """The sums center * N + unit * S of groups, from noisy sums S of distances from a center and noisy counts N.

    >>> noise, count_noise = Noise("laplace", Fraction(10)), Noise("laplace", Fraction(1))
    >>> found = centered_sum_estimate([-50], noise, [100], count_noise, center=5)
    >>> found.value.tolist(), [round(float(end[0])) for end in (found.lower, found.upper)]
    ([450.0], [417, 483])
    """
    sums, counts = read_integers(total, name="total"), read_integers(count, name="count")
    chance, middle, size = read_alpha(alpha), exact(center, name="center"), exact(unit, name="unit")
    width = width_of_sum([(size, total_noise, 1), (middle, count_noise, 1)], chance)
    parts = [multiply(from_fraction(x), from_integers(numbers)) for x, numbers in ((size, sums), (middle, counts))]
    lower, upper = widen(add(*parts), floats.from_fraction_up(width))
    value = np.clip(float(size) * sums.astype(np.float64) + float(middle) * counts, lower, upper)
    return Estimate(value, lower, upper, chance, noise_only("the sum of the kept rows, clipped and rounded", chance))


def ends(bounds: tuple[Number, Number]) -> tuple[Fraction, Fraction]:
    """Take bounds: two numbers, the lower below the upper."""
    low, high = exact(bounds[0], name="lower bound"), exact(bounds[1], name="upper bound")
    if low >= high:
        raise ParameterError(f"bounds=({bounds[0]!s}, {bounds[1]!s}) are empty: expected lower < upper")
    if max(abs(low), abs(high)) > LARGEST_BOUND:
        raise NumberError("bounds reach beyond 2^200: expected numbers whose squares floats can hold")
    return low, high
