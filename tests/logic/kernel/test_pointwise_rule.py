"""Pointwise equality: from each output by itself to all of them, and what that needs."""

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.logic.kernel.enumerator import World, excess
from tests.logic.kernel.proving import amount, facts, oracle, program, prove, term

import viameter as vm
from viameter.errors import ParameterError
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.context import RESULT
from viameter.logic.kernel.judgment import Unproved
from viameter.logic.kernel.proof import Proof
from viameter.logic.kernel.rules.finite import finite
from viameter.logic.kernel.rules.fixed import is_still
from viameter.logic.kernel.rules.laplace_rules import laplace_simple
from viameter.logic.kernel.rules.mechanism import mechanism
from viameter.logic.kernel.rules.pointwise import pointwise
from viameter.logic.kernel.rules.sampling import sample
from viameter.logic.kernel.rules.structure import assign, seq, skip
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.kernel.rules.whole import concluded
from viameter.logic.lang.core import Assign, Sample
from viameter.logic.lang.scales import Unit
from viameter.logic.lang.terms import ONE, ZERO, Num, Var
from viameter.logic.solving.oracle import Oracle
from viameter.measures import ApproxDP

ASKED = "r<1> == out.R => r<2> == out.R"


def noise(claim: str = "eps") -> tuple[Oracle, Sample]:
    asks = oracle(program("r :=$ lap(1/eps, q)"), claim)
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, Sample)
    return asks, statement


def test_each_output_by_itself_gives_equal_outputs() -> None:
    asks, statement = noise()
    one = consequence(asks, laplace_simple(asks.context, statement), post=facts(asks, ASKED))
    made = pointwise(asks, one)
    assert (made.post, dict(made.budget)) == (facts(asks, "r<1> == r<2>"), {"eps": ONE}) and is_still(made)
    assert concluded(asks, made, amount(asks.context.program, "eps")).budget == {"eps": ONE}


def test_what_ghosts_spend_is_bounded_where_the_output_is_asked_about() -> None:
    """Where the first run's output is another one, the coupling may cost anything."""
    asks, statement = noise()
    shift = term(asks, "ite(r<1> == out.R, 0, 100)")
    claims = (ASKED, "r<1> == out.R => cost.eps <= 1")
    ghost = sample(asks.context, statement, Choice(shift), facts(asks, *claims))
    with pytest.raises(Unproved, match="different draws"):
        consequence(asks, ghost, pre=facts(asks, "cost.eps == 0"))
    shift = term(asks, "ite(r<1> == out.R, 0, ite(r<1> > out.R, 7, -7))")
    ghost = sample(asks.context, statement, Choice(shift), facts(asks, *claims))
    started = consequence(asks, ghost, pre=facts(asks, "cost.eps == 0"))
    made = pointwise(asks, started, budget={"eps": ONE})
    assert (made.pre, made.post, dict(made.budget)) == ((), facts(asks, "r<1> == r<2>"), {"eps": ONE})
    with pytest.raises(Unproved, match="within the budget"):
        pointwise(asks, started, budget={})
    with pytest.raises(ParameterError, match="ghosts"):
        pointwise(asks, started)


def test_the_premise_holds_for_all_outputs_and_says_enough() -> None:
    asks, statement = noise()
    simple = laplace_simple(asks.context, statement)
    for post in ("r<1> == 3 => r<2> == 3", "r<1> == out.R => r<2> >= out.R", "r<2> == out.R => r<1> == out.R"):
        with pytest.raises(Unproved):
            pointwise(asks, consequence(asks, simple, post=facts(asks, post)))
    known = consequence(asks, simple, pre=facts(asks, "out.R == 3"), post=facts(asks, ASKED))
    with pytest.raises(ParameterError, match="must not speak of"):
        pointwise(asks, known)
    costly = consequence(asks, simple, post=facts(asks, ASKED), budget={"eps": term(asks, "1 + abs(out.R)")})
    with pytest.raises(ParameterError, match="must not speak of"):
        pointwise(asks, costly)
    other, _ = noise()
    with pytest.raises(ParameterError, match="another context"):
        pointwise(other, consequence(asks, simple, post=facts(asks, ASKED)))
    assert Var("out.R") == RESULT


