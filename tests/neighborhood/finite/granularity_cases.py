"""The notions and cuts of the table of granularities, on classes that are small enough to be enumerated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, product
from typing import Any

from viameter.measures import pure
from viameter.neighborhood.finite import (
    BLANK,
    ExactAnswer,
    FiniteLeaf,
    PrivacySpace,
    add_remove_or_replace,
    attribute,
    attribute_unordered,
    bounded,
    bounded_ordered,
    database,
    edge,
    event,
    exact_worst,
    free_lunch,
    graph,
    graphs,
    group,
    incident,
    induced,
    insert_delete,
    k_edge,
    local,
    multisets,
    node,
    ordered,
    out_link,
    policy,
    singles,
    streams,
    unbounded,
    user,
    w_event,
    zero_out,
)

Map = Callable[[Any], Any]
EPSILONS = (".2", ".5", ".3")


@dataclass(frozen=True)
class Case:
    """A class with a notion, the maps that cut it, what is expected (touched, stretch, separate, common), epsilons."""

    space: PrivacySpace
    maps: Sequence[Map]
    expected: tuple[int, float, str, str]
    epsilons: Sequence[str] = EPSILONS

    def answer(self, mode: Any, **options: Any) -> ExactAnswer:
        leaves = [
            FiniteLeaf(f, pure(epsilon), mode=mode, **options)
            for f, epsilon in zip(self.maps, self.epsilons, strict=True)
        ]
        return exact_worst(self.space, leaves)


def by_value(*parts: Any) -> list[Map]:
    """Cut a database or a list by the value of its records: those of a part stay, in their order."""
    return [partial(_records_in, tuple(part)) for part in parts]


def _records_in(part: Any, data: Any) -> Any:
    return tuple(record for record in data if record in part)


def blanked(*parts: Any) -> list[Map]:
    """Cut a list by value, with BLANK in the place of what belongs to other parts."""
    return [partial(_others_blank, tuple(part)) for part in parts]


def _others_blank(part: Any, data: Any) -> Any:
    return tuple(record if record in part else BLANK for record in data)


def positions(count: int) -> list[Map]:
    return chunks(count, 1)


def chunks(count: int, size: int) -> list[Map]:
    return [partial(_slice, start * size, size) for start in range(count)]


def _slice(start: int, size: int, data: Any) -> Any:
    return data[start : start + size]


def columns(count: int) -> list[Map]:
    """One column of ordered rows, as rows of one cell."""
    return [partial(_column, place) for place in range(count)]


def _column(place: int, data: Any) -> Any:
    return tuple((row[place],) for row in data)


def columns_unordered(count: int) -> list[Map]:
    return [partial(_sorted_column, place) for place in range(count)]


def _sorted_column(place: int, data: Any) -> Any:
    return database(_column(place, data))


def of_user(*names: str) -> list[Map]:
    return [partial(_events_of, name) for name in names]


def _events_of(name: str, data: Any) -> Any:
    return tuple(frozenset(each for each in now if each[0] == name) for now in data)


def out_edges(count: int) -> list[Map]:
    return [partial(_edges_from, source) for source in range(count)]


def _edges_from(source: int, data: Any) -> Any:
    return data[0], frozenset(each for each in data[1] if each[0] == source)


def graphs_over(nodes: Sequence[int], edges: Sequence[tuple[int, int]]) -> list[Any]:
    """All graphs on all of these nodes with some of these edges."""
    return [graph(nodes, chosen) for n in range(len(edges) + 1) for chosen in combinations(edges, n)]


INF = float("inf")
BITS = list(product((0, 1), repeat=2))
TRIPLES = list(product((0, 1), repeat=3))
EVENTS = [("ann", 0), ("ann", 1), ("bob", 0)]
PAIRED = graphs_over(range(6), [(0, 1), (2, 3), (4, 5), (1, 2), (3, 4)])
PAIRS = ((0, 1), (2, 3), (4, 5))
SINGLES = ((0,), (1,), (2,))


def _space(members: Any, relation: Any) -> PrivacySpace:
    return PrivacySpace(members, relation=relation)


BUILDERS: dict[str, Callable[[], Case]] = {
    "unbounded, by value": lambda: Case(
        _space(multisets("abcd", 3), unbounded), by_value("a", "bc", "d"), (1, 1, ".5", ".5")
    ),
    "bounded, by value": lambda: Case(
        _space(multisets("abcd", 3), bounded), by_value("a", "bc", "d"), (2, INF, "inf", ".8")
    ),
    "bounded ordered, by row id": lambda: Case(
        _space(ordered("abc", 3, least=3), bounded_ordered), positions(3), (1, 1, ".5", ".5")
    ),
    "bounded ordered, by column": lambda: Case(
        _space(ordered(TRIPLES, 2), bounded_ordered), columns(3), (3, 1, "1", "1")
    ),
    "add/remove-or-replace, by value": lambda: Case(
        _space(multisets("abcd", 3), add_remove_or_replace), by_value("a", "bc", "d"), (2, 1, ".8", ".8")
    ),
    "zero-out, by value, blanked in place": lambda: Case(
        _space(ordered([*"abc", BLANK], 3), zero_out), blanked("a", "b", "c"), (1, 1, ".5", ".5")
    ),
    "zero-out, by value, cut out": lambda: Case(
        _space(ordered([*"abc", BLANK], 3), zero_out), by_value("a", "b", "c"), (1, INF, "inf", ".5")
    ),
    "insert-delete, by value": lambda: Case(
        _space(ordered("abcd", 3), insert_delete), by_value("a", "bc", "d"), (1, 1, ".5", ".5")
    ),
    "group of 2 of unbounded, by value": lambda: Case(
        _space(multisets("abcd", 3), group(unbounded, 2)), by_value("a", "bc", "d"), (2, 1, ".8", ".8")
    ),
    "group of 3 of unbounded, by value": lambda: Case(
        _space(multisets("abcd", 3), group(unbounded, 3)), by_value("a", "bc", "d"), (3, 1, "1", "1")
    ),
    "free-lunch, by value": lambda: Case(
        _space(multisets("abcd", 3), free_lunch), by_value("a", "bc", "d"), (3, 1, "1", "1")
    ),
    "local, by attribute": lambda: Case(_space(singles(TRIPLES), local), columns(3), (3, 1, "1", "1")),
    "attribute, by column": lambda: Case(_space(ordered(TRIPLES, 2), attribute), columns(3), (1, 1, ".5", ".5")),
    "attribute unordered, by column": lambda: Case(
        _space(multisets(TRIPLES, 2), attribute_unordered), columns_unordered(3), (1, 1, ".5", ".5")
    ),
    # (0, 0) and (1, 1) are two cells apart: their epsilons, .5 and .3, are never spent together.
    "attribute, by value": lambda: Case(
        _space(multisets(BITS, 3), attribute_unordered),
        by_value([(0, 1), (1, 0)], [(0, 0)], [(1, 1)]),
        (2, INF, "inf", ".7"),
    ),
    "policy, no edge across parts": lambda: Case(
        _space(multisets("aabbccdd" + "ABCD", 2), policy(["aA", "bB", "cC"])),
        by_value("aA", "bB", "cC"),
        (1, 1, ".5", ".5"),
    ),
    "policy, edges across parts": lambda: Case(
        _space(multisets("abc", 3), policy(["ab", "ac"])), by_value("a", "b", "c"), (2, INF, "inf", ".7")
    ),
    "edge, induced subgraphs": lambda: Case(_space(PAIRED, edge), [*map(induced, PAIRS)], (1, 1, ".5", ".5")),
    "edge, incident subgraphs": lambda: Case(
        _space(graphs(4, fixed_nodes=True), edge),
        [incident(part, all_nodes=True) for part in ((0,), (1, 3), (2,))],
        (2, 1, ".8", ".8"),
    ),
    "2-edge, induced": lambda: Case(_space(PAIRED, k_edge(2)), [*map(induced, PAIRS)], (2, 1, ".8", ".8")),
    "node, induced": lambda: Case(_space(graphs(4), node), [*map(induced, ((0,), (1, 3), (2,)))], (1, 1, ".5", ".5")),
    "node, incident": lambda: Case(_space(graphs(3), node), [*map(incident, SINGLES)], (3, 3, "2", "1")),
    "node, incident, degree 1": lambda: Case(
        _space(graphs(4, degree=1), node), [*map(incident, ((0,), (1,), (2, 3)))], (2, 2, "1.3", ".8")
    ),
    "out-link, by source node": lambda: Case(
        _space(graphs(3, fixed_nodes=True, directed=True), out_link), out_edges(3), (1, 1, ".5", ".5")
    ),
    "event-level stream, by time": lambda: Case(_space(streams(3, EVENTS), event), positions(3), (1, 1, ".5", ".5")),
    # The windows are .4 + .1 and .1 + .3; the two largest are never in one.
    "2-event, by time": lambda: Case(
        _space(streams(3, EVENTS), w_event(2)), positions(3), (2, 1, ".5", ".5"), (".4", ".1", ".3")
    ),
    "user-level stream, by id": lambda: Case(
        _space(streams(2, [("ann", 0), ("bob", 0), ("bob", 1), ("cy", 0)]), user),
        of_user("ann", "bob", "cy"),
        (1, 1, ".5", ".5"),
    ),
    "user-level stream, by time": lambda: Case(_space(streams(3, EVENTS), user), positions(3), (3, 1, "1", "1")),
    "unbounded, chunks by sorted position": lambda: Case(
        _space(multisets("abcd", 4), unbounded), chunks(3, 1), (3, 2, "2", "1")
    ),
}


@cache
def case(name: str) -> Case:
    return BUILDERS[name]()
