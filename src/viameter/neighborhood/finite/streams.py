"""Neighbor relations on small event streams and relational databases, written straight from their definitions.

A stream is a tuple over time of frozensets of `(user, value)` events, at most one of a user at a time. A relational
database is a tuple of tables, each a frozenset of `(key, parent key, value)` rows. None is its own neighbor.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

from viameter.errors import ParameterError

Stream: TypeAlias = tuple[frozenset[tuple[Any, Any]], ...]
Tables: TypeAlias = tuple[frozenset[tuple[Any, Any, Any]], ...]


def event(before: Stream, after: Stream) -> bool:
    """One event, what one user did at one time, is added, removed or replaced."""
    return len(before) == len(after) and len(_changed(before, after)) == 1


def w_event(width: int) -> Callable[[Stream, Stream], bool]:
    """At every time at most one event is added, removed or replaced, and all of it within `width` consecutive times."""

    def within_a_window(before: Stream, after: Stream) -> bool:
        if len(before) != len(after):
            return False
        times = sorted(time for time, _ in _changed(before, after))
        return bool(times) and len(set(times)) == len(times) and times[-1] - times[0] < width

    return within_a_window


def user(before: Stream, after: Stream) -> bool:
    """All events of one user are changed in any way, at any number of times."""
    return len(before) == len(after) and len({who for _, who in _changed(before, after)}) == 1


def entity(parents: Sequence[int | None]) -> Callable[[Tables, Tables], bool]:
    """One row of the root table is added or removed, with all rows that refer to it, directly or not.

    `parents[i]` is the table that the parent keys of table i refer to; None for the root table, of which there is one.

    >>> person = (1, None, "Ann")
    >>> order = (7, 1, "bread")
    >>> entity([None, 0])((frozenset({person}), frozenset({order})), (frozenset(), frozenset()))
    True
    """
    listed = tuple(parents)
    if listed.count(None) != 1 or not all(up is None or 0 <= up < len(listed) for up in listed):
        raise ParameterError(
            f"entity was given parents={listed!r}: expected the index of a table for each, and None for the one root"
        )
    root = listed.index(None)

    def one_root_row(before: Tables, after: Tables) -> bool:
        gone, new = before[root] - after[root], after[root] - before[root]
        if len(gone) + len(new) != 1:
            return False
        larger, smaller = (before, after) if gone else (after, before)
        (row,) = gone or new
        return without_row(larger, root, row[0], parents=listed) == smaller

    return one_root_row


def without_row(tables: Tables, table: int, key: Hashable, *, parents: Sequence[int | None]) -> Tables:
    """The database without the row of this key and without all rows that refer to it, directly or not."""
    gone = {(table, key)}
    while True:
        more = {
            (index, row[0])
            for index, up in enumerate(parents)
            if up is not None
            for row in tables[index]
            if (up, row[1]) in gone
        }
        if more <= gone:
            break
        gone |= more
    return tuple(frozenset(row for row in rows if (index, row[0]) not in gone) for index, rows in enumerate(tables))


def _changed(before: Stream, after: Stream) -> set[tuple[int, Any]]:
    """The (time, user) at which the streams differ."""
    moments = enumerate(zip(before, after, strict=True))
    return {(time, who) for time, (left, right) in moments for who, _ in left ^ right}
