"""Bounds that are found privately: two quantiles of a column, rounded outward, for the `bounds` of later questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Literal

from viameter.arith import Number, exact
from viameter.core import Loss
from viameter.errors import NumberError, ParameterError, plain
from viameter.tables.aggregates import Aggregate, Reading, number
from viameter.tables.answer import Answer
from viameter.tables.estimates import Estimate, Noise, TreeShape, fit, quantiles
from viameter.tables.estimates.noise import Kind as NoiseKind
from viameter.tables.estimates.quantiles import quantile_widths
from viameter.tables.expressions import Expression, Schema
from viameter.tables.formula import Operand, read_operand
from viameter.tables.keys import Keys
from viameter.tables.numbers import ALPHA, Grouped, Question
from viameter.tables.planning import Noisy
from viameter.tables.statistics import Bins, read_bounds
from viameter.tables.table import Table

BINS = 256
WIDE = 10_000
"""From this range on bins widen with the distance from 0: what is near 0 is told apart as well as what is far."""
QUANTILES = ("1/100", "99/100")
Spacing = Literal["even", "logarithmic"]


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


@dataclass(frozen=True, slots=True, repr=False)
class FoundBounds(Answer):
    """Two quantiles, and bounds made of them."""

    within: tuple[Fraction, Fraction] = field(default=(Fraction(0), Fraction(1)))

    @property
    def bounds(self) -> tuple[int | float, int | float]:
        """The quantiles, rounded outward to two digits of the distance between them: ready for `bounds=`."""
        low, high = (Fraction(float(self.estimates[name].value[0])) for name in ("low", "high"))
        if low >= high:
            # All of it is in one place, as far as bins tell: the bins of that place.
            low, high = Fraction(float(self["low"].lower[0])), Fraction(float(self["high"].upper[0]))
        return rounded_outward(low, high, self.within)


def bounds_question(
    table: Table,
    column: str | Expression,
    *,
    within: tuple[Number | float, Number | float],
    q: tuple[Number | float, Number | float] = QUANTILES,
    spacing: Spacing | None = None,
) -> Question:
    """Two quantiles of all rows as a question, which can be previewed: "low" and "high"."""
    edges = edges_of(read_bounds(within, "find_bounds: within"), spacing)
    low, high = _read_quantiles(q)
    operand, grouped = read_operand(column, "find_bounds"), Grouped(table, Keys((), ((),)))
    return grouped.agg(low=QuantileOfEdges(operand, low, edges), high=QuantileOfEdges(operand, high, edges))


def find_bounds(
    table: Table,
    column: str | Expression,
    *,
    within: tuple[Number | float, Number | float],
    spend: Loss,
    q: tuple[Number | float, Number | float] = QUANTILES,
    alpha: Number = ALPHA,
    spacing: Spacing | None = None,
) -> FoundBounds:
    """Bounds between which most of a column lies, looked for within a public range; a release like any other.

    Bins are even, or widen with the distance from 0 where the range is wide (from 10 000 on), unless `spacing` says
    "even" or "logarithmic".

    >>> import viameter as vm
    >>> rows = {"user": list(range(5000)), "delay": [place % 120 for place in range(5000)]}
    >>> table = vm.open(rows, unit=vm.per("user", rows=1), budget=vm.zcdp(2))
    >>> find_bounds(table, "delay", within=(0, 128), spend=vm.zcdp(1)).bounds
    (0, 120)
    """
    public = read_bounds(within, "find_bounds: within")
    question = bounds_question(table, column, within=within, q=q, spacing=spacing)
    answer = question.release(spend=spend, alpha=alpha)
    return FoundBounds(
        answer.keys, answer.groups, answer.estimates, answer.covers, answer.alpha, answer.measurement, answer.unit,
        answer.notes, public,
    )  # fmt: skip


def edges_of(within: tuple[Fraction, Fraction], spacing: Spacing | None = None) -> tuple[Fraction, ...]:
    """The edges of bins over a range: even ones, or ones that widen with the distance from 0.

    >>> [int(edge) for edge in edges_of((Fraction(-256), Fraction(256)))[:3]]
    [-256, -254, -252]
    >>> [round(float(edge)) for edge in edges_of((Fraction(0), Fraction(10**6)))[-3:]]
    [897307, 947263, 1000000]
    """
    lower, upper = within
    if spacing not in (None, "even", "logarithmic"):
        raise ParameterError(f"spacing={plain(spacing)}: expected 'even' or 'logarithmic'")
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


def _read_quantiles(q: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(q, tuple | list) or len(q) != 2:
        raise ParameterError(f"q={plain(q)}: expected two quantiles, such as ('1/100', '99/100')")
    # How much of the rows is no loss: 0.01 means a hundredth.
    low, high = (exact(Decimal(repr(one)) if isinstance(one, float) else one, name="q") for one in q)
    if not 0 <= low < high <= 1:
        raise NumberError(f"q=({q[0]!s}, {q[1]!s}): expected two numbers between 0 and 1, the lower one first")
    return low, high


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
