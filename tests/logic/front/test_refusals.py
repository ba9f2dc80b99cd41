"""What is outside the subset is refused at its line, with what to write instead."""

import linecache
import pickle
import random
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cases import for_each

import viameter
from viameter.errors import ParameterError
from viameter.logic.front.adjacent import added_or_removed, all_differ
from viameter.logic.front.decorator import program_from_source
from viameter.logic.front.errors import ProgramError
from viameter.logic.front.python import compile_function, compile_source

HEAD = "def made(q: list[int], t: int, b: bool, n: int, eps: vm.Eps) -> int:\n    x = 0\n"

# The third line is the one at fault; the error names what is wrong, and what to do.
BODIES: dict[str, tuple[str, str]] = {
    "try:\n        x = 1\n    except ValueError:\n        x = 2": ("try is outside", "total"),
    "with t:\n        x = 1": ("with is outside", "its body alone"),
    "import math": ("an import is outside", "above the function"),
    "from math import pi": ("an import is outside", "above the function"),
    "x = (lambda: 1)()": ("the call", "a program calls"),
    "x = lambda: 1": ("a lambda is outside", "where it is used"),
    "x = [y for y in q]": ("a comprehension is outside", "for loop"),
    "x = sum(y for y in q)": ("the call sum(", "len and sum of an input list"),
    "x = {1: 2}": ("a dict is outside", "integers, bools and lists"),
    "x = {1}": ("a set is outside", "integers, bools and lists"),
    "x = 0.5": ("the float 0.5 is outside", 'Fraction("0.5")'),
    "x = vm.lap(0.5)": ("the float 0.5 is outside", "fraction"),
    "x = 'a'": ("the constant 'a' is outside", "integers"),
    "x = f'{t}'": ("a string is outside", "integers"),
    "x = None": ("the constant None is outside", "integers"),
    "global y": ("global is outside", "its own variables"),
    "yield t": ("yield is outside", "output list"),
    "def inner() -> int:\n        return 1": ("a nested def is outside", "program of its own"),
    "class Inner:\n        pass": ("a class is outside", "integers, bools and lists"),
    "del x": ("del is outside", "stand"),
    "assert n > 0": ("assert is outside", "requires="),
    "raise ValueError": ("raise is outside", "requires="),
    "match t:\n        case 1:\n            x = 2": ("match is outside", "if and elif"),
    "x = 1 if t is n else 2": ("the operator is is outside", "=="),
    "x = 1 if t in q else 2": ("the operator in is outside", "loop"),
    "x = t ** 2": ("the operator ** is outside", "multiply"),
    "x = t | n": ("the operator BitOr is outside", "+ - *"),
    "x = ~t": ("~t is outside", "subset"),
    "x = q[1:2]": ("a slice is outside", "loop"),
    "x = q[-1]": ("a negative index is outside", "len(q) - 1"),
    "x = q[q[t]]": ("read at an index that is read from a list", "i = q[t]"),
    "x = q": ("the list q as a whole", "q[i]"),
    "x = t[0]": ("t is not an input list", "q[i]"),
    "x = t / n": ("t / n is outside", "//"),
    "x = t // 0": ("divides by zero", ""),
    "x = 1 / 0": ("1 / 0 is outside", "//"),
    "x = y": ("y is not known", "parameter"),
    "x = PI": ("PI is not known", "int or bool constant"),
    "x = eps": ("made of a budget, and assigned more than once", "once"),
    "x = t + eps": ("made of a budget", "once"),
    "x = vm.lap(1) * eps": ("eps is a budget", "scale"),
    "q = 1": ("the parameter q is assigned to", "new variable"),
    "t += 1": ("the parameter t is assigned to", "new variable"),
    "for t in range(3):\n        x = 1": ("the parameter t is assigned to", "new variable"),
    "q[0] = 1": ("q[0] is assigned to", "output list"),
    "q.append(1)": ("the input q is changed", "output list"),
    "x = True": ("x is int, and bool is assigned to it", "one sort"),
    "x = b": ("x is int, and bool is assigned to it", "one sort"),
    "x = 1 if t else 2": ("t is a number, and a test is expected", "comparison"),
    "x = 1 if t and b else 2": ("t is a number, and a test is expected", "comparison"),
    "y = 1 if b else (t > 1 if b else t)": ("one branch is a number", "one sort"),
    "if q:\n        x = 1": ("the list q as a whole", "q[i]"),
    "x = len(t)": ("the call len(t) is outside", "len and sum of an input list"),
    "x = min(q)": ("the call min(q) is outside", "min and max of numbers"),
    "x = round(t)": ("the call round(t) is outside", "abs"),
    "x = made(q, t, b, n, eps)": ("made calls itself", "loop"),
    "x = random.uniform(0, 1)": ("random.uniform is not a function", "vm.lap"),
    "x = vm.sum(q)": ("vm.sum is not a function", "vm.lap"),
    "x = other.lap(1)": ("other.lap is not a function", "vm.lap"),
    "x = helper(t)": ("helper is not a function", "other programs"),
    "vm.lap(1 / eps)": ("what is drawn here is not used", "variable"),
    "print(t)": ("the statement print(t) is outside", "append"),
    "t": ("the statement t is outside", "append"),
    "for y in range(0, 3, n):\n        x = 1": ("the step of a range", "range(a, b, 2)"),
    "for y in range(0, 3, 0):\n        x = 1": ("the step of a range", "range(a, b, 2)"),
    "for y in zip(q, q):\n        x = 1": ("a loop over zip(q, q)", "for x in q"),
    "for y in reversed(q):\n        x = 1": ("a loop over reversed(q)", "for x in q"),
    "for y in range(t):\n        x = 1\n    else:\n        x = 2": ("the else of a loop", "flag"),
    "for y in range(t / 2):\n        x = 1": ("the end of a range is on the grid of 1/2", "//"),
    "break": ("break stands outside a loop", ""),
    "x, y = 1": ("an assignment to (x, y)", "variables"),
    "x.y = 1": ("an assignment to x.y", "variables"),
    "(x := 1)": ("the statement", "variable"),
    "x = (y := 1) + 1": ("an assignment within an expression", "of its own"),
    "x: vm.Between(0, 1) = 1": ("bounds are for inputs", "int"),
    "x: bool = t": ("x is bool, and this is int", "comparison"),
    "x: str = 1": ("the type str is outside", "int, bool"),
    "return": ("nothing is returned", "releases"),
    "return q": ("the list q as a whole", "q[i]"),
    "return [1]": ("a list is returned", "-> list"),
    "return b == t > 0.5": ("the float 0.5", "fraction"),
    "return t / 2": ("result is int, and this is on the grid of 1/2", 'vm.Grid("1/2")'),
    "y = y": ("y is read, and nothing has been assigned to it", "assign to it first"),
    "x = e2\n    e2 = eps / 2": ("e2 is read, and nothing has been assigned to it", "assign to it first"),
    "vm.invariant('x<1> == x<2>')": ("an invariant stands elsewhere", "top of the body"),
    "x = vm.lap(t)": ("a scale must be public: t is private", "public parameters"),
    "x = vm.lap(q[0] / eps)": ("a scale must be public: q is private", "len(list)"),
    "x = vm.lap((n + sum(q)) / eps)": ("a scale must be public: sum(q) is not a public", "len(list)"),
    "x = vm.lap(x / eps)": ("a scale must be public: x is a variable", "public parameters"),
    "x = vm.gauss(2 / eps)": ("2 / eps is not a scale", "no budget"),
    "x = vm.lap(eps)": ("eps is not a scale", "one budget below"),
    "x = vm.lap(1 / n / eps)": ("1 / n / eps is not a scale", "one budget below"),
    "x = vm.lap(1 / (eps * eps))": ("is not a scale", "one budget below"),
    "x = vm.lap(1 / eps + n)": ("is not a scale", "multiplied and divided only"),
    "x = vm.lap(max(n, eps))": ("max(n, eps) is not a scale", "multiplied and divided only"),
    "x = vm.lap(-1 / eps)": ("the scale -1 / eps is not positive", "positive"),
    "x = vm.lap(0)": ("the scale 0 is not positive", "positive"),
    "x = vm.lap(-n)": ("the scale -n is not positive", "positive"),
    "x = vm.lap(1 / 0)": ("divides by zero", ""),
    "x = vm.lap()": ("are not those of vm.lap", "vm.lap(scale)"),
    "x = vm.lap(1, 2)": ("are not those of vm.lap", "vm.lap(scale)"),
    "x = vm.flip(1, grid=2)": ("are not those of vm.flip", "vm.flip(p)"),
    "x = vm.lap(1, scale=1)": ("are not those of vm.lap", "vm.lap(scale)"),
    "x = vm.lap(1, shift=1)": ("shift= is no text", 'shift="1"'),
    "x = vm.lap(1, grid=n)": ("grid=n is no positive constant", '"1/100"'),
    "x = vm.lap(1, grid=-1)": ("grid=-1 is no positive constant", '"1/100"'),
    "x = vm.lap(1, center=t / 2)": ("the center is on the grid of 1/2", "one grid"),
    "x = vm.uniform(0, t / 2)": ("an end of uniform is on the grid of 1/2", "whole"),
    "y = vm.flip(n)": ("n is no fixed probability", '"3/4"'),
    "y = vm.flip(2)": ("2 is no fixed probability", '"3/4"'),
    "x = vm.geom(1)": ("geom(1) has no noise", "between 0 and 1"),
    "x = vm.choose(t, 1)": ("choose takes an input list, not t", "as it is"),
}


