"""The terms of a filter: what it was made with, and how they are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import Extended, read_written, write
from viameter.core import Loss, Measure
from viameter.errors import FormatError


@dataclass(frozen=True, slots=True)
class FilterTerms:
    """So much may be spent, for data this far apart, counted by a rule."""

    d_in: Extended
    budget: Loss
    rule: str
    slack: Fraction | None
    """The part of delta that the rule itself uses; None where it uses none."""

    def to_json(self) -> dict[str, Any]:
        """The terms as plain JSON values."""
        slack = None if self.slack is None else write(self.slack)
        return {"d_in": write(self.d_in), "budget": self.budget.to_json(), "rule": self.rule, "slack": slack}

    @classmethod
    def from_json(cls, record: Any, measure: Measure) -> FilterTerms:
        """Read terms that `to_json` wrote."""
        if not isinstance(record, Mapping) or set(record) != {"d_in", "budget", "rule", "slack"}:
            raise FormatError("no terms of a filter: expected the keys d_in, budget, rule and slack")
        if not isinstance(record["budget"], Mapping) or not isinstance(record["rule"], str):
            raise FormatError("no terms of a filter: expected a loss as its budget, and the name of a rule")
        slack = None if record["slack"] is None else read_written(record["slack"], name="slack")
        if slack is not None and not 0 <= slack <= 1:
            raise FormatError("no terms of a filter: expected slack between 0 and 1")
        budget = measure.from_json(record["budget"])
        return cls(
            read_written(record["d_in"], name="d_in"),
            budget,
            record["rule"],
            None if slack is None else Fraction(slack),
        )
