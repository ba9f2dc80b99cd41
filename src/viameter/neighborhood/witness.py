"""Witness: two neighboring datasets that touch the leaves in the way that costs most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viameter.arith import INFINITY, show
from viameter.neighborhood.changes import Steps

SHOWN = 8
"""How many touched parts the text shows."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one part sees of the two datasets."""

    before: Any
    after: Any
    steps: Steps
    """How far apart the two are."""
    granularity: str = ""
    """What the steps are of: the granularity of the leaf's claim."""


@dataclass(frozen=True, slots=True, repr=False)
class Witness:
    """Two neighbors, what each part sees of them, and how far apart that is."""

    before: Any
    after: Any
    parts: Mapping[str, Seen]
    attained: bool
    """Whether the two do touch the parts like that, or only bound how they are touched."""

    def __str__(self) -> str:
        first = f"D = {self.before!r}, D' = {self.after!r}" if self.before is not None else "a pair of neighbors"
        lines = [first + ("" if self.attained else " (an upper bound: such a pair need not exist)") + ":"]
        for name, seen in list(self.parts.items())[:SHOWN]:
            images = ":" if seen.before is None else f" gives {seen.before!r} and {seen.after!r},"
            lines.append(f"  {name}{images} {count_steps(seen.steps, seen.granularity)} apart")
        if len(self.parts) > SHOWN:
            lines.append(f"  and {len(self.parts) - SHOWN} parts more")
        return "\n".join(lines)

    __repr__ = __str__


def count_steps(steps: Steps, granularity: str = "") -> str:
    """A number of steps in words."""
    of = f" of {granularity}" if granularity else ""
    if steps == INFINITY:
        return f"infinitely many steps{of}"
    return f"1 step{of}" if steps == 1 else f"{show(steps) if not isinstance(steps, int) else steps} steps{of}"
