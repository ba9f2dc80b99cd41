"""Cuts by time: spans of a stream's times, windows that slide, one part for each time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from viameter.arith import INFINITY, Extended
from viameter.errors import ParameterError
from viameter.neighborhood.arguments import read_listed
from viameter.neighborhood.changes import Anything, Change, Events, Person, Shifted, Steps, Swap
from viameter.neighborhood.cuts.base import Gains, Touched, read_size, total
from viameter.neighborhood.cuts.records import RecordCut
from viameter.neighborhood.solvers import worst_overlap, worst_pair, worst_window

MOST_LISTED = 10**6
"""How many memberships of times in spans are listed for pairs of times."""


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(RecordCut):
    """Each part keeps the records of a span of times, both ends included."""

    spans: tuple[tuple[int, int], ...]
    covers: bool = False
    """Whether every record is at a time of one of the spans."""

    alike_outside = False

    def has_outside(self, part: int) -> bool:
        """If another span has times that are not in this one: others need not be times of the data."""
        first, last = self.spans[part]
        return self._first < first or last < self._last

    @cached_property
    def _first(self) -> int:
        return min(start for start, _ in self.spans)

    @cached_property
    def _last(self) -> int:
        return max(end for _, end in self.spans)

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def width(self) -> int:
        """The most spans that have a time in common."""
        return int(worst_window(self.spans, [Fraction(1)] * len(self.spans), width=1).value)

    def label(self, part: int) -> str:
        """Its times."""
        start, end = self.spans[part]
        return f"time {start}" if start == end else f"times {start} to {end}"

    def parts_of(self, record: Any) -> frozenset[int]:
        """The spans that hold its time; records are times in examples."""
        time = record.time
        return frozenset(part for part, (start, end) in enumerate(self.spans) if start <= time <= end)

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """A window of times touches the spans that it meets; a person, all."""
        match edit:
            case Events(count=1):
                return self._come(edit, gains)  # an event that turns into another stays at its time
            case Events(count=count, span=span) if span != INFINITY:
                return self._window(int(min(count, span)), int(span), gains)
            case Person(rows=rows, moments=moments) if self._are_few(rows, moments):
                return self._person(edit, gains)
            case Person(moments=moments):
                changes: dict[int, Change] = {
                    part: Person(edit.rows, self._moments(part, moments), edit.alters) for part in range(len(self))
                }
                value = total([gains.of(part, change) for part, change in changes.items()])
                return Touched(value, changes)
            case Anything():
                return self._everywhere(edit, gains, exact=True)
        return super().worst(edit, gains)

    def _are_few(self, rows: Steps, moments: Steps) -> bool:
        """Whether a person's records may be at some of the times only, and at which is to be found out."""
        if moments == INFINITY:
            return rows != INFINITY
        return min(rows, moments) < self._last - self._first + 1

    def _moments(self, part: int, moments: Steps) -> Steps:
        start, end = self.spans[part]
        return moments if moments == INFINITY else min(moments, end - start + 1)

    def _window(self, most: int, width: int, gains: Gains) -> Touched:
        """Up to `most` events within so many times; fewer than there are times may be anywhere among them."""
        longest = max(end - start + 1 for start, end in self.spans)
        counts = range(1, min(width, longest) + 1)
        columns = [gains.column(Events(min(most, count), count)) for count in counts]
        if all(column is columns[0] or column == columns[0] for column in columns):
            found = worst_window(self.spans, columns[0], width=width)
        else:
            tables = [
                [Fraction(0), *costs[: end - start + 1]]
                for costs, (start, end) in zip(zip(*columns, strict=True), self.spans, strict=True)
            ]
            found = worst_overlap(self.spans, tables, width=width)
        first, changes = found.chosen, dict[int, Change]()
        for part, (start, end) in enumerate(self.spans):
            common = min(end, first + width - 1) - max(start, first) + 1
            if common > 0:
                changes[part] = Events(min(most, common), common)
        before = tuple(Moment(time) for time in range(first, first + width))
        return Touched(found.value, changes, found.exact and most >= width, before, (), self._image)

    def _one(self, costs: Sequence[Extended]) -> tuple[Extended, Any, bool]:
        found = worst_window(self.spans, costs, width=1)
        return found.value, Moment(found.chosen), found.exact

    def _two(
        self, cross: Sequence[Extended], both: Sequence[Extended], edit: Change
    ) -> tuple[Extended, tuple[Any, Any], bool]:
        times = sorted({start for start, _ in self.spans} | {end + 1 for _, end in self.spans})
        if len(times) * self.width > MOST_LISTED:
            # Two times apart cost no more than twice the worst one, if spans that hold both are counted by halves.
            halves = [max(one, two / 2) for one, two in zip(cross, both, strict=True)]
            found = worst_window(self.spans, halves, width=1)
            return found.value * 2, (Moment(found.chosen), Moment(found.chosen)), False
        starts: dict[int, list[int]] = {}
        ends: dict[int, list[int]] = {}
        for part, (start, end) in enumerate(self.spans):
            starts.setdefault(start, []).append(part)
            ends.setdefault(end + 1, []).append(part)
        open_now: set[int] = set()
        kinds: list[frozenset[int]] = []
        for time in times:
            open_now.difference_update(ends.get(time, ()))
            open_now.update(starts.get(time, ()))
            kinds.append(frozenset(open_now))
        if self.covers:
            known = [place for place, kind in enumerate(kinds) if kind]
            times, kinds = [times[place] for place in known], [kinds[place] for place in known]
        result = worst_pair(kinds, cross=cross, both=both, plural=[True] * len(kinds))
        old, new = result.chosen
        # Whether an edge of a policy or a short way leads from one time to another is not known.
        exact = result.exact and not isinstance(edit, Swap | Shifted)
        return result.value, (Moment(times[old]), Moment(times[new])), exact

    def __repr__(self) -> str:
        if self.covers and all(start == end for start, end in self.spans):
            return f"partition({len(self.spans)}, by='time')"
        return f"intervals(<{len(self.spans)} spans>)"


