"""The time that is given is kept, what is missing has its line, texts keep within the checker's limits, names exist."""

import ast
import inspect
import json
import re
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.logic.programs import by_the_prover

import viameter as vm
from viameter.errors import ParameterError
from viameter.logic import ProgramError, program_from_core, program_from_source, verify
from viameter.logic.certificate import ProgramCertificate
from viameter.logic.deadline import TimeUp, milliseconds, tick, within
from viameter.logic.kernel.before import Choice
from viameter.logic.lang import parsing
from viameter.logic.lang.parsing import read_program
from viameter.logic.lang.terms import Num
from viameter.logic.search.choosing import _of_weight
from viameter.logic.search.prover import nearest
from viameter.logic.search.templates import Candidate
from viameter.logic.verdict import Status
from viameter_check.programs import check_program, reading, texts, tokens
from viameter_check.report import Refused

ROOT = Path(__file__).parents[2]


def candidates(*weights: int) -> list[Candidate]:
    return [Candidate(Choice(Num(n)), weight) for n, weight in enumerate(weights)]


def test_combinations_of_a_weight_are_those_of_the_whole_product() -> None:
    sites = [candidates(0, 1, 1, 3), candidates(0, 2), candidates(0, 0, 5), candidates(1)]
    for weight in range(16):
        wanted = {
            picked
            for picked in product(*(range(len(site)) for site in sites))
            if sum(site[index].weight for site, index in zip(sites, picked, strict=True)) == weight
        }
        found = list(_of_weight(sites, weight))
        assert set(found) == wanted and len(found) == len(wanted)
    assert list(_of_weight([], 0)) == [()] and list(_of_weight([], 1)) == []


def test_a_combination_of_many_sites_is_found_at_once() -> None:
    begun = time.monotonic()
    many = [candidates(*range(1, 30)) for _ in range(60)]
    assert next(_of_weight(many, 61), None) is not None
    assert list(_of_weight(many, 15)) == []
    assert time.monotonic() - begun < 2


def test_a_deadline_is_the_earliest_around() -> None:
    tick()
    assert milliseconds(700) == 700
    with within(time.monotonic() - 1), within(time.monotonic() + 100):
        assert milliseconds(700) == 1
        with pytest.raises(TimeUp):
            tick()
    with within(time.monotonic() + 100):
        tick()
        assert milliseconds(700) == 700


def sampling(draws: int, *, branches: bool = False, loops: int = 0) -> Any:
    body = [f"    x{n} = q + vm.lap(1 / eps)" for n in range(draws)]
    if branches:
        body += [f"    if x{n} > x{n + 1}:\n        x{n} = x{n} + 1" for n in range(draws - 1)]
    for n in range(loops):
        body += [
            f"    i{n} = 0",
            f"    while i{n} < t:",
            f"        y{n} = q + vm.lap(1 / eps)",
            f"        x0 = x0 + y{n}",
        ]
        body += [f"        if y{n} > 3:", "            x0 = x0 - 1", f"        i{n} = i{n} + 1"]
    total = " + ".join(f"x{n}" for n in range(draws))
    text = "\n".join(["def many(q: int, t: int, eps: vm.Eps) -> int:", *body, f"    return {total}"])
    return program_from_source(text, adjacent=vm.all_differ("q"))


@pytest.mark.parametrize("bound", ["eps", None])
@pytest.mark.parametrize(
    ("program", "seconds"), [(sampling(40), 0.5), (sampling(12, branches=True), 0.5), (sampling(2, loops=6), 2)]
)
def test_the_seconds_that_are_given_are_kept(program: Any, seconds: float, bound: str | None) -> None:
    begun = time.monotonic()
    found = verify(program, bound, seconds=seconds)
    assert time.monotonic() - begun < seconds + 4, found
    assert found.status is not Status.PROVED


