"""From a loss to the noise: never above the loss, and with a little less noise above it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.mechanisms.oracles import INFINITY, INTEGER, REAL, VISITS, WORDS, integers, loose, real, reals

import viameter as vm
from viameter.errors import MeasureMismatch, NoTheorem, NumberError, ParameterError, ViameterError

THREE = integers(3, vm.LInfDistance())
ANSWER = vm.Space(vm.categories(["a", "b", "c"]), vm.DiscreteDistance())
ANSWERS = vm.Space(vm.vectors(vm.categories(["a", "b"])), vm.HammingDistance())
WAITS = VISITS >> vm.clamp(bounds=(0, 240)) >> vm.sum()
LOSSES = [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(17, 2)]

# Mechanism, data, distance, how losses are made, further parameters, and whether the scale is rational.
Case = tuple[Any, Any, Any, Callable[[Any], Any], dict[str, Any], bool]
CASES: list[Case] = [
    (vm.laplace, INTEGER, 1, vm.pure, {}, True),
    (vm.laplace, INTEGER, "7/3", vm.pure, {}, True),
    (vm.geometric, INTEGER, 5, vm.pure, {}, True),
    (vm.laplace, integers(3, vm.L1Distance()), 4, vm.pure, {}, True),
    (vm.laplace, WAITS, 1, vm.pure, {}, True),
    (vm.laplace, WAITS, 3, vm.pure, {}, True),
    (vm.laplace, REAL, "1/3", vm.pure, {"grid": "1/4"}, True),
    (vm.laplace, REAL, 1, vm.pure, {"grid": Fraction(1, 8)}, True),
    (vm.laplace, REAL, 1, vm.pure, {"grid": 4}, True),
    (vm.laplace, reals(3, vm.L1Distance()), "5/3", vm.pure, {"grid": "1/2"}, True),
    (vm.gaussian, INTEGER, 1, vm.zcdp, {}, False),
    (vm.gaussian, INTEGER, "7/3", vm.zcdp, {}, False),
    (vm.gaussian, integers(3, vm.L2Distance()), 4, vm.zcdp, {}, False),
    (vm.gaussian, WAITS, 2, vm.zcdp, {}, False),
    (vm.gaussian, REAL, "1/3", vm.zcdp, {"grid": "1/4"}, False),
    (vm.gaussian, reals(3, vm.L2Distance()), "5/3", vm.zcdp, {"grid": "1/2"}, False),
    (vm.exponential, THREE, 2, vm.bounded_range, {}, True),
    (vm.exponential, THREE, 2, vm.bounded_range, {"monotone": True}, True),
    (vm.exponential, THREE, "3/2", vm.pure, {}, True),
    (vm.exponential, THREE, "3/2", vm.pure, {"monotone": True, "measure": vm.PureDP}, True),
    (vm.exponential, THREE, 3, vm.zcdp, {}, False),
    (vm.exponential, THREE, 3, vm.zcdp, {"monotone": True}, False),
    (vm.noisy_max, THREE, 3, vm.pure, {}, True),
    (vm.noisy_max, THREE, 3, vm.pure, {"monotone": True}, True),
    (vm.noisy_max, THREE, 3, vm.pure, {"noise": "laplace"}, True),
    (vm.noisy_max, THREE, 3, vm.pure, {"noise": "laplace", "monotone": True}, True),
    (vm.noisy_max, THREE, 3, vm.zcdp, {"noise": "gumbel"}, False),
    (vm.noisy_max, THREE, 3, vm.bounded_range, {"noise": "gumbel"}, True),
    (vm.top_k, THREE, 1, vm.pure, {"k": 1}, True),
    (vm.top_k, THREE, 1, vm.pure, {"k": 3}, True),
    (vm.top_k, THREE, 2, vm.pure, {"k": 2, "noise": "laplace", "monotone": True}, True),
    (vm.top_k, THREE, 2, vm.pure, {"k": 3, "noise": "exponential"}, True),
    (vm.top_k, THREE, 1, vm.zcdp, {"k": 3}, False),
    (vm.top_k, THREE, 2, vm.zcdp, {"k": 2, "monotone": True}, False),
    (vm.sparse_vector, VISITS, 1, vm.pure, {"threshold": 5}, True),
    (vm.sparse_vector, VISITS, 3, vm.pure, {"threshold": 5, "limit": 4, "sensitivity": 3}, True),
    (vm.sparse_vector, THREE, "3/2", vm.pure, {"threshold": -5, "sensitivity": "5/2"}, True),
]


def amount(loss: Any) -> Fraction:
    (value,) = (getattr(loss, name) for name in loss.names)
    return Fraction(value)


def parameters_of(made: vm.Measurement) -> dict[str, Any]:
    """What the last step was made with."""
    return dict(made.steps[-1].bound.parameters)


@for_each("case", CASES)
def test_the_loss_is_met_and_a_hundredth_less_noise_is_above_it(case: Case) -> None:
    mechanism, data, d_in, measured, further, rational = case
    for target in LOSSES:
        loss = measured(target)
        made = vm.calibrate(mechanism, data, d_in=d_in, loss=loss, **further)
        found = made.map(d_in)
        assert found <= loss
        assert amount(found) == target if rational else target * (1 - Fraction(1, 2**60)) <= amount(found)
        assert made.check(d_in, loss)
        # The same with a scale that is a hundredth smaller.
        last = made.steps[-1]
        given = dict(last.identity[0].parameters)  # type: ignore[attr-defined]  # the step that it was made by
        given["scale"] = parameters_of(made)["scale"] * Fraction(99, 100)
        less = mechanism(last.input_space, **given)
        distance = data.map(d_in) if isinstance(data, vm.Transformation) else d_in
        assert not less.map(distance) <= loss
        assert amount(less.map(distance)) > target


@pytest.mark.parametrize(("space", "d_in"), [(ANSWER, 1), (ANSWERS, 1), (ANSWERS, 3)], ids=str)
def test_randomized_response_is_calibrated_to_the_largest_probability(space: vm.Space, d_in: int) -> None:
    for target in LOSSES:
        made = vm.calibrate(vm.randomized_response, space, d_in=d_in, loss=vm.pure(target))
        chance = parameters_of(made)["probability"]
        assert made.map(d_in) <= vm.pure(target)
        assert amount(made.map(d_in)) >= target * (1 - Fraction(1, 2**48))
        others = 2 if space is ANSWER else 1
        exact = 1 / (1 + others * gmpy2.exp(-real(target / d_in)))
        assert real(chance) <= exact
        assert real(chance) >= exact * (1 - real(Fraction(1, 2**60)))
        more = 1 - (1 - chance) * Fraction(99, 100)
        assert vm.randomized_response(space, probability=more).map(d_in) > vm.pure(target)


def test_the_whole_is_calibrated_where_a_transformation_comes_first() -> None:
    made = vm.calibrate(vm.laplace, WAITS, d_in=1, loss=vm.pure("1/2"))
    assert made.input_space == VISITS
    assert made.map(1) == vm.pure("1/2")
    assert parameters_of(made)["scale"] == 480
    assert type(made([1, 2, 3])) is int
    assert vm.calibrate(vm.laplace, WAITS, d_in=1, loss=vm.pure("1/2")) == made
    clamped = VISITS >> vm.clamp(bounds=(0, 240))
    watch = vm.calibrate(vm.sparse_vector, clamped, d_in=2, loss=vm.pure(1), threshold=5, limit=2, sensitivity=2)
    assert watch.map(2) == vm.pure(1)
    assert watch.map(3) == vm.pure(INFINITY)


@pytest.mark.parametrize("d_in", ["3/2", "29/10"])
def test_integer_scores_are_calibrated_for_distances_rounded_down(d_in: str) -> None:
    # Once: the scale is that of the distance itself, so that there is more noise than the loss asks for
    made = vm.calibrate(vm.noisy_max, THREE, d_in=d_in, loss=vm.pure(1), noise="laplace")
    assert made.map(d_in) == vm.pure(1)


def test_losses_of_another_measure_are_refused() -> None:
    for mechanism, space, loss, error in (
        (vm.laplace, INTEGER, vm.zcdp(1), NoTheorem),
        (vm.laplace, INTEGER, vm.approx(1, "1e-6"), MeasureMismatch),
        (vm.laplace, INTEGER, vm.bounded_range(1), NoTheorem),
        (vm.gaussian, INTEGER, vm.pure(1), NoTheorem),
        (vm.gaussian, INTEGER, vm.approx_zcdp(1, "1e-6"), MeasureMismatch),
        (vm.gaussian, INTEGER, vm.gdp(1), NoTheorem),
        (vm.noisy_max, THREE, vm.zcdp(1), NoTheorem),
        (vm.noisy_max, THREE, vm.bounded_range(1), NoTheorem),
        (vm.exponential, THREE, vm.approx(1, "1e-6"), NoTheorem),
        (vm.exponential, THREE, vm.gdp(1), NoTheorem),
        (vm.randomized_response, ANSWER, vm.zcdp(1), NoTheorem),
        (vm.randomized_response, ANSWER, vm.approx(1, "1e-6"), MeasureMismatch),
    ):
        with pytest.raises(error):
            loose.calibrate(mechanism, space, d_in=1, loss=loss)
    for loss in (vm.bounded_range(1), vm.approx(1, 0)):
        with pytest.raises(NoTheorem):
            vm.calibrate(vm.top_k, THREE, d_in=1, loss=loss, k=2)
    with pytest.raises(MeasureMismatch):
        vm.calibrate(vm.exponential, THREE, d_in=1, loss=vm.pure(1), measure=vm.ZCDP)


def test_losses_that_are_no_target_are_refused() -> None:
    for loss in (vm.pure(0), vm.pure(INFINITY), vm.zcdp(0), vm.zcdp(INFINITY), vm.approx(0, 0), vm.approx(1, 1)):
        for mechanism in (vm.laplace, vm.gaussian):
            with pytest.raises(ParameterError, match="finite loss above 0"):
                loose.calibrate(mechanism, INTEGER, d_in=1, loss=loss)


def test_distances_that_need_no_noise_or_have_none_that_is_enough_are_refused() -> None:
    d_in: Any
    for d_in in (0, INFINITY, "inf"):
        with pytest.raises(ParameterError, match="no noise is needed, or none is enough"):
            vm.calibrate(vm.laplace, INTEGER, d_in=d_in, loss=vm.pure(1))
        with pytest.raises(ParameterError, match="no noise is needed, or none is enough"):
            vm.calibrate(vm.laplace, WAITS, d_in=d_in, loss=vm.pure(1))
    for d_in in (-1, 0.5, None, "x"):
        with pytest.raises(NumberError):
            vm.calibrate(vm.laplace, INTEGER, d_in=d_in, loss=vm.pure(1))
    with pytest.raises(NumberError, match="whole"):
        vm.calibrate(vm.laplace, WAITS, d_in="3/2", loss=vm.pure(1))


def test_what_no_formula_calibrates_is_refused() -> None:
    for mechanism in (vm.thresholded_counts, vm.private_quantile, vm.count, vm.laplace(scale=1), len, None, "laplace"):
        with pytest.raises(NoTheorem, match="no formula calibrates"):
            loose.calibrate(mechanism, INTEGER, d_in=1, loss=vm.pure(1))
    for data in (vm.laplace(INTEGER, scale=1), vm.count(), None, [1, 2, 3], vm.vectors(int)):
        with pytest.raises(ParameterError, match="Space or a Transformation"):
            loose.calibrate(vm.laplace, data, d_in=1, loss=vm.pure(1))
    with pytest.raises(NoTheorem):
        vm.calibrate(vm.laplace, WORDS, d_in=1, loss=vm.pure(1))


def test_parameters_that_the_mechanism_refuses_are_refused() -> None:
    for mechanism, space, loss, further in (
        (vm.laplace, REAL, vm.pure(1), {}),
        (vm.laplace, REAL, vm.pure(1), {"grid": 3}),
        (vm.laplace, REAL, vm.pure(1), {"grid": -1}),
        (vm.laplace, REAL, vm.pure(1), {"grid": 0.25}),
        (vm.laplace, INTEGER, vm.pure(1), {"grid": 1}),
        (vm.laplace, reals(None, vm.L1Distance()), vm.pure(1), {"grid": 1}),
        (vm.geometric, INTEGER, vm.pure(1), {"grid": 1}),
        (vm.top_k, THREE, vm.pure(1), {}),
        (vm.top_k, THREE, vm.pure(1), {"k": 4}),
        (vm.top_k, THREE, vm.pure(1), {"k": 0}),
        (vm.top_k, THREE, vm.pure(1), {"k": -1}),
        (vm.exponential, THREE, vm.pure(1), {"monotone": 1}),
        (vm.exponential, integers(None, vm.LInfDistance()), vm.pure(1), {}),
        (vm.noisy_max, THREE, vm.pure(1), {"noise": "gauss"}),
        (vm.sparse_vector, VISITS, vm.pure(1), {}),
        (vm.sparse_vector, VISITS, vm.pure(1), {"threshold": 1, "threshold_scale": 1}),
        (vm.sparse_vector, VISITS, vm.pure(1), {"threshold": 1, "sensitivity": "1/2"}),
        (vm.laplace, INTEGER, vm.pure("1e-30"), {}),
        (vm.laplace, INTEGER, vm.pure(1), {"unknown": 1}),
    ):
        with pytest.raises(ViameterError):
            loose.calibrate(mechanism, space, d_in=1, loss=loss, **further)


@for_each(
    ("mechanism", "space", "loss", "further"),
    [
        (vm.laplace, REAL, vm.pure(1), {"grid": 0}),
        (vm.laplace, REAL, vm.pure(1), {"grid": "fine"}),
        (vm.laplace, INTEGER, vm.pure(1), {"scale": 3}),
        (vm.laplace, INTEGER, 1, {}),
        (vm.top_k, THREE, vm.pure(1), {"k": "2"}),
        (vm.sparse_vector, VISITS, vm.pure(1), {"threshold": 1, "sensitivity": "inf"}),
        (vm.sparse_vector, VISITS, vm.pure(1), {"threshold": 1, "limit": "2"}),
    ],
)
def test_parameters_that_make_no_sense_are_refused_with_errors_of_the_library(
    mechanism: Any, space: Any, loss: Any, further: dict[str, Any]
) -> None:
    # Once: ZeroDivisionError, ValueError, TypeError and AttributeError from within
    with pytest.raises(ViameterError):
        loose.calibrate(mechanism, space, d_in=1, loss=loss, **further)


def test_what_cannot_be_met_by_a_probability_of_64_bits_is_refused() -> None:
    # A third, rounded, is further from uniform than that.
    loss = vm.pure("1e-25")
    with pytest.raises(NoTheorem, match="cannot be calibrated"):
        vm.calibrate(vm.randomized_response, ANSWER, d_in=1, loss=loss)
    # A half needs no rounding.
    assert vm.calibrate(vm.randomized_response, ANSWERS, d_in=1, loss=loss).map(1) == vm.pure(0)


def test_assumptions_stay_where_noise_is_calibrated() -> None:
    made = vm.calibrate(vm.exponential, THREE, d_in=1, loss=vm.pure(1), monotone=True)
    assert any("monotone=True" in text for text in made.explain(1).assumptions)
    assert parameters_of(made)["scale"] == 1
    assert parameters_of(vm.calibrate(vm.exponential, THREE, d_in=1, loss=vm.pure(1)))["scale"] == 2


@for_each("delta", ["1e-3", "1e-6", "1e-12"])
@for_each("epsilon", ["1/10", "1", "8"])
def test_gaussian_noise_for_an_epsilon_and_a_delta(epsilon: str, delta: str) -> None:
    space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    target = vm.approx(epsilon, delta)
    made = vm.calibrate(vm.gaussian, vm.count(space), d_in=3, loss=target)
    loss = made.map(3)
    assert loss <= target and loss.delta == target.delta
    # As little as that: with a thousandth less noise, it is too little.
    scale = dict(made.steps[-1].bound.parameters)["scale"]
    less = vm.count(space) >> vm.gaussian(scale=scale * Fraction(999, 1000))
    assert not less.to(vm.ApproxDP, delta=delta).map(3) <= target


def test_gaussian_noise_has_no_epsilon_at_delta_0() -> None:
    space = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    with pytest.raises(NoTheorem, match="delta above 0"):
        vm.calibrate(vm.gaussian, space, d_in=1, loss=vm.approx(1, 0))
