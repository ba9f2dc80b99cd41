"""Terms, scales, amounts and programs: what is printed is read back to the same thing, and means the same."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import for_each
from tests.logic.programs import RIGHT, WRONG

from viameter.errors import ParameterError
from viameter.logic.exact.evaluating import evaluate
from viameter.logic.lang.parsing import canonical, read_amount, read_program, read_term
from viameter.logic.lang.scales import Monomial, Unit, unit_for
from viameter.logic.lang.terms import App, Num, Sort, Term, Truth, Var, apply, show, substitute
from viameter.logic.lang.text import show_program
from viameter.logic.search.compiled import compiled

SORTS: dict[str, Sort] = {"x": "int", "y": "int", "b": "bool", "q": "list"}
INTS = st.sampled_from([Var("x"), Var("y"), Num(0), Num(1), Num(-3), Num(7)])
BOOLS = st.sampled_from([Var("b", "bool"), Truth(True), Truth(False)])


def _ints(children: st.SearchStrategy[Term], tests: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    two = st.tuples(st.sampled_from(["+", "-", "*", "//", "%", "min", "max"]), children, children)
    return st.one_of(
        two.map(_applied),
        children.map(lambda t: apply("neg", (t,))),
        children.map(lambda t: apply("abs", (t,))),
        children.map(lambda t: apply("read", (Var("q", "list"), t))),
        st.tuples(tests, children, children).map(lambda t: apply("ite", t)),
    )


def _applied(parts: tuple[str, Any, Any]) -> Term:
    return apply(parts[0], parts[1:])


def _tests(ints: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    compared = st.tuples(st.sampled_from(["<=", "<", "==", "!=", ">=", ">"]), ints, ints)
    one = st.one_of(BOOLS, compared.map(_applied))
    joined = st.tuples(st.sampled_from(["and", "or", "=>", "=="]), one, one).map(_applied)
    return st.one_of(one, joined, joined.map(lambda t: apply("not", (t,))))


TERMS = st.recursive(INTS, lambda inner: _ints(inner, _tests(inner)), max_leaves=12)


@settings(max_examples=300, deadline=None)
@given(TERMS)
def test_a_term_is_read_back_to_itself(term: Term) -> None:
    assert read_term(show(term), SORTS) == term


@settings(max_examples=300, deadline=None)
@given(TERMS, st.integers(-4, 4), st.integers(-4, 4), st.booleans())
def test_simplifying_and_compiling_change_no_value(term: Term, x: int, y: int, b: bool) -> None:
    memory: dict[str, Any] = {"x": x, "y": y, "b": b, "q": (5, -2, 1)}
    wanted = evaluate(term, memory)
    assert compiled(term)({**memory, "len(q)": 3}) == wanted
    values: dict[Var, Term] = {Var("x"): Num(x), Var("y"): Num(y), Var("b", "bool"): Truth(b)}
    assert evaluate(substitute(term, values), memory) == wanted


@for_each("name", [*RIGHT, *WRONG])
def test_a_program_is_read_back_to_itself(name: str) -> None:
    program = {**RIGHT, **WRONG}[name][0]
    assert read_program(show_program(program)) == program
    assert canonical(program) == program


@for_each(
    "text", ["x +", "x y", "(x", "x = 3", "z", "x and y", "b + 1", "q", "q[b]", "len(x)", "ite(x, 1, 2, 3)", "x $ y"]
)
def test_what_is_no_term_is_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        read_term(text if text != "q" else "q + 1", SORTS)


@for_each("text", ["eps", "2*eps", "3/2*len(q)*eps", "eps + 2*eps2", "ln(3)", "1/2", "0"])
def test_an_amount_is_read_back_to_itself(text: str) -> None:
    budgets = frozenset({"eps", "eps2"})
    amount = read_amount(text, budgets, SORTS)
    assert read_amount(str(amount), budgets, SORTS) == amount


def test_a_unit_makes_every_rate_whole_and_nothing_is_cut_off() -> None:
    n = Var("n")
    scales = [Monomial.of(Fraction(3, 2), (n,), "eps"), Monomial.of(Fraction(4), (), "eps")]
    unit = unit_for(scales, [Monomial.of(Fraction(99, 100), (), "eps")])
    for scale in scales:
        rate: Any = evaluate(unit.rate(scale), {"n": 5})
        size = scale.coefficient * (5 if scale.factors else 1)
        assert rate * size == evaluate(unit.denominator, {"n": 5})
    with pytest.raises(ParameterError, match="too coarse"):
        Unit(2).rate(Monomial.of(Fraction(4), (), "eps"))
    with pytest.raises(ParameterError, match="too coarse"):
        Unit(2).count(Monomial.of(Fraction(1, 3), (), "eps"))
    with pytest.raises(ParameterError, match="lacks"):
        Unit(3).rate(scales[0])
    assert isinstance(unit.denominator, App)
