"""Clamping rows and adding them up: a chain of viameter, the same chain of OpenDP, and bare numpy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.model import Benchmark, Case, Variant

LOWER, UPPER = 0, 100


def integers(rows: int) -> Any:
    """The same int64 rows in every environment, half of them outside of the bounds."""
    import numpy as np

    return np.random.default_rng(20).integers(LOWER - 50, UPPER + 51, size=rows, dtype=np.int64)


def viameter_chain(rows: int) -> Callable[[], object]:
    """The chain with everything that it checks."""
    import viameter as vm

    data = integers(rows)
    space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    chain = space >> vm.clamp(bounds=(LOWER, UPPER)) >> vm.sum()
    return lambda: chain(data)


def bare_numpy(rows: int) -> Callable[[], object]:
    """The arithmetic alone: no domain is checked, and the sum wraps around."""
    import numpy as np

    data = integers(rows)
    return lambda: np.clip(data, LOWER, UPPER).sum()


def opendp_chain() -> Callable[[Any], object]:
    """The chain of OpenDP, not yet called."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    clamp = dp.t.make_clamp(*space, (LOWER, UPPER))
    chain: Callable[[Any], object] = clamp >> dp.t.make_sum(clamp.output_domain, clamp.output_metric)
    return chain


def opendp_array(rows: int) -> Callable[[], object]:
    """OpenDP on the numpy array, which it copies once."""
    chain, data = opendp_chain(), integers(rows)
    return lambda: chain(data)


def opendp_list(rows: int) -> Callable[[], object]:
    """OpenDP on a list, the form that its documentation uses."""
    chain, data = opendp_chain(), integers(rows).tolist()
    return lambda: chain(data)


BENCHMARK = Benchmark(
    title="Transformations",
    about=(
        "A chain that clamps int64 rows to bounds and adds them up, called on data that are in memory. Building the "
        "chain is not timed. Bare numpy does the arithmetic without any of the guarantees: it is the floor."
    ),
    cases=[
        Case(
            name="clamp, then sum",
            parameters={"rows": rows},
            variants=[
                Variant("viameter", viameter_chain),
                Variant("bare numpy", bare_numpy),
                Variant("OpenDP, array", opendp_array, environment="opendp"),
                Variant("OpenDP, list", opendp_list, environment="opendp"),
            ],
            units=rows,
            unit="row",
            tolerance=0.0,
            memory=True,
        )
        for rows in (1_000, 1_000_000)
    ],
)
