"""Weakest preconditions: what must hold before a block so that some clauses hold after it, in two runs at once.

The rules are applied from the last statement to the first. A loop gives its invariant, and obligations that make it
one. Whatever is drawn stands for any value of its range, by a variable that occurs nowhere else; no hypothesis of an
obligation speaks of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from viameter_check.programs.annotations import Annotations, same
from viameter_check.programs.draws import Draws
from viameter_check.programs.relations import Runs
from viameter_check.programs.syntax import RULE_OF, Append, Assign, Block, If, Sample, Statement, While
from viameter_check.programs.terms import Term, make, number, truth, variable
from viameter_check.programs.walking import substitute
from viameter_check.report import Refused

MOST_CLAUSES = 600


@dataclass(frozen=True, slots=True)
class Clause:
    """Something that must hold, where the certificate says so, and what it is for."""

    term: Term
    place: str
    what: str
    line: int


@dataclass(frozen=True, slots=True)
class Obligation:
    """Clauses that must follow from hypotheses (and from what is known of the inputs)."""

    line: int
    rule: str
    what: str
    hypotheses: tuple[Term, ...]
    goals: tuple[Clause, ...]


@dataclass(slots=True)
class Preconditions:
    """The rules for one proof, and the obligations of the loops that were passed."""

    runs: Runs
    annotations: Annotations
    draws: Draws
    obligations: list[Obligation] = field(default_factory=list)

    def before(self, block: Block, after: list[Clause]) -> list[Clause]:
        """What must hold before a block so that the clauses hold after it."""
        for statement in reversed(block):
            after = self._before(statement, after)
            if len(after) > MOST_CLAUSES:
                raise Refused(
                    f"line {statement.line}: more than {MOST_CLAUSES} clauses must hold here", f"text[{statement.line}]"
                )
        return after

    def _before(self, statement: Statement, after: list[Clause]) -> list[Clause]:
        match statement:
            case Assign() | Append():
                return with_values(after, self._effect(statement, (1, 2)))
            case Sample():
                return self._drawn(statement, after)
            case If() if statement.line in self.annotations.split:
                for side in (2, 1):
                    after = with_values(after, self._effect(statement, (side,)))
                return after
            case If():
                return self._together(statement, after)
            case While():
                return self._loop(statement, after)

    def _drawn(self, draw: Sample, after: list[Clause]) -> list[Clause]:
        found = self.draws.of(draw)
        rule = RULE_OF[type(draw.law)]
        needs = [Clause(term, _where(where, draw), f"{rule}: {what}", draw.line) for where, what, term in found.needs]
        later = [
            clause if moved.term is clause.term else replace(moved, term=make("=>", found.range, moved.term))
            for clause, moved in zip(after, with_values(after, found.values), strict=True)
        ]
        return needs + later

    def _together(self, branch: If, after: list[Clause]) -> list[Clause]:
        """Both runs take the same branch."""
        first, second = self._tests(branch.test)
        line = branch.line
        agree = Clause(make("==", first, second), f"text[{line}]", "cond: both runs take the same branch", line)
        taken = self.before(branch.then, after), self.before(branch.orelse, after)
        # What must hold before either branch is said once.
        always = {clause.term for clause in taken[0]} & {clause.term for clause in taken[1]}
        found = {clause.term: clause for clause in [agree, *(c for c in taken[0] if c.term in always)]}
        for guard, clauses in zip((first, make("not", first)), taken, strict=True):
            for clause in clauses:
                if clause.term not in always:
                    term = make("=>", guard, clause.term)
                    found.setdefault(term, replace(clause, term=term))
        return list(found.values())

    def _loop(self, loop: While, after: list[Clause]) -> list[Clause]:
        line, (first, second) = loop.line, self._tests(loop.test)
        invariant = [
            Clause(term, f"invariants[{line}][{n}]", "the invariant", line)
            for n, term in enumerate(self.annotations.invariants[line])
        ]
        (one,), (two,) = (self.runs.in_run(side, self.annotations.variants[line]) for side in (1, 2))
        holds = tuple(clause.term for clause in invariant)
        running = (*holds, first, second)
        place = f"variants[{line}]"

        def oblige(what: str, hypotheses: Iterable[Term], goals: Iterable[Clause]) -> None:
            self.obligations.append(Obligation(line, "while", what, tuple(hypotheses), tuple(goals)))

        agree = Clause(make("==", first, second), f"invariants[{line}]", "both tests agree", line)
        oblige("both tests agree", holds, [agree])
        above = [Clause(make("<=", number(1), term), place, "the variant is at least 1", line) for term in (one, two)]
        oblige("the variant is at least 1 while the loop runs", running, above)
        old = self.draws.fresh(what="variant before"), self.draws.fresh(what="variant before")
        less = [
            Clause(make("<", term, before), place, "the variant decreases", line)
            for term, before in zip((one, two), old, strict=True)
        ]
        kept = self.before(loop.body, [*invariant, *less])
        equal = (make("==", term, before) for term, before in zip((one, two), old, strict=True))
        oblige("the body keeps the invariant, and the variant decreases", (*running, *equal), kept)
        ended = (*holds, make("not", first), make("not", second))
        oblige("what comes after the loop follows from its invariant", ended, after)
        return invariant

    def _tests(self, test: Term) -> tuple[Term, Term]:
        return self.runs.in_run(1, test)[0], self.runs.in_run(2, test)[0]

    def _effect(self, statement: Statement, sides: tuple[int, ...]) -> dict[Term, Term]:
        """The values after a statement that draws nothing and has no loop, run on these sides only."""
        match statement:
            case Assign(target, value):
                return {
                    variable(target, value.sort, side): self.runs.in_run(side, value)[0] for side in sides
                }  # fmt: skip
            case Append(target, value):
                equal = truth(False)  # an element that one run alone appends makes the lists differ
                if len(sides) == 2:
                    equal = make("==", *(self.runs.in_run(side, value)[0] for side in sides))
                return {same(target): make("and", same(target), equal)}
            case If(test, then, orelse) if len(sides) == 1:
                (guard,) = self.runs.in_run(sides[0], test)
                taken, left = self._effects(then, sides), self._effects(orelse, sides)
                return {
                    name: make("ite", guard, taken.get(name, name), left.get(name, name)) for name in {**taken, **left}
                }
        raise Refused(f"line {statement.line}: the runs cannot part here", "split")

    def _effects(self, block: Block, sides: tuple[int, ...]) -> dict[Term, Term]:
        values: dict[Term, Term] = {}
        for statement in block:
            effect = self._effect(statement, sides)
            values |= dict(zip(effect, substitute(effect.values(), values), strict=True))
        return values


def with_values(clauses: list[Clause], values: Mapping[Term, Term]) -> list[Clause]:
    """The clauses with values for some variables."""
    terms = substitute([clause.term for clause in clauses], values)
    return [replace(clause, term=term) for clause, term in zip(clauses, terms, strict=True)]


def _where(name: str, draw: Sample) -> str:
    return name if name == "mechanisms" else f"{name}[{draw.line}]"
