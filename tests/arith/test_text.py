"""Numbers as text: what is shown is never below the number, and what is stored is read back or refused."""

import decimal
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each

from viameter.arith.rationals import INFINITY
from viameter.arith.text import DIGITS, LONGEST_EXACT, read_written, show, write
from viameter.errors import FormatError

magnitudes = st.builds(
    lambda numerator, denominator, power: Fraction(numerator, denominator) * Fraction(10) ** power,
    st.integers(1, 10**30),
    st.integers(1, 10**30),
    st.integers(-400, 400),
)
numbers = st.one_of(magnitudes, magnitudes.map(lambda number: -number), st.fractions(), st.integers().map(Fraction))


def check_shown(number: Fraction) -> None:
    """What is shown without a mark is the number; with a mark, it is above it in the last digit."""
    text = show(number)
    shown = Fraction(text.removeprefix("<="))
    if text.startswith("<="):
        assert number < shown
        assert shown - number < abs(number) / 10 ** (DIGITS - 1)
    else:
        assert number == shown
    assert len(text) <= LONGEST_EXACT + 2


@given(numbers)
def test_what_is_shown_is_the_number_or_marked_as_above_it(number: Fraction) -> None:
    check_shown(number)


@for_each(
    "number",
    [
        Fraction(10**30 - 1),
        Fraction(10**30 + 1),
        Fraction(10**25 - 1, 10**25),
        Fraction(10**25 + 1, 10**25),
        Fraction(-(10**30) - 1),
        Fraction(-(10**30) + 1),
        Fraction(10**12 * 10**20 - 1, 10**20),
        Fraction(99999 * 10**30 + 1, 10**40),
        Fraction(2**5000, 3**10),
        Fraction(3**10, 2**5000),
        Fraction(1, 3**3000),
        Fraction(10**5000),
        Fraction(1, 10**5000),
        Fraction(10**5000 + 1),
        Fraction(-1, 10**5000 + 1),
    ],
)
def test_numbers_next_to_short_ones_and_very_small_and_large_ones_are_shown_rightly(number: Fraction) -> None:
    check_shown(number)


@for_each(
    ("number", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 10), "1/10"),
        (Fraction(-1, 3), "-1/3"),
        (Fraction(10**23), "1" + "0" * 23),
        (Fraction(10**24), "1e24"),
        (Fraction(1, 10**30), "1e-30"),
        (Fraction(10**30 + 1), "<=1.00000000001e30"),
        (Fraction(-(10**30) - 1), "<=-1e30"),
        (Fraction(10**30 - 1), "<=1e30"),
        (Fraction(2**200 + 1, 3**130), "<=0.0151438402349"),
        (-Fraction(2**200 + 1, 3**130), "<=-0.0151438402348"),
        (INFINITY, "inf"),
    ],
)
def test_numbers_are_shown_like_this(number: Any, text: str) -> None:
    assert show(number) == text


@for_each(
    "context",
    [
        decimal.Context(prec=3),
        decimal.Context(prec=1, rounding=decimal.ROUND_DOWN),
        decimal.Context(Emin=-9, Emax=9),
        decimal.Context(prec=3, traps=[decimal.Inexact, decimal.Rounded]),
        decimal.Context(prec=50, rounding=decimal.ROUND_FLOOR),
    ],
)
@for_each(
    "number",
    [Fraction(2**200 + 1, 3**130), Fraction(2**200 + 1, 3**260), Fraction(10**30 - 1), Fraction(1, 10**30)],
)
def test_what_is_shown_does_not_depend_on_the_decimal_context_of_the_caller(
    context: decimal.Context, number: Fraction
) -> None:
    # Once: .normalize() rounds to the caller's context. With prec=3 a bound is shown *below* itself: '<=0.0151'.
    expected = show(number)
    with decimal.localcontext(context):
        assert show(number) == expected
    check_shown(number)


@given(st.fractions(min_value=0))
def test_what_is_written_is_read_back(number: Fraction) -> None:
    text = write(number)
    assert read_written(text) == number == Fraction(text)


@for_each("bits", [4094, 4095, 4096, 4097, 20000, 10**6])
def test_numbers_of_any_length_are_written_and_read_back(bits: int) -> None:
    for number in (Fraction(2**bits), Fraction(2**bits - 1), Fraction(1, 2**bits), Fraction(2**bits - 1, 2**bits + 1)):
        assert read_written(write(number)) == number


def test_infinity_is_written_and_read_back() -> None:
    read = read_written(write(INFINITY))
    assert read == INFINITY and type(read) is float


def test_what_is_written_does_not_change() -> None:
    assert write(Fraction(3)) == "3"
    assert write(Fraction(1, 10)) == "1/10"
    assert write(Fraction(2**4096)) == "0x1" + "0" * 1024 + "/0x1"
    assert write(INFINITY) == "inf"


@for_each(
    "text",
    [
        "",
        " ",
        "-1",
        "-1/2",
        "1/-2",
        "+1",
        " 1",
        "1 ",
        "1\n",
        "1 / 2",
        "1.5",
        ".5",
        "1e5",
        "1e999999999",
        "nan",
        "-inf",
        "Infinity",
        "INF",
        "inf/2",
        "1/inf",
        "1/0",
        "0/0",
        "1/00",
        "0x1/0x0",
        "0x1",
        "0x1/2",
        "1/0x2",
        "0X1/0X2",
        "0xF/0x1",
        "0xg/0x1",
        "-0x1/0x2",
        "1_0",
        "0x1_0/0x1",
        "٣",
        "1/٣",
        "1/2/3",
        "9" * 2001,
        "1/" + "9" * 2001,
        "9" * 10**6,
        "true",
        "null",
    ],
)
def test_text_that_this_library_does_not_write_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="rho") as refused:
        read_written(text, name="rho")
    assert len(str(refused.value)) < 200


@for_each("stored", [1, 0.1, True, None, b"1", ["1"], {"1": "2"}, Fraction(1), Decimal(1)])
def test_a_stored_number_that_is_no_text_is_refused(stored: Any) -> None:
    with pytest.raises(FormatError, match="rho"):
        read_written(stored, name="rho")
