"""Means of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

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
from viameter.tables.estimates import Estimate, mean_estimate
from viameter.tables.estimates.noise import Kind as NoiseKind
from viameter.tables.expressions import Schema
from viameter.tables.formula import Operand, read_operand
from viameter.tables.planning import Noisy
from viameter.tables.statistics import FixedPoint, Total, read_bounds


@dataclass(frozen=True, slots=True)
class Mean(Aggregate):
    """The mean of a column, clipped to bounds."""

    word: ClassVar[str] = "mean"

    column: Operand
    bounds: Bounds

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
            widths_by_size(estimate, lambda size: [0, size]),
            f"noise; not what clipping to {shown_bounds(self.bounds)} changed",
            span=self.bounds,
        )


def mean_of(column: Any, *, bounds: Any) -> Mean:
    """The mean of a column, clipped to bounds; the same as `vm.mean`."""
    return Mean(read_operand(column, "mean"), read_bounds(bounds, "mean"))


WORDS = (Word("mean", "mean", mean_of),)
