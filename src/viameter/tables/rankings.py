"""Ranking: the k most frequent of public keys, in order; and the frequent ones among keys that nobody listed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from viameter.arith import Number, dyadic, show
from viameter.core import Loss, Measurement
from viameter.core.certificate import Certificate
from viameter.errors import ParameterError, plain
from viameter.neighborhood import Guarantee
from viameter.tables.answer import Answer
from viameter.tables.collecting import Collecting
from viameter.tables.contributing import limits_of
from viameter.tables.estimates import Estimate, count_estimate
from viameter.tables.estimates.noise import read_alpha
from viameter.tables.found_groups import hidden, normalized, selection_notes
from viameter.tables.numbers import ALPHA, Grouped
from viameter.tables.planning import read_spend
from viameter.tables.preview import Preview, PreviewRow
from viameter.tables.ranking import Top, top_keys
from viameter.tables.selection import Selection, require_delta, require_keys, select_keys, sortable
from viameter.tables.table import Table
from viameter.tables.units import Unit
from viameter.theorem import Explanation

Counted = Literal["rows", "units"]


@dataclass(frozen=True, slots=True, repr=False)
class Ranked:
    """Keys in order, the most frequent first; how frequent they are is not told."""

    keys: tuple[str, ...]
    """The columns that name a group."""
    groups: tuple[tuple[Any, ...], ...]
    by: Counted
    measurement: Measurement
    unit: Unit

    @property
    def loss(self) -> Loss:
        """What it cost."""
        found: Loss = self.measurement.map(1)
        return found

    @property
    def guarantee(self) -> Guarantee:
        """What it cost, and for whom that is stated."""
        return Guarantee(self.loss, self.unit.granularity)

    def explain(self) -> Explanation:
        """What the release tells of one unit at most, and the tree of theorems behind that."""
        return self.measurement.explain(1)

    def certificate(self) -> Certificate:
        """The same as a file that `viameter check` re-derives."""
        return self.measurement.certificate(1)

    def to_columns(self) -> dict[str, list[Any]]:
        """The keys as lists, by column, in order."""
        return {name: [group[place] for group in self.groups] for place, name in enumerate(self.keys)}

    def to_dicts(self) -> list[dict[str, Any]]:
        """The keys as a dict for each group, in order."""
        return [dict(zip(self.keys, group, strict=True)) for group in self.groups]

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.groups)

    def __repr__(self) -> str:
        shown = (", ".join(repr(value) for value in group) for group in self.groups)
        lines = (f"{place:>3}  {line}" for place, line in enumerate(shown, start=1))
        return "\n".join([f"top {len(self)} by {self.by}: {', '.join(self.keys)}", *lines, f"cost {self.loss!r}"])


@dataclass(frozen=True, slots=True, repr=False)
class Ranking:
    """The question which k of some public keys are the most frequent."""

    grouped: Grouped
    k: int
    by: Counted = "rows"

    def __post_init__(self) -> None:
        if not self.grouped.keys.columns:
            raise ParameterError("top: there is one group only; group_by(..., keys=[...]) first")
        if self.by not in ("rows", "units"):
            raise ParameterError(f"top: by={plain(self.by)}: expected 'rows' or 'units'")
        size = self.grouped.keys.size
        if isinstance(self.k, bool) or not isinstance(self.k, int) or not 1 <= self.k <= size:
            raise ParameterError(
                f"top: k={plain(self.k)}: expected a whole number from 1 to {size}, the number of keys"
            )

    def measurement(self, *, spend: Loss) -> Measurement:
        """The question as a Measurement of the table that was opened."""
        return self._top(spend).measurement

    def preview(self, *, spend: Loss, alpha: Number = ALPHA) -> Preview:
        """What it would cost, and how far behind a better key one may be that is picked; nothing is read or spent."""
        made, chance, session = self._top(spend), read_alpha(alpha), self.grouped.table.session
        relation = self.grouped.table.relation
        session.compile(lambda: self._collecting().compile(relation.sketch(), [made.statistic]))
        # A pick is more than s ln(n/b) behind the best with a chance of at most b; b = alpha/k for each of k picks.
        behind = made.scale * dyadic.log_up(self.grouped.keys.size * self.k / chance)
        covers = f"every key that is picked, but for a chance of {show(chance)} in all; not rows that were not kept"
        kind = "Gumbel" if made.noise == "gumbel" else made.noise
        row = PreviewRow(
            f"top {self.k}", made.measurement.map(1), f"{kind} {float(made.scale):.4g}",
            {f" {self.by} behind the best that is left": float(behind)}, covers,
        )  # fmt: skip
        limits, table = limits_of(self.grouped.table.relation, self.grouped.table.limits), self.grouped.table
        return Preview(
            (row,), made.measurement.map(1), session.budgets, session.fits(made.measurement), chance,
            table.unit, limits.words, ("keys come in order, without their counts",),
        )  # fmt: skip

    def release(self, *, spend: Loss, key: str | None = None) -> Ranked:
        """Spend, run, and answer; with a ledger, the same under the same `key` is the same answer."""
        made, keys = self._top(spend), self.grouped.keys
        labels = keys.labels if self.grouped.labels is None else self.grouped.labels + keys.labels[len(keys.groups) :]
        table = self.grouped.table
        picked = table.session.charge(
            made.measurement,
            key=key,
            identity=lambda: repr((keys, table.relation.steps, table.limits, table.unit)),
            compiling=lambda: self._collecting().compile(table.relation.rows(), [made.statistic]),
        )
        groups = tuple(labels[int(index)] for index in picked)
        return Ranked(self.grouped.shown or keys.columns, groups, self.by, made.measurement, self.grouped.table.unit)

    def _top(self, spend: Loss) -> Top:
        table = self.grouped.table
        return top_keys(
            table.relation, self._collecting(),
            k=self.k, by_units=self.by == "units", spend=read_spend(spend, table.session.measure), name=repr(self),
        )  # fmt: skip

    def _collecting(self) -> Collecting:
        table = self.grouped.table
        limits = limits_of(table.relation, table.limits)
        return Collecting(self.grouped.keys, limits, table.session.order, table.session.progress)

    def __repr__(self) -> str:
        keys = self.grouped.shown or self.grouped.keys.columns
        steps = "".join(f"{step.made_by}." for step in self.grouped.table.relation.steps)
        return f"{steps}group_by({', '.join(keys)}).top({self.k}, by={self.by!r})"


def top(grouped: Grouped, *, k: int, spend: Loss, by: Counted = "rows") -> Ranked:
    """The k most frequent of public keys, in order: by how many rows they have, or how many units.

    >>> import viameter as vm
    >>> rows = {"user": list(range(900)), "page": ["home"] * 600 + ["help"] * 299 + ["jobs"]}
    >>> table = vm.open(rows, unit=vm.per("user", rows=1), budget=vm.zcdp(1))
    >>> top(table.group_by("page", keys=["help", "home", "jobs"]), k=2, spend=vm.zcdp("1/2")).groups
    (('home',), ('help',))
    """
    return Ranking(grouped, k, by).release(spend=spend)


@dataclass(frozen=True, slots=True, repr=False)
class HeavyHitters:
    """The question which keys are frequent, of which nobody has a list, and how frequent they are."""

    table: Table
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        require_delta(self.table.budget)
        require_keys(self.table.schema, self.columns)

    @property
    def name(self) -> str:
        """What the column of counts is called: "units", unless a key is."""
        return next(name for name in ("units", "count", "units_of_key") if name not in self.columns)

    def preview(self, *, spend: Loss, alpha: Number = ALPHA) -> Preview:
        """What it would cost, which keys would be shown, and how wide intervals would be; nothing is read or spent."""
        selection, chance, session = self._selection(spend), read_alpha(alpha), self.table.session
        session.compile(lambda: selection.counting.compile(self._normalized.relation.sketch()))
        loss, noise = selection.measurement.map(1), selection.noise
        row = PreviewRow(
            self.name, loss, f"{noise.kind} {float(noise.scale):.4g}", {"": float(noise.width(chance))}, _covers(chance)
        )
        limits = selection.limits
        kept = f"{limits.rows} rows" if limits.groups is None else f"{limits.groups} keys, once each"
        return Preview(
            (row,), loss, session.budgets, session.fits(selection.measurement), chance, self.table.unit,
            kept, selection_notes(selection, spend, chance),
        )  # fmt: skip

    def release(self, *, spend: Loss, alpha: Number = ALPHA, key: str | None = None) -> Answer:
        """Spend, run, and answer: the keys with the largest counts first."""
        selection, chance = self._selection(spend), read_alpha(alpha)
        table = self.table
        released = table.session.charge(
            selection.measurement,
            key=key,
            identity=lambda: repr((self.columns, table.relation.steps, table.limits, table.unit)),
            compiling=lambda: selection.counting.compile(self._normalized.relation.rows()),
        )
        groups = sorted(released, key=lambda key: (-released[key], sortable(key)))
        counts = np.array([released[key] for key in groups], dtype=np.int64)
        found = count_estimate(counts, selection.noise, chance)
        # What is shown occurs.
        least = np.maximum(found.lower, 1)
        estimate = Estimate(found.value, least, np.maximum(found.upper, 1), chance, _covers(chance))
        return Answer(
            self.columns, tuple(groups), {self.name: estimate}, {self.name: _covers(chance)}, chance,
            selection.measurement, self.table.unit, (hidden(selection), "the largest counts come first"),
        )  # fmt: skip

    @property
    def _normalized(self) -> Table:
        return normalized(self.table, self.columns)

    def _selection(self, spend: Loss) -> Selection:
        session, table = self.table.session, self._normalized
        selection = select_keys(
            table.relation, self.columns, loss=read_spend(spend, session.measure),
            asked=table.limits, order=session.order, progress=session.progress,
        )  # fmt: skip
        return replace(selection, measurement=replace(selection.measurement, made_by=repr(self)))

    def __repr__(self) -> str:
        steps = "".join(f"{step.made_by}." for step in self.table.relation.steps)
        return f"{steps}heavy_hitters({', '.join(self.columns)})"


def heavy_hitters(table: Table, columns: str | Sequence[str], *, spend: Loss, alpha: Number = ALPHA) -> Answer:
    """The frequent keys of columns, with how many units have them, although no list of keys is public.

    >>> import viameter as vm
    >>> rows = {"user": list(range(900)), "page": ["home"] * 600 + ["help"] * 299 + ["jobs"]}
    >>> table = vm.open(rows, unit=vm.per("user", rows=1), budget=vm.approx(1, "1e-6"))
    >>> heavy_hitters(table, "page", spend=vm.approx(1, "1e-6")).groups
    (('home',), ('help',))
    """
    named = (columns,) if isinstance(columns, str) else tuple(columns)
    if not named:
        raise ParameterError("heavy_hitters: name at least one column")
    return HeavyHitters(table, named).release(spend=spend, alpha=alpha)


def _covers(alpha: Fraction) -> str:
    return (
        f"noise: that a key is shown with an interval that misses has a chance of at most {show(alpha)} (of rare keys, "
        "those are shown that noise made larger); not units whose keys were not kept"
    )
