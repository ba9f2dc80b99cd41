"""Annotations: what a proof adds to its text, line by line, so that the rules can be applied without search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viameter_check.programs.frame import by_line, inside, read_line, read_list
from viameter_check.programs.reading import read_term
from viameter_check.programs.relations import Runs
from viameter_check.programs.scopes import Scope
from viameter_check.programs.showing import show
from viameter_check.programs.syntax import (
    Choose,
    Exponential,
    Flip,
    Gaussian,
    If,
    Laplace,
    Sample,
    Statement,
    Uniform,
    While,
    statements_in,
)
from viameter_check.programs.terms import BOOL, INT, Term, number, truth, variable
from viameter_check.programs.walking import variables
from viameter_check.report import Refused

OUTCOME = variable("out.R")
"""The output that a pointwise proof speaks of."""

MOST_CLAUSES = 200


@dataclass(frozen=True, slots=True)
class Annotations:
    """Shifts and bounds of draws, branches that the runs take apart, invariants and variants of loops, by line."""

    shifts: Mapping[int, Term]
    bounds: Mapping[int, tuple[Term, ...]]
    split: frozenset[int]
    invariants: Mapping[int, tuple[Term, ...]]
    variants: Mapping[int, Term]

    def shift(self, draw: Sample) -> Term:
        """The shift of a draw; without one, both runs draw the same."""
        return self.shifts.get(draw.line, truth(False) if draw.sort == BOOL else number(0))


def cost(base: str) -> Term:
    """The ghost that counts what a base has cost so far."""
    return variable(f"cost.{base}")


def same(output: str) -> Term:
    """The ghost that says that an output list is the same in both runs."""
    return variable(f"same.{output}", BOOL)


def read_annotations(record: Mapping[str, Any], runs: Runs, bases: set[str], *, pointwise: bool) -> Annotations:
    """What a proof says of the lines of its text, each at a statement that it fits."""
    lines = {statement.line: statement for statement in statements_in(runs.program.body)}
    ghosts = {term.name: term.sort for term in (*map(cost, bases), *map(same, runs.program.outputs))}
    if pointwise:
        ghosts[OUTCOME.name] = INT
    found = _Lines(runs, lines, ghosts)
    read = Annotations(
        inside("shifts", by_line, record.get("shifts", {}), found.shift),
        inside("bounds", by_line, record.get("bounds", {}), found.bounds),
        inside("split", found.split, record.get("split", [])),
        inside("invariants", by_line, record.get("invariants", {}), found.invariant),
        inside("variants", by_line, record.get("variants", {}), found.variant),
    )
    for line, statement in lines.items():
        if isinstance(statement, While):
            _require(line, read.invariants, "invariants", "the loop has no invariant")
            _require(line, read.variants, "variants", "the loop has no variant")
        elif isinstance(statement, Sample) and isinstance(statement.law, Choose | Gaussian):
            _require(line, read.bounds, "bounds", "the draw has no bound")
    return read


def _require(line: int, known: Mapping[int, Any], name: str, message: str) -> None:
    if line not in known:
        raise Refused(f"line {line}: {message}", name)


@dataclass(frozen=True, slots=True)
class _Lines:
    runs: Runs
    lines: Mapping[int, Statement]
    ghosts: dict[str, str]

    def _draw(self, line: int, *laws: type) -> Sample:
        statement = self.lines.get(line)
        if not isinstance(statement, Sample) or not isinstance(statement.law, laws):
            raise Refused(f"line {line} has no draw of which this may be said")
        return statement

    def _scope(self, what: str) -> Scope:
        return self.runs.scope(what, self.ghosts)

    def shift(self, line: int, text: Any) -> Term:
        draw = self._draw(line, Laplace, Exponential, Gaussian, Flip, Uniform)
        term = read_term(text, self._scope("a shift"), draw.sort)
        first, second = (variable(draw.target, draw.sort, side) for side in (1, 2))
        if second in variables(term):
            raise Refused(f"a shift says where {show(second)} lies, and cannot speak of it")
        if first in variables(term) and not isinstance(draw.law, Laplace | Exponential):
            raise Refused(f"this shift cannot depend on {show(first)}, the value that is drawn")
        if isinstance(draw.law, Flip) and draw.law.probability in (0, 1) and term is not truth(False):
            raise Refused("an outcome is impossible: both runs must draw the same, with the shift false")
        return term

    def bounds(self, line: int, texts: Any) -> tuple[Term, ...]:
        draw = self._draw(line, Choose, Gaussian)
        count = 2 if isinstance(draw.law, Choose) else 1
        if len(read_list(texts)) != count:
            raise Refused(f"expected {count} bounds, not {len(texts)}")
        found = tuple(inside(f"[{n}]", read_term, text, self._scope("a bound"), INT) for n, text in enumerate(texts))
        if {draw.target} & {term.name for term in variables(*found)}:
            raise Refused(f"a bound cannot speak of {draw.target!r}, which is drawn here")
        return found

    def split(self, record: Any) -> frozenset[int]:
        lines = [inside(f"[{n}]", read_line, line) for n, line in enumerate(read_list(record))]
        for n, line in enumerate(lines):
            statement = self.lines.get(line)
            if not isinstance(statement, If):
                raise Refused(f"line {line} has no branch", f"[{n}]")
            if any(isinstance(part, Sample | While) for part in statements_in((*statement.then, *statement.orelse))):
                raise Refused(f"line {line}: the runs cannot part where values are drawn or loops are run", f"[{n}]")
        return frozenset(lines)

    def invariant(self, line: int, texts: Any) -> tuple[Term, ...]:
        self._loop(line)
        if len(read_list(texts)) > MOST_CLAUSES:
            raise Refused(f"has {len(texts)} clauses: this checker reads up to {MOST_CLAUSES}")
        return tuple(inside(f"[{n}]", read_term, text, self._scope("an invariant")) for n, text in enumerate(texts))

    def variant(self, line: int, text: Any) -> Term:
        self._loop(line)
        program = self.runs.program
        own = Scope("a variant, which is an expression of the program", {**program.inputs, **program.variables})
        return read_term(text, Scope(own.what, own.shared, lists=program.lists), INT)

    def _loop(self, line: int) -> None:
        if not isinstance(self.lines.get(line), While):
            raise Refused(f"line {line} has no loop")
