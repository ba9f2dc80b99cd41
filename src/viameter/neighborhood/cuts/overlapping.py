"""Parts that overlap: in at most so many of them each, or as a list of values says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from viameter.arith import Extended
from viameter.errors import ParameterError, plain
from viameter.neighborhood.arguments import read_listed
from viameter.neighborhood.changes import Change, Rows, Shifted, Swap
from viameter.neighborhood.cuts.base import read_size
from viameter.neighborhood.cuts.records import RecordCut
from viameter.neighborhood.solvers import worst_at_most, worst_contribution, worst_kind, worst_pair


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
