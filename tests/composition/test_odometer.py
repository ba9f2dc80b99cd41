"""The odometer: what it counts against enumerated views, and what it refuses."""

from __future__ import annotations

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
    OTHER_METRIC,
    PURE,
    ROWS,
    SEQUENTIAL,
    Answers,
    Runs,
    Strategy,
    Toy,
    answering,
    assert_gone,
    both_views,
    echo,
    leaky_laws,
    measurement,
    response_laws,
    spawning,
    strategies,
    tenth,
)
from tests.mechanisms.oracles import at_most, close

import viameter as vm
from viameter.composition.odometer import fully_adaptive_odometer
from viameter.composition.queries import (
    SAME,
    AskPermission,
    BudgetQuery,
    DerivationQuery,
    HistoryQuery,
    LossQuery,
    NewLoss,
    PendingQuery,
    StateQuery,
)
from viameter.composition.tally import TRACKED
from viameter.errors import (
    DomainMismatch,
    MapError,
    MeasureMismatch,
    MetricMismatch,
    NotExact,
    NoTheorem,
    NumberError,
    ParameterError,
    SealedError,
    UnknownQuery,
    ViameterError,
)

# fully-adaptive-odometer


def run(strategy: Strategy, view: Answers, meter: Any) -> None:
    """Ask a meter for what the strategy says, with mechanisms that give the answers of this view."""
    for step, answer in enumerate(view):
        toy = strategy(view[:step])
        assert toy is not None
        assert meter(answering(toy, answer)) == answer


def test_fully_adaptive_odometer_ensures_the_view_so_far_is_within_the_loss_that_it_says() -> None:
    """Every strategy of two steps over randomized response, every view, at every moment, for both data."""
    menu = [Toy(response_laws(e, flipped=f), vm.pure(e)) for e in ("1/2", 1) for f in (False, True)]
    odometer, reached = vm.Odometer(BIT, vm.PureDP), 0
    for strategy in strategies(menu):
        left, right = both_views(strategy)
        for view in left:
            meters = [odometer(bit) for bit in (0, 1)]
            for meter in meters:
                run(strategy, view, meter)
            said: Any = meters[0].loss(1)
            assert said == meters[1].loss(1) and meters[0].loss(0) == vm.pure(0)
            ratio = abs(gmpy2.log(left[view] / right[view]))
            assert at_most(ratio, said.epsilon)
            reached += close(ratio, said.epsilon)
    assert reached > 100, "and it is not more than need be"


def test_fully_adaptive_odometer_ensures_the_total_of_all_maps_for_any_distance() -> None:
    maps: tuple[Callable[[Any], vm.Loss], ...] = (vm.pure, lambda d: vm.pure(d * d), lambda _: vm.pure("1/3"))
    for d_in in (Fraction(0), Fraction(1), Fraction(7, 2), Fraction(10**30)):
        expected = vm.pure(d_in + d_in * d_in + Fraction(1, 3))
        assert fully_adaptive_odometer(d_in, maps=maps, measure=vm.PureDP) == expected
    assert fully_adaptive_odometer(Fraction(3), maps=(), measure=vm.PureDP) == vm.pure(0)
    meter = PURE(DATA)
    for privacy in maps:
        meter(measurement(privacy=privacy))
    for number in (0, 1, 2, 10**30):
        assert meter.loss(number) == fully_adaptive_odometer(Fraction(number), maps=maps, measure=vm.PureDP)
    assert meter.loss(math.inf) == vm.pure(math.inf)


def test_fully_adaptive_odometer_ensures_sums_of_approximate_zcdp() -> None:
    meter = SEQUENTIAL(DATA)
    for n in range(1, 6):
        meter(measurement(vm.approx_zcdp(Fraction(1, n), Fraction(1, 100 * n))))
    harmonic = sum((Fraction(1, n) for n in range(1, 6)), Fraction(0))
    assert meter.loss(1) == vm.approx_zcdp(harmonic, harmonic / 100)


OTHER_DOMAIN = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())


