"""Odometer: measurements of one space and one measure, chosen adaptively without limit; and what they cost so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from viameter.arith import Extended, Number
from viameter.composition.admission import Admission
from viameter.composition.anytime import AnytimeBound
from viameter.composition.meter import Meter, Metering
from viameter.composition.state import OdometerState
from viameter.composition.tally import Tally
from viameter.core import Loss, Measure, Space
from viameter.core.composability import FULLY_ADAPTIVE, require_cell
from viameter.core.queryable import making_sealed
from viameter.core.sealed import run_sealed
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.measures import PureDP
from viameter.spaces import own_copy
from viameter.theorem import Numbers, theorem, theorem_of

if TYPE_CHECKING:
    from viameter.composition.filters import Filter


@theorem(
    "fully-adaptive-odometer",
    cites="Shoemate, make_fully_adaptive_composition_queryable, Theorem 1.1; Haney et al. 2023, Algorithm 6",
    numbers=Numbers.OUTWARD,
)
def fully_adaptive_odometer(d_in: Extended, *, maps: tuple[Callable[[Any], Loss], ...], measure: Measure) -> Loss:
    """The loss of mechanisms that were chosen one by one is the composition of their losses, for any distance.

    Theorem
        Let a queryable run measurements of one space and one measure on its data, each chosen by all answers so far. On
        data d_in apart, the views of whoever queries it, up to where the composition of the losses map_i(d_in) is l,
        are l-close. A query whose pending loss is l leaves it valid with l. On every pair of members of the domain, a
        query raises the same error or raises none.
    Requires
        Each measurement has the odometer's domain, metric and measure: three different mismatch errors. The measure
        composes fully adaptively. If it does so sequentially only, a queryable that an answer contains, and every one
        made by it, answers only as long as no later measurement was asked for.
    Ensures
        The loss is the total of map_i(d_in), in the measure's rule, rounded up where it is not exact. A mechanism is
        counted before it runs, with the loss of all it may answer later.
    Proof
        This is Algorithm 6 of Haney et al. 2023, where the loss of an interactive child is counted in full when it is
        made: its queries later are then part of an interactive mechanism of that loss. Concurrent measures compose
        however queries are interleaved. For a sequential one, a child asks this queryable for permission before each
        answer, and has it while it is the newest: children of children ask as well, so that what runs is a sequence.
        The data are touched by measurements only, whose errors do not depend on data.
    Example
        >>> from viameter.measures import PureDP, pure
        >>> fully_adaptive_odometer(2, maps=(lambda d: pure(d), lambda d: pure("1/10")), measure=PureDP)
        pure(21/10)
    """
    return measure.total(map(d_in) for map in maps)


@dataclass(frozen=True, slots=True)
class Odometer:
    """Counts the loss of measurements that are chosen one by one: `odometer(data)` is a queryable that answers them.

    >>> import viameter as vm
    >>> space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> count = vm.count(space) >> vm.laplace(scale=10)
    >>> meter = Odometer(space, vm.PureDP)([3, 1, 4, 1, 5])
    >>> number = meter(count)
    >>> meter.loss(d_in=1), meter.loss(d_in=3), meter.preview(count, d_in=1)
    (pure(1/10), pure(3/10), NEW(pure(1/5)))
    """

    space: Space
    measure: Measure
    convert: bool = False
    """Whether measurements of other measures are converted, where a theorem does so without further numbers."""
    anytime: AnytimeBound | None = None
    """A bound to be shown as "epsilon so far", fixed before the first answer; in PureDP."""

    def __post_init__(self) -> None:
        if not isinstance(self.space, Space):
            raise ParameterError(f"space={plain(self.space)} is not a Space: expected a domain with a metric")
        if not isinstance(self.measure, Measure):
            raise ParameterError(f"measure={plain(self.measure)} is not a Measure: expected e.g. PureDP")
        require_cell(self.measure, FULLY_ADAPTIVE)
        if self.anytime is not None:
            self.space.metric.read_distance(self.anytime.d_in)
        if self.anytime is not None and self.measure != PureDP:
            raise NoTheorem(
                f"bounds for all times are proved for PureDP, where privacy losses are bounded with certainty; in "
                f"{self.measure!r} set a budget before the first answer: odometer.filter(d_in=..., budget=...)"
            )

    def __call__(self, data: Any) -> Meter:
        """Put data under the odometer."""
        tally = self._tally()
        return self._meter(self.space.domain.admit(data), tally)

    def filter(self, *, d_in: Any, budget: Loss, rule: str = "sum", slack: Number | None = None) -> Filter:
        """A measurement that releases such a queryable with a cap: what would go over the budget is refused.

        The loss of the filter is its budget, whatever is asked. In ApproxDP, the rules "concentrated" and "advanced"
        let more fit into a budget; `slack` is the part of its delta that they use themselves.
        """
        from viameter.composition.filters import make_filter  # a filter is made of an odometer

        return make_filter(self, d_in=d_in, budget=budget, rule=rule, slack=slack)

    @classmethod
    def resume(cls, state: OdometerState | str, data: Any, **reading: Any) -> Meter:
        """Put data under an odometer or a filter that goes on from a state; for text, give `space=` and what it needs.

        >>> import viameter as vm
        >>> space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
        >>> capped = Odometer(space, vm.PureDP).filter(d_in=1, budget=vm.pure("0.35"))([3, 1, 4])
        >>> number = capped(vm.count(space) >> vm.laplace(scale=10))
        >>> saved = capped.state().to_json()
        >>> Odometer.resume(saved, [3, 1, 4], space=space).left
        pure(1/4)
        """
        if isinstance(state, str):
            if "space" not in reading:
                raise ParameterError("resume(text, data, space=...): a state as text needs the space that it is of")
            state = OdometerState.from_json(state, **reading)
        if not isinstance(state, OdometerState):
            raise ParameterError(f"resume takes the state of a meter, or its text, and not {plain(state)}")
        odometer = cls(state.space, state.measure, state.convert, state.anytime)
        if state.terms is not None:
            terms = state.terms
            return odometer.filter(d_in=terms.d_in, budget=terms.budget, rule=terms.rule, slack=terms.slack).resumed(
                state, data
            )
        tally = odometer._tally()
        tally.resume(state.entries, state.totals)
        return odometer._meter(odometer.space.domain.admit(data), tally)

    def _tally(self) -> Tally:
        return Tally(self.measure, rule=None, track=self.space.metric.read_distance(1))

    def _meter(self, member: Any, tally: Tally) -> Meter:
        admission = Admission(
            self.space, self.measure, theorem=theorem_of(fully_adaptive_odometer), convert=self.convert
        )
        metering = Metering(run_sealed(own_copy, member), admission, tally, anytime=self.anytime)
        with making_sealed():
            return Meter(metering, name=f"odometer in {self.measure!r}")
