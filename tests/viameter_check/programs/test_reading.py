"""The text of expressions, scales, amounts and programs: what is read, and what is refused with its line."""

import random
from fractions import Fraction

import pytest
from tests.cases import for_each
from tests.viameter_check.programs.python_terms import built, evaluate, random_term
from tests.viameter_check.programs.zoo import ABOVE, CLAMPED, LAPLACE, SPARSE

from viameter_check.programs.reading import Reader, read_term
from viameter_check.programs.scales import read_amount, read_monomial
from viameter_check.programs.scopes import Scope
from viameter_check.programs.showing import show
from viameter_check.programs.syntax import Assign, If, Laplace, Sample, While, statements_in
from viameter_check.programs.terms import number, truth, variable
from viameter_check.programs.texts import read_program
from viameter_check.programs.walking import substitute
from viameter_check.report import Refused

SCOPE = Scope(
    "a test", {"x": "int", "y": "int", "b": "bool", "q": "list", "cost.ln(3)": "int"}, {"z": "int"}, frozenset("q")
)


def python_text(raw: object) -> str:
    """A nested tuple as fully bracketed text."""
    if isinstance(raw, bool):
        return str(raw).lower()
    if not isinstance(raw, tuple):
        return f"({raw})"
    op, *args = raw
    texts = [python_text(arg) for arg in args]
    if op == "neg":
        return f"(-{texts[0]})"
    if op == "not":
        return f"(not {texts[0]})"
    return f"{op}({', '.join(texts)})" if op in ("abs", "min", "max", "ite") else f"({texts[0]} {op} {texts[1]})"


def test_bracketed_text_is_read_as_it_is_meant() -> None:
    chosen = random.Random(11)
    for _ in range(300):
        raw = random_term(chosen, 3)
        assert Reader(python_text(raw), SCOPE).term() is built(raw)


@for_each(
    "text",
    ["x - y - 1", "x + y*2 - 3", "-x*y", "x // 2 // 2", "x % 3 * 2", "not b and b", "b or b and not b", "x < y < 3",
     "x == y and y != 2 or b", "not x < y", "1 <= x <= y <= 3", "x - -y", "2*x % 3 - 1", "not not b", "x < y and b"],
)  # fmt: skip
def test_operations_bind_as_in_python(text: str) -> None:
    for x in (-2, 0, 1, 3):
        for y in (-1, 0, 2):
            for b in (False, True):
                term = Reader(text, SCOPE).term()
                values = {variable("x"): number(x), variable("y"): number(y), variable("b", "bool"): truth(b)}
                (found,) = substitute([term], values)
                assert found.leaf == eval(text, {}, {"x": x, "y": y, "b": b}), (text, x, y, b)


def test_implication_binds_least_and_to_the_right() -> None:
    for text, brackets in (
        ("b => b => x < y", "b => (b => (x < y))"),
        ("b or x < y => b and b", "(b or (x < y)) => (b and b)"),
    ):
        assert Reader(text, SCOPE).term() is Reader(brackets, SCOPE).term()
    assert evaluate(("=>", False, False), {}) is True


