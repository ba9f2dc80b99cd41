"""Plans: from questions to Measurements. `plan_of` is the one way there; each kind of question is a class."""

from typing import Any

from viameter.tables.grouping import Grouping, grouping
from viameter.tables.plans.base import Payer, Plan, Setting
from viameter.tables.plans.bounds import Bounds, found_bounds
from viameter.tables.plans.found_groups import FoundNumbers
from viameter.tables.plans.numbers import Numbers
from viameter.tables.plans.rankings import FrequentKeys, Ranking
from viameter.tables.question import Aggregates, FindBounds, HeavyHitters, Question, Top
from viameter.tables.relation import Relation

__all__ = [
    "Bounds",
    "FoundNumbers",
    "FrequentKeys",
    "Numbers",
    "Payer",
    "Plan",
    "Ranking",
    "Setting",
    "found_bounds",
    "kind_of",
    "plan_of",
]


def kind_of(question: Question, grouped: Grouping) -> type[Plan[Any]]:
    """Of which kind the plan of a question is."""
    match question.asked:
        case Aggregates():
            return FoundNumbers if grouped.keys is None else Numbers
        case Top():
            return Ranking
        case HeavyHitters():
            return FrequentKeys
        case FindBounds():
            return Bounds


def plan_of(question: Question, relation: Relation, setting: Setting) -> Plan[Any]:
    """The plan of a question of some rows, after its steps; ParameterError or NoTheorem where there can be none."""
    limits, asked = question.limits, question.asked
    grouped = grouping(relation.schema, question.groups)
    match asked:
        case Aggregates(named):
            kind = FoundNumbers if grouped.keys is None else Numbers
            return kind.of(relation, grouped, limits, dict(named), setting)
        case Top():
            return Ranking.of(relation, grouped, limits, asked, setting)
        case HeavyHitters():
            return FrequentKeys.of(relation, asked, limits, setting)
        case FindBounds():
            return Bounds.of(relation, grouped, asked, limits, setting)
