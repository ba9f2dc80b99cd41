"""The two conditions of parallel composition, C1 and C2, as they are found over all pairs of neighbors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, ZERO, Extended


@dataclass(frozen=True, slots=True)
class Conditions:
    """How many maps change at most on a pair of neighbors, and how far apart a map moves neighbors at most."""

    touched: int = 0
    touched_pair: tuple[Any, Any] | None = None
    stretch: Extended = ZERO
    """The largest distance of two images of neighbors; with a metric, relative to the distance of the pair."""
    stretch_pair: tuple[int, Any, Any] | None = None

    def with_pair(
        self, before: Any, after: Any, changed: Sequence[bool], distances: Sequence[Extended], unit: Extended
    ) -> Conditions:
        """The conditions with one more pair, whose own distance is `unit`; of equal ones the first pair is kept."""
        found = self
        if sum(changed) > found.touched:
            found = replace(found, touched=sum(changed), touched_pair=(before, after))
        for leaf, far in enumerate(distances):
            stretch = _relative(far, unit)
            if stretch > found.stretch:
                found = replace(found, stretch=stretch, stretch_pair=(leaf, before, after))
        return found

    @property
    def c1(self) -> bool:
        """Whether at most one map changes on every pair."""
        return self.touched <= 1

    @property
    def c1_pair(self) -> tuple[Any, Any] | None:
        """The pair that breaks C1, if any."""
        return None if self.c1 else self.touched_pair

    @property
    def c2(self) -> bool:
        """Whether no map moves a pair farther apart than it was."""
        return self.stretch <= 1

    @property
    def c2_pair(self) -> tuple[int, Any, Any] | None:
        """The map and the pair that break C2, if any."""
        return None if self.c2 else self.stretch_pair


def _relative(far: Extended, unit: Extended) -> Extended:
    if far == 0:
        return ZERO
    return INFINITY if unit == 0 or far == INFINITY else far / Fraction(unit)


def atoms(member: Any) -> int:
    """How many atoms (records, rows, events, nodes and edges) a database has, so that small pairs are shown first.

    >>> atoms(("a", "b")), atoms((frozenset({1, 2}), frozenset({frozenset({1, 2})})))
    (2, 3)
    """
    if not isinstance(member, tuple):
        return 1
    return sum(len(part) if isinstance(part, frozenset) else 1 for part in member)


def smallness(pair: tuple[Any, Any]) -> int:
    """A key by which pairs of small databases come first."""
    return atoms(pair[0]) + atoms(pair[1])
