"""Random programs mean the same in Python and in the core language: the same results, from the same draws."""

import pytest

from tests.logic.front.generating import Writer, inputs
from tests.logic.front.oracle import agree
from viameter.logic.front.python import compile_source
from viameter.logic.lang.core import Sample, While, statements_of


@pytest.mark.parametrize("start", range(0, 120, 20))
def test_random_programs_run_as_python_runs_them(start: int) -> None:
    for seed in range(start, start + 20):
        text = Writer(seed).program()
        compiled = compile_source(text, names={"K": 2})
        for turn in range(3):
            agree(compiled, text, inputs(10 * seed + turn), seed=turn, more={"K": 2})


def test_random_programs_have_everything_in_them() -> None:
    programs = [compile_source(Writer(seed).program(), names={"K": 2}).program for seed in range(40)]
    statements = [statement for program in programs for statement in statements_of(program.body)]
    laws = {type(statement.law).__name__ for statement in statements if isinstance(statement, Sample)}
    assert laws == {"Laplace", "Exponential", "Gaussian", "Flip", "Uniform", "Choose"}
    assert sum(isinstance(statement, While) for statement in statements) > 50
    assigned = {getattr(statement, "target", None) and str(statement.target) for statement in statements}  # type: ignore[union-attr]
    assert {"returned", "stopped", "skipped", "test", "choice", "total", "i_next"} <= assigned
