"""Counterexamples: instances on which a bound is easily too small, or called the least, each as it should be."""

from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import DomainMismatch, MetricMismatch, NoTheorem, OverBudget

ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())
COUNT = vm.count() >> vm.laplace(scale=10)
TENTH = vm.pure("1/10")


def test_a_mechanism_for_other_data_does_not_run_on_all_data() -> None:
    small = vm.Space(vm.vectors(int, bounds=(0, 1)), vm.SymmetricDistance())
    meter = nb.odometer(ROWS, vm.PureDP, budget=vm.pure(1))([10**6])
    with pytest.raises(DomainMismatch):
        meter(nb.whole(), small >> vm.sum() >> vm.laplace(scale=1))
    table = vm.tables({"patient": str, "doctor": str})
    people, doctors = (vm.Space(table, vm.SymmetricIdDistance(name)) for name in ("patient", "doctor"))
    meter = nb.odometer(people, vm.PureDP, budget=vm.pure(1))({"patient": ["a"], "doctor": ["b"]})
    with pytest.raises(MetricMismatch):
        meter(nb.whole(), doctors >> vm.limit_rows(per_id=1) >> vm.count() >> vm.laplace(scale=1))
    assert meter.spent == vm.pure(0)


def test_what_is_declared_for_one_step_counts_for_each_of_several() -> None:
    part = nb.opaque(stability=1).through(ROWS >> vm.clamp(bounds=(0, 9)), trust="rows one by one")
    meter = nb.odometer(ROWS, vm.PureDP, d_in=3, budget=vm.pure("1/5"))([1, 2, 3])
    with pytest.raises(OverBudget):
        meter(part, COUNT)
    assert nb.odometer(ROWS, vm.PureDP, d_in=3)([1, 2, 3]).preview(part, COUNT) == vm.pure("3/10")


def test_steps_of_a_map_are_steps_of_the_composition_that_it_leads_to() -> None:
    inner = nb.compose(nb.user(rows=5), [nb.leaf(nb.whole(), TENTH, granularity=nb.unbounded())])
    for part in (nb.opaque(stability=1), nb.patterns([(1,)])[0]):
        assert nb.compose(nb.user(rows=5), [nb.leaf(part, inner)]).loss == vm.pure("1/2")


def test_steps_are_kept_when_a_composition_is_converted() -> None:
    composed = nb.compose(nb.unbounded(), [nb.leaf(nb.opaque(stability=1), TENTH)])
    first = composed.to_measure(vm.ZCDP).at_steps(3).loss
    assert composed.at_steps(3).to_measure(vm.ZCDP).loss == first


@pytest.mark.parametrize("law", [TENTH, {1: TENTH, 2: TENTH, 5: TENTH}])
def test_several_steps_may_be_of_people_of_different_classes(law: Any) -> None:
    part = nb.opaque(stability=1) if isinstance(law, vm.Loss) else nb.whole()
    composed = nb.compose(nb.personalised(["a", "b"]), [nb.leaf(part, {"a": law, "b": law})])
    assert composed.at_steps(5).loss == vm.pure("1/2")


def test_steps_between_images_are_no_steps_between_data_that_have_them() -> None:
    leaf = nb.leaf(nb.opaque(stability=2), TENTH, granularity=nb.unbounded(), mode="common")
    assert nb.compose(nb.user(rows=5), [leaf]).loss == vm.pure("1/2")


def test_groups_of_places_are_no_units_of_their_metric() -> None:
    leaf = nb.leaf(nb.whole(), vm.pure(1))
    assert nb.compose(nb.group(nb.geo(10), 2), [leaf]).loss == vm.pure(20)
    assert nb.compose(nb.geo(10), [leaf]).at_steps(2).loss == vm.pure(20)
    assert not nb.translate(TENTH, frm=nb.group(nb.geo("1/2"), 1), to=nb.geo(5)).is_finite


def test_edges_without_direction_are_not_counted_as_links() -> None:
    assert nb.stability(nb.out_link(), nb.node_rewire(nodes=3)) == float("inf")


