"""Cuts by a hierarchy: regions within regions, where a record is in a node and in all that the node is within."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from viameter.arith import Extended
from viameter.errors import ParameterError
from viameter.neighborhood.arguments import read_values
from viameter.neighborhood.changes import Change, Rows, Shifted, Swap
from viameter.neighborhood.cuts.records import RecordCut
from viameter.neighborhood.solvers import worst_path, worst_path_pair


@dataclass(frozen=True, eq=False, repr=False)
class Tree(RecordCut):
    """Each part is a node of a forest; a record is in one node, with others below it or not, and in all nodes above."""

    alike_outside = False
    names: tuple[Hashable, ...]
    parents: tuple[int | None, ...]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def width(self) -> int:
        """The height of the forest."""
        heights: dict[int, int] = {}

        def height(node: int) -> int:
            way = []
            while node not in heights:
                way.append(node)
                above = self.parents[node]
                if above is None:
                    heights[node] = 1
                    break
                node = above
            for lower in reversed(way):
                above = self.parents[lower]
                heights[lower] = 1 if above is None else heights[above] + 1
            return heights[way[0]] if way else heights[node]

        return max(height(node) for node in range(len(self)))

    def has_outside(self, part: int) -> bool:
        """If a node without others below it is elsewhere: that records are in inner nodes only may be, or not."""
        return part not in self._above_all

    @cached_property
    def _above_all(self) -> frozenset[int]:
        """The nodes that all nodes without others below them are in."""
        with_children = set(self.parents)
        childless = [node for node in range(len(self)) if node not in with_children]
        found = self.parts_of(self._site(childless[0]))
        for node in childless[1:]:
            found = found and found & self.parts_of(self._site(node))
        return found

    @cached_property
    def _sites(self) -> tuple[int | None, ...]:
        """The forest, with one more place below each node that has others below it: for records of just that node."""
        inner = sorted({above for above in self.parents if above is not None})
        return (*self.parents, *inner)

    def _site(self, node: int, number: int = 0) -> AtNode:
        own = node if node < len(self) else self._sites[node]
        assert own is not None
        return AtNode(own, self.names[own], number)

    def _with_sites(self, costs: Sequence[Extended]) -> list[Extended]:
        return [*costs, *[Fraction(0)] * (len(self._sites) - len(self))]

    def label(self, part: int) -> str:
        """The node's name."""
        return f"{self.names[part]}"

    def parts_of(self, record: Any) -> frozenset[int]:
        """The record's node, and all that it is within."""
        found, node = [], record.node
        while node is not None:
            found.append(node)
            node = self.parents[node]
        return frozenset(found)

    def _one(self, costs: Sequence[Extended]) -> tuple[Extended, Any, bool]:
        found = worst_path(self._sites, self._with_sites(costs))
        return found.value, self._site(found.chosen), found.exact

    def _two(
        self, cross: Sequence[Extended], both: Sequence[Extended], edit: Change
    ) -> tuple[Extended, tuple[Any, Any], bool]:
        exact = not isinstance(edit, Swap | Shifted) and not (isinstance(edit, Rows) and edit.cells == 1)
        found = worst_path_pair(self._sites, cross=self._with_sites(cross), both=self._with_sites(both))
        old, new = found.chosen
        return found.value, (self._site(old), self._site(new, int(old == new))), exact and found.exact

    def __repr__(self) -> str:
        return f"tree(<{len(self)} nodes>)"


@dataclass(frozen=True, slots=True)
class AtNode:
    """A record that was made up to show a touch pattern, by the node that it is in."""

    node: int
    name: Hashable
    number: int = 0

    def __repr__(self) -> str:
        return f"<a{'nother' if self.number else ''} record in {self.name}>"


def tree(parents: Mapping[Any, Any]) -> Tree:
    """Parts that lie within one another: each node with the node that it is in, None at the top.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> places = nb.tree({"country": None, "north": "country", "south": "country", "town": "north"})
    >>> nb.compose(nb.unbounded(), [nb.leaf(place, vm.pure("0.1")) for place in places]).loss
    pure(3/10)
    """
    if not isinstance(parents, Mapping) or not parents:
        raise ParameterError("tree takes {node: the node that it is in, or None}, at least one node")
    read_values(parents.values(), "the nodes that others are in", "{'north': 'country', 'country': None}")
    names = tuple(parents)
    place = {name: number for number, name in enumerate(names)}
    unknown = [number for number, above in enumerate(parents.values()) if above is not None and above not in place]
    if unknown:
        raise ParameterError(f"node {names[unknown[0]]!r} is in a node that is not listed: list every node")
    above = tuple(None if parent is None else place[parent] for parent in parents.values())
    worst_path(above, [0] * len(names))  # refuses a node that is within itself
    return Tree(names, above)
