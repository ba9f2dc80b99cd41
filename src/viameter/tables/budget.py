"""Session: one source of private rows under a budget; every release of every table made of it goes through here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from viameter.composition import FilterMeter, Odometer
from viameter.core import Loss, Measure, Measurement, Space
from viameter.core.deadlines import GivenUp, stop_if_given_up
from viameter.errors import ParameterError, QueryableError, ViameterError, plain
from viameter.ledger import Ledger
from viameter.neighborhood import Guarantee
from viameter.tables.collecting import Order, Progress
from viameter.tables.database import Database
from viameter.tables.engines import EngineTable, ready
from viameter.tables.planning import noise_kinds
from viameter.tables.preview import Standing
from viameter.tables.purse import Charged, FilterPurse, LedgerPurse, Purse
from viameter.tables.rows import Rows
from viameter.tables.units import Unit

__all__ = ["Charged", "GivenUp", "Session"]


MARGIN = 100
"""How many calls deeper than here a question may be run."""


class Session:
    """A source, whose presence is hidden, and the budget that all questions are counted against."""

    def __init__(
        self,
        source: Rows | Database,
        space: Space,
        unit: Unit,
        purse: Purse,
        *,
        order: Order,
        progress: Progress | None,
    ) -> None:
        self.source = source
        self.space = space
        self.unit = unit
        self.purse = purse
        self.order: Order = order
        self.progress = Waiting(progress)
        self._process = os.getpid()

    @classmethod
    def in_memory(
        cls,
        source: Rows | Database,
        space: Space,
        unit: Unit,
        budget: Loss,
        *,
        order: Order,
        progress: Progress | None,
    ) -> Session:
        """A session whose budget ends with this process."""
        check_budget(budget)
        # Check, charge, run: whatever is asked, and chosen by earlier answers, all answers stay within the budget.
        meter: FilterMeter = Odometer(space, budget.measure).filter(d_in=1, budget=budget)(source)
        return cls(source, space, unit, FilterPurse(meter), order=order, progress=progress)

    def under(self, purse: Purse, *, source: Rows | None = None, space: Space | None = None) -> Session:
        """A session of the same rows, or of a part of them, whose budget is a share of this one's, charged here."""
        return Session(
            source or self.source, space or self.space, self.unit, purse, order=self.order, progress=self.progress.tell
        )

    @property
    def measure(self) -> Measure:
        """What losses are counted in."""
        return self.budget.measure

    @property
    def budget(self) -> Loss:
        """What may be spent in all."""
        return self.purse.budget

    @property
    def spent(self) -> Loss:
        """What was spent so far."""
        return self.purse.spent

    @property
    def left(self) -> Loss:
        """What is left to be spent."""
        return self.purse.left

    @property
    def budgets(self) -> tuple[Standing, ...]:
        """All budgets that pay for a question here, each as it stands; the first is the one of these rows."""
        return self.purse.budgets

    @property
    def guarantee(self) -> Guarantee:
        """What all answers so far tell at most, and of whom; a budget that starts over does not make it less."""
        return Guarantee(self.purse.lifetime, self.unit.granularity)

    @property
    def history(self) -> tuple[Charged, ...]:
        """What was charged, in order; also what failed or was cancelled after it was charged."""
        return self.purse.history

    @property
    def ledger(self) -> Ledger | None:
        """Where it is charged, if that is a ledger."""
        return self.purse.ledger if isinstance(self.purse, LedgerPurse) else None

    @property
    def tables(self) -> list[EngineTable]:
        """What is read, all of it on one engine."""
        return [rows.on for rows in (self.source.values() if isinstance(self.source, Database) else [self.source])]

    def fits(self, measurement: Measurement) -> bool:
        """Whether the budget would allow it."""
        return self.purse.fits(measurement)

    def compile(self, compiling: Callable[[], object]) -> None:
        """Make the queries of a question, or refuse it: nothing is charged, and no row is read."""
        try:
            _further_down(compiling, calls=MARGIN)
        except ViameterError:
            raise
        except Exception as error:
            raise ParameterError(
                f"the question cannot be compiled ({type(error).__name__}); nothing was charged: nest or derive less"
            ) from None

    def charge(
        self,
        measurement: Measurement,
        *,
        key: str | None = None,
        identity: Callable[[], str] = str,
        compiling: Callable[[], object] = bool,
    ) -> Any:
        """Charge a measurement, then run it: a refusal changes nothing, and what fails has been paid for.

        The engine is waited for, and made sure of, before anything is charged: else SourceUnavailable. `compiling` is
        called then, and still before: it makes the queries, and refuses those that cannot be run.

        With a ledger, `key` names the request, and `identity` tells what its text leaves out.
        """
        if os.getpid() != self._process:
            # An engine's threads and connections are not here: it would be charged, and never answer.
            raise QueryableError("a session does not survive a fork: open the table in this process; nothing was spent")
        if self.purse.knows(key):
            return self.purse.charge(measurement, key=key, identity=identity)  # no engine is needed to give it again
        with ready(self.tables):
            self.compile(compiling)
            return self.purse.charge(measurement, key=key, identity=identity)


def _further_down(call: Callable[[], object], *, calls: int) -> None:
    """Call with less room for recursion: what is written for the engine here can be written wherever it runs."""
    if calls:
        _further_down(call, calls=calls - 1)
    else:
        call()


@dataclass(frozen=True, slots=True)
class Waiting:
    """Told about twice a second that a question still runs: says so, and stops it if its deadline has passed."""

    tell: Progress | None

    def __call__(self, text: str) -> None:
        """Tell, or stop."""
        stop_if_given_up()
        if self.tell is not None:
            self.tell(text)


def check_budget(budget: Any) -> None:
    """Refuse what is no budget, or one in a measure that questions cannot be answered in."""
    if not isinstance(budget, Loss):
        raise ParameterError(f"budget={plain(budget)} is not a loss: expected e.g. zcdp('1/2')")
    noise_kinds(budget.measure)
