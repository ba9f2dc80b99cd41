"""Partitions by value: each record is in one part at most, and parts have one value or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import Extended
from viameter.neighborhood.changes import Blanks, Change, Rows, Shifted, Swap
from viameter.neighborhood.cuts.base import letter
from viameter.neighborhood.cuts.records import OUT, RecordCut
from viameter.neighborhood.solvers import worst_at_most


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