def test_the_output_is_an_integer_that_both_runs_assign() -> None:
    asks = oracle(program("append(o, q)", "b :=$ flip(1/2)", "r := q"), "eps", "true")
    *_, last = asks.context.program.body
    assert isinstance(last, Assign)
    true = assign(asks.context, last, facts(asks, ASKED))
    for output in (Var("o", "list"), Var("b", "bool"), Var("q"), Var("t")):
        with pytest.raises(ParameterError, match="integer variable"):
            pointwise(asks, true, output=output)
    with pytest.raises(ParameterError, match="integer variable"):
        pointwise(asks, skip(asks.context, facts(asks, ASKED)))


def test_concentrated_cost_is_not_for_each_output_by_itself() -> None:
    asks = oracle(program("r :=$ gauss(3, q)", budgets=()), "1/18*rho")
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, Sample)
    bounded = facts(asks, ASKED, "r<1> == out.R => cost.rho <= 1")
    made = sample(asks.context, statement, Choice(ZERO, (ONE,)), bounded)
    with pytest.raises(ParameterError, match="rho"):
        pointwise(asks, made, budget={"rho": ONE})


def test_a_delta_is_counted_for_every_output() -> None:
    made = program("b :=$ flip(1/2)", "r := 0", budgets=())
    asks = oracle(made, "0", "true", units={"delta": Unit(4)})
    throw, zero = made.body
    assert isinstance(throw, Sample) and isinstance(zero, Assign)
    post = facts(asks, ASKED, "r<1> == 0 or r<1> == 1")
    last = consequence(asks, assign(asks.context, zero, post), pre=facts(asks, "b<1> == b<2>"))
    drawn = finite(asks.context, throw, relation=term(asks, "b<1> == b<2>"))
    spent = seq(consequence(asks, drawn, budget={"delta": ONE}), last)
    with pytest.raises(ParameterError, match="summed over all outputs"):
        pointwise(asks, spent)
    assert dict(pointwise(asks, spent, outputs=(0, 1, 1)).budget) == {"delta": Num(2)}
    assert dict(pointwise(asks, spent, outputs=range(5)).budget) == {"delta": Num(5)}
    with pytest.raises(Unproved, match="all that there are"):
        pointwise(asks, spent, outputs=(0,))
    with pytest.raises(Unproved, match="cost of delta"):
        pointwise(asks, spent, budget={"delta": ZERO}, outputs=(0, 1))


def test_a_proof_by_outputs_has_no_delta_whatever_else_it_spends() -> None:
    numbers = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    called = mechanism(vm.gaussian(numbers, scale=4).to(ApproxDP, epsilon="1/2"))
    for body in (("r :=$ call m(q)",), ("x :=$ lap(1/eps, q)", "r :=$ call m(x)")):
        made = replace(program(*body), mechanisms={"m": called})
        with pytest.raises(ParameterError, match="delta = 0"):
            prove(oracle(made, "eps + 1/2 + delta"), "eps + 1/2 + delta", Proof(pointwise=True))


def test_without_counting_the_delta_of_every_output_something_false_would_follow() -> None:
    """Uniform on 1..10 against uniform on 11..20: each output has delta 1/10, the laws have delta 1."""
    world = World()
    first, second = (program(f"r :=$ uniform({low}, {low + 9})", budgets=()).body for low in (1, 11))
    one, other = (world.outputs(block, {"q": 0}, "r")[0] for block in (first, second))
    assert max(p - other.get(k, Fraction(0)) for k, p in one.items()) == Fraction(1, 10)
    assert excess(one, other, Fraction(1)) == 1
