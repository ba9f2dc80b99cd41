"""Metric: how far apart two members of a domain are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

from viameter.arith import INFINITY, Extended, Number, as_given, extended
from viameter.core.domain import Domain
from viameter.errors import NumberError


class Metric(ABC):
    """A distance between members of a domain; distances are exact numbers >= 0, or infinite."""

    counts: ClassVar[bool] = False
    """Whether distances are whole numbers (of rows, of users)."""

    assumption: str | None = None
    """What a user-defined metric asks to be trusted; shown in `explain`."""

    @abstractmethod
    def fits(self, domain: Domain) -> str | None:
        """Say what the metric would need instead of this domain, or None if it measures it."""

    @abstractmethod
    def distance(self, left: Any, right: Any) -> Extended:
        """The distance between two members in canonical form; rounded up where it is irrational."""

    def read_distance(self, value: Number | float, *, name: str = "d_in") -> Extended:
        """Take a distance as people write it: a number >= 0, whole where this metric counts, or infinity."""
        number = extended(value, name=name)
        if self.counts and number != INFINITY and Fraction(number).denominator != 1:
            raise NumberError(
                f"{name}={as_given(value)} is not whole: {self!r} counts, so expected a whole number >= 0"
            )
        return number
