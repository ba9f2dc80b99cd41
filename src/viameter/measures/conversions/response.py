"""From pure, approximate and bounded-range losses: what holds for two outcomes holds for all.

Every theorem here is about the privacy loss Z = ln(P(y)/Q(y)), y drawn from P, and w = exp(-Z), whose mean is 1. A
divergence is the mean of a convex function of w. Where w is in an interval, that is at most the mean over its two ends,
weighted so that the mean of w is 1: randomized response, or its like with a shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, ZERO, Extended, show
from viameter.core.conversion import conversion
from viameter.errors import NoTheorem, plain
from viameter.measures.amounts import (
    ZCDP,
    ApproxDP,
    ApproxLoss,
    ApproxZCDP,
    ApproxZCDPLoss,
    BoundedRange,
    BoundedRangeLoss,
    PureDP,
    PureLoss,
    ZCDPLoss,
)
from viameter.measures.conversions.directed import DOWN, UP, amount_up, chance_up, real
from viameter.measures.curves import Profile, ProfileLoss, RenyiDP, RenyiLoss, renyi
from viameter.theorem import Numbers, theorem

KOV = "Kairouz, Oh and Viswanath 2017, Theorem 3.1 and its proof"


# --- bounded range ---------------------------------------------------------------------------------------------------


@conversion(source=BoundedRange, target=PureDP)
@theorem("bounded-range-is-pure", cites="Durfee and Rogers 2019, Section 3; converse of pure to 2 eps bounded range")
def bounded_range_is_pure(loss: BoundedRangeLoss) -> PureLoss:
    """A range of eta bounds every privacy loss by eta.

    Theorem
        If privacy losses of any two outcomes differ by at most eta, either way, none exceeds eta.
    Requires
        A finite range for both orders of the two distributions, whose supports are equal then.
    Ensures
        The loss is pure(eta).
    Proof
        Losses are not all positive and not all negative, since both distributions sum to 1. So 0 is within their range,
        whose length is at most eta.
    Example
        >>> from viameter.measures import bounded_range
        >>> bounded_range_is_pure(bounded_range("1/2"))
        pure(1/2)
    """
    return PureLoss(loss.eta)


@conversion(source=BoundedRange, target=ZCDP)
@theorem("bounded-range-to-zcdp", cites="Cesar and Rogers 2020, Lemma 3.2; Hoeffding's lemma")
def bounded_range_to_zcdp(loss: BoundedRangeLoss) -> ZCDPLoss:
    """A range of eta is eta^2/8 in zCDP.

    Theorem
        If privacy losses of any two outcomes differ by at most eta, either way, the mechanism is (eta^2/8)-zCDP.
    Requires
        A finite range for both orders of the two distributions, whose supports are equal then.
    Ensures
        The loss is zcdp(eta^2/8).
    Proof
        Let Z be the privacy loss. Hoeffding's lemma at -1 and E[exp(-Z)] = 1 give E[Z] <= eta^2/8; at a > 0 it gives
        E[exp(aZ)] <= exp(a E[Z] + a^2 eta^2/8) <= exp(a(a + 1) eta^2/8): the Renyi divergence of order a + 1 is at most
        (a + 1) eta^2/8, for every order above 1.
    Example
        >>> from viameter.measures import bounded_range
        >>> bounded_range_to_zcdp(bounded_range("1/2"))
        zcdp(1/32)
    """
    return ZCDPLoss(INFINITY if loss.eta == INFINITY else Fraction(loss.eta) ** 2 / 8)


@conversion(source=BoundedRange, target=ZCDP, alternative=True)
@theorem(
    "bounded-range-to-zcdp-sharp",
    cites="derived here; for the divergence of order 1, Dong, Durfee and Rogers 2020",
    numbers=Numbers.OUTWARD,
)
def bounded_range_to_zcdp_sharp(loss: BoundedRangeLoss) -> ZCDPLoss:
    """A range of eta is x - 1 - ln x in zCDP, x = eta/(e^eta - 1), and no less.

    Theorem
        If privacy losses of any two outcomes differ by at most eta > 0, either way, the mechanism is rho-zCDP with
        rho = x - 1 - ln x and x = eta/(e^eta - 1). No smaller rho holds for all such mechanisms.
    Requires
        A finite range for both orders of the two distributions, whose supports are equal then.
    Ensures
        The loss is zcdp(rho), rounded up, and at most zcdp(eta^2/8).
    Proof
        Let b = a - 1 > 0 for an order a. E[exp(bZ)] = E[w^-b] is convex in w, so that the worst pair has two outcomes,
        with losses t and t - eta. Write the odds of the first as exp(s) and L(x) = ln cosh(x/2). E[w] = 1 fixes t, and
        ln E[exp(bZ)] = b L(s - eta) - (1 + b) L(s) + L(s + b eta), which is b (b + 1) eta^2 times F, the second divided
        difference of L at s - eta, s and s + b eta. So rho must be eta^2 times the largest F over all s and b.
        F = E[L''(X)]/2, X = (s - eta) c1 + s c2 + (s + b eta) c3 with (c1, c2, c3) uniform on the simplex (Hermite and
        Genocchi). Where F is largest over s, dF/ds = E[L'''(X)]/2 = 0; there, dF/db = eta E[c3 L'''(X)]/2 =
        eta E[g(X) L'''(X)]/2 with g(x) = E[c3 | X = x], which rises with x. L'''(x) is positive for x < 0 and negative
        for x > 0, so this is at most eta g(0) E[L'''(X)]/2 = 0: the maximum over s falls as b grows. It is largest as b
        goes to 0, where it is the divergence of order 1 of the worst two outcomes: t - x (e^t - 1), largest at
        e^t = 1/x.
    Example
        >>> from viameter.measures import bounded_range
        >>> bounded_range_to_zcdp_sharp(bounded_range(1))
        zcdp(<=0.123301561483)
    """
    if loss.eta in (0, INFINITY):
        return ZCDPLoss(loss.eta)
    eta = Fraction(loss.eta)
    simple = eta**2 / 8
    if eta.numerator << _SMALL < eta.denominator:
        return ZCDPLoss(simple)  # the two agree to more bits than are kept
    if eta < _LARGE:
        # x - 1 - ln x falls as x rises to 1, so x is rounded down.
        x = DOWN.div(real(eta, DOWN), UP.expm1(real(eta, UP)))
        rho = UP.sub(UP.sub(x, 1), DOWN.log(x))
    else:
        # -ln x <= eta - ln eta, and x is below 2^-1000.
        rho = UP.sub(UP.add(real(eta, UP), _TINY), DOWN.add(1, DOWN.log(real(eta, DOWN))))
    return ZCDPLoss(min(simple, amount_up(rho)))


_SMALL = 64
_LARGE = 1000
_TINY = 2.0**-1000


# --- pure ------------------------------------------------------------------------------------------------------------


@conversion(source=PureDP, target=BoundedRange)
@theorem("pure-to-bounded-range", cites="Durfee and Rogers 2019, Section 3")
def pure_to_bounded_range(loss: PureLoss) -> BoundedRangeLoss:
    """A pure loss of eps is a range of 2 eps.

    Theorem
        If no privacy loss exceeds eps, either way, privacy losses of any two outcomes differ by at most 2 eps.
    Requires
        The max divergence is at most eps for both orders of the two distributions.
    Ensures
        The loss is bounded_range(2 eps).
    Proof
        Privacy losses are between -eps and eps. Randomized response has both.
    Example
        >>> from viameter.measures import pure
        >>> pure_to_bounded_range(pure("1/2"))
        bounded_range(1)
    """
    return BoundedRangeLoss(2 * loss.epsilon)


@conversion(source=PureDP, target=ZCDP)
@theorem("pure-to-zcdp", cites="Harrison and Manurangsi 2025; proved here again", numbers=Numbers.OUTWARD)
def pure_to_zcdp(loss: PureLoss) -> ZCDPLoss:
    """A pure loss of eps is eps tanh(eps/2) in zCDP, and no less.

    Theorem
        If no privacy loss exceeds eps, either way, the mechanism is rho-zCDP with rho = eps tanh(eps/2). No smaller rho
        holds for randomized response.
    Requires
        The max divergence is at most eps for both orders of the two distributions.
    Ensures
        The loss is zcdp(eps tanh(eps/2)), rounded up, and at most zcdp(eps^2/2).
    Proof
        By pure-to-renyi the divergence of order a is at most [ln cosh t - ln cosh u]/(a - 1) with t = (a - 1/2) eps and
        u = eps/2, so that t^2 - u^2 = a (a - 1) eps^2. ln cosh(sqrt s) is concave in s, since its derivative,
        tanh(sqrt s)/(2 sqrt s), falls. So the difference is at most (t^2 - u^2) tanh(u)/(2u) = a (a - 1) eps tanh(u).
        As a goes to 1 the divergence of randomized response goes to eps tanh(eps/2).
    Example
        >>> from viameter.measures import pure
        >>> pure_to_zcdp(pure(1))
        zcdp(<=0.462117157261)
    """
    return ZCDPLoss(_zcdp_of_pure(loss.epsilon))


@conversion(source=PureDP, target=ZCDP, alternative=True)
@theorem("pure-to-zcdp-quadratic", cites="Bun and Steinke 2016, Proposition 1.4")
def pure_to_zcdp_quadratic(loss: PureLoss) -> ZCDPLoss:
    """A pure loss of eps is eps^2/2 in zCDP.

    Theorem
        If no privacy loss exceeds eps, either way, the mechanism is (eps^2/2)-zCDP.
    Requires
        The max divergence is at most eps for both orders of the two distributions.
    Ensures
        The loss is zcdp(eps^2/2), exactly.
    Proof
        By pure-to-zcdp, since tanh(x) <= x for x >= 0.
    Example
        >>> from viameter.measures import pure
        >>> pure_to_zcdp_quadratic(pure("1/10"))
        zcdp(1/200)
    """
    return ZCDPLoss(INFINITY if loss.epsilon == INFINITY else Fraction(loss.epsilon) ** 2 / 2)


@conversion(source=PureDP, target=ApproxZCDP)
@theorem(
    "pure-to-approx-zcdp",
    cites="Bun and Steinke 2016, Section 8; Harrison and Manurangsi 2025",
    numbers=Numbers.OUTWARD,
)
def pure_to_approx_zcdp(loss: PureLoss) -> ApproxZCDPLoss:
    """A pure loss of eps is eps tanh(eps/2) in approximate zCDP, with delta 0.

    Theorem
        If no privacy loss exceeds eps, either way, the mechanism is 0-approximately eps tanh(eps/2)-zCDP.
    Requires
        The max divergence is at most eps for both orders of the two distributions.
    Ensures
        The loss is approx_zcdp(rho, 0), with the rho of pure-to-zcdp; infinite if eps is.
    Proof
        By pure-to-zcdp; approximate zCDP with the event that always occurs is zCDP.
    Example
        >>> from viameter.measures import pure
        >>> pure_to_approx_zcdp(pure(1))
        approx_zcdp(<=0.462117157261, 0)
    """
    rho = _zcdp_of_pure(loss.epsilon)
    return ApproxZCDP.infinite if rho == INFINITY else ApproxZCDPLoss(rho, ZERO)


@conversion(source=PureDP, target=RenyiDP)
@theorem("pure-is-renyi", cites="Mironov 2017, Section II; van Erven and Harremoes 2014, Theorem 6")
def pure_is_renyi(loss: PureLoss) -> RenyiLoss:
    """A pure loss is the Renyi loss of infinite order.

    Theorem
        The Renyi divergence of infinite order is the max divergence.
    Requires
        The max divergence is at most eps for both orders of the two distributions.
    Ensures
        The loss is renyi({inf: eps}), which bounds every order.
    Proof
        The limit of ln(E[exp((a - 1) Z)])/(a - 1) as a grows is the largest Z; it rises with a.
    Example
        >>> from viameter.measures import pure
        >>> pure_is_renyi(pure(1))
        renyi({inf: 1})
    """
    return renyi({INFINITY: loss.epsilon})


@conversion(source=PureDP, target=RenyiDP, takes=("order",))
@theorem("pure-to-renyi", cites="Mironov 2017, Proposition 5 (randomized response)", numbers=Numbers.OUTWARD)
def pure_to_renyi(loss: PureLoss, *, order: tuple[Extended, ...]) -> RenyiLoss:
    """A pure loss of eps is at each order what randomized response has there.

    Theorem
        If no privacy loss exceeds eps, either way, the Renyi divergence of order a > 1 is at most
        eps + [ln(1 + exp(-(2a - 1) eps)) - ln(1 + exp(-eps))]/(a - 1), and randomized response has that.
    Requires
        The max divergence is at most eps for both orders of the two distributions; orders above 1.
    Ensures
        The loss is that at each order given, rounded up; eps at infinite order.
    Proof
        E[exp((a - 1) Z)] = E[w^(1 - a)] is convex in w, which is between exp(-eps) and exp(eps) and has mean 1. So it
        is at most that of the two ends, which is randomized response: (exp(a eps) + exp((1 - a) eps))/(1 + exp(eps)).
    Example
        >>> from viameter.measures import pure
        >>> pure_to_renyi(pure(1), order=(Fraction(2), Fraction(8)))
        renyi({2: <=0.735325664056, 8: <=0.955248374055})
    """
    return renyi({a: _renyi_of_pure(loss.epsilon, a) for a in order})


@conversion(source=PureDP, target=Profile)
@theorem("pure-to-profile", cites=KOV, numbers=Numbers.OUTWARD)
def pure_to_profile(loss: PureLoss) -> ProfileLoss:
    """A pure loss of eps has the profile of randomized response.

    Theorem
        If no privacy loss exceeds eps, either way, the mechanism is (e, d)-differentially private for every e >= 0 with
        d = max(0, (exp(eps) - exp(e))/(1 + exp(eps))), and for randomized response this is the least d.
    Requires
        The max divergence is at most eps for both orders of the two distributions.
    Ensures
        The profile is that function, rounded up; 0 from eps on.
    Proof
        The least d is E[max(0, 1 - exp(e) w)], which is convex in w. As for pure-to-renyi it is at most that of
        randomized response.
    Example
        >>> from viameter.measures import pure
        >>> float(pure_to_profile(pure(1)).at(0)), pure_to_profile(pure(1)).at(1)
        (0.46211715726000974, Fraction(0, 1))
    """
    return _response_profile(loss.epsilon, ZERO)


@conversion(source=PureDP, target=ApproxDP)
@theorem("pure-is-approx", cites="Dwork and Roth 2014, Definition 2.4")
def pure_is_approx(loss: PureLoss) -> ApproxLoss:
    """A pure loss is an approximate one with delta 0.

    Theorem
        If no privacy loss exceeds eps, either way, the mechanism is (eps, 0)-differentially private.
    Requires
        The max divergence is at most eps for both orders of the two distributions.
    Ensures
        The loss is approx(eps, 0); infinite if eps is.
    Proof
        P(S) <= exp(eps) Q(S) for every outcome, and so for every event.
    Example
        >>> from viameter.measures import pure
        >>> pure_is_approx(pure(1))
        approx(1, 0)
    """
    return ApproxDP.infinite if loss.epsilon == INFINITY else ApproxLoss(loss.epsilon, ZERO)


@conversion(source=PureDP, target=ApproxDP, takes=("delta",))
@theorem("pure-to-approx", cites=KOV, numbers=Numbers.OUTWARD)
def pure_to_approx(loss: PureLoss, *, delta: Fraction) -> ApproxLoss:
    """A pure loss of eps has a smaller epsilon where a delta is allowed.

    Theorem
        If no privacy loss exceeds eps, either way, the mechanism is (e, delta)-differentially private for
        e = max(0, eps + ln(1 - delta (1 + exp(-eps)))), and for randomized response this is the least e.
    Requires
        The max divergence is at most eps for both orders of the two distributions; a probability delta.
    Ensures
        The loss is approx(e, delta), rounded up; approx(0, 0) if eps is 0, infinite if eps is.
    Proof
        The profile of pure-to-profile, solved for e.
    Example
        >>> from viameter.measures import pure
        >>> pure_to_approx(pure(1), delta=Fraction(1, 10))
        approx(<=0.852905101365, 1/10)
    """
    return _approx_at_delta(loss.epsilon, ZERO, delta)


@conversion(source=PureDP, target=ApproxDP, takes=("epsilon",))
@theorem("pure-to-approx-at-epsilon", cites=KOV, numbers=Numbers.OUTWARD)
def pure_to_approx_at_epsilon(loss: PureLoss, *, epsilon: Fraction) -> ApproxLoss:
    """A pure loss of eps has a delta at every smaller epsilon.

    Theorem
        If no privacy loss exceeds eps, either way, the mechanism is (e, d)-differentially private with the d of
        pure-to-profile.
    Requires
        The max divergence is at most eps for both orders of the two distributions; e >= 0.
    Ensures
        The loss is approx(e, d), rounded up; approx(0, 0) if eps is 0, infinite if eps is.
    Proof
        By pure-to-profile.
    Example
        >>> from viameter.measures import pure
        >>> pure_to_approx_at_epsilon(pure(1), epsilon=Fraction(1, 2))
        approx(1/2, <=0.287649136645)
    """
    return _approx_at_epsilon(loss.epsilon, ZERO, epsilon)


# --- approximate -----------------------------------------------------------------------------------------------------


@conversion(source=ApproxDP, target=PureDP, partial=True)
@theorem("approx-is-pure", cites="Dwork and Roth 2014, Definition 2.4")
def approx_is_pure(loss: ApproxLoss) -> PureLoss:
    """An approximate loss with delta 0 is a pure one.

    Theorem
        (eps, 0)-differential privacy is pure differential privacy of eps.
    Requires
        A delta of 0: with any other, no pure loss is bounded.
    Ensures
        The loss is pure(eps); infinite if the loss is.
    Proof
        P(S) <= exp(eps) Q(S) for every event, and so for every outcome.
    Example
        >>> from viameter.measures import approx
        >>> approx_is_pure(approx(1, 0))
        pure(1)
    """
    if not loss.is_finite:
        return PureDP.infinite
    if loss.delta > 0:
        raise NoTheorem(f"{plain(loss)} has delta > 0: it bounds no pure loss, and so none that follows from one")
    return PureLoss(loss.epsilon)


@conversion(source=ApproxDP, target=ApproxDP, takes=("delta",))
@theorem("approx-at-larger-delta", cites=KOV, numbers=Numbers.OUTWARD)
def approx_at_larger_delta(loss: ApproxLoss, *, delta: Fraction) -> ApproxLoss:
    """An approximate loss has a smaller epsilon where a larger delta is allowed.

    Theorem
        If a mechanism is (eps, d)-differentially private, it is (e, delta)-differentially private for delta >= d and
        e = max(0, eps + ln(1 - c (1 + exp(-eps)))), c = (delta - d)/(1 - d).
    Requires
        A delta that is at least that of the loss.
    Ensures
        The loss is approx(e, delta), rounded up, with e = eps for an equal delta; infinite if the loss is.
    Proof
        An (eps, d)-differentially private mechanism is a mixture: with probability 1 - d of two distributions whose
        max divergence is at most eps, with probability d of any others. By pure-to-approx the first part is (e, c)-
        differentially private, and d + (1 - d) c = delta.
    Example
        >>> from viameter.measures import approx
        >>> approx_at_larger_delta(approx(1, "1e-6"), delta=Fraction(1, 10))
        approx(<=0.85290652754, 1/10)
    """
    if not loss.is_finite:
        return ApproxDP.infinite
    if delta < loss.delta:
        raise NoTheorem(f"delta={show(delta)} is below that of {plain(loss)}: a loss bounds none of a smaller delta")
    if loss.delta == loss.epsilon == 0:
        return loss
    if delta == loss.delta:
        return loss
    return _approx_at_delta(loss.epsilon, loss.delta, delta)


@conversion(source=ApproxDP, target=ApproxDP, takes=("epsilon",))
@theorem("approx-at-other-epsilon", cites=KOV, numbers=Numbers.OUTWARD)
def approx_at_other_epsilon(loss: ApproxLoss, *, epsilon: Fraction) -> ApproxLoss:
    """An approximate loss has a larger delta at a smaller epsilon.

    Theorem
        If a mechanism is (eps, d)-differentially private, it is (e, d + (1 - d) c)-differentially private with
        c = max(0, (exp(eps) - exp(e))/(1 + exp(eps))).
    Requires
        e >= 0.
    Ensures
        The loss is approx(e, d + (1 - d) c), rounded up, with delta d for e >= eps; infinite if the loss is.
    Proof
        As for approx-at-larger-delta.
    Example
        >>> from viameter.measures import approx
        >>> approx_at_other_epsilon(approx(1, "1e-6"), epsilon=Fraction(2))
        approx(2, 1/1000000)
    """
    if not loss.is_finite:
        return ApproxDP.infinite
    return _approx_at_epsilon(loss.epsilon, loss.delta, epsilon)


@conversion(source=ApproxDP, target=ApproxZCDP)
@theorem(
    "approx-to-approx-zcdp",
    cites=f"Bun and Steinke 2016, Section 8; {KOV}; Harrison and Manurangsi 2025",
    numbers=Numbers.OUTWARD,
)
def approx_to_approx_zcdp(loss: ApproxLoss) -> ApproxZCDPLoss:
    """An approximate loss (eps, delta) is eps tanh(eps/2) in delta-approximate zCDP.

    Theorem
        If a mechanism is (eps, delta)-differentially private, it is delta-approximately eps tanh(eps/2)-zCDP.
    Requires
        Events may depend on coins of their own beside the outcome, as in the definition of approximate zCDP.
    Ensures
        The loss is approx_zcdp(rho, delta), with the rho of pure-to-zcdp; infinite if the loss is.
    Proof
        The mechanism is a mixture, as in approx-at-larger-delta: with probability 1 - delta it draws from two
        distributions whose max divergence is at most eps. Conditioned on that event, pure-to-zcdp applies.
    Example
        >>> from viameter.measures import approx
        >>> approx_to_approx_zcdp(approx(1, "1e-6"))
        approx_zcdp(<=0.462117157261, 1/1000000)
    """
    if not loss.is_finite:
        return ApproxZCDP.infinite
    return ApproxZCDPLoss(_zcdp_of_pure(loss.epsilon), loss.delta)


@conversion(source=ApproxDP, target=Profile)
@theorem("approx-to-profile", cites=KOV, numbers=Numbers.OUTWARD)
def approx_to_profile(loss: ApproxLoss) -> ProfileLoss:
    """An approximate loss has a delta at every epsilon.

    Theorem
        If a mechanism is (eps, d)-differentially private, its profile is at most that of approx-at-other-epsilon.
    Requires
        Nothing but the loss.
    Ensures
        The profile is that function, rounded up; d from eps on; infinite if the loss is.
    Proof
        By approx-at-other-epsilon.
    Example
        >>> from viameter.measures import approx
        >>> approx_to_profile(approx(1, "1e-6")).at(2)
        Fraction(1, 1000000)
    """
    if not loss.is_finite:
        return Profile.infinite
    return _response_profile(loss.epsilon, loss.delta)


# --- randomized response in numbers ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResponseProfile:
    """The profile of randomized response with epsilon, after a leak of probability delta."""

    epsilon: Fraction
    delta: Fraction

    @property
    def __name__(self) -> str:
        """What the profile's text shows."""
        return f"response({show(self.epsilon)}, {show(self.delta)})"

    def __call__(self, epsilon: Fraction) -> Fraction:
        """The delta at an epsilon, rounded up."""
        return _response_delta(self.epsilon, self.delta, epsilon)

    def epsilon_at(self, delta: Fraction) -> Extended:
        """The least epsilon at a delta, rounded up; infinite below the delta of the leak."""
        return _response_epsilon(self.epsilon, self.delta, delta) if delta >= self.delta else INFINITY


def _response_profile(epsilon: Extended, delta: Fraction) -> ProfileLoss:
    if epsilon == INFINITY:
        return Profile.infinite
    if epsilon == delta == 0:
        return Profile.zero
    return ProfileLoss((), ResponseProfile(Fraction(epsilon), delta))


def _approx_at_delta(epsilon: Extended, known: Fraction, delta: Fraction) -> ApproxLoss:
    if epsilon == INFINITY:
        return ApproxDP.infinite
    if epsilon == known == 0:
        return ApproxDP.zero
    return ApproxLoss(_response_epsilon(Fraction(epsilon), known, delta), delta)


def _approx_at_epsilon(epsilon: Extended, known: Fraction, wanted: Fraction) -> ApproxLoss:
    if epsilon == INFINITY:
        return ApproxDP.infinite
    if epsilon == known == 0:
        return ApproxDP.zero
    return ApproxLoss(wanted, _response_delta(Fraction(epsilon), known, wanted))


def _response_epsilon(epsilon: Fraction, known: Fraction, delta: Fraction) -> Fraction:
    """The least e at a delta >= known: eps + ln(1 - c (1 + exp(-eps))), and c = (delta - known)/(1 - known)."""
    if known == 1 or delta == 1:
        return ZERO
    allowed = (delta - known) / (1 - known)
    if allowed == 0 or epsilon == 0:
        return epsilon
    taken = DOWN.mul(real(allowed, DOWN), DOWN.add(1, DOWN.exp(real(-epsilon, DOWN))))
    if taken >= 1:
        return ZERO
    less = UP.log1p(UP.minus(taken))
    return min(epsilon, amount_up(UP.add(real(epsilon, UP), less)))


def _response_delta(epsilon: Fraction, known: Fraction, wanted: Fraction) -> Fraction:
    """known + (1 - known) (1 - exp(e - eps))/(1 + exp(-eps)), where e < eps."""
    if wanted >= epsilon:
        return known
    above = UP.minus(DOWN.expm1(real(wanted - epsilon, DOWN)))
    chance = UP.div(above, DOWN.add(1, DOWN.exp(real(-epsilon, DOWN))))
    return chance_up(UP.add(real(known, UP), UP.mul(real(1 - known, UP), chance)))


def _zcdp_of_pure(epsilon: Extended) -> Extended:
    if epsilon in (0, INFINITY):
        return epsilon
    number = Fraction(epsilon)
    half = UP.tanh(real(number / 2, UP))
    return min(number**2 / 2, amount_up(UP.mul(real(number, UP), half)))


def _renyi_of_pure(epsilon: Extended, order: Extended) -> Extended:
    if order == INFINITY or epsilon in (0, INFINITY):
        return epsilon
    number, a = Fraction(epsilon), Fraction(order)
    one: Any = UP.log1p(UP.exp(real(-(2 * a - 1) * number, UP)))
    other = DOWN.log1p(DOWN.exp(real(-number, DOWN)))
    # The difference is negative, so that dividing by more gives more; where rounding makes it positive, another bound
    # is better anyway.
    less = UP.div(UP.sub(one, other), real(a - 1, UP))
    curve = amount_up(UP.add(real(number, UP), less)) if less < 0 else number
    return min(number, a * Fraction(_zcdp_of_pure(number)), curve)
