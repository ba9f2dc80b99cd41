"""Granularities of tables whose rows keep their places: a row, a cell, a blank, one person's only record."""

from __future__ import annotations

from dataclasses import dataclass

from viameter.arith import INFINITY
from viameter.errors import ParameterError, plain
from viameter.neighborhood.changes import Blanks, Change, Records, Rows, Steps
from viameter.neighborhood.granularities.base import Granularity, steps_of_each


def read_count(value: object, name: str, *, least: int = 1) -> int:
    """A natural number that a person gave."""
    if type(value) is not int or value < least:
        raise ParameterError(f"{name}={plain(value)} is not a number of things: expected an integer >= {least}")
    return value


@dataclass(frozen=True, slots=True, repr=False)
class RowGranularity(Granularity):
    """What is protected is a row in its place, or less; `columns` is how many it has, where that is to be used."""

    columns: int | None = None

    def __post_init__(self) -> None:
        if self.columns is not None:
            read_count(self.columns, "columns")

    @property
    def edits(self) -> tuple[Change, ...]:
        """A row with all of its cells."""
        return (Rows(1, INFINITY if self.columns is None else self.columns, whole=True),)


@dataclass(frozen=True, slots=True, repr=False)
class BoundedOrdered(RowGranularity):
    """One row changes in its place; how many rows there are, and their order, is public."""

    slug = "bounded-ordered"
    ordered = True

    @property
    def protects(self) -> str:
        """One row in its place."""
        return "they have the same rows but for one, which stands in the same place of both"

    def _steps(self, change: Change) -> Steps:
        match change:
            case Rows(rows=rows, cells=cells):
                return min(rows, cells)
            case Blanks(rows=rows):
                return rows
            case Records() if change.both == 0:
                return 0
        return INFINITY

    def _is_far(self, change: Change) -> bool:
        return isinstance(change, Records)  # of another size, which is public

    def quotient(self, change: Change) -> Steps:
        """Each record that comes into a part, or goes, does so by one row that changes in its place."""
        if isinstance(change, Records):
            return change.both
        return self.distance(change)


@dataclass(frozen=True, slots=True, repr=False)
class ZeroOut(Granularity):
    """One row turns blank, or ceases to be, in its place."""

    slug = "zero-out"
    ordered = True
    protects = "one is the other with one row made blank in its place"
    edits = (Blanks(1),)

    def _steps(self, change: Change) -> Steps:
        match change:
            case Blanks(rows=rows):
                return rows
            case Rows(rows=rows, cells=cells):
                return steps_of_each(2, min(rows, cells))
            case Records() if change.both == 0:
                return 0
        return INFINITY

    def _is_far(self, change: Change) -> bool:
        return isinstance(change, Records)

    def quotient(self, change: Change) -> Steps:
        """A record comes into a part from a blank outside of it, and goes into one."""
        if isinstance(change, Records):
            return change.both
        return self.distance(change)


@dataclass(frozen=True, slots=True, repr=False)
class Attribute(RowGranularity):
    """One cell of one row changes: the value of one attribute."""

    slug = "attribute"
    ordered = True

    @property
    def protects(self) -> str:
        """One cell."""
        return "they differ in one cell: one attribute of one row"

    @property
    def edits(self) -> tuple[Change, ...]:
        """A cell of a row."""
        return (Rows(1, 1),)

    def _steps(self, change: Change) -> Steps:
        columns = INFINITY if self.columns is None else self.columns
        match change:
            case Rows(rows=rows, cells=cells):
                return steps_of_each(rows, columns) if cells == INFINITY else cells
            case Blanks(rows=rows):
                return steps_of_each(rows, columns)
            case Records(balanced=True) | Records(added=0, removed=0):
                return steps_of_each(min(change.added, change.removed), columns)
        return INFINITY

    def _is_far(self, change: Change) -> bool:
        return isinstance(change, Records) and not change.balanced

    def is_exact(self, change: Change) -> bool:
        """Of whole rows and records it is not known in how many cells they differ."""
        if isinstance(change, Rows):
            return change.cells == 1 or (change.cells != INFINITY and not change.whole)
        return self._is_far(change)


@dataclass(frozen=True, slots=True, repr=False)
class Local(RowGranularity):
    """The data are one record, and any other is a neighbor: each person randomizes their own."""

    slug = "local"
    ordered = True

    @property
    def protects(self) -> str:
        """The only record."""
        return "each is the one record of a person, whatever it is"

    def _steps(self, change: Change) -> Steps:
        match change:
            case Rows(rows=rows) | Blanks(rows=rows):
                return min(1, rows)
            case Records() if change.both == 0:
                return 0
        return INFINITY

    def _is_far(self, change: Change) -> bool:
        return isinstance(change, Records)

    def quotient(self, change: Change) -> Steps:
        """Whatever changes in a part, it is the one record that does."""
        return min(1, change.both) if isinstance(change, Records) else self.distance(change)
