"""Each relation against examples by hand, against listers of neighbors, and for symmetry on whole classes."""

import copy
import pickle
from itertools import combinations, product
from typing import Any

import pytest
from tests.cases import for_each
from tests.neighborhood.finite.granularity_cases import BUILDERS, case

from viameter.errors import ParameterError
from viameter.neighborhood.finite import (
    BLANK,
    PrivacySpace,
    add_remove_or_replace,
    attribute,
    attribute_unordered,
    bounded,
    bounded_neighbors,
    bounded_ordered,
    by_distance,
    database,
    edge,
    edge_neighbors,
    entity,
    event,
    foreign_keys,
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
    node_neighbors,
    node_rewire,
    ordered,
    out_link,
    personalised,
    policy,
    unbounded,
    unbounded_neighbors,
    user,
    w_event,
    zero_out,
)

E, A, A2, B = frozenset[Any](), frozenset({("ann", 1)}), frozenset({("ann", 2)}), frozenset({("bob", 1)})
TRIANGLE = graph(range(3), [(0, 1), (1, 2), (0, 2)])
PATH = graph(range(3), [(0, 1), (1, 2)])
ONE = graph(range(3), [(0, 1)])
NONE = graph(range(3))
ANN, BOB = (1, None, "Ann"), (2, None, "Bob")
BREAD, CRUMB = (7, 1, "bread"), (9, 7, "crumb")

