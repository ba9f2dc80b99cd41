"""Kinds of records as a tree over their leaves, in which whole families of kinds are bounded at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

END = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Kinds `first` to `last` (exclusive) of the sorted ones, all of which begin with the same `depth` places.

    `rest` bounds what any of them can add with its further places, and `place` is the least further place (END: there
    is none).
    """

    first: int
    last: int
    depth: int
    place: int
    rest: int


class KindTree:
    """Kinds sorted by their places: each family splits into those that have its next place and those that do not."""

    def __init__(
        self, leaves: NDArray[np.int64], starts: NDArray[np.int64], *, place: NDArray[np.int64], weights: NDArray[Any]
    ) -> None:
        """Take flat kinds, the place of each leaf in the order of decision, and the weight at each place."""
        count = len(starts) - 1
        of_kind = np.repeat(np.arange(count), np.diff(starts))
        places = place[leaves]
        places = places[np.lexsort((places, of_kind))]
        # A kind that ends before another goes on comes after it: all that have a place then stand together.
        flat = np.insert(places, starts[1:], END)
        ends = starts[1:] + np.arange(1, count + 1)
        encoded = flat.astype(">u4").tobytes()
        bounds = [0, *(4 * ends).tolist()]
        texts = [encoded[a:b] for a, b in pairwise(bounds)]
        self.order = sorted(range(count), key=texts.__getitem__)
        """The kinds' own indices, in the order of this tree."""
        order = np.array(self.order, dtype=np.int64)
        running = np.concatenate(
            (np.zeros(1, dtype=weights.dtype), np.cumsum(np.append(weights, 0)[np.minimum(flat, len(weights))]))
        )
        self._flat = flat
        self._running = running
        self._starts = np.concatenate((np.zeros(1, dtype=np.int64), ends))[:-1][order]
        self._ends = running[ends[order]]
        self._split: dict[tuple[int, int, int], tuple[Family | None, Family | None]] = {}
        self.root = self._family(0, count, 0)

    def _family(self, first: int, last: int, depth: int) -> Family:
        at = self._starts[first:last] + depth
        rests = self._ends[first:last] - self._running[at]
        return Family(first, last, depth, int(self._flat[at[0]]), int(rests.max()))

    def split(self, family: Family) -> tuple[Family | None, Family | None]:
        """Return the kinds of the family that have its next place, which is then decided, and those that do not."""
        key = (family.first, family.last, family.depth)
        if key not in self._split:
            column = self._flat[self._starts[family.first : family.last] + family.depth]
            middle = family.first + int(np.searchsorted(column, family.place, side="right"))
            having = self._family(family.first, middle, family.depth + 1)
            self._split[key] = having, self._family(middle, family.last, family.depth) if middle < family.last else None
        return self._split[key]
