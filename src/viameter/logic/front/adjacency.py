"""Kinds of adjacency, and what each says of a program's inputs in two runs.

Each of these has `private` (the names of inputs that may differ), `slots` (lists of which rows may be added or
removed) and `directions(program)`: the relation as `Neighbors`, and the other way around if that is another relation.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from viameter.errors import ParameterError
from viameter.logic.front.inputs import PRESENT
from viameter.logic.front.related import relation
from viameter.logic.lang.core import ANY, Input, Program
from viameter.logic.lang.terms import (
    Num,
    Sort,
    Term,
    Var,
    add,
    eq,
    implies,
    le,
    length,
    lt,
    magnitude,
    ne,
    read,
    sub,
)
from viameter.logic.neighbors import Neighbors

SIDED = re.compile(r"([A-Za-z_]\w*)<[12]>", re.ASCII)
"""A variable of one of the two runs."""


class Adjacency(ABC):
    """A relation between the inputs of two runs, as a user says it."""

    __slots__ = ()

    @property
    @abstractmethod
    def private(self) -> frozenset[str]:
        """The inputs that two runs may differ in."""

    @property
    def slots(self) -> frozenset[str]:
        """The lists of which rows may be added or removed."""
        return frozenset()

    @abstractmethod
    def directions(self, program: Program) -> tuple[Neighbors, ...]:
        """The relation for a program's inputs; both ways, if it is not symmetric."""


@dataclass(frozen=True, slots=True)
class Differing(Adjacency):
    """An input of which every element (or one) differs by at most `by`; None means by anything."""

    name: str
    by: Fraction | None
    monotone: bool
    one: bool

    @property
    def private(self) -> frozenset[str]:
        """The input itself."""
        return frozenset({self.name})

    def directions(self, program: Program) -> tuple[Neighbors, ...]:
        """The relation; if it is monotone, up and down."""
        entry = private_input(program, self.name)
        if self.one and entry.sort != "list":
            raise ParameterError(
                f'{self.name} is no list, and one_differs is about lists: use all_differ("{self.name}")'
            )
        steps = self._steps(entry)
        at = Var(f"{self.name}.at")
        facts = [le(Num(0), at), lt(at, length(entry.var))] if self.one else []
        each: list[Term] = []
        first, second = _sides(entry)
        if self.one:
            each.append(implies(ne(ANY, at), eq(first, second)))
        if entry.sort == "bool":
            each += [implies(first, second)] if self.monotone else []
            each += [eq(first, second)] if steps == 0 else []
        elif self.monotone:
            each += [le(first, second)] + ([] if steps is None else [le(sub(second, first), Num(steps))])
        elif steps is not None:
            each.append(le(magnitude(sub(first, second)), Num(steps)))
        if entry.sort != "list":
            facts, each = [*facts, *each], []
        found = Neighbors(
            self.private, tuple(facts), tuple((self.name, fact) for fact in each),
            (at.name,) if self.one else (), self._says(entry),
        )  # fmt: skip
        return (found, found.swapped()) if self.monotone else (found,)

    def _steps(self, entry: Input) -> int | None:
        if self.by is None:
            return None
        steps = self.by / entry.grid
        if steps.denominator != 1:
            raise ParameterError(f"by={self.by} is no multiple of the grid of {entry.name}, which is {entry.grid}")
        return int(steps)

    def _says(self, entry: Input) -> str:
        amount = "by anything" if self.by is None else f"by at most {self.by}"
        which = "one element of " if self.one else "every element of " if entry.sort == "list" else ""
        return f"{which}{self.name} differs {amount}" + (", upwards" if self.monotone else "")


