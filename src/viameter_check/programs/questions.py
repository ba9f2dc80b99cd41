"""Questions: obligations are put to the solver clause by clause together and, where that fails, one at a time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from viameter_check.programs.facts import Facts
from viameter_check.programs.frame import placed
from viameter_check.programs.preconditions import Clause, Obligation
from viameter_check.programs.report import Discharged
from viameter_check.programs.showing import show
from viameter_check.programs.solving import FAILS, HOLDS, Answer, Solver
from viameter_check.programs.terms import Term, truth
from viameter_check.report import Failure, Refused

MOST_SECONDS = 60.0
"""How long all questions of a certificate may take together."""
_MOST_FAILURES = 3


@dataclass(slots=True)
class Questions:
    """What was asked so far, and what came of it."""

    solver: Solver = field(default_factory=Solver)
    started: float = field(default_factory=time.perf_counter)
    discharged: list[Discharged] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def ask(self, path: str, obligation: Obligation, facts: Facts) -> None:
        """Discharge an obligation, or list what of it does not hold."""
        started = time.perf_counter()
        goals = [clause for clause in obligation.goals if clause.term is not truth(True)]
        failed: list[Failure] = []
        together = self._asked(obligation, [clause.term for clause in goals], facts)
        if together.outcome != HOLDS:
            for clause in goals:
                answer = self._asked(obligation, [clause.term], facts)
                if answer.outcome != HOLDS and len(failed) < _MOST_FAILURES:
                    failed.append(Failure(_place(path, clause), _failing(obligation, clause, answer)))
                if len(failed) == _MOST_FAILURES:
                    break
        self.failures += failed
        if not failed:
            seconds, count = time.perf_counter() - started, len(obligation.goals)
            self.discharged.append(Discharged(path, obligation.line, obligation.rule, obligation.what, count, seconds))

    def holds(self, hypotheses: Sequence[Term], goals: Sequence[Term], facts: Facts) -> bool:
        """Whether all goals follow; what is not decided does not."""
        return self._answer(hypotheses, goals, facts).outcome == HOLDS

    def satisfiable(self, terms: Sequence[Term], facts: Facts) -> bool | None:
        """Whether something satisfies the terms and the facts about them; None where that is not decided."""
        self._require_time()
        return self.solver.satisfiable([*terms, *facts.about(terms)])

    def _asked(self, obligation: Obligation, goals: Sequence[Term], facts: Facts) -> Answer:
        return self._answer(obligation.hypotheses, goals, facts)

    def _answer(self, hypotheses: Sequence[Term], goals: Sequence[Term], facts: Facts) -> Answer:
        if not goals:
            return Answer(HOLDS)
        self._require_time()
        return self.solver.holds([*hypotheses, *facts.about([*hypotheses, *goals])], goals)

    def _require_time(self) -> None:
        if time.perf_counter() - self.started > MOST_SECONDS:
            raise Refused(f"could not be decided: the questions take more than {MOST_SECONDS:g} seconds")


def _place(path: str, clause: Clause) -> str:
    # Claims and mechanisms belong to the certificate, and all else to the proof.
    return clause.place if clause.place.startswith(("claim", "mechanisms")) else placed(path, clause.place)


def _failing(obligation: Obligation, clause: Clause, answer: Answer) -> str:
    when = f"line {obligation.line}, " if obligation.line else ""
    about = f"{clause.what} (line {clause.line})" if clause.line not in (0, obligation.line) else clause.what
    if answer.outcome != FAILS:
        return f"{when}{obligation.what}: could not be decided: {about}: {show(clause.term)}"
    values = f"; it fails where {answer.values}" if answer.values else ""
    return f"{when}{obligation.what}: does not hold: {about}: {show(clause.term)}{values}"
