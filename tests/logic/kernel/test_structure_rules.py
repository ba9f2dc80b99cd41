"""Skip, assignment, sequence, conditional, consequence and while: what they give, and what they refuse."""

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest
from tests.logic.kernel.enumerator import World, excess, pair_memory, value
from tests.logic.kernel.proving import CLOSE, facts, oracle, program, prove, proves, term

from viameter.errors import ParameterError
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.judgment import Obligation, Unproved
from viameter.logic.kernel.proof import Proof
from viameter.logic.kernel.rules import loops
from viameter.logic.kernel.rules.loops import body_post, while_
from viameter.logic.kernel.rules.sampling import sample
from viameter.logic.kernel.rules.structure import append, append_one, assign, assign_one, cond, cond_one, seq, skip
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.lang.core import Append, Assign, If, Sample, While
from viameter.logic.lang.terms import FALSE, Num

POSTS = ("r<1> == r<2>", "r<1> <= r<2> + 1", "r<1> + a<2> == a<1>", "r<1> > 0 => r<2> > 0", "a<1> == r<2>")


def test_skip_is_the_rule_of_the_slides() -> None:
    asks = oracle(program("r := q"), "0")
    near = facts(asks, CLOSE)
    made = skip(asks.context, near)
    assert (made.pre, made.post, dict(made.budget), made.left.statements) == (near, near, {}, ())


def test_assignment_in_both_runs_and_in_one_says_what_holds_afterwards() -> None:
    """The pre-condition holds of two memories exactly if the post-condition does of those after."""
    random = Random(2)
    asks = oracle(program("a := 0", "r := a + 2*q"), "0")
    statement = asks.context.program.body.statements[1]
    assert isinstance(statement, Assign)
    for post, sides in product(POSTS, ((1, 2), (1,), (2,))):
        after = facts(asks, post)
        if sides == (1, 2):
            made = assign(asks.context, statement, after)
        else:
            made = assign_one(asks.context, statement, after, side=sides[0])
        assert [bool(block.statements) for block in (made.left, made.right)] == [1 in sides, 2 in sides]
        for _ in range(60):
            runs = [{name: random.randint(-1, 1) for name in ("q", "a", "r")} for _ in range(2)]
            ends = [run | ({"r": run["a"] + 2 * run["q"]} if side in sides else {}) for side, run in enumerate(runs, 1)]
            before = all(value(entry.term, pair_memory(*runs)) for entry in made.pre)
            assert before == value(after[0].term, pair_memory(*ends))


def test_lists_stay_the_same_while_equal_values_are_appended() -> None:
    asks = oracle(program("append(r, q)"), "0")
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, Append)
    same = facts(asks, "same.r")
    assert append(asks.context, statement, same).pre == facts(asks, "same.r and q<1> == q<2>")
    for side in (1, 2):
        assert [entry.term for entry in append_one(asks.context, statement, same, side=side).pre] == [FALSE]


def test_a_sequence_needs_one_assertion_in_the_middle_and_one_context() -> None:
    """|- r := q : true => true, and |- skip : r<1> == r<2> => r<1> == r<2>, would give that q is public."""
    asks, other = (oracle(program("r := q"), "0") for _ in range(2))
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, Assign)
    equal = facts(asks, "r<1> == r<2>")
    forgets, ends = assign(asks.context, statement, ()), skip(asks.context, equal)
    with pytest.raises(ParameterError, match="must end in"):
        seq(forgets, ends)
    with pytest.raises(ParameterError, match="contexts"):
        seq(assign(asks.context, statement, equal), skip(other.context, equal))
    made = seq(assign(asks.context, statement, equal), ends)
    assert (made.pre, made.post) == (facts(asks, "q<1> == q<2>"), equal)
    assert made.left == made.right == asks.context.program.body


