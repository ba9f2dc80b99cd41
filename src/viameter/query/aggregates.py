"""Aggregates: what may be asked of each group, the statistics that it takes, and the estimate that they give.

An aggregate is read against the columns of a table, which gives a `Reading`: statistics to collect, and functions that
turn them, noisy, into numbers with intervals. Estimates are post-processing: they see nothing but noisy integers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from viameter.arith import Number, exact, show
from viameter.core import Recipe
from viameter.errors import NumberError, ParameterError, plain
from viameter.query.estimates import (
    Estimate,
    Noise,
    TreeShape,
    count_estimate,
    fit,
    mean_estimate,
    quantiles,
    std_estimate,
    sum_estimate,
    variance_estimate,
)
from viameter.query.estimates.noise import Kind as NoiseKind
from viameter.query.estimates.picks import Choice, picked_quantiles
from viameter.query.estimates.quantiles import quantile_widths
from viameter.query.estimates.trees import BINS, MOST_BINS
from viameter.query.expressions import Column, Expression, Kind, Schema
from viameter.query.expressions.nullability import never_null
from viameter.query.planning import Noisy
from viameter.query.quantile_picks import QuantilePick, picks_are_better
from viameter.query.statistics import FINEST_OF_SQUARES, Bins, FixedPoint, Statistic, Total, Units, read_bounds

MOST_PICKED, MOST_CELLS = 4096, 2**20
"""How many bins one is picked of if nothing is said, while there are no more than so many bins in all groups."""
RANK = " rows of rank"
"""What the width of a quantile is given in beforehand."""
SIZES = (100, 1_000, 10_000)
"""Group sizes for which the width of a mean is shown beforehand."""

Estimating = Callable[[Sequence[Noisy], Fraction], Estimate]
Widths = Callable[[Sequence[Any], Fraction], dict[str, float]]
FixedWidth = Callable[[Sequence[Noise], Fraction], Fraction]


@dataclass(frozen=True, slots=True)
class Reading:
    """An aggregate of the columns of a table."""

    statistics: tuple[Statistic, ...]
    estimate: Estimating
    widths: Widths
    """How far a number may be from the truth, by what it depends on: nothing, or the size of a group."""
    covers: str
    """What the interval covers, in a sentence."""
    fixed_width: FixedWidth | None = None
    """The width, where public parameters determine it."""
    raw: Estimating | None = None
    """The estimate before what cannot be true was cut off, such as counts below 0."""
    q: Fraction | None = None
    """Which quantile it is: those of the same column and bounds are made to rise with it."""
    span: tuple[Fraction, Fraction] | None = None
    """The least and the greatest number it can be, whatever the rows are; None if there are no such ends."""
    made_of: tuple[Fraction, ...] = ()
    """What each statistic is multiplied with, where the number is their sum."""
    note: Callable[[Sequence[Any], Fraction], str] | None = None
    """What an answer says beside its numbers, from the noise and alpha; a sentence that follows the name."""


class Aggregate(ABC):
    """What is asked of each group."""

    __slots__ = ()

    @abstractmethod
    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """This aggregate of the columns of a table."""


@dataclass(frozen=True, slots=True, eq=False)
class Count(Aggregate):
    """How many rows there are."""

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """Count rows."""
        return _counting(Total())


@dataclass(frozen=True, slots=True, eq=False)
class CountUnits(Aggregate):
    """How many units have rows."""

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """Count units."""
        return _counting(Units())


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Aggregate):
    """The sum of a column, clipped to bounds."""

    column: str | Expression
    bounds: tuple[Fraction, Fraction]

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """Add up fixed-point numbers."""
        value = number(schema, self.column, "sum")
        point = FixedPoint.of(self.bounds, value.type.kind, centered=False)

        def width(noises: Sequence[Noise], alpha: Fraction) -> Fraction:
            return noises[0].width(alpha) * point.step

        return Reading(
            (Total(value, point),),
            lambda noisy, alpha: sum_estimate(noisy[0].values, noisy[0].noise, alpha, unit=point.step),
            lambda noises, alpha: {"": float(width(noises, alpha))},
            f"noise; not what clipping to {_shown(self.bounds)} took away",
            width,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Mean(Aggregate):
    """The mean of a column, clipped to bounds."""

    column: str | Expression
    bounds: tuple[Fraction, Fraction]

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """Divide the sum of distances from the middle of the bounds by the number of rows that have a value."""
        value = number(schema, self.column, "mean")
        point = FixedPoint.of(self.bounds, value.type.kind, centered=True)

        def estimate(noisy: Sequence[Noisy], alpha: Fraction) -> Estimate:
            total, count = noisy
            return mean_estimate(
                total.values, total.noise, count.values, count.noise, alpha,
                center=point.center, unit=point.step, bounds=self.bounds, row_error=point.row_error,
            )  # fmt: skip

        return Reading(
            (Total(value, point), rows_with(value, schema)),
            estimate,
            _by_size(estimate, lambda size: [0, size]),
            f"noise; not what clipping to {_shown(self.bounds)} changed",
            span=self.bounds,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Variance(Aggregate):
    """The variance of a column that is clipped to bounds, or its root."""

    column: str | Expression
    bounds: tuple[Fraction, Fraction]
    root: bool = False

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """From the sums of distances from the middle, of their squares, and the number of rows that have a value."""
        value = number(schema, self.column, "std" if self.root else "variance")
        point = FixedPoint.of(self.bounds, value.type.kind, centered=True)
        coarse = FixedPoint.of(self.bounds, value.type.kind, centered=True, finest=FINEST_OF_SQUARES)
        # A square is off by twice the number times what the number is off by, at most.
        reach = max(abs(bound - point.center) for bound in self.bounds)
        square_error = (2 * reach + coarse.row_error) * coarse.row_error

        def estimate(noisy: Sequence[Noisy], alpha: Fraction) -> Estimate:
            total, squares, count = noisy
            found = variance_estimate(
                squares.values, squares.noise, total.values, total.noise, count.values, count.noise, alpha,
                bounds=self.bounds, center=point.center, unit=point.step, squares_unit=coarse.step**2,
                row_error=point.row_error, square_error=square_error,
            )  # fmt: skip
            return std_estimate(found) if self.root else found

        half_range = (self.bounds[1] - self.bounds[0]) / 2
        # A quarter of the largest square is what values spread over the whole range have, about.
        typical = max(abs(coarse.least), abs(coarse.greatest)) ** 2 // 4
        return Reading(
            (Total(value, point), Total(value, coarse, squared=True), rows_with(value, schema)),
            estimate,
            _by_size(estimate, lambda size: [0, typical * size, size]),
            f"noise; not what clipping to {_shown(self.bounds)} changed",
            span=(Fraction(0), half_range if self.root else half_range**2),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Quantile(Aggregate):
    """A quantile of a column, to the width of a bin of its bounds, from noisy counts of a tree of bins."""

    column: str | Expression
    q: Fraction
    bounds: tuple[Fraction, Fraction]
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


@dataclass(frozen=True, slots=True, eq=False)
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
    column = one.column if isinstance(one.column, str) else one.column.key
    return column, one.bounds, one.bins


def _even(bounds: tuple[Fraction, Fraction], bins: int) -> tuple[Fraction, ...]:
    lower, upper = bounds
    return tuple(lower + (upper - lower) * place / bins for place in range(bins + 1))


def quantile(
    column: str | Expression, q: Number | float, *, bounds: Any, bins: int | None = None, interval: bool = True
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
    return Quantile(_column(column, "quantile"), part, read_bounds(bounds, "quantile"), bins, interval)


def median(column: str | Expression, *, bounds: Any, bins: int | None = None, interval: bool = True) -> Quantile:
    """The value in the middle, between bounds."""
    return quantile(column, Fraction(1, 2), bounds=bounds, bins=bins, interval=interval)


def minimum(
    column: str | Expression, *, bounds: Any, q: Number = "1/100", bins: int | None = None, interval: bool = True
) -> Quantile:
    """A small quantile: what is smaller than all rows but a hundredth. The least row itself cannot be told."""
    return quantile(column, q, bounds=bounds, bins=bins, interval=interval)


def maximum(
    column: str | Expression, *, bounds: Any, q: Number = "99/100", bins: int | None = None, interval: bool = True
) -> Quantile:
    """A large quantile: what is larger than all rows but a hundredth. The greatest row itself cannot be told."""
    return quantile(column, q, bounds=bounds, bins=bins, interval=interval)


def variance(column: str | Expression, *, bounds: Any) -> Variance:
    """The variance of a column that is clipped to bounds."""
    return Variance(_column(column, "variance"), read_bounds(bounds, "variance"))


def std(column: str | Expression, *, bounds: Any) -> Variance:
    """The standard deviation of a column that is clipped to bounds."""
    return Variance(_column(column, "std"), read_bounds(bounds, "std"), root=True)


def count_units() -> CountUnits:
    """How many units have rows in a group: people, and not their rows."""
    return CountUnits()


def read_aggregate(name: str, given: Any) -> Aggregate:
    """An aggregate as people write it: `vm.count()`, `vm.mean("delay", bounds=(0, 240))`, `vm.median(...)`."""
    if isinstance(given, Aggregate):
        return given
    if isinstance(given, Recipe) and len(given.steps) == 1:
        step = given.steps[0]
        made, parameters = step.constructor.name, dict(step.parameters)
        if made == "count":
            return Count()
        if made in ("sum", "mean"):
            if "column" not in parameters or "bounds" not in parameters:
                raise ParameterError(
                    f"{name}={given!r}: {made} of a table takes a column and bounds, "
                    f'as in vm.{made}("delay", bounds=(0, 240))'
                )
            bounds = read_bounds(parameters["bounds"], f"{name}={made}(...)")
            return (Sum if made == "sum" else Mean)(_column(parameters["column"], made), bounds)
    raise ParameterError(
        f"{name}={plain(given)} is no aggregate: expected vm.count(), vm.count_units(), vm.sum, vm.mean, vm.variance, "
        "vm.std, vm.quantile, vm.median, vm.minimum or vm.maximum of a column"
    )


def number(schema: Schema, column: str | Expression, what: str) -> Expression:
    """The column or expression that is asked about, which must be numeric."""
    value = Column(column, schema.require(column)) if isinstance(column, str) else column
    for name in value.columns:
        schema.require(name)
    if value.type.kind is Kind.BOOLEAN:
        return value.cast(Kind.INTEGER)  # the mean of what is true or false is how often it is true
    if value.type.kind not in (Kind.INTEGER, Kind.REAL):
        raise ParameterError(f"{what} of {value!r}: it is {value.type.kind.value}, and no number")
    return value


def rows_with(value: Expression, schema: Schema) -> Total:
    """How many rows have this value: all of them, if no row can be without it."""
    return Total() if never_null(value, schema.required) else Total(value)


def _column(column: Any, what: str) -> str | Expression:
    if isinstance(column, Expression):
        column.require_moderate(what)
    if isinstance(column, str | Expression):
        return column
    raise ParameterError(f"{what}: {plain(column)} is neither the name of a column nor an expression")


def _counting(statistic: Statistic) -> Reading:
    def width(noises: Sequence[Noise], alpha: Fraction) -> Fraction:
        return noises[0].width(alpha)

    return Reading(
        (statistic,),
        lambda noisy, alpha: count_estimate(noisy[0].values, noisy[0].noise, alpha),
        lambda noises, alpha: {"": float(width(noises, alpha))},
        "noise",
        width,
        raw=lambda noisy, alpha: count_estimate(noisy[0].values, noisy[0].noise, alpha, raw=True),
    )


def _by_size(estimate: Estimating, exact_numbers: Callable[[int], list[int]]) -> Widths:
    """Half the width of the interval where the noise happens to be 0, for groups of several sizes."""

    def widths(noises: Sequence[Noise], alpha: Fraction) -> dict[str, float]:
        import numpy as np

        found = {}
        for size in SIZES:
            values = [np.array([value], dtype=np.int64) for value in exact_numbers(size)]
            made = estimate([Noisy(value, noise) for value, noise in zip(values, noises, strict=True)], alpha)
            found[f" at {size:,} rows"] = float(made.upper[0] - made.lower[0]) / 2
        return found

    return widths


def _shown(bounds: tuple[Fraction, Fraction]) -> str:
    return f"[{float(bounds[0]):g}, {float(bounds[1]):g}]"
