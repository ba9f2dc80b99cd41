"""Classes have as many members as counting says, and closure under sub-databases is found out."""

from math import comb
from typing import Any

import pytest
from tests.cases import for_each

from viameter.errors import ParameterError
from viameter.neighborhood.finite import (
    foreign_keys,
    graph,
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


@for_each(
    ("members", "count"),
    [
        (multisets("abc", 4), sum(comb(3 + n - 1, n) for n in range(5))),
        (multisets("abc", 3, least=3), 10),
        (multisets("aab", 1), 3),
        (ordered("abc", 3), 1 + 3 + 9 + 27),
        (ordered("abc", 3, least=3), 27),
        (singles("abca"), 3),
        (graphs(0), 1),
        (graphs(4), sum(comb(4, n) * 2 ** comb(n, 2) for n in range(5))),
        (graphs(4, fixed_nodes=True), 64),
        (graphs(4, fixed_nodes=True, degree=1), 10),
        (graphs(3, fixed_nodes=True, directed=True), 64),
        (graphs(3, fixed_nodes=True, directed=True, degree=1), 27),
        (streams(3, [("ann", 0), ("ann", 1), ("bob", 0)]), 6**3),
        (foreign_keys(2, (2,)), (1 + 4) ** 2),
        (foreign_keys(1, (2, 3)), 1 + 9**2),
    ],
)
def test_a_class_has_all_members_once(members: Any, count: int) -> None:
    assert len(members) == len(set(members)) == count


CLOSED: list[tuple[Any, Any]] = [
    (multisets("abc", 3), without_one_record),
    (ordered("ab", 3), without_one_record),
    (graphs(4), without_one_edge_or_node),
    (graphs(4, degree=1), without_one_edge_or_node),
    (streams(2, [("ann", 0), ("bob", 0)]), without_one_event),
    (foreign_keys(1, (2, 1)), without_one_row([None, 0, 1])),
]


@for_each(("members", "smaller"), CLOSED)
def test_a_closed_class_is_found_closed_and_one_without_a_member_is_not(members: Any, smaller: Any) -> None:
    assert missing_part(members, smaller) is None
    # Without the empty database, which is below all others.
    empty = min(members, key=lambda data: sum(len(p) if isinstance(p, frozenset) else 1 for p in data))
    found = missing_part([member for member in members if member != empty], smaller)
    assert found is not None and found[1] == empty


def test_a_class_of_one_size_is_not_closed() -> None:
    assert missing_part(multisets("ab", 2, least=2), without_one_record) == (("a", "a"), ("a",))
    assert missing_part([graph("ab", [("a", "b")])], without_one_edge_or_node) is not None
    assert missing_part(graphs(3, fixed_nodes=True), without_one_edge_or_node) is not None


def test_sizes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ParameterError, match="0 <= least <= most"):
        multisets("a", 1, least=2)
    with pytest.raises(ParameterError, match="0 <= least <= most"):
        ordered("a", -1)
