"""What a run found out, as plain data: one `VariantResult` a row of the report."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from bench.model import Case, Variant
from bench.protocol import Description
from bench.spread import Spread, paired_differences, paired_ratios, spread

__all__ = ["BenchmarkResult", "CaseResult", "VariantResult"]


@dataclass
class VariantResult:
    """One variant of a case: its times, one a repetition, or why it has none.

    `absent` is a variant that cannot be imported in its environment, `failed` one that raised or killed its worker,
    and `disagrees` one that was timed but returned something else than the reference.
    """

    variant: Variant
    units: int
    status: Literal["measured", "disagrees", "absent", "failed"] = "measured"
    message: str = ""
    loops: int = 0
    digest: list[float] = field(default_factory=list)
    peak_growth: int | None = None
    seconds_per_call: list[float] = field(default_factory=list)

    @property
    def timed(self) -> bool:
        """Whether every repetition has a time."""
        return self.status in ("measured", "disagrees")

    @property
    def seconds_per_unit(self) -> list[float]:
        """The times of the repetitions for one unit of work."""
        return [seconds / self.units for seconds in self.seconds_per_call]

    def give_up(self, message: str, *, absent: bool = False) -> None:
        """Note why there are no times, or no more of them."""
        self.status, self.message = ("absent" if absent else "failed"), message


@dataclass
class CaseResult:
    """The variants of one case; the first is the reference."""

    case: Case
    variants: list[VariantResult]
    repetitions: int

    @property
    def reference(self) -> VariantResult:
        """The variant that the ratios are relative to."""
        return self.variants[0]

    def check_digests(self) -> None:
        """Mark the variants that did the same work as the reference but returned something else."""
        if self.case.tolerance is None or not self.reference.timed:
            return
        for other in self.variants[1:]:
            comparable = other.timed and other.variant.units is None
            if comparable and not _close(other.digest, self.reference.digest, self.case.tolerance):
                other.status = "disagrees"
                other.message = f"returned {other.digest}, but {self.reference.variant.name} {self.reference.digest}"

    def time(self, row: VariantResult) -> Spread | None:
        """The seconds that a unit of work takes."""
        return spread(row.seconds_per_unit) if row.timed else None

    def ratio(self, row: VariantResult) -> Spread | None:
        """How many times as long as the reference a unit of work takes."""
        if not (row.timed and self.reference.timed):
            return None
        return spread(paired_ratios(row.seconds_per_unit, self.reference.seconds_per_unit))

    def difference(self, row: VariantResult) -> Spread | None:
        """How many seconds more than the variant that the case names a unit of work takes."""
        base = next((other for other in self.variants if other.variant.name == self.case.difference_to), None)
        if base is None or base is row or not (row.timed and base.timed):
            return None
        return spread(paired_differences(row.seconds_per_unit, base.seconds_per_unit))

    @property
    def problems(self) -> list[str]:
        """What makes this case a failure, one line each; an absent peer does not, an absent reference does."""
        return [
            f"{self.case.title}: {row.variant.name} {row.status}: {' '.join(row.message.split())}"
            for row in self.variants
            if row.status in ("failed", "disagrees") or (row is self.reference and row.status == "absent")
        ]


@dataclass
class BenchmarkResult:
    """Everything that a report is made of."""

    name: str
    title: str
    about: str
    date: str
    machine: dict[str, str]
    environments: dict[str, Description | str]
    cases: list[CaseResult]

    @property
    def repetitions(self) -> str:
        """How many repetitions the cases had, as text."""
        counts = sorted({case.repetitions for case in self.cases})
        return f"{counts[0]} repetitions" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} repetitions"

    @property
    def problems(self) -> list[str]:
        """What went wrong, over all cases."""
        return [problem for case in self.cases for problem in case.problems]


def _close(left: list[float], right: list[float], tolerance: float) -> bool:
    return len(left) == len(right) and all(
        math.isclose(one, other, rel_tol=tolerance) for one, other in zip(left, right, strict=True)
    )
