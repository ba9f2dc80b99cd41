"""Variances and standard deviations of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from viameter.tables.aggregates.base import (
    Aggregate,
    Bounds,
    Reading,
    Word,
    number,
    rows_with,
    shown_bounds,
    widths_by_size,
)
from viameter.tables.estimates import Estimate, std_estimate, variance_estimate
from viameter.tables.estimates.noise import Kind as NoiseKind
from viameter.tables.expressions import Expression, Schema
from viameter.tables.formula import Operand, read_operand
from viameter.tables.planning import Noisy
from viameter.tables.statistics import FINEST_OF_SQUARES, FixedPoint, Total, read_bounds


@dataclass(frozen=True, slots=True)
class Variance(Aggregate):
    """The variance of a column that is clipped to bounds."""

    word: ClassVar[str] = "variance"
    root: ClassVar[bool] = False

    column: Operand
    bounds: Bounds

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """From the sums of distances from the middle, of their squares, and the number of rows that have a value."""
        value = number(schema, self.column, self.word)
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
            widths_by_size(estimate, lambda size: [0, typical * size, size]),
            f"noise; not what clipping to {shown_bounds(self.bounds)} changed",
            span=(Fraction(0), half_range if self.root else half_range**2),
        )


@dataclass(frozen=True, slots=True)
class Deviation(Variance):
    """The standard deviation of a column that is clipped to bounds."""

    word: ClassVar[str] = "std"
    root: ClassVar[bool] = True


def variance(column: Operand | Expression, *, bounds: object) -> Variance:
    """The variance of a column that is clipped to bounds."""
    return Variance(read_operand(column, "variance"), read_bounds(bounds, "variance"))


def std(column: Operand | Expression, *, bounds: object) -> Deviation:
    """The standard deviation of a column that is clipped to bounds."""
    return Deviation(read_operand(column, "std"), read_bounds(bounds, "std"))


WORDS = (Word("variance", "variance", variance), Word("std", "standard deviation", std))
