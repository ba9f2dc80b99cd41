"""Programs, adjacencies and verdicts as tests need them: texts of the core language, and stand-ins for the prover."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import viameter as vm
from viameter.logic.certificate import mechanisms_of
from viameter.logic.claims import Claim
from viameter.logic.front.adjacency import Adjacency
from viameter.logic.front.adjacent import all_differ, one_differs
from viameter.logic.lang.core import Program
from viameter.logic.lang.parsing import read_amount, read_program
from viameter.logic.lang.scales import Amount
from viameter.logic.lang.text import show_program
from viameter.logic.neighbors import sorts_of
from viameter.logic.running import measurement
from viameter.logic.verdict import Status, Verdict
from viameter.logic.verify import _ISSUED


@dataclass(frozen=True)
class Function:
    """A program under its decorator."""

    core: Program
    adjacent: Adjacency

    @property
    def name(self) -> str:
        return self.core.name


def program(*lines: str) -> Program:
    return read_program("\n".join(lines))


def amount(text: str, core: Program) -> Amount:
    return read_amount(text, frozenset(core.budgets), sorts_of(core))


def claimed(text: str, core: Program, *, measure: str = "pure", delta: str | None = None) -> Claim:
    """A claim from its parts."""
    more = {} if delta is None else {"delta": delta}
    return Claim.from_json({"measure": measure, "amount": text, **more}, core)


def document(function: Any, claim: Claim) -> dict[str, Any]:
    """A certificate that nobody has proved: the parts of it that a measurement looks at."""
    return {
        "format": "viameter program certificate",
        "program": show_program(function.core),
        "claim": claim.to_json(),
        "mechanisms": mechanisms_of(function.core),
        "proofs": [{"neighbors": relation.to_json()} for relation in function.adjacent.directions(function.core)],
        "digest": "5c1e" * 16,
    }


def verdict(function: Any, claim: Claim) -> Verdict:
    """A verdict as if `verify` had given it: put where it keeps those that it gave, which only it does."""
    made = Verdict(status=Status.PROVED, program=function.core.name, bound=claim.shown, adjacency="as the test says")
    _ISSUED[made] = json.dumps(document(function, claim))
    return made


LAPLACE = program(
    "program laplace",
    "input x: int",
    "budget eps",
    "begin",
    "noise :=$ lap(2/eps)",
    "out := x + noise",
    "end",
    "return out",
)

ABOVE = program(
    "program above_threshold", "input q: list", "input t: int", "budget eps", "begin",
    "noise :=$ lap(2/eps)", "noisy := t + noise", "out := -1", "i := 0", "done := false",
    "while not done and i < len(q) do", "y :=$ lap(4/eps)",
    "if noisy <= q[i] + y then", "out := i", "done := true", "end", "i := i + 1", "end", "end", "return out",
)  # fmt: skip

RESPONSE = program(
    "program response", "input b: bool", "begin", "c :=$ flip(3/4)", "out := b == c", "end", "return out"
)

HISTOGRAM = program(
    "program noisy_histogram", "input q: list", "budget eps", "begin", "i := 0",
    "while i < len(q) do", "y :=$ lap(1/eps, q[i])", "append(out, y)", "i := i + 1", "end", "end", "return out",
)  # fmt: skip

EVERY = all_differ("q")
ONE = one_differs("q")


SPARSE = program(
    "program sparse", "input q: list", "input N: int", "input t: int", "budget eps", "requires 1 <= N",
    "requires N <= t", "begin", "y :=$ lap(2*N/eps)", "out := y + N + t + q[0]", "end", "return out",
)  # fmt: skip

GRID = """
def noisy(q: list[vm.Between(0, 1, grid="1/100")], eps: vm.Eps) -> vm.Grid("1/100"):
    s = q[0] + q[1]
    return s + vm.lap(1 / eps)
"""

LIST = vm.Space(vm.vectors(int), vm.LInfDistance())


def proved(core: Program, adjacent: Adjacency, bound: str = "eps", **given: Any) -> Any:
    """The measurement of a program that is taken as proved."""
    function = Function(core, adjacent)
    return measurement(function, verdict=verdict(function, claimed(bound, core)), **given)
