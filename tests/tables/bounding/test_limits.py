"""Limits: what they bound, against every way in which a unit could keep rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from viameter.arith import INFINITY
from viameter.errors import ParameterError
from viameter.tables.bounding import Limits

CHOICES = (None, 1, 2, 3, 4)
ALL = [Limits(rows, groups, per_group) for rows, groups, per_group in product(CHOICES, repeat=3)]


def partitions(most_groups: int, most_each: int, most_rows: int) -> Iterator[tuple[int, ...]]:
    """Every way to keep rows in groups, as falling numbers of rows."""
    yield ()
    if most_groups:
        for first in range(1, min(most_each, most_rows) + 1):
            for rest in partitions(most_groups - 1, first, most_rows - first):
                yield (first, *rest)


def within(limits: Limits, *, cap: int) -> list[tuple[int, ...]]:
    return list(partitions(limits.groups or cap, limits.per_group or cap, min(limits.rows or cap, cap)))


@pytest.mark.parametrize("limits", ALL, ids=str)
def test_what_limits_bound_is_reached_and_never_passed(limits: Limits) -> None:
    cap = 12
    ways = within(limits, cap=cap)
    truth = {
        "most_rows": max(sum(way) for way in ways),
        "most_groups": max(len(way) for way in ways),
        "most_in_group": max(way[0] for way in ways if way),
        "largest_square": max(sum(n * n for n in way) for way in ways),
    }
    finite = limits.rows is not None or (limits.groups is not None and limits.per_group is not None)
    assert limits.is_enough is finite
    if finite and limits.most_rows <= cap:
        assert {name: getattr(limits, name) for name in truth} == truth
    elif not finite:
        assert limits.most_rows == limits.largest_square == INFINITY
    for name, value in truth.items():
        assert value <= getattr(limits, name)


@pytest.mark.parametrize("limits", ALL, ids=str)
def test_reduced_limits_allow_the_same_and_nothing_can_be_left_out_of_them(limits: Limits) -> None:
    ways = set(within(limits, cap=10))
    reduced = limits.reduced
    assert set(within(reduced, cap=10)) == ways
    for name in ("rows", "groups", "per_group"):
        if getattr(reduced, name) is not None:
            looser = Limits(
                **{kind: getattr(reduced, kind) for kind in ("rows", "groups", "per_group") if kind != name}
            )
            assert set(within(looser, cap=10)) != ways


def test_tightened_limits_allow_what_both_allow() -> None:
    for left in ALL:
        for right in ALL[::7]:
            both = set(within(left, cap=6)) & set(within(right, cap=6))
            assert set(within(left.tightened(right), cap=6)) == both


@pytest.mark.parametrize("name", ["rows", "groups", "per_group"])
@pytest.mark.parametrize("wrong", [0, -1, 1.0, True, "2", [3]])
def test_a_limit_that_is_no_whole_number_of_at_least_one_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        Limits(**{name: wrong})
