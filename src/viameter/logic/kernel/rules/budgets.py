"""Fixed budgets and the ghost: moving one into the other, and the loop with a budget for each iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from viameter.errors import ParameterError
from viameter.logic.kernel.assertion import Assertion, Clause, clause, conjunction, terms, with_values
from viameter.logic.kernel.context import Context, cost
from viameter.logic.kernel.judgment import Asks, Judgment, Obligation, demand, made
from viameter.logic.kernel.rules.fixed import check_budget, names_cost, new_counter
from viameter.logic.kernel.rules.structure import added
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.lang.core import Block, While
from viameter.logic.lang.terms import ONE, ZERO, Num, Term, Var, add, eq, le, lt, not_, substitute, variables


def charge(judgment: Judgment) -> Judgment:
    """From |-_b c1 ~ c2 : P => Q: |-_0 c1 ~ c2 : P[cost + b / cost] => Q.

    Sound: let P hold once b is added to the ghosts g. The premise, started there, has mu_L <= exp(cost' - (cost + b) +
    b) mu_R + d = exp(cost' - cost) mu_R + d, and likewise for what d may be. Side condition: b is fixed, so that it has
    the same value in all memories.
    """
    context = judgment.context
    check_budget(context, judgment.budget)
    values: dict[Var, Term] = {cost(base): add(cost(base), amount) for base, amount in judgment.budget.items()}
    return made(
        context=context, left=judgment.left, right=judgment.right, pre=with_values(judgment.pre, values),
        post=judgment.post, rule="charge", line=judgment.line, premises=(judgment,),
    )  # fmt: skip


def settle(judgment: Judgment, budget: Mapping[str, Term]) -> Judgment:
    """From |-_a c1 ~ c2 : P, cost == 0 => Q, cost <= b (for every base): |-_{a+b} c1 ~ c2 : P => Q.

    Sound: start the premise with the ghosts set to 0; what it ends in has mu_L <= exp(cost' + a) mu_R + d with
    cost' <= b on every path. Forget the new ghosts and put the old ones back: an inequality between measures with a
    constant factor survives that (and so do Renyi divergences). Then nothing is spent by ghosts any more.
    Side conditions: b is fixed; P and Q do not speak of cost otherwise; the post-condition bounds *every* base that
    the context counts, by 0 where `budget` does not name it.
    """
    context = judgment.context
    check_budget(context, budget)
    check_budget(context, judgment.budget)
    zeros = {eq(cost(base), ZERO) for base in context.units}
    bounds = {base: le(cost(base), budget.get(base, ZERO)) for base in context.units}
    said = set(terms(judgment.post))
    missing = sorted(base for base, bound in bounds.items() if bound not in said)
    if missing:
        raise ParameterError(
            f"the judgment does not end in a bound on the cost in {', '.join(missing)}: expected the clauses "
            + ", ".join(str(bounds[base]) for base in missing)
        )
    pre = tuple(entry for entry in judgment.pre if entry.term not in zeros)
    post = tuple(entry for entry in judgment.post if entry.term not in bounds.values())
    if names_cost(pre) or names_cost(post):
        raise ParameterError("apart from cost == 0 before and cost <= b after, nothing may be said about cost")
    spent = {base: amount for base, amount in budget.items() if amount != ZERO}
    return made(
        context=context, left=judgment.left, right=judgment.right, pre=pre, post=post, rule="settle",
        line=judgment.line, premises=(judgment,), budget=added(judgment.budget, spent),
    )  # fmt: skip


def iteration(
    context: Context, loops: tuple[While, While], invariant: Assertion, variant: Term, count: Term
) -> tuple[Assertion, Assertion]:
    """What holds before and after the iteration that begins with the variant at `count`."""
    left, right = loops
    first, second = context.run(left.test, 1), context.run(right.test, 2)
    value, line = context.run(variant, 1), left.at
    before = conjunction((*invariant, Clause(first), Clause(second), Clause(eq(value, count))))
    after = conjunction((
        *invariant,
        *clause(eq(first, second), "both runs go round the loop together", line),
        *clause(lt(value, count), "the variant decreases", line),
    ))  # fmt: skip
    return before, after


def awhile(
    asks: Asks,
    left: While,
    right: While | None = None,
    *,
    invariant: Assertion,
    variant: Term,
    most: int,
    body: Judgment | Callable[[int], Judgment],
) -> Judgment:
    """The loop of the slides with a budget b_k for the iteration that begins with the variant e<1> at k.

    From I, e<1> <= 0 |= not b1<1>, and for k = 1, ..., n
    |-_{b_k} c1 ~ c2 : I, b1<1>, b2<2>, e<1> == k => I, b1<1> == b2<2>, e<1> < k, conclude
    |-_{b_1 + ... + b_n} while b1 do c1 ~ while b2 do c2 : I, b1<1> == b2<2>, e<1> <= n => I, not b1<1>, not b2<2>.

    `body` gives the judgment for each k, or is one judgment with the logical constant `counter(left.at)` for k.
    Sound: by induction on j, from e<1> <= j the loops are within b_1 + ... + b_j. If the guards are false nothing is
    spent, which is at most that since no b_k is negative. Else e<1> is some k with 1 <= k <= j, one iteration is within
    b_k and ends with e<1> <= k - 1, as e is an integer, with guards that agree; the rest is within b_1 + ... + b_{k-1}.
    The variant must go *down*: printed as `k < e<1>` the rule would let the loop go on past n at no cost.
    Side conditions: n is a number; b_k is fixed and at least 0; I does not speak of the logical constant for k.
    """
    right = left if right is None else right
    context, symbol = asks.context, new_counter(asks.context, left.at)
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise ParameterError(f"most={most!r}: expected how often the loop may go round, a number of at least 0")
    if any(symbol in variables(entry.term) for entry in invariant):
        raise ParameterError(f"line {left.at}: the invariant speaks of {symbol}, which differs between iterations")
    test, value = context.run(left.test, 1), context.run(variant, 1)
    ends = Obligation(
        (*terms(invariant), le(value, ZERO)), not_(test), "a variant of 0 ends the loop", left.at, "awhile"
    )
    demand(asks, ends)
    premises: list[Judgment] = []
    total: dict[str, Term] = {}
    for count, given, limits in _iterations(body, symbol, most):
        if given.context is not context or (given.left, given.right) != (left.body, right.body):
            raise ParameterError("the judgment is not about the loops' bodies in this context")
        check_budget(context, given.budget)
        before, after = iteration(context, (left, right), invariant, variant, count)
        premises.append(consequence(asks, given, pre=conjunction((*before, *limits)), post=after))
    for k in range(1, most + 1):
        given = premises[0] if isinstance(body, Judgment) else premises[k - 1]
        spent = {base: substitute(amount, {symbol: Num(k)}) for base, amount in given.budget.items()}
        for base, amount in spent.items():
            what = f"the budget of {base} for {k} is not negative"
            demand(asks, Obligation((), le(ZERO, amount), what, left.at, "awhile"))
        total = added(total, spent)
    other = context.run(right.test, 2)
    pre = conjunction((*invariant, *clause(eq(test, other)), *clause(le(value, Num(most)))))
    done = "the loop has ended"
    post = conjunction((*invariant, *clause(not_(test), done, left.at), *clause(not_(other), done, left.at)))
    return made(
        context=context, left=Block((left,)), right=Block((right,)), pre=pre, post=post, rule="awhile", line=left.at,
        premises=tuple(premises), budget=total, notes={"variant": str(variant), "most": str(most)},
    )  # fmt: skip


def _iterations(
    body: Judgment | Callable[[int], Judgment], symbol: Var, most: int
) -> Iterable[tuple[Term, Judgment, Assertion]]:
    if isinstance(body, Judgment):
        yield symbol, body, (Clause(le(ONE, symbol)), Clause(le(symbol, Num(most))))
        return
    for k in range(1, most + 1):
        yield Num(k), body(k), ()
