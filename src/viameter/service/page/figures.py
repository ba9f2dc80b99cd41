"""Figures: numbers of an answer as people read them, to as many digits as their intervals leave a meaning."""

from __future__ import annotations

import math
from typing import Any

UNKNOWN = "unknown"
MOST_DECIMALS = 9


def decimals_for(lower: float | None, upper: float | None) -> int:
    """How many decimals count in a number that is known up to an interval: two digits of half its width.

    >>> decimals_for(30.1, 78.9), decimals_for(57.1, 59.2), decimals_for(0.0, 0.0), decimals_for(0, None)
    (0, 1, 2, 2)
    """
    if lower is None or upper is None or not upper > lower:
        return 2
    half = (upper - lower) / 2
    return min(max(1 - math.floor(math.log10(half)), 0), MOST_DECIMALS)


def shown(value: Any, decimals: int) -> str:
    """A number with groups of three digits; "unknown" for none, and anything else as it is.

    >>> shown(1234, 2), shown(1234.5678, 1), shown(None, 1), shown(-0.001, 1), shown("A", 0)
    ('1,234', '1,234.6', 'unknown', '0.0', 'A')
    """
    if value is None:
        return UNKNOWN
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 1e15:
        return f"{value:.6g}"
    # Without the sign of what is rounded to nothing.
    return f"{value:,.{decimals}f}" if round(value, decimals) else f"{0:.{decimals}f}"


def width_shown(width: float | None) -> str:
    """Half the width of an interval, which is never made to look narrower than it is.

    >>> width_shown(98.0), width_shown(2.4122), width_shown(0.0123), width_shown(None)
    ('98', '2.5', '0.013', 'any amount')
    """
    if width is None:
        return "any amount"
    if width <= 0:
        return "0"
    decimals = min(max(1 - math.floor(math.log10(width)), 0), MOST_DECIMALS)
    # A width that is whole but for the last bits of a float is that whole number.
    up = math.ceil(width * 10**decimals - 1e-9) / 10**decimals
    return f"{up:,.{decimals}f}"
