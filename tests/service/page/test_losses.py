"""Losses on the page: a few digits of them, never less than what was spent, and never more than what is left."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import viameter as vm
from viameter.arith import INFINITY
from viameter.service.documents import loss_document
from viameter.service.page.losses import rounded, show_left, show_spent

NUMBERS = st.builds(
    lambda top, bottom, power: Fraction(top, bottom) * Fraction(10) ** power,
    st.integers(1, 10**30),
    st.integers(1, 10**30),
    st.integers(-40, 40),
)


@given(NUMBERS, st.integers(1, 12), st.booleans())
def test_a_number_is_rounded_one_way_alone_and_by_less_than_one_of_its_last_digits(
    number: Fraction, digits: int, up: bool
) -> None:
    text = rounded(number, digits, 0, up=up)
    shown = Fraction(text.removeprefix("<=").removeprefix(">="))
    assert shown >= number if up else shown <= number
    assert abs(shown - number) < number / 10 ** (digits - 1)
    assert text.startswith(("<=", ">=")) == (shown != number) and text.startswith("<=") <= up
    mantissa = re.sub(r"e.*|[<>=.]", "", text).strip("0")
    assert len(mantissa) <= digits


@pytest.mark.parametrize(
    ("number", "up", "down"),
    [
        (Fraction(0), "0", "0"),
        (Fraction(1, 1000), "1/1000", "1/1000"),
        (Fraction(333333333333, 10**13), "<=0.03334", ">=0.03333"),
        (Fraction(99999999999, 10**11), "<=1", ">=0.9999"),
        (Fraction(99999999999, 10**7), "<=1e4", ">=9999"),
        (Fraction(10**12 + 1, 10**12), "<=1.001", ">=1"),
        (Fraction(123456789012, 10**10), "<=12.35", ">=12.34"),
        (Fraction(10**20), "1e20", "1e20"),
        (Fraction(1, 2**20000), "<=2.513e-6021", ">=2.512e-6021"),
        (INFINITY, "inf", "inf"),
    ],
)
def test_numbers_of_all_sizes(number: Fraction, up: str, down: str) -> None:
    assert (rounded(number, 4, 10, up=True), rounded(number, 4, 10, up=False)) == (up, down)


def test_what_is_shown_short_has_the_exact_amount_as_its_title() -> None:
    exact = Fraction(333333333333, 10**13)
    title = f'title="zcdp({exact})"'
    for loss in (vm.zcdp(exact), loss_document(vm.zcdp(exact))):
        assert show_spent(loss) == f'<span class="amount" {title}>zcdp(&lt;=0.03334)</span>'
        assert show_left(loss) == f'<span class="amount" {title}>zcdp(&gt;=0.03333)</span>'
    # Where it is too long for a title as well, that too is rounded the right way.
    long = vm.approx(Fraction(1, 3) + Fraction(1, 2**2000), "1e-6")
    assert 'title="approx(&lt;=0.333333333334, 1/1000000)"' in show_spent(long)
    assert 'title="approx(&gt;=0.333333333333, 1/1000000)"' in show_left(long)


def test_what_is_short_is_as_it_is() -> None:
    assert (show_spent(None), show_spent(vm.zcdp("1/2")), show_left(vm.pure(0))) == ("", "zcdp(1/2)", "pure(0)")
    assert show_spent(vm.gdp("1/3")) == "gdp(1/3)"
