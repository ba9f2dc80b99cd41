"""Sums of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from viameter.tables.aggregates.base import Aggregate, Bounds, Reading, Word, number, shown_bounds
from viameter.tables.estimates import Noise, sum_estimate
from viameter.tables.estimates.noise import Kind as NoiseKind
from viameter.tables.expressions import Schema
from viameter.tables.formula import Operand, read_operand
from viameter.tables.statistics import FixedPoint, Total, read_bounds


@dataclass(frozen=True, slots=True)
class Sum(Aggregate):
    """The sum of a column, clipped to bounds."""

    word: ClassVar[str] = "sum"

    column: Operand
    bounds: Bounds

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
            f"noise; not what clipping to {shown_bounds(self.bounds)} took away",
            width,
        )


def sum_of(column: Any, *, bounds: Any) -> Sum:
    """The sum of a column, clipped to bounds; the same as `vm.sum`."""
    return Sum(read_operand(column, "sum"), read_bounds(bounds, "sum"))


WORDS = (Word("sum", "sum", sum_of),)
