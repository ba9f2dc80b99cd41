"""The worst touch pattern where units are added to and removed from parts, within bounds on both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from viameter.arith import INFINITY, ZERO, Extended
from viameter.errors import ParameterError
from viameter.neighborhood.solvers.knapsack import Options, best_options, useful_parts
from viameter.neighborhood.solvers.worst import Unit, Worst, read_count, read_gain


def worst_exchange(
    gains: Sequence[Mapping[tuple[int, int], Extended]],
    *,
    added: int,
    removed: int,
    total: int | None = None,
    equal: bool = False,
) -> Worst:
    """Return the largest sum of gains[i][a_i, r_i] where part i gets a_i units and loses r_i of them.

    The a_i sum up to at most `added`, the r_i to at most `removed`, both together to at most `total`; with `equal`
    both sums are the same. A part is left alone, (0, 0), or changed in a way that gains[i] names. chosen is a tuple of
    (i, (a_i, r_i)), without parts that are left alone.

    >>> from fractions import Fraction
    >>> part = {(1, 0): Fraction(1, 5), (0, 1): Fraction(1, 5), (1, 1): Fraction(3, 10)}
    >>> worst_exchange([part] * 3, added=1, removed=1, equal=True)
    Worst(value=Fraction(2, 5), chosen=((0, (0, 1)), (1, (1, 0))), exact=True)
    """
    added, removed = read_count(added, name="added"), read_count(removed, name="removed")
    most = added + removed if total is None else min(added + removed, read_count(total, name="total"))
    if type(equal) is not bool:
        raise ParameterError(f"equal={equal!r}: expected True or False")
    if equal:
        added = removed = min(added, removed, most // 2)
        most = added + removed
    tables = [_read(i, row, added, removed, most) for i, row in enumerate(gains)]
    unit = Unit.of(gain for row in tables for gain in row.values())
    # An infinite gain is more than all finite ones together.
    beyond = 1 + sum(
        max((unit.count(g) for g in row.values() if not isinstance(g, float)), default=0) for row in tables
    )
    parts: list[Options] = [
        {use: beyond if isinstance(gain, float) else unit.count(gain) for use, gain in row.items()} for row in tables
    ]
    kept = useful_parts(parts, most)
    options = [parts[i] for i in kept]
    limits = (_reach(options, added, 0), _reach(options, removed, 1))

    def allowed(ends: NDArray[Any]) -> NDArray[Any]:
        within: NDArray[Any] = ends.sum(axis=1) <= most
        return within & (ends[:, 0] == ends[:, 1]) if equal else within

    best, used = best_options(options, limits, allowed=allowed)
    chosen = tuple((kept[i], use) for i, use in used)
    if best >= beyond:
        return Worst(INFINITY, chosen)
    return Worst(unit.value(best), chosen, unit.exact)


def _read(
    i: int, row: Mapping[tuple[int, int], Extended], added: int, removed: int, most: int
) -> dict[tuple[int, int], Extended]:
    if not isinstance(row, Mapping):
        raise ParameterError(
            f"gains[{i}] is of type {type(row).__name__}: expected a mapping of (added, removed) to gain"
        )
    read: dict[tuple[int, int], Extended] = {}
    for key, value in row.items():
        if not isinstance(key, tuple) or len(key) != 2:
            raise ParameterError(f"gains[{i}] has a key of type {type(key).__name__}: expected a pair (added, removed)")
        plus, minus = (read_count(part, name=f"a key of gains[{i}]") for part in key)
        gain = read_gain(value, name=f"gains[{i}]")
        if plus == minus == 0:
            if gain != ZERO:
                raise ParameterError(f"gains[{i}] gives a part that is left alone, (0, 0), a cost: expected 0")
        elif plus <= added and minus <= removed and plus + minus <= most:
            read[plus, minus] = gain
    return read


def _reach(options: list[Options], limit: int, side: int) -> int:
    return min(limit, sum(max((use[side] for use in row), default=0) for row in options))
