"""Random programs mean the same in Python and in the core language: the same results, from the same draws."""

from functools import cache
from typing import Any

import pytest
from tests.logic.front.generating import HEADER, Writer, inputs
from tests.logic.front.interpreter import Tape, run
from tests.logic.front.oracle import agree

from viameter.logic.front.adjacent import all_differ
from viameter.logic.front.decorator import program_from_core, program_from_source
from viameter.logic.front.python import Compiled, compile_source
from viameter.logic.lang.core import Assign, Sample, While, statements_of

COUNT = 80


@cache
def made(seed: int) -> tuple[str, Compiled]:
    text = Writer(seed).program()
    return text, compile_source(text, names={"K": 2})


@pytest.mark.parametrize("start", range(0, COUNT, 20))
def test_random_programs_run_as_python_runs_them(start: int) -> None:
    for seed in range(start, start + 20):
        text, compiled = made(seed)
        for turn in range(3):
            agree(compiled, text, inputs(10 * seed + turn), seed=turn, more={"K": 2})


OUTER = f"""
def outer({HEADER}) -> list[int]:
    out = [inner(q, p, r, t, b, n, g, eps / 2)]
    s = 0
    for i, x in enumerate(q):
        s = inner(q, p, r, i - x, i > x, 2, x + g, eps * 2) % 7 if x != 1 else vm.lap(1 / eps)
        if vm.flip(1 / 2) and inner(q, p, r, s, not b, n, 1, Fraction(3)) > 0:
            out.append(s)
        out += several(q, p, r, s, b, n, g, eps / 4)
    return out
"""


@pytest.mark.parametrize("start", range(0, 12, 6))
def test_random_programs_run_within_another_program(start: int) -> None:
    for seed in range(start, start + 6):
        inner = Writer(1000 + seed, name="inner", returns="int").program()
        several = Writer(2000 + seed, name="several", returns="list[int]").program()
        names: dict[str, Any] = {"K": 2}
        for name, text in (("inner", inner), ("several", several)):
            names[name] = program_from_source(text, adjacent=all_differ("q"), names={"K": 2})
        compiled = compile_source(OUTER, names=names)
        for turn in range(3):
            agree(compiled, OUTER, inputs(seed + turn), seed=turn, more={"K": 2}, prelude=inner + several)


def test_a_program_that_is_called_again_starts_from_nothing() -> None:
    inner = program_from_source(
        "def inner(x: int) -> int:\n    if x > 0:\n        y = x\n    return y\n", adjacent=all_differ("x")
    )
    text = "def outer(q: list[int]) -> int:\n    s = 0\n    for x in q:\n        s = 10 * s + inner(x)\n    return s\n"
    program = compile_source(text, names={"inner": inner}).program
    assert run(program, {"q": [3, -1, 4, 0]}, {}, Tape(0)) == 3040
    core = program_from_core(
        "program late\ninput x: int\nbegin\n  if 0 < x then\n    r := x\n  end\nend\nreturn r\n",
        adjacent=all_differ("x"),
    )
    program = compile_source(text.replace("inner", "late"), names={"late": core}).program
    assert run(program, {"q": [3, -1, 4, 0]}, {}, Tape(0)) == 3040


def test_random_programs_have_everything_in_them() -> None:
    statements = [part for seed in range(COUNT) for part in statements_of(made(seed)[1].program.body)]
    laws = {type(statement.law).__name__ for statement in statements if isinstance(statement, Sample)}
    assert laws == {"Laplace", "Exponential", "Gaussian", "Flip", "Uniform", "Choose"}
    assert sum(isinstance(statement, While) for statement in statements) > 100
    assigned = {statement.target.name for statement in statements if isinstance(statement, Assign)}
    assert {"returned", "stopped", "skipped", "test", "choice", "total", "i_next", "last", "part"} <= assigned
