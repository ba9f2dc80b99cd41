"""Changes: what one step of a granularity does to data, and what is left of it in a part.

A change bounds how two datasets differ, in the words of their kind of data: records, rows in place, events of a stream,
edges of a graph. The whole of a step is a change, and so is what a part sees of it. Granularities measure changes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from viameter.arith import INFINITY
from viameter.errors import NoTheorem

Steps = int | Fraction | float
"""A number of steps: a natural number (a rational one where a metric on values is meant), or infinity."""


@dataclass(frozen=True, slots=True)
class Change:
    """How two datasets may differ; each kind of data has its own."""

    words: ClassVar[str] = "changes"
    """What changes, for sentences."""

    def times(self, most: int) -> Change:
        """This change up to `most` times over, at different places."""
        raise NoTheorem(f"{most} changes of the kind {type(self).__name__.lower()} have no common bound")


@dataclass(frozen=True, slots=True)
class Records(Change):
    """At most `added` records come and `removed` go, `total` of both; just as many of each if `balanced`."""

    words = "records that come and go"
    added: Steps
    removed: Steps
    total: Steps = INFINITY
    balanced: bool = False

    def times(self, most: int) -> Records:
        """So many times as many."""
        return Records(self.added * most, self.removed * most, self.total * most, self.balanced)

    @property
    def both(self) -> Steps:
        """How many records come or go."""
        return min(self.total, self.added + self.removed)


def exchanged(added: int, removed: int) -> Records:
    """Just so many records come and go."""
    return Records(added, removed, added + removed, balanced=added == removed)


@dataclass(frozen=True, slots=True)
class Rows(Change):
    """At most `rows` rows change in their places, and in all of them `cells` cells; all that they have if `whole`."""

    words = "rows that change in their places"
    rows: Steps
    cells: Steps = INFINITY
    whole: bool = False

    def times(self, most: int) -> Rows:
        """So many times as many rows."""
        return Rows(self.rows * most, self.cells * most, self.whole)


@dataclass(frozen=True, slots=True)
class Swap(Change):
    """One record is replaced by another, of a pair of values that is listed."""

    words = "records whose values are exchanged"
    pairs: frozenset[frozenset[Hashable]]


@dataclass(frozen=True, slots=True)
class Shifted(Change):
    """One record's value moves by at most `reach`, in a metric on values."""

    words = "records that move"
    reach: Fraction


@dataclass(frozen=True, slots=True)
class Blanks(Change):
    """At most `rows` rows turn blank, or cease to be, in their places."""

    words = "rows that turn blank"
    rows: Steps

    def times(self, most: int) -> Blanks:
        """So many times as many rows."""
        return Blanks(self.rows * most)


@dataclass(frozen=True, slots=True)
class Events(Change):
    """At `count` times, all within `span` consecutive ones, one event comes, goes or turns into another."""

    words = "events of a stream"
    count: Steps
    span: Steps


@dataclass(frozen=True, slots=True)
class Person(Change):
    """One person comes or goes with everything: at most `rows` records.

    If `moments` is finite, these are events at so many times at most, one at each.
    If `alters`, the person stays, and all that is theirs may turn into something else.
    """

    words = "all records of a person"
    rows: Steps
    moments: Steps = INFINITY
    alters: bool = False


@dataclass(frozen=True, slots=True)
class Edges(Change):
    """At most `count` edges of a graph come or go."""

    words = "edges that come and go"
    count: Steps

    def times(self, most: int) -> Edges:
        """So many times as many edges."""
        return Edges(self.count * most)


@dataclass(frozen=True, slots=True)
class Star(Change):
    """Edges at one node come or go, at most `edges`; if `joins`, the node comes or goes with them."""

    words = "the edges of a node"
    edges: Steps
    joins: bool
    out: bool = False
    """Whether they are the edges that leave the node, in a directed graph."""


@dataclass(frozen=True, slots=True)
class StarWithEnds(Change):
    """A node comes or goes with at most `edges` edges, and with it the nodes at their other ends."""

    words = "a node with its neighbors"
    edges: Steps


@dataclass(frozen=True, slots=True)
class Subtree(Change):
    """One row of the table `root` comes or goes, with all rows that refer to it directly or not."""

    words = "rows with all that refers to them"
    root: str


@dataclass(frozen=True, slots=True)
class Anything(Change):
    """Nothing is known of how the two differ."""

    words = "changes of any kind"


@dataclass(frozen=True, slots=True)
class Moved(Change):
    """The two are at most `steps` apart, in whatever granularity it is measured."""

    words = "steps of no known kind"
    steps: Steps

    def times(self, most: int) -> Moved:
        """So many times as far."""
        return Moved(self.steps * most)
