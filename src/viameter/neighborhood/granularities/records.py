"""Granularities of tables whose rows have no place: records come, go, or are exchanged for others."""

from __future__ import annotations

from dataclasses import dataclass

from viameter.arith import INFINITY
from viameter.neighborhood.changes import Blanks, Change, Events, Person, Records, Rows, Shifted, Steps, Swap
from viameter.neighborhood.granularities.base import Granularity


def as_records(change: Change) -> Records | None:
    """The same change as records that come and go, whatever their places; None if it is none of records."""
    match change:
        case Records():
            return change
        case Swap() | Shifted():
            return Records(1, 1, balanced=True)
        case Rows(rows=rows) | Blanks(rows=rows):
            return Records(rows, rows, balanced=True)
        case Events(count=count):
            return Records(count, count)
        case Person(rows=rows, moments=moments, alters=alters):
            most = min(rows, moments)  # at each of the moments, if they are known, there is one record at most
            return Records(most, most) if alters else Records(most, most, total=most)
    return None


@dataclass(frozen=True, slots=True, repr=False)
class Unbounded(Granularity):
    """One record is added or removed."""

    slug = "unbounded"
    protects = "one has one record more than the other"
    edits = (Records(1, 1, total=1),)

    def _steps(self, change: Change) -> Steps:
        records = as_records(change)
        return INFINITY if records is None else records.both

    def _is_far(self, change: Change) -> bool:
        return as_records(change) is not None


@dataclass(frozen=True, slots=True, repr=False)
class Bounded(Granularity):
    """One record is replaced by another; how many there are is public. The order of records does not matter."""

    slug = "bounded"
    protects = "one record of one is replaced by another in the other"
    edits = (Records(1, 1, balanced=True),)

    def _steps(self, change: Change) -> Steps:
        records = as_records(change)
        if records is None:
            return INFINITY
        return min(records.added, records.removed) if records.balanced or records.both == 0 else INFINITY

    def quotient(self, change: Change) -> Steps:
        """A record that comes into the part takes the place of one outside of it, and the other way round."""
        records = as_records(change)
        return self.distance(change) if records is None else most_of_either(records)

    def _is_far(self, change: Change) -> bool:
        return as_records(change) is not None  # of another size, which is public


@dataclass(frozen=True, slots=True, repr=False)
class AddRemoveOrReplace(Granularity):
    """One record is added, removed, or replaced by another."""

    slug = "add-remove-or-replace"
    protects = "one has one record more than the other, or one record of one is replaced by another in the other"
    edits = (Records(1, 1),)

    def _steps(self, change: Change) -> Steps:
        records = as_records(change)
        return INFINITY if records is None else most_of_either(records)

    def _is_far(self, change: Change) -> bool:
        return as_records(change) is not None


@dataclass(frozen=True, slots=True, repr=False)
class InsertDelete(Granularity):
    """One row is inserted into a list, or deleted from it; the order of rows matters."""

    slug = "insert-delete"
    ordered = True
    protects = "one list has one row more than the other"
    edits = (Records(1, 1, total=1),)

    def _steps(self, change: Change) -> Steps:
        records = as_records(change)
        return INFINITY if records is None else records.both

    def _is_far(self, change: Change) -> bool:
        return as_records(change) is not None


def most_of_either(records: Records) -> Steps:
    """How many come or how many go, whichever is more."""
    return min(max(records.added, records.removed), records.total)
