"""Collecting: passes of an engine over the rows kept of units give the integers of all statistics, group by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from viameter.core.deadlines import stop_if_given_up, while_awaited
from viameter.sampling.entropy import SystemEntropy
from viameter.spaces import Array
from viameter.tables.bounding import Limits, statement
from viameter.tables.engines import WEIGHT_OF_KEY, Statement, run
from viameter.tables.expressions import Column, Type, to_ibis, with_columns
from viameter.tables.keys import LISTED, Keys
from viameter.tables.rows import RESERVED, Rows
from viameter.tables.statistics import Bins, Statistic, Total, Units

Order = Literal["native", "portable"]
Progress = Callable[[str], None]
MOST = 2**62 - 1
"""Where sums stop: that brings two of them no further apart, and noise is added within 64 bits."""
Cell = tuple[int | None, Any]
"""A group by its place, and a bin in it."""
BIN, FIRST = f"{RESERVED}bin", f"{RESERVED}first"


@dataclass(frozen=True, slots=True)
class Collecting:
    """How the integers of a question are found: by which keys, of which rows of a unit, in which order of rows."""

    keys: Keys
    limits: Limits
    order: Order = "native"
    progress: Progress | None = None

    def __call__(self, rows: Rows, statistics: Sequence[Statistic]) -> list[Array]:
        """The integers of each statistic: by group, and by cell within a group."""
        salt = fresh_salt()
        found: dict[Statistic, Array] = {}
        for limits, counted, bins in self._passes(rows, list(dict.fromkeys(statistics))):
            # An engine that answers at once never tells how far it is, and so is never stopped.
            stop_if_given_up()
            found |= self._pass(rows, counted, bins, limits=limits, salt=salt)
        return [_merged(found[_leaves(one)], one) if isinstance(one, Bins) else found[one] for one in statistics]

    def compile(self, rows: Rows, statistics: Sequence[Statistic]) -> None:
        """Compile all queries, and refuse those that are too long; what runs later finds them."""
        for limits, counted, bins in self._passes(rows, list(dict.fromkeys(statistics))):
            self._statement(rows, _named(counted), bins, limits, fresh_salt(), is_limited=True)

    def _passes(
        self, rows: Rows, wanted: Sequence[Statistic]
    ) -> Iterator[tuple[Limits, Sequence[Total | Units], Bins | None]]:
        """One pass for all that have the same limits, and one more for each further column by bins."""
        by_limits: dict[Limits, list[Total | Units]] = {}
        for one in wanted:
            if not isinstance(one, Bins):
                # Rows without names are counted one by one, also where units are asked for.
                limits = self.limits if rows.unit is None else one.limits(self.limits)
                by_limits.setdefault(limits, []).append(one)
        for bins in dict.fromkeys(_leaves(one) for one in wanted if isinstance(one, Bins)):
            yield self.limits, by_limits.pop(self.limits, []), bins
        for limits, counted in by_limits.items():
            yield limits, counted, None

    def _pass(
        self, rows: Rows, counted: Sequence[Total | Units], bins: Bins | None, *, limits: Limits, salt: str
    ) -> dict[Statistic, Array]:
        names = _named(counted)
        query = self._statement(rows, names, bins, limits, salt)
        answered = run(rows.on, query, progress=self.progress)
        result: dict[str, list[Any]] = {name: [row[name] for row in answered] for name in query.columns}
        places = self._places(result)
        cells = list(zip(places, result[BIN] if bins is not None else [None] * len(places), strict=True))
        found: dict[Statistic, Array] = {one: self._added(cells, result[name]) for name, one in names.items()}
        if bins is not None:
            found[bins] = self._binned(cells, result[BIN + "_rows"], bins)
        return found

    def _statement(
        self,
        rows: Rows,
        names: Mapping[str, Total | Units],
        bins: Bins | None,
        limits: Limits,
        salt: str,
        *,
        is_limited: bool = False,
    ) -> Statement:
        """The query of one pass, as text."""
        read = {name: one for name, one in names.items() if isinstance(one, Total) and one.value is not None}
        summed: dict[str, str | int] = {name: name if name in read else 1 for name in names}
        if bins is not None:
            summed[BIN + "_rows"] = 1
        first = None if rows.unit is None else limits.first_by

        def made() -> Any:
            # All is read of the rows as they are: keys that are not listed are gone once groups are marked.
            table = rows.expression
            columns = {name: total.column(table) for name, total in read.items()}
            if bins is not None:
                columns[BIN] = bins.column(table)
            if first is not None:
                columns[FIRST] = to_ibis(Column(first, rows.schema[first]), table)
            return self.keys.mark(rows.with_expression(lambda table: with_columns(table, columns)) if columns else rows)

        return statement(
            rows.on,
            made,
            known_by=(rows.expression.op(), self._kinds(rows, first), self.keys, tuple(names.values()), bins),
            weight=len(self.keys.groups) * (len(self.keys.columns) + 1) * WEIGHT_OF_KEY,
            unit=rows.unit if limits.is_limited else None,
            groups=self.keys.group_columns(),
            totals=summed,
            bins=None if bins is None else BIN,
            first=None if first is None else FIRST,
            limits=limits,
            salt=salt,
            order=self.order,
            is_limited=is_limited,
        )

    def _kinds(self, rows: Rows, first: str | None) -> tuple[Type, ...]:
        """What the columns of keys, and that which rows are kept by, are taken for, which decides how they compare."""
        return tuple(rows.schema[name] for name in (*self.keys.columns, *([] if first is None else [first])))

    def _places(self, result: dict[str, list[Any]]) -> list[int | None]:
        """The group of each row of the engine's answer."""
        columns = [result[name] for name in self.keys.columns]
        size = len(next(iter(result.values()), ()))
        listed = result[LISTED] if self.keys.other else [True] * size
        known: dict[tuple[Any, ...], int | None] = {}
        groups = list(zip(*columns, listed, strict=True)) if columns else [(True,)] * size
        place = self.keys.finder()
        for group in while_awaited(groups):
            if group not in known:
                known[group] = place(group[:-1], bool(group[-1])) if columns else 0
        return [known[group] for group in groups]

    def _added(self, cells: list[Cell], values: list[Any]) -> Array:
        """By group, the sum over the bins of that group, if there are any."""
        exact = [0] * self.keys.size
        for (place, _), value in _one_each(cells, values).items():
            if place is not None:
                exact[place] += value
        return _saturated(exact)

    def _binned(self, cells: list[Cell], values: list[Any], bins: Bins) -> Array:
        exact = [0] * (self.keys.size * bins.leaves)
        for (place, leaf), value in _one_each(cells, values).items():
            # Rows without a value are in no bin.
            if place is not None and leaf is not None:
                exact[place * bins.leaves + int(leaf)] = value
        # Leaves stop early enough for their sums to stay within 62 bits.
        return _saturated(exact, MOST // bins.leaves)


def _named(counted: Sequence[Total | Units]) -> dict[str, Total | Units]:
    return {f"{RESERVED}total_{place}": one for place, one in enumerate(counted)}


def _one_each(cells: list[Cell], values: list[Any]) -> dict[Cell, int]:
    """One number for each cell: the engine's groups are different ones, and should two of them look the same here, they
    must not be added up, since a unit has its limits in each; the larger number moves no further than both.
    """
    found: dict[Cell, int] = {}
    for cell, value in while_awaited(zip(cells, values, strict=True)):
        number = int(value)
        found[cell] = max(found[cell], number) if cell in found else number
    return found


def fresh_salt() -> str:
    """128 secret bits as text: which rows are kept of a unit is decided anew for each release."""
    return format(SystemEntropy().stream(16).bits(128), "032x")


def _leaves(bins: Bins) -> Bins:
    return Bins(bins.value, bins.edges)


def _merged(leaves: Array, bins: Bins) -> Array:
    """Rows by bin from rows by leaf."""
    if bins.ways == 1:
        return leaves
    stop_if_given_up()
    table = leaves.reshape(-1, bins.leaves)
    padded = np.pad(table, ((0, 0), (0, bins.cells * bins.ways - bins.leaves)))
    merged: Array = padded.reshape(len(table), bins.cells, bins.ways).sum(axis=2).reshape(-1)
    return merged


def _saturated(numbers: list[int], most: int = MOST) -> Array:
    return np.array([min(max(number, -most), most) for number in while_awaited(numbers)], dtype=np.int64)
