"""Names in a program are looked up as Python does: a variable of the function, else the module's, else Python's own."""

from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter.logic import ProgramError, program_from_source
from viameter.logic.running import run

BUILTINS = {
    "abs": "return abs(x) + vm.lap(1 / eps)",
    "min": "return min(x, 3) + vm.lap(1 / eps)",
    "max": "return max(x, 3) + vm.lap(1 / eps)",
    "int": "return int(x) + vm.lap(1 / eps)",
    "bool": "return (1 if bool(x > 1) else 0) + vm.lap(1 / eps)",
    "len": "return x + vm.lap(len(q) / eps)",
    "sum": "return sum(q) + vm.lap(1 / eps)",
    "range": "s = 0\n    for i in range(3):\n        s = s + x\n    return s + vm.lap(1 / eps)",
    "enumerate": "s = 0\n    for i, y in enumerate(q):\n        s = s + y\n    return s + vm.lap(1 / eps)",
    "Fraction": "return x + vm.lap(Fraction('1/2') / eps)",
    "ln": "return x + vm.lap(1 / ln(3))",
    "log": "return x + vm.lap(1 / log(3))",
    "lap": "return x + lap(1 / eps)",
    "flip": "return x + (1 if flip('1/4') else 0)",
    "vm": "return x + vm.lap(1 / eps)",
    "invariant": "s = 0\n    while s < 3:\n        invariant('s<1> == s<2>')\n        s = s + 1\n    return s",
}
"""What is known by name, each with a body that uses it."""
BINDINGS = ("{} = 5\n    ", "for {} in q:\n        pass\n    ", "{}: int = 5\n    ", "{} = x\n    ")
HEAD = "def f(q: list[int], x: int, eps: vm.Eps) -> int:\n    "


def made(text: str, **names: Any) -> Any:
    return program_from_source(text, adjacent=vm.all_differ("x"), names=names)


@for_each("name", list(BUILTINS))
def test_a_name_that_nothing_is_bound_to_is_known(name: str) -> None:
    made(HEAD + BUILTINS[name])


@for_each("name", list(BUILTINS))
@for_each("bind", ["{} = 5\n    ", "for {} in q:\n        pass\n    ", "{}: int = 5\n    ", "{} = x\n    "])
def test_a_variable_of_that_name_is_the_variable(name: str, bind: str) -> None:
    with pytest.raises(ProgramError):
        made(HEAD + bind.format(name) + BUILTINS[name])


@for_each("name", list(BUILTINS))
def test_a_variable_that_is_assigned_later_is_a_variable_before(name: str) -> None:
    body, _, last = BUILTINS[name].rpartition("return ")
    with pytest.raises(ProgramError):
        made(f"{HEAD}{body}result = {last}\n    {name} = 5\n    return result")


@for_each("name", [name for name in BUILTINS if name not in ("abs", "min", "max", "len", "ln")])
def test_a_parameter_of_that_name_is_the_parameter(name: str) -> None:
    head = HEAD.replace("x: int,", f"x: int, {name}: int,").replace(
        "vm.Eps", "'viameter.Eps'" if name == "vm" else "vm.Eps"
    )
    with pytest.raises(ProgramError):
        made(head + BUILTINS[name])


def _mine(*given: Any) -> int:
    return 7


@for_each("name", list(BUILTINS))
def test_what_the_module_binds_to_a_name_is_what_it_is(name: str) -> None:
    text = HEAD.replace("vm.Eps", "'Eps'") + BUILTINS[name]
    for bound in (_mine, 5, "abs", object()):
        with pytest.raises(ProgramError):
            made(text, **{name: bound})
    for statement in (
        f"def {name}(*given): return 7\n", f"{name} = print\n", f"class {name}: pass\n", f"import os as {name}\n",
        f"from os import path as {name}\n", f"from viameter import geom as {name}\n", f"del {name}\n",
        f"for {name} in (): pass\n", f"if 1:\n    {name} = 5\n", f"from fractions import gcd as {name}\n",
    ):  # fmt: skip
        if name == "vm" and "viameter" in statement:
            continue
        with pytest.raises(ProgramError):
            made(statement + text)


def test_pythons_own_functions_under_their_own_names_are_known() -> None:
    import builtins
    import math
    from fractions import Fraction

    for name in ("abs", "min", "max", "int", "bool", "len", "sum", "range", "enumerate"):
        made(HEAD + BUILTINS[name], **{name: getattr(builtins, name)})
    made(HEAD + BUILTINS["log"], log=math.log)
    made(HEAD + BUILTINS["Fraction"], Fraction=Fraction)
    made("import viameter as vm\nfrom fractions import Fraction\nfrom math import log\n" + HEAD + BUILTINS["Fraction"])
    made("import viameter as vm\nfrom viameter import lap\n" + HEAD + BUILTINS["lap"])


def test_an_attribute_that_a_module_does_not_have_is_not_known() -> None:
    import math

    with pytest.raises(ProgramError, match=r"vm\.lap is not a function that a program may call"):
        made(HEAD.replace("vm.Eps", "'Eps'") + BUILTINS["vm"], vm=math)
    with pytest.raises(ProgramError):
        made(HEAD.replace("list[int]", "list[int]") + BUILTINS["vm"], list=tuple)


def test_loops_are_translated_as_ever_where_a_variable_is_called_len() -> None:
    body = "    total = 0\n    for len in q:\n        total = total + len\n    return total + sum(q)"
    found = program_from_source(f"def f(q: list[int]) -> int:\n{body}", adjacent=vm.all_differ("q"))
    assert run(found.core, {"q": [1, 2, 3]}, {}) == 12


abs = _mine  # what is tested
range: Any = list


def test_functions_of_a_file_see_the_names_of_their_file() -> None:
    with pytest.raises(ProgramError, match="abs is not a function that a program may call"):

        @vm.program(adjacent=vm.all_differ("x"))
        def one(x: int, eps: vm.Eps) -> int:
            return abs(x) + vm.lap(1 / eps)

    with pytest.raises(ProgramError, match=r"a loop over range\(3\) is outside the subset"):

        @vm.program(adjacent=vm.all_differ("x"))
        def two(x: int, eps: vm.Eps) -> int:
            s = 0
            for _ in range(3):
                s = s + x
            return s + vm.lap(1 / eps)

    def inside() -> None:
        min = _mine

        @vm.program(adjacent=vm.all_differ("x"))
        def three(x: int, eps: vm.Eps) -> int:
            return min(x, 3) + vm.lap(1 / eps)

    with pytest.raises(ProgramError, match="min is not a function"):
        inside()
