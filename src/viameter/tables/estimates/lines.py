"""Lines of least squares, y = t + b x: slope and intercept from noisy moments of two columns, by `moments`.

*Slope* (after Fieller). At the true slope b = cov/var_x, C* - b X* is noise: with F = X' + (mu - r)^2,

    b F  is within w(b), a width by row,  of  C' + (mu - r)(nu - s).

All b with that are a set that holds the true one but for a chance of alpha. First a B is looked for so that none beyond
it is in the set: divided by b, the same says that F is within a width of (C' + ...)/b, of which the weights are bounded
for all |b| >= B. Then the ends are narrowed, as the width for the b between them allows. Where there is no B, x may be
constant but for the noise: the interval is the whole line, and the value unknown.

*Intercept*, where x is x0. With the fixed vector h = (1 - k mu, k), k = (x0 - mu)/var_x, which is the row of the
inverse of the normal equations that gives t, and e = t - b x0 the height at the center,

    (1 - k mu)(Sy' - e N' - b Sx') + k (Sxy' - e Sx' - b Sxx')  =  noise,

and the left side is N' times s + b (x0 - r) - t + k (C' - b X' + (mu - r)((nu - s) - b (mu - r))). For any number b'
and d = b - b' the terms in b are b' (x0 - r) + k (C' - b' X') and d ((x0 - r) - k X'), whose last factor is nearly 0:
with b' = C'/X' what is not known of b counts by a product with what is not known of x. b is held by its set for a part
of alpha, and var_x by an interval. In any case t = nu + b (x0 - mu), which is held by what holds these. Where the set
of b is the whole line, so is that of t.

*Rounding.* At the true numbers the left side is not quite 0 without noise: the means of fixed points are off by errors
of rows, covariance and variance by the slack of `moments`; and e is not quite nu - b mu of the fixed points.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from viameter.arith import Number, floats
from viameter.tables.estimates.basic import Estimate, noise_only
from viameter.tables.estimates.moments import (
    SHARE,
    Averages,
    Pair,
    exactly,
    narrowed,
    sizes,
    squared,
    subtract,
    widened,
    within,
)
from viameter.tables.estimates.noise import read_alpha
from viameter.tables.estimates.outward import Floats, Span, above, add, divide, from_fraction, multiply

STEEPEST = tuple(Fraction(4) ** power for power in range(-3, 9))
"""Slopes beyond which nothing is looked for, as multiples of the range of y over that of x."""
OF_MEAN, OF_COUNT = Fraction(45, 1000), Fraction(1, 100)
"""The parts of alpha for each mean, and for the count, of a slope."""
OF_HEIGHT, OF_SLOPE = Fraction(65, 100), Fraction(25, 100)
OF_MEAN_BESIDE, OF_VARIANCE = Fraction(3, 100), Fraction(3, 100)
"""The parts of alpha for the sum of all noises, the slope, each mean and the variance, of an intercept."""

Flags = npt.NDArray[np.bool_]


def slope_estimate(pair: Pair, alpha: Number = "1/20") -> Estimate:
    """The slopes of the lines of least squares of groups; x has squares.

    Where the count or the variance of x may be 0 by their noise, the value is NaN, and the interval the whole line. A
    group in which x has one value has no slope: nothing is said of it.

    >>> from viameter.tables.estimates import Axis, Moment, Noise
    >>> noise, ten = Noise("gaussian", Fraction(1)), Fraction(10)
    >>> x = Axis(Moment(np.array([0]), noise), -ten, ten, Moment(np.array([50_000]), noise))
    >>> y = Axis(Moment(np.array([0]), noise), -ten, ten)
    >>> found = slope_estimate(Pair(Moment(np.array([1000]), noise), x, y, Moment(np.array([40_000]), noise)))
    >>> [round(float(number[0]), 4) for number in (found.lower, found.value, found.upper)]
    [0.7999, 0.8, 0.8001]
    """
    chance = read_alpha(alpha)
    known, share = pair.averages(OF_MEAN * chance), pair.share_of_rows(OF_COUNT * chance)
    ends, bounded = _slopes(pair, known, share, SHARE * chance)
    noisy, of_x = pair.covariance(known), pair.variance(pair.x, known)
    value = noisy[0] / np.where(of_x[0] > 0, of_x[0], 1.0)
    known_at = bounded & (of_x[0] > 0) & pair.sure(chance)
    return _estimate(value, ends, known_at, chance, "the slope of the line of the kept rows, clipped")


def intercept_estimate(pair: Pair, alpha: Number = "1/20", *, at: Number = 0, start: Number = 0) -> Estimate:
    """The heights of the lines of least squares of groups where x is `at`, above `start`; x has squares.

    `at` is a distance from the center of x, and may be any number; `start` is the center of y.

    >>> from viameter.tables.estimates import Axis, Moment, Noise
    >>> noise, ten = Noise("gaussian", Fraction(1)), Fraction(10)
    >>> x = Axis(Moment(np.array([0]), noise), -ten, ten, Moment(np.array([50_000]), noise))
    >>> y = Axis(Moment(np.array([0]), noise), -ten, ten)
    >>> pair = Pair(Moment(np.array([1000]), noise), x, y, Moment(np.array([40_000]), noise))
    >>> found = intercept_estimate(pair, at=-10, start=15)
    >>> [round(float(number[0]), 3) for number in (found.lower, found.value, found.upper)]
    [6.996, 7.0, 7.004]
    """
    chance, place, height = read_alpha(alpha), from_fraction(Fraction(at)), from_fraction(Fraction(start))
    x, y = pair.x, pair.y
    known, share = pair.averages(OF_MEAN_BESIDE * chance), pair.share_of_rows(OF_COUNT * chance)
    b, bounded = _slopes(pair, known, share, OF_SLOPE * chance)
    variance = x.variance(pair.count, OF_VARIANCE * chance)
    noisy, of_x = pair.covariance(known), pair.variance(x, known)
    sure = bounded & pair.sure(chance) & (variance[0] > 0) & (of_x[0] > 0)
    # Where nothing is known, any numbers do that lead to no infinity.
    b = np.where(sure, b[0], 0.0), np.where(sure, b[1], 0.0)
    variance = np.where(sure, variance[0], 1.0), np.where(sure, variance[1], 1.0)
    k = divide(subtract(place, known.mu), variance)
    turn = subtract(exactly(np.ones_like(k[0])), multiply(k, known.mu))
    off_rows = add(from_fraction(y.total.error), multiply(sizes(b), from_fraction(x.total.error)))[1]
    e = widened(subtract(known.nu, multiply(b, known.mu)), off_rows)
    weights = [
        (pair.products, k),
        (x.squares, multiply(k, b)),
        (y.total, turn),
        (x.total, add(multiply(b, turn), multiply(k, e))),
        (pair.count, multiply(e, turn)),
    ]
    near = exactly(np.where(sure, np.clip(noisy[0] / np.where(sure, of_x[0], 1.0), b[0], b[1]), 0.0))
    away = subtract(place, known.r)
    line = add(known.s, multiply(near, away))
    line = add(line, multiply(k, subtract(noisy, multiply(near, of_x))))
    line = add(line, multiply(subtract(b, near), subtract(away, multiply(k, of_x))))
    second = multiply(known.off_x, subtract(known.off_y, multiply(b, known.off_x)))
    line = add(line, multiply(k, second))
    moved = add(from_fraction(pair.slack), multiply(sizes(b), from_fraction(x.slack)))
    slack = add(exactly(off_rows), multiply(sizes(k), moved))[1]
    beside = multiply(sizes(multiply(k, known.off_x)), exactly(off_rows))[1]
    reach = above(above(pair.width(weights, OF_HEIGHT * chance) + above(share * slack)) + beside)
    held = add(y.true_mean(known.nu), multiply(b, subtract(place, x.true_mean(known.mu))))
    ends = within(held, widened(line, reach))
    value = known.s[0] + near[0] * away[0]
    ends = add(height, ends)
    return _estimate(height[0] + value, ends, sure, chance, "the intercept of the line of the kept rows, clipped")


def _slopes(pair: Pair, known: Averages, share: Floats, alpha: Fraction) -> tuple[Span, Flags]:
    """Spans of slopes that hold the true ones but for a chance of alpha, and where there are such."""
    x = pair.x
    top = add(pair.covariance(known), multiply(known.off_x, known.off_y))
    bottom = add(pair.variance(x, known), squared(known.off_x))
    moved, of_x = (np.asarray(floats.from_fraction_up(slack)) for slack in (pair.slack, x.slack))
    one, zero = exactly(np.ones_like(top[0])), exactly(np.zeros_like(top[0]))
    steepest, bounded = np.zeros_like(top[0]), np.zeros(top[0].shape, dtype=bool)
    for power in reversed(STEEPEST):
        steep = power * (pair.y.high - pair.y.low) / (x.high - x.low)
        flat = np.full_like(top[0], floats.from_fraction_up(1 / steep))
        inverse = (-flat, flat)
        width = pair.width(pair.weights(known, a=inverse, p=one, q=zero, c=zero), alpha)
        slack = above(share * above(above(moved * flat) + of_x))
        reach = above(above(above(sizes(top)[1] * flat) + width) + slack)
        beyond = bottom[0] > reach  # no slope this steep is in the set
        steepest = np.where(beyond, floats.from_fraction_up(steep), steepest)
        bounded |= beyond
    bottom = np.where(bounded, bottom[0], 1.0), np.where(bounded, bottom[1], 1.0)

    def allowed(b: Span) -> Span:
        width = pair.width(pair.weights(known, a=one, p=b, q=zero, c=zero), alpha)
        slack = above(share * add(exactly(moved), multiply(sizes(b), exactly(of_x)))[1])
        return divide(widened(top, above(width + slack)), bottom)

    return narrowed((-steepest, steepest), allowed), bounded


def _estimate(value: Floats, ends: Span, known: Flags, alpha: Fraction, what: str) -> Estimate:
    """The ends and the value between them; the whole line, and no value, where nothing is known."""
    lower, upper = np.where(known, ends[0], -np.inf), np.where(known, ends[1], np.inf)
    found = np.where(known, np.clip(value, lower, upper), np.nan)
    return Estimate(found, lower, upper, alpha, noise_only(what, alpha))
