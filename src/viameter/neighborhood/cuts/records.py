"""Cuts by what a record is: partitions by value, overlapping subsets, memberships that are listed."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from viameter.arith import INFINITY, Extended
from viameter.errors import ParameterError, plain
from viameter.neighborhood.arguments import read_listed
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
from viameter.neighborhood.cuts.base import UNTOUCHED, Cut, Gains, Touched, letter, read_size
from viameter.neighborhood.solvers import worst_at_most, worst_contribution, worst_exchange, worst_kind, worst_pair

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
                come, turned = self._come(edit, gains), self._replace(edit, edit, edit, gains)
                return max(turned, come, key=lambda touched: touched.value)
            case Events():
                return self._everywhere(edit, gains, exact=False)
            case Person(rows=rows) if rows != INFINITY:
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
        value, (old, new), exact = self._two(gains.column(cross), gains.column(both), edit)
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
        rows, size = int(edit.rows), len(self)
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


@dataclass(frozen=True, eq=False, repr=False)
class Partition(RecordCut):
    """Each record is in just one of the parts, which have so many values each."""

    size: int
    by: str
    values: int = 2
    """How many values each part has: 1, or 2 for two and more."""
    blanks: bool = False
    """Whether other records are made blank in their places, and not cut out."""
    covers: bool = True
    """Whether every record is in a part."""

    def __len__(self) -> int:
        return self.size

    @property
    def width(self) -> int:
        """A record is in one part."""
        return 1

    @property
    def _independent(self) -> bool:
        return True

    @property
    def _can_exchange(self) -> bool:
        return self.values > 1

    @property
    def _covers(self) -> bool:
        return self.covers

    @property
    def _blanked(self) -> Change:
        return Blanks(1) if self.blanks else OUT

    def has_outside(self, part: int) -> bool:
        """If there is another part, or a record that is in none."""
        return self.size > 1 or not self.covers

    def parts_of(self, record: Any) -> frozenset[int]:
        """Records are numbered by part in examples."""
        return frozenset({record.part}) if record.part < self.size else frozenset()

    def _one(self, costs: Sequence[Extended]) -> tuple[Extended, Any, bool]:
        part = max(range(self.size), key=costs.__getitem__)
        return costs[part], Example(part, 0, self.values), True

    def _two(
        self, cross: Sequence[Extended], both: Sequence[Extended], edit: Change
    ) -> tuple[Extended, tuple[Any, Any], bool]:
        # Whether an edge of a policy, a cell or a short way joins two parts is not known of a partition as such.
        exact = not isinstance(edit, Swap | Shifted) and not (isinstance(edit, Rows) and edit.cells == 1)
        ways: list[tuple[Extended, tuple[Any, Any]]] = []
        if self.values > 1:
            part = max(range(self.size), key=both.__getitem__)
            ways.append((both[part], (Example(part, 0, self.values), Example(part, 1, self.values))))
        if self.size == 1 and not self.covers:
            ways.append((cross[0], (Example(0, 0, self.values), Example(1, 0, self.values))))
        if self.size > 1:
            found = worst_at_most(cross, 2)
            others = [part for part in range(self.size) if part not in found.chosen]
            old, new = sorted([*found.chosen, *others[: 2 - len(found.chosen)]])
            ways.append((found.value, (Example(old, 0, self.values), Example(new, 0, self.values))))
        if not ways:
            return Fraction(0), (None, None), True  # there is one value only, and nothing to replace it by
        # Of two that cost the same, the one that shows two parts says more.
        value, records = max(reversed(ways), key=lambda way: way[0])
        return value, records, exact

    def label(self, part: int) -> str:
        """The part's number and what it is cut by."""
        return f"part {part} by {self.by}"

    def __repr__(self) -> str:
        return f"partition({self.size}, by={self.by!r})"


@dataclass(frozen=True, slots=True)
class Example:
    """A record that was made up to show a touch pattern: a value of a part, written as a letter."""

    part: int
    number: int
    values: int

    def __repr__(self) -> str:
        return repr(letter(self.part * self.values + self.number))


