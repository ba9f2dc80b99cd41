"""Verdicts for tests of presentation: made by `verify` from the corpus, each once, or by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

from tests.logic.programs import RIGHT, WRONG

from viameter.logic.lang.core import Program
from viameter.logic.lang.scales import Amount, Monomial
from viameter.logic.neighbors import Neighbors
from viameter.logic.present.parts import Node
from viameter.logic.search.prover import NotProved
from viameter.logic.verdict import Status, Verdict
from viameter.logic.verify import verify

PROVED = ("above_threshold", "sparse_vector", "noisy_max", "early_noise", "dummy_sum_1")
"""Programs whose proofs have, together, every kind of node."""


@dataclass(frozen=True)
class Adjacent:
    """An adjacency of given directions."""

    both: tuple[Neighbors, ...]

    def directions(self, program: Program) -> tuple[Neighbors, ...]:
        return self.both


@dataclass(frozen=True)
class Hints:
    shifts: Mapping[int, str] = field(default_factory=dict)
    invariants: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Stand:
    """What `verify` takes, in place of a function under @vm.program."""

    core: Program
    adjacent: Adjacent
    file: str = ""
    hints: Hints = Hints()

    @property
    def name(self) -> str:
        return self.core.name


@cache
def of(name: str, *, both: bool = False) -> Verdict:
    """The verdict on a program of the corpus, at its claim; in both directions if that is asked for."""
    program, neighbors, claim = {**RIGHT, **WRONG}[name]
    directions = (neighbors, neighbors.swapped()) if both else (neighbors,)
    return verify(Stand(program, Adjacent(directions)), claim, seconds=60)


def eps(times: int = 1) -> Amount:
    """times * eps."""
    return Amount((Monomial.of(Fraction(times), (), "eps"),))


def unknown(
    missing: NotProved, *, source: tuple[str, dict[int, int]] = ("", {}), bound: Amount | None = None
) -> Verdict:
    """An UNKNOWN verdict by hand."""
    return Verdict(
        status=Status.UNKNOWN, program="thing", bound=bound, adjacency="every q differs by at most 1", missing=missing,
        source=source, seconds=1.5,
    )  # fmt: skip


def nodes(root: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield root
    for child in root.children:
        yield from nodes(child)
