"""The filter: budgets that cannot be overspent, whatever is asked, by whom, and in which order."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.cases import for_each
from tests.composition.oracles import (
    BIT,
    DATA,
    PURE,
    ROWS,
    SEQUENTIAL,
    Answers,
    Runs,
    Strategy,
    Toy,
    above,
    answering,
    both_views,
    capped,
    echo,
    measurement,
    response_laws,
    response_rho,
    strategies,
    tenth,
)
from tests.mechanisms.oracles import ORDERS, Law, at_most, close, real, renyi, two_way

import viameter as vm
from viameter.composition.filters import privacy_filter
from viameter.composition.queries import NewLoss
from viameter.core import Queryable
from viameter.errors import (
    MeasureMismatch,
    NoTheorem,
    NumberError,
    OverBudget,
    ParameterError,
    PermissionGone,
    SealedError,
)

# privacy-filter


def filtered_views(strategy: Strategy, bit: int, budget: vm.Loss, odometer: vm.Odometer) -> Law:
    """The law of answers and refusals of a real filter, with mechanisms that give all their answers in turn."""
    law: Law = {}
    made = odometer.filter(d_in=1, budget=budget)

    def follow(seen: Answers, chance: Any) -> None:
        toy = strategy(tuple(answer for answer in seen if answer != "refused"))
        if toy is None or len(seen) == 3:
            law[seen] = chance
            return
        meter = made(bit)
        for place, answer in enumerate(seen):
            before = strategy(tuple(a for a in seen[:place] if a != "refused"))
            assert before is not None
            if answer != "refused":
                meter(answering(before, answer))
        runs = Runs()
        try:
            meter(measurement(toy.loss, space=BIT, function=runs))
        except OverBudget:
            assert runs.count == 0
            law[(*seen, "refused")] = chance
            return
        for answer, p in toy.laws[bit].items():
            follow((*seen, answer), chance * p)

    follow((), real(1))
    return law


def greedy(menu: list[Toy]) -> list[Strategy]:
    """Strategies of three steps: by the last answer, one mechanism or another."""
    return [
        lambda seen, zero=zero, one=one: zero if not seen or seen[-1] == 0 else one  # type: ignore[misc]
        for zero, one in itertools.product(menu, repeat=2)
    ]


def test_privacy_filter_ensures_every_view_with_its_refusals_is_within_the_budget() -> None:
    menu = [Toy(response_laws(e, flipped=f), vm.pure(e)) for e in ("1/2", 1, "3/2") for f in (False, True)]
    odometer, budget, ratios = vm.Odometer(BIT, vm.PureDP), vm.pure(2), []
    for strategy in greedy(menu):
        left, right = (filtered_views(strategy, bit, budget, odometer) for bit in (0, 1))
        assert set(left) == set(right), "what is refused does not depend on the data"
        assert close(sum(left.values()), 1)
        ratios += [abs(gmpy2.log(left[view] / right[view])) for view in left]
    assert all(at_most(ratio, budget.epsilon) for ratio in ratios)
    assert any(close(ratio, budget.epsilon) for ratio in ratios), "and all of it can be used"


def test_privacy_filter_ensures_renyi_divergences_of_all_views_are_within_a_zcdp_budget() -> None:
    menu = [Toy(response_laws(e), vm.zcdp(response_rho(e))) for e in ("1/2", 1)]
    budget: Any = vm.zcdp(response_rho(1) + response_rho("1/2"))
    worst = real(0)
    for strategy in greedy(menu):
        laws = [filtered_views(strategy, bit, budget, vm.Odometer(BIT, vm.ZCDP)) for bit in (0, 1)]
        for order in ORDERS:
            ratio = two_way(renyi, *laws, order) / real(order)
            assert at_most(ratio, budget.rho)
            worst = max(worst, ratio)
    assert worst > real(budget.rho) * Fraction(9, 10)


def test_privacy_filter_ensures_the_budget_up_to_its_distance_and_no_guarantee_beyond() -> None:
    made = PURE.filter(d_in=3, budget=vm.pure("1/2"))
    for d_in in (0, 1, 2, 3):
        assert made.map(d_in) == privacy_filter(Fraction(d_in), at=Fraction(3), budget=vm.pure("1/2"))
        assert made.map(d_in) == vm.pure("1/2") and made.check(d_in, vm.pure("1/2"))
    for far in (4, 10**30, math.inf):
        assert made.map(far) == vm.pure(math.inf) and not made.check(far, vm.pure(10**9))
    assert made.explain(3).derivation.theorem.slug == "privacy-filter"


def test_privacy_filter_ensures_a_refusal_changes_nothing() -> None:
    runs, meter = Runs(), capped()
    meter(tenth())
    before = (meter.spent, meter.left, meter.budget, meter.history, meter.loss(1), meter.loss(7), meter.state())
    for asked in (vm.pure("91/100"), vm.pure(1), vm.pure(10**9), vm.pure(math.inf)):
        with pytest.raises(OverBudget):
            meter(measurement(asked, function=runs))
    assert runs.count == 0
    after = (meter.spent, meter.left, meter.budget, meter.history, meter.loss(1), meter.loss(7), meter.state())
    assert before == after
    meter(measurement(vm.pure("9/10"), function=runs))
    assert runs.count == 1 and meter.left == vm.pure(0)


@pytest.mark.parametrize(
    ("measure", "budget"), [(vm.BoundedRange, vm.bounded_range(1)), (vm.Profile, vm.profile({1: 0}))]
)
def test_privacy_filter_requires_a_measure_that_composes_fully_adaptively(measure: Any, budget: Any) -> None:
    with pytest.raises(NoTheorem):
        vm.Odometer(ROWS, measure).filter(d_in=1, budget=budget)


def test_privacy_filter_requires_a_rule_that_is_proved_for_mechanisms_chosen_by_answers() -> None:
    """The optimal rule fails there: (1, d) on every path, and (1, 1.269 d) in all (theory/composition.md)."""
    with pytest.raises(NoTheorem, match=r"fail when an answer chooses the next parameters.*rule='concentrated'"):
        vm.Odometer(ROWS, vm.ApproxDP).filter(d_in=1, budget=vm.approx(1, "1e-6"), rule="optimal")
    # After a + of randomized response, as much again as fits; after a -, a leak of all of delta.
    delta = real(Fraction(1, 100))
    plus = gmpy2.exp(real(1)) / (1 + gmpy2.exp(real(1)))
    more = 2 * gmpy2.atanh(delta / plus)
    up, down = response_laws(1)
    small_up, small_down = response_laws(above(more))
    left, right = (
        {**{(0, a): law[0] * p for a, p in small.items()}, (1, leak): law[1] * delta, (1, "-"): law[1] * (1 - delta)}
        for law, small, leak in ((up, small_up, "it is 0"), (down, small_down, "it is 1"))
    )
    whole = sum(max(real(0), p - gmpy2.exp(real(1)) * right.get(view, 0)) for view, p in left.items())
    assert whole > delta * Fraction(6, 5)


@for_each("budget", [vm.pure(math.inf), vm.approx(math.inf, 0), vm.approx(1, 1), vm.zcdp(math.inf)])
def test_privacy_filter_requires_a_finite_budget(budget: vm.Loss) -> None:
    with pytest.raises(ParameterError, match="is no limit"):
        vm.Odometer(ROWS, budget.measure).filter(d_in=1, budget=budget)
    with pytest.raises(ParameterError, match="is no limit"):
        vm.Odometer(ROWS, vm.RenyiDP).filter(d_in=1, budget=vm.RenyiDP.infinite)


def test_privacy_filter_requires_that_the_loss_is_looked_at_before_the_mechanism_runs() -> None:
    order: list[str] = []

    def privacy(_: Any) -> vm.Loss:
        order.append("map")
        return vm.pure("3/5")

    meter = capped()
    asked = measurement(privacy=privacy, function=lambda _: order.append("run"))
    meter(asked)
    assert order == ["map", "run"]
    with pytest.raises(OverBudget):
        meter(asked)
    assert order == ["map", "run"]


def test_privacy_filter_requires_that_a_mechanism_that_fails_was_counted() -> None:
    meter = capped()
    for _ in range(10):
        with pytest.raises(SealedError):
            meter(tenth(function=lambda rows: rows[99]))
    assert meter.spent == vm.pure(1)
    with pytest.raises(OverBudget):
        meter(tenth(function=lambda rows: rows[99]))


def test_privacy_filter_requires_a_budget_that_was_fixed_before_the_first_answer() -> None:
    """A state goes on under the filter that it came from, not under one that allows more."""
    meter = capped()
    meter(tenth())
    state = meter.state()
    for other in (
        PURE.filter(d_in=1, budget=vm.pure(2)),
        PURE.filter(d_in=0, budget=vm.pure(1)),
        vm.Odometer(vm.Space(vm.vectors(int), vm.InsertDeleteDistance()), vm.PureDP).filter(d_in=1, budget=vm.pure(1)),
        vm.Odometer(ROWS, vm.ZCDP).filter(d_in=1, budget=vm.zcdp(1)),
    ):
        with pytest.raises(ParameterError, match="of another filter"):
            other.resumed(state, DATA)
    with pytest.raises(ParameterError, match="of another filter"):
        PURE.filter(d_in=1, budget=vm.pure(1)).resumed(PURE(DATA).state(), DATA)
    assert PURE.filter(d_in=1, budget=vm.pure(1)).resumed(state, DATA).spent == vm.pure("1/10")
    for name in ("budget", "spent", "left"):
        with pytest.raises(AttributeError):
            setattr(meter, name, vm.pure(5))


# Budgets


def test_ten_tenths_fit_into_one_and_the_eleventh_does_not() -> None:
    runs, meter = Runs(), capped()
    for turn in range(10):
        assert meter.left == vm.pure(Fraction(10 - turn, 10)) and meter.spent == vm.pure(Fraction(turn, 10))
        meter(tenth(function=runs))
    with pytest.raises(OverBudget):
        meter(tenth(function=runs))
    assert runs.count == 10 and meter.spent == vm.pure(1) and meter.left == vm.pure(0)
    meter(measurement(vm.pure(0), function=runs))
    assert runs.count == 11, "what costs nothing still fits"


def test_the_error_says_what_was_spent_asked_left_and_given() -> None:
    meter = capped()
    meter(measurement(vm.pure("1/4")))
    with pytest.raises(OverBudget) as caught:
        meter(measurement(vm.pure("7/8")))
    error = caught.value
    assert (error.spent, error.asked, error.left, error.budget) == (
        vm.pure("1/4"),
        vm.pure("7/8"),
        vm.pure("3/4"),
        vm.pure(1),
    )
    assert "asks for pure(7/8), and pure(3/4) is left: pure(1/4) of pure(1) was spent" in str(error)
    assert meter.budget == vm.pure(1)


@for_each(
    ("budget", "fits", "too_much"),
    [
        (vm.approx(1, "1e-6"), vm.approx("1/2", "1e-6"), [vm.approx(2, 0), vm.approx("1/2", "1e-9"), vm.approx(0, 1)]),
        (vm.zcdp("1/2"), vm.zcdp("1/2"), [vm.zcdp("1/1000")]),
        (
            vm.approx_zcdp(1, "1e-6"),
            vm.approx_zcdp(1, "1e-7"),
            [vm.approx_zcdp("1e-9", 0), vm.approx_zcdp(0, "1e-6"), vm.approx_zcdp(0, 1)],
        ),
        (vm.gdp(5), vm.gdp(4), [vm.gdp("301/100")]),
        (
            vm.renyi({2: 1, 8: 4}),
            vm.renyi({2: "1/2", 8: 4}),
            [vm.renyi({2: "1/2", 8: "1/2"}), vm.renyi({2: "1/4"}), vm.RenyiDP.infinite],
        ),
    ],
)
def test_every_number_of_a_budget_is_kept(budget: vm.Loss, fits: vm.Loss, too_much: list[vm.Loss]) -> None:
    runs = Runs()
    meter = vm.Odometer(ROWS, budget.measure).filter(d_in=1, budget=budget)(DATA)
    meter(measurement(fits))
    for loss in too_much:
        with pytest.raises(OverBudget):
            meter(measurement(loss, function=runs))
    assert runs.count == 0 and meter.loss(1) == fits
    meter(measurement(meter.left, function=runs))
    assert runs.count == 1 and meter.spent <= budget


def test_sums_that_are_rounded_are_rounded_towards_refusal() -> None:
    """Losses whose exact sum is the budget but which cannot be added exactly are refused at the end, not before."""
    parts = [Fraction(1, prime**40) for prime in (3, 5, 7, 11, 13, 17)]
    meter = capped(sum(parts))
    for part in parts[:3]:
        meter(measurement(vm.pure(part)))
    refused = 0
    for part in parts[3:]:
        try:
            meter(measurement(vm.pure(part)))
        except OverBudget:
            refused += 1
    assert refused == 1 and meter.spent <= meter.budget


def test_a_filter_looks_at_its_own_distance() -> None:
    meter = capped("1/2", d_in=3)
    meter(tenth())
    assert meter.spent == vm.pure("3/10") and meter.loss(1) == vm.pure("1/10")
    with pytest.raises(OverBudget):
        meter(tenth())
    for d_in in range(40):
        meter.loss(d_in)  # more than are kept
    with pytest.raises(OverBudget) as caught:
        meter(tenth())
    assert caught.value.spent == vm.pure("3/10") and caught.value.asked == vm.pure("3/10")


@pytest.mark.parametrize("d_in", [0, 10**30, math.inf])
def test_distances_of_filters_may_be_none_large_or_infinite(d_in: Any) -> None:
    meter = capped(1, d_in=d_in)
    if d_in == 0:
        for _ in range(20):
            meter(tenth())
        assert meter.spent == vm.pure(0)
        return
    with pytest.raises(OverBudget):
        meter(tenth())
    meter(measurement(vm.pure(1)))
    with pytest.raises(OverBudget):
        meter(measurement(vm.pure("1e-30")))


@for_each("d_in", [0.5, 1.0, -1, "1/2", math.nan, None])
def test_what_is_no_distance_makes_no_filter(d_in: Any) -> None:
    with pytest.raises(NumberError):
        PURE.filter(d_in=d_in, budget=vm.pure(1))


def test_budgets_of_other_measures_and_other_things_are_refused() -> None:
    with pytest.raises(MeasureMismatch):
        PURE.filter(d_in=1, budget=vm.zcdp(1))
    for budget in (1, "1", None, PURE):
        with pytest.raises(ParameterError, match="is not a loss"):
            PURE.filter(d_in=1, budget=budget)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="composes by 'sum'"):
        PURE.filter(d_in=1, budget=vm.pure(1), rule="convolution")
    with pytest.raises(ParameterError, match="uses no delta"):
        PURE.filter(d_in=1, budget=vm.pure(1), slack="1e-9")


def test_a_map_that_tells_another_loss_each_time_is_charged_what_was_checked() -> None:
    told = iter([vm.pure("9/10"), vm.pure("1/1000"), vm.pure("1/1000")])
    meter = capped()
    meter(measurement(privacy=lambda _: next(told)))
    assert meter.spent == vm.pure("9/10")


def test_history_of_a_filter_lists_charges() -> None:
    meter = capped()
    meter(vm.count(ROWS) >> vm.laplace(scale=10))
    (charge,) = meter.history
    assert charge.loss == vm.pure("1/10") and charge.query.startswith("count()") and "pure(1/10)" in repr(charge)


def test_interrupts_are_charged_to_the_budget() -> None:
    def interrupted(_: Any) -> Any:
        raise KeyboardInterrupt

    meter = capped("1/5")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            meter(tenth(function=interrupted))
    with pytest.raises(OverBudget):
        meter(tenth())


def test_previews_of_a_filter_tell_the_loss_after_also_where_it_would_be_refused() -> None:
    meter = capped("1/10")
    for _ in range(2):
        assert meter.preview(tenth(), 1) == NewLoss(vm.pure("1/10"))
    meter(tenth())
    over = meter.preview(tenth(), 1)
    assert over == NewLoss(vm.pure("1/5"), fits=False) == meter.preview(tenth()) and meter.spent == vm.pure("1/10")
    assert repr(over) == "NEW(pure(1/5), over budget)"
    # Whether it fits is for the filter's distance, whatever the loss is shown for.
    assert meter.preview(measurement(vm.pure(0)), 7) == NewLoss(vm.pure("7/10"))


def test_a_filter_knows_its_distance() -> None:
    meter = capped("1/2")
    meter(tenth())
    assert meter.loss() == meter.loss(1) == meter.spent
    assert str(meter.explain()) == str(meter.explain(1))
    assert str(meter.certificate()) == str(meter.certificate(1))


def test_each_invocation_of_a_filter_is_one_of_its_budget() -> None:
    """Two releases of one filter under an odometer cost its budget twice."""
    made, meter = PURE.filter(d_in=1, budget=vm.pure("1/2")), PURE(DATA)
    first, second = meter(made), meter(made)
    assert meter.loss(1) == vm.pure(1)
    first(measurement(vm.pure("1/2")))
    assert second.left == vm.pure("1/2")


# Against a model


class FilterAgainstFractions(RuleBasedStateMachine):
    """A filter in approximate zCDP does what two sums of fractions do, whatever it is asked and in which order."""

    amounts = st.sampled_from([Fraction(n, d) for d in (1, 7, 10, 30) for n in range(4)])
    deltas = st.sampled_from([Fraction(n, 1000) for n in (0, 1, 3, 10)])

    @initialize(rho=st.sampled_from(["1", "5/2"]), delta=st.sampled_from(["0", "1/100", "1/20"]))
    def begin(self, rho: str, delta: str) -> None:
        self.rho, self.delta = Fraction(rho), Fraction(delta)
        made = SEQUENTIAL.filter(d_in=2, budget=vm.approx_zcdp(rho, delta))
        self.meter: Any = made(DATA)
        self.spent: list[tuple[Fraction, Fraction]] = []
        self.kept: list[list[list[Fraction]]] = []
        self.runs = Runs(echo)
        self.newest: Queryable | None = None
        self.older: list[Queryable] = []

    def totals(self) -> tuple[Fraction, Fraction]:
        return sum((r for r, _ in self.spent), Fraction(0)), sum((d for _, d in self.spent), Fraction(0))

    @rule(rho=amounts, delta=deltas, fails=st.booleans())
    def ask(self, rho: Fraction, delta: Fraction, fails: bool) -> None:
        runs = self.runs.count

        def function(_: Any) -> Any:
            made = self.runs(_)
            return 1 / 0 if fails else made

        asked = measurement(
            privacy=lambda d_in: vm.approx_zcdp(rho * d_in / 2, delta), measure=vm.ApproxZCDP, function=function
        )
        spent_rho, spent_delta = self.totals()
        fits = spent_rho + rho <= self.rho and spent_delta + delta <= self.delta
        child = None
        if not fits:
            with pytest.raises(OverBudget) as caught:
                self.meter(asked)
            assert caught.value.left == vm.approx_zcdp(self.rho - spent_rho, self.delta - spent_delta)
            assert self.runs.count == runs
            return
        if fails:
            with pytest.raises(SealedError):
                self.meter(asked)
        else:
            child = self.meter(asked)
        assert self.runs.count == runs + 1
        self.spent.append((rho, delta))
        self.kept.append([])
        self.older += [self.newest] if self.newest is not None else []
        self.newest = child

    @rule(d_in=st.integers(0, 40))
    def look(self, d_in: int) -> None:
        costs = [self.cost(place, Fraction(d_in)) for place in range(len(self.spent))]
        known = [cost for cost in costs if cost is not None]
        if len(known) < len(costs):
            with pytest.raises(NoTheorem):
                self.meter.loss(d_in)
            return
        assert self.meter.loss(d_in) == vm.approx_zcdp(sum(known, Fraction(0)), self.totals()[1])

    def cost(self, place: int, d_in: Fraction) -> Fraction | None:
        """What was asked at this place costs so much; after a resumption, as much as at the next distance kept."""
        for distances in reversed(self.kept[place]):
            above = [distance for distance in distances if distance >= d_in]
            if not above:
                return None
            d_in = min(above)
        return self.spent[place][0] * d_in / 2

    @rule()
    def resume(self) -> None:
        state = self.meter.state()
        distances = [Fraction(d_in) for d_in, _ in state.totals]
        text = state.to_json(key=b"a key")
        self.meter = vm.Odometer.resume(text, DATA, space=ROWS, key=b"a key")
        self.newest, self.older = None, []
        for kept in self.kept:
            kept.append(distances)

    @precondition(lambda self: self.older)
    @rule()
    def query_an_older_child(self) -> None:
        with pytest.raises(PermissionGone):
            self.older[0]("hello")

    @invariant()
    def agrees(self) -> None:
        rho, delta = self.totals()
        assert rho <= self.rho and delta <= self.delta
        assert self.meter.spent == vm.approx_zcdp(rho, delta)
        assert self.meter.left == vm.approx_zcdp(self.rho - rho, self.delta - delta)
        assert len(self.meter.history) == len(self.spent)
        if self.newest is not None:
            assert self.newest("hello") == "hello"


TestFilterAgainstFractions = FilterAgainstFractions.TestCase
TestFilterAgainstFractions.settings = settings(max_examples=50, stateful_step_count=15, deadline=None)


def test_strategies_are_what_they_are_called() -> None:
    """The enumeration is complete: 2 mechanisms of 2 answers, then one of 2 or none for each."""
    menu = [Toy(response_laws(e), vm.pure(e)) for e in ("1/2", 1)]
    made = list(strategies(menu))
    assert len(made) == 2 * 3 * 3
    assert all(close(sum(law.values()), 1) for strategy in made for law in both_views(strategy))
