"""A refutation: two neighboring inputs, an event and budgets at which a claim fails, for anyone to check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from viameter.errors import ParameterError
from viameter.logic.exact import Bounds, Budget, Exponent
from viameter.logic.lang.scales import Amount
from viameter.logic.lang.text import show_program
from viameter.logic.refute.claims import factor_of
from viameter.logic.refute.gap import Gap
from viameter.logic.refute.written import shown

_OTHER_BITS = 19


@dataclass(frozen=True, slots=True)
class Witness:
    """P1(event) > e^claim * P2(event) + delta, by a lower bound on P1 and upper bounds on e^claim and P2."""

    gap: Gap
    claim: Amount
    factor: Bounds
    """e^claim at the inputs and budgets of the gap."""

    def __post_init__(self) -> None:
        if not breaks(self.gap, self.factor):
            raise ParameterError(f"this gap does not refute the claim {self.claim}")

    def recheck(self) -> bool:
        """Compute everything again, with windows of another size: neighbors, e^claim, and both probabilities."""
        gap = self.gap
        effort = replace(
            gap.effort,
            bits=gap.effort.bits + _OTHER_BITS,
            window=None if gap.effort.window is None else gap.effort.window + _OTHER_BITS,
        )
        again = gap.again(effort)
        agree = all(
            one.low <= two.high and two.low <= one.high for one, two in ((gap.p1, again.p1), (gap.p2, again.p2))
        )
        return agree and gap.adjacent and breaks(again, factor_of(self.claim, gap.first, gap.budgets))

    def text(self) -> str:
        """For people."""
        claim = f"{self.claim}" if self.gap.delta == 0 else f"{self.claim} at delta {self.gap.delta}"
        surplus = "" if self.gap.delta == 0 else f" + {self.gap.delta}"
        head = f"REFUTED: {self.gap.program.name} does not have privacy loss {claim}"
        last = f"  e^({self.claim}) {'=' if self.factor.exact else '<='} {shown(self.factor.high, up=True)}, and"
        return "\n".join([head, *self.gap.lines()[1:], f"{last} P1 > e^({self.claim}) * P2{surplus}"])

    def __str__(self) -> str:
        return self.text()

    def paste(self) -> str:
        """Python text that computes both probabilities again and checks the inequality."""
        gap = self.gap
        budgets = ", ".join(f"{name!r}: {_python(budget)}" for name, budget in gap.budgets.items())
        goal = f", goal={gap.event[0]!r}" if len(gap.event) == 1 and isinstance(gap.event[0], tuple) else ""
        effort = f"Effort(window={gap.effort.window}, bits={gap.effort.bits}, states={gap.effort.states})"
        return (
            "from fractions import Fraction\n\n"
            "from viameter.logic.exact import Effort, Exponent, distribution\n"
            "from viameter.logic.lang.parsing import read_program\n\n"
            f'program = read_program("""{show_program(gap.program)}""")\n'
            f"budgets = {{{budgets}}}\n"
            f"effort = {effort}\n"
            f"first = distribution(program, {dict(gap.first)!r}, budgets, effort=effort{goal})\n"
            f"second = distribution(program, {dict(gap.second)!r}, budgets, effort=effort{goal})\n"
            f"event = {gap.event!r}\n"
            f"factor = {_python(self.factor.high)}  # e^({self.claim}){'' if self.factor.exact else ', rounded up'}\n"
            f"delta = {_python(gap.delta)}\n"
            "p1, p2 = first.probability(*event).low, second.probability(*event).high\n"
            "assert p1 > factor * p2 + delta\n"
            'print(f"P1 >= {float(p1):.6g}, P2 <= {float(p2):.6g}, e^claim = {float(factor):.6g}")\n'
        )

    def to_json(self) -> dict[str, Any]:
        """As a record of texts and numbers."""
        return {
            "format": "viameter program witness",
            "version": 1,
            "claim": str(self.claim),
            "factor": str(self.factor.high),
            **self.gap.to_json(),
        }


def breaks(gap: Gap, factor: Bounds) -> bool:
    """Whether a gap refutes a claim of which e^claim is known."""
    return gap.p1_low > factor.high * gap.p2_high + gap.delta


def _python(number: Budget) -> str:
    if isinstance(number, Exponent):
        return f"Exponent({_python(number.base)}, {number.times})"
    return f"Fraction({Fraction(number).numerator}, {Fraction(number).denominator})"