@for_each("body", BODIES)
def test_a_statement_outside_the_subset_is_refused_at_its_line(body: str) -> None:
    what, hint = BODIES[body]
    text = f"{HEAD}    {body}\n    return x\n"
    with pytest.raises(ProgramError) as caught:
        compile_source(text, private=frozenset({"q", "t"}), names=AROUND)
    shown = str(caught.value)
    assert what in caught.value.what, shown
    assert hint in caught.value.hint, shown
    fault = 6 if "else:" in body else 3
    assert caught.value.line == fault
    assert shown.startswith(f"<text>:{fault}: {text.splitlines()[fault - 1].strip()} : ")


def helper(x: int) -> int:
    return x


AROUND = {"random": random, "helper": helper, "other": SimpleNamespace(lap=helper), "vm": viameter}


WHOLE: dict[str, tuple[int, str]] = {
    "def made(q, eps: vm.Eps) -> int:\n    return 1": (1, "the parameter q has no annotation"),
    "def made(\n    q: str,\n    eps: vm.Eps) -> int:\n    return 1": (2, "the type str is outside"),
    "def made(q: list[vm.Eps]) -> int:\n    return 1": (1, "a list of budgets"),
    "def made(q: list[list[int]]) -> int:\n    return 1": (1, "a list of lists"),
    "def made(q: vm.Grid(0)) -> int:\n    return 1": (1, "expected a positive step"),
    "def made(q: vm.Grid(0.1)) -> int:\n    return 1": (1, "the type vm.Grid(0.1) is outside"),
    "def made(q: vm.Between(1, 0)) -> int:\n    return 1": (1, "expected low <= high"),
    "def made(q: vm.Between(0)) -> int:\n    return 1": (1, "high"),
    "def made(q: 'lis t') -> int:\n    return 1": (1, "the type 'lis t' is outside"),
    "def made(q: int):\n    return 1": (1, "does not say what it returns"),
    "def made(q: int) -> vm.Eps:\n    return 1": (1, "vm.Eps is no type of a result"),
    "def made(q: int) -> vm.Between(0, 1):\n    return 1": (1, "is no type of a result"),
    "def made(q: int = 1) -> int:\n    return 1": (1, "a parameter has a default"),
    "def made(*q: int) -> int:\n    return 1": (1, "the parameter *q"),
    "def made(end: int) -> int:\n    return 1": (1, "end is a word of the core language"),
    "def made(rho: vm.Eps) -> int:\n    return 1": (1, "rho is a word of the core language"),
    "def made(é: int) -> int:\n    return 1": (1, "é is a word"),
    "def made(q: int) -> int:\n    é = 1\n    return é": (2, "letters outside ASCII"),
    "def made(q: int) -> int:\n    x = 1": (2, "may come to its end without a return"),
    "def made(q: int) -> int:\n    if q > 0:\n        return 1": (2, "may come to its end without a return"),
    "def made(q: int) -> int:\n    while q > 0:\n        return 1": (2, "may come to its end without a return"),
    "def made(q: int) -> int:\n    while True:\n        break": (2, "may come to its end without a return"),
    "def made(q: int) -> list[int]:\n    out = []\n    return out": (1, "nothing is ever appended to out"),
    "def made(q: int) -> list[int]:\n    out = [1]\n    if q > 0:\n        return [2]\n    return out": (
        5,
        "out is not the output list result",
    ),
    "def made(q: int) -> list[int]:\n    out = []\n    x = out[0]\n    return out": (3, "the output list out is read"),
    "def made(q: int) -> list[int]:\n    out = []\n    x = len(out)\n    return out": (3, "the call len(out)"),
    "def made(q: int) -> list[int]:\n    out = []\n    x = out\n    return out": (3, "the output list out is read"),
    "def made(q: int) -> list[int]:\n    out = []\n    for x in out:\n        pass\n    return out": (
        3,
        "a loop over out",
    ),
    "def made(q: int) -> list[int]:\n    out = [1]\n    out = []\n    return out": (3, "made anew"),
    "def made(q: int) -> list[int]:\n    for i in range(q):\n        out = [i]\n    return out": (3, "made anew"),
    "def made(q: int) -> list[int]:\n    out = [0] * q\n    return out": (2, "a list in an expression"),
    "def made(q: int) -> list[int]:\n    out = []\n    out += q\n    return out": (3, "q is not what an output list"),
    "def made(q: int) -> list[bool]:\n    out = []\n    out.append(q)\n    return out": (
        3,
        "out is bool, and this is int",
    ),
    "def made(q: int) -> list[int]:\n    out = []\n    out.append(q / 2)\n    return out": (3, "on the grid of 1/2"),
    "def made(q: int) -> int:\n    out = []\n    out.append(q)\n    return out": (4, "a list is returned"),
    "def made(q: int) -> int:\n    x: int = 1\n    x: bool = True\n    return x": (3, "x is int elsewhere"),
    "def made(q: int) -> int:\n    x: int = []\n    x.append(1)\n    return 1": (2, "x is not of this type"),
    "def made(x: vm.Grid('1/2')) -> int:\n    while x > 1:\n        y = y * x\n    y = x\n    return 1": (
        1,
        "gets finer",
    ),
    "def made(q: list[int]) -> int:\n    for i in range(9):\n        e = i\n        vm.invariant('e')\n    return 1": (
        4,
        "an invariant stands elsewhere",
    ),
    "def made(q: list[int]) -> int:\n    for i in range(9):\n        vm.invariant(3)\n    return 1": (3, "one text"),
    "def made(q: int) -> int:\n    return (1": (2, "this is not Python"),
    "x = 1": (1, "expected one def"),
    "def made() -> int: return 1\ndef more() -> int: return 1": (1, "expected one def, and found made, more"),
}


