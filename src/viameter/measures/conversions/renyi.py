"""From Renyi losses: to (epsilon, delta) at the best of the orders that are listed, and to pure losses."""

from __future__ import annotations

from fractions import Fraction

from viameter.arith import INFINITY, ZERO, Extended
from viameter.core.conversion import conversion
from viameter.errors import NoTheorem, plain
from viameter.measures.amounts import ApproxDP, ApproxLoss, PureDP, PureLoss
from viameter.measures.conversions.directed import DOWN, UP, amount_up, log, probability_up, real
from viameter.measures.conversions.response import pure_to_approx, pure_to_approx_at_epsilon
from viameter.measures.curves import RenyiDP, RenyiLoss
from viameter.theorem import Numbers, theorem

CKS = "Canonne, Kamath and Steinke 2020, Proposition 12; Asoodeh et al. 2020"


@conversion(source=RenyiDP, target=PureDP, partial=True)
@theorem("renyi-is-pure", cites="Mironov 2017, Section II; van Erven and Harremoes 2014, Theorem 6")
def renyi_is_pure(loss: RenyiLoss) -> PureLoss:
    """A Renyi loss of infinite order is a pure one.

    Theorem
        The Renyi divergence of infinite order is the max divergence.
    Requires
        A bound at infinite order: from other orders no pure loss follows.
    Ensures
        The loss is pure(r), r being the bound at infinite order; infinite if the loss is.
    Proof
        As for pure-is-renyi.
    Example
        >>> from viameter.measures import renyi
        >>> renyi_is_pure(renyi({2: "1/10", "inf": 1}))
        pure(1)
    """
    if not loss.is_finite:
        return PureDP.infinite
    bound = loss.at(INFINITY)
    if bound == INFINITY:
        raise NoTheorem(f"{plain(loss)} has no bound at infinite order: it bounds no pure loss; convert it to ApproxDP")
    return PureLoss(bound)


@conversion(source=RenyiDP, target=ApproxDP, takes=("delta",))
@theorem("renyi-to-approx", cites=CKS, numbers=Numbers.OUTWARD)
def renyi_to_approx(loss: RenyiLoss, *, delta: Fraction) -> ApproxLoss:
    """A Renyi loss has an epsilon at every delta: the least over its orders.

    Theorem
        If the Renyi divergence of order a > 1 is at most r, either way, the mechanism is (eps, delta)-differentially
        private for eps = max(0, r + ln(1 - 1/a) - ln(a delta)/(a - 1)).
    Requires
        A bound at one order or more; a probability delta.
    Ensures
        The loss is approx(eps, delta), rounded up, eps being the least over the orders listed; at infinite order it is
        that of pure-to-approx. approx(0, 0) if the loss is zero, infinite if it is; approx(inf, 0) for delta = 0
        without a bound at infinite order.
    Proof
        As for zcdp-to-approx, with r in place of a rho.
    Example
        >>> from viameter.measures import renyi
        >>> float(renyi_to_approx(renyi({8: 1}), delta=Fraction(1, 10**6)).epsilon)
        2.5430498954161114
    """
    if not loss.is_finite:
        return ApproxDP.infinite
    if loss == RenyiDP.zero:
        return ApproxDP.zero
    return ApproxLoss(min(_epsilon(a, bound, delta) for a, bound in loss.points), delta)


@conversion(source=RenyiDP, target=ApproxDP, takes=("epsilon",))
@theorem("renyi-to-approx-at-epsilon", cites=CKS, numbers=Numbers.OUTWARD)
def renyi_to_approx_at_epsilon(loss: RenyiLoss, *, epsilon: Fraction) -> ApproxLoss:
    """A Renyi loss has a delta at every epsilon: the least over its orders.

    Theorem
        If the Renyi divergence of order a > 1 is at most r, either way, the mechanism is (eps, delta)-differentially
        private for delta = min(1, exp((a - 1)(r - eps)) (1 - 1/a)^a/(a - 1)).
    Requires
        A bound at one order or more; eps >= 0.
    Ensures
        The loss is approx(eps, delta), rounded up, delta being the least over the orders listed; at infinite order it
        is that of pure-to-approx-at-epsilon. approx(0, 0) if the loss is zero, infinite if it is.
    Proof
        As for zcdp-to-approx, with r in place of a rho.
    Example
        >>> from viameter.measures import renyi
        >>> float(renyi_to_approx_at_epsilon(renyi({8: 1}), epsilon=Fraction(3)).delta)
        4.0817240233225206e-08
    """
    if not loss.is_finite:
        return ApproxDP.infinite
    if loss == RenyiDP.zero:
        return ApproxDP.zero
    return ApproxLoss(epsilon, min(_delta(a, bound, epsilon) for a, bound in loss.points))


def _epsilon(order: Extended, bound: Extended, delta: Fraction) -> Extended:
    if order == INFINITY:
        return pure_to_approx(PureLoss(bound), delta=delta).epsilon
    if delta == 0:
        return INFINITY
    if delta == 1:
        return ZERO
    a, r = Fraction(order), Fraction(bound)
    # ln(1 - 1/a), and -ln(a delta)/(a - 1), which has either sign.
    less = log(1 - 1 / a, UP)
    rest = UP.minus(log(a * delta, DOWN))
    divided = UP.div(rest, real(a - 1, DOWN if rest > 0 else UP))
    return amount_up(UP.add(real(r, UP), UP.add(less, divided)))


def _delta(order: Extended, bound: Extended, epsilon: Fraction) -> Fraction:
    if order == INFINITY:
        return pure_to_approx_at_epsilon(PureLoss(bound), epsilon=epsilon).delta
    a, r = Fraction(order), Fraction(bound)
    # (a - 1)(r - eps) is exact; a ln(1 - 1/a) is negative, so that a is rounded down.
    drift = real((a - 1) * (r - epsilon), UP)
    shape = UP.sub(UP.mul(real(a, DOWN), log(1 - 1 / a, UP)), log(a - 1, DOWN))
    return probability_up(UP.add(drift, shape))