@dataclass(frozen=True, slots=True)
class Moment:
    """An event that was made up to show a touch pattern, by its time."""

    time: int

    def __repr__(self) -> str:
        return f"<an event at time {self.time}>"


def intervals(spans: Iterable[tuple[int, int]]) -> Intervals:
    """Parts that keep spans of time, given by their first and last time; they may overlap.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> weeks = nb.intervals([(0, 6), (7, 13), (3, 9)])
    >>> nb.compose(nb.event(), [nb.leaf(week, vm.pure("0.1")) for week in weeks]).loss
    pure(1/5)
    """
    read = []
    for number, span in enumerate(read_listed(spans, "spans", "[(0, 6), (7, 13)]")):
        ends = tuple(read_listed(span, f"spans[{number}]", "(0, 6)"))
        if len(ends) != 2 or any(type(end) is not int for end in ends) or ends[0] > ends[1]:
            raise ParameterError(
                f"spans[{number}] is no span of times: expected (first, last), integers, first <= last"
            )
        read.append((ends[0], ends[1]))
    if not read:
        raise ParameterError("spans=[] has no parts: expected e.g. [(0, 6), (7, 13)]")
    return Intervals(tuple(read))


def windows(*, length: int, horizon: int, step: int = 1) -> Intervals:
    """Windows of so many times that slide over a stream, whose times are those from 0 to just before the horizon.

    >>> from viameter import neighborhood as nb
    >>> [nb.windows(length=7, horizon=28, step=7).label(part) for part in range(2)]
    ['times 0 to 6', 'times 7 to 13']
    """
    for name, value in (("length", length), ("horizon", horizon), ("step", step)):
        read_size(value, name)
    if length > horizon:
        raise ParameterError(f"length={length} is more than the horizon={horizon}: no window fits")
    spans = tuple((start, start + length - 1) for start in range(0, horizon - length + 1, step))
    # Times of the stream that no window holds, between windows or after the last, are outside of all of them.
    return Intervals(spans, covers=step <= length and spans[-1][1] == horizon - 1)