@for_each("text", WHOLE)
def test_a_function_outside_the_subset_is_refused_at_its_line(text: str) -> None:
    line, what = WHOLE[text]
    with pytest.raises(ProgramError) as caught:
        compile_source(text + "\n")
    assert what in str(caught.value)
    assert caught.value.line == line
    assert caught.value.file == "<text>"


@for_each(
    ("above", "call"),
    [
        ("import random as vm", "vm.uniform(0, 1)"),
        ("from random import uniform", "uniform(0, 1)"),
        ("from viameter import expo as lap", "lap(1)"),
        ("def lap(scale): return 0", "lap(1)"),
        ("lap = round", "lap(1)"),
        ("from mine import Grid as vm", "vm.logic.lap(1)"),
        ("import numpy", "numpy.random.uniform(0, 1)"),
        ("from mine import log", "lap(1 / log(3))"),
        ("from math import log2 as log", "lap(1 / log(3))"),
        ("from mine import Fraction", "lap(Fraction(1, 3))"),
        ("import mine", "lap(mine.Fraction(1, 3))"),
    ],
)
def test_what_a_text_takes_from_elsewhere_is_not_the_library(above: str, call: str) -> None:
    text = f"{above}\ndef made(x: int) -> int:\n    y = {call}\n    return x + y\n"
    with pytest.raises(ProgramError, match=r"is not a function that a program|is not the natural|a scale must be"):
        compile_source(text, "made")


