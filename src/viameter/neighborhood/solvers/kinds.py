"""The worst record among kinds of records, each of which touches a set of leaves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viameter.arith import INFINITY, ZERO, Extended
from viameter.errors import ParameterError
from viameter.neighborhood.solvers.worst import Unit, Worst, read_gains, whole_array


def worst_kind(kinds: Sequence[frozenset[int]], gains: Sequence[Extended]) -> Worst:
    """Return the largest total gain of the leaves of one kind; chosen is the first such kind's index.

    >>> from fractions import Fraction
    >>> worst_kind([frozenset({0, 1}), frozenset({2})], [Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)])
    Worst(value=Fraction(7, 10), chosen=0, exact=True)
    """
    read = read_gains(gains)
    leaves, starts = flat_kinds(kinds, len(read))
    if not len(starts) - 1:
        return Worst(ZERO, None)
    infinite = [isinstance(gain, float) for gain in read]
    if True in infinite:
        hits = np.flatnonzero(np.array(infinite)[leaves])
        if hits.size:
            return Worst(INFINITY, int(np.searchsorted(starts, hits[0], side="right")) - 1)
    unit = Unit.of(read)
    units = [0 if isinstance(gain, float) else unit.count(gain) for gain in read]
    totals = sums_by_kind(whole_array(units, most=sum(units)), leaves, starts)
    best = int(np.argmax(totals))
    return Worst(unit.value(int(totals[best])), best, unit.exact)


def flat_kinds(kinds: Sequence[Collection[int]], leaves: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the leaves of all kinds one after another, and where each kind starts (and the last one ends)."""
    for s, kind in enumerate(kinds):
        if not isinstance(kind, frozenset | set):
            raise ParameterError(f"kinds[{s}] is of type {type(kind).__name__}: expected a frozenset of leaf indices")
    sizes = np.fromiter(map(len, kinds), np.int64, len(kinds))
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    try:
        flat = np.fromiter(chain.from_iterable(kinds), np.int64, int(starts[-1]))
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("kinds hold something that is no index of a leaf: expected whole numbers") from None
    wrong = np.flatnonzero((flat < 0) | (flat >= leaves))
    if wrong.size:
        s = int(np.searchsorted(starts, wrong[0], side="right")) - 1
        raise ParameterError(f"kinds[{s}] touches leaf {int(flat[wrong[0]])}: expected an index below {leaves}")
    return flat, starts


def sums_by_kind(weights: NDArray[Any], leaves: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[Any]:
    """Return the sum of the weights over each kind's leaves; int64 may wrap on the way, and is right at the end."""
    running = np.concatenate((np.zeros(1, dtype=weights.dtype), np.cumsum(weights[leaves], dtype=weights.dtype)))
    sums: NDArray[Any] = running[starts[1:]] - running[starts[:-1]]
    return sums
