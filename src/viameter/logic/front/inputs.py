"""Inputs: what the types of parameters become in the core program: inputs, and facts about them."""

from __future__ import annotations

from collections.abc import Mapping

from viameter.logic.front.annotations import Declared
from viameter.logic.lang.core import ANY, Input
from viameter.logic.lang.terms import Num, Term, Var, eq, le, length, read

PRESENT = ".in"
"""Ends the name of the list that says which slots of a list are taken, where rows may be added or removed."""


def core_inputs(inputs: Mapping[str, Declared]) -> tuple[Input, ...]:
    """The inputs of the core program."""
    return tuple(
        Input(name, "list" if entry.shape == "list" else entry.kind.core, entry.kind.grid or Input("", "int").grid)
        for name, entry in inputs.items()
    )


def input_facts(inputs: Mapping[str, Declared], slots: frozenset[str]) -> tuple[Term, ...]:
    """What the types say of single inputs, and that a list of slots is as long as the list of its marks."""
    found = [
        fact
        for name, entry in inputs.items()
        if entry.shape == "scalar"
        for fact in _within(Var(name, entry.kind.core), entry)
    ]
    lengths = [eq(length(Var(name, "list")), length(Var(name + PRESENT, "list"))) for name in sorted(slots)]
    return (*found, *lengths)


def element_facts(name: str, entry: Declared) -> tuple[tuple[str, Term], ...]:
    """What the type of a list says of each of its elements."""
    return tuple((name, fact) for fact in _within(read(Var(name, "list"), ANY), entry))


def _within(term: Term, entry: Declared) -> list[Term]:
    if entry.low is None or entry.high is None:
        return []
    return [le(Num(entry.low), term), le(term, Num(entry.high))]