def test_a_conditional_is_about_its_own_branches_with_one_end_and_one_budget() -> None:
    asks, other = (oracle(program("if q > 0 then", "  r := 1", "else", "  r := 2", "end"), "eps") for _ in range(2))
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, If)
    one, two = statement.then.statements[0], statement.orelse.statements[0]
    assert isinstance(one, Assign) and isinstance(two, Assign)
    equal = facts(asks, "r<1> == r<2>")
    then, orelse = assign(asks.context, one, equal), assign(asks.context, two, equal)
    made = cond(statement, statement, then, orelse)
    assert made.pre == facts(asks, "(q<1> > 0) == (q<2> > 0)")
    with pytest.raises(ParameterError, match="not about the branches"):
        cond(statement, statement, orelse, then)
    with pytest.raises(ParameterError, match="different assertions"):
        cond(statement, statement, then, assign(asks.context, two, ()))
    with pytest.raises(ParameterError, match="different budgets"):
        cond(statement, statement, then, consequence(asks, orelse, budget={"eps": Num(1)}))
    for mine, theirs in ((1, 2), (2, 1)):
        less_or_more = consequence(asks, orelse, budget={"eps": Num(theirs)})
        with pytest.raises(ParameterError, match="different budgets"):
            cond(statement, statement, consequence(asks, then, budget={"eps": Num(mine)}), less_or_more)
    with pytest.raises(ParameterError, match="contexts"):
        cond(statement, statement, then, assign(other.context, two, equal))
    halves = [assign_one(asks.context, part, equal, side=1) for part in (one, two)]
    assert cond_one(statement, *halves, side=1).pre == facts(asks, "q<1> > 0 => 1 == r<2>", "not q<1> > 0 => 2 == r<2>")
    with pytest.raises(ParameterError):
        cond_one(statement, *halves, side=2)
    with pytest.raises(ParameterError, match="other run"):
        cond_one(statement, halves[0], orelse, side=1)


def test_consequence_goes_one_way() -> None:
    asks, other = (oracle(program("r := q"), "eps") for _ in range(2))
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, Assign)
    made = assign(asks.context, statement, facts(asks, "abs(r<1> - r<2>) <= 1"))
    wider, narrower = facts(asks, "abs(r<1> - r<2>) <= 2"), facts(asks, "r<1> == r<2>")
    assert consequence(asks, made, post=wider).post == wider
    with pytest.raises(Unproved):
        consequence(asks, made, post=narrower)
    strict, loose = facts(asks, "q<1> == q<2>"), facts(asks, "abs(q<1> - q<2>) <= 2")
    assert consequence(asks, made, pre=strict).pre == strict
    with pytest.raises(Unproved):
        consequence(asks, assign(asks.context, statement, narrower), pre=loose)
    with pytest.raises(ParameterError, match="another context"):
        consequence(other, made, pre=strict)
    larger = consequence(asks, made, budget={"eps": Num(3)})
    assert consequence(asks, larger, budget={"eps": Num(4)}).budget["eps"] == Num(4)
    for smaller in ({"eps": Num(2)}, {}, {"eps": Num(-1)}):
        with pytest.raises(Unproved, match="large enough"):
            consequence(asks, larger, budget=smaller)
    with pytest.raises(Unproved, match="large enough"):
        consequence(asks, made, budget={"eps": Num(-1)})


def test_a_drawn_value_is_no_hypothesis() -> None:
    asks = oracle(program("x :=$ lap(1/eps)", "r := x"), "eps")
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, Sample)
    made = sample(asks.context, statement, Choice(), facts(asks, "x<1> == 0"))
    (drawn,) = made.pre
    assert ".v" in str(drawn)
    with pytest.raises(ParameterError, match="drawn value"):
        consequence(asks, made, pre=(drawn, drawn, *facts(asks, "r<1> == 0")))
    with pytest.raises(ParameterError, match="drawn value"):
        consequence(
            asks, skip(asks.context, made.pre), post=facts(asks, "0 == 0", "r<1> == r<1>", "x<1> == x<1>", "x<1> < 1")
        )
    with pytest.raises(Unproved):
        consequence(asks, made, pre=facts(asks, "x<1> == 0"))


def loop(bound: str = "3", *, relation: str = CLOSE, body: str = "  i := i + 1") -> tuple[Any, While]:
    made = program("i := 0", f"while i < {bound} do", body, "end", "r := i", inputs=("q: int", "t: int"))
    asks = oracle(made, "0", relation)
    statement = made.body.statements[1]
    assert isinstance(statement, While)
    return asks, statement


def test_runs_go_round_a_loop_together(monkeypatch: pytest.MonkeyPatch) -> None:
    asks, statement = loop("q")
    invariants = {statement.at: (term(asks, "i<1> == i<2>"), term(asks, "cost.1 <= 0"))}
    proof = Proof(invariants=invariants, variants={statement.at: term(asks, "q - i")})
    with pytest.raises(Unproved, match="together"):
        prove(asks, "0", proof)
    real = loops.obligations_of

    def fewer(*given: Any) -> tuple[Obligation, ...]:
        return tuple(entry for entry in real(*given) if "together" not in entry.what)

    monkeypatch.setattr(loops, "obligations_of", fewer)
    assert proves(asks, "0", proof)
    world = World()
    one, other = (world.outputs(asks.context.program.body, {"q": q, "t": 0}, "r")[0] for q in (2, 3))
    assert excess(one, other, Fraction(10**9)) == 1


