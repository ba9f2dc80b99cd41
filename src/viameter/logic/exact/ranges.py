"""Integers of which only a range is known: what the tail of a noise is worth once it is cut off.

A noise is followed value by value within a window; beyond it lie two tails, and a tail is one `Range` that carries the
tail's whole mass. Programs then run on ranges as they run on integers: an operation gives a range that holds every
result, and a comparison is answered if it comes out the same for all values, else it raises `Undecided`. So a tail is
lost only where it matters, and an output that no tail can reach has an exact probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_INFINITE: Final = float("inf")


class Undecided(Exception):  # caught within the room: an answer, not an error
    """A comparison of ranges that comes out differently for different values."""


@dataclass(frozen=True, slots=True)
class Range:
    """The integers from `low` to `high`; None is no end on that side. Equal ends are written as an integer instead."""

    low: int | None
    high: int | None

    def holds(self, value: object) -> bool:
        """Whether a value is among them."""
        return (
            isinstance(value, int)
            and (self.low is None or self.low <= value)
            and (self.high is None or value <= self.high)
        )

    def __str__(self) -> str:
        low = "-inf" if self.low is None else str(self.low)
        return f"{low}..{'inf' if self.high is None else self.high}"

    def __add__(self, other: Range | int) -> Range | int:
        low, high = ends(other)
        return span(
            None if self.low is None or low is None else self.low + low,
            None if self.high is None or high is None else self.high + high,
        )

    __radd__ = __add__

    def __neg__(self) -> Range:
        return Range(None if self.high is None else -self.high, None if self.low is None else -self.low)

    def __sub__(self, other: Range | int) -> Range | int:
        return self + (-other)

    def __rsub__(self, other: int) -> Range | int:
        return -self + other

    def __mul__(self, other: Range | int) -> Range | int:
        low, high = ends(other)
        corners = [
            _product(a, b)
            for a in (_or(self.low, -_INFINITE), _or(self.high, _INFINITE))
            for b in (_or(low, -_INFINITE), _or(high, _INFINITE))
        ]
        return span(_finite(min(corners)), _finite(max(corners)))

    __rmul__ = __mul__

    def __abs__(self) -> Range | int:
        if self.low is not None and self.low >= 0:
            return self
        if self.high is not None and self.high <= 0:
            return -self
        return span(0, None if self.low is None or self.high is None else max(-self.low, self.high))

    def __lt__(self, other: Range | int) -> bool:
        return _below(self, other)

    def __gt__(self, other: Range | int) -> bool:
        return _below(other, self)

    def __le__(self, other: Range | int) -> bool:
        return not _below(other, self)

    def __ge__(self, other: Range | int) -> bool:
        return not _below(self, other)

    def __bool__(self) -> bool:
        # Whatever asks a range for its truth has mixed it up with a truth value.
        raise Undecided


Whole = int | Range
"""An integer as far as it is known."""


def span(low: int | None, high: int | None) -> Whole:
    """The integers between two ends: one integer if they are equal."""
    return low if low is not None and low == high else Range(low, high)


def ends(value: Whole) -> tuple[int | None, int | None]:
    """The least and the greatest value."""
    return (value.low, value.high) if isinstance(value, Range) else (value, value)


def same(left: Whole, right: Whole) -> bool:
    """left == right as programs mean it."""
    if not isinstance(left, Range) and not isinstance(right, Range):
        return left == right
    (low, high), (least, most) = ends(left), ends(right)
    if (high is not None and least is not None and high < least) or (
        most is not None and low is not None and most < low
    ):
        return False
    raise Undecided


def lesser(left: Whole, right: Whole) -> Whole:
    """The minimum of the two."""
    if not isinstance(left, Range) and not isinstance(right, Range):
        return min(left, right)
    (low, high), (least, most) = ends(left), ends(right)
    return span(
        None if low is None or least is None else min(low, least),
        most if high is None else high if most is None else min(high, most),
    )


def greater(left: Whole, right: Whole) -> Whole:
    """The maximum of the two."""
    return -lesser(-left, -right)


def quotient(left: Whole, right: Whole) -> Whole:
    """left // right as programs mean it: 0 for a divisor of 0."""
    if isinstance(right, Range):
        raise Undecided
    if right == 0:
        return 0
    if not isinstance(left, Range):
        return left // right
    low, high = (left.low, left.high) if right > 0 else (left.high, left.low)
    return span(None if low is None else low // right, None if high is None else high // right)


def remainder(left: Whole, right: Whole) -> Whole:
    """left % right as programs mean it: left for a divisor of 0."""
    if isinstance(right, Range):
        raise Undecided
    if right == 0:
        return left
    if not isinstance(left, Range):
        return left % right
    return span(0, right - 1) if right > 0 else span(right + 1, 0)


def item(items: tuple[int, ...], index: Whole) -> int:
    """items[index] as programs mean it: 0 outside the list."""
    if isinstance(index, Range):
        if index >= len(items) or index < 0:
            return 0
        raise Undecided
    return items[index] if 0 <= index < len(items) else 0


def _below(left: Whole, right: Whole) -> bool:
    (low, high), (least, most) = ends(left), ends(right)
    if high is not None and least is not None and high < least:
        return True
    if low is not None and most is not None and low >= most:
        return False
    raise Undecided


def _or(end: int | None, infinite: float) -> int | float:
    return infinite if end is None else end


def _product(left: int | float, right: int | float) -> int | float:
    # An integer that is too large for a float must not meet an infinite one.
    if left == 0 or right == 0:
        return 0
    if isinstance(left, float) or isinstance(right, float):
        return _INFINITE if (left > 0) == (right > 0) else -_INFINITE
    return left * right


def _finite(end: int | float) -> int | None:
    return None if isinstance(end, float) else end
