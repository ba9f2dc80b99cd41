"""Advanced composition: a loop whose body is private in both directions costs less than its iterations together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from viameter.arith import Number, dyadic, probability
from viameter.composition.accounting.kov import optimal_epsilon
from viameter.errors import NoTheorem, ParameterError
from viameter.logic.kernel.assertion import Assertion, Clause, clause, conjunction, terms
from viameter.logic.kernel.context import Context, same
from viameter.logic.kernel.judgment import Asks, Judgment, Obligation, demand, made
from viameter.logic.kernel.rules.amounts import numbers_of, plain_budget
from viameter.logic.kernel.rules.budgets import iteration
from viameter.logic.kernel.rules.fixed import Budget, check_budget, check_relational, is_still, new_counter
from viameter.logic.kernel.rules.moves import reads, writes
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.lang.core import Assign, Block, Sample, While, assigned
from viameter.logic.lang.scales import logarithm_of
from viameter.logic.lang.terms import ZERO, Num, Term, Var, eq, le, not_, substitute, variables


def advanced(
    asks: Asks,
    back: Asks,
    loop: While,
    *,
    invariant: Assertion,
    variant: Term,
    most: int,
    there: Judgment,
    again: Judgment,
    delta: Number,
) -> Judgment:
    """A loop of at most n iterations, each (e, d)-private both ways on a public state: (e*, delta) by the optimum.

    Let S be the variables that the loop writes, without those that every iteration writes before it reads them. From
    |-_{e, d} c ~ c : I, S<1> == S<2>, b, r<1> == k => I, S<1> == S<2>, r<1> < k in the context of `asks`, and the same
    for the relation read from the second run to the first in that of `back`, conclude
    |-_{e*, delta} while b do c ~ while b do c : I, S<1> == S<2>, r<1> <= n, r<2> <= n => I, S<1> == S<2>, not b.

    Sound: while the state s is the same in both runs, an iteration is a mechanism that is chosen by s; its two laws of
    the next state are (e, d)-close *both ways* by the two premises, which also say that I holds of every next state
    that either run can have, and that r decreases in either: there are at most n iterations in both. By
    homogeneous-optimum-epsilon all states together, and so the last one, are (e*, delta)-close, and equality is a
    coupling of them.
    With one direction alone the theorem is false: P <= e^0.1 Q, 100 times, may have a delta of 0.975 at e^6.31.
    Side conditions: the premises spend nothing by ghosts; `back` has the relation of `asks` swapped, and the same
    program and units; I speaks of the state and of what the loop does not change; the guards agree and r <= 0 ends the
    loop, in both contexts.
    """
    context, total = asks.context, probability(delta, name="delta")
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ParameterError(f"most={most!r}: expected how often the loop may go round, at least 1")
    _check_swapped(context, back.context)
    for var in (var for entry in invariant for var in variables(entry.term)):
        if var == new_counter(context, loop.at) or var.name in scratch(loop):
            raise ParameterError(f"line {loop.at}: the invariant speaks of {var}, which is another in every iteration")
    for entry in invariant:
        check_relational(context, entry.term, "the invariant", ghosts=False)
    known = conjunction((*invariant, *_equal(loop)))
    ways = (
        _direction(asks, loop, known, variant, there),
        _direction(back, loop, tuple(replace(c, term=_swapped(c.term)) for c in known), variant, again),
    )
    costs = [_epsilon_and_delta(way.context, way.budget) for way in ways]
    epsilon, each = max(cost[0] for cost in costs), max(cost[1] for cost in costs)
    best = optimal_epsilon(epsilon, count=most, delta=total, each_delta=each)
    if not isinstance(best, Fraction | int):
        raise NoTheorem(f"{most} iterations of delta = {each} have more than {total} together, whatever epsilon")
    tests = [context.run(loop.test, side) for side in (1, 2)]
    enough = [
        c for side in (1, 2) for c in clause(le(context.run(variant, side), Num(most)), "the loop is short", loop.at)
    ]
    ended = [c for test in tests for c in clause(not_(test), "the loop has ended", loop.at)]
    block = Block((loop,))
    return made(
        context=context, left=block, right=block, pre=conjunction((*known, *enough)),
        post=conjunction((*known, *ended)), rule="advanced", line=loop.at, premises=ways,
        budget={**plain_budget(context, "1", Fraction(best)), **plain_budget(context, "delta", total)},
        notes={"most": str(most), "each": f"{epsilon}, {each}"},
    )  # fmt: skip


def scratch(loop: While) -> set[str]:
    """The names that every iteration writes before it reads them: what they were before does not matter."""
    found: set[str] = set()
    seen = {var.name for var in variables(loop.test)}
    for statement in loop.body:
        if isinstance(statement, Assign | Sample) and statement.target.name not in seen | reads(statement):
            found.add(statement.target.name)
        seen |= reads(statement) | writes(statement)
    return found


def _equal(loop: While) -> Assertion:
    gone = scratch(loop)
    state = sorted((var for var in assigned(loop.body) if var.name not in gone), key=lambda var: var.name)
    return tuple(
        Clause(same(var) if var.sort == "list" else eq(Var(var.name, var.sort, 1), Var(var.name, var.sort, 2)))
        for var in state
    )


def _direction(asks: Asks, loop: While, known: Assertion, variant: Term, body: Judgment) -> Judgment:
    context, count = asks.context, new_counter(asks.context, loop.at)
    if body.context is not context or (body.left, body.right) != (loop.body, loop.body):
        raise ParameterError("the judgment is not about the loop's body in its context; each direction has its own")
    if not is_still(body):
        raise ParameterError("the judgment spends by ghosts; settle it")
    if {var.name for var in variables(variant)} & scratch(loop):
        raise ParameterError(f"line {loop.at}: the variant speaks of what every iteration writes anew")
    first, second, value = context.run(loop.test, 1), context.run(loop.test, 2), context.run(variant, 1)
    hold = terms(known)
    demand(asks, Obligation(hold, eq(first, second), "both runs go round the loop together", loop.at, "advanced"))
    demand(asks, Obligation((*hold, le(value, ZERO)), not_(first), "a variant of 0 ends the loop", loop.at, "advanced"))
    before, after = iteration(context, (loop, loop), known, variant, count)
    return consequence(asks, body, pre=before, post=after)


def _check_swapped(one: Context, other: Context) -> None:
    wanted, found = one.neighbors.swapped(), other.neighbors
    same_relation = (
        wanted.private == found.private
        and set(wanted.facts) == set(found.facts)
        and set(wanted.each) == set(found.each)
        and set(wanted.constants) == set(found.constants)
    )
    if not same_relation:
        raise ParameterError(
            "both directions are needed: `back` must have the relation read from the second run to the first, "
            "neighbors.swapped()"
        )
    if one.program is not other.program or dict(one.units) != dict(other.units):
        raise ParameterError("both directions must be about the same program, in the same units")


def _swapped(term: Term) -> Term:
    return substitute(term, {var: Var(var.name, var.sort, 3 - var.side) for var in variables(term) if var.side})


def _epsilon_and_delta(context: Context, budget: Budget) -> tuple[Fraction, Fraction]:
    check_budget(context, budget)
    epsilon, delta = Fraction(0), Fraction(0)
    for base, amount in numbers_of(context, budget).items():
        logarithm = logarithm_of(base)
        if amount < 0:
            raise ParameterError(f"the budget of {base!r} is negative")
        if base == "delta":
            delta = amount
        elif base == "1":
            epsilon += amount
        elif logarithm is not None:
            epsilon += amount * dyadic.log_up(logarithm)
        else:
            raise NoTheorem(f"the optimum is for numbers, and {base!r} is none: expected a budget in '1' or ln(r)")
    return epsilon, delta
