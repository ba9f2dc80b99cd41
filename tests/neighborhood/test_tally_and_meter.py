"""The tally counts what composition says, query by query; the meter refuses, charges and guards as odometers do."""

import copy
import itertools
import os
import pickle
import sys
import threading
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tests.cases import for_each
from tests.neighborhood.families import (
    OF_RECORDS,
    Family,
    by_column,
    by_id,
    contributions,
    incident,
    induced,
    spans,
)
from tests.processes import alone
from tests.threads import PATIENCE, in_threads

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import (
    MeasureMismatch,
    NoTheorem,
    NotInDomain,
    OverBudget,
    ParameterError,
    QueryableError,
    SealedError,
    UnknownQuery,
    ViameterError,
)

ROOM: Any = nb
"""The room, of which a checker of types asks nothing."""
VISITS = vm.Space(vm.tables({"ward": str, "wait": int}), vm.SymmetricDistance())
DATA = {"ward": ["A", "B", "B", "C"], "wait": [10, 20, 30, 40]}


def noisy_count(scale: int = 10) -> Any:
    """A count with noise; it costs one over the scale."""
    return vm.count() >> vm.laplace(scale=scale)


def wards() -> Any:
    """A part for each of three wards."""
    return nb.split(VISITS, [["A"], ["B"], ["C"]], column="ward")


@for_each(
    "family",
    [*OF_RECORDS, by_column, by_id, contributions, incident, induced, spans],
)
def test_a_tally_has_spent_what_all_that_was_charged_costs_together(family: Family) -> None:
    random = Random(77)
    for _ in range(6):
        instance = family(random)
        measure = instance.leaves[0].claims[0].law.measure
        tally = nb.PatternTally(instance.target, measure)
        for count in range(1, len(instance.leaves) + 1):
            leaf = instance.leaves[count - 1]
            foreseen = tally.preview(leaf)
            tally.charge(leaf)
            wanted = nb.compose(instance.target, instance.leaves[:count]).loss
            assert tally.spent == foreseen == wanted == tally.composed().loss
        assert tally.history == tuple(instance.leaves)


def test_a_tally_counts_leaves_of_several_cuts_laws_claims_and_compositions() -> None:
    random = Random(3)
    inner = nb.compose(nb.unbounded(), nb.leaves(nb.partition(2), vm.zcdp("0.1")))
    cuts = [nb.partition(3), nb.subsets(3, at_most=2), nb.tree({0: None, 1: 0, 2: 0})]
    for target in (nb.unbounded(), nb.bounded(), nb.add_remove_or_replace(), nb.group(nb.unbounded(), 2)):
        tally = nb.PatternTally(target, vm.ZCDP)
        for _ in range(8):
            part = random.choice(random.choice(cuts))
            if random.random() < 0.2:
                leaf = nb.leaf(part, inner)
            else:
                leaf = nb.leaf(part, vm.zcdp(f"{random.randint(1, 9)}/10"), granularity=nb.unbounded())
                if random.random() < 0.3:
                    leaf = leaf.also(vm.zcdp("1/2"), granularity=nb.add_remove_or_replace(), mode="common")
            tally.charge(leaf)
            assert tally.spent == nb.compose(target, tally.history).loss


def test_a_tally_of_several_steps_where_no_pattern_is_known_goes_step_by_step() -> None:
    target = nb.group(nb.event(), 3)
    tally = nb.PatternTally(target, vm.PureDP)
    for part in nb.partition(4, by="time"):
        tally.charge(nb.leaf(part, vm.pure(f"{part.place + 1}/10"), granularity=nb.event()))
        assert tally.spent == nb.compose(target, tally.history).loss
    assert tally.spent == vm.pure("12/10")


def test_what_costs_less_so_far_may_cost_more_later() -> None:
    parts = nb.partition(2, values=1)
    tally = nb.PatternTally(nb.unbounded(), vm.PureDP, budget=vm.pure("0.6"))
    for part, amount, spent in ((0, "0.2", "0.2"), (1, "0.1", "0.2"), (1, "0.5", "0.6"), (0, "0.4", "0.6")):
        tally.charge(nb.leaf(parts[part], vm.pure(amount)))
        assert tally.spent == vm.pure(spent)
    assert tally.left == vm.pure(0)
    assert tally.guarantee.granularity == nb.unbounded()


