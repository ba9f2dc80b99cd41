"""Questions whose exact integers are compared: steps on rows, keys, limits and statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.tables.soundness.asked import Both

from viameter.tables.bounding import Limits
from viameter.tables.collecting import Collecting
from viameter.tables.expressions import Expression, Kind
from viameter.tables.keys import Keys, read_keys
from viameter.tables.relation import Relation
from viameter.tables.statistics import Bins, FixedPoint, Statistic, Total, Units, product_of

Change = Callable[[Both], Both]


@dataclass(frozen=True)
class Case:
    """What is asked of some rows."""

    change: Change = lambda rows: rows
    by: tuple[str, ...] = ()
    keys: Any = None
    other: bool = False
    limits: Limits = field(default_factory=Limits)
    statistics: Callable[[Relation], Sequence[Statistic]] = lambda table: [Total(), Units()]

    def asked(self, rows: Both, *, order: Any = "portable") -> tuple[Both, Collecting, list[Statistic]]:
        """The rows that it is about, how integers are collected, and which."""
        changed = self.change(rows)
        keys = read_keys(changed.relation.schema, self.by, self.keys, other=self.other) if self.by else Keys((), ((),))
        return changed, Collecting(keys, self.limits, order), list(self.statistics(changed.relation))


def point(lower: float, upper: float, value: Expression, *, centered: bool = True, finest: int = 2**24) -> FixedPoint:
    """Fixed-point numbers of a column."""
    return FixedPoint.of((Fraction(lower), Fraction(upper)), value.type.kind, centered=centered, finest=finest)


def sums(value: Expression, lower: float, upper: float) -> list[Total]:
    """All that is summed of a column: numbers, distances from the middle, squares, and rows that have a value."""
    return [
        Total(value, point(lower, upper, value, centered=False)),
        Total(value, point(lower, upper, value)),
        Total(value, point(lower, upper, value, finest=2**16), squared=True),
        Total(value),
    ]


def products(real: Expression, whole: Expression) -> list[Total]:
    """All that is summed of two columns: products, and sums of one over the rows that have the other."""
    one, two = (point(-5, 1 / 3, real, finest=2**16), point(-7, 2**40, whole, finest=2**16))
    return [
        product_of([Total(real, one), Total(whole, two)]),
        product_of([Total(whole, two), Total(whole, two), Total(real)]),
        product_of([Total(real, point(-5, 10, real)), Total(whole)]),
        product_of([Total(real), Total(whole)]),
    ]


EVEN = tuple(Fraction(0.1) + (Fraction(0.7) - Fraction(0.1)) * leaf / 7 for leaf in range(8))
UNEVEN = tuple(map(Fraction, (-5.0, -1 / 3, 0.0, 0.1, 1 / 3, 2.5, 10.0, 2.0**52)))
WIDE = tuple(Fraction(leaf) for leaf in range(-8, 13, 4))


def histograms(real: Expression, whole: Expression) -> list[Bins]:
    """Three columns or cuts, and coarser levels of them."""
    assert real.type.kind is Kind.REAL and whole.type.kind is Kind.INTEGER
    return [
        Bins(real, EVEN), Bins(real, EVEN, 3), Bins(real, EVEN, 9), Bins(real, UNEVEN), Bins(real, UNEVEN, 2),
        Bins(whole, WIDE, 2),
    ]  # fmt: skip


def everything(table: Relation) -> list[Statistic]:
    """Statistics of all kinds, in an order that mixes them; one twice."""
    one, two, three, *rest = histograms(table["x"], table["i"])
    real, whole = sums(table["x"], -1 / 3, 9.999999999999998), sums(table["i"], -6, 2**40)
    narrow = sums(table["i"], -7, 10)
    return [
        one,
        Total(),
        *real,
        three,
        Units(),
        whole[0],
        *rest,
        narrow[1],
        two,
        *products(table["x"], table["i"]),
        Total(),
    ]


def of_keys(table: Relation) -> list[Statistic]:
    """Statistics of columns by which rows are grouped, and of what is derived of them."""
    made = table["i"] * 2 + table["g"].fill_null(1)
    return [Total(), *sums(table["i"], -5, 10), *sums(table["g"], 0, 20), Total(made), Bins(table["i"], WIDE), Units()]


def a_few(table: Relation) -> list[Statistic]:
    """Statistics that one pass finds."""
    both = products(table["x"], table["i"])
    return [Total(), Units(), *sums(table["x"], -5, 10), *both, Bins(table["i"], WIDE)]
