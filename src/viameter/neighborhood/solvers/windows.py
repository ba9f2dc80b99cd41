"""The worst window of consecutive times over leaves that cover spans of time, by a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viameter.arith import INFINITY, ZERO, Extended
from viameter.errors import ParameterError, plain
from viameter.neighborhood.solvers.worst import Unit, Worst, read_count, read_gains, same_length, whole_array


def worst_window(spans: Sequence[tuple[int, int]], gains: Sequence[Extended], *, width: int) -> Worst:
    """Return the largest total gain of the leaves that meet a window of `width` consecutive times.

    Leaf i covers the times from spans[i][0] to spans[i][1], both included. chosen is the first time of the window.

    >>> from fractions import Fraction
    >>> steps = [Fraction(m, 10) for m in (1, 2, 3, 1, 4)]
    >>> worst_window([(i, i) for i in range(5)], steps, width=3)
    Worst(value=Fraction(4, 5), chosen=2, exact=True)
    """
    width = read_count(width, name="width", least=1)
    read = read_gains(gains)
    starts, ends = read_spans(spans)
    same_length("spans", starts, "gains", read)
    if not read:
        return Worst(ZERO, None)
    for start, gain in zip(starts, read, strict=True):
        if isinstance(gain, float):
            return Worst(INFINITY, start)
    unit = Unit.of(read)
    units = [unit.count(gain) for gain in read]
    heights = whole_array(units, most=2 * sum(units))
    # A window that starts at x meets the leaf for start - width < x <= end.
    far = farthest(starts, ends, width)
    times = whole_array([*(start - width + 1 for start in starts), *(end + 1 for end in ends)], most=far)
    times, jumps = gathered(times, np.concatenate((heights, -heights)))
    return answer(unit, times, np.cumsum(jumps), starts)


def read_spans(spans: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Take spans of time as their first and their last times."""
    starts, ends = [], []
    for i, span in enumerate(spans):
        if not isinstance(span, Sequence) or len(span) != 2:
            raise ParameterError(f"spans[{i}]={plain(span)}: expected a pair (first time, last time)")
        start, end = span
        if type(start) is not int or type(end) is not int:
            raise ParameterError(f"spans[{i}] is ({plain(start)}, {plain(end)}): expected two whole numbers")
        if start > end:
            raise ParameterError(f"spans[{i}] is ({start}, {end}): expected a first time that is not after the last")
        starts.append(start)
        ends.append(end)
    return starts, ends


def farthest(starts: list[int], ends: list[int], width: int) -> int:
    """Return a bound on the size of all times that a sweep looks at, and on their differences."""
    return 2 * (max(map(abs, (*starts, *ends))) + width + 1)


def gathered(times: NDArray[Any], changes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sort changes by time, all of one time as one: between them there is no window."""
    order = np.argsort(times, kind="stable")
    times, changes = times[order], changes[order]
    first = np.concatenate(([0], np.flatnonzero(times[1:] != times[:-1]) + 1))
    return times[first], np.add.reduceat(changes, first)


def answer(unit: Unit, times: NDArray[Any], values: NDArray[Any], starts: list[int]) -> Worst:
    """Return the largest of the values that windows from these times on have."""
    best = int(np.argmax(values))
    # Nothing is before the first span: a window that starts there covers whatever an earlier one does.
    return Worst(unit.value(int(values[best])), max(int(times[best]), min(starts)), unit.exact)
