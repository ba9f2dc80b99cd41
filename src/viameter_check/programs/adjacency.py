"""What must be true of adjacency itself: some inputs are adjacent, and both directions were proved."""

from __future__ import annotations

from viameter_check.programs.facts import Facts, at_any
from viameter_check.programs.questions import Questions
from viameter_check.programs.relations import Relation, Runs, swapped
from viameter_check.programs.terms import LIST, Term, make, number, variable, within
from viameter_check.report import Refused

_SOME = variable("(some index)")
"""Any index; no text can name it."""


def require_some_pair(questions: Questions, runs: Runs) -> list[str]:
    """Refuse adjacency that no inputs (with lists that are not empty) satisfy, and remark on what is odd about it."""
    facts = Facts(runs)
    lists = sorted(runs.program.lists)

    def with_element(index: int) -> list[Term]:
        """All lists have an element at the index, for which the facts about elements hold."""
        at = number(index)
        return [term for name in lists for term in (within(at, name), *facts.at(name, at))]

    if (found := questions.satisfiable(with_element(0), facts)) is False:
        raise Refused("no two inputs are adjacent: the facts contradict one another, so that nothing is proved")
    remarks = [] if found else ["whether any two inputs are adjacent could not be decided"]
    if lists and questions.satisfiable([*with_element(0), *with_element(1)], facts) is False:
        remarks.append("no two inputs with lists of two or more elements are adjacent")
    if questions.satisfiable([make("or", *_differences(runs))], facts) is False:
        remarks.append("adjacent inputs never differ, so that nothing is hidden")
    return remarks


def _differences(runs: Runs) -> list[Term]:
    found = []
    for name in sorted(runs.relation.private):
        one, two = runs.name(name, 1), runs.name(name, 2)
        if one.sort == LIST:
            one, two = make("read", one, _SOME), make("read", two, _SOME)
        found.append(make("!=", one, two))
    return found


def covers_both(questions: Questions, runs: Runs, last: Relation) -> bool:
    """Whether whatever is adjacent in the first relation is adjacent in the last one, with the runs exchanged.

    The constants of the first relation are taken for those of the last, name by name.
    """
    relation = runs.relation
    if last.private != relation.private or not set(last.constants) <= set(relation.constants):
        return False
    goals = swapped(last.facts)
    for name, fact in last.each:
        (here,) = at_any(swapped([fact]), _SOME)
        goals.append(make("=>", within(_SOME, name), here))
    return questions.holds([], goals, Facts(runs))
