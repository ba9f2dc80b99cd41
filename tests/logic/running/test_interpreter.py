"""The interpreter does what a naive evaluator does, and takes nothing from a program's text but its meaning."""

from dataclasses import replace
from fractions import Fraction
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each
from tests.logic.running import naive
from tests.logic.running.programs import ABOVE, LAPLACE, program

import viameter as vm
from viameter.errors import ParameterError
from viameter.logic.kernel.rules.mechanism import mechanism
from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    If,
    Input,
    Laplace,
    Law,
    Program,
    Sample,
    Uniform,
    While,
)
from viameter.logic.lang.scales import Monomial
from viameter.logic.lang.terms import App, Num, Term, Truth, Var
from viameter.logic.running.compiling import compiled
from viameter.logic.running.interpreter import Runner, run
from viameter.logic.running.values import evaluate
from viameter.sampling import Tape

RAW = (3, -7, 0, 12, -1, 5, -30, 8, 1, 1, -2)


def replaced(law: Law, raw: Any) -> Any:
    """A draw as a sampling statement calls it, from given numbers."""
    match law:
        case Exponential():
            return lambda _: abs(next(raw))
        case Flip():
            return lambda _: next(raw) % 2 == 0
        case Uniform():
            return lambda low, high, _: low + next(raw) % max(1, high - low + 1)
        case Choose():
            return lambda items, _: next(raw) % len(items) if items else next(raw) * 0
    return lambda _: next(raw)


@for_each("seed", range(300))
def test_random_programs_do_what_the_naive_evaluator_does(seed: int) -> None:
    making = naive.Making(seed)
    made = making.program()
    code = compiled(made)
    for _ in range(5):
        inputs = making.inputs()
        raw, again = cycle(RAW), cycle(RAW)
        draws = [replaced(site.law, raw) for site in code.sites]
        found = code.function(*(inputs[entry.name] for entry in made.inputs), *draws, None)
        assert found == naive.run(made, inputs, again)


def test_random_programs_use_every_law_and_every_kind_of_statement() -> None:
    laws, kinds = set(), set()
    for seed in range(30):
        made = naive.Making(seed).program()
        laws |= {type(site.law) for site in compiled(made).sites}
        kinds |= {type(statement) for statement in made.body}
    assert laws == {Laplace, Exponential, Gaussian, Flip, Uniform, Choose}
    assert {Assign, Sample, Append, If, While} <= kinds


@for_each("seed", range(200))
def test_values_of_terms_are_those_of_the_naive_evaluator(seed: int) -> None:
    making = naive.Making(seed)
    memory = {**making.inputs(), **{f"x{k}": k - 2 for k in range(4)}, "b0": True, "b1": False}
    for term in (making.number(4), making.truth(4)):
        assert evaluate(term, memory) == naive.value(term, memory)


@for_each(
    ("text", "expected"),
    [
        ("q[-1]", 0), ("q[3]", 0), ("q[2]", 7), ("q[0 - 1 + 1]", 5), ("n // 0", 0), ("n % 0", -9), ("n // (n - n)", 0),
        ("n % (n - n)", -9), ("n // 2", -5), ("n % 2", 1), ("n // (0 - 2)", 4), ("n % (0 - 2)", -1),
        ("q[q[1]]", 6), ("len(q) * 10", 30), ("abs(n) + min(n, 0) + max(n, 0)", 0),
    ],
)  # fmt: skip
def test_operations_are_total(text: str, expected: int) -> None:
    one = program("program one", "input q: list", "input n: int", "begin", f"x := {text}", "end", "return x")
    assert run(one, {"q": [5, 1, 7] if "q[q" not in text else [5, 2, 6], "n": -9}, {}) == expected


def test_integers_have_no_bounds() -> None:
    power = program("program power", "input n: int", "begin", "x := n * n * n * n", "end", "return x")
    assert run(power, {"n": 10**1000}, {}) == 10**4000


def test_variables_start_as_nothing_and_outputs_are_lists_of_their_own() -> None:
    started = Program("started", (), (), (), Block((Append(Var("o", "list"), Var("x")),)), Var("o", "list"))
    assert run(started, {}, {}) == [0]
    assert run(Program("truth", (), (), (), Block(), Var("b", "bool")), {}, {}) is False
    assert run(Program("none", (), (), (), Block(), Var("o", "list")), {}, {}) == []
    q, out = Var("q", "list"), Var("o", "list")
    body = Block((Assign(out, q), Append(out, App("len", (q,))), Append(out, App("len", (q,)))))
    given = [1, 2]
    assert run(Program("more", (Input("q", "list"),), (), (), body, out), {"q": given}, {}) == [1, 2, 2, 2]
    assert given == [1, 2]


@for_each("name", ["__import__", "draw0", "entropy", "v1", "t0", "list", "abs", "program", "x y; z", "\n", "def"])
def test_no_name_of_a_program_means_anything_to_python(name: str) -> None:
    odd, other = Var(name), Var("other")
    body = Block(
        (Sample(other, Flip(Fraction(1))), Assign(odd, App("+", (App("read", (Var("q", "list"), Num(0))), odd))))
    )
    made = Program(name, (Input("q", "list"),), (), (), body, odd)
    assert run(made, {"q": [41]}, {}) == 41


