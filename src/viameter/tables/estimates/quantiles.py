"""Quantiles from a fitted tree: values by interpolation, intervals that end at edges of bins.

*What a quantile is.* n rows, each clipped to the bounds; F(x) is the share of rows <= x and F(x-) that of rows < x. The
q-quantiles are all x of the bounds with F(x-) <= q <= F(x): an interval from `a` to `b`. If n = 0 every x is one.

*What the interval holds.* Let B(e) be the number of rows that the bins below edge e hold, and T(e) = B(e) - qn =
(1 - q) below - q above. T does not fall with e, T <= 0 at the first edge, T >= 0 at the last. Rows that lie on an edge
may be counted to either side, as long as it is the same one for all of them:
- T(e) <= 0 gives #(rows < e) <= B(e) <= qn, so F(e-) <= q: b >= e.
- T(e) >= 0 gives #(rows <= e) >= B(e) >= qn, so F(e) >= q: a <= e.
So every interval from an edge with T <= 0 up to an edge with T >= 0 holds a q-quantile.

*One width for each edge, and no union over edges.* The estimate of T(e) is T(e) plus a linear combination of
independent symmetric noises; let w(e) be its width for alpha, so that it is below -w(e) with a chance of at most
alpha/2, and above w(e) as well. The lower end is the last edge so that, at it *and at all edges before it but the
first*, the estimate is at most -w. Let e* be the first edge with T > 0. It depends on the rows, not on the noise. If
the lower end has T > 0, it is e* or later, so the estimate at e* is at most -w(e*) though T(e*) > 0: a chance of at
most alpha/2. The upper end is the mirror image: the first edge so that there and at all later edges but the last the
estimate is at least w. Together they fail with a chance of at most alpha. The number of rows need not be known: n is
in T.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from viameter.arith import Number, exact, exactly, floats, nonnegative, probability
from viameter.errors import ParameterError
from viameter.tables.estimates.basic import Estimate, noise_only
from viameter.tables.estimates.noise import Noise, read_alpha
from viameter.tables.estimates.outward import Floats, above, below
from viameter.tables.estimates.sums import Weighted, widths_of_sums
from viameter.tables.estimates.trees import CARELESS, FittedTree, TreeShape, coefficients


def quantiles(
    tree: FittedTree,
    edges: Sequence[Number | float],
    q: Sequence[Number],
    alpha: Number = "1/20",
    *,
    row_error: Number = 0,
) -> Estimate:
    """The q-quantiles of groups, for each q of a list: values and intervals with groups first and q last.

    `edges` are the bins + 1 edges of the leaves, exact numbers or floats meant as they are; the first and the last are
    the bounds. A row's number is within `row_error` of the one that was put into a bin. Values do not fall with q.

    >>> from viameter.tables.estimates.trees import coarsen, fit
    >>> shape, noise = TreeShape(4, 4), Noise("gaussian", Fraction(2))
    >>> found = quantiles(fit(coarsen([[100, 300, 500, 100]], shape), [noise], shape), [0, 10, 20, 30, 40], ["1/2"])
    >>> [round(float(number[0, 0]), 1) for number in (found.lower, found.value, found.upper)]
    [20.0, 22.0, 30.0]
    """
    chance, places = read_alpha(alpha), read_edges(edges, tree.shape)
    error = nonnegative(row_error, name="row_error")
    shares = [probability(share, name="q") for share in q]
    if not shares:
        raise ParameterError("q is empty: expected the quantiles that are asked for, such as ['1/2']")
    downs = np.array([floats.from_fraction_down(place) for place in places])
    ups = np.array([floats.from_fraction_up(place) for place in places])
    curve = monotone(tree.counts_below)
    groups = tree.counts_below.shape[:-1]
    value, lower, upper = (np.empty((*groups, len(shares))) for _ in range(3))
    # Of a group that may be empty nothing is said, though every number is a quantile of no rows.
    has_rows = tree.counts_below[..., -1] > _total_width(tree.shape, tree.noises, chance) + tree.slack
    for column in np.argsort([float(share) for share in shares], kind="stable"):
        share = shares[column]
        first, last = edges_around(tree, share, chance)
        lower[..., column] = np.where(has_rows, downs[first], downs[0])
        upper[..., column] = np.where(has_rows, ups[last], ups[-1])
        value[..., column] = _inverse(curve, downs, float(share))
    if error:
        slack = floats.from_fraction_up(error)
        lower, upper = np.maximum(below(lower - slack), downs[0]), np.minimum(above(upper + slack), ups[-1])
    value = np.clip(value, lower, upper)
    order = np.argsort([float(share) for share in shares], kind="stable")
    value[..., order] = np.maximum.accumulate(value[..., order], axis=-1)
    # A value that was lifted to that of a smaller q takes the end of its interval along.
    upper = np.maximum(upper, value)
    covers = noise_only("a quantile of the kept rows, clipped; its ends are edges of bins", chance)
    return Estimate(value, lower, upper, chance, covers)


def edges_around(tree: FittedTree, q: Fraction, alpha: Fraction) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each group the numbers of two edges with a q-quantile between them, as this file proves."""
    bins = tree.shape.bins
    estimate = tree.counts_below[..., 1:-1] - float(q) * tree.counts_below[..., -1:]
    widths = quantile_widths(tree.shape, tree.noises, q, alpha) + tree.slack[..., None]
    before = _leading(estimate <= -widths)
    after = _leading((estimate >= widths)[..., ::-1])
    # Without any noise both may hold at one edge, where T is 0: then the two ends may have changed places.
    first, last = before, bins - after
    return np.minimum(first, last), np.maximum(first, last)


