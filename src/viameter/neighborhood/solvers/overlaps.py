"""The worst window of consecutive times where leaves cost by how much of their span is in it, by a sweep."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from viameter.arith import INFINITY, ZERO, Extended
from viameter.neighborhood.solvers.contribution import read_rows
from viameter.neighborhood.solvers.windows import answer, farthest, gathered, read_spans
from viameter.neighborhood.solvers.worst import Unit, Worst, read_count, same_length, whole_array


def worst_overlap(spans: Sequence[tuple[int, int]], tables: Sequence[Sequence[Extended]], *, width: int) -> Worst:
    """Return the largest total cost of a window of `width` consecutive times, by how much it overlaps each leaf.

    Leaf i costs max(tables[i][: m + 1]) where m times are common to its span and the window; a table that is shorter
    goes on with its last entry. chosen is the first time of the window. The time needed goes with the number of places
    where the slope of a table changes, not with the length of spans and windows.

    >>> from fractions import Fraction
    >>> linear = [Fraction(m, 10) for m in range(4)]
    >>> worst_overlap([(0, 4), (3, 9)], [linear, linear], width=3)
    Worst(value=Fraction(1, 2), chosen=2, exact=True)
    """
    width = read_count(width, name="width", least=1)
    starts, ends = read_spans(spans)
    rows = read_rows(tables, name="tables")
    same_length("spans", starts, "tables", rows)
    if not rows:
        return Worst(ZERO, None)
    distinct = {id(row): row for row in rows}
    unit = Unit.of(gain for row in distinct.values() for gain in row)
    shapes = {key: _Shape(row, unit) for key, row in distinct.items()}
    offsets = dict(zip(shapes, np.cumsum([0, *(len(shape.bends) for shape in shapes.values())]).tolist(), strict=False))
    most = [min(width, end - start + 1) for start, end in zip(starts, ends, strict=True)]
    reachable = 0
    counts, firsts, last_slopes = [], [], []
    for start, row, overlap in zip(starts, rows, most, strict=True):
        shape = shapes[id(row)]
        if shape.endless is not None and shape.endless <= overlap:
            return Worst(INFINITY, start)
        reachable += shape.height(overlap)
        counts.append(bisect_left(shape.bends, overlap))
        firsts.append(offsets[id(row)])
        last_slopes.append(shape.slope(overlap))
    # Values and times are multiplied with each other: both fit, or neither is trusted to.
    far = max(4 * reachable, farthest(starts, ends, width))
    bends = whole_array([m for shape in shapes.values() for m in shape.bends], most=far)
    turns = whole_array([turn for shape in shapes.values() for turn in shape.turns], most=far)
    begun = np.cumsum([0, *counts])
    of_leaf = np.arange(begun[-1]) + np.repeat(np.array(firsts) - begun[:-1], counts)
    # The overlap rises by one a step from start - width, and falls to 0 at end + 1; it stops rising at its most.
    rise = whole_array([start - width for start in starts], most=far)
    fall = whole_array([end + 1 for end in ends], most=far)
    top = whole_array(most, most=far)
    stop = -whole_array(last_slopes, most=far)
    turning = [
        (np.repeat(rise, counts) + bends[of_leaf], turns[of_leaf]),
        (np.repeat(fall, counts) - bends[of_leaf], turns[of_leaf]),
        (rise + top, stop),
        (fall - top, stop),
    ]
    times, changes = gathered(*(np.concatenate(columns) for columns in zip(*turning, strict=True)))
    slopes = np.cumsum(changes)
    climbs = np.cumsum(slopes[:-1] * np.diff(times))
    return answer(unit, times, np.concatenate((np.zeros(1, dtype=slopes.dtype), climbs)), starts)


class _Shape:
    """A table in units up to its first infinite entry: heights, and where the slope changes and by how much."""

    def __init__(self, row: list[Extended], unit: Unit) -> None:
        self.endless = next((m for m, gain in enumerate(row) if isinstance(gain, float)), None)
        self.heights = [0]
        for gain in row[1 : self.endless]:
            self.heights.append(max(self.heights[-1], unit.count(gain)))
        slopes = [0, *(high - low for low, high in pairwise(self.heights)), 0]
        changes = [(m, after - before) for m, (before, after) in enumerate(pairwise(slopes)) if after != before]
        self.bends = [m for m, _ in changes]
        self.turns = [turn for _, turn in changes]

    def height(self, overlap: int) -> int:
        return self.heights[min(overlap, len(self.heights) - 1)]

    def slope(self, overlap: int) -> int:
        return self.heights[overlap] - self.heights[overlap - 1] if overlap < len(self.heights) else 0
