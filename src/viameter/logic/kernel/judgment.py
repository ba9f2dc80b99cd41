"""Judgments: |-_budget c1 ~ c2 : P => Q. Only the rules of the kernel make them.

**Validity.** For all memories m1, m2 and ghosts g with P(m1, m2, g) there are measures mu_L, mu_R on triples
(m1', m2', g') with Q such that the first marginal of mu_L is [[c1]](m1), the second marginal of mu_R is at most
[[c2]](m2), and mu_L <= exp(cost(g') - cost(g) + budget) mu_R + d, where d has total mass at most delta.
`cost` is the sum over the bases of epsilon; `delta` is the budget's, and the most that `cost.delta` grows by on a path.
With the base `rho` the last inequality is one between Renyi divergences of every order instead.
The ghost `cost` may depend on the path; the budget of the judgment may not. A judgment that leaves the ghost cost
as it was (`rules.fixed.is_still`) with P and Q free of ghosts is the judgment of the slides; else its budget is not all
that is spent.

Free variables that no memory has (drawn values, made fresh by the rules for sampling) are universally quantified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from viameter.errors import ParameterError, ViameterError
from viameter.logic.kernel.assertion import Assertion
from viameter.logic.kernel.context import Context
from viameter.logic.lang.core import Block
from viameter.logic.lang.terms import Term, show

_SEAL = object()


@dataclass(frozen=True, slots=True)
class Judgment:
    """|-_budget left ~ right : pre => post, with the rule and the premises that it was made from."""

    context: Context
    left: Block
    right: Block
    pre: Assertion
    post: Assertion
    rule: str
    line: int = 0
    premises: tuple[Judgment, ...] = ()
    budget: Mapping[str, Term] = field(default_factory=dict)
    """What is spent on every path beside the ghosts, by base, in the context's units."""
    notes: Mapping[str, str] = field(default_factory=dict)
    seal: InitVar[Any] = None
    """The kernel's own token; not kept, so that a copy with other fields cannot be made either."""

    def __post_init__(self, seal: Any) -> None:
        if seal is not _SEAL:
            raise ParameterError("a Judgment is made by the rules of viameter.logic.kernel, not by hand")


def made(**fields: Any) -> Judgment:
    """A judgment; for the kernel's rules alone."""
    for name in ("budget", "notes"):
        fields[name] = MappingProxyType(dict(fields.get(name, {})))
    return Judgment(**fields, seal=_SEAL)


@dataclass(frozen=True, slots=True)
class Obligation:
    """What a side condition needs: the hypotheses imply the goal, whatever the free variables are."""

    hypotheses: tuple[Term, ...]
    goal: Term
    what: str
    line: int
    rule: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether an obligation holds; if not, values for which it fails, or why it could not be decided."""

    holds: bool
    model: Mapping[str, int | bool] | None = None
    reason: str = ""


class Asks(Protocol):
    """Whoever decides obligations for the kernel: only what `holds` is taken for true."""

    context: Context

    def ask(self, obligation: Obligation) -> Answer:
        """Whether the obligation follows from its hypotheses and from what the context knows of inputs."""
        ...

    def ask_without_positivity(self, obligation: Obligation) -> Answer:
        """The same without taking for known that the factors of scales are positive: for showing just that."""
        ...


class Unproved(ViameterError):
    """A side condition of a rule that does not hold, or that could not be decided."""

    def __init__(self, obligation: Obligation, answer: Answer) -> None:
        self.obligation, self.answer = obligation, answer
        why = f" ({answer.reason})" if answer.reason else ""
        what = obligation.what or f"what the rule {obligation.rule} demands"
        super().__init__(f"line {obligation.line}: {what}{why}: {show(obligation.goal)}")


def demand(asks: Asks, obligation: Obligation) -> None:
    """Raise `Unproved` unless the obligation holds."""
    answer = asks.ask(obligation)
    if not answer.holds:
        raise Unproved(obligation, answer)
