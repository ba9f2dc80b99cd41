"""Accountants that are interrupted, shared by threads, or run beside code that changes the precision of MPFR."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.cases import for_each
from tests.interrupting import interrupt_after

import viameter as vm
from viameter.composition.accounting import (
    Accountant,
    bounded_range,
    discrete_gaussian,
    discrete_laplace,
    optimal_delta,
    poisson_subsampled,
    pure,
    randomized_response,
    range_delta,
)
from viameter.composition.accounting import descriptions as records
from viameter.composition.accounting.enumeration import enumerate_points
from viameter.errors import NumberError, ParameterError


def busy() -> Accountant:
    accountant = Accountant()
    accountant.add(discrete_laplace(20), 1000)
    accountant.epsilon(delta="1e-6")
    for place in range(300):
        accountant.add(pure(Fraction(1, 40) + Fraction(place, 10**6)))
    return accountant


@pytest.mark.parametrize("milliseconds", [1, 3, 6, 10, 20])
def test_an_interrupted_reading_loses_nothing(milliseconds: int) -> None:
    accountant = busy()
    truth = accountant.copy().epsilon(delta="1e-6")

    with suppress(KeyboardInterrupt), interrupt_after(milliseconds / 1000):
        accountant.epsilon(delta="1e-6")
    assert accountant.epsilon(delta="1e-6") == truth


def test_an_interrupted_addition_is_not_read() -> None:
    accountant = Accountant()
    accountant.add(pure(1))

    class Interrupted(dict[Any, int]):
        def update(self, *_: object) -> None:  # type: ignore[override]
            raise KeyboardInterrupt

    accountant._counts = Interrupted(accountant._counts)
    with pytest.raises(KeyboardInterrupt):
        accountant.add(pure(1))
    for read in (lambda: accountant.epsilon(delta="1e-6"), lambda: accountant.delta(epsilon=1), accountant.copy):
        with pytest.raises(ParameterError, match="was interrupted"):
            read()


def test_threads_that_share_an_accountant_read_the_same() -> None:
    accountant = busy()
    truth = accountant.copy().epsilon(delta="1e-6")
    found: list[Any] = []

    def read() -> None:
        for epsilon in (3, 50, "0.01"):
            accountant.delta(epsilon=epsilon)
            found.append(accountant.epsilon(delta="1e-6"))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [truth] * 12


READINGS: dict[str, Callable[[], Any]] = {
    "optimal_delta": lambda: optimal_delta("1/2", count=10, epsilon=2),
    "range_delta": lambda: range_delta("1/2", count=3, epsilon="1/4", adaptive=False),
    "pure": lambda: reading(pure("1/2"), 10),
    "discrete_laplace": lambda: reading(discrete_laplace(3, 7), 2),
    "discrete_gaussian": lambda: reading(discrete_gaussian(2, 1), 3),
    "bounded_range": lambda: reading(bounded_range("1/2"), 10),
    "subsampled": lambda: reading(poisson_subsampled(pure(1), "1/10"), 20),
}


def reading(mechanism: Any, count: int) -> tuple[Any, Any]:
    accountant = Accountant(adaptive=False)
    accountant.add(mechanism, count)
    return accountant.delta(epsilon=1), accountant.epsilon(delta="1e-3")


@pytest.mark.parametrize("name", READINGS)
def test_numbers_do_not_depend_on_somebody_elses_precision(name: str) -> None:
    expected = READINGS[name]()
    with gmpy2.context(precision=4, round=gmpy2.RoundDown):
        assert READINGS[name]() == expected


def test_optimal_delta_is_not_below_a_hundred_digits() -> None:
    for numerator in range(1, 200):
        e = Fraction(numerator, 64)
        with gmpy2.context(precision=400):
            x = gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(e)))
            truth = Fraction(*((x - 1) / (x + 1)).as_integer_ratio())
        found = optimal_delta(e, count=1, epsilon=0)
        assert truth <= found <= truth * (1 + Fraction(1, 10**30))


@for_each("sensitivity", [2**52 + 1, 2**53, 2**63 - 1, 2**64])
def test_a_sensitivity_beyond_floats_is_counted_by_zcdp(sensitivity: int) -> None:
    accountant = Accountant()
    accountant.add(discrete_gaussian(1, sensitivity))
    assert accountant.delta(epsilon=1) == 1
    assert accountant.epsilon(delta="1e-6") >= Fraction(sensitivity**2, 4)


@for_each(
    "make",
    [
        lambda: records.Pure(Fraction(-1)),
        lambda: records.Approximate(Fraction(1), Fraction(2)),
        lambda: records.ZCDP(Fraction(-1)),
        lambda: records.BoundedRange(Fraction(-1)),
        lambda: records.DiscreteLaplace(Fraction(1), Fraction(5, 2)),  # type: ignore[arg-type]
        lambda: records.DiscreteLaplace(Fraction(0), 1),
        lambda: records.DiscreteGaussian(Fraction(1), -2),
        lambda: records.ContinuousLaplace(Fraction(-1), Fraction(1)),
        lambda: records.RandomizedResponse(1, Fraction(1, 2)),
        lambda: records.Renyi(vm.pure(1)),  # type: ignore[arg-type]
        lambda: records.Together(()),
    ],
)
def test_descriptions_are_checked_however_they_are_made(make: Callable[[], object]) -> None:
    with pytest.raises((ParameterError, NumberError)):
        make()


@pytest.mark.parametrize("third", ["0.52", "0.77", "1.3"])
def test_losses_too_far_apart_for_floats_are_not_forgotten(third: str) -> None:
    """Under the other data, nearly all of the mass weighs more than a float holds relative to the largest loss."""
    many, wide = 10**17, mp.mpf("709.9")
    with mp.workprec(4000):
        rare = Fraction(1, many) * Fraction(int(mp.nint(mp.exp(-wide) * mp.mpf(10) ** 400)), 10**400)
        mechanisms = (randomized_response(many, rare), pure(40), pure(third))
        accountant = Accountant()
        for mechanism in mechanisms:
            accountant.add(mechanism)
        law = enumerated([response(many, rare), two_points(Fraction(40)), two_points(Fraction(third))])
        listed = enumerate_points(accountant._read().tight[0].removal.product)
        place = int(np.flatnonzero(listed.losses[::-1] < 100)[0])
        delta = Fraction(float(np.cumsum(listed.weights[::-1])[place])) - Fraction(1, 10**13)
        above = below = mp.mpf(0)
        truth = mp.mpf(1)
        for loss, weight in law:
            above, below = above + weight, below + weight * mp.exp(-loss)
            truth = max(truth, (above - real(delta)) / below)
        assert real(Fraction(accountant.epsilon(delta=delta))) >= mp.log(truth)


def real(number: Fraction) -> Any:
    return mp.mpf(number.numerator) / number.denominator


def response(answers: int, chance: Fraction) -> list[tuple[Any, Any]]:
    other = (1 - chance) / (answers - 1)
    loss = mp.log(real(max(chance, other) / min(chance, other)))
    return [
        (loss, real(max(chance, other))),
        (mp.mpf(0), real(other * (answers - 2))),
        (-loss, real(min(chance, other))),
    ]


def two_points(epsilon: Fraction) -> list[tuple[Any, Any]]:
    e = real(epsilon)
    return [(e, 1 / (1 + mp.exp(-e))), (-e, 1 / (1 + mp.exp(e)))]


def enumerated(laws: list[list[tuple[Any, Any]]]) -> list[tuple[Any, Any]]:
    """All losses of independent mechanisms with their probabilities, from the largest."""
    total = [(mp.mpf(0), mp.mpf(1))]
    for law in laws:
        total = [(a + b, v * w) for a, v in total for b, w in law]
    return sorted(total, key=lambda point: -point[0])
