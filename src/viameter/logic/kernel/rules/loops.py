"""The rule of while with an invariant that may speak of the ghost cost, and a variant that shows termination."""

from __future__ import annotations

from viameter.errors import ParameterError
from viameter.logic.kernel.assertion import Assertion, Clause, clause, conjunction, terms
from viameter.logic.kernel.context import check_speaks
from viameter.logic.kernel.judgment import Asks, Judgment, Obligation, demand, made
from viameter.logic.lang.core import Block, While
from viameter.logic.lang.terms import ONE, Term, Var, and_, eq, le, lt, not_, variables


def remembered(line: int) -> tuple[Var, Var]:
    """The logical constants that hold the variant's value before an iteration, in each run."""
    return Var(f"before.{line}.left"), Var(f"before.{line}.right")


def body_post(context_run: tuple[Term, Term], line: int, invariant: Assertion) -> Assertion:
    """What the body must end in: the invariant again, and a smaller variant in each run."""
    decreases = "the loop comes to an end: its variant decreases"
    return conjunction((
        *invariant,
        *(
            Clause(lt(after, before), decreases, line)
            for after, before in zip(context_run, remembered(line), strict=True)
        ),
    ))  # fmt: skip


def obligations_of(
    asks: Asks, loop: While, invariant: Assertion, variant: Term, before: Assertion
) -> tuple[Obligation, ...]:
    """What the rule demands, where `before` must hold for the body to end in `body_post`."""
    context, line = asks.context, loop.at
    first, second = context.run(loop.test, 1), context.run(loop.test, 2)
    known = terms(invariant)
    runs = (context.run(variant, 1), context.run(variant, 2))
    inside = (*known, first, second)
    fixed = tuple(eq(run, held) for run, held in zip(runs, remembered(line), strict=True))
    return (
        Obligation(known, eq(first, second), "both runs go round the loop together", line, "while"),
        Obligation(
            inside, and_(*(le(ONE, run) for run in runs)), "the loop's variant is positive while it runs", line, "while"
        ),
        *(Obligation((*inside, *fixed), c.term, c.what, c.line or line, "while") for c in before),
    )


def while_(asks: Asks, loop: While, invariant: Assertion, variant: Term, body: Judgment) -> Judgment:
    """From |- body ~ body : I, b<1>, b<2>, r = r0 => I, r < r0 (in both runs): while ~ while : I => I, not b.

    Requires I => b<1> == b<2>, and I and b => r >= 1: then a run goes round at most r times, whatever is drawn, and
    every path of the product ends. `body` may have any pre-condition that follows from the invariant and the tests.
    Sound: unroll; the witnesses of one iteration are multiplied into those of the ones before, ghosts telescope.
    The printed rule of the slides lets the variant grow (`k < e`), which does not bound the number of iterations.
    """
    context, line = asks.context, loop.at
    if body.context is not context or (body.left, body.right) != (loop.body, loop.body):
        raise ParameterError("the judgment is not about the loop's body")
    if body.budget:
        raise ParameterError("the body spends a fixed budget: charge it to the ghost, or use the rule with budgets")
    for entry in invariant:
        check_speaks(context, entry.term, ghosts=True, where=f"line {line}")
        if variables(entry.term) & set(remembered(line)):
            raise ParameterError(f"line {line}: the invariant speaks of the variant's remembered value")
    for side in (1, 2):
        check_speaks(context, context.run(variant, side), ghosts=False, where=f"line {line}")
    if body.post != body_post((context.run(variant, 1), context.run(variant, 2)), line, invariant):
        raise ParameterError("the body must end in the invariant with a smaller variant")
    for obligation in obligations_of(asks, loop, invariant, variant, body.pre):
        demand(asks, obligation)
    tests = (context.run(loop.test, 1), context.run(loop.test, 2))
    post = conjunction((*invariant, *(c for test in tests for c in clause(not_(test), "the loop has ended", line))))
    block = Block((loop,))
    return made(
        context=context, left=block, right=block, pre=invariant, post=post, rule="while", line=line, premises=(body,),
        notes={"invariant": "; ".join(str(entry) for entry in invariant), "variant": str(variant)},
    )  # fmt: skip
