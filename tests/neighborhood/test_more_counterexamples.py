"""More counterexamples: compositions within others in steps, times of persons, what is called the least."""

from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import ParameterError
from viameter.neighborhood.changes import Shifted

TENTH, ONE = vm.pure("1/10"), vm.pure(1)
ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())
COUNT = vm.count() >> vm.laplace(scale=10)


def within(outer: Any, inner: Any, part: nb.Part, leaf: nb.Leaf) -> vm.Loss:
    """What a composition for one granularity costs as a leaf of one for another."""
    composed: nb.Composed = nb.compose(outer, [nb.leaf(part, nb.compose(inner, [leaf]))])
    return composed.loss


@for_each(
    ("outer", "inner"),
    [
        (nb.user(), nb.user(rows=5)),
        (nb.user(rows=1000), nb.user(rows=5)),
        (nb.node(), nb.node(degree=3)),
        (nb.unbounded(), nb.insert_delete()),
        (nb.group(nb.bounded_ordered(), 7), nb.local()),
        (nb.geo(3), nb.geo("1/2")),
    ],
)
def test_steps_of_a_composition_within_are_about_its_own_data(outer: Any, inner: Any) -> None:
    leaf = nb.leaf(nb.opaque(stability=1), TENTH, granularity=nb.unbounded())
    assert not within(outer, inner, nb.whole(), leaf).is_finite


@pytest.mark.parametrize("stability", [2, "1001/1000"])
def test_a_map_behind_a_part_does_not_make_a_small_class_a_large_one(stability: Any) -> None:
    leaf = nb.leaf(nb.whole(), TENTH, granularity=nb.unbounded())
    for outer in (nb.user(), nb.user(rows=1000)):
        assert not within(outer, nb.user(rows=5), nb.whole().then(stability=stability), leaf).is_finite


def test_what_a_tally_explains_is_what_was_spent() -> None:
    part = nb.opaque(stability=1).through(ROWS >> vm.clamp(bounds=(0, 9)), trust="rows one by one")
    meter = nb.odometer(ROWS, vm.PureDP, d_in=3)([1, 2, 3])
    meter(part, COUNT)
    assert meter.spent == meter.tally.composed().loss == vm.pure("3/10")
    assert "costs pure(3/10)" in str(meter.explain())


def test_a_length_is_no_number_of_steps() -> None:
    own = nb.granularity(
        "far", protects="a place three away", edits=[Shifted(Fraction(3))], distance=lambda _: 1, trust="so it is"
    )
    assert nb.stability(nb.geo("1/2"), own) == float("inf")
    assert nb.compose(nb.geo(10), [nb.leaf(nb.whole(), TENTH)]).check_c2().holds


def test_a_person_has_no_more_events_than_times() -> None:
    groups = nb.contributions(10, l0=2, l1=5, linf=3)
    leaves = nb.leaves(groups, vm.zcdp("1/1000"), granularity=nb.unbounded())
    assert nb.compose(nb.user(times=2), leaves).loss == vm.zcdp("4/1000")
    assert nb.compose(nb.user(times=2), [nb.leaf(nb.whole(), TENTH, granularity=nb.unbounded())]).loss == vm.pure("1/5")
    spans = nb.leaves(nb.intervals([(0, 9), (10, 19)]), TENTH, granularity=nb.event())
    assert nb.compose(nb.user(times=14), spans).loss == vm.pure("7/5")
    assert nb.compose(nb.user(times=1), nb.leaves(nb.partition(3, by="time"), TENTH)).check_c1().holds


def test_several_records_come_by_as_many_rows() -> None:
    leaves = list(nb.leaves(nb.partition(2), ONE, granularity=nb.bounded_ordered(), mode="common"))
    target = nb.group(nb.insert_delete(), 2)
    composed, found = nb.compose(target, leaves), nb.brute_force(target, leaves, size=3)
    assert found.loss <= composed.loss == vm.pure(2)


