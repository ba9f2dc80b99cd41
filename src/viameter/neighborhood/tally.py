"""Tally: what mechanisms on parts have cost so far, for every touch pattern; it refuses what would go over a budget.

A pattern that costs less than another so far may cost more after the next query, so none is dropped: what is kept is
the cost of each change in each part, and the worst pattern is looked for anew at every query.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import INFINITY, Extended
from viameter.core import Loss, Measure
from viameter.core.composability import FULLY_ADAPTIVE, SEQUENTIAL, require_cell
from viameter.errors import MeasureMismatch, NoTheorem, OverBudget, ParameterError, plain
from viameter.measures import RenyiDP
from viameter.measures.groups import group_loss
from viameter.neighborhood.arrangement import Arrangement, Numbers, sum_of
from viameter.neighborhood.changes import Change
from viameter.neighborhood.claims import Leaf
from viameter.neighborhood.composed import Composed, compose
from viameter.neighborhood.cuts import Cut
from viameter.neighborhood.granularities import Geo, Granularity, Group
from viameter.neighborhood.guarantee import Guarantee
from viameter.neighborhood.scales import Scale, scale_of
from viameter.neighborhood.uniform import with_claims
from viameter.theorem import Explanation


class _CutTally:
    """The cost of each change in each part of one cut, for every number of a loss."""

    def __init__(self, cut: Cut, costs: Arrangement) -> None:
        self.cut = cut
        self._costs = costs
        self._leaves: dict[int, list[Leaf]] = {}
        self._columns: dict[tuple[Change, tuple[Change, ...]], list[list[Extended]]] = {}

    def add(self, leaf: Leaf) -> None:
        for (change, whole), columns in self._columns.items():
            for column, cost in zip(columns, self.cost(leaf, change, whole), strict=True):
                column[leaf.part.place] = sum_of((column[leaf.part.place], cost))
        self._leaves.setdefault(leaf.part.place, []).append(leaf)

    def cost(self, leaf: Leaf, change: Change, whole: tuple[Change, ...]) -> Numbers:
        return self._costs.cost(leaf, change, whole, outside=self.cut.has_outside(leaf.part.place))

    def column(self, change: Change, whole: tuple[Change, ...], number: int) -> list[Extended]:
        known = self._columns.get((change, whole))
        if known is None:
            known = [[sum_of(())] * len(self.cut) for _ in range(self._costs.scale.size)]
            for part, leaves in self._leaves.items():
                for leaf in leaves:
                    for column, cost in zip(known, self.cost(leaf, change, whole), strict=True):
                        column[part] = sum_of((column[part], cost))
            self._columns[change, whole] = known
        return known[number]


@dataclass(frozen=True, slots=True)
class _Gains:
    """What the parts of a cut have cost so far, with one leaf more."""

    tally: _CutTally
    whole: tuple[Change, ...]
    number: int
    more: Leaf | None

    def of(self, part: int, change: Change) -> Extended:
        so_far = self.tally.column(change, self.whole, self.number)[part]
        if self.more is None or self.more.part.place != part:
            return so_far
        return sum_of((so_far, self.tally.cost(self.more, change, self.whole)[self.number]))

    def column(self, change: Change) -> list[Extended]:
        so_far = self.tally.column(change, self.whole, self.number)
        if self.more is None:
            return so_far
        place = self.more.part.place
        return [*so_far[:place], self.of(place, change), *so_far[place + 1 :]]


def _check_budget(budget: Loss, measure: Measure) -> None:
    if not isinstance(budget, Loss):
        raise ParameterError(f"budget={plain(budget)} is not a loss: expected e.g. pure(1)")
    if budget.measure != measure:
        hint = f"count in {budget.measure!r}, or give a budget in {measure!r}"
        raise MeasureMismatch("the odometer", measure, "the budget", budget.measure, hint)
    if not budget.is_finite:
        raise ParameterError(f"budget={budget!r} is no limit: expected a finite loss")


class PatternTally:
    """What leaves that were charged one by one cost together, for the worst touch pattern; with a budget, a filter.

    Leaves, their maps and their losses may be chosen by what earlier ones released: only sums are used, for every pair
    of neighbors. Outside of PureDP, what was spent is a guarantee if it was a budget that was set before the first.

    >>> import viameter as vm
    >>> from viameter import neighborhood as nb
    >>> wards = nb.partition(3, by="value")
    >>> tally = nb.PatternTally(nb.unbounded(), vm.PureDP, budget=vm.pure(1))
    >>> for ward in wards:
    ...     tally.charge(nb.leaf(ward, vm.pure("0.9")))
    >>> tally.spent, tally.preview(nb.leaf(wards[0], vm.pure("0.2")))
    (pure(9/10), pure(11/10))
    """

    def __init__(self, granularity: Granularity, measure: Measure, *, budget: Loss | None = None) -> None:
        if not isinstance(granularity, Granularity):
            raise ParameterError(f"granularity={plain(granularity)} is not a granularity: expected e.g. unbounded()")
        if not isinstance(measure, Measure):
            raise ParameterError(f"measure={plain(measure)} is not a Measure: expected e.g. PureDP")
        if budget is not None:
            _check_budget(budget, measure)
        _, cell = require_cell(measure, FULLY_ADAPTIVE)
        if cell.composability is SEQUENTIAL:
            raise NoTheorem(f"{measure!r} composes sequentially only: convert to ZCDP or ApproxDP, which interleave")
        if measure == RenyiDP and budget is None:
            raise ParameterError("in RenyiDP the budget says which orders are counted: give budget=renyi({...})")
        self._granularity = granularity
        self._measure = measure
        self._budget = budget
        self._scale: Scale = scale_of(measure, [] if budget is None else [budget])
        self._costs = Arrangement(granularity, self._scale, ())
        self._cuts: dict[int, _CutTally] = {}
        self._charged: list[Leaf] = []
        self._lock = threading.RLock()

    @property
    def granularity(self) -> Granularity:
        """What a step is."""
        return self._granularity

    @property
    def measure(self) -> Measure:
        """What losses are counted in."""
        return self._measure

    @property
    def budget(self) -> Loss | None:
        """What the worst pattern may cost, if there is a limit."""
        return self._budget

    @property
    def spent(self) -> Loss:
        """What the worst pattern has cost so far."""
        with self._lock:
            return self._worst(None)

    @property
    def left(self) -> Loss:
        """What is left of the budget, for the worst pattern; other patterns may have more."""
        if self.budget is None:
            raise ParameterError("there is no budget: make the tally with budget=...")
        return self.budget.left_after(self.spent)

    @property
    def guarantee(self) -> Guarantee:
        """What was spent, with the granularity that it is for."""
        return Guarantee(self.spent, self.granularity)

    @property
    def history(self) -> tuple[Leaf, ...]:
        """The leaves that were charged, in order."""
        with self._lock:
            return tuple(self._charged)

    def preview(self, leaf: Leaf) -> Loss:
        """What the worst pattern would cost after a leaf, which is not charged."""
        with self._lock:
            return self._worst(self._read(leaf))

    def charge(self, leaf: Leaf) -> None:
        """Count a leaf; if the worst pattern would then cost more than the budget, refuse it and count nothing."""
        with self._lock:
            read = self._read(leaf)
            after = self._worst(read)
            if self.budget is not None and not (after.is_finite and after <= self.budget):
                spent = self._worst(None)
                raise OverBudget(
                    spent=spent,
                    asked=self._growth(spent, after),
                    left=self.budget.left_after(spent),
                    budget=self.budget,
                    after=after,
                )
            # One assignment each, so that an interrupt leaves too much counted and never too little.
            self._cut_of(read).add(read)
            self._charged.append(read)

    def composed(self) -> Composed:
        """All that was charged, as one composition: with its witness and explanation."""
        target, charged = self.granularity, self.history
        if isinstance(target, Group) and any(leaf.part.cut.per_step for leaf in charged):
            pinned = with_claims(charged, lambda claim: claim.pinned(target))
            return compose(target.base, pinned, measure=self.measure).at_steps(target.most)
        return compose(target, charged, measure=self.measure)

    def explain(self) -> Explanation:
        """What the worst pattern has cost, and why."""
        return self.composed().explain()

    def _growth(self, spent: Loss, after: Loss) -> Loss:
        """By how much the worst pattern would cost more."""
        if not after.is_finite:
            return self.measure.infinite
        pairs = zip(self._scale.numbers(after), self._scale.numbers(spent), strict=True)
        return self._scale.loss(
            [INFINITY if INFINITY in pair else Fraction(pair[0]) - Fraction(pair[1]) for pair in pairs]
        )

    def _read(self, leaf: Leaf) -> Leaf:
        if not isinstance(leaf, Leaf):
            raise ParameterError(f"leaf={plain(leaf)} is not a leaf: expected leaf(map, loss)")
        if leaf.by_class:
            raise ParameterError(
                "a leaf with a loss for each class of people is not counted here: keep a tally for each"
            )
        for claim in leaf.claims:
            if claim.law.measure != self.measure:
                hint = f"convert it, loss.to({self.measure!r}) or measurement.to({self.measure!r})"
                raise MeasureMismatch("the tally", self.measure, "the leaf", claim.law.measure, hint)
        unit = self.granularity.innermost
        if isinstance(unit, Geo):
            (leaf,) = with_claims([leaf], lambda claim: claim.pinned(unit))
        return leaf if leaf.inner is None else leaf.to(self.measure)

    def _cut_of(self, leaf: Leaf) -> _CutTally:
        cut = leaf.part.cut
        return self._cuts.setdefault(id(cut), _CutTally(cut, self._costs))

    def _worst(self, more: Leaf | None) -> Loss:
        if not self._charged and more is None:
            return self.measure.zero
        target = self.granularity
        cuts = [tally.cut for tally in self._cuts.values()] + ([] if more is None else [more.part.cut])
        try:
            # What is declared for one step says nothing of several: those go by the law for groups.
            if not (isinstance(target, Group) and any(cut.per_step for cut in cuts)):
                return self._scale.loss(self._numbers(target.edits, more))
        except NoTheorem:
            if not isinstance(target, Group):
                raise
        return group_loss(self._scale.loss(self._numbers(target.base.edits, more)), target.most)

    def _numbers(self, edits: Iterable[Change], more: Leaf | None) -> list[Extended]:
        whole = tuple(edits)
        tallies = list(self._cuts.values())
        if more is not None and id(more.part.cut) not in self._cuts:
            tallies.append(_CutTally(more.part.cut, self._costs))
        found: list[Extended] = []
        for number in range(self._scale.size):
            worst = [
                sum_of(
                    tally.cut.worst(
                        edit, _Gains(tally, whole, number, more if more and more.part.cut is tally.cut else None)
                    ).value
                    for tally in tallies
                )
                for edit in whole
            ]
            found.append(max(worst))
        return found
