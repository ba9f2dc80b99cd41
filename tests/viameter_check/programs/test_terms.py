"""Terms: what is simplified, and what the solver is told, means what Python computes."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.cases import for_each
from tests.viameter_check.programs.python_terms import built, evaluate, random_term

from viameter_check.programs.reading import Reader, read_term
from viameter_check.programs.scopes import Scope
from viameter_check.programs.showing import show
from viameter_check.programs.solving import FAILS, HOLDS, Solver
from viameter_check.programs.terms import BOOL, LIST, Term, make, number, truth, variable
from viameter_check.programs.walking import substitute, variables
from viameter_check.report import Refused

X, Y, B = variable("x"), variable("y"), variable("b", BOOL)


def test_equal_terms_are_one_object() -> None:
    assert make("+", X, Y) is make("+", variable("x"), variable("y"))
    assert variable("x", side=1) is not variable("x", side=2)
    assert variable("x", BOOL) is not variable("x")
    assert number(1) is not truth(True) and number(0) is not truth(False)


def test_simplified_terms_mean_the_same() -> None:
    chosen = random.Random(3)
    for _ in range(1000):
        raw = random_term(chosen, 4)
        values = {"x": chosen.randint(-4, 4), "y": chosen.randint(-4, 4), "b": chosen.random() < 0.5}
        made = built(raw)
        assert meaning(made, values) == evaluate(raw, values), raw


def test_the_solver_computes_what_python_computes() -> None:
    chosen = random.Random(5)
    solver = Solver()
    for _ in range(50):
        raw = random_term(chosen, 3)
        values = {"x": chosen.randint(-4, 4), "y": chosen.randint(-4, 4), "b": chosen.random() < 0.5}
        known = [make("==", X, number(values["x"])), make("==", Y, number(values["y"]))]
        known.append(make("==", B, truth(bool(values["b"]))))
        made, result = built(raw), evaluate(raw, values)
        wanted = make("==", made, truth(result) if isinstance(result, bool) else number(result))
        assert solver.holds(known, [wanted]).outcome == HOLDS, (raw, values)
        assert solver.holds(known, [make("not", wanted)]).outcome == FAILS, (raw, values)


@pytest.mark.parametrize("divisor", [-3, -1, 0, 1, 3])
def test_division_rounds_down_for_every_divisor(divisor: int) -> None:
    solver = Solver()
    for dividend in (-7, -6, -1, 0, 1, 5, 6):
        quotient = dividend // divisor if divisor else 0
        rest = dividend % divisor if divisor else dividend
        for below in (number(divisor), Y):
            known = [make("==", X, number(dividend)), make("==", Y, number(divisor))]
            wanted = [make("==", make("//", X, below), number(quotient)), make("==", make("%", X, below), number(rest))]
            assert solver.holds(known, wanted).outcome == HOLDS, (dividend, divisor)


def test_equal_quotients_stay_equal() -> None:
    solver = Solver()
    z = variable("z")
    equal = make("==", make("%", X, z), make("%", Y, z))
    assert solver.holds([make("==", X, Y)], [equal]).outcome == HOLDS
    assert solver.holds([], [equal]).outcome == FAILS


def test_values_are_replaced_all_at_once() -> None:
    (found,) = substitute([make("-", X, Y)], {X: Y, Y: X})
    assert found is make("-", Y, X)
    assert variables(found) == {X, Y}


@for_each(
    "text",
    ["x - (y - x)", "x - y - x", "(x + y)*x", "-(x + y)", "not (b and b2)", "(b => b2) => b", "x // y % y",
     "x*(y // y)", "ite(b, x, y)", "x != y", "not b", "abs(x - y) <= 1", "max(x, y) + min(x, y)", "b == (x <= y)",
     "-x - (-y)", "x + (-1)*y"],
)  # fmt: skip
def test_what_is_shown_is_read_back(text: str) -> None:
    scope = Scope("a test", {"x": "int", "y": "int", "b": "bool", "b2": "bool"})
    term = Reader(text, scope).term()
    assert read_term(show(term), scope, term.sort) is term


def test_terms_that_would_take_forever_are_refused() -> None:
    def repeated(step: Callable[[Term], Term], start: Term, times: int) -> Term:
        for _ in range(times):
            start = step(start)
        return start

    with pytest.raises(Refused, match="multiplies"):
        repeated(lambda term: make("*", term, term), make("+", X, Y), 10)
    with pytest.raises(Refused, match="bits"):
        repeated(lambda term: make("*", term, term), number(2), 20)
    with pytest.raises(Refused, match="levels"):
        repeated(lambda term: make("+", make("*", term, number(3)), Y), X, 5000)
    twice = repeated(lambda term: make("+", term, term), X, 60)
    assert len(show(twice)) < 300
    assert Solver().holds([make("==", X, number(0))], [make("==", twice, number(0))]).outcome == HOLDS


def test_a_list_is_read_alike_at_equal_places() -> None:
    items = variable("q", LIST, 1)
    one, two = make("read", items, X), make("read", items, Y)
    other = make("read", variable("q", LIST, 2), X)
    solver = Solver()
    assert solver.holds([make("==", X, Y)], [make("==", one, two)]).outcome == HOLDS
    assert solver.holds([], [make("==", one, other)]).outcome == FAILS
    assert "q<1>[x] = " in solver.holds([], [make("==", one, other)]).values


def meaning(term: Term, values: dict[str, Any]) -> Any:
    """What a term means to Python, by its own operations."""
    if term.op == "name":
        return values[term.name]
    if term.op == "literal":
        return term.leaf
    return evaluate((term.op, *(meaning(arg, values) for arg in term.args)), values)
