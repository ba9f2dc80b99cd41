"""Traps within: compositions that are leaves of others, measurements that run, facts that contradict one another."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from tests.cases import for_each
from tests.neighborhood.composed_losses import THREE, loss_or_error

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import NoTheorem
from viameter.measures.groups import group_loss
from viameter.neighborhood.finite import PrivacySpace, bounded, multisets, unbounded
from viameter.neighborhood.granularities import Granularity

ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())


@for_each(
    ("outer", "inner"),
    [
        (nb.bounded_ordered(), nb.local()),
        (nb.user(), nb.user(rows=1)),
        (nb.node(), nb.node(degree=1)),
        (nb.node_rewire(), nb.node_rewire(degree=1)),
        (nb.unbounded(), nb.insert_delete()),
        (nb.bounded(), nb.bounded_ordered()),
    ],
)
def test_a_composition_for_a_smaller_class_says_nothing_within_one_for_a_larger(
    outer: Granularity, inner: Granularity
) -> None:
    # Classes are compared with the granularity that the inner leaves were composed for, not with the outer one.
    assert nb.stability(inner, outer) == float("inf")
    composed = nb.compose(inner, [nb.leaf(nb.whole(), vm.pure(1))])
    assert loss_or_error(outer, [nb.leaf(nb.whole(), composed)]) == vm.PureDP.infinite


def test_orders_of_a_composition_within_another_are_those_of_the_outer_one() -> None:
    # The numbers of the inner composition are at its own orders, and are read as if at the outer one's.
    inner = nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), vm.renyi({2: "0.1", 4: "0.2", 8: "0.9"}))])
    outer = [nb.leaf(nb.whole(), inner), nb.leaf(nb.whole(), vm.renyi({3: "0.1", 8: "0.1"}))]
    flat: Any = nb.compose(nb.unbounded(), [*inner.leaves, outer[1]]).loss
    found: Any = nb.compose(nb.unbounded(), outer).loss
    assert all(found.at(order) == flat.at(order) for order in (2, 3, 4, 8))


def test_a_tally_counts_a_composition_at_the_orders_of_its_budget() -> None:
    # The preview says 0.2 at order 8, where the leaf costs 0.9, and charging it is a bare ValueError.
    inner = nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), vm.renyi({2: "0.1", 4: "0.2", 8: "0.9"}))])
    leaf = nb.leaf(nb.whole(), inner)
    tally = nb.PatternTally(nb.unbounded(), vm.RenyiDP, budget=vm.renyi({4: "1/2", 8: 1}))
    foreseen: Any = tally.preview(leaf)
    assert (foreseen.at(4), foreseen.at(8)) == (vm.renyi({4: "0.2"}).at(4), vm.renyi({8: "0.9"}).at(8))
    tally.charge(leaf)
    assert tally.spent == foreseen


@for_each("target", [nb.bounded_ordered(columns=2), nb.local(columns=1), nb.attribute(columns=2)])
@for_each("cut", [nb.projections([["x"], ["y"], ["z"]]), nb.partition(3, by="column")])
def test_fewer_columns_than_parts_keep_are_refused_or_not_believed(target: Granularity, cut: nb.Cut) -> None:
    # With columns=2 and three named columns the engine counts the two dearest parts, and a row has all three.
    leaves = [nb.leaf(part, vm.pure(e)) for part, e in zip(cut, THREE, strict=True)]
    one_row = [nb.leaf(part, vm.pure(e), granularity=target) for part, e in zip(cut, THREE, strict=True)]
    if not isinstance(target, nb.attribute):
        assert vm.pure(1) <= loss_or_error(target, leaves)
    else:
        assert vm.pure(1) <= loss_or_error(nb.bounded_ordered(), one_row)


def test_a_measurement_that_costs_something_at_no_distance_is_no_leaf_of_a_part() -> None:
    # At distance 0 rows may be in another order. A measurement that is pure(1) there, is so in the untouched part.
    (part, _) = nb.split(ROWS, [[1], [2]])
    assert part.transformation is not None
    mechanism = vm.measurement(
        part.transformation.output_space,
        function=lambda _: 0,
        measure=vm.PureDP,
        privacy=lambda _: vm.pure(1),
        trust="a mechanism that looks at the order of rows",
    )
    with pytest.raises(NoTheorem, match="no step apart"):
        nb.leaf(part, mechanism)


HUGE = """
import viameter as vm
from viameter import neighborhood as nb
rows = vm.Space(vm.vectors(int), vm.SymmetricDistance())
parts = nb.split(rows, [[1], [2]])
release = nb.measurement(nb.compose(nb.unbounded(), [nb.leaf(p, vm.count() >> vm.laplace(scale=10)) for p in parts]))
assert vm.pure(10**29) <= release.map(10**30)
"""


def test_a_huge_distance_has_an_answer() -> None:
    # The time grows with the square of the distance: a minute at two thousand, never at 10**30.
    subprocess.run([sys.executable, "-c", HUGE], check=True, timeout=30)


def test_a_personalised_guarantee_is_converted_for_every_class() -> None:
    # A and B cost the same at every order, so that only A is kept; but A's patterns convert to less than B's one.
    parts = nb.partition(2)
    both = {"A": vm.renyi({2: "0.1", 32: 20}), "B": vm.renyi({2: 1, 32: 20})}
    other = {"A": vm.renyi({32: 1}), "B": vm.renyi({2: 0, 32: 0})}
    leaves = [nb.leaf(parts[0], both), nb.leaf(parts[1], other)]
    everybody = nb.converted(nb.compose(nb.personalised(["A", "B"]), leaves), vm.ApproxDP, delta="1e-6").loss
    only_b = nb.compose(nb.unbounded(), [leaf.for_class("B") for leaf in leaves])
    assert nb.converted(only_b, vm.ApproxDP, delta="1e-6").loss <= everybody


@for_each("seed", range(8))
def test_what_is_converted_pattern_by_pattern_is_at_least_what_every_pair_of_neighbors_costs(seed: int) -> None:
    random = Random(seed)
    target, relation = random.choice([(nb.unbounded(), unbounded), (nb.bounded(), bounded)])
    parts_of = {letter: [part for part in range(3) if random.random() < 0.5] for letter in "abcd"}
    curves: list[Any] = [vm.renyi({2: f"{random.randint(1, 9)}/10", 32: random.randint(1, 30)}) for _ in range(3)]
    cut = nb.memberships(parts_of, parts=3)
    own = nb.unbounded()
    leaves = [nb.leaf(part, curve, granularity=own) for part, curve in zip(cut, curves, strict=True)]
    found = nb.converted(nb.compose(target, leaves), vm.ApproxDP, delta="1e-6").loss
    space = PrivacySpace(multisets("abcd", 2), relation=relation)
    for one, two in space.pairs():
        cost = {2: Fraction(0), 32: Fraction(0)}
        for part, curve in enumerate(curves):
            images = [Counter(x for x in data if part in parts_of[x]) for data in (one, two)]
            steps = ((images[0] - images[1]) + (images[1] - images[0])).total()
            loss: Any = group_loss(curve, steps)
            cost = {order: sofar + loss.at(order) for order, sofar in cost.items()}
        pair = vm.renyi({order: bound for order, bound in cost.items() if bound != float("inf")})
        assert pair.to(vm.ApproxDP, delta="1e-6") <= found


@pytest.mark.parametrize("charged", [False, True])
def test_a_composition_that_was_only_previewed_does_not_lend_its_cost_to_a_new_one(charged: bool) -> None:
    # An address is no name: the next composition gets it once the first is thrown away.
    part = nb.partition(2)[0]
    tally = nb.PatternTally(nb.unbounded(), vm.PureDP)
    cheap, dear = (nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), vm.pure(e))]) for e in ("1/10", 5))
    for _ in range(50):
        first = replace(cheap)
        tally.preview(nb.leaf(part, first))
        address = id(first)
        del first
        others = []
        for _ in range(50):
            others.append(replace(dear))
            if id(others[-1]) == address:
                break
        leaf = nb.leaf(part, others[-1])
        assert tally.preview(leaf) == vm.pure(5 * (1 + len(tally.history)))
        if charged:
            tally.charge(leaf)
            assert tally.spent == vm.pure(5 * len(tally.history))


@pytest.mark.parametrize("target", [nb.bounded(), nb.add_remove_or_replace()])
def test_what_is_converted_pattern_by_pattern_has_the_replaced_record_in_both_parts(target: Granularity) -> None:
    cut = nb.memberships({"a": [0], "b": [1]})
    curve = vm.renyi({2: "0.5", 32: 3})
    leaves = nb.leaves(cut, curve, granularity=nb.add_remove_or_replace())
    found = nb.converted(nb.compose(target, leaves), vm.ApproxDP, delta="1e-6").loss
    assert vm.renyi({2: 1, 32: 6}).to(vm.ApproxDP, delta="1e-6") <= found
