"""Rankings: the k most frequent of public keys, in order; and the frequent ones among keys that nobody listed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from viameter.arith import dyadic, show
from viameter.core import Loss, Measurement
from viameter.errors import ParameterError
from viameter.tables.answer import Answer, Proved, Ranked
from viameter.tables.bounding import Limits
from viameter.tables.collecting import Collecting
from viameter.tables.contributing import limits_of
from viameter.tables.cost import Cost
from viameter.tables.estimates import Estimate, count_estimate
from viameter.tables.grouping import Grouping
from viameter.tables.planning import read_spend
from viameter.tables.plans.base import Payer, Plan, Setting, name_of
from viameter.tables.plans.found_groups import hidden, normalized, selection_notes
from viameter.tables.preview import Preview, PreviewRow
from viameter.tables.question import HeavyHitters, Top
from viameter.tables.ranking import TopKeys, top_keys
from viameter.tables.relation import Relation
from viameter.tables.selection import Selection, key_limits, require_delta, require_keys, select_keys, sortable


@dataclass(frozen=True, slots=True)
class Ranking(Plan[Ranked]):
    """Which k of some public keys are the most frequent.

    >>> import viameter as vm
    >>> rows = {"user": list(range(900)), "page": ["home"] * 600 + ["help"] * 299 + ["jobs"]}
    >>> table = vm.open(rows, unit=vm.per("user", rows=1), budget=vm.zcdp(1))
    >>> table.group_by("page", keys=["help", "home", "jobs"]).top(2).release(spend=vm.zcdp("1/2")).groups
    (('home',), ('help',))
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"spend", "alpha"})

    relation: Relation
    grouping: Grouping
    asked: Top
    limits: Limits
    """As they were asked for."""
    setting: Setting
    name: str

    @classmethod
    def of(cls, relation: Relation, grouping: Grouping, limits: Limits, asked: Top, setting: Setting) -> Ranking:
        """The plan for rows by group, of which limits are asked."""
        require_top(grouping, asked)
        relation = relation.derive(grouping.derived) if grouping.derived else relation
        limits_of(relation, limits)  # what nothing limits is refused here
        name = name_of(relation, f"group_by({', '.join(grouping.shown)}).{asked}")
        return cls(relation, grouping, asked, limits, setting, name)

    @property
    def cells(self) -> int:
        """One for each key."""
        return self.collecting.keys.size

    @property
    def collecting(self) -> Collecting:
        """How counts are found."""
        keys, limits = self.grouping.keys, limits_of(self.relation, self.limits)
        assert keys is not None
        return Collecting(keys, limits, self.setting.order, self.setting.progress)

    def loss(self, cost: Cost) -> Loss:
        """What is to be spent."""
        return read_spend(cost.spend, self.setting.measure)

    def measurement(self, cost: Cost) -> Measurement:
        """The question as a Measurement of the table that was opened."""
        return self._top(cost).measurement

    def preview(self, payer: Payer, cost: Cost) -> Preview:
        """What it would cost, and how far behind a better key one may be that is picked; nothing is read or spent."""
        made, chance, collecting = self._top(cost), cost.chance, self.collecting
        payer.compile(lambda: collecting.compile(self.relation.sketch(), [made.statistic]))
        # A pick is more than s ln(n/b) behind the best with a chance of at most b; b = alpha/k for each of k picks.
        behind = made.scale * dyadic.log_up(collecting.keys.size * self.asked.k / chance)
        covers = f"every key that is picked, but for a chance of {show(chance)} in all; not rows that were not kept"
        kind = "Gumbel" if made.noise == "gumbel" else made.noise
        row = PreviewRow(
            f"top {self.asked.k}", made.measurement.map(1), f"{kind} {float(made.scale):.4g}",
            {f" {self.asked.by} behind the best that is left": float(behind)}, covers,
        )  # fmt: skip
        return Preview(
            (row,), made.measurement.map(1), payer.budgets, payer.fits(made.measurement), chance,
            self.unit, collecting.limits.words, ("keys come in order, without their counts",),
        )  # fmt: skip

    def release(self, payer: Payer, cost: Cost, *, key: str | None) -> Ranked:
        """Spend, run, and answer."""
        made, labels = self._top(cost), self.grouping.labels
        picked = payer.charge(
            made.measurement,
            key=key,
            identity=lambda: repr((self.grouping.keys, self.relation.steps, self.limits, self.unit)),
            compiling=lambda: self.collecting.compile(self.relation.rows(), [made.statistic]),
        )
        groups = tuple(labels[int(index)] for index in picked)
        return Ranked(self.grouping.shown, groups, self.asked.by, Proved(made.measurement), self.unit)

    def _top(self, cost: Cost) -> TopKeys:
        return top_keys(
            self.relation, self.collecting,
            k=self.asked.k, by_units=self.asked.by == "units", spend=self.loss(cost), name=self.name,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FrequentKeys(Plan[Answer]):
    """Which keys are frequent, of which nobody has a list, and how many units have them.

    >>> import viameter as vm
    >>> rows = {"user": list(range(900)), "page": ["home"] * 600 + ["help"] * 299 + ["jobs"]}
    >>> table = vm.open(rows, unit=vm.per("user", rows=1), budget=vm.approx(1, "1e-6"))
    >>> table.heavy_hitters("page").release(spend=vm.approx(1, "1e-6")).groups
    (('home',), ('help',))
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"spend", "alpha"})

    relation: Relation
    """As it was asked about."""
    columns: tuple[str, ...]
    limits: Limits
    setting: Setting
    name: str

    @classmethod
    def of(cls, relation: Relation, asked: HeavyHitters, limits: Limits, setting: Setting) -> FrequentKeys:
        """The plan for rows, of which limits are asked."""
        require_delta(setting.measure.zero)
        require_keys(relation.schema, asked.columns)
        key_limits(relation, limits)  # what nothing limits is refused here
        return cls(relation, asked.columns, limits, setting, name_of(relation, str(asked)))

    @property
    def count(self) -> str:
        """What the column of counts is called: "units", unless a key is."""
        named = itertools.chain(("units", "count"), (f"units_{number}" for number in itertools.count(2)))
        taken = set(self.columns)
        return next(name for name in named if not {name, f"{name}_lower", f"{name}_upper"} & taken)

    def loss(self, cost: Cost) -> Loss:
        """What is to be spent."""
        return read_spend(cost.spend, self.setting.measure)

    def measurement(self, cost: Cost) -> Measurement:
        """The question as a Measurement of the table that was opened."""
        return self._selection(cost).measurement

    def preview(self, payer: Payer, cost: Cost) -> Preview:
        """What it would cost, which keys would be shown, and how wide intervals would be; nothing is read or spent."""
        selection, chance = self._selection(cost), cost.chance
        payer.compile(lambda: selection.counting.compile(self._normalized.sketch()))
        loss, noise, limits = selection.measurement.map(1), selection.noise, selection.limits
        widths = {"": float(noise.width(chance))}
        row = PreviewRow(self.count, loss, f"{noise.kind} {float(noise.scale):.4g}", widths, _covers(chance))
        kept = f"{limits.rows} rows" if limits.groups is None else f"{limits.groups} keys, once each"
        return Preview(
            (row,), loss, payer.budgets, payer.fits(selection.measurement), chance, self.unit,
            kept, selection_notes(selection, cost.spend, chance),
        )  # fmt: skip

    def release(self, payer: Payer, cost: Cost, *, key: str | None) -> Answer:
        """Spend, run, and answer: the keys with the largest counts first."""
        selection, chance = self._selection(cost), cost.chance
        released = payer.charge(
            selection.measurement,
            key=key,
            identity=lambda: repr((self.columns, self.relation.steps, self.limits, self.unit)),
            compiling=lambda: selection.counting.compile(self._normalized.rows()),
        )
        groups = sorted(released, key=lambda key: (-released[key], sortable(key)))
        counts = np.array([released[key] for key in groups], dtype=np.int64)
        found = count_estimate(counts, selection.noise, chance)
        # What is shown occurs.
        least = np.maximum(found.lower, 1)
        estimate = Estimate(found.value, least, np.maximum(found.upper, 1), chance, _covers(chance))
        return Answer(
            self.columns, tuple(groups), {self.count: estimate}, {self.count: _covers(chance)}, chance,
            Proved(selection.measurement), self.unit, (hidden(selection), "the largest counts come first"),
        )  # fmt: skip

    @property
    def _normalized(self) -> Relation:
        return normalized(self.relation, self.columns)

    def _selection(self, cost: Cost) -> Selection:
        selection = select_keys(
            self._normalized, self.columns, loss=self.loss(cost),
            asked=self.limits, order=self.setting.order, progress=self.setting.progress,
        )  # fmt: skip
        return replace(selection, measurement=replace(selection.measurement, made_by=self.name))


def require_top(grouping: Grouping, asked: Top) -> None:
    """Refuse to rank groups that are not known, or more of them than there are."""
    if grouping.keys is None:
        raise ParameterError("top: which groups are there? group_by(..., keys=[...]); else heavy_hitters(...)")
    if not grouping.shown:
        raise ParameterError("top: there is one group only; group_by(..., keys=[...]) first")
    if asked.k > grouping.keys.size:
        raise ParameterError(
            f"top: k={asked.k}: expected a whole number from 1 to {grouping.keys.size}, the number of keys"
        )


def _covers(alpha: Fraction) -> str:
    return (
        f"noise: that a key is shown with an interval that misses has a chance of at most {show(alpha)} (of rare keys, "
        "those are shown that noise made larger); not units whose keys were not kept"
    )
