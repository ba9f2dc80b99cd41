"""Products of few points, written out: their deltas and epsilons without a contour."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np

from viameter.arith import ZERO, Extended, floats, vectors
from viameter.composition.accounting.distribution import Floats, LossDistribution, points, together
from viameter.composition.accounting.product import Product
from viameter.composition.accounting.reals import UP, as_fraction, float_up, real_up
from viameter.errors import NoTheorem
from viameter.theorem import Numbers, theorem

MOST_POINTS = 4096
MOST_FACTORS = 32


def enumerable(product: Product) -> bool:
    """Whether the product has so few points that they can be written out."""
    if product.mu_squared or sum(product.counts.values()) > MOST_FACTORS:
        return False
    size = 1
    for distribution, count in product.counts.items():
        size *= count + 1 if distribution.is_pair else len(distribution.losses) ** min(count, MOST_FACTORS)
        if size > MOST_POINTS:
            return False
    return True


def enumerate_points(product: Product) -> LossDistribution:
    """The points of a product, losses and weights rounded up; its infinite mass is left to the product."""
    whole = LossDistribution(np.zeros(1), np.ones(1))
    for distribution, count in product.counts.items():
        finite = LossDistribution(distribution.losses, distribution.weights)
        for factor in [_power(finite, count)] if finite.is_pair else [finite] * count:
            whole = together(whole, after=factor)
    return whole


@theorem("loss-distribution-delta", cites="Balle, Barthe and Gaboardi 2018; definition", numbers=Numbers.OUTWARD)
def points_delta(losses: LossDistribution, *, epsilon: float) -> float:
    """Delta of finitely many losses is the mean of (1 - e^(epsilon - loss))_+.

    Theorem
        Let losses L have probabilities at most w, and an infinite loss a probability at most I. Then delta(epsilon) is
        at most I plus the sum of w (1 - e^(epsilon - L))_+.
    Requires
        Losses and weights that are at least the true ones; no Gaussian factor.
    Ensures
        The result is at least that sum.
    Proof
        sup over events of P(S) - e^epsilon Q(S) is attained where P > e^epsilon Q, that is where L > epsilon. Every
        operation is rounded up.
    Example
        >>> points_delta(LossDistribution(np.array([-1.0, 1.0]), np.array([0.25, 0.75])), epsilon=0.0)
        0.474090419121...
    """
    if losses.mu_squared:
        raise NoTheorem("these points come with a Gaussian factor, which has no finite list of losses: use a contour")
    above = losses.losses > epsilon
    parts = -vectors.expm1_down(vectors.sub_down(epsilon, losses.losses[above]))
    finite = float(vectors.sum_up(vectors.mul_up(losses.weights[above], parts)))
    return floats.add_up(finite, losses.infinity)


def points_epsilon(losses: LossDistribution, *, delta: Fraction) -> Extended:
    """An epsilon >= 0 at which the delta of finitely many losses, none infinite, is at most the one given.

    The least epsilon is the largest ln((A - delta)/B) over l, where A is the probability of the l largest losses and B
    that under the other data; see homogeneous-optimum-epsilon. A is rounded up and B down.
    """
    given, weights = losses.losses[::-1], losses.weights[::-1]
    top = float(given[0])
    if delta <= 0:
        return max(ZERO, Fraction(top))
    room = 1 + len(given) * 2.0**-51
    above = np.cumsum(weights) * room
    # B e^top. Where that is above the largest float, the largest float is below it.
    with np.errstate(over="ignore"):
        below = np.minimum(np.cumsum(_times_exp_down(weights, given, top)), sys.float_info.max) / room
    excess = vectors.sub_up(above, floats.from_fraction_down(delta))
    useful = excess > 0
    if not useful.any():
        return ZERO
    if (below[useful] <= 0).any():
        return max(ZERO, Fraction(top))
    best = float(vectors.div_up(excess[useful], below[useful]).max())
    epsilon = as_fraction(UP.add(UP.log(real_up(best)), real_up(top)))
    return max(ZERO, min(epsilon, Fraction(top)))


def _times_exp_down(weights: Floats, losses: Floats, top: float) -> Floats:
    # w is the weight that stands for P here, so that the other is w e^-L exactly, rounded down.
    return vectors.mul_down(weights, vectors.exp_down(vectors.sub_down(top, losses)))


def _power(pair: LossDistribution, count: int) -> LossDistribution:
    """The product of `count` equal pairs of points -L and L: count + 1 points."""
    loss, low, high = float(pair.losses[1]), float(pair.weights[0]), float(pair.weights[1])
    number = np.arange(count + 1)
    losses = vectors.mul_up((2 * number - count).astype(np.float64), loss)
    weights = [
        float_up(
            UP.mul(
                math.comb(count, int(n)), UP.mul(UP.pow(real_up(high), int(n)), UP.pow(real_up(low), count - int(n)))
            )
        )
        for n in number
    ]
    return points(losses, np.array(weights))
