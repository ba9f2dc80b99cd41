"""The theorems of the room, against enumeration of small classes from the definitions."""

from collections.abc import Callable
from itertools import combinations
from random import Random
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter import neighborhood as nb
from viameter.arith import INFINITY
from viameter.errors import ParameterError, ViameterError
from viameter.neighborhood.finite import (
    FiniteLeaf,
    PrivacySpace,
    bounded,
    exact_worst,
    group,
    insert_delete,
    loss_at,
    multisets,
    ordered,
    unbounded,
)
from viameter.neighborhood.released import composition_over_parts
from viameter.neighborhood.theorems import (
    bounded_disjoint_composition,
    common_domain_composition,
    general_composition,
    granularity_translation,
    parallel_composition,
)

Map = Callable[[Any], Any]
LETTERS = "abcd"


def keeping(letter: str) -> Map:
    """The map to the records with this value."""
    return lambda data: tuple(x for x in data if x == letter)


PARTS = [keeping(letter) for letter in LETTERS]


def random_losses(random: Random, count: int = 4) -> list[Any]:
    """Different pure losses."""
    return [vm.pure(f"{number}/20") for number in random.sample(range(1, 20), count)]


def random_map(random: Random) -> Map:
    """A map that keeps some of the letters, each perhaps as another one."""
    kept = {letter: random.choice(LETTERS) for letter in LETTERS if random.random() < 0.7}
    return lambda data: tuple(sorted(kept[x] for x in data if x in kept))


@for_each("seed", range(15))
def test_general_composition_ensures_the_composition_of_what_the_worst_pair_costs_each_leaf(seed: int) -> None:
    random = Random(seed)
    space = PrivacySpace(multisets(LETTERS, 2), relation=random.choice([unbounded, bounded]))
    make = random.choice([vm.pure, vm.zcdp, vm.gdp])
    leaves = [FiniteLeaf(random_map(random), make(f"{random.randint(1, 9)}/10"), relation=unbounded) for _ in range(3)]
    answer = exact_worst(space, leaves)
    touched = [loss_at(leaf.law, far) for leaf, far in zip(leaves, answer.distances, strict=True)]
    assert general_composition(touched) == answer.loss
    for before, after in space.pairs():
        own = [PrivacySpace(dict.fromkeys(map(leaf.map, space.members)), relation=unbounded) for leaf in leaves]
        steps = [each.distance(leaf.map(before), leaf.map(after)) for each, leaf in zip(own, leaves, strict=True)]
        pattern = [loss_at(leaf.law, far) for leaf, far in zip(leaves, steps, strict=True)]
        assert general_composition(pattern) <= answer.loss


def test_general_composition_requires_a_leaf_and_losses_of_one_measure() -> None:
    with pytest.raises(ParameterError, match="no losses"):
        general_composition([])
    with pytest.raises(ViameterError):
        general_composition([vm.pure(1), vm.zcdp(1)])


def test_general_composition_requires_that_no_pattern_is_left_out() -> None:
    # Without the pattern that replaces a record across two parts, the bound would be one that two neighbors exceed.
    space = PrivacySpace(multisets("ab", 2), relation=bounded)
    leaves = [FiniteLeaf(f, vm.pure(1), relation=unbounded) for f in PARTS[:2]]
    answer = exact_worst(space, leaves)
    assert answer.loss == vm.pure(2)
    assert not answer.loss <= general_composition([vm.pure(1)])


@for_each("seed", range(15))
def test_common_domain_composition_ensures_the_composition_of_the_touched_leaves(seed: int) -> None:
    random = Random(seed)
    relation = random.choice([unbounded, bounded])
    space = PrivacySpace(multisets(LETTERS, 2), relation=relation)
    maps = [random_map(random) for _ in range(3)]
    losses = random_losses(random, 3)
    answer = exact_worst(space, [FiniteLeaf(f, e, mode="common") for f, e in zip(maps, losses, strict=True)])
    worst = max(
        (
            common_domain_composition([vm.pure(0), *(e for f, e in zip(maps, losses, strict=True) if f(one) != f(two))])
            for one, two in space.pairs()
        ),
        key=lambda loss: getattr(loss, "epsilon", INFINITY),
    )
    assert worst == answer.loss


def test_common_domain_composition_requires_privacy_on_the_whole_data() -> None:
    # Private for replaced records on each part's own data only, the same leaves promise nothing.
    space = PrivacySpace(multisets("ab", 2), relation=bounded)
    common = exact_worst(space, [FiniteLeaf(f, vm.pure(1), mode="common") for f in PARTS[:2]])
    separate = exact_worst(space, [FiniteLeaf(f, vm.pure(1), mode="separate") for f in PARTS[:2]])
    assert common.loss == common_domain_composition([vm.pure(1), vm.pure(1)])
    assert separate.loss == vm.PureDP.infinite
    with pytest.raises(ParameterError):
        common_domain_composition([])


@for_each("seed", range(8))
def test_parallel_composition_ensures_the_largest_loss(seed: int) -> None:
    losses = random_losses(Random(seed))
    space = PrivacySpace(multisets(LETTERS, 2), relation=unbounded)
    answer = exact_worst(space, [FiniteLeaf(f, e) for f, e in zip(PARTS, losses, strict=True)])
    assert answer.c1 and answer.c2
    assert parallel_composition(losses) == answer.loss
    parts = nb.partition(4, values=1)
    assert nb.compose(nb.unbounded(), [nb.leaf(p, e) for p, e in zip(parts, losses, strict=True)]).loss == answer.loss


