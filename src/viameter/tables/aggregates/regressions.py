"""Regressions: the line of least squares of one column on another, with its slope and its intercept as two numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from viameter.errors import ParameterError, plain
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
from viameter.tables.estimates import Estimate, intercept_estimate, slope_estimate
from viameter.tables.estimates.noise import Kind as NoiseKind
from viameter.tables.expressions import Schema
from viameter.tables.formula import Operand, read_operand
from viameter.tables.planning import Noisy

INTERCEPT = "intercept"


@dataclass(frozen=True, slots=True)
class Regression(Aggregate):
    """The line of least squares of a column on another one, both clipped to bounds, of the rows that have both values.

    Its numbers are its parts: of a regression `fit` on `age` they are `fit_intercept` and `fit_age`.
    """

    word: ClassVar[str] = "regression"

    column: Operand
    on: tuple[Operand, ...]
    bounds: tuple[Bounds, ...]
    """Those of the column, then those of what it is regressed on."""

    def parts(self, name: str) -> dict[str, Aggregate]:
        """The intercept, and the slope by the name of its column."""
        slope = self.on[0] if isinstance(self.on[0], str) else "slope"
        return {
            f"{name}_{INTERCEPT}": Intercept(self.column, self.on, self.bounds),
            f"{name}_{slope}": Slope(self.column, self.on, self.bounds),
        }

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """The slope; what asks for all numbers asks for the parts."""
        return self._reading(schema, "slope")

    def _reading(self, schema: Schema, what: str) -> Reading:
        of_y, of_x = self.bounds
        pair = PairOfColumns.of(
            schema, (self.on[0], self.column), (of_x, of_y), what="regression", squares=(True, False)
        )

        def estimate(noisy: Sequence[Noisy], alpha: Fraction) -> Estimate:
            found = pair.noisy(noisy)
            if what == "slope":
                return slope_estimate(found, alpha)
            x, y = pair.points
            return intercept_estimate(found, alpha, at=-x.center, start=y.center)

        shown = f"{self.column} clipped to {shown_bounds(of_y)} and {self.on[0]} to {shown_bounds(of_x)}"
        return Reading(
            pair.statistics,
            estimate,
            widths_by_size(estimate, pair.typical),
            f"noise: the {what} of the line through the kept rows that have both values, {shown}; not what clipping "
            "and limits changed, nor a population that rows are a sample of",
        )


@dataclass(frozen=True, slots=True)
class Slope(Regression):
    """The slope of a regression: by how much the line rises for each unit of the column that it is on."""

    def parts(self, name: str) -> dict[str, Aggregate]:
        """It is one number."""
        return {name: self}


@dataclass(frozen=True, slots=True)
class Intercept(Regression):
    """The intercept of a regression: the height of the line where the column that it is on is 0."""

    def parts(self, name: str) -> dict[str, Aggregate]:
        """It is one number."""
        return {name: self}

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """The height of the line, also where 0 is outside of the bounds."""
        return self._reading(schema, INTERCEPT)


def regression(column: Any, on: Any, *, bounds: Any) -> Regression:
    """The line of least squares of a column on another one: its numbers are an intercept and a slope.

    Bounds are by name, or in order, those of the column first.

    >>> fit = regression("wait", on=["age"], bounds={"wait": (0, 240), "age": (0, 110)})
    >>> list(fit.parts("fit"))
    ['fit_intercept', 'fit_age']
    """
    of = read_operand(column, "regression")
    if not isinstance(on, tuple | list):
        on = [on]
    columns = tuple(read_operand(one, "regression: on") for one in on)
    if len(columns) != 1:
        raise ParameterError(
            f"regression: on={plain(on)}: lines on one column are fitted, whose intervals are proved; "
            'name one, as in on=["age"]'
        )
    if columns[0] == of:
        raise ParameterError(f"regression of {of} on itself: name another column")
    if columns[0] == INTERCEPT:
        raise ParameterError("regression: on=['intercept'] has the name of the intercept; derive it under another one")
    return Regression(of, columns, bounds_by_column(bounds, (of, *columns), "regression"))


WORDS = (
    Word("regression", "line of least squares", regression, inputs=("column", "bounds", "columns:on", "bounds:on")),
)
