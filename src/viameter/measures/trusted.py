"""Measures that users define: one exact number, ordered, and added if whoever defines it says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viameter.arith import INFINITY, ZERO, Extended, Number, add_settled_up, extended, read_written, show, write
from viameter.core import Loss, Measure, require_trust
from viameter.errors import FormatError, IncomparableLosses


@dataclass(frozen=True, slots=True, repr=False)
class TrustedMeasure(Measure):
    """A measure given by a name; its losses are single numbers, made by calling it."""

    name: str
    slug: str
    adds: bool
    assumption: str

    @property
    def zero(self) -> Loss:
        """The loss of what does not look at the data."""
        return TrustedLoss(self, ZERO)

    @property
    def infinite(self) -> Loss:
        """The loss of what gives no guarantee."""
        return TrustedLoss(self, INFINITY)

    def __call__(self, amount: Number | float) -> TrustedLoss:
        """An amount of this measure."""
        return TrustedLoss(self, extended(amount, name="amount"))

    def from_json(self, record: Mapping[str, Any]) -> Loss:
        """Read a loss that was written by `to_json`."""
        if set(record) != {"measure", "amount"} or record["measure"] != self.slug:
            raise FormatError(f"no loss of {self.name}: expected the keys measure={self.slug!r} and amount")
        return TrustedLoss(self, read_written(record["amount"], name="amount"))

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, repr=False)
class TrustedLoss(Loss):
    """An amount of a measure that a user defined."""

    of: TrustedMeasure
    amount: Extended

    @property
    def measure(self) -> TrustedMeasure:
        """The measure that this is an amount of."""
        return self.of

    @property
    def is_finite(self) -> bool:
        """Whether this is a guarantee."""
        return self.amount != INFINITY

    def _implies(self, other: TrustedLoss) -> bool:
        return self.amount <= other.amount

    def _plus(self, other: TrustedLoss) -> TrustedLoss:
        if not self.of.adds:
            raise IncomparableLosses(f"losses of {self.measure!r} do not add: it was defined without adds=True")
        return TrustedLoss(self.of, add_settled_up(self.amount, other.amount))

    def to_json(self) -> dict[str, Any]:
        """The measure's name and the amount, exactly, as text."""
        return {"measure": self.measure.slug, "amount": write(self.amount)}

    def __repr__(self) -> str:
        return f"{self.of.name}({show(self.amount)})"


def measure(name: str, *, trust: str, adds: bool = False) -> TrustedMeasure:
    """Define a measure whose losses are single numbers.

    >>> total_variation = measure("TotalVariation", adds=True, trust="total variation distances of products add up")
    >>> total_variation("1/10") + total_variation("1/5")
    TotalVariation(3/10)
    """
    return TrustedMeasure(name, f"user:{name}", adds, require_trust(f"measure {name}", trust))