def test_parallel_composition_requires_conditions_that_replaced_records_break() -> None:
    losses = random_losses(Random(1))
    space = PrivacySpace(multisets(LETTERS, 2), relation=bounded)
    answer = exact_worst(space, [FiniteLeaf(f, e, mode="common") for f, e in zip(PARTS, losses, strict=True)])
    assert not answer.c1
    assert not answer.loss <= parallel_composition(losses)
    assert parallel_composition([]) == vm.pure(0)
    assert parallel_composition([vm.pure(1), vm.PureDP.infinite]) == vm.PureDP.infinite


@for_each("seed", range(8))
@for_each("count", [1, 2, 4])
def test_bounded_disjoint_composition_ensures_the_two_largest(seed: int, count: int) -> None:
    losses = random_losses(Random(seed), count)
    # Two values for each part, so that with one part there is something to replace.
    maps = [lambda data, low=low: tuple(x for x in data if x // 2 == low) for low in range(count)]
    space = PrivacySpace(multisets(range(2 * count), 2), relation=bounded)
    answer = exact_worst(space, [FiniteLeaf(f, e, mode="common") for f, e in zip(maps, losses, strict=True)])
    assert bounded_disjoint_composition(losses) == answer.loss
    parts = nb.partition(count)
    leaves = [nb.leaf(p, e, mode="common") for p, e in zip(parts, losses, strict=True)]
    assert nb.compose(nb.bounded(), leaves).loss == answer.loss


def test_bounded_disjoint_composition_requires_the_common_domain() -> None:
    losses = random_losses(Random(2))
    space = PrivacySpace(multisets(LETTERS, 2), relation=bounded)
    answer = exact_worst(space, [FiniteLeaf(f, e) for f, e in zip(PARTS, losses, strict=True)])
    assert not answer.loss <= bounded_disjoint_composition(losses)
    assert bounded_disjoint_composition([vm.pure(1), vm.PureDP.infinite]) == vm.PureDP.infinite
    assert bounded_disjoint_composition([]) == vm.pure(0)


@for_each("loss", [vm.pure("1/7"), vm.zcdp("1/7"), vm.gdp("1/7")])
@for_each(
    ("own", "relation", "members"),
    [
        (unbounded, bounded, multisets("abc", 3)),
        (bounded, group(bounded, 2), multisets("abc", 3)),
        (insert_delete, group(insert_delete, 3), ordered("ab", 4)),
    ],
)
def test_granularity_translation_ensures_the_law_at_the_largest_distance(
    loss: Any, own: Any, relation: Any, members: Any
) -> None:
    fine, coarse = PrivacySpace(members, relation=own), PrivacySpace(members, relation=relation)
    steps = max(fine.distance(one, two) for one, two in coarse.pairs())
    answer = exact_worst(coarse, [FiniteLeaf(lambda data: data, loss, relation=own)])
    assert granularity_translation(loss, distance=steps) == answer.loss


def test_granularity_translation_requires_a_way_of_steps() -> None:
    fine = PrivacySpace(multisets("ab", 2), relation=bounded)
    coarse = PrivacySpace(multisets("ab", 2), relation=unbounded)
    assert max(fine.distance(one, two) for one, two in coarse.pairs()) == INFINITY
    assert granularity_translation(vm.pure(0), distance=INFINITY) == vm.PureDP.infinite
    assert nb.translate(vm.pure("1/10"), frm=nb.bounded(), to=nb.unbounded()) == vm.PureDP.infinite


@for_each("seed", range(6))
@for_each("steps", [1, 2, 3])
def test_composition_over_parts_ensures_the_worst_of_so_many_steps(seed: int, steps: int) -> None:
    losses = random_losses(Random(seed), 2)
    composed = nb.compose(
        nb.unbounded(), [nb.leaf(p, e) for p, e in zip(nb.partition(2, values=1), losses, strict=True)]
    )
    space = PrivacySpace(multisets("ab", 4), relation=unbounded)
    near = PrivacySpace(space.members, relation=group(unbounded, steps))
    leaves = [FiniteLeaf(f, e, relation=unbounded) for f, e in zip(PARTS[:2], losses, strict=True)]
    assert composition_over_parts(steps, composed=composed) == exact_worst(near, leaves).loss
    assert composition_over_parts(0, composed=composed) == vm.pure(0)
    assert composition_over_parts(INFINITY, composed=composed) == vm.PureDP.infinite


def test_composition_over_parts_requires_the_metric_of_the_granularity() -> None:
    spaces = {
        nb.unbounded(): vm.SymmetricDistance(),
        nb.bounded(): vm.ChangeOneDistance(),
        nb.bounded_ordered(): vm.HammingDistance(),
        nb.insert_delete(): vm.InsertDeleteDistance(),
    }
    for (one, metric), (other, _) in combinations(spaces.items(), 2):
        space = vm.Space(vm.vectors(int), metric)
        leaves = [nb.leaf(part, vm.count() >> vm.laplace(scale=10)) for part in nb.split(space, [[1], [2]])]
        assert nb.measurement(nb.compose(one, leaves)).map(0) == vm.pure(0)
        with pytest.raises(ViameterError, match="the data's metric is"):
            nb.measurement(nb.compose(other, leaves))
