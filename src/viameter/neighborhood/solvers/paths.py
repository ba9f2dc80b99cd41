"""The worst path from a root of a forest, and the worst pair of such paths, in linear time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from viameter.arith import INFINITY, ZERO, Extended
from viameter.errors import ParameterError, plain
from viameter.neighborhood.solvers.worst import Unit, Worst, read_gains, same_length


def worst_path(parents: Sequence[int | None], gains: Sequence[Extended]) -> Worst:
    """Return the largest total gain of a node without children and all that is above it; chosen is that node.

    >>> from fractions import Fraction
    >>> worst_path([None, 0, 0], [Fraction(1, 10), Fraction(1, 5), Fraction(3, 10)])
    Worst(value=Fraction(2, 5), chosen=2, exact=True)
    """
    read = read_gains(gains)
    forest = _read_forest(parents)
    same_length("parents", parents, "gains", read)
    if not forest.order:
        return Worst(ZERO, None)
    counted = _Counted(read)
    above = _from_roots(forest, counted.units)
    chosen = max(
        (node for node in forest.order if not forest.has_children[node]), key=lambda node: (above[node], -node)
    )
    return counted.answer(above[chosen], chosen)


def worst_path_pair(
    parents: Sequence[int | None], *, cross: Sequence[Extended], both: Sequence[Extended], plural: bool = True
) -> Worst:
    """Return the largest cost of two records at nodes without children; chosen is the pair of nodes.

    What is on both paths to a root costs both[i], what is on one of them cross[i]. Both records may sit at the same
    node if `plural`.

    >>> from fractions import Fraction
    >>> tenth = [Fraction(1, 10)] * 3
    >>> worst_path_pair([None, 0, 0], cross=tenth, both=[0, 0, 0])
    Worst(value=Fraction(1, 5), chosen=(1, 2), exact=True)
    """
    one, two = read_gains(cross, name="cross"), read_gains(both, name="both")
    if type(plural) is not bool:
        raise ParameterError(f"plural={plain(plural)}: expected True or False")
    forest = _read_forest(parents)
    same_length("parents", parents, "cross", one)
    same_length("parents", parents, "both", two)
    counted = _Counted([*one, *two])
    crossed, shared = counted.units[: len(one)], counted.units[len(one) :]
    above = _from_roots(forest, shared)
    # Per node, and at the end for all roots: the two best ways down through different children.
    ways: list[list[tuple[int, int]]] = [[] for _ in range(len(one) + 1)]
    best, chosen = -1, None
    for node in reversed(forest.order):
        below = ways[node]
        if not below:
            down, end = crossed[node], node
            if plural and above[node] > best:
                best, chosen = above[node], (node, node)
        else:
            down, end = crossed[node] + below[0][0], below[0][1]
            if len(below) == 2 and above[node] + below[0][0] + below[1][0] > best:
                best, chosen = above[node] + below[0][0] + below[1][0], (below[0][1], below[1][1])
        parent = parents[node]
        _keep_two(ways[len(one) if parent is None else parent], (down, end))
    roots = ways[-1]
    if len(roots) == 2 and roots[0][0] + roots[1][0] > best:
        best, chosen = roots[0][0] + roots[1][0], (roots[0][1], roots[1][1])
    if chosen is None:
        return Worst(ZERO, None)
    return counted.answer(best, (min(chosen), max(chosen)))


class _Counted:
    """Gains in units, where an infinite one is more than all finite ones together."""

    def __init__(self, gains: list[Extended]) -> None:
        self.unit = Unit.of(gains)
        finite = [0 if isinstance(gain, float) else self.unit.count(gain) for gain in gains]
        self.beyond = 1 + sum(finite)
        self.units = [self.beyond if isinstance(gain, float) else n for gain, n in zip(gains, finite, strict=True)]

    def answer(self, units: int, chosen: object) -> Worst:
        if units >= self.beyond:
            return Worst(INFINITY, chosen)
        return Worst(self.unit.value(units), chosen, self.unit.exact)


class _Forest(NamedTuple):
    parents: Sequence[int | None]
    order: list[int]  # parents before children
    has_children: list[bool]


def _read_forest(parents: Sequence[int | None]) -> _Forest:
    children: list[list[int]] = [[] for _ in parents]
    order = []
    for node, parent in enumerate(parents):
        if parent is None:
            order.append(node)
        elif type(parent) is not int or not 0 <= parent < len(parents):
            raise ParameterError(
                f"parents[{node}]={plain(parent)}: expected None or the index of a node, below {len(parents)}"
            )
        else:
            children[parent].append(node)
    for node in order:  # which grows meanwhile
        order += children[node]
    if len(order) < len(parents):
        looped = min(set(range(len(parents))) - set(order))
        raise ParameterError(f"the parents of node {looped} lead round in a circle: expected a forest")
    return _Forest(parents, order, [bool(below) for below in children])


def _from_roots(forest: _Forest, units: list[int]) -> list[int]:
    above = list(units)
    for node in forest.order:
        parent = forest.parents[node]
        if parent is not None:
            above[node] += above[parent]
    return above


def _keep_two(ways: list[tuple[int, int]], way: tuple[int, int]) -> None:
    ways.append(way)
    ways.sort(key=lambda known: (-known[0], known[1]))
    del ways[2:]
