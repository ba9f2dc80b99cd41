"""Numbers of groups whose keys nobody listed: those that occur often enough are found privately, then asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from viameter.arith import show
from viameter.composition import adaptive
from viameter.core import Loss, Measurement
from viameter.measures import ApproxDP
from viameter.tables.aggregates import Aggregate
from viameter.tables.answer import Answer, Proved
from viameter.tables.bounding import Limits
from viameter.tables.cost import Cost
from viameter.tables.estimates import Estimate
from viameter.tables.expressions import Kind
from viameter.tables.grouping import Grouping
from viameter.tables.keys import Keys
from viameter.tables.planning import NoisePlan, part_of, read_spend
from viameter.tables.plans.base import Payer, Plan, Setting, name_of
from viameter.tables.plans.numbers import Numbers
from viameter.tables.preview import Preview, PreviewRow
from viameter.tables.relation import Relation
from viameter.tables.rows import Rows
from viameter.tables.selection import Key, Selection, require_delta, select_keys

PLACES = 10_000
"""Widths are previewed for no more groups than this; noise does not depend on more."""


def normalized(relation: Relation, columns: Sequence[str]) -> Relation:
    """The same rows; keys that engines write in several ways, such as whole decimals, are read as Python has them."""
    plain_kinds = (Kind.TEXT, Kind.BOOLEAN)
    read = {name: relation[name] for name in columns if relation.schema.require(name).kind not in plain_kinds}
    return relation.derive(read) if read else relation


@dataclass(frozen=True, slots=True)
class FoundNumbers(Plan[Answer]):
    """Aggregates of groups that are yet to be found; with `other`, all keys that are not shown make one.

    >>> import viameter as vm
    >>> visits = {"patient": list(range(2000)), "clinic": ["north", "south"] * 1000}
    >>> table = vm.open(visits, unit=vm.per("patient", rows=1), budget=vm.approx(1, "1e-6"))
    >>> answer = table.group_by("clinic").agg(n=vm.count()).release(spend=vm.approx("1/2", "1e-7"))
    >>> answer.groups, table.spent
    ((('north',), ('south',)), approx(1/2, 1/10000000))
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"spend", "alpha", "weights", "selection_share"})

    relation: Relation
    columns: tuple[str, ...]
    other: bool
    limits: Limits
    aggregates: Mapping[str, Aggregate]
    setting: Setting
    name: str

    @classmethod
    def of(
        cls, relation: Relation, grouping: Grouping, asked: Limits, named: Mapping[str, Aggregate], setting: Setting
    ) -> FoundNumbers:
        """The plan for rows by columns, of which limits are asked, and aggregates by name."""
        require_delta(setting.measure.zero)
        relation = normalized(relation, grouping.shown)
        name = name_of(relation, f"group_by({', '.join(grouping.shown)}).agg({', '.join(named)})")
        made = cls(relation, grouping.shown, grouping.other, asked, dict(named), setting, name)
        made.numbers(made.placeholders())  # what cannot be answered is refused here
        return made

    def numbers(self, groups: Sequence[Key]) -> Numbers:
        """What is asked of these groups: keys that were found, or stand for such, as public ones."""
        each = (tuple(group[0] for group in groups),) if len(self.columns) == 1 else None
        keys = Keys(self.columns, tuple(groups), self.other, each)
        return Numbers.of(
            self.relation, Grouping(keys, self.columns, self.other), self.limits, self.aggregates, self.setting
        )

    def placeholders(self) -> list[Key]:
        """As many groups as a unit can count in, under no names: noise depends on no more."""
        rows = self.unit.rows_without_limit
        limits = Limits(rows=rows * self.relation.fanout) if rows is not None else self.unit.limits
        most = limits.tightened(self.limits).most_groups
        return [(place,) * len(self.columns) for place in range(int(min(most, PLACES)))]

    def loss(self, cost: Cost) -> Loss:
        """What is to be spent on both stages."""
        return read_spend(cost.spend, self.setting.measure)

    def measurement(self, cost: Cost) -> Measurement:
        """Both stages as one Measurement, whose release is a function that runs what is chosen on the way."""
        return self._whole(self._losses(cost))

    def preview(self, payer: Payer, cost: Cost) -> Preview:
        """What it would cost, which keys would be shown, and how wide intervals would be; nothing is read or spent."""
        first, second = self._losses(cost)
        selection, numbers = self._selection(first), self.numbers(self.placeholders())
        planned = numbers.noise(second, cost.weight_of)
        payer.compile(lambda: self._compile(selection, planned, self.relation.sketch()))
        asked = numbers.preview_of(payer, planned, cost.chance)
        noise = f"{selection.noise.kind} {float(selection.noise.scale):.4g}"
        row = PreviewRow("(keys)", first, noise, {}, hidden(selection))
        whole = self._whole((first, second))
        notes = (*selection_notes(selection, first, cost.chance), *asked.notes)
        return replace(asked, rows=(row, *asked.rows), loss=whole.map(1), fits=payer.fits(whole), notes=notes)

    def release(self, payer: Payer, cost: Cost, *, key: str | None) -> Answer:
        """Spend, find the keys, and answer for them. All is charged before anything runs, also if no key is found."""
        losses, weights = self._losses(cost), cost.weight_of
        selection, whole = self._selection(losses[0]), self._whole(losses)
        # Weights that are none, and the like, are refused before anything is charged.
        later = self.numbers(self.placeholders()).noise(losses[1], weights)
        ask = payer.charge(
            whole,
            key=key,
            identity=lambda: self._identity(selection, losses[1], weights),
            compiling=lambda: self._compile(selection, later, self.relation.rows()),
        )
        groups: list[Key] = list(ask(selection.measurement))
        stages: tuple[Measurement, ...] = (selection.measurement,)
        if groups or self.other:
            numbers = self.numbers(groups)
            planned = numbers.noise(losses[1], weights)
            answer = numbers.answer(planned, ask(planned.measurement), cost.chance)
            stages = (*stages, planned.measurement)
        else:
            answer = self._empty(losses[1], weights, cost.chance)
        assert isinstance(answer.proof, Proved)
        proof = Proved(whole, stages, answer.proof.noise)
        return replace(answer, proof=proof, notes=(hidden(selection), *answer.notes))

    def _compile(self, selection: Selection, later: NoisePlan, rows: Rows) -> None:
        """Refuse what is too large in either stage; which keys there will be is not known, and makes no difference."""
        selection.counting.compile(rows)
        numbers = self.numbers(self.placeholders())
        replace(numbers, collecting=replace(numbers.collecting, keys=Keys((), ((),)))).compile(later, rows)

    def _identity(self, selection: Selection, loss: Loss, weights: Mapping[str, Fraction]) -> str:
        """What tells the question from others that have the same text: both of its stages."""
        asked = self.numbers(self.placeholders())
        second = asked.noise(loss, weights).measurement
        return f"{selection.measurement.explain(1)}\n{second.explain(1)}\n{asked.identity}"

    def _losses(self, cost: Cost) -> tuple[Loss, Loss]:
        """What is spent to find keys, and what is left for them."""
        loss: Any = self.loss(cost)
        first: Any = part_of(loss, cost.share)
        second: Any = part_of(loss, 1 - cost.share)
        # Keys need delta, and noise may use some of it: half, if that makes intervals narrower.
        shared: Loss = replace(second, delta=loss.delta / 2)
        if loss.measure == ApproxDP and self.numbers(self.placeholders()).noise(shared, {}).kind == "gaussian":
            return replace(first, delta=loss.delta / 2), shared
        return replace(first, delta=loss.delta), replace(second, delta=Fraction(0))

    def _selection(self, loss: Loss) -> Selection:
        return select_keys(
            self.relation, self.columns,
            loss=loss, asked=self.limits, order=self.setting.order, progress=self.setting.progress,
        )  # fmt: skip

    def _whole(self, losses: tuple[Loss, Loss]) -> Measurement:
        """Both stages as one measurement: their losses are fixed, and what is asked in the second one is not."""
        whole: Measurement = adaptive(self.relation.source_space, d_in=1, losses=losses)
        return replace(whole, made_by=self.name, identity=())

    def _empty(self, loss: Loss, weights: Mapping[str, Fraction], alpha: Fraction) -> Answer:
        """The answer for no groups: that for one, of which all are taken away."""
        numbers = self.numbers(self.placeholders()[:1])
        planned = numbers.noise(loss, weights)
        zeros = [np.zeros(part.statistic.cells, dtype=np.int64) for part in planned.parts]
        answer = numbers.answer(planned, zeros, alpha)
        none = {
            name: Estimate(one.value[:0], one.lower[:0], one.upper[:0], one.alpha, one.covers)
            for name, one in answer.estimates.items()
        }
        return replace(answer, groups=(), estimates=none)


def hidden(selection: Selection) -> str:
    """Which keys are not shown, in a sentence."""
    return f"keys with fewer than about {selection.threshold:,} units are not shown"


def selection_notes(selection: Selection, loss: Any, alpha: Fraction) -> tuple[str, ...]:
    """What is to be known of a selection before it is released, in sentences."""
    limits, sure = selection.limits, selection.surely_shown(alpha)
    counted = f"{limits.rows} rows" if limits.groups is None else f"{limits.groups} keys, once each,"
    return (
        f"{hidden(selection)}; those with {sure:,} or more are, but for a chance of {show(alpha)} each",
        f"that any key is shown which one unit alone has, has a chance (delta) of at most {float(loss.delta):.3g}",
        f"to find keys, {counted} count of each unit",
    )
