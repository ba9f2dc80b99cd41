"""Small instances: a line, a law on it, random graphs, random spaces with a function, and paths between its images."""

from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Any

from viameter.arith import INFINITY, Extended
from viameter.neighborhood.finite import PrivacySpace


def apart(one: Any, other: Any) -> Any:
    return abs(one - other)


LINE = PrivacySpace(range(5), metric=apart, name="line")


def random_graph(random: Random) -> tuple[list[int], set[frozenset[int]]]:
    nodes = list(range(random.randint(1, 9)))
    chance = random.choice((0.1, 0.3, 0.6))
    return nodes, {frozenset((a, b)) for a in nodes for b in nodes if a < b and random.random() < chance}


def kinked(distance: Extended) -> int:
    return (0, 1, 1, 2, 2)[int(distance)]


def random_instance(random: Random) -> tuple[PrivacySpace, dict[int, int]]:
    nodes, edges = random_graph(random)
    function = {member: random.randrange(1 + len(nodes) // 2) for member in nodes}
    if random.random() < 0.5:
        return PrivacySpace(nodes, relation=lambda a, b: frozenset((a, b)) in edges), function
    lengths = {e: Fraction(random.randint(0, 6), random.choice((1, 2, 3))) for e in edges}
    rows: dict[tuple[int, int], Any] = {(a, b): lengths.get(frozenset((a, b)), INFINITY) for a in nodes for b in nodes}
    rows |= {(a, a): Fraction(0) for a in nodes}
    for via in nodes:
        for a in nodes:
            for b in nodes:
                rows[a, b] = min(rows[a, b], rows[a, via] + rows[via, b])
    return PrivacySpace(nodes, metric=lambda a, b: rows[a, b]), function


def hop(space: PrivacySpace, function: dict[int, int], one: int, other: int) -> Extended:
    return min(
        space.distance(a, b) for a in space.members for b in space.members if (function[a], function[b]) == (one, other)
    )


def paths(images: list[int], one: int, other: int) -> list[tuple[int, ...]]:
    rest = [image for image in images if image not in (one, other)]
    middles = [middle for size in range(len(rest) + 1) for middle in permutations(rest, size)]
    return [(one, *middle, other) for middle in middles]
