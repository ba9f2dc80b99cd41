"""Granularities of people with many records, and of streams: events, windows of time, persons, entities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import INFINITY
from viameter.errors import ParameterError, plain
from viameter.neighborhood.changes import Change, Events, Person, Records, Steps, Subtree
from viameter.neighborhood.granularities.base import Granularity
from viameter.neighborhood.granularities.records import as_records
from viameter.neighborhood.granularities.rows import read_count


def _moments(change: Person) -> Steps:
    """How many events of a person may differ: one at each of the times, if that is known, and not more than all."""
    return min(change.moments, change.rows * 2 if change.alters else change.rows)


@dataclass(frozen=True, slots=True, repr=False)
class Event(Granularity):
    """One event of a stream comes, goes, or turns into another of the same person at the same time."""

    slug = "event"
    protects = "they are the same stream but for one event of one person at one time"
    edits = (Events(1, 1),)

    def _steps(self, change: Change) -> Steps:
        match change:
            case Events(count=count, span=span):
                return min(count, span)
            case Person():
                return _moments(change)
        # Each record is an event; one that comes and one that goes may be at different times.
        records = as_records(change)
        return INFINITY if records is None else records.both

    def is_exact(self, change: Change) -> bool:
        """Where nothing is said of when records are, they may be at one time or at different ones."""
        return isinstance(change, Events | Person) or (isinstance(change, Records) and change.both <= 1)


@dataclass(frozen=True, slots=True, repr=False)
class WEvent(Granularity):
    """At each of up to w consecutive times, one event comes, goes, or turns into another."""

    slug = "w-event"
    w: int

    def __post_init__(self) -> None:
        read_count(self.w, "w")

    @property
    def protects(self) -> str:
        """Events within a window of w times."""
        return f"they differ by at most one event at each time, and only within {self.w} consecutive times"

    @property
    def edits(self) -> tuple[Change, ...]:
        """A window of events."""
        return (Events(self.w, self.w),)

    def _steps(self, change: Change) -> Steps:
        match change:
            case Events(count=count, span=span):
                return min(count, _windows(span, self.w))
            case Person():
                return min(_moments(change), _windows(change.moments, self.w))
        records = as_records(change)
        return INFINITY if records is None else records.both

    def is_exact(self, change: Change) -> bool:
        """Events that lie within a window are covered by one step."""
        return isinstance(change, Events | Person) or (isinstance(change, Records) and change.both <= 1)


def _windows(span: Steps, w: int) -> Steps:
    return INFINITY if span == INFINITY else math.ceil(Fraction(span) / w)


@dataclass(frozen=True, slots=True, repr=False)
class User(Granularity):
    """One person comes or goes with all of their records, or (`alters`) has any of them changed.

    `rows` is how many records a person has at most, where that is known. `times` is how many times a stream has at each
    of which a person has at most one event; without it, all of a person's events may be at one time.
    """

    slug = "user"
    rows: int | None = None
    times: int | None = None
    alters: bool = False

    def __post_init__(self) -> None:
        for name in ("rows", "times"):
            if getattr(self, name) is not None:
                read_count(getattr(self, name), name)

    @property
    def protects(self) -> str:
        """Everything of one person."""
        what = "has other records of one person" if self.alters else "has one person more, with all of their records"
        return f"one {what}"

    @property
    def edits(self) -> tuple[Change, ...]:
        """Everything of one person."""
        rows = INFINITY if self.rows is None else self.rows
        times = INFINITY if self.times is None else self.times
        return (Person(rows, times, self.alters),)

    def _steps(self, change: Change) -> Steps:
        match change:
            case Person(rows=0):
                return 0
            case Person(alters=alters):
                # Who is changed leaves, and comes back with other records.
                return 2 if alters and not self.alters else 1
            case Events():
                # At each time the event may be of another person.
                return change.count * (1 if self.alters else 2)
        records = as_records(change)
        if records is None or records.both == 0:
            return INFINITY if records is None else 0
        # Each record may be of another person, who stays with the rest of theirs.
        return records.both * (1 if self.alters else 2)

    def is_exact(self, change: Change) -> bool:
        """Nothing is said of whose the records are that change, unless they are one person's."""
        return isinstance(change, Person)


@dataclass(frozen=True, slots=True, repr=False)
class Entity(Granularity):
    """One row of a table comes or goes, with every row of other tables that refers to it, directly or not."""

    slug = "entity"
    root: str

    def __post_init__(self) -> None:
        if not isinstance(self.root, str) or not self.root:
            raise ParameterError(f"root={plain(self.root)} is not the name of a table")

    @property
    def protects(self) -> str:
        """A row with all that refers to it."""
        return f"one has one row of {self.root!r} more, with all rows that refer to it, directly or not"

    @property
    def edits(self) -> tuple[Change, ...]:
        """A row and its descendants."""
        return (Subtree(self.root),)

    def _steps(self, change: Change) -> Steps:
        match change:
            case Subtree(root=root):
                return 1 if root == self.root else INFINITY
            case Records() if change.both == 0:
                return 0
        return INFINITY
