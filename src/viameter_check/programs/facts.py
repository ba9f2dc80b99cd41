"""Facts: what is known of the inputs of two adjacent runs, as far as some terms need it.

Facts about each element of a list are said of every index at which a list is read, and of every logical constant; so
that no question has a quantifier. Leaving an instance out can only make a question harder to answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from viameter_check.programs.relations import Relation, Runs
from viameter_check.programs.terms import INT, LIST, Term, length, make, number, variable, within
from viameter_check.programs.texts import ANY
from viameter_check.programs.walking import parts, substitute

_ROUNDS = 3
MOST_INSTANCES = 400


@dataclass(frozen=True, slots=True)
class Facts:
    """Whatever holds of the inputs: what the program requires, in both runs; adjacency; factors that are at least 1."""

    runs: Runs
    adjacent: bool = True
    """Whether the relation may be used; else only what the program requires."""
    known: tuple[Term, ...] = field(default=())
    """Further facts that were proved before."""

    def about(self, terms: Iterable[Term]) -> list[Term]:
        """The facts that bear on some terms."""
        relation = self.runs.relation
        found = [fact for side in (1, 2) for fact in self.runs.in_run(side, *self.runs.program.requires)]
        found += [*self.known, *(relation.facts if self.adjacent else ())]
        found += [make("<=", number(0), length(name)) for name in sorted(self.runs.program.lists)]
        done: set[tuple[str, Term]] = set()
        fresh = [*terms, *found]
        for _ in range(_ROUNDS):
            wanted = [place for place in self._places(fresh, relation) if place not in done]
            fresh = [fact for name, index in wanted[: MOST_INSTANCES - len(done)] for fact in self.at(name, index)]
            done.update(wanted)
            found += fresh
            if not wanted or len(done) >= MOST_INSTANCES:
                break
        return list(dict.fromkeys(found))

    def at(self, name: str, index: Term) -> list[Term]:
        """What is known of a list at an index: facts about its elements within it, and 0 outside."""
        inside = within(index, name)
        elements = [fact for items, fact in self.runs.program.each if items == name]
        facts = [fact for side in (1, 2) for fact in self.runs.in_run(side, *elements)]
        if self.adjacent:
            facts += [fact for items, fact in self.runs.relation.each if items == name]
        found = [make("=>", inside, fact) for fact in at_any(facts, index)]
        for items in {self.runs.in_run(side, variable(name, LIST))[0] for side in (1, 2)}:
            found.append(make("or", inside, make("==", make("read", items, index), number(0))))
        return found

    def _places(self, terms: Iterable[Term], relation: Relation) -> list[tuple[str, Term]]:
        """Every list with every index at which it is read; logical constants are such indices."""
        found = [(term.args[0].name, term.args[1]) for term in parts(terms) if term.op == "read"]
        if self.adjacent:
            found += [(name, variable(at)) for name in sorted(self.runs.program.lists) for at in relation.constants]
        return list(dict.fromkeys(found))


def at_any(facts: Iterable[Term], index: Term) -> list[Term]:
    """Facts about each element, said of the one at an index."""
    # Run 1 and run 2 see any.k alike: it is an index, and no variable of theirs.
    return substitute(facts, {variable(ANY, INT, side): index for side in (0, 1, 2)})