def test_tables_of_other_columns_are_other_tables() -> None:
    for to in (nb.bounded_ordered(columns=5), nb.attribute(columns=5)):
        assert nb.stability(nb.attribute(columns=2), to) == float("inf")
    cut = nb.projections([["a", "b", "c"]])
    leaf = nb.leaf(cut[0], vm.pure(1), granularity=nb.attribute(columns=2))
    assert vm.pure(3) <= nb.compose(nb.bounded_ordered(), [leaf]).loss


@pytest.mark.parametrize(
    "part",
    [
        nb.bins(vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance()), [0, 10])[0],
        nb.windows(length=5, horizon=5)[0],
        nb.foreign_keys({"patient": {}, "visit": {"patient": 5}})[1],
    ],
    ids=repr,
)
def test_where_nothing_need_be_outside_nothing_is_built_on_it(part: nb.Part) -> None:
    target = nb.entity("patient") if "table" in repr(part) else nb.unbounded()
    leaf = nb.leaf(part, TENTH, granularity=nb.bounded(), mode="common")
    assert not nb.compose(target, [leaf]).loss.is_finite


@pytest.mark.parametrize("own", [nb.bounded_ordered(), nb.zero_out()])
def test_rows_do_not_come_into_a_part_by_id(own: Any) -> None:
    leaves = nb.leaves(nb.partition(2, by="id"), vm.pure(1), granularity=own, mode="common")
    assert not nb.compose(nb.insert_delete(), leaves).loss.is_finite


def test_somebody_may_be_in_a_region_and_in_none_that_is_listed_within_it() -> None:
    regions = nb.tree({"all": None, "adults": "all"})
    composed = nb.compose(nb.bounded(), nb.leaves(regions, vm.pure(1)))
    assert not composed.loss.is_finite
    assert nb.brute_force(nb.bounded(), list(nb.leaves(regions, vm.pure(1)))).loss == composed.loss


LEAST = [
    (nb.group(nb.attribute(), 2), nb.partition(2, by="id"), nb.attribute(), "separate"),
    (
        nb.bounded_ordered(),
        nb.memberships({(0, 0): [0], (0, 1): [1], (1, 0): [0], (1, 1): [1]}),
        nb.attribute(columns=2),
        "common",
    ),
    (nb.bounded(), nb.memberships({(0, 0): [0], (0, 1): [0]}), nb.attribute(columns=2), "separate"),
    (nb.policy([((0, 0), (0, 1))]), nb.projections([["x"], ["y"]]), nb.unbounded(), "separate"),
]


@for_each(("target", "cut", "own", "mode"), LEAST)
def test_what_may_be_less_is_not_called_the_least(target: Any, cut: nb.Cut, own: Any, mode: Any) -> None:
    assert not nb.compose(target, nb.leaves(cut, vm.pure(1), granularity=own, mode=mode)).tight


def test_events_and_persons_cost_what_they_can_touch() -> None:
    by_value = nb.partition(2)
    leaves = nb.leaves(by_value, vm.pure(1), granularity=nb.unbounded())
    assert nb.compose(nb.event(), leaves).loss == vm.pure(2)
    leaves = nb.leaves(by_value, vm.pure(1), granularity=nb.event())
    assert nb.compose(nb.user(rows=5, times=2), leaves).loss == vm.pure(2)


def test_the_only_part_by_time_holds_the_record_and_its_replacement() -> None:
    composed = nb.compose(nb.bounded(), nb.leaves(nb.partition(1, by="time"), vm.pure(1)))
    assert composed.loss == vm.pure(1) and composed.check_c2().holds


def test_parts_of_two_cuts_need_not_be_touched_by_the_same_neighbors() -> None:
    parts = [nb.intervals([(0, 0)])[0], nb.intervals([(5, 5)])[0]]
    assert nb.compose(nb.event(), [nb.leaf(part, vm.pure(1)) for part in parts]).check_c1().holds is None
    mixed = [nb.leaf(nb.whole(), vm.pure(1), granularity=nb.unbounded())]
    mixed.append(nb.leaf(nb.memberships({"a": [0]})[0], vm.pure(1), granularity=nb.unbounded()))
    assert not nb.compose(nb.add_remove_or_replace(), mixed).tight


