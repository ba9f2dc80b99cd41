"""Arguments of accounting as people write them: counts, positive numbers, targets."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

from viameter.arith import Number, as_given, nonnegative
from viameter.errors import ParameterError, plain

MOST = 10**12
"""The largest count: what is counted further is a mistake."""


def read_count(count: Any, *, most: int = MOST) -> int:
    """A whole number of mechanisms, at least 0 and at most `most`."""
    try:
        number = operator.index(count)
    except TypeError:
        number = -1
    if isinstance(count, bool) or not 0 <= number <= most:
        raise ParameterError(f"count={_shown(count)} is not taken here: expected an integer from 0 to {most:,}")
    return number


def _shown(count: Any) -> str:
    return as_given(count) if isinstance(count, int) else plain(count)


def read_positive(value: Number, *, name: str) -> Fraction:
    """A number > 0, exactly."""
    number = nonnegative(value, name=name)
    if number == 0:
        raise ParameterError(f"{name}=0: expected a number above 0")
    return number
