"""Random programs mean the same in Python and in the core language: the same results, from the same draws."""

from functools import cache

import pytest

from tests.logic.front.generating import Writer, inputs
from tests.logic.front.oracle import agree
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


def test_random_programs_have_everything_in_them() -> None:
    statements = [part for seed in range(COUNT) for part in statements_of(made(seed)[1].program.body)]
    laws = {type(statement.law).__name__ for statement in statements if isinstance(statement, Sample)}
    assert laws == {"Laplace", "Exponential", "Gaussian", "Flip", "Uniform", "Choose"}
    assert sum(isinstance(statement, While) for statement in statements) > 100
    assigned = {statement.target.name for statement in statements if isinstance(statement, Assign)}
    assert {"returned", "stopped", "skipped", "test", "choice", "total", "i_next", "last", "part"} <= assigned
