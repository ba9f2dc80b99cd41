"""The arithmetic of the reports: medians with their spread, and ratios paired by repetition."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Spread", "paired_differences", "paired_ratios", "spread"]


@dataclass(frozen=True)
class Spread:
    """The median of some values with their 10th and 90th percentiles."""

    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Summarize at least one value; percentiles between two values are interpolated."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    deciles = statistics.quantiles(values, n=10, method="inclusive")
    return Spread(statistics.median(values), deciles[0], deciles[-1])


def paired_ratios(times: Sequence[float], reference: Sequence[float]) -> list[float]:
    """How many times as long as the reference each repetition took.

    Both times of a pair were taken within moments, so that what slows the machine down for a while cancels.
    """
    return [time / base for time, base in zip(times, reference, strict=True)]


def paired_differences(times: Sequence[float], reference: Sequence[float]) -> list[float]:
    """How much longer than the reference each repetition took."""
    return [time - base for time, base in zip(times, reference, strict=True)]