def test_brute_force_proves_nothing_of_guarantees_for_other_data() -> None:
    cut = nb.partition(2)
    found = nb.brute_force(nb.unbounded(), [nb.leaf(cut[0], vm.pure(1), granularity=nb.insert_delete())])
    assert not found.is_proof
    for own in (nb.event(), nb.edge(), nb.out_link()):
        with pytest.raises(NoTheorem, match="small databases"):
            nb.brute_force(nb.unbounded(), [nb.leaf(cut[0], vm.pure(1), granularity=own)])


def test_a_budget_is_not_changed_from_outside() -> None:
    meter: Any = nb.odometer(ROWS, vm.PureDP, budget=TENTH)([1, 2, 3])
    with pytest.raises(AttributeError):
        meter.tally.budget = vm.pure(100)


def test_a_composition_within_is_explained_by_what_it_costs_there() -> None:
    inner = nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), TENTH)])
    composed = nb.compose(nb.bounded(), [nb.leaf(nb.whole(), inner)])
    assert composed.loss == vm.pure("1/5")
    assert [premise.bound_value for premise in composed.explain().derivation.premises] == [vm.pure("1/5")]


def test_bins_of_one_value_ask_for_no_law_at_two_steps() -> None:
    bins = nb.partition(3, values=1)
    loss = vm.approx_zcdp("0.1", "1e-9")
    leaves = [nb.leaf(part, loss, granularity=nb.unbounded()) for part in bins]
    assert nb.compose(nb.bounded(), leaves).loss == loss + loss


def test_a_tally_counts_places_per_unit() -> None:
    tally = nb.PatternTally(nb.geo("1/2"), vm.PureDP, budget=vm.pure(1))
    leaf = nb.leaf(nb.whole(), vm.pure(1))
    tally.charge(leaf)
    assert tally.spent == nb.compose(nb.geo("1/2"), [leaf]).loss == vm.pure("1/2")


def test_one_event_at_a_time_is_one_record_at_a_time() -> None:
    days = nb.partition(10, by="time")
    rows = nb.leaves(days, vm.zcdp("1/100"), granularity=nb.unbounded())
    assert nb.compose(nb.user(times=10), rows).loss == vm.zcdp("1/10")
    assert nb.compose(nb.user(rows=4, times=10), rows).loss == vm.zcdp("4/100")
    assert nb.compose(nb.user(rows=4), rows).loss == vm.zcdp("16/100")
    assert nb.stability(nb.unbounded(), nb.user(times=10)) == 10


def test_a_person_at_fewer_times_than_there_are_is_in_as_many_parts() -> None:
    leaves = nb.leaves(nb.partition(10, by="time"), TENTH, granularity=nb.event())
    assert nb.compose(nb.user(times=5), leaves).loss == vm.pure("1/2")


def test_persons_and_their_rows_are_what_enumeration_finds() -> None:
    cut = nb.partition(2)
    leaves = [nb.leaf(part, vm.zcdp(rho), granularity=nb.unbounded()) for part, rho in zip(cut, (1, 2), strict=True)]
    for rows in (1, 2, 3):
        assert nb.brute_force(nb.user(rows=rows), leaves, size=3).loss == nb.compose(nb.user(rows=rows), leaves).loss


def test_a_recipe_on_all_data_is_completed_there() -> None:
    meter = nb.odometer(ROWS, vm.PureDP, budget=TENTH)([1, 2, 3])
    assert isinstance(meter(nb.whole(), COUNT), int)
    with pytest.raises(OverBudget, match="costliest touch pattern") as refusal:
        meter(nb.whole(), COUNT)
    assert (refusal.value.asked, refusal.value.after) == (TENTH, vm.pure("1/5"))
