"""Small concrete databases for a cut: which records there are, and what each part keeps of a database."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from viameter.errors import NoTheorem
from viameter.neighborhood import finite
from viameter.neighborhood.brute.relations import (
    ANY,
    DIRECTED,
    GRAPHS,
    LISTS,
    MULTISETS,
    PEOPLE,
    STREAMS,
    TABLES,
    Kind,
    kind_of,
)
from viameter.neighborhood.cuts import Cut
from viameter.neighborhood.cuts.attributes import Predicates
from viameter.neighborhood.cuts.base import letter
from viameter.neighborhood.cuts.given import Whole
from viameter.neighborhood.cuts.graphs import BySource, Incident, Induced
from viameter.neighborhood.cuts.overlapping import Memberships, Subsets
from viameter.neighborhood.cuts.partitions import Partition
from viameter.neighborhood.cuts.people import Contributions, ForeignKeys
from viameter.neighborhood.cuts.rows import ByColumn, ById
from viameter.neighborhood.cuts.times import Intervals
from viameter.neighborhood.cuts.trees import Tree
from viameter.neighborhood.granularities import Granularity, Group, Local, Node, ZeroOut

MapFunction = Callable[[Any], Hashable]


@dataclass(frozen=True, slots=True)
class SmallModel:
    """A class of small databases, and the maps of a cut on it."""

    kind: Kind
    members: tuple[Any, ...]
    maps: tuple[MapFunction, ...]
    local: bool = True
    """Whether each part keeps some atoms of a database whatever the others are."""


def small_model(target: Granularity, cut: Cut, *, size: int) -> SmallModel:
    """All databases of up to `size` records (or nodes in a part) for a cut, of the kind that a granularity is of."""
    kind = kind_of(target)
    if kind == ANY:
        kind = _usual_kind(cut)
    match cut, kind:
        case ById(), "lists":
            return _by_place(cut, target, size)
        case ByColumn(), "multisets" | "lists":
            return _by_column(cut, target, kind, size)
        case Contributions(), "people":
            return _contributions(cut, target)
        case Partition(), "people":
            return _people(cut, target, size)
        case Intervals(), "streams":
            return _by_time(cut)
        case ById(), "streams":
            return _by_user(cut, size)
        case ((Induced() | Incident()), "graphs"):
            return _graph(cut, target, size)
        case BySource(), "directed graphs":
            return _links(cut, size)
        case ForeignKeys(), "tables":
            return _chain_of_tables(cut, size)
        case (
            (Partition() | Subsets() | Memberships() | Tree() | Intervals() | Predicates() | Whole()),
            ("multisets" | "lists"),
        ):
            return _records(cut, target, kind, size)
    raise NoTheorem(f"no small databases are known for {cut!r} under {target!r}: give members and functions yourself")


def _usual_kind(cut: Cut) -> Kind:
    if isinstance(cut, Induced | Incident):
        return GRAPHS
    return DIRECTED if isinstance(cut, BySource) else MULTISETS


def _universe(cut: Cut) -> dict[Any, frozenset[int]]:
    """The records that there are, with the parts that each is in; two of a kind where a kind has several values."""
    match cut:
        case Partition():
            found = {
                letter(part * cut.values + number): frozenset({part})
                for part in range(len(cut))
                for number in range(cut.values)
            }
            return found if cut.covers else {**found, "~": frozenset()}
        case Subsets():
            sets = [chosen for most in range(cut.at_most + 1) for chosen in combinations(range(len(cut)), most)]
            return {(chosen, number): frozenset(chosen) for chosen in sets for number in range(2)}
        case Memberships():
            listed = zip(cut.records, cut.parts, strict=True)
            if cut.plural:
                return {(record, number): parts for record, parts in listed for number in range(2)}
            return dict(listed)
        case Tree():
            nodes = range(len(cut))
            return {(node, number): frozenset(_ancestors(cut, node)) for node in nodes for number in range(2)}
        case Intervals():
            first, last = min(start for start, _ in cut.spans), max(end for _, end in cut.spans)
            times = range(first, last + 1 if cut.covers else last + 2)  # one time that is in no span, if there can be
            return {
                (time, number): frozenset(p for p, (start, end) in enumerate(cut.spans) if start <= time <= end)
                for time in times
                for number in range(2)
            }
        case Predicates():
            names = list(cut.domains)
            records = [dict(zip(names, values, strict=True)) for values in product(*cut.domains.values())]
            return {
                tuple(record.values()): frozenset(p for p in range(len(cut)) if cut.holds(p, record))
                for record in records
            }
        case Whole():
            return {"a": frozenset({0}), "b": frozenset({0})}
    raise NoTheorem(f"no small databases are known for {cut!r}")


def _ancestors(cut: Tree, node: int) -> list[int]:
    found, here = [node], cut.parents[node]
    while here is not None:
        found.append(here)
        here = cut.parents[here]
    return found


def _records(cut: Cut, target: Granularity, kind: Kind, size: int) -> SmallModel:
    parts_of = _universe(cut)
    blanks = isinstance(cut, Partition) and cut.blanks
    base = target.base if isinstance(target, Group) else target
    records = list(parts_of)
    if isinstance(base, ZeroOut):
        members = finite.ordered([*records, finite.BLANK], size)
    elif isinstance(base, Local):
        members = finite.singles(records)
    else:
        members = finite.multisets(records, size) if kind == MULTISETS else finite.ordered(records, size)

    def keep(part: int) -> MapFunction:
        def kept(data: Any) -> Hashable:
            if isinstance(cut, Whole):
                return tuple(data)
            inside = [part in parts_of.get(record, ()) for record in data]
            if blanks:
                return tuple(r if yes else finite.BLANK for r, yes in zip(data, inside, strict=True))
            return tuple(record for record, yes in zip(data, inside, strict=True) if yes)

        return kept

    return SmallModel(kind, members, tuple(keep(part) for part in range(len(cut))))


def _by_place(cut: ById, target: Granularity, size: int) -> SmallModel:
    """Lists with `size` places for each part, so that the place decides the part."""
    places = len(cut) * size
    values: list[Any] = ["a", finite.BLANK] if isinstance(target.innermost, ZeroOut) else ["a", "b"]
    members = finite.ordered(values, places, least=places)

    def keep(part: int) -> MapFunction:
        return lambda data: data[part * size : (part + 1) * size]

    return SmallModel(LISTS, members, tuple(keep(part) for part in range(len(cut))))


def _by_column(cut: ByColumn, target: Granularity, kind: Kind, size: int) -> SmallModel:
    """Rows with a cell of 0 or 1 for each column."""
    columns: Sequence[frozenset[Any]] = cut.columns or [frozenset({part}) for part in range(len(cut))]
    names = sorted({name for kept in columns for name in kept})
    rows = list(product((0, 1), repeat=len(names)))
    base = target.base if isinstance(target, Group) else target
    if isinstance(base, Local):
        members = finite.singles(rows)
    else:
        members = finite.multisets(rows, size) if kind == MULTISETS else finite.ordered(rows, size)

    def keep(part: int) -> MapFunction:
        places = [place for place, name in enumerate(names) if name in columns[part]]

        def kept(data: Any) -> Hashable:
            cells = [tuple(row[place] for place in places) for row in data]
            return tuple(sorted(cells)) if kind == MULTISETS else tuple(cells)

        return kept

    return SmallModel(kind, members, tuple(keep(part) for part in range(len(cut))))


def _contributions(cut: Contributions, target: Granularity) -> SmallModel:
    """Tables of (person, group) rows of a person, within the bounds."""
    most = min([cut.l1, *(target.limits[name] for name in ("rows", "times") if name in target.limits)])
    own = [
        counts
        for counts in product(range(cut.linf + 1), repeat=len(cut))
        if sum(counts) <= most and sum(map(bool, counts)) <= cut.l0
    ]

    def rows(person: str, counts: tuple[int, ...]) -> tuple[Any, ...]:
        return tuple((person, group) for group, count in enumerate(counts) for _ in range(count))

    # A second person does not change what the first one adds or takes away, so one is enough beside none.
    members = tuple(finite.database(rows("ann", counts)) for counts in own)

    def keep(part: int) -> MapFunction:
        return lambda data: tuple(row for row in data if row[1] == part)

    return SmallModel(PEOPLE, members, tuple(keep(part) for part in range(len(cut))))


def _people(cut: Partition, target: Granularity, size: int) -> SmallModel:
    """Tables of one person's rows, as many as the granularity allows or `size`; another person would change nothing."""
    parts_of = _universe(cut)
    rows = [("ann", record) for record in parts_of]
    members = finite.multisets(rows, min(size, target.limits.get("rows", size)))

    def keep(part: int) -> MapFunction:
        return lambda data: tuple(row for row in data if part in parts_of[row[1]])

    return SmallModel(PEOPLE, members, tuple(keep(part) for part in range(len(cut))))


