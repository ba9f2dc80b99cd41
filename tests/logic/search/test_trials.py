"""Trials of the search: adjacent inputs by the relation's own formulas, and runs that are those of the program."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.logic.programs import RIGHT

from viameter.logic.exact.evaluating import run
from viameter.logic.kernel.context import Context, units_for
from viameter.logic.refute import related
from viameter.logic.search.choosing import shift_of
from viameter.logic.search.pairs import Pairs
from viameter.logic.search.product import Failed, Product
from viameter.logic.search.prover import Proved, Search

ONES = [name for name in RIGHT if name != "monotone_sparse_vector_back"]


def inputs_of(context: Context, pair: Any, side: int) -> dict[str, Any]:
    found = {}
    for entry in context.program.inputs:
        key = f"{entry.name}<{side}>" if entry.name in context.neighbors.private else entry.name
        found[entry.name] = pair.inputs[key]
    return found


@pytest.mark.parametrize("name", ONES)
def test_pairs_of_inputs_are_adjacent(name: str) -> None:
    program, neighbors, claim = RIGHT[name]
    context = Context(program, neighbors, units_for(program, claim))
    pairs = Pairs(context).some(60)
    assert len(pairs) == 60
    for pair in pairs:
        assert related(program, neighbors, inputs_of(context, pair, 1), inputs_of(context, pair, 2))


@pytest.mark.parametrize("name", ["above_threshold", "sparse_vector", "noisy_max", "smart_sum", "prefix_sum"])
def test_the_first_run_of_a_trial_is_a_run_of_the_program(name: str) -> None:
    program, neighbors, claim = RIGHT[name]
    found = Search(Context(program, neighbors, units_for(program, claim)), claim, float("inf"), lambda text: None).run()
    assert isinstance(found, Proved)
    product = Product(found.context)
    from viameter.logic.lang.core import Sample, statements_of

    samples = {s.at: s for s in statements_of(program.body) if isinstance(s, Sample)}
    shifts = {at: shift_of(choice, samples[at]) for at, choice in found.proof.choices.items()}
    rng = random.Random(3)
    checked = 0
    for pair in rng.sample(Pairs(found.context, seed=5).some(80), 40):
        try:
            ended = product.run(pair, shifts).environment
        except Failed:
            continue
        tape = [pair.draws[k % len(pair.draws)] for k in range(2000)]
        output = run(program, inputs_of(found.context, pair, 1), tape)
        if program.output.sort == "int":
            assert ended[f"{program.output.name}<1>"] == output
            checked += 1
        else:
            assert ended[f"same.{program.output.name}"]
            checked += 1
    assert checked > 20
