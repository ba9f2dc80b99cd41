"""Aggregates: what may be asked of each group. Each is a class in a file, with the words that it is asked for by.

To add one: write a frozen subclass of `Aggregate` with its constructor and `WORDS` in a file here, and name the file in
`WORDS` below. Documents, requests, the client, the form of the page and SQL offer it then.
"""

from __future__ import annotations

import itertools
from typing import Any

from viameter.core import Recipe
from viameter.errors import ParameterError, plain
from viameter.tables.aggregates import base, counts, covariances, means, quantiles, regressions, sums, variances
from viameter.tables.aggregates.base import Aggregate, Reading, Word, number
from viameter.tables.aggregates.counts import Count, CountUnits, count_units
from viameter.tables.aggregates.covariances import Correlation, Covariance, correlation, covariance
from viameter.tables.aggregates.means import Mean
from viameter.tables.aggregates.quantiles import Quantile, maximum, median, minimum, quantile, with_methods
from viameter.tables.aggregates.regressions import Regression, regression
from viameter.tables.aggregates.sums import Sum
from viameter.tables.aggregates.variances import Variance, std, variance
from viameter.tables.formula import read_operand
from viameter.tables.statistics import read_bounds

WORDS: dict[str, Word] = {
    word.name: word
    for word in itertools.chain(
        counts.WORDS, means.WORDS, sums.WORDS, quantiles.WORDS, variances.WORDS, covariances.WORDS, regressions.WORDS
    )
}
"""Every name by which something can be asked of a group, in the order in which forms offer them."""
RECIPES: dict[str, Any] = {"sum": Sum, "mean": Mean}
"""Those that `vm` has for data in memory too."""


def read_aggregate(name: str, given: Any) -> Aggregate:
    """An aggregate as people write it: `vm.count()`, `vm.mean("delay", bounds=(0, 240))`, `vm.median(...)`."""
    if isinstance(given, Aggregate):
        return given
    if isinstance(given, Recipe) and len(given.steps) == 1:
        step = given.steps[0]
        made, parameters = step.constructor.name, dict(step.parameters)
        if made == "count":
            return Count()
        if made in RECIPES:
            if "column" not in parameters or "bounds" not in parameters:
                raise ParameterError(
                    f"{name}={given!r}: {made} of a table takes a column and bounds, "
                    f'as in vm.{made}("delay", bounds=(0, 240))'
                )
            bounds = read_bounds(parameters["bounds"], f"{name}={made}(...)")
            aggregate: Aggregate = RECIPES[made](read_operand(parameters["column"], made), bounds)
            return aggregate
    known = ", ".join(f"vm.{word}" for word in WORDS)
    raise ParameterError(f"{name}={plain(given)} is no aggregate: expected one of {known}")


def aggregate_from_json(entry: Any, where: str) -> Aggregate:
    """An aggregate as documents have it: `{"mean": "wait", "bounds": [0, 240]}`."""
    return base.from_json(entry, WORDS, where)


__all__ = [
    "WORDS",
    "Aggregate",
    "Correlation",
    "Count",
    "CountUnits",
    "Covariance",
    "Mean",
    "Quantile",
    "Reading",
    "Regression",
    "Sum",
    "Variance",
    "Word",
    "aggregate_from_json",
    "correlation",
    "count_units",
    "covariance",
    "maximum",
    "median",
    "minimum",
    "number",
    "quantile",
    "read_aggregate",
    "regression",
    "std",
    "variance",
    "with_methods",
]
