"""Variances and standard deviations: from a noisy count, a noisy sum and a noisy sum of squares.

With y a row's number minus the center, the variance is the mean of y^2 minus the square of the mean of y. Each of the
two means gets an interval as in `means`, the first with 3/4 of alpha and the second with the rest; what the difference
can be within both, and within what any numbers between the bounds allow, is the interval: at least 0, and at most
(high - m)(m - low) for a mean m (Bhatia and Davis 2000), which is at most ((high - low)/2)^2.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from viameter.arith import Number, exact, floats, nonnegative
from viameter.errors import ParameterError
from viameter.query.estimates.basic import Estimate, ends, noise_only
from viameter.query.estimates.means import ratio_estimate
from viameter.query.estimates.noise import Noise, read_alpha
from viameter.query.estimates.outward import Floats, Span, above, add, below, from_fraction, multiply, read_integers

SHARE = Fraction(3, 4)
"""The part of alpha for the mean of squares: its error is most of the variance's where the center is well chosen."""


def variance_estimate(
    squares: object,
    squares_noise: Noise,
    total: object,
    total_noise: Noise,
    count: object,
    count_noise: Noise,
    alpha: Number = "1/20",
    *,
    bounds: tuple[Number, Number],
    center: Number = 0,
    unit: Number = 1,
    squares_unit: Number = 1,
    row_error: Number = 0,
    square_error: Number = 0,
) -> Estimate:
    """The variances (of the kept rows: their number is divided by, not one less) of groups.

    A row's y = number - center is within `row_error` of unit * its integer in `total`, and y^2 is within `square_error`
    of squares_unit * its integer in `squares`. Where the count may be 0, the interval is all that the bounds allow;
    where the noisy count is not above 0, the value is that of the uniform law between the bounds.

    >>> noise = Noise("gaussian", Fraction(1))
    >>> found = variance_estimate([90_000], noise, [0], noise, [1000], noise, bounds=(-20, 20))
    >>> [round(float(number[0]), 1) for number in (found.lower, found.value, found.upper)]
    [89.8, 90.0, 90.2]
    """
    chance, (low, high) = read_alpha(alpha), ends(bounds)
    middle = exact(center, name="center")
    size, square_size = exact(unit, name="unit"), exact(squares_unit, name="squares_unit")
    error, square_slack = nonnegative(row_error, name="row_error"), nonnegative(square_error, name="square_error")
    if size <= 0 or square_size <= 0:
        raise ParameterError(f"unit={unit!s}, squares_unit={squares_unit!s}: expected both above 0")
    low, high = low - middle, high - middle
    rows = read_integers(count, name="count")
    of_squares = ratio_estimate(
        read_integers(squares, name="squares"),
        squares_noise,
        rows,
        count_noise,
        SHARE * chance,
        lowest=-square_slack / square_size,
        highest=(max(low**2, high**2) + square_slack) / square_size,
    )
    of_numbers = ratio_estimate(
        read_integers(total, name="total"),
        total_noise,
        rows,
        count_noise,
        (1 - SHARE) * chance,
        lowest=(low - error) / size,
        highest=(high + error) / size,
    )
    second = _scaled(of_squares.span, square_size, square_slack)
    first = _scaled(of_numbers.span, size, error)
    bottom, top = floats.from_fraction_down(low), floats.from_fraction_up(high)
    first = (np.clip(first[0], bottom, top), np.clip(first[1], bottom, top))
    square = _squared(first)
    lower, upper = add(second, (-square[1], -square[0]))
    upper = np.minimum(upper, _largest(first, low, high))
    most = floats.from_fraction_up(((high - low) / 2) ** 2)
    sure = of_squares.sure & of_numbers.sure
    lower, upper = np.where(sure, np.clip(lower, 0.0, most), 0.0), np.where(sure, np.clip(upper, 0.0, most), most)
    value = float(square_size) * of_squares.value - (float(size) * of_numbers.value) ** 2
    value = np.clip(np.where(of_numbers.known, value, float((high - low) ** 2 / 12)), 0.0, most)
    # Where noise drew both ends to one side, the interval is widened to hold the value.
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    value = np.clip(value, lower, upper)
    return Estimate(value, lower, upper, chance, noise_only("the variance of the kept rows, clipped", chance))


def std_estimate(variance: Estimate) -> Estimate:
    """The standard deviations for variances: roots of the value and of both ends.

    >>> noise = Noise("gaussian", Fraction(1))
    >>> found = std_estimate(variance_estimate([90_000], noise, [0], noise, [1000], noise, bounds=(-20, 20)))
    >>> [round(float(number[0]), 2) for number in (found.lower, found.value, found.upper)]
    [9.48, 9.49, 9.5]
    """
    lower, upper = np.maximum(below(np.sqrt(variance.lower)), 0.0), above(np.sqrt(variance.upper))
    covers = noise_only("the standard deviation of the kept rows, clipped", variance.alpha)
    return Estimate(np.sqrt(variance.value), lower, upper, variance.alpha, covers)


def _scaled(span: Span, unit: Fraction, error: Fraction) -> Span:
    slack = np.asarray(floats.from_fraction_up(error))
    return add(multiply(from_fraction(unit), span), (-slack, slack))


def _squared(span: Span) -> Span:
    largest = np.maximum(np.abs(span[0]), np.abs(span[1]))
    smallest = np.where((span[0] <= 0) & (span[1] >= 0), 0.0, np.minimum(np.abs(span[0]), np.abs(span[1])))
    return np.maximum(below(smallest**2), 0.0), above(largest**2)


def _largest(span: Span, low: Fraction, high: Fraction) -> Floats:
    """The largest of (high - m)(m - low) over a span of m: at the point of it that is nearest to the middle."""
    middle = (floats.from_fraction_down((low + high) / 2), floats.from_fraction_up((low + high) / 2))
    top, bottom = floats.from_fraction_up(high), floats.from_fraction_down(low)
    # Each factor is rounded up; between the two roundings of the middle the product is at most a square rounded up.
    nearest = np.clip(middle[0], span[0], span[1])
    inside = (span[0] <= middle[1]) & (span[1] >= middle[0])
    product = above(above(top - nearest) * above(nearest - bottom))
    return np.where(inside, floats.from_fraction_up(((high - low) / 2) ** 2), np.maximum(product, 0.0))
