"""Numbers as people write them: what is taken exactly, and what is refused with its name and value."""

import math
import struct
import tracemalloc
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each

from viameter.arith.rationals import (
    INFINITY,
    MOST_DIGITS,
    ZERO,
    exact,
    exactly,
    extended,
    nonnegative,
    probability,
    times,
    whole,
)
from viameter.errors import NotExact, NumberError

ANY_READER = for_each("read", [exact, nonnegative, extended, probability, whole])
ENORMOUS = 10**5000


def names(text: str, name: str, value: Any) -> bool:
    """Whether an error says which number it speaks of, as it was written or in lowest terms."""
    return any(f"{name}={shown}" in text for shown in (str(value), repr(value), str(Fraction(str(value)))))


@for_each(
    ("text", "number"),
    [
        ("1/10", Fraction(1, 10)),
        (" 1/10 ", Fraction(1, 10)),
        ("1 / 10", Fraction(1, 10)),
        ("\t1/10\n", Fraction(1, 10)),
        ("+1/10", Fraction(1, 10)),
        ("-1/10", Fraction(-1, 10)),
        ("2/20", Fraction(1, 10)),
        ("0/7", ZERO),
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("-.5", Fraction(-1, 2)),
        ("007", Fraction(7)),
        ("1e-6", Fraction(1, 10**6)),
        ("1E-6", Fraction(1, 10**6)),
        ("2.5e+3", Fraction(2500)),
        (".5e1", Fraction(5)),
        ("5.e0", Fraction(5)),
        ("-0", ZERO),
        ("0e4000", ZERO),
    ],
)
def test_text_is_taken_as_the_number_that_it_says(text: str, number: Fraction) -> None:
    assert exact(text) == number
    assert type(exact(text)) is Fraction


@pytest.mark.parametrize("text", ["1\t/\t10", "1\n/10", "1/\r10"])
def test_text_with_any_blank_around_its_slash_is_taken(text: str) -> None:
    # Once: the pattern takes every blank, but only " " is removed before Fraction reads it: a bare ValueError on 3.11.
    assert exact(text, name="rho") == Fraction(1, 10)


@for_each(
    "text",
    [
        "",
        " ",
        "1_000",
        "1_0/3",
        "1/1_0",
        "٣",
        "１",
        "½",
        "1/٣",
        "1\N{NO-BREAK SPACE}",
        "1/-2",
        "1/+2",
        "1//2",
        "1/2/3",
        "/2",
        "1/",
        "1.5/2",
        "1/2.5",
        "1e1/2",
        "- 1",
        "--1",
        "1 0",
        "1e",
        "1e1.5",
        "e5",
        ".",
        "1,5",
        "0x10",
        "1+1",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "Infinity",
        "∞",
        "one",
        "1\0",
        "1/0",
        "0/0",
        "-1/00",
    ],
)
def test_other_text_is_refused_with_its_name_and_what_it_was(text: str) -> None:
    with pytest.raises(NumberError) as refused:
        exact(text, name="epsilon")
    assert f"epsilon={text!r}" in str(refused.value)


