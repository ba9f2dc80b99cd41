"""Which output lists to look at, where there are too many to look at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, cycle, repeat
from random import Random

from viameter.errors import ParameterError
from viameter.logic.exact import Output, Value, run
from viameter.logic.lang.core import Append, Assign, Program, Sample, statements_of, terms_of
from viameter.logic.lang.terms import sort_of, variables

_RANDOM_TAPES = 5
_ROUNDS = 200


def is_wide(program: Program) -> bool:
    """Whether an output list has entries that are computed from noise, so that there are very many lists."""
    statements = list(statements_of(program.body))
    noisy = {s.target.name for s in statements if isinstance(s, Sample)}
    while True:
        more = {
            s.target.name
            for s in statements
            if isinstance(s, Assign) and any(var.name in noisy for term in terms_of(s) for var in variables(term))
        }
        if more <= noisy:
            break
        noisy |= more
    return any(
        isinstance(s, Append) and sort_of(s.value) == "int" and any(var.name in noisy for var in variables(s.value))
        for s in statements
    )


def outputs_of(program: Program, inputs: Mapping[str, Value]) -> Iterator[Output]:
    """Outputs of a few executions: without noise, with noise of one step, with noise up and down."""
    tapes = [repeat(0), repeat(1), repeat(-1), cycle((1, -1)), cycle((-1, 1)), chain((2,), repeat(-1))]
    for seed in range(_RANDOM_TAPES):
        tapes.append(_random_tape(Random(seed)))
    for tape in tapes:
        try:
            yield run(program, inputs, tape, steps=_ROUNDS)
        except ParameterError:
            continue


def _random_tape(random: Random) -> Iterator[int]:
    while True:
        yield round(random.expovariate(0.7)) * random.choice((1, -1))


def near(output: Output, *, numbers: bool) -> Iterator[Output]:
    """An output list, those with one entry twice or gone, and if `numbers` those with one number changed by 1."""
    if not isinstance(output, tuple):
        return
    yield output
    for at in range(len(output)):
        yield (*output[: at + 1], *output[at:])
        yield (*output[:at], *output[at + 1 :])
        if numbers and not isinstance(output[at], bool):
            yield (*output[:at], output[at] + 1, *output[at + 1 :])
            yield (*output[:at], output[at] - 1, *output[at + 1 :])
