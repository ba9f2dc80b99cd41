"""Mechanisms that are known by moments only, zCDP or Renyi bounds, as one loss distribution beside the others."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from viameter.arith import INFINITY, ZERO, Extended, floats
from viameter.composition.accounting.distribution import Floats, LossDistribution, points
from viameter.composition.accounting.moments import Moments, prefactor
from viameter.composition.accounting.pairs import NOTHING
from viameter.composition.accounting.reals import DOWN, UP, Real, float_up, real_down, real_up
from viameter.measures.curves import RenyiLoss
from viameter.theorem import Numbers, theorem

NODES = 600
"""Losses above 0 where the bound on delta is taken; as many below."""
LEAST_LOG_DELTA = -300.0
"""ln of what delta may be at the highest of them: it is counted as an infinite loss."""
LEAST_TOP = 2.0**-40
"""The highest node is not below this, so that 192 bits tell nodes apart."""

Claims = tuple[tuple[RenyiLoss, int], ...]


def claims_pair(claims: Moments) -> LossDistribution:
    """The dominating pair of what moments claim, made once."""
    return _cached_pair(claims.rho, tuple(claims.curves.items()))


@lru_cache(maxsize=64)
def _cached_pair(rho: Fraction, curves: Claims) -> LossDistribution:
    return moments_pair(Moments(rho=rho, curves=dict(curves)))


@theorem(
    "dominating-moments",
    cites="Zhu, Dong and Wang 2022 (dominating pairs); Canonne, Kamath and Steinke 2020; the exchange derived here",
    numbers=Numbers.OUTWARD,
)
def moments_pair(losses: Moments) -> LossDistribution:
    """Mechanisms known by moments are together dominated by one pair, beside others that have pairs of their own.

    Theorem
        Let some mechanisms have fixed dominating pairs, and let the others have moments E e^(z L) <= e^(K_j(z)), in
        both directions and whatever the answers before, at some orders z > 0. In whatever order they are run, all
        together are dominated by the product of those pairs with one more: that of any convex falling function h of s
        = e^epsilon with h(0) >= 1 that is at least g(epsilon) = min over z of e^(K(z) - z epsilon) z^z/(1 + z)^(1 + z)
        at nodes epsilon >= 0, at least 1 - s + s g(-epsilon) at nodes below 0, linear between nodes and constant beyond
        the last, K the sum of the K_j.
    Requires
        Bounds on moments hold in both directions; pairs and moments are fixed in advance: not for filters and
        odometers. The claims come without loss distributions.
    Ensures
        Points at the nodes, with weights rounded up so that h is at least the values at all of them.
    Proof
        Let V(s) be the largest P(S) - s Q(S) that the mechanisms from some step on can have. As a supremum of convex
        functions that fall in s it is convex and falls. A step with a pair has at most E V(s e^-L) over its pair
        (dominating-pairs-compose), one with moments the supremum of E V(s e^-l) over mechanisms with these moments. A
        supremum of means over L is at most the mean over L of the suprema, so that a step with a pair may be taken
        before one with moments: the whole is at most the mean, over the product of all pairs, of what the mechanisms
        with moments have together. These composed adaptively have the moments K, hence a profile of at most g
        (moments-to-epsilon), and by f(s) = 1 - s + s f'(1/s), f' the profile in the other direction, at most 1 - s + s
        g(-ln s) for s < 1. A profile is convex, 1 at s = 0, and falls: where h is at least it at the nodes and linear
        between them, h is at least it everywhere. h is the profile of the losses ln s_i where its slope changes, by q_i
        say, with weights q_i s_i. Weights are made from the highest loss down, each so large that h reaches the next
        value, in 192 bits and rounded up; which nodes are kept matters for tightness only.
    Example
        >>> pair = moments_pair(Moments(rho=Fraction(1, 32)))
        >>> from viameter.composition.accounting.enumeration import points_delta
        >>> f"{points_delta(pair, epsilon=0.688002455487):.4e}"
        '1.0004e-03'
    """
    ceiling = _ceiling(losses)
    if (losses.rho == 0 and not losses.curves) or ceiling == 0:
        return NOTHING
    top, order_at = _range(losses, ceiling)
    if not 0 < top < 1e300:
        return LossDistribution(np.zeros(1), np.zeros(1), 1.0)
    above = np.linspace(0.0, max(top, LEAST_TOP), NODES + 1)
    deltas = [_delta(losses, level, float(z), ceiling) for level, z in zip(above, order_at(above), strict=True)]
    mirrored = [
        UP.sub(real_up(1), DOWN.mul(DOWN.exp(real_down(-float(e))), DOWN.sub(real_down(1), d)))
        for e, d in zip(above[:0:-1], deltas[:0:-1], strict=True)
    ]
    nodes, values = [*(-above[:0:-1]).tolist(), *above.tolist()], [*mirrored, *deltas]
    kept = _envelope(nodes, values)
    return _pair_above([nodes[i] for i in kept], [values[i] for i in kept])


def _ceiling(losses: Moments) -> Extended:
    """An epsilon beyond which delta is 0: where all claims have a bound at the order infinity."""
    total: Extended = INFINITY if losses.rho else ZERO
    for curve, count in losses.curves.items():
        bound = curve.at(INFINITY)
        total = INFINITY if INFINITY in (bound, total) else Fraction(total) + count * Fraction(bound)
    return total


def _range(losses: Moments, ceiling: Extended) -> tuple[float, Callable[[Floats], Floats]]:
    """The highest node, and which orders z are best at given epsilons; choices for tightness, in plain floats."""
    rho = floats.from_fraction_up(losses.rho)
    limit = math.inf if ceiling == INFINITY else floats.from_fraction_up(Fraction(ceiling))
    if not losses.curves:
        return rho + 2 * math.sqrt(-LEAST_LOG_DELTA * rho), lambda levels: _concentrated_orders(rho, levels)
    listed = [z for z in losses.orders(lambda z, k: 0.0) if losses.at(z) is not None]
    if not listed:
        return limit, lambda levels: np.ones(len(levels))
    z = np.array([float(order) for order in listed])
    constants = np.array([float(losses.at(order) or 0.0) for order in listed])
    constants += z * np.log(z / (1 + z)) - np.log1p(z)
    top = min(float(((constants - LEAST_LOG_DELTA) / z).min()), limit)
    return top, lambda levels: z[np.argmin(constants[:, None] - z[:, None] * levels[None, :], axis=0)]


def _concentrated_orders(rho: float, levels: Floats) -> Floats:
    """Where rho z (z + 1) - z epsilon - ln(1 + z) + z ln(z/(1 + z)) is least: its derivative rises with z."""
    low, high = np.full(len(levels), -600.0), np.full(len(levels), 600.0)
    for _ in range(70):
        middle = (low + high) / 2
        z = np.exp(middle)
        rises = rho * (2 * z + 1) - levels > np.log1p(1 / z)
        low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    best: Floats = np.exp((low + high) / 2)
    return best


def _delta(losses: Moments, level: float, order: float, ceiling: Extended) -> Real:
    if level >= ceiling:
        return real_up(0)
    z = Fraction(order)
    moment = losses.at(z)
    if moment is None or not moment.is_finite():
        return real_up(1)
    return min(real_up(1), UP.exp(UP.add(UP.sub(moment, real_down(z * Fraction(level))), prefactor(z))))


def _envelope(nodes: list[float], values: list[Real]) -> list[int]:
    """The corners of the greatest convex function below the values, as a function of e^node."""
    places = [UP.exp(real_up(node)) for node in nodes]
    kept: list[int] = []
    for i in range(len(nodes)):
        while len(kept) >= 2:
            a, b = kept[-2], kept[-1]
            if (values[b] - values[a]) * (places[i] - places[a]) < (values[i] - values[a]) * (places[b] - places[a]):
                break
            kept.pop()
        kept.append(i)
    return kept


def _pair_above(nodes: list[float], values: list[Real]) -> LossDistribution:
    """Points at nodes whose profile is at least the value at each of them, and at least 1 at s = 0."""
    infinity = float_up(values[-1])
    # Of the points above a node: their mass, and that times e^(node - loss).
    mass, other = real_down(0), real_up(0)
    weights = [0.0] * len(nodes)
    for i in range(len(nodes) - 2, -1, -1):
        step = Fraction(nodes[i + 1]) - Fraction(nodes[i])
        factor = UP.exp(real_up(-step))
        other = UP.mul(other, factor)
        lacking = UP.sub(values[i], DOWN.add(real_down(infinity), DOWN.sub(mass, other)))
        if lacking > 0:
            weights[i + 1] = float_up(UP.div(lacking, DOWN.minus(UP.expm1(real_up(-step)))))
            mass = DOWN.add(mass, real_down(weights[i + 1]))
            other = UP.add(other, UP.mul(real_up(weights[i + 1]), factor))
    weights[0] = max(0.0, float_up(UP.sub(real_up(1), DOWN.add(real_down(infinity), mass))))
    return points(np.array(nodes), np.array(weights), infinity)
