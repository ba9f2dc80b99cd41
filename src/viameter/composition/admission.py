"""Admission: which measurements an odometer takes, and in which measure it counts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from viameter.core import Measure, Measurement, Recipe, Space
from viameter.core.conversion import convertible
from viameter.errors import DomainMismatch, MeasureMismatch, MetricMismatch
from viameter.theorem import Theorem

_REMEMBERED = 1024


class Admission:
    """The space and the measure of an odometer, and how a measurement that is asked for comes to be counted.

    `measure` is what measurements are stated in; `count_as` takes such a measurement to the measure that is counted
    in, where that is another; also one of a third measure, if measurements are to be converted.
    """

    def __init__(
        self,
        space: Space,
        measure: Measure,
        *,
        theorem: Theorem,
        convert: bool,
        count_as: Callable[[Measurement], Measurement] | None = None,
    ) -> None:
        self.space = space
        self.measure = measure
        self.theorem = theorem
        self.convert = convert
        self._count_as = count_as
        self._remembered: dict[int, tuple[Measurement, Measurement]] = {}

    def measurement(self, asked: Any) -> Measurement | None:
        """What is counted and run for a query, None if it is no measurement; or one of three mismatch errors."""
        if isinstance(asked, Recipe):
            asked = asked.complete(self.space)
        if not isinstance(asked, Measurement):
            return None
        known = self._remembered.get(id(asked))
        if known is None:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            # What was asked is kept beside what is counted, so that its id is not given to another.
            known = self._remembered[id(asked)] = (asked, self._admit(asked))
        return known[1]

    def _admit(self, asked: Measurement) -> Measurement:
        if asked.input_space.domain != self.space.domain:
            raise DomainMismatch("the odometer", self.space.domain, "the measurement", asked.input_space.domain)
        if asked.input_space.metric != self.space.metric:
            raise MetricMismatch("the odometer", self.space.metric, "the measurement", asked.input_space.metric)
        if asked.measure != self.measure:
            if not self.convert:
                raise MeasureMismatch("the odometer", self.measure, "the measurement", asked.measure, self._hint(asked))
            if self._count_as is None:
                return asked.to(self.measure)
        return asked if self._count_as is None else self._count_as(asked)

    def _hint(self, asked: Measurement) -> str:
        if self._count_as is not None:
            return "make the odometer with convert=True, and the filter counts it by a theorem of its own measure"
        way = convertible(asked.measure, self.measure)
        if way is None:
            return f"no theorem converts it; make the odometer in {asked.measure!r}, or in one that both convert to"
        hint = f"convert it, measurement.to({self.measure!r}{way})"
        return hint if way else f"{hint}, or make the odometer with convert=True"
