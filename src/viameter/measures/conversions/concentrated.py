"""From zCDP and approximate zCDP: to Renyi orders, and to (epsilon, delta) at the best order.

With b = a - 1 for an order a, and l = ln(1/delta), the bounds of Canonne, Kamath and Steinke are

    epsilon(a)  = rho + rho b + ln b - ln(1 + b) (1 + 1/b) + l/b
    ln delta(a) = b (rho (1 + b) - epsilon) + b ln b - (1 + b) ln(1 + b)

They hold at every order; so an order that is only about the best is looked for, and the bound at exactly that order is
computed with every rounding outward. epsilon(a) is least where rho b^2 + ln(1 + b) = l, and delta(a) where
(2b + 1) rho + ln b - ln(1 + b) = epsilon: both left sides rise with b, so there is one such b.
"""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2  # type: ignore[import-untyped]

from viameter.arith import INFINITY, ZERO, Extended, show, times
from viameter.core.conversion import conversion
from viameter.errors import NoTheorem, plain
from viameter.measures.amounts import (
    ZCDP,
    ApproxDP,
    ApproxLoss,
    ApproxZCDP,
    ApproxZCDPLoss,
    ZCDPLoss,
)
from viameter.measures.conversions.directed import (
    DOWN,
    UP,
    Real,
    amount_up,
    greatest_that_fits,
    log,
    probability_up,
    real,
    root,
)
from viameter.measures.curves import RenyiDP, RenyiLoss, renyi
from viameter.theorem import Numbers, theorem

CKS = "Canonne, Kamath and Steinke 2020, Corollary 13 and Proposition 12"
ONE = Fraction(1)


@conversion(source=ZCDP, target=ApproxDP, takes=("delta",))
@theorem("zcdp-to-approx", cites=CKS, numbers=Numbers.OUTWARD)
def zcdp_to_approx(loss: ZCDPLoss, *, delta: Fraction) -> ApproxLoss:
    """A zCDP loss has an epsilon at every delta: the least over all orders.

    Theorem
        If a mechanism is rho-zCDP, it is (eps, delta)-differentially private for every order a > 1 and
        eps = max(0, rho a + ln(1/(a delta))/(a - 1) + ln(1 - 1/a)).
    Requires
        A probability delta.
    Ensures
        The loss is approx(eps, delta) with eps at most 10^-12 above the least over all orders, relatively, or 10^-70
        where it is less; approx(inf, 0) for delta = 0; approx(0, 0) if rho is 0, infinite if rho is.
    Proof
        The least delta for an eps is E[max(0, 1 - exp(eps - Z))]. For every z, max(0, 1 - exp(-z)) is at most
        exp((a - 1) z) (1 - 1/a)^a/(a - 1), with equality at exp(-z) = 1 - 1/a. The mean of exp((a - 1) Z) is at most
        exp((a - 1) a rho). So delta = exp((a - 1)(a rho - eps)) (1 - 1/a)^a/(a - 1) will do, which is solved for eps. A
        negative eps implies eps = 0.
    Example
        >>> from viameter.measures import zcdp
        >>> float(zcdp_to_approx(zcdp("1/5"), delta=Fraction(1, 10**6)).epsilon)
        3.131055680764347
    """
    if loss.rho == INFINITY:
        return ApproxDP.infinite
    if loss.rho == 0:
        return ApproxDP.zero
    return ApproxLoss(epsilon_of_zcdp(Fraction(loss.rho), delta), delta)


@conversion(source=ZCDP, target=ApproxDP, takes=("epsilon",))
@theorem("zcdp-to-approx-at-epsilon", cites=CKS, numbers=Numbers.OUTWARD)
def zcdp_to_approx_at_epsilon(loss: ZCDPLoss, *, epsilon: Fraction) -> ApproxLoss:
    """A zCDP loss has a delta at every epsilon: the least over all orders.

    Theorem
        If a mechanism is rho-zCDP, it is (eps, delta)-differentially private for every order a > 1 and
        delta = min(1, exp((a - 1)(a rho - eps)) (1 - 1/a)^a/(a - 1)).
    Requires
        eps >= 0.
    Ensures
        The loss is approx(eps, delta) with delta at most 10^-12 above the least over all orders, relatively, but not
        below 2^-16384; approx(0, 0) if rho is 0, infinite if rho is.
    Proof
        As for zcdp-to-approx.
    Example
        >>> from viameter.measures import zcdp
        >>> float(zcdp_to_approx_at_epsilon(zcdp("1/5"), epsilon=Fraction(3)).delta)
        2.6644247889528096e-06
    """
    if loss.rho == INFINITY:
        return ApproxDP.infinite
    if loss.rho == 0:
        return ApproxDP.zero
    return ApproxLoss(epsilon, delta_of_zcdp(Fraction(loss.rho), epsilon))


