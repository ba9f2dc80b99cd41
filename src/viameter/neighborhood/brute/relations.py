"""The concrete neighbor relation of each granularity, on small databases of the kind that it speaks of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from viameter.errors import NoTheorem
from viameter.neighborhood import finite
from viameter.neighborhood.granularities import (
    AddRemoveOrReplace,
    Attribute,
    Bounded,
    BoundedOrdered,
    Edge,
    Entity,
    Event,
    FreeLunch,
    Granularity,
    Group,
    InsertDelete,
    Local,
    Node,
    NodeRewire,
    OutLink,
    Personalised,
    Policy,
    Unbounded,
    User,
    WEvent,
    ZeroOut,
)

Kind = str
"""What databases are made of: multisets, lists, streams, graphs, directed graphs, people, tables."""

MULTISETS, LISTS, STREAMS, GRAPHS, DIRECTED, PEOPLE, TABLES, ANY = (
    "multisets",
    "lists",
    "streams",
    "graphs",
    "directed graphs",
    "people",
    "tables",
    "any",
)


def of_one_person(before: Any, after: Any) -> bool:
    """All records (person, ...) of one person came or went."""
    changed = {record[0] for record in {*before} ^ {*after}} | {
        record[0] for record in {*before} & {*after} if before.count(record) != after.count(record)
    }
    if len(changed) != 1:
        return False
    (person,) = changed
    return not any(record[0] == person for record in before) or not any(record[0] == person for record in after)


_RELATIONS: dict[type[Granularity], tuple[Kind, Callable[[Any, Any], bool]]] = {
    Unbounded: (MULTISETS, finite.unbounded),
    Bounded: (MULTISETS, finite.bounded),
    AddRemoveOrReplace: (MULTISETS, finite.add_remove_or_replace),
    InsertDelete: (LISTS, finite.insert_delete),
    BoundedOrdered: (LISTS, finite.bounded_ordered),
    ZeroOut: (LISTS, finite.zero_out),
    Attribute: (LISTS, finite.attribute),
    Local: (LISTS, finite.local),
    Event: (STREAMS, finite.event),
    Edge: (GRAPHS, finite.edge),
    Node: (GRAPHS, finite.node),
    NodeRewire: (GRAPHS, finite.node_rewire),
    OutLink: (DIRECTED, finite.out_link),
    FreeLunch: (ANY, finite.free_lunch),
}


def kind_of(granularity: Granularity) -> Kind:
    """What kind of databases a granularity speaks of."""
    match granularity:
        case Group() | Personalised():
            return kind_of(granularity.base)
        case WEvent():
            return STREAMS
        case User():
            return STREAMS if granularity.alters else PEOPLE
        case Policy():
            return MULTISETS
        case Entity():
            return TABLES
    found = _RELATIONS.get(type(granularity))
    if found is None:
        raise NoTheorem(
            f"no small databases are known for {granularity!r}: give members and a relation, as PrivacySpace"
        )
    return found[0]


def relation_of(granularity: Granularity, *, on: Kind) -> Any:
    """The neighbor relation of a granularity, on databases of a kind."""
    match granularity:
        case Group():
            return finite.group(relation_of(granularity.base, on=on), granularity.most)
        case Personalised():
            return relation_of(granularity.base, on=on)
        case WEvent():
            return finite.w_event(granularity.w)
        case User():
            return finite.user if on == STREAMS else of_one_person
        case Policy():
            return finite.policy(granularity.pairs)
        case Entity():
            return _first_of_a_chain
        case Attribute() if on == MULTISETS:
            return finite.attribute_unordered
        case Unbounded() if on == LISTS:
            return _up_to_order(finite.unbounded)
        case Bounded() if on == LISTS:
            return _up_to_order(finite.bounded)
        case AddRemoveOrReplace() if on == LISTS:
            return _up_to_order(finite.add_remove_or_replace)
    found = _RELATIONS.get(type(granularity))
    if found is None:
        raise NoTheorem(f"no small databases are known for {granularity!r}")
    return found[1]


def _first_of_a_chain(before: Any, after: Any) -> bool:
    """One row of the first table came or went with all that refers to it; each table refers to the one before."""
    chain = [None, *range(len(before) - 1)]
    return finite.entity(chain)(before, after)


def _up_to_order(relation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """The same for lists, whose order is not looked at: lists with the same records are neighbors of the same."""

    def related(before: Any, after: Any) -> bool:
        return relation(finite.database(before), finite.database(after))

    return related
