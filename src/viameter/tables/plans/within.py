"""From the width that an interval is to have to the least loss that buys it, where public parameters determine it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from viameter.arith import dyadic
from viameter.core import Loss, Measure
from viameter.errors import NoTheorem, NumberError, ParameterError, plain
from viameter.measures import ZCDP, ApproxDP, ApproxZCDP, PureDP, approx, approx_zcdp, pure, zcdp
from viameter.spaces import L1Distance, L2Distance
from viameter.tables.aggregates import Reading
from viameter.tables.collecting import Collecting
from viameter.tables.contributing import contributing
from viameter.tables.estimates import Noise
from viameter.tables.estimates.noise import Kind
from viameter.tables.planning import noise_kinds
from viameter.tables.relation import Relation
from viameter.tables.statistics import Statistic

FINENESS = 2**10
"""Scales are looked for in steps of a thousandth of themselves, about: never wider than asked."""


def spend_for(
    relation: Relation,
    readings: Mapping[str, Reading],
    shares: Mapping[Statistic, Fraction],
    collecting: Collecting,
    within: Mapping[str, Fraction],
    alpha: Fraction,
    measure: Measure,
) -> Loss:
    """The least loss for which the named aggregates are within these widths, shared as shares say."""
    # No delta was named, and a smaller one costs a larger epsilon: the noise that needs none.
    kind, total = noise_kinds(measure)[0], sum(shares.values(), Fraction(0))
    needed = Fraction(0)
    for name, width in within.items():
        if name not in readings:
            raise ParameterError(f"within: there is no aggregate {plain(name)}; there are {', '.join(readings)}")
        reading = readings[name]
        if reading.fixed_width is None:
            raise NoTheorem(
                f"within[{name!r}]: how wide this interval is depends on how many rows there are in a group, so "
                "that what it costs would tell of them; ask for a width of a count or a sum, or give spend=..."
            )
        norm = L1Distance() if kind == "laplace" else L2Distance()
        distances = [Fraction(contributing(relation, one, collecting, norm).map(1)) for one in reading.statistics]
        parts = [shares[one] / total for one in reading.statistics]
        scale = _largest_scale(reading, kind, _ratios(kind, distances, parts), width, alpha, name)
        amount = distances[0] / scale if kind == "laplace" else (distances[0] / scale) ** 2 / 2
        needed = max(needed, amount / parts[0])
    made: dict[Measure, Any] = {
        PureDP: pure, ZCDP: zcdp, ApproxDP: lambda x: approx(x, 0), ApproxZCDP: lambda x: approx_zcdp(x, 0),
    }  # fmt: skip
    found: Loss = made[measure](needed)
    return found


def _ratios(kind: Kind, distances: list[Fraction], parts: list[Fraction]) -> list[Fraction]:
    """How large the scale of each noise is, as a multiple of that of the first; rounded up."""
    away = [distance / distances[0] for distance in distances]
    if kind == "laplace":
        return [far * parts[0] / part for far, part in zip(away, parts, strict=True)]
    # Scales of Gaussian noise are rounded up to fewer bits when they are calibrated.
    roots = [dyadic.sqrt_up(parts[0] / part) * (1 + Fraction(1, 2**40)) for part in parts[1:]]
    return [Fraction(1), *(far * root for far, root in zip(away[1:], roots, strict=True))]


def _largest_scale(
    reading: Reading, kind: Kind, ratios: list[Fraction], width: Fraction, alpha: Fraction, name: str
) -> Fraction:
    """About the largest scale of noise whose interval is within the width, and never one whose interval is not."""
    assert reading.fixed_width is not None
    widths = reading.fixed_width

    def fits(scale: Fraction) -> bool:
        return widths([Noise(kind, scale * ratio) for ratio in ratios], alpha) <= width

    high = Fraction(1)
    while fits(high) and high < 2**52:
        high *= 2
    while not fits(high) and high > Fraction(1, 2**10):
        high /= 2
    if not fits(high):
        raise NumberError(f"within[{name!r}]={width}: no noise is that narrow; ask for more")
    low, step = high, high / FINENESS
    first, last = 0, FINENESS
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if fits(low + middle * step) else (first, middle)
    return low + first * step
