"""Small classes of databases, listed in full, and whether a class is closed under taking sub-databases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from itertools import chain, combinations, combinations_with_replacement, product
from typing import Any

from viameter.errors import ParameterError
from viameter.neighborhood.finite.graphs import Graph
from viameter.neighborhood.finite.relations import Database, database
from viameter.neighborhood.finite.streams import Stream, Tables, without_row


def multisets(records: Iterable[Any], most: int, *, least: int = 0) -> tuple[Database, ...]:
    """All multisets of `least` to `most` of these records.

    >>> multisets("ab", 2, least=1)
    (('a',), ('b',), ('a', 'a'), ('a', 'b'), ('b', 'b'))
    """
    universe = database(dict.fromkeys(records))
    return tuple(
        chain.from_iterable(combinations_with_replacement(universe, size) for size in _sizes(least, most)),
    )


def ordered(values: Iterable[Any], most: int, *, least: int = 0) -> tuple[Database, ...]:
    """All lists of `least` to `most` of these values; `least=most` for one length."""
    universe = tuple(dict.fromkeys(values))
    return tuple(chain.from_iterable(product(universe, repeat=size) for size in _sizes(least, most)))


def singles(records: Iterable[Hashable]) -> tuple[Database, ...]:
    """All databases of a single record."""
    return tuple((record,) for record in dict.fromkeys(records))


def graphs(
    count: int, *, fixed_nodes: bool = False, degree: int | None = None, directed: bool = False
) -> tuple[Graph, ...]:
    """All graphs on the nodes 0 ... count - 1 and, unless the nodes are fixed, on every subset of them.

    `degree` keeps the graphs in which no node has more edges than that (leaving it, if they are directed).

    >>> len(graphs(3)), len(graphs(3, fixed_nodes=True)), len(graphs(3, fixed_nodes=True, degree=1))
    (18, 8, 4)
    """
    subsets = (
        [tuple(range(count))] if fixed_nodes else chain(*(combinations(range(count), k) for k in _sizes(0, count)))
    )
    found: list[Graph] = []
    for nodes in subsets:
        pairs = combinations(nodes, 2)
        possible = [pair for a, b in pairs for pair in ((a, b), (b, a))] if directed else list(map(frozenset, pairs))
        for size in range(len(possible) + 1):
            found += ((frozenset(nodes), frozenset(chosen)) for chosen in combinations(possible, size))
    return tuple(each for each in found if degree is None or _degree(each, directed) <= degree)


def streams(times: int, events: Iterable[tuple[Any, Any]]) -> tuple[Stream, ...]:
    """All streams of this many times over these (user, value) events, at most one of a user at a time.

    >>> len(streams(2, [("ann", 0), ("ann", 1), ("bob", 0)]))
    36
    """
    choices: dict[Any, list[frozenset[tuple[Any, Any]]]] = {}
    for each in dict.fromkeys(events):
        choices.setdefault(each[0], [frozenset()]).append(frozenset({each}))
    moments = [frozenset[tuple[Any, Any]]().union(*chosen) for chosen in product(*choices.values())]
    return tuple(product(moments, repeat=times))


def foreign_keys(roots: int, fan_outs: Sequence[int]) -> tuple[Tables, ...]:
    """All databases of a chain of tables: up to `roots` root rows, and up to `fan_outs[i]` rows of table i + 1 each.

    Rows are subsets of one full tree; keys are paths in it, so that a row without its parent never occurs.
    """

    def subtrees(path: tuple[int, ...], depth: int) -> list[tuple[tuple[int, ...], ...]]:
        if depth == len(fan_outs):
            return [(path,)]
        choices = [[(), *subtrees((*path, child), depth + 1)] for child in range(fan_outs[depth])]
        return [(path, *chain.from_iterable(chosen)) for chosen in product(*choices)]

    forests = product(*([(), *subtrees((root,), 0)] for root in range(roots)))
    found = []
    for forest in forests:
        paths = list(chain.from_iterable(forest))
        rows = [(path, path[:-1] or None, None) for path in paths]
        levels = range(len(fan_outs) + 1)
        found.append(tuple(frozenset(row for row in rows if len(row[0]) == level + 1) for level in levels))
    return tuple(found)


def without_one_record(whole: Database) -> Iterator[Database]:
    """Every database or list with one record less."""
    return (whole[:place] + whole[place + 1 :] for place in range(len(whole)))


def without_one_edge_or_node(whole: Graph) -> Iterator[Graph]:
    """Every graph with one edge less, or with one node less and no edge at it."""
    nodes, edges = whole
    yield from ((nodes, edges - {each}) for each in edges)
    yield from ((nodes - {each}, frozenset(e for e in edges if each not in e)) for each in nodes)


def without_one_event(whole: Stream) -> Iterator[Stream]:
    """Every stream with one event less."""
    for time, moment in enumerate(whole):
        yield from ((*whole[:time], moment - {each}, *whole[time + 1 :]) for each in moment)


def without_one_row(parents: Sequence[int | None]) -> Callable[[Tables], Iterator[Tables]]:
    """Lists the databases with one row less, and with it the rows that refer to it."""

    def smaller(whole: Tables) -> Iterator[Tables]:
        for table, rows in enumerate(whole):
            yield from (without_row(whole, table, row[0], parents=parents) for row in rows)

    return smaller


def missing_part(members: Collection[Any], smaller: Callable[[Any], Iterable[Any]]) -> tuple[Any, Any] | None:
    """A member and a sub-database of it that is no member; None if the class is closed under sub-databases.

    `smaller` lists what has one atom less; a class that has all those has all smaller ones too.

    >>> missing_part(multisets("ab", 2, least=1), without_one_record)
    (('a',), ())
    """
    known = frozenset(members)
    return next(((member, part) for member in members for part in smaller(member) if part not in known), None)


def _sizes(least: int, most: int) -> range:
    if not 0 <= least <= most:
        raise ParameterError(f"sizes from {least} to {most} were asked for: expected 0 <= least <= most")
    return range(least, most + 1)


def _degree(whole: Graph, directed: bool) -> int:
    nodes, edges = whole
    return max((sum((each[0] == v) if directed else v in each for each in edges) for v in nodes), default=0)
