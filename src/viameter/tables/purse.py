"""Purses: where a session's questions are charged: to a filter in memory, or to scopes of a ledger on disk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from viameter.composition import FilterMeter
from viameter.composition.entries import Charge
from viameter.composition.queries import NewLoss
from viameter.core import Loss, Measurement
from viameter.errors import KeyTaken, ParameterError, SealedError
from viameter.ledger import Ledger, LedgerMeter, Line, Release, Scope, history
from viameter.tables.preview import Standing, binding

NO_LEDGER = "key: without a ledger nothing is stored that could be given again: open the table with ledger='budget.db'"


LAST_RELEASE: ContextVar[Release | None] = ContextVar("last_release", default=None)
"""What was released last in this context: for whoever wants to know its entries, too."""


@dataclass(frozen=True, slots=True)
class Charged:
    """One charge: for what, how much, and what came of it."""

    question: str
    loss: Loss
    outcome: str | None = field(default=None, kw_only=True)
    """"answered", "failed" or, where neither is stored, "unsettled" ("running" or "lost" at a service); None without a
    ledger, which would keep it."""
    entry: int | None = field(default=None, kw_only=True, repr=False)
    """Which entry of the ledger it is."""
    at: str = field(default="", kw_only=True, repr=False)
    by: str = field(default="", kw_only=True, repr=False)
    key: str = field(default="", kw_only=True, repr=False)


class Purse(ABC):
    """What may be spent, what was, and the way to spend it."""

    @property
    @abstractmethod
    def budget(self) -> Loss:
        """What may be spent in all."""

    @property
    @abstractmethod
    def spent(self) -> Loss:
        """What was spent so far."""

    @property
    def lifetime(self) -> Loss:
        """What was ever spent: more than was spent so far where the budget starts over from time to time."""
        return self.spent

    @property
    @abstractmethod
    def left(self) -> Loss:
        """What is left to be spent."""

    @property
    def budgets(self) -> tuple[Standing, ...]:
        """All budgets that pay, each as it stands."""
        return (Standing("", self.budget, self.spent, self.left),)

    @property
    @abstractmethod
    def history(self) -> tuple[Charged, ...]:
        """What was charged, in order; also what failed or was cancelled after it was charged."""

    @abstractmethod
    def fits(self, measurement: Measurement) -> bool:
        """Whether the budget would allow it."""

    def knows(self, key: str | None) -> bool:
        """Whether something was charged under a key: nothing more is charged or run under it."""
        return False

    @abstractmethod
    def charge(self, measurement: Measurement, *, key: str | None, identity: Callable[[], str]) -> Any:
        """Charge a measurement, then run it; under a key that was used for the same, what was released then."""


class FilterPurse(Purse):
    """A filter of this process."""

    def __init__(self, meter: FilterMeter) -> None:
        self._meter = meter

    @property
    def budget(self) -> Loss:
        """What may be spent in all."""
        return self._meter.budget

    @property
    def spent(self) -> Loss:
        """What was spent so far."""
        return self._meter.spent

    @property
    def left(self) -> Loss:
        """What is left to be spent."""
        return self._meter.left

    @property
    def history(self) -> tuple[Charged, ...]:
        """What was charged, in order."""
        return tuple(Charged(charge.query, charge.loss) for charge in self._meter.history if isinstance(charge, Charge))

    def fits(self, measurement: Measurement) -> bool:
        """Whether the budget would allow it."""
        pending = self._meter.preview(measurement, d_in=1)
        return isinstance(pending, NewLoss) and pending.fits

    def charge(self, measurement: Measurement, *, key: str | None, identity: Callable[[], str]) -> Any:
        """Charge, then run."""
        if key is not None:
            raise ParameterError(NO_LEDGER)
        try:
            return self._meter(measurement)
        except SealedError as failed:
            # Amounts are public, and whoever asked should not think that it was free.
            failed.add_note(f"what it cost stays charged: {self.spent!r} was spent, {self.left!r} is left")
            raise


class LedgerPurse(Purse):
    """Scopes of a ledger, which others may be charging too. What is shown is the first of them."""

    def __init__(self, meter: LedgerMeter, scope: str) -> None:
        self.meter = meter
        self.name = scope

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return self.meter.ledger

    @property
    def scope(self) -> Scope:
        """The scope as it stands."""
        return self.ledger.scope(self.name)

    @property
    def budget(self) -> Loss:
        """What may be spent in all, as the ledger has it now."""
        return self.scope.cap

    @property
    def spent(self) -> Loss:
        """What was spent so far, by whomever; where the budget starts over, since then."""
        return self.scope.spent

    @property
    def lifetime(self) -> Loss:
        """What was ever spent, by whomever."""
        return self.scope.lifetime

    @property
    def left(self) -> Loss:
        """What is left to be spent here: of all scopes that pay, what the one has that has least."""
        return binding(self.budgets).left

    @property
    def budgets(self) -> tuple[Standing, ...]:
        """All scopes that pay, each as it stands."""
        return tuple(Standing(one.name, one.cap, one.spent, one.left) for one in self.meter.scopes)

    @property
    def history(self) -> tuple[Charged, ...]:
        """What was charged to the scope, in order, by whomever."""
        lines = history(self.ledger, scope=self.name)
        return tuple(self._charged(line) for line in lines if line.costs)

    def _charged(self, line: Line) -> Charged:
        loss = next(loss for scope, _, loss, _ in line.costs if scope == self.name)
        outcome = None if line.outcome is None else str(line.outcome)
        text = line.label or line.query
        return Charged(text, loss, outcome=outcome, entry=line.seq, at=line.at, by=line.by, key=line.key)

    def fits(self, measurement: Measurement) -> bool:
        """Whether every scope would allow it now."""
        return self.meter.fits(measurement)

    def knows(self, key: str | None) -> bool:
        """Whether something was charged under a key by whoever asks."""
        return key is not None and self.ledger.request(self.meter.by, key) is not None

    def charge(self, measurement: Measurement, *, key: str | None, identity: Callable[[], str]) -> Any:
        """Reserve, run, commit, release."""
        released = self.meter.release(measurement, key=key, identity=identity())
        LAST_RELEASE.set(released)
        return released.value


class ReplayPurse(LedgerPurse):
    """The same scopes, of which nothing can be spent: what was released under a key is given again, no more."""

    def knows(self, key: str | None) -> bool:
        """Nothing is ever charged or run."""
        return True

    def charge(self, measurement: Measurement, *, key: str | None, identity: Callable[[], str]) -> Any:
        """What was stored under the key; KeyTaken if that was for another question, or of another dataset."""
        if key is None:
            raise ParameterError("key is missing: which of the answers that were released is meant?")
        request = self.ledger.request(self.meter.by, key)
        if request is None or not self.meter.is_of(request, measurement, identity=identity()):
            raise KeyTaken(key)
        return self.ledger.replay(key, by=self.meter.by).value
