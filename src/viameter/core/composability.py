"""Composability: which rules compose the losses of a measure, and for which way of choosing mechanisms each is proved.

It is data that every measure declares and that the library looks up before it composes anything. A combination that is
not declared has no theorem, and asking for it is an error that names what would help.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from viameter.errors import NoTheorem, ParameterError, plain

if TYPE_CHECKING:
    from viameter.core.measure import Loss, Measure


class Adaptivity(enum.Enum):
    """How mechanisms and their losses are chosen."""

    NON_ADAPTIVE = "non-adaptive"
    """All mechanisms are fixed before the first answer."""
    ADAPTIVE = "adaptive"
    """Losses are fixed before the first answer; mechanisms are chosen by the answers so far."""
    FULLY_ADAPTIVE = "fully adaptive"
    """Mechanisms, losses and when to stop are all chosen by the answers so far."""

    def __repr__(self) -> str:
        return self.name


class Composability(enum.Enum):
    """How interactive mechanisms may be used beside one another."""

    SEQUENTIAL = "sequential"
    """One after the other: once the next one has begun, those before it answer no more."""
    CONCURRENT = "concurrent"
    """All at once: queries to them may be interleaved."""

    def __repr__(self) -> str:
        return f"Composability.{self.name}"


NON_ADAPTIVE, ADAPTIVE, FULLY_ADAPTIVE = Adaptivity
SEQUENTIAL, CONCURRENT = Composability


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a measure's table: what is proved, and by whom."""

    composability: Composability
    cites: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A way of composing the losses of one measure, and where it holds."""

    name: str
    table: Mapping[Adaptivity, Cell]
    instead: str
    """What helps where the table has no cell: the conversion that has one."""
    theorem: Callable[[Sequence[Any]], Loss] | None = field(default=None)
    """The registered theorem that takes losses to their composition; None where that takes more than the losses."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", MappingProxyType(dict(self.table)))


_RULES: dict[str, tuple[Rule, ...]] = {}


def declare_rules(measure: Measure, *rules: Rule) -> None:
    """Declare the rules of a measure, once; the first is the one that is used when none is named."""
    if measure.slug in _RULES:
        raise ParameterError(f"the rules of {plain(measure)} are declared already")
    _RULES[measure.slug] = rules


def rules_of(measure: Measure) -> tuple[Rule, ...]:
    """The rules that were declared for a measure."""
    return _RULES.get(measure.slug, ())


def find_rule(measure: Measure, name: str | None) -> Rule:
    """The rule of that name, or the first one."""
    rules = measure.rules
    if not rules:
        raise NoTheorem(f"losses of {plain(measure)} are not composed: no rule is declared for it")
    known = name is None or isinstance(name, str)
    found = next((rule for rule in rules if known and name in (None, rule.name)), None)
    if found is None:
        raise ParameterError(
            f"rule={plain(name)}: {measure!r} composes by {', '.join(repr(rule.name) for rule in rules)}"
        )
    return found


def require_cell(measure: Measure, adaptivity: Adaptivity, name: str | None = None) -> tuple[Rule, Cell]:
    """The rule and what is proved of it for this adaptivity, or NoTheorem with what would help."""
    if not isinstance(adaptivity, Adaptivity):
        raise ParameterError(f"adaptivity={plain(adaptivity)}: expected NON_ADAPTIVE, ADAPTIVE or FULLY_ADAPTIVE")
    rule = find_rule(measure, name)
    cell = rule.table.get(adaptivity)
    if cell is None:
        raise NoTheorem(f"{plain(measure)} by {rule.name!r} has no {adaptivity.value} composition: {rule.instead}")
    return rule, cell
