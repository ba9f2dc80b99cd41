"""Losses as lists of numbers that add, so that solvers can look for the largest sum of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended
from viameter.arith.sums import settle_up
from viameter.core import Loss, Measure
from viameter.errors import NoTheorem
from viameter.measures import ZCDP, ApproxDP, ApproxZCDP, BoundedRange, GaussianDP, PureDP, RenyiDP
from viameter.measures.amounts import AmountMeasure
from viameter.measures.curves import RenyiLoss

TIGHT = (PureDP, ZCDP, GaussianDP)
"""Measures in which a mechanism attains every sum of its leaves' losses, on any pair of datasets."""

ADDITIVE = (PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP, RenyiDP, BoundedRange)
"""Measures whose losses are numbers that add up over leaves."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How losses of a measure are numbers: the fields of an amount, or the bounds at some orders."""

    measure: Measure
    orders: tuple[Extended, ...] = ()

    @property
    def size(self) -> int:
        """How many numbers a loss is."""
        return len(self.orders) if self.measure == RenyiDP else len(self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        assert isinstance(self.measure, AmountMeasure)
        return tuple(self.measure.loss.names)

    def numbers(self, loss: Loss) -> tuple[Extended, ...]:
        """The loss as numbers; one that is no guarantee is infinite in each."""
        if not loss.is_finite:
            return (INFINITY,) * self.size
        if isinstance(loss, RenyiLoss):
            return tuple(loss.at(order) for order in self.orders)
        return tuple(getattr(loss, name) for name in self._names)

    def loss(self, numbers: Sequence[Extended]) -> Loss:
        """The loss of these numbers, rounded up where they are wide."""
        settled = [number if isinstance(number, float) else settle_up(Fraction(number)) for number in numbers]
        if self.measure == RenyiDP:
            points = {order: bound for order, bound in zip(self.orders, settled, strict=True) if bound != INFINITY}
            return _renyi(points)
        if INFINITY in settled:
            return self.measure.infinite
        capped = {name: _capped(name, value) for name, value in zip(self._names, settled, strict=True)}
        assert isinstance(self.measure, AmountMeasure)
        made: Loss = self.measure.loss(**capped)
        return made


def _capped(name: str, value: Extended) -> Any:
    return min(value, Fraction(1)) if name == "delta" else value


def _renyi(points: dict[Extended, Extended]) -> Loss:
    from viameter.measures import renyi

    return renyi(points) if points else RenyiDP.infinite


def scale_of(measure: Measure, losses: Sequence[Loss]) -> Scale:
    """The scale for losses of a measure; those of Renyi are read at every order that one of them lists."""
    if measure not in ADDITIVE:
        raise NoTheorem(
            f"composition over touch patterns is known for {', '.join(map(repr, ADDITIVE))}, not for {measure!r}: "
            "convert the losses, or the measurements, to one of those"
        )
    if measure != RenyiDP:
        return Scale(measure)
    orders = {order for loss in losses if isinstance(loss, RenyiLoss) for order in loss.orders}
    return Scale(measure, tuple(sorted(orders)))
