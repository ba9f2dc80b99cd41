"""Leaves: laws by number of steps, several claims, measures that mix, compositions within compositions."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import NoTheorem, ParameterError
from viameter.measures.groups import group_loss
from viameter.neighborhood.finite import FiniteLeaf, PrivacySpace, bounded, exact_worst, multisets, unbounded


def on_all(target: Any, loss: Any, **options: Any) -> Any:
    """What one leaf on all of the data costs."""
    return nb.compose(target, [nb.leaf(nb.whole(), loss, **options)]).loss


def test_losses_by_number_of_steps_are_those_of_the_next_number_that_is_listed() -> None:
    law = {1: vm.pure(1), 3: vm.pure(2), 5: vm.pure(7)}
    at = [on_all(nb.group(nb.unbounded(), steps), law, granularity=nb.unbounded()) for steps in range(1, 7)]
    assert at == [vm.pure(1), vm.pure(2), vm.pure(2), vm.pure(7), vm.pure(7), vm.PureDP.infinite]
    assert on_all(nb.unbounded(), {2: vm.pure(3)}) == vm.pure(3)


def test_losses_by_number_of_steps_agree_with_brute_force() -> None:
    law = {1: vm.pure(1), 2: vm.pure("3/2"), 3: vm.pure("5/2")}
    modes: list[Any] = ["separate", "common"]
    for mode in modes:
        leaves = [nb.leaf(p, law, granularity=nb.unbounded(), mode=mode) for p in nb.partition(2, values=1)]
        for target in (nb.unbounded(), nb.bounded(), nb.group(nb.unbounded(), 2), nb.group(nb.bounded(), 2)):
            assert nb.compose(target, leaves).loss == nb.brute_force(target, leaves, size=3).loss


@for_each(
    "law",
    [
        {1: vm.pure(2), 2: vm.pure(1)},
        {3: vm.pure(1), 1: vm.pure("11/10")},
        {1: vm.approx(1, "1/8"), 2: vm.approx(2, "1/16")},
        {0: vm.pure(0), 1: vm.pure(1)},
        {Fraction(3, 2): vm.pure(1)},
        {-1: vm.pure(1)},
        {},
        {1: 5},
    ],
)
def test_contradictory_guarantees_are_refused(law: Any) -> None:
    with pytest.raises(ParameterError):
        nb.leaf(nb.whole(), law)


def test_approximate_zcdp_at_two_steps_must_be_given() -> None:
    one = vm.approx_zcdp("0.1", "1e-9")
    assert on_all(nb.unbounded(), one) == one
    with pytest.raises(NoTheorem, match="the leaf must give its own map"):
        on_all(nb.bounded(), one, granularity=nb.unbounded())
    two = vm.approx_zcdp("0.4", "3e-9")
    assert on_all(nb.bounded(), {1: one, 2: two}, granularity=nb.unbounded()) == two
    parts = nb.partition(2, values=1)
    both = nb.compose(nb.bounded(), [nb.leaf(p, {1: one, 2: two}, granularity=nb.unbounded()) for p in parts])
    assert both.loss == vm.approx_zcdp("0.2", "2e-9")


def test_losses_of_several_measures_are_converted_at_one_step_and_then_taken_to_several() -> None:
    leaves = [
        nb.leaf(nb.whole(), vm.pure("1/10"), granularity=nb.unbounded()),
        nb.leaf(nb.whole(), vm.zcdp("1/10"), granularity=nb.unbounded()),
    ]
    converted: Any = vm.pure("1/10").to(vm.ZCDP)
    found: Any = nb.compose(nb.bounded(), leaves).loss
    assert found.measure == vm.ZCDP
    assert found.rho == 4 * (converted.rho + Fraction(1, 10))
    asked: Any = nb.compose(nb.unbounded(), leaves[:1], measure=vm.ZCDP).loss
    assert asked == converted
    with pytest.raises(NoTheorem):
        nb.compose(nb.unbounded(), leaves, measure=vm.PureDP)


def test_renyi_losses_are_bounded_at_each_order_by_the_worst_pattern_there() -> None:
    parts = nb.partition(2, values=1)
    low, high = vm.renyi({2: "0.1", 8: "0.9"}), vm.renyi({2: "0.2", 8: "0.5"})
    leaves = [nb.leaf(parts[0], low), nb.leaf(parts[1], high)]
    found: Any = nb.compose(nb.unbounded(), leaves).loss
    assert [found.at(order) for order in (2, 8)] == [Fraction(1, 5), Fraction(9, 10)]
    both: Any = nb.compose(nb.add_remove_or_replace(), leaves).loss
    assert [both.at(order) for order in (2, 8)] == [Fraction(3, 10), Fraction(14, 10)]
    twice: Any = nb.compose(nb.bounded(), [nb.leaf(nb.whole(), low, granularity=nb.unbounded())]).loss
    law: Any = group_loss(low, 2)
    assert twice.at(2) == law.at(2)
    assert not twice.at(8) < law.at(8)


def test_an_order_that_one_leaf_does_not_list_is_bounded_by_its_next_larger_one() -> None:
    leaves = [nb.leaf(nb.whole(), vm.renyi({4: "0.1"})), nb.leaf(nb.whole(), vm.renyi({2: "0.2", 8: "0.5"}))]
    found: Any = nb.compose(nb.unbounded(), leaves).loss
    assert (found.at(2), found.at(4)) == (Fraction(3, 10), Fraction(6, 10))
    assert not found.at(8) <= 10


def test_epsilon_and_delta_are_bounded_one_by_one_and_at_two_steps_by_the_law_for_groups() -> None:
    parts = nb.partition(2, values=1)
    leaves = [nb.leaf(parts[0], vm.approx(1, "1e-9")), nb.leaf(parts[1], vm.approx("1/2", "1e-6"))]
    assert nb.compose(nb.unbounded(), leaves).loss == vm.approx(1, "1e-6")
    assert nb.compose(nb.add_remove_or_replace(), leaves).loss == vm.approx("3/2", "1001e-9")
    one = vm.approx(1, "1e-6")
    assert on_all(nb.bounded(), one, granularity=nb.unbounded()) == group_loss(one, 2)
    assert on_all(nb.unbounded(), vm.approx(1, "3/4")) == vm.approx(1, "3/4")
    capped: Any = nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), vm.approx(1, "3/4"))] * 2).loss
    assert capped.delta == 1


def test_of_several_claims_the_better_one_counts_for_each_pattern() -> None:
    part = nb.partition(2, values=1)[0]
    whole = nb.whole()
    for place, bounded_loss, wanted in ((whole, "3/10", "3/10"), (whole, "9/10", "2/5")):
        both = nb.leaf(place, vm.pure("1/5"), granularity=nb.unbounded()).also(
            vm.pure(bounded_loss), granularity=nb.bounded()
        )
        assert nb.compose(nb.bounded(), [both]).loss == vm.pure(wanted)
        assert nb.compose(nb.unbounded(), [both]).loss == vm.pure("1/5")
    # On its own part, bounded privacy says nothing of a record that comes; the other claim does.
    alone = nb.leaf(part, vm.pure("1/10"), granularity=nb.bounded())
    assert not nb.compose(nb.bounded(), [alone]).loss.is_finite
    helped = alone.also(vm.pure("1/5"), granularity=nb.unbounded())
    assert nb.compose(nb.bounded(), [helped]).loss == vm.pure("1/5")
    assert nb.compose(nb.bounded(), [helped]).loss == nb.compose(nb.bounded(), [helped.also(vm.pure(9))]).loss


def test_more_claims_never_cost_more() -> None:
    random = Random(5)
    for _ in range(30):
        parts = nb.partition(2)
        grains = [nb.unbounded(), nb.bounded(), nb.add_remove_or_replace()]
        mode: Any = random.choice(["separate", "common"])
        one = [nb.leaf(p, vm.pure(f"{random.randint(1, 9)}/10"), granularity=random.choice(grains)) for p in parts]
        more = [leaf.also(vm.pure("1/2"), granularity=random.choice(grains), mode=mode) for leaf in one]
        target = random.choice(grains)
        second = [
            nb.leaf(leaf.part, leaf.claims[1].law, granularity=leaf.claims[1].granularity, mode=mode) for leaf in more
        ]
        best = nb.compose(target, more).loss
        assert best <= nb.compose(target, one).loss
        assert best <= nb.compose(target, second).loss


@for_each("seed", range(12))
def test_a_composition_within_another_costs_what_its_leaves_do(seed: int) -> None:
    random = Random(seed)
    letters = "abcd"
    outer = {letter: [part for part in range(2) if random.random() < 0.6] for letter in letters}
    inner = {letter: [part for part in range(2) if random.random() < 0.6] for letter in letters}
    losses = [vm.pure(f"{random.randint(1, 9)}/10") for _ in range(3)]
    grain, relation = random.choice([(nb.unbounded(), unbounded), (nb.bounded(), bounded)])
    own = nb.unbounded()
    kept, below = nb.memberships(outer, parts=2), nb.memberships(inner, parts=2)
    nested = nb.compose(nb.unbounded(), [nb.leaf(below[p], losses[p], granularity=own) for p in range(2)])
    found = nb.compose(grain, [nb.leaf(kept[0], nested), nb.leaf(kept[1], losses[2], granularity=own)]).loss

    def keep(*tests: tuple[dict[str, list[int]], int]) -> Any:
        return lambda data: tuple(x for x in data if all(part in parts[x] for parts, part in tests))

    flat = [
        FiniteLeaf(keep((outer, 0), (inner, 0)), losses[0], relation=unbounded),
        FiniteLeaf(keep((outer, 0), (inner, 1)), losses[1], relation=unbounded),
        FiniteLeaf(keep((outer, 1)), losses[2], relation=unbounded),
    ]
    truth = exact_worst(PrivacySpace(multisets(letters, 2), relation=relation), flat).loss
    assert truth <= found


def test_a_composition_within_another_is_not_its_loss_times_steps() -> None:
    bins = nb.compose(nb.unbounded(), nb.leaves(nb.partition(4, values=1), vm.zcdp("0.1")))
    outer = nb.compose(nb.bounded(), [nb.leaf(nb.whole(), bins)])
    assert outer.loss == vm.zcdp("0.2")  # two bins once, and not one bin at two steps: 0.4
    assert (
        outer.loss
        == nb.compose(
            nb.bounded(), nb.leaves(nb.partition(4, values=1), vm.zcdp("0.1"), granularity=nb.unbounded())
        ).loss
    )


def test_a_composition_after_a_stable_map_costs_its_loss_at_so_many_steps() -> None:
    bins = nb.compose(nb.unbounded(), nb.leaves(nb.partition(4, values=1), vm.zcdp("0.1")))
    stretched = nb.leaf(nb.whole().then(stability=3), bins)
    assert nb.compose(nb.unbounded(), [stretched]).loss == vm.zcdp("0.9")
    opaque = nb.compose(nb.unbounded(), [nb.leaf(nb.opaque(stability=2), vm.pure("0.1"))])
    assert nb.compose(nb.bounded(), [nb.leaf(nb.whole(), opaque)]).loss == vm.pure("0.4")


def test_maps_of_a_stability_multiply_steps() -> None:
    part = nb.partition(2)[0]
    for stability, steps in (("0", 0), ("1", 1), ("3/2", 2), ("2", 2), ("7", 7)):
        found = nb.compose(nb.unbounded(), [nb.leaf(part.then(stability=stability), vm.pure("0.1"))]).loss
        assert found == vm.pure(f"{steps}/10")
        assert nb.compose(nb.unbounded(), [nb.leaf(nb.opaque(stability=stability), vm.pure("0.1"))]).loss == found
    twice = part.then(stability=2).then(stability=3)
    assert nb.compose(nb.unbounded(), [nb.leaf(twice, vm.pure("0.1"))]).loss == vm.pure("0.6")
    assert nb.compose(nb.bounded(), [nb.leaf(twice, vm.pure("0.1"), granularity=nb.unbounded())]).loss == vm.pure("1.2")


def test_an_unknown_map_under_a_group_of_steps_is_counted_for_the_whole_group() -> None:
    leaf = nb.leaf(nb.opaque("join", stability=3), vm.pure("0.1"))
    one = nb.compose(nb.unbounded(), [leaf])
    assert one.loss == vm.pure("0.3")
    assert one.at_steps(2).loss == vm.pure("0.6")
    mixed = nb.compose(nb.unbounded(), [leaf, nb.leaf(nb.whole(), vm.pure("0.1"))])
    assert mixed.at_steps(5).loss == vm.pure("2")


def test_personalised_guarantees_are_those_of_each_class() -> None:
    parts = nb.partition(2)
    leaves = [
        nb.leaf(parts[0], {"staff": vm.pure("0.5"), "patients": vm.pure("0.1")}),
        nb.leaf(parts[1], {"staff": vm.pure("0.2"), "patients": vm.pure("0.4")}),
        nb.leaf(nb.whole(), vm.pure("0.01")),
    ]
    composed = nb.compose(nb.personalised(["staff", "patients"]), leaves)
    assert dict(composed.by_class) == {"staff": vm.pure("0.51"), "patients": vm.pure("0.41")}
    assert composed.loss == vm.pure("0.51")
    assert nb.compose(nb.personalised(["patients", "staff"]), leaves).loss == vm.pure("0.51")
    with pytest.raises(ParameterError, match="no loss for the class"):
        nb.compose(nb.personalised(["staff", "visitors"]), leaves)
    with pytest.raises(ParameterError, match="personalised"):
        nb.compose(nb.unbounded(), leaves)
    with pytest.raises(ParameterError, match="a replaced record may be of two classes"):
        nb.personalised(["staff"], nb.bounded())


@for_each("names", [["a", "b"], ["b", "a"], ["a", "b", "c"]])
def test_classes_whose_losses_cannot_be_compared_have_none_together(names: list[str]) -> None:
    """No class stands for the others: one has the greater epsilon, and another the greater delta."""
    losses = {"a": vm.approx(1, "1e-3"), "b": vm.approx(2, "1e-6"), "c": vm.approx("1/2", "1e-7")}
    leaf = nb.leaf(nb.whole(), {name: losses[name] for name in names})
    with pytest.raises(NoTheorem, match="cannot be compared"):
        nb.compose(nb.personalised(names), [leaf])
    above = {**{name: losses[name] for name in names}, "most": vm.approx(2, "1e-3")}
    assert nb.compose(nb.personalised([*names, "most"]), [nb.leaf(nb.whole(), above)]).loss == above["most"]


def test_losses_per_unit_of_a_metric_are_in_proportion() -> None:
    leaf = nb.leaf(nb.whole(), vm.pure(1), granularity=nb.geo(1))
    for radius in ("1/3", "1", "5/2"):
        assert nb.compose(nb.geo(radius), [leaf]).loss == vm.pure(radius)
    assert on_all(nb.geo("1/2"), vm.zcdp(1), granularity=nb.geo(1)) == vm.zcdp("1/4")
    assert on_all(nb.geo("1/2"), vm.gdp(1), granularity=nb.geo(1)) == vm.gdp("1/2")
    with pytest.raises(ParameterError, match="per unit"):
        on_all(nb.geo("1/2"), vm.approx(1, "1e-6"), granularity=nb.geo(1))
    parts = nb.partition(2)
    assert not nb.compose(nb.geo(1), [nb.leaf(parts[0], vm.pure(1))]).loss.is_finite
    together = [nb.leaf(part, vm.pure(1), mode="common") for part in parts]
    assert nb.compose(nb.geo(2), together).loss == vm.pure(4)


def test_leaves_of_different_cuts_are_taken_to_be_touched_together() -> None:
    cuts = [nb.partition(2), nb.partition(3)]
    leaves = [nb.leaf(part, vm.pure(f"{place + 1}/10")) for cut in cuts for place, part in enumerate(cut)]
    composed = nb.compose(nb.unbounded(), leaves)
    assert composed.loss == vm.pure("1/2")
    assert not composed.tight


def test_no_leaves_cost_nothing_in_the_measure_that_is_named() -> None:
    assert nb.compose(nb.unbounded(), [], measure=vm.ZCDP).loss == vm.zcdp(0)
    with pytest.raises(ParameterError, match="give measure"):
        nb.compose(nb.unbounded(), [])
    with pytest.raises(NoTheorem):
        nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), vm.pure(1))], measure=vm.GaussianDP)


def test_infinite_losses_stay_infinite() -> None:
    parts = nb.partition(2)
    for infinite in (vm.PureDP.infinite, vm.ZCDP.infinite, vm.GaussianDP.infinite, vm.ApproxDP.infinite):
        leaves = [nb.leaf(parts[0], infinite), nb.leaf(parts[1], infinite.measure.zero)]
        assert nb.compose(nb.unbounded(), leaves).loss == infinite
    assert nb.compose(nb.unbounded(), [nb.leaf(parts[1], vm.pure(0))]).loss == vm.pure(0)
    # No loss for replaced records is no promise for one record more: the size may be told.
    assert not nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), vm.pure(0), granularity=nb.bounded())]).loss.is_finite
