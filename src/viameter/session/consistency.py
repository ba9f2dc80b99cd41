"""Consistency: what people expect of numbers that belong together, as post-processing of the release, and named."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from viameter.query.aggregates import Reading
from viameter.query.estimates import Estimate
from viameter.query.statistics import Statistic


def consistent(
    estimates: Mapping[str, Estimate], readings: Mapping[str, Reading]
) -> tuple[dict[str, Estimate], tuple[str, ...]]:
    """Estimates whose quantiles of one column rise, and a sentence for everything that was done to them."""
    found, notes = dict(estimates), []
    families: dict[tuple[Statistic, ...], list[str]] = defaultdict(list)
    for name, reading in readings.items():
        if reading.q is not None:
            families[reading.statistics].append(name)
    for names in families.values():
        rising = sorted(names, key=lambda name: readings[name].q or 0)
        for lower, upper in itertools.pairwise(rising):
            value = np.maximum(found[lower].value, found[upper].value)
            # A value that was lifted takes the end of its interval along.
            found[upper] = replace(found[upper], value=value, upper=np.maximum(found[upper].upper, value))
        if len(rising) > 1:
            notes.append(f"quantiles {', '.join(rising)} were made to rise")
    return found, tuple(notes)
