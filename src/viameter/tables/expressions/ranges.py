"""Ranges of results: which INTEGER results may leave 64 bits, and which REAL operands must be settled first."""

from __future__ import annotations

from collections.abc import Sequence

from viameter.tables.expressions.types import GRAIN, INT64_MAX, INT64_MIN, REACH, SAFE, Type, real

Range = tuple[int, int]


def integer_range(operation: str, types: Sequence[Type]) -> Range:
    """Ends of the exact results, which may lie beyond 64 bits."""
    first, last = types[0], types[-1]
    if operation == "add":
        return first.lower + last.lower, first.upper + last.upper
    if operation == "subtract":
        return first.lower - last.upper, first.upper - last.lower
    if operation == "multiply":
        corners = [x * y for x in (first.lower, first.upper) for y in (last.lower, last.upper)]
        return min(corners), max(corners)
    if operation == "floor_divide":
        if last.lower > 0:
            corners = [x // y for x in (first.lower, first.upper) for y in (last.lower, last.upper)]
            return min(corners), max(corners)
        most = max(abs(first.lower), abs(first.upper))
        return -most, most
    if operation == "modulo":
        return min(0, last.lower + 1), max(0, last.upper - 1)
    if operation == "negate":
        return -first.upper, -first.lower
    if operation == "absolute":
        ends = (abs(first.lower), abs(first.upper))
        return (0 if first.lower <= 0 <= first.upper else min(ends)), max(ends)
    if operation == "least":
        return min(first.lower, last.lower), min(first.upper, last.upper)
    if operation == "greatest":
        return max(first.lower, last.lower), max(first.upper, last.upper)
    assert operation == "clip"
    lower, upper = types[1].lower, types[2].upper
    return min(max(first.lower, lower), upper), max(min(first.upper, upper), lower)


def within_64_bits(ends: Range) -> Range:
    """The ends of what is left when results beyond 64 bits are NULL."""
    lower, upper = (min(max(end, INT64_MIN), INT64_MAX) for end in ends)
    return lower, upper


def may_leave_64_bits(operation: str, types: Sequence[Type]) -> bool:
    """Whether a result may lie beyond 64 bits, so that the engine must be kept from computing it."""
    ends = integer_range(operation, types)
    return within_64_bits(ends) != ends


def real_range(operation: str, types: Sequence[Type]) -> Type | None:
    """The size of a REAL result; None if it may overflow or underflow, so that operands must be settled first."""
    first, last = types[0], types[-1]
    if operation in ("negate", "absolute"):
        return first
    if operation == "settle":
        return first.settled()
    if operation == "sqrt":
        return real(max(first.top, 0) // 2 + 1, first.grain // 2 - 53)
    if operation == "log":
        # The least nonzero logarithm in magnitude is that of 1 - 2**-53.
        return real(10, -106)
    if operation == "exp":
        return real(REACH, GRAIN)
    top, grain = {
        "add": (max(first.top, last.top) + 1, min(first.grain, last.grain)),
        "subtract": (max(first.top, last.top) + 1, min(first.grain, last.grain)),
        "multiply": (first.top + last.top, first.grain + last.grain),
        # |x / y| is between 2**(grain of x - top of y) and 2**(top of x - grain of y), and has 53 bits.
        "divide": (first.top - last.grain, first.grain - last.top - 53),
    }[operation]
    return real(top, grain) if grain >= -SAFE and max(top, grain) <= SAFE else None


def clipped_real(types: Sequence[Type]) -> Type:
    """The size of a REAL clipped to two constants."""
    value, lower, upper = types
    grain = min(value.grain, lower.grain, upper.grain)
    return real(max(lower.top, upper.top), grain)


def rounded_real(value: Type, multiple: Type) -> Type:
    """The size of a REAL rounded to a multiple: an INTEGER of 64 bits times the multiple."""
    return real(63 + multiple.top, multiple.grain)
