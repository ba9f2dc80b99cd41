"""Finite loss distributions: points, weights that are rounded up, a mass at infinity, and a Gaussian factor.

A distribution stands for a pair (P, Q) that dominates a mechanism. Its point l is an event of probability w under P and
w e^-L under Q; the mass at infinity has probability 0 under Q; what is missing from Q has probability 0 under P. Its
*profile* is delta(epsilon) = infinity + sum of w (1 - e^(epsilon - L))_+ over points, averaged over the Gaussian.
One distribution dominates another if its profile is nowhere lower, for any real epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from viameter.arith import ZERO, floats, vectors
from viameter.errors import NumberError
from viameter.theorem import Numbers, theorem

Floats = NDArray[np.float64]

SLACK = 1 + 2.0**-38
"""Above the relative error of a weight that is computed in float64 by a few dozen operations; see `dots`."""


@dataclass(frozen=True, slots=True, eq=False)
class LossDistribution:
    """Points with weights, a mass at infinity, and an independent continuous Gaussian of squared mu `mu_squared`."""

    losses: Floats
    """Rising, finite; each at least the loss that it stands for."""
    weights: Floats
    """Each at least the probability that it stands for."""
    infinity: float = 0.0
    """At least the probability of a loss that has no bound."""
    mu_squared: Fraction = ZERO
    has_points: bool = field(init=False)
    is_pair: bool = field(init=False)

    def __post_init__(self) -> None:
        losses, weights = self.losses, self.weights
        good = losses.ndim == 1 and losses.shape == weights.shape and len(losses) > 0 and 0 <= self.infinity <= 1
        if good and len(losses) == 2:  # by far the most frequent kind, and arrays are slow where they are short
            (a, b), (low, high) = losses.tolist(), weights.tolist()
            good = -math.inf < a < b < math.inf and 0 <= low < math.inf and 0 <= high < math.inf
        elif good:
            finite = np.isfinite(losses).all() and np.isfinite(weights).all() and (weights >= 0).all()
            good = bool(finite and (losses[1:] > losses[:-1]).all())
        if not good:
            raise NumberError("a loss distribution has finite, rising losses and weights >= 0")
        losses.flags.writeable = weights.flags.writeable = False
        trivial = len(losses) == 1 and losses[0] == 0 and weights[0] == 1
        object.__setattr__(self, "has_points", not trivial)
        object.__setattr__(self, "is_pair", len(losses) == 2 and losses[0] == -losses[1])


def points(losses: Floats, weights: Floats, infinity: float = 0.0) -> LossDistribution:
    """A distribution of points in any order; those of equal loss are joined, their weights added up rounded up.

    Points of weight 0 say nothing, and are left out.
    """
    losses, weights = losses[weights > 0], weights[weights > 0]
    if not len(losses):
        return LossDistribution(np.zeros(1), np.zeros(1), min(1.0, infinity))
    distinct, place = np.unique(losses, return_inverse=True)
    joined = np.zeros(len(distinct))
    if len(distinct) == len(losses):
        joined[place] = weights
    else:
        np.add.at(joined, place, weights)
        # At most n additions were rounded, each by a relative 2^-53.
        joined *= 1 + len(losses) * 2.0**-51
    return LossDistribution(distinct, joined, min(1.0, infinity))


def gaussian_factor(mu_squared: Fraction) -> LossDistribution:
    """The loss distribution of N(mu, 1) against N(0, 1): normal, of mean mu^2/2 and variance mu^2."""
    return LossDistribution(np.zeros(1), np.ones(1), 0.0, mu_squared)


@theorem(
    "dominating-pairs-compose",
    cites="Zhu, Dong and Wang 2022 (Optimal Accounting via Characteristic Function), Theorem 10",
    numbers=Numbers.OUTWARD,
)
def together(losses: LossDistribution, *, after: LossDistribution) -> LossDistribution:
    """Two mechanisms, the second chosen by the answer of the first, are dominated by the product of dominating pairs.

    Theorem
        Let (P, Q) dominate M for neighbors in some order, and (P', Q') dominate every M' that the answer of M may
        choose, for neighbors in the same order. Then the product of the pairs, in which losses add up, dominates (M,
        M').
    Requires
        The pairs are fixed in advance; which mechanism is run may depend on answers, its dominating pair may not. So
        this is for fixed parameters, and never for filters and odometers. Both pairs are for the same order of
        neighbors.
    Ensures
        The product: losses added, weights multiplied, the masses at infinity added, each rounded up.
    Proof
        Given an answer y with loss l, the delta of what follows at epsilon is at most f'(epsilon - l), the profile of
        (P', Q'). So delta of both is at most the mean over y of f'(epsilon - l), where f' is the mean of (1 - s
        e^-L')_+, a convex function of s e^-l: that mean rises with the profile of M, as every mean of a function convex
        and falling in e^-l does, and is thus at most that of (P, Q). Weights and losses that are larger only raise it.
    Example
        >>> one = LossDistribution(np.array([-1.0, 1.0]), np.array([0.25, 0.75]))
        >>> together(one, after=one).losses.tolist()
        [-2.0, 0.0, 2.0]
    """
    sums = vectors.add_up(losses.losses[:, None], after.losses[None, :]).ravel()
    weights = vectors.mul_up(losses.weights[:, None], after.weights[None, :]).ravel()
    infinity = floats.add_up(losses.infinity, after.infinity)
    product = points(sums, weights, infinity)
    return LossDistribution(product.losses, product.weights, product.infinity, losses.mu_squared + after.mu_squared)
