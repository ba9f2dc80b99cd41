"""Spaces: distances against another library, checks of relations and metrics, exact checks of finite mechanisms."""

import math
from fractions import Fraction
from random import Random
from typing import Any

import mpmath  # type: ignore[import-untyped]
import networkx  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.neighborhood.finite.instances import LINE, apart, random_graph

from viameter.arith import INFINITY
from viameter.errors import NoTheorem, NumberError, ParameterError
from viameter.measures import pure, zcdp
from viameter.neighborhood.finite import (
    PrivacySpace,
    bounded,
    by_distance,
    compose_tables,
    multisets,
    unbounded,
    unbounded_neighbors,
)
from viameter.neighborhood.finite.tables import at_most_exp

THIRD = Fraction(1, 3)


def test_distances_are_shortest_paths() -> None:
    random = Random(1)
    for _ in range(100):
        nodes, edges = random_graph(random)
        space = PrivacySpace(nodes, relation=lambda a, b, edges=edges: frozenset((a, b)) in edges)  # type: ignore[misc]
        oracle = networkx.Graph()
        oracle.add_nodes_from(nodes)
        oracle.add_edges_from(map(tuple, edges))
        lengths = dict(networkx.all_pairs_shortest_path_length(oracle))
        assert all(space.distance(a, b) == lengths[a].get(b, INFINITY) for a in nodes for b in nodes)
        assert space.diameter == max(lengths[a].get(b, INFINITY) for a in nodes for b in nodes)
        assert {frozenset(pair) for pair in space.pairs()} == edges
        assert len(list(space.pairs())) == len(edges)
        sources = random.sample(nodes, random.randint(1, len(nodes)))
        nearest = {a: min(lengths[s].get(a, INFINITY) for s in sources) for a in nodes}
        assert space.steps_from(sources) == nearest


def test_distances_depend_on_the_class() -> None:
    whole = PrivacySpace(multisets("ab", 2), relation=unbounded)
    without_empty = PrivacySpace(multisets("ab", 2, least=1), relation=unbounded)
    apart_in_size = PrivacySpace(multisets("ab", 2, least=2), relation=unbounded)
    assert whole.distance(("a",), ("b",)) == without_empty.distance(("a",), ("b",)) == 2
    assert without_empty.distance(("a", "a"), ("b", "b")) == 4
    assert apart_in_size.distance(("a", "a"), ("a", "b")) == INFINITY
    assert whole.diameter == 4 and apart_in_size.diameter == INFINITY


def test_a_metric_space_says_what_the_metric_says() -> None:
    assert LINE.distance(1, 4) == 3 and LINE.diameter == 4
    assert LINE.neighbors(1) == (0, 2, 3, 4)
    assert len(list(LINE.pairs())) == 10
    islands = PrivacySpace("abc", metric=lambda a, b: 0 if a == b else INFINITY)
    assert islands.neighbors("a") == () and islands.diameter == INFINITY
    assert LINE.steps_from([0, 4]) == {0: 0, 1: 1, 2: 2, 3: 1, 4: 0}
    assert repr(LINE) == "PrivacySpace(line: 5 members)"
    assert 3 in LINE and 7 not in LINE


def test_another_class_under_the_same_notion() -> None:
    assert LINE.like((10, 12)).distance(10, 12) == 2
    listed = PrivacySpace(multisets("ab", 2), neighbors=unbounded_neighbors("ab"))
    assert listed.like([(), ("a",), ("b", "b")]).neighbors(()) == (("a",),)
    assert PrivacySpace(multisets("ab", 2), relation=bounded).like([("a",), ("b",)]).neighbors(("a",)) == (("b",),)


