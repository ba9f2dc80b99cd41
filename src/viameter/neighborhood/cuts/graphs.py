"""Cuts of graphs: the nodes are divided, and each part keeps the edges within it, or all that touch it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended
from viameter.neighborhood.changes import Anything, Change, Edges, Star, StarWithEnds, Steps
from viameter.neighborhood.cuts.base import Cut, Gains, Touched, read_size
from viameter.neighborhood.solvers import worst_at_most, worst_contribution

MOST_EDGES = 200
"""How many edges at once are spread over parts; beyond it, the law for groups is used instead."""
MOST_PARTS = 50
"""For how many parts the edges of a node are shared out among the others."""


@dataclass(frozen=True, eq=False, repr=False)
class NodeParts(Cut):
    """The nodes are divided into so many parts."""

    size: int

    def __len__(self) -> int:
        return self.size

    def _one_part(self, change: Change, gains: Gains, after: str) -> Touched:
        costs = gains.column(change)
        part = max(range(self.size), key=costs.__getitem__)
        return Touched(costs[part], {part: change}, True, "a graph", f"the same with {after} in part {part}")

    def _spread(self, most: Steps, parts_of_each: int, gains: Gains, *, exact: bool) -> Touched:
        """So many edges, each of which is seen by so many parts."""
        if most == INFINITY:
            return self._everywhere(Edges(INFINITY), gains, exact=exact)
        if most > MOST_EDGES:
            raise self._refuse(Edges(most))
        count = int(most)
        tables = [
            [Fraction(0), *(gains.of(part, Edges(number)) for number in range(1, count + 1))]
            for part in range(self.size)
        ]
        found = worst_contribution(tables, l0=self.size, l1=parts_of_each * count)
        changes: dict[int, Change] = {part: Edges(number) for part, number in found.chosen}
        seen = ", ".join(f"{number} in part {part}" for part, number in found.chosen)
        return Touched(found.value, changes, exact and found.exact, "a graph", f"the same with other edges: {seen}")


@dataclass(frozen=True, eq=False, repr=False)
class Induced(NodeParts):
    """Each part keeps its nodes and the edges between them."""

    def label(self, part: int) -> str:
        """Which nodes it is induced by."""
        return f"the subgraph induced by part {part}"

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """An edge is in one part at most, and so is a node with those of its edges that are."""
        match edit:
            case Edges(count=1):
                return self._one_part(edit, gains, "one edge more")
            case Edges(count=count):
                return self._spread(count, 1, gains, exact=True)
            case Star():
                return self._one_part(edit, gains, "another node" if edit.joins else "other edges at a node")
            case Anything():
                return self._everywhere(edit, gains, exact=True)
        raise self._refuse(edit)

    def __repr__(self) -> str:
        return f"induced({self.size})"


@dataclass(frozen=True, eq=False, repr=False)
class BySource(NodeParts):
    """Each part keeps the edges that leave its nodes, in a directed graph."""

    def label(self, part: int) -> str:
        """Whose links they are."""
        return f"the links of part {part}"

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """Every edge is in the part of the node that it leaves."""
        match edit:
            case Edges(count=1):
                return self._one_part(edit, gains, "one link more")
            case Edges(count=count):
                return self._spread(count, 1, gains, exact=True)
            case Star(out=True, joins=False):
                return self._one_part(edit, gains, "other links of a node")
            case Anything():
                return self._everywhere(edit, gains, exact=True)
        raise self._refuse(edit)

    def __repr__(self) -> str:
        return f"by_source({self.size})"


@dataclass(frozen=True, eq=False, repr=False)
class Incident(NodeParts):
    """Each part keeps its nodes and all edges that touch one of them, with the nodes at their other ends.

    Where the nodes are public (edges, links and rewired nodes are what is protected), each part has all of them.
    """

    def label(self, part: int) -> str:
        """Which nodes the edges touch."""
        return f"the edges that touch part {part}"

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """An edge is in the parts of both of its ends; a node's edges can be in all."""
        match edit:
            case Edges(count=1):
                found = worst_at_most(gains.column(edit), min(2, self.size))
                seen = " and ".join(f"part {part}" for part in found.chosen)
                after = f"the same with an edge more, between {seen}"
                return Touched(found.value, dict.fromkeys(found.chosen, edit), True, "a graph", after)
            case Edges(count=count):
                return self._spread(count, 2, gains, exact=False)
            case Star():
                return self._star(edit, gains)
            case Anything():
                return self._everywhere(edit, gains, exact=True)
        raise self._refuse(edit)

    def _star(self, edit: Star, gains: Gains) -> Touched:
        """A node's own part, and the parts of the nodes that it has edges to.

        Where the node comes or goes, its own part may see as many nodes more as it has edges: the other ends, which
        that part saw nothing of. Each of them is a step.
        """
        # The own part is told apart from the others only where the node comes or goes.
        seen_at_home: Change = StarWithEnds(edit.edges) if edit.joins else edit
        own = gains.column(seen_at_home)
        best: tuple[Extended, int, dict[int, Change]] = (Fraction(-1), 0, {})
        elsewhere = self._elsewhere(edit, gains)
        for part in range(self.size):
            cost, touched = elsewhere(part)
            value: Any = own[part] + cost
            if value > best[0]:
                best = (value, part, touched)
        value, part, others = best
        changes: dict[int, Change] = {part: seen_at_home, **others}
        return Touched(value, changes, False, "a graph", f"the same with other edges at a node of part {part}")

    def _elsewhere(self, edit: Star, gains: Gains) -> Callable[[int], tuple[Extended, dict[int, Change]]]:
        """What other parts see of a node's edges: together no more of them than there are."""
        if edit.edges <= MOST_EDGES and self.size <= MOST_PARTS:
            counts = range(1, int(edit.edges) + 1)
            tables = [
                [Fraction(0), *(gains.of(part, replace(edit, edges=count)) for count in counts)]
                for part in range(self.size)
            ]

            def shared(home: int) -> tuple[Extended, dict[int, Change]]:
                rest = [table if part != home else table[:1] for part, table in enumerate(tables)]
                found = worst_contribution(rest, l0=self.size, l1=int(edit.edges))
                return found.value, {part: replace(edit, edges=count) for part, count in found.chosen}

            return shared
        costs = gains.column(edit)
        reach = self.size - 1 if edit.edges >= self.size - 1 else int(edit.edges)

        def each(home: int) -> tuple[Extended, dict[int, Change]]:
            found = worst_at_most([Fraction(0) if part == home else cost for part, cost in enumerate(costs)], reach)
            return found.value, dict.fromkeys(found.chosen, edit)

        return each

    def __repr__(self) -> str:
        return f"incident({self.size})"


def induced(size: int) -> Induced:
    """Subgraphs induced by so many disjoint sets of nodes.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> towns = nb.induced(3)
    >>> nb.compose(nb.edge(), [nb.leaf(t, vm.pure(e)) for t, e in zip(towns, ("0.2", "0.5", "0.3"))]).loss
    pure(1/2)
    """
    return Induced(read_size(size, "size"))


def incident(size: int) -> Incident:
    """The edges that touch each of so many disjoint sets of nodes.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> towns = nb.incident(3)
    >>> nb.compose(nb.edge(), [nb.leaf(t, vm.pure(e)) for t, e in zip(towns, ("0.2", "0.5", "0.3"))]).loss
    pure(4/5)
    """
    return Incident(read_size(size, "size"))


def by_source(size: int) -> BySource:
    """The links that leave each of so many disjoint sets of nodes, in a directed graph."""
    return BySource(read_size(size, "size"))