def test_a_tally_refuses_what_is_over_its_budget_and_counts_nothing() -> None:
    parts = nb.partition(2)
    tally = nb.PatternTally(nb.unbounded(), vm.PureDP, budget=vm.pure(1))
    tally.charge(nb.leaf(parts[0], vm.pure("0.7")))
    for refused in (
        nb.leaf(parts[0], vm.pure("0.30001")),
        nb.leaf(nb.whole(), vm.pure("0.4")),
        nb.leaf(parts[0], vm.PureDP.infinite),
        nb.leaf(parts[0], vm.pure("0.1"), granularity=nb.bounded()),
    ):
        with pytest.raises(OverBudget) as caught:
            tally.charge(refused)
        assert (caught.value.spent, caught.value.budget) == (vm.pure("0.7"), vm.pure(1))
        assert tally.spent == vm.pure("0.7")
        assert len(tally.history) == 1
    tally.charge(nb.leaf(parts[0], vm.pure("0.3")))
    tally.charge(nb.leaf(parts[1], vm.pure(1)))
    assert tally.spent == vm.pure(1)


def test_a_tally_without_a_budget_counts_what_has_no_bound() -> None:
    tally = nb.PatternTally(nb.bounded(), vm.PureDP)
    tally.charge(nb.leaf(nb.partition(2)[0], vm.pure(1)))
    assert not tally.spent.is_finite
    with pytest.raises(ParameterError, match="no budget"):
        _ = tally.left


def test_a_tally_with_two_numbers_is_held_to_both() -> None:
    parts = nb.partition(2)
    tally = nb.PatternTally(nb.unbounded(), vm.ApproxDP, budget=vm.approx(1, "1e-6"))
    for over_in_one in (vm.approx("1.1", 0), vm.approx(0, "2e-6")):
        with pytest.raises(OverBudget):
            tally.charge(nb.leaf(parts[0], over_in_one))
    tally.charge(nb.leaf(parts[0], vm.approx(1, 0)))
    tally.charge(nb.leaf(parts[1], vm.approx(0, "1e-6")))
    assert tally.spent == vm.approx(1, "1e-6")
    for refused in (vm.approx("0.1", 0), vm.approx(0, "2e-6")):
        with pytest.raises(OverBudget):
            tally.charge(nb.leaf(parts[0], refused))


@for_each(
    ("make", "problem"),
    [
        (lambda: ROOM.PatternTally(1, vm.PureDP), ParameterError),
        (lambda: ROOM.PatternTally(nb.unbounded(), "PureDP"), ParameterError),
        (lambda: ROOM.PatternTally(nb.unbounded(), vm.PureDP, budget=1), ParameterError),
        (lambda: nb.PatternTally(nb.unbounded(), vm.PureDP, budget=vm.zcdp(1)), MeasureMismatch),
        (lambda: nb.PatternTally(nb.unbounded(), vm.PureDP, budget=vm.PureDP.infinite), ParameterError),
        (lambda: nb.PatternTally(nb.unbounded(), vm.RenyiDP), ParameterError),
        (lambda: ROOM.PatternTally(nb.unbounded(), vm.PureDP).charge(vm.pure(1)), ParameterError),
        (lambda: nb.PatternTally(nb.unbounded(), vm.PureDP).charge(nb.leaf(nb.whole(), vm.zcdp(1))), MeasureMismatch),
        (
            lambda: nb.PatternTally(nb.personalised(["a"]), vm.PureDP).charge(nb.leaf(nb.whole(), {"a": vm.pure(1)})),
            ParameterError,
        ),
        (lambda: ROOM.odometer(1, vm.PureDP), ParameterError),
        (lambda: nb.odometer(vm.Space(vm.scalars(int), vm.AbsoluteDistance()), vm.PureDP), NoTheorem),
        (lambda: nb.odometer(VISITS, vm.PureDP, budget=vm.zcdp(1)), MeasureMismatch),
    ],
)
def test_what_cannot_be_counted_is_refused(make: Callable[[], Any], problem: type[Exception]) -> None:
    with pytest.raises(problem):
        make()


def test_a_meter_counts_by_touch_pattern_and_refuses_over_its_budget() -> None:
    a, b, c = wards()
    meter = nb.odometer(VISITS, vm.PureDP, budget=vm.pure("1/5"))(DATA)
    for part in (a, b, c, a, b):
        meter(part, noisy_count())
    assert meter.spent == vm.pure("1/5")
    assert meter.left == vm.pure(0)
    assert meter.preview(c, noisy_count()) == vm.pure("1/5")
    with pytest.raises(OverBudget):
        meter(a, noisy_count())
    meter(c, noisy_count())
    with pytest.raises(OverBudget):
        meter(nb.whole(), VISITS >> noisy_count(100000))
    assert len(meter.tally.history) == 6
    assert meter.tally.composed().loss == meter.spent


