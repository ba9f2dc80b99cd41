"""Parts of a table, of which a unit can touch a few: how many, and what budgets of parts cost together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viameter import neighborhood as nb
from viameter.composition import compose
from viameter.core import Measure, Measurement, Space, by
from viameter.neighborhood.changes import Change, Moved
from viameter.neighborhood.cuts import Cut, Touched
from viameter.neighborhood.cuts.base import Gains
from viameter.neighborhood.laws import OfMeasurement
from viameter.neighborhood.released import Released, composition_over_parts
from viameter.neighborhood.solvers import worst_at_most
from viameter.tables.units import Unit


@dataclass(frozen=True, eq=False, repr=False)
class FewOfParts(Cut):
    """Parts of which one unit touches at most so many, any of them, each by one step: its rows there are others."""

    per_step = True
    names: tuple[str, ...]
    most: int

    def __len__(self) -> int:
        return len(self.names)

    def has_outside(self, part: int) -> bool:
        """Nothing is said of it."""
        return False

    def label(self, part: int) -> str:
        """Which rows they are."""
        return self.names[part]

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """The parts that cost most, as many as there may be."""
        found = worst_at_most(gains.column(Moved(1)), self.most)
        return Touched(found.value, dict.fromkeys(found.chosen, Moved(1)), exact=False)

    def __repr__(self) -> str:
        return f"<{len(self.names)} parts, of which a unit touches {self.most} at most>"


def most_touched(unit: Unit, *, fanout: int, parts_per_unit: int | None, size: int) -> int:
    """How many of so many disjoint sets of rows change at most if one unit does.

    A row, or each row that was joined to it, is in one part; a row that turns into another leaves one and enters one. A
    unit that is kept in so many parts is in others after its rows were replaced. Else it may be in all of them.
    """
    if unit.rows_without_limit is not None:
        touched = unit.rows_without_limit * fanout
    else:
        touched = size if parts_per_unit is None else parts_per_unit
    return min(touched * (2 if unit.replaces else 1), size)


def released_over(
    cut: Cut, members: Sequence[Measurement], *, unit: Unit, space: Space, measure: Measure, made_by: str
) -> Released:
    """All members as one measurement, which costs what the worst touch pattern of a unit costs."""
    batch = compose(space, members, measure=measure)
    # Each member is private for all rows, and looks at those of its part alone.
    leaves = [
        nb.leaf(part, OfMeasurement(member), granularity=unit.granularity, mode="common")
        for part, member in zip(cut, batch.members, strict=True)
    ]
    composed = nb.compose(unit.granularity, leaves, measure=measure)
    return Released(
        input_space=space,
        measure=measure,
        function=batch.function,
        bound=by(composition_over_parts, composed=composed),
        members=batch.members,
        rule=batch.rule,
        composed=composed,
        made_by=made_by,
    )
