"""From bounded range to approximate differential privacy: the exact cost of one mechanism."""

from __future__ import annotations

from fractions import Fraction

from viameter.arith import INFINITY, ZERO, Extended
from viameter.core.conversion import conversion
from viameter.measures.amounts import ApproxDP, ApproxLoss, BoundedRange, BoundedRangeLoss
from viameter.measures.conversions.directed import DOWN, UP, Real, amount_up, chance_up, real
from viameter.theorem import Numbers, theorem

DONG = "Dong, Durfee and Rogers 2020 (Optimal Composition for Exponential Mechanisms), the case k = 1"
_LARGE = 10**6
"""e to minus this is nothing in any digit that is kept."""


@conversion(source=BoundedRange, target=ApproxDP, takes=("delta",), beside=True)
@theorem("bounded-range-to-approx", cites=DONG, numbers=Numbers.OUTWARD)
def bounded_range_to_approx(loss: BoundedRangeLoss, *, delta: Fraction) -> ApproxLoss:
    """A range of eta is eta + 2 ln(1 - sqrt(delta (1 - e^-eta))) at a delta, and no less.

    Theorem
        If privacy losses of any two outcomes differ by at most eta, either way, the mechanism is (epsilon,
        delta)-differentially private for every delta, with epsilon = eta + 2 ln(1 - sqrt(delta (1 - e^-eta))), or 0
        where that is negative. No smaller epsilon holds for all such mechanisms.
    Requires
        A finite range for both orders of the two distributions, whose supports are equal then. One mechanism: ranges of
        mechanisms that are chosen by answers do not compose by this, and are converted one by one, or go through zCDP.
    Ensures
        The loss is approx(epsilon, delta), epsilon rounded up; approx(eta, 0) for delta = 0.
    Proof
        Losses lie in some [t - eta, t]. P(S) - e^e Q(S) is at most the mean of (1 - e^e w)_+ over w = e^-Z, which is
        convex in w: the two ends are worst, the upper one with probability p = (e^eta - e^t)/(e^eta - 1) since the mean
        of w is 1. What is left is p (1 - e^(e - t)), largest at t = (eta + e)/2, where it is (e^(eta/2) -
        e^(e/2))^2/(e^eta - 1). That is delta where e^(e/2) = e^(eta/2) - sqrt(delta (e^eta - 1)). Where that is below
        1, the value at e = 0 is below delta. The two outcomes with losses t and t - eta attain it.
    Example
        >>> from viameter.measures import bounded_range
        >>> bounded_range_to_approx(bounded_range(4), delta=Fraction(1, 5))
        approx(<=2.82926381306, 1/5)
    """
    if loss.eta in (0, INFINITY):
        return ApproxLoss(loss.eta, Fraction(0 if loss.eta == 0 else 1))
    eta = Fraction(loss.eta)
    return ApproxLoss(_epsilon(eta, delta), delta)


@conversion(source=BoundedRange, target=ApproxDP, takes=("epsilon",), beside=True)
@theorem("bounded-range-to-approx-at-epsilon", cites=DONG, numbers=Numbers.OUTWARD)
def bounded_range_to_approx_at_epsilon(loss: BoundedRangeLoss, *, epsilon: Fraction) -> ApproxLoss:
    """A range of eta is (1 - e^((epsilon - eta)/2))^2/(1 - e^-eta) in delta at an epsilon below eta, and no less.

    Theorem
        If privacy losses of any two outcomes differ by at most eta, either way, the mechanism is (epsilon,
        delta)-differentially private with delta = (1 - e^((epsilon - eta)/2))^2/(1 - e^-eta) for epsilon < eta, and 0
        from eta on. No smaller delta holds for all such mechanisms.
    Requires
        As for bounded-range-to-approx.
    Ensures
        The loss is approx(epsilon, delta), delta rounded up.
    Proof
        As for bounded-range-to-approx, divided by e^eta above and below.
    Example
        >>> from viameter.measures import bounded_range
        >>> bounded_range_to_approx_at_epsilon(bounded_range(1), epsilon=Fraction(0))
        approx(0, <=0.244918662404)
    """
    if loss.eta in (0, INFINITY):
        return ApproxLoss(loss.eta, Fraction(0 if loss.eta == 0 else 1))
    return ApproxLoss(epsilon, _delta(Fraction(loss.eta), epsilon))


def _epsilon(eta: Fraction, delta: Fraction) -> Extended:
    """eta + 2 ln(1 - sqrt(delta (1 - e^-eta))), rounded up and at least 0."""
    if delta == 0:
        return eta
    if delta == 1:
        return ZERO
    root = DOWN.sqrt(DOWN.mul(real(delta, DOWN), _missing(eta)))
    if root >= 1:
        return ZERO
    total = UP.add(real(eta, UP), UP.mul(2, UP.log1p(UP.minus(root))))
    return min(eta, amount_up(total))


def _delta(eta: Fraction, epsilon: Fraction) -> Fraction:
    if epsilon >= eta:
        return ZERO
    root = UP.minus(DOWN.expm1(real(max(epsilon - eta, Fraction(-_LARGE)) / 2, DOWN)))
    return chance_up(UP.div(UP.mul(root, root), _missing(eta)))


def _missing(eta: Fraction) -> Real:
    """1 - e^-eta, rounded down: for smaller eta it is less."""
    return DOWN.minus(UP.expm1(real(-min(eta, Fraction(_LARGE)), UP)))
