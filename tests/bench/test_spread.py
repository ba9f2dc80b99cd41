"""Medians, percentiles and paired ratios."""

from __future__ import annotations

import pytest
from bench.spread import Spread, paired_differences, paired_ratios, spread


def test_one_value_is_its_own_spread() -> None:
    assert spread([3.0]) == Spread(3.0, 3.0, 3.0)


def test_percentiles_that_fall_on_values() -> None:
    assert spread([float(value) for value in range(10, -1, -1)]) == Spread(5.0, 1.0, 9.0)


def test_percentiles_between_values_are_interpolated() -> None:
    found = spread([0.0, 1.0])
    assert (found.median, found.low, found.high) == pytest.approx((0.5, 0.1, 0.9))


def test_one_disturbed_repetition_moves_neither_end_of_many() -> None:
    assert spread([1.0] * 20 + [50.0]) == Spread(1.0, 1.0, 1.0)


def test_ratios_are_paired_so_that_a_slow_moment_of_the_machine_cancels() -> None:
    assert paired_ratios([2.0, 200.0, 4.0], [1.0, 100.0, 2.0]) == [2.0, 2.0, 2.0]


def test_differences_are_paired() -> None:
    assert paired_differences([2.0, 3.0], [1.0, 5.0]) == [1.0, -2.0]


def test_times_that_do_not_pair_up_are_refused() -> None:
    with pytest.raises(ValueError):
        paired_ratios([1.0, 2.0], [1.0])
