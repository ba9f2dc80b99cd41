"""Adjacency: which pairs of inputs a program must not tell apart, as a relation between two runs' inputs.

Inputs that no adjacency names are public: the same in both runs. Lists keep their length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viameter.logic.lang.core import ANY, Program
from viameter.logic.lang.parsing import read_term
from viameter.logic.lang.terms import Sort, Term, Var, show, substitute, variables


@dataclass(frozen=True, slots=True)
class Neighbors:
    """A relation between the inputs of two runs.

    `facts` hold of the two runs' inputs; `each` holds of every element of a list, at index `any.k` within it; both may
    speak of logical `constants` (integers that exist for every related pair, such as the index where lists differ).
    """

    private: frozenset[str]
    facts: tuple[Term, ...] = ()
    each: tuple[tuple[str, Term], ...] = ()
    constants: tuple[str, ...] = ()
    says: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "private", frozenset(self.private))

    def swapped(self) -> Neighbors:
        """The same relation read from the second run to the first."""
        return Neighbors(
            self.private,
            tuple(_swap(fact) for fact in self.facts),
            tuple((name, _swap(fact)) for name, fact in self.each),
            self.constants,
            f"{self.says}, from the second run to the first",
        )

    def to_json(self) -> dict[str, Any]:
        """As a certificate keeps it; words are made from it by whoever reads it."""
        return {
            "private": sorted(self.private),
            "constants": list(self.constants),
            "facts": [show(fact) for fact in self.facts],
            "each": [[name, show(fact)] for name, fact in self.each],
        }


def stated(relation: Neighbors) -> str:
    """The relation as it is: its facts, one by one."""
    each = [f"each {name}: {show(fact)}" for name, fact in relation.each]
    some = f"for some {', '.join(relation.constants)}: " if relation.constants else ""
    return some + (", ".join([*map(show, relation.facts), *each]) or "anything")


def _swap(term: Term) -> Term:
    return substitute(term, {var: Var(var.name, var.sort, 3 - var.side) for var in variables(term) if var.side})


def sorts_of(program: Program, constants: tuple[str, ...] = ()) -> dict[str, Sort]:
    """The sorts of a program's inputs, of logical constants and of the index of any element."""
    sorts: dict[str, Sort] = {entry.name: entry.sort for entry in program.inputs}
    return {**sorts, **dict.fromkeys(constants, "int"), ANY.name: "int"}


def neighbors_from_json(record: Mapping[str, Any], program: Program) -> Neighbors:
    """The relation that a certificate keeps."""
    constants = tuple(record["constants"])
    sorts = sorts_of(program, constants)
    return Neighbors(
        frozenset(record["private"]),
        tuple(read_term(text, sorts) for text in record["facts"]),
        tuple((name, read_term(text, sorts)) for name, text in record["each"]),
        constants,
    )