@conversion(source=ZCDP, target=ApproxZCDP)
@theorem("zcdp-is-approx-zcdp", cites="Bun and Steinke 2016, Definition 8.1")
def zcdp_is_approx_zcdp(loss: ZCDPLoss) -> ApproxZCDPLoss:
    """A zCDP loss is one of approximate zCDP with delta 0.

    Theorem
        A rho-zCDP mechanism is 0-approximately rho-zCDP.
    Requires
        Nothing but the loss.
    Ensures
        The loss is approx_zcdp(rho, 0); infinite if rho is.
    Proof
        Take the event that always occurs.
    Example
        >>> from viameter.measures import zcdp
        >>> zcdp_is_approx_zcdp(zcdp("1/5"))
        approx_zcdp(1/5, 0)
    """
    return ApproxZCDP.infinite if loss.rho == INFINITY else ApproxZCDPLoss(loss.rho, ZERO)


@conversion(source=ZCDP, target=RenyiDP, takes=("order",))
@theorem("zcdp-to-renyi", cites="Bun and Steinke 2016, Definition 1.1")
def zcdp_to_renyi(loss: ZCDPLoss, *, order: tuple[Extended, ...]) -> RenyiLoss:
    """A zCDP loss of rho is rho a at order a.

    Theorem
        If a mechanism is rho-zCDP, its Renyi divergence of order a is at most rho a, for every a > 1.
    Requires
        Orders above 1.
    Ensures
        The loss is rho a at each order given; nothing is bounded at infinite order, unless rho is 0.
    Proof
        It is the definition.
    Example
        >>> from viameter.measures import zcdp
        >>> zcdp_to_renyi(zcdp("1/5"), order=(Fraction(2), Fraction(10)))
        renyi({2: 2/5, 10: 2})
    """
    if loss.rho == 0:
        return RenyiDP.zero
    return renyi({a: times(loss.rho, a) for a in order})


@conversion(source=ApproxZCDP, target=ZCDP, partial=True)
@theorem("approx-zcdp-is-zcdp", cites="Bun and Steinke 2016, Definition 8.1")
def approx_zcdp_is_zcdp(loss: ApproxZCDPLoss) -> ZCDPLoss:
    """A loss of approximate zCDP with delta 0 is one of zCDP.

    Theorem
        A 0-approximately rho-zCDP mechanism is rho-zCDP.
    Requires
        A delta of 0: with any other, no loss in zCDP is bounded.
    Ensures
        The loss is zcdp(rho); infinite if the loss is.
    Proof
        Conditioning on an event of probability 1 changes nothing.
    Example
        >>> from viameter.measures import approx_zcdp
        >>> approx_zcdp_is_zcdp(approx_zcdp("1/5", 0))
        zcdp(1/5)
    """
    if not loss.is_finite:
        return ZCDP.infinite
    if loss.delta > 0:
        raise NoTheorem(f"{plain(loss)} has delta > 0: it bounds no loss in zCDP; convert it to ApproxDP")
    return ZCDPLoss(loss.rho)


