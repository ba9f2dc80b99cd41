"""The query of a release: the kept rows of each unit, added up per group and bin as exact whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from viameter.tables.bounding.keeping import WEIGHT, Order, bounded, counted, needed
from viameter.tables.bounding.limits import Limits
from viameter.tables.bounding.projection import Projection, checked_groups
from viameter.tables.engines import Engine

__all__ = ["added_up", "contributions", "is_salted", "kept_rows"]


def contributions(
    rows: Any,
    *,
    engine: Engine,
    unit: str | None,
    groups: Sequence[str],
    totals: Mapping[str, str | int],
    limits: Limits,
    salt: str,
    bins: str | None = None,
    first: str | None = None,
    order: Literal["native", "portable"] = "native",
) -> Any:
    """Add up the kept rows of each unit: one row per group (and bin) that occurs.

    Parameters
    ----------
    rows
        An Ibis table.
    engine
        What runs it.
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
    first
        The column whose least values are kept first (NULL last), or None for a uniform sample of a unit's rows.
    order
        "native" orders rows by the engine's own hash, fast; "portable" by one that keeps the same rows on every engine.

    Returns
    -------
    The group columns, the bin, and the sums as decimal text: no engine's integers are wide enough for all.
    """
    projection = Projection(unit, checked_groups(groups), dict(totals), bins, first)
    table = projection.of(rows, engine=engine)
    return added_up(table, projection, limits=limits, order=Order(order, engine, salt))


def added_up(table: Any, projection: Projection, *, limits: Limits, order: Order) -> Any:
    """The same of a projected table, in which units, groups and all else have names of their own."""
    limits = needed(limits, projection)
    if _only_counts(projection, limits):
        kept = counted(table, projection, limits=limits, order=order)
        sums = {name: order.engine.exact_sum(kept[WEIGHT]) for name in projection.totals}
    else:
        kept = bounded(table, projection, limits=limits, order=order)
        sums = {
            name: order.engine.exact_sum(kept[projection.total_name(total)])
            if isinstance(total, str)
            else kept.count().cast("string")
            for name, total in projection.totals.items()
        }
    keys = {name: kept[inner] for name, inner in projection.names_back(totals=False).items()}
    return kept.group_by(**keys).aggregate(**sums) if keys else kept.aggregate(**sums)


def is_salted(projection: Projection, limits: Limits) -> bool:
    """Whether rows or groups are ordered by digests, so that a salt stands in the query."""
    limits = needed(limits, projection)
    return limits.groups is not None if _only_counts(projection, limits) else limits.is_limited


def kept_rows(
    rows: Any,
    *,
    engine: Engine,
    unit: str | None,
    groups: Sequence[str],
    totals: Sequence[str],
    limits: Limits,
    salt: str,
    bins: str | None = None,
    first: str | None = None,
    order: Literal["native", "portable"] = "native",
) -> Any:
    """The rows that `contributions` adds up: their unit, group columns, columns that are summed, and bin."""
    projection = Projection(unit, checked_groups(groups), {name: name for name in totals}, bins, first)
    table, limits, rank = projection.of(rows, engine=engine), needed(limits, projection), Order(order, engine, salt)
    kept = bounded(table, projection, limits=limits, order=rank)
    names = ({} if unit is None else {unit: "u"}) | projection.names_back(totals=True)
    return kept.select(**{name: kept[inner] for name, inner in names.items()})


def _only_counts(projection: Projection, limits: Limits) -> bool:
    """Whether the answer is a number of rows that no order of rows decides, and that units have limits in."""
    alike = projection.unit is not None and projection.bins is None and not projection.summed
    return alike and limits.is_limited and limits.rows is None
