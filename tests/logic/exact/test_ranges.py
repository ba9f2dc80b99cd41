"""Ranges: an operation's range holds every result, a comparison is answered only if all values answer alike."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viameter.logic.exact.ranges import (
    Range,
    Undecided,
    Whole,
    ends,
    greater,
    item,
    lesser,
    quotient,
    remainder,
    same,
    span,
)

FAR = 60


@st.composite
def wholes(draw: st.DrawFn) -> Whole:
    low = draw(st.integers(-6, 6))
    kind = draw(st.sampled_from(["one", "both", "up", "down", "all"]))
    high = low + draw(st.integers(1, 4))
    return {
        "one": low,
        "both": span(low, high),
        "up": span(low, None),
        "down": span(None, low),
        "all": span(None, None),
    }[kind]


def members(value: Whole) -> list[int]:
    """Values of a range, those far out among them."""
    low, high = ends(value)
    start, stop = (-FAR if low is None else low), (FAR if high is None else high)
    near = [n for n in range(-9, 13) if start <= n <= stop]
    return sorted({start, stop, *near})


def holds(found: Any, value: int) -> bool:
    return found.holds(value) if isinstance(found, Range) else found == value


OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[[int, int], int]]] = {
    "+": (operator.add, operator.add),
    "-": (operator.sub, operator.sub),
    "*": (operator.mul, operator.mul),
    "min": (lesser, min),
    "max": (greater, max),
    "//": (quotient, lambda a, b: a // b if b else 0),
    "%": (remainder, lambda a, b: a % b if b else a),
}


@pytest.mark.parametrize("name", OPERATIONS)
@given(left=wholes(), right=wholes())
def test_an_operation_holds_every_result(name: str, left: Whole, right: Whole) -> None:
    on_ranges, on_numbers = OPERATIONS[name]
    try:
        found = on_ranges(left, right)
    except Undecided:
        assert name in ("//", "%") and isinstance(right, Range)
        return
    assert all(holds(found, on_numbers(a, b)) for a, b in product(members(left), members(right)))


@given(value=wholes())
def test_negation_and_magnitude_hold_every_result(value: Whole) -> None:
    assert all(holds(-value, -n) and holds(abs(value), abs(n)) for n in members(value))
    assert abs(value) >= 0


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq"])
@given(left=wholes(), right=wholes())
def test_a_comparison_is_answered_if_and_only_if_all_values_answer_alike(name: str, left: Whole, right: Whole) -> None:
    on_numbers = getattr(operator, name)
    answers = {on_numbers(a, b) for a, b in product(members(left), members(right))}
    try:
        found = (same if name == "eq" else on_numbers)(left, right)
    except Undecided:
        assert len(answers) == 2
        return
    assert answers == {found}


@given(index=wholes())
def test_a_read_is_answered_if_all_indices_are_outside(index: Whole) -> None:
    items = (5, 6, 7)
    read = {items[n] if 0 <= n < 3 else 0 for n in members(index)}
    try:
        assert read == {item(items, index)}
    except Undecided:
        assert any(0 <= n < 3 for n in members(index))


def test_products_with_nothing_are_nothing() -> None:
    assert Range(None, None) * 0 == 0
    assert str(Range(3, None) * -2) == "-inf..-6"
    assert Range(10**400, None) * Range(1, None) == Range(10**400, None)


def test_ranges_have_no_truth() -> None:
    with pytest.raises(Undecided):
        bool(Range(1, None))
