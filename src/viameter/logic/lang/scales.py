"""Scales and claims: how wide noise is, and what a program is said to cost, with the budgets' names kept as symbols.

A scale is a positive rational times public factors, divided by a budget: `4*N/eps`. Its inverse is what one step of
shift costs. What a proof adds up is kept apart by *base*: a budget's name (`eps`), `1` for a bare number, `ln(3)` for
the logarithm of a rational, `rho` for concentrated loss and `delta`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from viameter.errors import ParameterError, plain
from viameter.logic.lang.terms import Num, Term, mul, show, sort_of

_LOGARITHM = re.compile(r"ln\((\d+)(?:/([1-9]\d*))?\)", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def logarithm_of(base: str) -> Fraction | None:
    """The rational whose logarithm a base is, or None if it is no logarithm.

    >>> logarithm_of("ln(3/2)"), logarithm_of("eps")
    (Fraction(3, 2), None)
    """
    found = _LOGARITHM.fullmatch(base)
    return None if found is None else Fraction(int(found[1]), int(found[2] or 1))


def check_base(base: str) -> None:
    """A base stands for a number above 0: `1`, a name (of a budget, `rho`, `delta`), or ln(r) with r > 1.

    What is spent is compared base by base, which bounds the sum only where no base is negative: `ln(1/2)` is.
    """
    logarithm = logarithm_of(base) if isinstance(base, str) else None
    if logarithm is not None and (logarithm <= 1 or base != f"ln({logarithm})"):
        raise ParameterError(f"{base} is no base of costs: expected ln(r) of a number r > 1, in lowest terms")
    if logarithm is None and base != "1" and not (isinstance(base, str) and _NAME.fullmatch(base)):
        raise ParameterError(f"{base!r} is no base of costs: expected '1', a budget's name or ln(r) with r > 1")


@dataclass(frozen=True, slots=True)
class Monomial:
    """coefficient * factors, to be multiplied with or divided by a base: a scale, or one term of a claim.

    Factors are integer terms over public inputs, sorted by their text; they are positive wherever the program runs,
    which is an obligation of every proof. The coefficient is never negative, and the base is a number above 0.
    """

    coefficient: Fraction
    factors: tuple[Term, ...] = ()
    base: str = "1"

    def __post_init__(self) -> None:
        check_base(self.base)
        if not isinstance(self.coefficient, Fraction) or self.coefficient < 0:
            raise ParameterError(
                f"{self.coefficient} times {self.base}: a scale, or a term of a bound, has an exact coefficient >= 0"
            )
        for factor in self.factors:
            if sort_of(factor) != "int":
                raise ParameterError(f"the factor {show(factor)} is {sort_of(factor)}: expected a whole number")

    @staticmethod
    def of(coefficient: Fraction, factors: tuple[Term, ...] = (), base: str = "1") -> Monomial:
        """With integers among the factors taken into the coefficient, and the rest sorted."""
        rest: list[Term] = []
        for factor in factors:
            if isinstance(factor, Num):
                coefficient *= factor.value
            else:
                rest.append(factor)
        return Monomial(Fraction(coefficient), tuple(sorted(rest, key=show)), base)

    def as_scale(self) -> str:
        """As the text of a scale: `4*N/eps`."""
        text = "*".join([str(self.coefficient), *map(_factor, self.factors)])
        text = text.removeprefix("1*") if self.factors else text
        return text if self.base == "1" else f"{text}/{self.base}"

    def as_amount(self) -> str:
        """As the text of an amount: `2*N*eps`."""
        if self.coefficient == 0:
            return "0"
        parts = [] if self.coefficient == 1 and (self.factors or self.base != "1") else [str(self.coefficient)]
        return "*".join([*parts, *map(_factor, self.factors), *([] if self.base == "1" else [self.base])])


def _factor(term: Term) -> str:
    return show(term, 8)


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of monomials, none of which can be negative: what a program is said to cost, such as `eps + 2*N*eps2`."""

    parts: tuple[Monomial, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        for part in self.parts:
            if type(part) is not Monomial:
                raise ParameterError(f"an amount is a sum of monomials, and {plain(part)} is none")

    def of_base(self, *bases: str) -> Amount:
        """The part of the amount that is counted in these bases."""
        return Amount(tuple(part for part in self.parts if part.base in bases))

    def __str__(self) -> str:
        return " + ".join(part.as_amount() for part in self.parts) or "0"


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit in which the cost of one base is counted: base / (number * factors), so that every count is whole."""

    number: int = 1
    factors: tuple[Term, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.number, bool) or not isinstance(self.number, int) or self.number < 1:
            raise ParameterError(f"a unit of cost has a whole number of at least 1, not {self.number!r}")

    @property
    def denominator(self) -> Term:
        """How many units make one of the base: a positive integer term over public inputs."""
        whole: Term = Num(self.number)
        for factor in self.factors:
            whole = mul(whole, factor)
        return whole

    def rate(self, scale: Monomial) -> Term:
        """What one step costs under noise of this scale, in units: denominator / scale."""
        whole: Term = Num(_whole(self.number / scale.coefficient))
        for factor in without(self.factors, scale.factors):
            whole = mul(whole, factor)
        return whole

    def count(self, amount: Monomial) -> Term:
        """An amount of the base, in units; its coefficient times the unit's number must be whole."""
        whole: Term = Num(_whole(self.number * amount.coefficient))
        for factor in (*self.factors, *amount.factors):
            whole = mul(whole, factor)
        return whole


def _whole(number: Fraction) -> int:
    # A fraction cut off here would be cost that nobody counts.
    if number.denominator != 1:
        raise ParameterError(f"the unit of cost is too coarse: {number} units is not whole")
    return number.numerator


def without(factors: tuple[Term, ...], gone: tuple[Term, ...]) -> tuple[Term, ...]:
    """The factors that are left when some are taken away."""
    rest = list(factors)
    for factor in gone:
        if factor not in rest:
            raise ParameterError(f"the unit of cost lacks the factor {show(factor)}")
        rest.remove(factor)
    return tuple(rest)


def unit_for(scales: list[Monomial], amounts: list[Monomial]) -> Unit:
    """The coarsest unit in which steps under each scale, and each amount, are whole numbers."""
    number = lcm(1, *(scale.coefficient.numerator for scale in scales), *(a.coefficient.denominator for a in amounts))
    factors: list[Term] = []
    for scale in scales:
        for factor in set(scale.factors):
            factors.extend([factor] * (scale.factors.count(factor) - factors.count(factor)))
    return Unit(number, tuple(sorted(factors, key=show)))
