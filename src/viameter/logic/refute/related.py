"""Whether two inputs are neighbors: the formulas of an adjacency, evaluated on them.

A search guesses pairs of inputs and trusts none of its guesses: only what this file says yes to is a witness.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product

from viameter.errors import ParameterError
from viameter.logic.exact import Value, evaluate, read_inputs
from viameter.logic.lang.core import ANY, Program
from viameter.logic.lang.terms import App, Num, Term, Var, apply, variables
from viameter.logic.neighbors import Neighbors

_MOST_GUESSES = 20_000
"""How many values of logical constants are tried; if none of them fits, the pair counts as unrelated."""


def admissible(program: Program, inputs: Mapping[str, Value]) -> bool:
    """Whether inputs are what a program requires."""
    if not all(evaluate(term, inputs) for term in program.requires):
        return False
    return all(
        evaluate(term, {**inputs, ANY.name: at}) for name, term in program.each for at in range(_length(inputs[name]))
    )


def related(program: Program, neighbors: Neighbors, first: Mapping[str, object], second: Mapping[str, object]) -> bool:
    """Whether the first run's inputs and the second's are neighbors, and both are what the program requires.

    True is certain. Logical constants must exist: values are tried, so that False may mean that none was found.
    """
    one, two = read_inputs(program, first), read_inputs(program, second)
    for name, value in one.items():
        other = two[name]
        if name not in neighbors.private and value != other:
            return False
        if isinstance(value, tuple) and isinstance(other, tuple) and len(value) != len(other):
            return False
    if not (admissible(program, one) and admissible(program, two)):
        return False
    memory: dict[str, Value] = {name: value for name, value in one.items() if name not in neighbors.private}
    for name in neighbors.private:
        memory[f"{name}<1>"], memory[f"{name}<2>"] = one[name], two[name]
    lengths = {name: len(value) for name, value in one.items() if isinstance(value, tuple)}
    facts = [_settled(fact, lengths) for fact in _instances(neighbors, lengths)]
    names = set(neighbors.constants)
    free = [fact for fact in facts if not names & {var.name for var in variables(fact)}]
    if not all(evaluate(fact, memory) for fact in free):
        return False
    bound = [fact for fact in facts if names & {var.name for var in variables(fact)}]
    return not bound or any(
        all(evaluate(fact, {**memory, **guess}) for fact in bound)
        for guess in _guesses(neighbors.constants, (*one.values(), *two.values()))
    )


def _instances(neighbors: Neighbors, lengths: Mapping[str, int]) -> Iterator[Term]:
    yield from neighbors.facts
    for name, fact in neighbors.each:
        if name not in lengths:
            raise ParameterError(f"the adjacency speaks of each element of {name!r}, which is no list of the program")
        for at in range(lengths[name]):
            yield _settled(fact, {}, {ANY.name: at})


def _settled(term: Term, lengths: Mapping[str, int], values: Mapping[str, int] | None = None) -> Term:
    """A term with lengths, which have no side, and variables put in."""
    match term:
        case App("len", (Var(name=name),)) if name in lengths:
            return Num(lengths[name])
        case Var(name=name) if values and name in values:
            return Num(values[name])
        case App(op, args):
            return apply(op, tuple(_settled(arg, lengths, values) for arg in args))
    return term


def _guesses(constants: tuple[str, ...], values: Iterable[Value]) -> Iterator[dict[str, int]]:
    """Values that logical constants may have: indices first, then numbers near those of the inputs."""
    numbers: dict[int, None] = {}
    for value in values:
        entries = value if isinstance(value, tuple) else (int(value),)
        numbers.update(dict.fromkeys(range(-1, len(entries) + 1)))
    for value in values:
        for entry in value if isinstance(value, tuple) else (int(value),):
            numbers.update(dict.fromkeys((entry, entry - 1, entry + 1, -entry)))
    for guess in islice(product(numbers, repeat=len(constants)), _MOST_GUESSES):
        yield dict(zip(constants, guess, strict=True))


def _length(value: Value) -> int:
    return len(value) if isinstance(value, tuple) else 0
