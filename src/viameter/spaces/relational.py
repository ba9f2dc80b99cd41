"""Domains of graphs and of streams of events: what granularities such as edge, node, event and user speak of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from viameter.core import Domain, NotAMember
from viameter.errors import ParameterError, plain
from viameter.spaces.elements import GREATEST_INT, ScalarDomain, read_list, scalars


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph: nodes, and edges as pairs of nodes (in both orders where the graph is undirected)."""

    nodes: frozenset[Any]
    edges: frozenset[tuple[Any, Any]]


class Event(NamedTuple):
    """One event of a stream: when, whose, what."""

    step: int
    user: Any
    value: Any


@dataclass(frozen=True, repr=False, slots=True)
class GraphDomain(Domain):
    """Simple graphs without loops; with public nodes or a greatest degree if they are given. Members are `Graph`s."""

    nodes: frozenset[Any] | None = None
    directed: bool = False
    max_degree: int | None = None

    def _canonical(self, value: Any) -> Graph:
        nodes, edges = self._parts(value)
        for edge in edges:
            if len(edge) != 2 or edge[0] == edge[1]:
                raise NotAMember(f"{edge!r} is not an edge between two nodes")
            if not nodes.issuperset(edge):
                raise NotAMember(f"{edge!r} ends at a node that is not in the graph")
        if self.nodes is not None and nodes != self.nodes:
            raise NotAMember("its nodes are not those of the domain")
        if not self.directed:
            edges = edges | {(right, left) for left, right in edges}
        # In a directed graph edges count at both ends: removing a node takes away those that enter it, too.
        ends = (end for edge in edges for end in edge) if self.directed else (left for left, _ in edges)
        degrees = Counter(ends)
        if self.max_degree is not None and max(degrees.values(), default=0) > self.max_degree:
            raise NotAMember(f"it has a node of more than {self.max_degree} edges")
        return Graph(nodes, frozenset(edges))

    @staticmethod
    def _parts(value: Any) -> tuple[frozenset[Any], set[tuple[Any, Any]]]:
        # `Graph`, networkx graphs, and pairs of lists.
        nodes, edges = (
            (value.nodes, value.edges) if hasattr(value, "nodes") and hasattr(value, "edges") else (None, None)
        )
        if nodes is None and isinstance(value, tuple | list) and len(value) == 2:
            nodes, edges = value
        try:
            return frozenset(nodes), {tuple(edge) for edge in edges}  # type: ignore[arg-type,union-attr]
        except TypeError:
            raise NotAMember(f"it is of type {type(value).__name__}, not a graph or a pair (nodes, edges)") from None

    def __repr__(self) -> str:
        nodes = () if self.nodes is None else (f"nodes={sorted(self.nodes, key=repr)!r}",)
        directed = ("directed=True",) if self.directed else ()
        degree = () if self.max_degree is None else (f"max_degree={self.max_degree}",)
        return f"graphs({', '.join((*nodes, *directed, *degree))})"


@dataclass(frozen=True, repr=False, slots=True)
class StreamDomain(Domain):
    """Streams of events (step, user, value), of so many steps if that is given. Members are tuples of `Event`s."""

    value: ScalarDomain
    steps: int | None = None

    def _canonical(self, value: Any) -> tuple[Event, ...]:
        try:
            rows = [(step, user, item) for step, user, item in value]
        except (TypeError, ValueError):
            raise NotAMember("it is not a list of events (step, user, value)") from None
        for step, user, _ in rows:
            if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= GREATEST_INT:
                raise NotAMember("it has a step that is not a whole number from 0 to 2**63 - 1")
            if self.steps is not None and step >= self.steps:
                raise NotAMember(f"step {step} is beyond the {self.steps} steps of the domain")
            if isinstance(user, bool) or not isinstance(user, str | int):
                raise NotAMember(f"user is of type {type(user).__name__}: expected a string or an integer")
        # Events of one step have no order of their own, so the order in which they came is kept.
        events = (Event(step, user, self.value._canonical(item)) for step, user, item in rows)
        return tuple(sorted(events, key=lambda event: event.step))

    def __repr__(self) -> str:
        steps = () if self.steps is None else (f"steps={self.steps}",)
        return f"streams({', '.join((repr(self.value), *steps))})"


def graphs(*, nodes: Any = None, directed: bool = False, max_degree: int | None = None) -> GraphDomain:
    """Simple graphs: `Graph` values, networkx graphs, or pairs (nodes, edges).

    >>> graphs(max_degree=2).contains(([1, 2, 3], [(1, 2), (2, 3)]))
    True
    """
    if max_degree is not None and (isinstance(max_degree, bool) or not isinstance(max_degree, int) or max_degree < 0):
        raise ParameterError(f"max_degree={plain(max_degree)} is not a degree: expected a whole number >= 0")
    try:
        known = None if nodes is None else frozenset(read_list(nodes, "graphs: nodes=...", ordered=False))
    except TypeError:
        raise ParameterError("graphs: nodes=... takes nodes that are hashable, such as numbers and strings") from None
    return GraphDomain(known, directed, max_degree)


def streams(value: type | ScalarDomain, *, steps: int | None = None) -> StreamDomain:
    """Streams of events (step, user, value).

    >>> streams(int, steps=7).contains([(0, "ann", 3), (6, "bob", 1)])
    True
    """
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or steps < 0):
        raise ParameterError(f"steps={plain(steps)} is not a number of steps: expected a whole number >= 0")
    return StreamDomain(value if isinstance(value, ScalarDomain) else scalars(value), steps)