def test_queries_are_chosen_by_earlier_answers() -> None:
    a, b, _ = wards()
    meter = nb.odometer(VISITS, vm.PureDP, budget=vm.pure(3))(DATA)
    for _ in range(6):
        low = meter(a, noisy_count(4)) < 3
        meter(a if low else b, noisy_count(4))
    assert meter.spent == nb.compose(nb.unbounded(), meter.tally.history).loss


def test_a_preview_runs_and_spends_nothing() -> None:
    a, _, _ = wards()
    runs: list[int] = []
    spy = vm.measurement(
        a.transformation.output_space,
        function=lambda _: runs.append(1),
        measure=vm.PureDP,
        privacy=vm.pure,
        trust="test",
    )
    meter = nb.odometer(VISITS, vm.PureDP)(DATA)
    assert meter.preview(a, spy) == vm.pure(1)
    assert (runs, meter.spent) == ([], vm.pure(0))
    meter(a, spy)
    assert (runs, meter.spent) == ([1], vm.pure(1))


@pytest.mark.parametrize("problem", [ZeroDivisionError, KeyboardInterrupt])
def test_a_mechanism_that_fails_has_been_charged(problem: type[BaseException]) -> None:
    a, b, _ = wards()

    def fail(_: Any) -> int:
        raise problem("rows")

    broken = vm.measurement(
        a.transformation.output_space, function=fail, measure=vm.PureDP, privacy=vm.pure, trust="test"
    )
    meter = nb.odometer(VISITS, vm.PureDP)(DATA)
    with pytest.raises(SealedError if issubclass(problem, Exception) else problem):
        meter(a, broken)
    assert meter.spent == vm.pure(1)
    meter(b, noisy_count())
    assert meter.spent == vm.pure(1)


def test_mechanisms_of_other_spaces_and_what_is_no_query_are_refused_and_cost_nothing() -> None:
    a, _, _ = wards()
    others = vm.Space(vm.tables({"ward": str, "wait": int}), vm.ChangeOneDistance())
    elsewhere = nb.split(others, [["A"]], column="ward")[0]
    vector = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    meter = nb.odometer(VISITS, vm.PureDP)(DATA)
    for part, mechanism in (
        (elsewhere, noisy_count()),
        (a, vector >> noisy_count()),
        (a, vm.pure(1)),
        (a, {1: vm.pure(1)}),
        (a, None),
        (a, "count"),
        (nb.partition(3)[0], VISITS >> noisy_count()),
        (a.then(stability=2), noisy_count()),
        (1, noisy_count()),
        (None, None),
        (a, vm.count()),
    ):
        with pytest.raises(ViameterError):
            meter(part, mechanism)
    with pytest.raises(MeasureMismatch):
        meter(a, vm.count() >> vm.gaussian(scale=10))
    assert meter.spent == vm.pure(0)
    with pytest.raises(ViameterError):
        meter(noisy_count())
    with pytest.raises((UnknownQuery, ViameterError)):
        meter.ask("spent")


def test_data_outside_of_the_domain_are_refused_and_data_are_copied() -> None:
    make = nb.odometer(VISITS, vm.PureDP)
    for wrong in ({"ward": ["A"]}, {"ward": [1], "wait": [1]}, None, [1, 2]):
        with pytest.raises(NotInDomain):
            make(wrong)
    data: dict[str, list[Any]] = {"ward": ["A"], "wait": [1]}
    a, _, _ = wards()
    seen: list[int] = []
    spy = vm.measurement(
        a.transformation.output_space,
        function=lambda rows: seen.append(len(rows["ward"])),
        measure=vm.PureDP,
        privacy=vm.pure,
        trust="test",
    )
    meter = make(data)
    data["ward"].append("A")
    data["wait"].append(2)
    meter(a, spy)
    assert seen == [1]


def test_threads_share_one_meter_and_none_goes_over() -> None:
    a, b, _ = wards()
    meter = nb.odometer(VISITS, vm.PureDP, budget=vm.pure(1))(DATA)
    answered: list[int] = []

    def ask(part: Any) -> Callable[[], None]:
        def run() -> None:
            for _ in range(8):
                try:
                    meter(part, noisy_count())
                except OverBudget:
                    continue
                answered.append(part.place)

        return run

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        in_threads(*(ask(part) for part in (a, b, a, b)))
    finally:
        sys.setswitchinterval(before)
    assert meter.spent == vm.pure(1)
    assert sorted(answered) == [0] * 10 + [1] * 10
    assert len(meter.tally.history) == 20


