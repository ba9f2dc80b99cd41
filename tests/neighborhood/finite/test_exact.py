"""Brute force: against a naive maximum, on metric targets, for losses of several numbers, and what it refuses."""

from fractions import Fraction
from itertools import pairwise, product
from random import Random
from typing import Any

import pytest
from tests.neighborhood.finite.granularity_cases import by_value
from tests.neighborhood.finite.instances import LINE, hop, paths, random_instance

from viameter.arith import INFINITY, Extended
from viameter.errors import IncomparableLosses, NoTheorem, ParameterError
from viameter.measures import approx, bounded_range, profile, pure, renyi, zcdp
from viameter.neighborhood.finite import (
    FiniteLeaf,
    PrivacySpace,
    bounded,
    exact_worst,
    graph,
    loss_at,
    multisets,
    singles,
    unbounded,
)
from viameter.neighborhood.finite.conditions import atoms
from viameter.neighborhood.finite.maximal import join, maximal

ABC = PrivacySpace(multisets("abc", 2), relation=unbounded)


def times(amount: Fraction, distance: Extended) -> Extended:
    return Fraction(0) if distance == 0 else amount * distance if amount else distance * (distance == INFINITY)


def test_random_common_leaves_cost_the_largest_sum_of_least_losses() -> None:
    random = Random(4)
    for _ in range(80):
        space, first = random_instance(random)
        second = {member: random.randrange(3) for member in space.members}
        amounts = [Fraction(random.randint(1, 9), 10) for _ in range(2)]
        leaves = [
            FiniteLeaf(f.__getitem__, pure(e), mode="common") for f, e in zip((first, second), amounts, strict=True)
        ]
        answer = exact_worst(space, leaves)
        best: Extended = Fraction(0)
        for before, after in space.pairs():
            total: Extended = Fraction(0)
            for function, amount in zip((first, second), amounts, strict=True):
                one, other = function[before], function[after]
                if one == other:
                    continue
                images = sorted(set(function.values()))
                total += min(
                    sum(times(amount, hop(space, function, a, b)) for a, b in pairwise(path))
                    for path in paths(images, one, other)
                )
            if space.is_metric and total:
                far = space.distance(before, after)
                total = total / far if far else INFINITY
            best = max(best, total)
        assert answer.loss == pure(best)


def test_random_separate_leaves_cost_the_largest_sum_of_laws_of_distances() -> None:
    random = Random(5)
    for _ in range(100):
        space, function = random_instance(random)
        if space.is_metric:
            continue
        chosen = {frozenset((a, b)) for a in range(9) for b in range(9) if a != b and random.random() < 0.5}

        def related(a: int, b: int, chosen: Any = chosen) -> bool:
            return frozenset((a, b)) in chosen

        table = [Fraction(0), *(Fraction(random.randint(0, 9)) for _ in range(9))]

        def law(d: Extended, table: Any = table) -> Any:
            return "inf" if d == INFINITY else table[int(d)]

        answer = exact_worst(space, [FiniteLeaf(function.__getitem__, law, relation=related)])
        # Steps between images only, by repeated relaxation.
        images = set(function.values())
        far: dict[tuple[int, int], Extended] = {}
        far |= {(a, b): Fraction(0) if a == b else INFINITY for a, b in product(images, images)}
        for _ in images:
            far = {
                (a, b): min([steps, *(far[a, c] + 1 for c in images if related(c, b))]) for (a, b), steps in far.items()
            }
        costs = [loss_at(law, far[function[a], function[b]]) for a, b in space.pairs()]
        assert answer.loss == max(costs, key=lambda loss: loss.epsilon, default=pure(0))  # type: ignore[attr-defined]


