"""Distances between granularities, against the number of steps between neighbors of small classes."""

from collections.abc import Callable, Sequence
from typing import Any

from tests.cases import for_each

import viameter as vm
from viameter import neighborhood as nb
from viameter.arith import INFINITY
from viameter.neighborhood import finite
from viameter.neighborhood.finite import BLANK, PrivacySpace
from viameter.neighborhood.granularities import Granularity

Named = tuple[Granularity, Any]


def changed(before: Any, after: Any) -> set[tuple[int, Any]]:
    """The events that only one of two streams has, with their times."""
    pairs = enumerate(zip(before, after, strict=True))
    return {(time, each) for time, (one, other) in pairs for each in one ^ other}


def one_user(before: Any, after: Any) -> bool:
    """A user comes or goes with all of their events."""
    who = {event[0] for _, event in changed(before, after)}
    return len(who) == 1 and any(not any(e[0] in who for moment in data for e in moment) for data in (before, after))


def one_event_more(before: Any, after: Any) -> bool:
    """A record is an event with its time; one comes or goes."""
    return len(changed(before, after)) == 1


def as_records(relation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A relation of multisets, for streams whose events are records."""

    def related(before: Any, after: Any) -> bool:
        one, two = (
            finite.database((time, *event) for time, moment in enumerate(data) for event in moment)
            for data in (before, after)
        )
        return relation(one, two)

    return related


def at_most(rows: int) -> tuple[Any, ...]:
    """Streams of two users with at most so many events each."""
    every = finite.streams(2, [("ann", 0), ("ann", 1), ("bob", 0)])
    return tuple(
        data for data in every if all(sum(e[0] == who for m in data for e in m) <= rows for who in ("ann", "bob"))
    )


TABLES = [(x, y) for x in (0, 1) for y in (0, 1)]
MULTISETS: list[Named] = [
    (nb.unbounded(), finite.unbounded),
    (nb.bounded(), finite.bounded),
    (nb.add_remove_or_replace(), finite.add_remove_or_replace),
    (nb.group(nb.unbounded(), 2), finite.group(finite.unbounded, 2)),
    (nb.group(nb.bounded(), 2), finite.group(finite.bounded, 2)),
    (nb.free_lunch(), finite.free_lunch),
]
CELLS: list[Named] = [
    (nb.attribute(columns=2), finite.attribute_unordered),
    (nb.bounded(), finite.bounded),
    (nb.unbounded(), finite.unbounded),
]
LISTS: list[Named] = [
    (nb.bounded_ordered(), finite.bounded_ordered),
    (nb.insert_delete(), finite.insert_delete),
    (nb.zero_out(), finite.zero_out),
    (nb.group(nb.bounded_ordered(), 2), finite.group(finite.bounded_ordered, 2)),
]
ROWS: list[Named] = [
    (nb.bounded_ordered(columns=2), finite.bounded_ordered),
    (nb.attribute(columns=2), finite.attribute),
    (nb.local(columns=2), finite.local),
    (nb.insert_delete(), finite.insert_delete),
]
STREAMS: list[Named] = [
    (nb.event(), finite.event),
    (nb.w_event(2), finite.w_event(2)),
    (nb.unbounded(), as_records(finite.unbounded)),
    (nb.bounded(), as_records(finite.bounded)),
    (nb.add_remove_or_replace(), as_records(finite.add_remove_or_replace)),
]
GRAPHS: list[Named] = [
    (nb.edge(), finite.edge),
    (nb.k_edge(2), finite.k_edge(2)),
    (nb.node_rewire(), finite.node_rewire),
    (nb.node(), finite.node),
]
LIMITED: list[Named] = [
    (nb.edge(), finite.edge),
    (nb.node_rewire(nodes=4, degree=2), finite.node_rewire),
    (nb.node(nodes=4, degree=2), finite.node),
]
LINKS: list[Named] = [(nb.out_link(nodes=3), finite.out_link)]


def users(rows: int | None) -> list[Named]:
    """Granularities of users of streams with two times."""
    return [(nb.user(rows=rows), one_user), (nb.user(rows=rows, alters=True), finite.user)]


CLASSES: dict[str, tuple[Sequence[Named], Sequence[Any]]] = {
    "multisets": (MULTISETS, finite.multisets("abc", 3)),
    "multisets of cells": (CELLS, finite.multisets(TABLES, 2)),
    "lists": (LISTS, finite.ordered(["a", "b", BLANK], 3)),
    "rows": (ROWS[:2], finite.ordered(TABLES, 2)),
    "streams": ([*STREAMS, *users(None)], finite.streams(2, [("ann", 0), ("ann", 1), ("bob", 0)])),
    "streams of an event each": ([*STREAMS, *users(1)], at_most(1)),
    "streams of two events each": ([*STREAMS, *users(2)], at_most(2)),
    "graphs": (GRAPHS, finite.graphs(4, fixed_nodes=False)),
    "graphs of few edges": (LIMITED, finite.graphs(4, fixed_nodes=False, degree=2)),
    "directed graphs": (LINKS, finite.graphs(3, fixed_nodes=True, directed=True)),
}

PAIRS = [
    (name, frm, to)
    for name, (named, _) in CLASSES.items()
    for frm in range(len(named))
    for to in range(len(named))
    if frm != to
]
SPACES: dict[tuple[str, int], PrivacySpace] = {}


def space(name: str, place: int) -> PrivacySpace:
    """The class under one of its relations, which is made once."""
    if (name, place) not in SPACES:
        named, members = CLASSES[name]
        SPACES[name, place] = PrivacySpace(members, relation=named[place][1])
    return SPACES[name, place]


@for_each(("name", "frm", "to"), PAIRS)
def test_no_neighbors_are_farther_apart_than_the_stability_says(name: str, frm: int, to: int) -> None:
    named, _ = CLASSES[name]
    own, target = named[frm][0], named[to][0]
    steps = space(name, frm)
    found = [steps.distance(one, two) for one, two in space(name, to).pairs()]
    assert max(found, default=0) <= nb.stability(own, target)


TIGHT = [
    (nb.user(), nb.event(), 2),
    (nb.user(alters=True), nb.event(), 1),
    (nb.user(), nb.w_event(2), 4),
    (nb.user(alters=True), nb.w_event(2), 2),
    (nb.user(), nb.user(alters=True), 2),
    (nb.user(alters=True), nb.user(), 1),
    (nb.event(), nb.user(rows=1, alters=True), 2),
    (nb.event(), nb.user(rows=2), 2),
    (nb.unbounded(), nb.event(), 2),
    (nb.unbounded(), nb.user(rows=1, alters=True), 2),
    (nb.unbounded(), nb.user(rows=2, alters=True), 4),
    (nb.add_remove_or_replace(), nb.event(), 1),
    (nb.bounded(), nb.event(), INFINITY),
    (nb.attribute(columns=2), nb.bounded(), 2),
    (nb.attribute(columns=2), nb.bounded_ordered(), 2),
    (nb.insert_delete(), nb.bounded_ordered(), 2),
    (nb.zero_out(), nb.bounded_ordered(), 2),
    (nb.node_rewire(), nb.k_edge(2), 2),
    (nb.user(), nb.unbounded(), 2),
    (nb.user(alters=True), nb.bounded(), 2),
    (nb.event(), nb.group(nb.event(), 3), 3),
    (nb.event(), nb.group(nb.user(times=4), 3), 12),
    (nb.w_event(2), nb.group(nb.w_event(4), 5), 10),
    (nb.bounded(), nb.group(nb.policy([("a", "b")]), 6), 6),
]


@for_each(("frm", "to", "steps"), TIGHT)
def test_constants_that_neighbors_attain(frm: Granularity, to: Granularity, steps: Any) -> None:
    assert nb.stability(frm, to) == steps


@for_each("mode", ["separate", "common"])
@for_each("own", [nb.bounded_ordered(), nb.insert_delete(), nb.bounded(), nb.add_remove_or_replace()])
def test_several_records_in_a_part_are_not_one_step(own: Granularity, mode: Any) -> None:
    part = nb.partition(2, values=1)[0]
    leaves = [nb.leaf(part, vm.pure(1), granularity=own, mode=mode)]
    for target, size in ((nb.group(nb.insert_delete(), 2), 3), (nb.insert_delete(), 3)):
        found = nb.brute_force(target, leaves, size=size)
        assert found.loss <= nb.compose(target, leaves).loss
