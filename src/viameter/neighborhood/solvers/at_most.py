"""The worst touch pattern where at most so many leaves are touched: the largest gains, in any number of leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viameter.arith import INFINITY, ZERO, Extended
from viameter.neighborhood.solvers.worst import Worst, read_count, read_gains, total

Floats: TypeAlias = NDArray[np.float64]

# A key is rounded once, or for fractions of int64 once in numerator, denominator and quotient each. So keys that differ
# by more than this factor are in the order of their gains.
_CLOSE = 1 - 2.0**-48
_LARGEST = float(np.finfo(np.float64).max)


def worst_at_most(gains: Sequence[Extended], most: int) -> Worst:
    """Return the sum of the `most` largest gains; chosen are their indices, by falling gain, without zeros.

    Floats only say which gains can be among the largest; what is close is compared exactly.

    >>> from fractions import Fraction
    >>> worst_at_most([Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)], 2)
    Worst(value=Fraction(4, 5), chosen=(1, 2), exact=True)
    """
    most = read_count(most, name="most")
    keys, gains, alike = _keys(gains)
    most = min(most, len(keys))
    if most == 0:
        return Worst(ZERO, ())
    reach = np.partition(keys, len(keys) - most)[len(keys) - most] if most < len(keys) else 0.0
    candidates = np.flatnonzero(keys >= reach * _CLOSE)
    candidates = candidates[np.argsort(-keys[candidates], kind="stable")]
    ordered = _sorted_exactly(candidates, keys[candidates], gains, most, alike)
    chosen = tuple(i for i in ordered if gains[i])
    value, is_exact = total(gains[i] for i in chosen)
    return Worst(value, chosen, is_exact)


def _keys(gains: Sequence[Extended]) -> tuple[Floats, Sequence[Extended], Callable[[NDArray[Any]], bool]]:
    # For every gain a float near it; and a quick test whether gains are all the same, which may miss that they are.
    try:
        # Only fractions have these slots: reading them directly takes half the time of their properties.
        above = np.fromiter(map(attrgetter("_numerator"), gains), np.int64, len(gains))
        below = np.fromiter(map(attrgetter("_denominator"), gains), np.int64, len(gains))
    except (AttributeError, OverflowError, TypeError):
        read = read_gains(gains)
        return np.array([_key(gain) for gain in read], dtype=np.float64), read, lambda _: False
    if above.size and above.min() < 0:
        read_gains(gains)  # says which

    def alike(run: NDArray[Any]) -> bool:
        return bool((above[run] == above[run[0]]).all() and (below[run] == below[run[0]]).all())

    return above / below, gains, alike


def _key(gain: Extended) -> float:
    try:
        return float(gain)
    except OverflowError:
        return _LARGEST


def _sorted_exactly(
    candidates: NDArray[Any],
    keys: Floats,
    gains: Sequence[Extended],
    most: int,
    alike: Callable[[NDArray[Any]], bool],
) -> list[int]:
    # Runs of keys that are close to the one before are sorted exactly, all others are in order.
    close = keys[1:] >= keys[:-1] * _CLOSE
    starts = np.concatenate(([0], np.flatnonzero(~close) + 1, [len(keys)])).tolist()
    ordered: list[int] = []
    for start, end in pairwise(starts):
        run = candidates[start:end]
        ordered += run.tolist() if len(run) == 1 or alike(run) else _run_sorted(run.tolist(), gains)
        if len(ordered) >= most:
            break
    return ordered[:most]


def _run_sorted(run: list[int], gains: Sequence[Extended]) -> list[int]:
    alike: dict[tuple[int, int] | float, list[int]] = {}
    for i in sorted(run):
        gain = gains[i]
        alike.setdefault(INFINITY if isinstance(gain, float) else (gain.numerator, gain.denominator), []).append(i)
    falling = sorted(alike.values(), key=lambda indices: gains[indices[0]], reverse=True)
    return [i for indices in falling for i in indices]
