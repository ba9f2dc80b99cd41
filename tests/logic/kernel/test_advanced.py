"""Advanced composition: tight for randomized response, and false with one direction alone."""

from fractions import Fraction
from typing import Any

import pytest
from tests.logic.kernel.enumerator import World, excess
from tests.logic.kernel.proving import amount, facts, oracle, program, term

from viameter.arith import dyadic
from viameter.errors import NoTheorem, ParameterError, ViameterError
from viameter.logic.kernel.assertion import Assertion, Clause
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.context import Context, cost
from viameter.logic.kernel.judgment import Judgment, Unproved
from viameter.logic.kernel.rules import advanced as rule
from viameter.logic.kernel.rules.advanced import advanced, scratch
from viameter.logic.kernel.rules.budgets import iteration, settle
from viameter.logic.kernel.rules.casing import frame
from viameter.logic.kernel.rules.finite import finite
from viameter.logic.kernel.rules.fixed import counter, is_still
from viameter.logic.kernel.rules.laplace_rules import laplace_simple
from viameter.logic.kernel.rules.sampling import sample
from viameter.logic.kernel.rules.structure import append, assign, seq, skip
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.kernel.rules.whole import concluded
from viameter.logic.lang.core import Append, Assign, Sample, While
from viameter.logic.lang.scales import Unit
from viameter.logic.lang.terms import ZERO, Num, eq, le
from viameter.logic.solving.oracle import Oracle

MILLION = 10**6
UNITS = {"1": Unit(MILLION), "delta": Unit(10**9), "ln(2)": Unit(1)}


def both_ways(law: str, released: str, times: int, *relation: str) -> tuple[Oracle, Oracle, While]:
    """A loop that releases something noisy many times, in both directions of a relation."""
    lines = ("i := 0", f"while i < {times} do", f"  x :=$ {law}", f"  append(r, {released})", "  i := i + 1", "end")
    asks = oracle(program(*lines, budgets=()), "0", *relation, units=UNITS)
    back = Oracle(Context(asks.context.program, asks.context.neighbors.swapped(), asks.context.units))
    loop = asks.context.program.body.statements[1]
    assert isinstance(loop, While)
    return asks, back, loop


def invariant(asks: Oracle) -> Assertion:
    return facts(asks, "i<1> >= 0")


def state(asks: Oracle) -> Assertion:
    return (*invariant(asks), *facts(asks, "i<1> == i<2>", "same.r"))


def ends_of(asks: Oracle, loop: While, times: int, *more: Clause) -> tuple[Assertion, Judgment]:
    """What holds before an iteration, and the judgment of what comes after its draw."""
    before, after = iteration(asks.context, (loop, loop), state(asks), term(asks, f"{times} - i"), counter(loop.at))
    found = skip(asks.context, (*after, *more))
    for statement in reversed(loop.body.statements[1:]):
        if isinstance(statement, Assign):
            found = seq(assign(asks.context, statement, found.pre), found)
        else:
            assert isinstance(statement, Append)
            found = seq(append(asks.context, statement, found.pre), found)
    return before, found


def by_frame(asks: Oracle, loop: While, times: int, drawn: Judgment) -> Judgment:
    before, ends = ends_of(asks, loop, times)
    return seq(consequence(asks, frame(drawn, before), post=ends.pre), ends)


def compose(
    asks: Oracle, back: Oracle, loop: While, times: int, ways: tuple[Judgment, Judgment], delta: Any
) -> Judgment:
    return advanced(
        asks, back, loop, invariant=invariant(asks), variant=term(asks, f"{times} - i"), most=times,
        there=ways[0], again=ways[1], delta=delta,
    )  # fmt: skip


def responses(times: int, delta: Any) -> tuple[Oracle, Judgment]:
    """Randomized response with odds of 2, many times."""
    asks, back, loop = both_ways("flip(1/3)", "ite(x, 1 - q, q)", times, "q<1> + q<2> == 1", "0 <= q<1> and q<1> <= 1")
    ways = []
    for way in (asks, back):
        draw = loop.body.statements[0]
        assert isinstance(draw, Sample)
        ways.append(by_frame(way, loop, times, finite(way.context, draw, relation=term(way, "x<1> == (not x<2>)"))))
    return asks, compose(asks, back, loop, times, (ways[0], ways[1]), delta)


@pytest.mark.parametrize(("times", "delta"), [(1, "1/100"), (4, "1/10"), (5, "1/100"), (6, "1/3"), (3, 0)])
def test_the_optimum_is_attained_by_randomized_response(times: int, delta: str) -> None:
    asks, made = responses(times, delta)
    assert is_still(made)
    assert set(facts(asks, f"{times} - i<1> <= {times}", f"{times} - i<2> <= {times}")) <= set(made.pre)
    told, spent = made.budget["1"], made.budget.get("delta", Num(0))
    assert isinstance(told, Num) and isinstance(spent, Num)
    assert Fraction(delta) <= Fraction(spent.value, 10**9) < Fraction(delta) + Fraction(1, 10**9)
    one, other = (World().outputs(asks.context.program.body, {"q": q}, "r")[0] for q in (0, 1))
    epsilon = Fraction(told.value, MILLION)
    for first, second in ((one, other), (other, one)):
        assert excess(first, second, dyadic.exp_down(epsilon)) <= Fraction(delta) + Fraction(1, MILLION)
        assert excess(first, second, dyadic.exp_up(epsilon - Fraction(2, MILLION))) > Fraction(delta)