@for_each(
    ("above", "kind"),
    [
        ("from mine import Grid", "Grid(2)"), ("from mine import Between", "list[Between(0, 1)]"),
        ("import mine", "mine.Eps"), ("Eps = 3", "Eps"), ("class int: pass", "int"),
        ("from mine import Money", "Money"),
    ],
)  # fmt: skip
def test_types_from_elsewhere_are_not_known(above: str, kind: str) -> None:
    with pytest.raises(ProgramError, match="is outside the subset"):
        compile_source(f"{above}\ndef made(x: {kind}) -> bool: return True\n")


def test_what_a_text_takes_from_the_library_is_known() -> None:
    for above, call in (
        ("import viameter as vm", "vm.lap(1)"), ("from viameter import lap", "lap(1)"),
        ("import viameter", "viameter.lap(1)"), ("import fractions", "lap(fractions.Fraction(1, 3))"),
        ("from viameter.logic.front import markers as vm", "vm.lap(1)"), ("import math", "lap(1 / math.log(3))"),
        ("from math import log", "lap(1 / log(3))"), ("from fractions import Fraction", "lap(Fraction(1, 3))"),
        ("", "vm.lap(1)"),
    ):  # fmt: skip
        compile_source(f"{above}\ndef made(x: int) -> int:\n    y = {call}\n    return x + y\n")


