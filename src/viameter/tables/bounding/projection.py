"""The rows as the query sees them: unit, groups, totals, bin and place in order, under names of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.engines import Engine

__all__ = ["Projection", "Shape", "checked_groups"]


@dataclass(frozen=True, slots=True)
class Projection:
    """Which columns of a table take part, and what they are called in the query and in its result."""

    unit: str | None
    groups: tuple[str, ...]
    totals: Mapping[str, str | int]
    bins: str | None
    first: str | None = None
    """The column whose least values are kept first."""

    def __post_init__(self) -> None:
        for name in self.outputs:
            if self.outputs.count(name) > 1:
                raise ParameterError(f"the result would have two columns {name!r}: expected names that differ")
        for name, total in self.totals.items():
            if type(total) is not str and (type(total) is not int or total != 1):
                raise ParameterError(
                    f"total {name!r} is {plain(total)}: expected the name of a column of int64, or 1 to count rows"
                )

    @property
    def shape(self) -> Shape:
        """What is left of it without names."""
        totals = tuple(self.summed.index(total) if isinstance(total, str) else None for total in self.totals.values())
        return Shape(self.unit is not None, len(self.groups), totals, self.bins is not None, self.first is not None)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The columns of the result, in order."""
        return (*self.groups, *([] if self.bins is None else [self.bins]), *self.totals)

    @property
    def group_names(self) -> list[str]:
        """The names of the group columns in the query."""
        return [f"g{place}" for place in range(len(self.groups))]

    @property
    def summed(self) -> list[str]:
        """The columns that are summed, each once."""
        return list(dict.fromkeys(total for total in self.totals.values() if isinstance(total, str)))

    def total_name(self, column: str) -> str:
        """The name in the query of a column that is summed."""
        return f"t{self.summed.index(column)}"

    @property
    def added_names(self) -> list[str]:
        """The names in the query of what a row adds, beside the group that it adds to: totals and the bin."""
        return [*(self.total_name(column) for column in self.summed), *(["b"] if self.bins is not None else [])]

    @property
    def content_names(self) -> list[str]:
        """The same, and what rows are kept by: with the unit and the group, all that the query sees of a row."""
        return [*self.added_names, *(["o"] if self.first is not None else [])]

    def of(self, rows: Any, *, engine: Engine) -> Any:
        """The projected table: u (the unit), g0, ... (groups), t0, ... (what is summed), b (the bin), o (the order).

        Totals and bins are int64, which are equal only if they are the same; of other columns that is seen to.
        """
        columns = {name: engine.comparable(rows[column], name=column) for name, column in self._compared}
        columns |= {self.total_name(column): rows[column] for column in self.summed}
        if self.bins is not None:
            columns["b"] = rows[self.bins]
        if not columns:  # an engine has no table without columns
            import ibis

            columns["one"] = ibis.literal(1, "int8")
        return rows.select(**columns)

    @property
    def _compared(self) -> list[tuple[str, str]]:
        unit = [] if self.unit is None else [("u", self.unit)]
        first = [] if self.first is None else [("o", self.first)]
        return [*unit, *zip(self.group_names, self.groups, strict=True), *first]

    def names_back(self, *, totals: bool) -> dict[str, str]:
        """From names of the result to those of the query: groups and the bin, and the columns that are summed."""
        names = dict(zip(self.groups, self.group_names, strict=True))
        if totals:
            names |= {column: self.total_name(column) for column in self.summed if column not in names}
        if self.bins is not None:
            names[self.bins] = "b"
        return names


@dataclass(frozen=True, slots=True)
class Shape:
    """What projections have in common whose columns are only called otherwise."""

    has_unit: bool
    groups: int
    totals: tuple[int | None, ...]
    """For each, which of the columns that are summed it is; None where rows are counted."""
    has_bins: bool
    has_first: bool

    @property
    def projection(self) -> Projection:
        """A projection of this shape of what another has projected, in names that no person chose."""
        return Projection(
            "u" if self.has_unit else None,
            tuple(f"g{place}" for place in range(self.groups)),
            {f"n{place}": 1 if total is None else f"t{total}" for place, total in enumerate(self.totals)},
            "b" if self.has_bins else None,
            "o" if self.has_first else None,
        )


def checked_groups(groups: Sequence[str]) -> tuple[str, ...]:
    """The names of the group columns; one name alone is taken for a mistake."""
    if isinstance(groups, str):
        raise ParameterError(f"groups={plain(groups)} is one text: expected a list of names of columns")
    return tuple(groups)
