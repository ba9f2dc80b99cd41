"""Variances and standard deviations: from a noisy count, a noisy sum and a noisy sum of squares.

*The interval* (after Fieller, as in `means`). With y a row's number minus the center, let Q, S and N >= 1 be the true
sums of y^2, of y, and the count, m = S/N the mean, v = Q/N - m^2 the variance, and Q', S', N' the noisy ones. Then

    Q' - 2m S' + (m^2 - v) N' = Z_Q - 2m Z_S + (m^2 - v) Z_N,

since the same with the true numbers is Q - 2 N m^2 + N m^2 - N v = 0: no truth is left in it but the weights of one sum
of noises. Let W be a width of that sum for 9/10 of alpha, and M an interval of `means` that holds m but for the rest.
Where N' > 0, with r = S'/N', the left side is N' (Q'/N' - r^2 + (m - r)^2 - v), so that v is within W/N' of
Q'/N' - r^2 + (m - r)^2 for some m in M: what is not known of m counts by its square only.

W depends on m and v. It is taken for all weights that m in M and v between two ends give, which hold all v that are
possible; with the ends that this gives, once more. That a width holds for fixed weights is enough, though the ends come
from noise: W*, the least width at the true weights, is below every width that is taken for a set of weights which they
are in.

*What any numbers between the bounds allow*: at least 0, and at most (high - m)(m - low) for a mean m (Bhatia and Davis
2000), which is at most ((high - low)/2)^2. Where rows were rounded, the above is of rounded y; their variance is off by
as much as the mean of squares and the square of the mean are.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from viameter.arith import Number, exact, floats, nonnegative
from viameter.errors import ParameterError
from viameter.tables.estimates.basic import Estimate, ends, noise_only
from viameter.tables.estimates.means import ratio_estimate
from viameter.tables.estimates.noise import Noise, read_alpha
from viameter.tables.estimates.outward import (
    Floats,
    Ints,
    Span,
    above,
    add,
    below,
    divide,
    from_fraction,
    from_integers,
    multiply,
    read_integers,
)
from viameter.tables.estimates.sums import Weighted, widths_of_sums

SHARE = Fraction(9, 10)
"""The part of alpha for the sum of all noises; the rest is for the mean, which counts by the square of its error."""
ROUNDS = 3
"""How often the ends of v are taken to narrow the weights that give them."""


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
    rows, sums, of_squares = np.broadcast_arrays(
        read_integers(count, name="count"), read_integers(total, name="total"), read_integers(squares, name="squares")
    )
    ratio = ratio_estimate(
        sums, total_noise, rows, count_noise, (1 - SHARE) * chance, lowest=(low - error) / size,
        highest=(high + error) / size,
    )  # fmt: skip
    mean = multiply(from_fraction(size), ratio.span)
    reach = max(abs(low), abs(high)) + error
    slack = floats.from_fraction_up(square_slack + (2 * reach + error) * error)
    most = floats.from_fraction_up(((high - low) / 2) ** 2)
    weighed = [(square_size, squares_noise), (size, total_noise), (Fraction(1), count_noise)]
    divisor = from_integers(np.maximum(rows, 1))
    middles = _centered(of_squares, square_size, sums, size, divisor, mean)
    ends_of_all = (np.full(rows.shape, -slack), np.full(rows.shape, above(np.asarray(most + slack))))
    lower, upper = _within(middles, divisor, mean, ends_of_all, weighed, SHARE * chance)
    lower, upper = add((lower, upper), (np.asarray(-slack), np.asarray(slack)))
    bottom, top = floats.from_fraction_down(low), floats.from_fraction_up(high)
    moved = floats.from_fraction_up(error)
    first = (np.clip(below(mean[0] - moved), bottom, top), np.clip(above(mean[1] + moved), bottom, top))
    upper = np.minimum(upper, _largest(first, low, high))
    # Where the count may be 0 by its own width, nothing is known.
    sure = rows > min(math.ceil(count_noise.width(chance)), 2**63 - 1)
    lower, upper = np.where(sure, np.clip(lower, 0.0, most), 0.0), np.where(sure, np.clip(upper, 0.0, most), most)
    value = float(square_size) * of_squares / divisor[0] - (float(size) * ratio.value) ** 2
    value = np.clip(np.where(ratio.known, value, float((high - low) ** 2 / 12)), 0.0, most)
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


def _centered(squares: Ints, square_size: Fraction, total: Ints, size: Fraction, count: Span, mean: Span) -> Span:
    """What Q'/N' - r^2 + (m - r)^2 can be for a mean m in a span."""
    second = divide(multiply(from_fraction(square_size), from_integers(squares)), count)
    ratio = divide(multiply(from_fraction(size), from_integers(total)), count)
    square = _squared(ratio)
    return add(add(second, (-square[1], -square[0])), _squared(add(mean, (-ratio[1], -ratio[0]))))


def _within(
    middles: Span, count: Span, mean: Span, ends_of_all: Span, weighed: list[tuple[Fraction, Noise]], alpha: Fraction
) -> Span:
    """All v that are within W/N' of the middles, for the widths W of the weights that such v have."""
    lower, upper = ends_of_all
    if not any(noise.scale for _, noise in weighed):
        return np.clip(middles[0], lower, upper), np.clip(middles[1], lower, upper)
    (square_size, squares_noise), (size, total_noise), (_, count_noise) = weighed
    squared, shape = _squared(mean), lower.shape
    twice = multiply(from_fraction(2 * size), _sizes(mean))
    fixed = np.full(lower.size, floats.from_fraction_up(square_size))
    for _ in range(ROUNDS):
        of_count = _sizes(add(squared, (-upper, -lower)))
        blocks = [
            Weighted(fixed[:, None], squares_noise),
            Weighted(twice[1].reshape(-1, 1), total_noise, np.maximum(twice[0], 0.0).reshape(-1, 1)),
            Weighted(of_count[1].reshape(-1, 1), count_noise, of_count[0].reshape(-1, 1)),
        ]
        width = widths_of_sums(blocks, alpha).reshape(shape)
        reach = divide((width, width), count)[1]
        lower, upper = np.maximum(lower, below(middles[0] - reach)), np.minimum(upper, above(middles[1] + reach))
        # Where nothing is left, noise was beyond its width: any ends do.
        lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    return lower, upper


def _sizes(span: Span) -> Span:
    """The absolute values of a span."""
    largest = np.maximum(np.abs(span[0]), np.abs(span[1]))
    return np.where((span[0] <= 0) & (span[1] >= 0), 0.0, np.minimum(np.abs(span[0]), np.abs(span[1]))), largest


def _squared(span: Span) -> Span:
    smallest, largest = _sizes(span)
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
