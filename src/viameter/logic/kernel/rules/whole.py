"""The end of a hand-written proof: a judgment about a whole program that says what its claim says."""

from __future__ import annotations

from viameter.errors import ParameterError
from viameter.logic.kernel.assertion import clause
from viameter.logic.kernel.context import cost, same
from viameter.logic.kernel.derive import bounds_of, demand_factors, start
from viameter.logic.kernel.judgment import Asks, Judgment
from viameter.logic.kernel.rules.fixed import check_budget, is_still
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.lang.scales import Amount
from viameter.logic.lang.terms import ZERO, Var, eq


def concluded(asks: Asks, judgment: Judgment, claim: Amount) -> Judgment:
    """From |-_b body ~ body : P => Q, if start => P, Q => equal outputs, b <= claim: |-_claim body ~ body : start => =.

    Side conditions: it is about the program's own body on both sides; nothing is spent by ghosts, so that b is all that
    is spent; every factor of a scale is positive by what the program requires alone, which all obligations of the
    proof took for known; the claim is a sum of terms none of which can be negative.
    """
    context = asks.context
    body = context.program.body
    if (judgment.left, judgment.right) != (body, body):
        raise ParameterError("the judgment is not about the program's body in both runs")
    if not is_still(judgment):
        raise ParameterError("the judgment spends by ghosts, which its budget does not show; settle it")
    if "rho" in context.units and len(context.units) > 1:
        raise ParameterError("concentrated cost (rho) stands alone")
    check_budget(context, judgment.budget)
    demand_factors(asks, claim)
    zeros = {eq(cost(base), ZERO) for base in context.units}
    before = tuple(entry for entry in start(context) if entry.term not in zeros)
    output = context.program.output
    first, second = Var(output.name, output.sort, 1), Var(output.name, output.sort, 2)
    equal = same(output) if output.sort == "list" else eq(first, second)
    after = clause(equal, "both runs have the same output")
    return consequence(asks, judgment, pre=before, post=after, budget=bounds_of(context, claim))
