"""Losses that are one or two exact numbers. The oracle is arithmetic on Fractions."""

import dataclasses
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each

import viameter as vm
from viameter.core import Loss
from viameter.errors import IncomparableLosses, NumberError
from viameter.measures.amounts import ApproxLoss, GaussianLoss, PureLoss

WIDE = [Fraction(1, 3**400), Fraction(1, 5**300), Fraction(2, 7**250), Fraction(1, 10)]
wide = st.lists(
    st.builds(
        lambda n, base, power: Fraction(n, base**power), st.integers(0, 9), st.sampled_from([3, 5]), st.integers(0, 400)
    ),
    max_size=12,
)


@for_each(
    ("loss", "text"),
    [
        (vm.pure("1/10"), "pure(1/10)"),
        (vm.pure(0), "pure(0)"),
        (vm.pure("inf"), "pure(inf)"),
        (vm.zcdp("1/32"), "zcdp(1/32)"),
        (vm.approx(1, "1e-6"), "approx(1, 1/1000000)"),
        (vm.approx_zcdp("1/2", "1e-9"), "approx_zcdp(1/2, 1/1000000000)"),
        (vm.bounded_range("0.3"), "bounded_range(3/10)"),
        (vm.gdp("3/2"), "gdp(3/2)"),
        (vm.gdp("inf"), "gdp(inf)"),
        (vm.gdp(1) + vm.gdp(1), "gdp(<=1.41421356238)"),
        (vm.pure(Fraction(1, 3**100)), "pure(<=1.94032521749e-48)"),
    ],
)
def test_losses_are_shown_like_this(loss: Loss, text: str) -> None:
    assert repr(loss) == text


@for_each(
    ("measure", "text"),
    [
        (vm.PureDP, "PureDP"),
        (vm.ApproxDP, "ApproxDP"),
        (vm.ZCDP, "ZCDP"),
        (vm.ApproxZCDP, "ApproxZCDP"),
        (vm.GaussianDP, "GaussianDP"),
        (vm.BoundedRange, "BoundedRange"),
    ],
)
def test_measures_are_shown_by_name(measure: vm.Measure, text: str) -> None:
    assert repr(measure) == text


def test_ten_tenths_fit_into_one() -> None:
    assert sum([vm.pure("1/10")] * 10, vm.pure(0)) <= vm.pure(1)
    assert sum([vm.pure("1/10")] * 10, vm.pure(0)) == vm.pure(1)
    assert not sum([vm.pure("1/10")] * 10, vm.pure("1e-4000")) <= vm.pure(1)


def test_a_million_tenths_make_exactly_a_hundred_thousand() -> None:
    assert vm.ApproxDP.total([vm.approx("1/10", "1e-9")] * 10**6) == vm.approx(10**5, "1/1000")


@given(wide)
def test_totals_and_sums_are_never_below_the_exact_sum(numbers: list[Fraction]) -> None:
    truth = sum(numbers, Fraction(0))
    losses = [vm.pure(number) for number in numbers]
    one_by_one = sum(losses, vm.pure(0))
    total = vm.PureDP.total(losses)
    assert isinstance(one_by_one, PureLoss) and isinstance(total, PureLoss)
    for loss in (one_by_one, total):
        assert truth <= loss.epsilon <= truth * (1 + Fraction(1, 2**240))


@given(wide)
def test_every_field_of_a_total_is_never_below_the_exact_sum(numbers: list[Fraction]) -> None:
    truth = sum(numbers, Fraction(0))
    capped = [min(number, Fraction(1, 100)) for number in numbers]
    total = vm.ApproxDP.total(vm.approx(n, d) for n, d in zip(numbers, capped, strict=True))
    assert isinstance(total, ApproxLoss)
    assert total.epsilon >= truth
    assert total.delta >= sum(capped, Fraction(0))


def test_a_wide_total_is_above_the_exact_sum_and_not_by_much() -> None:
    truth = sum(WIDE, Fraction(0))
    total = vm.ZCDP.total(vm.zcdp(number) for number in WIDE)
    assert vm.zcdp(truth) <= total < vm.zcdp(truth + Fraction(1, 2**200))


def test_a_sum_of_deltas_stops_at_one() -> None:
    half = vm.approx(1, "0.6")
    assert half + half == vm.approx(2, 1)
    assert vm.ApproxDP.total([half] * 5) == vm.approx(5, 1)
    assert vm.approx_zcdp(1, "0.6") + vm.approx_zcdp(1, "0.6") == vm.approx_zcdp(2, 1)
    assert vm.approx(0, "1/2") + vm.approx(0, "1/2") == vm.approx(0, 1)