@for_each(
    ("text", "message"),
    [
        ("x +", "did not expect 'the end'"),
        ("x y", "did not expect 'y'"),
        ("x & y", "cannot read"),
        ("z", "'z' needs a side"),
        ("x<1>", "'x' has no side"),
        ("w", "'w' is not a variable"),
        ("w<1>", "'w' is not a variable"),
        ("q", "only read at an index"),
        ("q<1>[0]", "'q' has no side"),
        ("q[b]", "read needs int"),
        ("x[0]", "did not expect '\\['"),
        ("len(x)", "'x' is not an input list"),
        ("len(q", "expected '\\)'"),
        ("b + 1", "\\+ needs int"),
        ("x and b", "and needs bool"),
        ("x == b", "== needs int"),
        ("not x", "not needs bool"),
        ("ite(x, x, x)", "ite needs bool"),
        ("ite(b, x, b)", "ite needs int"),
        ("min(x)", "takes 2 arguments"),
        ("abs(x, y)", "takes 1 arguments"),
        ("true<1>", "expected a name"),
        ("if", "did not expect 'if'"),
        ("x" * 20001, "characters"),
        ("(" * 40 + "x" + ")" * 40, "nested"),
        ("b => " * 40 + "b", "nested"),
        ("1" * 301, "digits"),
        ("x < ", "did not expect"),
        ("", "did not expect 'the end'"),
        ("١", "cannot read"),
        ("cost.eps", "not a variable"),
        ("<1>", "did not expect"),
    ],
)
def test_what_is_no_expression_is_refused(text: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        read_term(text, SCOPE, Reader(text, SCOPE).term().sort)
    assert show(read_term("cost.ln(3) + z<1>", SCOPE, "int")) == "cost.ln(3) + z<1>"


def test_the_sort_is_asked_for() -> None:
    with pytest.raises(Refused, match="expected bool"):
        read_term("x", SCOPE)
    for value in (None, 3, ["x"], True):
        with pytest.raises(Refused, match="is not text"):
            read_term(value, SCOPE)
        with pytest.raises(Refused, match="is not text"):
            read_amount(value, SCOPE, frozenset())


def test_scales_are_over_a_budget_and_amounts_times_one() -> None:
    budgets = frozenset(["eps", "eps2"])
    for text, coefficient, factors, base in (
        ("2/eps", Fraction(2), [], "eps"),
        ("4*x/eps", Fraction(4), ["x"], "eps"),
        ("1/2/eps2*y*3*x", Fraction(3, 2), ["x", "y"], "eps2"),
        ("3/2", Fraction(3, 2), [], "1"),
        ("(x + 1)*len(q)/ln(9/6)", Fraction(1), ["len(q)", "x + 1"], "ln(3/2)"),
        ("(2)*x/eps", Fraction(2), ["x"], "eps"),
    ):
        found = read_monomial(Reader(text, SCOPE), budgets, scale=True)
        assert (found.coefficient, [show(factor) for factor in found.factors], found.base) == (
            coefficient,
            factors,
            base,
        )
    for text in (
        "2*eps",
        "2/x",
        "2/eps/eps",
        "2/0",
        "b/eps",
        "2/eps/eps2",
        "eps",
        "2/ln(1)",
        "2/ln(1/2)",
        "1/ln(3/0)",
        "*2",
    ):
        with pytest.raises(Refused):
            read_monomial(Reader(text, SCOPE), budgets, scale=True)
    parts = read_amount("2*x*eps + ln(3)/2 + 1/3", SCOPE, budgets)
    assert [(part.coefficient, part.base) for part in parts] == [
        (Fraction(2), "eps"), (Fraction(1, 2), "ln(3)"), (Fraction(1, 3), "1"),
    ]  # fmt: skip
    for text in ("2/eps", "eps*eps", "eps - eps", "", "eps eps", "eps +"):
        with pytest.raises(Refused):
            read_amount(text, SCOPE, budgets)


def test_statements_know_their_lines() -> None:
    found = [(type(part), part.line) for part in statements_in(read_program(ABOVE).body)]
    assert found[:2] == [(Sample, 6), (Assign, 7)]
    assert (While, 11) in found and (If, 13) in found
    (loop,) = (part for part in read_program(ABOVE).body if isinstance(part, While))
    assert loop.last == 18
    branch = read_program(CLAMPED).body[0]
    assert isinstance(branch, If) and (branch.line, branch.last) == (5, 13)


def test_a_program_is_read_in_full() -> None:
    program = read_program(SPARSE)
    assert program.name == "sparse" and program.inputs == {"q": "list", "t": "int", "N": "int"}
    assert program.budgets == {"eps"} and [show(fact) for fact in program.requires] == ["1 <= N"]
    assert program.variables == {"noise": "int", "noisy_t": "int", "count": "int", "i": "int", "x": "int"}
    assert program.outputs == {"answers"} and program.output == "answers" and program.output_sort == "list"
    law = next(part.law for part in statements_in(program.body) if isinstance(part, Sample) and part.target == "x")
    assert isinstance(law, Laplace) and law.scale.coefficient == 4 and law.scale.base == "eps"


@for_each(
    ("old", "new", "line", "message"),
    [
        ("program laplace", "prog laplace", 1, "expected 'program NAME'"),
        ("program laplace", "program", 1, "is not a name"),
        ("input q: int", "input q: real", 2, "not the sort"),
        ("input q: int", "input cost.eps: int", 2, "means something else"),
        ("input q: int", "input same.q: bool", 2, "means something else"),
        ("input q: int", "input out.R: int", 2, "means something else"),
        ("input q: int", "input any.k: int", 2, "means something else"),
        ("input q: int", "input while: int", 2, "means something else"),
        ("input q: int", "input abs: int", 2, "means something else"),
        ("input q: int", "input q<1>: int", 2, "is not a name"),
        ("input q: int", "input q: int on -1/2", 2, "expected a whole number"),
        ("input q: int", "input q: int on 0", 2, "not a grid"),
        ("input q: int", "input q: int on 1/0", 2, "divides by zero"),
        ("input q: int", "input q: bool on 1/2", 2, "not a grid"),
        ("input q: int", "input q: int\ninput q: int", 3, "stands twice"),
        ("budget eps", "budget q", 3, "stands twice"),
        ("budget eps", "budget rho", 3, "means something else"),
        ("budget eps", "budget delta", 3, "means something else"),
        ("budget eps", "budget ln", 3, "means something else"),
        ("budget eps", "budget 1", 3, "is not a name"),
        ("budget eps", "budget a.b", 3, "means something else"),
        ("budget eps", "bogus eps", 3, "expected input, budget"),
        ("begin", "requires noise <= 1\nbegin", 4, "not a variable of requires"),
        ("begin", "requires q\nbegin", 4, "expected bool"),
        ("begin", "requires any.k <= 1\nbegin", 4, "not a variable"),
        ("begin", "each q: q <= 1\nbegin", 4, "not an input list"),
        ("noise :=$ lap(1/eps)", "noise :=$ lap(1/other)", 5, "only numbers and a budget"),
        ("noise :=$ lap(1/eps)", "noise :=$ lap(0/eps)", 5, "above 0"),
        ("noise :=$ lap(1/eps)", "noise :=$ lap((-1)/eps)", 5, "is negative"),
        ("noise :=$ lap(1/eps)", "noise :=$ lap(1/eps, true)", 5, "a center is int"),
        ("noise :=$ lap(1/eps)", "noise :=$ gauss(1/eps)", 5, "only numbers"),
        ("noise :=$ lap(1/eps)", "noise :=$ gauss(1/ln(3))", 5, "over no budget"),
        ("noise :=$ lap(1/eps)", "noise :=$ normal(1/eps)", 5, "is not a law"),
        ("noise :=$ lap(1/eps)", "noise :=$ choose(q, 1/eps)", 5, "is not an input list"),
        ("noise :=$ lap(1/eps)", "noise :=$ flip(3/2)", 5, "not a probability"),
        ("noise :=$ lap(1/eps)", "noise :=$ uniform(0)", 5, "expected 2 integers"),
        ("noise :=$ lap(1/eps)", "noise :=$ uniform(0, true)", 5, "expected 2 integers"),
        ("noise :=$ lap(1/eps)", "noise :=$ call f(true)", 5, "expected 1 integers"),
        ("noise :=$ lap(1/eps)", "noise :=$ flip(1/2)", 6, "needs int"),
        ("noise :=$ lap(1/eps)", "q :=$ lap(1/eps)", 5, "not a variable to assign to"),
        ("noise :=$ lap(1/eps)", "eps := 1", 5, "not a variable to assign to"),
        ("noise :=$ lap(1/eps)", "cost.eps := 1", 5, "means something else"),
        ("noise :=$ lap(1/eps)", "x<1> := 1", 5, "expected a name"),
        ("noise :=$ lap(1/eps)", "noise := 1\n  noise := true", 6, "is assigned to it"),
        ("noise :=$ lap(1/eps)", "append(q, 1)", 5, "not a list to append to"),
        ("noise :=$ lap(1/eps)", "append(l, 1)\n  l := 1", 6, "not a variable to assign to"),
        ("noise :=$ lap(1/eps)", "append(l, 1)\n  m := len(l)", 6, "not an input list"),
        ("noise :=$ lap(1/eps)", "append(l, 1)\n  m := l[0]", 6, "not a variable"),
        ("noise :=$ lap(1/eps)", "append(l, true)", 5, "integer is appended"),
        ("noise :=$ lap(1/eps)", "noise := 1 1", 5, "did not expect"),
        ("noise :=$ lap(1/eps)", "noise := unknown", 5, "not a variable"),
        ("noise :=$ lap(1/eps)", "noise := eps", 5, "not a variable"),
        ("noise :=$ lap(1/eps)", "if 1 then\n  end\n  noise := 1", 5, "a test is bool"),
        ("noise :=$ lap(1/eps)", "if true do\n  end\n  noise := 1", 5, "expected 'then'"),
        ("noise :=$ lap(1/eps)", "while true do\n  else\n  end\n  noise := 1", 6, "expected ':='"),
        ("noise :=$ lap(1/eps)", "", 5, "expected a name"),
        ("end\nreturn", "return", 7, "expected ':='"),
        ("return result", "return other", 8, "expected 'return VARIABLE'"),
        ("return result", "return result\nskip", 9, "did not expect anything after"),
        ("return result", "return result on -1", 8, "expected a whole number"),
        ("return result\n", "", 7, "ends too early"),
        ("result := q + noise", "result := 'q'", 6, "cannot read"),
    ],
)
def test_a_text_that_is_no_program_is_refused_with_its_line(old: str, new: str, line: int, message: str) -> None:
    assert old in LAPLACE
    with pytest.raises(Refused, match=message) as refusal:
        read_program(LAPLACE.replace(old, new))
    assert refusal.value.where == f"[{line}]" and str(refusal.value).startswith(f"line {line}: ")


def test_texts_that_are_no_text_or_far_too_long_are_refused() -> None:
    for text in (
        None,
        3,
        LAPLACE + "\n" * 600 + "x",
        LAPLACE.replace("q", "ö"),
        LAPLACE.replace("\n", "\r\n"),
        "q" * 100_001,
    ):
        with pytest.raises(Refused):
            read_program(text)
    deep = "".join(f"{'  ' * n}if true then\n" for n in range(40))
    with pytest.raises(Refused, match="nested"):
        read_program(LAPLACE.replace("  noise :=$ lap(1/eps)\n", deep))


def test_an_input_list_is_not_returned() -> None:
    with pytest.raises(Refused, match="is an input list"):
        read_program("program it\ninput q: list\nbegin\nend\nreturn q\n")
    assert read_program("program it\ninput q: int\nbegin\nend\nreturn q\n").output_sort == "int"


def test_facts_about_elements_speak_of_their_own_list() -> None:
    text = "program it\ninput q: list\ninput w: list\neach q: {}\nbegin\n  x := 0\nend\nreturn x\n"
    assert read_program(text.format("0 <= q[any.k] <= len(w)")).each[0][0] == "q"
    for fact in ("w[any.k] <= 1", "w[0] <= 1", "q[any.k] <= w[any.k]"):
        with pytest.raises(Refused, match="reads 'w'"):
            read_program(text.format(fact))
