"""Inputs as a domain: where the library's own vectors and numbers do not say all that a program takes.

That is so where numbers lie on a grid, where more is required of them than bounds, and where public inputs are handed
over with the private ones. Members are dicts from names to integers of grid steps, truth values and tuples of integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from viameter.arith import exact
from viameter.core import Domain, NotAMember
from viameter.core.sealed import attempt
from viameter.errors import NumberError, ParameterError
from viameter.logic.lang.core import Input
from viameter.logic.running.facts import Fact
from viameter.logic.running.values import Value
from viameter.spaces import GREATEST_INT, LEAST_INT


@dataclass(frozen=True, repr=False, slots=True)
class ProgramDomain(Domain):
    """The inputs of a program that are data: one by itself, or several in a dict by name."""

    inputs: tuple[Input, ...]
    private: frozenset[str]
    facts: tuple[Fact, ...] = ()
    known: tuple[tuple[str, Value], ...] = ()
    """Public inputs that were given before and that facts speak of."""
    lengths: tuple[tuple[str, int], ...] = ()

    def admit(self, value: Any) -> dict[str, Value]:
        """The member; what is wrong with a public input is said by its name, and of private ones nothing is said."""
        wrong = self._wrong_in_public(value)
        if wrong is not None:
            raise ParameterError(wrong)
        admitted: dict[str, Value] = super(ProgramDomain, self).admit(value)
        return admitted

    def _wrong_in_public(self, value: Any) -> str | None:
        if len(self.inputs) == 1:
            return None
        found: dict[str, Value] = {}
        for entry in self.inputs:
            if entry.name in self.private:
                continue
            succeeded, part = attempt(lambda name: value[name], entry.name)
            if not succeeded:
                return f"the data have no {entry.name!r}: expected a dict with {self._names}"
            succeeded, member = attempt(read_value, entry, part)
            if not succeeded:
                return f"the public input {entry.name} is not what the program takes: expected {described(entry)}"
            found[entry.name] = member
        for fact in self.facts:
            needed = fact.reads | fact.measures
            if needed & found.keys() and needed <= found.keys() | dict(self.known).keys():
                succeeded, holds = attempt(fact.holds, {**dict(self.known), **found})
                if not (succeeded and holds):
                    return f"{', '.join(sorted(needed & found.keys()))}: the program requires {fact}"
        return None

    def _canonical(self, value: Any) -> dict[str, Value]:
        names = [entry.name for entry in self.inputs]
        if len(names) == 1:
            parts = {names[0]: value}
        elif isinstance(value, Mapping) and set(value) == set(names):
            parts = dict(value)
        else:
            raise NotAMember(f"it is not a dict with {self._names}")
        member: dict[str, Value] = {}
        for entry in self.inputs:
            try:
                member[entry.name] = read_value(entry, parts[entry.name])
            except NotAMember as reason:
                raise NotAMember(f"{entry.name}: {reason}") from None
        for name, length in self.lengths:
            items = member[name]
            if not isinstance(items, tuple) or len(items) != length:
                raise NotAMember(f"{name} is not of length {length}")
        values = {**dict(self.known), **member}
        for fact in self.facts:
            if not fact.holds(values):
                raise NotAMember(f"the program requires {fact}")
        return member

    @property
    def _names(self) -> str:
        return ", ".join(repr(entry.name) for entry in self.inputs)

    def __repr__(self) -> str:
        lengths = dict(self.lengths)
        parts = []
        for entry in self.inputs:
            public = "" if entry.name in self.private else "public "
            length = f" of length {lengths[entry.name]}" if entry.name in lengths else ""
            parts.append(f"{public}{entry.name}: {entry.sort}{length}{_grid(entry)}")
        parts += [f"requires {fact}" for fact in self.facts]
        parts += [f"where {name} = {value}" for name, value in self.known]
        return f"inputs({'; '.join(parts)})"


def described(entry: Input) -> str:
    """What an input takes, in words."""
    kind = "number" if entry.grid != 1 else "integer"
    where = f" that {'is a multiple' if entry.sort == 'int' else 'are multiples'} of {entry.grid}"
    where = where if entry.grid != 1 else ""
    return {"list": f"a list of {kind}s{where}", "int": f"an {kind}{where}", "bool": "True or False"}[
        entry.sort
    ].replace("an number", "a number")


def _grid(entry: Input) -> str:
    return "" if entry.grid == 1 else f" on {entry.grid}"


def read_value(entry: Input, value: Any) -> Value:
    """An input as integers of grid steps, or NotAMember without a word of what it was."""
    if entry.sort == "bool":
        if not isinstance(value, bool | np.bool_):
            raise NotAMember(f"it is of type {type(value).__name__}, not a truth value")
        return bool(value)
    if entry.sort == "int":
        return _steps(value, entry.grid)
    if isinstance(value, np.ndarray) and value.ndim == 1 and not isinstance(value, np.ma.MaskedArray):
        value = value.tolist()
    if not isinstance(value, list | tuple):
        raise NotAMember(f"it is of type {type(value).__name__}, not a list")
    items = tuple(_steps(item, entry.grid) for item in value)
    if items and not (min(items) >= LEAST_INT and max(items) <= GREATEST_INT):
        raise NotAMember("it has elements that do not fit into 64 bits")
    return items


def _steps(value: Any, grid: Fraction) -> int:
    """A number as a whole number of grid steps."""
    if grid == 1:
        if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
            raise NotAMember(f"a number is of type {type(value).__name__}, not an integer")
        return int(value)
    try:
        number = exact(value) / grid
    except NumberError:
        raise NotAMember(f"a number is of type {type(value).__name__} and not exact, or no number") from None
    if number.denominator != 1:
        raise NotAMember(f"a number is no multiple of {grid}")
    return number.numerator
