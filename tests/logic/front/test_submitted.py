"""A text that was submitted gives the programs that it gives as a file, and nothing of it is ever executed."""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from tests.cases import for_each

from viameter.cli.verify import programs_of
from viameter.errors import FormatError, ParameterError
from viameter.logic.front import submitted
from viameter.logic.front.decorator import ProgramFunction
from viameter.logic.front.errors import ProgramError
from viameter.logic.front.submitted import LONGEST, MOST, names_from_text, programs_from_text

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "programs").glob("*.py"))

HEAD = "import viameter as vm\n"
DECORATOR = '@vm.program(adjacent=vm.all_differ("q", by=1))\n'
NOISY = "def {name}(q: int, eps: vm.Eps) -> int:\n    return q + vm.lap(1 / eps)\n"
ONE = HEAD + DECORATOR + NOISY.format(name="noisy")


def facts(program: ProgramFunction) -> tuple[Any, ...]:
    """All that a program is, apart from its function and its file."""
    says = [direction.to_json() for direction in program.adjacent.directions(program.core)]
    lines = dict(program.core.source)
    return (
        program.name, program.text, repr(program), repr(program.adjacent), says, program.hints, program.parameters,
        program.line, lines, program.core,
    )  # fmt: skip


def same_as_in_a_file(text: str, folder: Path) -> dict[str, ProgramFunction]:
    path = folder / "programs_of_a_text.py"
    path.write_text(text, encoding="utf-8")
    executed, read = programs_of(str(path)), programs_from_text(text)
    assert list(read) == list(executed)
    for name, program in read.items():
        assert facts(program) == facts(executed[name])
    return read


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_read_as_it_is_executed(path: Path) -> None:
    executed, read = programs_of(str(path)), programs_from_text(path.read_text(encoding="utf-8"))
    assert list(read) == list(executed)
    assert names_from_text(path.read_text(encoding="utf-8")) == tuple(read)
    for name, program in read.items():
        assert facts(program) == facts(executed[name])
        assert program.function is None and program.file == "<text>"


def test_there_are_examples() -> None:
    assert sum(len(programs_from_text(path.read_text(encoding="utf-8"))) for path in EXAMPLES) >= 40


WHOLE = {
    "names of the library": '''
        """Programs."""
        from __future__ import annotations
        from viameter import program, all_differ, lap, Eps

        @program(adjacent=all_differ("q", by=1))
        def noisy(q: int, eps: Eps) -> int:
            return q + lap(1 / eps)
    ''',
    "other names of the library": '''
        from viameter import program as verified, all_differ as near, lap, Eps

        @verified(adjacent=near("q", by=1))
        def noisy(q: int, eps: Eps) -> int:
            return q + lap(1 / eps)
    ''',
    "the library's own name": '''
        import viameter
        @viameter.program(adjacent=viameter.all_differ("q", by=1))
        def noisy(q: int, eps: viameter.Eps) -> int:
            return q + viameter.lap(1 / eps)
    ''',
    "constants": '''
        import viameter as vm
        from fractions import Fraction
        N = 3
        M = -2 * N + 7
        HALF = Fraction("1/2")
        GRID = "1/100"
        NEGATIVE = -1
        FACTS = ["n >= 1", "n <= 10"]
        Cents = vm.Grid(GRID)
        NEAR = vm.one_differs("q", by=HALF)

        @vm.program(adjacent=NEAR, requires=FACTS)
        def clipped(q: list[Cents], n: int, eps: vm.Eps) -> Cents:
            s = 0
            for x in q:
                s = s + x
            return s + N * M * n + NEGATIVE + vm.lap(HALF / eps, grid=GRID)
    ''',
    "a name is what was said above the function": '''
        import viameter as vm
        N = 3

        @vm.program(adjacent=vm.all_differ("q"))
        def three(q: int, eps: vm.Eps) -> int:
            return q + N + vm.lap(1 / eps)

        N = 4

        @vm.program(adjacent=vm.all_differ("q"))
        def four(q: int, eps: vm.Eps) -> int:
            return q + N + vm.lap(1 / eps)
    ''',
    "adjacencies": '''
        import viameter as vm

        @vm.program(adjacent=[vm.all_differ("q", by="1/2", monotone=True), vm.one_differs("r", by=None)])
        def several(q: vm.Grid("1/4"), r: list[vm.Between(0, 9)], eps: vm.Eps) -> vm.Grid("1/4"):
            return q + r[0] + vm.lap(1 / eps)

        @vm.program(adjacent=(vm.related("abs(q<1> - q<2>) <= 3"),), requires=("n >= 1",))
        def relation(q: int, n: int, eps: vm.Eps) -> int:
            return q + vm.lap(n / eps)

        @vm.program(adjacent=vm.added_or_removed(name="rows"))
        def counting(rows: list[bool], eps: vm.Eps) -> int:
            return sum(rows) + vm.lap(1 / eps)
    ''',
    "programs that call programs": '''
        import math
        import viameter as vm

        @vm.program(adjacent=vm.all_differ("q"), requires="n >= 1")
        def one(q: int, n: int, eps: vm.Eps) -> int:
            return q + vm.lap(n / eps, shift="1")

        @vm.program(adjacent=vm.all_differ("q"))
        def two(q: int, n: int, eps: vm.Eps) -> list[int]:
            out = []
            out.append(one(q, n, eps / 2))
            out.append(one(q, n, eps / 2) + vm.expo(1 / math.log(3)))
            return out

        @vm.program(adjacent=vm.all_differ("q"))
        def three(q: int, eps: vm.Eps) -> list[int]:
            return two(q, 2, eps)
    ''',
    "hints": '''
        import viameter as vm

        @vm.program(
            adjacent=vm.all_differ(
                "q",
                by=1,
            ),
        )
        def hinted(q: "list[int]", t: int, eps: vm.Eps) -> int:
            """Its lines
            stay what they are."""
            noisy = t + vm.lap(2 / eps, shift="1")
            for x in q:
                vm.invariant("index<1> == index<2>")
                if x + vm.lap(4 / eps, shift="2") >= noisy:
                    return 1
            return 0
    ''',
}  # fmt: skip


