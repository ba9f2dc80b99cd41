"""Session: one source of private rows under a filter; every release of every table made of it goes through here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from viameter.composition import FilterMeter, Odometer
from viameter.composition.entries import Charge
from viameter.composition.queries import NewLoss
from viameter.core import Loss, Measure, Measurement, Space
from viameter.errors import ParameterError, SealedError, plain
from viameter.neighborhood import Guarantee
from viameter.query.collecting import Order, Progress
from viameter.query.database import Database
from viameter.query.planning import noise_kind
from viameter.query.rows import Rows
from viameter.query.units import Unit


@dataclass(frozen=True, slots=True)
class Charged:
    """One charge: for what, and how much."""

    question: str
    loss: Loss


class Session:
    """A source, whose presence is hidden, and the budget that all questions are counted against."""

    def __init__(
        self,
        source: Rows | Database,
        space: Space,
        unit: Unit,
        budget: Loss,
        *,
        order: Order,
        progress: Progress | None,
    ) -> None:
        if not isinstance(budget, Loss):
            raise ParameterError(f"budget={plain(budget)} is not a loss: expected e.g. zcdp('1/2')")
        noise_kind(budget.measure)  # refuses measures that questions cannot be answered in
        self.source = source
        self.space = space
        self.unit = unit
        self.order: Order = order
        self.progress = progress
        # Check, charge, run: whatever is asked, and chosen by earlier answers, all answers stay within the budget.
        self._meter: FilterMeter = Odometer(space, budget.measure).filter(d_in=1, budget=budget)(source)

    @classmethod
    def under(cls, meter: FilterMeter, parent: Session, unit: Unit | None = None) -> Session:
        """A session of the same rows whose budget is a part of another's, and was charged there."""
        made = object.__new__(cls)
        made.source, made.space, made.unit = parent.source, parent.space, unit or parent.unit
        made.order, made.progress = parent.order, parent.progress
        made._meter = meter
        return made

    @property
    def measure(self) -> Measure:
        """What losses are counted in."""
        return self.budget.measure

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
    def guarantee(self) -> Guarantee:
        """What all answers so far tell at most, and of whom."""
        return Guarantee(self.spent, self.unit.granularity)

    @property
    def history(self) -> tuple[Charged, ...]:
        """What was charged, in order; also what failed or was cancelled after it was charged."""
        return tuple(Charged(charge.query, charge.loss) for charge in self._meter.history if isinstance(charge, Charge))

    def fits(self, measurement: Measurement) -> bool:
        """Whether the budget would allow it."""
        pending = self._meter.preview(measurement, d_in=1)
        return isinstance(pending, NewLoss) and pending.fits

    def charge(self, measurement: Measurement) -> Any:
        """Charge a measurement, then run it: a refusal changes nothing, and what fails has been paid for."""
        try:
            return self._meter(measurement)
        except SealedError as failed:
            # Amounts are public, and whoever asked should not think that it was free.
            failed.add_note(f"what it cost stays charged: {self.spent!r} was spent, {self.left!r} is left")
            raise