QUADRANTS = {(0, 0): [0], (0, 1): [1], (1, 0): [0], (1, 1): [1]}
NOT_KNOWN_TO_BE_LEAST = [
    (nb.bounded_ordered(columns=2), nb.memberships(QUADRANTS), nb.attribute(columns=2), "common"),
    (nb.local(columns=2), nb.memberships(QUADRANTS), nb.attribute(columns=2), "common"),
    (nb.bounded_ordered(columns=5), nb.partition(2, by="column"), nb.attribute(), "separate"),
    (nb.policy([("a", "b")]), nb.partition(2, by="time"), None, "separate"),
    (nb.geo("1/2"), nb.partition(2, by="time"), None, "separate"),
]


@for_each(("target", "cut", "own", "mode"), NOT_KNOWN_TO_BE_LEAST)
def test_what_may_be_less_is_not_called_the_least(target: Any, cut: nb.Cut, own: Any, mode: Any) -> None:
    assert not nb.compose(target, nb.leaves(cut, ONE, granularity=own, mode=mode)).tight


def test_the_only_record_is_another_however_often_it_changed() -> None:
    leaf = nb.leaf(nb.whole(), ONE, granularity=nb.bounded_ordered())
    assert nb.compose(nb.group(nb.local(), 2), [leaf]).loss == ONE


def test_a_condition_fails_only_where_that_is_known() -> None:
    leaves = nb.leaves(nb.foreign_keys({"patient": {}}), TENTH)
    assert nb.compose(nb.entity("patient"), leaves).check_c2().holds is None


def test_a_bound_through_groups_has_no_pair_that_attains_it() -> None:
    many = nb.compose(nb.user(rows=300), nb.leaves(nb.partition(3), TENTH, granularity=nb.unbounded()))
    assert many.loss == vm.pure(30) and not many.witness.attained
    assert many.to_measure(vm.ZCDP).measure == vm.ZCDP
    stepped = nb.compose(nb.unbounded(), [nb.leaf(nb.opaque(stability=1), TENTH)]).at_steps(3)
    assert stepped.at_steps(2).loss == vm.pure("6/10")


def test_nothing_is_converted_to_nothing() -> None:
    empty = nb.compose(nb.unbounded(), [], measure=vm.ApproxZCDP)
    found: Any = nb.converted(empty, vm.ApproxDP, delta="1e-6").loss
    assert found.epsilon >= 0


def test_brute_force_knows_what_the_engine_knows() -> None:
    only = [nb.leaf(nb.partition(1, by="time")[0], ONE)]
    assert nb.brute_force(nb.bounded(), only).loss == nb.compose(nb.bounded(), only).loss == ONE
    blank = [nb.leaf(nb.whole(), ONE)]
    assert nb.brute_force(nb.zero_out(), blank).loss == nb.compose(nb.zero_out(), blank).loss == ONE
    few = list(nb.leaves(nb.contributions(2, l0=2, l1=2, linf=1), ONE, granularity=nb.unbounded()))
    assert nb.brute_force(nb.user(rows=1), few).loss == nb.compose(nb.user(rows=1), few).loss == ONE
    by_id = list(nb.leaves(nb.partition(2, by="id"), ONE))
    assert nb.brute_force(nb.zero_out(), by_id).loss == nb.compose(nb.zero_out(), by_id).loss == ONE


def test_a_part_that_a_cut_does_not_have_cannot_be_made() -> None:
    cut = nb.partition(2)
    for wrong in (2, -1, 99, True, "0"):
        with pytest.raises(ParameterError, match="is no part of"):
            nb.Part(cut, wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="nothing is known"):
        nb.Leaf(cut[0], ())


def test_a_personalised_bound_through_rows_is_not_called_the_least() -> None:
    predicates = nb.predicates([{"x": [0]}, {"x": [1]}, {"x": [2]}], domains={"x": [0, 1, 2]})
    leaves = [nb.leaf(part, {"a": TENTH}, granularity=nb.unbounded()) for part in predicates]
    base = nb.user(rows=3)
    direct = nb.compose(base, [leaf.for_class("a") for leaf in leaves])
    composed = nb.compose(nb.personalised(["a"], base), leaves)
    assert composed.loss == direct.loss
    assert composed.tight == direct.tight


def test_small_spaces_of_classes_of_people_are_those_of_their_base() -> None:
    assert nb.small_space(nb.personalised(["a"])).members == nb.small_space(nb.unbounded()).members
