"""Tight accounting for fixed parameters: what mechanisms cost together, from above and within 0.05 % of the truth.

Mechanisms may be chosen adaptively, their parameters may not: never for filters and odometers.

- `descriptions`: what was done, in frozen records; `describing` makes one of a Measurement.
- `accountant`: counts them in several representations at once, and answers by the best.
- `kov`, `optimal`, `ranges`: optimal composition of equal and of different (epsilon, delta), and of bounded ranges.
- `distribution`, `pairs`, `continuous`, `subsampling`, `dots`: dominating loss distributions.
- `product`, `plan`, `contour`, `enumeration`, `tight`: their composition, read by a certified contour sum.
- `moments`, `claims`, `sums`: zCDP and Renyi bounds, alone and beside loss distributions; plain sums.
- `terms`: all representations of what was counted.
"""

from viameter.composition.accounting.accountant import Accountant, Reading, Report
from viameter.composition.accounting.describing import describe
from viameter.composition.accounting.descriptions import (
    Mechanism,
    Subsample,
    approximate,
    bounded_range,
    continuous_gaussian,
    continuous_laplace,
    discrete_gaussian,
    discrete_laplace,
    poisson_subsampled,
    pure,
    randomized_response,
    renyi,
    together,
    zcdp,
)
from viameter.composition.accounting.kov import optimal_delta, optimal_epsilon
from viameter.composition.accounting.optimal import heterogeneous_epsilon
from viameter.composition.accounting.ranges import range_delta, range_epsilon

__all__ = [
    "Accountant",
    "Mechanism",
    "Reading",
    "Report",
    "Subsample",
    "approximate",
    "bounded_range",
    "continuous_gaussian",
    "continuous_laplace",
    "describe",
    "discrete_gaussian",
    "discrete_laplace",
    "heterogeneous_epsilon",
    "optimal_delta",
    "optimal_epsilon",
    "poisson_subsampled",
    "pure",
    "randomized_response",
    "range_delta",
    "range_epsilon",
    "renyi",
    "together",
    "zcdp",
]