def test_compiled_code_reaches_no_builtins() -> None:
    assert set(compiled(ABOVE).function.__globals__["__builtins__"]) == set()


def test_programs_of_one_text_are_compiled_once_and_mechanisms_are_not_mixed_up() -> None:
    text = ("program calls", "input x: int", "begin", "y :=$ call m(x)", "end", "return y")
    one, other = program(*text), program(*text)
    one, other = (replace(it, mechanisms={"m": by}) for it, by in ((one, lambda x: x + 1), (other, lambda x: x + 2)))
    assert compiled(one) is compiled(other)
    assert (run(one, {"x": 5}, {}), run(other, {"x": 5}, {})) == (6, 7)


def deep(depth: int) -> Term:
    term: Term = Var("n")
    for _ in range(depth):
        term = App("+", (term, Num(1)))
    return term


def test_a_long_expression_runs_and_one_that_is_too_long_is_refused() -> None:
    inputs = (Input("n", "int"),)
    long = Program("long", inputs, (), (), Block((Assign(Var("x"), deep(300)),)), Var("x"))
    assert run(long, {"n": 1}, {}) == 301
    longer = Program("longer", inputs, (), (), Block((Assign(Var("x"), deep(5000)),)), Var("x"))
    with pytest.raises(ParameterError, match="longer is nested too deeply"):
        run(longer, {"n": 1}, {})


def test_loops_that_python_cannot_nest_are_refused() -> None:
    body = Block((Assign(Var("x"), Num(1)),))
    for _ in range(25):
        body = Block((While(Truth(False), body),))
    with pytest.raises(ParameterError, match="20 loops"):
        run(Program("loops", (), (), (), body, Var("x")), {}, {})