@for_each(
    ("asked", "error"),
    [
        (lambda runs: measurement(space=OTHER_DOMAIN, function=runs), DomainMismatch),
        (lambda runs: measurement(space=OTHER_METRIC, function=runs), MetricMismatch),
        (lambda runs: measurement(vm.zcdp(1), function=runs), MeasureMismatch),
        (lambda runs: measurement(vm.approx(0, 0), function=runs), MeasureMismatch),
    ],
)
@for_each("capped", [False, True])
def test_fully_adaptive_odometer_requires_the_same_domain_metric_and_measure(
    asked: Callable[[Any], vm.Measurement], error: type[ViameterError], capped: bool
) -> None:
    """Three distinct errors, and neither is a kind of another; nothing is run and nothing is counted."""
    runs = Runs()
    meter: Any = PURE.filter(d_in=1, budget=vm.pure(1))(DATA) if capped else PURE(DATA)
    for _ in range(2):
        with pytest.raises(error) as caught:
            meter(asked(runs))
        assert type(caught.value) is error
        with pytest.raises(error):
            meter.preview(asked(runs), 1)
    assert runs.count == 0 and meter.loss(1) == vm.pure(0) and meter.history == ()
    assert meter(tenth()) == "answer" and meter.loss(1) == vm.pure("1/10")


def test_domains_are_compared_before_metrics_and_those_before_measures() -> None:
    """One order, so that an error is the same whatever else is wrong."""
    both = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.InsertDeleteDistance())
    with pytest.raises(DomainMismatch):
        PURE(DATA)(measurement(vm.zcdp(1), space=both))
    with pytest.raises(MetricMismatch):
        PURE(DATA)(measurement(vm.zcdp(1), space=OTHER_METRIC))


@for_each(
    ("measure", "helps"),
    [
        (vm.BoundedRange, r"\.to\(ZCDP\) or \.to\(PureDP\)"),
        (vm.Profile, "ZCDP, RenyiDP or ApproxDP"),
        (vm.measure("Distance", adds=True, trust="distances add"), "composes="),
        (vm.measure("Alone", trust="an order only"), "no rule is declared"),
    ],
)
def test_fully_adaptive_odometer_requires_a_measure_that_composes_fully_adaptively(
    measure: vm.Measure, helps: str
) -> None:
    with pytest.raises(NoTheorem, match=helps):
        vm.Odometer(ROWS, measure)


def test_fully_adaptive_odometer_requires_that_a_sequential_measure_lets_only_the_newest_child_answer() -> None:
    meter = SEQUENTIAL(DATA)
    first = meter(spawning(echo))
    assert first("hello") == "hello" and first.ask("hello") == "hello"
    second = meter(spawning(echo))
    assert_gone(first)
    assert second("hello") == "hello"
    meter(measurement(vm.approx_zcdp(0, 0)))
    assert_gone(second)


def test_parameters_that_are_no_space_or_measure_are_refused() -> None:
    with pytest.raises(ParameterError, match="is not a Space"):
        vm.Odometer(ROWS.domain, vm.PureDP)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="is not a Measure"):
        vm.Odometer(ROWS, vm.pure(1))  # type: ignore[arg-type]


# Check, charge, run


def test_a_mechanism_that_fails_has_been_charged_and_the_meter_stays_usable() -> None:
    meter = PURE(DATA)
    with pytest.raises(SealedError):
        meter(tenth(function=lambda rows: rows[99]))
    assert meter.loss(1) == vm.pure("1/10") and len(meter.history) == 1
    assert meter(tenth()) == "answer" and meter.loss(1) == vm.pure("1/5")


@for_each("problem", [KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit])
def test_an_interrupt_in_a_mechanism_is_charged(problem: type[BaseException]) -> None:
    def interrupted(_: Any) -> Any:
        raise problem

    meter = PURE(DATA)
    with pytest.raises(KeyboardInterrupt if problem is KeyboardInterrupt else SealedError):
        meter(tenth(function=interrupted))
    assert meter.loss(1) == vm.pure("1/10")
    assert meter(tenth()) == "answer"


def test_the_charge_is_there_while_the_mechanism_runs() -> None:
    """Counted before it runs, not after: a mechanism that sees the count sees itself in it."""
    meter = PURE(DATA)
    seen: list[Any] = []
    meter(tenth(function=lambda _: seen.append(meter.preview(tenth(), 1))))
    assert seen == [NewLoss(vm.pure("1/5"))]


def broken_map(_: Any) -> Any:
    raise ZeroDivisionError


BROKEN_MAPS: list[tuple[Callable[[Any], Any], type[ViameterError]]] = [
    (lambda _: vm.pure(-1), NumberError),
    (lambda _: vm.pure(math.nan), NumberError),
    (lambda _: vm.pure(0.5), NotExact),
    (lambda _: -1, MapError),
    (lambda _: math.nan, MapError),
    (lambda _: 0.1, MapError),
    (lambda _: None, MapError),
    (lambda _: vm.zcdp(0), MapError),
    (lambda _: vm.approx(0, 0), MapError),
    (lambda _: "pure(0)", MapError),
    (broken_map, MapError),
]


