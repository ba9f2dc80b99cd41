"""Filter: an odometer with a cap, as a measurement whose loss is the cap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from viameter.arith import Extended, Number
from viameter.composition.admission import Admission
from viameter.composition.approximate import count_advanced, count_concentrated
from viameter.composition.counting import Counting
from viameter.composition.meter import Cap, FilterMeter, Metering
from viameter.composition.odometer import Odometer, fully_adaptive_odometer
from viameter.composition.state import OdometerState
from viameter.composition.tally import Tally
from viameter.composition.terms import FilterTerms
from viameter.core import Loss, Measurement, by
from viameter.core.composability import FULLY_ADAPTIVE, require_cell
from viameter.core.queryable import making_sealed
from viameter.core.sealed import run_sealed
from viameter.errors import MeasureMismatch, ParameterError, plain
from viameter.spaces import own_copy
from viameter.theorem import theorem, theorem_of


@theorem(
    "privacy-filter",
    cites="Rogers, Roth, Ullman and Vadhan 2016; Feldman and Zrnic 2021; Haney et al. 2023; Whitehouse et al. 2023",
)
def privacy_filter(d_in: Extended, *, at: Extended, budget: Loss) -> Loss:
    """Mechanisms that are chosen one by one cost no more than a budget, if each is refused that would go over it.

    Theorem
        Let a queryable run measurements chosen by all answers so far, and refuse, before it runs, every one after which
        the composition of the losses on data D apart would exceed a budget b that was fixed before. Then, on data at
        most D apart, all it ever answers is b-close.
    Requires
        The measure composes fully adaptively. The budget is finite and fixed before the first answer. The loss after a
        query is looked at before its mechanism runs, and a mechanism that fails has been counted.
    Ensures
        The loss is the budget for every distance up to D, and infinite beyond. A refusal changes nothing.
    Proof
        What is refused and when depends on answers and on public losses only, so that the filter is a mechanism chosen
        adaptively of losses that compose to at most b on every path: see the rule of the measure.
    Example
        >>> from viameter.measures import pure
        >>> privacy_filter(1, at=2, budget=pure("1/2")), privacy_filter(3, at=2, budget=pure("1/2"))
        (pure(1/2), pure(inf))
    """
    return budget if d_in <= at else budget.measure.infinite


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Filter(Measurement):
    """An odometer with a cap: `filter(data)` releases a queryable, and all that it answers costs the budget at most."""

    odometer: Odometer
    terms: FilterTerms
    counting: Counting

    @property
    def budget(self) -> Loss:
        """What all answers together cost at most."""
        return self.terms.budget

    def resumed(self, state: OdometerState, data: Any) -> FilterMeter:
        """Put data under the filter and go on from a state."""
        if (state.space, state.measure, state.terms) != (self.input_space, self.odometer.measure, self.terms):
            raise ParameterError(f"{state!r} is of another filter: a budget is fixed before the first answer")
        return self._meter(self.input_space.domain.admit(data), state)

    def _meter(self, member: Any, state: OdometerState | None) -> FilterMeter:
        odometer, counting = self.odometer, self.counting
        tally = Tally(counting.cap.measure, rule=None, track=self.terms.d_in)
        if state is not None:
            tally.resume(state.entries, state.totals)
        admission = Admission(
            odometer.space,
            odometer.measure,
            theorem=theorem_of(fully_adaptive_odometer),
            convert=odometer.convert,
            count_as=counting.count_as,
        )
        cap = Cap(self.terms.d_in, counting.cap, self.terms)
        with making_sealed():
            return FilterMeter(
                Metering(run_sealed(own_copy, member), admission, tally, cap=cap), name=f"filter of {self.budget!r}"
            )


def make_filter(odometer: Odometer, *, d_in: Any, budget: Loss, rule: str, slack: Number | None) -> Filter:
    """The filter of an odometer."""
    distance = odometer.space.metric.read_distance(d_in)
    if not isinstance(budget, Loss):
        raise ParameterError(f"budget={plain(budget)} is not a loss: expected one of {odometer.measure!r}")
    if budget.measure != odometer.measure:
        hint = f"make the odometer in {budget.measure!r}, or give the budget in {odometer.measure!r}"
        raise MeasureMismatch("the odometer", odometer.measure, "the budget", budget.measure, hint)
    if not budget.is_finite:
        raise ParameterError(f"budget={plain(budget)} is no limit: expected a finite loss")
    if odometer.anytime is not None:
        raise ParameterError("a filter has its budget, and needs no bound for all times: leave anytime= out")
    counting = count_by(rule, distance, budget, slack)
    made = Filter(
        input_space=odometer.space,
        measure=odometer.measure,
        function=lambda member: made._meter(member, None),
        bound=counting.bound,
        made_by=f"filter(d_in={d_in!s}, budget={budget!r})",
        odometer=odometer,
        terms=FilterTerms(distance, budget, rule, counting.slack),
        counting=counting,
    )
    return made


def count_by(rule: str | None, distance: Extended, budget: Loss, slack: Number | None = None) -> Counting:
    """How a budget for data this far apart is counted by a rule; NoTheorem where answers may not choose what is asked.

    >>> from viameter.measures import approx, pure
    >>> count_by(None, 1, pure(1)).cap
    pure(1)
    >>> count_by("concentrated", 1, approx(1, "1e-6")).cap.measure
    ApproxZCDP
    """
    if isinstance(rule, str) and rule in RULES:
        return RULES[rule](distance, budget, slack)
    # Rules that are not proved for mechanisms chosen by earlier answers are refused here, with the reason.
    require_cell(budget.measure, FULLY_ADAPTIVE, rule)
    if slack is not None:
        raise ParameterError(f"slack={plain(slack)}: the rule {rule!r} uses no delta itself")
    return Counting(budget, by(privacy_filter, at=distance, budget=budget))


RULES: dict[str, Callable[[Extended, Loss, Number | None], Counting]] = {
    "concentrated": count_concentrated,
    "advanced": count_advanced,
}
"""Rules of filters beside those of the measures."""
