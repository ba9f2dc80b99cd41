"""Intervals hold the truth, which MPFR knows, and are narrow."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each

from viameter_check import intervals
from viameter_check.amounts import INFINITY
from viameter_check.intervals import BITS, Interval, outward, point

Function = Callable[[Fraction], Interval]

NARROW = Fraction(1, 2 ** (BITS - 8))
FRACTIONS = st.fractions(min_value=Fraction(1, 10**40), max_value=10**5) | st.fractions(
    min_value=Fraction(1, 1000), max_value=30, max_denominator=1000
)
FUNCTIONS: dict[str, tuple[Function, Callable[[Any], Any]]] = {
    "exp": (intervals.exp, gmpy2.exp),
    "exp of a negative": (lambda x: intervals.exp(-x), lambda x: gmpy2.exp(-x)),
    "expm1": (intervals.expm1, gmpy2.expm1),
    "log": (lambda x: intervals.log(1 + x), gmpy2.log1p),
    "tanh": (intervals.tanh, gmpy2.tanh),
    "root": (intervals.root, gmpy2.sqrt),
}


def enclosing(function: Callable[[Any], Any], x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of an increasing or decreasing function by MPFR, much narrower than an interval."""
    ends = []
    for direction in (gmpy2.RoundDown, gmpy2.RoundUp):
        with gmpy2.context(precision=2 * BITS, round=gmpy2.RoundToNearest):
            value = function(gmpy2.mpfr(gmpy2.mpq(x.numerator, x.denominator)))
        with gmpy2.context(precision=2 * BITS - 40, round=direction):
            top, bottom = gmpy2.mpfr(value).as_integer_ratio()
        slack = Fraction(int(top), int(bottom)) * Fraction(1, 2 ** (2 * BITS - 60))
        ends.append(Fraction(int(top), int(bottom)) + (slack if direction == gmpy2.RoundUp else -slack))
    return ends[0], ends[1]


@pytest.mark.parametrize("name", FUNCTIONS)
@given(x=FRACTIONS)
def test_an_interval_holds_the_truth_and_is_narrow(name: str, x: Fraction) -> None:
    mine, oracle = FUNCTIONS[name]
    found, (low, high) = mine(x), enclosing(oracle, x)
    assert found.low <= high and low <= found.high
    assert isinstance(found.high, Fraction) and found.high - found.low <= NARROW * found.high


@for_each("x", [Fraction(1, 2**300), Fraction(1, 256), Fraction(257, 65536), Fraction(2**21)])
@for_each("name", FUNCTIONS)
def test_an_interval_holds_the_truth_at_the_joints(name: str, x: Fraction) -> None:
    mine, oracle = FUNCTIONS[name]
    found, (low, high) = mine(x), enclosing(oracle, x)
    assert found.low <= high and low <= found.high
    assert found.high - found.low <= NARROW * Fraction(found.high)


@given(x=st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(1, 256)), bits=st.sampled_from([64, BITS, 1000]))
def test_the_series_enclose_to_the_last_of_their_places(x: Fraction, bits: int) -> None:
    with gmpy2.context(precision=4000):
        real = gmpy2.mpfr(gmpy2.mpq(x.numerator, x.denominator))
        exponential, area = (
            Fraction(*map(int, y.as_integer_ratio())) for y in (gmpy2.expm1(real), 2 * gmpy2.atanh(real))
        )
    low, high = intervals._expm1_small(x, bits)
    assert low < exponential < high and (high - low) * 2**bits < exponential
    low, high = intervals._double_artanh(x)
    assert low < area < high and (high - low) * 2**BITS < area


@given(n=st.integers(2**64, 2**65), times=st.integers(0, 9))
def test_squaring_encloses(n: int, times: int) -> None:
    base = Fraction(n, 2**64)
    low, high = (intervals._squared(base, times, 64, up=up) for up in (False, True))
    with gmpy2.context(precision=4000):
        truth = gmpy2.mpfr(gmpy2.mpq(n, 2**64)) ** (2**times)
        assert low <= Fraction(*map(int, truth.as_integer_ratio())) * (1 + Fraction(1, 2**3000))
        assert high >= Fraction(*map(int, truth.as_integer_ratio())) * (1 - Fraction(1, 2**3000))


def test_what_is_rational_is_exact() -> None:
    assert intervals.exp(Fraction(0)) == point(1)
    assert intervals.log(Fraction(1)) == intervals.expm1(Fraction(0)) == intervals.tanh(Fraction(0)) == point(0)
    assert intervals.root(Fraction(9, 4)) == point(Fraction(3, 2))
    assert not intervals.root(Fraction(2)).is_point


def test_huge_arguments_take_no_time_and_are_enclosed() -> None:
    huge = Fraction(10**1000)
    assert intervals.exp(huge).high == INFINITY and intervals.exp(huge).low > 2**1_000_000
    assert intervals.exp(-huge).low == 0 and 0 < intervals.exp(-huge).high < Fraction(1, 2**1_000_000)
    assert intervals.tanh(huge).high == 1 and intervals.tanh(huge).low < 1
    found = intervals.log(huge)
    assert float(found.low) == pytest.approx(2302.585)


POSITIVE = st.fractions(min_value=0, max_value=100)


@given(a=POSITIVE, b=POSITIVE, c=POSITIVE, d=POSITIVE, s=st.integers(0, 8), t=st.integers(0, 8))
def test_arithmetic_encloses_what_is_inside(a: Fraction, b: Fraction, c: Fraction, d: Fraction, s: int, t: int) -> None:
    left, right = Interval(min(a, b), max(a, b)), Interval(min(c, d), max(c, d))
    x, y = left.low + (left.high - left.low) * Fraction(s, 8), right.low + (right.high - right.low) * Fraction(t, 8)
    for found, truth in (
        (left + right, x + y),
        (left * right, x * y),
        (left.minus(right), max(x - y, Fraction(0))),
        (left.at_most(Fraction(7)), min(x, Fraction(7))),
    ):
        assert found.low <= truth <= found.high
    if y > 0:
        assert left.over(right).low <= x / y <= left.over(right).high


def test_infinity_stays_above() -> None:
    everything = Interval(Fraction(1), INFINITY)
    assert (everything + point(1)).high == (everything * point(2)).high == INFINITY
    assert (everything * point(0)) == point(0)
    assert point(1).over(everything) == Interval(Fraction(0), Fraction(1))
    assert point(1).over(Interval(Fraction(0), Fraction(1))).high == INFINITY
    assert point(5).minus(everything) == Interval(Fraction(0), Fraction(4))
    assert everything.minus(point(3)) == Interval(Fraction(0), INFINITY)


@given(top=st.integers(1, 2**6000), bottom=st.integers(1, 2**6000))
def test_rounding_is_outward_and_short(top: int, bottom: int) -> None:
    exact = Fraction(top, bottom)
    found = outward(exact, exact)
    assert found.low <= exact <= found.high
    assert found.high - found.low <= NARROW * found.high
    if exact.denominator.bit_length() <= 16 * BITS:
        assert found.is_point
