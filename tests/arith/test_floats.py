"""The scalar directed operations: always on the side named, and never more than one float away."""

from __future__ import annotations

import itertools
import math
import operator
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.arith.floating_point_unit import (
    DENORMALS_ARE_ZERO,
    DOWNWARD,
    FLUSH_TO_ZERO,
    TOWARD_ZERO,
    UPWARD,
    can_be_set,
    unit_set_to,
)
from tests.arith.oracles import (
    INF,
    LARGEST,
    LEAST_NORMAL,
    NASTY,
    SMALLEST,
    any_floats,
    bits,
    exp_bounds,
    is_down,
    is_function_down,
    is_function_up,
    is_root_down,
    is_root_up,
    is_up,
    log_bounds,
)
from tests.cases import for_each

from viameter.arith import floats
from viameter.errors import NotExact, NumberError

BINARY = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}
UNARY = ["exp", "expm1", "log", "log1p"]

finite = st.floats(allow_nan=False, allow_infinity=False)
# Neighbors in magnitude: so that sums cancel, and products and quotients are ordinary.
ordinary = st.floats(min_value=-4.0, max_value=4.0)
pairs = st.tuples(finite, finite) | st.tuples(ordinary, ordinary)


def up(op: str) -> Callable[..., float]:
    function: Callable[..., float] = getattr(floats, f"{op}_up")
    return function


def down(op: str) -> Callable[..., float]:
    function: Callable[..., float] = getattr(floats, f"{op}_down")
    return function


def in_domain(op: str, x: float) -> bool:
    return x > 0 if op == "log" else x > -1 if op == "log1p" else True


@pytest.mark.parametrize("op", BINARY)
@given(pair=pairs)
def test_arithmetic_is_the_exact_result_rounded_to_the_side_named(op: str, pair: tuple[float, float]) -> None:
    check_arithmetic(op, *pair)


@pytest.mark.parametrize("op", BINARY)
def test_arithmetic_is_right_for_all_pairs_of_nasty_floats(op: str) -> None:
    for a, b in itertools.product(NASTY, NASTY):
        if not (math.isinf(a) or math.isinf(b)):
            check_arithmetic(op, a, b)


@for_each("op", BINARY)
def test_arithmetic_is_right_over_the_whole_range_of_exponents(op: str) -> None:
    a, b = any_floats(1, 1000).tolist(), any_floats(2, 1000).tolist()
    for x, y in zip(a, b, strict=True):
        if math.isfinite(x) and math.isfinite(y):
            check_arithmetic(op, x, y)


@pytest.mark.parametrize("op", ["mul", "div"])
def test_arithmetic_is_right_where_the_result_is_subnormal(op: str) -> None:
    random = np.random.default_rng(5)
    scaled = np.ldexp(random.uniform(-2, 2, 1000), random.integers(-560, -500, 1000)).tolist()
    for a, b in zip(scaled[:500], scaled[500:], strict=True):
        check_arithmetic(op, a, b if op == "mul" else 1 / b)


def check_arithmetic(op: str, a: float, b: float) -> None:
    if op == "div" and b == 0:
        return
    exact = BINARY[op](Fraction(a), Fraction(b))
    assert is_up(up(op)(a, b), exact)
    assert is_down(down(op)(a, b), exact)


@given(
    st.floats(min_value=0.0, exclude_min=True, allow_infinity=False) | st.integers(1, 10**6).map(lambda n: float(n * n))
)
def test_sqrt_is_rounded_to_the_side_named(x: float) -> None:
    assert is_root_up(floats.sqrt_up(x), x)
    assert is_root_down(floats.sqrt_down(x), x)


def test_sqrt_is_right_for_nasty_floats_and_over_the_whole_range_of_exponents() -> None:
    for x in [*NASTY, *any_floats(3, 2000).tolist()]:
        if 0 < x < INF:
            assert is_root_up(floats.sqrt_up(x), x)
            assert is_root_down(floats.sqrt_down(x), x)


@pytest.mark.parametrize("op", UNARY)
@given(x=finite | st.floats(-750.0, 715.0) | st.floats(-1.0, 1.0))
def test_elementary_functions_are_rounded_to_the_side_named(op: str, x: float) -> None:
    check_function(op, x)