def test_a_metric_target_asks_for_loss_per_distance() -> None:
    """Grid points; two leaves see a coordinate each, one twice as far apart as it is."""
    points = [(x, y) for x in range(3) for y in range(3)]
    taxicab = PrivacySpace(points, metric=lambda p, q: abs(p[0] - q[0]) + abs(p[1] - q[1]))
    leaves = [
        FiniteLeaf(lambda p: p[0], pure(".3"), metric=lambda a, b: abs(a - b)),
        FiniteLeaf(lambda p: p[1], pure(".2"), metric=lambda a, b: 2 * abs(a - b)),
    ]
    answer = exact_worst(taxicab, leaves)
    assert answer.loss == pure(".4")
    assert answer.conditions.stretch == 2 and not answer.c2 and answer.c2_pair is not None and answer.c2_pair[0] == 1
    diagonal = PrivacySpace(points, metric=lambda p, q: max(abs(p[0] - q[0]), abs(p[1] - q[1])))
    assert exact_worst(diagonal, leaves).loss == pure(".7")
    tighter = [FiniteLeaf(lambda p: p[0], pure(".3"), metric=lambda a, b: Fraction(abs(a - b), 2))]
    answer = exact_worst(taxicab, tighter)
    assert answer.loss == pure(".15") and answer.c2


def test_a_metric_target_with_distance_zero_or_infinite() -> None:
    same = PrivacySpace((0, 1), metric=lambda a, b: 0)
    looking = FiniteLeaf(lambda a: a, pure(1), metric=lambda a, b: abs(a - b))
    assert exact_worst(same, [looking]).loss == pure("inf")
    assert exact_worst(same, [FiniteLeaf(lambda a: 0, pure(1))]).loss == pure(0)
    islands = PrivacySpace((0, 1), metric=lambda a, b: 0 if a == b else INFINITY)
    assert exact_worst(islands, [looking]).loss == pure(0)
    with pytest.raises(NoTheorem, match="give a relation"):
        exact_worst(LINE, [FiniteLeaf(lambda a: a, zcdp(1))])


def test_sequential_composition_is_the_sum() -> None:
    leaves = [FiniteLeaf(lambda data: data, pure(e)) for e in (".1", ".2", ".4")]
    assert exact_worst(ABC, leaves).loss == pure(".7")
    counts = FiniteLeaf(len, zcdp(2), metric=difference)
    assert exact_worst(ABC, [FiniteLeaf(lambda data: data, zcdp(1)), counts]).loss == zcdp(3)


def difference(one: int, other: int) -> int:
    return abs(one - other)


def test_the_smallest_pair_is_shown() -> None:
    answer = exact_worst(ABC, [FiniteLeaf(f, pure(e)) for f, e in zip(by_value("a", "b", "c"), (1, 3, 2), strict=True)])
    assert {answer.before, answer.after} == {(), ("b",)}
    assert answer.images == (((), ()), ((), ("b",)), ((), ()))
    assert answer.distances == (0, 1, 0)
    assert answer.c1 and answer.c2 and answer.c1_pair is None and answer.c2_pair is None


def test_losses_of_two_numbers_have_several_maximal_pairs() -> None:
    maps = by_value("a", "b", "c")
    losses = (approx(1, "1/8"), approx(2, "1/16"), approx(1, "1/16"))
    answer = exact_worst(ABC, [FiniteLeaf(f, e) for f, e in zip(maps, losses, strict=True)])
    assert [each.loss for each in answer.maximal] == [losses[0], losses[1]]
    assert [max(each.before, each.after) for each in answer.maximal] == [("a",), ("b",)]
    assert answer.loss == approx(2, "1/8")
    curves = (renyi({2: 1, 4: 5}), renyi({2: 2, 4: 3}), renyi({2: 1, 4: 3}))
    answer = exact_worst(ABC, [FiniteLeaf(f, e) for f, e in zip(maps, curves, strict=True)])
    assert [each.loss for each in answer.maximal] == [curves[0], curves[1]]
    assert answer.loss == renyi({2: 2, 4: 5})


