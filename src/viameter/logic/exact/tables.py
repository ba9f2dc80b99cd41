"""Tables: the values of a law with integer weights over one denominator.

Where the weights are rationals they are exact and add up to the denominator; where they are not, each lies between two
integers over a power of two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from viameter.errors import ParameterError
from viameter.logic.exact.powers import PRECISION, Bounds
from viameter.logic.exact.ranges import Range, Whole

_SCALE = 1 << PRECISION


@dataclass(frozen=True, slots=True)
class Table:
    """What a law gives, relative to its center: `values[i]` has a mass from low[i] to high[i], over `denominator`.

    Integers come one after another, with a tail below them first and a tail above them last.
    """

    values: tuple[Whole | bool, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    denominator: int
    decks: dict[tuple[bool, int], Deck] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not len(self.values) == len(self.low) == len(self.high):
            raise ParameterError("a table has one lower and one upper weight for each value")
        if not sum(self.low) <= self.denominator <= sum(self.high):
            raise ParameterError("the weights of a table do not enclose a probability distribution")

    @property
    def exact(self) -> bool:
        """Whether every mass is known exactly."""
        return self.low == self.high

    def deck(self, *, high: bool = False, factor: int = 1) -> Deck:
        """Its rows with lower or upper weights, times a factor; kept, since tables are."""
        if (high, factor) in self.decks:
            return self.decks[high, factor]
        weights = [weight * factor for weight in (self.high if high else self.low)]
        start = int(isinstance(self.values[0], Range))
        stop = len(self.values) - int(isinstance(self.values[-1], Range))
        first = self.values[start] if start < stop else 0
        rows = list(zip(self.values, weights, strict=True))
        made = Deck(rows, [0, *accumulate(weights)], first if isinstance(first, int) else 0, start, stop)
        self.decks[high, factor] = made
        return made


class Deck(NamedTuple):
    """A table's rows for an enumeration: from `start` to `stop` values one after another, beyond them tails."""

    rows: list[tuple[Whole | bool, int]]
    sums: list[int]
    """sums[i] is the weight of all rows before the i-th."""
    first: int
    start: int
    stop: int


def exact_table(values: tuple[Whole | bool, ...], masses: list[Fraction]) -> Table:
    """The table of masses that are rational."""
    below = 1
    for mass in masses:
        if not 0 <= mass <= 1:
            raise ParameterError(f"a probability of {mass}: expected 0 to 1")
        below *= mass.denominator
    weights = tuple(int(mass * below) for mass in masses)
    return Table(values, weights, weights, below)


def enclosed_table(values: tuple[Whole | bool, ...], masses: list[Bounds]) -> Table:
    """The table of masses that are known by bounds, rounded outward."""
    low = tuple(mass.low.numerator * _SCALE // mass.low.denominator for mass in masses)
    high = tuple(-(-mass.high.numerator * _SCALE // mass.high.denominator) for mass in masses)
    return Table(values, low, high, _SCALE)