@conversion(source=ApproxZCDP, target=ApproxDP, takes=("delta",))
@theorem("approx-zcdp-to-approx", cites=f"Bun and Steinke 2016, Section 8; {CKS}", numbers=Numbers.OUTWARD)
def approx_zcdp_to_approx(loss: ApproxZCDPLoss, *, delta: Fraction) -> ApproxLoss:
    """A loss of approximate zCDP has an epsilon at every delta above its own.

    Theorem
        If a mechanism is d-approximately rho-zCDP and rho-zCDP implies (eps, c)-differential privacy, it is
        (eps, d + (1 - d) c)-differentially private.
    Requires
        A delta above that of the loss (or equal to it, if rho is 0).
    Ensures
        The loss is approx(eps, delta), eps being that of zcdp-to-approx at c = (delta - d)/(1 - d); infinite if the
        loss is; approx(0, 0) if rho and d are 0.
    Proof
        The events of the definition have probability at least 1 - d; with coins of their own they can be made smaller,
        so that both have 1 - d exactly. Then P(S) <= (1 - d) P(S|E) + d <= (1 - d)(exp(eps) Q(S|E') + c) + d, and
        (1 - d) Q(S|E') <= Q(S).
    Example
        >>> from viameter.measures import approx_zcdp
        >>> float(approx_zcdp_to_approx(approx_zcdp("1/5", "1e-7"), delta=Fraction(1, 10**6)).epsilon)
        3.1448248409196453
    """
    if not loss.is_finite:
        return ApproxDP.infinite
    rho, known = Fraction(loss.rho), loss.delta
    if rho == known == 0:
        return ApproxDP.zero
    if delta < known or (delta == known > 0 and rho > 0):
        raise NoTheorem(f"delta={show(delta)} is not above that of {plain(loss)}: ask for a larger one")
    if rho == 0:
        return ApproxLoss(ZERO, delta)
    return ApproxLoss(epsilon_of_zcdp(rho, (delta - known) / (1 - known)), delta)


@conversion(source=ApproxZCDP, target=ApproxDP, takes=("epsilon",))
@theorem("approx-zcdp-to-approx-at-epsilon", cites=f"Bun and Steinke 2016, Section 8; {CKS}", numbers=Numbers.OUTWARD)
def approx_zcdp_to_approx_at_epsilon(loss: ApproxZCDPLoss, *, epsilon: Fraction) -> ApproxLoss:
    """A loss of approximate zCDP has a delta at every epsilon.

    Theorem
        If a mechanism is d-approximately rho-zCDP and rho-zCDP implies (eps, c)-differential privacy, it is
        (eps, d + (1 - d) c)-differentially private.
    Requires
        eps >= 0.
    Ensures
        The loss is approx(eps, d + (1 - d) c), c being that of zcdp-to-approx-at-epsilon; infinite if the loss is;
        approx(0, 0) if rho and d are 0.
    Proof
        As for approx-zcdp-to-approx.
    Example
        >>> from viameter.measures import approx_zcdp
        >>> approx_zcdp_to_approx_at_epsilon(approx_zcdp(0, "1e-7"), epsilon=Fraction(1))
        approx(1, 1/10000000)
    """
    if not loss.is_finite:
        return ApproxDP.infinite
    rho, known = Fraction(loss.rho), loss.delta
    if rho == known == 0:
        return ApproxDP.zero
    more = ZERO if rho == 0 else delta_of_zcdp(rho, epsilon)
    return ApproxLoss(epsilon, known + (1 - known) * more)


# --- the best order --------------------------------------------------------------------------------------------------


def epsilon_of_zcdp(rho: Fraction, delta: Fraction) -> Extended:
    """The least epsilon at a delta over all orders, rounded up, for rho > 0."""
    if delta == 0:
        return INFINITY
    if delta == 1:
        return ZERO
    # l = ln(1/delta), rounded up.
    length = UP.minus(log(delta, DOWN))
    spread = real(rho, UP)
    b = _best_for_delta(spread, length)
    # Each term is rounded up; what is subtracted is rounded down.
    lost = DOWN.mul(DOWN.log1p(b), DOWN.add(1, DOWN.div(1, b)))
    gained = UP.add(UP.add(spread, UP.mul(spread, b)), UP.add(UP.log(b), UP.div(length, b)))
    return amount_up(UP.sub(gained, lost))


