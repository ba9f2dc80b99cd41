"""The query of a release: the kept rows of each unit, added up per group and bin as exact whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from viameter.query.bounding.keeping import FIRST, WEIGHT, Order, bounded, counted, needed, ordered
from viameter.query.bounding.limits import Limits
from viameter.query.bounding.projection import Projection, checked_groups
from viameter.query.engines import exact_sum

__all__ = ["contributions", "is_salted", "kept_rows"]


def contributions(
    rows: Any,
    *,
    engine: str,
    unit: str | None,
    groups: Sequence[str],
    totals: Mapping[str, str | int],
    limits: Limits,
    salt: str,
    bins: str | None = None,
    units: str | None = None,
    order: Literal["native", "portable"] = "native",
) -> Any:
    """Add up the kept rows of each unit: one row per group (and bin) that occurs.

    Parameters
    ----------
    rows
        An Ibis table.
    engine
        What runs it: "duckdb", "postgres" or "pyspark".
    unit
        The column of units (text or whole numbers, never NULL), or None if every row is a unit of its own.
    groups
        The columns to group by; NULL is a group of its own. With none (and no bins) the result is one row.
    totals
        Name of an output column to the int64 column (never NULL) that is summed, or to 1 to count rows.
    limits
        What is kept of each unit.
    salt
        Text that decides, with a unit's own rows, which of them are kept; secret, and another for each release.
    bins
        An int64 column (NULL is a bin of its own) by which the sums are split further, or None.
    units
        Name of an output column: how many units have kept rows in the group. Where bins are given a unit is counted
        once in each group, in the bin of its first kept row there.
    order
        "native" orders rows by the engine's own hash, fast; "portable" by one that keeps the same rows on every engine.

    Returns
    -------
    The group columns, the bin, the sums as decimal text (no engine's integers are wide enough for all), and the count
    of units as an int64.
    """
    projection = Projection(unit, checked_groups(groups), dict(totals), bins, units)
    table, limits, rank = projection.of(rows, engine=engine), needed(limits, projection), Order(order, engine, salt)
    names = projection.names_back(totals=False)
    if _only_counts(projection, limits):
        kept = counted(table, projection, per_group=limits.per_group)
        sums = {name: exact_sum(engine, kept[WEIGHT]) for name in projection.totals}
        sums |= {} if units is None else {units: kept.count()}
        return _added_up(kept, names, sums)
    first = _knows_first(projection, limits)
    kept = bounded(table, projection, limits=limits, order=rank, first=first)
    sums = {
        name: exact_sum(engine, kept[projection.total_name(total)])
        if isinstance(total, str)
        else kept.count().cast("string")
        for name, total in projection.totals.items()
    }
    if units is not None:
        sums[units] = _units(kept, unit, first=first)
    return _added_up(kept, names, sums)


def is_salted(
    *,
    unit: str | None,
    groups: Sequence[str],
    totals: Mapping[str, str | int],
    limits: Limits,
    bins: str | None = None,
    units: str | None = None,
) -> bool:
    """Whether `contributions` orders rows by digests, so that a salt stands in its query."""
    projection = Projection(unit, checked_groups(groups), dict(totals), bins, units)
    limits = needed(limits, projection)
    is_ordered = ordered(projection, limits=limits, first=_knows_first(projection, limits))
    return is_ordered and not _only_counts(projection, limits)


def kept_rows(
    rows: Any,
    *,
    engine: str,
    unit: str | None,
    groups: Sequence[str],
    totals: Sequence[str],
    limits: Limits,
    salt: str,
    bins: str | None = None,
    order: Literal["native", "portable"] = "native",
) -> Any:
    """The rows that `contributions` adds up: their unit, group columns, columns that are summed, and bin."""
    projection = Projection(unit, checked_groups(groups), {name: name for name in totals}, bins, None)
    table, limits, rank = projection.of(rows, engine=engine), needed(limits, projection), Order(order, engine, salt)
    kept = bounded(table, projection, limits=limits, order=rank, first=False)
    names = ({} if unit is None else {unit: "u"}) | projection.names_back(totals=True)
    return kept.select(**{name: kept[inner] for name, inner in names.items()})


def _only_counts(projection: Projection, limits: Limits) -> bool:
    """Whether the answer is a count of rows or units that no order of rows decides and that needs the units at all."""
    alike = projection.unit is not None and projection.bins is None
    alike = alike and not projection.summed
    return (
        alike
        and limits.rows is None
        and limits.groups is None
        and (limits.per_group is not None or projection.units is not None)
    )


def _knows_first(projection: Projection, limits: Limits) -> bool:
    """Whether units are counted by their first rows. Where rows are ranked within groups anyway, a unit's first in its
    group is known; elsewhere units are counted without it, unless it must be known for its bin.
    """
    is_ranked = limits.groups is not None or limits.per_group is not None
    return projection.units is not None and (projection.bins is not None or is_ranked)


def _added_up(kept: Any, names: Mapping[str, str], sums: Mapping[str, Any]) -> Any:
    keys = {name: kept[inner] for name, inner in names.items()}
    if not sums:
        return kept.select(**keys).distinct()
    return kept.group_by(**keys).aggregate(**sums) if keys else kept.aggregate(**sums)


def _units(kept: Any, unit: str | None, *, first: bool) -> Any:
    if first:
        return kept.count(where=kept[FIRST])
    return kept.count() if unit is None else kept["u"].nunique()
