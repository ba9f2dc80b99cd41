"""Guarantees in another measure: pattern by pattern where patterns are listed, and never below any of them."""

import random
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

import viameter as vm
from viameter import neighborhood as nb
from viameter.neighborhood.changes import Change
from viameter.neighborhood.granularities import Granularity
from viameter.neighborhood.listing import list_patterns

DELTA = "1e-6"


def curves(rng: random.Random, count: int) -> list[vm.Loss]:
    """Renyi losses whose bounds at a low and at a high order are in different proportions."""
    return [vm.renyi({2: Fraction(rng.randint(1, 9), 10), 32: rng.randint(1, 20)}) for _ in range(count)]


def epsilon(losses: list[Any]) -> Fraction:
    """The epsilon of losses that one pattern touches."""
    return Fraction(vm.RenyiDP.total(losses).to(vm.ApproxDP, delta=DELTA).epsilon)


@pytest.mark.parametrize("seed", range(20))
def test_a_record_that_comes_costs_the_worst_curve_and_not_the_worst_of_each_order(seed: int) -> None:
    rng = random.Random(seed)
    losses = curves(rng, 3)
    composed = nb.compose(nb.unbounded(), [nb.leaf(p, c) for p, c in zip(nb.partition(3), losses, strict=True)])
    found: Any = nb.converted(composed, vm.ApproxDP, delta=DELTA)
    assert found.loss.epsilon == max(epsilon([loss]) for loss in losses)
    assert found.loss <= composed.loss.to(vm.ApproxDP, delta=DELTA)
    assert found.granularity == nb.unbounded()


@pytest.mark.parametrize("seed", range(20))
def test_a_replaced_record_costs_the_worst_pair_of_curves(seed: int) -> None:
    rng = random.Random(seed)
    losses = curves(rng, 3)
    leaves = [nb.leaf(p, c, mode="common") for p, c in zip(nb.partition(3, values=1), losses, strict=True)]
    found: Any = nb.converted(nb.compose(nb.bounded(), leaves), vm.ApproxDP, delta=DELTA)
    assert found.loss.epsilon == max(epsilon(list(pair)) for pair in combinations(losses, 2))


def test_leaves_of_two_cuts_are_touched_together() -> None:
    losses = curves(random.Random(1), 4)
    cuts = (nb.partition(2), nb.partition(2))
    parts = [part for cut in cuts for part in cut]
    composed = nb.compose(nb.unbounded(), [nb.leaf(p, c) for p, c in zip(parts, losses, strict=True)])
    found: Any = nb.converted(composed, vm.ApproxDP, delta=DELTA)
    assert found.loss.epsilon == max(epsilon([one, other]) for one in losses[:2] for other in losses[2:])


def test_where_patterns_are_not_listed_the_bound_on_all_is_converted() -> None:
    losses = curves(random.Random(2), 4)
    leaves = [nb.leaf(p, c) for p, c in zip(nb.subsets(4, at_most=2), losses, strict=True)]
    composed = nb.compose(nb.unbounded(), leaves)
    assert nb.converted(composed, vm.ApproxDP, delta=DELTA).loss == composed.loss.to(vm.ApproxDP, delta=DELTA)


def test_losses_of_one_number_are_converted_as_they_are() -> None:
    composed = nb.compose(nb.unbounded(), nb.leaves(nb.partition(3), vm.zcdp("0.1")))
    assert nb.converted(composed, vm.ApproxDP, delta=DELTA).loss == vm.zcdp("0.1").to(vm.ApproxDP, delta=DELTA)


def test_groups_that_go_step_by_step_are_converted_after_their_law() -> None:
    leaves = nb.leaves(nb.tree({"top": None, "left": "top", "right": "top"}), vm.renyi({2: "0.1", 64: "0.5"}))
    composed = nb.compose(nb.group(nb.event(), 2), leaves)
    assert composed.steps == 2
    assert nb.converted(composed, vm.ApproxDP, delta=DELTA).loss == composed.loss.to(vm.ApproxDP, delta=DELTA)


class OneHot:
    """Costs that tell which parts a pattern touches, and how: a power of a large number for each."""

    def __init__(self, changes: list[Change], size: int) -> None:
        self.changes, self.size = changes, size

    def of(self, part: int, change: Change) -> Any:
        self.changes.append(change)
        return Fraction(part + 1)

    def column(self, change: Change) -> list[Any]:
        self.changes.append(change)
        return [Fraction(part + 1) for part in range(self.size)]


@pytest.mark.parametrize(
    ("target", "cut"),
    [
        (nb.unbounded(), nb.partition(3)),
        (nb.bounded(), nb.partition(3)),
        (nb.bounded(), nb.partition(3, values=1)),
        (nb.add_remove_or_replace(), nb.partition(3)),
        (nb.unbounded(), nb.memberships({"a": [0, 1], "b": [1, 2], "c": []})),
        (nb.bounded(), nb.memberships({"a": [0, 1], "b": [1, 2], "c": []})),
        (nb.event(), nb.intervals([(0, 3), (2, 5), (4, 4)])),
        (nb.attribute(), nb.partition(3, by="column")),
        (nb.bounded_ordered(), nb.partition(3, by="id")),
        (nb.node(), nb.induced(3)),
        (nb.edge(), nb.induced(3)),
    ],
)
def test_listed_patterns_have_the_worst_that_the_search_finds(target: Granularity, cut: nb.Cut) -> None:
    """With the same costs for every change, the costliest listed pattern costs what the search says."""
    (edit,) = target.edits
    listed = list_patterns(cut, edit)
    assert listed is not None
    best = max(sum((Fraction(part + 1) for part in pattern), Fraction(0)) for pattern in listed)
    assert best == cut.worst(edit, OneHot([], len(cut))).value