def _by_time(cut: Intervals) -> SmallModel:
    """Streams of one user with no event or one of two at each time."""
    first, last = min(start for start, _ in cut.spans), max(end for _, end in cut.spans)
    members = finite.streams(last - first + 1, [("ann", 0)])

    def keep(part: int) -> MapFunction:
        start, end = cut.spans[part]
        return lambda data: data[start - first : end - first + 1]

    return SmallModel(STREAMS, members, tuple(keep(part) for part in range(len(cut))))


def _by_user(cut: ById, size: int) -> SmallModel:
    """Streams of one user a part."""
    members = finite.streams(size, [(f"user {part}", 0) for part in range(len(cut))])

    def keep(part: int) -> MapFunction:
        return lambda data: tuple(frozenset(e for e in moment if e[0] == f"user {part}") for moment in data)

    return SmallModel(STREAMS, members, tuple(keep(part) for part in range(len(cut))))


def _graph(cut: Induced | Incident, target: Granularity, size: int) -> SmallModel:
    """Graphs with `size` nodes in each part."""
    base = target.base if isinstance(target, Group) else target
    joins = isinstance(base, Node)
    degree = base.degree if isinstance(base, Node) else None
    members = finite.graphs(len(cut) * size, fixed_nodes=not joins, degree=degree)
    own = [range(part * size, (part + 1) * size) for part in range(len(cut))]
    if isinstance(cut, Induced):
        maps = tuple(finite.induced(nodes) for nodes in own)
    else:
        maps = tuple(finite.incident(nodes, all_nodes=not joins) for nodes in own)
    return SmallModel(GRAPHS, members, maps, local=not (joins and isinstance(cut, Incident)))


def _links(cut: BySource, size: int) -> SmallModel:
    members = finite.graphs(len(cut) * size, fixed_nodes=True, directed=True)

    def keep(part: int) -> MapFunction:
        own = range(part * size, (part + 1) * size)
        return lambda data: (data[0], frozenset(link for link in data[1] if link[0] in own))

    return SmallModel(DIRECTED, members, tuple(keep(part) for part in range(len(cut))))


def _chain_of_tables(cut: ForeignKeys, size: int) -> SmallModel:
    """Up to `size` rows of the first table, with all rows that refer to them; each table refers to the one before."""
    fan_outs = []
    for place, refers in enumerate(cut.refers):
        if (place == 0 and refers) or (place > 0 and [above for above, _ in refers] != [place - 1]):
            raise NoTheorem(
                f"small databases are known for tables of which each refers to the one before, not for {cut!r}"
            )
        fan_outs += [int(fan) for _, fan in refers]

    def keep(part: int) -> MapFunction:
        return lambda data: tuple(sorted(data[part]))

    return SmallModel(TABLES, finite.foreign_keys(size, fan_outs), tuple(keep(part) for part in range(len(cut))))
