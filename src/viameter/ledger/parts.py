"""Parts of a scope: what was spent on each, and what the costliest touch pattern has cost.

A budget for people whose rows are in one ward each is not used up by the sum over wards: a change of one person touches
few of them. What is kept is the composition of what was charged to each part; by the law for groups, that of a sum is
at least the sum of the laws, so that counting whole parts never falls below counting leaf by leaf.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from viameter.core import Loss, Measure
from viameter.core.composability import CONCURRENT, FULLY_ADAPTIVE, require_cell
from viameter.errors import FormatError, NoTheorem, ParameterError, plain
from viameter.ledger.chain import canonical
from viameter.measures import ZCDP, ApproxDP, GaussianDP, PureDP
from viameter.neighborhood import Cut, Granularity, compose, leaf, whole
from viameter.neighborhood.declared import read_cut, read_granularity

COUNTED = (PureDP, ApproxDP, ZCDP, GaussianDP)
"""The measures whose laws for groups are at most additive in the loss."""

WHOLE = ""
"""Where losses are kept that touch all parts."""

_KEYS = {"granularity", "cut", "names"}

MOST = 10_000
"""How many parts a scope may have: the costliest pattern is looked for anew at every charge."""


@dataclass(frozen=True)
class Parts:
    """What parts there are, and what a change of one unit can touch of them: as they are declared in TOML files."""

    granularity: Any
    cut: Any
    names: tuple[str, ...] | None = None
    """What parts are called, in order; None for what the cut itself calls them."""

    @classmethod
    def read(cls, record: Any, measure: Measure) -> Parts:
        """Parts as they were declared: a table with a granularity and a cut."""
        if not isinstance(record, Mapping) or not {"granularity", "cut"} <= set(record) <= _KEYS:
            raise ParameterError(
                'parts: expected {"granularity": ..., "cut": ..., "names": [...]}, as in {"granularity": "unbounded", '
                '"cut": {"kind": "partition", "parts": 2}, "names": ["A", "B"]}'
            )
        names = record.get("names")
        if names is not None and not (isinstance(names, list | tuple) and all(isinstance(one, str) for one in names)):
            raise ParameterError("parts.names: expected a list of texts, one for each part")
        granularity, cut = _copied(record["granularity"]), _copied(record["cut"])
        made = cls(granularity, cut, None if names is None else tuple(names))
        if measure not in COUNTED:
            names = ", ".join(repr(known) for known in COUNTED)
            raise NoTheorem(f"parts are counted in {names}: {measure!r} has no law for groups that sums keep to")
        if require_cell(measure, FULLY_ADAPTIVE)[1].composability is not CONCURRENT:
            raise NoTheorem(f"{measure!r} composes sequentially only, and parts are asked side by side")
        if not 1 <= len(made.made_cut) <= MOST:
            raise ParameterError(f"parts: expected 1 to {MOST} of them, found {len(made.made_cut)}")
        labels = made.labels
        if len(labels) != len(made.made_cut):
            raise ParameterError(f"parts.names: {len(labels)} names for {len(made.made_cut)} parts")
        if len(set(labels)) < len(labels) or WHOLE in labels:
            raise ParameterError("parts: two have the same name, or one has none")
        made.worst({WHOLE: measure.zero, labels[0]: measure.zero}, measure)  # refuses what cannot be composed
        return made

    def to_json(self) -> dict[str, Any]:
        """The parts as they were declared."""
        return {
            "granularity": self.granularity,
            "cut": self.cut,
            "names": None if self.names is None else list(self.names),
        }

    @cached_property
    def made_granularity(self) -> Granularity:
        """What a step is."""
        made: Granularity = _read(read_granularity, self.granularity, "parts.granularity")
        return made

    @cached_property
    def made_cut(self) -> Cut:
        """What parts there are."""
        made: Cut = _read(read_cut, self.cut, "parts.cut")
        return made

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The parts by name, in order."""
        if self.names is not None:
            return self.names
        return tuple(str(self.made_cut.label(place)) for place in range(len(self.made_cut)))

    def find(self, part: Any) -> str:
        """The name of a part; all of them for None."""
        if part is None:
            return WHOLE
        if not isinstance(part, str) or part not in self.labels:
            shown = ", ".join(self.labels[:10]) + (", ..." if len(self.labels) > 10 else "")
            raise ParameterError(
                f"part={plain(part)} is no part of the scope: expected one of {shown}, or None for all"
            )
        return part

    def worst(self, spent: Mapping[str, Loss], measure: Measure) -> Loss:
        """What the costliest touch pattern has cost, if so much was charged to each part."""
        places = {label: place for place, label in enumerate(self.labels)}
        target, cut = self.made_granularity, self.made_cut
        # What is charged to a part is stated for all data, of which the mechanism looks at the part alone.
        leaves = [
            leaf(whole() if label == WHOLE else cut[places[label]], loss, granularity=target, mode="common")
            for label, loss in spent.items()
        ]
        return compose(target, leaves, measure=measure).loss if leaves else measure.zero


def _copied(declared: Any) -> Any:
    """What was declared, as it will be read back: whoever declared it may change theirs."""
    try:
        return json.loads(canonical(declared))
    except (TypeError, ValueError, RecursionError):
        raise ParameterError("parts: expected plain values, as in a TOML or JSON file") from None


def _read(reader: Any, value: Any, where: str) -> Any:
    try:
        return reader(value, where)
    except FormatError as problem:
        raise ParameterError(str(problem)) from None
    except RecursionError:
        raise ParameterError(f"{where}: it is nested too deep") from None
