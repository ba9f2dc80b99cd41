"""The greatest flow from suppliers to their partners, in integers (Dinic's algorithm)."""

from __future__ import annotations

from collections.abc import Sequence

_UNREACHED = -1


def greatest_flow(
    supply: Sequence[int], demand: Sequence[int], partners: Sequence[Sequence[int]]
) -> tuple[dict[tuple[int, int], int], frozenset[int]]:
    """How much each supplier gives to each of its partners, and which suppliers a least cut keeps.

    Supplier i has supply[i] and may give to the j in partners[i]; j takes up to demand[j]. The flow is as large as can
    be. The set S are the suppliers that the source still reaches; for each the whole of its partners' demand is used:
    the flow is the supply outside of S and the demand of the partners of S, and no set gives less.

    >>> greatest_flow([3, 2], [1, 5], [[0], [0, 1]])
    ({(0, 0): 1, (1, 1): 2}, frozenset({0}))
    """
    network = _Network(2 + len(supply) + len(demand))
    source, sink, first_demand = 0, 1, 2 + len(supply)
    unlimited = sum(supply)
    for i, amount in enumerate(supply):
        network.join(source, 2 + i, amount)
    carrying = {}
    for i, ends in enumerate(partners):
        for j in ends:
            carrying[i, j] = network.join(2 + i, first_demand + j, unlimited)
    for j, amount in enumerate(demand):
        network.join(first_demand + j, sink, amount)
    levels = network.levels(source)
    while levels[sink] != _UNREACHED:
        network.fill(source, sink, levels)
        levels = network.levels(source)
    flow = {pair: network.room[edge ^ 1] for pair, edge in carrying.items() if network.room[edge ^ 1]}
    return flow, frozenset(i for i in range(len(supply)) if levels[2 + i] != _UNREACHED)


class _Network:
    """Edges and how much room each has left; edge ^ 1 is the way back, whose room is what flows."""

    def __init__(self, nodes: int) -> None:
        self.leaving: list[list[int]] = [[] for _ in range(nodes)]
        self.head: list[int] = []
        self.room: list[int] = []

    def join(self, tail: int, head: int, room: int) -> int:
        edge = len(self.head)
        self.leaving[tail].append(edge)
        self.leaving[head].append(edge + 1)
        self.head += (head, tail)
        self.room += (room, 0)
        return edge

    def levels(self, source: int) -> list[int]:
        """How many edges with room lead from the source to each node."""
        level = [_UNREACHED] * len(self.leaving)
        level[source] = 0
        queue = [source]
        for node in queue:
            for edge in self.leaving[node]:
                head = self.head[edge]
                if self.room[edge] and level[head] == _UNREACHED:
                    level[head] = level[node] + 1
                    queue.append(head)
        return level

    def fill(self, source: int, sink: int, level: list[int]) -> None:
        """Push along shortest paths until none is left; edges that lead nowhere are passed over for good."""
        following = [iter(edges) for edges in self.leaving]
        current: list[int | None] = [next(edges, None) for edges in following]
        path: list[int] = []
        node = source
        while True:
            if node == sink:
                self._push(path)
                full = next(place for place, edge in enumerate(path) if not self.room[edge])
                node = self.head[path[full] ^ 1]
                del path[full:]
            edge = current[node]
            if edge is None:
                if node == source:
                    return
                node = self.head[path.pop() ^ 1]
                current[node] = next(following[node], None)
            elif self.room[edge] and level[self.head[edge]] == level[node] + 1:
                path.append(edge)
                node = self.head[edge]
            else:
                current[node] = next(following[node], None)

    def _push(self, path: list[int]) -> None:
        amount = min(self.room[edge] for edge in path)
        for edge in path:
            self.room[edge] -= amount
            self.room[edge ^ 1] += amount
