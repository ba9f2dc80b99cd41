"""Windows over spans of time, against all windows."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from tests.cases import for_each
from tests.neighborhood.solvers.instances import gains, plus, row, seeds

from viameter.errors import NumberError, ParameterError
from viameter.neighborhood.solvers import worst_overlap, worst_window


def _spans(rng: random.Random, *, shift: int = 0) -> list[tuple[int, int]]:
    starts = [rng.randrange(-10, 15) + shift for _ in range(rng.randrange(8))]
    return [(start, start + rng.choice((0, 0, 1, 2, rng.randrange(12)))) for start in starts]


def _overlap(span: tuple[int, int], first: int, width: int) -> int:
    return len(set(range(span[0], span[1] + 1)) & set(range(first, first + width)))


def test_window_is_the_largest_of_all() -> None:
    for rng in seeds("window", 400):
        spans = _spans(rng)
        given = gains(rng, len(spans), infinite=0.1)
        width = rng.randrange(1, 9)

        def cost(
            first: int,
            spans: list[tuple[int, int]] = spans,
            given: list[Fraction | float] = given,
            width: int = width,
        ) -> Fraction | float:
            return plus(g for span, g in zip(spans, given, strict=True) if _overlap(span, first, width))

        worst = worst_window(spans, given, width=width)
        assert worst.exact and worst.value == max(cost(first) for first in range(-25, 35))
        assert worst.chosen is None if not spans else cost(worst.chosen) == worst.value
        assert not spans or worst.chosen >= min(start for start, _ in spans)


def test_overlap_is_the_largest_of_all() -> None:
    for rng in seeds("overlap", 500):
        spans = _spans(rng)
        shared = row(rng, 6)
        infinite = 0.05 if rng.random() < 0.2 else 0.0
        tables = [shared if rng.random() < 0.3 else row(rng, 6, infinite=infinite) for _ in spans]
        width = rng.randrange(1, 9)

        def cost(
            first: int,
            spans: list[tuple[int, int]] = spans,
            tables: list[list[Fraction | float]] = tables,
            width: int = width,
        ) -> Fraction | float:
            common = [_overlap(span, first, width) for span in spans]
            return plus(max(table[: m + 1]) for table, m in zip(tables, common, strict=True))

        worst = worst_overlap(spans, tables, width=width)
        assert worst.exact and worst.value == max(cost(first) for first in range(-25, 35))
        assert worst.chosen is None if not spans else cost(worst.chosen) == worst.value


def test_times_and_gains_beyond_int64_do_not_wrap() -> None:
    for rng in seeds("far", 40):
        spans = _spans(rng)
        width = rng.randrange(1, 9)
        small = gains(rng, len(spans))
        tables = [row(rng, 6) for _ in spans]
        window, overlap = worst_window(spans, small, width=width), worst_overlap(spans, tables, width=width)
        for shift in (0, 2**61, 2**62, 2**63, -(2**70)):
            for factor in (1, 2**61, 2**62, 2**70):
                moved = [(start + shift, end + shift) for start, end in spans]
                larger = worst_window(moved, [factor * g for g in small], width=width)
                assert larger.value == factor * window.value
                assert larger.chosen == (None if window.chosen is None else window.chosen + shift)
                scaled = [[factor * g for g in table] for table in tables]
                assert worst_overlap(moved, scaled, width=width).value == factor * overlap.value


def test_long_spans_and_wide_windows_are_not_stepped_through() -> None:
    year = 10**15
    constant, short = [Fraction(0), Fraction(1)], [Fraction(0), Fraction(1), Fraction(2)]
    spans = [(0, year), (3 * year, 4 * year)]
    # From `year` to 3 `year` + 1, one time of the first and two of the second.
    assert worst_overlap(spans, [constant, short], width=2 * year + 2).value == 3
    assert worst_overlap(spans, [constant, short], width=2 * year + 1).value == 2


def test_the_worked_answers_for_steps() -> None:
    steps = [Fraction(m, 10) for m in (1, 2, 3, 1, 4)]
    spans = [(i, i) for i in range(5)]
    assert [worst_window(spans, steps, width=w).value for w in (1, 3, 5)] == [Fraction(n, 10) for n in (4, 8, 11)]


@for_each("spans", [[(2, 1)], [(0,)], [(0, 1, 2)], [(0.0, 1)], [(0, "1")], [5], [(True, 1)]])
def test_spans_that_make_no_sense_are_refused(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(ParameterError, match=r"spans\[0\]"):
        worst_window(spans, [Fraction(1)], width=1)
    with pytest.raises(ParameterError, match=r"spans\[0\]"):
        worst_overlap(spans, [[Fraction(0)]], width=1)


def test_windows_that_make_no_sense_are_refused() -> None:
    for width in (0, -1, Fraction(1, 2)):
        with pytest.raises(ParameterError, match="width="):
            worst_window([(0, 1)], [Fraction(1)], width=width)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="width="):
            worst_overlap([(0, 1)], [[Fraction(0)]], width=width)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="gains"):
        worst_window([(0, 1)], [], width=1)
    with pytest.raises(ParameterError, match="tables"):
        worst_overlap([(0, 1)], [], width=1)
    with pytest.raises(ParameterError, match="start with 0"):
        worst_overlap([(0, 1)], [[Fraction(1)]], width=1)
    with pytest.raises(NumberError):
        worst_window([(0, 1)], [Fraction(-1)], width=1)
