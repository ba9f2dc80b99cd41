"""Questions in plain Python: rows as dicts, each with its unit, and the exact integers that a release starts from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from tests.tables.bounding import reference
from tests.tables.bounding.reference import Digest, portable

from viameter.tables.bounding import Limits
from viameter.tables.expressions import Column, Kind, Type, evaluate
from viameter.tables.keys import Keys
from viameter.tables.statistics import Bins, Statistic, Total, Units


@dataclass(frozen=True)
class Owned:
    """A row, and whose it is; None where it is its own unit."""

    unit: str | int | None
    values: dict[str, Any]


def owned(columns: dict[str, list[Any]], unit: str | None) -> list[Owned]:
    """Rows of a table; those of nobody are dropped."""
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if unit is None:
        return [Owned(None, row) for row in rows]
    return [Owned(row[unit], row) for row in rows if row[unit] is not None]


@dataclass(frozen=True)
class _Kept:
    place: int
    unit: str | int | None
    content: tuple[int | None, ...]


def integers(
    rows: Sequence[Owned],
    keys: Keys,
    limits: Limits,
    statistics: Sequence[Statistic],
    salt: str,
    digest: Digest = portable,
) -> list[list[int]]:
    """What an engine is to find, statistic by statistic; in the portable order, or by another digest."""
    histograms = list(dict.fromkeys((one.value.key, one.edges) for one in statistics if isinstance(one, Bins)))
    totals = [one for one in dict.fromkeys(statistics) if isinstance(one, Total)]
    read = [total for total in totals if total.value is not None]
    passes: list[tuple[list[Total], Bins | None]] = [(read, None)]
    if histograms:
        leaves = [_leaves(statistics, name) for name in histograms]
        passes = [(read if place == 0 else [], one) for place, one in enumerate(leaves)]
    groups = [_group(keys, row) for row in rows]
    found: dict[Statistic, list[int]] = {}
    for place, (wanted, bins) in enumerate(passes):
        kept = _kept(rows, groups, keys, limits, salt, digest, content=_content(wanted, bins))
        if place == 0:
            found |= {total: [0] * keys.size for total in totals}
            for row in kept:
                for total in totals:
                    value = 1 if total.value is None else row.content[wanted.index(total)]
                    assert value is not None
                    found[total][row.place] += value
            # A unit counts once in each of its groups, of which so many are kept as it may have groups or rows.
            once = Limits(groups=_smaller(limits.groups, limits.rows), per_group=1)
            units = kept if _of_rows(rows) else _kept(rows, groups, keys, once, salt, digest, content=lambda row: ())
            found[Units()] = [Counter(row.place for row in units)[group] for group in range(keys.size)]
        if bins is not None:
            for one in statistics:
                if isinstance(one, Bins) and (one.value.key, one.edges) == histograms[place]:
                    cells = Counter(
                        (row.place, row.content[-1] // one.ways) for row in kept if row.content[-1] is not None
                    )
                    found[one] = [cells[group, cell] for group in range(keys.size) for cell in range(one.cells)]
    return [found[one] for one in statistics]


def _first(row: Owned, limits: Limits) -> Any:
    """What decides which rows come first, as expressions read it; None is last."""
    name = limits.first_by
    if name is None:
        return None
    value = row.values[name]
    return evaluate(Column(name, Type(Kind.REAL)), row.values) if isinstance(value, float) else value


def _smaller(left: int | None, right: int | None) -> int | None:
    return min((limit for limit in (left, right) if limit is not None), default=None)


def _of_rows(rows: Sequence[Owned]) -> bool:
    return any(row.unit is None for row in rows)


def _leaves(statistics: Sequence[Statistic], name: tuple[Any, Any]) -> Bins:
    found = next(one for one in statistics if isinstance(one, Bins) and (one.value.key, one.edges) == name)
    return Bins(found.value, found.edges)


def _content(totals: Sequence[Total], bins: Bins | None) -> Callable[[Owned], tuple[int | None, ...]]:
    def content(row: Owned) -> tuple[int | None, ...]:
        summed: list[int | None] = [total.evaluate(row.values) for total in totals]
        return tuple(summed) if bins is None else (*summed, bins.evaluate(row.values))

    return content


def _group(keys: Keys, row: Owned) -> tuple[int, tuple[Any, ...]] | None:
    """The place of a row's group, and what the engine groups by; None for a row that is left out."""
    values = tuple(row.values[name] for name in keys.columns)
    if values in keys.groups:
        return keys.groups.index(values), (*_parts(values), *([1] if keys.other else []))
    return (len(keys.groups), (*(None for _ in values), 0)) if keys.other else None


def _parts(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The whole numbers and texts that a value is written as in a digest."""
    parts: list[Any] = []
    for value in values:
        if isinstance(value, datetime):
            day, time = (value.year, value.month, value.day), (value.hour, value.minute, value.second)
            parts += [*day, *time, value.microsecond]
        elif isinstance(value, date):
            parts += [value.year, value.month, value.day]
        else:
            parts.append(int(value) if isinstance(value, bool) else value)
    return tuple(parts)


def _kept(
    rows: Sequence[Owned],
    groups: Sequence[tuple[int, tuple[Any, ...]] | None],
    keys: Keys,
    limits: Limits,
    salt: str,
    digest: Digest,
    *,
    content: Callable[[Owned], tuple[int | None, ...]],
) -> list[_Kept]:
    of_groups = [(row, group) for row, group in zip(rows, groups, strict=True) if group is not None]
    if _of_rows(rows):
        return [_Kept(place, None, content(row)) for row, (place, _) in of_groups]
    place_of = {group: place for _, (place, group) in of_groups}
    given = [
        reference.Row(row.unit, group, content(row), _first(row, limits))
        for row, (_, group) in of_groups
        if row.unit is not None
    ]
    kept = reference.kept(given, (limits.rows, limits.groups, limits.per_group), salt, digest)
    return [_Kept(place_of[row.group], row.unit, row.content) for row in kept]