def greatest_rho(epsilon: Fraction, delta: Fraction, *, bits: int = 64) -> Fraction:
    """A number at or just below the greatest rho for which rho-zCDP is (epsilon, delta)-differentially private.

    >>> epsilon_of_zcdp(greatest_rho(Fraction(1), Fraction(1, 10**6)), Fraction(1, 10**6)) <= 1
    True
    """
    if epsilon == 0:
        return Fraction(0)
    # rho <= epsilon, since the divergence of order 1, which is the mean loss, is at most epsilon where delta is small.
    return greatest_that_fits(lambda rho: epsilon_of_zcdp(rho, delta) <= epsilon, start=epsilon, bits=bits)


def delta_of_zcdp(rho: Fraction, epsilon: Fraction) -> Fraction:
    """The least delta at an epsilon over all orders, rounded up, for rho > 0."""
    if rho - epsilon > _HOPELESS:
        return ONE
    b = _best_for_epsilon(rho, epsilon)
    exact = _fraction(b)
    # rho (1 + b) - epsilon is exact before it is rounded: it may be the small difference of large numbers.
    drift = UP.mul(b, real(rho * (1 + exact) - epsilon, UP))
    entropy = UP.sub(UP.mul(b, UP.log(b)), DOWN.mul(real(1 + exact, DOWN), DOWN.log1p(b)))
    return probability_up(UP.add(drift, entropy))


# For rho - epsilon above this, the least delta is within e^-34 of 1.
_HOPELESS = 40


def _best_for_delta(rho: Real, length: Real) -> Real:
    """About the b with rho b^2 + ln(1 + b) = l. It is between where both terms are l/2 and where either is l."""
    if 1e-290 < rho < 1e290 and 1e-290 < length < 700:
        return gmpy2.mpfr(_best_for_delta_in_floats(float(rho), float(length)))
    with gmpy2.context(precision=64, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
        low = min(gmpy2.sqrt(length / (2 * rho)), gmpy2.expm1(length / 2))
        high = min(gmpy2.sqrt(length / rho), gmpy2.expm1(length))
    return root(lambda b: (2 * rho * b + 1 / (1 + b), rho * b * b + gmpy2.log1p(b) - length), low, high)


def _best_for_delta_in_floats(rho: float, length: float) -> float:
    """The same in floats, which is quicker; the bound holds at any b above 0."""
    low = min(math.sqrt(length / (2 * rho)), math.expm1(length / 2))
    high = min(math.sqrt(length / rho), math.expm1(length))
    b = math.sqrt(low) * math.sqrt(high)
    for _ in range(60):
        value = rho * b * b + math.log1p(b) - length
        if value > 0:
            high = b
        else:
            low = b
        moved = b - value / (2 * rho * b + 1 / (1 + b))
        if not low <= moved <= high:
            moved = math.sqrt(low) * math.sqrt(high)
        if abs(moved - b) <= b * 1e-15:
            return moved
        b = moved
    return b


def _best_for_epsilon(rho: Fraction, epsilon: Fraction) -> Real:
    """About the b with 2 rho b - ln(1 + 1/b) = epsilon - rho.

    1/(1 + b) < ln(1 + 1/b) < 1/b; put in, both sides give a quadratic equation, whose roots enclose b. Where epsilon is
    far below rho, b is small and at most 1/(exp(rho - epsilon) - 1).
    """
    with gmpy2.context(precision=64, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
        spread, c = real(rho, UP), real(epsilon - rho, UP)
        if c > -0.5:
            high = _quadratic(spread, c, gmpy2.mpfr(1))
            low = _quadratic(spread, c - 2 * spread, c + 1)
        else:
            high = 1 / gmpy2.expm1(-c)
            low = 1 / gmpy2.expm1(2 * spread * high - c)
    low, high = min(low, high), max(low, high)
    return root(lambda b: (2 * spread + 1 / (b * (1 + b)), 2 * spread * b - gmpy2.log1p(1 / b) - c), low, high)


def _quadratic(rho: Real, c: Real, constant: Real) -> Real:
    """The positive root of 2 rho b^2 - c b - constant."""
    middle = gmpy2.sqrt(c * c + 8 * rho * constant)
    # Without the difference of two numbers that are nearly equal.
    return (c + middle) / (4 * rho) if c > 0 else 2 * constant / (middle - c)


def _fraction(x: Real) -> Fraction:
    numerator, denominator = x.as_integer_ratio()
    return Fraction(int(numerator), int(denominator))
