"""Laws of what is shown of counts by key, from their definition; and all small tables of units with sets of keys."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from tests.mechanisms.oracles import (
    Law,
    gaussian_pmf,
    gaussian_tail,
    hockey_stick,
    laplace_pmf,
    laplace_tail,
    real,
    two_way,
)

Counts = tuple[int, ...]
Units = tuple[frozenset[int], ...]
"""Of each unit, the keys that it counts in."""


def counted(units: Units, keys: int) -> Counts:
    return tuple(sum(key in unit for unit in units) for key in range(keys))


def sets_of_keys(keys: int, most: int) -> list[frozenset[int]]:
    """All sets of at most so many keys."""
    return [frozenset(one) for size in range(most + 1) for one in itertools.combinations(range(keys), size)]


def tables(keys: int, most: int, units: int) -> Iterator[Units]:
    """All tables of at most so many units; their order does not matter."""
    for size in range(units + 1):
        yield from itertools.combinations_with_replacement(sets_of_keys(keys, most), size)


def with_others(table: Units, added: int, sets: list[frozenset[int]]) -> Iterator[Units]:
    """The table with so many units added."""
    for others in itertools.combinations_with_replacement(sets, added):
        yield (*table, *others)


def tail(least: int, scale: Fraction, *, gaussian: bool = False) -> Any:
    """P(Z >= least)."""
    if not gaussian:
        return laplace_tail(least, scale)
    return gaussian_tail(least, scale) if least >= 0 else 1 - gaussian_tail(1 - least, scale)


def law_of_key(count: int, scale: Fraction, threshold: int, most: int, *, gaussian: bool = False) -> Law:
    """None where a key is not shown, or the noisy count; all above `most` are one outcome."""
    if count == 0:
        return {None: real(1)}
    pmf: Callable[[int, Fraction], Any] = gaussian_pmf if gaussian else laplace_pmf
    law: Law = {seen: pmf(seen - count, scale) for seen in range(threshold, most + 1)}
    law[None] = 1 - tail(threshold - count, scale, gaussian=gaussian)
    law["more"] = tail(max(threshold, most + 1) - count, scale, gaussian=gaussian)
    return law


def law_of(counts: Counts, scale: Fraction, threshold: int, most: int) -> Law:
    """What is shown of all keys, with Laplace noise: above the largest count ratios are constant."""
    law: Law = {(): real(1)}
    for count in counts:
        one = law_of_key(count, scale, threshold, most)
        law = {(*seen, new): p * q for (seen, p), (new, q) in itertools.product(law.items(), one.items())}
    return law


def true_delta(mine: Counts, theirs: Counts, scale: Fraction, threshold: int, epsilon: Any) -> Any:
    """The least delta for this epsilon, in both directions."""
    most = max(threshold, *mine, *theirs)
    laws = (law_of(counts, scale, threshold, most) for counts in (mine, theirs))
    return two_way(hockey_stick, *laws, epsilon)
