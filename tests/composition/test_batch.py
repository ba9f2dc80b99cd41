"""Batch composition: measurements that are all fixed before the first answer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.composition.oracles import (
    BIT,
    DATA,
    LOWS,
    ROWS,
    Runs,
    Toy,
    both_views,
    echo,
    elsewhere,
    leaky_laws,
    maker,
    measurement,
    range_toy,
    response_laws,
    spawning,
    strategies,
    tenth,
)
from tests.mechanisms.oracles import Law, at_most, close, hockey_stick, loss_range, real, two_way

import viameter as vm
from viameter.composition.batch import batch_composition
from viameter.core import Queryable
from viameter.errors import (
    DomainMismatch,
    MapError,
    MeasureMismatch,
    MetricMismatch,
    NoTheorem,
    NumberError,
    ParameterError,
    PermissionGone,
    QueryableBusy,
    SealedError,
    ViameterError,
)

OTHER_DOMAIN = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())
OTHER_METRIC = vm.Space(vm.vectors(int), vm.InsertDeleteDistance())


def product(*laws: Law) -> Law:
    whole: Law = {}
    for outcomes in itertools.product(*(law.items() for law in laws)):
        chance = real(1)
        for _, p in outcomes:
            chance *= p
        whole[tuple(outcome for outcome, _ in outcomes)] = chance
    return whole


# batch-composition


def test_batch_composition_ensures_products_of_laws_are_within_its_loss() -> None:
    """All batches of up to three out of four mechanisms with leaks: their joint laws, outcome by outcome."""
    menu = [(e, d, f) for e, d in (("1/2", "1/20"), ("1", "0")) for f in (False, True)]
    tight = 0
    for size in (1, 2, 3):
        for chosen in itertools.combinations_with_replacement(menu, size):
            toys = [leaky_laws(e, d, flipped=f) for e, d, f in chosen]
            made = vm.compose(BIT, [measurement(vm.approx(e, d), space=BIT) for e, d, _ in chosen])
            loss: Any = made.map(1)
            left, right = product(*(toy[0] for toy in toys)), product(*(toy[1] for toy in toys))
            delta = two_way(hockey_stick, left, right, loss.epsilon)
            assert at_most(delta, loss.delta)
            tight += bool(delta > real(loss.delta) * Fraction(9, 10)) if loss.delta else 0
            assert made.map(0) == vm.approx(0, 0)
    assert tight > 10


def test_batch_composition_ensures_the_composition_of_all_losses_for_every_distance() -> None:
    maps: tuple[Callable[[Any], vm.Loss], ...] = (vm.pure, lambda d: vm.pure(d * d), lambda _: vm.pure("1/3"))
    made = vm.compose(ROWS, [measurement(privacy=privacy) for privacy in maps])
    for d_in in (0, 1, 2, 10**30):
        expected = vm.pure(d_in + d_in**2 + Fraction(1, 3))
        assert made.map(d_in) == expected
        assert batch_composition(Fraction(d_in), maps=maps, rule=vm.PureDP.rules[0], measure=vm.PureDP) == expected
    assert made.map(math.inf) == vm.pure(math.inf)
    assert vm.compose(ROWS, [tenth()] * 10).map(1) == vm.pure(1)


def test_batch_composition_ensures_of_no_measurement_it_is_zero() -> None:
    for measure in (vm.PureDP, vm.ApproxZCDP, vm.RenyiDP):
        made = vm.compose(ROWS, [], measure=measure)
        assert made.map(5) == measure.zero and made(DATA) == ()
    assert batch_composition(Fraction(1), maps=(), rule=vm.PureDP.rules[0], measure=vm.PureDP) == vm.pure(0)
    with pytest.raises(ParameterError, match="give measure="):
        vm.compose(ROWS, [])


@for_each(
    ("other", "error"),
    [
        (lambda: tenth(space=OTHER_DOMAIN), DomainMismatch),
        (lambda: tenth(space=OTHER_METRIC), MetricMismatch),
        (lambda: measurement(vm.zcdp(1)), MeasureMismatch),
        (lambda: "hello", ParameterError),
        (lambda: vm.count(ROWS), ParameterError),
    ],
)
def test_batch_composition_requires_the_same_domain_metric_and_measure(
    other: Callable[[], Any], error: type[ViameterError]
) -> None:
    with pytest.raises(error) as caught:
        vm.compose(ROWS, [tenth(), other()])
    assert type(caught.value) is error
    with pytest.raises(error):
        vm.compose(ROWS, [tenth(), tenth(), other(), tenth()])


@for_each("metric", [vm.SymmetricIdDistance, vm.ChangeOneIdDistance])
def test_batch_composition_requires_that_users_are_named_in_the_same_column(metric: Any) -> None:
    """What one person changes says nothing of what a household changes, though both metrics are of one kind."""
    table = vm.tables({"person": str, "household": str})
    person, household = (vm.Space(table, metric(column)) for column in ("person", "household"))
    assert vm.compose(person, [tenth(space=person), tenth(space=person)]).map(1) == vm.pure("1/5")
    for members in ([tenth(space=household)], [tenth(space=person), tenth(space=household)]):
        with pytest.raises(MetricMismatch, match="household"):
            vm.compose(person, members)


def test_batch_composition_requires_a_measure_that_composes_without_more_than_losses() -> None:
    for measure, rule in ((vm.ApproxDP, "optimal"), (vm.Profile, None)):
        with pytest.raises(NoTheorem, match="an Accountant does it"):
            vm.compose(ROWS, [measurement(measure.zero)], rule=rule)
    alone = vm.measure("Alone", trust="an order only")
    with pytest.raises(NoTheorem, match="no rule is declared"):
        vm.compose(ROWS, [measurement(alone(1))])
    adaptive_only = vm.measure("Odd", adds=True, trust="it adds", composes={vm.ADAPTIVE: vm.CONCURRENT})
    with pytest.raises(NoTheorem, match="has no non-adaptive composition"):
        vm.compose(ROWS, [measurement(adaptive_only(1))])
    with pytest.raises(ParameterError, match="composes by"):
        vm.compose(ROWS, [tenth()], rule="optimal")


def test_batch_composition_requires_that_interactive_ones_of_a_sequential_measure_answer_in_their_order() -> None:
    first, number, second, third = vm.compose(
        ROWS, [spawning(echo), spawning(lambda: 7), spawning(maker), spawning(echo)]
    )(DATA)
    assert number == 7 and first("hello") == "hello"
    grandchild = second(echo)
    with pytest.raises(PermissionGone):
        first("hello")
    assert grandchild("hello") == "hello"
    assert third("hello") == "hello"
    for gone in (second, grandchild):
        with pytest.raises(PermissionGone):
            gone("hello")


def test_batch_composition_requires_that_what_has_spoken_beside_others_answers_no_more() -> None:
    """A number and a queryable of one mechanism: queries come after the numbers of the others, so it is interleaved."""
    (one, first), (other, second), third = vm.compose(
        ROWS, [spawning(lambda: (1, echo())), spawning(lambda: [2, echo()]), spawning(echo)]
    )(DATA)
    assert (one, other) == (1, 2)
    for closed in (first, second):
        with pytest.raises(PermissionGone, match="ask for it alone"):
            closed("hello")
    assert third("hello") == "hello"
    number, alone = vm.compose(ROWS, [spawning(lambda: (1, echo()))])(DATA)[0]
    assert number == 1 and alone("hello") == "hello", "alone, it is interleaved with nothing"


def test_batch_composition_requires_one_shot_mechanisms_where_queries_would_be_chosen_by_answers() -> None:
    """Bounded ranges do not add if the query to one is chosen by the answer of another: see bounded-range-composition.

    An interactive mechanism that is told which of two mechanisms of range 1 to run has a range of 1 whatever is asked.
    Two of them, fixed in advance and queried one after the other, are adaptive composition.
    """
    menu = [Toy(range_toy(1, low), vm.bounded_range(1)) for low in (LOWS[0], LOWS[-1])]
    ranges = [loss_range(*both_views(strategy)) for strategy in strategies(menu, fixed=True)]
    asking = measurement(vm.bounded_range(1), function=lambda _: echo())
    made = vm.compose(ROWS, [asking, asking])
    loss: Any = made.map(1)
    assert loss == vm.bounded_range(2) and max(ranges) > real(loss.eta)
    for child in made(DATA):
        with pytest.raises(PermissionGone):
            child("hello")
    (child,) = vm.compose(ROWS, [asking])(DATA)
    assert child("hello") == "hello"


@pytest.mark.parametrize("how", [vm.SEQUENTIAL, vm.CONCURRENT])
def test_a_users_measure_is_held_to_its_own_table(how: vm.Composability) -> None:
    composes = {vm.NON_ADAPTIVE: how, vm.ADAPTIVE: how}
    measure = vm.measure("Distance", adds=True, trust="distances add", composes=composes)
    made = vm.compose(ROWS, [measurement(measure(1), function=lambda _: echo())] * 2)
    assert made.map(1) == measure(2)
    first, second = made(DATA)
    assert first("a") == "a" and second("b") == "b"
    if how is vm.CONCURRENT:
        assert first("c") == "c"
        return
    with pytest.raises(PermissionGone):
        first("c")


def test_interactive_ones_of_a_concurrent_measure_are_interleaved() -> None:
    first, second = vm.compose(ROWS, [vm.sparse_vector(threshold=500, scale=8), tenth(function=lambda _: echo())])(DATA)
    count = ROWS >> vm.count()
    assert first(count) is False and second("hello") == "hello" and first(count) is False


@pytest.mark.parametrize("how", [lambda make: make(), elsewhere], ids=["here", "in another thread"])
def test_children_made_in_other_threads_are_in_turn_as_well(how: Callable[[Any], Any]) -> None:
    first, second = vm.compose(ROWS, [spawning(lambda: how(maker)), spawning(lambda: how(echo))])(DATA)
    grandchild = first(lambda: how(echo))
    assert grandchild("hello") == "hello"
    second("hello")
    with pytest.raises(PermissionGone):
        grandchild("hello")


def test_one_child_cannot_use_a_later_one_in_the_middle_of_its_answer() -> None:
    first, second = vm.compose(ROWS, [spawning(maker), spawning(echo)])(DATA)

    def use_second() -> Any:
        return second("begun before the first has ended")

    with pytest.raises(QueryableBusy):
        first(use_second)
    assert first(echo)("hello") == "hello"


def test_every_release_of_a_batch_has_turns_of_its_own() -> None:
    made = vm.compose(ROWS, [spawning(echo), spawning(echo)])
    (a, b), (c, _) = made(DATA), made(DATA)
    b("hello")
    with pytest.raises(PermissionGone):
        a("hello")
    assert c("hello") == "hello"


def test_a_batch_inside_of_a_sequential_odometer_is_under_both_kinds_of_turns() -> None:
    meter = vm.Odometer(ROWS, vm.ApproxZCDP)(DATA)
    first, second = meter(vm.compose(ROWS, [spawning(echo), spawning(echo)]))
    assert meter.loss(1) == vm.approx_zcdp("1/5", "1/500")
    assert first("a") == "a" and second("b") == "b"
    with pytest.raises(PermissionGone):
        first("c")
    meter(measurement(vm.approx_zcdp(0, 0)))
    with pytest.raises(PermissionGone):
        second("d")


# How it runs


def test_all_are_run_once_in_order_and_their_releases_are_a_tuple() -> None:
    log: list[int] = []

    def logging(number: int) -> vm.Measurement:
        def function(_: Any) -> int:
            log.append(number)
            return number

        return tenth(function=function)

    made = vm.compose(ROWS, [logging(number) for number in range(4)])
    assert made(DATA) == (0, 1, 2, 3) and log == [0, 1, 2, 3]


def test_recipes_are_completed_on_the_space() -> None:
    made = vm.compose(ROWS, [vm.count() >> vm.laplace(scale=10), tenth()])
    assert made.map(1) == vm.pure("1/5")
    assert (ROWS >> vm.compose([vm.count() >> vm.laplace(scale=10)])).map(2) == vm.pure("1/5")


def test_one_that_fails_fails_all() -> None:
    with pytest.raises(SealedError):
        vm.compose(ROWS, [tenth(), tenth(function=lambda rows: rows[99])])(DATA)


def test_a_map_that_gives_no_loss_is_an_error_of_the_whole() -> None:
    for broken in (lambda _: None, lambda _: vm.zcdp(1), lambda _: 0.5):
        with pytest.raises(MapError):
            vm.compose(ROWS, [tenth(), measurement(privacy=broken)]).map(1)
    with pytest.raises(NumberError):
        vm.compose(ROWS, [tenth(), measurement(privacy=lambda _: vm.pure(-1))]).map(1)


def test_batches_of_different_measurements_are_different() -> None:
    """An explanation lists equal ones once: two that cost differently must not be taken for each other."""
    same = tenth()
    assert vm.compose(ROWS, [same, same]) == vm.compose(ROWS, [same, same])
    assert vm.compose(ROWS, [same]) != vm.compose(ROWS, [measurement(vm.pure(5))])
    assert vm.compose(ROWS, [same]) != vm.compose(ROWS, [same, same])


def test_batches_nest_and_chain() -> None:
    inner = vm.compose(ROWS, [tenth(), tenth()])
    assert vm.compose(ROWS, [inner, tenth()]).map(2) == vm.pure("3/5")
    space = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())
    kept = space >> vm.filter(vm.between(1, 3))
    made = kept >> vm.compose(kept.output_space, [tenth(space=kept.output_space, function=len)] * 2)
    assert made.map(3) == vm.pure("3/5") and made(DATA) == (3, 3)


def test_measurements_of_other_measures_are_converted_where_one_is_named() -> None:
    made = vm.compose(ROWS, [measurement(vm.pure(1)), measurement(vm.approx(1, "1e-6"))], measure=vm.ApproxDP)
    assert made.map(1) == vm.approx(2, "1e-6")
    leaking = vm.compose(ROWS, [measurement(vm.approx(1, "1e-6"))], measure=vm.PureDP)
    with pytest.raises(NoTheorem, match="delta > 0"):
        leaking.map(1)


def test_a_batch_is_converted_as_a_whole() -> None:
    made = vm.compose(ROWS, [tenth(), tenth()]).to(vm.ApproxDP)
    assert made.map(1) == vm.approx("1/5", 0) and made(DATA) == ("answer", "answer")
    assert vm.compose(ROWS, [], measure=vm.PureDP).to(vm.ApproxDP).map(1) == vm.approx(0, 0)


def test_an_explanation_has_every_member_below_the_rule() -> None:
    derivation = vm.compose(ROWS, [tenth(), measurement(vm.pure(1))]).explain(2).derivation
    assert [node.theorem.slug for node in derivation.nodes()] == [
        "batch-composition",
        "pure-composition",
        "trusted-map",
        "trusted-map",
    ]
    assert derivation.bound_value == vm.pure("6/5")


def test_a_caller_who_changes_their_list_changes_nothing() -> None:
    members = [tenth()]
    made = vm.compose(ROWS, members)
    members.append(measurement(vm.pure(100)))
    assert made.map(1) == vm.pure("1/10") and len(made(DATA)) == 1


def test_mechanisms_do_not_see_what_others_did() -> None:
    runs = Runs()
    first, _ = vm.compose(ROWS, [tenth(function=lambda rows: rows.tolist()), tenth(function=runs)])(DATA)
    assert first == DATA and runs.count == 1


def test_randomized_response_twice_is_exactly_twice() -> None:
    left, right = (product(law, law) for law in response_laws(1))
    worst = max(abs(gmpy2.log(left[view] / right[view])) for view in left)
    loss: Any = vm.compose(BIT, [measurement(vm.pure(1), space=BIT)] * 2).map(1)
    assert close(worst, loss.epsilon)


def test_a_queryable_released_by_all_is_itself() -> None:
    made = vm.compose(ROWS, [tenth(function=lambda _: echo())])
    assert isinstance(made(DATA)[0], Queryable)