YES: list[tuple[Any, Any, Any]] = [
    (unbounded, ("a",), ("a", "a")),
    (unbounded, (), ("b",)),
    (bounded, ("a", "a"), ("a", "b")),
    (bounded, ("a", "b"), ("b", "c")),
    (add_remove_or_replace, ("a",), ("b",)),
    (add_remove_or_replace, ("a",), ()),
    (bounded_ordered, ("a", "b"), ("a", "c")),
    (zero_out, (BLANK, "b"), ("a", "b")),
    (insert_delete, ("a", "b"), ("b",)),
    (insert_delete, ("a", "a"), ("a", "b", "a")),
    (free_lunch, (), ("a", "b", "c")),
    (local, ("a",), ("z",)),
    (attribute, ((0, 0), (1, 1)), ((0, 1), (1, 1))),
    (attribute_unordered, ((0, 0), (1, 1)), ((0, 1), (1, 1))),
    (attribute_unordered, ((0, 0), (0, 1)), ((0, 0), (0, 0))),
    (policy(["ab", "bc"]), ("a", "c"), ("b", "c")),
    (personalised(str.isupper), ("A", "b"), ("b",)),
    (by_distance(lambda x, y: abs(x - y), radius="3/2"), 1, 2),
    (edge, TRIANGLE, PATH),
    (k_edge(2), TRIANGLE, ONE),
    (node, PATH, graph((0, 2))),
    (node, graph((0, 1), [(0, 1)]), PATH),
    (node_rewire, TRIANGLE, ONE),
    (node_rewire, PATH, NONE),
    (out_link, graph("ab", [("a", "b")], directed=True), graph("ab", directed=True)),
    (event, (A, B), (E, B)),
    (event, (A, B), (A2, B)),
    (w_event(2), (A, B, E), (A2, E, E)),
    (w_event(3), (A, E, A), (E, E, A | B)),
    (user, (A, B, A), (E, B, A2)),
    (user, (A | B, B), (B, A | B)),
    (entity([None, 0, 1]), (frozenset({ANN}), frozenset({BREAD}), frozenset({CRUMB})), (E, E, E)),
    (entity([None, 0]), (frozenset({ANN, BOB}), frozenset({BREAD})), (frozenset({BOB}), E)),
    (entity([1, None]), (frozenset({BREAD}), frozenset({ANN})), (E, E)),
]
NO: list[tuple[Any, Any, Any]] = [
    (unbounded, ("a",), ("b",)),
    (unbounded, ("a",), ("b", "c")),
    (unbounded, (), ("a", "a")),
    (bounded, ("a", "b"), ("c", "d")),
    (bounded, ("a",), ()),
    (add_remove_or_replace, ("a", "b"), ("c", "d")),
    (add_remove_or_replace, ("a",), ("b", "c")),
    (bounded_ordered, ("a", "b"), ("b", "a")),
    (bounded_ordered, ("a",), ("a", "b")),
    (zero_out, ("a", "b"), ("a", "c")),
    (zero_out, (BLANK, "b"), ("a", BLANK)),
    (insert_delete, ("a", "b"), ("b", "a", "c")),
    (insert_delete, ("a",), ("b",)),
    (local, ("a", "b"), ("a", "c")),
    (local, (), ("a",)),
    (attribute, ((0, 0), (1, 1)), ((0, 1), (1, 0))),
    (attribute, ((0, 0),), ((1, 1),)),
    (attribute, ((0, 0),), ((0, 0), (0, 0))),
    (attribute_unordered, ((0, 0),), ((1, 1),)),
    (attribute_unordered, ((0, 0),), ((0,),)),
    (policy(["ab", "bc"]), ("a",), ("c",)),
    (policy(["ab"]), ("a",), ("a", "b")),
    (personalised(str.isupper), ("A", "b"), ("A",)),
    (personalised(str.isupper), ("A",), ("B",)),
    (by_distance(lambda x, y: abs(x - y)), 1, 3),
    (edge, TRIANGLE, ONE),
    (edge, NONE, graph(range(4))),
    (k_edge(2), TRIANGLE, NONE),
    (node, TRIANGLE, PATH),
    (node, PATH, graph((0, 2), [(0, 2)])),
    (node, graph((0, 1)), PATH),
    (node, graph((0, 1)), graph((0, 2))),
    (node_rewire, TRIANGLE, NONE),
    (node_rewire, NONE, graph((0, 1))),
    (out_link, graph("ab", [("a", "b"), ("b", "a")], directed=True), graph("ab", directed=True)),
    (event, (A, B), (E, E)),
    (event, (A, E), (B, E)),
    (event, (A,), (A, E)),
    (w_event(2), (A, E, A), (E, E, E)),
    (w_event(3), (A, E, E), (B, E, E)),
    (w_event(3), (A,), (A, A)),
    (user, (A, B), (E, E)),
    (user, (A,), (A, A)),
    (entity([None, 0, 1]), (frozenset({ANN}), frozenset({BREAD}), E), (E, frozenset({BREAD}), E)),
    (entity([None, 0]), (frozenset({ANN, BOB}), E), (E, E)),
    (entity([None, 0]), (frozenset({ANN}), E), (frozenset({BOB}), E)),
    (entity([None, 0]), (frozenset({ANN}), frozenset({BREAD})), (frozenset({ANN}), E)),
    (entity([None, 0]), (frozenset({ANN, BOB}), frozenset({BREAD})), (frozenset({ANN}), E)),
]


@for_each(("relation", "before", "after"), YES)
def test_neighbors_are_neighbors_either_way(relation: Any, before: Any, after: Any) -> None:
    assert relation(before, after) and relation(after, before)


@for_each(("relation", "before", "after"), NO)
def test_others_are_not_either_way(relation: Any, before: Any, after: Any) -> None:
    assert not relation(before, after) and not relation(after, before)


@for_each(("relation", "before", "after"), YES)
def test_nothing_is_its_own_neighbor(relation: Any, before: Any, after: Any) -> None:
    assert not relation(before, before) and not relation(after, after)


@for_each("name", BUILDERS)
def test_a_space_of_each_notion_is_symmetric_and_not_empty(name: str) -> None:
    space = case(name).space
    pairs = list(space.pairs())
    assert pairs
    assert all(before in space.neighbors(after) for before, after in pairs)