def test_a_wide_sum_of_deltas_just_below_one_does_not_leave_the_probabilities() -> None:
    nearly = 1 - Fraction(1, 3**400)
    total = vm.approx(0, nearly) + vm.approx(0, Fraction(1, 5**400))
    assert total.delta <= 1  # type: ignore[attr-defined]


def test_delta_one_promises_nothing() -> None:
    assert not vm.approx(0, 1).is_finite
    assert not vm.approx_zcdp(0, 1).is_finite
    assert not vm.approx("inf", 0).is_finite
    assert vm.approx(10**9, Fraction(10**9 - 1, 10**9)).is_finite


def test_the_order_of_two_numbers_is_partial() -> None:
    a, b = vm.approx(1, "1e-6"), vm.approx(2, "1e-9")
    assert not a <= b and not b <= a and not a < b and not a > b and a != b


@for_each("measure", [vm.PureDP, vm.ZCDP, vm.GaussianDP, vm.ApproxDP, vm.ApproxZCDP])
def test_an_infinite_term_makes_the_total_infinite(measure: Any) -> None:
    total = measure.total([measure.zero, measure.infinite, measure.zero])
    assert total == measure.infinite == measure.zero + measure.infinite
    assert not total.is_finite


@given(st.lists(st.builds(Fraction, st.integers(0, 10**4), st.integers(100, 1000)), min_size=1, max_size=6))
def test_gaussian_losses_add_by_squares_exactly(parameters: list[Fraction]) -> None:
    total = vm.GaussianDP.total([vm.gdp(mu) for mu in parameters])
    assert isinstance(total, GaussianLoss)
    assert total.mu_squared == sum(mu * mu for mu in parameters)
    assert total == sum((vm.gdp(mu) for mu in parameters), vm.gdp(0))


@given(st.fractions(min_value=0, max_value=10**30))
def test_mu_is_the_root_or_just_above_it(square: Fraction) -> None:
    mu = GaussianLoss(square).mu
    assert isinstance(mu, Fraction)
    n, d = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if n * n == square.numerator and d * d == square.denominator:
        assert mu == Fraction(n, d)
    else:
        assert mu * mu > square
        assert (mu * (1 - Fraction(1, 2**127))) ** 2 < square


@given(st.fractions(min_value=0, max_value=10**30))
def test_what_is_shown_of_mu_is_not_below_it(square: Fraction) -> None:
    text = repr(GaussianLoss(square)).removeprefix("gdp(").removesuffix(")")
    shown = Fraction(text.removeprefix("<="))
    assert shown**2 >= square
    if not text.startswith("<="):
        assert shown**2 == square


def test_gaussian_losses_of_extreme_size_are_shown() -> None:
    assert repr(vm.gdp("1e-4000")) == "gdp(1e-4000)"
    assert repr(vm.gdp("1e4000")) == "gdp(1e4000)"
    assert repr(GaussianLoss(Fraction(2 * 10**4000))).startswith("gdp(<=1.41421356238e2000")


def test_three_and_four_make_five() -> None:
    assert vm.gdp(3) + vm.gdp(4) == vm.gdp(5)


def test_bounded_ranges_do_not_add() -> None:
    a = vm.bounded_range(1)
    for add in (lambda: a + a, lambda: sum([a, a]), lambda: vm.BoundedRange.total([a, a])):
        with pytest.raises(IncomparableLosses, match="PureDP or ZCDP"):
            add()
    assert vm.BoundedRange.total([a]) == a
    assert vm.BoundedRange.total([]) == vm.bounded_range(0)


def test_losses_made_from_their_class_are_checked_too() -> None:
    kind: Any = PureLoss
    for amount in (-1, 0.5, float("nan"), True, None):
        with pytest.raises(NumberError, match="epsilon"):
            kind(amount)
    with pytest.raises(NumberError, match="delta"):
        ApproxLoss(Fraction(1), Fraction(2))
    with pytest.raises(NumberError, match="epsilon"):
        dataclasses.replace(vm.pure(1), epsilon=Fraction(-1))


def test_a_loss_keeps_fractions_whatever_it_was_made_from() -> None:
    for written in (1, "1", "1.0", "2/2", Fraction(1)):
        loss = vm.approx(written, written)
        assert type(loss.epsilon) is Fraction and type(loss.delta) is Fraction
        assert loss == vm.approx(1, 1)


def test_a_total_reads_its_losses_once() -> None:
    assert vm.PureDP.total(vm.pure("1/2") for _ in range(3)) == vm.pure("3/2")


def test_a_total_of_huge_and_tiny_losses_is_made() -> None:
    # Once: ValueError (negative shift count) from settle_up.
    huge, tiny = vm.pure(2**300), vm.pure(Fraction(1, 3**400))
    exact = Fraction(1, 3**400) + 2**300
    assert huge + tiny >= vm.pure(exact)
    assert vm.PureDP.total([huge, tiny]) >= vm.pure(exact)