def _leading(true: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """How many are true before the first that is not, along the last axis."""
    return np.asarray(np.where(true.all(axis=-1), true.shape[-1], true.argmin(axis=-1)))


@lru_cache(maxsize=256)
def quantile_widths(shape: TreeShape, noises: tuple[Noise, ...], q: Fraction, alpha: Fraction) -> Floats:
    """A width for alpha of the noise of (1 - q) below - q above at each inner edge."""
    if not any(noise.scale for noise in noises):
        return np.zeros(shape.bins - 1)
    of_edges = coefficients(shape, noises)
    return _widths(of_edges[1:-1] - float(q) * of_edges[-1:], shape, noises, alpha)


@lru_cache(maxsize=256)
def _total_width(shape: TreeShape, noises: tuple[Noise, ...], alpha: Fraction) -> float:
    """A width for alpha of the noise of all rows."""
    if not any(noise.scale for noise in noises):
        return 0.0
    return float(_widths(coefficients(shape, noises)[-1:], shape, noises, alpha)[0])


def _widths(combined: Floats, shape: TreeShape, noises: tuple[Noise, ...], alpha: Fraction) -> Floats:
    """Widths for alpha of combinations of the noises of all nodes, one in each row."""
    weights = np.abs(combined)
    parts = np.split(weights, np.cumsum(shape.sizes)[:-1], axis=1)
    blocks = [
        Weighted(part + 4 * CARELESS, noise, np.maximum(part - 4 * CARELESS, 0.0))
        for part, noise in zip(parts, noises, strict=True)
    ]
    widths = widths_of_sums(blocks, alpha)
    widths.setflags(write=False)
    return widths


def monotone(counts_below: Floats) -> Floats:
    """A curve from 0 to the total that does not fall: the middle between the running maximum and the later minimum."""
    inside = np.clip(counts_below, 0.0, np.maximum(counts_below[..., -1:], 0.0))
    rising = np.maximum.accumulate(inside, axis=-1)
    later = np.minimum.accumulate(inside[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray((rising + later) / 2)


def read_edges(edges: Sequence[Number | float], shape: TreeShape) -> list[Fraction]:
    """Take edges of bins: one more than bins, each above the one before."""
    places = [exactly(float(e)) if isinstance(e, float) else exact(e, name="edge") for e in edges]
    if len(places) != shape.bins + 1 or any(a >= b for a, b in itertools.pairwise(places)):
        raise ParameterError(
            f"{len(places)} edges do not fit {shape.bins} bins: expected {shape.bins + 1} of them, each above the last"
        )
    return places


def _inverse(curve: Floats, edges: Floats, q: float) -> Floats:
    """Where a curve reaches its share q, linear within bins; without rows, that share of the way between the bounds."""
    total = curve[..., -1]
    target = q * total
    bin = np.minimum(_leading(curve[..., 1:] < target[..., None]), curve.shape[-1] - 2)
    start = np.take_along_axis(curve, bin[..., None], axis=-1)[..., 0]
    rise = np.take_along_axis(curve, bin[..., None] + 1, axis=-1)[..., 0] - start
    part = np.where(rise > 0, (target - start) / np.where(rise > 0, rise, 1.0), 0.5)
    value = edges[bin] + np.clip(part, 0.0, 1.0) * (edges[bin + 1] - edges[bin])
    return np.asarray(np.where(total > 0, value, edges[0] + q * (edges[-1] - edges[0])))
