"""From the description of a mechanism to what is counted: a dominating pair for each order, and plain amounts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from viameter.arith import INFINITY, ZERO, Extended, add_settled_up, dyadic
from viameter.composition.accounting.claims import claims_pair
from viameter.composition.accounting.continuous import continuous_gaussian_pair, continuous_laplace_pair
from viameter.composition.accounting.descriptions import (
    ZCDP,
    Approximate,
    BoundedRange,
    ContinuousGaussian,
    ContinuousLaplace,
    DiscreteGaussian,
    DiscreteLaplace,
    Mechanism,
    PoissonSubsampled,
    Pure,
    RandomizedResponse,
    Renyi,
    Together,
)
from viameter.composition.accounting.distribution import LossDistribution, together
from viameter.composition.accounting.dots import normal_cells
from viameter.composition.accounting.moments import Moments
from viameter.composition.accounting.pairs import (
    MOST_SCALE,
    MOST_SENSITIVITY,
    discrete_gaussian_pair,
    discrete_laplace_pair,
    pure_pair,
    response_pair,
    wide_discrete_gaussian_pair,
)
from viameter.composition.accounting.ranges import range_pair
from viameter.composition.accounting.subsampling import amplified_addition, amplified_removal
from viameter.errors import NoTheorem
from viameter.measures.amounts import BoundedRangeLoss
from viameter.measures.conversions.response import bounded_range_to_zcdp_sharp
from viameter.measures.curves import RenyiLoss

MOST_MU = 30
"""Distances of more deviations than this have no pair by normal losses."""
MOST_PRODUCT = 40_000
"""Points of several mechanisms on one subsample, multiplied out."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known of one mechanism."""

    removal: LossDistribution | None
    """Dominates data with one row more against data without it; None where only Renyi bounds are known."""
    addition: LossDistribution | None
    """The other order: the same object, unless the mechanism sees a subsample."""
    epsilon: Extended
    delta: Fraction
    """It is (epsilon, delta)-differentially private; infinity where no such pair stands out."""
    claim: Fraction | RenyiLoss | None
    """A rho of zCDP, or bounds by order; None where the moments of the pairs are used."""
    prefers_claim: bool = False
    """Whether many of it compose better by the claim than by the pair: ranges, whose pair is worse than their zCDP."""


def judge(mechanism: Mechanism) -> Judgement:
    """What is known of a mechanism, by the theorems named in the functions that are called."""
    match mechanism:
        case Pure(epsilon):
            return _symmetric(pure_pair(epsilon), epsilon)
        case Approximate(epsilon, delta):
            return _symmetric(pure_pair(epsilon, delta=delta), epsilon, delta)
        case RandomizedResponse(answers, probability):
            pair = response_pair(1, answers=answers, probability=probability)
            return _symmetric(pair, _log_odds(answers, probability))
        case DiscreteLaplace(scale, sensitivity):
            few = sensitivity <= 32 * MOST_SCALE
            pair = discrete_laplace_pair(sensitivity, scale=scale) if few else pure_pair(sensitivity / scale)
            return _symmetric(pair, sensitivity / scale)
        case DiscreteGaussian(scale, sensitivity):
            rho = (sensitivity / scale) ** 2 / 2
            if scale > MOST_SCALE and sensitivity <= MOST_MU * scale:
                pair = wide_discrete_gaussian_pair(sensitivity, scale=scale)
            elif scale > MOST_SCALE or sensitivity > MOST_SENSITIVITY:
                return Judgement(None, None, INFINITY, ZERO, rho)
            else:
                pair = discrete_gaussian_pair(sensitivity, scale=scale)
            return _symmetric(pair, INFINITY if sensitivity else ZERO, claim=rho)
        case BoundedRange(eta):
            concentrated = bounded_range_to_zcdp_sharp(BoundedRangeLoss(eta))
            return replace(_symmetric(range_pair(eta), eta, claim=Fraction(concentrated.rho)), prefers_claim=True)
        case ContinuousLaplace(scale, distance):
            return _symmetric(continuous_laplace_pair(distance, scale=scale), distance / scale)
        case ContinuousGaussian(scale, distance):
            pair = continuous_gaussian_pair(distance, scale=scale)
            return _symmetric(pair, INFINITY if distance else ZERO, claim=(distance / scale) ** 2 / 2)
        case ZCDP(rho):
            return Judgement(None, None, INFINITY if rho else ZERO, ZERO, rho)
        case Renyi(curve):
            return Judgement(None, None, curve.at(INFINITY), ZERO, curve)
        case Together(parts):
            return _together(parts)
        case PoissonSubsampled(inner, subsample):
            return _subsampled(inner, subsample.rate)


def _symmetric(
    pair: LossDistribution, epsilon: Extended, delta: Fraction = ZERO, claim: Fraction | None = None
) -> Judgement:
    return Judgement(pair, pair, epsilon, delta, claim)


def _subsampled(inner: Mechanism, rate: Fraction) -> Judgement:
    judgement = judge(inner)
    removal, addition = judgement.removal, judgement.addition
    if removal is None or addition is None:
        assert judgement.claim is not None
        claims = Moments()
        claims.claim(judgement.claim, 1)
        removal = addition = claims_pair(claims)
    removal = amplified_removal(_in_cells(removal), rate=rate)
    addition = amplified_addition(_in_cells(addition), rate=rate)
    epsilon: Extended = INFINITY
    if judgement.epsilon != INFINITY and removal.infinity == 0:
        epsilon = max(Fraction(float(removal.losses[-1])), Fraction(float(addition.losses[-1])), ZERO)
    return Judgement(removal, addition, epsilon, ZERO, None)


def _together(parts: tuple[Mechanism, ...]) -> Judgement:
    """Several mechanisms on the same rows: used below a subsample, where they are one mechanism."""
    judgements = [judge(part) for part in parts]
    removals = [one.removal for one in judgements if one.removal is not None]
    additions = [one.addition for one in judgements if one.addition is not None]
    if len(removals) < len(parts):
        raise NoTheorem("a part has only Renyi bounds, which cannot be multiplied with loss distributions")
    if math.prod(len(one.losses) for one in removals) > MOST_PRODUCT:
        raise NoTheorem(
            f"together has more than {MOST_PRODUCT} losses: replace parts by what they cost, as in pure(epsilon), or "
            "take fewer of them"
        )
    epsilon: Extended = ZERO
    delta = ZERO
    for one in judgements:
        epsilon = add_settled_up(epsilon, one.epsilon)
        delta += one.delta
    removal, addition = (reduce(_product, pairs) for pairs in (removals, additions))
    return Judgement(removal, addition, epsilon, min(delta, Fraction(1)), None)


def _product(left: LossDistribution, right: LossDistribution) -> LossDistribution:
    return together(left, after=right)


def _in_cells(pair: LossDistribution) -> LossDistribution:
    """The same with its Gaussian factor as points."""
    if not pair.mu_squared:
        return pair
    normal = normal_cells(pair.mu_squared)
    if not pair.has_points:
        return normal
    if len(pair.losses) * len(normal.losses) > MOST_PRODUCT:
        raise NoTheorem("continuous Gaussian noise with so many other losses is too much for one subsample: take fewer")
    return together(LossDistribution(pair.losses, pair.weights, pair.infinity), after=normal)


def _log_odds(answers: int, probability: Fraction) -> Extended:
    other = (1 - probability) / (answers - 1)
    if 0 in (probability, other):
        return INFINITY
    return dyadic.log_up(max(probability / other, other / probability)) if probability != other else ZERO
