"""Meter: the queryable that an odometer or a filter makes of data. It counts what mechanisms cost, and runs them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, ZERO, Extended, add_settled_up, show
from viameter.composition.admission import Admission
from viameter.composition.anytime import AnytimeBound
from viameter.composition.entries import Charge, Entry
from viameter.composition.queries import (
    SAME,
    AnytimeQuery,
    AskPermission,
    BudgetQuery,
    DerivationQuery,
    HistoryQuery,
    LossQuery,
    NewLoss,
    PendingLoss,
    PendingQuery,
    StateQuery,
)
from viameter.composition.state import OdometerState
from viameter.composition.tally import Pending, Tally
from viameter.composition.terms import FilterTerms
from viameter.core import External, Internal, Loss, Measurement, Query, Queryable, Transformation
from viameter.core.certificate import Certificate, certify
from viameter.core.composability import SEQUENTIAL
from viameter.errors import NoTheorem, OverBudget, ParameterError, PermissionGone, UnknownQuery
from viameter.measures import ApproxDP, PureDP
from viameter.measures.amounts import PureLoss
from viameter.spaces import lend
from viameter.theorem import Derivation, Explanation


class Meter(Queryable):
    """Data under an odometer: `meter(measurement)` counts what it costs, runs it and returns the release.

    Queryables that it releases answer within the loss that was counted for them. Where the measure composes only
    sequentially, they answer until the next measurement is asked for.
    """

    __slots__ = ()

    def loss(self, d_in: Any = None) -> Loss:
        """What was spent so far, for data `d_in` apart: any distance, chosen afterwards; a filter has its own."""
        found: Loss = self(LossQuery(d_in))
        return found

    def preview(self, query: Any, d_in: Any = None) -> PendingLoss:
        """What the loss would be after a query, which is not run: NEW(loss), or SAME for a query of the loss.

        Under a filter, `.fits` says whether the query would be answered.
        """
        found: PendingLoss = self.ask(PendingQuery(query, d_in))
        return found

    @property
    def history(self) -> tuple[Entry, ...] | tuple[Charge, ...]:
        """What was asked, in order; each entry tells its `loss(d_in)`. No data."""
        found: tuple[Entry, ...] | tuple[Charge, ...] = self.ask(HistoryQuery())
        return found

    @property
    def epsilon_so_far(self) -> Loss:
        """What was spent so far in ApproxDP, by the bound for all times that the odometer was made with.

        It is for the bound's distance, and holds whenever one stops, also because of what it shows.
        """
        found: Loss = self.ask(AnytimeQuery())
        return found

    def explain(self, d_in: Any = None) -> Explanation:
        """The loss so far, and the tree of theorems behind it."""
        found: Explanation = self.ask(DerivationQuery(d_in))[0]
        return found

    def certificate(self, d_in: Any = None) -> Certificate:
        """The same as `explain`, as a file that `viameter check` re-derives without this library."""
        explanation, space, distance = self.ask(DerivationQuery(d_in))
        return certify(explanation.derivation, space=space, d_in=distance)

    def state(self, *, d_in: Any = ()) -> OdometerState:
        """All but the data: `Odometer.resume` goes on from it. Losses are kept for every distance that was asked about.

        Queryables that were released are not part of it; what they cost was counted when they were made.
        """
        found: OdometerState = self.ask(StateQuery(tuple(d_in) if isinstance(d_in, list | tuple) else (d_in,)))
        return found


class FilterMeter(Meter):
    """Data under a filter: as a meter, and what would go over the budget is refused before it runs."""

    __slots__ = ()

    @property
    def budget(self) -> Loss:
        """What may be spent in all, in the measure that is counted in."""
        return self._amounts()[0]

    @property
    def spent(self) -> Loss:
        """What was spent so far."""
        return self._amounts()[1]

    @property
    def left(self) -> Loss:
        """What is left."""
        return self._amounts()[2]

    def _amounts(self) -> tuple[Loss, Loss, Loss]:
        found: tuple[Loss, Loss, Loss] = self.ask(BudgetQuery())
        return found


@dataclass(frozen=True, slots=True)
class Cap:
    """What a filter allows: so much of what is counted, for data this far apart; and what it was made with."""

    d_in: Extended
    budget: Loss
    terms: FilterTerms


class Metering:
    """The hidden state of a meter: the data, what was charged, and the cap if there is one."""

    def __init__(
        self,
        member: Any,
        admission: Admission,
        tally: Tally,
        *,
        cap: Cap | None = None,
        anytime: AnytimeBound | None = None,
    ) -> None:
        self.member = member
        self.admission = admission
        self.tally = tally
        self.cap = cap
        self.anytime = anytime
        # A bound for all times speaks of one step after the other.
        self.sequential = anytime is not None or tally.cell.composability is SEQUENTIAL
        self._whole: dict[int, Extended] = {}
        self._squares: Extended = ZERO
        self._squared = 0

    def __call__(self, meter: Queryable, query: Query) -> Any:
        """Answer a query."""
        match query:
            case External(query=LossQuery(d_in)):
                return self.tally.total(self._distance(d_in))
            case External(query=asked):
                return self._invoke(meter, self._read(meter, asked))
            case Internal(query=AskPermission(child)):
                return self._permit(meter, child)
            case Internal(query=PendingQuery(asked, d_in)):
                return self._pending(meter, asked, self._distance(d_in))
            case Internal(query=HistoryQuery()):
                return self._history()
            case Internal(query=DerivationQuery(d_in)):
                return self._derive(self._distance(d_in))
            case Internal(query=BudgetQuery()) if self.cap is not None:
                spent = self.tally.total(self.cap.d_in)
                return self.cap.budget, spent, self.cap.budget.left_after(spent)
            case Internal(query=AnytimeQuery()):
                return self._epsilon_so_far()
            case Internal(query=StateQuery(d_in)):
                return self._state([self._distance(distance) for distance in d_in])
        raise UnknownQuery(meter, query.query)

    def _distance(self, d_in: Any) -> Extended:
        if d_in is None and self.cap is not None:
            return self.cap.d_in
        if d_in is None:
            raise ParameterError("d_in is missing: how far apart the data are that the loss is for")
        if type(d_in) is not int:
            return self.admission.space.metric.read_distance(d_in)
        # Whole distances are asked about again and again, and are found faster than they are read.
        known = self._whole.get(d_in)
        if known is None:
            if len(self._whole) >= 1024:
                self._whole.clear()
            known = self._whole[d_in] = self.admission.space.metric.read_distance(d_in)
        return known

    def _read(self, meter: Queryable, asked: Any) -> Measurement:
        measurement = self.admission.measurement(asked)
        if measurement is None:
            exact = isinstance(asked, Transformation)
            hint = "exact answers are not private; add noise, as in ... >> laplace(scale=10)" if exact else ""
            raise UnknownQuery(meter, asked, hint)
        return measurement

    def _invoke(self, meter: Queryable, measurement: Measurement) -> Any:
        # Check, then charge, then run: a refusal changes nothing, and a mechanism that fails has been paid for.
        pending = self.tally.pending(measurement)
        if self.cap is not None:
            self._check(pending, self.cap)
        child = self.tally.charge(pending)
        guard = None
        if self.sequential:

            def guard() -> Any:
                return meter.holding(AskPermission(child))

        return measurement.release(lend(self.member), guard=guard)

    def _check(self, pending: Pending, cap: Cap) -> None:
        if not self._fits(pending, cap):
            spent = self.tally.total(cap.d_in)
            raise OverBudget(
                spent=spent,
                asked=self.tally.asked(pending.measurement, cap.d_in),
                left=cap.budget.left_after(spent),
                budget=cap.budget,
            )

    def _fits(self, pending: Pending, cap: Cap) -> bool:
        total = pending.total(cap.d_in)
        return total.is_finite and total <= cap.budget

    def _permit(self, meter: Queryable, child: int) -> None:
        if child != len(self.tally.entries):
            raise PermissionGone(
                f"{meter!r} has been asked for another measurement since, and counts one after the other: "
                "only what came of the last one answers"
            )

    def _pending(self, meter: Queryable, asked: Any, d_in: Extended) -> PendingLoss:
        if isinstance(asked, LossQuery):
            return SAME
        measurement = self._read(meter, asked)
        fits = self.cap is None or self._fits(self.tally.pending(measurement), self.cap)
        return NewLoss(self.tally.total(d_in) + self.tally.asked(measurement, d_in), fits)

    def _epsilon_so_far(self) -> Loss:
        bound = self.anytime
        if bound is None:
            raise NoTheorem(
                "epsilon so far: a bound for a fixed number of answers does not hold for one that the answers choose; "
                "set a budget by a filter, or in PureDP make the odometer with anytime=anytime(d_in=..., delta=...)"
            )
        for entry in self.tally.entries[self._squared :]:
            self._squares = add_settled_up(self._squares, _square(self.tally.loss_of(entry, bound.d_in)))
        self._squared = len(self.tally.entries)
        shown = bound(self._squares)
        # The sum holds at all times with certainty, and is less where little was asked.
        total = self.tally.total(bound.d_in)
        assert isinstance(total, PureLoss)
        return total.to(ApproxDP) if total.epsilon <= shown.epsilon else shown

    def _history(self) -> tuple[Entry, ...] | tuple[Charge, ...]:
        if self.cap is None:
            return tuple(self.tally.entries)
        return tuple(Charge(entry.query, entry.loss(self.cap.d_in)) for entry in self.tally.entries)

    def _derive(self, d_in: Extended) -> tuple[Explanation, Any, Extended]:
        composed = self.tally.derive(d_in)
        loss, space = self.tally.total(d_in), self.admission.space
        derivation = Derivation(
            "odometer",
            self.admission.theorem,
            show(d_in),
            repr(loss),
            assumes=space.assumptions,
            premises=(composed,),
            given_value=d_in,
            bound_value=loss,
            space=space,
        )
        near = f"at most {show(d_in)} apart in {space.metric!r}"
        claim = f"On data {near}, all answers so far are {loss!r}-close{self._condition()}."
        return Explanation(claim, derivation), space, d_in

    def _condition(self) -> str:
        # Pure losses bound every outcome. Others speak of a budget that the answers did not choose.
        if self.tally.measure == PureDP:
            return ""
        if self.cap is None:
            return ", if that was a budget set before the first of them"
        within = f"within {self.cap.terms.budget!r}, for data {show(self.cap.d_in)} apart"
        return f", if that was a budget set before the first of them; whatever is asked, all stay {within}"

    def _state(self, distances: list[Extended]) -> OdometerState:
        always = [] if self.anytime is None else [self.anytime.d_in]
        known = sorted({*self.tally.tracked, *always, *distances})
        return OdometerState.of(
            self.admission.space,
            self.admission.measure,
            self.tally,
            known,
            convert=self.admission.convert,
            terms=None if self.cap is None else self.cap.terms,
            anytime=self.anytime,
        )


def _square(loss: Loss) -> Extended:
    assert isinstance(loss, PureLoss)
    return INFINITY if loss.epsilon == INFINITY else Fraction(loss.epsilon) ** 2