@for_each("op", UNARY)
def test_elementary_functions_are_right_for_nasty_floats_and_over_the_whole_range(op: str) -> None:
    for x in [*NASTY, *any_floats(4, 2000).tolist(), *np.linspace(-746.0, -707.0, 500).tolist()]:
        if math.isfinite(x):
            check_function(op, x)


def check_function(op: str, x: float) -> None:
    if not in_domain(op, x):
        return
    assert is_function_up(up(op)(x), op, x)
    assert is_function_down(down(op)(x), op, x)


@pytest.mark.parametrize(
    ("op", "x"),
    [
        ("exp", "-0x1.ed318efb627eap-27"),  # e**x is within 2**-113 of a float, relatively
        ("log", "0x1.62a88613629b6p+678"),  # log(x) is within 2**-118 of a float, relatively
    ],
)
def test_the_hardest_known_cases_are_rounded_to_the_side_named(op: str, x: str) -> None:
    check_function(op, float.fromhex(x))
    assert up(op)(float.fromhex(x)) == math.nextafter(down(op)(float.fromhex(x)), INF)


@given(st.fractions(-3, 3, max_denominator=2**20).map(lambda q: Fraction(float(q))))
def test_exp_and_expm1_agree_with_their_series_in_rationals(x: Fraction) -> None:
    low, high = exp_bounds(x, 150)
    assert Fraction(floats.exp_up(float(x))) >= high or x == 0
    assert Fraction(floats.exp_down(float(x))) <= low or x == 0
    assert Fraction(floats.expm1_up(float(x))) >= high - 1 or x == 0
    assert Fraction(floats.expm1_down(float(x))) <= low - 1 or x == 0


@given(st.fractions(Fraction(1, 3), 3, max_denominator=2**20).map(lambda q: Fraction(float(q))))
def test_log_and_log1p_agree_with_their_series_in_rationals(q: Fraction) -> None:
    low, high = log_bounds(q, 150)
    assert Fraction(floats.log_up(float(q))) >= high
    assert Fraction(floats.log_down(float(q))) <= low
    if Fraction(float(q - 1)) == q - 1:
        assert Fraction(floats.log1p_up(float(q - 1))) >= high
        assert Fraction(floats.log1p_down(float(q - 1))) <= low


@given(x=finite | ordinary, n=st.integers(-40, 40))
def test_powi_is_the_exact_power_rounded_to_the_side_named(x: float, n: int) -> None:
    if x == 0 and n < 0:
        return
    exact = Fraction(x) ** n
    assert is_up(floats.powi_up(x, n), exact)
    assert is_down(floats.powi_down(x, n), exact)


@given(
    x=st.floats(0.0, 4.0, exclude_min=True) | st.floats(1.0 - 2.0**-40, 1.0 + 2.0**-40),
    n=st.integers(-(10**4), 10**4) | st.integers(-(2**63), 2**63) | st.integers(-(2**100), 2**100),
)
def test_powi_is_right_for_huge_exponents(x: float, n: int) -> None:
    assert is_function_up(floats.powi_up(x, n), "pow", gmpy2.mpfr(x), gmpy2.mpz(n))
    assert is_function_down(floats.powi_down(x, n), "pow", gmpy2.mpfr(x), gmpy2.mpz(n))
    sign = -1 if n % 2 else 1
    assert floats.powi_up(-x, n) == (floats.powi_up(x, n) if sign > 0 else -floats.powi_down(x, n))


@for_each("n", [3, 7, 40, -3, -40])
def test_powi_is_right_where_the_power_is_subnormal_or_overflows(n: int) -> None:
    ends = np.concatenate([np.linspace(-1080.0, -1015.0, 60), np.linspace(1022.5, 1025.0, 10)])
    for x in (2.0 ** (ends / n)).tolist():
        for base in (x, -x):
            assert is_up(floats.powi_up(base, n), Fraction(base) ** n)
            assert is_down(floats.powi_down(base, n), Fraction(base) ** n)