def test_a_program_is_concluded_from_it() -> None:
    asks, made = responses(5, "1/100")
    start = asks.context.program.body.statements[0]
    assert isinstance(start, Assign)
    whole = seq(assign(asks.context, start, made.pre), made)
    found = concluded(asks, whole, amount(asks.context.program, "7/2 + 1/100*delta"))
    assert [str(entry) for entry in found.post] == ["same.r"]
    with pytest.raises(Unproved, match="large enough"):
        concluded(asks, whole, amount(asks.context.program, "3 + 1/100*delta"))


def test_noise_that_is_private_both_ways_costs_less_than_the_sum() -> None:
    asks, back, loop = both_ways("lap(10, q)", "x", 100, "abs(q<1> - q<2>) <= 1")
    draw = loop.body.statements[0]
    assert isinstance(draw, Sample)
    ways = tuple(by_frame(way, loop, 100, laplace_simple(way.context, draw)) for way in (asks, back))
    told = compose(asks, back, loop, 100, (ways[0], ways[1]), "1/1000000").budget["1"]
    assert isinstance(told, Num) and 4 * MILLION < told.value < 631 * MILLION // 100


def test_the_direction_that_costs_more_stands_for_both() -> None:
    asks, back, loop = both_ways("lap(10, q)", "x", 20, "abs(q<1> - q<2>) <= 1")
    draw = loop.body.statements[0]
    assert isinstance(draw, Sample)
    found = []
    for first, second in ((1, 1), (1, 2), (2, 1), (2, 2)):
        ways = []
        for way, times in ((asks, first), (back, second)):
            body = by_frame(way, loop, 20, laplace_simple(way.context, draw))
            ways.append(consequence(way, body, budget={"1": Num(times * MILLION // 10), "delta": Num(times * 1000)}))
        found.append(dict(compose(asks, back, loop, 20, (ways[0], ways[1]), "1/1000").budget))
    assert found[0] != found[1] == found[2] == found[3]


def one_way(asks: Oracle, loop: While, times: int, shift: str) -> Judgment:
    """The body by the rule of sampling, with what ghosts spend settled to 1/10."""
    within = [Clause(le(cost("1"), Num(MILLION // 10))), *(Clause(le(cost(base), ZERO)) for base in ("delta", "ln(2)"))]
    before, ends = ends_of(asks, loop, times, *within)
    draw = loop.body.statements[0]
    assert isinstance(draw, Sample)
    whole = seq(sample(asks.context, draw, Choice(term(asks, shift)), ends.pre), ends)
    zeros = tuple(Clause(eq(cost(base), ZERO)) for base in asks.context.units)
    return settle(consequence(asks, whole, pre=(*before, *zeros)), {"1": Num(MILLION // 10)})


def test_one_direction_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """q + exponential noise of scale 10, where the first run's q is larger by 1: P <= e^0.1 Q, and not the other way.

    All hundred outputs above the second run's q are certain in the first run and have probability e^-10 in the second.
    """
    asks, back, loop = both_ways("expo(10)", "q + x", 100, "q<1> == q<2> + 1")
    there = one_way(asks, loop, 100, "q<1> - q<2>")
    assert dict(there.budget) == {"1": Num(MILLION // 10)}
    for shift in ("q<1> - q<2>", "0", "1", "-1"):
        with pytest.raises(Unproved):
            one_way(back, loop, 100, shift)
    with pytest.raises(ParameterError, match="both directions"):
        compose(asks, asks, loop, 100, (there, there), "1/1000000")
    with pytest.raises(ParameterError, match="each direction has its own"):
        compose(asks, back, loop, 100, (there, there), "1/1000000")
    monkeypatch.setattr(rule, "_check_swapped", lambda *_: None)
    told = compose(asks, asks, loop, 100, (there, there), "1/1000000").budget["1"]
    assert isinstance(told, Num)
    certain = 1 - dyadic.exp_up(Fraction(told.value, MILLION) - 10)
    assert certain > Fraction(97, 100)
    assert 1 - dyadic.exp_up(Fraction(631, 100) - 10) > Fraction(975, 1000)


def test_the_two_contexts_are_one_program_and_one_relation() -> None:
    asks, back, loop = both_ways("lap(10, q)", "x", 3, "q<1> == q<2> + 1")
    draw = loop.body.statements[0]
    assert isinstance(draw, Sample)
    good = tuple(by_frame(way, loop, 3, laplace_simple(way.context, draw)) for way in (asks, back))
    assert compose(asks, back, loop, 3, (good[0], good[1]), "1/10").rule == "advanced"
    other, again, _ = both_ways("lap(10, q)", "x", 3, "q<1> == q<2> + 1")
    changed = Oracle(Context(back.context.program, back.context.neighbors, {**UNITS, "1": Unit(2 * MILLION)}))
    for wrong in (again, changed, other):
        second = by_frame(wrong, loop, 3, laplace_simple(wrong.context, draw))
        with pytest.raises(ParameterError):
            compose(asks, wrong, loop, 3, (good[0], second), "1/10")


def test_variables_that_every_iteration_writes_first_are_no_state() -> None:
    def found(*lines: str) -> set[str]:
        loop = program("x := 0", "y := 0", "z := 0", "r := 0", "while r < 3 do", *lines, "end").body.statements[-1]
        assert isinstance(loop, While)
        return scratch(loop)

    assert found("x :=$ lap(1/eps)", "r := r + x") == {"x"}
    assert found("r := r + x", "x :=$ lap(1/eps)") == set()
    assert found("x := x + 1", "r := x") == set()
    assert found("if r > 0 then", "x := 1", "end", "r := r + x") == set()
    assert found("if r > 0 then", "y := x", "end", "x := 1", "y := 2", "r := 1") == set()
    assert found("x := 1", "if r > 0 then", "x := 2", "end", "r := r + x") == {"x"}
    assert found("while x < 1 do", "x := x + 1", "end", "x := 0", "y := x", "r := 4") == {"y"}


def test_an_invariant_does_not_speak_of_what_differs_between_iterations_or_is_private_noise() -> None:
    asks, back, loop = both_ways("lap(10, q)", "x", 3, "abs(q<1> - q<2>) <= 1")
    draw = loop.body.statements[0]
    assert isinstance(draw, Sample)
    ways = [by_frame(way, loop, 3, laplace_simple(way.context, draw)) for way in (asks, back)]
    for text, why in (
        ("x<1> == x<2>", "another in every iteration"), (f"count.{loop.at} >= 0", "another in every iteration"),
        ("cost.1 == 0", "not shared"), ("nobody == 0", "not shared"),
    ):  # fmt: skip
        held = facts(asks, text, integers=(f"count.{loop.at}", "nobody"))
        with pytest.raises(ParameterError, match=why):
            advanced(
                asks, back, loop, invariant=held, most=3, variant=term(asks, "3 - i"), there=ways[0],
                again=ways[1], delta="1/10",
            )  # fmt: skip
    for variant in ("3 - x", "i", "2 - i", "4"):
        with pytest.raises(ViameterError):
            advanced(
                asks, back, loop, invariant=invariant(asks), most=3, variant=term(asks, variant), there=ways[0],
                again=ways[1], delta="1/10",
            )  # fmt: skip
    for most in (0, -1):
        with pytest.raises(ParameterError, match="most"):
            compose(asks, back, loop, most, (ways[0], ways[1]), "1/10")
    _, ends = ends_of(asks, loop, 3)
    ghost = seq(sample(asks.context, draw, Choice(), ends.pre), ends)
    with pytest.raises(ParameterError, match="settle"):
        compose(asks, back, loop, 3, (ghost, ways[1]), "1/10")


def test_guards_agree_on_the_state() -> None:
    lines = ("i := 0", "while i < q do", "  x :=$ lap(10, q)", "  append(r, x)", "  i := i + 1", "end")
    asks = oracle(program(*lines, budgets=(), requires=("q <= 3",)), "0", units=UNITS)
    back = Oracle(Context(asks.context.program, asks.context.neighbors.swapped(), asks.context.units))
    loop = asks.context.program.body.statements[1]
    assert isinstance(loop, While)
    bodies = [skip(way.context, ()) for way in (asks, back)]
    with pytest.raises(ParameterError, match="body"):
        compose(asks, back, loop, 3, (bodies[0], bodies[1]), "1/10")
    body = skip(asks.context, ())
    for statement in reversed(loop.body.statements):
        match statement:
            case Assign():
                body = seq(assign(asks.context, statement, body.pre), body)
            case Append():
                body = seq(append(asks.context, statement, body.pre), body)
            case Sample():
                free = consequence(asks, laplace_simple(asks.context, statement), post=body.pre)
                body = seq(free, body)
    with pytest.raises(Unproved, match="together"):
        compose(asks, back, loop, 3, (body, body), "1/10")


def test_deltas_that_are_too_many_have_no_optimum() -> None:
    asks, back, loop = both_ways("lap(10, q)", "x", 3, "abs(q<1> - q<2>) <= 1")
    draw = loop.body.statements[0]
    assert isinstance(draw, Sample)
    ways = []
    for way in (asks, back):
        plain = by_frame(way, loop, 3, laplace_simple(way.context, draw))
        ways.append(consequence(way, plain, budget={**plain.budget, "delta": Num(10**8)}))
    with pytest.raises(NoTheorem):
        compose(asks, back, loop, 3, (ways[0], ways[1]), "1/4")
    assert compose(asks, back, loop, 3, (ways[0], ways[1]), "3/10").budget["delta"] == Num(3 * 10**8)
    symbolic = consequence(
        asks, ways[0], budget={**ways[0].budget, "1": term(asks, "1000000 + abs(count.9)", "count.9")}
    )
    with pytest.raises(ViameterError):
        compose(asks, back, loop, 3, (symbolic, ways[1]), "3/10")
