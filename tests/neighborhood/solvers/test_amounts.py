"""Contribution bounds and exchanges, against all ways to choose amounts."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from tests.cases import for_each
from tests.neighborhood.solvers.instances import INFINITY, gain, plus, row, seeds

from viameter.errors import NumberError, ParameterError
from viameter.neighborhood.solvers import worst_contribution, worst_exchange
from viameter.neighborhood.solvers.knapsack import Options, useful_parts


def test_contribution_is_the_largest_of_all_choices() -> None:
    for rng in seeds("contribution", 500):
        shared = row(rng, 3, infinite=0.02)
        rows = [shared if rng.random() < 0.3 else row(rng, 3, infinite=0.02) for _ in range(rng.randrange(6))]
        l0, l1 = rng.randrange(7), rng.randrange(12)
        worst = worst_contribution(rows, l0=l0, l1=l1)
        values = [
            plus(rows[i][m] for i, m in enumerate(amounts))
            for amounts in product(*(range(len(given)) for given in rows))
            if sum(amounts) <= l1 and sum(m > 0 for m in amounts) <= l0
        ]
        assert worst.value == max(values) and worst.exact
        assert plus(rows[i][m] for i, m in worst.chosen) == worst.value
        assert sum(m for _, m in worst.chosen) <= l1 and len(worst.chosen) <= l0
        assert all(m > 0 for _, m in worst.chosen) and len({i for i, _ in worst.chosen}) == len(worst.chosen)


def _by_induction(rows: list[list[Fraction]], l0: int, l1: int) -> Fraction:
    known = {(0, 0): Fraction(0)}
    for given in rows:
        after = dict(known)
        for (count, amount), value in known.items():
            for m in range(1, len(given)):
                key = (count + 1, amount + m)
                if key[0] <= l0 and key[1] <= l1:
                    after[key] = max(after.get(key, Fraction(0)), value + given[m])
        known = after
    return max(known.values())


def test_many_rows_with_few_touched_agree_with_a_plain_induction() -> None:
    for rng in seeds("many rows", 20):
        rows = [[Fraction(0), *(Fraction(rng.randrange(30), 10) for _ in range(3))] for _ in range(60)]
        l0, l1 = rng.randrange(1, 6), rng.randrange(1, 12)
        assert worst_contribution(rows, l0=l0, l1=l1).value == _by_induction(rows, l0, l1)


def test_gains_beyond_int64_are_counted_in_whole_numbers_of_python() -> None:
    for rng in seeds("beyond", 20):
        rows = [
            [Fraction(0), *(Fraction(rng.randrange(10**30), rng.choice((10**9 + 7, 10**9 + 9))) for _ in range(3))]
            for _ in range(8)
        ]
        worst = worst_contribution(rows, l0=3, l1=6)
        assert worst.value == _by_induction(rows, 3, 6) == plus(rows[i][m] for i, m in worst.chosen)


@pytest.mark.parametrize("slack", [-1, 0, 1])
def test_gains_around_the_largest_of_int64_do_not_wrap(slack: int) -> None:
    for top in (2**61, 2**62, 2**63):
        rows = [[Fraction(0), Fraction(top + slack)], [Fraction(0), Fraction(top - 1)]]
        assert worst_contribution(rows, l0=2, l1=2).value == 2 * top + slack - 1


def test_rows_of_very_wide_fractions_are_rounded_up_and_say_so() -> None:
    rows = [[Fraction(0), Fraction(1, 10**900 + n), Fraction(3, 10**900 + 7 * n)] for n in range(8)]
    worst = worst_contribution(rows, l0=3, l1=4)
    truth = _by_induction(rows, 3, 4)
    assert not worst.exact and truth < worst.value < truth * (1 + Fraction(1, 2**400))


class _MadeWhenAsked(Sequence[tuple[Fraction, ...]]):
    def __len__(self) -> int:
        return 50

    def __getitem__(self, i: Any) -> Any:
        if i >= 50:
            raise IndexError
        return (Fraction(0), Fraction(i))


def test_rows_that_are_made_when_asked_for_are_told_apart() -> None:
    assert worst_contribution(_MadeWhenAsked(), l0=2, l1=2).value == 97


def test_the_worked_answer_for_squares() -> None:
    squares = [Fraction(m * m, 1000) for m in range(4)]
    assert worst_contribution([squares] * 10, l0=2, l1=5).value == Fraction(13, 1000)


def test_parts_that_are_kept_are_enough_for_every_use() -> None:
    parts: list[Options] = [{(1,): 5}, {(1,): 7, (2,): 1}, {(1,): 6, (2,): 9}, {(1,): 7}]
    assert useful_parts(parts, 1) == [1, 2]
    assert useful_parts(parts, 9) == [0, 1, 2, 3]


@for_each(
    ("rows", "limits", "error"),
    [
        ([[]], {"l0": 1, "l1": 1}, ParameterError),
        ([[1, 2]], {"l0": 1, "l1": 1}, ParameterError),
        (["01"], {"l0": 1, "l1": 1}, ParameterError),
        (5, {"l0": 1, "l1": 1}, ParameterError),
        ([[0, -1]], {"l0": 1, "l1": 1}, NumberError),
        ([[0, 0.5]], {"l0": 1, "l1": 1}, NumberError),
        ([[0, 1]], {"l0": -1, "l1": 1}, ParameterError),
        ([[0, 1]], {"l0": 1, "l1": Fraction(1, 2)}, ParameterError),
    ],
)
def test_contributions_that_make_no_sense_are_refused(
    rows: list[list[Fraction]], limits: dict[str, int], error: type[Exception]
) -> None:
    with pytest.raises(error):
        worst_contribution(rows, **limits)


def _part(rng: random.Random) -> dict[tuple[int, int], Fraction | float]:
    infinite = 0.1 if rng.random() < 0.1 else 0.0
    keys = [(a, r) for a in range(3) for r in range(3) if a + r]
    chosen = {key: gain(rng, infinite=infinite) for key in rng.sample(keys, rng.randrange(5))}
    return {(0, 0): Fraction(0), **chosen} if rng.random() < 0.3 else chosen


def test_exchange_is_the_largest_of_all_choices() -> None:
    for rng in seeds("exchange", 600):
        parts = [_part(rng) for _ in range(rng.randrange(5))]
        added, removed = rng.randrange(5), rng.randrange(5)
        total = rng.choice((None, rng.randrange(7)))
        equal = rng.random() < 0.5
        worst = worst_exchange(parts, added=added, removed=removed, total=total, equal=equal)

        def fits(
            uses: list[tuple[int, int]],
            added: int = added,
            removed: int = removed,
            total: int | None = total,
            equal: bool = equal,
        ) -> bool:
            a, r = sum(use[0] for use in uses), sum(use[1] for use in uses)
            return a <= added and r <= removed and (total is None or a + r <= total) and (a == r or not equal)

        ways = product(*({(0, 0): Fraction(0), **part}.items() for part in parts))
        assert worst.value == max(plus(g for _, g in way) for way in ways if fits([use for use, _ in way]))
        assert worst.exact and plus(parts[i][use] for i, use in worst.chosen) == worst.value
        assert fits([use for _, use in worst.chosen]) and (0, 0) not in [use for _, use in worst.chosen]


def test_an_infinite_gain_that_cannot_be_had_does_not_count() -> None:
    parts: list[Mapping[tuple[int, int], Fraction | float]] = [{(1, 0): INFINITY, (1, 1): Fraction(1)}]
    assert worst_exchange(parts, added=2, removed=2, equal=True).value == 1
    assert worst_exchange(parts, added=2, removed=2).value == INFINITY
    assert worst_exchange(parts, added=0, removed=2).value == 0
    other: Mapping[tuple[int, int], Fraction | float] = {(0, 1): Fraction(0)}
    assert worst_exchange([*parts, other], added=1, removed=1, equal=True).value == INFINITY


@for_each(
    ("part", "limits"),
    [
        ({(0, 0): 1}, {}),
        ({(-1, 0): 1}, {}),
        ({(1, 0, 0): 1}, {}),
        ({1: 1}, {}),
        ({(1, 0): -1}, {}),
        ([1], {}),
        ({}, {"added": -1}),
        ({}, {"total": -1}),
        ({}, {"equal": 1}),
    ],
)
def test_exchanges_that_make_no_sense_are_refused(part: object, limits: dict[str, int]) -> None:
    with pytest.raises((ParameterError, NumberError)):
        worst_exchange([part], **{"added": 1, "removed": 1, **limits})  # type: ignore[arg-type, list-item]
