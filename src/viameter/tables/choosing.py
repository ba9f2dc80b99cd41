"""Which noise is drawn where a loss allows several kinds: the one whose intervals are narrowest, by public numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from viameter.tables.aggregates import Reading
from viameter.tables.estimates.noise import Kind
from viameter.tables.planning import NoisePlan

ALPHA = Fraction(1, 20)
"""Intervals are compared at this chance of a miss, whatever is asked for later: a release does not depend on that."""
NOTHING = 2.0**-60
"""A width of 0 is taken for this one."""
TIE = 1e-9
"""What is narrower by less than this part is as wide."""
NAMES: dict[Kind, str] = {"laplace": "Laplace", "gaussian": "Gaussian"}

Readings = Mapping[Kind, Mapping[str, Reading]]
"""The aggregates of a question, as they are read for each kind of noise."""


def narrowest(plans: Mapping[Kind, NoisePlan], readings: Readings) -> NoisePlan:
    """The plan with the narrowest intervals: the least geometric mean over aggregates; of several, the first."""
    (first, chosen), *others = plans.items()
    if not others:
        return chosen
    usual = _widths(chosen, readings[first])
    compared = {kind: _mean_ratio(_widths(plan, readings[kind]), usual) for kind, plan in others}
    best = min(compared, key=compared.__getitem__)
    ratio = compared[best]
    if ratio < 1 - TIE:
        than = f"intervals are {ratio:.2g} times as wide as with {NAMES[first]} noise at the same loss"
        return replace(plans[best], why=f"{NAMES[best]} noise: {than}")
    than = f"{NAMES[best]} noise at the same loss would make intervals {ratio:.3g} times as wide"
    return replace(chosen, why=f"{NAMES[first]} noise, which spends no delta: {than}")


def _widths(plan: NoisePlan, readings: Mapping[str, Reading]) -> list[list[float]]:
    """Half the widths of intervals, by aggregate, for groups of several sizes where they depend on that."""
    noise = {part.statistic: part.noise for part in plan.parts}
    return [
        list(reading.widths([noise[statistic] for statistic in reading.statistics], ALPHA).values())
        for reading in readings.values()
    ]


def _mean_ratio(widths: list[list[float]], usual: list[list[float]]) -> float:
    """How wide intervals are, as a part of how wide they usually are: the geometric mean, each aggregate alike.

    Where there is no interval with one of both, they are not compared; where nothing is left, they are alike.
    """
    logs = []
    for one, other in zip(widths, usual, strict=True):
        pairs = [pair for pair in zip(one, other, strict=True) if all(map(math.isfinite, pair))]
        if pairs:
            logs.append(math.fsum(math.log((new + NOTHING) / (old + NOTHING)) for new, old in pairs) / len(pairs))
    return math.exp(math.fsum(logs) / len(logs)) if logs else 1.0
