"""Filters in approximate privacy: their caps against formulas at high precision, and against the best adversary."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import for_each

import viameter as vm
from viameter.composition.approximate import advanced_filter, concentrated_filter, greatest_square
from viameter.errors import NoTheorem, OverBudget, ParameterError, PermissionGone
from viameter.measures.conversions.concentrated import greatest_rho

SPACE = vm.Space(vm.vectors(int), vm.SymmetricDistance())
EPSILONS = st.fractions(min_value=Fraction(1, 1000), max_value=50, max_denominator=1000)
DELTAS = st.sampled_from(
    [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**12), Fraction(1, 10**40)]
)


def answer(epsilon: Fraction, delta: Fraction = Fraction(0)) -> vm.Measurement:
    """A measurement that claims a loss in ApproxDP, and answers nothing."""
    return vm.measurement(
        SPACE, function=lambda _: None, measure=vm.ApproxDP, privacy=lambda _: vm.approx(epsilon, delta), trust="a test"
    )


def cks(rho: mpmath.mpf, delta: mpmath.mpf) -> mpmath.mpf:
    """The least epsilon of rho-zCDP at delta: the minimum over orders, found where the derivative is 0."""

    def at(order: mpmath.mpf) -> mpmath.mpf:
        return rho * order + mpmath.log(1 / (order * delta)) / (order - 1) + mpmath.log1p(-1 / order)

    low, high = mpmath.mpf(0), mpmath.mpf(300)  # of ln(order - 1), shifted by -150
    for _ in range(150):  # to 10^-24, and so the minimum to 10^-48
        third = (high - low) / 3
        if at(1 + mpmath.exp(low + third - 150)) < at(1 + mpmath.exp(high - third - 150)):
            high -= third
        else:
            low += third
    return max(at(1 + mpmath.exp(low - 150)), mpmath.mpf(0))


@settings(max_examples=25, deadline=None)
@given(epsilon=EPSILONS, delta=DELTAS)
def test_concentrated_filter_ensures_a_cap_within_the_budget_and_close_to_it(
    epsilon: Fraction, delta: Fraction
) -> None:
    with mpmath.workdps(50):
        rho = greatest_rho(epsilon, delta)
        target, chance = mpmath.mpf(epsilon.numerator) / epsilon.denominator, mpmath.mpf(1) / delta.denominator
        number = mpmath.mpf(rho.numerator) / rho.denominator
        assert cks(number, chance) <= target * (1 + mpmath.mpf(10) ** -30)
        assert cks(number * (1 + mpmath.mpf(10) ** -9), chance) > target


@settings(max_examples=50, deadline=None)
@given(epsilon=EPSILONS, delta=DELTAS)
def test_advanced_filter_ensures_a_cap_within_the_budget_and_close_to_it(epsilon: Fraction, delta: Fraction) -> None:
    with mpmath.workdps(60):
        square = greatest_square(epsilon, delta)

        def loss(v: mpmath.mpf) -> mpmath.mpf:
            return mpmath.sqrt(2 * mpmath.log(mpmath.mpf(delta.denominator)) * v) + v / 2

        number = mpmath.mpf(square.numerator) / square.denominator
        target = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        assert loss(number) <= target < loss(number * (1 + mpmath.mpf(10) ** -12))


def worst_delta(epsilon: float, cost: Callable[[Fraction], Fraction], cap: Fraction, menu: list[Fraction]) -> float:
    """The delta at epsilon that the best adversary gets from randomized response under a cap on the sum of costs.

    It chooses each epsilon, and when to stop, by all answers so far; the recursion is over what is left and over the
    likelihood ratio so far, in whole units of both.
    """
    costs = [cost(e) for e in menu]
    whole = math.lcm(*(one.denominator for one in costs))
    unit = Fraction(1, math.lcm(*(e.denominator for e in menu)))
    offers = [
        (int(one * whole), int(e / unit), 1 / (1 + math.exp(-float(e)))) for one, e in zip(costs, menu, strict=True)
    ]

    @cache
    def value(left: int, loss: int) -> float:
        best = max(0.0, 1 - math.exp(epsilon - loss * float(unit)))
        for price, step, chance in offers:
            if price <= left:
                rest = left - price
                best = max(best, chance * value(rest, loss + step) + (1 - chance) * value(rest, loss - step))
        return best

    return value(math.floor(cap * whole), 0)


def squared(e: Fraction) -> Fraction:
    return e * e / 2


def concentrated(e: Fraction) -> Fraction:
    return vm.approx(e, 0).to(vm.ApproxZCDP).rho  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(Fraction(1), Fraction(1, 10)), (Fraction(1, 2), Fraction(1, 50)), (Fraction(2), Fraction(1, 4))],
)
@pytest.mark.parametrize("rule", ["concentrated", "advanced"])
def test_concentrated_filter_ensures_that_the_best_adversary_stays_within_delta(
    rule: str, epsilon: Fraction, delta: Fraction
) -> None:
    cap = greatest_rho(epsilon, delta) if rule == "concentrated" else greatest_square(epsilon, delta) / 2
    cost = concentrated if rule == "concentrated" else squared
    menu = [epsilon / 10, epsilon / 5]
    assert 0 < worst_delta(float(epsilon), cost, cap, menu) <= delta
    # It has teeth: with ten times the cap, the adversary goes beyond.
    assert worst_delta(float(epsilon), cost, 10 * cap, [epsilon / 2, epsilon]) > delta


@pytest.mark.parametrize(("rule", "theorem"), [("concentrated", concentrated_filter), ("advanced", advanced_filter)])
def test_the_loss_of_such_a_filter_is_its_budget(rule: str, theorem: Callable[..., vm.Loss]) -> None:
    budget = vm.approx(1, "1e-6")
    made = vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=2, budget=budget, rule=rule)
    assert made.map(2) == made.map(1) == made.map(0) == budget
    assert made.map(3) == vm.ApproxDP.infinite
    assert theorem(3, at=2, budget=budget, slack=Fraction(1)) == vm.ApproxDP.infinite
    assert made.bound.theorem.slug == f"{rule}-filter"


@pytest.mark.parametrize("rule", ["concentrated", "advanced"])
def test_deltas_of_mechanisms_and_the_slack_make_up_the_budget(rule: str) -> None:
    budget, slack = vm.approx(1, "1e-3"), Fraction(1, 4000)
    made = vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=budget, rule=rule, slack=slack)
    left = made([]).left.delta
    whole = left + (1 - left) * slack if rule == "concentrated" else left + slack
    assert whole == budget.delta
    meter = made([])
    meter(answer(Fraction(1, 100), left))
    with pytest.raises(OverBudget):
        meter(answer(Fraction(1, 100), Fraction(1, 10**9)))
    meter(answer(Fraction(1, 100)))


@pytest.mark.parametrize(("rule", "cost"), [("concentrated", concentrated), ("advanced", squared)])
def test_what_is_counted_is_the_rule_s_cost(rule: str, cost: Callable[[Fraction], Fraction]) -> None:
    meter = vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=vm.approx(1, "1e-6"), rule=rule)([])
    meter(answer(Fraction(1, 10), Fraction(1, 10**9)))
    meter(answer(Fraction(1, 20)))
    assert meter.spent == vm.approx_zcdp(cost(Fraction(1, 10)) + cost(Fraction(1, 20)), Fraction(1, 10**9))
    before = meter.spent
    with pytest.raises(OverBudget):
        meter(answer(Fraction(5)))
    assert meter.spent == before and len(meter.history) == 2


@for_each("rule", ["concentrated", "advanced"])
@for_each("slack", [0, "2e-6", 1, "-1e-9"])
def test_concentrated_filter_requires_a_slack_within_the_budget_s_delta(rule: str, slack: object) -> None:
    with pytest.raises((ParameterError, vm.errors.NumberError)):
        vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=vm.approx(1, "1e-6"), rule=rule, slack=slack)  # type: ignore[arg-type]


def test_advanced_filter_requires_a_delta_and_a_budget_in_approximate_privacy() -> None:
    for rule in ("advanced", "concentrated"):
        with pytest.raises(ParameterError, match="needs a part of the budget's delta"):
            vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=vm.approx(1, 0), rule=rule)
        with pytest.raises(NoTheorem, match="for budgets in ApproxDP"):
            vm.Odometer(SPACE, vm.PureDP).filter(d_in=1, budget=vm.pure(1), rule=rule)


@pytest.mark.parametrize("rule", ["concentrated", "advanced"])
def test_advanced_filter_requires_one_interactive_measurement_after_the_other(rule: str) -> None:
    from viameter.core import Queryable

    def spawn(_: object) -> Queryable:
        return Queryable(lambda _self, _query: "here")

    child = vm.measurement(
        SPACE, function=spawn, measure=vm.ApproxDP, privacy=lambda _: vm.approx("1/100", 0), trust="a test"
    )
    meter = vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=vm.approx(1, "1e-6"), rule=rule)([])
    first = meter(child)
    assert first("?") == "here"
    second = meter(child)
    with pytest.raises(PermissionGone):
        first("?")
    assert second("?") == "here"
    # By sums, approximate privacy composes concurrently, and both answer.
    plain = vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=vm.approx(1, "1e-6"))([])
    one, other = plain(child), plain(child)
    assert one("?") == other("?") == "here"


def test_more_fits_in_than_by_sums() -> None:
    fits = {}
    for rule in ("sum", "advanced", "concentrated"):
        meter = vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=vm.approx(1, "1e-6"), rule=rule)([])
        query, count = answer(Fraction(1, 100)), 0
        while True:
            try:
                meter(query)
            except OverBudget:
                break
            count += 1
        fits[rule] = count
    assert fits == {"sum": 100, "advanced": 333, "concentrated": 458}


@pytest.mark.parametrize("rule", ["concentrated", "advanced"])
def test_what_is_counted_in_zcdp_is_taken_as_it_is(rule: str) -> None:
    odometer = vm.Odometer(SPACE, vm.ApproxDP, convert=True)
    meter = odometer.filter(d_in=1, budget=vm.approx(1, "1e-6"), rule=rule)([])
    meter(vm.count(SPACE) >> vm.gaussian(scale=50))
    assert meter.spent == vm.approx_zcdp("1/5000", 0)
    meter(vm.count(SPACE) >> vm.laplace(scale=50))
    cost = concentrated(Fraction(1, 50)) if rule == "concentrated" else squared(Fraction(1, 50))
    assert meter.spent == vm.approx_zcdp(Fraction(1, 5000) + cost, 0)
    with pytest.raises(vm.errors.MeasureMismatch, match="convert=True"):
        vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=vm.approx(1, "1e-6"), rule=rule)([])(
            vm.count(SPACE) >> vm.gaussian(scale=50)
        )