@pytest.mark.parametrize("variant", ["i", "t", "-i", "5", "t - 2*i", "-1 - i"])
def test_a_variant_goes_down_and_stays_positive_while_the_loop_runs(variant: str) -> None:
    asks, statement = loop("t")
    invariants = {statement.at: (term(asks, "i<1> == i<2>"), term(asks, "cost.1 <= 0"))}
    assert proves(asks, "0", Proof(invariants=invariants, variants={statement.at: term(asks, "t - i")}))
    with pytest.raises(Unproved, match="variant"):
        prove(asks, "0", Proof(invariants=invariants, variants={statement.at: term(asks, variant)}))


def test_a_loop_that_does_not_end_is_refused() -> None:
    """After such a loop everything holds, and nothing is returned."""
    asks, statement = loop("t", body="  i := i")
    invariants = {statement.at: (term(asks, "i<1> == i<2>"), term(asks, "cost.1 <= 0"))}
    with pytest.raises(ParameterError, match="no variant"):
        prove(asks, "0", Proof(invariants=invariants))
    with pytest.raises(Unproved):
        prove(asks, "0", Proof(invariants=invariants, variants={statement.at: term(asks, "t - i")}))


def test_an_invariant_holds_again_after_an_iteration_and_says_enough() -> None:
    asks, statement = loop("t")
    for invariant in ("i<1> == 0 and i<2> == 0", "true", "i<1> <= i<2>", "false"):
        proof = Proof(invariants={statement.at: (term(asks, invariant),)}, variants={statement.at: term(asks, "t - i")})
        with pytest.raises(Unproved):
            prove(asks, "0", proof)


def test_the_rule_of_while_takes_its_own_body_only() -> None:
    asks, statement = loop("t")
    context, inside = asks.context, statement.body.statements[0]
    assert isinstance(inside, Assign)
    invariant, variant = facts(asks, "i<1> == i<2>"), term(asks, "t - i")
    runs = (context.run(variant, 1), context.run(variant, 2))
    body = assign(context, inside, body_post(runs, statement.at, invariant))
    assert while_(asks, statement, invariant, variant, body).post == facts(
        asks, "i<1> == i<2>", "not i<1> < t", "not i<2> < t"
    )
    with pytest.raises(ParameterError, match="body"):
        while_(asks, statement, invariant, variant, skip(context, body.post))
    with pytest.raises(ParameterError, match="smaller variant"):
        while_(asks, statement, invariant, variant, assign(context, inside, invariant))
    with pytest.raises(ParameterError, match="budget"):
        while_(asks, statement, invariant, variant, consequence(asks, body, budget={"1": Num(0)}))
    held = facts(asks, f"before.{statement.at}.left == 3", integers=(f"before.{statement.at}.left",))
    with pytest.raises(ParameterError, match=r"before\.\d+\.left|remembered"):
        while_(asks, statement, held, variant, body)
    other, _ = loop("t")
    with pytest.raises(ParameterError):
        while_(other, statement, invariant, variant, body)


def test_cost_adds_up_over_iterations() -> None:
    made = program("i := 0", "while i < 3 do", "  x :=$ lap(1/eps, q)", "  append(r, x)", "  i := i + 1", "end")
    variants = {6: term(oracle(made, "eps"), "3 - i")}
    for claim, wanted in (("3*eps", True), ("4*eps", True), ("2*eps", False)):
        asks = oracle(made, claim)
        unit = asks.context.units["eps"].number
        invariants = {
            6: tuple(
                term(asks, text)
                for text in ("i<1> == i<2>", "0 <= i<1> and i<1> <= 3", "same.r", f"cost.eps <= {unit}*i<1>")
            )
        }
        if wanted:
            assert proves(asks, claim, Proof(invariants=invariants, variants=variants))
        else:
            with pytest.raises(Unproved):
                prove(asks, claim, Proof(invariants=invariants, variants=variants))
    world = World({"eps": (Fraction(2), 1)}, window=3)
    one, other = (world.outputs(made.body, {"q": q}, "r")[0] for q in (0, 1))
    assert one[0, 0, 0] == 8 * other[0, 0, 0]
