"""How large and how small the numbers of a new budget may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from viameter.arith import read_written
from viameter.arith.sums import WIDTH
from viameter.core import Loss
from viameter.errors import FormatError, ParameterError

LARGEST = 10**12
"""The largest number of a budget: e to its power is beyond all that a promise could mean."""


def require_size(budget: Loss) -> None:
    """Refuse a new budget whose numbers make no sense, or are longer than sums of losses are kept.

    Budgets of older entries stay what they were.

    >>> from viameter.measures import pure
    >>> require_size(pure("1e3000"))
    Traceback (most recent call last):
        ...
    viameter.errors.ParameterError: budget=pure(1e3000): expected numbers of at most 10^12 and at least 2^-512
    """
    for number in _numbers(budget.to_json()):
        is_large, is_small = number > LARGEST, 0 < number < Fraction(1, 2**WIDTH)
        if is_large or number.denominator > 2**WIDTH:
            raise ParameterError(
                f"budget={budget!r}: expected numbers of at most 10^12 and at least 2^-{WIDTH}"
                f"{'' if is_large or is_small else f', with a denominator of at most 2^{WIDTH}'}"
            )


def _numbers(document: Any) -> Iterator[Fraction]:
    """All numbers in what is written of a loss, the orders of curves too."""
    if isinstance(document, Mapping):
        for name, value in document.items():
            if name != "measure":
                yield from _numbers(name)
                yield from _numbers(value)
    elif isinstance(document, list | tuple):
        for value in document:
            yield from _numbers(value)
    elif isinstance(document, str):
        with suppress(FormatError):
            number = read_written(document)
            if isinstance(number, Fraction):
                yield number
