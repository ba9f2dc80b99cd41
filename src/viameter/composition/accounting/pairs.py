"""Dominating pairs with finitely many losses: pure, approximate, randomized response, discrete Laplace and Gaussian.

A mechanism is dominated by a loss distribution if, for neighboring data in the order that is spoken of and every real
epsilon, its delta is at most that of the distribution. Domination survives composition (`dominating-pairs-compose`).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from viameter.arith import ZERO, floats, vectors
from viameter.composition.accounting.distribution import Floats, LossDistribution, points
from viameter.composition.accounting.dots import normal_cells, spread
from viameter.composition.accounting.reals import DOWN, UP, float_up, real_down, real_up
from viameter.errors import NoTheorem
from viameter.theorem import Numbers, theorem

NOTHING = LossDistribution(np.zeros(1), np.ones(1))
"""The loss distribution of a mechanism that looks at no data."""

FAR = 14
"""Noise beyond this many scales has a probability below 10^-42: its loss is counted at few points,"""
FARTHEST = 38
"""and beyond this many, with a probability below 10^-313, as infinite."""
MOST_SCALE = 2**17
"""Discrete Gaussian noise of a larger scale has too many points."""
MOST_SENSITIVITY = 2**52
"""With a larger one, the losses of discrete Gaussian noise are not numbers of float64 before they are scaled."""
CELLS = 2000
"""More points than this are gathered in about so many cells."""


@theorem(
    "dominating-pure",
    cites="Kairouz, Oh and Viswanath 2015, Theorem 2.5; Murtagh and Vadhan 2016, Lemma 3.2",
    numbers=Numbers.OUTWARD,
)
def pure_pair(loss: Fraction, *, delta: Fraction = ZERO) -> LossDistribution:
    """Every (e, d)-private mechanism is dominated by revealing all with probability d, else randomized response of e.

    Theorem
        Let (P, Q) be (e, d)-indistinguishable. Then it is dominated by the pair with an infinite loss of probability d
        and losses e and -e of probabilities (1 - d) e^e/(1 + e^e) and (1 - d)/(1 + e^e).
    Requires
        (e, d)-differential privacy in both directions.
    Ensures
        The points are at -f and f for the least float f >= e, their weights those of f, rounded up.
    Proof
        The profile f of (P, Q), as a function of s = e^epsilon, is convex, falls, is 1 at s = 0 and at most d at e^e.
        By the other direction, f(s) = 1 - s + s g(1/s) with g the profile of (Q, P), f is at most 1 - (1 - d) e^-e at
        e^-e. So f is below the chords through these three points, and below d beyond: that is the profile of the pair
        above. Privacy at e implies privacy at a float above, which may stand for e; larger weights only raise the
        profile.
    Example
        >>> pure_pair(Fraction(1)).losses.tolist()
        [-1.0, 1.0]
    """
    if loss == 0 and delta == 0:
        return NOTHING
    top = floats.from_fraction_up(loss)
    if top == math.inf:
        return LossDistribution(np.zeros(1), np.zeros(1), 1.0)
    kept = 1 - delta
    if top == 0:
        return LossDistribution(np.zeros(1), np.array([floats.from_fraction_up(kept)]), floats.from_fraction_up(delta))
    high = UP.div(real_up(kept), DOWN.add(real_down(1), DOWN.exp(real_down(-top))))
    low = UP.div(real_up(kept), DOWN.add(real_down(1), DOWN.exp(real_down(top))))
    weights = np.array([float_up(low), float_up(high)])
    return LossDistribution(np.array([-top, top]), weights, floats.from_fraction_up(delta))


@theorem("dominating-randomized-response", cites="Warner 1965; derived here", numbers=Numbers.OUTWARD)
def response_pair(d_in: int, *, answers: int, probability: Fraction) -> LossDistribution:
    """Randomized response among k answers has three losses.

    Theorem
        Let the truth, one of k answers, be told with probability p, and each other with probability (1 - p)/(k - 1).
        For any two truths the loss is ln(p (k - 1)/(1 - p)) with probability p, its negative with probability
        (1 - p)/(k - 1), and 0 with the rest.
    Requires
        k >= 2 public answers, and p drawn exactly; one answer, which changes or not.
    Ensures
        The losses and their probabilities, each rounded up; infinite losses for p = 0 or 1.
    Proof
        The answer is the one truth, the other, or one of the k - 2 that have equal probability under both. The pair is
        the same for any two truths and in both orders.
    Example
        >>> [round(loss, 4) for loss in response_pair(1, answers=3, probability=Fraction(1, 2)).losses.tolist()]
        [-0.6931, 0.0, 0.6931]
    """
    if d_in == 0:
        return NOTHING
    other = (1 - probability) / (answers - 1)
    middle = floats.from_fraction_up(other * (answers - 2))
    if 0 in (probability, other):
        infinite = floats.from_fraction_up(probability)
        if probability == 0:
            infinite = floats.from_fraction_up(other)
        return LossDistribution(np.zeros(1), np.array([middle]), infinite)
    if probability == other:
        return NOTHING
    more, less = max(probability, other), min(probability, other)
    high = float_up(UP.log(real_up(more / less)))
    low = float_up(UP.log(real_up(less / more)))
    losses = np.array([low, 0.0, high])
    weights = np.array([floats.from_fraction_up(less), middle, floats.from_fraction_up(more)])
    return points(losses, weights)


@theorem(
    "dominating-discrete-laplace",
    cites="Ghosh, Roughgarden and Sundararajan 2009; monotone likelihood ratios, derived here",
    numbers=Numbers.OUTWARD,
)
def discrete_laplace_pair(d_in: int, *, scale: Fraction) -> LossDistribution:
    """Discrete Laplace noise on an integer has the losses (D - 2 x)/s for x = 0, ..., D.

    Theorem
        Let M(x) = x + Z for an integer x, P(Z = z) proportional to e^(-|z|/s). For integers at most D apart, in either
        order, M is dominated by the law of the loss for integers exactly D apart: (D - 2 x)/s for x = 0, ..., D, with
        probability 1/(1 + r) for x = 0, r^D/(1 + r) for x = D and r^x (1 - r)/(1 + r) between, r = e^(-1/s).
    Requires
        One integer, not a vector; integer noise that is drawn exactly. For *continuous* noise the losses are others.
    Ensures
        These losses and probabilities, rounded up; more than 2000 of them are gathered by connect-the-dots.
    Proof
        The probabilities of Z are log-concave, so that for a distance d the ratio p(z)/p(z - d) falls with z and the
        best event at every epsilon is {z <= tau}: delta is the largest F(tau) - e^epsilon F(tau - d), which rises with
        d. Both orders are mirror images. For distance D the loss is (|z - D| - |z|)/s; add up the geometric series
        outside.
    Example
        >>> discrete_laplace_pair(2, scale=Fraction(2)).losses.tolist()
        [-1.0, 0.0, 1.0]
    """
    if d_in == 0:
        return NOTHING
    if d_in == 1:
        return pure_pair(1 / scale)
    # Group m points into a cell if there are too many; r is r^m then, and the ends of cells are at multiples of m.
    place = np.arange(d_in + 1) if d_in <= MOST_SCALE * 32 else None
    if place is None:
        raise NoTheorem(
            f"discrete Laplace noise with d_in={d_in} has too many losses for a loss distribution: "
            f"count it as pure({float(Fraction(d_in) / scale):.6g})"
        )
    one = real_up(1)
    r_up, r_down = UP.exp(real_up(-1 / scale)), DOWN.exp(real_down(-1 / scale))
    outer = UP.div(one, DOWN.add(one, r_down))
    inner = UP.mul(UP.minus(DOWN.expm1(real_down(-1 / scale))), outer)
    exponents = vectors.mul_up(-place.astype(np.float64), floats.from_fraction_down(1 / scale))
    weights = vectors.mul_up(vectors.exp_up(exponents), float_up(inner))
    weights[0] = float_up(outer)
    weights[-1] = float_up(UP.mul(UP.pow(r_up, d_in), outer))
    losses = _line(d_in, -2, place, scale)
    return _gathered(losses[::-1].copy(), weights[::-1].copy(), 0.0)


@theorem(
    "dominating-discrete-gaussian",
    cites="Canonne, Kamath and Steinke 2020 (the noise); monotone likelihood ratios, derived here",
    numbers=Numbers.OUTWARD,
)
def discrete_gaussian_pair(d_in: int, *, scale: Fraction) -> LossDistribution:
    """Discrete Gaussian noise on an integer has the losses D (D - 2 x)/2 s^2 for every integer x.

    Theorem
        Let M(x) = x + Z for an integer x, P(Z = z) proportional to e^(-z^2/2s^2). For integers at most D apart, in
        either order, M is dominated by the law of D (D - 2 Z)/2 s^2.
    Requires
        One integer, not a vector; integer noise that is drawn exactly. The formulas of *continuous* noise do not hold.
    Ensures
        The losses for |Z| <= 14 s + 1, with probabilities rounded up; more than 2000 are gathered by connect-the-dots.
        Larger Z are counted at the lowest loss that is listed. Smaller Z are counted at the loss of the next multiple
        of s/2 and with the probability of all that is smaller; below -38 s, as an infinite loss.
    Proof
        The probabilities are log-concave; as in dominating-discrete-laplace, delta rises with the distance, and the
        orders are mirror images. At distance D the loss is ((z - D)^2 - z^2)/2s^2. The normalizing sum over |z| <= X is
        less than the whole, so that dividing by it, rounded down, makes probabilities larger. Beyond X the terms fall
        at least as fast as a geometric series of ratio e^(-(2 X + 3)/2s^2). Moving a loss up raises the profile.
    Example
        >>> pair = discrete_gaussian_pair(1, scale=Fraction(1))
        >>> pair.losses[-1], pair.infinity < 1e-300
        (np.float64(63.5), True)
    """
    if d_in == 0:
        return NOTHING
    if scale > MOST_SCALE:
        raise NoTheorem(f"discrete Gaussian noise of scale={scale!s} has too many losses: count it as zcdp(D^2/2s^2)")
    if d_in > MOST_SENSITIVITY:
        raise NoTheorem(f"sensitivity={d_in} is too large for a loss distribution: count it as zcdp(D^2/2s^2)")
    reach = math.ceil(FAR * scale) + 1
    half = 1 / (2 * scale * scale)
    place = np.arange(-reach, reach + 1)
    squares = (place.astype(np.float64)) ** 2  # exact: below 2^53
    up = vectors.exp_up(vectors.mul_up(-squares, floats.from_fraction_down(half)))
    down = vectors.exp_down(vectors.mul_down(-squares, floats.from_fraction_up(half)))
    whole = float(vectors.sum_down(down))
    weights = vectors.div_up(up, whole)
    by = 2 * scale * scale / d_in
    weights[-1] = floats.add_up(float(weights[-1]), _beyond(reach, half, whole))
    body = _gathered(_line(d_in, -2, place, by)[::-1].copy(), weights[::-1].copy(), 0.0)
    # Few points further out: what is beyond one is counted at the next.
    step = math.ceil(scale / 2)
    out = reach + step * np.arange(2 * (FARTHEST - FAR) + 1)
    rest = np.array([_beyond(int(x), half, whole) for x in out])
    further = _line(d_in, -2, -out[1:], by)
    return points(np.append(body.losses, further), np.append(body.weights, rest[:-1]), float(rest[-1]))


@theorem(
    "dominating-wide-discrete-gaussian",
    cites="Canonne, Kamath and Steinke 2020 (the noise); derived here",
    numbers=Numbers.OUTWARD,
)
def wide_discrete_gaussian_pair(d_in: int, *, scale: Fraction) -> LossDistribution:
    """Discrete Gaussian noise of a large scale costs what continuous noise costs, half a step of the integers more.

    Theorem
        Let M(x) = x + Z for an integer x, P(Z = z) proportional to e^(-z^2/2s^2). For integers at most D apart, in
        either order, M is dominated by e^(1/8s^2) times the law of L + D/2s^2, L normal with mean m^2/2 and variance
        m^2, m = D/s.
    Requires
        One integer, not a vector; integer noise that is drawn exactly. Without the half step and the factor, the
        formulas of *continuous* noise do not hold.
    Ensures
        Points that dominate this, by normal-loss-by-cells; for m below 2^-40 those of a larger distance.
    Proof
        Let g(x) = e^(-x^2/2s^2). The mean of g over [z - 1/2, z + 1/2] is g(z) times that of e^(-zu/s^2 - u^2/2s^2)
        over |u| <= 1/2, and that is at least e^(-1/8s^2), as the mean of e^(-zu/s^2) is at least 1. By Poisson
        summation the sum of g over the integers is at least its integral. So P(Z = z) is at most e^(1/8s^2) times the
        probability that X, normal with deviation s, rounds to z, and then z >= X - 1/2. The loss D (D - 2 z)/2s^2 is at
        most D (D - 2 X)/2s^2 + D/2s^2. Larger weights and losses only raise the profile. Delta rises with the distance,
        and the orders are mirror images (dominating-discrete-gaussian).
    Example
        >>> pair = wide_discrete_gaussian_pair(2**18, scale=Fraction(2**18))
        >>> from viameter.composition.accounting.enumeration import points_delta
        >>> f"{points_delta(pair, epsilon=1.0):.5f}"          # 0.126937 for continuous noise
        '0.12694'
    """
    if d_in == 0:
        return NOTHING
    distance = max(d_in, math.ceil(scale / 2**40))
    half_step = floats.from_fraction_up(distance / (2 * scale**2))
    factor = float_up(UP.exp(real_up(1 / (8 * scale**2))))
    normal = normal_cells((distance / scale) ** 2)
    losses = vectors.add_up(normal.losses, half_step)
    return points(losses, vectors.mul_up(normal.weights, factor), floats.mul_up(normal.infinity, factor))


def _beyond(reach: int, half: Fraction, whole: float) -> float:
    """P(Z > reach), rounded up: the sum of a geometric series that begins at reach + 1."""
    first = UP.exp(real_up(-half * (reach + 1) ** 2))
    return float_up(UP.div(UP.div(first, DOWN.minus(UP.expm1(real_up(-half * (2 * reach + 3))))), real_down(whole)))


def _line(start: int, slope: int, place: NDArray[np.int64], scale: Fraction) -> Floats:
    """(start + slope x)/scale at every place x, rounded up."""
    steps = start + slope * place
    exact = steps.astype(np.float64)
    by = 1 / scale
    return np.where(
        steps >= 0,
        vectors.mul_up(exact, floats.from_fraction_up(by)),
        vectors.mul_up(exact, floats.from_fraction_down(by)),
    )


def _gathered(losses: Floats, weights: Floats, infinity: float) -> LossDistribution:
    if len(losses) <= CELLS:
        return points(losses, weights, infinity)
    every = math.ceil(len(losses) / CELLS)
    nodes = np.unique(np.append(losses[::every], losses[-1]))
    return spread(points(losses, weights, infinity), nodes=nodes)
