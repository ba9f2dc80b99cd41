"""Moments of two columns: from noisy sums of x, y and their products to equations in which only noise is unknown.

Numbers are distances from the centers of their columns. Let N >= 1 be the true count, mu and nu the true means of x and
y in fixed point, and, of the noisy sums,

    C* = Sxy' - mu Sy' - nu Sx' + mu nu N',    X* = Sxx' - 2 mu Sx' + mu^2 N',    Y* likewise.

With the true sums these are N times the covariance and the variances. So for any fixed numbers a, p, q and c

    a C* - p X* - q Y* - c N'  =  N (a cov - p var_x - q var_y - c)  +  noise,

and the noise is one sum of weighted noises: of xy by a, of xx by -p, of yy by -q, of x by 2 p mu - a nu, of y by 2 q nu
- a mu, of the count by a mu nu - p mu^2 - q nu^2 - c. Where what stands behind N is 0 at the truth, no truth is left
but in the weights. The left side is known but for the means: with r = Sx'/N', s = Sy'/N', C' = Sxy'/N' - r s and so on,

    C*/N' = C' + (mu - r)(nu - s),    X*/N' = X' + (mu - r)^2,

so that what is not known of means counts by its square only.

*Weights that are not known.* A width of the sum of noises is taken for all weights that are possible
(`Weighted.least`), given spans that hold the means, and what else weights are made of, but for a part of alpha. The
true weights are fixed numbers among them, and their width is the least; that the spans come of noise does no harm.

*Rounding.* Each row's number is within an error of its fixed point, and its product within another one. True moments
then differ from those of the fixed points by a `slack`, which is added to the width N/N' times; N is at most N' and its
width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from viameter.arith import floats
from viameter.tables.estimates.means import ratio_estimate
from viameter.tables.estimates.noise import Noise
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
)
from viameter.tables.estimates.spreads import variance_estimate
from viameter.tables.estimates.sums import Weighted, widths_of_sums

SHARE = Fraction(9, 10)
"""The part of alpha for the sum of all noises; the rest is for what its weights are made of."""
ROUNDS, CELLS = 4, 8
"""How often ends are taken to narrow the weights that give them, and into how many cells they are cut then."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Noisy sums of integers, group by group: each row's number is within `error` of `unit` times its integer."""

    values: Ints
    noise: Noise
    unit: Fraction = Fraction(1)
    error: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Axis:
    """A column: its sums, those of its squares if they are there, and between which numbers its rows are."""

    total: Moment
    low: Fraction
    high: Fraction
    squares: Moment | None = None

    @property
    def reach(self) -> Fraction:
        """The largest absolute value of a row."""
        return max(abs(self.low), abs(self.high))

    @property
    def slack(self) -> Fraction:
        """How far the variance is from that of the fixed points."""
        assert self.squares is not None
        return self.squares.error + (2 * self.reach + self.total.error) * self.total.error

    def mean(self, count: Moment, alpha: Fraction) -> Span:
        """Spans that hold the mean of the fixed points but for a chance of alpha."""
        ratio = ratio_estimate(
            self.total.values, self.total.noise, count.values, count.noise, alpha,
            lowest=(self.low - self.total.error) / self.total.unit,
            highest=(self.high + self.total.error) / self.total.unit,
        )  # fmt: skip
        return multiply(from_fraction(self.total.unit), ratio.span)

    def true_mean(self, mean: Span) -> Span:
        """What the mean of the rows can be, for spans of that of the fixed points."""
        low, high = floats.from_fraction_down(self.low), floats.from_fraction_up(self.high)
        moved = widened(mean, self.total.error)
        return np.clip(moved[0], low, high), np.clip(moved[1], low, high)

    def variance(self, count: Moment, alpha: Fraction) -> Span:
        """Spans that hold the variance of the rows but for a chance of alpha."""
        assert self.squares is not None
        found = variance_estimate(
            self.squares.values, self.squares.noise, self.total.values, self.total.noise, count.values, count.noise,
            alpha, bounds=(self.low, self.high), unit=self.total.unit, squares_unit=self.squares.unit,
            row_error=self.total.error, square_error=self.squares.error,
        )  # fmt: skip
        return np.asarray(found.lower, dtype=np.float64), np.asarray(found.upper, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two columns over the same rows: their count, both axes, and the sums of products."""

    count: Moment
    x: Axis
    y: Axis
    products: Moment

    @property
    def slack(self) -> Fraction:
        """How far the covariance is from that of the fixed points."""
        x, y = self.x, self.y
        moved = (x.reach + x.total.error) * y.total.error + y.reach * x.total.error
        return self.products.error + moved

    def sure(self, alpha: Fraction) -> npt.NDArray[np.bool_]:
        """Where the count cannot be 0 by its own width."""
        width = min(math.ceil(self.count.noise.width(alpha)), 2**63 - 1)
        return np.asarray(self.count.values > width)

    @property
    def rows(self) -> Span:
        """The noisy counts, those above 0."""
        return from_integers(np.maximum(self.count.values, 1))

    def share_of_rows(self, alpha: Fraction) -> Floats:
        """How many rows there are for each noisy one, at most, but for a chance of alpha."""
        most = above(self.rows[1] + floats.from_fraction_up(self.count.noise.width(alpha)))
        return divide((most, most), self.rows)[1]

    def averages(self, alpha: Fraction) -> Averages:
        """What noisy sums say of means and central moments, with means that hold but for a chance of 2 alpha."""
        means = self.x.mean(self.count, alpha), self.y.mean(self.count, alpha)
        r, s = (self._per_row(axis.total) for axis in (self.x, self.y))
        return Averages(r, s, *means, subtract(means[0], r), subtract(means[1], s))

    def covariance(self, known: Averages) -> Span:
        """C', the covariance that the noisy sums have."""
        return subtract(self._per_row(self.products), multiply(known.r, known.s))

    def variance(self, axis: Axis, known: Averages) -> Span:
        """X' or Y', the variance that the noisy sums have."""
        assert axis.squares is not None
        return subtract(self._per_row(axis.squares), squared(known.r if axis is self.x else known.s))

    def width(self, weights: Sequence[tuple[Moment | None, Span]], alpha: Fraction) -> Floats:
        """How far the sum of noises with such weights is from 0, by noisy row, but for a chance of alpha."""
        noisy = [(one, weight) for one, weight in weights if one is not None and one.noise.scale]
        shape = np.broadcast_shapes(self.count.values.shape, *(weight[0].shape for _, weight in weights))
        if not noisy:
            return np.zeros(shape)
        blocks = []
        for one, weight in noisy:
            least, most = (np.broadcast_to(x, shape) for x in multiply(sizes(weight), from_fraction(one.unit)))
            blocks.append(Weighted(most.reshape(-1, 1), one.noise, np.maximum(least, 0.0).reshape(-1, 1)))
        # The law of the sum itself is no narrower for weights that are only known between ends, and takes long.
        width = widths_of_sums(blocks, alpha, quick=True).reshape(shape)
        return divide((width, width), self.rows)[1]

    def weights(self, known: Averages, *, a: Span, p: Span, q: Span, c: Span) -> list[tuple[Moment | None, Span]]:
        """The weights of the noise of a C* - p X* - q Y* - c N'."""
        mu, nu = known.mu, known.nu
        of_count = subtract(multiply(a, multiply(mu, nu)), multiply(p, squared(mu)))
        return [
            (self.products, a),
            (self.x.squares, p),
            (self.y.squares, q),
            (self.x.total, subtract(multiply(twice(p), mu), multiply(a, nu))),
            (self.y.total, subtract(multiply(twice(q), nu), multiply(a, mu))),
            (self.count, subtract(subtract(of_count, multiply(q, squared(nu))), c)),
        ]

    def _per_row(self, moment: Moment) -> Span:
        return divide(multiply(from_fraction(moment.unit), from_integers(moment.values)), self.rows)


@dataclass(frozen=True, slots=True)
class Averages:
    """Of two columns the noisy means r and s, spans of the true ones mu and nu, and by how much these may differ."""

    r: Span
    s: Span
    mu: Span
    nu: Span
    off_x: Span
    off_y: Span


def subtract(a: Span, b: Span) -> Span:
    """Every difference of a number in one span and one in the other."""
    return add(a, (-b[1], -b[0]))


def twice(a: Span) -> Span:
    """A span times 2, which is exact."""
    return 2 * a[0], 2 * a[1]


def sizes(a: Span) -> Span:
    """The absolute values of a span."""
    largest = np.maximum(np.abs(a[0]), np.abs(a[1]))
    return np.where((a[0] <= 0) & (a[1] >= 0), 0.0, np.minimum(np.abs(a[0]), np.abs(a[1]))), largest


def squared(a: Span) -> Span:
    """The squares of a span."""
    smallest, largest = sizes(a)
    return np.maximum(below(smallest**2), 0.0), above(largest**2)


def widened(a: Span, by: Fraction | Floats) -> Span:
    """Everything within `by` of a span."""
    reach = np.asarray(floats.from_fraction_up(by) if isinstance(by, Fraction) else by)
    return add(a, (-reach, reach))


def exactly(a: Floats) -> Span:
    """A span of one number."""
    return a, a


def narrowed(ends: Span, allowed: Callable[[Span], Span]) -> Span:
    """Ends of what is allowed of all numbers between `ends`: of those in a span, `allowed` leaves another span.

    Numbers are taken together, then in cells whose weights are known better. All is the same event: the true number is
    allowed by its own width, and thus by all that are larger.
    """
    for _ in range(ROUNDS):
        ends = within(ends, allowed(ends))
    first, size = ends[0], ends[1] - ends[0]
    edges = np.stack([np.clip(first + size * (place / CELLS), *ends) for place in range(CELLS + 1)])
    edges[0], edges[-1] = ends
    cells = edges[:-1], edges[1:]
    found = allowed(cells)
    lower, upper = np.maximum(found[0], cells[0]), np.minimum(found[1], cells[1])
    left = lower <= upper
    # Where no cell is left, noise was beyond its width: any ends do.
    some = left.any(axis=0)
    hull = np.where(left, lower, np.inf).min(axis=0), np.where(left, upper, -np.inf).max(axis=0)
    return np.where(some, hull[0], ends[0]), np.where(some, hull[1], ends[1])


def within(ends: Span, found: Span) -> Span:
    """What is left of ends; where nothing is, noise was beyond its width, and any ends do."""
    lower = np.clip(found[0], ends[0], ends[1])
    upper = np.clip(found[1], ends[0], ends[1])
    return np.minimum(lower, upper), np.maximum(lower, upper)
