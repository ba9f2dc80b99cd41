"""Where the certified sum is taken: the line, the step, the length and the extra noise, by the saddle point.

Everything here is a choice for tightness, in plain floats: the sum is an upper bound wherever it is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from viameter.composition.accounting.product import Product
from viameter.composition.accounting.reals import float_near

EXCESS = 8e-6
"""The part of epsilon that the extra Gaussian noise may cost."""
NEGLIGIBLE = 18.0
"""ln of how far below delta the aliases and what is cut off shall be."""
MOST_POINTS = 2**16
FEWEST_POINTS = 64
_STEP_BITS = 36
LINES = 16
"""Lines are at 2^(j/16) for integers j from -480 to 480: few, so that transforms on one are used again."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The points c + i k h for k = 0, ..., size, and the squared mu of the extra noise."""

    c: float
    h: float
    size: int
    extra: float
    epsilon: float
    spread: float


def plan_at(product: Product, c: float) -> Plan:
    """A plan for the line with real part c, whose saddle point is the epsilon that it is best for."""
    value, mean, variance = product.cumulants(c)
    epsilon = max(mean - 1 / c - 1 / (c + 1), 0.0)
    full = variance + 1 / c**2 + 1 / (c + 1) ** 2
    log_delta = _log_delta(value, c, epsilon, full)
    width = _round(_width(product, c, epsilon, log_delta), math.ceil)
    wanted = _round(2 * EXCESS * max(epsilon, 0.02 * math.sqrt(variance)) / (c + 1), math.floor)
    mu_squared = float_near(product.mu_squared)
    extra = max(0.0, wanted - mu_squared) if mu_squared < wanted else 0.0
    length = _length(c, full, mu_squared + extra)
    size = math.ceil(_round(length * width / (2 * math.pi), math.ceil))
    if size > MOST_POINTS:
        # More noise rather than more points.
        extra = (mu_squared + extra) * (size / MOST_POINTS) ** 2 - mu_squared
        length = _length(c, full, mu_squared + extra)
        size = MOST_POINTS
    size = max(size, FEWEST_POINTS)
    return Plan(c, _short(2 * math.pi / width), size, extra, epsilon, math.sqrt(full))


def line_for_delta(product: Product, log_delta: float) -> float:
    """The real part whose saddle point has about this delta."""

    def above(c: float) -> bool:
        value, mean, variance = product.cumulants(c)
        epsilon = mean - 1 / c - 1 / (c + 1)
        if epsilon < 0:
            return True
        full = variance + 1 / c**2 + 1 / (c + 1) ** 2
        return _log_delta(value, c, epsilon, full) > log_delta

    return _last(above)


def line_for_epsilon(product: Product, epsilon: float) -> float:
    """The real part whose saddle point is at this epsilon."""

    def below(c: float) -> bool:
        _, mean, _ = product.cumulants(c)
        return mean - 1 / c - 1 / (c + 1) < epsilon

    return _last(below)


def _last(left_of: Callable[[float], bool]) -> float:
    """The line where `left_of` ends, if it holds up to some line; found from the middle, whatever was asked before."""
    low, high, step = -30 * LINES, 30 * LINES, LINES
    middle = 0
    while high - low > 1:
        if left_of(math.exp2(middle / LINES)):
            low = middle
            middle = min(low + step, (low + high + 1) // 2)
        else:
            high = middle
            middle = max(high - step, (low + high) // 2)
        step *= 2
    return math.exp2(low / LINES)


def _log_delta(value: float, c: float, epsilon: float, full: float) -> float:
    return value - c * epsilon - math.log(c) - math.log1p(c) - 0.5 * math.log(2 * math.pi * full)


def _width(product: Product, c: float, epsilon: float, log_delta: float) -> float:
    """A distance W of aliases so large that delta(epsilon + n W) e^(c n W) is negligible for n = 1 and n = -1.

    By Chernoff's bound, with any other c': ln of it is at most ln M(c') - c' epsilon - |c' - c| W.
    """
    widths = {-1: (NEGLIGIBLE - log_delta) / c, 1: math.inf}
    for side in (-1, 1):
        for quarter in range(1, 25):
            other = c * 2.0 ** (side * quarter / 4)
            value, _, _ = product.cumulants(other)
            bound = value - other * epsilon - math.log1p(other) + other * math.log(other / (1 + other))
            needed = (bound - log_delta + NEGLIGIBLE) / abs(other - c)
            if needed > widths[side]:
                break
            widths[side] = needed
    return max(widths.values())


def _length(c: float, full: float, mu_squared: float) -> float:
    """Where what is cut off is negligible against delta, for Gaussian noise of that much."""
    target = -math.log(c) - math.log1p(c) - 0.5 * math.log(2 * math.pi * full) - NEGLIGIBLE
    mu = math.sqrt(mu_squared)
    scaled = 3.0
    while -scaled * scaled / 2 - math.log(math.pi * scaled**3 / mu) > target:
        scaled += 0.125
    return scaled / mu


def _short(step: float) -> float:
    """A float just above the step with few bits, so that its multiples by integers below 2^17 are floats."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(math.ldexp(mantissa, _STEP_BITS)), exponent - _STEP_BITS)


def _round(value: float, to_whole: Callable[[float], int]) -> float:
    """The next power of 2^(1/8): plans of almost equal products are equal, and share transforms."""
    return math.exp2(to_whole(8 * math.log2(value)) / 8) if 0 < value < math.inf else value
