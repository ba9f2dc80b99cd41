"""Numbers by group: aggregates of public groups, planned, previewed and released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from viameter.arith import Number
from viameter.core import Loss, Measure, Measurement
from viameter.errors import ParameterError, plain
from viameter.tables.aggregates import Aggregate, Reading, with_methods
from viameter.tables.answer import Answer, Proved
from viameter.tables.bounding import Limits
from viameter.tables.choosing import Readings, narrowest
from viameter.tables.collecting import Collecting
from viameter.tables.contributing import limits_of
from viameter.tables.cost import Cost
from viameter.tables.estimates import without_guesses
from viameter.tables.grouping import Grouping
from viameter.tables.planning import NoisePlan, Part, noise_kinds, noise_losses, noise_plan, read_spend
from viameter.tables.plans.base import Payer, Plan, Setting, name_of
from viameter.tables.plans.consistency import consistent
from viameter.tables.plans.within import spend_for
from viameter.tables.preview import Preview, PreviewRow, costs_note
from viameter.tables.relation import Relation
from viameter.tables.rows import Rows
from viameter.tables.sharing import read_together, shares_of
from viameter.tables.statistics import Statistic

CURE = "the group has too few rows for this price, or none; spend more, or ask for larger groups"
MOST_PLANS = 16
"""How many losses of one question have their noise kept."""


@dataclass(frozen=True)
class Numbers(Plan[Answer]):
    """Aggregates of public groups."""

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"spend", "within", "alpha", "weights", "raw"})

    relation: Relation
    grouping: Grouping
    measure: Measure
    by_noise: Readings
    """The aggregates, as they are read for each kind of noise that may be drawn."""
    collecting: Collecting
    name: str
    _noise: dict[Any, NoisePlan] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls, relation: Relation, grouping: Grouping, asked: Limits, named: Mapping[str, Aggregate], setting: Setting
    ) -> Numbers:
        """The plan for rows by group, of which limits are asked, and aggregates by name."""
        keys = grouping.keys
        assert keys is not None
        relation = relation.derive(grouping.derived) if grouping.derived else relation
        parts = {part: one for name, aggregate in named.items() for part, one in aggregate.parts(name).items()}
        readings = {
            kind: read_together(
                with_methods(parts, kind, keys=keys.size, replaced=relation.unit.replaces), relation.schema, kind
            )
            for kind in noise_kinds(setting.measure)
        }
        # What nothing limits is refused here, before anything is planned.
        statistics = [one for each in readings.values() for reading in each.values() for one in reading.statistics]
        limits = limits_of(relation, asked, statistics=statistics, groups=keys.size)
        collecting = Collecting(keys, limits, setting.order, setting.progress)
        by = f"group_by({', '.join(grouping.shown)}).agg" if grouping.shown else "agg"
        name = name_of(relation, f"{by}({', '.join(parts)})")
        return cls(relation, grouping, setting.measure, readings, collecting, name)

    @property
    def readings(self) -> Mapping[str, Reading]:
        """The aggregates, as they are read for the noise that needs no delta."""
        return next(iter(self.by_noise.values()))

    @property
    def cells(self) -> int:
        """Groups times aggregates."""
        return self.collecting.keys.size * max(len(self.readings), 1)

    @cached_property
    def identity(self) -> str:
        """What tells the question from others that have the same text."""
        # What is added up of a column depends on bounds and edges, of which texts say nothing.
        asked = [(name, [one.key for one in reading.statistics], reading.q) for name, reading in self.readings.items()]
        return repr((self.collecting.keys, self.relation.steps, self.collecting.limits, self.unit, asked))

    def loss(self, cost: Cost) -> Loss:
        """What is to be spent: for widths, the least loss for which intervals reach no further, to either side."""
        if cost.within is None:
            return read_spend(cost.spend, self.measure)
        shares = self._shares(self.readings, cost.weight_of)
        return spend_for(
            self.relation, self.readings, shares, self.collecting, dict(cost.within), cost.chance, self.measure
        )

    def measurement(self, cost: Cost) -> Measurement:
        """The question as a Measurement of the table that was opened."""
        return self.noise(self.loss(cost), cost.weight_of).measurement

    def preview(self, payer: Payer, cost: Cost) -> Preview:
        """What it would cost, and how wide intervals would be; no row is read, and nothing is spent."""
        planned = self.noise(self.loss(cost), cost.weight_of)
        payer.compile(lambda: self.compile(planned, self.relation.sketch()))
        return self.preview_of(payer, planned, cost.chance)

    def compile(self, planned: NoisePlan, rows: Rows) -> None:
        """Compile the queries that a release runs, and refuse what is too large."""
        self.collecting.compile(rows, [part.statistic for part in planned.parts])

    def preview_of(self, payer: Payer, planned: NoisePlan, chance: Fraction) -> Preview:
        """What a plan would cost, and how wide its intervals would be."""
        by_statistic = {part.statistic: part for part in planned.parts}
        rows, uses = [], 0
        for name, reading in self.by_noise[planned.kind].items():
            parts = [by_statistic[statistic] for statistic in reading.statistics]
            losses = [part.loss for part in dict.fromkeys(parts)]
            uses += len(losses)
            cost = losses[0].measure.total(losses)
            noise = ", ".join(dict.fromkeys(_noise(part) for part in parts))
            widths = reading.widths([part.noise for part in parts], chance)
            rows.append(PreviewRow(name, cost, noise, widths, reading.covers))
        notes = (planned.why, costs_note(rows, planned.loss, shared=uses > len(by_statistic)))
        return Preview(
            tuple(rows), planned.loss, payer.budgets, payer.fits(planned.measurement), chance,
            self.unit, self.collecting.limits.words, tuple(filter(None, notes)),
        )  # fmt: skip

    def release(self, payer: Payer, cost: Cost, *, key: str | None) -> Answer:
        """Spend, run, and answer."""
        # Without a look at what is left: under a key that was used, nothing more is spent.
        planned = self.noise(self.loss(cost), cost.weight_of)
        released = payer.charge(
            planned.measurement,
            key=key,
            identity=lambda: self.identity,
            compiling=lambda: self.compile(planned, self.relation.rows()),
        )
        return self.answer(planned, released, cost.chance, raw=cost.raw)

    def answer(self, planned: NoisePlan, released: Any, alpha: Fraction, *, raw: bool = False) -> Answer:
        """The answer that was released, with everything that is done to it afterwards."""
        noisy, readings = planned.noisy(released), self.by_noise[planned.kind]
        estimates = {
            name: (reading.raw if raw and reading.raw is not None else reading.estimate)(
                [noisy[statistic] for statistic in reading.statistics], alpha
            )
            for name, reading in readings.items()
        }
        estimates, notes = (estimates, ()) if raw else consistent(estimates, readings)
        estimates = {
            name: one if (span := readings[name].span) is None else without_guesses(one, span)
            for name, one in estimates.items()
        }
        unknown = [name for name, one in estimates.items() if np.isnan(one.value).any()]
        if unknown:
            notes = (*notes, f"where {', '.join(unknown)} is unknown, its interval is all that there could be: {CURE}")
        negative = [
            name for name, reading in readings.items()
            if reading.raw is not None and not raw and (noisy[reading.statistics[0]].values < 0).any()
        ]  # fmt: skip
        if negative:
            notes = (*notes, f"numbers of {', '.join(negative)} below 0 were set to 0; raw=True shows them")
        said = [
            f"{name}: {reading.note([noisy[one].noise for one in reading.statistics], alpha)}"
            for name, reading in readings.items()
            if reading.note is not None
        ]
        notes = (*notes, *said)
        limits = self.collecting.limits
        if self.unit.rows_without_limit is None and limits.is_limited:
            comma = "" if limits.first_by is None else ","
            kept = f"of a {self.unit.name} at most {limits.words}{comma} count"
            notes = (*notes, f"{kept}; intervals are of what was kept, and do not cover the rest")
        covers = {name: reading.covers for name, reading in readings.items()}
        proof = Proved(planned.measurement, noise=planned.why)
        return Answer(self.grouping.shown, self.grouping.labels, estimates, covers, alpha, proof, self.unit, notes)

    def noise(self, spend: Loss, weights: Mapping[str, Fraction]) -> NoisePlan:
        """The noise of all statistics for a loss; where that allows several kinds, the one with narrowest intervals."""
        loss = read_spend(spend, self.measure)
        self._require_named(weights)
        asked = (type(loss), loss, tuple(sorted((name, weight) for name, weight in weights.items() if weight != 1)))
        found = self._noise.get(asked)
        if found is None:
            plans = {
                kind: noise_plan(
                    self.relation,
                    self._shares(self.by_noise[kind], weights),
                    self.collecting,
                    loss,
                    kind=kind,
                    name=self.name,
                )
                for kind in noise_losses(loss)
            }
            made = narrowest(plans, self.by_noise)
            # The same object as long as it is kept: it need not be derived, described and written down again.
            found = replace(made, measurement=replace(made.measurement, identity=(self.identity,)))
            if len(self._noise) >= MOST_PLANS:
                self._noise.clear()
            self._noise[asked] = found
        return found

    def _shares(self, readings: Mapping[str, Reading], weights: Mapping[str, Number]) -> dict[Statistic, Fraction]:
        """The weight of each statistic: what aggregates that use it give it, each in equal parts to all it uses."""
        self._require_named(weights)
        return shares_of(readings, weights)

    def _require_named(self, weights: Mapping[str, Number]) -> None:
        unknown = [name for name in weights if name not in self.readings]
        if unknown:
            known = ", ".join(self.readings)
            raise ParameterError(f"weights: there is no aggregate {plain(unknown[0])}; there are {known}")


def _noise(part: Part) -> str:
    """The noise of a statistic in the unit of its column."""
    return f"{part.noise.kind} {_short(float(part.noise.scale * part.statistic.step))}"


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 1000 else f"{number:.4g}"
