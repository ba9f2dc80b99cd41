"""Pointwise equality: from each output separately to equal outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from viameter.errors import ParameterError
from viameter.logic.kernel.assertion import Assertion, clause, terms
from viameter.logic.kernel.context import RESULT, cost
from viameter.logic.kernel.judgment import Asks, Judgment, Obligation, demand, made
from viameter.logic.kernel.rules.fixed import check_budget, is_drawn, is_still, names_cost
from viameter.logic.kernel.rules.structure import added
from viameter.logic.lang.core import assigned
from viameter.logic.lang.terms import ZERO, Num, Term, Var, eq, implies, le, mul, or_, variables


def pointwise(
    asks: Asks,
    judgment: Judgment,
    *,
    output: Var | None = None,
    budget: Mapping[str, Term] | None = None,
    outputs: Iterable[int] | None = None,
) -> Judgment:
    """From |-_b c1 ~ c2 : P => (out<1> == R => out<2> == R) for the logical constant R: P => out<1> == out<2>.

    With `budget`, the premise spends by ghosts instead: it has P, cost == 0 before, and for the output that is asked
    about cost <= b after. With a delta in the premise's budget the result has delta for each of `outputs`, which must
    be all that the first run can give.
    Sound: the premise, for R = r, gives P1(out = r) <= e^b P2(out = r) + delta, for all r: countably many. Let
    A_r, B_r be the two runs' results that have out = r. Take mu_L(m, m') = P1(m) P2(m') / P2(B_r) and mu_R = P1(m)
    P2(m') / P1(A_r) on A_r x B_r. All marginals are right, mu_L exceeds e^b mu_R by at most delta for each r, and where
    P2(B_r) = 0 < P1(A_r) <= delta any result of the second run with out set to r is a partner.
    Side conditions: the output is an integer that both sides assign; P and b do not speak of R; nothing is spent by
    ghosts that the post-condition does not bound; delta is 0, or `outputs` is finite and holds all outputs.
    Concentrated cost (rho) is no bound for each output by itself: it is refused.
    """
    context = judgment.context
    if asks.context is not context:
        raise ParameterError("the oracle knows another context")
    out = context.program.output if output is None else output
    if out.sort != "int" or not all(out in assigned(block) for block in (judgment.left, judgment.right)):
        raise ParameterError(f"the output {out} must be an integer variable that both sides assign")
    if "rho" in context.units:
        raise ParameterError("concentrated cost (rho) does not bound each output by itself")
    check_budget(context, judgment.budget)
    first, second = Var(out.name, "int", 1), Var(out.name, "int", 2)
    asked, known = eq(first, RESULT), terms(judgment.post)
    goals: list[tuple[Term, str]] = [(eq(second, RESULT), "the second run has the output of the first")]
    pre, spent = judgment.pre, dict(judgment.budget)
    if budget is None:
        if not is_still(judgment):
            raise ParameterError("the judgment spends by ghosts: settle it, or say the budget that bounds them")
    else:
        check_budget(context, budget)
        zeros = {eq(cost(base), ZERO) for base in context.units}
        pre = tuple(entry for entry in pre if entry.term not in zeros)
        bounds = {base: budget.get(base, ZERO) for base in context.units}
        goals += [(le(cost(base), most), f"the cost of {base} is within the budget") for base, most in bounds.items()]
        spent = added(spent, {base: most for base, most in budget.items() if most != ZERO})
    _check_before(pre, spent, judgment.post)
    for goal, what in goals:
        demand(asks, Obligation(known, implies(asked, goal), what, judgment.line, "pointwise"))
    if spent.get("delta", ZERO) != ZERO:
        if budget is not None or outputs is None:
            raise ParameterError("delta is summed over all outputs: expected delta = 0, or the list of all outputs")
        listed = sorted(set(outputs))
        every = or_(*(eq(first, Num(value)) for value in listed))
        demand(asks, Obligation(known, every, "the outputs are all that there are", judgment.line, "pointwise"))
        spent["delta"] = mul(Num(len(listed)), spent["delta"])
    return made(
        context=context, left=judgment.left, right=judgment.right, pre=pre,
        post=clause(eq(first, second), "both runs have the same output", judgment.line), rule="pointwise",
        line=judgment.line, premises=(judgment,), budget=spent,
    )  # fmt: skip


def _check_before(pre: Assertion, spent: Mapping[str, Term], post: Assertion) -> None:
    if names_cost(pre):
        raise ParameterError("apart from cost == 0, the pre-condition may not speak of cost")
    used = {var for entry in pre for var in variables(entry.term)}
    used |= {var for amount in spent.values() for var in variables(amount)}
    if RESULT in used:
        raise ParameterError(f"the pre-condition and the budget must not speak of {RESULT}: they hold for all outputs")
    if any(is_drawn(var) for entry in post for var in variables(entry.term)):
        raise ParameterError("the post-condition speaks of drawn values, which cannot stand in a hypothesis")
