"""Bounded range: the exact cost of equal mechanisms that are chosen in advance, and a dominating pair for others."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from viameter.arith import ZERO, Extended, Number, floats, nonnegative, probability
from viameter.composition.accounting.distribution import LossDistribution, points
from viameter.composition.accounting.dots import half_exponential_cells
from viameter.composition.accounting.pairs import NOTHING
from viameter.composition.accounting.reading import read_count
from viameter.composition.accounting.reals import DOWN, UP, Real, as_fraction, real_down, real_up
from viameter.errors import NoTheorem
from viameter.theorem import Numbers, theorem

MOST = 512
"""The cost grows with the square of the count; an Accountant answers for more."""
CELLS = 800


@theorem(
    "bounded-range-optimum",
    cites="Dong, Durfee and Rogers 2020 (Optimal Composition for Exponential Mechanisms)",
    numbers=Numbers.OUTWARD,
)
def range_delta(loss: Number, *, count: int, epsilon: Number, adaptive: bool) -> Fraction:
    """The least delta of k mechanisms of bounded range eta that are chosen in advance.

    Theorem
        k mechanisms of bounded range eta, chosen without looking at answers, are together (epsilon, D)-differentially
        private with D the largest over l = 0, ..., k of sum over i of C(k, i) q^(k-i) (1-q)^i (e^(k t - i eta) -
        e^epsilon)_+, where t = (epsilon + (l + 1) eta)/(k + 1), clamped to [0, eta], and
        q = (e^-t - e^-eta)/(1 - e^-eta). For some mechanisms this is attained.
    Requires
        All mechanisms are chosen in advance. Adaptively chosen ones can cost more, already for k = 2: refused. Not for
        filters and odometers.
    Ensures
        The result is D, rounded up to 192 bits.
    Proof
        Losses of one mechanism lie in some [t - eta, t]; by convexity the two ends are worst, with probability q of t
        under the other data. Equal t for all is worst (the theorem cited), and D as a function of t is largest at one
        of the points above, which are rational. All summands are >= 0, and each factor is rounded up.
    Example
        >>> float(range_delta("0.5", count=3, epsilon="0.25", adaptive=False))
        0.09555080264...
    """
    total, width, k = nonnegative(epsilon, name="epsilon"), nonnegative(loss, name="loss"), read_count(count, most=MOST)
    _refuse_adaptive(adaptive)
    if k == 0 or width == 0:
        return ZERO
    best = real_up(0)
    for number in range(k + 1):
        t = min(max((total + (number + 1) * width) / (k + 1), ZERO), width)
        best = max(best, _at(total, width, k, t))
    return min(Fraction(1), as_fraction(best))


def range_epsilon(loss: Number, *, count: int, delta: Number, adaptive: bool) -> Extended:
    """An epsilon just above the least one of k mechanisms of bounded range eta that are chosen in advance."""
    target, width, k = probability(delta, name="delta"), nonnegative(loss, name="loss"), read_count(count)
    _refuse_adaptive(adaptive)
    high = k * width
    if target == 0 or high == 0:
        return high
    if range_delta(width, count=k, epsilon=0, adaptive=False) <= target:
        return ZERO
    # A short number above, where there is a float.
    low, step = ZERO, (Fraction(floats.from_fraction_up(high)) if high < 10**300 else high) / 2
    high = 2 * step
    for _ in range(46):
        middle = low + step
        if range_delta(width, count=k, epsilon=middle, adaptive=False) <= target:
            high = middle
        else:
            low = middle
        step /= 2
    return min(high, k * width)


@theorem(
    "dominating-bounded-range",
    cites="derived here; Zhu, Dong and Wang 2022 (dominating pairs)",
    numbers=Numbers.OUTWARD,
)
def range_pair(loss: Fraction, *, cells: int = CELLS) -> LossDistribution:
    """Every mechanism of bounded range eta is dominated by losses of density e^((x - eta)/2)/2(1 - e^-eta).

    Theorem
        A mechanism of bounded range eta is dominated by the pair with the profile (e^(eta/2) - e^(epsilon/2))^2/(e^eta
        - 1) for |epsilon| <= eta, 0 above and 1 - e^epsilon below. Its loss has the density e^((x - eta)/2)/2(1 -
        e^-eta) on [-eta, eta]. Unlike eta itself, a dominating pair composes adaptively.
    Requires
        Losses of any two outcomes differ by at most eta. NumPy's exp and tanh have a relative error below 2^-46.
    Ensures
        Points that dominate that density, by connect-the-dots.
    Proof
        Losses lie in [t - eta, t] with 0 <= t <= eta, since the mean of e^-L is 1. (1 - s e^-L)_+ is convex in e^-L, so
        the two ends are worst, the upper one with probability p = (e^eta - e^t)/(e^eta - 1). Delta is then p (1 -
        e^(epsilon - t)), which is largest at t = (eta + epsilon)/2: that is the profile above. It is convex in s =
        e^epsilon, 1 at s = 0, and falls to 0, so that it belongs to a pair; P(L > epsilon) = f - s f' gives the
        density.
    Example
        >>> pair = range_pair(Fraction(1))
        >>> pair.losses[0], pair.losses[-1], round(float(pair.weights.sum()), 6)
        (np.float64(-1.0), np.float64(1.0), 1.0)
    """
    if loss == 0:
        return NOTHING
    top = floats.from_fraction_up(loss)
    if top > 600:
        return LossDistribution(np.array([0.0, top]), np.array([0.0, 1.0]))
    nodes, weights = half_exponential_cells(top, factor=-0.5 / math.expm1(-top), cells=cells)
    return points(nodes, weights)


def _refuse_adaptive(adaptive: bool) -> None:
    if adaptive is not False:
        raise NoTheorem(
            "ranges compose like this only where every mechanism is chosen in advance: chosen by earlier answers, two "
            "mechanisms of range 1/2 already have delta .1158 instead of .1125 at epsilon .1. Say adaptive=False if "
            "that is so; else let an Accountant count bounded_range(eta), which goes through a dominating pair and zCDP"
        )


def _at(total: Fraction, width: Fraction, k: int, t: Fraction) -> Real:
    """The sum over i for one t."""
    # q = e^-t r with r = (1 - e^(t - eta))/(1 - e^-eta), and 1 - q = (1 - e^-t)/(1 - e^-eta).
    whole = DOWN.minus(UP.expm1(real_up(-width)))
    r = UP.div(UP.minus(DOWN.expm1(real_down(t - width))), whole)
    other = UP.div(UP.minus(DOWN.expm1(real_down(-t))), whole)
    # q^(k-i) (e^(k t - i eta) - e^epsilon) with q = e^-t r: no exponent is above 0.
    summed = real_up(0)
    for i in range(k + 1):
        exponent = k * t - i * width - total
        if exponent <= 0:
            break
        chance = UP.mul(UP.pow(r, k - i), UP.pow(other, i))
        part = UP.mul(UP.exp(real_up(i * (t - width))), UP.minus(DOWN.expm1(real_down(-exponent))))
        summed = UP.add(summed, UP.mul(UP.mul(math.comb(k, i), chance), part))
    return summed
