"""Corners of cuts: single parts, nothing outside, kinds of several values, policies that differ."""

from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter import neighborhood as nb
from viameter.neighborhood.changes import Change, Records
from viameter.neighborhood.finite import FiniteLeaf, PrivacySpace, event, exact_worst, streams

NEVER = vm.PureDP.infinite


def agreed(target: Any, leaves: Any, *, size: int = 2) -> Any:
    """The loss that engine and brute force agree on."""
    composed, found = nb.compose(target, leaves), nb.brute_force(target, leaves, size=size)
    assert composed.loss == found.loss
    return found.loss


def one(part: nb.Part, **options: Any) -> list[nb.Leaf]:
    """A leaf of pure(1)."""
    return [nb.leaf(part, vm.pure(1), **options)]


@for_each(
    "part",
    [
        nb.partition(1)[0],
        nb.partition(1, by="time")[0],
        nb.partition(1, by="column")[0],
        nb.partition([["a", "b"]])[0],
        nb.memberships({"a": [0], "b": [0, 1]})[0],
        nb.tree({"top": None, "below": "top"})[0],
        nb.tree({"top": None, "below": "top"})[1],
        nb.predicates([{}], domains={"x": [0, 1]})[0],
        nb.predicates([{"x": [0, 1]}], domains={"x": [0, 1]})[0],
        nb.predicates([{"x": range(2, 7)}], domains={"x": range(2, 7)})[0],
        nb.partition(2, by="position")[0],
        nb.whole(),
    ],
)
def test_with_nothing_outside_a_part_its_size_is_that_of_the_data(part: nb.Part) -> None:
    leaves = one(part, granularity=nb.bounded(), mode="common")
    assert nb.compose(nb.unbounded(), leaves).loss == NEVER


@for_each(
    "part",
    [
        nb.partition(2)[0],
        nb.partition([["a"], ["b"]])[1],
        nb.memberships({"a": [0], "b": [1]})[0],
        nb.tree({"top": None, "north": "top", "south": "top"})[1],
        nb.predicates([{"x": [0]}], domains={"x": [0, 1]})[0],
        nb.subsets(2, at_most=1)[0],
        nb.intervals([(0, 1), (2, 3)])[0],
    ],
)
def test_with_something_outside_a_record_that_comes_takes_the_place_of_another(part: nb.Part) -> None:
    assert agreed(nb.unbounded(), one(part, granularity=nb.bounded(), mode="common")) == vm.pure(1)


def test_the_only_part_of_a_split_that_leaves_rows_out_changes_its_size() -> None:
    space = vm.Space(vm.vectors(int), vm.ChangeOneDistance())
    for part in (nb.split(space, [[1, 2]])[0], nb.bins(space, [0, 5])[0]):
        assert nb.compose(nb.bounded(), one(part)).loss == NEVER
        assert nb.compose(nb.bounded(), one(part, mode="common")).loss == vm.pure(1)
        assert nb.compose(nb.bounded(), one(part, granularity=nb.unbounded())).loss == vm.pure(2)
    (first, _) = nb.split(space, [[1, 2]], rest=True)
    assert nb.compose(nb.bounded(), one(first)).loss == NEVER


def test_kinds_of_several_values_can_be_replaced_by_their_own() -> None:
    for target in (nb.bounded(), nb.add_remove_or_replace(), nb.group(nb.bounded(), 2)):
        several = nb.memberships({"a": [0]}, plural=True)
        assert agreed(target, one(several[0], granularity=nb.unbounded()), size=3).is_finite
    assert agreed(nb.bounded(), one(nb.memberships({"a": [0]}, plural=True)[0])) == vm.pure(1)
    assert agreed(nb.bounded(), one(nb.memberships({"a": [0]})[0])) == vm.pure(0)
    assert agreed(nb.bounded(), one(nb.partition(1)[0])) == vm.pure(1)
    assert agreed(nb.bounded(), one(nb.partition(1, values=1)[0])) == vm.pure(0)


def test_records_outside_of_all_parts_balance_those_within() -> None:
    cut = nb.memberships({"a": [0], "b": [0], "~": []})
    assert agreed(nb.group(nb.bounded(), 2), one(cut[0]), size=3) == NEVER
    assert agreed(nb.group(nb.bounded(), 2), one(cut[0], granularity=nb.unbounded()), size=4) == vm.pure(4)


