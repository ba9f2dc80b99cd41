"""The derivation of a composition: the rule's theorem over the derivations of what was composed."""

from __future__ import annotations

from viameter.core import Loss, Measure, Rule
from viameter.theorem import Derivation, theorem_of


def compose_derivations(
    measure: Measure, rule: Rule, premises: tuple[Derivation, ...], *, total: Loss | None = None
) -> Derivation:
    """The node of a rule; what was asked several times is one premise with its `times`. `total` saves adding up."""
    assert rule.theorem is not None, "rules that need more than losses have derivations of their own"
    losses = [premise.bound_value for premise in premises for _ in range(premise.times)]
    if total is None:
        total = rule.theorem(losses) if losses else measure.zero
    return Derivation(
        f"{measure!r} by {rule.name}",
        theorem_of(rule.theorem),
        "1 loss" if len(losses) == 1 else f"{len(losses)} losses",
        repr(total),
        assumes=() if measure.assumption is None else (measure.assumption,),
        premises=premises,
        given_value=tuple(premise.bound_value for premise in premises),
        bound_value=total,
    )