def test_powi_takes_exponents_wider_than_a_float_exactly() -> None:
    x = 1.0 + 2.0**-52
    n = 2**60 + 1
    assert is_function_up(floats.powi_up(x, n), "pow", gmpy2.mpfr(x), gmpy2.mpz(n))
    assert floats.powi_up(-1.0, 10**5000 + 1) == -1.0
    assert floats.powi_down(-1.0, 10**5000) == 1.0
    assert floats.powi_up(-x, -(10**5000) - 1) == 0.0
    assert floats.powi_down(-x, -(10**5000) - 1) == -SMALLEST
    assert floats.powi_down(-x, 10**5000 + 1) == -INF
    assert floats.powi_up(-x, 10**5000 + 1) == -LARGEST


@for_each(
    ("op", "operands", "upward", "downward"),
    [
        ("add", (1.0, -1.0), 0.0, -0.0),
        ("add", (0.0, -0.0), 0.0, -0.0),
        ("add", (-0.0, -0.0), -0.0, -0.0),
        ("add", (0.0, 0.0), 0.0, 0.0),
        ("sub", (1.0, 1.0), 0.0, -0.0),
        ("sub", (-0.0, 0.0), -0.0, -0.0),
        ("sub", (0.0, -0.0), 0.0, 0.0),
        ("mul", (-0.0, 2.0), -0.0, -0.0),
        ("mul", (-0.0, -2.0), 0.0, 0.0),
        ("mul", (SMALLEST, SMALLEST), SMALLEST, 0.0),
        ("mul", (-SMALLEST, SMALLEST), -0.0, -SMALLEST),
        ("div", (-0.0, 2.0), -0.0, -0.0),
        ("div", (SMALLEST, -3.0), -0.0, -SMALLEST),
        ("sqrt", (-0.0,), -0.0, -0.0),
        ("exp", (-0.0,), 1.0, 1.0),
        ("expm1", (-0.0,), -0.0, -0.0),
        ("expm1", (-SMALLEST,), -0.0, -SMALLEST),
        ("log", (1.0,), 0.0, 0.0),
        ("log1p", (-0.0,), -0.0, -0.0),
        ("log1p", (SMALLEST,), SMALLEST, 0.0),
        ("powi", (-0.0, 3), -0.0, -0.0),
        ("powi", (-0.0, 2), 0.0, 0.0),
        ("powi", (-0.0, 0), 1.0, 1.0),
        ("powi", (-INF, -3), -0.0, -0.0),
        ("powi", (-1e-200, 3), -0.0, -SMALLEST),
    ],
)
def test_zeros_have_the_sign_of_ieee_754(op: str, operands: tuple[Any, ...], upward: float, downward: float) -> None:
    assert bits(up(op)(*operands)) == bits(upward)
    assert bits(down(op)(*operands)) == bits(downward)


@for_each(
    ("op", "operands", "upward", "downward"),
    [
        ("add", (LARGEST, LARGEST), INF, LARGEST),
        ("add", (-LARGEST, -LARGEST), -LARGEST, -INF),
        ("add", (LARGEST, SMALLEST), INF, LARGEST),
        ("sub", (-LARGEST, 1.0), -LARGEST, -INF),
        ("mul", (2.0**1000, 2.0**1000), INF, LARGEST),
        ("mul", (-(2.0**1000), 2.0**1000), -LARGEST, -INF),
        ("div", (1.0, SMALLEST), INF, LARGEST),
        ("exp", (1e300,), INF, LARGEST),
        ("exp", (-1e300,), SMALLEST, 0.0),
        ("exp", (710.0,), INF, LARGEST),
        ("exp", (-746.0,), SMALLEST, 0.0),
        ("expm1", (1e300,), INF, LARGEST),
        ("expm1", (-1e300,), -1.0 + 2.0**-53, -1.0),
        ("powi", (-10.0, 309), -LARGEST, -INF),
        ("powi", (10.0, -324), SMALLEST, 0.0),
    ],
)
def test_overflow_and_underflow_stop_on_the_side_named(
    op: str, operands: tuple[Any, ...], upward: float, downward: float
) -> None:
    assert bits(up(op)(*operands)) == bits(upward)
    assert bits(down(op)(*operands)) == bits(downward)


