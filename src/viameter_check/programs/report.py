"""What is said of a program's certificate: the statement that was checked, each obligation, and how long it took."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter_check.programs.claims import Claim
from viameter_check.programs.relations import Runs
from viameter_check.programs.showing import show
from viameter_check.programs.syntax import Program
from viameter_check.programs.words import words_of
from viameter_check.report import Report


@dataclass(frozen=True, slots=True)
class Discharged:
    """One obligation that the solver has proved."""

    path: str
    line: int
    rule: str
    what: str
    clauses: int
    seconds: float

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        clauses = "1 clause" if self.clauses == 1 else f"{self.clauses} clauses"
        return f"{self.path}{line}, {self.rule}: {self.what} ({clauses}, {1000 * self.seconds:.0f} ms)"


@dataclass(frozen=True, slots=True)
class ProgramReport(Report):
    """The outcome of the check of a program's certificate."""

    obligations: tuple[Discharged, ...] = ()
    """What was proved, in the order in which it was asked."""
    solver: str = ""

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        listed = [
            {"path": one.path, "line": one.line, "rule": one.rule, "what": one.what, "clauses": one.clauses,
             "seconds": one.seconds}
            for one in self.obligations
        ]  # fmt: skip
        return {**Report.to_json(self), "solver": self.solver, "obligations": listed}

    def __str__(self) -> str:
        if not self.ok:
            return Report.__str__(self)
        seconds = sum(one.seconds for one in self.obligations)
        lines = [
            self.statement,
            f"Discharged by {self.solver} in {seconds:.2f} s, by {', '.join(self.theorems)}:",
            *(f"  * {one}" for one in self.obligations),
        ]
        for title, entries in (("Taken on trust:", self.claims), ("Remarks:", self.remarks)):
            if entries:
                lines += [title, *(f"  * {entry}" for entry in entries)]
        return "\n".join([*lines, "OK"])


def statement_of(runs: Runs, claim: Claim, noise: str) -> str:
    """What was checked, in words that are made from it: the program, the claim, adjacency, the noise."""
    program, words = runs.program, words_of(runs)
    lines = [
        f"Program {program.name} is private in {claim.words}.",
        f"It returns {program.output}: {program.output_sort}{_on(program.output_grid)}.",
        *([f"Adjacent inputs, in words: {words}."] if words else []),
        f"Adjacent inputs, as they were checked: {_formally(runs)}.",
    ]
    wanted = [show(fact) for fact in program.requires]
    wanted += [f"{show(fact)} for every {name}[any.k]" for name, fact in program.each]
    if wanted:
        lines.append(f"Whoever runs it must see to: {'; '.join(wanted)}.")
    if program.budgets:
        lines.append(f"Budgets, each any number above 0: {', '.join(sorted(program.budgets))}.")
    return "\n".join([*lines, f"Noise: {noise}."])


def _formally(runs: Runs) -> str:
    program, relation = runs.program, runs.relation
    private = ", ".join(_input(program, name) for name in sorted(relation.private)) or "nothing"
    parts = [f"private is {private}"]
    if runs.public:
        parts.append(f"the same in both runs is {', '.join(_input(program, name) for name in sorted(runs.public))}")
    if program.lists:
        parts.append("lists keep their length")
    facts = [show(fact) for fact in relation.facts]
    facts += [f"{show(fact)} for every any.k from 0 below len({name})" for name, fact in relation.each]
    some = f"for some integers {', '.join(relation.constants)}: " if relation.constants else ""
    return "; ".join([*parts, some + "; ".join(facts)] if facts else parts)


def _input(program: Program, name: str) -> str:
    return f"{name}: {program.inputs[name]}{_on(program.grids[name])}"


def _on(grid: Fraction) -> str:
    return "" if grid == 1 else f" in steps of {grid}"
