"""What a solver answers, and the whole numbers in which the solvers count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viameter.arith import INFINITY, Extended, exact, extended
from viameter.errors import NumberError, ParameterError, plain

WIDTH = 4096
"""Gains whose common denominator has at most this many bits are counted exactly, wider ones are rounded up."""

SIGNIFICANT = 512
"""Where gains are rounded up, the largest of them keeps at least this many bits."""

_FITS = 1 << 62


@dataclass(frozen=True, slots=True)
class Worst:
    """The most that a touch pattern can cost.

    `value` is never below what any allowed pattern costs. `exact` says that `chosen`, a pattern as the solver
    describes it, costs just that; `chosen` is None where there is no pattern to show.
    """

    value: Extended
    chosen: Any
    exact: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.value, Fraction) and self.value != INFINITY:
            raise ParameterError(f"value={plain(self.value)}: expected a Fraction >= 0 or INFINITY")
        if self.value < 0:
            raise ParameterError(f"value={plain(self.value)} is negative: expected a Fraction >= 0 or INFINITY")
        if type(self.exact) is not bool:
            raise ParameterError(f"exact={plain(self.exact)}: expected True or False")


@dataclass(frozen=True, slots=True)
class Unit:
    """The fraction 1/`per_one` of which gains are whole multiples, or are rounded up to be if not `exact`."""

    per_one: int
    exact: bool = True

    def __post_init__(self) -> None:
        if type(self.per_one) is not int or self.per_one < 1:
            raise ParameterError(f"per_one={plain(self.per_one)}: expected a whole number >= 1")

    @classmethod
    def of(cls, gains: Iterable[Extended]) -> Unit:
        """Return the unit of all finite ones among the gains."""
        finite = [gain for gain in gains if isinstance(gain, Fraction)]
        common = 1
        for denominator in {gain.denominator for gain in finite}:
            common = math.lcm(common, denominator)
            if common.bit_length() > WIDTH:
                largest = max(gain.numerator.bit_length() - gain.denominator.bit_length() for gain in finite if gain)
                return cls(1 << max(0, SIGNIFICANT - largest), exact=False)
        return cls(common)

    def count(self, gain: Extended) -> int:
        """Return how many units cover the gain, which must be finite."""
        if not isinstance(gain, Fraction):
            raise ParameterError(f"gain={plain(gain)} is not finite: it has no number of units")
        return -(-gain.numerator * self.per_one // gain.denominator)

    def value(self, units: int) -> Fraction:
        """Return so many units as a number."""
        return Fraction(units, self.per_one)


def total(gains: Iterable[Extended]) -> tuple[Extended, bool]:
    """Add gains; the second says whether the sum is exact, else it is rounded up."""
    terms = list(gains)
    unit = Unit.of(terms)
    counts: dict[int, int] = {}
    for term in terms:
        if isinstance(term, float):
            return INFINITY, True
        counts[term.denominator] = counts.get(term.denominator, 0) + term.numerator
    return unit.value(sum(unit.count(Fraction(above, below)) for below, above in counts.items())), unit.exact


def read_gain(gain: Extended, *, name: str = "gain") -> Extended:
    """Take one gain: a number >= 0, or INFINITY."""
    if type(gain) is Fraction and gain.numerator >= 0:
        return gain
    return extended(gain, name=name)


def read_gains(gains: Sequence[Extended], *, name: str = "gains") -> list[Extended]:
    """Take many gains: numbers >= 0, or INFINITY."""
    if isinstance(gains, str) or not isinstance(gains, Sequence | np.ndarray):
        raise ParameterError(f"{name}={plain(gains)}: expected a sequence of gains")
    return [read_gain(gain, name=name) for gain in gains]


def read_count(value: int, *, name: str, least: int = 0) -> int:
    """Take a whole number that is at least `least`."""
    try:
        number = exact(value, name=name)
    except NumberError:
        number = None
    if number is None or number.denominator != 1 or number < least:
        raise ParameterError(f"{name}={plain(value)}: expected a whole number >= {least}")
    return number.numerator


def same_length(first: str, left: Sequence[Any], second: str, right: Sequence[Any]) -> None:
    """Refuse two lists that should speak of the same things and are not of one length."""
    if len(left) != len(right):
        raise ParameterError(f"{first} has {len(left)} entries and {second} has {len(right)}: expected one for each")


def whole_array(numbers: Sequence[int], *, most: int) -> NDArray[Any]:
    """Return whole numbers as int64 if everything that is computed is at most `most` and fits, else as Python's."""
    return np.array(numbers, dtype=np.int64 if most < _FITS else object)