@for_each(
    ("members", "relation", "lister"),
    [
        (multisets("abc", 4), unbounded, unbounded_neighbors("abc")),
        (multisets("abc", 4), bounded, bounded_neighbors("abc")),
        (graphs(4), edge, edge_neighbors),
        (graphs(4), node, node_neighbors(range(4))),
        (graphs(4, degree=2), node, node_neighbors(range(4))),
    ],
)
def test_listers_of_neighbors_agree_with_the_relation(members: Any, relation: Any, lister: Any) -> None:
    by_relation = PrivacySpace(members, relation=relation)
    by_lister = PrivacySpace(members, neighbors=lister)
    assert all(by_relation.neighbors(D) == by_lister.neighbors(D) for D in members)
    assert all(not relation(D, E) for D in members[:20] for E in lister(D) if D == E)


def test_inserting_and_deleting_is_one_edit_without_substitutions() -> None:
    def common(one: Any, other: Any) -> int:
        if not one or not other:
            return 0
        skipped = max(common(one[1:], other), common(one, other[1:]))
        return max(skipped, 1 + common(one[1:], other[1:])) if one[0] == other[0] else skipped

    for one, other in combinations(ordered("ab", 4), 2):
        assert insert_delete(one, other) == (len(one) + len(other) - 2 * common(one, other) == 1)


def test_removing_a_root_row_never_leaves_a_row_that_refers_to_nothing() -> None:
    members = foreign_keys(2, (1, 1))
    space = PrivacySpace(members, relation=entity([None, 0, 1]))
    for before, after in space.pairs():
        smaller, larger = sorted((before, after), key=lambda data: len(data[0]))
        assert len(larger[0]) == len(smaller[0]) + 1
        assert all(small <= large for small, large in zip(smaller, larger, strict=True))


def test_groups_count_steps_within_the_class() -> None:
    """With the middle size left out of the class two records are never two steps apart."""
    whole, gap = multisets("a", 3), [(), ("a", "a"), ("a", "a", "a")]
    assert PrivacySpace(whole, relation=group(unbounded, 2)).neighbors(()) == (("a",), ("a", "a"))
    assert PrivacySpace(gap, relation=group(unbounded, 2)).neighbors(()) == ()
    listed = group(most=2, neighbors=unbounded_neighbors("a"))
    assert PrivacySpace(whole, relation=listed).neighbors(()) == (("a",), ("a", "a"))
    with pytest.raises(ParameterError, match="at least 1"):
        group(unbounded, 0)


def test_subgraphs_keep_what_their_names_say() -> None:
    assert induced((0, 1))(TRIANGLE) == graph((0, 1), [(0, 1)])
    assert incident((0,))(PATH) == graph((0, 1), [(0, 1)])
    assert incident((0,), all_nodes=True)(PATH) == graph(range(3), [(0, 1)])
    assert incident((2,))(ONE) == graph((2,))
    assert incident((5,))(ONE) == graph(())


def test_blank_is_one_thing_also_when_copied() -> None:
    assert copy.deepcopy(BLANK) is BLANK and pickle.loads(pickle.dumps(BLANK)) is BLANK
    assert repr(BLANK) == "BLANK"


def test_records_without_a_total_order_are_refused() -> None:
    with pytest.raises(ParameterError, match="total order"):
        database(["a", 1])
    with pytest.raises(ParameterError, match="two different values"):
        policy([("a", "a")])
    with pytest.raises(ParameterError, match="two different nodes"):
        graph("ab", [("a", "c")])
    with pytest.raises(ParameterError, match="two different nodes"):
        graph("ab", [("a", "a")])
    for parents in ([None, None], [0, 1], [None, 2]):
        with pytest.raises(ParameterError, match="the one root"):
            entity(parents)


def test_a_window_counts_times_and_not_events() -> None:
    members = list(product((E, A, B), repeat=3))
    for before, after in combinations(members, 2):
        times = [t for t in range(3) if before[t] != after[t]]
        single = all(len({who for who, _ in before[t] ^ after[t]}) == 1 for t in times)
        for width in (1, 2, 3):
            assert w_event(width)(before, after) == (single and max(times) - min(times) + 1 <= width)
