"""Extreme but legal parameters: an answer is a bound or an error of this library, and no bound is below the truth."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.composition.accounting.oracles import mp

import viameter as vm
from viameter.composition.accounting import (
    Accountant,
    Subsample,
    approximate,
    bounded_range,
    continuous_gaussian,
    continuous_laplace,
    discrete_gaussian,
    discrete_laplace,
    heterogeneous_epsilon,
    optimal_delta,
    optimal_epsilon,
    poisson_subsampled,
    pure,
    randomized_response,
    range_delta,
    range_epsilon,
    renyi,
    together,
    zcdp,
)
from viameter.composition.accounting import descriptions as records
from viameter.errors import ViameterError

TINY = Fraction(1, 10**25000)
NEARLY = 1 - Fraction(1, 10**20)
AMOUNTS: tuple[Any, ...] = (0, "1e-300", "1/2", 709, 710, 2**53, 10**6, 10**400)
SCALES: tuple[Any, ...] = ("1e-300", "1/700", 1, 2**17 + 1, 2**53, 10**320)
SENSITIVITIES = (0, 1, 2**22 + 1, 2**53, 2**64)
CHANCES: tuple[Any, ...] = (0, "1e-300", "1/2", NEARLY, 1)
RATES: tuple[Any, ...] = (0, "1e-300", "1/2", 1 - Fraction(1, 10**10), NEARLY, 1 - Fraction(1, 10**400), 1)
DELTAS: tuple[Any, ...] = (0, "1e-400", "1e-60", "1e-6", NEARLY, 1)
EPSILONS: tuple[Any, ...] = (0, "1e-300", 1, 710, 10**400)

Call = tuple[Callable[..., Any], tuple[Any, ...]]


def calls(make: Callable[..., Any], *choices: tuple[Any, ...]) -> list[Call]:
    return [(make, chosen) for chosen in itertools.product(*choices)]


def subsampled(make: Callable[..., Any], *arguments: Any) -> Any:
    *inner, rate = arguments
    return poisson_subsampled(make(*inner), rate)


MAKERS: dict[str, list[Call]] = {
    "pure": calls(pure, AMOUNTS),
    "approximate": calls(approximate, AMOUNTS, CHANCES),
    "bounded_range": calls(bounded_range, AMOUNTS),
    "zcdp": calls(zcdp, AMOUNTS),
    "renyi": calls(lambda e, order: renyi(vm.renyi({order: e})), AMOUNTS, ("1.0000001", 10**6, "inf")),
    "randomized_response": calls(randomized_response, (2, 3, 10**30), CHANCES),
    "discrete_laplace": calls(discrete_laplace, SCALES, SENSITIVITIES),
    "discrete_gaussian": calls(discrete_gaussian, SCALES, SENSITIVITIES),
    "continuous_laplace": calls(continuous_laplace, SCALES, ("1e-300", 1, 10**6)),
    "continuous_gaussian": calls(continuous_gaussian, SCALES[1:4], ("1e-300", 1, 10**6)),
    "together": calls(lambda e: together(pure(e), bounded_range(e), zcdp(1)), AMOUNTS),
    "poisson_subsampled": [
        *calls(partial(subsampled, pure), AMOUNTS[2:], RATES),
        *calls(partial(subsampled, approximate), ("1e-12",), ("1e-300", NEARLY, 1), RATES[1:5]),
        *calls(partial(subsampled, bounded_range), (710, 2**53), RATES[2:4]),
        *calls(partial(subsampled, discrete_gaussian), (1, 2**53), (1, 2**60), ("1e-300", NEARLY)),
        *calls(partial(subsampled, continuous_gaussian), (1,), RATES[1:5:2]),
        *calls(partial(subsampled, lambda: together(pure(710), pure(1))), RATES[1:5:2]),
    ],
}
PARTS = 6


def test_every_kind_of_description_is_walked_through() -> None:
    made = {type(calls[0][0](*calls[0][1])) for calls in MAKERS.values()}
    assert made == set(records.KINDS)


@pytest.mark.parametrize(
    ("kind", "part"),
    [pytest.param(kind, part, marks=() if part == 0 else pytest.mark.long) for kind in MAKERS for part in range(PARTS)],
)
def test_extremes_are_answered_by_a_bound_or_an_error_of_this_library(kind: str, part: int) -> None:
    for make, arguments in MAKERS[kind][part::PARTS]:
        try:
            mechanism = make(*arguments)
        except ViameterError:
            continue
        for count in (1, 10**12) if kind != "poisson_subsampled" else (1, 50):
            accountant = Accountant(idealized=True, adaptive=False)
            try:
                accountant.add(mechanism, count)
            except ViameterError:
                continue
            for delta in DELTAS:
                epsilon = accountant.epsilon(delta=delta)
                assert epsilon >= 0
                if isinstance(epsilon, Fraction) and epsilon < 10**100:
                    above = accountant.delta(epsilon=epsilon * (1 + Fraction(1, 10**9)))
                    assert above <= Fraction(delta) * (1 + Fraction(1, 10**6)) + TINY, (mechanism, delta)
            for level in EPSILONS:
                assert 0 <= accountant.delta(epsilon=level) <= 1
            assert accountant.report(delta="1e-6").best.epsilon >= 0


@for_each("rate", RATES[1:])
@for_each("loss", [1, 700, 709, 710, 2000, 10**6])
def test_subsampled_pure_losses_are_not_below_and_close_to_their_formula(loss: int, rate: Any) -> None:
    accountant = Accountant()
    accountant.add(poisson_subsampled(pure(loss), rate))
    with mpmath.workdps(1200):
        q = mp(Fraction(rate))
        # One row more against the data without it, at delta 0; randomized response attains it.
        true = mpmath.log1p(q * mpmath.expm1(loss))
        found = mp(Fraction(accountant.epsilon(delta=0)))
        assert true <= found <= true * (1 + mp(10) ** -6)
        p = mpmath.exp(loss) / (1 + mpmath.exp(loss))
        for share in ("0", "1/2", "9/10"):
            level = Fraction(int(true * 2**60), 2**60) * Fraction(share)
            s = mpmath.exp(mp(level))
            mixed, other = (1 - q) * (1 - p) + q * p, 1 - p
            removal = max(0, mixed - s * other) + max(0, (1 - mixed) - s * (1 - other))
            addition = max(0, p - s * ((1 - q) * p + q * (1 - p))) + max(0, (1 - p) - s * ((1 - q) * (1 - p) + q * p))
            assert mp(accountant.delta(epsilon=level)) >= max(removal, addition) * (1 - mp(10) ** -30)


@pytest.mark.parametrize("mechanism", [discrete_gaussian(1), discrete_gaussian(10**6, 10**6), continuous_gaussian(1)])
def test_subsampled_gaussians_have_an_epsilon_at_tiny_deltas(mechanism: Any) -> None:
    accountant = Accountant(idealized=True)
    accountant.add(poisson_subsampled(mechanism, "0.01"), 100)
    found = [accountant.epsilon(delta=delta) for delta in ("1e-30", "1e-60", "1e-100", "1e-250")]
    assert all(isinstance(epsilon, Fraction) for epsilon in found)
    assert found == sorted(found)
    # Without the subsample it costs more.
    whole = Accountant(idealized=True)
    whole.add(mechanism, 100)
    assert found[1] < whole.epsilon(delta="1e-60")


@pytest.mark.parametrize("count", [0, 1, 8, pytest.param(30, marks=pytest.mark.long)])
def test_functions_of_optimal_composition_answer_at_extremes(count: int) -> None:
    targets: tuple[Any, ...] = ("1e-400", "1e-6", 1)
    for loss, number in itertools.product(AMOUNTS, targets):
        assert 0 <= optimal_epsilon(loss, count=count, delta=number) <= count * Fraction(loss)
        assert 0 <= range_epsilon(loss, count=count, delta=number, adaptive=False) <= count * Fraction(loss)
        at_most = count * Fraction(loss) + Fraction(1, 10**300)
        assert 0 <= heterogeneous_epsilon([(loss, 0)] * count, delta=number) <= at_most
    for loss, number in itertools.product(AMOUNTS, EPSILONS):
        assert 0 <= optimal_delta(loss, count=count, epsilon=number) <= 1
        assert 0 <= range_delta(loss, count=count, epsilon=number, adaptive=False) <= 1
    for rate in RATES:
        assert 0 <= Subsample(rate).rate <= 1


@for_each("grid", [1024, 1, "1/1024", 2**961])
def test_noise_on_a_grid_has_a_scale_that_fits_in_steps(grid: Any) -> None:
    space = vm.Space(vm.scalars(float, bounds=(0, 1)), vm.AbsoluteDistance())
    for noise in (vm.laplace, vm.gaussian):
        for steps in (1, "1/1000", 2**40, 2**52):
            scale = Fraction(steps) * Fraction(grid)
            made = noise(space, scale=scale, grid=grid)
            assert made.map(0).is_finite and made.map(1).is_finite
            assert isinstance(made(0.5), float)
        with pytest.raises(ViameterError, match=r"2\^52"):
            noise(space, scale=(2**52 + 1) * Fraction(grid), grid=grid)
    assert vm.laplace(space, scale=2**53, grid=1024).map(1).epsilon == Fraction(1024, 2**53)
