"""Cuts by a hierarchy: regions within regions, where a record is in a node and in all that the node is within."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from viameter.arith import Extended
from viameter.errors import ParameterError
from viameter.neighborhood.changes import Change, Rows, Shifted, Swap
from viameter.neighborhood.cuts.records import RecordCut
from viameter.neighborhood.solvers import worst_path, worst_path_pair


@dataclass(frozen=True, eq=False, repr=False)
class Tree(RecordCut):
    """Each part is a node of a forest; a record is in one node without children, and in all nodes above it."""

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
        """If some record can be elsewhere: if not all nodes without children are below it."""
        return part not in self._above_all

    @cached_property
    def _above_all(self) -> frozenset[int]:
        """The nodes that every record is in."""
        with_children = set(self.parents)
        childless = [node for node in range(len(self)) if node not in with_children]
        found = self.parts_of(AtNode(childless[0], self.names[childless[0]]))
        for node in childless[1:]:
            if len(found) == 0:
                break
            found &= self.parts_of(AtNode(node, self.names[node]))
        return found

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
        found = worst_path(self.parents, costs)
        return found.value, AtNode(found.chosen, self.names[found.chosen]), found.exact

    def _two(
        self, cross: Sequence[Extended], both: Sequence[Extended], edit: Change
    ) -> tuple[Extended, tuple[Any, Any], bool]:
        exact = not isinstance(edit, Swap | Shifted) and not (isinstance(edit, Rows) and edit.cells == 1)
        found = worst_path_pair(self.parents, cross=cross, both=both)
        old, new = found.chosen
        records = (AtNode(old, self.names[old]), AtNode(new, self.names[new], 1 if old == new else 0))
        return found.value, records, exact and found.exact

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
    names = tuple(parents)
    place = {name: number for number, name in enumerate(names)}
    unknown = [number for number, above in enumerate(parents.values()) if above is not None and above not in place]
    if unknown:
        raise ParameterError(f"node {names[unknown[0]]!r} is in a node that is not listed: list every node")
    above = tuple(None if parent is None else place[parent] for parent in parents.values())
    worst_path(above, [0] * len(names))  # refuses a node that is within itself
    return Tree(names, above)
