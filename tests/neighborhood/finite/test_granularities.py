"""The table of granularities and the worked answers, by brute force on small classes."""

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest
from tests.cases import for_each
from tests.neighborhood.finite.granularity_cases import (
    BUILDERS,
    INF,
    PAIRED,
    PAIRS,
    SINGLES,
    Case,
    by_value,
    case,
    chunks,
    positions,
)

from viameter.core import Loss
from viameter.measures import gdp, pure, zcdp
from viameter.neighborhood.finite import (
    BLANK,
    FiniteLeaf,
    PrivacySpace,
    attribute,
    bounded,
    bounded_ordered,
    edge,
    entity,
    event,
    exact_worst,
    foreign_keys,
    free_lunch,
    graphs,
    group,
    incident,
    multisets,
    node,
    node_rewire,
    ordered,
    streams,
    unbounded,
    user,
    w_event,
    zero_out,
)


@for_each("name", BUILDERS)
def test_the_table_of_granularities_is_what_enumeration_finds(name: str) -> None:
    each = case(name)
    touched, stretch, separate, common = each.expected
    apart, together = each.answer("separate"), each.answer("common")
    assert apart.loss == pure(separate)
    assert together.loss == pure(common)
    assert apart.conditions.touched == together.conditions.touched == touched
    assert apart.conditions.stretch == stretch
    assert (apart.c1, apart.c2) == (touched <= 1, stretch <= 1)
    assert together.c2  # neighbors have images that are neighbors in the quotient


@for_each("name", BUILDERS)
def test_the_pairs_shown_are_neighbors_that_show_what_is_claimed(name: str) -> None:
    each = case(name)
    for answer in (each.answer("separate"), each.answer("common")):
        assert answer.after in each.space.neighbors(answer.before)
        assert answer.images == tuple((f(answer.before), f(answer.after)) for f in each.maps)
        amounts = zip(each.epsilons, answer.distances, strict=True)
        total = sum((Fraction(epsilon) * far if far else Fraction(0) for epsilon, far in amounts), Fraction(0))
        assert answer.loss == pure(total)
        if answer.c1_pair is not None:
            changed = [f(answer.c1_pair[0]) != f(answer.c1_pair[1]) for f in each.maps]
            assert sum(changed) == each.expected[0]
        assert (answer.c1_pair is None, answer.c2_pair is None) == (answer.c1, answer.c2)


def test_bounded_separate_shows_a_part_whose_size_changes() -> None:
    space = PrivacySpace(multisets("abc", 2), relation=bounded)
    answer = exact_worst(space, [FiniteLeaf(p, pure(1)) for p in by_value("ab", "c")])
    assert (answer.before, answer.after) == (("a",), ("c",))
    assert answer.images == ((("a",), ()), ((), ("c",)))
    assert answer.distances == (INF, INF)
    assert answer.c2_pair == (0, ("a",), ("c",))
    assert answer.c1_pair == (("a",), ("c",))


def test_a_step_that_costs_nothing_promises_nothing_where_no_steps_lead() -> None:
    """Private with epsilon 0 for replacing a record is also the mechanism that tells how many records it sees."""
    space = PrivacySpace(multisets("abc", 2), relation=bounded)
    answer = exact_worst(space, [FiniteLeaf(p, pure(0)) for p in by_value("ab", "c")])
    assert answer.loss == pure("inf")
    assert exact_worst(space, [FiniteLeaf(p, lambda d: 0) for p in by_value("ab", "c")]).loss == pure(0)


def test_incident_subgraphs_without_the_other_nodes_have_no_finite_distance_under_edges() -> None:
    space = PrivacySpace(graphs(3, fixed_nodes=True), relation=edge)
    answer = exact_worst(space, [FiniteLeaf(incident(part), pure(1)) for part in SINGLES])
    assert answer.loss == pure("inf")


def test_incident_subgraphs_with_all_nodes_are_all_touched_under_nodes_whatever_the_degree() -> None:
    space = PrivacySpace(graphs(3, degree=1), relation=node)
    maps = [incident(part, all_nodes=True) for part in SINGLES]
    leaves = [FiniteLeaf(f, pure(e), mode="common") for f, e in zip(maps, (".2", ".5", ".3"), strict=True)]
    assert exact_worst(space, leaves).loss == pure(1)


def test_under_a_degree_cap_the_edit_alone_is_not_the_worst() -> None:
    whole = Case(PrivacySpace(graphs(3, degree=1), relation=node), [*map(incident, SINGLES)], (0, 0, "", ""))
    alone = Case(PrivacySpace(graphs(1), relation=node), [incident((0,))], (0, 0, "", ""), (".5",))
    assert whole.answer("common").loss == pure(".8")
    assert alone.answer("common").loss == pure(".5")


def test_under_a_degree_cap_a_node_touches_its_own_part_and_those_of_its_neighbors() -> None:
    space = PrivacySpace(graphs(4, degree=2), relation=node)
    parts = [incident((v,)) for v in range(4)]
    each = Case(space, parts, (0, 0, "", ""), (".1", ".2", ".3", ".4"))
    assert each.answer("common").loss == pure(".9")


