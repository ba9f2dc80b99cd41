"""Distances as people write them."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each

import viameter as vm
from viameter.errors import NumberError

ROWS, NUMBER = vm.SymmetricDistance(), vm.AbsoluteDistance()


@for_each("value", [2, "2", "4/2", "2.0", Fraction(2), np.int64(2)])
def test_a_counting_metric_takes_whole_distances(value: Any) -> None:
    assert ROWS.read_distance(value) == 2 and type(ROWS.read_distance(value)) is Fraction


@for_each("value", ["1/2", "0.5", Fraction(3, 2), "1e-6"])
def test_a_counting_metric_refuses_parts_of_rows(value: Any) -> None:
    with pytest.raises(NumberError) as refused:
        ROWS.read_distance(value, name="d_in")
    assert f"d_in={value!s}" in str(refused.value) and "SymmetricDistance()" in str(refused.value)
    assert NUMBER.read_distance(value) == Fraction(value)


def test_a_part_of_a_row_that_is_too_long_to_be_written_is_refused_as_every_other() -> None:
    # Once: ValueError (Exceeds the limit (4300 digits)) from the text of the error.
    with pytest.raises(NumberError, match="d_in"):
        ROWS.read_distance(Fraction(1, 10**5000))


@for_each("metric", [ROWS, NUMBER])
@for_each("value", [float("inf"), "inf"])
def test_every_metric_takes_infinite_distances(metric: vm.Metric, value: Any) -> None:
    assert metric.read_distance(value) == float("inf")


@for_each("metric", [ROWS, NUMBER])
@for_each("value", [-1, "-1", 1.0, 0.5, float("nan"), float("-inf"), True, None, "x"])
def test_no_metric_takes_what_is_no_distance(metric: vm.Metric, value: Any) -> None:
    with pytest.raises(NumberError, match="d_in"):
        metric.read_distance(value)


def test_a_metric_of_ones_own_gives_checked_distances() -> None:
    edit = vm.metric("Edit", distance=lambda left, right: abs(left - right), trust="that is its definition")
    assert edit.distance(1, 4) == 3 and repr(edit) == "Edit"
    for wrong in (-1, 0.5, float("nan"), None):
        broken = vm.metric("Broken", distance=lambda *_, wrong=wrong: wrong, trust="none")
        with pytest.raises(NumberError, match="distance"):
            broken.distance(1, 2)
