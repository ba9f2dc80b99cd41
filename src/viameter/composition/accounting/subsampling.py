"""Poisson subsampling: from a dominating pair of a mechanism to one of the mechanism on a random part of the rows.

Neighbors have one row more or less. The two orders differ, so there is one theorem for each.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from viameter.arith import floats, vectors
from viameter.composition.accounting.distribution import Floats, LossDistribution, points
from viameter.composition.accounting.pairs import NOTHING
from viameter.composition.accounting.reals import DOWN, UP, float_down, float_up, real_down, real_up
from viameter.errors import NoTheorem
from viameter.theorem import Numbers, theorem

LARGE = 700.0
"""e to this is a float."""
LEAST_INNER = -1 + 2.0**-40
"""Below this, ln(1 + x) in floats is no better than what is known of it anyway."""
ZHU = "Zhu, Dong and Wang 2022 (Optimal Accounting via Characteristic Function), Theorem 11; Balle et al. 2018"


@theorem("poisson-subsampling-remove", cites=ZHU, numbers=Numbers.OUTWARD)
def amplified_removal(losses: LossDistribution, *, rate: Fraction) -> LossDistribution:
    """On a Poisson subsample, data with one more row against data without it: P becomes (1 - q) Q + q P.

    Theorem
        Let (P, Q) dominate M(D) against M(D') for every D that has one row more than D'. Let each row be kept with
        probability q, on its own. Then ((1 - q) Q + q P, Q) dominates the mechanism on the subsample, for the same
        order.
    Requires
        Rows are kept independently with the same public q, drawn anew for this mechanism; neighbors differ by one row
        that is there or not. Two mechanisms that see the same subsample are one mechanism here.
    Ensures
        Losses ln(1 - q + q e^L) with probabilities (1 - q) w e^-L + q w, infinity with q times its mass, and ln(1 - q)
        with 1 - q times what Q has beyond the points; all rounded up.
    Proof
        Given which other rows are kept, the pair is ((1 - q) B + q A, B) with A and B the outputs with and without the
        row, and delta is convex over that choice. sup of ((1 - q) B + q A)(S) - s B(S) is q times the profile of (A, B)
        at (s - 1 + q)/q if that is >= 0, and 1 - s else. Both rise with the profile of (A, B), which is at most that of
        (P, Q); and for (P, Q) itself it is the profile of the losses above, since their total is at least 1.
    Example
        >>> from viameter.composition.accounting.pairs import pure_pair
        >>> half = amplified_removal(pure_pair(Fraction(1)), rate=Fraction(1, 2))
        >>> half.losses.round(4).tolist()
        [-0.6931, -0.3799, 0.6201]
    """
    _require_points(losses)
    if rate == 1:
        return losses
    if rate == 0:
        return NOTHING
    given, weights = losses.losses, losses.weights
    rate_up, rate_down = floats.from_fraction_up(rate), floats.from_fraction_down(rate)
    rest_up = floats.from_fraction_up(1 - rate)
    change = vectors.expm1_up(np.minimum(given, LARGE))
    moved = vectors.log1p_up(vectors.mul_up(change, np.where(change >= 0, rate_up, rate_down)))
    # Far out, 1 - q + q e^L = e^L (q + (1 - q) e^-L).
    for place in np.flatnonzero(given > LARGE):
        loss = real_up(float(given[place]))
        small = UP.mul(real_up(1 - rate), UP.exp(UP.minus(loss)))
        moved[place] = float_up(UP.add(loss, UP.log(UP.add(real_up(rate), small))))
    moved = np.minimum(moved, np.maximum(given, 0.0))
    theirs_up, theirs_down = _other(weights, given)
    chances = vectors.add_up(vectors.mul_up(rate_up, weights), vectors.mul_up(rest_up, theirs_up))
    missing = max(0.0, floats.sub_up(1.0, float(vectors.sum_down(theirs_down))))
    lowest = float_up(UP.log(real_up(1 - rate)))
    return points(
        np.append(moved, lowest),
        np.append(chances, floats.mul_up(rest_up, missing)),
        floats.mul_up(rate_up, losses.infinity),
    )


@theorem("poisson-subsampling-add", cites=ZHU, numbers=Numbers.OUTWARD)
def amplified_addition(losses: LossDistribution, *, rate: Fraction) -> LossDistribution:
    """On a Poisson subsample, data without a row against data with it: Q becomes (1 - q) P + q Q.

    Theorem
        Let (P, Q) dominate M(D') against M(D) for every D that has one row more than D'. Let each row be kept with
        probability q, on its own. Then (P, (1 - q) P + q Q) dominates the mechanism on the subsample, for the same
        order.
    Requires
        As for poisson-subsampling-remove.
    Ensures
        Losses -ln(1 - q + q e^-L) with probabilities w, and -ln(1 - q) with the mass at infinity; all rounded up.
    Proof
        Given the other rows, the pair is (B, (1 - q) B + q A). sup of B(S) - s ((1 - q) B + q A)(S) is (1 - s (1 - q))
        times the profile of (B, A) at s q/(1 - s (1 - q)) if s (1 - q) < 1, and 0 else. It rises with the profile of
        (B, A), and for (P, Q) it is the profile of the losses above.
    Example
        >>> from viameter.composition.accounting.pairs import pure_pair
        >>> half = amplified_addition(pure_pair(Fraction(1)), rate=Fraction(1, 2))
        >>> half.losses.round(4).tolist()
        [-0.6201, 0.3799]
    """
    _require_points(losses)
    if rate == 1:
        return losses
    if rate == 0:
        return NOTHING
    rate_up, rate_down = floats.from_fraction_up(rate), floats.from_fraction_down(rate)
    given = losses.losses
    change = vectors.expm1_down(-np.maximum(given, -LARGE))
    inner = vectors.mul_down(change, np.where(change >= 0, rate_down, rate_up))
    moved = -vectors.log1p_down(np.maximum(inner, LEAST_INNER))
    # 1 - q + q e^-L is more than 1 - q and than q e^-L, and at least e^-L where L > 0.
    highest = float_up(UP.minus(DOWN.log(real_down(1 - rate))))
    far = vectors.sub_up(given, float_down(DOWN.log(real_down(rate))))
    moved = np.where(inner < LEAST_INNER, highest, np.where(given < -LARGE, far, moved))
    moved = np.minimum(np.minimum(moved, highest), np.maximum(given, 0.0))
    if losses.infinity == 0:
        return points(moved, losses.weights)
    return points(np.append(moved, highest), np.append(losses.weights, losses.infinity))


def _other(weights: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """w e^-L, the probability of each point under the other data, rounded up and down; it is at most 1 in truth."""
    inside = np.maximum(losses, -LARGE)
    above = vectors.mul_up(weights, vectors.exp_up(-inside))
    below = vectors.mul_down(weights, vectors.exp_down(-inside))
    for place in np.flatnonzero((losses < -LARGE) & (weights > 0)):
        weight, loss = float(weights[place]), float(losses[place])
        high = UP.mul(real_up(weight), UP.exp(real_up(-loss)))
        low = DOWN.mul(real_down(weight), DOWN.exp(real_down(-loss)))
        above[place] = 1.0 if high > 1 else float_up(high)
        below[place] = 1.0 if low > 1 else float_down(low)
    return np.minimum(above, 1.0), np.minimum(below, 1.0)


def _require_points(distribution: LossDistribution) -> None:
    if distribution.mu_squared:
        raise NoTheorem("subsampling takes a distribution of points: bring the Gaussian factor into cells first")