@pytest.mark.parametrize(("relation", "size"), [(unbounded, 1), (bounded, 1), (group(unbounded, 2), 2)])
def test_databases_made_of_the_edit_alone_have_the_worst_pair(relation: Any, size: int) -> None:
    maps = by_value("ab", "bc", "cda", "d")
    epsilons = (".2", ".5", ".3", ".7")
    for mode in ("separate", "common"):
        whole, edits = (
            Case(PrivacySpace(multisets("abcd", most), relation=relation), maps, (0, 0, "", ""), epsilons).answer(mode)
            for most in (3, size)
        )
        assert whole.loss == edits.loss


def test_chunks_cost_up_to_twice_the_sum_apart_and_the_sum_together() -> None:
    space = PrivacySpace(multisets("abcde", 5), relation=unbounded)
    for size in (1, 2):
        maps = chunks(2, size)
        for mode, expected in (("separate", "2"), ("common", "1")):
            leaves = [FiniteLeaf(f, pure("1/2"), mode=mode) for f in maps]  # type: ignore[arg-type]
            assert exact_worst(space, leaves).loss == pure(expected)


def three(space: PrivacySpace, maps: Any, **options: Any) -> Loss:
    losses = (pure(".2"), pure(".5"), pure(".3"))
    return exact_worst(space, [FiniteLeaf(f, e, **options) for f, e in zip(maps, losses, strict=True)]).loss


def test_worked_answers_for_records() -> None:
    parts = by_value("a", "bc", "d")
    by_add, by_swap = (PrivacySpace(multisets("abcd", 3), relation=relation) for relation in (unbounded, bounded))
    assert three(by_add, parts) == pure(".5")
    assert three(by_swap, parts) == pure("inf")
    assert three(by_swap, parts, mode="common") == pure(".8")
    only = [FiniteLeaf(lambda data: data, pure(".7"), mode="common")]
    assert exact_worst(by_swap, only).loss == pure(".7")
    assert three(by_swap, parts, relation=unbounded) == pure(1)
    bins = PrivacySpace(multisets("abc", 3), relation=bounded)
    assert three(bins, by_value("a", "b", "c"), relation=unbounded) == pure(".8")
    rows = PrivacySpace(ordered("ab", 3, least=3), relation=bounded_ordered)
    assert three(rows, positions(3)) == pure(".5")
    assert three(PrivacySpace(multisets("abcd", 3), relation=free_lunch), parts) == pure(1)


def test_joint_vectors_are_tighter_than_the_largest_distance_of_each_leaf() -> None:
    maps = by_value("a", "bc", "de")
    space = PrivacySpace(multisets("abcde", 3), relation=bounded)
    leaves = [FiniteLeaf(f, pure(e), relation=unbounded) for f, e in zip(maps, (".2", ".5", ".3"), strict=True)]
    answer = exact_worst(space, leaves)
    assert answer.loss == pure(1) and answer.conditions.touched == 2 and answer.conditions.stretch == 2


def hospitals(k: int, most: int) -> list[Any]:
    return [chosen for size in range(most + 1) for chosen in combinations(range(k), size)]


def test_worked_answers_for_ambulances() -> None:
    records = hospitals(10, 3)
    maps = [lambda data, i=i: tuple(record for record in data if i in record) for i in range(10)]
    adding = PrivacySpace([(), *((record,) for record in records)], relation=unbounded)
    swapping = PrivacySpace([(record,) for record in records if len(record) == 3], relation=bounded)

    def answer(space: PrivacySpace, losses: list[Loss], **options: Any) -> Loss:
        return exact_worst(space, [FiniteLeaf(f, e, **options) for f, e in zip(maps, losses, strict=True)]).loss

    assert answer(adding, [pure(".1")] * 10) == pure(".3")
    assert answer(adding, [pure(Fraction(i, 100)) for i in range(1, 11)]) == pure(".27")
    assert answer(adding, [zcdp(".05")] * 10) == zcdp(".15")
    total = answer(adding, [gdp(".2")] * 10)
    assert total == gdp(".2") + gdp(".2") + gdp(".2")
    assert abs(total.mu - Fraction("0.3464101615")) < Fraction(1, 10**10)  # type: ignore[attr-defined]
    assert answer(swapping, [pure(".1")] * 10, mode="common") == pure(".6")


def test_worked_answers_for_streams() -> None:
    steps = (".1", ".2", ".3", ".1", ".4")
    members = streams(5, [("ann", 0)])
    for relation, expected in ((event, ".4"), (w_event(3), ".8"), (user, "1.1")):
        space = PrivacySpace(members, relation=relation)
        leaves = [FiniteLeaf(f, pure(e)) for f, e in zip(positions(5), steps, strict=True)]
        assert exact_worst(space, leaves).loss == pure(expected)


def rows_apart(one: frozenset[Any], other: frozenset[Any]) -> int:
    return len(one ^ other)