@for_each(
    ("op", "operands", "limit"),
    [
        ("add", (INF, 1.0), INF),
        ("add", (INF, INF), INF),
        ("sub", (1.0, INF), -INF),
        ("sub", (INF, -INF), INF),
        ("mul", (-INF, SMALLEST), -INF),
        ("mul", (INF, -INF), -INF),
        ("div", (INF, -2.0), -INF),
        ("div", (1.0, INF), 0.0),
        ("div", (-1.0, INF), -0.0),
        ("sqrt", (INF,), INF),
        ("exp", (INF,), INF),
        ("exp", (-INF,), 0.0),
        ("expm1", (INF,), INF),
        ("expm1", (-INF,), -1.0),
        ("log", (INF,), INF),
        ("log", (0.0,), -INF),
        ("log", (-0.0,), -INF),
        ("log1p", (INF,), INF),
        ("log1p", (-1.0,), -INF),
        ("powi", (INF, 3), INF),
        ("powi", (-INF, 3), -INF),
        ("powi", (-INF, 2), INF),
        ("powi", (INF, -1), 0.0),
        ("powi", (INF, 0), 1.0),
        ("powi", (-INF, 10**30 + 1), -INF),
    ],
)
def test_infinite_operands_give_the_limit_where_there_is_one(op: str, operands: tuple[Any, ...], limit: float) -> None:
    assert bits(up(op)(*operands)) == bits(limit)
    assert bits(down(op)(*operands)) == bits(limit)


@for_each(
    ("op", "operands"),
    [
        ("add", (INF, -INF)),
        ("sub", (INF, INF)),
        ("mul", (0.0, INF)),
        ("mul", (-INF, -0.0)),
        ("div", (0.0, 0.0)),
        ("div", (1.0, 0.0)),
        ("div", (1.0, -0.0)),
        ("div", (INF, 0.0)),
        ("div", (INF, INF)),
        ("sqrt", (-1.0,)),
        ("sqrt", (-SMALLEST,)),
        ("sqrt", (-INF,)),
        ("log", (-SMALLEST,)),
        ("log", (-INF,)),
        ("log1p", (-1.0 - 2.0**-52,)),
        ("log1p", (-INF,)),
        ("powi", (0.0, -1)),
        ("powi", (-0.0, -2)),
    ],
)
def test_what_has_no_value_is_refused_and_named(op: str, operands: tuple[Any, ...]) -> None:
    for directed in (up(op), down(op)):
        with pytest.raises(NumberError) as refused:
            directed(*operands)
        assert str(refused.value).startswith(f"{directed.__name__}({', '.join(map(repr, operands))})")


@for_each("op", [*BINARY, "sqrt", *UNARY])
@for_each("bad", [math.nan, True, "1.0", None, Fraction(1, 2), 2**53 + 1, 10**5000])
def test_what_is_no_float_is_refused(op: str, bad: Any) -> None:
    for directed in (up(op), down(op)):
        for operands in ((bad, 1.0), (1.0, bad)) if op in BINARY else ((bad,),):
            with pytest.raises(NumberError, match="was given"):
                directed(*operands)


@for_each("bad", [1.0, True, "2", None, Fraction(2)])
def test_an_exponent_that_is_no_integer_is_refused(bad: Any) -> None:
    for directed in (floats.powi_up, floats.powi_down):
        with pytest.raises(NumberError, match="expected an integer"):
            directed(2.0, bad)


def test_a_huge_exponent_in_an_error_is_shown_short() -> None:
    with pytest.raises(NumberError, match="has no value") as refused:
        floats.powi_up(0.0, -(10**10000))
    assert len(str(refused.value)) < 200


def test_integers_and_numpy_floats_that_are_exact_are_taken() -> None:
    assert floats.add_up(2**53, 1) == 2.0**53 + 2
    assert floats.add_down(2**1000, 1) == 2.0**1000
    assert type(floats.add_up(np.float64(1.0), 2.0)) is float
    assert floats.powi_up(2.0, np.int64(3)) == 8.0  # type: ignore[arg-type]


