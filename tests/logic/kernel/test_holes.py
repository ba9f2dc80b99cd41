"""What the kernel must refuse although it looks harmless: names, sorts, scales and units that would hide a leak.

Every program here tells its private input (or is no program at all), and each was proved to cost nothing, or too
little, by a kernel that lacked one check.
"""

import dataclasses
from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.kernel.proving import CLOSE, facts, oracle, program, prove, proves, refused, relation, term

from viameter.errors import ParameterError, ViameterError
from viameter.logic.kernel import before
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.context import Context, units_for
from viameter.logic.kernel.judgment import Judgment
from viameter.logic.kernel.proof import Proof
from viameter.logic.kernel.rules.structure import append_one, assign_one, cond_one, seq, skip
from viameter.logic.lang.core import Assign, Block, If, Input, Program, Sample, Uniform
from viameter.logic.lang.scales import Unit
from viameter.logic.lang.terms import FALSE, ONE, ZERO, Num, Var, eq
from viameter.logic.neighbors import Neighbors
from viameter.logic.solving.oracle import Oracle

LINE = 5
"""The first line of the body of a program with one input and one budget."""


@for_each("name", ["out.R", "any.k", "cost.eps", "same.o", "before.5.left", "count.5", "x.v1"])
def test_a_variable_named_like_one_of_the_logic_is_refused(name: str) -> None:
    with pytest.raises(ViameterError):
        prove(oracle(program(f"{name} := q", f"r := {name}"), "0"), "0")


@for_each("name", ["out.R", "any.k", "cost.eps", "same.o", "before.5.left", "x.v1"])
def test_an_input_named_like_one_of_the_logic_is_refused(name: str) -> None:
    with pytest.raises(ViameterError):
        oracle(program("r := q", inputs=("q: int", f"{name}: int")), "0")


@for_each("name", ["r", "q", "out.R", "cost.eps", "same.o", "before.5.left", "any.k", "r.v1", "eps"])
def test_a_logical_constant_named_like_something_else_is_refused(name: str) -> None:
    made = program("r := q")
    with pytest.raises(ViameterError):
        prove(Oracle(Context(made, Neighbors(frozenset({"q"}), (), (), (name,)), units_for(made, None))), "0")


def test_a_constant_of_the_adjacency_cannot_pass_for_a_drawn_value() -> None:
    """r is 0 or q; if the draw were known to be 0, it would always be 0."""
    made = program("r :=$ lap(1/eps)", "if r != 0 then", "  r := q", "end")
    number = next(before._NUMBERS)
    names = tuple(f"r.v{number + k}" for k in range(1, 4))
    hidden = tuple(eq(Var(name), ZERO) for name in names)
    near = Neighbors(frozenset({"q"}), hidden, (), names)
    proof = Proof(split=frozenset({6}))
    assert refused(lambda: prove(Oracle(Context(made, near, units_for(made, None))), "0", proof))


def test_one_runs_variable_in_the_programs_own_text_is_refused() -> None:
    with pytest.raises(ViameterError):
        prove(oracle(program("r := q<1>"), "0"), "0")
    with pytest.raises(ViameterError):
        prove(oracle(program("r := q", requires=("q<1> == q<2>",)), "0"), "0")
    with pytest.raises(ViameterError):
        oracle(program("r :=$ lap(max(1, t<1>)/eps, q)", inputs=("q: int", "t: int")), "0")


def test_a_list_is_not_assigned() -> None:
    """The ghost that says that lists are equal would stay true."""
    made = program("x := l", returns="x", inputs=("l: list",))
    assert refused(lambda: prove(oracle(made, "0", "len(l) >= 0", private=("l",)), "0"))


def test_an_output_list_is_not_read() -> None:
    bodies = (
        ("if q > 0 then", "  append(o, 1)", "end", "r := len(o)"),
        ("if false then", "  append(o, 1)", "end", "a := o[0]", "append(o, q)", "b := o[0]", "r := b - a"),
        ("append(o, q)", "r :=$ choose(o, 1/eps)"),
    )
    for body in bodies:
        proof = Proof(split=frozenset({LINE}), choices={LINE + 1: Choice(ZERO, (ZERO, ZERO))})
        assert refused(lambda body=body, proof=proof: prove(oracle(program(*body), "eps"), "eps", proof))  # type: ignore[misc]


def test_the_exponential_mechanism_takes_an_input_list() -> None:
    with pytest.raises(ViameterError):
        oracle(program("append(o, q)", "r :=$ choose(o, 1/eps)"), "eps")


@for_each("scale", ["(abs(l[0]) + 1)/eps", "max(1, l[3])/eps", "(2 + l[len(l) - 1]*l[len(l) - 1])/eps"])
def test_a_scale_is_not_read_off_a_private_list(scale: str) -> None:
    made = program(f"r :=$ lap({scale})", inputs=("l: list",))
    assert refused(lambda: prove(oracle(made, "0", "len(l) >= 0", private=("l",)), "0"))


