"""Consequence: a stronger pre-condition, a weaker post-condition, a larger budget."""

from __future__ import annotations

from collections.abc import Mapping

from viameter.errors import ParameterError
from viameter.logic.kernel.assertion import Assertion, terms
from viameter.logic.kernel.judgment import Asks, Judgment, Obligation, demand, made
from viameter.logic.lang.terms import ZERO, Term, le, variables


def consequence(
    asks: Asks,
    judgment: Judgment,
    *,
    pre: Assertion | None = None,
    post: Assertion | None = None,
    budget: Mapping[str, Term] | None = None,
) -> Judgment:
    """From |-_b c1 ~ c2 : P => Q, if P' => P, Q => Q' and b <= b': |-_b' c1 ~ c2 : P' => Q'."""
    context = judgment.context
    if asks.context is not context:
        raise ParameterError("the oracle knows another context")
    pre, post = judgment.pre if pre is None else pre, judgment.post if post is None else post
    if pre != judgment.pre:
        _no_drawn(pre)
        for entry in judgment.pre:
            demand(asks, Obligation(terms(pre), entry.term, entry.what, entry.line, "consequence"))
    if post != judgment.post:
        _no_drawn(judgment.post)
        for entry in post:
            demand(asks, Obligation(terms(judgment.post), entry.term, entry.what, entry.line, "consequence"))
    spends = dict(judgment.budget)
    if budget is not None:
        for base in spends.keys() | budget.keys():
            small, large = spends.get(base, ZERO), budget.get(base, ZERO)
            demand(asks, Obligation((), le(small, large), f"the budget of {base} is large enough", 0, "consequence"))
        spends = dict(budget)
    return made(
        context=context, left=judgment.left, right=judgment.right, pre=pre, post=post, rule="consequence",
        line=judgment.line, premises=(judgment,), budget=spends,
    )  # fmt: skip


def _no_drawn(assertion: Assertion) -> None:
    # A drawn value is quantified where it stands: as a hypothesis it would be one value for all.
    for entry in assertion:
        for var in variables(entry.term):
            if ".v" in var.name:
                raise ParameterError(f"{var.name} is a drawn value: it cannot stand in a hypothesis")
