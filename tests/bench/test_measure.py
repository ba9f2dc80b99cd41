"""What a worker measures of a callable."""

from __future__ import annotations

import gc
import os
from fractions import Fraction

import numpy as np
import pytest
from bench.measure import digest, loops_needed, peak_growth, seconds_per_call


def test_a_timing_calls_as_often_as_asked_and_without_the_collector() -> None:
    collecting: list[bool] = []
    assert seconds_per_call(lambda: collecting.append(gc.isenabled()), 5) > 0
    assert collecting == [False] * 5
    assert gc.isenabled()


def test_the_collector_is_back_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        seconds_per_call(lambda: 1 // 0, 1)
    assert gc.isenabled()


@pytest.mark.parametrize(("seconds", "fewest", "most"), [(1e-6, 20_000, 30_000), (0.004, 5, 8), (0.03, 1, 1)])
def test_there_are_as_many_loops_as_make_a_timing_long_enough(
    monkeypatch: pytest.MonkeyPatch, seconds: float, fewest: int, most: int
) -> None:
    monkeypatch.setattr("bench.measure.seconds_per_call", lambda run, loops: seconds)
    assert fewest <= loops_needed(lambda: None, enough_seconds=0.02) <= most


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="only Linux forgets an earlier peak")
def test_memory_of_a_call_is_seen_although_it_is_freed() -> None:
    size = 32 * 2**20
    assert size // 2 < peak_growth(lambda: bytearray(size)) < 2 * size
    assert size // 2 < peak_growth(lambda: bytearray(size)) < 2 * size


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        (None, []),
        (Fraction(1, 4), [0.25]),
        (np.float64(0.5), [0.5]),
        (np.arange(4), [4.0, 0.0, 2.0, 3.0, 6.0]),
        ([Fraction(1, 2), 1], [2.0, 0.5, 1.0, 1.0, 1.5]),
        ([], [0.0]),
    ],
)
def test_digests(value: object, numbers: list[float]) -> None:
    assert digest(value) == numbers