def test_the_length_of_a_private_list_and_an_element_of_a_public_one_may_be_scales() -> None:
    made = program("r :=$ lap(len(l)/eps)", inputs=("l: list",), requires=("len(l) >= 1",))
    assert prove(oracle(made, "0", "len(l) >= 0", private=("l",)), "0").rule == "consequence"
    made = program("r :=$ lap(max(1, p[0])/eps)", inputs=("q: int", "p: list"))
    assert prove(oracle(made, "0"), "0").rule == "consequence"


@for_each("law", ["lap((0-1)/eps, q)", "lap(0/eps, q)", "expo((0-1)/eps)", "gauss(0, q)", "lap(0-1, q)"])
def test_a_scale_that_is_not_positive_is_refused(law: str) -> None:
    with pytest.raises(ViameterError):
        prove(oracle(program(f"r :=$ {law}"), "0"), "0", Proof(choices={LINE: Choice(ZERO, ())}))


@for_each("ratio", ["1/2", "1", "0"])
def test_a_logarithm_that_is_not_positive_is_no_scale(ratio: str) -> None:
    with pytest.raises(ViameterError):
        prove(oracle(program(f"r :=$ lap(1/ln({ratio}), q)"), "0"), "0")


@for_each("probability", ["3/2", "2"])
def test_a_coin_has_a_probability(probability: str) -> None:
    with pytest.raises(ViameterError):
        prove(oracle(program(f"b :=$ flip({probability})"), "0"), "0")


def test_the_sigma_of_gaussian_noise_is_a_number() -> None:
    """sigma = 1/ln(100) costs (ln 100)^2/2 = 10.6, not 1/2."""
    with pytest.raises(ViameterError):
        prove(
            oracle(program("r :=$ gauss(1/ln(100), q)"), "1/2*rho"),
            "1/2*rho",
            Proof(choices={LINE: Choice(ZERO, (ONE,))}),
        )


@for_each("number", [0, -1, Fraction(1, 2), True])
def test_a_unit_has_a_positive_whole_number(number: Any) -> None:
    """With -1 more noise would cost less; with 0 everything would be free."""
    made = program("a :=$ lap(1/eps, q)", "r :=$ lap(1/eps, q)")
    assert refused(lambda: prove(oracle(made, "eps", "q<1> == q<2> + 1", units={"eps": Unit(number)}), "eps"))


@for_each("factor", [Num(0), Num(-1), Var("q", side=1), Var("r"), Var("r", side=1), Var("any.k")])
def test_a_factor_of_a_unit_is_public_and_positive(factor: Any) -> None:
    made = program("a :=$ lap(1/eps, q)", "r :=$ lap(1/eps, q)")
    with pytest.raises(ViameterError):
        prove(oracle(made, "eps", units={"eps": Unit(1, (factor,))}), "eps")


@for_each("name", ["rho", "delta", "1", "ln"])
def test_a_budget_is_not_named_like_a_base_of_the_logic(name: str) -> None:
    """Laplace noise of scale 1/rho costs the budget called rho, which is not that much concentrated cost."""
    assert refused(lambda: prove(oracle(program(f"r :=$ lap(1/{name}, q)", budgets=(name,)), name), name))


@for_each(("epsilon", "delta"), [(-1, 0), (1, -1), (float("inf"), 0), (0.5, 0)])
def test_a_mechanism_with_a_cost_that_is_no_cost_is_refused(epsilon: Any, delta: Any) -> None:
    made = program("r :=$ call m(q)")
    entry = type("Entry", (), {"distance": 1, "epsilon": epsilon, "delta": delta, "says": ""})()
    changed = dataclasses.replace(made, mechanisms={"m": entry})
    with pytest.raises(ViameterError):
        prove(oracle(changed, "0"), "0")


def test_a_mechanism_that_nobody_gave_is_refused() -> None:
    with pytest.raises(ViameterError):
        prove(oracle(program("r :=$ call m(q)"), "1"), "1")


@for_each("side", [0, 3, -1])
def test_a_rule_for_one_run_is_for_the_first_or_the_second(side: int) -> None:
    """For side = 0 nothing was substituted: |- skip ~ r := q : r<1> == r<2> => r<1> == r<2>."""
    asks = oracle(program("r := q", "append(o, q)", "if q > 0 then", "  r := 1", "end"), "0")
    first, second, third = asks.context.program.body
    assert isinstance(first, Assign) and isinstance(third, If)
    equal = facts(asks, "r<1> == r<2>")
    with pytest.raises(ParameterError):
        assign_one(asks.context, first, equal, side=side)
    with pytest.raises(ParameterError):
        append_one(asks.context, second, equal, side=side)  # type: ignore[arg-type]
    inner = assign_one(asks.context, third.then.statements[0], equal, side=2)  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        cond_one(third, inner, skip(asks.context, equal), side=side)


