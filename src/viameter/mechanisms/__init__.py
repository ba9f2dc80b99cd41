"""Mechanisms: functions that return a Measurement, with its privacy map as a theorem about the noise that is drawn.

- `additive`: discrete Laplace and Gaussian noise on integers and on a grid of reals.
- `selection`: exponential mechanism, report-noisy-max, top-k, private quantile.
- `response`: randomized response.
- `threshold`: counts of keys that nobody listed.
- `sparse`: above-threshold, as a queryable.
- `calibration`, `accuracy`: from a target loss to the scale; from the scale to an interval.
"""

from viameter.mechanisms.accuracy import accuracy
from viameter.mechanisms.additive import gaussian, geometric, laplace
from viameter.mechanisms.calibration import calibrate
from viameter.mechanisms.response import randomized_response
from viameter.mechanisms.selection import exponential, noisy_max, private_quantile, quantile_scores, top_k
from viameter.mechanisms.sparse import sparse_vector
from viameter.mechanisms.threshold import least_threshold, thresholded_counts

__all__ = [
    "accuracy",
    "calibrate",
    "exponential",
    "gaussian",
    "geometric",
    "laplace",
    "least_threshold",
    "noisy_max",
    "private_quantile",
    "quantile_scores",
    "randomized_response",
    "sparse_vector",
    "thresholded_counts",
    "top_k",
]
