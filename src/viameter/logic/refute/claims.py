"""Claims at concrete inputs and budgets, and the budgets at which they are tried.

A budget is chosen so that every noise of the program, and e to the claim, is rational: eps = L ln(r), with L such that
each scale c/eps has a whole L/c.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import exp, lcm

from viameter.errors import ParameterError
from viameter.logic.exact import Bounds, Budget, Exponent, Real, Value, evaluate, power_of_e
from viameter.logic.exact.powers import real_of, times_of
from viameter.logic.lang.core import Choose, Exponential, Laplace, Program, Sample, statements_of
from viameter.logic.lang.scales import Amount, Monomial

TARGETS = (2.8, 1.4, 5.6, 11.2, 0.5)
"""How large budgets are about; some flaws show when a budget is large, some when it is small."""
_LARGEST_TIMES = 720


def cost_of(claim: Amount, inputs: Mapping[str, Value], budgets: Mapping[str, Budget]) -> Real:
    """What a claim amounts to at these inputs and budgets."""
    total = Real()
    for part in claim.parts:
        total += real_of(part.base, budgets) * _times(part, inputs)
    return total


def factor_of(claim: Amount, inputs: Mapping[str, Value], budgets: Mapping[str, Budget]) -> Bounds:
    """e to the power of a claim at these inputs and budgets."""
    return power_of_e(cost_of(claim, inputs, budgets))


def check_claim(claim: Amount, program: Program) -> None:
    """A claim must be an epsilon: a sum of budgets of the program, numbers and logarithms."""
    for part in claim.parts:
        if part.base != "1" and part.base not in program.budgets and not part.base.startswith("ln("):
            raise ParameterError(
                f"the claim {claim} has base {part.base!r}: expected a budget of program {program.name}, a number or "
                "a logarithm"
            )


def budgets_for(
    program: Program, claim: Amount | None, inputs: Mapping[str, Value], targets: Iterable[float] = TARGETS
) -> Iterator[dict[str, Budget]]:
    """Budgets of several sizes at which everything is rational; one without entries if the program has none."""
    if not program.budgets:
        yield {}
        return
    times = {name: _whole_times(name, program, claim, inputs) for name in program.budgets}
    seen: set[tuple[Fraction, ...]] = set()
    for target in targets:
        bases = {name: _near(exp(target / times[name])) for name in program.budgets}
        if tuple(bases.values()) not in seen:
            seen.add(tuple(bases.values()))
            yield {name: Exponent(bases[name], times[name]) for name in program.budgets}


def scales_of(program: Program) -> list[Monomial]:
    """The scales of a program's noise that a budget may divide."""
    return [
        statement.law.scale
        for statement in statements_of(program.body)
        if isinstance(statement, Sample) and isinstance(statement.law, Laplace | Exponential | Choose)
    ]


def _whole_times(name: str, program: Program, claim: Amount | None, inputs: Mapping[str, Value]) -> int:
    times = 1
    for scale in scales_of(program):
        if scale.base == name:
            times = lcm(times, _known_times(scale, inputs).numerator)
    for part in claim.parts if claim else ():
        if part.base == name:
            times = lcm(times, _known_times(part, inputs).denominator)
    # Beyond this budgets would be large whatever their base: irrational masses are then enclosed instead.
    return times if 1 <= times <= _LARGEST_TIMES else 1


def _known_times(monomial: Monomial, inputs: Mapping[str, Value]) -> Fraction:
    try:
        return abs(_times(monomial, inputs)) or Fraction(1)
    except ParameterError:  # a factor over variables of the program
        return abs(monomial.coefficient) or Fraction(1)


def _times(monomial: Monomial, inputs: Mapping[str, Value]) -> Fraction:
    return times_of(monomial, [_integer(evaluate(factor, inputs)) for factor in monomial.factors])


def _near(base: float) -> Fraction:
    """A simple rational above 1 near a number above 1."""
    if base >= 1.75:
        return Fraction(max(2, round(base)))
    return 1 + Fraction(1, max(1, round(1 / (base - 1))))


def _integer(value: Value) -> int:
    if isinstance(value, tuple):
        raise ParameterError(f"{value!r} is a list: expected an integer")
    return int(value)
