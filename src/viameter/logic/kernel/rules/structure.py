"""Rules of the deterministic part: skip, assignment, append, sequence, conditional."""

from __future__ import annotations

from collections.abc import Mapping

from viameter.errors import ParameterError
from viameter.logic.kernel.assertion import Assertion, clause, conjunction, under
from viameter.logic.kernel.before import before_append, before_assign
from viameter.logic.kernel.context import Context
from viameter.logic.kernel.judgment import Judgment, made
from viameter.logic.lang.core import Append, Assign, Block, If
from viameter.logic.lang.terms import Term, add, eq, not_


def skip(context: Context, post: Assertion) -> Judgment:
    """|- skip ~ skip : Q => Q.

    Sound: the unit measure on (m1, m2, ghosts) is both witnesses.
    """
    return made(context=context, left=Block(), right=Block(), pre=post, post=post, rule="skip")


def assign(context: Context, statement: Assign, post: Assertion) -> Judgment:
    """|- x := e ~ x := e : Q[e<1>/x<1>, e<2>/x<2>] => Q.

    Sound: both witnesses are the unit measure on the two changed memories.
    """
    block = Block((statement,))
    pre = before_assign(context, statement, post)
    return made(context=context, left=block, right=block, pre=pre, post=post, rule="assign", line=statement.at)


def assign_one(context: Context, statement: Assign, post: Assertion, *, side: int) -> Judgment:
    """|- x := e ~ skip : Q[e<1>/x<1>] => Q, or the same in the second run alone."""
    _check_side(side)
    pre = before_assign(context, statement, post, (side,))
    return _one_sided(context, statement, pre, post, side, "assign-one")


def append(context: Context, statement: Append, post: Assertion) -> Judgment:
    """|- append(out, e) ~ append(out, e) : Q[same and e<1> == e<2> / same] => Q.

    Sound: the ghost stays below "the lists are equal": equal lists with equal values appended are equal.
    """
    block = Block((statement,))
    pre = before_append(context, statement, post)
    return made(context=context, left=block, right=block, pre=pre, post=post, rule="append", line=statement.at)


def append_one(context: Context, statement: Append, post: Assertion, *, side: int) -> Judgment:
    """|- append(out, e) ~ skip : Q[false / same] => Q: nothing is known of lists that only one run appends to."""
    _check_side(side)
    pre = before_append(context, statement, post, (side,))
    return _one_sided(context, statement, pre, post, side, "append-one")


def _check_side(side: int) -> None:
    if side not in (1, 2):
        raise ParameterError(f"side={side!r}: a rule for one run is for the first or the second, 1 or 2")


def _one_sided(
    context: Context, statement: Assign | Append, pre: Assertion, post: Assertion, side: int, rule: str
) -> Judgment:
    block = Block((statement,))
    left, right = (block, Block()) if side == 1 else (Block(), block)
    return made(context=context, left=left, right=right, pre=pre, post=post, rule=rule, line=statement.at)


def seq(first: Judgment, second: Judgment) -> Judgment:
    """From |-_b c1 ~ c2 : P => R and |-_b' c1' ~ c2' : R => S: |-_{b+b'} c1; c1' ~ c2; c2' : P => S.

    Sound: witnesses of the second, started in each triple that the first ends in, are multiplied into it. Budgets add,
    ghosts telescope, and delta is at most the sum since the first's excess is carried along by a probability.
    """
    if first.context is not second.context:
        raise ParameterError("the two judgments have different contexts")
    if first.post != second.pre:
        raise ParameterError("the first judgment must end in what the second begins with; use consequence between them")
    return made(
        context=first.context,
        left=Block((*first.left, *second.left)),
        right=Block((*first.right, *second.right)),
        pre=first.pre,
        post=second.post,
        rule="seq",
        line=first.line,
        premises=(first, second),
        budget=added(first.budget, second.budget),
    )


def added(one: Mapping[str, Term], other: Mapping[str, Term]) -> dict[str, Term]:
    """The sum of two budgets."""
    total: dict[str, Term] = dict(one)
    for base, amount in other.items():
        total[base] = add(total[base], amount) if base in total else amount
    return total


def cond(left: If, right: If, then: Judgment, orelse: Judgment) -> Judgment:
    """From judgments of both branches: if b then .. ~ if b' then .. : (b<1> == b'<2>, b<1> => P, not b<1> => P') => Q.

    Both branches must end in the same Q and spend the same budget (weaken one by consequence).
    """
    context = then.context
    _same_end(then, orelse)
    if (then.left, then.right, orelse.left, orelse.right) != (left.then, right.then, left.orelse, right.orelse):
        raise ParameterError("the judgments are not about the branches of these conditionals")
    first, second = context.run(left.test, 1), context.run(right.test, 2)
    pre = conjunction((
        *clause(eq(first, second), "both runs take the same branch", left.at),
        *under(first, then.pre),
        *under(not_(first), orelse.pre),
    ))  # fmt: skip
    return made(
        context=context, left=Block((left,)), right=Block((right,)), pre=pre, post=then.post, rule="cond",
        line=left.at, premises=(then, orelse), budget=then.budget,
    )  # fmt: skip


def cond_one(statement: If, then: Judgment, orelse: Judgment, *, side: int) -> Judgment:
    """The conditional in one run alone: from |- then ~ c : P => Q and |- else ~ c : P' => Q."""
    _check_side(side)
    context = then.context
    _same_end(then, orelse)
    mine, theirs = ("left", "right") if side == 1 else ("right", "left")
    if (getattr(then, mine), getattr(orelse, mine)) != (statement.then, statement.orelse):
        raise ParameterError("the judgments are not about the branches of this conditional")
    if getattr(then, theirs) != getattr(orelse, theirs):
        raise ParameterError("the other run must do the same in both judgments")
    test = context.run(statement.test, side)
    pre = conjunction((*under(test, then.pre), *under(not_(test), orelse.pre)))
    block, other = Block((statement,)), getattr(then, theirs)
    left, right = (block, other) if side == 1 else (other, block)
    return made(
        context=context, left=left, right=right, pre=pre, post=then.post, rule="cond-one",
        line=statement.at, premises=(then, orelse), budget=then.budget,
    )  # fmt: skip


def _same_end(then: Judgment, orelse: Judgment) -> None:
    if then.context is not orelse.context:
        raise ParameterError("the two judgments have different contexts")
    if then.post != orelse.post:
        raise ParameterError("the branches end in different assertions; use consequence to make them the same")
    if dict(then.budget) != dict(orelse.budget):
        raise ParameterError("the branches spend different budgets; use consequence to weaken the smaller one")
