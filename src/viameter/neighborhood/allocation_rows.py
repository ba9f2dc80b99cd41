"""Touch patterns as rows of linear constraints: what a unit of each leaf's loss costs when a pattern touches it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import INFINITY, Extended
from viameter.core import Loss
from viameter.errors import NoTheorem
from viameter.measures import ZCDP, GaussianDP, PureDP
from viameter.measures.amounts import AmountMeasure, GaussianLoss, PureLoss, ZCDPLoss
from viameter.measures.groups import group_loss
from viameter.neighborhood.claims import Leaf, Mode
from viameter.neighborhood.composed import Composed, compose
from viameter.neighborhood.cuts import Part
from viameter.neighborhood.granularities import Granularity
from viameter.neighborhood.making import leaf

LINEAR = (PureDP, ZCDP, GaussianDP)
"""Measures in which what a leaf costs at a pattern is in proportion to its loss (to mu^2, for Gaussian losses)."""

Row = Mapping[int, Fraction]
"""What a unit of loss costs at one pattern, by the number of the leaf; those that are not touched are left out."""


def loss_of(measure: AmountMeasure[PureLoss | ZCDPLoss | GaussianLoss], amount: Extended) -> Loss:
    """The loss that is so much epsilon, rho or mu^2."""
    return measure.loss(amount)


def amount_of(loss: Loss) -> Extended:
    """Its epsilon, rho or mu^2."""
    assert isinstance(loss, PureLoss | ZCDPLoss | GaussianLoss)
    amount: Extended = getattr(loss, loss.names[0])
    return amount


@dataclass(frozen=True, slots=True)
class Leaves:
    """Leaves whose losses are yet to be found."""

    target: Granularity
    maps: tuple[Part, ...]
    measure: AmountMeasure[PureLoss | ZCDPLoss | GaussianLoss]
    mode: Mode
    granularity: Granularity | None

    def leaf(self, number: int, amount: Fraction) -> Leaf:
        """A leaf with so much loss."""
        loss = loss_of(self.measure, amount)
        return leaf(self.maps[number], loss, granularity=self.granularity, mode=self.mode)

    def compose(self, amounts: Mapping[int, Fraction]) -> Composed:
        """What leaves of these losses cost together."""
        given = [self.leaf(number, amount) for number, amount in amounts.items()]
        return compose(self.target, given, measure=self.measure)

    def row(self, composed: Composed) -> Row:
        """The costliest pattern as a row; NoTheorem if it costs a leaf infinitely much, whatever its loss."""
        row = {number: cost for number, cost in self._costs(composed) if cost}
        if not composed.loss.is_finite:
            raise NoTheorem(f"nothing bounds what these maps show of neighbors in {self.target!r}, whatever the losses")
        return row

    def _costs(self, composed: Composed) -> Iterable[tuple[int, Fraction]]:
        arrangement = composed.arrangement
        on_part: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, part in enumerate(self.maps):
            on_part[id(part.cut), part.place].append(number)
        # All edits, as when the pattern was looked for: what is at hand in common domains is the worst of them.
        whole = arrangement.target.edits
        for gathered, touched in zip(arrangement.cuts, composed.pattern.touched, strict=True):
            for place, change in touched.changes.items():
                outside = gathered.cut.has_outside(place)
                for number in on_part[id(gathered.cut), place]:
                    (cost,) = arrangement.cost(self.leaf(number, Fraction(1)), change, whole, outside=outside)
                    if cost == INFINITY:
                        raise self._unbounded(number)
                    yield number, _in_steps(self.measure, Fraction(cost), composed.steps)

    def _unbounded(self, number: int) -> NoTheorem:
        own = self.target if self.granularity is None else self.granularity
        hint = "mode='common', if the mechanisms are private on the whole data, or " if self.mode == "separate" else ""
        return NoTheorem(
            f"maps[{number}] ({self.maps[number]!r}) takes neighbors in {self.target!r} to data that no number of "
            f"steps of {own!r} joins: whatever its loss, there is no bound, and no budget to share; give {hint}"
            "a granularity in which parts of neighbors are near, as granularity=unbounded()"
        )


def _in_steps(measure: AmountMeasure[PureLoss | ZCDPLoss | GaussianLoss], cost: Fraction, steps: int) -> Fraction:
    return cost if steps == 1 else Fraction(amount_of(group_loss(loss_of(measure, cost), steps)))


def covering_rows(leaves: Leaves, tell: Callable[[str], None]) -> list[Row]:
    """Rows that touch, between them, every leaf that any pattern touches."""
    rows: list[Row] = []
    left = dict.fromkeys(range(len(leaves.maps)), Fraction(1))
    alone: list[int] = []
    while left:
        tell(f"looking for patterns that touch each map, {len(leaves.maps) - len(left)} of {len(leaves.maps)} done")
        asked = {alone[-1]: Fraction(1)} if alone else left
        composed = leaves.compose(asked)
        row = leaves.row(composed)
        if amount_of(composed.loss) == 0 and not alone:
            break
        if not row.keys().isdisjoint(asked):
            rows.append(row)
        elif alone:
            del left[alone[-1]]
        else:  # a solver that ran out of time shows no pattern: ask for each leaf that is left
            alone = list(left)
        left = {number: amount for number, amount in left.items() if number not in row}
        alone = [number for number in alone if number in left]
    return rows
