"""Transformations: deterministic steps with a bound on how much further apart they bring data.

- `rows`: one row at a time: clamp, impute, cast, to_grid, map_rows, select, column.
- `filters`, `predicates`: keep some rows.
- `aggregates`, `histograms`: count, sum, mean, histogram.
- `sizes`: make sizes public: resize, limit_rows.
- `views`: the same data under another metric.
"""

from viameter.transforms.aggregates import count, mean, sum
from viameter.transforms.filters import filter
from viameter.transforms.histograms import histogram
from viameter.transforms.predicates import Predicate, between, is_in
from viameter.transforms.rows import cast, clamp, column, impute, map_rows, select, to_grid
from viameter.transforms.sizes import limit_rows, resize
from viameter.transforms.views import measured_by

__all__ = [
    "Predicate",
    "between",
    "cast",
    "clamp",
    "column",
    "count",
    "filter",
    "histogram",
    "impute",
    "is_in",
    "limit_rows",
    "map_rows",
    "mean",
    "measured_by",
    "resize",
    "select",
    "sum",
    "to_grid",
]
