"""Traps: instances on which a bound is easily too small, each with the pair of neighbors that costs more."""

from typing import Any

import pytest
from tests.cases import for_each
from tests.neighborhood.composed_losses import THREE, loss_or_error

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import ViameterError
from viameter.neighborhood.changes import Events
from viameter.neighborhood.finite import (
    FiniteLeaf,
    PrivacySpace,
    event,
    exact_worst,
    streams,
    w_event,
)
from viameter.neighborhood.granularities import Granularity


@for_each(
    "target", [nb.unbounded(), nb.insert_delete(), nb.add_remove_or_replace(), nb.bounded(), nb.bounded_ordered()]
)
def test_a_record_that_comes_is_seen_as_a_blank_by_every_part_that_makes_others_blank(target: Granularity) -> None:
    # With blanks=True a record that comes is one blank more in every other part, which the engine leaves out.
    leaves = [nb.leaf(part, vm.pure(e)) for part, e in zip(nb.partition(3, blanks=True), THREE, strict=True)]
    found = nb.brute_force(target, leaves)
    assert found.loss <= loss_or_error(target, leaves)


def test_a_person_who_comes_is_seen_as_blanks_by_every_part_that_makes_others_blank() -> None:
    # One person with one row is one blank more in each of the other parts: all three are touched.
    parts = nb.partition(3, by="id", blanks=True)
    leaves = [nb.leaf(p, vm.pure(e), granularity=nb.unbounded()) for p, e in zip(parts, THREE, strict=True)]
    assert vm.pure(1) <= loss_or_error(nb.user(rows=1), leaves)


