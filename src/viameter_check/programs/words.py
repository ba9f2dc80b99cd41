"""Adjacency in words, made from the relation that is checked: which of the usual kinds it is, if it is one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from viameter_check.programs.relations import Relation, Runs
from viameter_check.programs.syntax import Program
from viameter_check.programs.terms import BOOL, INT, LIST, Term, length, make, number, variable
from viameter_check.programs.texts import ANY
from viameter_check.programs.walking import parts

MARKS = ".in"
"""Ends the name of the list that says which slots of a list are taken, where rows are added or removed."""
Stated = tuple[list[Term], list[tuple[str, Term]]]
"""Facts, and facts about each element of a list."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How one private input differs: every element of it or one, either way or upwards, by so many steps of its grid.

    `steps` is None where it may differ by anything. With `rows`, a row of the list is there in one of the runs only.
    """

    name: str
    one: bool = False
    upwards: bool = False
    steps: int | None = None
    rows: bool = False


def kind_of(program: Program, relation: Relation) -> Kind | None:
    """The kind that a relation is, fact by fact; None if it is none of them."""
    private, found = sorted(relation.private), (set(relation.facts), set(relation.each))
    if len(private) == 2 and private[1] == private[0] + MARKS and len(relation.constants) == 1:
        facts, each = _rows(private[0], variable(relation.constants[0]))
        return Kind(private[0], rows=True) if found == (set(facts), set(each)) else None
    if len(private) != 1:
        return None
    for kind in _candidates(private[0], relation):
        constants = [variable(name) for name in relation.constants]
        if len(constants) != kind.one or (kind.one and program.inputs[kind.name] != LIST):
            continue
        facts, each = _differing(program, kind, constants)
        if found == (set(facts), set(each)):
            return kind
    return None


def _candidates(name: str, relation: Relation) -> Iterator[Kind]:
    terms = parts([*relation.facts, *(fact for _, fact in relation.each)])
    numbers: Iterable[int] = {term.leaf for term in terms if term.is_literal and term.sort == INT}
    for steps in (None, *sorted(numbers)):
        for one in (False, True):
            for upwards in (False, True):
                yield Kind(name, one, upwards, steps)


def _differing(program: Program, kind: Kind, constants: list[Term]) -> Stated:
    sort = program.inputs[kind.name]
    first, second = (variable(kind.name, sort, side) for side in (1, 2))
    if sort == LIST:
        first, second = (make("read", items, variable(ANY)) for items in (first, second))
    facts: list[Term] = []
    each: list[Term] = []
    if kind.one:
        facts += _inside(constants[0], kind.name)
        each.append(make("=>", make("!=", variable(ANY), constants[0]), make("==", first, second)))
    most = None if kind.steps is None else number(kind.steps)
    if sort == BOOL:
        each += [make("=>", first, second)] if kind.upwards else []
    elif kind.upwards:
        each += [make("<=", first, second), *([] if most is None else [make("<=", make("-", second, first), most)])]
    elif most is not None:
        each.append(make("<=", make("abs", make("-", first, second)), most))
    return (facts, [(kind.name, fact) for fact in each]) if sort == LIST else ([*facts, *each], [])


def _rows(name: str, at: Term) -> Stated:
    """The slots hold the same rows; one slot is taken in one of the runs only, and all others alike."""
    k = variable(ANY)
    rows, marks = ([make("read", variable(items, LIST, side), k) for side in (1, 2)] for items in (name, name + MARKS))
    here = make("==", make("+", *marks), number(1))
    return _inside(at, name), [
        (name, make("==", *rows)),
        (name + MARKS, make("=>", make("!=", k, at), make("==", *marks))),
        (name + MARKS, make("=>", make("==", k, at), here)),
    ]


def _inside(at: Term, name: str) -> list[Term]:
    return [make("<=", number(0), at), make("<", at, length(name))]


def words_of(runs: Runs) -> str:
    """The relation in words; empty if it is none of the usual kinds."""
    kind = kind_of(runs.program, runs.relation)
    if kind is None:
        return ""
    if kind.rows:
        return f"one row of {kind.name} is added or removed"
    many = runs.program.inputs[kind.name] == LIST
    which = "one element of " if kind.one else "every element of " if many else ""
    by = "by anything" if kind.steps is None else f"by at most {kind.steps * runs.program.grids[kind.name]}"
    return f"{which}{kind.name} differs {by}{', upwards, or the other way around' if kind.upwards else ''}"