def test_a_charge_is_looked_at_and_counted_in_one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two that fit the budget each, and not together, one is refused, wherever the other is just then."""
    part = nb.partition(2)[0]
    tally = nb.PatternTally(nb.unbounded(), vm.PureDP, budget=vm.pure(1))
    refused: list[OverBudget] = []

    def charge() -> None:
        try:
            tally.charge(nb.leaf(part, vm.pure("3/5")))
        except OverBudget as error:
            refused.append(error)

    other, look, looks = threading.Thread(target=charge), tally._worst, itertools.count()

    def meanwhile(*given: Any) -> vm.Loss:
        found = look(*given)
        if next(looks) == 0:  # it was found to fit, and is not counted yet
            other.start()
            other.join(0.2)
        return found

    monkeypatch.setattr(tally, "_worst", meanwhile)
    charge()
    other.join(PATIENCE)
    assert (len(refused), len(tally.history), tally.spent) == (1, 1, vm.pure("3/5"))


def test_threads_share_one_tally() -> None:
    parts = nb.partition(2)
    tally = nb.PatternTally(nb.unbounded(), vm.PureDP)

    def charge() -> None:
        for _ in range(25):
            tally.charge(nb.leaf(parts[0], vm.pure("1/100")))

    in_threads(*[charge] * 4)
    assert tally.spent == vm.pure(1)
    assert len(tally.history) == 100


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@alone
def test_a_meter_does_not_survive_a_fork() -> None:
    a, _, _ = wards()
    meter = nb.odometer(VISITS, vm.PureDP)(DATA)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:  # pragma: no cover
        try:
            meter(a, noisy_count())
        except QueryableError:
            os._exit(7)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
    assert meter.spent == vm.pure(0)


def test_meters_are_not_copied_or_pickled() -> None:
    meter = nb.odometer(VISITS, vm.PureDP)(DATA)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps, lambda m: copy.deepcopy([m])):
        with pytest.raises(QueryableError, match="cannot be copied or pickled"):
            attempt(meter)
    assert "10" not in repr(meter) and "A" not in repr(meter).replace("PureDP", "")


def test_an_explanation_of_a_meter_names_the_leaves_that_cost_most() -> None:
    a, b, _ = wards()
    meter = nb.odometer(VISITS, vm.PureDP)(DATA)
    meter(a, noisy_count(10))
    meter(b, noisy_count(5))
    text = str(meter.tally.explain())
    assert "pure(1/5)" in text
    assert "is_in(['B'])" in text
    assert "is_in(['A'])" not in text


def test_losses_at_a_distance_are_those_of_so_many_steps() -> None:
    a, b, _ = wards()
    for distance in (1, 2, 5):
        meter = nb.odometer(VISITS, vm.PureDP, d_in=distance)(DATA)
        meter(a, noisy_count(10))
        meter(b, noisy_count(5))
        release = nb.measurement(nb.compose(nb.unbounded(), meter.tally.history))
        assert meter.spent == release.map(distance) == vm.pure(f"{distance}/5")
    for wrong in (0, -1, "1/2", 0.5, None, float("inf")):
        with pytest.raises(ViameterError):
            ROOM.odometer(VISITS, vm.PureDP, d_in=wrong)


def test_people_go_through_a_transformation_that_keeps_few_rows_of_each() -> None:
    people = vm.Space(vm.tables({"patient": str, "ward": str}), vm.SymmetricIdDistance("patient"))
    few: Any = people >> vm.limit_rows(per_id=2)
    parts: Any = nb.split(few.output_space, [["A"], ["B"]], column="ward")
    meter = nb.odometer(few, vm.PureDP, budget=vm.pure("1/2"))({"patient": ["x", "x", "y"], "ward": ["A", "B", "B"]})
    for part in parts:
        meter(part, noisy_count(10))
    # One patient's two rows, in whichever wards; never more than all chains one after the other.
    assert meter.spent == vm.pure("1/5")
    chains = [few >> part.transformation >> noisy_count(10) for part in parts]
    assert meter.spent <= vm.compose(people, chains).map(1)
    assert nb.odometer(few, vm.PureDP, d_in=3)({"patient": [], "ward": []}).preview(parts[0], noisy_count()) == vm.pure(
        "3/5"
    )
    with pytest.raises(ViameterError):
        nb.odometer(few, vm.PureDP)({"ward": ["A"]})
