"""Quantiles of a column: from noisy counts of a tree of bins, or a bin that is picked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from viameter.arith import Number, exact, show
from viameter.errors import NumberError, ParameterError, plain
from viameter.tables.aggregates.base import RANK, Aggregate, Bounds, Reading, Word, number
from viameter.tables.estimates import Estimate, Noise, TreeShape, fit, quantiles
from viameter.tables.estimates.noise import Kind as NoiseKind
from viameter.tables.estimates.picks import Choice, picked_quantiles
from viameter.tables.estimates.quantiles import quantile_widths
from viameter.tables.estimates.trees import BINS, MOST_BINS
from viameter.tables.expressions import Expression, Kind, Schema
from viameter.tables.formula import Operand, read_operand
from viameter.tables.planning import Noisy
from viameter.tables.quantile_picks import QuantilePick, picks_are_better
from viameter.tables.statistics import Bins, read_bounds

MOST_PICKED, MOST_CELLS = 4096, 2**20
"""How many bins one is picked of if nothing is said, while there are no more than so many bins in all groups."""


@dataclass(frozen=True, slots=True)
class Quantile(Aggregate):
    """A quantile of a column, to the width of a bin of its bounds, from noisy counts of a tree of bins."""

    word: ClassVar[str] = "quantile"

    column: Operand
    q: Fraction
    bounds: Bounds
    bins: int | None = None
    interval: bool = True
    """Whether an interval of values is wanted; else the bin may be picked, where that is more accurate."""

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """From noisy counts of a tree of bins."""
        value, bins = number(schema, self.column, "quantile"), self.bins or BINS
        edges = _even(self.bounds, bins)
        shape = TreeShape.of(bins, kind=kind)
        # Engines find the bin by a product of floats, which may put a number right below an edge above it.
        slack = (self.bounds[1] - self.bounds[0]) / 2**40

        def estimate(noisy: Sequence[Noisy], alpha: Fraction) -> Estimate:
            levels = [one.values.reshape(-1, size) for one, size in zip(noisy, shape.sizes, strict=True)]
            tree = fit(levels, [one.noise for one in noisy], shape)
            found = quantiles(tree, edges, [self.q], alpha, row_error=slack)
            return replace(found, value=found.value[:, 0], lower=found.lower[:, 0], upper=found.upper[:, 0])

        def widths(noises: Sequence[Noise], alpha: Fraction) -> dict[str, float]:
            return {RANK: float(quantile_widths(shape, tuple(noises), self.q, alpha).max())}

        return Reading(
            tuple(Bins(value, edges, shape.branching**level) for level in range(len(shape.sizes))),
            estimate,
            widths,
            f"noise and the width of a bin, {float(edges[1] - edges[0]):g}",
            q=self.q,
            span=self.bounds,
        )


@dataclass(frozen=True, slots=True)
class PickedQuantile(Quantile):
    """A quantile of a column, to the width of a bin: the bin is picked, and no interval of values is known."""

    beside: int = 1
    """Of how many quantiles of this column it is one: those are made to rise, which takes all of them to be right."""
    most_bins: int = MOST_BINS

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """From one pick in each group."""
        value = number(schema, self.column, "quantile")
        edges = self._edges(value.type.kind)
        statistic = QuantilePick(value, edges, q=self.q)

        def rank(noises: Sequence[Choice], alpha: Fraction) -> float:
            return float(noises[0].rank_error(statistic.leaves, alpha / self.beside))

        return Reading(
            (statistic,),
            lambda noisy, alpha: picked_quantiles(noisy[0].values, edges, alpha),
            lambda noises, alpha: {RANK: rank(noises, alpha)},
            f"its rank to the width of a bin, {float(edges[1] - edges[0]):g}; nothing of how values lie around it",
            q=self.q,
            note=lambda noises, alpha: (
                f"at most {math.ceil(rank(noises, alpha))} of the kept rows lie between its bin and a quantile, but "
                f"for a chance of {show(alpha)} in each group; a group of fewer rows tells nothing"
            ),
        )

    def _edges(self, kind: Kind) -> tuple[Fraction, ...]:
        """Of a column of integers each has its bin, if there are not too many: then the value is one of them."""
        lower, upper = self.bounds
        count = upper - lower + 1
        whole = kind is Kind.INTEGER and lower.denominator == upper.denominator == 1
        if self.bins is None and whole and count <= self.most_bins:
            return _even((lower - Fraction(1, 2), upper + Fraction(1, 2)), int(count))
        return _even(self.bounds, self.bins or self.most_bins)


def with_methods(
    aggregates: Mapping[str, Aggregate], kind: NoiseKind, *, keys: int, replaced: bool
) -> dict[str, Aggregate]:
    """Aggregates whose quantiles without intervals are picked, where `picks_are_better` says so."""
    # More bins cost a pick next to nothing, but all of them are counted in each group.
    most = MOST_PICKED if keys * MOST_PICKED <= MOST_CELLS else MOST_BINS
    asked = Counter(_family(one) for one in aggregates.values() if isinstance(one, Quantile) and not one.interval)

    def chosen(one: Aggregate) -> Aggregate:
        if not isinstance(one, Quantile) or one.interval or isinstance(one, PickedQuantile):
            return one
        beside = asked[_family(one)]
        better = picks_are_better(
            one.q, bins=one.bins or BINS, quantiles=beside, kind=kind, keys=keys, replaced=replaced
        )
        if not better:
            return one
        return PickedQuantile(one.column, one.q, one.bounds, one.bins, beside=beside, most_bins=most)

    return {name: chosen(one) for name, one in aggregates.items()}


def _family(one: Quantile) -> tuple[Any, ...]:
    return one.column, one.bounds, one.bins


def _even(bounds: tuple[Fraction, Fraction], bins: int) -> tuple[Fraction, ...]:
    lower, upper = bounds
    return tuple(lower + (upper - lower) * place / bins for place in range(bins + 1))


def quantile(
    column: Operand | Expression, q: Number | float, *, bounds: Any, bins: int | None = None, interval: bool = True
) -> Quantile:
    """The value below which a part `q` of the rows lies, between bounds; found in that many bins of equal width.

    With an interval, from a tree of 256 bins if none are named. Without one (`interval=False`) a bin is picked where
    that is more accurate: of 4096 (of 1024 from 257 groups on), or of the integers between the bounds.

    >>> quantile("dep_delay", 0.9, bounds=(-30, 180)).q
    Fraction(9, 10)
    """
    if bins is not None and (isinstance(bins, bool) or not isinstance(bins, int) or not 2 <= bins <= MOST_BINS):
        raise ParameterError(f"quantile: bins={plain(bins)} is not a number of bins: expected 2 to {MOST_BINS}")
    if not isinstance(interval, bool):
        raise ParameterError(f"quantile: interval={plain(interval)}: expected True or False")
    # How much of the rows is no loss: 0.9 means nine tenths.
    part = exact(Decimal(repr(q)) if isinstance(q, float) else q, name="q")
    if not 0 <= part <= 1:
        raise NumberError(f"q={q!s} is not between 0 and 1")
    return Quantile(read_operand(column, "quantile"), part, read_bounds(bounds, "quantile"), bins, interval)


def median(column: Operand | Expression, *, bounds: Any, bins: int | None = None, interval: bool = True) -> Quantile:
    """The value in the middle, between bounds."""
    return quantile(column, Fraction(1, 2), bounds=bounds, bins=bins, interval=interval)


def minimum(
    column: Operand | Expression, *, bounds: Any, q: Number = "1/100", bins: int | None = None, interval: bool = True
) -> Quantile:
    """A small quantile: what is smaller than all rows but a hundredth. The least row itself cannot be told."""
    return quantile(column, q, bounds=bounds, bins=bins, interval=interval)


def maximum(
    column: Operand | Expression, *, bounds: Any, q: Number = "99/100", bins: int | None = None, interval: bool = True
) -> Quantile:
    """A large quantile: what is larger than all rows but a hundredth. The greatest row itself cannot be told."""
    return quantile(column, q, bounds=bounds, bins=bins, interval=interval)


WORDS = (
    Word("median", "median", median),
    Word("quantile", "quantile", quantile, inputs=("column", "bounds", "q")),
    Word("minimum", "minimum (about)", minimum),
    Word("maximum", "maximum (about)", maximum),
)