UNKNOWNS: dict[str, tuple[str, str | None]] = {
    "a cost that is too high": ("return q + t + vm.lap(1 / eps)", "99/100*eps"),
    "an output that differs": ("x = vm.lap(1 / eps)\n    return 3 * q + x", "eps"),
    "a branch": ("x = 0\n    if q > 3:\n        x = vm.lap(1 / eps)\n    return x", "eps"),
    "a loop": ("i = 0\n    while i < q:\n        i = i + 1\n    return vm.lap(1 / eps)", "eps"),
    "a loop that does not end": ("i = 0\n    while i != 7:\n        i = i + 2\n    return q + vm.lap(1 / eps)", "eps"),
    "a factor": ("return q + vm.lap(t / eps)", "eps"),
    "no bound": ("return q * q + vm.lap(1 / eps)", None),
    "noise of two kinds": ("return q + vm.gauss(5) + vm.lap(1 / eps)", None),
    "nothing but the input": ("return q", None),
    "a coin that is never tossed": ("return 1 if vm.flip('1/3') else q", "ln(2)"),
}


@pytest.mark.parametrize("kind", list(UNKNOWNS))
@pytest.mark.parametrize("seconds", [1e-6, 0.3])
def test_what_is_missing_has_a_line_of_the_source(kind: str, seconds: float) -> None:
    body, bound = UNKNOWNS[kind]
    text = f"def f(q: int, t: int, eps: vm.Eps) -> int:\n    {body}\n"
    found = verify(program_from_source(text, adjacent=vm.all_differ("q")), bound, seconds=seconds)
    if found.status is Status.REFUTED:
        return
    assert found.status is Status.UNKNOWN and found.missing is not None
    line = found.to_json()["missing"]["line"]
    assert 2 <= line <= len(text.splitlines()), found.missing
    if seconds < 0.1 and bound is not None:
        assert "the time was up while looking for" in found.missing.what or "no " in found.missing.what


def test_lines_of_core_programs_are_those_of_their_text() -> None:
    text = "program p\ninput q: int\nbudget eps\nbegin\nx :=$ lap(1/eps)\nr := 3*q + x\nend\nreturn r\n"
    found = verify(program_from_core(text, adjacent=vm.all_differ("q")), "eps", seconds=1e-6)
    assert found.to_json()["missing"]["line"] in (5, 6)
    assert nearest(read_program(text), "the cost stays within eps") == 5
    assert nearest(read_program(text), "both runs have the same output") == 6
    assert nearest(read_program("program p\ninput q: int\nbegin\nend\nreturn q\n"), "anything") == 0


# Limits.


def test_the_prover_and_the_checker_have_one_set_of_limits() -> None:
    assert (parsing.MOST_LINES, parsing.MOST_TEXT) == (texts.MOST_LINES, texts.MOST_TEXT)
    assert (parsing.MOST_BLOCKS, parsing.MOST_TOKENS) == (texts.MOST_BLOCKS, texts.MOST_TOKENS)
    assert (parsing.MOST_NESTED, parsing.MOST_DIGITS) == (reading.MOST_NESTED, tokens.MOST_DIGITS)


def core(*body: str) -> str:
    return "\n".join(["program p", "input q: int", "begin", "r := 0", *body, "end", "return r"]) + "\n"


def blocks(count: int) -> str:
    return core(*(["if q < 3 then"] * count), "r := 1", *(["end"] * count))


AT_THE_LIMIT: dict[str, Callable[[int], str]] = {
    "brackets": lambda more: core(f"r := {'(' * (29 + more)}q{')' * (29 + more)}"),
    "functions": lambda more: core(f"r := {'abs(' * (29 + more)}q{')' * (29 + more)}"),
    "blocks": lambda more: blocks(25 + more),
    "operations": lambda more: core("r := -q" + " + q" * (248 + more)),
    "digits": lambda more: core(f"r := {'9' * (300 + more)}"),
    "lines": lambda more: core(*(["r := q"] * (1994 + more))),
}


