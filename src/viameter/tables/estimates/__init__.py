"""Estimates: from noisy integers and the law of their noise to numbers with intervals. Pure numbers, no engine.

Every interval is of the noise only: it holds the statistic of the kept, clipped rows with probability at least
1 - alpha, for the discrete noise that is drawn.

- `noise`, `sums`: how far one noise, and a weighted sum of noises, may be from 0.
- `basic`, `means`, `spreads`: counts and sums; means; variances and standard deviations.
- `moments`, `covariances`, `lines`: sums of products of two columns; covariances, correlations; slopes, intercepts.
- `trees`, `quantiles`: counts of bins at several levels made consistent; quantiles from them.
- `outward`: rounding of arrays to the outside.
"""

from viameter.tables.estimates.basic import (
    Estimate,
    centered_sum_estimate,
    count_estimate,
    noise_only,
    sum_estimate,
    without_guesses,
)
from viameter.tables.estimates.covariances import correlation_estimate, covariance_estimate
from viameter.tables.estimates.lines import intercept_estimate, slope_estimate
from viameter.tables.estimates.means import mean_estimate
from viameter.tables.estimates.moments import Axis, Moment, Pair
from viameter.tables.estimates.noise import Noise
from viameter.tables.estimates.quantiles import quantiles
from viameter.tables.estimates.spreads import std_estimate, variance_estimate
from viameter.tables.estimates.sums import width_of_sum
from viameter.tables.estimates.trees import FittedTree, TreeShape, coarsen, fit

__all__ = [
    "Axis",
    "Estimate",
    "FittedTree",
    "Moment",
    "Noise",
    "Pair",
    "TreeShape",
    "centered_sum_estimate",
    "coarsen",
    "correlation_estimate",
    "count_estimate",
    "covariance_estimate",
    "fit",
    "intercept_estimate",
    "mean_estimate",
    "noise_only",
    "quantiles",
    "slope_estimate",
    "std_estimate",
    "sum_estimate",
    "variance_estimate",
    "width_of_sum",
    "without_guesses",
]
