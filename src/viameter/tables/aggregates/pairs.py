"""Pairs of columns: the statistics that aggregates of two columns need, and their noisy sums as moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from viameter.errors import ParameterError
from viameter.tables.aggregates.base import Bounds, moment, number
from viameter.tables.estimates import Axis, Moment, Pair
from viameter.tables.expressions import Schema
from viameter.tables.formula import Operand
from viameter.tables.planning import Noisy
from viameter.tables.statistics import FINEST_OF_SQUARES, FixedPoint, Total


@dataclass(frozen=True, slots=True)
class PairOfColumns:
    """Two columns, clipped to bounds: sums over the rows that have both values."""

    bounds: tuple[Bounds, Bounds]
    points: tuple[FixedPoint, FixedPoint]
    """How numbers become integers where they are added up."""
    coarse: tuple[FixedPoint, FixedPoint]
    """And where they are multiplied before."""
    statistics: tuple[Total, ...]
    """Sums of x, of y, of products, of the squares that are wanted, and the number of rows."""
    squares: tuple[bool, bool]

    @classmethod
    def of(
        cls, schema: Schema, columns: tuple[Operand, Operand], bounds: tuple[Bounds, Bounds], *, what: str,
        squares: tuple[bool, bool],
    ) -> PairOfColumns:  # fmt: skip
        """The statistics for two columns of a schema."""
        values = [number(schema, column, what) for column in columns]
        kinds = [value.type.kind for value in values]
        points = [FixedPoint.of(each, kind, centered=True) for each, kind in zip(bounds, kinds, strict=True)]
        coarse = [
            FixedPoint.of(each, kind, centered=True, finest=FINEST_OF_SQUARES)
            for each, kind in zip(bounds, kinds, strict=True)
        ]
        factors = [Total(value, point) for value, point in zip(values, coarse, strict=True)]
        sums = [moment([Total(value, point)], values, schema) for value, point in zip(values, points, strict=True)]
        squared = [
            moment([factor, factor], values, schema) for factor, wanted in zip(factors, squares, strict=True) if wanted
        ]
        statistics = (*sums, moment(factors, values, schema), *squared, moment([], values, schema))
        if len(set(statistics)) < len(statistics):
            # What is counted once has one noise, where estimates take noises for independent.
            raise ParameterError(f"{what} of {columns[0]} and {columns[1]}: they are the same; name another column")
        return cls(bounds, (points[0], points[1]), (coarse[0], coarse[1]), statistics, squares)

    def noisy(self, noisy: Sequence[Noisy]) -> Pair:
        """The noisy sums as moments."""
        totals, products, count = noisy[:2], noisy[2], noisy[-1]
        beside = iter(noisy[3:-1])
        axes = []
        for place in range(2):
            point, coarse = self.points[place], self.coarse[place]
            reach = self._reach(place)
            error = (2 * reach + coarse.row_error) * coarse.row_error
            squares = _moment(next(beside), coarse.step**2, error) if self.squares[place] else None
            total = _moment(totals[place], point.step, point.row_error)
            low, high = self.bounds[place]
            axes.append(Axis(total, low - point.center, high - point.center, squares))
        (first, second), (one, other) = self.coarse, (self._reach(0), self._reach(1))
        # Of a product, each number may be off by its error while the other is as large as it may be.
        error = one * second.row_error + (other + second.row_error) * first.row_error
        product = _moment(products, first.step * second.step, error)
        return Pair(_moment(count, Fraction(1), Fraction(0)), axes[0], axes[1], product)

    def typical(self, size: int) -> list[int]:
        """The exact sums of values that are spread over both ranges alike, and do not go together."""
        squares = [
            size * (max(abs(point.least), abs(point.greatest)) ** 2 // 4)
            for point, wanted in zip(self.coarse, self.squares, strict=True)
            if wanted
        ]
        return [0, 0, 0, *squares, size]

    def _reach(self, place: int) -> Fraction:
        return max(abs(bound - self.points[place].center) for bound in self.bounds[place])


def _moment(noisy: Noisy, unit: Fraction, error: Fraction) -> Moment:
    return Moment(noisy.values, noisy.noise, unit, error)
