"""Covariances and correlations: from noisy sums of two columns, their products and squares, by `moments`.

*Covariance.* With a = 1, p = q = 0 and c the covariance, C* - c N' is noise: c is within its width, by row, of C' + (mu
- r) (nu - s). The width is taken for all c between two ends, which it narrows. For means mu and nu of rows in [l, h]
and [k, g], E (x - l)(g - y) >= 0 and its like say that c is at most (mu - l)(g - nu) and (h - mu)(nu - k), and at least
-(mu - l)(nu - k) and -(h - mu)(g - nu); in any case it is within a quarter of the product of both ranges.

*Correlation.* Let k be the ratio of both standard deviations, of y to x. Then cov = rho (k var_x + var_y/k)/2, so that
with a = 1, p = rho k/2, q = rho/(2k) and c = 0 nothing but noise is left:

    rho (k X* + Y*/k)/(2 N')  is within the width, by row, of  C*/N'.

k is held by a span from intervals of both variances. As a function of k, k X' + Y'/k is flat where k^2 = Y'/X', and at
least 2 sqrt(X' Y') everywhere: what is not known of k counts by its square. Where a variance may be 0, there may be no
correlation, and the interval is all of [-1, 1].
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from viameter.arith import Number, floats
from viameter.tables.estimates.basic import Estimate, noise_only
from viameter.tables.estimates.moments import SHARE, Pair, exactly, narrowed, squared, subtract, widened, within
from viameter.tables.estimates.noise import read_alpha
from viameter.tables.estimates.outward import Floats, Span, above, add, below, divide, from_fraction, multiply

OF_MEAN, OF_COUNT = Fraction(45, 1000), Fraction(1, 100)
"""The parts of alpha for each mean, and for the count, of a covariance."""
OF_MEAN_BESIDE, OF_VARIANCE = Fraction(2, 100), Fraction(25, 1000)
"""The parts of alpha for each mean and for each variance of a correlation."""


def covariance_estimate(pair: Pair, alpha: Number = "1/20") -> Estimate:
    """The covariances (of the kept rows: their number is divided by, not one less) of groups.

    Where the count may be 0 by its own width, the interval is all that the bounds allow. A group without rows has no
    covariance: nothing is said of it.

    >>> from viameter.tables.estimates import Axis, Moment, Noise
    >>> noise, ten = Noise("gaussian", Fraction(1)), Fraction(10)
    >>> x, y = (Axis(Moment(np.array([0]), noise), -ten, ten) for _ in "xy")
    >>> found = covariance_estimate(Pair(Moment(np.array([1000]), noise), x, y, Moment(np.array([40_000]), noise)))
    >>> [round(float(number[0]), 2) for number in (found.lower, found.value, found.upper)]
    [39.92, 40.0, 40.08]
    """
    chance = read_alpha(alpha)
    x, y = pair.x, pair.y
    widest = (x.high - x.low) * (y.high - y.low) / 4
    most = np.full(pair.count.values.shape, floats.from_fraction_up(widest))
    known, share = pair.averages(OF_MEAN * chance), pair.share_of_rows(OF_COUNT * chance)
    noisy = pair.covariance(known)
    middle = add(noisy, multiply(known.off_x, known.off_y))
    slack = above(share * floats.from_fraction_up(pair.slack))
    one, zero = exactly(np.ones_like(most)), exactly(np.zeros_like(most))

    def allowed(c: Span) -> Span:
        width = pair.width(pair.weights(known, a=one, p=zero, q=zero, c=c), SHARE * chance)
        return widened(middle, above(width + slack))

    ends = within(narrowed((-most, most), allowed), _allowed(pair, known.mu, known.nu))
    sure = pair.sure(chance)
    lower, upper = np.where(sure, ends[0], -most), np.where(sure, ends[1], most)
    value = np.clip((noisy[0] + noisy[1]) / 2, lower, upper)
    return Estimate(value, lower, upper, chance, noise_only("the covariance of the kept rows, clipped", chance))


def correlation_estimate(pair: Pair, alpha: Number = "1/20") -> Estimate:
    """The correlations (Pearson's) of groups; both axes have squares.

    Where the count, or a variance, may be 0 by its own width, the interval is all of [-1, 1]. A group in which a column
    has one value has no correlation: nothing is said of it.

    >>> from viameter.tables.estimates import Axis, Moment, Noise
    >>> noise, ten = Noise("gaussian", Fraction(1)), Fraction(10)
    >>> x, y = (Axis(Moment(np.array([0]), noise), -ten, ten, Moment(np.array([50_000]), noise)) for _ in "xy")
    >>> found = correlation_estimate(Pair(Moment(np.array([1000]), noise), x, y, Moment(np.array([40_000]), noise)))
    >>> [round(float(number[0]), 4) for number in (found.lower, found.value, found.upper)]
    [0.7999, 0.8, 0.8001]
    """
    chance = read_alpha(alpha)
    x, y = pair.x, pair.y
    known, share = pair.averages(OF_MEAN_BESIDE * chance), pair.share_of_rows(OF_COUNT * chance)
    spreads = [axis.variance(pair.count, OF_VARIANCE * chance) for axis in (x, y)]
    sure = pair.sure(chance) & (spreads[0][0] > 0) & (spreads[1][0] > 0)
    # Where nothing is known, any numbers do that lead to no infinity.
    k = _root(divide(*((np.where(sure, one[0], 1.0), np.where(sure, one[1], 1.0)) for one in reversed(spreads))))
    noisy = pair.covariance(known)
    of_x, of_y = pair.variance(x, known), pair.variance(y, known)
    middle = add(noisy, multiply(known.off_x, known.off_y))
    scale = _half_sum(k, add(of_x, squared(known.off_x)), add(of_y, squared(known.off_y)))
    sure &= scale[0] > 0
    scale = np.where(sure, scale[0], 1.0), np.where(sure, scale[1], 1.0)
    one, zero = exactly(np.ones_like(noisy[0])), exactly(np.zeros_like(noisy[0]))
    slacks = [from_fraction(axis.slack) for axis in (x, y)]
    beside = add(from_fraction(pair.slack), _halved(add(multiply(k, slacks[0]), divide(slacks[1], k))))[1]
    slack = above(share * beside)

    def allowed(rho: Span) -> Span:
        half = _halved(rho)
        weights = pair.weights(known, a=one, p=multiply(half, k), q=divide(half, k), c=zero)
        width = pair.width(weights, SHARE * chance)
        return divide(widened(middle, above(width + slack)), scale)

    ends = narrowed((-one[0], one[0]), allowed)
    lower, upper = np.where(sure, ends[0], -1.0), np.where(sure, ends[1], 1.0)
    product = np.where(sure, of_x[0] * of_y[0], 1.0)
    value = np.where(product > 0, noisy[0] / np.sqrt(np.maximum(product, 1e-300)), 0.0)
    value = np.clip(value, lower, upper)
    return Estimate(value, lower, upper, chance, noise_only("the correlation of the kept rows, clipped", chance))


def _allowed(pair: Pair, mu: Span, nu: Span) -> Span:
    """What a covariance of numbers between the bounds can be, for spans of both means."""
    from_low: list[Floats] = []
    to_high: list[Floats] = []
    for axis, mean in ((pair.x, mu), (pair.y, nu)):
        true = axis.true_mean(mean)
        from_low.append(subtract(true, from_fraction(axis.low))[1])
        to_high.append(subtract(from_fraction(axis.high), true)[1])
    upper = np.minimum(above(from_low[0] * to_high[1]), above(to_high[0] * from_low[1]))
    lower = np.minimum(above(from_low[0] * from_low[1]), above(to_high[0] * to_high[1]))
    return -lower, upper


def _half_sum(k: Span, x: Span, y: Span) -> Span:
    """What (k x + y/k)/2 can be; the lower end is 0 where x or y may be."""
    positive = (x[0] > 0) & (y[0] > 0)
    least = below(np.sqrt(np.maximum(below(np.where(positive, x[0] * y[0], 0.0)), 0.0)))
    ends = [_halved(add(multiply(exactly(at), x), divide(y, exactly(at))))[1] for at in k]
    return np.maximum(least, 0.0), np.maximum(*ends)


def _halved(a: Span) -> Span:
    return below(a[0] / 2), above(a[1] / 2)


def _root(a: Span) -> Span:
    return np.maximum(below(np.sqrt(np.maximum(a[0], 0.0))), 1e-150), above(np.sqrt(a[1]))
