"""Measure and Loss: what privacy loss is counted in, and an amount of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from viameter.arith import Number
from viameter.core.composability import Adaptivity, Composability, Rule, require_cell, rules_of
from viameter.errors import FormatError, IncomparableLosses, NumberError


@contextmanager
def refusing_as_format() -> Iterator[None]:
    """While a stored record is read, a number that makes no sense is a fault of the record."""
    try:
        yield
    except NumberError as problem:
        raise FormatError(f"the record was changed, or is not of this library: {problem}") from None


class Loss(ABC):
    """An amount of privacy loss in one measure: exact, ordered, and summable where the measure says so.

    The order is that of guarantees: `a <= b` when whatever satisfies `a` satisfies `b`. It may be partial.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def measure(self) -> Measure:
        """The measure that this is an amount of."""

    @property
    @abstractmethod
    def is_finite(self) -> bool:
        """Whether this is a guarantee at all; budgets and charges have to be finite."""

    @abstractmethod
    def _implies(self, other: Any) -> bool:
        """Whether this loss is at most `other`, which is of the same measure."""

    @abstractmethod
    def _plus(self, other: Any) -> Loss:
        """The sum with `other`, which is of the same measure; exact, or rounded up."""

    def left_after(self, spent: Loss) -> Loss:
        """What is left of this budget when so much of it, in the same measure, was spent; never more than there is."""
        raise IncomparableLosses(f"{self.measure!r} does not say what is left of {self!r} after {spent!r}")

    def to(
        self,
        measure: Measure,
        *,
        by: str | None = None,
        delta: Number | None = None,
        epsilon: Number | None = None,
        order: Number | float | Iterable[Number | float] | None = None,
    ) -> Any:
        """This loss in another measure: whatever satisfies it satisfies the result, by a theorem.

        To ApproxDP it takes the delta or the epsilon that is wanted, to RenyiDP the order, or several. `by` names a
        theorem where several lead there. `viameter.core.conversion.convert` says which theorems were used.
        """
        from viameter.core.conversion import convert  # it is made of losses

        return convert(self, measure, by=by, delta=delta, epsilon=epsilon, order=order).loss

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The loss as plain JSON values; `Measure.from_json` reads it."""

    def _same_measure(self, other: Loss, verb: str) -> None:
        if other.measure is not self.measure and other.measure != self.measure:
            raise IncomparableLosses(
                f"{self!r} and {other!r} cannot be {verb}: they are losses of different measures, "
                f"{self.measure!r} and {other.measure!r}"
            )

    def __le__(self, other: Loss) -> bool:
        # Of the same class, which is what an odometer compares and adds at every query, it is known to be a loss.
        if type(other) is not type(self) and not isinstance(other, Loss):
            return NotImplemented
        self._same_measure(other, "compared")
        return self._implies(other)

    def __ge__(self, other: Loss) -> bool:
        if not isinstance(other, Loss):
            return NotImplemented
        return other <= self

    def __lt__(self, other: Loss) -> bool:
        if not isinstance(other, Loss):
            return NotImplemented
        return self <= other and not other <= self

    def __gt__(self, other: Loss) -> bool:
        if not isinstance(other, Loss):
            return NotImplemented
        return other < self

    def __add__(self, other: Loss) -> Loss:
        if type(other) is not type(self) and not isinstance(other, Loss):
            return NotImplemented
        self._same_measure(other, "added")
        return self._plus(other)

    def __radd__(self, other: object) -> Loss:
        # The 0 that sum() starts from.
        if type(other) is int and other == 0:
            return self
        return NotImplemented


class Measure(ABC):
    """What privacy loss is counted in: a divergence between output distributions, and the losses that bound it."""

    assumption: str | None = None
    """What a user-defined measure asks to be trusted; shown in `explain`."""

    slug: str
    """The name that stored records use; it never changes."""

    @property
    @abstractmethod
    def zero(self) -> Loss:
        """The loss of what does not look at the data."""

    @property
    @abstractmethod
    def infinite(self) -> Loss:
        """The loss of what gives no guarantee."""

    @abstractmethod
    def from_json(self, record: Mapping[str, Any]) -> Loss:
        """Read a loss that `Loss.to_json` wrote."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """How its losses compose; the first rule is the one that is used when none is named."""
        return rules_of(self)

    def composability(self, adaptivity: Adaptivity, rule: str | None = None) -> Composability:
        """How mechanisms that are chosen in this way may be used beside one another; NoTheorem if they may not."""
        return require_cell(self, adaptivity, rule)[1].composability

    def total(self, losses: Iterable[Loss]) -> Loss:
        """Add losses of this measure; measures with a faster way than one by one have their own."""
        result = self.zero
        for loss in losses:
            result = result + loss
        return result
