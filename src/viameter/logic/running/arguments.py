"""Arguments of a program's measurement: budgets, public inputs and lengths, read exactly and refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from viameter.arith import as_given, exact, whole
from viameter.core import NotAMember, Space
from viameter.errors import ParameterError, plain
from viameter.logic.lang.core import Program
from viameter.logic.running.claims import Known
from viameter.logic.running.domains import described, read_value
from viameter.logic.running.values import Value
from viameter.spaces import VectorDomain

RESERVED = ("verdict", "length", "space")
"""Names that `measurement` takes for itself."""


def read_arguments(
    program: Program, private: frozenset[str], given: Mapping[str, Any], *, length: Any, space: Space | None
) -> Known:
    """What was given by name, read; all budgets are needed, public inputs may be given, and private ones are data."""
    inputs = [entry.name for entry in program.inputs]
    taken = sorted({*inputs, *program.budgets}.intersection(RESERVED))
    if taken:
        raise ParameterError(
            f"program {program.name} calls an input {taken[0]!r}, which measurement(...) needs: rename it"
        )
    strange = sorted(private.difference(inputs))
    if strange or not private:
        raise ParameterError(f"program {program.name} has no private input {', '.join(strange) or 'at all'}")
    for name in given:
        if name in private:
            raise ParameterError(f"{name} is private: it is the data of the measurement, and not given when it is made")
        if name not in inputs and name not in program.budgets:
            public = [name for name in inputs if name not in private]
            raise ParameterError(
                f"program {program.name} has no parameter {name!r}: its budgets are {_listed(program.budgets)}, its "
                f"public inputs {_listed(public)}"
            )
    budgets = {name: _budget(program, name, given) for name in program.budgets}
    values = {entry.name: _public(entry, given[entry.name]) for entry in program.inputs if entry.name in given}
    return Known(budgets, values, _lengths(program, private, values, length, space))


def _listed(names: Any) -> str:
    return ", ".join(names) or "none"


def _budget(program: Program, name: str, given: Mapping[str, Any]) -> Fraction:
    if name not in given:
        raise ParameterError(f'program {program.name} needs its budget {name}: give it, as in {name}="1/2"')
    budget = exact(given[name], name=name)
    if budget <= 0:
        raise ParameterError(f"{name}={as_given(given[name])} is not above 0: a budget is positive")
    return budget


def _public(entry: Any, value: Any) -> Value:
    try:
        return read_value(entry, value)
    except NotAMember as reason:
        raise ParameterError(f"{entry.name}={plain(value)}: expected {described(entry)}; {reason}") from None


def _lengths(
    program: Program, private: frozenset[str], values: Mapping[str, Value], length: Any, space: Space | None
) -> dict[str, int]:
    """The lengths of lists that are data, where they were fixed; a bare number is that of the private list."""
    lists = [entry.name for entry in program.inputs if entry.sort == "list" and entry.name not in values]
    secret = [name for name in lists if name in private]
    size = space.domain.size if isinstance(space, Space) and isinstance(space.domain, VectorDomain) else None
    if length is None:
        return {} if size is None or len(lists) != 1 else {lists[0]: size}
    if isinstance(length, Mapping):
        strange = [name for name in length if name not in lists]
        if strange:
            raise ParameterError(f"length: {strange[0]!r} is no list among the data; those are {_listed(lists)}")
        found = {name: whole(length[name], name=f"length of {name}") for name in lists if name in length}
    elif len(secret) == 1:
        found = {secret[0]: whole(length, name="length")}
    else:
        raise ParameterError(f"length={plain(length)}: the private lists are {_listed(secret)}; write {{name: 10}}")
    if size is not None and found != {lists[0]: size}:
        raise ParameterError(f"length={plain(length)} is not the size of the space, {size}")
    return found
