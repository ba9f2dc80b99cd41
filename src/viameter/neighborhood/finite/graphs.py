"""Neighbor relations on small graphs, written straight from their definitions.

A graph is `(nodes, edges)`: a frozenset of nodes and a frozenset of edges, each a frozenset of two nodes. A directed
graph has edges `(source, target)`. No graph is its own neighbor.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import combinations
from typing import Any, TypeAlias

from viameter.errors import ParameterError

Graph: TypeAlias = tuple[frozenset[Any], frozenset[Any]]


def graph(nodes: Iterable[Hashable], edges: Iterable[tuple[Any, Any]] = (), *, directed: bool = False) -> Graph:
    """A graph from nodes and pairs of nodes.

    >>> nodes, edges = graph("ab", [("a", "b")])
    >>> sorted(nodes), [sorted(edge) for edge in edges]
    (['a', 'b'], [['a', 'b']])
    """
    known = frozenset(nodes)
    pairs = [tuple(edge) for edge in edges]
    if not all(len(edge) == 2 and edge[0] != edge[1] and known.issuperset(edge) for edge in pairs):
        raise ParameterError("an edge is no pair of two different nodes of the graph: expected edges between its nodes")
    return known, frozenset(pairs if directed else map(frozenset, pairs))


def edge(before: Graph, after: Graph) -> bool:
    """One edge is added or removed; the nodes stay."""
    return before[0] == after[0] and len(before[1] ^ after[1]) == 1


def k_edge(most: int) -> Callable[[Graph, Graph], bool]:
    """Up to `most` edges are added or removed; the nodes stay."""

    def up_to_k_edges(before: Graph, after: Graph) -> bool:
        return before[0] == after[0] and 1 <= len(before[1] ^ after[1]) <= most

    return up_to_k_edges


def node(before: Graph, after: Graph) -> bool:
    """One node is added or removed, with all edges at it."""
    if len(before[0] ^ after[0]) != 1:
        return False
    smaller, larger = sorted((before, after), key=lambda each: len(each[0]))
    (gone,) = larger[0] ^ smaller[0]
    return gone in larger[0] and smaller[1] == frozenset(each for each in larger[1] if gone not in each)


def node_rewire(before: Graph, after: Graph) -> bool:
    """Edges at one node are changed in any way; the nodes stay."""
    changed = before[1] ^ after[1]
    return before[0] == after[0] and bool(changed) and any(all(v in each for each in changed) for v in before[0])


def out_link(before: Graph, after: Graph) -> bool:
    """Edges that leave one node of a directed graph are changed in any way; the nodes stay."""
    changed = before[1] ^ after[1]
    return before[0] == after[0] and len({source for source, _ in changed}) == 1


def edge_neighbors(before: Graph) -> Iterator[Graph]:
    """Every graph that is one edge away."""
    nodes, edges = before
    for pair in combinations(nodes, 2):
        yield nodes, edges ^ {frozenset(pair)}


def node_neighbors(universe: Iterable[Hashable]) -> Callable[[Graph], Iterator[Graph]]:
    """Lists the graphs that are one node away, for nodes drawn from `universe`."""
    everyone = frozenset(universe)

    def neighbors(before: Graph) -> Iterator[Graph]:
        nodes, edges = before
        for gone in nodes:
            yield nodes - {gone}, frozenset(each for each in edges if gone not in each)
        for new in everyone - nodes:
            for count in range(len(nodes) + 1):
                for others in combinations(nodes, count):
                    yield nodes | {new}, edges | {frozenset((new, other)) for other in others}

    return neighbors


def induced(kept: Iterable[Hashable]) -> Callable[[Graph], Graph]:
    """The map to the subgraph induced by these nodes: they, and the edges that join two of them."""
    wanted = frozenset(kept)

    def subgraph(whole: Graph) -> Graph:
        return whole[0] & wanted, frozenset(each for each in whole[1] if wanted.issuperset(each))

    return subgraph


def incident(kept: Iterable[Hashable], *, all_nodes: bool = False) -> Callable[[Graph], Graph]:
    """The map to the subgraph incident to these nodes: they, the edges that touch one of them, and the ends of those.

    With `all_nodes` every node of the graph is kept, as notions need that compare graphs of the same nodes.
    """
    wanted = frozenset(kept)

    def subgraph(whole: Graph) -> Graph:
        edges = frozenset(each for each in whole[1] if not wanted.isdisjoint(each))
        nodes = whole[0] if all_nodes else (whole[0] & wanted) | frozenset(end for each in edges for end in each)
        return nodes, edges

    return subgraph
