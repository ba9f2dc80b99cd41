"""Adjacency to metrics: in which metrics the steps of a program's adjacency can be counted, and how.

| adjacency | metric | steps at distance d |
|---|---|---|
| every element, or one number, moves by at most b | LInf, L1, L2; Absolute | ceil(d/b) |
| the same, all up or all down | MonotoneDistance; LInf | ceil(d/b); 2 ceil(d/b) |
| one element moves by at most b | L1 | d |
| one element, or one value, is replaced | Hamming; Discrete | d |
| anything else, and each of these too | ProgramAdjacency | 0 and 1 only |

Numbers on a grid take a step of the grid in the place of 1. See the theorem verified-program for why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from viameter.arith import INFINITY, Extended
from viameter.core import Metric
from viameter.logic.lang.core import Input
from viameter.logic.neighbors import Neighbors
from viameter.logic.running.distances import MonotoneDistance, related
from viameter.logic.running.values import Value
from viameter.spaces import (
    AbsoluteDistance,
    DiscreteDistance,
    HammingDistance,
    L1Distance,
    L2Distance,
    LInfDistance,
)

ONE = Fraction(1)
FAR = 10**6
"""How far apart values are taken that may be replaced by any other, when it is tried whether a relation says so."""


@dataclass(frozen=True, slots=True)
class Way:
    """A metric, and the parameters with which verified-program counts steps in it."""

    metric: Metric
    by: Fraction = ONE
    spacing: Fraction = ONE
    moves: int = 1
    most: Extended = INFINITY


def ways(
    adjacent: Any,
    entry: Input,
    *,
    relations: Sequence[Neighbors],
    known: Mapping[str, Value],
    box: bool,
    separate: bool,
) -> list[Way]:
    """The ways to count the steps of an adjacency of one private input, the usual one first.

    `box` says that nothing is required of the input but ends between which each number lies, `separate` that nothing
    is required but of each element by itself. The relation is tried at the ends of a step: where it does not relate
    what its name says that it does, there is no way.
    """
    kind, grid = adjacent.kind, entry.grid
    by = None if adjacent.by is None else math.floor(Fraction(adjacent.by) / grid)
    if by == 0 or kind not in ("all_differ", "one_differs") or (by is None and kind == "all_differ" and entry.sort == "list"):
        return []
    monotone = bool(getattr(adjacent, "monotone", False))
    if not _relates(_tried(kind, entry, by, monotone=monotone), relations, entry.name, known):
        return []
    if by is None or entry.sort == "bool":
        metric = HammingDistance() if entry.sort == "list" else DiscreteDistance()
        return [Way(metric, most=INFINITY if separate else ONE)]
    most = INFINITY if box else ONE
    if entry.sort == "int":
        return [Way(AbsoluteDistance(), by * grid, grid, 1, most)]
    if kind == "one_differs":
        return [Way(L1Distance(), grid, grid, 1, most)]
    if monotone:
        return [Way(MonotoneDistance(), by * grid, grid, 1, most), Way(LInfDistance(), by * grid, grid, 2, most)]
    norms = (LInfDistance(), L1Distance(), L2Distance())
    return [Way(norm, by * grid, grid, 1, most) for norm in norms]


def _tried(kind: str, entry: Input, by: int | None, *, monotone: bool) -> Iterator[tuple[Value, Value]]:
    """Pairs at the ends of one step, which the relation must have."""
    if entry.sort == "bool":
        yield False, True
        return
    move = FAR if by is None else by
    if entry.sort == "int":
        for start in (-FAR, 0, FAR):
            yield start, start + move
        return
    signs = (0, 1) if monotone else (-1, 0, 1)
    for signed in product(signs, repeat=3):
        if kind == "all_differ" or sum(map(abs, signed)) == 1:
            yield (0, FAR, -FAR), tuple(at + sign * move for at, sign in zip((0, FAR, -FAR), signed, strict=True))


def _relates(
    pairs: Iterator[tuple[Value, Value]], relations: Sequence[Neighbors], name: str, known: Mapping[str, Value]
) -> bool:
    """Whether each pair is related, from left to right and from right to left."""
    try:
        return all(
            any(related(relation, {name: a}, {name: b}, known) for relation in relations)
            for left, right in pairs
            for a, b in ((left, right), (right, left))
        )
    except KeyError:  # the relation depends on a public input that is not given
        return False
