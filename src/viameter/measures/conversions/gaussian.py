"""From Gaussian differential privacy: the trade-off curve of N(0, 1) against N(mu, 1), and all that follows from it.

A Gaussian loss is a claim about a trade-off curve. Noise that is drawn on integers does not satisfy it for the mu of
its scale: see `gaussian-on-integers`, which counts in zCDP, and `smoothed-gaussian-on-integers`, for a larger mu.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2  # type: ignore[import-untyped]

from viameter.arith import INFINITY, ZERO, Extended, show, times
from viameter.core.conversion import conversion
from viameter.errors import NumberError
from viameter.measures.amounts import ZCDP, ApproxDP, ApproxLoss, GaussianDP, GaussianLoss, ZCDPLoss
from viameter.measures.conversions.directed import (
    DOWN,
    UP,
    Real,
    amount_up,
    chance_up,
    context,
    greatest_that_fits,
    log,
    real,
)
from viameter.measures.curves import Profile, ProfileLoss, RenyiDP, RenyiLoss, renyi
from viameter.theorem import Numbers, theorem

BALLE_WANG = "Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2022, Corollary 2.13"


@conversion(source=GaussianDP, target=ApproxDP, takes=("delta",))
@theorem("gdp-to-approx", cites=BALLE_WANG, numbers=Numbers.OUTWARD)
def gdp_to_approx(loss: GaussianLoss, *, delta: Fraction) -> ApproxLoss:
    """A Gaussian loss has an epsilon at every delta.

    Theorem
        If a mechanism is as hard to tell as N(0, 1) from N(mu, 1), it is (eps, d)-differentially private for
        d = F(mu/2 - eps/mu) - exp(eps) F(-mu/2 - eps/mu), F being the distribution function of N(0, 1); for the two
        Gaussians, d is the least.
    Requires
        The trade-off curve is that of real Gaussians, or above it; noise on integers has another. A probability delta.
    Ensures
        The loss is approx(eps, delta), eps being the least for this delta, rounded up, or mu^2/2 + mu sqrt(2
        ln(1/(2 delta))) for a mu above 2^12; approx(inf, 0) for delta = 0; approx(0, 0) if mu is 0, infinite if mu is.
    Proof
        The privacy loss of the two Gaussians is normal with mean mu^2/2 and variance mu^2; the likelihood ratio is at
        most exp(eps) on one side of a threshold, and d is the difference of both on the other. d falls with eps, so
        that an eps whose d, rounded up, is at most delta will do.
    Example
        >>> from viameter.measures import gdp
        >>> float(gdp_to_approx(gdp(1), delta=Fraction(1, 10**5)).epsilon)
        4.3771780956812245
    """
    if loss.mu_squared == INFINITY:
        return ApproxDP.infinite
    if loss.mu_squared == 0:
        return ApproxDP.zero
    return ApproxLoss(gaussian_epsilon(Fraction(loss.mu_squared), delta), delta)


@conversion(source=GaussianDP, target=ApproxDP, takes=("epsilon",))
@theorem("gdp-to-approx-at-epsilon", cites=BALLE_WANG, numbers=Numbers.OUTWARD)
def gdp_to_approx_at_epsilon(loss: GaussianLoss, *, epsilon: Fraction) -> ApproxLoss:
    """A Gaussian loss has a delta at every epsilon.

    Theorem
        If a mechanism is as hard to tell as N(0, 1) from N(mu, 1), it is (eps, d)-differentially private with the d of
        gdp-to-approx.
    Requires
        The trade-off curve is that of real Gaussians, or above it; noise on integers has another. eps >= 0.
    Ensures
        The loss is approx(eps, d), rounded up, but not below 2^-16384; approx(0, 0) if mu is 0, infinite if mu is.
    Proof
        As for gdp-to-approx.
    Example
        >>> from viameter.measures import gdp
        >>> float(gdp_to_approx_at_epsilon(gdp(1), epsilon=Fraction(1)).delta)
        0.12693673750664394
    """
    if loss.mu_squared == INFINITY:
        return ApproxDP.infinite
    if loss.mu_squared == 0:
        return ApproxDP.zero
    return ApproxLoss(epsilon, gaussian_delta(Fraction(loss.mu_squared), epsilon))


@conversion(source=GaussianDP, target=ZCDP)
@theorem("gdp-to-zcdp", cites="Bun and Steinke 2016, Proposition 1.6; Dong, Roth and Su 2022, Corollary B.6")
def gdp_to_zcdp(loss: GaussianLoss) -> ZCDPLoss:
    """A Gaussian loss of mu is mu^2/2 in zCDP.

    Theorem
        If a mechanism is as hard to tell as N(0, 1) from N(mu, 1), it is (mu^2/2)-zCDP.
    Requires
        The trade-off curve is that of real Gaussians, or above it.
    Ensures
        The loss is zcdp(mu^2/2), exactly.
    Proof
        The mechanism is a post-processing of the two Gaussians (Blackwell), whose Renyi divergence of order a is
        a mu^2/2.
    Example
        >>> from viameter.measures import gdp
        >>> gdp_to_zcdp(gdp("1/2"))
        zcdp(1/8)
    """
    return ZCDPLoss(loss.mu_squared / 2)


@conversion(source=GaussianDP, target=RenyiDP, takes=("order",))
@theorem("gdp-to-renyi", cites="Mironov 2017, Proposition 7; Dong, Roth and Su 2022, Corollary B.6")
def gdp_to_renyi(loss: GaussianLoss, *, order: tuple[Extended, ...]) -> RenyiLoss:
    """A Gaussian loss of mu is a mu^2/2 at order a.

    Theorem
        If a mechanism is as hard to tell as N(0, 1) from N(mu, 1), its Renyi divergence of order a is at most a mu^2/2.
    Requires
        The trade-off curve is that of real Gaussians, or above it; orders above 1.
    Ensures
        The loss is a mu^2/2 at each order given; nothing is bounded at infinite order, unless mu is 0.
    Proof
        As for gdp-to-zcdp.
    Example
        >>> from viameter.measures import gdp
        >>> gdp_to_renyi(gdp(1), order=(Fraction(2), Fraction(10)))
        renyi({2: 1, 10: 5})
    """
    if loss.mu_squared == 0:
        return RenyiDP.zero
    return renyi({a: times(loss.mu_squared / 2, a) for a in order})


@conversion(source=GaussianDP, target=Profile)
@theorem("gdp-to-profile", cites=BALLE_WANG, numbers=Numbers.OUTWARD)
def gdp_to_profile(loss: GaussianLoss) -> ProfileLoss:
    """A Gaussian loss has the profile of two Gaussians.

    Theorem
        If a mechanism is as hard to tell as N(0, 1) from N(mu, 1), its profile is at most d of gdp-to-approx at every
        eps >= 0.
    Requires
        The trade-off curve is that of real Gaussians, or above it; noise on integers has another.
    Ensures
        The profile is that function, rounded up; zero if mu is 0, infinite if mu is.
    Proof
        As for gdp-to-approx.
    Example
        >>> from viameter.measures import gdp
        >>> float(gdp_to_profile(gdp(1)).at(1))
        0.12693673750664394
    """
    if loss.mu_squared == INFINITY:
        return Profile.infinite
    if loss.mu_squared == 0:
        return Profile.zero
    return ProfileLoss((), GaussianProfile(Fraction(loss.mu_squared)))


@dataclass(frozen=True, slots=True)
class GaussianProfile:
    """The profile of N(0, 1) and N(mu, 1)."""

    mu_squared: Fraction

    @property
    def __name__(self) -> str:
        """What the profile's text shows."""
        return f"gaussian, mu^2={show(self.mu_squared)}"

    def __call__(self, epsilon: Fraction) -> Fraction:
        """The delta at an epsilon, rounded up."""
        return gaussian_delta(self.mu_squared, epsilon)

    def epsilon_at(self, delta: Fraction) -> Extended:
        """The least epsilon at a delta, rounded up."""
        return gaussian_epsilon(self.mu_squared, delta)


