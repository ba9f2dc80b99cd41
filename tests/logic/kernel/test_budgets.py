"""Fixed budgets and ghosts: charge, settle, and the loop with a budget for each iteration."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.logic.kernel.enumerator import World, excess
from tests.logic.kernel.proving import amount, facts, oracle, program, term

from viameter.errors import ParameterError
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.context import Context
from viameter.logic.kernel.judgment import Asks, Judgment, Obligation, Unproved, demand, made
from viameter.logic.kernel.rules import budgets
from viameter.logic.kernel.rules.budgets import awhile, charge, settle
from viameter.logic.kernel.rules.casing import frame
from viameter.logic.kernel.rules.fixed import counter, is_still, new_counter
from viameter.logic.kernel.rules.laplace_rules import laplace_general, laplace_simple
from viameter.logic.kernel.rules.sampling import sample
from viameter.logic.kernel.rules.structure import append, assign, assign_one, cond, seq, skip
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.kernel.rules.whole import concluded
from viameter.logic.lang.core import Append, Assign, Sample, While
from viameter.logic.lang.terms import ONE, ZERO, Num, Term, Var, eq, le, lt, not_
from viameter.logic.solving.oracle import Oracle


def noise(claim: str = "eps", scale: str = "1/eps") -> tuple[Oracle, Sample]:
    asks = oracle(program(f"r :=$ lap({scale}, q)"), claim)
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, Sample)
    return asks, statement


def test_a_budget_goes_into_the_ghost_and_comes_out_again() -> None:
    asks, statement = noise("1/3*eps + ln(2)")
    fixed = laplace_simple(asks.context, statement)
    units = asks.context.units["eps"].number
    assert dict(fixed.budget) == {"eps": Num(units)} and is_still(fixed)
    kept = facts(asks, f"cost.eps <= {units}", "cost.ln(2) <= 0")
    charged = charge(frame(fixed, kept))
    assert not charged.budget and not is_still(charged)
    assert charged.pre == facts(asks, "abs(q<1> - q<2>) <= 1", f"cost.eps + {units} <= {units}", "cost.ln(2) <= 0")
    started = consequence(asks, charged, pre=facts(asks, "cost.eps == 0", "cost.ln(2) == 0"))
    settled = settle(started, {"eps": Num(units)})
    assert (settled.pre, settled.post, dict(settled.budget)) == ((), fixed.post, dict(fixed.budget))
    assert is_still(settled) and concluded(asks, settled, amount(asks.context.program, "eps")).post == fixed.post


def test_what_statements_spend_one_after_another_adds_up() -> None:
    asks = oracle(program("x :=$ lap(1/eps, q)", "r :=$ lap(1/eps, 2*q)"), "3*eps")
    first, second = asks.context.program.body.statements
    assert isinstance(first, Sample) and isinstance(second, Sample)
    near = facts(asks, "abs(q<1> - q<2>) <= 1")
    one = laplace_general(asks.context, first, distance=ONE)
    two = laplace_general(asks.context, second, distance=Num(2))
    both = seq(consequence(asks, one, pre=near, post=two.pre), two)
    assert dict(both.budget) == {"eps": Num(3)}
    with pytest.raises(Unproved, match="large enough"):
        concluded(asks, both, amount(asks.context.program, "2*eps"))
    # Part of it by ghosts, and part by a fixed budget.
    kept = facts(asks, "cost.eps <= 1")
    ghost = sample(asks.context, first, Choice(), (*two.pre, *kept))
    settled = settle(consequence(asks, seq(ghost, frame(two, kept)), pre=facts(asks, "cost.eps == 0")), {"eps": ONE})
    assert dict(settled.budget) == {"eps": Num(3)}


def test_what_the_rules_of_sampling_spend_is_settled_to_the_same_judgment() -> None:
    asks, statement = noise()
    within = facts(asks, "r<1> == r<2>", "cost.eps <= 1")
    ghost = consequence(asks, sample(asks.context, statement, Choice(), within), pre=facts(asks, "cost.eps == 0"))
    settled = settle(ghost, {"eps": ONE})
    assert (settled.pre, settled.post, dict(settled.budget)) == ((), within[:1], {"eps": ONE})


def test_a_judgment_that_forgets_what_ghosts_spend_says_nothing_about_cost() -> None:
    """|-_0 r :=$ lap(1/eps, q) : true => r<1> == r<2> is valid, as the ghost may be anything afterwards."""
    asks, statement = noise()
    forgets = sample(asks.context, statement, Choice(), facts(asks, "r<1> == r<2>"))
    assert (forgets.pre, dict(forgets.budget)) == ((), {}) and not is_still(forgets)
    with pytest.raises(ParameterError, match="settle"):
        concluded(asks, forgets, amount(asks.context.program, "0*eps"))
    with pytest.raises(ParameterError, match=r"cost\.eps <= 0"):
        settle(forgets, {})
    with pytest.raises(ParameterError, match="spent"):
        frame(forgets, facts(asks, "cost.eps <= 0"))
    one, other = (World({"eps": (Fraction(2), 1)}).outputs(asks.context.program.body, {"q": q}, "r") for q in (0, 1))
    assert excess(one[0], other[0], Fraction(1)) > other[1] + Fraction(1, 5)


def test_nothing_is_known_of_the_ghosts_of_a_rule_that_is_not_known() -> None:
    asks, statement = noise()
    context, post = asks.context, facts(asks, "r<1> == r<2>")
    fields = {"context": context, "left": context.program.body, "right": context.program.body, "pre": (), "post": post}
    new = made(**fields, rule="a rule of tomorrow")
    assert not is_still(new) and not is_still(made(**fields, rule="seq", premises=(new,)))
    assert is_still(made(**fields, rule="settle", premises=(new,)))
    assert not is_still(sample(context, statement, Choice(), post)) and is_still(skip(context, post))
    coin = oracle(program("x :=$ uniform(0, 3)", "r := x"), "eps").context
    draw = coin.program.body.statements[0]
    assert isinstance(draw, Sample) and is_still(sample(coin, draw, Choice(), ()))


def test_settling_bounds_every_base_and_nothing_else_speaks_of_cost() -> None:
    asks, statement = noise("eps + ln(2)")
    short = [("r<1> == r<2>", "cost.eps <= 1"), ("cost.ln(2) <= 0",), ("cost.eps <= 2", "cost.ln(2) <= 0")]
    for post in short:
        with pytest.raises(ParameterError, match="does not end in a bound"):
            settle(sample(asks.context, statement, Choice(), facts(asks, *post)), {"eps": ONE})
    both = ("cost.eps <= 1", "cost.ln(2) <= 0")
    for more in ("cost.eps <= 0", "r<1> == cost.eps"):
        with pytest.raises(ParameterError, match="nothing may be said about cost"):
            settle(sample(asks.context, statement, Choice(), facts(asks, more, *both)), {"eps": ONE})
    less = facts(asks, "cost.eps == -9", "cost.ln(2) == 0")
    cheap = consequence(asks, sample(asks.context, statement, Choice(), facts(asks, *both)), pre=less)
    with pytest.raises(ParameterError, match="nothing may be said about cost"):
        settle(cheap, {"eps": ONE})
    odd = facts(asks, "cost.eps >= 0 or r<1> == 0", *both)
    started = consequence(
        asks, sample(asks.context, statement, Choice(), odd), pre=facts(asks, "cost.eps == 0", "cost.ln(2) == 0")
    )
    with pytest.raises(ParameterError, match="nothing may be said about cost"):
        settle(started, {"eps": ONE})
    for budget in ({"eps": Var("q", side=1)}, {"eps": Var("r", side=1)}, {"eps": Var("cost.eps")}, {"other": ONE}):
        with pytest.raises(ParameterError):
            settle(skip(asks.context, facts(asks, *both)), budget)


def test_whoever_concludes_shows_that_factors_are_positive() -> None:
    for requires, fine in (((), False), (("N >= 0",), False), (("N >= 1",), True)):
        made = program("r :=$ lap(N/eps, q)", inputs=("q: int", "N: int"), requires=requires)
        asks = oracle(made, "eps")
        draw = made.body.statements[0]
        assert isinstance(draw, Sample)
        judgment = laplace_general(asks.context, draw, distance=ONE)
        assert dict(judgment.budget) == {"eps": ONE}  # in units of eps/N
        if fine:
            assert concluded(asks, judgment, amount(made, "eps")).rule == "consequence"
        else:
            with pytest.raises(Unproved, match="positive"):
                concluded(asks, judgment, amount(made, "eps"))


def test_a_budget_that_depends_on_memories_is_not_charged() -> None:
    asks, _ = noise()
    for text in ("abs(r<1>)", "abs(q<1>)", "r<1>*r<2> + abs(r<1>*r<2>)"):
        loose = consequence(asks, skip(asks.context, ()), budget={"eps": term(asks, text)})
        with pytest.raises(ParameterError, match="depends on"):
            charge(loose)


def backwards(context: Context, statements: Any, post: Any) -> Judgment:
    """The judgment of straight code without noise, from its end."""
    found = skip(context, post)
    for statement in reversed(list(statements)):
        match statement:
            case Assign():
                step = assign(context, statement, found.pre)
            case Append():
                step = append(context, statement, found.pre)
            case _:
                raise AssertionError(statement)
        found = seq(step, found)
    return found


RELEASES = ("i := 0", "while i < {} do", "  x :=$ lap(1/eps, q)", "  append(r, x)", "  i := i + 1", "end")


def releases(times: str = "3", claim: str = "3*eps") -> tuple[Oracle, While]:
    asks = oracle(program(*(line.format(times) for line in RELEASES), inputs=("q: int", "t: int")), claim)
    loop = asks.context.program.body.statements[1]
    assert isinstance(loop, While)
    return asks, loop


def one_release(asks: Oracle, loop: While, distance: Term = ONE, variant: str = "3 - i") -> Callable[[Term], Judgment]:
    """The judgment of one iteration that begins with the variant at k."""

    def made(k: Term) -> Judgment:
        draw, *rest = loop.body
        assert isinstance(draw, Sample)
        before, after = budgets.iteration(asks.context, (loop, loop), invariant(asks), term(asks, variant), k)
        ends = backwards(asks.context, rest, after)
        begins = frame(laplace_general(asks.context, draw, distance=distance), before)
        return seq(consequence(asks, begins, post=ends.pre), ends)

    return made


def invariant(asks: Oracle) -> Any:
    return facts(asks, "i<1> == i<2>", "i<1> >= 0", "i<1> <= 3", "same.r")


@pytest.mark.parametrize("symbolic", [True, False])
def test_iterations_add_up_to_the_cost_of_the_loop(symbolic: bool) -> None:
    asks, loop = releases()
    body = one_release(asks, loop)
    given = body(counter(loop.at)) if symbolic else lambda k: body(Num(k))
    made = awhile(asks, loop, invariant=invariant(asks), variant=term(asks, "3 - i"), most=3, body=given)
    assert dict(made.budget) == {"eps": Num(3)}
    start = asks.context.program.body.statements[0]
    assert isinstance(start, Assign)
    whole = seq(assign(asks.context, start, made.pre), made)
    assert concluded(asks, whole, amount(asks.context.program, "3*eps")).post == facts(asks, "same.r")
    with pytest.raises(Unproved, match="large enough"):
        concluded(asks, whole, amount(asks.context.program, "2*eps"))
    world = World({"eps": (Fraction(2), 1)}, window=3)
    one, other = (world.outputs(asks.context.program.body, {"q": q, "t": 0}, "r")[0] for q in (0, 1))
    assert one[0, 0, 0] == 8 * other[0, 0, 0]


def test_too_few_iterations_are_not_enough() -> None:
    """With most = 2 the loop of three iterations is not within the rule: its variant begins at 3."""
    asks, loop = releases()
    body = one_release(asks, loop)
    made = awhile(
        asks, loop, invariant=invariant(asks), variant=term(asks, "3 - i"), most=2, body=lambda k: body(Num(k))
    )
    start = asks.context.program.body.statements[0]
    assert isinstance(start, Assign)
    with pytest.raises(Unproved):
        concluded(asks, seq(assign(asks.context, start, made.pre), made), amount(asks.context.program, "3*eps"))


@pytest.mark.parametrize(("variant", "fine"), [("i", False), ("3", False), ("0 - i", False), ("2 - i", False),
                                               ("3 - i", True), ("4 - i", True), ("6 - 2*i", True)])  # fmt: skip
def test_a_counted_loop_has_a_variant_that_ends_it(variant: str, fine: bool) -> None:
    asks, loop = releases()
    body = one_release(asks, loop, variant=variant)

    def attempt() -> Judgment:
        held, told = invariant(asks), term(asks, variant)
        return awhile(asks, loop, invariant=held, variant=told, most=6, body=lambda k: body(Num(k)))

    if fine:
        assert dict(attempt().budget) == {"eps": Num(6)}
    else:
        with pytest.raises(Unproved):
            attempt()


def bad_loop() -> tuple[Oracle, While]:
    made = program("i := 0", "while i < 2 do", "  if i == 1 then", "    r := q", "  end", "  i := i + 1", "end")
    asks = oracle(made, "0*eps")
    loop = made.body.statements[1]
    assert isinstance(loop, While)
    return asks, loop


def test_the_printed_rule_would_accept_a_loop_that_tells_its_input() -> None:
    """With e = i + 1, n = 1 and `k < e<1>` afterwards all premises hold, at no cost, and the conclusion does not."""
    asks, loop = bad_loop()
    holds = facts(asks, "i<1> == i<2>", "i<1> >= 0", "r<1> == r<2>")
    variant = term(asks, "i + 1")
    context = asks.context
    test, value = context.run(loop.test, 1), context.run(variant, 1)
    both = (*(entry.term for entry in holds), test, context.run(loop.test, 2), eq(value, ONE), le(value, ONE))
    first_premise = Obligation((*(entry.term for entry in holds), le(value, ZERO)), not_(test), "", 0, "")
    assert asks.ask(first_premise).holds
    # The body for k = 1, i.e. i = 0, changes i alone; the post-condition of the printed rule holds.
    after = (*facts(asks, "i<1> == i<2>", "i<1> >= 0", "r<1> == r<2>", "(i<1> < 2) == (i<2> < 2)"),)
    printed = [*(entry.term for entry in after), lt(ONE, value)]
    branch, step = loop.body
    assert isinstance(step, Assign)
    for goal in printed:
        moved = assign(context, step, (type(after[0])(goal),)).pre
        for entry in moved:
            assert asks.ask(Obligation(both, entry.term, "", 0, "")).holds
    assert not asks.ask(Obligation((), eq(Var("q", side=1), Var("q", side=2)), "", 0, "")).holds
    one, other = (World().outputs(context.program.body, {"q": q}, "r")[0] for q in (0, 1))
    assert excess(one, other, Fraction(1)) == 1
    # Ours refuses it: whatever is given for the body, the variant must be less than k afterwards.

    def body(k: int) -> Judgment:
        wanted = budgets.iteration(context, (loop, loop), holds, variant, Num(k))[1]
        ends = assign(context, step, wanted)
        then = branch.then.statements[0]  # type: ignore[union-attr]
        taken = cond(branch, branch, assign(context, then, ends.pre), skip(context, ends.pre))  # type: ignore[arg-type]
        return seq(taken, ends)

    with pytest.raises(Unproved, match="the variant decreases"):
        awhile(asks, loop, invariant=holds, variant=variant, most=1, body=body)
    with pytest.raises(Unproved):
        awhile(asks, loop, invariant=holds, variant=term(asks, "2 - i"), most=2, body=body)


def test_a_budget_of_an_iteration_is_not_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    """An iteration that never happens could pay for those that do."""
    asks, loop = releases("1", "eps")
    one = one_release(asks, loop, variant="1 - i")
    never = one_release(asks, loop, distance=Num(-5), variant="1 - i")

    def attempt() -> Judgment:
        return awhile(
            asks, loop, invariant=invariant(asks), variant=term(asks, "1 - i"), most=2,
            body=lambda k: one(Num(1)) if k == 1 else never(Num(2)),
        )  # fmt: skip

    with pytest.raises(Unproved, match="not negative"):
        attempt()

    def lenient(asked: Asks, obligation: Obligation) -> None:
        if "not negative" not in obligation.what:
            demand(asked, obligation)

    monkeypatch.setattr(budgets, "demand", lenient)
    assert dict(attempt().budget) == {"eps": Num(-4)}


def test_the_counted_loop_is_about_its_own_bodies_and_its_own_constant() -> None:
    asks, loop = releases()
    body, held, variant = one_release(asks, loop), invariant(asks), term(asks, "3 - i")
    symbol = counter(loop.at)
    with pytest.raises(ParameterError, match="bodies"):
        awhile(asks, loop, invariant=held, variant=variant, most=3, body=skip(asks.context, held))
    other, _ = releases()
    with pytest.raises(ParameterError):
        awhile(other, loop, invariant=held, variant=variant, most=3, body=body(symbol))
    for most in (-1, True, "3"):
        with pytest.raises(ParameterError):
            awhile(asks, loop, invariant=held, variant=variant, most=most, body=body(symbol))  # type: ignore[arg-type]
    speaks = (*held, type(held[0])(le(symbol, Num(9))))
    with pytest.raises(ParameterError, match="differs between iterations"):
        awhile(asks, loop, invariant=speaks, variant=variant, most=3, body=body(symbol))
    with pytest.raises(ParameterError, match=r"count\."):
        oracle(asks.context.program, "3*eps", f"{symbol} == 2", constants=(symbol.name,))
    with pytest.raises(ParameterError, match="constant of the adjacency"):
        new_counter(replace_constants(asks.context, symbol.name), loop.at)


def replace_constants(context: Context, *names: str) -> Context:
    """A context that nobody checked."""
    found = copy(context)
    object.__setattr__(found, "neighbors", replace(context.neighbors, constants=names))
    return found


def test_loops_of_different_programs_are_compared() -> None:
    """while i < 3 do i := i + 1 ~ while i < 6 do i := i + 2, in step."""
    made = program("i := 0", "while i < 3 do", "  i := i + 1", "end", "while i < 6 do", "  i := i + 2", "end", "r := i")
    asks = oracle(made, "eps", "true")
    left, right = (statement for statement in made.body if isinstance(statement, While))
    held = facts(asks, "2*i<1> == i<2>")

    def body(k: int) -> Judgment:
        wanted = budgets.iteration(asks.context, (left, right), held, term(asks, "3 - i"), Num(k))[1]
        second = assign_one(asks.context, right.body.statements[0], wanted, side=2)  # type: ignore[arg-type]
        return seq(assign_one(asks.context, left.body.statements[0], second.pre, side=1), second)  # type: ignore[arg-type]

    found = awhile(asks, left, right, invariant=held, variant=term(asks, "3 - i"), most=4, body=body)
    assert found.left.statements == (left,) and found.right.statements == (right,)
    assert found.pre == facts(asks, "2*i<1> == i<2>", "(i<1> < 3) == (i<2> < 6)", "3 - i<1> <= 4")
