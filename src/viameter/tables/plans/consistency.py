"""Consistency: what people expect of numbers that belong together, as post-processing of the release, and named."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from viameter.tables.aggregates import Reading
from viameter.tables.estimates import Estimate
from viameter.tables.statistics import Bins


def consistent(
    estimates: Mapping[str, Estimate], readings: Mapping[str, Reading]
) -> tuple[dict[str, Estimate], tuple[str, ...]]:
    """Estimates whose quantiles of one column rise, and a sentence for everything that was done to them."""
    found, notes = dict(estimates), []
    families: dict[tuple[Bins, ...], list[str]] = defaultdict(list)
    for name, reading in readings.items():
        if reading.q is not None:
            # Picks are statistics of their own, and belong together if their bins are the same.
            bins = tuple(Bins(one.value, one.edges, one.ways) for one in reading.statistics if isinstance(one, Bins))
            families[bins].append(name)
    for names in families.values():
        rising = sorted(names, key=lambda name: readings[name].q or 0)
        for lower, upper in itertools.pairwise(rising):
            value = np.maximum(found[lower].value, found[upper].value)
            # A value that was lifted takes the end of its interval along.
            found[upper] = replace(found[upper], value=value, upper=np.maximum(found[upper].upper, value))
        if len(rising) > 1:
            moved = "; one that moved is off in rank by no more than the most that is said of any of them"
            picked = any(readings[name].note is not None for name in rising)
            notes.append(f"quantiles {', '.join(rising)} were made to rise{moved if picked else ''}")
    return found, tuple(notes)
