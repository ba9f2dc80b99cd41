"""Counting: in which measure a filter counts, up to what, and by which theorem its budget follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from viameter.core import Bound, Loss, Measurement


@dataclass(frozen=True, slots=True)
class Counting:
    """How a filter counts."""

    cap: Loss
    """What may be spent, in the measure that is counted in."""
    bound: Bound
    """The privacy map of the filter: its budget follows from the cap."""
    slack: Fraction | None = None
    """The part of the budget's delta that the rule itself uses."""
    count_as: Callable[[Measurement], Measurement] | None = None
    """Takes a measurement to the measure that is counted in, where that is another."""
