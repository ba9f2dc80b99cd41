"""Adjacency: a relation between the inputs of two runs, with the names that only one run, or both, know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from viameter_check.document import require_fields
from viameter_check.programs.frame import inside, read_list
from viameter_check.programs.reading import read_term
from viameter_check.programs.scopes import Scope, read_name
from viameter_check.programs.syntax import Program
from viameter_check.programs.terms import INT, Term, variable
from viameter_check.programs.texts import ANY, require_own_elements
from viameter_check.programs.walking import rebuilt
from viameter_check.report import Refused

MOST_FACTS = 200


@dataclass(frozen=True, slots=True)
class Relation:
    """Which pairs of inputs are adjacent: those for which there are constants with which all facts hold."""

    private: frozenset[str]
    """The inputs that may differ between the runs; all others, and the lengths of all lists, are the same."""
    constants: tuple[str, ...]
    facts: tuple[Term, ...]
    each: tuple[tuple[str, Term], ...]
    """Facts about every element of a list, at the index `any.k`."""
    text: str = field(compare=False)
    """All of that in the words of the certificate."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Two runs of a program on adjacent inputs: which names both share, and which each has for itself."""

    program: Program
    relation: Relation

    @property
    def public(self) -> dict[str, str]:
        """The inputs that are the same in both runs, with their sorts."""
        return {name: sort for name, sort in self.program.inputs.items() if name not in self.relation.private}

    @property
    def sided(self) -> dict[str, str]:
        """What each run has for itself: private inputs and the program's variables, with their sorts."""
        private = {name: self.program.inputs[name] for name in sorted(self.relation.private)}
        return {**private, **self.program.variables}

    def public_scope(self, what: str) -> Scope:
        """What may be known of the inputs without looking at what is private."""
        return Scope(what, self.public, lists=self.program.lists)

    def scope(self, what: str, ghosts: dict[str, str]) -> Scope:
        """What an assertion about the two runs may speak of."""
        shared = {**self.public, **dict.fromkeys(self.relation.constants, INT), **ghosts}
        return Scope(what, shared, self.sided, self.program.lists)

    def in_run(self, side: int, *terms: Term) -> list[Term]:
        """A program's own expressions as one run sees them: all but public inputs and lengths have the side."""
        public = self.public

        def leaf(term: Term) -> Term:
            return term if term.name in public else variable(term.name, term.sort, side)

        return rebuilt(terms, leaf, keep=("len",))

    def name(self, name: str, side: int) -> Term:
        """A variable or an input of the program in one run."""
        sort = {**self.program.inputs, **self.program.variables}[name]
        return self.in_run(side, variable(name, sort))[0]


def read_relation(record: Any, program: Program) -> Relation:
    """The adjacency of a proof."""
    # What older certificates say of it in words is not looked at: words are made from the relation.
    require_fields(record, ("private", "constants", "facts", "each"), optional=("says",))
    private = inside("private", _names, record["private"], program.inputs, "input")
    constants = tuple(
        inside(f"constants[{n}]", read_name, name, "a constant")
        for n, name in enumerate(inside("constants", read_list, record["constants"]))
    )
    taken = {*program.inputs, *program.variables, *program.outputs, *program.budgets}
    for n, name in enumerate(constants):
        if name in taken or constants.count(name) > 1:
            raise Refused(f"the name {name!r} stands for something else, too", f"constants[{n}]")
    shared = {name: sort for name, sort in program.inputs.items() if name not in private}
    shared |= dict.fromkeys(constants, INT)
    sided = {name: program.inputs[name] for name in private}
    facts, each = (inside(name, _short_list, record[name]) for name in ("facts", "each"))
    scope = Scope("a fact about adjacent inputs", shared, sided, program.lists)
    element = Scope("a fact about each element", {**shared, ANY: INT}, sided, program.lists)
    return Relation(
        frozenset(private),
        constants,
        tuple(inside(f"facts[{n}]", read_term, text, scope) for n, text in enumerate(facts)),
        tuple(inside(f"each[{n}]", _element, entry, element) for n, entry in enumerate(each)),
        _text(constants, facts, each),
    )


def _text(constants: tuple[str, ...], facts: list[Any], each: list[Any]) -> str:
    """The relation as metrics name it; for records that were read."""
    some = f"for some {', '.join(constants)}: " if constants else ""
    return some + (", ".join([*facts, *(f"each {name}: {fact}" for name, fact in each)]) or "anything")


def swapped(terms: Iterable[Term]) -> list[Term]:
    """Facts about two runs, with the runs exchanged."""
    return rebuilt(terms, lambda term: variable(term.name, term.sort, 3 - term.side) if term.side else term)


def _names(record: Any, known: Any, what: str) -> tuple[str, ...]:
    names = read_list(record)
    for n, name in enumerate(names):
        if not isinstance(name, str) or name not in known:
            raise Refused(f"is not an {what} of the program", f"[{n}]")
    return tuple(names)


def _short_list(record: Any) -> list[Any]:
    found = read_list(record)
    if len(found) > MOST_FACTS:
        raise Refused(f"has {len(found)} facts: this checker reads up to {MOST_FACTS}")
    return found


def _element(entry: Any, scope: Scope) -> tuple[str, Term]:
    if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str) or entry[0] not in scope.lists:
        raise Refused("expected an input list and a fact about each element of it")
    fact = read_term(entry[1], scope)
    require_own_elements(entry[0], fact)
    return entry[0], fact