@pytest.mark.parametrize("which", WHOLE)
def test_a_text_is_read_as_it_is_executed(which: str, tmp_path: Path) -> None:
    same_as_in_a_file(textwrap.dedent(WHOLE[which]), tmp_path)


def test_the_constant_is_the_one_above_the_function(tmp_path: Path) -> None:
    read = same_as_in_a_file(textwrap.dedent(WHOLE["a name is what was said above the function"]), tmp_path)
    assert "q + 3 + noise" in read["three"].text and "q + 4 + noise" in read["four"].text


@for_each("break_", ["\n", "\r\n", "\r"])
def test_lines_are_those_of_python(break_: str) -> None:
    text = "\ufeffimport viameter as vm\nN = '\f \u2028 \x1c'\n" + DECORATOR + NOISY.format(name="noisy")
    (program,) = programs_from_text(text.replace("\n", break_)).values()
    assert program.line == 3 and set(program.core.source.values()) == {5}


def test_without_an_import_vm_is_the_library() -> None:
    assert facts(programs_from_text("\n" + ONE.removeprefix(HEAD))["noisy"]) == facts(programs_from_text(ONE)["noisy"])


# What a text does beyond defining programs. RUN is a call that would leave a file behind.
RUN = "__import__('os').system('touch CANARY')"
BODY = "    return q + vm.lap(1 / eps)\n"
DEF = "def noisy(q: int, eps: vm.Eps) -> int:\n"
HOSTILE = {
    "a statement": (f"{RUN}\n" + ONE, 1),
    "below the programs": (f"{ONE}{RUN}\n", 5),
    "a decorator": (HEAD + f"@{RUN}\n" + DEF + BODY, 2),
    "a second decorator": (HEAD + DECORATOR + f"@{RUN}\n" + DEF + BODY, 2),
    "within the decorator": (HEAD + f"@vm.program(adjacent={RUN})\n" + DEF + BODY, 2),
    "an argument of an adjacency": (HEAD + f"@vm.program(adjacent=vm.all_differ('q', by={RUN}))\n" + DEF + BODY, 2),
    "in a tuple": (HEAD + f"@vm.program(adjacent=(vm.all_differ('q'), {RUN}))\n" + DEF + BODY, 2),
    "requires": (HEAD + f"@vm.program(adjacent=vm.all_differ('q'), requires=[{RUN}])\n" + DEF + BODY, 2),
    "what is decorated with": (HEAD + f"@({RUN} or vm).program(adjacent=vm.all_differ('q'))\n" + DEF + BODY, 2),
    "a subscript": (HEAD + f"@[vm.program][{RUN}](adjacent=vm.all_differ('q'))\n" + DEF + BODY, 2),
    "a default": (HEAD + DECORATOR + f"def noisy(q: int, eps: vm.Eps = {RUN}) -> int:\n" + BODY, 3),
    "a default of a keyword": (HEAD + DECORATOR + f"def noisy(q: int, *, eps: vm.Eps = {RUN}) -> int:\n" + BODY, 3),
    "an annotation": (HEAD + DECORATOR + f"def noisy(q: {RUN}, eps: vm.Eps) -> int:\n" + BODY, 3),
    "an annotation in quotes": (HEAD + DECORATOR + f'def noisy(q: "{RUN}", eps: vm.Eps) -> int:\n' + BODY, 3),
    "in a list": (HEAD + DECORATOR + f"def noisy(q: list[{RUN}], eps: vm.Eps) -> int:\n" + BODY, 3),
    "an annotation's argument": (HEAD + DECORATOR + f"def noisy(q: vm.Grid({RUN}), eps: vm.Eps) -> int:\n" + BODY, 3),
    "what is returned": (HEAD + DECORATOR + f"def noisy(q: int, eps: vm.Eps) -> {RUN}:\n" + BODY, 3),
    "a variable's annotation": (HEAD + DECORATOR + DEF + f"    x: {RUN} = 1\n" + BODY, 4),
    "a constant's annotation": (f"N: {RUN} = 1\n" + ONE, 1),
    "star-args": (HEAD + f"@vm.program(adjacent=vm.all_differ(*[{RUN}]))\n" + DEF + BODY, 2),
    "star-words": (HEAD + f"@vm.program(**{{'adjacent': {RUN}}})\n" + DEF + BODY, 2),
    "star-words of an adjacency": (HEAD + f"@vm.program(adjacent=vm.all_differ('q', **{RUN}))\n" + DEF + BODY, 2),
    "the body": (HEAD + DECORATOR + DEF + f"    {RUN}\n" + BODY, 4),
    "a value in the body": (HEAD + DECORATOR + DEF + f"    x = {RUN}\n" + BODY, 4),
    "a scale": (HEAD + DECORATOR + DEF + f"    return q + vm.lap({RUN} / eps)\n", 4),
    "a shift": (HEAD + DECORATOR + DEF + f"    return q + vm.lap(1 / eps, shift={RUN})\n", 4),
    "a nested function": (HEAD + DECORATOR + DEF + f"    def f(x={RUN}): pass\n" + BODY, 4),
    "a class": (f"class A:\n    {RUN}\n" + ONE, 1),
    "a class with a base": (f"class A({RUN}): pass\n" + ONE, 1),
    "a class in the body": (HEAD + DECORATOR + DEF + f"    class A:\n        {RUN}\n" + BODY, 5),
    "a walrus": (f"(x := {RUN})\n" + ONE, 1),
    "a walrus in a constant": (f"N = (x := {RUN})\n" + ONE, 1),
    "a walrus in the body": (HEAD + DECORATOR + DEF + f"    x = (y := {RUN})\n" + BODY, 4),
    "an f-string": (f'N = f"{{{RUN}}}"\n' + ONE, 1),
    "an f-string's format": (f'N = f"{{1:{{{RUN}}}}}"\n' + ONE, 1),
    "an f-string as a name": (HEAD + f'@vm.program(adjacent=vm.all_differ(f"{{{RUN}}}"))\n' + DEF + BODY, 2),
    "an f-string in the body": (HEAD + DECORATOR + DEF + f'    x = f"{{{RUN}}}"\n' + BODY, 4),
    "a lambda": (f"N = (lambda: {RUN})()\n" + ONE, 1),
    "a lambda as an argument": (HEAD + f"@vm.program(adjacent=lambda: {RUN})\n" + DEF + BODY, 2),
    "a lambda as a decorator": (HEAD + f"@(lambda f: {RUN})\n" + DEF + BODY, 2),
    "a lambda in the body": (HEAD + DECORATOR + DEF + f"    x = (lambda: {RUN})()\n" + BODY, 4),
    "a comprehension": (f"N = [{RUN} for x in [1]]\n" + ONE, 1),
    "a generator": (HEAD + f"@vm.program(adjacent=(vm.all_differ('q') for x in [{RUN}]))\n" + DEF + BODY, 2),
    "a comprehension in the body": (HEAD + DECORATOR + DEF + f"    x = [{RUN} for y in q]\n" + BODY, 4),
    "a condition": (f"N = 1 if {RUN} else 2\n" + ONE, 1),
    "an operator": (f"N = 1 + {RUN}\n" + ONE, 1),
    "a comparison": (f"N = 1 < {RUN}\n" + ONE, 1),
    "a fraction": (f"N = Fraction({RUN})\n" + ONE, 1),
    "if": (f"if {RUN}: pass\n" + ONE, 1),
    "for": (f"for x in [{RUN}]: pass\n" + ONE, 1),
    "while": (f"while {RUN}: pass\n" + ONE, 1),
    "with": (f"with {RUN}: pass\n" + ONE, 1),
    "try": (f"try: {RUN}\nfinally: pass\n" + ONE, 1),
    "match": (f"match {RUN}:\n    case 0: pass\n" + ONE, 1),
    "assert": (f"assert {RUN}\n" + ONE, 1),
    "raise": (f"raise {RUN}\n" + ONE, 1),
    "del": (f"del [{RUN}][0]\n" + ONE, 1),
    "a target": (f"[0][{RUN}] = 1\n" + ONE, 1),
    "several targets": (f"N = [0][{RUN}] = 1\n" + ONE, 1),
    "an attribute of the library is assigned": (HEAD + "vm.lap = vm.geom\n" + DECORATOR + DEF + BODY, 2),
    "an operator that assigns": (f"N = 1\nN += {RUN}\n" + ONE, 2),
    "a function that is no program": (HEAD + f"def f(x={RUN}): pass\n" + ONE, 2),
    "an async function": (HEAD + DECORATOR + "async " + DEF + BODY, 3),
    "a module": ("import os\n" + ONE, 1),
    "a part of a module": ("from os import system\n" + ONE, 1),
    "a part of the library": ("from viameter.cli import main\n" + ONE, 1),
    "a module of the library": ("import viameter.cli.main\n" + ONE, 1),
    "all of a module": ("from viameter import *\n" + ONE, 1),
    "a relative import": ("from . import viameter\n" + ONE, 1),
    "a relative module": ("from .viameter import lap\n" + ONE, 1),
    "more of the library": ("from viameter import verify\n" + ONE, 1),
    "more of math": ("from math import __loader__\n" + ONE, 1),
    "a chain of attributes": (HEAD + "@vm.__loader__.load_module('os')\n" + DEF + BODY, 2),
    "a chain that ends well": (HEAD + "@vm.lap.__globals__.program(adjacent=vm.all_differ('q'))\n" + DEF + BODY, 2),
    "a chain as an argument": (HEAD + "@vm.program(adjacent=vm.__loader__)\n" + DEF + BODY, 2),
    "a chain of a text": (HEAD + "@vm.program(adjacent=vm.related('{}'.format(vm)))\n" + DEF + BODY, 2),
    "a chain as a constant": (HEAD + "N = vm.__loader__\n" + ONE, 2),
    "a chain in an annotation": (HEAD + DECORATOR + "def f(q: vm.__loader__, eps: vm.Eps) -> int:\n" + BODY, 3),
    "a chain in a quoted annotation": (HEAD + DECORATOR + "def f(q: 'vm.lap.x', eps: vm.Eps) -> int:\n" + BODY, 3),
    "a chain in quotes in quotes": (HEAD + DECORATOR + "def f(q: '\"vm.x.y\"', eps: vm.Eps) -> int:\n" + BODY, 3),
    "a chain in the body": (HEAD + DECORATOR + DEF + "    x = vm.__loader__.exec_module(1)\n" + BODY, 4),
    "an attribute of a number": ("N = 3\n" + HEAD + DECORATOR + DEF + "    x = N.numerator\n" + BODY, 5),
    "an attribute of a constant type": (
        HEAD + "C = vm.Grid(1)\n" + DECORATOR + "def f(q: C.step, eps: vm.Eps) -> int:\n" + BODY, 4),
    "an attribute of a program": (ONE + DECORATOR + DEF.replace("noisy", "b") + "    x = noisy.text()\n" + BODY, 7),
    "a number is called": ("N = 3\n" + HEAD + DECORATOR + DEF + "    x = N(1)\n" + BODY, 5),
    "another name for a marker": (
        "from viameter import Grid as lap\n" + HEAD + DECORATOR + DEF + "    return q + lap(1 / eps)\n", 5),
    "a module named as a marker": (
        "import viameter as lap\n" + HEAD + DECORATOR + DEF + "    return q + lap(1 / eps)\n", 5),
    "another vm": ("import math as vm\n" + DECORATOR + DEF + BODY, 2),
    "vm is a number": ("vm = 3\n" + DECORATOR + DEF + BODY, 2),
    "no Python": (HEAD + "exec `ls`\n", 2),
}  # fmt: skip


