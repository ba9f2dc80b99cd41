"""A product of loss distributions: what was added, how often, and the cumulants that a contour is planned by.

The cumulants are plain floats. They choose where the certified sum is taken, and nothing of what it proves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from viameter.arith import INFINITY, ZERO, Extended, settle_up
from viameter.composition.accounting.distribution import Floats, LossDistribution
from viameter.composition.accounting.reals import DOWN, UP, Real, float_near, real_down


@dataclass(slots=True)
class Product:
    """Loss distributions with multiplicities."""

    counts: dict[LossDistribution, int] = field(default_factory=dict)
    mu_squared: Fraction = ZERO
    log_survival: Real = field(default_factory=lambda: real_down(0))
    """ln of the probability that no loss is infinite, rounded down: a mass of 10^-300 is not lost beside 1."""
    _ceiling: Fraction = ZERO
    _pairs: tuple[Floats, ...] | None = None

    def add(self, distribution: LossDistribution, count: int) -> None:
        """Multiply by a distribution, so many times."""
        if distribution.mu_squared:
            self.mu_squared += count * distribution.mu_squared
        if distribution.infinity:
            kept = DOWN.log1p(real_down(-distribution.infinity))
            self.log_survival = DOWN.add(self.log_survival, DOWN.mul(kept, count))
        if distribution.has_points:
            self.counts[distribution] = self.counts.get(distribution, 0) + count
            self._ceiling = settle_up(max(ZERO, self._ceiling + count * Fraction(float(distribution.losses[-1]))))
            if distribution.is_pair:
                self._pairs = None

    @property
    def infinity(self) -> Real:
        """The probability, rounded up, that some loss is infinite."""
        return UP.minus(DOWN.expm1(self.log_survival))

    @property
    def ceiling(self) -> Extended:
        """The largest finite loss or more, at least 0: beyond it, only infinite losses count."""
        return INFINITY if self.mu_squared else self._ceiling

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """ln M(c), and its first and second derivative; not finite where floats do not reach."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._cumulants(c)

    def _cumulants(self, c: float) -> tuple[float, float, float]:
        mu_squared = float_near(self.mu_squared)
        value, mean, variance = mu_squared * c * (c + 1) / 2, mu_squared * (c + 0.5), mu_squared
        eps, high, low, counts = self._pair_arrays()
        if len(eps):
            small = low * np.exp(-2 * c * eps)
            total = np.maximum(high + small, 1e-300)
            slope = (high - small) / total
            value += float(counts @ (c * eps + np.log(total)))
            mean += float(counts @ (eps * slope))
            variance += float(counts @ (eps * eps * (4 * high * small / total**2)))
        for distribution, count in self.counts.items():
            if distribution.is_pair:
                continue
            losses = distribution.losses
            exponents = c * losses + np.log(distribution.weights)
            top = float(exponents.max())
            if top == -math.inf:
                continue
            tilted = np.exp(exponents - top)
            mass = float(tilted.sum())
            center = float(tilted @ losses) / mass
            value += count * (top + float(np.log(mass)))
            mean += count * center
            variance += count * float(tilted @ (losses - center) ** 2) / mass
        return value, mean, variance

    def _pair_arrays(self) -> tuple[Floats, ...]:
        if self._pairs is None:
            pairs = [(d, n) for d, n in self.counts.items() if d.is_pair]
            self._pairs = (
                np.array([d.losses[1] for d, _ in pairs]),
                np.array([d.weights[1] for d, _ in pairs]),
                np.array([d.weights[0] for d, _ in pairs]),
                np.array([float(n) for _, n in pairs]),
            )
        return self._pairs
