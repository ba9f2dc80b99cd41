"""Cases and frames: a proof for either of two cases, and facts that a judgment does not touch."""

from __future__ import annotations

from viameter.errors import ParameterError
from viameter.logic.kernel.assertion import Assertion, conjunction, under
from viameter.logic.kernel.judgment import Judgment, made
from viameter.logic.kernel.rules.fixed import check_relational, is_cost, is_drawn, is_still, why_changed
from viameter.logic.lang.terms import Term, not_, show, sort_of, variables


def case(test: Term, yes: Judgment, no: Judgment) -> Judgment:
    """From |-_b c1 ~ c2 : P => Q and |-_b c1 ~ c2 : P' => Q: |-_b c1 ~ c2 : (F => P, not F => P') => Q.

    With P = R and F, P' = R and not F this is the rule of cases on paper: consequence makes R of the pre-condition.
    Sound: F speaks of the memories before, so that it holds or not of each pair of them; the witnesses of one premise
    or of the other serve. Side conditions: the same blocks, the same Q, the same budget; F has no drawn value in it,
    which would make it hold for some draws and not for others.
    """
    context = yes.context
    if no.context is not context:
        raise ParameterError("the two judgments have different contexts")
    if (yes.left, yes.right) != (no.left, no.right):
        raise ParameterError("the two judgments are about different programs")
    if yes.post != no.post or dict(yes.budget) != dict(no.budget):
        raise ParameterError("both cases must end in the same assertion within the same budget; use consequence")
    check_relational(context, test, "the case", ghosts=True)
    if sort_of(test) != "bool":
        raise ParameterError(f"the case {show(test)} is no truth value")
    return made(
        context=context, left=yes.left, right=yes.right, rule="case", line=yes.line, premises=(yes, no),
        pre=conjunction((*under(test, yes.pre), *under(not_(test), no.pre))), post=yes.post, budget=yes.budget,
        notes={"case": show(test)},
    )  # fmt: skip


def frame(judgment: Judgment, kept: Assertion) -> Judgment:
    """From |-_b c1 ~ c2 : P => Q, if neither side changes what F speaks of: |-_b c1 ~ c2 : P, F => Q, F.

    Sound: every rule's witnesses live on memories that agree with those before on all variables that c1, or c2, does
    not assign, and on the ghost of every list that is not appended to; so F stays true where it was true.
    Side conditions: x<1> is not assigned by c1, nor x<2> by c2; no drawn values. F may speak of the ghost cost only if
    nothing is spent by ghosts.
    """
    for entry in kept:
        for var in variables(entry.term):
            why = why_changed(var, judgment.left, judgment.right)
            if not why and is_cost(var) and not is_still(judgment):
                why = "it is spent"
            if why or is_drawn(var):
                raise ParameterError(f"{entry} cannot be kept: it speaks of {var}, and {why}")
    return made(
        context=judgment.context, left=judgment.left, right=judgment.right, rule="frame", line=judgment.line,
        pre=conjunction((*judgment.pre, *kept)), post=conjunction((*judgment.post, *kept)),
        premises=(judgment,), budget=judgment.budget,
    )  # fmt: skip