@for_each("which", HOSTILE)
def test_what_would_be_executed_is_refused_at_its_line(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, line = HOSTILE[which]
    canary = tmp_path / "canary"
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    with pytest.raises(ProgramError) as caught:
        programs_from_text(text.replace("CANARY", str(canary)))
    assert caught.value.line == line, str(caught.value)
    assert caught.value.what and str(caught.value).startswith(f"<text>:{line}: ")
    assert not list(tmp_path.iterdir())
    assert set(sys.modules) == before


def test_the_canary_would_be_seen(tmp_path: Path) -> None:
    """The text that all of these are made of does leave its file behind when it is executed."""
    canary = tmp_path / "canary"
    path = tmp_path / "programs.py"
    path.write_text(HOSTILE["a statement"][0].replace("CANARY", str(canary)), encoding="utf-8")
    programs_of(str(path))
    assert canary.exists()


def test_nothing_of_a_text_is_compiled_imported_or_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of every kind is read while whatever could execute it stands still."""
    texts = [textwrap.dedent(text) for text in WHOLE.values()] + [text for text, _ in HOSTILE.values()]
    parse: Any = ast.parse
    seen: list[str] = []

    def parsed(source: str, *args: Any, **kwargs: Any) -> Any:
        with monkeypatch.context() as inner:
            inner.setattr(builtins, "compile", compile_)
            seen.append(source)
            return parse(source, *args, **kwargs)

    def refused(*args: Any, **kwargs: Any) -> None:
        raise AssertionError(f"executed: {args[:1]}")

    compile_ = builtins.compile
    programs_from_text(ONE)  # what is imported at first use
    monkeypatch.setattr(ast, "parse", parsed)
    for name in ("exec", "eval", "compile"):
        monkeypatch.setattr(builtins, name, refused)
    monkeypatch.setattr(importlib, "import_module", refused)
    for text in texts:
        with contextlib.suppress(ProgramError):
            programs_from_text(text)
    assert len(seen) > len(texts)


class Watched(submitted.Readable):
    """A module that says what is looked up in it."""

    def __getattribute__(self, name: str) -> Any:
        if name != "__dict__":
            LOOKED_UP.add(name)
        return super().__getattribute__(name)


LOOKED_UP: set[str] = set()


def test_of_modules_only_what_is_listed_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    own = submitted.READABLE["viameter"]
    watched = Watched(**vars(own))
    monkeypatch.setattr(submitted, "READABLE", {**submitted.READABLE, "viameter": watched})
    LOOKED_UP.clear()
    for text, _ in HOSTILE.values():
        with pytest.raises(ProgramError):
            programs_from_text(text)
    programs_from_text(ONE)
    assert {"lap", "Eps"} <= LOOKED_UP <= {*vars(own), "__class__"}


# What is wrong with a program, and what the error says.
WRONG = {
    "@vm.program\n": ("is not under @vm.program(...) alone", "@vm.program(adjacent="),
    "@vm.program()\n": ("is not under @vm.program(...) alone", "@vm.program(adjacent="),
    "@vm.program(vm.all_differ('q'))\n": ("is not under", "@vm.program(adjacent="),
    "@vm.program(adjacent=vm.all_differ('q'), need='n')\n": ("is not under", "requires="),
    "@vm.program(adjacent=vm.all_differ('q'), adjacent=vm.all_differ('q'))\n": ("is not under", "adjacent="),
    "@vm.lap(adjacent=vm.all_differ('q'))\n": ("is not under", "@vm.program(adjacent="),
    "@program(adjacent=vm.all_differ('q'))\n": ("is not under", "@vm.program(adjacent="),
    "@vm.program(adjacent=all_differ('q'))\n": ("all_differ is not called", "vm.all_differ"),
    "@vm.program(adjacent=vm.pure(1))\n": ("vm.pure is not called", "vm.all_differ"),
    "@vm.program(adjacent='q')\n": ("adjacent='q': expected an adjacency", ""),
    "@vm.program(adjacent=1)\n": ("expected an adjacency", ""),
    "@vm.program(adjacent=vm)\n": ("vm is no constant", "vm.all_differ"),
    "@vm.program(adjacent=())\n": ("expected at least one adjacency", ""),
    "@vm.program(adjacent=(vm.all_differ('q'), vm.all_differ('q')))\n": ("several adjacencies are about q", ""),
    "@vm.program(adjacent=vm.all_differ('t'))\n": ("t is no input of noisy", ""),
    "@vm.program(adjacent=vm.all_differ('eps'))\n": ("eps is a budget", ""),
    "@vm.program(adjacent=vm.all_differ())\n": ("the arguments are not those of vm.all_differ", "name, by, monotone"),
    "@vm.program(adjacent=vm.all_differ('q', 1, True))\n": ("the arguments are not those", "name, by, monotone"),
    "@vm.program(adjacent=vm.all_differ('q', by=1, by=2))\n": ("the arguments are not those", "each given once"),
    "@vm.program(adjacent=vm.all_differ('q', to=1))\n": ("the arguments are not those", "name, by, monotone"),
    "@vm.program(adjacent=vm.all_differ(1))\n": ("1 is no name of an input", ""),
    "@vm.program(adjacent=vm.all_differ('q', by=-1))\n": ("by=-1 is negative", ""),
    "@vm.program(adjacent=vm.all_differ('q', by=0.5))\n": ("by=0.5 is a float", ""),
    "@vm.program(adjacent=vm.all_differ('q', by='much'))\n": ("by='much' is not a number", ""),
    "@vm.program(adjacent=vm.all_differ('q', by='1e999999999'))\n": ("more than 4000 digits", ""),
    "@vm.program(adjacent=vm.all_differ('q', by=b'1'))\n": ("b'1' is no constant", "write a number"),
    "@vm.program(adjacent=vm.all_differ('q', by=UNKNOWN))\n": ("UNKNOWN is no constant", "write a number"),
    "@vm.program(adjacent=vm.all_differ('q', monotone='yes'))\n": ("expected True or False", ""),
    "@vm.program(adjacent=vm.related('q < 1'))\n": ("expected text such as", ""),
    "@vm.program(adjacent=vm.related('q<1> <='))\n": ("expected more", ""),
    "@vm.program(adjacent=vm.all_differ('q'), requires=1)\n": ("requires= is no text", "N >= 1"),
    "@vm.program(adjacent=vm.all_differ('q'), requires=None)\n": ("requires= is no text", "N >= 1"),
    "@vm.program(adjacent=vm.all_differ('q'), requires=[1])\n": ("expected facts as text", ""),
}  # fmt: skip


@for_each("decorator", WRONG)
def test_a_wrong_decorator_is_refused_at_its_line(decorator: str) -> None:
    what, hint = WRONG[decorator]
    with pytest.raises(ProgramError) as caught:
        programs_from_text(HEAD + "\n" + decorator + DEF + BODY)
    assert what in caught.value.what and hint in caught.value.hint, str(caught.value)
    assert caught.value.line == 3 and caught.value.file == "<text>"


def test_errors_of_the_compiler_stand_at_their_line() -> None:
    with pytest.raises(ProgramError, match="<text>:8: return q \\*\\* 2") as caught:
        programs_from_text(ONE + DECORATOR + "def b(q: int) -> int:\n    x = 1\n    return q ** 2\n")
    assert caught.value.line == 8


def test_a_program_may_not_call_one_below_it() -> None:
    below = DECORATOR + "def a(q: int, eps: vm.Eps) -> int:\n    return noisy(q, eps)\n"
    with pytest.raises(ProgramError) as caught:
        programs_from_text(HEAD + below + DECORATOR + NOISY.format(name="noisy"))
    assert caught.value.line == 4


def test_two_programs_of_one_name_are_refused() -> None:
    with pytest.raises(ProgramError, match="two programs are called noisy") as caught:
        programs_from_text(ONE + DECORATOR + NOISY.format(name="noisy"))
    assert caught.value.line == 6


def test_a_text_without_programs_is_refused() -> None:
    for text in ("", "\n", "# nothing\n", '"""nothing"""\n', HEAD + "N = 3\n"):
        with pytest.raises(FormatError, match="defines no program"):
            programs_from_text(text)
    assert names_from_text(HEAD) == ()


def test_only_text_is_read() -> None:
    for given in (None, b"x", 3):
        with pytest.raises(ParameterError, match="expected the text"):
            programs_from_text(given)  # type: ignore[arg-type]


def test_a_text_has_at_most_so_many_characters() -> None:
    filled = ONE + "#" * (LONGEST - len(ONE))
    assert list(programs_from_text(filled)) == ["noisy"]
    for reader in (programs_from_text, names_from_text):
        with pytest.raises(FormatError, match="100001 characters: expected at most 100000"):
            reader(filled + "#")


def test_a_text_has_at_most_so_many_programs() -> None:
    texts = [DECORATOR + NOISY.format(name=f"p{place}") for place in range(MOST + 1)]
    assert len(programs_from_text(HEAD + "".join(texts[:-1]))) == MOST == 50
    with pytest.raises(ProgramError, match="more than 50 programs") as caught:
        programs_from_text(HEAD + "".join(texts))
    assert caught.value.line == 1 + 3 * MOST + 2


DEEP = {
    "parentheses": HEAD + "N = " + "(" * 5000 + "1" + ")" * 5000 + "\n",
    "lists": HEAD + "N = " + "[" * 150 + "1" + "]" * 150 + "+ ()\n",
    "signs": HEAD + "N = " + "-" * 50_000 + "1\n",
    "sums": HEAD + "N = " + "1 + " * 20_000 + "1\n",
    "sums in a program": HEAD + DECORATOR + DEF + "    return q + " + "1 + " * 2_000 + "vm.lap(1 / eps)\n",
    "attributes": HEAD + "N = vm" + ".x" * 30_000 + "\n",
    "calls": HEAD + "N = vm" + "()" * 30_000 + "\n",
    "blocks": "".join(" " * depth + "if x:\n" for depth in range(200)) + " " * 200 + "pass\n",
    "a quoted annotation": HEAD + DECORATOR + f"def f(q: '{'-' * 40_000}1', eps: vm.Eps) -> int:\n" + BODY,
    "a relation": HEAD + f"@vm.program(adjacent=vm.related('q<1> <= {'(' * 20_000}q<2>'))\n" + DEF + BODY,
}  # fmt: skip


@pytest.mark.parametrize("which", DEEP)
def test_a_text_that_is_nested_too_deeply_is_refused(which: str) -> None:
    with pytest.raises((FormatError, ProgramError)):
        programs_from_text(DEEP[which])


def test_what_python_cannot_take_is_a_format_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for problem in (RecursionError, MemoryError):

        def fails(*args: Any, problem: type[BaseException] = problem, **kwargs: Any) -> None:
            raise problem

        for name in ("ast.parse", "viameter.logic.front.submitted.program_from_source"):
            with monkeypatch.context() as patched:
                patched.setattr(name, fails)
                with pytest.raises(FormatError, match="nested too deeply"):
                    programs_from_text(ONE)


def test_null_bytes_and_halves_of_characters_are_refused() -> None:
    for reader in (programs_from_text, names_from_text):
        with pytest.raises(FormatError, match="null byte"):
            reader(ONE + "\0")
        with pytest.raises(FormatError, match="cannot be read"):
            reader(ONE + "# \ud800\n")
    with pytest.raises(ProgramError, match="without quotes") as caught:
        programs_from_text(HEAD + DECORATOR + "def f(q: '\\ud800', eps: vm.Eps) -> int:\n" + BODY)
    assert caught.value.line == 3


def test_numbers_of_very_many_digits_are_refused_at_their_line() -> None:
    squares = "".join(f"N{place + 1} = N{place} * N{place}\n" for place in range(60))
    for text, line in (
        (HEAD + "N0 = 10\n" + squares + ONE, 14),
        (HEAD + f"N = 0x{'f' * 3000}\n" + ONE, 2),
        (HEAD + DECORATOR + DEF + f"    x = 0x{'f' * 3000}\n" + BODY, 4),
    ):
        with pytest.raises(ProgramError, match="very many digits") as caught:
            programs_from_text(text)
        assert caught.value.line == line