def test_two_records_in_two_parts_each_are_counted_in_both() -> None:
    both = nb.subsets(2, at_most=2)
    leaves = [nb.leaf(part, vm.pure(1), granularity=nb.unbounded()) for part in both]
    assert nb.compose(nb.group(nb.bounded(), 2), leaves).loss == vm.pure(8)
    listed = nb.memberships({"a": [0, 1], "b": [0, 1], "c": [0, 1], "d": [0, 1]})
    same = [nb.leaf(part, vm.pure(1), granularity=nb.unbounded()) for part in listed]
    found = nb.brute_force(nb.group(nb.bounded(), 2), same)
    assert found.loss == vm.pure(8)
    assert found.loss <= nb.compose(nb.group(nb.bounded(), 2), same).loss


def test_of_several_records_the_way_that_costs_most_is_looked_for() -> None:
    def far(change: Change) -> int:
        assert isinstance(change, Records)
        return 5 if change.balanced and change.added else int(change.both)

    own = nb.granularity("own", protects="x", edits=[Records(1, 0)], distance=far, trust="replaced records are dear")
    leaves = one(nb.partition(2)[0], granularity=own)
    assert nb.compose(nb.group(nb.unbounded(), 2), leaves).loss == vm.pure(5)
    assert nb.compose(nb.bounded(), leaves).loss == vm.pure(5)


def test_an_event_that_turns_into_another_leaves_one_part_and_comes_into_another() -> None:
    # A user's event at a time has one of three values, and each part keeps the events of one value.
    members = streams(2, [("ann", value) for value in range(3)])
    losses = ("0.2", "0.5", "0.3")

    def kept(value: int) -> Any:
        return lambda data: tuple(frozenset(e for e in moment if e[1] == value) for moment in data)

    finite = [FiniteLeaf(kept(value), vm.pure(e)) for value, e in enumerate(losses)]
    truth = exact_worst(PrivacySpace(members, relation=event), finite).loss
    parts = zip(nb.partition(3, values=1), losses, strict=True)
    assert truth == vm.pure("4/5")
    assert truth <= nb.compose(nb.event(), [nb.leaf(part, vm.pure(e)) for part, e in parts]).loss


@pytest.mark.parametrize("mode", ["separate", "common"])
def test_a_policy_promises_nothing_of_pairs_that_it_does_not_list(mode: Any) -> None:
    cut = nb.memberships({"a": [0], "b": [0], "c": [0], "d": [1]})
    small, large = nb.policy([("a", "b")]), nb.policy([("a", "b"), ("b", "c")])
    assert agreed(small, one(cut[0], granularity=large, mode=mode)) == vm.pure(1)
    leaves = one(cut[0], granularity=small, mode=mode)
    assert agreed(large, leaves) == NEVER
    assert nb.stability(small, large) == float("inf")
    assert nb.stability(large, small) == 1


@pytest.mark.parametrize("count", [1, 2, 3])
def test_groups_of_rows_of_one_or_several_parts(count: int) -> None:
    target = nb.group(nb.bounded_ordered(), count)
    leaves = [
        nb.leaf(part, vm.zcdp(f"{part.place + 1}/10"), granularity=nb.bounded_ordered())
        for part in nb.partition(2, by="id")
    ]
    assert agreed(target, leaves, size=3) == vm.zcdp({1: "2/10", 2: "8/10", 3: "18/10"}[count])


def test_a_person_whose_records_change_may_be_in_twice_as_many_parts() -> None:
    parts = nb.partition(4)
    leaves = [nb.leaf(part, vm.pure("1/10"), granularity=nb.add_remove_or_replace()) for part in parts]
    # One row of theirs goes from one part to another: two parts, one step each.
    assert vm.pure("2/10") <= nb.compose(nb.user(rows=1, alters=True), leaves).loss
    assert vm.pure("4/10") <= nb.compose(nb.user(rows=2, alters=True), leaves).loss
    assert nb.compose(nb.user(rows=2), leaves).loss == vm.pure("2/10")
    overlapping = nb.leaves(nb.subsets(4, at_most=2), vm.pure("1/10"), granularity=nb.unbounded())
    assert nb.compose(nb.user(rows=2), overlapping).loss == vm.pure("4/10")
    groups = nb.leaves(nb.contributions(4, l0=1, l1=2), vm.pure("1/10"), granularity=nb.unbounded())
    assert vm.pure("4/10") <= nb.compose(nb.user(alters=True), groups).loss
    assert nb.compose(nb.user(), groups).loss == vm.pure("2/10")