@for_each(("privacy", "error"), BROKEN_MAPS)
@for_each("capped", [False, True])
def test_a_map_that_gives_no_loss_is_refused_before_the_mechanism_runs(
    privacy: Callable[[Any], Any], error: type[ViameterError], capped: bool
) -> None:
    runs = Runs()
    meter: Any = PURE.filter(d_in=1, budget=vm.pure(1))(DATA) if capped else PURE(DATA)
    meter(tenth())
    for _ in range(2):
        with pytest.raises(error):
            meter(measurement(privacy=privacy, function=runs))
        with pytest.raises(error):
            meter.preview(measurement(privacy=privacy, function=runs), 1)
    assert runs.count == 0 and meter.loss(1) == vm.pure("1/10") and len(meter.history) == 1
    assert meter(tenth()) == "answer" and meter.loss(1) == vm.pure("1/5")


def test_a_map_that_fails_for_one_of_the_distances_that_are_kept_changes_none_of_the_sums() -> None:
    """All sums or none: half a charge would be read as less spent at the other distances."""
    runs, meter = Runs(), PURE(DATA)
    meter(tenth())
    assert meter.loss(3) == vm.pure("3/10") and meter.loss(2) == vm.pure("1/5")

    def privacy(d_in: Any) -> Any:
        return None if d_in == 3 else vm.pure(d_in)

    with pytest.raises(MapError):
        meter(measurement(privacy=privacy, function=runs))
    assert runs.count == 0 and len(meter.history) == 1
    assert [meter.loss(d) for d in (1, 2, 3)] == [vm.pure("1/10"), vm.pure("1/5"), vm.pure("3/10")]


def test_a_map_that_fails_for_a_distance_that_was_not_asked_about_leaves_no_loss_there() -> None:
    meter = PURE(DATA)
    meter(measurement(privacy=lambda d_in: vm.pure(d_in) if d_in < 5 else None))
    assert meter.loss(4) == vm.pure(4)
    for _ in range(2):
        with pytest.raises(MapError):
            meter.loss(5)
    assert meter.loss(1) == vm.pure(1)


def test_an_odometer_counts_what_has_no_bound_as_no_bound() -> None:
    meter = PURE(DATA)
    meter(measurement(vm.pure(math.inf)))
    meter(tenth())
    assert meter.loss(1) == vm.pure(math.inf) and meter.loss(0) == vm.pure(0)


@for_each("query", [None, "loss", 1, len, (1, 2), vm.pure(1), ROWS, vm.count(ROWS), PURE])
def test_what_is_no_measurement_is_an_unknown_query(query: Any) -> None:
    meter = PURE(DATA)
    with pytest.raises(UnknownQuery):
        meter(query)
    assert meter.history == ()


@for_each(
    "query",
    [AskPermission(1), PendingQuery(tenth(), 1), HistoryQuery(), DerivationQuery(1), BudgetQuery(), StateQuery(())],
)
def test_internal_queries_are_unknown_from_outside(query: Any) -> None:
    with pytest.raises(UnknownQuery):
        PURE(DATA)(query)


def test_measurements_and_budgets_are_unknown_as_internal_queries_of_an_odometer() -> None:
    runs, meter = Runs(), PURE(DATA)
    for query in (tenth(function=runs), BudgetQuery(), LossQuery(1), "hello"):
        with pytest.raises(UnknownQuery):
            meter.ask(query)
    assert runs.count == 0


def test_recipes_are_completed_on_the_space_of_the_odometer() -> None:
    meter = PURE(DATA)
    assert isinstance(meter(vm.count() >> vm.laplace(scale=10)), int)
    assert meter.preview(vm.count() >> vm.laplace(scale=10), 1) == NewLoss(vm.pure("1/5"))
    assert meter.loss(1) == vm.pure("1/10")


# Distances


def test_losses_are_answered_for_any_distance_chosen_afterwards() -> None:
    meter = PURE(DATA)
    for _ in range(3):
        meter(tenth())
    assert meter.loss(0) == vm.pure(0) and meter.loss("7") == vm.pure("21/10")
    assert meter.loss(10**40) == vm.pure(Fraction(3 * 10**40, 10)) and meter.loss(math.inf) == vm.pure(math.inf)


@for_each("d_in", [0.5, 1.0, -1, "1/2", math.nan, True, None, "one", [1]])
def test_what_is_no_distance_is_an_error_and_changes_nothing(d_in: Any) -> None:
    meter = PURE(DATA)
    meter(tenth())
    for ask in (meter.loss, lambda d: meter.preview(tenth(), d), meter.explain, lambda d: meter.state(d_in=[d])):
        with pytest.raises(ParameterError if d_in is None else NumberError):
            ask(d_in)
    assert meter.loss(1) == vm.pure("1/10")