def test_worked_answers_for_foreign_keys() -> None:
    def answer(members: Any) -> Loss:
        space = PrivacySpace(members, relation=entity([None, 0, 1]))
        tables = [lambda data, i=i: data[i] for i in range(3)]
        losses = (pure(".1"), pure(".05"), pure(".02"))
        return exact_worst(
            space, [FiniteLeaf(f, e, metric=rows_apart) for f, e in zip(tables, losses, strict=True)]
        ).loss

    # The worst person of the large example, and every database of a small one.
    children = [((0, i), (0,), None) for i in range(5)]
    grandchildren = [((0, i, j), (0, i), None) for i in range(5) for j in range(3)]
    full = (frozenset({((0,), None, None)}), frozenset(children), frozenset(grandchildren))
    assert answer([(frozenset(), frozenset(), frozenset()), full]) == pure(".65")
    assert answer(foreign_keys(2, (2, 1))) == pure(".24")


def test_worked_answers_for_contribution_bounds() -> None:
    shares = [m for m in product(range(4), repeat=4) if sum(m) <= 5 and sum(map(bool, m)) <= 2]
    space = PrivacySpace([(), *((m,) for m in shares)], relation=unbounded)
    maps = [lambda data, i=i: sum(m[i] for m in data) for i in range(4)]
    leaves = [FiniteLeaf(f, zcdp(".001"), metric=lambda a, b: abs(a - b)) for f in maps]
    answer = exact_worst(space, leaves)
    assert answer.loss == zcdp(".013")
    assert sorted(answer.distances) == [0, 0, 2, 3]


def test_clamped_counts_at_distance_two_cost_both_leaves() -> None:
    space = PrivacySpace(multisets("ab", 3), relation=group(unbounded, 2))
    leaves = [FiniteLeaf(f, lambda d: min(d, Fraction(1)), relation=unbounded) for f in by_value("a", "b")]
    assert exact_worst(space, leaves).loss == pure(2)


DEGREE_TWO = graphs(5, fixed_nodes=True, degree=2)
USERS = streams(4, [("ann", 0), ("ann", 1)])
IMPLIED: dict[str, tuple[Any, Any, Any, float]] = {
    "unbounded, bounded": (multisets("abc", 3), unbounded, bounded, 2),
    "unbounded, bounded, size fixed": (multisets("abc", 3, least=3), unbounded, bounded, INF),
    "bounded, unbounded": (multisets("abc", 3), bounded, unbounded, INF),
    "unbounded, group of 3": (multisets("abc", 3), unbounded, group(unbounded, 3), 3),
    "attribute, bounded": (ordered(list(product((0, 1), repeat=3)), 2), attribute, bounded_ordered, 3),
    "edge, node-rewire": (graphs(4, fixed_nodes=True), edge, node_rewire, 3),
    "edge, node-rewire, degree 1": (graphs(4, fixed_nodes=True, degree=1), edge, node_rewire, 2),
    "edge, node-rewire, degree 2": (DEGREE_TWO, edge, node_rewire, 4),
    "event, 3-event": (USERS, event, w_event(3), 3),
    "event, user": (USERS, event, user, 4),
    "3-event, user": (USERS, w_event(3), user, 2),
    "2-event, user": (USERS, w_event(2), user, 2),
    "zero-out, bounded ordered": (ordered([*"ab", BLANK], 3), zero_out, bounded_ordered, 2),
}


@pytest.mark.parametrize("name", IMPLIED)
def test_one_notion_implies_another_at_a_factor(name: str) -> None:
    members, known, wanted, factor = IMPLIED[name]
    space = PrivacySpace(members, relation=wanted)
    answer = exact_worst(space, [FiniteLeaf(lambda data: data, pure("1/3"), relation=known)])
    assert answer.conditions.stretch == factor
    assert answer.loss == pure("inf" if factor == INF else Fraction(int(factor), 3))
    squared = exact_worst(space, [FiniteLeaf(lambda data: data, zcdp("1/3"), relation=known)]).loss
    assert squared == zcdp("inf" if factor == INF else Fraction(int(factor) ** 2, 3))


def test_rows_imply_users_at_the_rows_per_user() -> None:
    """A user has up to two rows; adding a user adds them all."""
    rows = [("ann", 1), ("ann", 2), ("bob", 1), ("bob", 2)]
    members = [tuple(chosen) for size in range(5) for chosen in combinations(rows, size)]

    def of_one_user(before: Any, after: Any) -> bool:
        return len({row[0] for row in set(before) ^ set(after)}) == 1

    space = PrivacySpace(members, relation=of_one_user)
    answer = exact_worst(space, [FiniteLeaf(lambda data: data, pure(1), relation=unbounded)])
    assert answer.loss == pure(2)


def test_two_edges_between_the_parts_touch_nothing() -> None:
    space = PrivacySpace(PAIRED, relation=edge)
    assert exact_worst(space, [FiniteLeaf(f, pure(1)) for f in case("edge, induced subgraphs").maps]).c1
    across = [g for g in PAIRED if all(not set(part) <= set(e) for e in g[1] for part in PAIRS)]
    quiet = PrivacySpace(across, relation=edge)
    assert exact_worst(quiet, [FiniteLeaf(f, pure(1)) for f in case("edge, induced subgraphs").maps]).loss == pure(0)
