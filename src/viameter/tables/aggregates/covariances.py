"""Covariances and correlations of two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from viameter.errors import ParameterError
from viameter.tables.aggregates.base import (
    Aggregate,
    Bounds,
    Reading,
    Word,
    bounds_by_column,
    shown_bounds,
    widths_by_size,
)
from viameter.tables.aggregates.pairs import PairOfColumns
from viameter.tables.estimates import Estimate, correlation_estimate, covariance_estimate
from viameter.tables.estimates.noise import Kind as NoiseKind
from viameter.tables.expressions import Schema
from viameter.tables.formula import Operand, read_operand
from viameter.tables.planning import Noisy


@dataclass(frozen=True, slots=True)
class Covariance(Aggregate):
    """The covariance of two columns that are clipped to bounds, of the rows that have both values."""

    word: ClassVar[str] = "covariance"
    standardized: ClassVar[bool] = False

    column: Operand
    y: Operand
    bounds: tuple[Bounds, Bounds]

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """From the sums of distances from the middles, of their products, and the number of rows that have both."""
        squares = (True, True) if self.standardized else (False, False)
        pair = PairOfColumns.of(schema, (self.column, self.y), self.bounds, what=self.word, squares=squares)

        def estimate(noisy: Sequence[Noisy], alpha: Fraction) -> Estimate:
            found = pair.noisy(noisy)
            return correlation_estimate(found, alpha) if self.standardized else covariance_estimate(found, alpha)

        (low, high), (least, greatest) = self.bounds
        widest = Fraction(1) if self.standardized else (high - low) * (greatest - least) / 4
        shown = " and ".join(map(shown_bounds, self.bounds))
        return Reading(
            pair.statistics,
            estimate,
            widths_by_size(estimate, pair.typical),
            f"noise, of the rows that have both values; not what clipping to {shown} changed",
            span=(-widest, widest),
        )


@dataclass(frozen=True, slots=True)
class Correlation(Covariance):
    """The correlation (Pearson's) of two columns that are clipped to bounds, of the rows that have both values."""

    word: ClassVar[str] = "correlation"
    standardized: ClassVar[bool] = True


def covariance(column: Any, y: Any, *, bounds: Any) -> Covariance:
    """The covariance of two columns, each clipped to its bounds: `bounds=((0, 240), (0, 10))`, or by name."""
    return Covariance(*_read(column, y, bounds, "covariance"))


def correlation(column: Any, y: Any, *, bounds: Any) -> Correlation:
    """The correlation (Pearson's) of two columns, each clipped to its bounds, as of `covariance`."""
    return Correlation(*_read(column, y, bounds, "correlation"))


def _read(column: Any, y: Any, bounds: Any, what: str) -> tuple[Operand, Operand, tuple[Bounds, Bounds]]:
    columns = read_operand(column, what), read_operand(y, what)
    if columns[0] == columns[1]:
        raise ParameterError(f"{what} of {columns[0]} with itself: its variance is vm.variance; name another column")
    first, second = bounds_by_column(bounds, columns, what)
    return *columns, (first, second)


_INPUTS = ("column", "bounds", "column:y", "bounds:y")
WORDS = (
    Word("covariance", "covariance", covariance, inputs=_INPUTS),
    Word("correlation", "correlation", correlation, inputs=_INPUTS),
)
