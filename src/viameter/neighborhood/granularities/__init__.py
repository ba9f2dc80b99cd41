"""Granularities: what one step is, under their names.

- `records`: unbounded, bounded, add/remove-or-replace, insert-delete.
- `rows`: bounded ordered, zero-out, attribute, local.
- `values`: policy graphs, metrics on values.
- `persons`: event, w-event, user, entity.
- `graphs`: edge, node (add/remove or rewire), out-link.
- `classes`: whether one speaks of the data of another. `derived`: groups, free-lunch, personalised, your own.
"""

from __future__ import annotations

from collections.abc import Iterable

from viameter.errors import ParameterError
from viameter.neighborhood.arguments import read_listed
from viameter.neighborhood.granularities.base import Granularity
from viameter.neighborhood.granularities.derived import FreeLunch, Group, OwnGranularity, Personalised, granularity
from viameter.neighborhood.granularities.graphs import Edge, Node, NodeRewire, OutLink
from viameter.neighborhood.granularities.persons import Entity, Event, User, WEvent
from viameter.neighborhood.granularities.records import AddRemoveOrReplace, Bounded, InsertDelete, Unbounded
from viameter.neighborhood.granularities.rows import Attribute, BoundedOrdered, Local, ZeroOut
from viameter.neighborhood.granularities.values import Geo, Policy, geo, policy

unbounded = Unbounded
bounded = Bounded
add_remove_or_replace = AddRemoveOrReplace
insert_delete = InsertDelete
bounded_ordered = BoundedOrdered
zero_out = ZeroOut
attribute = Attribute
local = Local
event = Event
w_event = WEvent
user = User
entity = Entity
edge = Edge
node = Node
node_rewire = NodeRewire
out_link = OutLink
group = Group
free_lunch = FreeLunch


def k_edge(k: int) -> Group:
    """Up to k edges come or go; the nodes are public."""
    return Group(Edge(), k)


def personalised(classes: Iterable[str], base: Granularity | None = None) -> Personalised:
    """A guarantee for each class of people; leaves give a loss by class. A step adds or removes a record."""
    names = tuple(read_listed(classes, "classes", "['staff', 'patients']"))
    if not all(isinstance(name, str) for name in names) or not names or len(set(names)) != len(names):
        raise ParameterError("classes must be different names of classes of people, at least one")
    chosen = Unbounded() if base is None else base
    if not isinstance(chosen, Unbounded | InsertDelete | User):
        raise ParameterError(
            f"personalised guarantees are known where a step is of one person: unbounded, insert_delete or user, "
            f"not {chosen!r}; a replaced record may be of two classes"
        )
    return Personalised(names, chosen)


__all__ = [
    "AddRemoveOrReplace",
    "Attribute",
    "Bounded",
    "BoundedOrdered",
    "Edge",
    "Entity",
    "Event",
    "FreeLunch",
    "Geo",
    "Granularity",
    "Group",
    "InsertDelete",
    "Local",
    "Node",
    "NodeRewire",
    "OutLink",
    "OwnGranularity",
    "Personalised",
    "Policy",
    "Unbounded",
    "User",
    "WEvent",
    "ZeroOut",
    "add_remove_or_replace",
    "attribute",
    "bounded",
    "bounded_ordered",
    "edge",
    "entity",
    "event",
    "free_lunch",
    "geo",
    "granularity",
    "group",
    "insert_delete",
    "k_edge",
    "local",
    "node",
    "node_rewire",
    "out_link",
    "personalised",
    "policy",
    "unbounded",
    "user",
    "w_event",
    "zero_out",
]