def test_reflexive_relations_and_listers_change_nothing() -> None:
    reflexive = PrivacySpace(range(3), relation=lambda a, b: abs(a - b) <= 1)
    strict = PrivacySpace(range(3), relation=by_distance(apart))
    listed = PrivacySpace(range(3), neighbors=lambda a: (a - 1, a, a + 1, a + 1))
    assert list(reflexive.pairs()) == list(strict.pairs()) == list(listed.pairs()) == [(0, 1), (1, 2)]
    assert reflexive.neighbors(1) == strict.neighbors(1) == listed.neighbors(1) == (0, 2)


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"members": "aba", "relation": unbounded}, "'a' is listed twice"),
    ({"members": [[1]], "relation": unbounded}, r"\[1\] is not hashable"),
    ({"members": "ab"}, "takes one of"),
    ({"members": "ab", "relation": unbounded, "metric": apart}, "takes one of"),
    ({"members": range(3), "relation": lambda a, b: a < b}, "not symmetric"),
    ({"members": range(3), "neighbors": lambda a: (a + 1,)}, "not symmetric"),
    ({"members": range(3), "metric": lambda a, b: 1}, "from itself is 1"),
    ({"members": range(3), "metric": lambda a, b: max(a - b, 0)}, "not symmetric"),
    ({"members": range(3), "metric": lambda a, b: (a - b) ** 2}, "triangle inequality fails: 4 from 0 to 2, but 1 . 1"),
    ({"members": range(3), "metric": lambda a, b: (0, 1, 3)[abs(a - b)]}, "triangle inequality fails: 3 from 0 to 2"),
    ({"members": range(3), "metric": lambda a, b: INFINITY if abs(a - b) == 2 else abs(a - b)}, "triangle"),
    ({"members": range(3), "metric": lambda a, b: (a - b) ** 2 * 2**70}, "triangle inequality fails"),
    ({"members": range(3), "metric": lambda a, b: (a - b) ** 2 * Fraction(1, 3**90)}, "triangle inequality fails"),
]


@for_each(("arguments", "text"), MISTAKES)
def test_what_is_no_privacy_space_is_refused(arguments: dict[str, Any], text: str) -> None:
    members = arguments.pop("members")
    with pytest.raises(ParameterError, match=text):
        PrivacySpace(members, **arguments)


def test_the_pair_that_breaks_symmetry_is_shown() -> None:
    with pytest.raises(ParameterError, match=r"\('b',\) is a neighbor of \('a',\), but not"):
        PrivacySpace([("a",), ("b",)], relation=lambda one, other: one < other)


@pytest.mark.parametrize("far", [-1, 0.5, math.nan])
def test_distances_that_are_no_exact_numbers_are_refused(far: float) -> None:
    with pytest.raises(NumberError):
        PrivacySpace("ab", metric=lambda a, b: 0 if a == b else far)


def test_large_and_fine_metrics_are_taken_exactly() -> None:
    """A violation by one part in 10**30 is seen, on either side of what 64 bits hold."""
    tiny = Fraction(1, 10**30)
    for scale in (1, 2**61, 2**64):
        for excess in (Fraction(0), tiny):
            table = {(0, 1): Fraction(1), (1, 2): Fraction(1), (0, 2): 2 + excess}

            def metric(a: int, b: int, scale: Any = scale, table: Any = table) -> Any:
                return 0 if a == b else table[min(a, b), max(a, b)] * scale

            if excess:
                with pytest.raises(ParameterError, match="triangle"):
                    PrivacySpace(range(3), metric=metric)
            else:
                assert PrivacySpace(range(3), metric=metric).distance(0, 2) == 2 * scale


def test_members_are_asked_for() -> None:
    with pytest.raises(ParameterError, match="7 is no member"):
        LINE.distance(0, 7)
    with pytest.raises(ParameterError, match="no member"):
        LINE.neighbors([])


def test_comparisons_with_powers_of_e_are_exact() -> None:
    digits = 90
    for exponent in (Fraction(1), Fraction(1, 10), Fraction(-3, 7), Fraction(1, 10**40), Fraction(40)):
        with mpmath.workdps(digits + 30):
            power = mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator)
            below = Fraction(int(mpmath.floor(power * mpmath.mpf(10) ** digits)), 10**digits)
        assert at_most_exp(below, exponent)
        assert not at_most_exp(below + Fraction(1, 10**digits), exponent)
    assert at_most_exp(Fraction(1), Fraction(0)) and not at_most_exp(1 + Fraction(1, 10**90), Fraction(0))
    assert at_most_exp(Fraction(0), Fraction(-5)) and not at_most_exp(Fraction(1), Fraction(-1, 10**50))