@dataclass(frozen=True, eq=False, repr=False)
class Subsets(RecordCut):
    """Each record is in at most so many of the parts, in any of them."""

    size: int
    at_most: int

    def __len__(self) -> int:
        return self.size

    @property
    def width(self) -> int:
        """As many parts as was said."""
        return self.at_most

    @property
    def _independent(self) -> bool:
        return True

    def parts_of(self, record: Any) -> frozenset[int]:
        """Records name their parts in examples."""
        parts: frozenset[int] = record.parts
        return parts

    def _one(self, costs: Sequence[Extended]) -> tuple[Extended, Any, bool]:
        found = worst_at_most(costs, self.at_most)
        return found.value, InParts(frozenset(found.chosen)), True

    def _two(
        self, cross: Sequence[Extended], both: Sequence[Extended], edit: Change
    ) -> tuple[Extended, tuple[Any, Any], bool]:
        exact = not isinstance(edit, Swap | Shifted) and not (isinstance(edit, Rows) and edit.cells == 1)
        if all(two <= one for one, two in zip(cross, both, strict=True)):
            # To be in both never costs more than to be in one.
            found = worst_at_most(cross, 2 * self.at_most)
            half = -(-len(found.chosen) // 2)
            return (
                found.value,
                (InParts(frozenset(found.chosen[:half])), InParts(frozenset(found.chosen[half:]))),
                exact,
            )
        tables = [[Fraction(0), one, two] for one, two in zip(cross, both, strict=True)]
        result = worst_contribution(tables, l0=self.size, l1=2 * self.at_most)
        twice = [part for part, count in result.chosen if count == 2]
        once = [part for part, count in result.chosen if count == 1]
        room = self.at_most - len(twice)
        old, new = InParts(frozenset(twice + once[:room])), InParts(frozenset(twice + once[room:]), 1)
        return result.value, (old, new), exact

    def __repr__(self) -> str:
        return f"subsets({self.size}, at_most={self.at_most})"


@dataclass(frozen=True, slots=True)
class InParts:
    """A record that was made up to show a touch pattern, by the parts that it is in."""

    parts: frozenset[int]
    number: int = 0

    def __repr__(self) -> str:
        return f"<a record of parts {sorted(self.parts)}{', another value' if self.number else ''}>"


@dataclass(frozen=True, eq=False, repr=False)
class Memberships(RecordCut):
    """Values, and the parts that each is in."""

    alike_outside = False
    size: int
    records: tuple[Hashable, ...]
    parts: tuple[frozenset[int], ...]
    plural: bool = False
    """Whether each listed value stands for several."""

    def __len__(self) -> int:
        return self.size

    @property
    def width(self) -> int:
        """The most parts that a listed value is in."""
        return max(map(len, self.parts))

    def has_outside(self, part: int) -> bool:
        """If some listed value is not in it."""
        return part not in self._everywhere_in

    def parts_of(self, record: Any) -> frozenset[int]:
        """As listed."""
        return self.parts[self._place[record]]

    @cached_property
    def _place(self) -> dict[Hashable, int]:
        return {record: number for number, record in enumerate(self.records)}

    @cached_property
    def _everywhere_in(self) -> frozenset[int]:
        """The parts that every listed value is in."""
        return frozenset.intersection(*self.parts)

    def _one(self, costs: Sequence[Extended]) -> tuple[Extended, Any, bool]:
        found = worst_kind(self.parts, costs)
        return found.value, self.records[found.chosen], True

    def _two(
        self, cross: Sequence[Extended], both: Sequence[Extended], edit: Change
    ) -> tuple[Extended, tuple[Any, Any], bool]:
        pairs, exact = self._pairs(edit)
        found = worst_pair(self.parts, cross=cross, both=both, plural=[self.plural] * len(self.parts), pairs=pairs)
        if found.chosen is None:
            return found.value, (None, None), found.exact
        old, new = found.chosen
        return found.value, (self.records[old], self.records[new]), exact and found.exact

    def _pairs(self, edit: Change) -> tuple[list[tuple[int, int]] | None, bool]:
        """Which of the listed values can be exchanged in one step; None for all."""
        match edit:
            case Swap(pairs=joined):
                place = self._place
                ends = [tuple(pair) for pair in joined]
                unknown = [value for pair in ends for value in pair if value not in place]
                if unknown:
                    raise ParameterError(
                        f"the policy speaks of {len(unknown)} values that are in no list of {self!r}: "
                        "list every value of the policy"
                    )
                return [(place[one], place[other]) for one, other in ends], True
            case Rows(cells=1) if not self.plural and all(isinstance(record, tuple) for record in self.records):
                return _one_cell_apart(self.records), True  # type: ignore[arg-type]  # tuples of cells
            case Rows(cells=1) | Shifted():
                return None, False
        return None, True

    def __repr__(self) -> str:
        return f"memberships(<{len(self.records)} values>, parts={self.size})"


def _one_cell_apart(records: Sequence[tuple[Hashable, ...]]) -> list[tuple[int, int]]:
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for number, record in enumerate(records):
        for column in range(len(record)):
            alike[column, record[:column], record[column + 1 :]].append(number)
    return [(one, other) for group in alike.values() for place, one in enumerate(group) for other in group[place + 1 :]]


def memberships(
    parts_of: Mapping[Any, Iterable[int]], *, parts: int | None = None, plural: bool = False
) -> Memberships:
    """A cut by a list: each value a record can have, and the parts that it is in.

    Give `plural=True` if each listed value stands for a kind of records of which there are several.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> wards = nb.memberships({"flu": [0], "hip": [1], "flu and hip": [0, 1]})
    >>> nb.compose(nb.unbounded(), [nb.leaf(ward, vm.pure("0.1")) for ward in wards]).loss
    pure(1/5)
    """
    if not isinstance(parts_of, Mapping) or not parts_of:
        raise ParameterError(f"memberships takes {{value: parts}}, at least one, not {plain(parts_of)}")
    read = []
    for number, listed in enumerate(parts_of.values()):
        places = read_listed(listed, f"the parts of value number {number}", "[0, 2]")
        if any(type(place) is not int or place < 0 for place in places):
            raise ParameterError(f"the parts of value number {number} are not numbers of parts: expected integers >= 0")
        read.append(frozenset(places))
    least = max((max(places, default=-1) for places in read), default=-1) + 1
    size = max(least, 1) if parts is None else read_size(parts, "parts")
    if size < least:
        raise ParameterError(f"parts={size}, but a value is listed in part {least - 1}: parts are numbered from 0")
    return Memberships(size, tuple(parts_of), tuple(read), plural)


def subsets(size: int, *, at_most: int) -> Subsets:
    """Parts that overlap: each record is in at most so many of them.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> hospitals = nb.subsets(10, at_most=3)
    >>> nb.compose(nb.unbounded(), [nb.leaf(h, vm.pure("0.1")) for h in hospitals]).loss
    pure(3/10)
    """
    read_size(size, "size")
    read_size(at_most, "at_most")
    return Subsets(size, min(at_most, size))