def test_sums_stay_right_when_more_distances_are_asked_about_than_are_kept() -> None:
    meter = PURE(DATA)
    for turn in range(1, 4):
        meter(tenth())
        for d_in in (*range(3 * TRACKED), *reversed(range(3 * TRACKED)), *range(1, 3 * TRACKED, 5)):
            assert meter.loss(d_in) == vm.pure(Fraction(turn * d_in, 10))


@for_each("tracked", [1, 2, TRACKED - 1, TRACKED, TRACKED + 1])
def test_previews_and_states_are_right_for_distances_that_were_not_asked_about_before(tracked: int) -> None:
    """Once: losses were looked up by the places that distances had before the new one took the place of another."""
    meter, same = PURE(DATA), tenth()
    meter(same)
    for d_in in range(1, tracked + 1):
        meter.loss(d_in)
    for d_in in (1000, 1001):
        assert meter.preview(same, d_in) == meter.preview(tenth(), d_in) == NewLoss(vm.pure(Fraction(2 * d_in, 10)))
    assert dict(meter.state(d_in=[2000, 2001]).entries[0].losses)[Fraction(2001)] == vm.pure(Fraction(2001, 10))
    again = vm.Odometer.resume(meter.state(d_in=[3000, 3001]), DATA)
    for d_in in (1, 3000, 3001):
        assert again.loss(d_in) == meter.loss(d_in) == vm.pure(Fraction(d_in, 10))


class WithoutHash:
    """A function for measurements that has no hash."""

    def __call__(self, _: Any) -> str:
        return "answer"

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]


def test_measurements_of_functions_without_a_hash_are_counted() -> None:
    meter = PURE(DATA)
    meter(tenth(function=WithoutHash()))
    assert meter.loss(1) == vm.pure("1/10") and meter.loss(5) == vm.pure("1/2")
    assert meter.state(d_in=7).totals[-1] == (7, vm.pure("7/10"))
    assert meter.explain(9).derivation.bound_value == vm.pure("9/10")


def test_the_loss_of_a_measurement_that_is_asked_again_is_counted_again() -> None:
    meter, same = PURE(DATA), tenth()
    for turn in range(1, 2100):  # more than are remembered
        meter(same if turn % 2 else tenth())
    assert meter.loss(1) == vm.pure(Fraction(2099, 10)) and meter.loss(2) == vm.pure(Fraction(2099, 5))
    assert len(meter.history) == 2099


def test_measurements_that_were_thrown_away_do_not_lend_their_losses_to_new_ones() -> None:
    """Losses are remembered by identity, and identities are given away again once an object is gone."""
    meter, expected = PURE(DATA), Fraction(0)
    for turn in range(1, 300):
        meter(measurement(vm.pure(Fraction(1, turn))))
        expected += Fraction(1, turn)
        loss: Any = meter.loss(1)
        assert loss.epsilon >= expected
    assert loss.epsilon < expected * (1 + Fraction(1, 2**200))


def test_measurements_that_were_only_previewed_do_not_lend_their_losses_to_new_ones() -> None:
    """The same where nothing but what is remembered keeps them, and that is forgotten at different times."""
    meter = PURE(DATA)
    for turn in range(1024):
        if turn == 512:
            meter.loss(77)
        assert meter.preview(measurement(vm.pure(0)), 1) == NewLoss(vm.pure(0))
    for _ in range(600):
        assert meter.preview(measurement(vm.pure(1)), 1) == NewLoss(vm.pure(1))


# Previews


def test_a_preview_is_the_loss_after_the_query_and_runs_nothing() -> None:
    runs, meter = Runs(), PURE(DATA)
    for turn in range(1, 4):
        for d_in in (0, 1, 2, 50):
            assert meter.preview(tenth(function=runs), d_in) == NewLoss(vm.pure(Fraction(turn * d_in, 10)))
        assert runs.count == turn - 1
        meter(tenth(function=runs))
        assert meter.loss(50) == vm.pure(5 * turn)


def test_a_preview_of_a_query_of_the_loss_is_the_same() -> None:
    meter = PURE(DATA)
    meter(tenth())
    assert meter.preview(LossQuery(1), 1) is SAME and meter.preview(LossQuery(7), 2) == SAME
    assert repr(SAME) == "SAME" and repr(meter.preview(tenth(), 1)) == "NEW(pure(1/5))"
    assert meter.loss(1) == vm.pure("1/10")


def test_a_preview_of_what_is_no_query_is_an_error() -> None:
    with pytest.raises(UnknownQuery):
        PURE(DATA).preview("hello", 1)


