"""Sharing: which statistics the aggregates of a question need together, and what each of them gets of the loss.

A sum may be made of what a mean of the same column takes: distances from the middle of the bounds, and how many rows
have a value. Whether that is done is decided here, for all aggregates at once, from public numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from viameter.arith import Number
from viameter.errors import ParameterError
from viameter.tables.aggregates import Aggregate, Mean, Reading, Sum, Variance, number
from viameter.tables.estimates import Estimate, Noise, centered_sum_estimate, width_of_sum
from viameter.tables.estimates.noise import Kind
from viameter.tables.expressions import Schema
from viameter.tables.planning import Noisy
from viameter.tables.statistics import FixedPoint, Statistic


def read_together(asked: Mapping[str, Aggregate], schema: Schema, kind: Kind) -> dict[str, Reading]:
    """The numbers of a question, with sums that share statistics with means where that makes the noise less."""
    asked = _parts(asked)
    separate = {name: one.read(schema, kind) for name, one in asked.items()}
    means: dict[object, Reading] = {
        (number(schema, one.column, "mean").key, one.bounds): separate[name]
        for name, one in asked.items()
        if isinstance(one, Mean | Variance)
    }
    shared = dict(separate)
    for name, one in asked.items():
        if isinstance(one, Sum):
            value = number(schema, one.column, "sum")
            found = means.get((value.key, one.bounds))
            # About a center of 0, a mean takes the very sum.
            if found is not None and found.statistics[0] != separate[name].statistics[0]:
                point = FixedPoint.of(one.bounds, value.type.kind, centered=True)
                shared[name] = _sum_about_center(separate[name], found, point)
    return min((separate, shared), key=lambda readings: _mean_log_variance(readings, kind))


def _parts(asked: Mapping[str, Aggregate]) -> dict[str, Aggregate]:
    """Each number by the name that it has in the answer."""
    found: dict[str, Aggregate] = {}
    for name, one in asked.items():
        for part, number_of_it in one.parts(name).items():
            if part in found or (part != name and part in asked):
                raise ParameterError(f"agg: {part!r} is the name of two numbers; rename one of them")
            found[part] = number_of_it
    return found


def shares_of(readings: Mapping[str, Reading], weights: Mapping[str, Number]) -> dict[Statistic, Fraction]:
    """The weight of each statistic: what aggregates that use it give it, each in equal parts to all it uses."""
    found: dict[Statistic, Fraction] = {}
    for name, reading in readings.items():
        weight = Fraction(weights.get(name, 1))
        for statistic in reading.statistics:
            found[statistic] = found.get(statistic, Fraction(0)) + weight / len(reading.statistics)
    return found


def _sum_about_center(alone: Reading, mean: Reading, point: FixedPoint) -> Reading:
    """A sum from the statistics of a mean: the center as often as there are rows, and the distances from it."""

    def estimate(noisy: Sequence[Noisy], alpha: Fraction) -> Estimate:
        total, count = noisy
        return centered_sum_estimate(
            total.values, total.noise, count.values, count.noise, alpha, center=point.center, unit=point.step
        )

    def width(noises: Sequence[Noise], alpha: Fraction) -> Fraction:
        total, count = noises
        return width_of_sum([(point.step, total, 1), (point.center, count, 1)], alpha)

    return Reading(
        (mean.statistics[0], mean.statistics[-1]),
        estimate,
        lambda noises, alpha: {"": float(width(noises, alpha))},
        alone.covers,
        width,
        made_of=(point.step, point.center),
    )


def _mean_log_variance(readings: Mapping[str, Reading], kind: Kind) -> float:
    """How much noise aggregates have, in the mean of logarithms: of a sum that is shared, of what it is made of.

    All statistics of a question keep the same rows of a unit, so that noise goes by the largest number of a row; and by
    the share of the loss, or for Gaussian noise by its root.
    """
    shares = shares_of(readings, {})
    total = sum(shares.values(), Fraction(0))

    def variance(statistic: Statistic) -> float:
        largest, share = max(map(abs, statistic.ends)), float(shares[statistic] / total)
        return float(largest**2) / (share**2 if kind == "laplace" else share)

    def log_variance(reading: Reading) -> float:
        each = [variance(statistic) for statistic in reading.statistics]
        if reading.made_of:
            return math.log(sum(float(x) ** 2 * one for x, one in zip(reading.made_of, each, strict=True)))
        return math.fsum(map(math.log, each)) / len(each)

    return math.fsum(map(log_variance, readings.values())) / len(readings)
