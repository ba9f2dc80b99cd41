"""Trees of bins: noisy counts at several levels, and the one estimate of how many rows are below each edge.

Levels go from the finest (the leaves) to the coarsest; a node of one level is the sum of up to `branching` nodes of the
level before. The coarsest level has 2 to `branching` nodes: a root would cost a share of the budget and, measured, not
earn it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from viameter.errors import NumberError, ParameterError, plain
from viameter.tables.estimates.noise import Kind, Noise
from viameter.tables.estimates.outward import Floats, Ints, read_integers

MOST_BINS = 1024
BINS = 256

CARELESS = 2.0**-33
"""A bound of the rounding of one coefficient, and of a count below an edge per unit of noisy counts.

Seen from one node, the first pass makes numbers of at most 1 on one path, and the second at most 3 everywhere: fewer
than 10 operations at each of at most 10 levels, each with an error below 3 * 2^-53, so below 2^-44 for each leaf. The
running sum over at most 1024 leaves adds those up (2^-34) and 1024 roundings of numbers up to 2, which is looked at
(2^-42). The product with the noisy counts adds 2048 * 2 * 2^-53.
"""


@dataclass(frozen=True, slots=True)
class TreeShape:
    """How many leaf bins there are, and how many nodes are summed up into one of the next level.

    >>> TreeShape(256, 4).sizes, TreeShape(10, 4).sizes, TreeShape.of(256, kind="laplace").sizes
    ((256, 64, 16, 4), (10, 3), (256, 16))
    """

    bins: int
    branching: int

    def __post_init__(self) -> None:
        for name, number, most in (("bins", self.bins, MOST_BINS), ("branching", self.branching, MOST_BINS)):
            if isinstance(number, bool) or not isinstance(number, int) or not 2 <= number <= most:
                raise ParameterError(f"{name}={plain(number)} does not fit: expected a whole number from 2 to {most}")

    @classmethod
    def of(cls, bins: int = BINS, *, kind: Kind) -> TreeShape:
        """The shape with about the least error of the counts below edges, for budget split equally between levels.

        Measured, for 64, 256 and 1000 bins, as the root of the mean variance over edges (q = 1/2, 1/4, 9/10): Gaussian
        noise wants many levels (variance grows with their number), and 4 is within 2% of the best; Laplace noise few
        (variance grows with the square): two levels up to some 400 bins, then three.
        """
        root = 4 if kind == "gaussian" else math.ceil(round(bins ** (1 / (2 if bins <= 400 else 3)), 6))
        return cls(bins, max(2, root))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many nodes the levels have, the finest first."""
        sizes = [self.bins]
        while sizes[-1] > self.branching:
            sizes.append(-(-sizes[-1] // self.branching))
        return tuple(sizes)


def coarsen(leaves: object, shape: TreeShape) -> list[Ints]:
    """The counts at every level, the finest first: exact sums of leaves along the last axis.

    >>> [level.tolist() for level in coarsen([1, 2, 3, 4, 5], TreeShape(5, 2))]
    [[1, 2, 3, 4, 5], [3, 7, 5], [10, 5]]
    """
    level = read_integers(leaves, name="leaves")
    if level.ndim == 0 or level.shape[-1] != shape.bins:
        raise ParameterError(f"leaves have the shape {level.shape}: expected {shape.bins} bins along the last axis")
    levels = [level]
    for size in shape.sizes[:-1]:
        level = np.add.reduceat(level, np.arange(0, size, shape.branching), axis=-1)
        levels.append(level)
    return levels


@dataclass(frozen=True, slots=True)
class FittedTree:
    """How many rows are below each of the bins + 1 edges, by least squares: not rounded, not monotone.

    `counts_below` has groups first and edges last; its noise is `coefficients` (edges by nodes) times the noises of all
    nodes, but for at most `slack` of rounding in each group.
    """

    counts_below: Floats
    slack: Floats
    shape: TreeShape
    noises: tuple[Noise, ...]


def fit(levels: Sequence[object], noises: Sequence[Noise], shape: TreeShape) -> FittedTree:
    """The least-squares estimate of all counts from noisy counts at all levels (Hay et al. 2010), linear and unbiased.

    >>> from fractions import Fraction
    >>> quiet = Noise("gaussian", Fraction(0))
    >>> fit(coarsen([1, 2, 3, 4, 5], TreeShape(5, 2)), [quiet] * 3, TreeShape(5, 2)).counts_below.round(6).tolist()
    [0.0, 1.0, 3.0, 6.0, 10.0, 15.0]
    """
    if not len(levels) == len(noises) == len(shape.sizes):
        raise ParameterError(
            f"{len(levels)} levels and {len(noises)} noises: {shape!r} has {len(shape.sizes)} levels, each with a noise"
        )
    arrays = [read_integers(level, name="level") for level in levels]
    for array, size in zip(arrays, shape.sizes, strict=True):
        if array.ndim == 0 or array.shape[-1] != size:
            raise ParameterError(f"a level has the shape {array.shape}: expected {size} nodes along the last axis")
    nodes = np.concatenate([array.astype(np.float64) for array in arrays], axis=-1)
    below = nodes @ coefficients(shape, tuple(noises)).T
    return FittedTree(below, 4 * CARELESS * np.abs(nodes).sum(axis=-1), shape, tuple(noises))


def coefficients(shape: TreeShape, noises: tuple[Noise, ...]) -> Floats:
    """By which the noisy counts of all nodes, the finest level first, give the counts below edges: edges by nodes.

    Least squares with weights 1/scale^2. Any weights would give an unbiased estimate; a scale of 0 is taken for a
    thousandth of the largest.
    """
    largest = max(noise.scale for noise in noises)
    relative = tuple(max(float(noise.scale / largest), 1e-3) if largest else 1.0 for noise in noises)
    return _coefficients(shape, relative)


@lru_cache(maxsize=16)
def _coefficients(shape: TreeShape, scales: tuple[float, ...]) -> Floats:
    # Two passes over the tree, for every unit vector at once: rows are inputs, columns nodes of a level.
    sizes, total = shape.sizes, sum(shape.sizes)
    places = np.cumsum((0, *sizes))
    inputs = np.eye(total)
    own = [inputs[:, places[i] : places[i + 1]] for i in range(len(sizes))]
    best, variances = [own[0]], [np.full(sizes[0], scales[0] ** 2)]
    sums, spreads = [], []
    for level in range(1, len(sizes)):
        starts = np.arange(0, sizes[level - 1], shape.branching)
        below, spread = np.add.reduceat(best[-1], starts, axis=1), np.add.reduceat(variances[-1], starts)
        variance = scales[level] ** 2
        share = spread / (spread + variance)
        best.append(share * own[level] + (1 - share) * below)
        variances.append(share * variance)
        sums.append(below)
        spreads.append(spread)
    final = best[-1]
    for level in range(len(sizes) - 2, -1, -1):
        parent = np.arange(sizes[level]) // shape.branching
        part = variances[level] / spreads[level][parent]
        final = best[level] + part * (final - sums[level])[:, parent]
    result = np.concatenate([np.zeros((1, total)), np.cumsum(final, axis=1).T])
    if np.abs(result).max() > 2:
        raise NumberError("the scales of the levels are too far apart: coefficients above 2 are not bounded here")
    result.setflags(write=False)
    return result
