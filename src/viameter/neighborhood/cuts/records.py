"""Cuts by what a record is, whatever else is in the data: how changes of records reach their parts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended
from viameter.neighborhood.changes import (
    Anything,
    Blanks,
    Change,
    Events,
    Person,
    Records,
    Rows,
    Shifted,
    Steps,
    Swap,
    exchanged,
)
from viameter.neighborhood.cuts.base import UNTOUCHED, Cut, Gains, Touched
from viameter.neighborhood.solvers import worst_at_most, worst_contribution, worst_exchange

IN, OUT = exchanged(1, 0), exchanged(0, 1)
MOST_TABLE = 400
"""How many (added, removed) are tried for a part; beyond it, the law for groups is used instead."""
MOST_STEPS = 200
"""How many records at once are spread over parts; beyond it, the same."""


@dataclass(frozen=True, eq=False)
class RecordCut(Cut):
    """A cut by what a record is: each record is in some of the parts, whatever else is in the data."""

    @property
    @abstractmethod
    def width(self) -> int:
        """In how many parts one record can be."""

    @abstractmethod
    def _one(self, costs: Sequence[Extended]) -> tuple[Extended, Any, bool]:
        """The record that costs most if it comes or goes: cost, record, whether that is exact."""

    @abstractmethod
    def _two(
        self, cross: Sequence[Extended], both: Sequence[Extended], edit: Change
    ) -> tuple[Extended, tuple[Any, Any], bool]:
        """The two records that cost most if one is replaced by the other."""

    @abstractmethod
    def parts_of(self, record: Any) -> frozenset[int]:
        """The parts that a record is in."""

    def holds(self, part: int, record: Any) -> bool:
        """Whether a record is in a part."""
        return part in self.parts_of(record)

    def _image(self, part: int, data: Any) -> Any:
        return tuple(record for record in data if self.holds(part, record))

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """The costliest records to add, remove or replace."""
        if self._blanked != OUT and not isinstance(edit, Blanks | Rows):
            # A record that comes would be one blank more in every part.
            raise self._refuse(edit)
        match edit:
            case Records() if edit.both == 0:
                return UNTOUCHED
            case Records() if edit.both == 1:
                return self._come(IN, gains)
            case Records(added=1, removed=1, balanced=True):
                return self._replace(edit, IN, edit, gains)
            case Records(added=1, removed=1):
                come = self._come(IN, gains)
                swapped = self._replace(edit, IN, exchanged(1, 1), gains)
                return max(swapped, come, key=lambda touched: touched.value)
            case Records():
                return self._many(edit, gains)
            case Swap():
                return self._replace(edit, IN, edit, gains)
            case Rows(rows=1):
                return self._replace(edit, self._blanked, edit, gains)
            case Shifted():
                return self._replace(edit, IN, edit, gains)
            case Blanks(rows=1):
                return self._come(self._blanked, gains)
            case Events(count=1):
                come, turned = self._come(IN, gains), self._replace(edit, IN, edit, gains)
                return max(turned, come, key=lambda touched: touched.value)
            case Events():
                return self._everywhere(edit, gains, exact=False)
            case Person(rows=rows, moments=moments) if min(rows, moments) != INFINITY:
                return self._person(edit, gains)
            case Person():
                return self._everywhere(edit, gains, exact=not edit.alters)
            case Anything():
                return self._everywhere(edit, gains, exact=True)
        raise self._refuse(edit)

    @property
    def _blanked(self) -> Change:
        """What a part sees of a record that turns blank: with the others cut out, it is gone."""
        return OUT

    def _come(self, change: Change, gains: Gains) -> Touched:
        value, record, exact = self._one(gains.column(change))
        changes = dict.fromkeys(sorted(() if record is None else self.parts_of(record)), change)
        after = () if record is None else (record,)
        return Touched(value, changes, exact, (), after, self._image)

    def _replace(self, edit: Change, cross: Change, both: Change, gains: Gains) -> Touched:
        costs = gains.column(cross)
        # What it costs to be exchanged within a part is not asked where that cannot be: there may be no law for it.
        value, (old, new), exact = self._two(costs, gains.column(both) if self._can_exchange else costs, edit)
        changes: dict[int, Change] = {}
        if old is not None:
            was, comes = self.parts_of(old), self.parts_of(new)
            changes = {part: both if part in was and part in comes else cross for part in sorted(was | comes)}
        before, after = ((), ()) if old is None else ((old,), (new,))
        return Touched(value, changes, exact, before, after, self._image)

    def _many(self, edit: Records, gains: Gains) -> Touched:
        """Several records at once, each in up to `width` parts: an upper bound unless parts are independent."""
        width = self.width
        if not edit.balanced and edit.total != INFINITY and edit.total <= min(edit.added, edit.removed):
            # Any of them may come or go: a part costs most for the worse of the ways to make up a number.
            if edit.total > MOST_STEPS:
                raise self._refuse(edit)
            most = int(edit.total)
            ways = [[self._worst_way(gains, part, count) for count in range(most + 1)] for part in range(len(self))]
            found = worst_contribution([[cost for cost, _ in part] for part in ways], l0=len(self), l1=most * width)
            changes: dict[int, Change] = {part: ways[part][count][1] for part, count in found.chosen}
            return Touched(found.value, changes, self._independent and found.exact)
        if (edit.added + 1) * (edit.removed + 1) > MOST_TABLE:
            raise self._refuse(edit)
        added, removed = int(edit.added), int(edit.removed)
        keys = [(a, r) for a in range(added + 1) for r in range(removed + 1) if 0 < a + r <= edit.total]
        keys = [key for key in keys if self._can_exchange or 0 in key]
        exchanges = [{key: gains.of(part, exchanged(*key)) for key in keys} for part in range(len(self))]
        limit = None if edit.total == INFINITY else int(edit.total) * width
        result = worst_exchange(
            exchanges,
            added=added * width,
            removed=removed * width,
            total=limit,
            equal=edit.balanced and self._covers,
        )
        chosen: dict[int, Change] = {part: exchanged(*key) for part, key in result.chosen}
        return Touched(result.value, chosen, self._independent and result.exact)

    @property
    def _independent(self) -> bool:
        """Whether any numbers of records in the parts, within the limits, are those of some data."""
        return False

    @property
    def _covers(self) -> bool:
        """Whether every record is in just one part."""
        return False

    def _moments(self, part: int, moments: Steps) -> Steps:
        """At how many of a person's times something can be in a part."""
        return moments

    @property
    def _can_exchange(self) -> bool:
        """Whether a part has two values, so that a record in it can be replaced by another."""
        return True

    def _worst_way(self, gains: Gains, part: int, count: int) -> tuple[Extended, Change]:
        """So many records that come or go in a part, in the way that costs most."""
        if count == 0:
            return Fraction(0), exchanged(0, 0)
        least = count // 2 if self._can_exchange else 0
        ways = [exchanged(count - removed, removed) for removed in range(least + 1)]
        return max(((gains.of(part, way), way) for way in ways), key=lambda found: found[0])

    def _person(self, edit: Person, gains: Gains) -> Touched:
        # With one event at each time, there are no more of them than times.
        rows, size = int(min(edit.rows, edit.moments)), len(self)
        if edit.alters or rows > MOST_STEPS:
            # Each of the rows may leave one part for another; every part is taken to see as many as there are.
            found = worst_at_most(gains.column(edit), min(size, 2 * rows * self.width))
            return Touched(found.value, dict.fromkeys(found.chosen, edit), exact=False)
        most = rows * self.width
        sees = [
            [Person(count, self._moments(part, edit.moments)) for count in range(1, rows + 1)] for part in range(size)
        ]
        tables = [[Fraction(0), *(gains.of(part, change) for change in seen)] for part, seen in enumerate(sees)]
        result = worst_contribution(tables, l0=size, l1=most)
        chosen: dict[int, Change] = {part: sees[part][count - 1] for part, count in result.chosen}
        return Touched(result.value, chosen, self._independent and result.exact)
