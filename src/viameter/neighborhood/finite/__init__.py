"""Finite privacy spaces: small classes of databases, concrete neighbor relations, and exact answers by brute force.

This is the oracle of the room: everything is enumerated from the definitions, and no solver of the room is used.

- `relations`, `graphs`, `streams`, `grouping`: neighbor relations as a person would check them by hand.
- `classes`: small classes, listed in full.
- `space`: a class with a relation or a metric; `tables`: finite mechanisms and whether they are private.
- `quotient`: what a mechanism promises that is private on the whole class and looks at an image.
- `exact`: the worst pair of neighbors; `tight`: mechanisms that attain it.
"""

from viameter.neighborhood.finite.classes import (
    foreign_keys,
    graphs,
    missing_part,
    multisets,
    ordered,
    singles,
    streams,
    without_one_edge_or_node,
    without_one_event,
    without_one_record,
    without_one_row,
)
from viameter.neighborhood.finite.exact import ExactAnswer, FiniteLeaf, WorstPair, exact_worst
from viameter.neighborhood.finite.graphs import (
    edge,
    edge_neighbors,
    graph,
    incident,
    induced,
    k_edge,
    node,
    node_neighbors,
    node_rewire,
    out_link,
)
from viameter.neighborhood.finite.grouping import Group, group
from viameter.neighborhood.finite.laws import loss_at
from viameter.neighborhood.finite.quotient import LeastLoss, least_loss, quotient
from viameter.neighborhood.finite.relations import (
    BLANK,
    add_remove_or_replace,
    attribute,
    attribute_unordered,
    bounded,
    bounded_neighbors,
    bounded_ordered,
    by_distance,
    database,
    free_lunch,
    insert_delete,
    local,
    personalised,
    policy,
    unbounded,
    unbounded_neighbors,
    zero_out,
)
from viameter.neighborhood.finite.space import PrivacySpace
from viameter.neighborhood.finite.streams import entity, event, user, w_event, without_row
from viameter.neighborhood.finite.tables import compose_tables
from viameter.neighborhood.finite.tight import Attained, ZeroOne, attain, random_private_table

__all__ = [
    "BLANK",
    "Attained",
    "ExactAnswer",
    "FiniteLeaf",
    "Group",
    "LeastLoss",
    "PrivacySpace",
    "WorstPair",
    "ZeroOne",
    "add_remove_or_replace",
    "attain",
    "attribute",
    "attribute_unordered",
    "bounded",
    "bounded_neighbors",
    "bounded_ordered",
    "by_distance",
    "compose_tables",
    "database",
    "edge",
    "edge_neighbors",
    "entity",
    "event",
    "exact_worst",
    "foreign_keys",
    "free_lunch",
    "graph",
    "graphs",
    "group",
    "incident",
    "induced",
    "insert_delete",
    "k_edge",
    "least_loss",
    "local",
    "loss_at",
    "missing_part",
    "multisets",
    "node",
    "node_neighbors",
    "node_rewire",
    "ordered",
    "out_link",
    "personalised",
    "policy",
    "quotient",
    "random_private_table",
    "singles",
    "streams",
    "unbounded",
    "unbounded_neighbors",
    "user",
    "w_event",
    "without_one_edge_or_node",
    "without_one_event",
    "without_one_record",
    "without_one_row",
    "without_row",
    "zero_out",
]
