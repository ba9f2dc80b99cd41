"""The worst touch pattern under contribution bounds: how many leaves, how much in all, how much in each."""

from __future__ import annotations

from collections.abc import Sequence

from viameter.arith import INFINITY, ZERO, Extended
from viameter.errors import ParameterError
from viameter.neighborhood.solvers.knapsack import Options, best_options, useful_parts
from viameter.neighborhood.solvers.worst import Unit, Worst, read_count, read_gains


def worst_contribution(gains: Sequence[Sequence[Extended]], *, l0: int, l1: int) -> Worst:
    """Return the largest sum of gains[i][m_i] with at most `l0` of the m_i not zero and their sum at most `l1`.

    gains[i][0] is 0, and the rest of a row may rise and fall. chosen is a tuple of (i, m_i), without zeros.

    >>> from fractions import Fraction
    >>> squares = [Fraction(m * m, 1000) for m in range(4)]
    >>> worst_contribution([squares] * 10, l0=2, l1=5)
    Worst(value=Fraction(13, 1000), chosen=((0, 3), (1, 2)), exact=True)
    """
    l0, l1 = read_count(l0, name="l0"), read_count(l1, name="l1")
    rows = read_rows(gains)
    l0 = min(l0, len(rows), l1)
    places, rows = _few_of_each(rows, l0)
    for i, row in zip(places, rows, strict=True):
        for amount, gain in enumerate(row[: l1 + 1]):
            if isinstance(gain, float):
                return Worst(INFINITY, ((i, amount),))
    unit = Unit.of(gain for row in rows for gain in row[: l1 + 1])
    counted = [[unit.count(gain) for gain in row[: l1 + 1]] for row in rows]
    # Only what gains more than every smaller amount is an option.
    amounts: list[Options] = [{(m,): row[m] for m in rising(row)} for row in counted]
    kept = useful_parts(amounts, l0) if l0 else []
    largest = sorted((max(m for (m,) in amounts[i]) for i in kept if amounts[i]), reverse=True)
    l1 = min(l1, sum(largest[:l0]))
    if l0 >= min(l1, len(kept)):  # then it cannot be exceeded
        best, chosen = best_options([amounts[i] for i in kept], (l1,))
        return Worst(unit.value(best), tuple((places[kept[i]], use[0]) for i, use in chosen), unit.exact)
    options: list[Options] = [{(1, m): gain for (m,), gain in amounts[i].items()} for i in kept]
    best, chosen = best_options(options, (l0, l1))
    return Worst(unit.value(best), tuple((places[kept[i]], use[1]) for i, use in chosen), unit.exact)


def _few_of_each(rows: list[list[Extended]], most: int) -> tuple[list[int], list[list[Extended]]]:
    # Of leaves that share a row, `most` are enough.
    copies: dict[int, int] = {}
    places = []
    for i, row in enumerate(rows):
        copies[id(row)] = copies.get(id(row), 0) + 1
        if copies[id(row)] <= most:
            places.append(i)
    return places, [rows[i] for i in places]


def read_rows(gains: Sequence[Sequence[Extended]], *, name: str = "gains") -> list[list[Extended]]:
    """Take a table of gains by amount for every leaf; an untouched leaf costs nothing."""
    if isinstance(gains, str) or not isinstance(gains, Sequence):
        raise ParameterError(f"{name} is of type {type(gains).__name__}: expected a sequence of rows of gains")
    # Leaves often share one row: each is read once. All are kept, since a row that is gone leaves its id to others.
    kept = list(gains)
    read: dict[int, list[Extended]] = {}
    rows = []
    for i, row in enumerate(kept):
        if id(row) not in read:
            read[id(row)] = taken = read_gains(row, name=f"{name}[{i}]")
            if not taken or taken[0] != ZERO:
                raise ParameterError(f"{name}[{i}] does not start with 0: expected what m = 0, 1, 2, ... cost, from 0")
        rows.append(read[id(row)])
    return rows


def rising(row: Sequence[Extended | int]) -> list[int]:
    """Return the amounts that gain more than every smaller one.

    >>> rising([0, 2, 1, 2, 3])
    [1, 4]
    """
    amounts: list[int] = []
    largest: Extended | int = 0
    for amount, gain in enumerate(row):
        if gain > largest:
            amounts.append(amount)
            largest = gain
    return amounts
