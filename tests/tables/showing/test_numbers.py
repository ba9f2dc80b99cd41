"""Numbers show the digits that their intervals justify, and intervals are never shown narrower than they are."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viameter.tables.showing.numbers import aligned, confidence, half_width, shown

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ORDINARY = st.floats(min_value=-1e14, max_value=1e14)


@pytest.mark.parametrize(
    ("three", "text"),
    [
        ((12.3456, 11.9456, 12.7456), "12.3 [11.9, 12.8]"),
        ((12.3456, 8.0, 17.0), "12 [8, 17]"),
        ((0.0123456, 0.0119, 0.0128), "0.0123 [0.0119, 0.0128]"),
        ((123456.7, 120000.2, 130000.2), "123457 [120000, 130001]"),
        ((-0.04, -0.5, 0.5), "0.0 [-0.5, 0.5]"),
        ((336776, 336700, 336850), "336776 [336700, 336850]"),
        ((2**62, 2**62 - 1, 2**62 + 1), "4611686018427387904 [4611686018427387903, 4611686018427387905]"),
        ((180.0, 180.0, 180.0), "180 [180, 180]"),
        ((1e-5, 0.0, 2e-5), "0.000010 [0.000000, 0.000020]"),
        ((1.0, float("-inf"), float("inf")), "1 [-inf, inf]"),
        ((1e20, 9.9e19, 1.01e20), "1e20 [9.9e19, 1.01e20]"),
        ((1.23456e20, 1.2331e20, 1.2361e20), "1.2346e20 [1.2331e20, 1.2361e20]"),
        ((5e-324, 0.0, 1e-323), "5e-324 [0, 1e-323]"),
    ],
)
def test_values_with_intervals_in_text(three: tuple[float, float, float], text: str) -> None:
    assert str(shown(*three)) == text


@given(st.tuples(FLOATS, FLOATS, FLOATS))
def test_the_interval_that_is_shown_holds_the_one_that_was_computed(three: tuple[float, float, float]) -> None:
    lower, value, upper = sorted(three)
    texts = shown(value, lower, upper)
    assert float(texts.lower) <= lower <= upper <= float(texts.upper)
    assert Decimal(texts.lower) <= Decimal(texts.value) <= Decimal(texts.upper)


@given(st.tuples(ORDINARY, ORDINARY, ORDINARY))
def test_what_rounding_adds_is_small_beside_the_interval(three: tuple[float, float, float]) -> None:
    lower, value, upper = (Fraction(x) for x in sorted(three))
    texts = shown(float(value), float(lower), float(upper))
    width = upper - lower
    if width >= 1:
        # Two ends, each by less than a fifth of the width or a whole number.
        least = max(width / 5, Fraction(1)) + Fraction(1, 10**6)
        assert lower - Fraction(texts.lower) < least and Fraction(texts.upper) - upper < least
        assert abs(Fraction(texts.value) - value) <= least / 2
        assert "e" not in f"{texts}"


@given(st.tuples(ORDINARY, st.floats(min_value=1e-6, max_value=1e6)))
def test_no_digit_is_shown_that_the_interval_does_not_justify(given: tuple[float, float]) -> None:
    value, half = given
    width = float(value + half) - float(value - half)
    shown_decimals = len(shown(value, value - half, value + half).value.partition(".")[2])
    if width > 0 and shown_decimals <= 6 and shown_decimals > 0:
        assert 10.0**-shown_decimals > width / 51


def test_the_digits_of_a_caller_do_not_matter() -> None:
    with localcontext(Context(prec=2)):
        assert str(shown(123456.789, 123456.1, 123457.4)) == "123456.8 [123456.1, 123457.4]"


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False))
def test_half_widths_are_rounded_up_and_by_little(width: float) -> None:
    text = half_width(width)
    assert float(text) >= width
    if 1e-9 < width < 1e14:
        assert Fraction(text) <= Fraction(width) * Fraction(1011, 1000) and "e" not in text


@given(st.fractions(min_value=0, max_value=1, max_denominator=10**15))
def test_confidence_is_never_more_than_it_is(alpha: Fraction) -> None:
    said = Fraction(confidence(alpha).removesuffix("%")) / 100
    assert said <= 1 - alpha and (1 - alpha) - said <= max(alpha / 9, Fraction(1, 1000))
    assert (said == 1) == (alpha == 0)


def test_confidence_in_percent() -> None:
    alphas = [Fraction(1, 20), Fraction(1, 100), Fraction(1, 3), Fraction(1, 10**9)]
    assert [confidence(alpha) for alpha in alphas] == ["95%", "99%", "66.6%", "99.9999999%"]


def test_points_are_below_one_another() -> None:
    assert aligned(["9", "12.5", "-3.25"], "]") == [" 9]   ", "12.5] ", "-3.25]"]
    assert aligned([]) == []
