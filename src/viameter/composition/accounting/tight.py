"""Reading a product of loss distributions: delta at an epsilon and epsilon at a delta, both upper bounds.

For mechanisms whose parameters are fixed in advance. Never for filters or odometers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from viameter.arith import INFINITY, ZERO, Extended, floats
from viameter.composition.accounting.contour import Contour, Transforms, Unfit, contour_delta
from viameter.composition.accounting.distribution import LossDistribution
from viameter.composition.accounting.enumeration import enumerable, enumerate_points, points_delta, points_epsilon
from viameter.composition.accounting.moments import Moments, moments_delta, moments_epsilon
from viameter.composition.accounting.plan import line_for_delta, line_for_epsilon, plan_at
from viameter.composition.accounting.product import Product
from viameter.composition.accounting.reals import DOWN, UP, Real, as_fraction, real_down, real_up

ONE = Fraction(1)
MOST_CONTOURS = 8
_ITERATIONS = 120
_FAILURES = (Unfit, OverflowError, ZeroDivisionError, FloatingPointError, ValueError)
"""Where a plan in plain floats has no numbers; moments answer then."""


@dataclass(slots=True)
class TightAccount:
    """One product; what is read is a function of it and of the question, and of nothing that was read before."""

    product: Product = field(default_factory=Product)
    transforms: Transforms = field(default_factory=Transforms)
    _contours: dict[float, Contour] = field(default_factory=dict, init=False)
    """By line: each is a function of the product."""

    def add(self, distribution: LossDistribution, count: int) -> None:
        """Multiply by a distribution, so many times."""
        self.product.add(distribution, count)
        self._contours.clear()

    def delta(self, epsilon: Fraction) -> Fraction:
        """An upper bound on delta at an epsilon >= 0."""
        product = self.product
        at = floats.from_fraction_down(epsilon)
        infinite = product.infinity
        if infinite >= 1:
            return ONE
        if not product.counts and not product.mu_squared:
            return as_fraction(infinite)
        if at == math.inf or at > 1e300:
            return ONE
        if enumerable(product):
            finite = real_up(points_delta(enumerate_points(product), epsilon=at))
            return min(ONE, as_fraction(UP.add(infinite, finite)))
        if epsilon >= product.ceiling:
            return min(ONE, as_fraction(infinite))
        try:
            bound = self._bound(at)
        except _FAILURES:
            return moments_delta(Moments(product), epsilon=epsilon)
        return min(ONE, as_fraction(bound)) if bound < 2 else ONE

    def epsilon(self, delta: Fraction) -> Extended:
        """An epsilon at which delta is at most the one given, close to the least; infinity if none is found."""
        product = self.product
        target = DOWN.sub(real_down(delta), product.infinity)
        if target < 0:
            return INFINITY
        if not product.counts and not product.mu_squared:
            return ZERO
        if enumerable(product):
            return points_epsilon(enumerate_points(product), delta=as_fraction(target))
        if target == 0:
            return product.ceiling
        try:
            epsilon = self._solve(delta, float(DOWN.log(target)))
        except _FAILURES:
            epsilon = moments_epsilon(Moments(product), delta=delta)
        return min(epsilon, product.ceiling)

    def _solve(self, delta: Fraction, log_target: float) -> Extended:
        c, at = line_for_delta(self.product, log_target), -1.0
        for _ in range(4):
            contour = self._contour(c)
            at = self._newton(contour, log_target, contour.plan.epsilon if at < 0 else at)
            best = line_for_epsilon(self.product, at)
            if best == c:
                break
            c = best
        # What is returned has been checked: not that it is the least, but that its delta is small enough.
        limit = real_down(delta)
        step = 2.0**-40 * max(at, contour.plan.spread * 2.0**-10)
        for _ in range(60):
            if self._bound(at) <= limit:
                return Fraction(at)
            at += step
            step *= 2
        return INFINITY

    def _bound(self, epsilon: float) -> Real:
        """Delta at an epsilon, by the contour that is best there."""
        contour = self._contour(line_for_epsilon(self.product, epsilon))
        return contour_delta(self.product, contour=contour, epsilon=epsilon)

    def _newton(self, contour: Contour, log_target: float, start: float) -> float:
        """Where the bound crosses the target, about: Newton's steps on its logarithm, kept between a low and a high."""
        contour.prepare(self.product.mu_squared)
        scale = float(contour.log_scale(0.0))
        c, reach = contour.plan.c, 3 * contour.plan.spread
        low, high = -math.inf, math.inf
        at = max(start, 0.0)
        moved = math.inf
        for _ in range(_ITERATIONS):
            relative, slope = contour.evaluate(at)
            if relative <= 0:
                raise Unfit
            excess = scale - c * at + math.log(relative) - log_target
            if excess > 0:
                low = at
            elif at == 0:
                return 0.0
            else:
                high = at
            derivative = slope / relative - c
            wanted = at - excess / derivative if derivative < 0 else math.copysign(math.inf, excess)
            wanted = max(min(wanted, at + reach), at - reach, 0.0)
            if low > -math.inf and high < math.inf:
                # Where the logarithm has corners, steps may jump to and fro: then the distance is halved instead.
                if abs(wanted - at) > moved / 2 or not low <= wanted <= high:
                    wanted = (low + high) / 2
            else:
                reach *= 1.5
            moved, at = abs(wanted - at), wanted
            if moved <= 2.0**-38 * max(at, 2.0**-12 * contour.plan.spread):
                break
        return at

    def _contour(self, c: float) -> Contour:
        contour = self._contours.get(c)
        if contour is None:
            contour = Contour(plan_at(self.product, c), self.transforms)
            contour.include(self.product.counts.items())
            if len(self._contours) >= MOST_CONTOURS:
                self._contours.clear()
            self._contours[c] = contour
        return contour
