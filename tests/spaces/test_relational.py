"""Graphs and streams: who is a member, in which form, and what a constructor refuses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each
from tests.spaces.oracles import check_refused_in_silence, shown

import viameter as vm
from viameter.core import Domain
from viameter.errors import NotInDomain, ParameterError, ViameterError
from viameter.spaces import Event, Graph

CANARY, WORD = 867530942, "canary-7f3a"
NODES = [1, 2, 3]


def graph(nodes: list[Any], edges: list[tuple[Any, Any]]) -> Graph:
    return Graph(frozenset(nodes), frozenset(edges))


def failing() -> Iterator[Any]:
    yield 0, "u", 1
    raise RuntimeError(WORD)


@for_each(
    ("domain", "value", "expected"),
    [
        (vm.graphs(), ([], []), graph([], [])),
        (vm.graphs(), (NODES, []), graph(NODES, [])),
        (vm.graphs(), (NODES, [(1, 2)]), graph(NODES, [(1, 2), (2, 1)])),
        (vm.graphs(), [NODES, [[1, 2], (2, 1), (1, 2)]], graph(NODES, [(1, 2), (2, 1)])),
        (vm.graphs(), SimpleNamespace(nodes=NODES, edges=[(3, 2)]), graph(NODES, [(2, 3), (3, 2)])),
        (vm.graphs(), graph(NODES, [(1, 2)]), graph(NODES, [(1, 2), (2, 1)])),
        (vm.graphs(directed=True), (NODES, [(1, 2)]), graph(NODES, [(1, 2)])),
        (vm.graphs(directed=True), (NODES, [(1, 2), (2, 1)]), graph(NODES, [(1, 2), (2, 1)])),
        (vm.graphs(nodes=NODES), (NODES, [(1, 2)]), graph(NODES, [(1, 2), (2, 1)])),
        (vm.graphs(max_degree=0), (NODES, []), graph(NODES, [])),
        (vm.graphs(max_degree=1), (NODES, [(1, 2)]), graph(NODES, [(1, 2), (2, 1)])),
        (vm.graphs(max_degree=2), (NODES, [(1, 2), (1, 3)]), graph(NODES, [(1, 2), (2, 1), (1, 3), (3, 1)])),
    ],
)
def test_a_graph_is_returned_with_its_edges_in_both_orders_unless_it_is_directed(
    domain: Domain, value: Any, expected: Graph
) -> None:
    assert domain.contains(value)
    assert domain.admit(value) == expected
    assert domain.admit(domain.admit(value)) == expected


@for_each(
    ("domain", "value"),
    [
        (vm.graphs(), None),
        (vm.graphs(), CANARY),
        (vm.graphs(), [CANARY]),
        (vm.graphs(), WORD),
        (vm.graphs(), ([CANARY], [(CANARY, CANARY)])),
        (vm.graphs(), ([1, 2], [(1, CANARY)])),
        (vm.graphs(), ([1, 2], [(CANARY, 1)])),
        (vm.graphs(), ([1, CANARY], [(1,)])),
        (vm.graphs(), ([1, CANARY], [(1, CANARY, 0.5)])),
        (vm.graphs(), ([1, CANARY], [CANARY])),
        (vm.graphs(), ([[1], [2]], [])),
        (vm.graphs(), ([1, 2], [([1], [2])])),
        (vm.graphs(), ([1, 2], None)),
        (vm.graphs(nodes=[1, 2]), ([1, CANARY], [])),
        (vm.graphs(nodes=[1, 2]), ([1], [])),
        (vm.graphs(max_degree=1), ([1, 2, CANARY], [(1, 2), (1, CANARY)])),
        (vm.graphs(max_degree=0), ([1, CANARY], [(1, CANARY)])),
        (vm.graphs(directed=True, max_degree=1), ([1, 2, CANARY], [(1, 2), (1, CANARY)])),
    ],
)
def test_what_is_no_such_graph_is_refused_without_saying_what_it_was(domain: Domain, value: Any) -> None:
    check_refused_in_silence(domain, value, CANARY, WORD)


def test_the_degree_is_the_number_of_edges_at_a_node() -> None:
    pairs = list(itertools.combinations(range(4), 2))
    for count in range(len(pairs) + 1):
        for edges in itertools.combinations(pairs, count):
            greatest = max(sum(node in edge for edge in edges) for node in range(4))
            for cap in range(4):
                assert vm.graphs(max_degree=cap).contains((range(4), edges)) == (greatest <= cap)


# Removing node 3 takes away two edges.
def test_the_degree_of_a_directed_graph_counts_edges_that_enter_too() -> None:
    assert not vm.graphs(directed=True, max_degree=1).contains((NODES, [(1, 3), (2, 3)]))


@for_each(
    ("domain", "value", "expected"),
    [
        (vm.streams(int), [], ()),
        (vm.streams(int), [(0, "u", 1)], (Event(0, "u", 1),)),
        (vm.streams(int), ((0, 7, np.int8(1)),), (Event(0, 7, 1),)),
        (
            vm.streams(int),
            [(2, "u", 1), (0, "v", 2), (2, "a", 3)],
            (Event(0, "v", 2), Event(2, "u", 1), Event(2, "a", 3)),
        ),
        (vm.streams(int, steps=3), [(2, "u", 1)], (Event(2, "u", 1),)),
        (vm.streams(int, steps=0), [], ()),
        (vm.streams(vm.categories(["A"])), [[5, "u", "A"]], (Event(5, "u", "A"),)),
        (vm.streams(float), iter([(0, "u", 1)]), (Event(0, "u", 1.0),)),
    ],
)
def test_a_stream_is_returned_as_events_in_order_of_their_steps(domain: Domain, value: Any, expected: Any) -> None:
    admitted = domain.admit(value)
    assert admitted == expected
    assert all(type(event) is Event for event in admitted)
    assert all(type(mine.value) is type(other.value) for mine, other in zip(admitted, expected, strict=True))
    assert domain.admit(admitted) == expected


@for_each(
    ("domain", "value"),
    [
        (vm.streams(int), None),
        (vm.streams(int), CANARY),
        (vm.streams(int), WORD),
        (vm.streams(int), [CANARY]),
        (vm.streams(int), [(0, "u")]),
        (vm.streams(int), [(0, "u", 1, CANARY)]),
        (vm.streams(int), [(-1, "u", CANARY)]),
        (vm.streams(int), [(True, "u", CANARY)]),
        (vm.streams(int), [(0.0, "u", CANARY)]),
        (vm.streams(int), [(WORD, "u", CANARY)]),
        (vm.streams(int), [(None, "u", CANARY)]),
        (vm.streams(int), [(0, None, CANARY)]),
        (vm.streams(int), [(0, 0.5, CANARY)]),
        (vm.streams(int), [(0, (WORD,), CANARY)]),
        (vm.streams(int), [(0, "u", WORD)]),
        (vm.streams(int), [(0, "u", 0.5)]),
        (vm.streams(vm.scalars(int, bounds=(0, 1))), [(0, WORD, CANARY)]),
        (vm.streams(int, steps=3), [(3, WORD, CANARY)]),
        (vm.streams(int, steps=0), [(0, WORD, CANARY)]),
        (vm.streams(float), [(0, WORD, math.nan)]),
    ],
)
def test_what_is_no_such_stream_is_refused_without_saying_what_it_was(domain: Domain, value: Any) -> None:
    check_refused_in_silence(domain, value, CANARY, WORD)


def test_what_a_foreign_stream_raises_is_not_passed_on() -> None:
    with pytest.raises(NotInDomain) as caught:
        vm.streams(int).admit(failing())
    assert WORD not in str(caught.value)
    assert caught.value.__context__ is None


# Once: True is taken for a user; it is equal to user 1, at distance 0 from it, and prints as another.
def test_a_truth_value_is_no_user() -> None:
    check_refused_in_silence(vm.streams(int), [(0, True, CANARY)], CANARY)


@for_each("number", [-1, 0.5, "2", True])
def test_degrees_and_steps_are_whole_numbers(number: Any) -> None:
    with pytest.raises(ParameterError, match="max_degree="):
        vm.graphs(max_degree=number)
    with pytest.raises(ParameterError, match="steps="):
        vm.streams(int, steps=number)
    with pytest.raises(ParameterError, match="kind="):
        vm.streams(number)


@pytest.mark.parametrize("nodes", [5, [[1]]], ids=shown)
def test_what_is_no_set_of_nodes_is_refused_by_name(nodes: Any) -> None:
    with pytest.raises(ViameterError, match="nodes="):
        vm.graphs(nodes=nodes)


DIFFERENT: tuple[Domain, ...] = (
    vm.graphs(),
    vm.graphs(directed=True),
    vm.graphs(nodes=[]),
    vm.graphs(nodes=[1]),
    vm.graphs(max_degree=0),
    vm.graphs(max_degree=1),
    vm.streams(int),
    vm.streams(float),
    vm.streams(int, steps=0),
    vm.streams(int, steps=1),
)


def test_domains_of_graphs_and_streams_are_equal_when_they_say_the_same() -> None:
    for one, two in itertools.product(range(len(DIFFERENT)), repeat=2):
        assert (DIFFERENT[one] == DIFFERENT[two]) == (one == two)
    assert len(set(DIFFERENT)) == len(set(map(repr, DIFFERENT))) == len(DIFFERENT)
    assert vm.graphs(nodes=[2, 1]) == vm.graphs(nodes={1, 2})
    assert hash(vm.streams(int)) == hash(vm.streams(vm.scalars(int)))
    assert repr(vm.graphs(nodes=[2, 1], directed=True, max_degree=3)) == (
        "graphs(nodes=[1, 2], directed=True, max_degree=3)"
    )
    assert repr(vm.streams(int, steps=7)) == "streams(scalars(int), steps=7)"
