"""Powers of e with exponents that are sums of rationals and of logarithms of rationals: exact, or between rationals.

A budget of 4 ln 2 makes exp(-1/scale) of every noise scale 1/eps, 2/eps or 4/eps a rational number, and so every
probability of a program that uses them. What is no rational is enclosed between two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm

import gmpy2  # type: ignore[import-untyped]

from viameter.arith import dyadic
from viameter.errors import ParameterError
from viameter.logic.lang.scales import Monomial, logarithm_of

PRECISION = 192
"""Bits of the rationals that enclose an irrational number."""
_LONGEST = 1 << 16
"""Longer numbers than this, in bits, are enclosed too."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A number between two rationals that are at least 0; equal ones are the number itself."""

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high:
            raise ParameterError(f"bounds {self.low} and {self.high}: expected 0 <= low <= high")

    @staticmethod
    def of(value: Fraction) -> Bounds:
        """The number itself."""
        return Bounds(value, value)

    @property
    def exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class Exponent:
    """The budget `times` * ln(`base`).

    >>> print(Exponent(Fraction(3, 2), 4))
    4*ln(3/2)
    """

    base: Fraction
    times: int = 1

    def __post_init__(self) -> None:
        if not self.base > 1:
            raise ParameterError(f"base={self.base} is not above 1: a budget is positive, and ln(base) is not")
        if isinstance(self.times, bool) or not isinstance(self.times, int) or self.times < 1:
            raise ParameterError(f"times={self.times!r}: expected an integer of at least 1")

    def __str__(self) -> str:
        return f"ln({self.base})" if self.times == 1 else f"{self.times}*ln({self.base})"


Budget = Exponent | Fraction
"""A positive budget: a rational multiple of a logarithm, or a rational."""


@dataclass(frozen=True, slots=True)
class Real:
    """The number `plain` + sum of times * ln(base) over `logs`."""

    plain: Fraction = Fraction(0)
    logs: tuple[tuple[Fraction, Fraction], ...] = ()
    """Pairs (base, times)."""

    def __add__(self, other: Real) -> Real:
        return Real(self.plain + other.plain, self.logs + other.logs)

    def __mul__(self, factor: Fraction | int) -> Real:
        return Real(self.plain * factor, tuple((base, times * factor) for base, times in self.logs))

    def bounds(self, bits: int = PRECISION) -> tuple[Fraction, Fraction]:
        """Rationals below and above it."""
        low = high = self.plain
        for base, times in self.logs:
            down, up = dyadic.log_down(base, bits=bits), dyadic.log_up(base, bits=bits)
            low, high = low + min(times * down, times * up), high + max(times * down, times * up)
        return low, high


def real_of(base: str, budgets: Mapping[str, Budget]) -> Real:
    """What a base of scales and amounts is worth: a budget's name, `1` or `ln(3/2)`."""
    if base == "1":
        return Real(Fraction(1))
    logarithm = logarithm_of(base)
    if logarithm is not None:
        return Real(logs=((logarithm, Fraction(1)),))
    if base not in budgets:
        raise ParameterError(f"no budget {base!r} is given; given: {', '.join(sorted(budgets)) or 'none'}")
    budget = budgets[base]
    if isinstance(budget, Exponent):
        return Real(logs=((budget.base, Fraction(budget.times)),))
    if not budget > 0:
        raise ParameterError(f"budget {base}={budget}: expected a positive number")
    return Real(Fraction(budget))


def times_of(monomial: Monomial, factors: list[int]) -> Fraction:
    """The number that multiplies a monomial's base, when its factors have these values."""
    number = monomial.coefficient
    for factor in factors:
        number *= factor
    return number


@lru_cache(maxsize=4096)
def power_of_e(exponent: Real) -> Bounds:
    """e to that power; exact if it is a rational that can be told as one.

    >>> power_of_e(Real(logs=((Fraction(4), Fraction(-1, 2)),)))
    Bounds(low=Fraction(1, 2), high=Fraction(1, 2))
    """
    exact = _exact_power(exponent)
    if exact is not None:
        return Bounds.of(exact)
    low, high = exponent.bounds()
    return Bounds(dyadic.exp_down(low, bits=PRECISION), dyadic.exp_up(high, bits=PRECISION))


def _exact_power(exponent: Real) -> Fraction | None:
    """e to that power if it is rational: a root of a product of powers, of not too many digits."""
    if exponent.plain != 0:
        return None
    root = lcm(1, *(times.denominator for _, times in exponent.logs))
    longest = sum(
        abs(times * root) * max(base.numerator.bit_length(), base.denominator.bit_length())
        for base, times in exponent.logs
    )
    if longest > _LONGEST:
        return None
    product = Fraction(1)
    for base, times in exponent.logs:
        product *= base ** int(times * root)
    top, whole = gmpy2.iroot(product.numerator, root)
    below, whole_below = gmpy2.iroot(product.denominator, root)
    return Fraction(int(top), int(below)) if whole and whole_below else None