def test_columns_that_several_parts_keep_are_seen_by_all_of_them() -> None:
    views = nb.projections([["x", "y"], ["x"], ["z"]])
    leaves = [nb.leaf(part, vm.pure(1)) for part in views]
    assert agreed(nb.attribute(), leaves) == vm.pure(2)
    target = nb.group(nb.attribute(), 2)
    found = nb.brute_force(target, [nb.leaf(part, vm.pure(1), granularity=nb.attribute()) for part in views])
    assert found.loss == vm.pure(4)
    wide = [nb.leaf(part, vm.pure(1), granularity=nb.attribute()) for part in views]
    assert found.loss <= nb.compose(target, wide).loss


def test_a_record_between_two_spans_leaves_both() -> None:
    cut = nb.intervals([(0, 1), (2, 3)])
    leaves = [nb.leaf(part, vm.pure(1), mode="common") for part in cut]
    assert agreed(nb.bounded(), leaves) == vm.pure(2)
    # From a span to a time that none holds.
    assert agreed(nb.bounded(), one(nb.intervals([(0, 3)])[0])) == NEVER


def test_the_neighbors_of_a_rewired_node_are_in_as_many_parts_as_it_has_edges() -> None:
    losses = ("0.1", "0.2", "0.3", "0.4")
    parts = nb.incident(4)
    for degree, wanted in ((1, "1.0"), (None, "1.0")):
        leaves = [nb.leaf(part, vm.pure(e)) for part, e in zip(parts, losses, strict=True)]
        assert nb.compose(nb.node_rewire(degree=degree), leaves).loss <= vm.pure(wanted)
        assert vm.pure("0.9") <= nb.compose(nb.node_rewire(degree=degree), leaves).loss
    common = [nb.leaf(part, vm.pure(e), mode="common") for part, e in zip(parts, losses, strict=True)]
    for degree, total in ((1, "0.7"), (2, "0.9"), (3, "1")):
        assert nb.compose(nb.node(degree=degree), common).loss == vm.pure(total)


def test_a_person_who_moves_one_row_touches_two_groups() -> None:
    groups = nb.contributions(4, l0=1, l1=1)
    leaves = nb.leaves(groups, vm.pure("1/10"), granularity=nb.add_remove_or_replace())
    assert vm.pure("2/10") <= nb.compose(nb.user(alters=True), leaves).loss


def test_two_edges_are_four_ends() -> None:
    leaves = [nb.leaf(part, vm.pure(1), granularity=nb.edge()) for part in nb.incident(2)]
    found = nb.brute_force(nb.k_edge(2), leaves)
    assert found.loss == vm.pure(4)
    assert found.loss <= nb.compose(nb.k_edge(2), leaves).loss


def test_conditions_on_two_attributes_are_not_crossed_by_one_cell() -> None:
    corners = nb.predicates([{"x": [0], "y": [0]}, {"x": [1], "y": [1]}], domains={"x": [0, 1], "y": [0, 1]})
    composed = nb.compose(nb.attribute(), [nb.leaf(part, vm.pure(1), mode="common") for part in corners])
    assert vm.pure(1) <= composed.loss
    assert composed.loss == vm.pure(1) or not composed.tight


@for_each("mode", ["separate", "common"])
@for_each("edits", [[Records(1, 0), Records(3, 0)], [Records(3, 0), Records(1, 0)]])
def test_of_several_edits_the_dearest_counts(edits: list[Records], mode: Any) -> None:
    own = nb.granularity("one or three", protects="x", edits=edits, distance=nb.unbounded().distance, trust="t")
    leaves = one(nb.whole(), granularity=nb.unbounded(), mode=mode)
    assert nb.compose(own, leaves).loss == vm.pure(3)
    tally = nb.PatternTally(own, vm.PureDP)
    assert tally.preview(leaves[0]) == vm.pure(3)
    tally.charge(leaves[0])
    assert tally.spent == vm.pure(3)
    assert nb.stability(nb.unbounded(), own) == 3


def test_parts_with_the_same_claims_need_not_cost_the_same() -> None:
    # Part 0 leaves a value out, part 1 none: only for the first can another record make up for one that comes.
    cut = nb.memberships({"a": [0, 1], "b": [1]})
    assert agreed(nb.unbounded(), nb.leaves(cut, vm.pure(1), granularity=nb.bounded(), mode="common")) == NEVER
    parts = nb.partition(2)
    stretched = [nb.leaf(parts[0].then(stability=1), vm.pure(1)), nb.leaf(parts[1].then(stability=5), vm.pure(1))]
    assert nb.compose(nb.unbounded(), stretched).loss == vm.pure(5)
    inner = [nb.compose(nb.unbounded(), one(nb.whole().then(stability=s))) for s in (1, 5)]
    nested = [nb.leaf(part, each) for part, each in zip(parts, inner, strict=True)]
    assert nb.compose(nb.unbounded(), nested).loss == vm.pure(5)