# Explanations


def test_an_explanation_lists_every_mechanism_and_adds_up() -> None:
    meter, same = PURE(DATA), vm.count(ROWS) >> vm.laplace(scale=10)
    for asked in (same, same, tenth(), same):
        meter(asked)
    explained = meter.explain(2).derivation
    assert [node.theorem.slug for node in explained.nodes()][:2] == ["fully-adaptive-odometer", "pure-composition"]
    assert explained.bound_value == meter.loss(2) == vm.pure("4/5")
    premises = explained.premises[0].premises
    assert sorted(node.times for node in premises) == [1, 3]
    assert sum((node.times * node.bound_value.epsilon for node in premises), Fraction(0)) == Fraction(4, 5)
    assert "a test (measurement" in " ".join(meter.explain(1).assumptions)


def test_measurements_that_look_alike_are_not_merged_in_an_explanation() -> None:
    meter = PURE(DATA)
    meter(measurement(vm.pure(1)))
    meter(measurement(vm.pure(2)))
    premises = meter.explain(1).derivation.premises[0].premises
    assert [node.bound_value for node in premises] == [vm.pure(1), vm.pure(2)]


def test_history_tells_what_was_asked_in_order_and_what_each_cost() -> None:
    meter: Any = PURE(DATA)
    assert meter.history == ()
    meter(vm.count(ROWS) >> vm.laplace(scale=10))
    meter(measurement(vm.pure(2)))
    assert [entry.loss(3) for entry in meter.history] == [vm.pure("3/10"), vm.pure(2)]
    assert [entry.query.split("(")[0] for entry in meter.history] == ["count", "measurement"]


# Conversions


def test_an_odometer_that_converts_counts_the_converted_loss() -> None:
    meter = vm.Odometer(ROWS, vm.ZCDP, convert=True)(DATA)
    meter(measurement(vm.pure(1)))
    loss: Any = meter.loss(1)
    # Randomized response of pure(1) has this rho; nothing that is pure(1) has more.
    assert Fraction("0.4621") < loss.rho < Fraction("0.4622")
    meter(measurement(vm.zcdp(1)))
    assert meter.loss(1) == vm.zcdp(loss.rho + 1)


def test_measurements_that_were_converted_and_thrown_away_are_not_run_again_for_new_ones() -> None:
    """What was converted is remembered by the identity of what was asked, which is kept for that reason."""
    meter = vm.Odometer(ROWS, vm.ApproxDP, convert=True)(DATA)
    for start in range(0, 300, 5):
        numbers = range(start, start + 5)
        for number, asked in [(n, measurement(vm.pure(n), function=Runs(n))) for n in numbers]:
            assert meter(asked) == number
        del asked
    assert meter.loss(1) == vm.approx(sum(range(300)), 0)


def test_a_leak_is_not_converted_away() -> None:
    """No theorem takes a delta away: it is refused, and nothing is run."""
    runs = Runs()
    meter = vm.Odometer(ROWS, vm.PureDP, convert=True)(DATA)
    with pytest.raises(NoTheorem):
        meter(measurement(vm.approx(1, "1/100"), function=runs))
    assert runs.count == 0 and meter.loss(1) == vm.pure(0)
    assert leaky_laws(1, "1/100")[0]["it is 0"] > 0


def test_a_mismatch_of_measures_names_a_conversion_that_there_is() -> None:
    gaussian, laplace = vm.count(ROWS) >> vm.gaussian(scale=10), vm.count(ROWS) >> vm.laplace(scale=10)
    with pytest.raises(
        MeasureMismatch, match=r"convert it, measurement.to\(ZCDP\), or make the odometer with convert=True"
    ):
        vm.Odometer(ROWS, vm.ZCDP)(DATA)(laplace)
    with pytest.raises(MeasureMismatch, match=r"convert it, measurement.to\(ApproxDP, delta=...\)$"):
        vm.Odometer(ROWS, vm.ApproxDP)(DATA)(gaussian)
    # Nothing leads from zCDP to pure privacy, and nothing says so.
    with pytest.raises(MeasureMismatch, match="no theorem converts it; make the odometer in ZCDP"):
        vm.Odometer(ROWS, vm.PureDP)(DATA)(gaussian)
    with pytest.raises(MeasureMismatch) as refused:
        vm.compose(ROWS, [laplace, gaussian])
    assert "to(PureDP)" not in str(refused.value) and "give compose a measure=..." in str(refused.value)
    with pytest.raises(MeasureMismatch, match=r"convert it, measurements\[1\].to\(ZCDP\), or give compose"):
        vm.compose(ROWS, [gaussian, laplace])
