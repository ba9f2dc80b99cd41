"""Directed rounding to dyadic rationals: always on the side named, and as close as is promised."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.arith.oracles import exp_bounds, log_bounds
from tests.cases import for_each

from viameter.arith import dyadic
from viameter.arith.dyadic import EXPONENT_LIMIT
from viameter.errors import NotExact, NumberError

BINARY = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}
UNARY = ["sqrt", "exp", "expm1", "log", "log1p"]
OPERATIONS = [*BINARY, *UNARY, "powi"]

LEAST = Fraction(1, 2**EXPONENT_LIMIT)
MOST = Fraction(2**EXPONENT_LIMIT)

some_bits = st.sampled_from([2, 3, 24, 53, 128, 300])
rationals = st.fractions() | st.builds(
    lambda q, e: q * Fraction(2) ** e, st.fractions(-9, 9, max_denominator=10**9), st.integers(-300, 300)
)
near_zero = st.builds(lambda q, e: q / 2**e, st.fractions(-1, 1, max_denominator=10**9), st.integers(0, 600))


def up(op: str) -> Callable[..., Fraction]:
    function: Callable[..., Fraction] = getattr(dyadic, f"{op}_up")
    return function


def down(op: str) -> Callable[..., Fraction]:
    function: Callable[..., Fraction] = getattr(dyadic, f"{op}_down")
    return function


def unit(q: Fraction, bits: int) -> Fraction:
    """The distance of dyadic numbers of so many bits at the magnitude of q, found by trying."""
    exponent = abs(q.numerator).bit_length() - q.denominator.bit_length() + 1
    while Fraction(2) ** exponent > abs(q):
        exponent -= 1
    return Fraction(2) ** (exponent + 1 - bits)


def is_dyadic(q: Fraction, bits: int) -> bool:
    """Whether q is an odd integer of at most so many bits times a power of two."""
    power_of_two = q.denominator & (q.denominator - 1) == 0
    trailing_zeros = (q.numerator & -q.numerator).bit_length() - 1
    return power_of_two and q.numerator.bit_length() - trailing_zeros <= bits


def check_next(low: Fraction, exact: Fraction, high: Fraction, bits: int) -> None:
    """Both roundings are dyadic, on their sides, equal if the exact number is dyadic, else less than a unit apart."""
    assert is_dyadic(low, bits) and is_dyadic(high, bits)
    assert low <= exact <= high
    if is_dyadic(exact, bits):
        assert low == high
    else:
        assert high - low <= unit(exact, bits)
        assert low < exact < high


def check_close(low: Fraction, bounds: tuple[Fraction, Fraction], high: Fraction, bits: int) -> None:
    """Both roundings are dyadic, outside the bounds of the exact number, and at most two units from it."""
    assert is_dyadic(low, bits) and is_dyadic(high, bits)
    assert low <= bounds[0] and bounds[1] <= high
    slack = 2 * Fraction(2) ** (1 - bits) * max(map(abs, bounds))
    assert high - bounds[0] <= slack and bounds[1] - low <= slack


@given(rationals, some_bits)
@example(Fraction(0), 2)
@example(Fraction(7, 8), 2)
@example(Fraction(-7, 8), 2)
@example(Fraction(2**128 + 1), 128)
@example(Fraction(2**128 - 1), 128)
def test_rounding_gives_the_next_dyadic_number_on_the_side_named(q: Fraction, bits: int) -> None:
    low, high = dyadic.round_down(q, bits), dyadic.round_up(q, bits)
    check_next(low, q, high, bits)
    assert dyadic.round_up(high, bits) == dyadic.round_down(high, bits) == high
    assert dyadic.round_up(low, bits) == dyadic.round_down(low, bits) == low


def test_rounding_is_to_128_bits_unless_told_otherwise() -> None:
    third = Fraction(1, 3)
    assert dyadic.round_up(third) == dyadic.round_up(third, 128) == dyadic.div_up(Fraction(1), Fraction(3))
    assert dyadic.round_up(third).denominator == 2**129


@pytest.mark.parametrize("op", BINARY)
@given(a=rationals, b=rationals, bits=some_bits)
def test_arithmetic_is_the_exact_result_rounded_to_the_side_named(op: str, a: Fraction, b: Fraction, bits: int) -> None:
    if op == "div" and b == 0:
        return
    check_next(down(op)(a, b, bits=bits), BINARY[op](a, b), up(op)(a, b, bits=bits), bits)


@given(rationals.map(abs), some_bits)
@example(Fraction(9, 4), 2)
@example(Fraction(2), 2)
@example(Fraction(1, 3), 128)
def test_sqrt_is_the_next_dyadic_number_on_the_side_named(x: Fraction, bits: int) -> None:
    low, high = dyadic.sqrt_down(x, bits=bits), dyadic.sqrt_up(x, bits=bits)
    assert is_dyadic(low, bits) and is_dyadic(high, bits)
    assert low * low <= x <= high * high
    if low != high:
        assert low * low < x < high * high
        assert high - low <= unit(high, bits) and high - low <= 2 * unit(low, bits)


@for_each("bits", [2, 3, 53, 128])
@for_each("beside", [Fraction(1, 3**300), Fraction(1, 2**2000), Fraction(1, 10**700)])
def test_sqrt_of_a_number_just_beside_a_square_is_not_taken_for_the_root_of_it(bits: int, beside: Fraction) -> None:
    for root in (Fraction(1), Fraction(3, 2), Fraction(1, 2**90), Fraction(3 * 2**70)):
        step = unit(root, bits)
        above, below = root**2 * (1 + beside), root**2 * (1 - beside)
        assert dyadic.sqrt_down(above, bits=bits) == dyadic.sqrt_up(below, bits=bits) == root
        assert dyadic.sqrt_up(above, bits=bits) == root + step
        assert dyadic.sqrt_down(below, bits=bits) in (root - step, root - step / 2)  # half, below a power of two


@given(rationals, some_bits)
def test_sqrt_of_a_short_square_is_exact(x: Fraction, bits: int) -> None:
    root = dyadic.round_up(abs(x), bits)
    assert dyadic.sqrt_up(root * root, bits=bits) == dyadic.sqrt_down(root * root, bits=bits) == root


@given(st.fractions(-6, 6, max_denominator=10**6), some_bits)
def test_exp_is_close_to_its_series_on_the_side_named(x: Fraction, bits: int) -> None:
    check_close(dyadic.exp_down(x, bits=bits), exp_bounds(x, bits + 60), dyadic.exp_up(x, bits=bits), bits)


@given(st.fractions(-2, 2, max_denominator=10**6) | near_zero, some_bits)
def test_expm1_is_close_to_its_series_on_the_side_named_also_near_zero(x: Fraction, bits: int) -> None:
    low, high = exp_bounds(x, bits + 1400 if abs(x) < Fraction(1, 10**6) else bits + 60)
    check_close(dyadic.expm1_down(x, bits=bits), (low - 1, high - 1), dyadic.expm1_up(x, bits=bits), bits)


@given(st.fractions(Fraction(1, 3), 3, max_denominator=10**6), some_bits)
def test_log_is_close_to_its_series_on_the_side_named(q: Fraction, bits: int) -> None:
    bounds = log_bounds(q, bits + 60)
    check_close(dyadic.log_down(q, bits=bits), bounds, dyadic.log_up(q, bits=bits), bits)
    check_close(dyadic.log1p_down(q - 1, bits=bits), bounds, dyadic.log1p_up(q - 1, bits=bits), bits)


@given(near_zero, some_bits)
def test_log_and_log1p_keep_their_accuracy_where_they_are_zero(t: Fraction, bits: int) -> None:
    if t > Fraction(-2, 3):
        bounds = log_bounds(1 + t, bits + 60)
        check_close(dyadic.log1p_down(t, bits=bits), bounds, dyadic.log1p_up(t, bits=bits), bits)
        check_close(dyadic.log_down(1 + t, bits=bits), bounds, dyadic.log_up(1 + t, bits=bits), bits)


@for_each("far", [130, 136, 140, 200])
def test_an_operand_just_beside_a_dyadic_number_does_not_lead_to_the_other_side(far: int) -> None:
    # e**x - 1 and log(1 + x) are so close to x that rounding x the wrong way, however finely, would cross a grid point.
    point = Fraction(1, 2**600)
    for x in (point * (1 + Fraction(1, 2**far)), point * (1 - Fraction(1, 2**far))):
        for operand in (x, -x):
            low, high = exp_bounds(operand, 1500)
            check_close(dyadic.expm1_down(operand), (low - 1, high - 1), dyadic.expm1_up(operand), 128)
            bounds = log_bounds(1 + operand, 1500)
            check_close(dyadic.log1p_down(operand), bounds, dyadic.log1p_up(operand), 128)


@given(st.fractions(-9, 9, max_denominator=99), st.integers(-40, 40), some_bits)
def test_powi_with_a_narrow_power_is_the_exact_power_rounded(x: Fraction, n: int, bits: int) -> None:
    if x == 0 and n < 0:
        return
    check_next(dyadic.powi_down(x, n, bits=bits), x**n, dyadic.powi_up(x, n, bits=bits), bits)


@given(
    x=st.fractions(-9, 9, max_denominator=99).filter(bool),
    n=st.sampled_from([-5001, -5000, 5000, 5001]),
    bits=some_bits,
)
def test_powi_with_a_wide_power_is_close_to_it_on_the_side_named(x: Fraction, n: int, bits: int) -> None:
    exact = x**n
    check_close(dyadic.powi_down(x, n, bits=bits), (exact, exact), dyadic.powi_up(x, n, bits=bits), bits)


def test_powi_with_a_gigantic_exponent_is_close_to_the_exponential() -> None:
    n = 10**400
    x = 1 + Fraction(1, n)  # x**n is e less e/(2n) and smaller terms
    low, high = exp_bounds(Fraction(1), 600)
    assert high - dyadic.powi_down(x, n, bits=200) < Fraction(1, 2**190)
    assert dyadic.powi_down(x, n, bits=200) < low < high <= dyadic.powi_up(x, n, bits=200)
    assert dyadic.powi_up(-x, n + 1) == -dyadic.powi_down(x, n + 1)
    assert dyadic.powi_down(x, -n) < 1 / high * (1 + Fraction(1, n)) < dyadic.powi_up(x, -n)


def test_powi_is_exact_where_the_power_is_short_though_wide() -> None:
    x = Fraction(3 * 2**1000)
    assert dyadic.powi_up(x, 80) == dyadic.powi_down(x, 80) == x**80
    assert dyadic.powi_up(Fraction(2), -EXPONENT_LIMIT) == dyadic.powi_down(Fraction(2), -EXPONENT_LIMIT) == LEAST
    assert dyadic.powi_down(Fraction(2), EXPONENT_LIMIT) == dyadic.powi_up(Fraction(2), EXPONENT_LIMIT) == MOST


@for_each("n", [0, 1, 2, 3, 10**100, 10**100 + 1, -(10**100), -(10**100) - 1])
def test_powi_of_zero_and_one_is_exact_for_every_exponent(n: int) -> None:
    for directed in (dyadic.powi_up, dyadic.powi_down):
        assert directed(Fraction(1), n) == 1
        assert directed(Fraction(-1), n) == (-1 if n % 2 else 1)
        if n >= 0:
            assert directed(Fraction(0), n) == (1 if n == 0 else 0)


def test_functions_are_exact_where_their_value_is_rational() -> None:
    for bits in (2, 53, 128):
        assert dyadic.exp_up(Fraction(0), bits=bits) == dyadic.exp_down(Fraction(0), bits=bits) == 1
        assert dyadic.expm1_up(Fraction(0), bits=bits) == dyadic.expm1_down(Fraction(0), bits=bits) == 0
        assert dyadic.log_up(Fraction(1), bits=bits) == dyadic.log_down(Fraction(1), bits=bits) == 0
        assert dyadic.log1p_up(Fraction(0), bits=bits) == dyadic.log1p_down(Fraction(0), bits=bits) == 0


@for_each("x", [Fraction(700000), Fraction(-700000), Fraction(99999, 7), Fraction(-12345, 11)])
def test_exp_of_a_large_number_is_close_to_mpfr_with_more_bits(x: Fraction) -> None:
    low, high = mpfr_bounds("exp", x)
    check_close(dyadic.exp_down(x), (low, high), dyadic.exp_up(x), 128)
    check_close(dyadic.expm1_down(x), (low - 1, high - 1), dyadic.expm1_up(x), 128)


@for_each("x", [Fraction(10**3000), Fraction(1, 10**3000), Fraction(7, 10**9), Fraction(10**9, 7)])
def test_log_far_from_one_is_close_to_mpfr_with_more_bits(x: Fraction) -> None:
    check_close(dyadic.log_down(x), mpfr_bounds("log", x), dyadic.log_up(x), 128)
    check_close(dyadic.log1p_down(x - 1), mpfr_bounds("log", x), dyadic.log1p_up(x - 1), 128)


def mpfr_bounds(function: str, x: Fraction) -> tuple[Fraction, Fraction]:
    ends = []
    for direction in (gmpy2.RoundDown, gmpy2.RoundUp):
        context = gmpy2.context(precision=600, round=direction)
        value = getattr(context, function)(gmpy2.mpfr(gmpy2.mpq(x.numerator, x.denominator), 600, context))
        ends.append(Fraction(*map(int, value.as_integer_ratio())))
    return ends[0], ends[1]


def ends(op: str, *operands: Any) -> list[Any]:
    return [down(op)(*operands), up(op)(*operands)]


@pytest.mark.parametrize("power", [20, 160, 100000])
def test_e_to_a_very_negative_number_is_next_to_zero(power: int) -> None:
    x = -(Fraction(2) ** power)
    assert ends("exp", x) == [0, LEAST]
    assert ends("expm1", x) == [-1, -1 + Fraction(1, 2**128)]


def test_results_too_small_become_the_smallest_or_zero_on_the_side_named() -> None:
    tiny, odd = LEAST / 3, 10**9 + 1
    assert ends("round", tiny) == [0, LEAST]
    assert ends("round", -tiny) == [-LEAST, 0]
    assert ends("round", LEAST) == [LEAST, LEAST]
    assert ends("mul", LEAST, Fraction(1, 3)) == [0, LEAST]
    assert ends("powi", Fraction(1, 3), 10**9) == [0, LEAST]
    assert ends("powi", Fraction(-1, 3), odd) == [-LEAST, 0]
    assert ends("powi", Fraction(3), -(10**40)) == [0, LEAST]
    assert ends("log1p", -tiny) == [-LEAST, 0]
    assert ends("expm1", tiny) == [0, LEAST]


@for_each(
    ("op", "operands"),
    [
        ("round", (MOST + 1,)),
        ("round", (-MOST - 1,)),
        ("add", (MOST, LEAST)),
        ("mul", (MOST, Fraction(2))),
        ("exp", (Fraction(10**6),)),
        ("exp", (Fraction(2**100000),)),
        ("exp", (Fraction(726818),)),  # above 2**EXPONENT_LIMIT by less than a factor of 3
        ("expm1", (Fraction(10**30),)),
        ("powi", (Fraction(3), 10**30)),
        ("powi", (Fraction(-1, 3), -(10**30))),
        ("powi", (Fraction(2), EXPONENT_LIMIT + 1)),
    ],
)
def test_results_too_large_are_refused_in_both_directions(op: str, operands: tuple[Any, ...]) -> None:
    for directed in (up(op), down(op)):
        with pytest.raises(NumberError, match=f"{op}_.*above 2\\*\\*{EXPONENT_LIMIT}"):
            directed(*operands)


def test_operands_of_very_many_digits_are_described_in_errors() -> None:
    with pytest.raises(NumberError, match=r"add_up\(about -2\*\*1048576, -1/3\)"):
        dyadic.add_up(-MOST, Fraction(-1, 3))


def test_the_largest_number_is_kept() -> None:
    assert dyadic.round_up(MOST) == dyadic.round_down(MOST) == MOST
    assert dyadic.round_up(MOST - LEAST) == MOST
    assert dyadic.round_down(-MOST + LEAST) == -MOST


@for_each(
    ("op", "operands", "said"),
    [
        ("div", (Fraction(1), Fraction(0)), "(1, 0)"),
        ("sqrt", (Fraction(-1, 3),), "(-1/3)"),
        ("log", (Fraction(0),), "(0)"),
        ("log", (Fraction(-1),), "(-1)"),
        ("log1p", (Fraction(-1),), "(-1)"),
        ("log1p", (Fraction(-3, 2),), "(-3/2)"),
        ("powi", (Fraction(0), -1), "(0, -1)"),
    ],
)
def test_what_has_no_value_is_refused_and_named(op: str, operands: tuple[Any, ...], said: str) -> None:
    for directed in (up(op), down(op)):
        with pytest.raises(NumberError, match=r"has no value|divides by zero") as refused:
            directed(*operands)
        assert f"{directed.__name__}{said}" in str(refused.value)


@for_each("op", [*OPERATIONS, "round"])
def test_floats_are_refused_as_inexact(op: str) -> None:
    for directed in (up(op), down(op)):
        with pytest.raises(NotExact):
            directed(*operands_for(op, 0.5))


@for_each("op", [*OPERATIONS, "round"])
@for_each("bad", [True, "1/2", None, math.pi * 1j])
def test_what_is_no_rational_is_refused(op: str, bad: Any) -> None:
    for directed in (up(op), down(op)):
        with pytest.raises(NumberError):
            directed(*operands_for(op, bad))


@for_each("op", OPERATIONS)
@for_each("bits", [1, 0, -5, True, 53.0, None])
def test_fewer_than_two_bits_are_refused(op: str, bits: Any) -> None:
    for directed in (up(op), down(op)):
        with pytest.raises(NumberError, match="bits="):
            directed(*operands_for(op, Fraction(1, 3)), bits=bits)


@for_each("op", OPERATIONS)
def test_integers_are_taken(op: str) -> None:
    for directed in (up(op), down(op)):
        assert directed(*operands_for(op, 3)) == directed(*operands_for(op, Fraction(3)))


def operands_for(op: str, x: Any) -> tuple[Any, ...]:
    return (Fraction(1), x) if op in BINARY else (x, 3) if op == "powi" else (x,)


def test_the_current_context_of_gmpy2_does_not_matter() -> None:
    def sample() -> list[Fraction]:
        return [directed(Fraction(1, 3)) for op in UNARY for directed in (up(op), down(op))] + [
            dyadic.powi_up(Fraction(1, 3), 10**5)
        ]

    expected = sample()
    hostile = gmpy2.context(
        precision=2, emax=5, emin=-5, round=gmpy2.RoundToZero, trap_inexact=True, trap_overflow=True
    )
    before = gmpy2.get_context()
    gmpy2.set_context(hostile)
    try:
        assert sample() == expected
    finally:
        gmpy2.set_context(before)