def test_several_functions_are_told_apart_by_name() -> None:
    text = "def made() -> int: return 1\ndef more() -> int: return 2\n"
    assert compile_source(text, "more").program.name == "more"
    with pytest.raises(ProgramError, match="expected a def of less, and found made, more"):
        compile_source(text, "less")


def test_rows_that_may_be_added_or_removed_are_not_read_by_their_index() -> None:
    for body, what in (
        ("    return q[0]", "is read by its index"),
        ("    for i, x in enumerate(q):\n        pass\n    return 1", "gives rows an index"),
        ("    return vm.lap(len(q) / eps)", "len(q) tells whether a row was added or removed"),
        ("    return vm.choose(q, 2 / eps)", "rows of q may be added or removed"),
    ):
        with pytest.raises(ProgramError) as caught:
            compile_source(
                f"def made(q: list[int], eps: vm.Eps) -> int:\n{body}\n",
                private=frozenset({"q", "q.in"}),
                slots=frozenset({"q"}),
            )
        assert what in str(caught.value)
        assert caught.value.line == 2


def test_requirements_that_cannot_be_read_are_refused() -> None:
    text = "def made(n: int, x: vm.Grid('1/2'), q: list[int], eps: vm.Eps) -> int: return n\n"
    for fact in ("n >= m", "n +", "n", "eps > 1", "n >= 1/2", "n >= 1 and 2 < 1", "x[0] > 1", "q[x] > 1"):
        with pytest.raises(ProgramError, match="cannot be read"):
            compile_source(text, requires=fact)
    for wrong in (3, [3]):
        with pytest.raises(ParameterError, match="expected facts as text"):
            compile_source(text, requires=wrong)  # type: ignore[arg-type]


CALLEE = program_from_source(
    "def inner(p: list[vm.Between(0, 1)], u: int, n: int, e: vm.Eps) -> int: return u + vm.lap(n / e) + p[0]",
    adjacent=all_differ("p"), requires="n >= 1",
)  # fmt: skip
MANY = program_from_source(
    "def many(p: list[vm.Between(0, 1)], e: vm.Eps) -> list[int]: return [p[0] + vm.lap(1 / e)]",
    adjacent=all_differ("p"),
)


