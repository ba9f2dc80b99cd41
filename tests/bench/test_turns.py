"""In which order the variants of a case take their turns, and how often."""

from __future__ import annotations

from bench.run import Plan, turns


def test_every_repetition_runs_every_variant_once() -> None:
    assert all(sorted(turns(4, repetition)) == [0, 1, 2, 3] for repetition in range(20))


def test_every_variant_comes_at_every_place_equally_often() -> None:
    block = [turns(5, repetition) for repetition in range(5)]
    assert all(sorted(place) == [0, 1, 2, 3, 4] for place in zip(*block, strict=True))


def test_the_next_block_has_another_order() -> None:
    assert len({tuple(turns(5, 5 * block)) for block in range(10)}) > 1


def test_the_order_is_the_same_in_every_run() -> None:
    assert [turns(6, repetition) for repetition in range(12)] == [turns(6, repetition) for repetition in range(12)]


def test_a_variant_alone_takes_every_turn() -> None:
    assert [turns(1, repetition) for repetition in range(3)] == [[0], [0], [0]]


def test_quick_cases_are_repeated_to_the_end_of_the_plan() -> None:
    assert [Plan(most=5, fewest=2, enough_seconds=10).goes_on(done, 1.0) for done in (0, 4, 5)] == [True, True, False]


def test_slow_cases_are_repeated_just_often_enough() -> None:
    assert [Plan(most=5, fewest=2, enough_seconds=10).goes_on(done, 99.0) for done in (0, 1, 2)] == [True, True, False]
