"""Cuts by where a cell is: by the id of its row, by its column, by the position of its row in an order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY
from viameter.errors import ParameterError
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
from viameter.neighborhood.cuts.base import Cut, Gains, Touched
from viameter.neighborhood.cuts.partitions import Partition
from viameter.neighborhood.cuts.records import MOST_STEPS
from viameter.neighborhood.solvers import worst_contribution, worst_kind

MOST_WAYS = 200


@dataclass(frozen=True, eq=False, repr=False)
class ById(Partition):
    """Each row is in the part of its id, a key that stays with it: of its place in a list, or of its person.

    A row that is inserted has an id of its own, and moves no other row into another part.
    """

    def has_outside(self, part: int) -> bool:
        """Rows keep their ids, so that none comes into a part by a change of what is in it."""
        return False

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """Rows that stay in their places touch the parts that these belong to, and so do persons."""
        if self.blanks and not isinstance(edit, Blanks | Rows):
            raise self._refuse(edit)
        match edit:
            case Rows(rows=rows) if rows != INFINITY:
                return self._spread(int(rows), lambda count: Rows(count, edit.cells), gains)
            case Blanks(rows=rows) if rows != INFINITY:
                return self._spread(int(rows), Blanks, gains)
            case Person():
                return self._come(edit, gains)
            case Events(count=count, span=span) if count != INFINITY:
                return self._spread(int(count), lambda found: Events(found, span), gains)
        return super().worst(edit, gains)

    def _spread(self, most: int, change: Any, gains: Gains) -> Touched:
        """So many rows, each in a part of its own choice."""
        if most > MOST_STEPS:
            raise self._refuse(change(most))
        if most == 1:
            return self._come(change(1), gains)
        tables = [
            [Fraction(0), *(gains.of(part, change(count)) for count in range(1, most + 1))] for part in range(len(self))
        ]
        found = worst_contribution(tables, l0=len(self), l1=most)
        # Cells that are few are all taken to be in each part's rows.
        few = isinstance(change(1), Rows) and change(1).cells != INFINITY
        return Touched(found.value, {part: change(count) for part, count in found.chosen}, found.exact and not few)


@dataclass(frozen=True, eq=False, repr=False)
class ByColumn(Cut):
    """Each part keeps some columns of every row."""

    columns: tuple[frozenset[str], ...] | None
    """The columns of each part, where they are named."""
    size: int

    def __len__(self) -> int:
        return self.size

    def has_outside(self, part: int) -> bool:
        """Every record is in every part: there is nothing outside that could make up for one that comes."""
        return False

    def label(self, part: int) -> str:
        """Its columns, or its number."""
        return f"part {part} by column" if self.columns is None else f"columns {', '.join(sorted(self.columns[part]))}"

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """A record reaches every part, a cell those that keep its column."""
        match edit:
            case Rows(whole=True):
                return self._whole_rows(edit, gains)
            case Rows(cells=1):
                return self._one_cell(gains)
            case Rows(rows=rows, cells=cells) if cells != INFINITY:
                return self._several_cells(rows, int(cells), gains)
            case Rows():
                return self._whole_rows(edit, gains)
            case Swap() | Shifted():
                found = self._each({part: Rows(1, self._width(part)) for part in range(self.size)}, gains)
                return replace(found, exact=False)  # which cells of the two values differ is not known
            case Records():
                ways = (self._each(dict.fromkeys(range(self.size), way), gains) for way in _ways(edit, self))
                return max(ways, key=lambda touched: touched.value)
            case Blanks() | Person() | Events() | Anything():
                return self._each(dict.fromkeys(range(self.size), edit), gains)
        raise self._refuse(edit)

    def _width(self, part: int) -> Steps:
        return INFINITY if self.columns is None else len(self.columns[part])

    def _each(self, changes: Mapping[int, Change], gains: Gains) -> Touched:
        value = Fraction(0)
        for part, change in changes.items():
            value += gains.of(part, change)  # type: ignore[assignment]  # infinite if one is
        return Touched(value, changes)

    def _whole_rows(self, edit: Rows, gains: Gains) -> Touched:
        known = self.size if self.columns is None else len({name for kept in self.columns for name in kept})
        if edit.cells < known * edit.rows:
            raise ParameterError(
                f"the granularity has {edit.cells} cells in {edit.rows} rows, and {self!r} keeps {known} columns: "
                "give as many columns as there are"
            )
        every = {part: Rows(edit.rows, min(edit.cells, self._width(part) * edit.rows)) for part in range(self.size)}
        # Of columns that are not named, parts may have fewer than all.
        return replace(self._each(every, gains), exact=self.columns is not None or edit.cells == INFINITY)

    def _several_cells(self, rows: Steps, cells: int, gains: Gains) -> Touched:
        """So many cells, each in a column of its own choice; a column may be kept by several parts."""
        if cells > MOST_STEPS:
            raise self._refuse(Rows(rows, cells))
        widest = 1 if self.columns is None else max(Counter(name for kept in self.columns for name in kept).values())
        tables = []
        for part in range(self.size):
            most = min(cells, self._width(part) * rows)
            counts = range(1, int(min(most, cells)) + 1)
            tables.append([Fraction(0), *(gains.of(part, Rows(min(rows, count), count)) for count in counts)])
        found = worst_contribution(tables, l0=self.size, l1=cells * widest)
        changes: dict[int, Change] = {part: Rows(min(rows, count), count) for part, count in found.chosen}
        # Columns that are not named may be few; cells that several parts keep are not free to be chosen for each.
        return Touched(found.value, changes, found.exact and widest == 1 and self.columns is not None)

    def _one_cell(self, gains: Gains) -> Touched:
        change = Rows(1, 1)
        costs = gains.column(change)
        if self.columns is None:
            kinds = [frozenset({part}) for part in range(self.size)]
        else:
            names = sorted({name for columns in self.columns for name in columns})
            kinds = [frozenset(part for part, columns in enumerate(self.columns) if name in columns) for name in names]
        found = worst_kind(kinds, costs)
        return Touched(found.value, dict.fromkeys(sorted(kinds[found.chosen]), change))

    def __repr__(self) -> str:
        if self.columns is None:
            return f"partition({self.size}, by='column')"
        return f"projections({[sorted(columns) for columns in self.columns]})"


def _ways(edit: Records, cut: Cut) -> list[Records]:
    """The numbers of records that may come and go, that are not fewer than others both ways."""
    if (edit.added + 1) * (edit.removed + 1) > MOST_WAYS:
        raise cut._refuse(edit)
    both = [(a, r) for a in range(int(edit.added) + 1) for r in range(int(edit.removed) + 1)]
    return [exchanged(a, r) for a, r in both if 0 < a + r <= edit.total and (a == r or not edit.balanced)]


def projections(columns: Iterable[Iterable[str]]) -> ByColumn:
    """Parts that keep some columns of each row; they may overlap.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> views = nb.projections([["age", "zip"], ["zip"], ["ward"]])
    >>> nb.compose(nb.attribute(), [nb.leaf(view, vm.pure("0.1")) for view in views]).loss
    pure(1/5)
    """
    read = []
    for number, names in enumerate(read_listed(columns, "columns", "[['age', 'zip'], ['ward']]")):
        kept = frozenset([names] if isinstance(names, str) else read_listed(names, f"columns[{number}]", "['age']"))
        if not kept or not all(isinstance(name, str) for name in kept):
            raise ParameterError(f"columns[{number}] must name at least one column, as in [['age', 'zip'], ['ward']]")
        read.append(kept)
    if not read:
        raise ParameterError("columns=[] has no parts: expected e.g. [['age', 'zip'], ['ward']]")
    return ByColumn(tuple(read), len(read))


@dataclass(frozen=True, eq=False, repr=False)
class ByPosition(Cut):
    """Equal shares of an order: a record that comes in pushes others from chunk to chunk, at both ends of each."""

    size: int

    def __len__(self) -> int:
        return self.size

    def has_outside(self, part: int) -> bool:
        """What is in a chunk depends on what is outside of it, which therefore cannot be chosen to help."""
        return False

    def label(self, part: int) -> str:
        """Its number."""
        return f"part {part} by position"

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """A record that comes or goes may exchange records in every chunk."""
        match edit:
            case Records():
                changes: dict[int, Change] = {}
                value = Fraction(0)
                for part in range(self.size):
                    ways = [exchanged(a, r) for a, r in _shifts(edit, self)]
                    cost, way = max(((gains.of(part, way), way) for way in ways), key=lambda found: found[0])
                    changes[part] = way
                    value += cost  # type: ignore[assignment]  # infinite if one is
                return Touched(value, changes, exact=False)
            case Anything():
                return self._everywhere(edit, gains, exact=True)
        raise self._refuse(edit)

    def __repr__(self) -> str:
        return f"partition({self.size}, by='position')"


def _shifts(edit: Records, cut: Cut) -> list[tuple[int, int]]:
    """What a chunk may see: a record that comes or goes is in it, and moves each of its ends by at most one."""
    if edit.both == INFINITY or edit.both > 20:
        raise cut._refuse(edit)
    most = int(edit.both)
    return [(a, r) for a in range(3 * most + 1) for r in range(3 * most + 1) if 0 < a + r <= 3 * most]
