"""Predicates on one value, for filters: total, and a function of that value alone."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from viameter.arith import Number, exact, floats
from viameter.errors import ParameterError, plain
from viameter.spaces import GREATEST_INT, LEAST_INT, Array, FloatDomain, IntDomain, ScalarDomain, read_list


class Predicate(ABC):
    """A yes or no for every value of a domain; combined with `&`, `|` and `~`."""

    @abstractmethod
    def check(self, domain: ScalarDomain) -> None:
        """Refuse a domain whose values the predicate cannot judge."""

    @abstractmethod
    def mask(self, values: Array) -> Array:
        """Which values of an array it holds for."""

    def __and__(self, other: Predicate) -> Predicate:
        return Both(self, other) if isinstance(other, Predicate) else NotImplemented

    def __or__(self, other: Predicate) -> Predicate:
        return ~(~self & ~other) if isinstance(other, Predicate) else NotImplemented

    def __invert__(self) -> Predicate:
        return self.holds_not if isinstance(self, Not) else Not(self)


@dataclass(frozen=True, slots=True, repr=False)
class Between(Predicate):
    """The value is a number in [lower, upper]; NaN is in none."""

    lower: Fraction | None
    upper: Fraction | None

    def check(self, domain: ScalarDomain) -> None:
        """Numbers only."""
        if not isinstance(domain, IntDomain | FloatDomain):
            raise ParameterError(f"{self!r} compares numbers, not {plain(domain)}")

    def mask(self, values: Array) -> Array:
        """Which numbers are in between, compared exactly."""
        holds = np.ones(len(values), dtype=bool)
        whole = values.dtype.kind == "i"
        if self.lower is not None:
            least = max(math.ceil(self.lower), LEAST_INT) if whole else floats.from_fraction_up(self.lower)
            holds &= (values >= least) if least <= GREATEST_INT or not whole else False
        if self.upper is not None:
            greatest = min(math.floor(self.upper), GREATEST_INT) if whole else floats.from_fraction_down(self.upper)
            holds &= (values <= greatest) if greatest >= LEAST_INT or not whole else False
        return holds & ~np.isnan(values) if not whole else holds

    def __repr__(self) -> str:
        ends = ("None" if end is None else str(end) for end in (self.lower, self.upper))
        return f"between({', '.join(ends)})"


@dataclass(frozen=True, slots=True, repr=False)
class IsIn(Predicate):
    """The value is one of a public list."""

    values: tuple[Any, ...]

    def check(self, domain: ScalarDomain) -> None:
        """Integers, strings and categories, of the kind of the list."""
        if isinstance(domain, FloatDomain):
            raise ParameterError(f"{self!r} compares for equality, and {plain(domain)} has floats; use between(...)")
        kind = str if domain.dtype is np.object_ else int
        if not all(type(value) is kind for value in self.values):
            raise ParameterError(f"{self!r} has values that no element of {plain(domain)} is equal to")

    def mask(self, values: Array) -> Array:
        """Which values are in the list."""
        wanted = set(self.values)
        return np.fromiter((value in wanted for value in values.tolist()), dtype=bool, count=len(values))

    def __repr__(self) -> str:
        return f"is_in({list(self.values)!r})"


@dataclass(frozen=True, slots=True, repr=False)
class Not(Predicate):
    """The other predicate does not hold."""

    holds_not: Predicate

    def check(self, domain: ScalarDomain) -> None:
        """What the other one judges."""
        self.holds_not.check(domain)

    def mask(self, values: Array) -> Array:
        """The opposite of the other's."""
        return ~self.holds_not.mask(values)

    def __repr__(self) -> str:
        return f"~{self.holds_not!r}"


@dataclass(frozen=True, slots=True, repr=False)
class Both(Predicate):
    """Both predicates hold."""

    left: Predicate
    right: Predicate

    def check(self, domain: ScalarDomain) -> None:
        """What both judge."""
        self.left.check(domain)
        self.right.check(domain)

    def mask(self, values: Array) -> Array:
        """Where both masks hold."""
        return self.left.mask(values) & self.right.mask(values)

    def __repr__(self) -> str:
        return f"({self.left!r} & {self.right!r})"


def between(lower: Number | None, upper: Number | None) -> Predicate:
    """Numbers in [lower, upper]; None leaves an end open.

    >>> between(18, 65) & ~between(30, None)
    (between(18, 65) & ~between(30, None))
    """
    ends = [None if end is None else exact(end, name="end") for end in (lower, upper)]
    if ends[0] is not None and ends[1] is not None and ends[0] > ends[1]:
        raise ParameterError(f"between({lower!s}, {upper!s}): the lower end is above the upper one")
    return Between(*ends)


def is_in(values: Iterable[Any]) -> Predicate:
    """Values of a public list of strings or integers.

    >>> is_in(["A", "B"])
    is_in(['A', 'B'])
    """
    return IsIn(tuple(read_list(values, "is_in", ordered=False)))


def is_of_the_library(predicate: Predicate) -> bool:
    """Whether the predicate is known to be a total function of one value; a class of somebody's own is not."""
    if type(predicate) is Not:
        return is_of_the_library(predicate.holds_not)
    if type(predicate) is Both:
        return is_of_the_library(predicate.left) and is_of_the_library(predicate.right)
    return type(predicate) in (Between, IsIn)
