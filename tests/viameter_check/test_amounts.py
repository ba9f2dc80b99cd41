"""Numbers as text: what the library writes is read, what is shown is shown alike, and nothing else is taken."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each

from viameter import arith
from viameter_check import amounts
from viameter_check.report import Refused

NUMBERS = (
    st.fractions(min_value=0)
    | st.builds(Fraction, st.integers(0, 2**5000), st.integers(1, 2**5000))
    | st.builds(lambda n, e: Fraction(n) * Fraction(10) ** e, st.integers(0, 10**14), st.integers(-40, 40))
)


@given(NUMBERS)
def test_what_the_library_writes_is_read_and_shown_alike(number: Fraction) -> None:
    assert amounts.read_number(arith.write(number)) == number
    assert amounts.write(number) == arith.write(number)
    assert amounts.show(number) == arith.show(number)


def test_infinity_is_read_and_shown() -> None:
    assert amounts.read_number("inf") == amounts.INFINITY
    assert amounts.show(amounts.INFINITY) == amounts.write(amounts.INFINITY) == "inf"


@for_each(
    "text",
    [
        "",
        "-1",
        "-inf",
        "+1",
        " 1",
        "1 ",
        "1.0",
        "1e5",
        "1e999",
        "nan",
        "NaN",
        "Infinity",
        "2/4",
        "1/0",
        "0/1",
        "01",
        "-0",
        "1/-2",
        "1/1",
        "0x10",
        "0x1/0x2",
        "0X1/0X2",
        "1_000",
        "١",
        "1" * 2000,
        "1/" + "1" * 2000,
        "0x" + "f" * 300_000 + "/0x1",
        1,
        1.5,
        None,
        True,
        ["1"],
    ],
)
def test_nothing_else_is_a_number(text: Any) -> None:
    with pytest.raises(Refused):
        amounts.read_number(text)


@for_each("text", ["-3", "-1/2", "0", "5/7"])
def test_signed_numbers_are_read_where_they_may_be(text: str) -> None:
    assert amounts.read_signed(text) == Fraction(text)


def test_zero_times_infinity_is_zero() -> None:
    zero, two = Fraction(0), Fraction(2)
    assert amounts.times(zero, amounts.INFINITY) == amounts.times(amounts.INFINITY, zero) == 0
    assert amounts.times(two, amounts.INFINITY) == amounts.INFINITY
    assert amounts.times(two, two) == 4
