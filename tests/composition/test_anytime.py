"""Bounds for all times: their formulas at high precision, and the chance that the loss ever crosses them."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import for_each

import viameter as vm
from viameter.composition.anytime import AnytimeBound, anytime_line, anytime_mixture, anytime_stitched
from viameter.core import Queryable
from viameter.errors import FormatError, NotExact, NoTheorem, ParameterError, PermissionGone

SPACE = vm.Space(vm.vectors(int), vm.SymmetricDistance())
SHAPES = {"line": anytime_line, "mixture": anytime_mixture, "stitched": anytime_stitched}
SQUARES = st.fractions(min_value=Fraction(1, 10**6), max_value=1000, max_denominator=10**6)
TUNINGS = st.fractions(min_value=Fraction(1, 1000), max_value=100, max_denominator=1000)
DELTAS = st.sampled_from([Fraction(9, 10), Fraction(1, 20), Fraction(1, 10**6), Fraction(1, 10**30)])


def real(number: Fraction) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


def formula(shape: str, squares: Fraction, delta: Fraction, tuning: Fraction) -> mpmath.mpf:
    v, t, chance = real(squares), real(tuning), real(delta)
    if shape == "line":
        return v / 2 + (v / mpmath.sqrt(t) + mpmath.sqrt(t)) * mpmath.sqrt(mpmath.log(1 / chance) / 2)
    if shape == "mixture":
        return v / 2 + mpmath.sqrt(2 * (v + t) * mpmath.log(mpmath.sqrt((v + t) / t) / chance))
    reached = max(v, t)
    inside = mpmath.log(mpmath.log(2 * reached / t)) + mpmath.mpf("0.72") * mpmath.log(mpmath.mpf("5.2") / chance)
    return v / 2 + mpmath.mpf("1.7") * mpmath.sqrt(reached * inside)


@settings(max_examples=60, deadline=None)
@given(shape=st.sampled_from(sorted(SHAPES)), squares=SQUARES, delta=DELTAS, tuning=TUNINGS)
def test_bounds_for_all_times_are_their_formulas_rounded_up(
    shape: str, squares: Fraction, delta: Fraction, tuning: Fraction
) -> None:
    with mpmath.workdps(60):
        found, truth = real(SHAPES[shape](squares, delta=delta, tuning=tuning)), formula(shape, squares, delta, tuning)
        assert truth <= found <= truth * (1 + mpmath.mpf(10) ** -30)


def crossing(steps: list[Fraction], limits: list[float]) -> float:
    """The chance that the privacy loss of randomized response is ever above a limit, under the law of the answers.

    The loss is a walk on multiples of the least step; what has crossed is taken out.
    """
    unit = Fraction(1, math.lcm(*(e.denominator for e in steps)))
    sizes = [int(e / unit) for e in steps]
    reach = sum(sizes)
    law, crossed = np.zeros(2 * reach + 1), 0.0
    law[reach] = 1.0
    losses = np.arange(-reach, reach + 1) * float(unit)
    for e, size, limit in zip(steps, sizes, limits, strict=True):
        chance = 1 / (1 + math.exp(-float(e)))
        law = chance * np.roll(law, size) + (1 - chance) * np.roll(law, -size)
        above = losses > limit + 1e-12
        crossed += float(law[above].sum())
        law[above] = 0.0
    return crossed


STEPS = [Fraction(1, 20)] * 2000
MIXED = [Fraction(1, 20), Fraction(1, 10), Fraction(3, 20)] * 200


@pytest.mark.parametrize("steps", [STEPS, MIXED], ids=["equal", "mixed"])
@pytest.mark.parametrize("tuning", [Fraction(1, 10), Fraction(2)], ids=str)
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_the_loss_crosses_a_bound_for_all_times_no_more_often_than_delta(
    shape: str, tuning: Fraction, steps: list[Fraction]
) -> None:
    delta = Fraction(1, 20)
    squares = np.cumsum([float(e) ** 2 for e in steps])
    limits = [float(SHAPES[shape](Fraction(v), delta=delta, tuning=tuning)) for v in squares]
    assert 0 < crossing(steps, limits) <= delta


def test_anytime_line_ensures_that_it_is_crossed_with_about_delta_where_it_is_tight() -> None:
    # Two-sided: a line that is a fifth lower is crossed too often.
    limits = [float(anytime_line(Fraction(k, 400), delta=Fraction(1, 20), tuning=Fraction(5))) for k in range(1, 2001)]
    assert 0.01 < crossing(STEPS, limits) <= 0.05
    assert crossing(STEPS, [0.8 * limit for limit in limits]) > 0.05


def test_anytime_mixture_requires_a_bound_for_all_times_since_one_for_a_fixed_number_is_crossed() -> None:
    # "Epsilon so far", as peers display it. After a fixed number of steps the loss is above V/2 + sqrt(2 ln(1/delta) V)
    # with probability at most delta. Read after every step, it is crossed at some time more than twice as often.
    squares = np.arange(1, 2001) * 0.05**2
    limits = squares / 2 + np.sqrt(2 * math.log(20) * squares)
    assert crossing(STEPS, limits.tolist()) == pytest.approx(0.1122, abs=0.0001)
    assert crossing([Fraction(1, 20)], limits[:1].tolist()) <= 0.05
    # The library does not show it.
    meter = vm.Odometer(SPACE, vm.PureDP)([])
    with pytest.raises(NoTheorem, match="does not hold for one that the answers choose"):
        _ = meter.epsilon_so_far


def claim(epsilon: Any, function: Callable[[Any], Any] = lambda _: None) -> vm.Measurement:
    return vm.measurement(
        SPACE, function=function, measure=vm.PureDP, privacy=lambda d: vm.pure(epsilon * d), trust="a test"
    )


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_anytime_mixture_ensures_what_an_odometer_shows(shape: str) -> None:
    bound = vm.anytime(d_in=2, delta="1/20", shape=shape, tuning="1/10")
    meter = vm.Odometer(SPACE, vm.PureDP, anytime=bound)([])
    assert meter.epsilon_so_far == vm.ApproxDP.zero
    epsilons = [Fraction(1, 20), Fraction(1, 10)] * 40
    for done, epsilon in enumerate(epsilons, start=1):
        meter(claim(epsilon))
        squares = sum((2 * e) ** 2 for e in epsilons[:done])
        limit = SHAPES[shape](Fraction(squares), delta=Fraction(1, 20), tuning=Fraction(1, 10))
        total = sum(2 * e for e in epsilons[:done])
        # The sum is certain, and shown while it is less.
        expected = vm.approx(total, 0) if total <= limit else vm.approx(limit, "1/20")
        assert meter.epsilon_so_far == expected
    assert meter.epsilon_so_far.delta == Fraction(1, 20)
    meter(claim(Fraction(1)))
    resumed = vm.Odometer.resume(meter.state().to_json(), [], space=SPACE)
    assert resumed.epsilon_so_far == meter.epsilon_so_far


def test_an_infinite_loss_is_shown_as_no_guarantee() -> None:
    meter = vm.Odometer(SPACE, vm.PureDP, anytime=vm.anytime(d_in=1, delta="1/20"))([])
    meter(
        vm.measurement(
            SPACE, function=lambda _: 1, measure=vm.PureDP, privacy=lambda _: vm.PureDP.infinite, trust="a test"
        )
    )
    assert meter.epsilon_so_far == vm.ApproxDP.infinite


def test_anytime_line_requires_one_step_after_the_other() -> None:
    child = claim(Fraction(1, 10), lambda _: Queryable(lambda _self, _query: "here"))
    meter = vm.Odometer(SPACE, vm.PureDP, anytime=vm.anytime(d_in=1, delta="1/20"))([])
    first, second = meter(child), meter(child)
    with pytest.raises(PermissionGone):
        first("?")
    assert second("?") == "here"


@pytest.mark.parametrize("measure", [vm.ZCDP, vm.ApproxDP, vm.GaussianDP], ids=repr)
def test_anytime_stitched_requires_pure_steps(measure: vm.Measure) -> None:
    with pytest.raises(NoTheorem, match="proved for PureDP"):
        vm.Odometer(SPACE, measure, anytime=vm.anytime(d_in=1, delta="1/20"))


def test_anytime_stitched_ensures_a_bound_below_its_first_epoch_too() -> None:
    least = anytime_stitched(Fraction(1, 10), delta=Fraction(1, 20), tuning=Fraction(1, 10))
    assert anytime_stitched(Fraction(1, 1000), delta=Fraction(1, 20), tuning=Fraction(1, 10)) == pytest.approx(
        float(least) - 0.05 + 0.0005
    )


@for_each(
    ("arguments", "error"),
    [
        ({"delta": 0}, ParameterError),
        ({"delta": 1}, ParameterError),
        ({"delta": 0.05}, NotExact),
        ({"delta": "1/20", "tuning": 0}, ParameterError),
        ({"delta": "1/20", "tuning": -1}, ParameterError),
        ({"delta": "1/20", "shape": "curve"}, ParameterError),
    ],
)
def test_arguments_that_make_no_sense(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        vm.anytime(d_in=1, **arguments)


@for_each(
    "change", [{"shape": "curve"}, {"delta": "0"}, {"delta": "1"}, {"delta": "2"}, {"tuning": "0"}, {"more": "1"}]
)
def test_a_changed_record_is_refused(change: dict[str, str]) -> None:
    record = vm.anytime(d_in=1, delta="1/20").to_json()
    assert AnytimeBound.from_json(record) == vm.anytime(d_in=1, delta="1/20")
    with pytest.raises(FormatError):
        AnytimeBound.from_json({**record, **change})


def test_a_filter_needs_no_bound_for_all_times() -> None:
    odometer = vm.Odometer(SPACE, vm.PureDP, anytime=vm.anytime(d_in=1, delta="1/20"))
    with pytest.raises(ParameterError, match="leave anytime= out"):
        odometer.filter(d_in=1, budget=vm.pure(1))