def test_group_laws_of_other_measures_are_used_at_larger_distances() -> None:
    space = PrivacySpace(singles("ab"), relation=bounded)
    loss = approx("1/2", "1e-3")
    answer = exact_worst(space, [FiniteLeaf(lambda data: data, loss, relation=unbounded, images=multisets("ab", 1))])
    assert answer.distances == (2,)
    assert answer.loss == loss_at(loss, Fraction(2)) and answer.loss != loss + loss


def test_the_class_of_a_separate_leaf_may_be_larger_than_the_images() -> None:
    space = PrivacySpace(singles("ab"), relation=bounded)
    leaf = FiniteLeaf(lambda data: data, pure(1), relation=unbounded)
    assert exact_worst(space, [leaf]).loss == pure("inf")
    larger = FiniteLeaf(lambda data: data, pure(1), relation=unbounded, images=iter(multisets("ab", 1)))
    assert exact_worst(space, [larger]).loss == pure(2) == exact_worst(space, [larger]).loss
    with pytest.raises(ParameterError, match=r"lacks \('b',\)"):
        exact_worst(space, [FiniteLeaf(lambda data: data, pure(1), images=[("a",)])])


def test_a_common_leaf_may_have_a_relation_of_its_own() -> None:
    space = PrivacySpace(multisets("abc", 2), relation=bounded)
    leaves = [FiniteLeaf(f, pure(1), mode="common", relation=unbounded) for f in by_value("ab", "c")]
    answer = exact_worst(space, leaves)
    # Within the first part two steps, across parts one step of each.
    assert answer.loss == pure(2) and answer.conditions.stretch == 2 and answer.conditions.touched == 2


def test_a_class_without_neighbors_loses_nothing() -> None:
    alone = PrivacySpace([("a",)], relation=unbounded)
    answer = exact_worst(alone, [FiniteLeaf(lambda data: data, pure(1))])
    assert answer.loss == pure(0) and answer.maximal == () and answer.c1 and answer.c2
    assert (answer.before, answer.after, answer.images, answer.distances) == (None, None, (), ())


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ParameterError, match="no leaves"):
        exact_worst(ABC, [])
    with pytest.raises(ParameterError, match="'apart' is not known"):
        FiniteLeaf(len, pure(1), mode="apart")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="at most one of"):
        FiniteLeaf(len, pure(1), relation=unbounded, metric=difference)
    with pytest.raises(ParameterError, match="whole class"):
        FiniteLeaf(len, pure(1), mode="common", images=[0, 1])
    same = FiniteLeaf(lambda data: data, bounded_range(1))
    with pytest.raises(IncomparableLosses):
        exact_worst(ABC, [same, same])
    with pytest.raises(IncomparableLosses):
        exact_worst(ABC, [FiniteLeaf(len, pure(1), mode="common"), FiniteLeaf(len, zcdp(1), mode="common")])
    with pytest.raises(NoTheorem, match="least upper bound"):
        join([profile({1: "1/2"}), profile({2: "1/4"})], profile({0: 0}))


def test_joins_and_maximal_elements() -> None:
    class Named:
        def __init__(self, name: str, loss: Any) -> None:
            self.name, self.loss = name, loss

    listed = [Named("a", pure(1)), Named("b", pure(3)), Named("c", pure(2)), Named("d", pure(3))]
    assert [each.name for each in maximal(listed)] == ["b"]
    assert join([], pure(0)) == pure(0) and join([pure(1)], pure(0)) == pure(1)
    assert join([renyi({2: 1}), renyi({4: 5})], renyi({2: 0})) == renyi({2: 5})
    assert join([renyi({2: 1}), renyi({2: 1}).measure.infinite], renyi({2: 0})) == renyi({2: 1}).measure.infinite


def test_atoms_are_counted_by_kind() -> None:
    assert atoms(()) == 0 and atoms(((1, 2), (3, 4))) == 2
    assert atoms(graph("ab", [("a", "b")])) == 3
    assert atoms((frozenset({("ann", 1)}), frozenset())) == 1
    assert atoms(17) == 1
