"""PartMeter: data under an odometer that counts by touch pattern; mechanisms run on parts, chosen one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from viameter.arith import INFINITY, Number
from viameter.core import (
    External,
    Internal,
    Loss,
    Measure,
    Measurement,
    Query,
    Queryable,
    Recipe,
    Space,
    Transformation,
)
from viameter.core.queryable import making_sealed
from viameter.core.sealed import run_sealed
from viameter.errors import NoTheorem, ParameterError, UnknownQuery, plain
from viameter.neighborhood.claims import GRANULARITY_OF, Leaf
from viameter.neighborhood.cuts import Part
from viameter.neighborhood.cuts.given import Whole
from viameter.neighborhood.granularities import Granularity, Group
from viameter.neighborhood.making import leaf
from viameter.neighborhood.released import chain
from viameter.neighborhood.tally import PatternTally
from viameter.spaces import lend, own_copy
from viameter.theorem import Explanation


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
    def history(self) -> tuple[Leaf, ...]:
        """The leaves that were charged, in order."""
        return self.tally.history

    def explain(self) -> Explanation:
        """What the worst pattern has cost, and why."""
        return self.tally.explain()

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
        if isinstance(mechanism, Recipe) and isinstance(part.cut, Whole):
            mechanism = mechanism.complete(self.space)
        asked = leaf(part, mechanism)
        return asked, chain(asked, "the query", self.space)


def odometer(
    data: Space | Transformation, measure: Measure, *, budget: Loss | None = None, d_in: Number = 1
) -> PartOdometer:
    """An odometer for measurements of parts, chosen adaptively; with a budget, it refuses what would go over it.

    What is counted is the worst touch pattern: queries on different wards do not add up if no patient's row can be in
    two. Losses are for data that are `d_in` apart in the space's metric. For a transformation, parts are of what it
    gives and data and distances of what it takes: people, say, of whom it keeps so many rows each.

    >>> import viameter as vm
    >>> from viameter import neighborhood as nb
    >>> visits = vm.Space(vm.tables({"patient": str, "ward": str}), vm.SymmetricIdDistance("patient"))
    >>> few = visits >> vm.limit_rows(per_id=2)
    >>> wards = nb.split(few.output_space, [["A"], ["B"]], column="ward")
    >>> meter = nb.odometer(few, vm.PureDP, budget=vm.pure("1/5"))({"patient": ["x", "y"], "ward": ["A", "B"]})
    >>> for ward in wards:
    ...     number = meter(ward, vm.count() >> vm.laplace(scale=10))
    >>> meter.spent, meter.left                              # two visits of a patient, to whichever ward
    (pure(1/5), pure(0))
    """
    if isinstance(data, Space):
        first, space = None, data
    elif isinstance(data, Transformation):
        first, space = data, data.output_space
    else:
        raise ParameterError(f"data={plain(data)}: expected a Space, or a Transformation that leads to one")
    own = GRANULARITY_OF.get(type(space.metric))
    if own is None:
        raise NoTheorem(
            f"the steps of {space.metric!r} are those of no granularity: use SymmetricDistance() or its like"
        )
    metric = space.metric if first is None else first.input_space.metric
    apart = metric.read_distance(d_in, name="d_in")
    steps = apart if first is None else first.map(apart)
    if steps in (0, INFINITY):
        raise ParameterError(f"d_in={apart} is {steps} steps between rows, for which there is nothing to count")
    granularity = own if steps <= 1 else Group(own, math.ceil(steps))
    PatternTally(granularity, measure, budget=budget)  # refuses what cannot be counted
    return PartOdometer(space, measure, budget, granularity, first)


@dataclass(frozen=True, slots=True)
class PartOdometer:
    """Where data can be put under a meter that counts by touch pattern."""

    space: Space
    measure: Measure
    budget: Loss | None
    granularity: Granularity
    first: Transformation | None = None
    """What the data go through before they are cut into parts."""

    def __call__(self, data: Any) -> PartMeter:
        """Put data under the odometer."""
        tally = PatternTally(self.granularity, self.measure, budget=self.budget)
        member = self.space.domain.admit(data) if self.first is None else self.first(data)
        member = run_sealed(own_copy, member)
        with making_sealed():
            return PartMeter(_Metering(self.space, member, tally), name=f"odometer of parts in {self.measure!r}")
