"""Granularities of graphs: an edge, several edges, a node with its edges, the links that leave a node."""

from __future__ import annotations

from dataclasses import dataclass

from viameter.arith import INFINITY
from viameter.neighborhood.changes import Change, Edges, Star, StarWithEnds, Steps
from viameter.neighborhood.granularities.base import Granularity
from viameter.neighborhood.granularities.rows import read_count


@dataclass(frozen=True, slots=True, repr=False)
class Edge(Granularity):
    """One edge comes or goes; the nodes are public."""

    slug = "edge"
    protects = "one graph has one edge more than the other"
    edits = (Edges(1),)

    def _steps(self, change: Change) -> Steps:
        match change:
            case Edges(count=count):
                return count
            case Star(edges=edges, joins=False):
                return edges
        return INFINITY

    def _is_far(self, change: Change) -> bool:
        return isinstance(change, Star)  # a node more, or edges without number


@dataclass(frozen=True, slots=True, repr=False)
class NodeGranularity(Granularity):
    """A node with its edges; `nodes` and `degree` bound how many those are, where they are known."""

    nodes: int | None = None
    degree: int | None = None

    def __post_init__(self) -> None:
        for name in ("nodes", "degree"):
            if getattr(self, name) is not None:
                read_count(getattr(self, name), name)

    def _edges(self, caps: int) -> Steps:
        """How many edges of a node may change, if it has `caps` times its degree of them."""
        others = INFINITY if self.nodes is None else self.nodes - 1
        return min(others, INFINITY if self.degree is None else caps * self.degree)


@dataclass(frozen=True, slots=True, repr=False)
class Node(NodeGranularity):
    """One node comes or goes, with all of its edges."""

    slug = "node"

    @property
    def protects(self) -> str:
        """A node with its edges."""
        return "one graph has one node more than the other, with its edges"

    @property
    def edits(self) -> tuple[Change, ...]:
        """A node with its edges."""
        return (Star(self._edges(1), joins=True),)

    def _steps(self, change: Change) -> Steps:
        match change:
            case Star(joins=True):
                return 1
            case StarWithEnds(edges=edges):
                return 1 + edges
            case Star():
                return 2  # the node goes, and comes back with other edges
            case Edges(count=count):
                return 2 * count
        return INFINITY

    def is_exact(self, change: Change) -> bool:
        """Several edges may be those of one node."""
        return not isinstance(change, Edges) or change.count <= 1


@dataclass(frozen=True, slots=True, repr=False)
class NodeRewire(NodeGranularity):
    """All edges of one node may change; the nodes are public."""

    slug = "node-rewire"

    @property
    def protects(self) -> str:
        """The edges of a node."""
        return "the graphs have the same nodes, and the same edges but for those of one node"

    @property
    def edits(self) -> tuple[Change, ...]:
        """The edges of a node: old ones go, new ones come."""
        return (Star(self._edges(2), joins=False),)

    def _steps(self, change: Change) -> Steps:
        match change:
            case Star(joins=False):
                return 1
            case Edges(count=count):
                return count
        return INFINITY

    def _is_far(self, change: Change) -> bool:
        return isinstance(change, Star)  # a node more, or edges without number

    def is_exact(self, change: Change) -> bool:
        """Several edges may be those of one node."""
        return not isinstance(change, Edges) or change.count <= 1


@dataclass(frozen=True, slots=True, repr=False)
class OutLink(NodeGranularity):
    """All edges that leave one node may change, in a directed graph; the nodes are public."""

    slug = "out-link"

    @property
    def protects(self) -> str:
        """The links of a node to others."""
        return "the directed graphs have the same nodes, and the same edges but for those that leave one node"

    @property
    def edits(self) -> tuple[Change, ...]:
        """The edges that leave a node."""
        return (Star(self._edges(2), joins=False, out=True),)

    def _steps(self, change: Change) -> Steps:
        match change:
            case Star(out=True, joins=False):
                return 1
            case Edges(count=count):
                return count
        return INFINITY  # edges of a node that have no direction are not counted by the nodes that they leave

    def is_exact(self, change: Change) -> bool:
        """Several edges may leave one node."""
        return (isinstance(change, Star) and change.out) or (isinstance(change, Edges) and change.count <= 1)
