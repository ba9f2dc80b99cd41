"""PartMeter: data under an odometer that counts by touch pattern; mechanisms run on parts, chosen one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from viameter.core import External, Internal, Loss, Measure, Measurement, Query, Queryable, Space
from viameter.core.queryable import making_sealed
from viameter.core.sealed import run_sealed
from viameter.errors import NoTheorem, ParameterError, UnknownQuery, plain
from viameter.neighborhood.claims import GRANULARITY_OF, Leaf, leaf
from viameter.neighborhood.cuts import Part
from viameter.neighborhood.released import chain
from viameter.neighborhood.tally import PatternTally
from viameter.spaces import lend, own_copy


@dataclass(frozen=True, slots=True)
class _Ask:
    part: Part
    mechanism: Any


@dataclass(frozen=True, slots=True)
class _Look:
    part: Part
    mechanism: Any


@dataclass(frozen=True, slots=True)
class _Tally:
    """Asks for the tally itself, which holds no data."""


class PartMeter(Queryable):
    """Data whose parts are measured one by one: `meter(part, measurement)` counts it, runs it, returns the release."""

    __slots__ = ()

    def __call__(self, part: Any, mechanism: Any = None) -> Any:
        """Measure a part: charge the patterns that touch it, then run."""
        return super().__call__(_Ask(part, mechanism))

    def preview(self, part: Part, mechanism: Any) -> Loss:
        """What the worst pattern would cost afterwards; nothing is run or spent."""
        found: Loss = self.ask(_Look(part, mechanism))
        return found

    @property
    def tally(self) -> PatternTally:
        """What was charged: `spent`, `left`, `history`, `explain()`. It holds no data."""
        found: PatternTally = self.ask(_Tally())
        return found

    @property
    def spent(self) -> Loss:
        """What the worst pattern has cost so far."""
        return self.tally.spent

    @property
    def left(self) -> Loss:
        """What is left of the budget for the worst pattern."""
        return self.tally.left


class _Metering:
    def __init__(self, space: Space, member: Any, tally: PatternTally) -> None:
        self.space = space
        self.member = member
        self.tally = tally

    def __call__(self, meter: Queryable, query: Query) -> Any:
        match query:
            case External(query=_Ask(part=part, mechanism=mechanism)):
                asked, run = self._read(part, mechanism)
                # Check and charge, then run: a refusal changes nothing, and what fails has been paid for.
                self.tally.charge(asked)
                return run.release(lend(self.member))
            case Internal(query=_Look(part=part, mechanism=mechanism)):
                return self.tally.preview(self._read(part, mechanism)[0])
            case Internal(query=_Tally()):
                return self.tally
        raise UnknownQuery(meter, query.query)

    def _read(self, part: Any, mechanism: Any) -> tuple[Leaf, Measurement]:
        if not isinstance(part, Part):
            raise ParameterError(f"part={plain(part)} is not a part: expected meter(part, measurement)")
        asked = leaf(part, mechanism)
        return asked, chain(asked, "the query", self.space)


def odometer(space: Space, measure: Measure, *, budget: Loss | None = None) -> PartOdometer:
    """An odometer for measurements of parts, chosen adaptively; with a budget, it refuses what would go over it.

    What is counted is the worst touch pattern: queries on different wards do not add up if no patient's row can be in
    two. The neighbors are those of the space's metric.

    >>> import viameter as vm
    >>> from viameter import neighborhood as nb
    >>> visits = vm.Space(vm.tables({"ward": str, "wait": int}), vm.SymmetricDistance())
    >>> wards = nb.split(visits, [["A"], ["B"]], column="ward")
    >>> meter = nb.odometer(visits, vm.PureDP, budget=vm.pure("1/5"))({"ward": ["A", "B"], "wait": [10, 20]})
    >>> for ward in wards:
    ...     number = meter(ward, vm.count() >> vm.laplace(scale=10))
    >>> meter.spent, meter.left
    (pure(1/10), pure(1/10))
    """
    if not isinstance(space, Space):
        raise ParameterError(f"space={plain(space)} is not a Space: expected a domain with a metric")
    granularity = GRANULARITY_OF.get(type(space.metric))
    if granularity is None:
        raise NoTheorem(
            f"the steps of {space.metric!r} are those of no granularity: use SymmetricDistance() or its like"
        )
    PatternTally(granularity, measure, budget=budget)  # refuses what cannot be counted
    return PartOdometer(space, measure, budget)


@dataclass(frozen=True, slots=True)
class PartOdometer:
    """Where data can be put under a meter that counts by touch pattern."""

    space: Space
    measure: Measure
    budget: Loss | None = None

    def __call__(self, data: Any) -> PartMeter:
        """Put data under the odometer."""
        tally = PatternTally(GRANULARITY_OF[type(self.space.metric)], self.measure, budget=self.budget)
        member = run_sealed(own_copy, self.space.domain.admit(data))
        with making_sealed():
            return PartMeter(_Metering(self.space, member, tally), name=f"odometer of parts in {self.measure!r}")
