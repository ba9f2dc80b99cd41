"""Cuts: maps that belong together, and how changes reach their parts.

- `records`: by what a record is. `partitions`, `overlapping`: parts by value that are disjoint, or are not.
- `rows`: by row id, by column, by position. `times`: spans and windows. `trees`: hierarchies.
- `attributes`: conditions on attributes. `graphs`: induced and incident subgraphs.
- `people`: contribution bounds, foreign keys. `given`: the whole, stabilities, patterns, constraints.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from viameter.errors import ParameterError, plain
from viameter.neighborhood.arguments import read_listed, read_values
from viameter.neighborhood.cuts.attributes import predicates
from viameter.neighborhood.cuts.base import Cut, Gains, Part, Touched, read_size
from viameter.neighborhood.cuts.given import constrained, opaque, patterns, whole
from viameter.neighborhood.cuts.graphs import by_source, incident, induced
from viameter.neighborhood.cuts.overlapping import Memberships, memberships, subsets
from viameter.neighborhood.cuts.partitions import Partition
from viameter.neighborhood.cuts.people import contributions, foreign_keys
from viameter.neighborhood.cuts.rows import ByColumn, ById, ByPosition, projections
from viameter.neighborhood.cuts.times import Intervals, intervals, windows
from viameter.neighborhood.cuts.trees import tree

BY = ("value", "id", "column", "time", "position")


def partition(
    parts: int | Iterable[Iterable[Hashable]], *, by: str = "value", values: int = 2, blanks: bool = False
) -> Cut:
    """Parts that do not overlap and hold everything: so many, or for each the values that it holds.

    `by` says what decides: the record's value, the id of its row or person, the column of a cell, the time (a part for
    each), or the position in an order. A part "by value" is taken to hold two or more values; `values=1` says that each
    holds just one, as the bins of a histogram do. With `blanks=True` other records are made blank in their places, and
    not cut out.

    >>> partition(3, by="value")
    partition(3, by='value')
    >>> partition([["a", "b"], ["c"]])
    memberships(<3 values>, parts=2)
    """
    if not isinstance(by, str) or by not in BY:
        raise ParameterError(f"by={plain(by)} is not what a partition can go by: expected one of {', '.join(BY)}")
    if isinstance(values, bool) or not isinstance(values, int) or values < 1:
        raise ParameterError(f"values={plain(values)}: expected 1, or 2 for two and more")
    if not isinstance(parts, int):
        return _listed(parts, by)
    read_size(parts, "parts")
    match by:
        case "id":
            return ById(parts, by, 2, blanks)
        case "column":
            return ByColumn(None, parts)
        case "time":
            return Intervals(tuple((time, time) for time in range(parts)), covers=True)
        case "position":
            return ByPosition(parts)
    return Partition(parts, by, min(values, 2), blanks)


def _listed(parts: Iterable[Iterable[Hashable]], by: str) -> Memberships:
    if by != "value":
        raise ParameterError(f"parts that list their values are by='value', not by={by!r}")
    holders: dict[Hashable, list[int]] = {}
    example = "[['a', 'b'], ['c']]"
    for place, listed in enumerate(read_listed(parts, "parts", example)):
        values = read_values(listed, f"parts[{place}]", "['a', 'b']")
        if not values:
            raise ParameterError(f"parts[{place}] holds no value: leave it out")
        for value in values:
            if value in holders:
                raise ParameterError(
                    f"parts {holders[value][0]} and {place} overlap, so this is no partition: "
                    "use memberships({value: parts}) if they are meant to"
                )
            holders[value] = [place]
    if not holders:
        raise ParameterError(f"parts=[] is no partition: expected e.g. {example}")
    return memberships(holders)


__all__ = [
    "Cut",
    "Gains",
    "Part",
    "Touched",
    "by_source",
    "constrained",
    "contributions",
    "foreign_keys",
    "incident",
    "induced",
    "intervals",
    "memberships",
    "opaque",
    "partition",
    "patterns",
    "predicates",
    "projections",
    "subsets",
    "tree",
    "whole",
    "windows",
]
