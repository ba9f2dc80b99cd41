"""Groups whose keys nobody listed: those that occur often enough are found privately, then asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from viameter.arith import Number, exact, show
from viameter.composition import adaptive
from viameter.core import Loss, Measurement
from viameter.errors import NumberError
from viameter.measures import ApproxDP
from viameter.tables.answer import Answer
from viameter.tables.bounding import Limits
from viameter.tables.estimates import Estimate
from viameter.tables.estimates.noise import read_alpha
from viameter.tables.expressions import Kind
from viameter.tables.keys import Keys
from viameter.tables.numbers import ALPHA, Grouped, Question
from viameter.tables.planning import Plan, part_of, read_spend
from viameter.tables.preview import Preview, PreviewRow
from viameter.tables.rows import Rows
from viameter.tables.selection import Key, Selection, require_delta, require_keys, select_keys
from viameter.tables.table import Table
from viameter.theorem import Explanation

SHARE = Fraction(1, 4)
"""Which part of epsilon or rho finds the keys, unless something else is asked for; all of delta does, or half of it
where the other half makes the noise of numbers less."""
PLACES = 10_000
"""Widths are previewed for no more groups than this; noise does not depend on more."""


def selecting(table: Table, columns: Sequence[str], *, other: bool = False) -> Selecting:
    """Groups by the values of columns, without a list of keys; with `other`, all keys that are not shown make one.

    >>> import viameter as vm
    >>> visits = {"patient": list(range(2000)), "clinic": ["north", "south"] * 1000}
    >>> table = vm.open(visits, unit=vm.per("patient", rows=1), budget=vm.approx(1, "1e-6"))
    >>> answer = table.group_by("clinic").agg(n=vm.count()).release(spend=vm.approx("1/2", "1e-7"))
    >>> answer.groups, table.spent
    ((('north',), ('south',)), approx(1/2, 1/10000000))
    """
    require_delta(table.budget)
    require_keys(table.schema, columns)
    return Selecting(normalized(table, columns), tuple(columns), other)


def normalized(table: Table, columns: Sequence[str]) -> Table:
    """The same rows; keys that engines write in several ways, such as whole decimals, are read as Python has them."""
    plain_kinds = (Kind.TEXT, Kind.BOOLEAN)
    read = {name: table[name] for name in columns if table.schema.require(name).kind not in plain_kinds}
    return replace(table, relation=table.relation.derive(read)) if read else table


@dataclass(frozen=True, slots=True)
class Selecting:
    """Rows by group, whose keys are to be found, of which aggregates can be asked."""

    table: Table
    columns: tuple[str, ...]
    other: bool = False

    def agg(self, **aggregates: Any) -> SelectingQuestion:
        """What is asked of each group that is shown, by the name that it has in the answer."""
        made = SelectingQuestion(self, aggregates)
        made.question(made.placeholders())  # what cannot be answered is refused here
        return made

    def keys(self, groups: Sequence[Key]) -> Keys:
        """Keys that were found, or stand for such, as public ones."""
        each = (tuple(group[0] for group in groups),) if len(self.columns) == 1 else None
        return Keys(self.columns, tuple(groups), self.other, each)


@dataclass(frozen=True, slots=True, repr=False)
class SelectedAnswer(Answer):
    """An answer by keys that were found privately."""

    stages: tuple[Measurement, ...] = field(default=())
    """What was run: the selection of keys, and what was asked of them unless there were none."""

    def explain(self) -> Explanation:
        """What the release tells of one unit at most; below it, what was run within the losses that were fixed."""
        whole = self.measurement.explain(1)
        premises = tuple(stage.explain(1).derivation for stage in self.stages)
        remarks = (self.noise,) if self.noise else ()
        return Explanation(whole.claim, replace(whole.derivation, premises=premises), remarks)


@dataclass(frozen=True, slots=True, repr=False)
class SelectingQuestion:
    """Aggregates by keys that are yet to be found. It is public: it says what is asked, and nothing of the rows."""

    grouped: Selecting
    aggregates: Mapping[str, Any]

    @property
    def table(self) -> Table:
        """The rows that are asked about."""
        return self.grouped.table

    def question(self, groups: Sequence[Key]) -> Question:
        """What is asked of these groups."""
        return Grouped(self.table, self.grouped.keys(groups)).agg(**self.aggregates)

    def placeholders(self) -> list[Key]:
        """As many groups as a unit can count in, under no names: noise depends on no more."""
        rows = self.table.unit.rows_without_limit
        limits = Limits(rows=rows * self.table.relation.fanout) if rows is not None else self.table.unit.limits
        most = limits.tightened(self.table.limits).most_groups
        return [(place,) * len(self.grouped.columns) for place in range(int(min(most, PLACES)))]

    def preview(
        self,
        *,
        spend: Loss,
        alpha: Number = ALPHA,
        weights: Mapping[str, Number] | None = None,
        selection_share: Number = SHARE,
    ) -> Preview:
        """What it would cost, which keys would be shown, and how wide intervals would be; nothing is read or spent."""
        chance, (first, second) = read_alpha(alpha), self._losses(spend, selection_share)
        selection = self._selection(first)
        question = self.question(self.placeholders())
        planned = question._plan(second, weights)
        self.table.session.compile(lambda: self._compile(selection, planned, self.table.relation.sketch()))
        asked = question._preview_of(planned, chance)
        noise = f"{selection.noise.kind} {float(selection.noise.scale):.4g}"
        row = PreviewRow("(keys)", first, noise, {}, hidden(selection))
        session, plan = self.table.session, self._plan((first, second))
        notes = (*selection_notes(selection, first, chance), *asked.notes)
        return replace(asked, rows=(row, *asked.rows), loss=plan.map(1), fits=session.fits(plan), notes=notes)

    def release(
        self,
        *,
        spend: Loss,
        alpha: Number = ALPHA,
        weights: Mapping[str, Number] | None = None,
        selection_share: Number = SHARE,
        key: str | None = None,
    ) -> SelectedAnswer:
        """Spend, find the keys, and answer for them. All is charged before anything runs, also if no key is found.

        With a ledger, the same question under the same `key` has the same answer, and costs nothing more.
        """
        chance, losses = read_alpha(alpha), self._losses(spend, selection_share)
        selection, plan = self._selection(losses[0]), self._plan(losses)
        # Weights that are none, and the like, are refused before anything is charged.
        later = self.question(self.placeholders())._plan(losses[1], weights)
        ask = self.table.session.charge(
            plan,
            key=key,
            identity=lambda: self._identity(selection, losses[1], weights),
            compiling=lambda: self._compile(selection, later, self.table.relation.rows()),
        )
        groups: list[Key] = list(ask(selection.measurement))
        stages: tuple[Measurement, ...] = (selection.measurement,)
        if groups or self.grouped.other:
            question = self.question(groups)
            planned = question._plan(losses[1], weights)
            answer = question._answer(planned, ask(planned.measurement), chance)
            stages = (*stages, planned.measurement)
        else:
            answer = self._empty(losses[1], weights, chance)
        notes = (hidden(selection), *answer.notes)
        return SelectedAnswer(
            answer.keys, answer.groups, answer.estimates, answer.covers, chance, plan, self.table.unit, notes, stages,
            noise=answer.noise,
        )  # fmt: skip

    def _compile(self, selection: Selection, later: Plan, rows: Rows) -> None:
        """Refuse what is too large in either stage; which keys there will be is not known, and makes no difference."""
        selection.counting.compile(rows)
        question = self.question(self.placeholders())
        without_keys = replace(question, collecting=replace(question.collecting, keys=Keys((), ((),))))
        without_keys._compile(later, rows)

    def _identity(self, selection: Selection, loss: Loss, weights: Mapping[str, Number] | None) -> str:
        """What tells the question from others that have the same text: both of its stages."""
        asked = self.question(self.placeholders())
        second = asked.measurement(spend=loss, weights=weights)
        return f"{selection.measurement.explain(1)}\n{second.explain(1)}\n{asked._identity()}"

    def _losses(self, spend: Loss, selection_share: Number) -> tuple[Loss, Loss]:
        """What is spent to find keys, and what is left for them."""
        loss: Any = read_spend(spend, self.table.session.measure)
        share = exact(selection_share, name="selection_share")
        if not 0 < share < 1:
            raise NumberError(f"selection_share={selection_share!s} is not between 0 and 1")
        first: Any = part_of(loss, share)
        second: Any = part_of(loss, 1 - share)
        # Keys need delta, and noise may use some of it: half, if that makes intervals narrower.
        shared: Loss = replace(second, delta=loss.delta / 2)
        if loss.measure == ApproxDP and self.question(self.placeholders())._plan(shared, None).kind == "gaussian":
            return replace(first, delta=loss.delta / 2), shared
        return replace(first, delta=loss.delta), replace(second, delta=Fraction(0))

    def _selection(self, loss: Loss) -> Selection:
        session = self.table.session
        return select_keys(
            self.table.relation, self.grouped.columns,
            loss=loss, asked=self.table.limits, order=session.order, progress=session.progress,
        )  # fmt: skip

    def _plan(self, losses: tuple[Loss, Loss]) -> Measurement:
        """Both stages as one measurement: their losses are fixed, and what is asked in the second one is not."""
        plan: Measurement = adaptive(self.table.relation.source_space, d_in=1, losses=losses)
        return replace(plan, made_by=repr(self), identity=())

    def _empty(self, loss: Loss, weights: Mapping[str, Number] | None, alpha: Fraction) -> Answer:
        """The answer for no groups: that for one, of which all are taken away."""
        question = self.question(self.placeholders()[:1])
        planned = question._plan(loss, weights)
        answer = question._answer(planned, [_zeros(part) for part in planned.parts], alpha)
        none = {
            name: Estimate(one.value[:0], one.lower[:0], one.upper[:0], one.alpha, one.covers)
            for name, one in answer.estimates.items()
        }
        return replace(answer, groups=(), estimates=none)

    def __repr__(self) -> str:
        steps = "".join(f"{step.made_by}." for step in self.table.relation.steps)
        return f"{steps}group_by({', '.join(self.grouped.columns)}).agg({', '.join(self.aggregates)})"


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


def _zeros(part: Any) -> Any:
    import numpy as np

    return np.zeros(part.statistic.cells, dtype=np.int64)
