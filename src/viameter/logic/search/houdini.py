"""Houdini: from candidates for invariants, drop those that are not kept, until the rest is inductive."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viameter.logic.deadline import milliseconds, tick
from viameter.logic.kernel.context import Context
from viameter.logic.lang.terms import TRUE, Term
from viameter.logic.search.forward import Forward, Goal, Owner, Segment
from viameter.logic.solving.z3bridge import Translator, instances, load


class _Segment:
    """One segment in a z3 solver: candidates as assumptions, goals as literals."""

    def __init__(self, context: Context, segment: Segment, most: int) -> None:
        z3 = self.z3 = load()
        tick()
        self.segment, self.milliseconds = segment, most
        translate = Translator(z3, exact=False)
        terms = [*context.facts(), *context.positive()]
        every = [*terms, *(t for t, _ in segment.hypotheses), *(g.term for g in segment.goals)]
        terms += instances(context, every)
        self.solver = z3.SolverFor("QF_UFLIA")
        self.solver.set("core.minimize", True)
        for term in terms:
            self.solver.add(translate(term))
        self.literals: dict[Owner, list[Any]] = {}
        for number, (term, owner) in enumerate(segment.hypotheses):
            if owner is None:
                self.solver.add(translate(term))
                continue
            literal = z3.Bool(f"assume.{number}")
            self.solver.add(z3.Implies(literal, translate(term)))
            self.literals.setdefault(owner, []).append(literal)
        self.owners = {str(lit): owner for owner, lits in self.literals.items() for lit in lits}
        self.goals = [(entry, translate(entry.term)) for entry in segment.goals]
        self.solver.add(*translate.facts)

    def broken(self, alive: set[Owner], goals: list[tuple[Goal, Any]]) -> tuple[list[Goal], str]:
        """Goals that fail under the candidates that are alive; empty if all hold."""
        z3 = self.z3
        if not goals:
            return [], "holds"
        self.solver.push()
        try:
            self.solver.add(z3.Or(*(z3.Not(term) for _, term in goals)))
            result = self._check(alive)
            if result == z3.unsat:
                return [], "holds"
            if result == z3.unknown:
                return [], "unknown"
            model = self.solver.model()
            failed = [g for g, term in goals if not z3.is_true(model.eval(term, model_completion=True))]
            return failed, "fails"
        finally:
            self.solver.pop()

    def _check(self, alive: set[Owner]) -> Any:
        tick()
        self.solver.set("timeout", milliseconds(self.milliseconds))
        return self.solver.check(*(lit for owner, lits in self.literals.items() if owner in alive for lit in lits))

    def core(self, alive: set[Owner], term: Any) -> set[Owner] | None:
        """Candidates that suffice for a goal, or None if it does not hold."""
        self.solver.push()
        try:
            self.solver.add(self.z3.Not(term))
            if self._check(alive) != self.z3.unsat:
                return None
            return {self.owners[str(lit)] for lit in self.solver.unsat_core()}
        finally:
            self.solver.pop()


@dataclass(frozen=True, slots=True)
class Found:
    """What is left: for each loop the candidates that suffice; or the goal that they do not reach."""

    invariants: Mapping[int, tuple[Term, ...]]
    missing: Goal | None


def eliminate(context: Context, forward: Forward, *, until: float, most: int = 3000) -> Found:
    """The candidates that are inductive together, cut down to what the other goals need."""
    atoms = forward.atoms
    alive: set[Owner] = {(line, number) for line, found in atoms.items() for number in range(len(found))}
    segments = [_Segment(context, segment, most) for segment in forward.segments]
    changed = True
    while changed and time.monotonic() < until:
        changed = False
        for segment in segments:
            while time.monotonic() < until:
                goals = [(g, t) for g, t in segment.goals if g.owner is not None and g.owner in alive]
                failed, verdict = segment.broken(alive, goals)
                if verdict == "unknown":
                    failed = _undecided(segment, alive, goals)
                if not failed:
                    break
                alive -= {g.owner for g in failed if g.owner is not None}
                changed = True
    if time.monotonic() >= until:
        return Found({}, Goal(TRUE, None, "the time for invariants is up", min(atoms, default=0)))
    needed: set[Owner] = set()
    for segment in segments:
        for entry, term in segment.goals:
            if entry.owner is None:
                used = segment.core(alive, term)
                if used is None:
                    return Found({}, entry)
                needed |= used
    todo = list(needed)
    while todo:
        owner = todo.pop()
        for segment in segments:
            for entry, term in segment.goals:
                if entry.owner == owner:
                    more = (segment.core(alive, term) or set()) - needed
                    needed |= more
                    todo += more
    _drop_spare(segments, needed)
    kept = {line: tuple(atom for n, atom in enumerate(found) if (line, n) in needed) for line, found in atoms.items()}
    return Found(kept, None)


def _drop_spare(segments: list[_Segment], needed: set[Owner]) -> None:
    """Take away, one after another, what the rest does not need: a short invariant is one that people read."""
    for owner in sorted(needed, reverse=True):
        rest = needed - {owner}
        for segment in segments:
            goals = [(g, t) for g, t in segment.goals if g.owner is None or g.owner in rest]
            if segment.broken(rest, goals)[1] != "holds":
                break
        else:
            needed.discard(owner)


def _undecided(segment: _Segment, alive: set[Owner], goals: list[tuple[Goal, Any]]) -> list[Goal]:
    return [entry for entry, term in goals if segment.broken(alive, [(entry, term)])[1] != "holds"]
