"""Numbers as people read them: as many digits as an interval justifies; ends of intervals are rounded outward.

So what is shown is never a narrower interval than the one that was computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

_WIDE = Context(prec=800)
"""Enough digits for every float, whatever the caller's context has."""
_STEPS = 5
"""An interval is at least so many units of the last digit wide."""
_MOST_DECIMALS = 12
_HUGE = Decimal(10) ** 15
_OF_A_POINT = 6
"""Decimals of a number whose interval is a point."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value and the ends of its interval as text."""

    value: str
    lower: str
    upper: str

    def __str__(self) -> str:
        return f"{self.value} [{self.lower}, {self.upper}]"


def shown(value: float, lower: float, upper: float) -> Shown:
    """A value with its interval; integers are shown whole, and NaN as "unknown".

    >>> print(shown(12.3456, 11.9456, 12.7456), shown(12, 9, 15), shown(0.0, 0.0, 0.0), sep="; ")
    12.3 [11.9, 12.8]; 12 [9, 15]; 0 [0, 0]
    >>> print(shown(math.nan, 0.0, 240.0))
    unknown [0, 240]
    """
    if all(isinstance(number, int) for number in (value, lower, upper)):
        return Shown(str(value), str(lower), str(upper))
    decimals = _decimals(float(upper) - float(lower))
    if decimals is None:
        texts = _rounded_outward(value, lower, upper, _OF_A_POINT)
        return Shown(*map(_short, texts))
    return Shown(*_rounded_outward(value, lower, upper, decimals))


def half_width(width: float) -> str:
    """How far a number may be from the truth: three digits or more, rounded up.

    >>> half_width(12.3412), half_width(0.0123412), half_width(123456.2)
    ('12.4', '0.0124', '123457')
    """
    if not math.isfinite(width) or width <= 0:
        return _short(_rounded(width, _OF_A_POINT, ROUND_CEILING))
    return _short(_rounded(width, 2 - math.floor(math.log10(width)), ROUND_CEILING))


def confidence(alpha: Fraction) -> str:
    """How often an interval holds, in percent: 1 - alpha, rounded down.

    >>> confidence(Fraction(1, 20)), confidence(Fraction(1, 3)), confidence(Fraction(1, 10**9))
    ('95%', '66.6%', '99.9999999%')
    """
    # One digit more than it takes to see that it is not 100%.
    decimals = 1
    while 0 < alpha * 10 ** (decimals + 1) < 1:
        decimals += 1
    found = Decimal(math.floor((1 - alpha) * 10 ** (decimals + 2))).scaleb(-decimals, _WIDE)
    return _short(format(found, "f")) + "%"


def aligned(texts: Sequence[str], end: str = "") -> list[str]:
    """Numbers, each with an end such as a comma, padded so that their points are below one another.

    >>> aligned(["9", "12.5", "inf"], ",")
    ['  9,  ', ' 12.5,', 'inf,  ']
    """
    parts = [(whole, f"{point}{rest}{end}") for whole, point, rest in (text.partition(".") for text in texts)]
    before = max((len(whole) for whole, _ in parts), default=0)
    after = max((len(rest) for _, rest in parts), default=0)
    return [f"{whole.rjust(before)}{rest.ljust(after)}" for whole, rest in parts]


def _decimals(width: float) -> int | None:
    """How many decimals an interval justifies, below 0 for tens and more; None if it is a point or has no end."""
    return math.ceil(math.log10(_STEPS) - math.log10(width)) if math.isfinite(width) and width > 0 else None


def _rounded_outward(value: float, lower: float, upper: float, decimals: int) -> tuple[str, str, str]:
    return (
        _rounded(value, decimals, ROUND_HALF_EVEN),
        _rounded(lower, decimals, ROUND_FLOOR),
        _rounded(upper, decimals, ROUND_CEILING),
    )


def _rounded(number: float, decimals: int, rounding: str) -> str:
    """A number to so many decimals; whole where fewer would do, but for sizes that nobody writes out."""
    if math.isnan(number):
        return "unknown"
    if not math.isfinite(number):
        return str(number)
    # The shortest text that is read as this float: what people would call it.
    exact = Decimal(repr(number))
    if decimals > _MOST_DECIMALS or (abs(exact) >= _HUGE and isinstance(number, float)):
        digits = Context(prec=max(1, exact.adjusted() + decimals + 1), rounding=rounding)
        return f"{exact.normalize(digits):e}".replace("e+0", "").replace("e+", "e")
    found = exact.quantize(Decimal(1).scaleb(-max(decimals, 0)), rounding=rounding, context=_WIDE)
    return format(abs(found) if found.is_zero() else found, "f")


def _short(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
