"""Which of several filters one row can pass at once, found from their predicates alone.

A predicate that compares columns with constants depends on where each column's value lies among the constants: at one
of them, between two, beyond all, or NULL. All combinations of these are tried, in three-valued logic. Any other
predicate may hold together with everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viameter.tables.expressions import Call, Column, Expression, Kind, Literal

MOST_COMBINATIONS = 20_000
"""So many combinations of values are tried; if there are more, nothing is said."""
ORDERED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)
NULL = -1
"""The rank of NULL. Constants of a column have the ranks 1, 3, 5, ... by size, what lies between them 0, 2, 4, ..."""

Bools: TypeAlias = NDArray[np.bool_]
Ranks: TypeAlias = NDArray[np.int64]


def conjuncts(predicate: Expression) -> list[Expression]:
    """The predicates that are all true where this one is."""
    if isinstance(predicate, Call) and predicate.operation == "and":
        return [each for argument in predicate.arguments for each in conjuncts(argument)]
    return [predicate]


def is_known(predicate: Expression) -> bool:
    """Whether it compares columns with constants and nothing else, and so can be decided from their ranks."""
    if isinstance(predicate, Literal):
        return predicate.type.kind is Kind.BOOLEAN
    if isinstance(predicate, Column):
        return predicate.type.kind is Kind.BOOLEAN
    assert isinstance(predicate, Call)
    first, *others = predicate.arguments
    match predicate.operation:
        case "and" | "or" | "not":
            return all(map(is_known, predicate.arguments))
        case "is_null":
            return _term(first) is not None
        case "eq" | "ne" | "is_in":
            return _term(first) is not None and all(map(_is_constant, others))
        case "lt" | "le" | "gt" | "ge" | "between":
            term = _term(first)
            return term is not None and term.kind in ORDERED and all(map(_is_constant, others))
    return False


def compares_text(predicate: Expression) -> bool:
    """Whether something in it, or in what it is made of, is text."""
    if isinstance(predicate, Call) and any(map(compares_text, predicate.arguments)):
        return True
    return predicate.type.kind is Kind.TEXT


def touch_patterns(filters: Sequence[Iterable[Expression]]) -> list[frozenset[int]] | None:
    """The sets of filters that a row can pass, all of them or more; None if there are too many combinations to try.

    Each filter is a list of predicates that must all be true.

    >>> from viameter.tables.expressions import Type
    >>> age = Column("age", Type(Kind.INTEGER))
    >>> sorted(map(sorted, touch_patterns([[age < 18], [age >= 18], [age > 64]])))
    [[], [0], [1], [1, 2]]
    """
    known = [[each for given in predicates for each in conjuncts(given) if is_known(each)] for predicates in filters]
    grid = _Grid.of([predicate for predicates in known for predicate in predicates])
    if grid is None:
        return None
    passed = np.ones((len(known), grid.size), dtype=np.bool_)
    for place, predicates in enumerate(known):
        for predicate in predicates:
            passed[place] &= np.broadcast_to(grid.decide(predicate)[0], grid.shape).reshape(-1)
    distinct = np.unique(np.packbits(passed, axis=0), axis=1)
    listed = np.unpackbits(distinct, axis=0, count=len(known))
    return [frozenset(np.flatnonzero(column).tolist()) for column in listed.T]


@dataclass(frozen=True, slots=True)
class Term:
    """What is compared with constants: a column, or a column of integers as a real number."""

    name: str
    kind: Kind
    is_cast: bool = False


def _term(expression: Expression) -> Term | None:
    if isinstance(expression, Column):
        return Term(expression.name, expression.type.kind)
    if isinstance(expression, Call) and expression.operation == "cast":
        inner = expression.arguments[0]
        if isinstance(inner, Column) and inner.type.kind is Kind.INTEGER and expression.type.kind is Kind.REAL:
            return Term(inner.name, Kind.REAL, is_cast=True)
    return None


def _is_constant(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is not None


@dataclass(frozen=True, slots=True)
class _Grid:
    """All combinations of ranks of the terms: an axis for each of them."""

    axes: dict[Term, Ranks]
    rank_of: dict[Term, dict[Hashable, int]]

    @classmethod
    def of(cls, predicates: Sequence[Expression]) -> _Grid | None:
        constants: dict[Term, set[Any]] = {}
        for predicate in predicates:
            _collect(predicate, constants)
        ranks = {term: {value: 2 * i + 1 for i, value in enumerate(sorted(found))} for term, found in constants.items()}
        every = {term: _classes(term, list(found)) for term, found in ranks.items()}
        if math.prod(map(len, every.values())) > MOST_COMBINATIONS:
            return None
        axes = {
            term: np.array(found, dtype=np.int64).reshape([-1 if other == term else 1 for other in every])
            for term, found in every.items()
        }
        return cls(axes, ranks)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes.values())

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def decide(self, predicate: Expression) -> tuple[Bools, Bools]:
        """Where a predicate is true, and where it is NULL."""
        if isinstance(predicate, Literal):
            return np.array(predicate.value is True), np.array(predicate.value is None)
        if isinstance(predicate, Column):
            ranks, rank_of = self._ranks(predicate)
            return ranks == rank_of[True], ranks == NULL
        assert isinstance(predicate, Call)
        if predicate.operation in ("and", "or", "not"):
            return _joined(predicate.operation, [self.decide(argument) for argument in predicate.arguments])
        first, *others = predicate.arguments
        ranks, rank_of = self._ranks(first)
        is_null = ranks == NULL
        if predicate.operation == "is_null":
            return is_null, np.zeros_like(is_null)
        listed = [rank_of[other.value] for other in others if isinstance(other, Literal)]
        return COMPARED[predicate.operation](ranks, listed) & ~is_null, is_null

    def _ranks(self, expression: Expression) -> tuple[Ranks, dict[Hashable, int]]:
        term = _term(expression)
        assert term is not None, "only predicates that are known are decided"
        return self.axes[term], self.rank_of[term]


def _collect(predicate: Expression, constants: dict[Term, set[Any]]) -> None:
    """Note the constants that each term is compared with."""
    term = _term(predicate)
    if term is not None:
        constants.setdefault(term, set()).update((False, True))
    elif isinstance(predicate, Call) and predicate.operation in ("and", "or", "not"):
        for argument in predicate.arguments:
            _collect(argument, constants)
    elif isinstance(predicate, Call):
        first, *others = predicate.arguments
        term = _term(first)
        assert term is not None
        found = constants.setdefault(term, {False, True} if term.kind is Kind.BOOLEAN else set())
        found.update(other.value for other in others if isinstance(other, Literal))


def _classes(term: Term, values: list[Any]) -> list[int]:
    """The ranks that a value of the term can have, where the constants are these, ascending."""
    points = [2 * i + 1 for i in range(len(values))]
    if term.kind is Kind.BOOLEAN:
        return [NULL, *points]
    if term.kind is Kind.TEXT:
        return [NULL, 0, *points]  # any other text
    gaps = range(1, len(values))
    between = [2 * i for i in gaps if not _is_next(term, values[i - 1], values[i])]
    return [NULL, 0, *points, *between, *([2 * len(values)] if values else [])]


def _is_next(term: Term, lower: Any, upper: Any) -> bool:
    """Whether no value of the term lies between the two."""
    if term.kind is Kind.INTEGER:
        return bool(upper - lower == 1)
    return bool(term.kind is Kind.DATE and (upper - lower).days == 1)


def _joined(operation: str, given: list[tuple[Bools, Bools]]) -> tuple[Bools, Bools]:
    """Three-valued logic."""
    true, null = given[0]
    if operation == "not":
        return ~true & ~null, null
    for other_true, other_null in given[1:]:
        if operation == "and":
            false = (~true & ~null) | (~other_true & ~other_null)
            true = true & other_true
        else:
            false = (~true & ~null) & (~other_true & ~other_null)
            true = true | other_true
        null = ~true & ~false
    return true, null


COMPARED: dict[str, Callable[[Ranks, list[int]], Bools]] = {
    "eq": lambda ranks, listed: ranks == listed[0],
    "ne": lambda ranks, listed: ranks != listed[0],
    "lt": lambda ranks, listed: ranks < listed[0],
    "le": lambda ranks, listed: ranks <= listed[0],
    "gt": lambda ranks, listed: ranks > listed[0],
    "ge": lambda ranks, listed: ranks >= listed[0],
    "between": lambda ranks, listed: (ranks >= listed[0]) & (ranks <= listed[1]),
    "is_in": np.isin,
}
