"""Sums of arrays: exact whatever the order, then rounded to the side named."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.arith.oracles import INF, LARGEST, NASTY, SMALLEST, any_floats, bits, is_down, is_up
from tests.cases import for_each

from viameter.arith import exact_sum as module
from viameter.arith.vectors import exact_sum, sum_down, sum_up
from viameter.errors import NumberError

numbers = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30)


def total(numbers: list[float]) -> Fraction:
    return sum(map(Fraction, numbers), Fraction(0))


@given(numbers)
def test_exact_sum_is_the_sum_of_fractions(some: list[float]) -> None:
    assert exact_sum(np.array(some)) == total(some)


@given(numbers)
def test_sums_are_the_exact_sum_rounded_to_the_side_named(some: list[float]) -> None:
    assert is_up(sum_up(np.array(some)), total(some))
    assert is_down(sum_down(np.array(some)), total(some))


def test_exact_sum_is_right_over_the_whole_range_of_exponents() -> None:
    some = any_floats(30, 20_000)
    some = some[np.isfinite(some)]
    assert exact_sum(some) == total(some.tolist())
    assert exact_sum(np.array([x for x in NASTY if math.isfinite(x)])) == 0


def test_many_full_mantissas_of_one_exponent_are_summed_exactly() -> None:
    most = 2.0 - 2.0**-52
    count = 300_000
    assert exact_sum(np.full(count, most)) == count * Fraction(most)
    assert exact_sum(np.full(count, -LARGEST)) == -count * Fraction(LARGEST)
    assert exact_sum(np.full(count, SMALLEST)) == count * Fraction(SMALLEST)


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_chunks_are_put_together(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK", chunk)
    some = np.linspace(-1.0, 2.0, 100)
    assert exact_sum(some) == total(some.tolist())


def test_partial_sums_of_a_chunk_stay_exact() -> None:
    assert module._CHUNK * 2**27 <= 2**53


def test_the_order_does_not_matter() -> None:
    some = any_floats(31, 1000)
    some = some[np.isfinite(some)]
    shuffled = np.random.default_rng(32).permutation(some)
    assert sum_up(some) == sum_up(shuffled)
    assert sum_down(some.reshape(-1, 1)) == sum_down(shuffled)


def test_what_cancels_leaves_what_does_not() -> None:
    assert exact_sum(np.array([1e308, SMALLEST, -1e308])) == Fraction(SMALLEST)
    assert sum_up(np.array([1.0, SMALLEST])) == 1.0 + 2.0**-52
    assert sum_down(np.array([1.0, SMALLEST])) == 1.0
    assert (sum_up(np.array([LARGEST, LARGEST])), sum_down(np.array([LARGEST, LARGEST]))) == (INF, LARGEST)
    assert sum_up(np.array([LARGEST, LARGEST, -LARGEST])) == LARGEST


@for_each("zeros", [[], [0.0], [-0.0], [-0.0, -0.0], [1.0, -1.0]])
def test_nothing_and_zeros_sum_to_zero(zeros: list[float]) -> None:
    assert exact_sum(zeros) == 0
    assert bits(sum_up(zeros)) == bits(sum_down(zeros)) == bits(0.0)


def test_infinities_of_one_sign_are_the_sum() -> None:
    assert sum_up(np.array([1.0, INF])) == sum_down(np.array([INF, 1.0, INF])) == INF
    assert sum_up(np.array([-INF, LARGEST])) == sum_down(np.array([-INF])) == -INF


@pytest.mark.parametrize("bad", [[INF, -INF], [1.0, math.nan], [math.nan, INF]])
def test_what_has_no_sum_is_refused(bad: list[float]) -> None:
    for function in (sum_up, sum_down):
        with pytest.raises(NumberError, match="was given"):
            function(np.array(bad))


@for_each("bad", [INF, -INF, math.nan, "1", 2**53 + 1])
def test_exact_sum_takes_finite_numbers_only(bad: Any) -> None:
    with pytest.raises(NumberError, match="was given"):
        exact_sum([1.0, bad])
