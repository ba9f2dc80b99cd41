"""Dynamic programming: one option for each part, so that what all use up stays within bounds, at the largest gain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import nlargest
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viameter.neighborhood.solvers.worst import whole_array

Use: TypeAlias = tuple[int, ...]
Options: TypeAlias = dict[Use, int]
"""What can be done with a part: how much of each resource it uses (never nothing at all), and its gain >= 0."""


def useful_parts(parts: Sequence[Options], most: int) -> list[int]:
    """Return parts that are enough if at most `most` are used: for every use, those of the largest gains.

    If a part that is not kept for its use is used, one of the `most` that are kept for that use is not, and gains as
    much: exchanging the two loses nothing, and with a fixed order among equals it cannot go on for ever.
    """
    if len(parts) <= most:
        return list(range(len(parts)))
    by_use: dict[Use, list[tuple[int, int]]] = {}
    for i, options in enumerate(parts):
        for use, gain in options.items():
            by_use.setdefault(use, []).append((gain, -i))
    return sorted({-i for ranked in by_use.values() for _, i in nlargest(most, ranked)})


def best_options(
    parts: Sequence[Options], limits: Use, *, allowed: Callable[[NDArray[Any]], NDArray[Any]] | None = None
) -> tuple[int, list[tuple[int, Use]]]:
    """Return the largest total gain, and (part, use) for each part that is used.

    The sums of the uses are at most `limits`; `allowed` gets them as columns and says which may stand at the end.
    """
    reachable = sum(max(options.values(), default=0) for options in parts)
    never = -reachable - 1  # stays negative whatever is added
    shape = tuple(limit + 1 for limit in limits)
    table = np.full(shape, never, dtype=whole_array([], most=2 * reachable + 2).dtype)
    table[(0,) * len(shape)] = 0
    # Tables are kept at every `stride`-th part only; those between are computed again on the way back.
    stride = max(1, int(len(parts) ** 0.5))
    kept = []
    for start in range(0, len(parts), stride):
        kept.append((start, table))
        for options in parts[start : start + stride]:
            table = _step(table, options)
    ends = np.argwhere(table >= 0)
    if allowed is not None:
        ends = ends[allowed(ends)]
    best, place = _largest(table, ends)
    chosen: list[tuple[int, Use]] = []
    for start, first in reversed(kept):
        tables = [first]
        for options in parts[start : start + stride]:
            tables.append(_step(tables[-1], options))
        for offset in range(len(tables) - 2, -1, -1):
            use = _use(tables[offset], parts[start + offset], place, tables[offset + 1][place])
            if any(use):
                chosen.append((start + offset, use))
                place = tuple(at - used for at, used in zip(place, use, strict=True))
    return best, chosen[::-1]


def _step(table: NDArray[Any], options: Options) -> NDArray[Any]:
    after = table.copy()
    for use, gain in options.items():
        if all(used < size for used, size in zip(use, table.shape, strict=True)):
            here = tuple(slice(used, None) for used in use)
            before = tuple(slice(0, size - used) for used, size in zip(use, table.shape, strict=True))
            np.maximum(after[here], table[before] + gain, out=after[here])
    return after


def _largest(table: NDArray[Any], places: NDArray[Any]) -> tuple[int, Use]:
    values = table[tuple(places.T)]
    at = int(np.argmax(values))
    return int(values[at]), tuple(int(x) for x in places[at])


def _use(before: NDArray[Any], options: Options, place: Use, value: int) -> Use:
    if before[place] == value:
        return (0,) * len(place)
    for use, gain in options.items():
        earlier = tuple(at - used for at, used in zip(place, use, strict=True))
        if min(earlier) >= 0 and before[earlier] + gain == value:
            return use
    raise AssertionError("no option leads to the value of the table")
