"""Moments: zCDP, Renyi bounds and the moments of loss distributions add up, and any one order gives an epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from viameter.arith import INFINITY, ZERO, Extended, floats, vectors
from viameter.composition.accounting.distribution import LossDistribution
from viameter.composition.accounting.product import Product
from viameter.composition.accounting.reals import DOWN, UP, Real, as_fraction, float_near, real_down, real_up
from viameter.measures.curves import RenyiLoss
from viameter.theorem import Numbers, theorem

CANONNE = "Canonne, Kamath and Steinke 2020; Mironov 2017; Abadi et al. 2016 (moments)"
TINY = Fraction(1, 2**100_000)
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(slots=True)
class Moments:
    """ln E e^(z L) of a composition at any z > 0: rho z (z + 1), bounds by order, and loss distributions."""

    product: Product = field(default_factory=Product)
    rho: Fraction = ZERO
    curves: dict[RenyiLoss, int] = field(default_factory=dict)

    def claim(self, claim: Fraction | RenyiLoss, count: int) -> None:
        """Add a rho or bounds by order, so many times."""
        if isinstance(claim, RenyiLoss):
            self.curves[claim] = self.curves.get(claim, 0) + count
        else:
            self.rho += count * claim

    def at(self, z: Fraction) -> Real | None:
        """ln E e^(z L) over finite losses, rounded up; None where a curve has no bound at the order z + 1."""
        rest = self.product.mu_squared / 2 + self.rho
        total = real_up(rest * z * (z + 1))
        for curve, count in self.curves.items():
            bound = curve.at(z + 1)
            if bound == INFINITY:
                return None
            total = UP.add(total, real_up(count * z * Fraction(bound)))
        for distribution, count in self.product.counts.items():
            total = UP.add(total, UP.mul(_log_moment(distribution, z), count))
        return total

    def orders(self, objective: Callable[[float, float], float]) -> list[Fraction]:
        """Values of z worth trying: those that curves list, or the best one as far as floats can tell."""
        if self.curves:
            listed = {Fraction(order) - 1 for curve in self.curves for order in curve.orders if order != INFINITY}
            return sorted(listed) or [Fraction(1)]

        def value(logarithm: float) -> float:
            z = math.exp(logarithm)
            return objective(z, self.product.cumulants(z)[0] + float_near(self.rho) * z * (z + 1))

        low, high = -12.0, 18.0
        for _ in range(75):
            left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
            if value(left) <= value(right):
                high = right
            else:
                low = left
        return [Fraction(math.exp((low + high) / 2))]


@theorem("moments-to-epsilon", cites=CANONNE, numbers=Numbers.OUTWARD)
def moments_epsilon(losses: Moments, *, delta: Fraction) -> Extended:
    """A bound on one moment of the loss gives an epsilon for every delta.

    Theorem
        Let E e^(z L) <= e^K over finite losses, for some z > 0, and I be the probability of an infinite one. Then delta
        is at most T + I at epsilon = (K - ln T - ln(1 + z) + z ln(z/(1 + z)))/z. With a = z + 1, K = z r for a Renyi
        divergence r of order a, and K = rho z (z + 1) for rho-zCDP; K adds up under composition.
    Requires
        Bounds of Renyi divergences hold at the order that is used, in both directions; parameters are fixed in advance
        (for adaptive parameters keep to filters of zCDP).
    Ensures
        The result is at least that epsilon for the z chosen; infinity where no order has a bound or delta <= I.
    Proof
        (1 - e^-x)_+ <= e^(z x) (1/(1 + z)) (z/(1 + z))^z for every real x: with y = e^-x in (0, 1) the largest value of
        (1 - y) y^z is at y = z/(1 + z). Take means over x = L - epsilon. K adds up since the moment of a composition is
        at most the product of the largest moments of its parts, given any answers before.
    Example
        >>> moments = Moments(rho=Fraction(1, 32))
        >>> float(moments_epsilon(moments, delta=Fraction(1, 1000)))
        0.688002455487...
    """
    target = DOWN.sub(real_down(delta), losses.product.infinity)
    if target <= 0:
        return INFINITY
    log_target = float(DOWN.log(target))
    best: Extended = INFINITY
    for z in losses.orders(lambda z, k: (k - log_target - math.log1p(z) + z * math.log(z / (1 + z))) / z):
        moment = losses.at(z)
        if moment is None or not moment.is_finite():
            continue
        tail = UP.add(UP.sub(moment, DOWN.log(target)), prefactor(z))
        bound = UP.div(tail, real_down(z) if tail > 0 else real_up(z))
        if bound.is_finite():
            best = min(best, max(ZERO, as_fraction(bound)))
    return best


def moments_delta(losses: Moments, *, epsilon: Fraction) -> Fraction:
    """The delta that one moment gives at an epsilon; see moments-to-epsilon."""
    level = min(floats.from_fraction_down(epsilon), 1e300)
    best = real_up(1)
    for z in losses.orders(lambda z, k: k - z * level - math.log1p(z) + z * math.log(z / (1 + z))):
        moment = losses.at(z)
        if moment is not None:
            exponent = UP.add(UP.sub(moment, real_down(z * epsilon)), prefactor(z))
            best = min(best, UP.add(UP.exp(exponent), losses.product.infinity))
    # Whatever is below 2^-100000 is as good as this, and no fraction of a million digits.
    return as_fraction(max(best, real_up(TINY)))


def prefactor(z: Fraction) -> Real:
    """-ln(1 + z) + z ln(z/(1 + z)), rounded up."""
    share = UP.log(real_up(z / (1 + z)))
    return UP.sub(UP.mul(real_down(z), share), DOWN.log(real_down(1 + z)))


def _log_moment(distribution: LossDistribution, z: Fraction) -> Real:
    """ln of the sum of w e^(z L), rounded up."""
    top = float(distribution.losses[-1])
    # Relative to the largest, exponents are <= 0: there a smaller z is larger.
    exponents = vectors.mul_up(floats.from_fraction_down(z), vectors.sub_up(distribution.losses, top))
    mass = float(vectors.sum_up(vectors.mul_up(distribution.weights, vectors.exp_up(exponents))))
    return UP.add(UP.mul(real_up(z) if top >= 0 else real_down(z), real_up(top)), UP.log(real_up(mass)))