def test_a_judgment_is_not_made_by_hand_nor_copied_with_changes() -> None:
    asks = oracle(program("r := q"), "0")
    true = skip(asks.context, facts(asks, "r<1> == r<2>"))
    with pytest.raises(ParameterError):
        Judgment(asks.context, true.left, true.right, true.pre, true.post, "skip")
    with pytest.raises((ParameterError, TypeError, ValueError)):
        dataclasses.replace(true, post=facts(asks, "false"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        true.post = ()  # type: ignore[misc]
    assert getattr(true, "seal", None) is None


def test_a_judgments_budget_and_a_contexts_units_do_not_change_afterwards() -> None:
    asks = oracle(program("r := q"), "eps")
    made = seq(skip(asks.context, ()), skip(asks.context, ()))
    with pytest.raises(TypeError):
        made.budget["eps"] = Num(-5)  # type: ignore[index]
    given = {"eps": Unit(4)}
    context = Context(asks.context.program, asks.context.neighbors, given)
    given["eps"] = Unit(1)
    assert context.units["eps"] == Unit(4)


@for_each("shift", [Var("y.v1"), Var("x", side=2), Var("nobody", side=1), Var("nobody"), Var("cost.eps")])
def test_a_shift_speaks_of_nothing_but_memories(shift: Var) -> None:
    asks = oracle(program("x :=$ lap(1/eps)", "r := x"), "eps")
    with pytest.raises(ParameterError):
        prove(asks, "eps", Proof(choices={LINE: Choice(shift)}))


def test_a_shift_that_knows_a_later_draw_is_refused() -> None:
    """x2 = x1 + y1 and y2 = y1 + x1 would make x2 == y2 for sure: a fair coin that always falls the same way."""
    made = program(
        "x :=$ uniform(0, 1)", "y :=$ uniform(0, 1)", "r := 1",
        "if q == 0 then", "  if x != y then", "    r := 0", "  end", "end",
    )  # fmt: skip
    asks = oracle(made, "0", "q<1> == 1 and q<2> == 0")
    number = next(before._NUMBERS)
    choices = {LINE: Choice(Var(f"y.v{number + 1}")), LINE + 1: Choice(term(asks, "x<1>"))}
    with pytest.raises(ViameterError):
        prove(asks, "0", Proof(choices=choices, split=frozenset({LINE + 3})))


@for_each("law", ["lap(1/eps)", "expo(1/eps)", "flip(1/3)", "uniform(0, 3)", "gauss(2)", "choose(l, 1/eps)"])
@for_each("count", [0, 1, 2, 3])
def test_a_law_takes_the_bounds_that_it_needs_and_no_others(law: str, count: int) -> None:
    made = program(f"r :=$ {law}", inputs=("l: list",))
    claim = "rho" if law.startswith("gauss") else "eps"
    asks = oracle(made, claim, "len(l) >= 0", each={"l": "l<1>[any.k] == l<2>[any.k]"}, private=("l",))
    shift = FALSE if law.startswith("flip") else ZERO
    wanted = {"gauss(2)": 1, "choose(l, 1/eps)": 2}.get(law, 0)
    proof = Proof(choices={LINE: Choice(shift, (ZERO,) * count)})
    if law.startswith("flip"):
        made = program("b :=$ flip(1/3)", "if b then", "  r := 1", "end", inputs=("l: list",))
        asks = oracle(made, "eps", "len(l) >= 0", private=("l",))
    if count != wanted:
        with pytest.raises(ParameterError):
            prove(asks, claim, proof)
    else:
        assert proves(asks, claim, proof)


def test_a_program_that_assigns_to_an_input_or_has_wrong_sorts_is_refused() -> None:
    good = program("r := q")
    inputs, body = (Input("q", "int"),), Block((Assign(Var("q"), ZERO), Assign(Var("r"), Var("q"))))
    ill = [
        Program("p", inputs, (), (), body, Var("r")),
        Program("p", inputs, (), (), Block((Sample(Var("r", "bool"), Uniform(ZERO, ONE)),)), Var("r", "bool")),
        Program("p", inputs, (), (), Block((Assign(Var("r", side=1), Var("q")),)), Var("r")),
    ]
    for made in ill:
        with pytest.raises(ViameterError):
            Context(made, relation(good, CLOSE), units_for(made, None))


def test_what_is_known_of_factors_must_be_shown_by_whoever_concludes() -> None:
    """The oracle takes factors for positive; a whole proof must show it from what the program requires."""
    made = program("r :=$ lap(N/eps, q)", inputs=("q: int", "N: int"))
    with pytest.raises(ViameterError):
        prove(oracle(made, "eps"), "eps")
    with pytest.raises(ViameterError):
        prove(oracle(program("r :=$ lap(N/eps, q)", inputs=("q: int", "N: int"), requires=("N >= 0",)), "eps"), "eps")
    fine = program("r :=$ lap(N/eps, q)", inputs=("q: int", "N: int"), requires=("N >= 1",))
    assert proves(oracle(fine, "eps"), "eps")