def test_two_events_within_three_times_need_not_be_next_to_one_another() -> None:
    # Events(2, 3) may be at the first and the last time; a window of two times never is.
    def close(before: Any, after: Any) -> bool:
        times = [time for time, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
        return 1 <= len(times) <= 2 and times[-1] - times[0] < 3

    members = streams(3, [("ann", 0)])
    losses = ("0.2", "0.1", "0.3")
    maps = [lambda data, time=time: data[time : time + 1] for time in range(3)]
    finite = [FiniteLeaf(f, vm.pure(e), relation=event) for f, e in zip(maps, losses, strict=True)]
    truth = exact_worst(PrivacySpace(members, relation=close), finite).loss
    own = nb.granularity(
        "two of three times",
        protects="two events within three times differ",
        edits=[Events(2, 3)],
        distance=nb.event().distance,
        trust="a step is at most two events",
    )
    leaves = [
        nb.leaf(part, vm.pure(e), granularity=nb.event())
        for part, e in zip(nb.partition(3, by="time"), losses, strict=True)
    ]
    assert truth == vm.pure("1/2")
    assert truth <= loss_or_error(own, leaves)


def test_the_events_of_one_of_two_users_in_a_window_may_have_a_gap() -> None:
    # Ann at times 0 and 2 and bob at time 1 are a window of three; ann's own composition sees Events(2, 3).
    members = streams(3, [("ann", 0), ("bob", 0)])

    def kept(who: str, times: range) -> Any:
        return lambda data: tuple(frozenset(e for e in data[time] if e[0] == who) for time in times)

    losses = ("0.5", "0.1", "0.5")
    finite = [FiniteLeaf(kept("ann", range(t, t + 1)), vm.pure(e), relation=event) for t, e in enumerate(losses)] + [
        FiniteLeaf(kept("bob", range(3)), vm.pure("0.3"), relation=event)
    ]
    truth = exact_worst(PrivacySpace(members, relation=w_event(3)), finite).loss
    times = nb.partition(3, by="time")
    anns = nb.compose(nb.event(), [nb.leaf(part, vm.pure(e)) for part, e in zip(times, losses, strict=True)])
    users = nb.partition(2, by="id")
    leaves = [nb.leaf(users[0], anns), nb.leaf(users[1], vm.pure("0.3"), granularity=nb.event())]
    assert truth == vm.pure("1.3")
    assert truth <= loss_or_error(nb.w_event(3), leaves)


def test_a_personalised_composition_within_another_counts_every_class_or_is_refused() -> None:
    # For one record more class A costs most, for a replaced one class B.
    bins = nb.partition(2, values=1)
    inner = nb.compose(
        nb.personalised(["A", "B"]),
        [
            nb.leaf(bins[0], {"A": vm.pure("0.5"), "B": vm.pure("0.4")}),
            nb.leaf(bins[1], {"A": vm.pure(0), "B": vm.pure("0.4")}),
        ],
    )
    try:
        leaf = nb.leaf(nb.whole(), inner)
    except ViameterError:
        return
    assert vm.pure("0.8") <= loss_or_error(nb.bounded(), [leaf])


def test_a_personalised_composition_at_two_steps_counts_every_class() -> None:
    # At one step class A costs most, at two class B: at least what two of its steps come to, 0.8.
    law = {"A": {1: vm.pure("0.5"), 2: vm.pure("0.6")}, "B": {1: vm.pure("0.4"), 2: vm.pure("0.8")}}
    composed = nb.compose(nb.personalised(["A", "B"]), [nb.leaf(nb.whole(), law)])
    assert vm.pure("0.8") <= composed.at_steps(2).loss


@pytest.mark.parametrize(
    ("target", "own"),
    [(nb.unbounded(), nb.group(nb.unbounded(), 2)), (nb.group(nb.unbounded(), 2), None)],
)
def test_steps_of_a_stability_are_steps_of_the_leaf_s_own_granularity(target: Granularity, own: Any) -> None:
    # Three steps of a group of two are three, and not the two groups that three steps of its base make.
    leaf = nb.leaf(nb.opaque("join", stability=3), vm.pure(1), granularity=own)
    assert vm.pure(3) <= loss_or_error(target, [leaf])


def test_listed_and_constrained_patterns_count_steps_of_the_leaf_s_own_granularity() -> None:
    # As above, for patterns and constraints.
    target = nb.group(nb.unbounded(), 2)
    assert vm.pure(2) <= loss_or_error(target, [nb.leaf(nb.patterns([(2, 0)])[0], vm.pure(1))])
    assert vm.pure(2) <= loss_or_error(target, [nb.leaf(nb.constrained(1, most=2)[0], vm.pure(1))])


@for_each("mode", ["separate", "common"])
@for_each("by", ["id", "value"])
def test_what_is_private_for_single_records_promises_nothing_of_lists(by: str, mode: Any) -> None:
    # Local() is of datasets of one record; on a list of two rows it promises nothing.
    leaves = [nb.leaf(nb.partition(1, by=by)[0], vm.pure(1), granularity=nb.local(), mode=mode)]
    found = nb.brute_force(nb.bounded_ordered(), leaves)
    assert found.loss <= loss_or_error(nb.bounded_ordered(), leaves)


@pytest.mark.parametrize("to", [nb.bounded_ordered(), nb.zero_out(), nb.attribute()])
def test_a_guarantee_for_single_records_is_none_for_lists(to: Granularity) -> None:
    # Translate says 1 step.
    assert nb.translate(vm.pure(1), frm=nb.local(), to=to) == vm.PureDP.infinite


@pytest.mark.parametrize("by", ["column", "value"])
def test_steps_that_leave_the_class_of_single_records_are_none_for_groups_either(by: str) -> None:
    # Between single records there are no unbounded() steps, whether one local() step is taken or two.
    part = nb.partition(2, by=by)[0]
    leaf = nb.leaf(part, vm.pure(1), granularity=nb.unbounded(), mode="common")
    assert loss_or_error(nb.group(nb.local(), 2), [leaf]) == vm.PureDP.infinite
    alone = nb.leaf(nb.whole(), vm.pure(1), granularity=nb.unbounded(), mode="common")
    assert loss_or_error(nb.group(nb.local(), 2), [alone]) == vm.PureDP.infinite


@for_each(
    ("frm", "to"),
    [
        (nb.user(rows=1), nb.user()),
        (nb.user(rows=1), nb.user(rows=2)),
        (nb.node(degree=1), nb.node()),
        (nb.node_rewire(degree=1), nb.node_rewire()),
        (nb.node(nodes=3), nb.node()),
    ],
)
def test_a_guarantee_on_a_smaller_class_is_none_on_a_larger_one(frm: Granularity, to: Granularity) -> None:
    # A count of rows with Laplace noise of scale 1 is pure(1) if users have one row, and nothing if they have any
    # number; likewise a count of edges for nodes of degree one. translate says that the loss stays the same.
    try:
        found = nb.translate(vm.pure(1), frm=frm, to=to)
    except ViameterError:
        return
    assert not found <= vm.pure(1)


def test_what_is_private_on_the_common_domain_gains_nothing_from_a_stability() -> None:
    # The mechanism is pure(1) per unit on the whole data, where one step is one unit, whatever comes in between.
    part = nb.partition(2)[0].then(stability="1/2")
    leaf = nb.leaf(part, vm.pure(1), granularity=nb.geo(1), mode="common")
    assert vm.pure(1) <= loss_or_error(nb.geo(1), [leaf])


def test_the_only_part_by_time_leaves_nothing_outside() -> None:
    # A partition holds everything, so a record that comes into its only part changes the size of the data.
    leaf = nb.leaf(nb.partition(1, by="time")[0], vm.pure(1), granularity=nb.bounded(), mode="common")
    assert loss_or_error(nb.unbounded(), [leaf]) == vm.PureDP.infinite


@pytest.mark.parametrize("columns", [0, -3])
def test_a_record_has_at_least_one_column(columns: int) -> None:
    # Local(columns=0) is taken, and then a change of no cell costs nothing.
    def composed() -> Any:
        leaf = nb.leaf(nb.whole(), vm.pure(1), granularity=nb.bounded_ordered())
        return nb.compose(nb.local(columns=columns), [leaf]).loss

    try:
        found = composed()
    except ViameterError:
        return
    assert vm.pure(1) <= found


def test_a_kind_of_several_values_can_change_in_one_cell_within_itself() -> None:
    # ("a", 0) stands for several values, two of which may differ in one cell; the engine sees no pair at all.
    kinds = nb.memberships({("a", 0): [0], ("b", 1): [1]}, plural=True)
    assert vm.pure(1) <= loss_or_error(nb.attribute(), nb.leaves(kinds, vm.pure(1), mode="common"))


def test_chunks_by_rank_may_lose_a_record_at_both_ends_and_gain_one() -> None:
    # With chunks [i n / k] to [(i + 1) n / k] of five, one record more can move a chunk by three records.
    def chunk(data: tuple[int, ...], part: int, parts: int = 5) -> tuple[int, ...]:
        return data[part * len(data) // parts : (part + 1) * len(data) // parts]

    before = tuple(range(0, 24, 2))
    far = 0
    for new in range(-1, 25, 2):
        after = tuple(sorted((*before, new)))
        far = max(far, *(len({*chunk(before, part)} ^ {*chunk(after, part)}) for part in range(5)))
    leaves = nb.leaves(nb.partition(5, by="position"), vm.pure(1))[:1]
    assert far == 3
    assert vm.pure(far) <= loss_or_error(nb.unbounded(), leaves)


def test_lists_in_another_order_are_the_same_multiset() -> None:
    # Neighbors of unbounded(), as lists in whatever order, are not one insertion apart. (The same holds from
    # attribute() to bounded(); from bounded_ordered() to bounded() the engine rightly says infinitely many.)
    assert nb.stability(nb.bounded_ordered(), nb.bounded()) == float("inf")
    assert nb.stability(nb.insert_delete(), nb.unbounded()) == float("inf")


def test_claims_of_tightness_hold_for_two_cells_in_three_columns() -> None:
    # Two cells are in at most two of the columns; the engine says pure(1), and that no bound is smaller.
    leaves = [nb.leaf(part, vm.pure(e)) for part, e in zip(nb.partition(3, by="column"), THREE, strict=True)]
    target = nb.group(nb.attribute(), 2)
    composed, found = nb.compose(target, leaves), nb.brute_force(target, leaves)
    assert found.loss == vm.pure("4/5")
    assert composed.loss == found.loss or not composed.tight


def test_claims_of_tightness_hold_for_rows_that_turn_blank() -> None:
    # A row that leaves a part turns blank in it, which is one step; the engine says that the loss is infinite.
    leaves = [nb.leaf(part, vm.pure(e)) for part, e in zip(nb.partition(3, blanks=True), THREE, strict=True)]
    composed, found = nb.compose(nb.bounded_ordered(), leaves), nb.brute_force(nb.bounded_ordered(), leaves)
    assert found.loss == vm.pure("4/5")
    assert composed.loss == found.loss or not composed.tight