def response(truth: Fraction) -> dict[Any, dict[Any, Fraction]]:
    return {0: {"yes": truth, "no": 1 - truth}, 1: {"yes": 1 - truth, "no": truth}}


def test_randomized_response_is_private_exactly_up_to_its_epsilon() -> None:
    pair = PrivacySpace((0, 1), metric=apart)
    table = response(Fraction(3, 4))
    low, high = pair.exact_epsilon(table)
    with mpmath.workdps(60):
        assert mpmath.mpf(low.numerator) / low.denominator <= mpmath.log(3)  # type: ignore[union-attr]
        assert mpmath.mpf(high.numerator) / high.denominator >= mpmath.log(3)  # type: ignore[union-attr]
    assert 0 < high - low < Fraction(1, 2**100)
    assert not pair.is_private(table, low) and pair.is_private(table, high)
    assert pair.is_private(table, pure(high)) and pair.is_private(table, pure("inf"))
    far = PrivacySpace((0, 1), metric=lambda a, b: 2 * abs(a - b))
    assert far.is_private(table, high / 2) and not far.is_private(table, low / 2)
    assert far.exact_epsilon(table) == (low / 2, high / 2)


def test_impossible_outcomes_are_never_private_at_a_finite_distance() -> None:
    pair = PrivacySpace((0, 1), metric=apart)
    table = {0: {"a": Fraction(1)}, 1: {"a": Fraction(1, 2), "b": Fraction(1, 2)}}
    assert not pair.is_private(table, 10**6) and pair.is_private(table, INFINITY)
    assert pair.exact_epsilon(table) == (INFINITY, INFINITY)
    islands = PrivacySpace((0, 1), metric=lambda a, b: 0 if a == b else INFINITY)
    assert islands.is_private(table, 0) and islands.exact_epsilon(table) == (0, 0)
    same = PrivacySpace((0, 1), metric=lambda a, b: 0)
    assert not same.is_private(table, INFINITY) and same.exact_epsilon(table) == (INFINITY, INFINITY)
    assert same.is_private({0: {"a": Fraction(1)}, 1: {"a": Fraction(1)}}, 0)
    assert same.exact_epsilon(response(Fraction(3, 4))) == (INFINITY, INFINITY)


def test_tables_that_are_no_mechanism_are_refused() -> None:
    pair = PrivacySpace((0, 1), metric=apart)
    with pytest.raises(ParameterError, match="says nothing about 1"):
        pair.is_private({0: {"a": Fraction(1)}})
    with pytest.raises(ParameterError, match="do not sum to 1"):
        pair.exact_epsilon({0: {"a": THIRD}, 1: {"a": Fraction(1)}})
    with pytest.raises(NumberError):
        pair.is_private({0: {"a": Fraction(2), "b": Fraction(-1)}, 1: {"a": Fraction(1)}})
    with pytest.raises(NoTheorem, match="pure"):
        pair.is_private(response(THIRD), zcdp(1))


def test_composed_tables_are_products() -> None:
    tables = [(lambda member: member % 2, response(Fraction(3, 4))), (lambda member: 0, response(THIRD))]
    composed = compose_tables(range(4), tables)
    assert composed[1] == composed[3]
    assert composed[1]["yes", "no"] == Fraction(1, 4) * Fraction(2, 3)
    assert all(sum(row.values()) == 1 for row in composed.values())


def test_a_class_of_three_thousand_members_is_listed_without_looking_at_all_pairs() -> None:
    members = multisets("abcdefghij", 5)
    space = PrivacySpace(members, neighbors=unbounded_neighbors("abcdefghij"))
    assert len(members) == 3003
    assert space.distance((), ("a",) * 5) == 5 and space.distance(("a",) * 5, ("b",) * 5) == 10
