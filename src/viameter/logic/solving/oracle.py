"""The oracle that the kernel asks: does this obligation hold, and if not, for which two runs does it fail?"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from viameter.logic.deadline import milliseconds as left
from viameter.logic.deadline import tick
from viameter.logic.kernel.context import Context
from viameter.logic.kernel.judgment import Answer, Obligation
from viameter.logic.lang.terms import App, Num, Term, Var, not_, subterms
from viameter.logic.solving.z3bridge import Translator, instances, load


@dataclass(slots=True)
class Oracle:
    """Asks z3, for one context; what z3 cannot decide within the limit does not hold."""

    context: Context
    milliseconds: int = 5000
    asked: int = 0
    seconds: float = 0.0
    lemmas: tuple[Term, ...] | None = None
    known: dict[tuple[tuple[Term, ...], Term], Answer] = field(default_factory=dict)

    def ask(self, obligation: Obligation) -> Answer:
        """Whether the obligation follows from its hypotheses and what the context knows of inputs."""
        key = (obligation.hypotheses, obligation.goal)
        found = self.known.get(key)
        if found is None:
            begun = time.perf_counter()
            found = self.known[key] = self._decide(obligation)
            self.asked += 1
            self.seconds += time.perf_counter() - begun
        return found

    def ask_without_positivity(self, obligation: Obligation) -> Answer:
        """The same, without taking for known that factors of scales are positive: for showing just that."""
        return self._decide(obligation, known=())

    def _positive(self) -> tuple[Term, ...]:
        """That factors of scales are at least 1, as far as it follows from what the program requires."""
        if self.lemmas is None:
            goals = ((fact, Obligation((), fact, "", 0, "scale")) for fact in self.context.positive())
            self.lemmas = tuple(fact for fact, goal in goals if self.ask_without_positivity(goal).holds)
        return self.lemmas

    def _decide(self, obligation: Obligation, known: tuple[Term, ...] | None = None) -> Answer:
        tick()
        context = self.context
        known = self._positive() if known is None else known
        terms = [*context.facts(), *known, *obligation.hypotheses, not_(obligation.goal)]
        terms += instances(context, terms)
        answer = _check(terms, exact=False, milliseconds=self.milliseconds)
        if answer.holds or not _nonlinear(terms):
            return answer
        return _check(terms, exact=True, milliseconds=self.milliseconds)


def _nonlinear(terms: list[Term]) -> bool:
    for term in terms:
        for part in subterms(term):
            if isinstance(part, App):
                if part.op == "*" and not any(isinstance(arg, Num) for arg in part.args):
                    return True
                if part.op in ("//", "%") and not isinstance(part.args[1], Num):
                    return True
    return False


def _check(terms: list[Term], *, exact: bool, milliseconds: int) -> Answer:
    z3 = load()
    translate = Translator(z3, exact)
    solver = z3.SolverFor("QF_UFNIA" if exact else "QF_UFLIA")
    solver.set("timeout", left(milliseconds))
    for term in terms:
        solver.add(translate(term))
    solver.add(*translate.facts)
    result = solver.check()
    if result == z3.unsat:
        return Answer(True)
    if result == z3.unknown:
        return Answer(False, None, f"z3 could not decide it within {milliseconds} ms ({solver.reason_unknown()})")
    return Answer(False, _values(solver.model(), terms, translate), "")


def value_is_true(value: Any) -> bool:
    """A truth value of a model as Python's."""
    return bool(load().is_true(value))


def _values(model: Any, terms: list[Term], translate: Translator) -> dict[str, int | bool]:
    found: dict[str, int | bool] = {}
    for term in terms:
        for part in subterms(term):
            if isinstance(part, App) and part.op == "read":
                value, index = (model.eval(translate(t), model_completion=True) for t in (part, part.args[1]))
                found[f"{part.args[0]}[{index}]"] = value.as_long()
            elif (isinstance(part, Var) and part.sort == "int") or (isinstance(part, App) and part.op == "len"):
                found[str(part)] = model.eval(translate(part), model_completion=True).as_long()
            elif isinstance(part, Var) and part.sort == "bool":
                found[str(part)] = value_is_true(model.eval(translate(part), model_completion=True))
    return found
