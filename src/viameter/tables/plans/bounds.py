"""Bounds that are found privately: two quantiles of a column, rounded outward, for the `bounds` of later questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import ClassVar

from viameter.core import Loss, Measurement
from viameter.tables.aggregates import Aggregate, Reading, number
from viameter.tables.answer import Answer, FoundBounds
from viameter.tables.bounding import Limits
from viameter.tables.cost import Cost
from viameter.tables.estimates import Estimate, Noise, TreeShape, fit, quantiles
from viameter.tables.estimates.noise import Kind as NoiseKind
from viameter.tables.estimates.quantiles import quantile_widths
from viameter.tables.expressions import Schema
from viameter.tables.formula import Operand
from viameter.tables.grouping import Grouping
from viameter.tables.planning import Noisy
from viameter.tables.plans.base import Payer, Plan, Setting
from viameter.tables.plans.numbers import Numbers
from viameter.tables.preview import Preview
from viameter.tables.question import FindBounds, Spacing
from viameter.tables.relation import Relation
from viameter.tables.statistics import Bins

BINS = 256
WIDE = 10_000
"""From this range on bins widen with the distance from 0: what is near 0 is told apart as well as what is far."""


@dataclass(frozen=True, slots=True)
class Bounds(Plan[FoundBounds]):
    """Bounds between which most of a column lies: two quantiles of all rows, "low" and "high".

    >>> import viameter as vm
    >>> rows = {"user": list(range(5000)), "delay": [place % 120 for place in range(5000)]}
    >>> table = vm.open(rows, unit=vm.per("user", rows=1), budget=vm.zcdp(2))
    >>> table.find_bounds("delay", within=(0, 128), spend=vm.zcdp(1)).bounds
    (0, 120)
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"spend", "alpha"})

    numbers: Numbers
    within: tuple[Fraction, Fraction]

    @classmethod
    def of(cls, relation: Relation, grouping: Grouping, asked: FindBounds, limits: Limits, setting: Setting) -> Bounds:
        """The plan for all rows, of which limits are asked."""
        edges = edges_of(asked.within, asked.spacing)
        low, high = (QuantileOfEdges(asked.column, q, edges) for q in asked.q)
        return cls(Numbers.of(relation, grouping, limits, {"low": low, "high": high}, setting), asked.within)

    @property
    def relation(self) -> Relation:  # type: ignore[override]
        """The rows that are asked about."""
        return self.numbers.relation

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called."""
        return self.numbers.name

    def loss(self, cost: Cost) -> Loss:
        """What is to be spent."""
        return self.numbers.loss(cost)

    def measurement(self, cost: Cost) -> Measurement:
        """The question as a Measurement of the table that was opened."""
        return self.numbers.measurement(cost)

    def preview(self, payer: Payer, cost: Cost) -> Preview:
        """What it would cost, and how far quantiles may be off in rank."""
        return self.numbers.preview(payer, cost)

    def release(self, payer: Payer, cost: Cost, *, key: str | None) -> FoundBounds:
        """Spend, run, and answer."""
        return found_bounds(self.numbers.release(payer, cost, key=key), self.within)


def found_bounds(answer: Answer, within: tuple[Fraction, Fraction]) -> FoundBounds:
    """An answer of two quantiles as the bounds that they make."""
    given = {one.name: getattr(answer, one.name) for one in fields(Answer)}
    return FoundBounds(**given, within=within)


@dataclass(frozen=True, slots=True)
class QuantileOfEdges(Aggregate):
    """A quantile of a column, to the bin that it is in; bins may be of different widths."""

    word: ClassVar[str] = "quantile_of_edges"

    column: Operand
    q: Fraction
    edges: tuple[Fraction, ...]

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """From noisy counts of a tree of bins."""
        value = number(schema, self.column, "find_bounds")
        shape = TreeShape.of(len(self.edges) - 1, kind=kind)

        def estimate(noisy: Sequence[Noisy], alpha: Fraction) -> Estimate:
            levels = [one.values.reshape(-1, size) for one, size in zip(noisy, shape.sizes, strict=True)]
            tree = fit(levels, [one.noise for one in noisy], shape)
            found = quantiles(tree, self.edges, [self.q], alpha)
            return replace(found, value=found.value[:, 0], lower=found.lower[:, 0], upper=found.upper[:, 0])

        def widths(noises: Sequence[Noise], alpha: Fraction) -> dict[str, float]:
            return {" rows of rank": float(quantile_widths(shape, tuple(noises), self.q, alpha).max())}

        return Reading(
            tuple(Bins(value, self.edges, shape.branching**level) for level in range(len(shape.sizes))),
            estimate,
            widths,
            "noise and the width of a bin; not rows that were not kept",
            q=self.q,
        )


def edges_of(within: tuple[Fraction, Fraction], spacing: Spacing | None = None) -> tuple[Fraction, ...]:
    """The edges of bins over a range: even ones, or ones that widen with the distance from 0.

    >>> [int(edge) for edge in edges_of((Fraction(-256), Fraction(256)))[:3]]
    [-256, -254, -252]
    >>> [round(float(edge)) for edge in edges_of((Fraction(0), Fraction(10**6)))[-3:]]
    [897307, 947263, 1000000]
    """
    lower, upper = within
    if spacing == "even" or (spacing is None and upper - lower < WIDE):
        return tuple(lower + (upper - lower) * place / BINS for place in range(BINS + 1))
    center = min(max(Fraction(0), lower), upper)
    down, up = center - lower, upper - center
    # As many bins to each side as it is long on a logarithmic scale; edges are floats, as engines compare with.
    left = round(BINS * _length(down) / (_length(down) + _length(up)))
    below = [center - step for step in reversed(_steps(down, left))]
    above = [center + step for step in _steps(up, BINS - left)]
    found = {Fraction(float(edge)) for edge in (*below, center, *above)}
    return tuple(sorted({edge for edge in found if lower < edge < upper} | {lower, upper}))


def rounded_outward(
    low: Fraction, high: Fraction, within: tuple[Fraction, Fraction]
) -> tuple[int | float, int | float]:
    """Two numbers, rounded outward to two digits of the distance between them, and no further than within.

    >>> rounded_outward(Fraction(-27), Fraction(171), (Fraction(-1000), Fraction(1000)))
    (-30, 180)
    """
    first, last = within
    if high - low < Fraction(1, 2**39):
        low, high = first, last  # nothing narrower is a range
    step = Fraction(10) ** (math.floor(math.log10(high - low)) - 1)
    lower = max(first, math.floor(low / step) * step)
    upper = min(last, math.ceil(high / step) * step)
    return _plain(lower), _plain(upper)


def _steps(reach: Fraction, bins: int) -> list[Fraction]:
    """Distances from the center: the first is 1, or a thousandth of a short reach, and the last the reach itself."""
    if bins == 0 or reach == 0:
        return []
    first = min(1.0, float(reach) / 1000)
    ratio = float(reach) / first
    made = [Fraction(first * ratio ** (place / max(bins - 1, 1))) for place in range(bins - 1)]
    return [*made, reach]


def _length(reach: Fraction) -> float:
    return 0.0 if reach == 0 else math.log(max(1000.0, float(reach)))


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
