"""Costs as people write them: `eps/4`, `2*eps/(3*N)`, `ln(3)`."""

from __future__ import annotations

from fractions import Fraction

from viameter.logic.lang.scales import Monomial, Unit
from viameter.logic.lang.terms import Term, show

MEASURED = {"rho": "rho", "delta": "delta", "1": "epsilon"}
"""Bases that are numbers, by what they are numbers of."""


def quotient(times: Fraction, base: str, factors: tuple[Term, ...] = ()) -> str:
    """times * base / factors; of a base that is a number, the number.

    >>> quotient(Fraction(3, 4), "eps"), quotient(Fraction(1, 4), "rho"), quotient(Fraction(2), "ln(3)")
    ('3*eps/4', '1/4', '2*ln(3)')
    """
    above = [str(times.numerator)] if times.numerator != 1 or base in MEASURED else []
    above += [] if base in MEASURED else [base]
    below = [str(times.denominator)] if times.denominator != 1 else []
    below += [show(factor, 8) for factor in factors]
    if not below:
        return "*".join(above)
    bottom = below[0] if len(below) == 1 else f"({'*'.join(below)})"
    return f"{'*'.join(above)}/{bottom}"


def inverse(scale: Monomial, times: Fraction = Fraction(1)) -> str:
    """What `times` steps cost under noise of a scale."""
    return quotient(times / scale.coefficient, scale.base, scale.factors)


def unit_text(base: str, unit: Unit) -> str:
    """The unit in which a base is counted."""
    return quotient(Fraction(1, unit.number), base, unit.factors)


def named(amount: str, base: str) -> str:
    """An amount with what it is an amount of, where that is not in it: `rho 1/200`."""
    return f"{MEASURED[base]} {amount}" if base in MEASURED else amount