# --- the curve in numbers --------------------------------------------------------------------------------------------

_MOST_BITS = 2**14
_AGREE = 2.0**-60
"""How near the bounds from above and from below have to be, relatively."""


def gaussian_delta(mu_squared: Fraction, epsilon: Fraction) -> Fraction:
    """The delta of two Gaussians at an epsilon, rounded up, for mu > 0."""
    return chance_up(_delta_up(mu_squared, epsilon))


def _delta_up(mu_squared: Fraction, epsilon: Fraction) -> Real:
    """An upper bound that is close: with more bits until one from below agrees, since the two terms nearly cancel."""
    bits = 192
    while True:
        above = _delta(mu_squared, epsilon, bits, up=True)
        below = _delta(mu_squared, epsilon, bits, up=False)
        if bits >= _MOST_BITS or above - below <= above * _AGREE:
            return above
        bits *= 2


@lru_cache(maxsize=64)
def _contexts(bits: int) -> tuple[Any, Any]:
    return context(bits, up=True), context(bits, up=False)


def _delta(mu_squared: Fraction, epsilon: Fraction, bits: int, *, up: bool) -> Real:
    """erfc((eps/mu - mu/2)/sqrt 2)/2 - exp(eps) erfc((eps/mu + mu/2)/sqrt 2)/2, rounded outward, up or down.

    It rises with mu, so that sqrt(2) mu = sqrt(2 mu^2) is rounded the same way, once, and is then taken as exact:
    (eps/mu -+ mu/2)/sqrt 2 = eps/m -+ m/4 with m = sqrt(2) mu.
    """
    over, under = _contexts(bits)
    outer, inner = (over, under) if up else (under, over)
    m = outer.sqrt(real(2 * mu_squared, outer))
    e_outer, e_inner = real(epsilon, outer), real(epsilon, inner)
    quarter = inner.div(m, 4)  # exact: a power of two
    # erfc falls: its operand is rounded the other way.
    first = outer.erfc(inner.sub(inner.div(e_inner, m), quarter))
    second = inner.mul(inner.exp(e_inner), inner.erfc(outer.add(outer.div(e_outer, m), quarter)))
    return outer.div(outer.sub(first, second), 2)


