"""Amounts of cost in a context's units: what a step of noise costs, logarithms of ratios, deltas; if rounded, up."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from viameter.arith import dyadic
from viameter.errors import NoTheorem, ParameterError
from viameter.logic.kernel.context import Context
from viameter.logic.kernel.rules.fixed import Budget, loose_parts
from viameter.logic.lang.scales import Monomial, logarithm_of
from viameter.logic.lang.terms import Num, Term, mul, show

_FEW = 10_000
"""Counts up to this are made the least by trying the one below."""


def rate_of(context: Context, scale: Monomial, line: int) -> Term:
    """What one step costs under noise of a scale, in the context's unit; the scale must be public and positive."""
    loose = [part for factor in scale.factors for part in loose_parts(context, factor, public=True)]
    if loose or scale.coefficient <= 0:
        why = f"depends on {', '.join(loose)}" if loose else "is not positive"
        raise ParameterError(f"line {line}: the scale {scale.as_scale()} {why}: a scale is public and positive")
    unit = context.units.get(scale.base)
    if unit is None:
        raise ParameterError(f"line {line}: nothing is counted in {scale.base!r}; make units with units_for(...)")
    left = list(unit.factors)
    for factor in scale.factors:
        if factor not in left:
            raise ParameterError(f"line {line}: the unit of {scale.base!r} lacks the factor {show(factor)}")
        left.remove(factor)
    steps = unit.number / scale.coefficient
    if unit.number < 1 or steps.denominator != 1:
        raise ParameterError(f"line {line}: a step under {scale.as_scale()} is not a whole number of units")
    whole: Term = Num(int(steps))
    for factor in left:
        whole = mul(whole, factor)
    return whole


def units_in(context: Context, base: str) -> int:
    """How many units make one of a base that is counted in plain numbers."""
    unit = context.units.get(base)
    if unit is None:
        known = ", ".join(sorted(context.units)) or "nothing"
        raise ParameterError(f"nothing is counted in {base!r} here; counted are: {known}; name it in the claim")
    if unit.factors or unit.number < 1:
        raise ParameterError(f"the unit of {base!r} is not a plain number: expected one of at least 1, without factors")
    return unit.number


def plain_budget(context: Context, base: str, amount: Fraction) -> Budget:
    """An amount of a base that is counted in plain numbers, rounded up to whole units; none for 0."""
    return {base: Num(ceil(amount * units_in(context, base)))} if amount > 0 else {}


def logarithmic_budget(context: Context, ratio: Fraction) -> Budget:
    """ln(ratio), exactly in a base of its own if the context has one, else rounded up in units of another logarithm."""
    if ratio <= 1:
        return {}
    own = f"ln({ratio})"
    if own in context.units:
        return plain_budget(context, own, Fraction(1))
    found: list[tuple[Fraction, str, int]] = []
    for base in sorted(context.units):
        other = logarithm_of(base)
        if other is not None and not context.units[base].factors:
            number = units_in(context, base)
            count = ceil(number * dyadic.log_up(ratio) / dyadic.log_down(other))
            while 1 < count <= _FEW and other ** (count - 1) >= ratio**number:
                count -= 1
            found.append((count * dyadic.log_up(other) / number, base, count))
    if not found:
        raise NoTheorem(f"the cost is {own}, and no logarithm is counted here: name {own} in the claim")
    _, base, count = min(found)
    return {base: Num(count)}


def numbers_of(context: Context, budget: Budget) -> dict[str, Fraction]:
    """A budget of constants by base, as numbers of the base itself."""
    found: dict[str, Fraction] = {}
    for base, amount in budget.items():
        if not isinstance(amount, Num):
            raise ParameterError(f"the budget of {base!r}, {show(amount)}, is not a number")
        found[base] = Fraction(amount.value, units_in(context, base))
    return found


def ratio_of_steps(scale: Monomial) -> Fraction | None:
    """exp(-1/scale) if it is rational for sure: a scale of 1/(m ln r) without factors; else None.

    >>> ratio_of_steps(Monomial(Fraction(1, 2), (), "ln(3)"))
    Fraction(1, 9)
    """
    base = logarithm_of(scale.base)
    if base is None or scale.factors or scale.coefficient <= 0:
        return None
    times = 1 / scale.coefficient
    return base**-times.numerator if times.denominator == 1 else None


def ratio_of_steps_up(scale: Monomial, line: int) -> Fraction:
    """exp(-1/scale), exactly or rounded up, for a scale that is a number or has a logarithm below."""
    exact = ratio_of_steps(scale)
    if exact is not None:
        return exact
    base = Fraction(1) if scale.base == "1" else logarithm_of(scale.base)
    if base is None or scale.factors or scale.coefficient <= 0:
        raise NoTheorem(f"line {line}: the scale {scale.as_scale()} is not a number, so that no probability is known")
    rate = (base if scale.base == "1" else dyadic.log_down(base)) / scale.coefficient
    return dyadic.exp_up(-rate)
