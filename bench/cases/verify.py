"""Verification: how long proving, checking a certificate and refuting take, for each example program."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.model import Benchmark, Case, Variant

PROGRAMS = Path(__file__).parents[2] / "examples" / "programs"
PROVED = {
    "sums": {
        "partial_sum": "eps",
        "prefix_sum": "eps",
        "dummy_sum_1": "len(q)*eps",
        "dummy_sum_2": "eps",
        "histogram": "eps",
        "smart_sum": "2*eps",
        "noise_before_the_sum": "eps",
    },
    "sparse_vector": {
        "above_threshold": "eps",
        "sparse_vector": "eps",
        "monotone_sparse_vector": "eps",
        "numeric_sparse_vector": "eps",
        "gap_sparse_vector": "eps",
        "adaptive_sparse_vector": "eps",
        "redrawn_sparse_vector": "eps",
    },
    "choosing": {"noisy_max": "eps", "noisy_max_exponential": "eps"},
}
WRONG = ("threshold_without_query_noise", "noisy_max_with_half_the_noise", "doubled_noise")


def program_of(stem: str, name: str) -> Any:
    """A program of an example file."""
    key = f"bench_{stem}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, PROGRAMS / f"{stem}.py")
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[key] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return getattr(sys.modules[key], name)


def status(verdict: Any) -> float:
    """The verdict as a number, so that a run that proves less is noticed."""
    return float(verdict.status)


def proving(stem: str, name: str, bound: str) -> Callable[[], Callable[[], object]]:
    """Prove with nothing given but program, adjacency and bound."""

    def prepare() -> Callable[[], object]:
        vm: Any = import_module("viameter")
        program = program_of(stem, name)
        vm.verify(program_of("sums", "laplace"), "eps")  # loads the solver
        return lambda: vm.verify(program, bound, seconds=120)

    return prepare


def checking(stem: str, name: str, bound: str) -> Callable[[], Callable[[], object]]:
    """Check the certificate with the other solver."""

    def prepare() -> Callable[[], object]:
        vm: Any = import_module("viameter")
        check: Any = import_module("viameter_check").check
        text = vm.verify(program_of(stem, name), bound, seconds=120).certificate.text
        return lambda: check(text)

    return prepare


def refuting(name: str) -> Callable[[], Callable[[], object]]:
    """Refute the claim eps."""

    def prepare() -> Callable[[], object]:
        vm: Any = import_module("viameter")
        program = program_of("wrong", name)
        vm.verify(program_of("sums", "laplace"), "eps")
        return lambda: vm.verify(program, "eps", seconds=60)

    return prepare


BENCHMARK = Benchmark(
    title="Verification",
    about=(
        "Programs of `examples/programs`, proved with nothing given but program, adjacency and bound; each "
        "certificate checked by `viameter_check` with cvc5; wrong claims refuted. No peer does all three, and none was "
        "run here. "
        "What others have published for such programs, on their machines: Albarghouthi and Hsu 4 to 580 s, ShadowDP "
        "(alignments written by the user) 1.9 to 3 s, CheckDP at most 70 s, StatDP (falsifies only) 46 to 27301 s, "
        "DP-Sniper 18 to 341 s."
    ),
    cases=[
        *(
            Case(
                name=name,
                variants=[
                    Variant("viameter, proved", proving(stem, name, bound), read=status),
                    Variant("its certificate, checked", checking(stem, name, bound)),
                ],
            )
            for stem, programs in PROVED.items()
            for name, bound in programs.items()
        ),
        *(Case(name=name, variants=[Variant("viameter, refuted", refuting(name), read=status)]) for name in WRONG),
    ],
)