@for_each(
    ("call", "what"),
    [
        ("inner(q, t, 1)", "are not those of inner"),
        ("inner(q, t, 1, eps, 3)", "are not those of inner"),
        ("inner(q, t, 1, eps, e=eps)", "are not those of inner"),
        ("inner(q, t, t, eps)", "a scale must be public: scales of inner depend on n"),
        ("inner(t, t, 1, eps)", "t is no input list"),
        ("inner(w, t, 1, eps)", "a list of another type"),
        ("inner(r, t, 1, eps)", "a list of another type"),
        ("inner(q, t / 2, 1, eps)", "u of inner is on a grid of 1"),
        ("inner(q, t, 1, t)", "a scale must be public: t is private"),
        ("inner(q, t, 1, eps * n)", "eps * n is no budget for e"),
        ("inner(q, t, 1, eps * eps)", "eps * eps is no budget for e"),
        ("inner(q, t, 1, -eps)", "-eps is no budget for e"),
        ("inner(q, t, 0, eps)", "not positive"),
        ("many(q, eps)", "many returns a list"),
        ("inner", "inner is not known"),
    ],
)
def test_a_call_of_another_program_that_does_not_fit_is_refused(call: str, what: str) -> None:
    text = (
        "def made(q: list[vm.Between(0, 1)], w: list[int], r: list[vm.Between(0, 1, grid='1/2')], t: int, n: int, "
        f"eps: vm.Eps) -> int:\n    return 1 + {call}\n"
    )
    with pytest.raises(ProgramError) as caught:
        compile_source(text, private=frozenset({"q", "t"}), names={"inner": CALLEE, "many": MANY})
    assert what in str(caught.value)
    assert caught.value.line == 2


def test_rows_are_passed_on_only_to_a_program_with_the_same_adjacency() -> None:
    text = "def {name}(q: list[int], eps: vm.Eps) -> int: return {body} + vm.lap(1 / eps)\n"
    fixed = program_from_source(text.format(name="fixed", body="sum(q)"), adjacent=all_differ("q"))
    rows = program_from_source(text.format(name="rows", body="sum(q)"), adjacent=added_or_removed("q"))
    both = program_from_source(
        text.format(name="both", body="rows(q, eps)"), adjacent=added_or_removed("q"), names={"rows": rows}
    )
    assert "rows_total := rows_total + q[rows_slot]" in both.text
    for callee, adjacency in ((fixed, added_or_removed("q")), (rows, all_differ("q"))):
        with pytest.raises(ProgramError, match="may be added or removed, but not in both programs"):
            program_from_source(
                text.format(name="made", body="callee(q, eps)"), adjacent=adjacency, names={"callee": callee}
            )


def test_a_function_without_a_file_is_refused() -> None:
    space: dict[str, object] = {}
    exec("def made(q: int) -> int: return q", space)
    # Python 3.13 keeps the text of `python -c` under the name that exec gives: it is another text than the function's.
    linecache.cache["<string>"] = (30, None, ["def made(q: int) -> int: return 0\n"], "<string>")
    try:
        with pytest.raises(ProgramError, match="given as text"):
            compile_function(space["made"])  # type: ignore[arg-type]
    finally:
        del linecache.cache["<string>"]
    with pytest.raises(ProgramError, match="given as text"):
        compile_function(space["made"])  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="no lambda"):
        compile_function(lambda q: q)
    with pytest.raises(ParameterError, match="above a def"):
        compile_function(3)  # type: ignore[arg-type]


def test_an_error_keeps_what_it_speaks_of_when_it_is_pickled() -> None:
    error = ProgramError("what", file="a.py", line=3, text="  x = 1", hint="do")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "a.py:3: x = 1 : what; do"
    assert (again.file, again.line, again.hint) == ("a.py", 3, "do")