@pytest.mark.parametrize("kind", list(AT_THE_LIMIT))
def test_what_the_checker_does_not_read_the_prover_refuses(kind: str) -> None:
    make = AT_THE_LIMIT[kind]
    read_program(make(0))
    texts.read_program(make(0))
    with pytest.raises(ParameterError):
        read_program(make(1))
    with pytest.raises(Refused):
        texts.read_program(make(1))


def test_functions_that_nest_too_deeply_are_refused_without_a_recursion_error() -> None:
    head = "def f(q: int, eps: vm.Eps) -> int:\n"
    deep = ["    r = 0"] + ["    " * (n + 1) + "if q > 1:" for n in range(60)] + ["    " * 61 + "r = 1", "    return r"]
    for body in (
        "    return " + " + ".join(["q"] * 5000), "\n".join(deep), "    return " + "abs(" * 90 + "q" + ")" * 90,
        "    return " + "min(q, " * 40 + "q" + ")" * 40, "    return " + " + ".join(["q"] * 300),
    ):  # fmt: skip
        with pytest.raises(ProgramError):
            program_from_source(head + body, adjacent=vm.all_differ("q"))
    # What is the same as something short is that.
    assert program_from_source(f"{head}    return {'-' * 80}q", adjacent=vm.all_differ("q")).core.inputs


def test_expressions_that_grow_too_deep_are_unknown_and_no_recursion_error() -> None:
    deep = program_from_core(core(*(["r := r + r * q"] * 250)), adjacent=vm.all_differ("q"))
    most = sys.getrecursionlimit()
    # With half of the usual depth, half of the lines are too many, and those take a quarter of the time.
    sys.setrecursionlimit(len(inspect.stack(0)) + most // 2)
    try:
        found = by_the_prover(deep, "1", seconds=60)
    finally:
        sys.setrecursionlimit(most)
    assert found.status is Status.UNKNOWN and found.missing is not None
    assert found.missing.what == "the program's expressions grow deeper than the search follows"


# Certificates from before.


def test_a_certificate_with_words_in_it_is_read_and_its_words_are_not() -> None:
    written = (ROOT / "tests/viameter_check/programs/with_words.json").read_text()
    assert json.loads(written)["proofs"][0]["neighbors"]["says"] == "every element of q differs by at most 1"
    report = check_program(written)
    assert report.ok and "Adjacent inputs, in words: every element of q differs by at most 1." in report.statement
    assert "abs(q<1>[any.k] - q<2>[any.k]) <= 1" in ProgramCertificate(written).claim
    above = """
def above(q: list[int], t: int, eps: vm.Eps) -> int:
    noisy = t + vm.lap(2 / eps)
    for i, x in enumerate(q):
        if x + vm.lap(4 / eps) >= noisy:
            return i
    return -1
"""
    program = program_from_source(above, adjacent=vm.all_differ("q"))
    assert program.measurement(verdict=written, eps=1, t=3).map(2) == vm.pure(2)


# Names in messages and docs.


def _messages(path: Path, about: str) -> str:
    """The texts of a Python file that speaks of something, and the whole of any other file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py" or about not in text:
        return text
    return "\n".join(
        str(part.value)
        for part in ast.walk(ast.parse(text))
        if isinstance(part, ast.Constant) and type(part.value) is str
    )


def test_every_name_of_the_library_that_a_message_or_a_page_speaks_of_exists() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    strange = set()
    for path in files:
        for name in re.findall(r"(?<![\w./@])vm\.([A-Za-z_]\w*)", _messages(path, "vm.")):
            if not hasattr(vm, name):
                strange.add((path.relative_to(ROOT), f"vm.{name}"))
    assert not strange


def test_modules_that_messages_name_exist() -> None:
    import importlib

    for path in (ROOT / "src/viameter/logic").rglob("*.py"):
        for module, name in re.findall(r"\b(viameter\.logic(?:\.\w+)*)\.(\w+)\(", _messages(path, "viameter.logic.")):
            assert hasattr(importlib.import_module(module), name), (path, module, name)
