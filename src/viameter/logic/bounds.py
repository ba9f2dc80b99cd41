"""Bounds in writing: an amount of a program's budgets, or a measure with its numbers."""

from __future__ import annotations

from viameter.core.measure import Loss
from viameter.neighborhood.declared import read_amount

LOSSES = ("pure", "approx", "zcdp")
"""Words that a bound starts with when it is a loss, and not an amount of a program's budgets."""


def read_bound(written: str, *, where: str = "bound") -> str | Loss:
    """A bound as people write it; `where` is what errors call the place it was written in.

    >>> read_bound("2*eps"), read_bound("zcdp 1/200"), read_bound("approx 1 1e-6")
    ('2*eps', zcdp(1/200), approx(1, 1/1000000))
    """
    measure, *numbers = written.split() or [""]
    if measure not in LOSSES:
        return written
    return read_amount(measure, numbers[0] if len(numbers) == 1 else numbers, f"{where} {written!r}")
