"""Question: aggregates by group; what they would cost, and their release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from viameter.arith import Number
from viameter.core import Loss, Measurement
from viameter.errors import OverBudget, ParameterError, plain
from viameter.tables.aggregates import Reading, read_aggregate, with_methods
from viameter.tables.answer import Answer
from viameter.tables.choosing import Readings
from viameter.tables.collecting import Collecting
from viameter.tables.consistency import consistent
from viameter.tables.contributing import limits_of
from viameter.tables.estimates import without_guesses
from viameter.tables.estimates.noise import read_alpha
from viameter.tables.keys import Keys
from viameter.tables.planned import plan_of
from viameter.tables.planning import Part, Plan, noise_kinds, read_spend
from viameter.tables.preview import Preview, PreviewRow, binding, costs_note
from viameter.tables.rows import Rows
from viameter.tables.sharing import read_together, shares_of
from viameter.tables.statistics import Statistic
from viameter.tables.table import Table
from viameter.tables.within import spend_for

if TYPE_CHECKING:
    from viameter.tables.rankings import Ranking

ALPHA = "1/20"
"""How often an interval may miss, unless something else is asked for."""
CURE = "the group has too few rows for this price, or none; spend more, or ask for larger groups"


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows by group, of which aggregates can be asked."""

    table: Table
    keys: Keys
    shown: tuple[str, ...] | None = None
    """The columns of an answer that name a group, if they are not those that rows are grouped by."""
    labels: tuple[tuple[Any, ...], ...] | None = None

    def agg(self, **aggregates: Any) -> Question:
        """What is asked of each group, by the name that it has in the answer."""
        if not aggregates:
            raise ParameterError("agg: name at least one aggregate, as in agg(n=vm.count())")
        columns = self.shown or self.keys.columns
        for name in aggregates:
            if name in columns:
                raise ParameterError(f"agg: {name!r} is the name of a column that groups rows; choose another")
            taken = [f"{other}{end}" for other in aggregates for end in ("_lower", "_upper")]
            if name in taken:
                raise ParameterError(
                    f"agg: {name!r} is what an end of another aggregate's interval is called; rename it"
                )
        asked = {name: read_aggregate(name, given) for name, given in aggregates.items()}
        replaced, schema = self.table.unit.replaces, self.table.schema
        readings = {
            kind: read_together(with_methods(asked, kind, keys=self.keys.size, replaced=replaced), schema, kind)
            for kind in noise_kinds(self.table.session.measure)
        }
        # What nothing limits is refused here, before anything is planned.
        statistics = [one for each in readings.values() for reading in each.values() for one in reading.statistics]
        limits = limits_of(self.table.relation, self.table.limits, statistics=statistics, groups=self.keys.size)
        session = self.table.session
        collecting = Collecting(self.keys, limits, session.order, session.progress)
        return Question(self, readings, collecting)

    def top(self, k: int, *, by: Literal["rows", "units"] = "rows") -> Ranking:
        """Which k of the groups have the most rows, or the most units; in order, without their numbers."""
        from viameter.tables.rankings import Ranking

        return Ranking(self, k, by)


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """Aggregates by group of a private table. It is public: it says what is asked, and nothing of the rows."""

    grouped: Grouped
    by_noise: Readings
    """The aggregates, as they are read for each kind of noise that may be drawn."""
    collecting: Collecting

    @property
    def readings(self) -> Mapping[str, Reading]:
        """The aggregates, as they are read for the noise that needs no delta."""
        return next(iter(self.by_noise.values()))

    @property
    def table(self) -> Table:
        """The rows that are asked about."""
        return self.grouped.table

    def measurement(self, *, spend: Loss, weights: Mapping[str, Number] | None = None) -> Measurement:
        """The question as a Measurement of the table that was opened; it may be composed and metered like any other."""
        return self._plan(spend, weights).measurement

    def preview(self, *, spend: Loss, alpha: Number = ALPHA, weights: Mapping[str, Number] | None = None) -> Preview:
        """What it would cost, and how wide intervals would be; no row is read, and nothing is spent."""
        planned, chance = self._plan(spend, weights), read_alpha(alpha)
        self.table.session.compile(lambda: self._compile(planned, self.table.relation.sketch()))
        return self._preview_of(planned, chance)

    def _compile(self, planned: Plan, rows: Rows) -> None:
        """Compile the queries that a release runs, and refuse what is too large."""
        self.collecting.compile(rows, [part.statistic for part in planned.parts])

    def _preview_of(self, planned: Plan, chance: Fraction) -> Preview:
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
        session = self.table.session
        notes = (planned.why, costs_note(rows, planned.loss, shared=uses > len(by_statistic)))
        return Preview(
            tuple(rows), planned.loss, session.budgets, session.fits(planned.measurement), chance,
            session.unit, self.collecting.limits.words, tuple(filter(None, notes)),
        )  # fmt: skip

    def release(
        self,
        *,
        spend: Loss | None = None,
        within: Mapping[str, Number] | None = None,
        alpha: Number = ALPHA,
        weights: Mapping[str, Number] | None = None,
        raw: bool = False,
        key: str | None = None,
    ) -> Answer:
        """Spend, run, and answer: `spend` is the loss; or `within` names widths, and the least loss that buys them.

        `weights` says how the loss is shared among aggregates: each has 1 if it is not named. Counts below 0 are set to
        0, and quantiles made to rise, unless `raw` ones are asked for. With a ledger, the same question under the same
        `key` has the same answer, and costs nothing more.
        """
        chance = read_alpha(alpha)
        if (spend is None) == (within is None):
            raise ParameterError("release: give spend=... (a loss) or within=... (widths that are to be reached)")
        if within is not None:
            # Without a look at what is left: under a key that was used, nothing more is spent.
            spend = self._spend_for(within, chance, weights)
        assert spend is not None
        planned = self._plan(spend, weights)
        released = self.table.session.charge(
            planned.measurement,
            key=key,
            identity=self._identity,
            compiling=lambda: self._compile(planned, self.table.relation.rows()),
        )
        return self._answer(planned, released, chance, raw=raw)

    def spend_for(
        self, within: Mapping[str, Number], *, alpha: Number = ALPHA, weights: Mapping[str, Number] | None = None
    ) -> Loss:
        """The least loss for which the intervals of these aggregates reach no further than asked, to either side."""
        found = self._spend_for(within, read_alpha(alpha), weights)
        session = self.table.session
        # What does not fit is said in numbers before anything is charged.
        if not session.fits(self._plan(found, weights).measurement):
            over = binding(session.budgets, found)
            raise OverBudget(spent=over.spent, asked=found, left=over.left, budget=over.budget, scope=over.name or None)
        return found

    def _spend_for(self, within: Mapping[str, Number], alpha: Fraction, weights: Mapping[str, Number] | None) -> Loss:
        return spend_for(
            self.table.relation, self.readings, self._shares(self.readings, weights), self.collecting, within, alpha,
            self.table.session.measure,
        )  # fmt: skip

    def _answer(self, planned: Plan, released: Any, alpha: Fraction, *, raw: bool = False) -> Answer:
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
        if self.table.unit.rows_without_limit is None and self.collecting.limits.is_limited:
            limits = self.collecting.limits
            comma = "" if limits.first_by is None else ","
            kept = f"of a {self.table.unit.name} at most {limits.words}{comma} count"
            notes = (*notes, f"{kept}; intervals are of what was kept, and do not cover the rest")
        keys = self.grouped.keys
        labels = (
            keys.labels if self.grouped.labels is None else (*self.grouped.labels, *keys.labels[len(keys.groups) :])
        )
        return Answer(
            self.grouped.shown or keys.columns,
            labels,
            estimates,
            {name: reading.covers for name, reading in readings.items()},
            alpha,
            planned.measurement,
            self.table.unit,
            notes,
            noise=planned.why,
        )

    def _identity(self) -> str:
        """What tells the question from others that have the same text."""
        # What is added up of a column depends on bounds and edges, of which texts say nothing.
        asked = [(name, [one.key for one in reading.statistics], reading.q) for name, reading in self.readings.items()]
        return repr((self.grouped.keys, self.table.relation.steps, self.collecting.limits, self.table.unit, asked))

    def _plan(self, spend: Loss, weights: Mapping[str, Number] | None) -> Plan:
        loss = read_spend(spend, self.table.session.measure)
        shares = {kind: self._shares(readings, weights) for kind, readings in self.by_noise.items()}
        return plan_of(
            self.table.session, self.table.relation, self.by_noise, shares, self.collecting, loss,
            name=repr(self), identity=self._identity(),
        )  # fmt: skip

    def _shares(
        self, readings: Mapping[str, Reading], weights: Mapping[str, Number] | None
    ) -> dict[Statistic, Fraction]:
        """The weight of each statistic: what aggregates that use it give it, each in equal parts to all it uses."""
        given = {} if weights is None else dict(weights)
        unknown = [name for name in given if name not in readings]
        if unknown:
            raise ParameterError(f"weights: there is no aggregate {plain(unknown[0])}; there are {', '.join(readings)}")
        for name, weight in given.items():
            if Fraction(weight) <= 0:
                raise ParameterError(f"weights[{name!r}]={weight!s} is not above 0")
        return shares_of(readings, given)

    def __repr__(self) -> str:
        keys = self.grouped.shown or self.grouped.keys.columns
        steps = "".join(f"{step.made_by}." for step in self.table.relation.steps)
        by = f"group_by({', '.join(keys)}).agg" if keys else "agg"
        return f"{steps}{by}({', '.join(self.readings)})"


def _noise(part: Part) -> str:
    """The noise of a statistic in the unit of its column."""
    return f"{part.noise.kind} {_short(float(part.noise.scale * part.statistic.step))}"


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 1000 else f"{number:.4g}"
