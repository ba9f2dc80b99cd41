"""Two neighboring inputs, an event and its probability on either: a lower bound on what a program leaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended, dyadic
from viameter.errors import ParameterError
from viameter.logic.exact import Bounds, Budget, Effort, Exponent, Output, Value, distribution
from viameter.logic.exact.powers import real_of
from viameter.logic.lang.core import Program
from viameter.logic.lang.text import show_program
from viameter.logic.neighbors import Neighbors
from viameter.logic.refute.related import related
from viameter.logic.refute.written import shown, shown_inputs, shown_output

_BITS = 64


@dataclass(frozen=True, slots=True)
class Gap:
    """An event is more likely on the `first` inputs than on the `second`, by what two bounds on probabilities say.

    `lost` is the part of the second bound that stands for executions with noise beyond the window.
    """

    program: Program
    neighbors: Neighbors
    budgets: Mapping[str, Budget]
    first: Mapping[str, Value]
    second: Mapping[str, Value]
    event: tuple[Output, ...]
    p1: Bounds
    p2: Bounds
    lost: Fraction
    effort: Effort
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not self.event:
            raise ParameterError("a gap needs an event of at least one output")
        if not self.adjacent:
            raise ParameterError(f"these inputs of program {self.program.name} are not known to be neighbors")

    @property
    def adjacent(self) -> bool:
        """Whether the inputs are neighbors, in either order."""
        return related(self.program, self.neighbors, self.first, self.second) or related(
            self.program, self.neighbors, self.second, self.first
        )

    @property
    def p1_low(self) -> Fraction:
        """At least so likely on the first inputs."""
        return self.p1.low

    @property
    def p2_high(self) -> Fraction:
        """At most so likely on the second inputs."""
        return self.p2.high

    @property
    def loss(self) -> Extended:
        """The program's epsilon at delta is at least this much, at these budgets (rounded down)."""
        surplus = self.p1_low - self.delta
        if surplus <= 0:
            return Fraction(0)
        if self.p2_high == 0:
            return INFINITY
        return max(Fraction(0), dyadic.log_down(surplus / self.p2_high, bits=_BITS))

    @property
    def ratio(self) -> Extended:
        """The loss as a multiple of the program's one budget: exact if it can be told, else rounded down."""
        if len(self.program.budgets) != 1:
            raise ParameterError(f"program {self.program.name} has {len(self.program.budgets)} budgets: expected one")
        (name,) = self.program.budgets
        loss, budget = self.loss, self.budgets[name]
        if not isinstance(loss, Fraction) or loss == 0:
            return loss
        high = real_of(name, self.budgets).bounds()[1]
        below = dyadic.div_down(loss, high, bits=_BITS)
        if isinstance(budget, Exponent):
            steps = round(below * budget.times)
            if self.p1_low - self.delta == self.p2_high * budget.base**steps:
                return Fraction(steps, budget.times)
        return below

    def again(self, effort: Effort) -> Gap:
        """The same gap, computed anew with another effort."""
        return measured(
            self.program, self.neighbors, self.budgets, self.first, self.second, self.event, effort, delta=self.delta
        )

    def lines(self) -> list[str]:
        """As text: what was run, on what, and how likely the event is."""
        budgets = ", ".join(f"{name} = {budget}" for name, budget in self.budgets.items())
        loss = self.loss
        found = [
            f"program {self.program.name}",
            *([f"  with {budgets}"] if budgets else []),
            f"  inputs 1: {shown_inputs(self.first)}",
            f"  inputs 2: {shown_inputs(self.second)}",
            f"  neighbors: {self.neighbors.says or 'by the formulas given'}",
            f"  event: the output is {' or '.join(map(shown_output, self.event))}",
            f"  P1 {'=' if self.p1.exact else '>='} {shown(self.p1_low, up=False)}",
            f"  P2 {'=' if self.p2.exact else '<='} {shown(self.p2_high, up=True)}"
            + (f" (of which {shown(self.lost, up=True)} for noise beyond the window)" if self.lost else ""),
        ]
        if loss == INFINITY:
            return [*found, "  loss: infinite, the event is impossible on inputs 2"]
        share = ""
        if len(self.program.budgets) == 1:
            share = f" = {shown(self.ratio, up=False)} * {self.program.budgets[0]}"
        return [*found, f"  loss: at least {shown(loss, up=False)}{share}"]

    def to_json(self) -> dict[str, Any]:
        """As a record of texts and numbers."""
        return {
            "program": show_program(self.program),
            "neighbors": self.neighbors.to_json(),
            "budgets": {name: str(budget) for name, budget in self.budgets.items()},
            "inputs": [_plain(self.first), _plain(self.second)],
            "event": [list(output) if isinstance(output, tuple) else output for output in self.event],
            "p1": [str(self.p1.low), str(self.p1.high)],
            "p2": [str(self.p2.low), str(self.p2.high)],
            "lost": str(self.lost),
            "delta": str(self.delta),
            "loss": "inf" if self.loss == INFINITY else str(self.loss),
            "window": self.effort.window,
            "bits": self.effort.bits,
        }


def measured(
    program: Program,
    neighbors: Neighbors,
    budgets: Mapping[str, Budget],
    first: Mapping[str, Value],
    second: Mapping[str, Value],
    event: tuple[Output, ...],
    effort: Effort,
    *,
    delta: Fraction = Fraction(0),
) -> Gap:
    """The gap that an event shows, computed exactly on both inputs; by the effort's deadline, or else it is small."""
    goal = event[0] if len(event) == 1 and isinstance(event[0], tuple) else None
    one = distribution(program, first, budgets, effort=effort, goal=goal)
    two = distribution(program, second, budgets, effort=effort, goal=goal)
    p1, p2 = one.probability(*event), two.probability(*event)
    return Gap(
        program, neighbors, dict(budgets), dict(first), dict(second), event, p1, p2,
        two.above.slack(event), replace(effort, deadline=None), delta,
    )  # fmt: skip


def _plain(inputs: Mapping[str, Value]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in inputs.items()}
