"""Plans that a session keeps: the same question asked again has the same plan, and thus the same Measurement.

A plan says nothing of rows. To find it anew each time takes longer than a small release, and a Measurement that is the
same object as before need not be derived, described and written down again when it is charged.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from viameter.core import Loss, Transformation
from viameter.ledger.settled import Itself
from viameter.tables.choosing import Readings, narrowest
from viameter.tables.collecting import Collecting
from viameter.tables.estimates.noise import Kind
from viameter.tables.planning import Plan, noise_losses, plan
from viameter.tables.relation import Keep, Relation
from viameter.tables.rows import Rows
from viameter.tables.statistics import Statistic

MOST_PLANS = 128
"""How many plans a session keeps, those that were asked for last."""
MOST_GROUPS = 1000
"""Plans of more groups are not kept: they are large, and take long to compare."""
_ATTRIBUTE = "_plans"


def plan_of(
    session: Any,
    relation: Relation,
    readings: Readings,
    weights: Mapping[Kind, Mapping[Statistic, Fraction]],
    collecting: Collecting,
    spend: Loss,
    *,
    name: str,
    identity: str,
) -> Plan:
    """The plan of a question, which is known by `identity` as a query to something that was spawned.

    Where the loss allows several kinds of noise, it is the plan with the narrowest intervals.
    """
    asked = _Asked(
        source=Itself(relation.source),
        unit=Itself(relation.unit),
        fanout=relation.fanout,
        steps=tuple(map(_known_by, relation.steps)),
        weights=tuple((kind, tuple(weights[kind].items())) for kind in noise_losses(spend)),
        collecting=(collecting.keys, collecting.limits, collecting.order, Itself(collecting.progress)),
        spend=(type(spend), spend),
        texts=(name, identity),
        made_of=(relation, readings, collecting),
    )
    if collecting.keys.size > MOST_GROUPS:
        return _plan(asked)
    find: Callable[[_Asked], Plan] = vars(session).setdefault(_ATTRIBUTE, lru_cache(maxsize=MOST_PLANS)(_plan))
    return find(asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """All that a plan is made of. Two that are equal have the same plan.

    It refers to no session, so that a session that is out of use lets go of its engine at once.
    """

    source: Itself
    unit: Itself
    fanout: int
    steps: tuple[Hashable, ...]
    weights: tuple[tuple[Kind, tuple[tuple[Statistic, Fraction], ...]], ...]
    collecting: tuple[Hashable, ...]
    spend: tuple[type, Loss]
    texts: tuple[str, str]
    """They tell apart what Python takes for equal: 1, 1.0 and True."""
    made_of: tuple[Relation, Readings, Collecting] = field(compare=False)


def _known_by(step: Transformation) -> Hashable:
    """What a step is: a filter by its predicate, and others, of whose functions nothing is known, by themselves."""
    if type(step.function) is Keep:
        return Keep, step.made_by, step.function.predicate.key
    return Itself(step)


@dataclass(frozen=True, slots=True, eq=False)
class _KeepOnce(Keep):
    """A filter that remembers the rows that it was given last, and the handle that it made of them."""

    last: dict[str, tuple[Rows, Rows]] = field(default_factory=dict)

    def __call__(self, rows: Rows) -> Rows:
        """The rows that are kept; nothing is run."""
        given, kept = self.last.get("rows", (None, None))
        if kept is None or given is not rows:
            kept = Keep.__call__(self, rows)
            self.last["rows"] = rows, kept
        return kept


def _with_filters_made_once(relation: Relation) -> Relation:
    """The same relation; filters that stand first make their handle once. Others may hold more than a handle."""
    steps = list(relation.steps)
    for place, step in enumerate(steps):
        if type(step.function) is not Keep:
            break
        steps[place] = replace(step, function=_KeepOnce(step.function.predicate))
    return replace(relation, steps=tuple(steps))


def _plan(asked: _Asked) -> Plan:
    (relation, readings, collecting), (name, identity) = asked.made_of, asked.texts
    relation, spend = _with_filters_made_once(relation), asked.spend[1]
    plans = {
        kind: plan(relation, dict(weights), collecting, spend, kind=kind, name=name) for kind, weights in asked.weights
    }
    made = narrowest(plans, readings)
    return replace(made, measurement=replace(made.measurement, identity=(identity,)))
