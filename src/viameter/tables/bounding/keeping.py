"""Which rows of each unit are kept: a uniform sample of the unit's own rows, chosen by salted digests of them.

Limits that follow from others are left out; with one row in each group, a limit on rows is one on groups. Then:

- groups: of a unit's groups a uniform sample of so many, those whose digests of (unit, group) are least.
- The rows of a unit in these groups come in a uniformly random order, that of their digests of (unit, group, what a row
  adds, ordinal among the unit's equal rows). Under `first by` a column that order is by the column (NULL last), and
  random among rows that agree in it.
- per_group: in this order a row is passed over if its group has so many before it.
- rows: what is left is cut off after so many.

Under a limit on rows alone, what is kept is thus a uniform sample without replacement of the unit's multiset of rows,
whatever they hold, by which groups they are asked for, and whatever else is asked.

Theorem
    For each salt, the multiset of rows kept of a unit is a function of the unit's own multiset of rows.
Proof
    Every window sees the rows of one unit. It orders them by columns of the query, and by digests, which are functions
    of these. Rows that agree in all columns get different ordinals, and the engine may choose which gets which: they
    are the same in all that the query sees, so that the multiset of (row, ordinal) does not depend on it. In the last
    orders, by digest and then by all columns and the ordinal, no two rows tie. Digests may tie; then columns decide.
    Values that an engine takes for equal are the same (see `Engine.comparable`), so that neither ordinals nor ties are
    given to rows that differ later.

Digests of different (unit, group, content, ordinal) are independent and uniform as far as the hash goes: with 64 bits
two of a unit's n rows tie with a chance of n^2/2^65.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.bounding.limits import Limits
from viameter.tables.bounding.projection import Projection
from viameter.tables.engines import Engine

__all__ = ["WEIGHT", "Order", "bounded", "counted", "needed"]

WEIGHT = "weight"
"""The name in the query of the column that says how many rows of a unit are kept in a group."""


@dataclass(frozen=True, slots=True)
class Order:
    """The digests that rows are ordered by: "native" by the engine's own hash, "portable" the same on every engine."""

    kind: str
    engine: Engine
    salt: str

    def __post_init__(self) -> None:
        if self.kind not in ("native", "portable"):
            raise ParameterError(f"order={plain(self.kind)} is unknown: expected 'native' or 'portable'")

    def digest(self, table: Any, names: Sequence[str]) -> Any:
        """The digest of the columns of that name."""
        return self.engine.digest(self.kind, [table[name] for name in names], self.salt)


def needed(limits: Limits, projection: Projection) -> Limits:
    """The limits that have to be looked after: none where rows are units, none that follow from others."""
    if projection.unit is None:  # every row is a unit: one row, in one group
        return Limits()
    if not projection.groups:  # the whole table is one group, and the rows in it are all rows
        return Limits(per_group=limits.tightened(Limits(per_group=limits.rows)).per_group)
    return limits.reduced


def bounded(table: Any, projection: Projection, *, limits: Limits, order: Order) -> Any:
    """The kept rows of a projected table; the limits are those `needed`."""
    if not limits.is_limited:
        return table
    kept = _with_group_digest(table, projection, order)
    if limits.rows is None and limits.per_group is None:
        kept = _in_first_groups(kept, projection, limits.groups)
    else:
        kept = _in_random_order(kept, projection, order, groups=limits.groups)
        if limits.per_group is not None:
            kept = _first(kept, projection, of=["u", *projection.group_names], most=limits.per_group)
        if limits.rows is not None:
            kept = _first(kept, projection, of=["u"], most=limits.rows)
    return kept.select(*table.columns)


def counted(table: Any, projection: Projection, *, limits: Limits, order: Order) -> Any:
    """How many rows of each unit are kept in each group, by counting alone: rows that add nothing but 1 are alike."""
    import ibis

    kept = table.group_by("u", *projection.group_names).aggregate(**{WEIGHT: table.count()})
    if limits.groups is not None:
        kept = _in_first_groups(_with_group_digest(kept, projection, order), projection, limits.groups)
    if limits.per_group is not None:
        kept = kept.mutate(**{WEIGHT: ibis.least(kept[WEIGHT], limits.per_group)})
    return kept


def _with_group_digest(table: Any, projection: Projection, order: Order) -> Any:
    return table.mutate(group_digest=order.digest(table, ["u", *projection.group_names]))


def _by_group(projection: Projection) -> list[str]:
    return ["group_digest", *projection.group_names]


def _in_first_groups(table: Any, projection: Projection, groups: int | None) -> Any:
    """The rows of the first groups of each unit."""
    import ibis

    window = ibis.window(group_by="u", order_by=_by_group(projection))
    table = table.mutate(group_rank=ibis.dense_rank().over(window))
    return table.filter(table["group_rank"] < groups)


def _in_random_order(table: Any, projection: Projection, order: Order, *, groups: int | None) -> Any:
    """The rows of the first groups of each unit, with what orders them; the ranks of groups and rows share one sort."""
    import ibis

    added, by_group = projection.added_names, _by_group(projection)
    if added:
        table = table.mutate(content_digest=order.digest(table, ["group_digest", *added]))
    content_digest = "content_digest" if added else "group_digest"
    leading = by_group if groups is not None else []
    by_content = dict.fromkeys([*leading, content_digest, *projection.group_names, *projection.content_names])
    window = ibis.window(group_by="u", order_by=list(by_content))
    # Rows that agree in everything have one rank, and follow one another.
    ranks = {"ordinal": ibis.row_number().over(window) - ibis.rank().over(window)}
    if groups is not None:
        ranks["group_rank"] = ibis.dense_rank().over(ibis.window(group_by="u", order_by=by_group))
    table = table.mutate(**ranks)
    if groups is not None:
        table = table.filter(table["group_rank"] < groups)
    return table.mutate(row_digest=order.digest(table, [content_digest, "ordinal"]))


def _first(table: Any, projection: Projection, *, of: list[str], most: int) -> Any:
    """The first rows of each unit, or of each of its groups, in their order."""
    import ibis

    leading = [] if projection.first is None else [table["o"].isnull(), "o"]
    ties = [*projection.group_names, *projection.content_names, "ordinal"]
    window = ibis.window(group_by=of, order_by=[*leading, "row_digest", *ties])
    table = table.mutate(place=ibis.row_number().over(window))
    return table.filter(table["place"] < most).drop("place")
