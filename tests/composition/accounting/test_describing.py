"""Measurements describe themselves: as the noise they draw where that is on one integer, else by their loss."""

from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter.composition.accounting import (
    Accountant,
    approximate,
    bounded_range,
    describe,
    discrete_gaussian,
    discrete_laplace,
    pure,
    renyi,
    zcdp,
)
from viameter.errors import NoTheorem, ParameterError

ROWS = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())
COUNT = vm.count(ROWS)
SCORES = vm.Space(vm.vectors(int, size=3), vm.LInfDistance())


@for_each(
    ("measurement", "d_in", "expected"),
    [
        (COUNT >> vm.laplace(scale="7/2"), 3, discrete_laplace("7/2", 3)),
        (COUNT >> vm.laplace(scale=7) >> vm.postprocess(abs), 1, discrete_laplace(7, 1)),
        (vm.sum(ROWS) >> vm.gaussian(scale=50), 2, discrete_gaussian(50, 18)),
        (COUNT >> vm.laplace(scale=7), 0, discrete_laplace(7, 0)),
        # A vector has more than one integer: by its loss.
        (ROWS >> vm.histogram(edges=[0, 3, 6, 10]) >> vm.laplace(scale=4), 1, pure("1/4")),
        (vm.exponential(SCORES, scale=4), 1, bounded_range("1/2")),
        (vm.exponential(SCORES, scale=4, measure=vm.ZCDP), 1, bounded_range("1/2")),
    ],
)
def test_what_a_measurement_is_counted_as(measurement: vm.Measurement, d_in: int, expected: object) -> None:
    if "measure=ZCDP" in repr(measurement):
        expected = zcdp("1/32")
    assert describe(measurement, d_in) == expected


def claim(loss: vm.Loss) -> vm.Measurement:
    return vm.measurement(ROWS, function=len, measure=loss.measure, privacy=lambda _: loss, trust="a test")


@for_each(
    ("loss", "expected"),
    [
        (vm.pure(1), pure(1)),
        (vm.approx(1, "1e-6"), approximate(1, "1e-6")),
        (vm.zcdp(1), zcdp(1)),
        (vm.renyi({2: 1}), renyi(vm.renyi({2: 1}))),
        (vm.bounded_range(1), bounded_range(1)),
    ],
)
def test_a_loss_is_counted_as_any_mechanism_of_that_loss(loss: vm.Loss, expected: object) -> None:
    assert describe(claim(loss), 1) == expected


def test_a_description_is_never_below_what_the_measurement_says() -> None:
    for scale in (1, 5, 20):
        measurement = COUNT >> vm.laplace(scale=scale)
        for d_in in (1, 2, 5):
            accountant = Accountant()
            accountant.add(describe(measurement, d_in))
            # One answer: at delta 0 it is the loss itself.
            assert accountant.epsilon(delta=0) == measurement.map(d_in).epsilon == Fraction(d_in, scale)


@for_each("loss", [vm.PureDP.infinite, vm.approx_zcdp(1, "1e-6"), vm.gdp(1), vm.profile({1: "1e-3"})])
def test_what_an_accountant_does_not_count(loss: vm.Loss) -> None:
    with pytest.raises(NoTheorem):
        describe(claim(loss), 1)


def test_what_is_no_measurement() -> None:
    not_one: Any = vm.pure(1)
    with pytest.raises(ParameterError, match="is no Measurement"):
        describe(not_one, 1)