@dataclass(frozen=True, slots=True)
class Related(Adjacency):
    """A relation that is given as text over `x<1>` and `x<2>`."""

    text: str

    @property
    def private(self) -> frozenset[str]:
        """The names that occur with a side."""
        return frozenset(SIDED.findall(self.text))

    def directions(self, program: Program) -> tuple[Neighbors, ...]:
        """The relation, and the other way around unless that states the same facts."""
        for name in sorted(self.private):
            private_input(program, name)
        facts, each = relation(self.text, program, self.private)
        found = Neighbors(self.private, facts, each, (), self.text)
        other = found.swapped()
        same = set(found.facts) == set(other.facts) and set(found.each) == set(other.each)
        return (found,) if same else (found, other)


@dataclass(frozen=True, slots=True)
class AddedOrRemoved(Adjacency):
    """A list of which one row may be added or removed; the program goes over slots, of which some are taken."""

    name: str

    @property
    def private(self) -> frozenset[str]:
        """The list, and the list that says which of its slots are taken."""
        return frozenset({self.name, self.name + PRESENT})

    @property
    def slots(self) -> frozenset[str]:
        """The list."""
        return frozenset({self.name})

    def directions(self, program: Program) -> tuple[Neighbors, ...]:
        """Slots hold the same rows in both runs; one slot is taken in one of the runs only.

        Any two lists of which one has a row more are so related, for the slots of the longer one; and what a program
        does depends on the rows in the slots that are taken alone.
        """
        entry, marks = private_input(program, self.name), private_input(program, self.name + PRESENT)
        at = Var(f"{self.name}.at")
        first, second = _sides(entry)
        taken, other = _sides(marks)
        each = (
            (self.name, eq(first, second)),
            (marks.name, implies(ne(ANY, at), eq(taken, other))),
            (marks.name, implies(eq(ANY, at), eq(add(taken, other), Num(1)))),
        )
        facts = (le(Num(0), at), lt(at, length(entry.var)))
        return (Neighbors(self.private, facts, each, (at.name,), f"one row of {self.name} is added or removed"),)


@dataclass(frozen=True, slots=True)
class Together(Adjacency):
    """Several adjacencies on different inputs, which may all differ at once, each in either direction."""

    parts: tuple[Adjacency, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ParameterError("adjacent=(): expected at least one adjacency, such as vm.all_differ('q', by=1)")
        names = [name for part in self.parts for name in sorted(part.private)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ParameterError(f"several adjacencies are about {', '.join(twice)}: say all of an input in one")

    @property
    def private(self) -> frozenset[str]:
        """The inputs of all parts."""
        return frozenset().union(*(part.private for part in self.parts))

    @property
    def slots(self) -> frozenset[str]:
        """The lists of all parts."""
        return frozenset().union(*(part.slots for part in self.parts))

    def directions(self, program: Program) -> tuple[Neighbors, ...]:
        """Every direction of each with every direction of the others."""
        return tuple(
            Neighbors(
                self.private,
                tuple(fact for part in parts for fact in part.facts),
                tuple(fact for part in parts for fact in part.each),
                tuple(name for part in parts for name in part.constants),
                "; ".join(part.says for part in parts),
            )
            for parts in product(*(part.directions(program) for part in self.parts))
        )


def private_input(program: Program, name: str) -> Input:
    """The input of this name, which must be one."""
    if name in program.budgets:
        raise ParameterError(f"{name} is a budget of {program.name}, and budgets are public")
    entry = program.input(name)
    if entry is None and name.endswith(PRESENT):
        raise ParameterError(f"{program.name} has no list {name} of slots that are taken, which added_or_removed needs")
    if entry is None:
        known = ", ".join(known.name for known in program.inputs) or "none"
        raise ParameterError(f"{name} is no input of {program.name}; its inputs: {known}")
    return entry


def _sides(entry: Input) -> tuple[Term, Term]:
    """The input, or any element of it, in the first run and in the second."""
    sort: Sort = entry.sort
    first, second = Var(entry.name, sort, 1), Var(entry.name, sort, 2)
    return (read(first, ANY), read(second, ANY)) if sort == "list" else (first, second)
