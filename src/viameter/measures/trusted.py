"""Measures that users define: one exact number, ordered, and added where whoever defines it says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viameter.arith import (
    INFINITY,
    ZERO,
    Extended,
    Number,
    add_settled_up,
    difference_down,
    extended,
    read_written,
    show,
    write,
)
from viameter.core import Adaptivity, Composability, Loss, Measure, Rule, require_trust
from viameter.core.composability import NON_ADAPTIVE, SEQUENTIAL, Cell
from viameter.errors import FormatError, IncomparableLosses, ParameterError
from viameter.theorem import Numbers, theorem


@dataclass(frozen=True, slots=True, repr=False)
class TrustedMeasure(Measure):
    """A measure given by a name; its losses are single numbers, made by calling it."""

    name: str
    slug: str
    adds: bool
    assumption: str
    composes: tuple[tuple[Adaptivity, Composability], ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Sums, where whoever defined it says that they hold."""
        table = {adaptivity: Cell(how, self.assumption) for adaptivity, how in self.composes}
        instead = "whoever defined the measure did not say that its losses add then; measure(..., composes={...}) does"
        return (Rule("sum", table, instead, trusted_composition),) if self.adds else ()

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

    def left_after(self, spent: Loss) -> TrustedLoss:
        """What is left of this budget."""
        self._same_measure(spent, "subtracted")
        assert isinstance(spent, TrustedLoss)
        return TrustedLoss(self.of, difference_down(self.amount, spent.amount))

    def to_json(self) -> dict[str, Any]:
        """The measure's name and the amount, exactly, as text."""
        return {"measure": self.measure.slug, "amount": write(self.amount)}

    def __repr__(self) -> str:
        return f"{self.of.name}({show(self.amount)})"


def measure(
    name: str, *, trust: str, adds: bool = False, composes: Mapping[Adaptivity, Composability] | None = None
) -> TrustedMeasure:
    """Define a measure whose losses are single numbers.

    `adds` says that losses of mechanisms that are all fixed in advance add up; `composes`, for which other ways of
    choosing mechanisms they do as well, and whether interactive ones may be interleaved.

    >>> total_variation = measure("TotalVariation", adds=True, trust="total variation distances of products add up")
    >>> total_variation("1/10") + total_variation("1/5")
    TotalVariation(3/10)
    """
    table = {NON_ADAPTIVE: SEQUENTIAL} if composes is None else dict(composes)
    for adaptivity, how in table.items():
        if not isinstance(adaptivity, Adaptivity) or not isinstance(how, Composability):
            raise ParameterError(
                f"measure {name}: composes={composes!r} is no table; write it as {{FULLY_ADAPTIVE: SEQUENTIAL}}"
            )
    if composes and not adds:
        raise ParameterError(f"measure {name}: composes={composes!r} says where losses add, so adds has to be True")
    return TrustedMeasure(name, f"user:{name}", adds, require_trust(f"measure {name}", trust), tuple(table.items()))


@theorem("trusted-composition", cites="the person who defined the measure", numbers=Numbers.ASSUMED)
def trusted_composition(losses: Sequence[TrustedLoss]) -> Loss:
    """Losses of a measure that somebody defined add up, because they say so.

    Theorem
        If the statement of trust that came with the measure is true, mechanisms with losses l_i have together the loss
        sum of l_i, for the ways of choosing mechanisms that were named when the measure was defined.
    Requires
        The statement of trust, which no program checks; and at least one loss, which says what the measure is.
    Ensures
        The loss is the sum, exact or rounded up.
    Proof
        None: it is assumed.
    Example
        >>> distance = measure("Distance", adds=True, trust="it does")
        >>> trusted_composition([distance(1), distance(2)])
        Distance(3)
    """
    if not losses:
        raise ParameterError("losses=[] does not say which measure is meant: its zero is the loss of nothing")
    return losses[0].measure.total(losses)