@given(st.fractions() | st.builds(lambda q, e: q * Fraction(2) ** e, st.fractions(-9, 9), st.integers(-1200, 1100)))
def test_from_fraction_gives_the_next_float_on_the_side_named(q: Fraction) -> None:
    assert is_up(floats.from_fraction_up(q), q)
    assert is_down(floats.from_fraction_down(q), q)


@for_each("x", [x for x in NASTY if math.isfinite(x)])
def test_from_fraction_keeps_floats_and_moves_off_them_at_once(x: float) -> None:
    q, less = Fraction(x), Fraction(1, 2**1200)
    assert floats.from_fraction_up(q) == floats.from_fraction_down(q) == x
    assert floats.from_fraction_up(q + less) == floats.from_fraction_up(Fraction(x) + less) > x
    assert floats.from_fraction_down(q + less) == x
    assert floats.from_fraction_up(q - less) == x
    assert floats.from_fraction_down(q - less) == math.nextafter(x, -INF)


def test_from_fraction_overflows_and_underflows_on_the_side_named() -> None:
    huge, tiny = Fraction(10) ** 400, Fraction(1, 10**400)
    assert (floats.from_fraction_up(huge), floats.from_fraction_down(huge)) == (INF, LARGEST)
    assert (floats.from_fraction_up(-huge), floats.from_fraction_down(-huge)) == (-LARGEST, -INF)
    assert (floats.from_fraction_up(tiny), floats.from_fraction_down(tiny)) == (SMALLEST, 0.0)
    assert (floats.from_fraction_up(-tiny), floats.from_fraction_down(-tiny)) == (0.0, -SMALLEST)
    assert bits(floats.from_fraction_down(Fraction(0))) == bits(0.0)


def test_from_fraction_refuses_floats_and_what_is_no_number() -> None:
    for directed in (floats.from_fraction_up, floats.from_fraction_down):
        with pytest.raises(NotExact):
            directed(0.5)  # type: ignore[arg-type]
        with pytest.raises(NumberError):
            directed("1/2")  # type: ignore[arg-type]
        with pytest.raises(NumberError):
            directed(True)  # type: ignore[arg-type]


def sample() -> list[int]:
    """The bits of one result of each operation, some of them subnormal."""
    results = [up(op)(1.1, 1e-7) for op in BINARY] + [down(op)(1.1, 1e-7) for op in BINARY]
    results += [up(op)(0.3) for op in UNARY] + [down(op)(0.3) for op in UNARY]
    results += [floats.mul_up(1e-160, 1e-160), floats.exp_down(-740.0), floats.powi_up(1.7, -1380)]
    results += [floats.from_fraction_up(Fraction(1, 3)), floats.sqrt_up(LEAST_NORMAL)]
    return [bits(result) for result in results]


def test_the_current_context_of_gmpy2_does_not_matter() -> None:
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


def test_threads_do_not_disturb_one_another() -> None:
    expected = sample()
    wrong: list[list[int]] = []

    def work() -> None:
        for _ in range(200):
            found = sample()
            if found != expected:
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not can_be_set, reason="needs glibc on x86-64")
@pytest.mark.parametrize("flags", [FLUSH_TO_ZERO, DENORMALS_ARE_ZERO, FLUSH_TO_ZERO | DENORMALS_ARE_ZERO])
def test_a_thread_that_loses_subnormals_is_refused(flags: int) -> None:
    calls: list[Callable[[], float]] = [
        lambda: floats.exp_up(-740.0),
        lambda: floats.from_fraction_up(Fraction(1, 3)),
    ]
    refused = 0
    with unit_set_to(flags):
        for call in calls:
            try:
                call()
            except NumberError:
                refused += 1
    assert refused == len(calls)


@pytest.mark.skipif(not can_be_set, reason="needs glibc on x86-64")
@pytest.mark.parametrize("flags", [DOWNWARD, UPWARD, TOWARD_ZERO])
def test_the_direction_of_the_floating_point_unit_does_not_matter(flags: int) -> None:
    expected = sample()
    with unit_set_to(flags):
        found = sample()
    assert found == expected
