"""Which rows of each unit are kept: chosen by salted digests of the unit's own rows, and by nothing else.

Every group of a unit has a digest of (unit, group), every row one of (unit, group, what it adds). Rows of a unit are
ordered by these; what ties there is ordered by the values themselves, so that rows that still tie are the same in all
that the query sees, and it does not matter which of them is kept. Limits that follow from others are left out. What is
left cuts this order off:

- groups: the first so many groups in the order of their digests,
- per_group: in each group the first so many rows in the order of theirs,
- rows: of what is left the first so many in the order of rows' digests; beside a limit of groups alone, in the order by
  group and then row, so that one sort does for both.

A window sees one unit's rows, so adding or removing a unit changes what is kept of that unit alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.query.bounding.limits import Limits
from viameter.query.bounding.projection import Projection
from viameter.query.engines import native_digest, portable_digest

__all__ = ["FIRST", "WEIGHT", "Order", "bounded", "counted", "needed", "ordered"]

FIRST = "first"
"""The name in the query of the column that is true at a unit's first kept row in a group and false at its others."""
WEIGHT = "weight"
"""The name in the query of the column that says how many rows of a unit are kept in a group."""


_DIGESTS = {"native": native_digest, "portable": portable_digest}


@dataclass(frozen=True, slots=True)
class Order:
    """The digests that rows are ordered by: "native" by the engine's own hash, "portable" the same on every engine."""

    kind: str
    engine: str
    salt: str

    def __post_init__(self) -> None:
        if self.kind not in _DIGESTS:
            raise ParameterError(
                f"order={plain(self.kind)} is unknown: expected {' or '.join(repr(kind) for kind in _DIGESTS)}"
            )

    def digest(self, table: Any, names: Sequence[str]) -> Any:
        """The digest of the columns of that name."""
        return _DIGESTS[self.kind](self.engine, [table[name] for name in names], self.salt)


def needed(limits: Limits, projection: Projection) -> Limits:
    """The limits that have to be looked after: none where rows are units, none that follow from others."""
    if projection.unit is None:  # every row is a unit: one row, in one group
        return Limits()
    if not projection.groups:  # the whole table is one group, and the rows in it are all rows
        return Limits(per_group=limits.tightened(Limits(per_group=limits.rows)).per_group)
    return limits.reduced


def ordered(projection: Projection, *, limits: Limits, first: bool) -> bool:
    """Whether rows are put in the order of their digests; the limits are those `needed`."""
    return projection.unit is not None and (limits != Limits() or first)


def bounded(table: Any, projection: Projection, *, limits: Limits, order: Order, first: bool) -> Any:
    """The kept rows of a projected table, with the column `FIRST` if `first`; the limits are those `needed`."""
    import ibis

    if projection.unit is None:
        return table.mutate(**{FIRST: ibis.literal(True)}) if first else table
    if not ordered(projection, limits=limits, first=first):
        return table
    kept = _Keeping(table, projection, order).rows(limits, first=first)
    return kept.select(*table.columns, *([FIRST] if first else []))


def counted(table: Any, projection: Projection, *, per_group: int | None) -> Any:
    """How many rows of each unit are kept in each group, by counting alone: rows that add nothing but 1 are alike."""
    import ibis

    kept = table.group_by("u", *projection.group_names).aggregate(**{WEIGHT: table.count()})
    return kept if per_group is None else kept.mutate(**{WEIGHT: ibis.least(kept[WEIGHT], per_group)})


class _Keeping:
    """The windows of one query: the table with its digests, and the orders by them."""

    def __init__(self, table: Any, projection: Projection, order: Order) -> None:
        self.groups, self.content = projection.group_names, projection.content_names
        table = table.mutate(group_digest=order.digest(table, ["u", *self.groups]))
        if self.content:
            table = table.mutate(row_digest=order.digest(table, ["group_digest", *self.content]))
        self.table = table

    @property
    def _by_content(self) -> list[str]:
        """The order of rows within a group of a unit."""
        return ["row_digest", *self.content] if self.content else []

    def rows(self, limits: Limits, *, first: bool) -> Any:
        """The rows within the limits, which do not imply one another."""
        table, left = self.table, limits.rows
        if limits.groups is not None:
            table = self._in_first_groups(limits)
            left = None if limits.per_group is None else left
        elif limits.per_group is not None:
            table = self._first_in_each_group(table, limits.per_group)
        if left is not None:
            table = self._first_of_unit(table, left)
        if first:
            table = table if "within" in table.columns else self._first_in_each_group(table, None)
            table = table.mutate(**{FIRST: table["within"] == 0})
        return table

    def _in_first_groups(self, limits: Limits) -> Any:
        """Ranks that share one sort by unit: of the group, of the row, and of the group's first row."""
        import ibis

        by_group = ["group_digest", *self.groups]
        by_row = [*by_group, *self._by_content]
        group_window = ibis.window(group_by="u", order_by=by_group)
        row_window = ibis.window(group_by="u", order_by=by_row)
        table = self.table.mutate(
            group_rank=ibis.dense_rank().over(group_window),
            group_start=ibis.rank().over(group_window),
            row_rank=ibis.row_number().over(row_window),
        )
        table = table.mutate(within=table["row_rank"] - table["group_start"])
        kept = table["group_rank"] < limits.groups
        if limits.per_group is not None:
            kept &= table["within"] < limits.per_group
        elif limits.rows is not None:
            kept &= table["row_rank"] < limits.rows
        return table.filter(kept)

    def _first_in_each_group(self, table: Any, per_group: int | None) -> Any:
        import ibis

        window = ibis.window(group_by=["u", *self.groups], order_by=self._by_content or None)
        table = table.mutate(within=ibis.row_number().over(window))
        return table if per_group is None else table.filter(table["within"] < per_group)

    def _first_of_unit(self, table: Any, rows: int) -> Any:
        """The first rows of what is left; of rows that are the same, those first that come first in their group."""
        import ibis

        # Rows that add nothing but 1 have their group's digest.
        digest = "row_digest" if self.content else "group_digest"
        within = ["within"] if "within" in table.columns else []
        window = ibis.window(group_by="u", order_by=[digest, *self.groups, *self.content, *within])
        table = table.mutate(place=ibis.row_number().over(window))
        return table.filter(table["place"] < rows)
