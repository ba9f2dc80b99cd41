"""Adjacency to metrics: in which metrics the steps of a program's adjacency can be counted, and how.

| adjacency | metric | steps at distance d |
|---|---|---|
| every element, or one number, moves by at most b | LInf, L1, L2; Absolute | ceil(d/b) |
| the same, all up or all down | MonotoneDistance; LInf | ceil(d/b); 2 ceil(d/b) |
| one element moves by at most b | L1 | d |
| one element, or one value, is replaced | Hamming; Discrete | d |
| one row is added or removed | InsertDelete | d |
| anything else, and each of these but the last | ProgramAdjacency | 0 and 1 only |

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
from viameter.logic.front.adjacency import AddedOrRemoved, Differing
from viameter.logic.front.inputs import PRESENT
from viameter.logic.lang.core import Input
from viameter.logic.neighbors import Neighbors
from viameter.logic.running.distances import MonotoneDistance, related
from viameter.logic.running.values import Value
from viameter.spaces import (
    AbsoluteDistance,
    DiscreteDistance,
    HammingDistance,
    InsertDeleteDistance,
    L1Distance,
    L2Distance,
    LInfDistance,
)

ONE = Fraction(1)
FAR = 10**6
"""How far apart values are taken that may be replaced by any other, when it is tried whether a relation says so."""
BETWEEN = (0, FAR, -FAR)
"""The list from which steps are tried."""


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
    # By its very class: one that is derived from it may say something else.
    if type(adjacent) is AddedOrRemoved:
        found = _relates(_rows(adjacent), relations, known)
        return [Way(InsertDeleteDistance(), most=INFINITY if separate else ONE)] if found else []
    if type(adjacent) is not Differing:
        return []
    grid, many = entry.grid, entry.sort == "list"
    by = None if adjacent.by is None else math.floor(adjacent.by / grid)
    if by == 0 or (by is None and many and not adjacent.one):
        return []
    if not _relates(_tried(adjacent, entry, by), relations, known):
        return []
    if by is None or entry.sort == "bool":
        metric = HammingDistance() if many else DiscreteDistance()
        return [Way(metric, most=INFINITY if separate else ONE)]
    most = INFINITY if box else ONE
    if not many:
        return [Way(AbsoluteDistance(), by * grid, grid, 1, most)]
    if adjacent.one:
        return [Way(L1Distance(), grid, grid, 1, most)]
    if adjacent.monotone:
        return [Way(MonotoneDistance(), by * grid, grid, 1, most), Way(LInfDistance(), by * grid, grid, 2, most)]
    norms = (LInfDistance(), L1Distance(), L2Distance())
    return [Way(norm, by * grid, grid, 1, most) for norm in norms]


Inputs = Mapping[str, Value]


def _tried(adjacent: Differing, entry: Input, by: int | None) -> Iterator[tuple[Inputs, Inputs]]:
    """Pairs at the ends of one step, which the relation must have."""
    name, move = entry.name, FAR if by is None else by
    if entry.sort == "bool":
        yield {name: False}, {name: True}
    elif entry.sort == "int":
        for start in (-FAR, 0, FAR):
            yield {name: start}, {name: start + move}
    else:
        for signs in product((0, 1) if adjacent.monotone else (-1, 0, 1), repeat=len(BETWEEN)):
            if not adjacent.one or sum(map(abs, signs)) == 1:
                moved = tuple(at + sign * move for at, sign in zip(BETWEEN, signs, strict=True))
                yield {name: BETWEEN}, {name: moved}


def _rows(adjacent: AddedOrRemoved) -> Iterator[tuple[Inputs, Inputs]]:
    """Slots, all of which are taken in one run, and all but one in the other."""
    marks = adjacent.name + PRESENT
    for at in range(len(BETWEEN)):
        without = tuple(int(place != at) for place in range(len(BETWEEN)))
        yield {adjacent.name: BETWEEN, marks: (1,) * len(BETWEEN)}, {adjacent.name: BETWEEN, marks: without}


def _relates(
    pairs: Iterator[tuple[Inputs, Inputs]], relations: Sequence[Neighbors], known: Mapping[str, Value]
) -> bool:
    """Whether each pair is related, from left to right and from right to left."""
    try:
        return all(
            any(related(relation, one, other, known) for relation in relations)
            for left, right in pairs
            for one, other in ((left, right), (right, left))
        )
    except KeyError:  # the relation depends on a public input that is not given
        return False