@for_each(
    "text",
    [
        "1e999999999",
        "1e-999999999",
        "1e" + "9" * 10**5,
        "1e-" + "9" * 10**5,
        "9" * 10**5,
        "1/" + "9" * 10**5,
        "0." + "0" * 10**5 + "1",
        "1" + " " * 10**5,
        "9" * 10**5 + "x",
        "1" + " " * 10**5 + "x",
    ],
)
def test_text_of_very_many_digits_is_refused_without_eating_memory(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(NumberError, match="epsilon") as refused:
            exact(text, name="epsilon")
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("number", [Decimal("1e999999"), Decimal("1e-999999"), Decimal("0e999999")])
def test_decimals_of_very_many_digits_are_refused_without_eating_memory(number: Decimal) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(NumberError, match="epsilon"):
            exact(number, name="epsilon")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_text_is_taken_up_to_the_limit_of_digits_and_not_beyond() -> None:
    assert exact("9" * MOST_DIGITS) == 10**MOST_DIGITS - 1
    assert exact(f"1e{MOST_DIGITS}") == 10**MOST_DIGITS
    assert exact(f"1e-{MOST_DIGITS}") == Fraction(1, 10**MOST_DIGITS)
    assert exact(Decimal(f"1e-{MOST_DIGITS}")) == Fraction(1, 10**MOST_DIGITS)
    for text in ("9" * (MOST_DIGITS + 1), f"1e{MOST_DIGITS + 1}", f"1e-{MOST_DIGITS + 1}"):
        with pytest.raises(NumberError):
            exact(text)


def test_integers_and_fractions_of_any_length_are_taken() -> None:
    assert exact(ENORMOUS) == ENORMOUS
    assert extended(Fraction(1, ENORMOUS)) == Fraction(1, ENORMOUS)


@for_each(
    ("value", "number"),
    [
        (3, Fraction(3)),
        (-3, Fraction(-3)),
        (np.int8(-3), Fraction(-3)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (gmpy2.mpz(3), Fraction(3)),
        (gmpy2.mpq(-1, 3), Fraction(-1, 3)),
        (Fraction(2, 6), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("-0"), ZERO),
        (Decimal("1E+3"), Fraction(1000)),
    ],
)
def test_exact_numbers_of_other_libraries_become_fractions_of_plain_integers(value: Any, number: Fraction) -> None:
    taken = exact(value)
    assert taken == number
    assert type(taken) is Fraction
    assert type(taken.numerator) is int and type(taken.denominator) is int


def test_a_decimal_is_taken_exactly_whatever_the_context_rounds_to() -> None:
    with localcontext() as context:
        context.prec = 3
        assert exact(Decimal("0.123456789")) == Fraction(123456789, 10**9)


@ANY_READER
@for_each("value", [0.1, 0.0, 1.0, -0.5, np.float64(0.1), 5e-324])
def test_a_float_is_refused_with_what_to_write_instead(read: Callable[..., Any], value: float) -> None:
    with pytest.raises(NotExact) as refused:
        read(value, name="rho")
    text = str(refused.value)
    assert f"rho={float(value)!r}" in text
    assert f'"{float(value)!r}"' in text and f"exactly({float(value)!r})" in text
    assert (refused.value.name, refused.value.value) == ("rho", value)


@ANY_READER
@for_each("value", [math.nan, -math.inf, np.float64("nan")])
def test_a_float_that_is_no_number_is_refused_by_name_and_value(read: Callable[..., Any], value: float) -> None:
    with pytest.raises(NumberError, match=f"rho={float(value)!r}") as refused:
        read(value, name="rho")
    assert not isinstance(refused.value, NotExact)


@for_each("read", [exact, nonnegative, probability, whole])
def test_infinity_is_refused_where_a_finite_number_is_wanted(read: Callable[..., Any]) -> None:
    for infinite in (math.inf, "inf", Decimal("Infinity")):
        with pytest.raises(NumberError, match="rho"):
            read(infinite, name="rho")


@ANY_READER
@for_each("value", [Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), Decimal("Infinity")])
def test_decimals_that_are_no_finite_number_are_refused_by_name_and_value(
    read: Callable[..., Any], value: Decimal
) -> None:
    with pytest.raises(NumberError, match=f"rho={value!s}"):
        read(value, name="rho")


@ANY_READER
@for_each("value", [True, False])
def test_a_truth_value_is_no_number(read: Callable[..., Any], value: bool) -> None:
    with pytest.raises(NumberError, match=f"rho={value!r}"):
        read(value, name="rho")


@ANY_READER
@for_each(
    "value", [None, b"1", [1], (1, 2), 1j, {}, object(), np.bool_(True), np.float32(0.5), np.array(1), gmpy2.mpfr(1)]
)
def test_a_value_of_another_type_is_refused_by_name_and_type(read: Callable[..., Any], value: Any) -> None:
    with pytest.raises(NumberError, match=f"rho is of type {type(value).__name__}"):
        read(value, name="rho")


@given(st.fractions())
def test_a_fraction_written_as_text_is_read_back(number: Fraction) -> None:
    assert exact(str(number)) == number


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_a_decimal_and_its_text_are_the_same_number(number: Decimal) -> None:
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    magnitude = Fraction(int("".join(map(str, digits)))) * Fraction(10) ** exponent
    assert exact(number) == exact(str(number)) == (-magnitude if sign else magnitude)


@for_each("read", [nonnegative, extended, probability, whole])
@for_each("value", [-1, "-1", "-1e-6", Fraction(-1, 3), Decimal("-0.5"), np.int64(-2)])
def test_negative_numbers_are_refused_by_name_and_value(read: Callable[..., Any], value: Any) -> None:
    with pytest.raises(NumberError, match="negative") as refused:
        read(value, name="rho")
    assert names(str(refused.value), "rho", value)


@for_each("read", [nonnegative, extended, probability, whole])
@for_each("value", [0, "0", "-0", Decimal("-0"), ZERO])
def test_zero_is_not_negative(read: Callable[..., Any], value: Any) -> None:
    assert read(value) == 0


@for_each("value", [1, "1", "1.000", 0, "1e-4000", Fraction(999, 1000)])
def test_probabilities_go_up_to_one(value: Any) -> None:
    assert 0 <= probability(value) <= 1


@for_each("value", [2, "1.0000000000000000000000000001", Fraction(1001, 1000), Decimal("1.5")])
def test_more_than_one_is_no_probability(value: Any) -> None:
    with pytest.raises(NumberError) as refused:
        probability(value, name="delta")
    assert names(str(refused.value), "delta", value)


@for_each("value", [3, "3", "3.0", "6/2", Decimal("3"), np.int32(3)])
def test_whole_numbers_come_as_plain_integers(value: Any) -> None:
    assert whole(value) == 3 and type(whole(value)) is int


@pytest.mark.parametrize("value", ["1/2", "0.5", Fraction(7, 3)])
def test_a_number_between_two_whole_ones_is_refused(value: Any) -> None:
    with pytest.raises(NumberError) as refused:
        whole(value, name="size")
    assert names(str(refused.value), "size", value)


@for_each("value", [math.inf, np.float64("inf"), "inf", " INF ", "+inf", "Infinity", "+infinity", "∞"])
def test_infinity_is_taken_where_it_is_allowed(value: Any) -> None:
    taken = extended(value)
    assert taken == INFINITY and type(taken) is float


@for_each("value", ["-inf", "nan", "-infinity", "infinite", ""])
def test_other_words_are_not_taken_for_infinity(value: str) -> None:
    with pytest.raises(NumberError, match="epsilon"):
        extended(value, name="epsilon")


@for_each(
    ("read", "value"),
    [
        (nonnegative, -ENORMOUS),
        (nonnegative, Fraction(-1, ENORMOUS)),
        (extended, -ENORMOUS),
        (probability, ENORMOUS),
        (whole, Fraction(1, ENORMOUS)),
        (exactly, ENORMOUS),
    ],
)
def test_a_refused_number_of_very_many_digits_is_refused_as_one_of_few_is(
    read: Callable[..., Any], value: int | Fraction
) -> None:
    # Once: the text of the error needs str(value), which Python refuses beyond 4300 digits: a bare ValueError.
    with pytest.raises(NumberError) as refused:
        read(value)
    assert len(str(refused.value)) < 500


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_exactly_takes_a_float_at_its_binary_value(value: float) -> None:
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    exponent, mantissa = bits >> 52 & 0x7FF, bits & (2**52 - 1)
    magnitude = (mantissa + (2**52 if exponent else 0)) * Fraction(2) ** (max(exponent, 1) - 1075)
    assert exactly(value) == (-magnitude if bits >> 63 else magnitude)


def test_exactly_takes_numpy_doubles() -> None:
    assert exactly(np.float64(0.5)) == Fraction(1, 2)
    assert type(exactly(np.float64(0.5)).numerator) is int


@for_each("value", [1, True, "0.5", Fraction(1, 2), Decimal(1), np.float32(0.5), None])
def test_exactly_takes_nothing_but_floats(value: Any) -> None:
    with pytest.raises(NumberError) as refused:
        exactly(value)
    assert str(value) in str(refused.value) or type(value).__name__ in str(refused.value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_exactly_refuses_floats_without_a_value(value: float) -> None:
    with pytest.raises(NumberError, match=repr(value)):
        exactly(value)


@for_each(
    ("left", "right", "product"),
    [
        (ZERO, INFINITY, ZERO),
        (ZERO, ZERO, ZERO),
        (Fraction(2), Fraction(3), Fraction(6)),
        (Fraction(1, 10**400), INFINITY, INFINITY),
        (Fraction(10**400), INFINITY, INFINITY),
        (INFINITY, INFINITY, INFINITY),
        (Fraction(10**400), Fraction(1, 10**400), Fraction(1)),
        (Fraction(10**400), Fraction(10**400), Fraction(10**800)),
    ],
)
def test_products_are_exact_and_zero_times_infinity_is_zero(left: Any, right: Any, product: Any) -> None:
    for factor, distance in ((left, right), (right, left)):
        result = times(factor, distance)
        assert result == product and type(result) is type(product)
