"""Neighbor relations on small databases of records, written straight from their definitions.

A *database* is a multiset of records, written as a sorted tuple (see `database`); *rows* are an ordered tuple. A record
is anything hashable; where cells are spoken of, it is a tuple of cells. Each relation is a symmetric predicate
`relation(D, E) -> bool` and is false for D and D itself: a step to oneself costs nothing, so whether a database counts
as its own neighbor changes no distance and no loss. The functions `*_neighbors` list the neighbors of one database;
a space filters them by membership, so that they may list more than the class holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from viameter.arith import Extended, Number, extended
from viameter.errors import ParameterError

Database: TypeAlias = tuple[Hashable, ...]
Relation: TypeAlias = Callable[[Any, Any], bool]
Neighbors: TypeAlias = Callable[[Any], Iterable[Any]]


class _Blank:
    """The value of a row that was zeroed out."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "BLANK"

    def __reduce__(self) -> str:
        return "BLANK"  # copies and pickles are the one BLANK again


BLANK: Final = _Blank()
"""What stands in the place of a row that was zeroed out."""


def database(records: Iterable[Any]) -> Database:
    """The multiset of these records as a sorted tuple, so that equal multisets are equal tuples.

    >>> database("cab")
    ('a', 'b', 'c')
    """
    listed = list(records)
    try:
        return tuple(sorted(listed))
    except TypeError as problem:
        raise ParameterError(
            f"the records cannot be sorted ({problem}): expected records of one kind with a total order"
        ) from None


def unbounded(before: Database, after: Database) -> bool:
    """One record is added or removed.

    >>> unbounded(("a", "b"), ("a", "b", "b")), unbounded(("a",), ("b",))
    (True, False)
    """
    return abs(len(before) - len(after)) == 1 and _differences(before, after) in ((1, 0), (0, 1))


def bounded(before: Database, after: Database) -> bool:
    """One record is replaced by another, the order of records not being looked at.

    >>> bounded(("a", "b"), ("b", "c")), bounded(("a", "b"), ("c", "d"))
    (True, False)
    """
    return len(before) == len(after) and _differences(before, after) == (1, 1)


def add_remove_or_replace(before: Database, after: Database) -> bool:
    """One record is added, removed, or replaced by another."""
    return unbounded(before, after) or bounded(before, after)


def bounded_ordered(before: Sequence[Hashable], after: Sequence[Hashable]) -> bool:
    """Exactly one position of two lists of the same length differs."""
    return len(before) == len(after) and sum(a != b for a, b in zip(before, after, strict=True)) == 1


def zero_out(before: Sequence[Hashable], after: Sequence[Hashable]) -> bool:
    """Exactly one position differs, and holds BLANK on one side.

    >>> zero_out(("a", "b"), ("a", BLANK)), zero_out(("a", "b"), ("a", "c"))
    (True, False)
    """
    if len(before) != len(after):
        return False
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    return len(changed) == 1 and BLANK in changed[0]


def insert_delete(before: Sequence[Hashable], after: Sequence[Hashable]) -> bool:
    """One element is inserted into or deleted from a list.

    >>> insert_delete(("a", "b"), ("a", "c", "b")), insert_delete(("a", "b"), ("b", "c", "a"))
    (True, False)
    """
    if abs(len(before) - len(after)) != 1:
        return False
    longer, shorter = sorted((tuple(before), tuple(after)), key=len, reverse=True)
    return any(longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer)))


def free_lunch(before: Hashable, after: Hashable) -> bool:
    """Any two databases of the class are neighbors."""
    return before != after


def local(before: Database, after: Database) -> bool:
    """Databases of a single record, which is changed in any way."""
    return len(before) == len(after) == 1 and before != after


def attribute(before: Sequence[tuple[Any, ...]], after: Sequence[tuple[Any, ...]]) -> bool:
    """Exactly one cell of one row of an ordered table is changed."""
    if len(before) != len(after):
        return False
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    return len(changed) == 1 and _one_cell_apart(*changed[0])


def attribute_unordered(before: Database, after: Database) -> bool:
    """One record is replaced by one that differs from it in exactly one cell, the order not being looked at."""
    exchanged = _exchanged(before, after)
    return exchanged is not None and _one_cell_apart(*exchanged)


def policy(edges: Iterable[Iterable[Hashable]]) -> Relation:
    """One record is changed along an edge of a graph on values (Blowfish), the order not being looked at.

    >>> adjacent = policy([("a", "b")])
    >>> adjacent(("a", "c"), ("b", "c")), adjacent(("a", "c"), ("a", "b"))
    (True, False)
    """
    allowed = frozenset(frozenset(edge) for edge in edges)
    if any(len(edge) != 2 for edge in allowed):
        raise ParameterError("policy takes edges between two different values, as in policy([('a', 'b')])")

    def along_an_edge(before: Database, after: Database) -> bool:
        exchanged = _exchanged(before, after)
        return exchanged is not None and frozenset(exchanged) in allowed

    return along_an_edge


def personalised(of_the_class: Callable[[Any], bool]) -> Relation:
    """One record of one class of owners is added or removed; everybody else's records stay."""

    def one_of_the_class(before: Database, after: Database) -> bool:
        if not unbounded(before, after):
            return False
        (record,) = (Counter(before) - Counter(after)) + (Counter(after) - Counter(before))
        return of_the_class(record)

    return one_of_the_class


def by_distance(distance: Callable[[Any, Any], Extended | int], *, radius: Number = 1) -> Relation:
    """Databases are neighbors when a given distance between them is at most `radius`."""
    most = extended(radius, name="radius")

    def close(before: Any, after: Any) -> bool:
        return before != after and distance(before, after) <= most

    return close


def unbounded_neighbors(records: Iterable[Any]) -> Neighbors:
    """Lists the neighbors of a database under `unbounded`, for records drawn from `records`."""
    universe = tuple(dict.fromkeys(records))

    def neighbors(before: Database) -> Iterator[Database]:
        yield from (database((*before, record)) for record in universe)
        yield from (_without(before, record) for record in dict.fromkeys(before))

    return neighbors


def bounded_neighbors(records: Iterable[Any]) -> Neighbors:
    """Lists the neighbors of a database under `bounded`, for records drawn from `records`."""
    universe = tuple(dict.fromkeys(records))

    def neighbors(before: Database) -> Iterator[Database]:
        for old in dict.fromkeys(before):
            rest = _without(before, old)
            yield from (database((*rest, new)) for new in universe if new != old)

    return neighbors


def _without(before: Database, record: Hashable) -> Database:
    place = before.index(record)
    return before[:place] + before[place + 1 :]


def _differences(before: Database, after: Database) -> tuple[int, int]:
    """How many records are lost, and how many gained."""
    left, right = Counter(before), Counter(after)
    return (left - right).total(), (right - left).total()


def _exchanged(before: Database, after: Database) -> tuple[Any, Any] | None:
    """The record that is lost and the one that is gained, if it is one each."""
    if not bounded(before, after):
        return None
    left, right = Counter(before), Counter(after)
    return next(iter(left - right)), next(iter(right - left))


def _one_cell_apart(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    return len(left) == len(right) and sum(a != b for a, b in zip(left, right, strict=True)) == 1