def greatest_mu_squared(epsilon: Fraction, delta: Fraction, *, bits: int = 40) -> Fraction:
    """A number at or just below the greatest mu^2 for which gdp(mu) is (epsilon, delta)-differentially private.

    >>> gaussian_epsilon(greatest_mu_squared(Fraction(1), Fraction(1, 10**6)), Fraction(1, 10**6)) <= 1
    True
    """
    return greatest_that_fits(lambda square: gaussian_epsilon(square, delta) <= epsilon, start=Fraction(1), bits=bits)


def gaussian_epsilon(mu_squared: Fraction, delta: Fraction) -> Extended:
    """The least epsilon at a delta, rounded up, for mu > 0: guessed by Newton's steps, then seen to be enough."""
    if delta == 0:
        return INFINITY
    if delta == 1 or gaussian_delta(mu_squared, ZERO) <= delta:
        return ZERO
    if mu_squared > _HUGE:
        return _tail_epsilon(mu_squared, delta)
    guess = _guess(mu_squared, delta)
    allowed, step = real(delta, DOWN), guess / 2**60
    for _ in range(200):
        if _delta_up(mu_squared, guess) <= allowed:
            return guess
        guess += step
        step *= 2
    raise NumberError(f"no epsilon was found for gdp of mu^2={show(mu_squared)} at delta={show(delta)}")


def _tail_epsilon(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """mu^2/2 + mu z, rounded up, with z = sqrt(2 ln(1/(2 delta))): the upper tail of z is at most exp(-z^2/2)/2."""
    twice = UP.minus(UP.mul(2, log(2 * delta, DOWN))) if 2 * delta < 1 else gmpy2.mpfr(0)
    return amount_up(UP.add(real(mu_squared / 2, UP), UP.sqrt(UP.mul(real(mu_squared, UP), twice))))


def _guess(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """About the epsilon; ln(delta) is concave in it, so that Newton's steps from above stay above.

    They begin at mu^2/2 + mu z with the upper tail of z at most delta.
    """
    over, _ = _contexts(192)
    with gmpy2.context(precision=192, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
        mu = gmpy2.sqrt(real(mu_squared, over))
        target = log(delta, over)
        z = gmpy2.sqrt(max(gmpy2.mpfr(0), -2 * (target + gmpy2.log(2))))
        root_two = gmpy2.sqrt(gmpy2.mpfr(2))
        epsilon = mu * (mu / 2 + z)
        for _ in range(100):
            second = gmpy2.exp(epsilon) * gmpy2.erfc((epsilon / mu + mu / 2) / root_two) / 2
            value = gmpy2.erfc((epsilon / mu - mu / 2) / root_two) / 2 - second
            if not value > 0:
                break
            moved = epsilon + (gmpy2.log(value) - target) * value / second
            if moved <= 0:
                moved = epsilon / 2
            done = abs(moved - epsilon) <= epsilon * _GUESSED
            epsilon = moved
            if done:
                break
        return amount_up(epsilon * (1 + _GUESSED))


_GUESSED = 2.0**-55

# For a mu above 2^12, which nobody has, the exponentials of the curve come near the end of MPFR's range.
_HUGE = 2**24