@for_each(
    ("inputs", "budgets", "match"),
    [
        ({"x": 1}, {}, "has the budgets eps; given were none"),
        ({"x": 1}, {"eps": Fraction(1), "rho": Fraction(1)}, "has the budgets eps; given were eps, rho"),
        ({"x": 1}, {"eps": Fraction(0)}, "eps must be a Fraction above 0"),
        ({"x": 1}, {"eps": 0.5}, "eps must be a Fraction above 0"),
        ({}, {"eps": Fraction(1)}, "takes the inputs x"),
        ({"x": True}, {"eps": Fraction(1)}, "x is of type bool: expected an integer"),
        ({"x": 1.0}, {"eps": Fraction(1)}, "x is of type float: expected an integer"),
        ({"x": [1]}, {"eps": Fraction(1)}, "x is of type list: expected an integer"),
    ],
)
def test_inputs_and_budgets_are_checked(inputs: Any, budgets: Any, match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        run(LAPLACE, inputs, budgets)


def test_inputs_of_numpy_become_python_integers() -> None:
    double = program("program double", "input q: list", "begin", "x := q[0] * 4", "end", "return x")
    assert run(double, {"q": np.array([2**62])}, {}) == 2**64
    assert (
        run(program("program id", "input b: bool", "begin", "c := b", "end", "return c"), {"b": np.True_}, {}) is True
    )
    with pytest.raises(ParameterError, match="q is of type list: expected a list of integers"):
        run(double, {"q": [True]}, {})


def test_a_law_over_a_logarithm_that_is_not_above_0_is_no_law() -> None:
    for law in ("lap(2/ln(1))", "lap(2/ln(1/2))", "expo(1/ln(0))", "lap(1/ln(1/0))", "flip(1/0)"):
        with pytest.raises(ParameterError, match=r"is not above 0|division by zero"):
            program("program p", "budget eps", "begin", f"z :=$ {law}", "end", "return z")


@for_each(
    ("law", "match"),
    [
        ("lap(5000000000000000/eps)", r"line 8 .z :=\$ lap\(5000000000000000/eps\). .*above 2\^52.*depends on eps"),
        ("gauss(5000000000000000)", r"above 2\^52"),
        ("lap(N/eps)", "N is 0: expected a number >= 1; it depends on N, eps"),
        ("expo(len(q))", r"len\(q\) is 0: expected a number >= 1"),
        ("lap(0/eps)", "not above 0"),
        ("gauss(0)", "not above 0"),
        ("choose(q, 0/eps)", "not above 0"),
        ("flip(3/2)", "3/2 is not between 0 and 1"),
        ("gauss(2/ln(3))", "Gaussian noise has a rational scale"),
        ("lap(0/ln(2))", "not above 0"),
        ("lap(2000000/ln(2))", "may be above"),
        ("lap(1/5000/ln(2))", "too large"),
        ("call nobody(N)", "the program calls 'nobody', which is no mechanism that it was given; known: none"),
    ],
)
def test_a_law_that_cannot_be_drawn_from_is_refused_before_the_program_runs(law: str, match: str) -> None:
    never = program(
        "program never",
        "input q: list",
        "input N: int",
        "budget eps",
        "begin",
        "y := 0",
        "if N == 100 then",
        f"z :=$ {law}",
        "end",
        "end",
        "return y",
    )
    with pytest.raises(ParameterError, match=match):
        run(never, {"q": [], "N": 0}, {"eps": Fraction(1)})


def test_a_scale_that_depends_on_a_variable_is_refused() -> None:
    made = program("program s", "input N: int", "begin", "x := N", "y :=$ lap(2*x)", "end", "return y")
    with pytest.raises(ParameterError, match=r"line 5: the scale 2\*x depends on x: expected inputs"):
        run(made, {"N": 3}, {})
    strange = Program(
        "s", (), (), (), Block((Sample(Var("y"), Laplace(Monomial.of(Fraction(1), (), "rho"))),)), Var("y")
    )
    with pytest.raises(ParameterError, match="rho is no budget of program s"):
        run(strange, {}, {})


def test_the_factors_and_the_budget_of_a_scale_are_those_of_its_text() -> None:
    made = program(
        "program s",
        "input q: list",
        "input N: int",
        "budget eps",
        "begin",
        "y :=$ lap(3/7*N*len(q)/eps)",
        "end",
        "return y",
    )
    runner = Runner.of(made, {"eps": Fraction(2, 5)})
    (draw,) = runner.prepare({"q": [0, 0], "N": 5})
    engine: Any = getattr(draw, "__self__", None)
    assert engine.family.scale == Fraction(3, 7) * 5 * 2 / Fraction(2, 5)


def test_a_draw_of_laplace_noise_is_that_of_the_library() -> None:
    library = Tape.seeded(3)
    ours = Tape.seeded(3)
    drawn = [run(LAPLACE, {"x": 100}, {"eps": Fraction(1, 4)}, entropy=ours) for _ in range(50)]
    assert drawn == [100 + vm.sampling.discrete_laplace(scale=8, entropy=library) for _ in range(50)]


def test_one_sided_noise_is_geometric_and_gaussian_noise_has_its_center() -> None:
    both = program(
        "program both",
        "input x: int",
        "begin",
        "y :=$ expo(5/2)",
        "append(o, y)",
        "z :=$ gauss(7/2, x * 10)",
        "append(o, z)",
        "end",
        "return o",
    )
    library, ours = Tape.seeded(4), Tape.seeded(4)
    for _ in range(50):
        geometric = vm.sampling.geometric(scale="5/2", entropy=library)
        gaussian = vm.sampling.discrete_gaussian(scale="7/2", entropy=library)
        assert run(both, {"x": 6}, {}, entropy=ours) == [geometric, 60 + gaussian]


def test_choices_of_nothing_and_from_nothing() -> None:
    pick = program("program pick", "input q: list", "budget eps", "begin", "y :=$ choose(q, 2/eps)", "end", "return y")
    assert run(pick, {"q": []}, {"eps": Fraction(1)}) == 0
    assert run(pick, {"q": [0, 10**18, 0]}, {"eps": Fraction(1)}) == 1
    within = program("program w", "input n: int", "begin", "y :=$ uniform(5, n)", "end", "return y")
    assert run(within, {"n": 5}, {}) == 5
    assert run(within, {"n": 3}, {}) == 5
    assert {run(within, {"n": 7}, {}, entropy=tape) for tape in [Tape.seeded(1)] for _ in range(60)} == {5, 6, 7}


def test_a_call_gives_one_integer() -> None:
    calls = program("program calls", "input x: int", "begin", "y :=$ call m(x)", "end", "return y")
    found = run(replace(calls, mechanisms={"m": lambda x: np.int64(x + 1)}), {"x": 41}, {})
    assert (found, type(found)) == (42, int)
    for wrong in (True, 0.5, [1], None):
        with pytest.raises(ParameterError, match="the mechanism 'm' released a"):
            run(replace(calls, mechanisms={"m": lambda _, wrong=wrong: wrong}), {"x": 1}, {})
    with pytest.raises(ParameterError, match="the program calls 'm', which is no mechanism"):
        run(replace(calls, mechanisms={"m": 5}), {"x": 1}, {})


def test_a_mechanism_of_the_library_is_called() -> None:
    calls = program("program calls", "input x: int", "begin", "y :=$ call m(x)", "end", "return y")
    space = vm.Space(vm.scalars(int, bounds=(0, 10)), vm.AbsoluteDistance())
    calls = replace(calls, mechanisms={"m": mechanism(vm.laplace(space, scale="1/1000"))})
    assert [run(calls, {"x": x}, {}) for x in (-5, 3, 10**30)] == [0, 3, 10]


def test_an_assertion_about_two_runs_is_no_program() -> None:
    sided = Program("sided", (Input("n", "int"),), (), (), Block((Assign(Var("x"), Var("n", side=1)),)), Var("x"))
    with pytest.raises(ParameterError, match="n<1> speaks of one of two runs"):
        run(sided, {"n": 1}, {})