EXECUTED = {
    "exec": "exec('N = 50')",
    "globals": "globals()['N'] = 50",
    "setattr": "setattr(vm, 'lap', vm.expo)",
    "an attribute": "vm.lap = vm.expo",
    "an assignment of a call": "M = exec('N = 50')",
    "an assignment that assigns": "M = (N := 50)",
    "a call of what is called like the library's": "def Grid(x): exec('N = 50', globals())\nM = Grid(1)",
    "an annotation": "M: exec('N = 50') = 1",
    "an annotation of a function": "def g(x: exec('N = 50')): pass",
    "a type of a result": "def g(x) -> exec('N = 50'): pass",
    "a default": "def g(x=exec('N = 50')): pass",
    "a decorator of another function": "@print\ndef g(x): pass",
    "a class": "class vm: lap = round",
    "a condition": "if True: N = 50",
    "a loop": "for N in (50,): pass",
    "a try": "try: N = 50\nexcept ValueError: pass",
    "a with": "with open('x') as N: pass",
    "a deletion": "del N",
    "an addition": "N += 47",
    "every name of a module": "from math import *",
}
TEXT = "def made(q: int, eps: vm.Eps) -> int:\n    return N * q + vm.lap(1 / eps)\n"


@for_each("statement", list(EXECUTED))
@for_each("where", ["above", "below"])
def test_what_a_text_would_execute_is_refused_at_its_line(statement: str, where: str) -> None:
    lines = [EXECUTED[statement] + "\n", TEXT]
    text = "N = 3\n" + "".join(lines if where == "above" else reversed(lines))
    with pytest.raises(ProgramError, match=r"would have to be executed|which is not executed|may bind any") as caught:
        program_from_source(text, adjacent=all_differ("q"), name="made")
    assert caught.value.line in ((2, 3) if where == "above" else (4, 5))


def test_what_a_text_needs_around_its_functions_is_read() -> None:
    text = (
        '"""Programs."""\nfrom __future__ import annotations\nimport viameter as vm\nfrom fractions import Fraction\n'
        'N = 3\nHALF = Fraction(1, 2)\nADJACENT = vm.all_differ("q", by=1)\nK: int = 4\nA, B = 1, 2\n'
        "def other(x: vm.Between(0, 3)) -> int: return x\n@vm.program(adjacent=ADJACENT)\n"
    )
    assert "3 * q" in program_from_source(text + TEXT, adjacent=all_differ("q"), name="made").text
    assert "3 * q" in program_from_source(
        f"from viameter import program\nN = 3\n@program(adjacent=None)\n{TEXT}", adjacent=all_differ("q")
    ).text  # fmt: skip


@for_each(
    "above",
    [
        "def twice(g): return lambda q, eps: 100 * g(q, eps)\n@twice\n",
        "@staticmethod\n",
        "@vm.lap(1)\n",
        "@vm.program\n",
        "def program(**given): return print\n@program(adjacent=None)\n",
        "import os as vm\n@vm.program(adjacent=None)\n",
        "@vm.program(adjacent=None)\n@vm.program(adjacent=None)\n",
    ],
)
def test_another_decorator_in_a_text_is_refused(above: str) -> None:
    with pytest.raises(ProgramError, match="decorator"):
        program_from_source(f"N = 3\n{above}{TEXT}".replace("vm.Eps", "'Eps'"), adjacent=all_differ("q"), name="made")


@for_each("part", ["yield 1", "x = yield", "yield from q", "x = 1 if False else (yield)"])
def test_what_makes_a_generator_is_refused_where_it_is_never_reached(part: str) -> None:
    with pytest.raises(ProgramError, match=r"yield.* is outside the subset"):
        program_from_source(f"{TEXT}    {part}\n", adjacent=all_differ("q"), names={"N": 3})


def test_a_function_under_two_decorators_is_refused() -> None:
    def same(function: Any) -> Any:
        return function

    with pytest.raises(ProgramError, match="under another decorator"):

        @same
        @viameter.program(adjacent=all_differ("q"))
        def above(q: int, eps: viameter.Eps) -> int:
            return q + viameter.lap(1 / eps)

    with pytest.raises(ProgramError, match="under another decorator"):

        @viameter.program(adjacent=all_differ("q"))
        @same
        def below(q: int, eps: viameter.Eps) -> int:
            return q + viameter.lap(1 / eps)
