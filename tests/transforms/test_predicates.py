"""Predicates: compared exactly, value by value, and combined as logic has it."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each
from tests.spaces.oracles import GREATEST, LEAST, loose, shown
from tests.transforms.oracles import drawn

import viameter as vm
from viameter.errors import NotExact, NumberError, ParameterError, ViameterError
from viameter.transforms import Predicate

NAN, INF, LARGEST, TINY = math.nan, math.inf, 1.7976931348623157e308, 5e-324
INTS = [LEAST, LEAST + 1, -2, -1, 0, 1, 2, GREATEST - 1, GREATEST]
FLOATS = [NAN, -INF, -LARGEST, -1.0, -TINY, -0.0, 0.0, TINY, 0.1, math.nextafter(0.1, 0.0), 0.3, 1.0, LARGEST, INF]
ENDS: list[Any] = [
    None,
    LEAST - 1,
    LEAST,
    "-1.5",
    -1,
    0,
    "1e-400",
    "0.1",
    "1/3",
    "0.3",
    "1.5",
    GREATEST,
    2**63,
    10**400,
]


def holds(lower: Any, upper: Any, value: float) -> bool:
    """Whether the value is in between, in exact arithmetic."""
    if math.isnan(value):
        return False
    exact = value if isinstance(value, float) and math.isinf(value) else Fraction(value)
    return (lower is None or Fraction(lower) <= exact) and (upper is None or exact <= Fraction(upper))


def pairs() -> list[tuple[Any, Any]]:
    return [
        (lower, upper)
        for lower, upper in itertools.product(ENDS, repeat=2)
        if lower is None or upper is None or Fraction(lower) <= Fraction(upper)
    ]


def test_between_compares_integers_exactly() -> None:
    for lower, upper in pairs():
        mask = vm.between(lower, upper).mask(np.array(INTS))
        assert mask.tolist() == [holds(lower, upper, value) for value in INTS], (lower, upper)
        assert mask.dtype == bool


def test_between_compares_floats_exactly_and_nan_is_in_none() -> None:
    for lower, upper in pairs():
        mask = vm.between(lower, upper).mask(np.array(FLOATS))
        assert mask.tolist() == [holds(lower, upper, value) for value in FLOATS], (lower, upper)
        assert mask.dtype == bool


@given(ends=st.tuples(st.fractions(), st.fractions()), values=st.lists(st.floats(), max_size=5))
@drawn
def test_between_agrees_with_exact_comparison_for_whatever_is_drawn(
    ends: tuple[Fraction, Fraction], values: list[float]
) -> None:
    lower, upper = min(ends), max(ends)
    assert vm.between(lower, upper).mask(np.array(values, dtype=np.float64)).tolist() == [
        holds(lower, upper, value) for value in values
    ]


@for_each(
    ("lower", "upper", "said"),
    [
        (2, 1, r"between\(2, 1\)"),
        ("0.3", "0.1", "above"),
        ("x", None, "'x'"),
        (None, NAN, "nan"),
        (INF, None, "inf"),
        (True, None, "True"),
        ([], None, "list"),
    ],
)
def test_between_refuses_ends_that_make_no_sense(lower: Any, upper: Any, said: str) -> None:
    with pytest.raises((ParameterError, NumberError), match=said):
        vm.between(lower, upper)


def test_between_asks_for_the_number_that_was_meant() -> None:
    with pytest.raises(NotExact, match=r"end=0\.1 is a float"):
        loose.between(0.1, None)


def test_between_takes_every_way_to_write_a_number() -> None:
    assert vm.between("1/2", Decimal("2.5")) == vm.between(Fraction(1, 2), "2.5")
    assert hash(vm.between(1, 2)) == hash(vm.between("1", "2"))
    assert repr(vm.between("0.5", None)) == "between(1/2, None)"


def test_is_in_finds_what_is_equal() -> None:
    assert vm.is_in([1, LEAST]).mask(np.array([1, 2, LEAST, GREATEST])).tolist() == [True, False, True, False]
    words = np.array(["a", "b", "a\0", ""], dtype=object)
    assert vm.is_in(["a", ""]).mask(words).tolist() == [True, False, False, True]
    assert vm.is_in([]).mask(words).tolist() == [False] * 4
    assert vm.is_in([2**70]).mask(np.array([0])).tolist() == [False]


@for_each(
    ("predicate", "domain"),
    [
        (vm.is_in([1]), vm.scalars(float)),
        (vm.is_in(["a"]), vm.scalars(int)),
        (vm.is_in([1]), vm.scalars(str)),
        (vm.is_in([1, "a"]), vm.scalars(str)),
        (vm.is_in([True]), vm.scalars(int)),
        (vm.is_in([1.0]), vm.scalars(int)),
        (vm.is_in([np.int64(1)]), vm.scalars(int)),
        (vm.is_in([[1]]), vm.scalars(int)),
        (vm.is_in(["a"]), vm.categories([1])),
        (vm.between(0, 1), vm.scalars(str)),
        (vm.between(0, 1), vm.categories([1])),
        (~vm.between(0, 1), vm.scalars(str)),
        (vm.between(0, 1) & vm.is_in(["a"]), vm.scalars(str)),
        (vm.is_in(["a"]) | vm.between(0, 1), vm.scalars(str)),
    ],
)
def test_a_predicate_refuses_values_that_it_cannot_judge(predicate: Predicate, domain: Any) -> None:
    with pytest.raises(ParameterError):
        predicate.check(domain)


def test_a_predicate_accepts_values_that_it_can_judge() -> None:
    vm.is_in([1]).check(vm.categories([1, 2]))
    vm.is_in(["a"]).check(vm.categories(["b"]))
    vm.is_in([]).check(vm.scalars(str))
    (vm.between(0, 1) | ~vm.is_in([5])).check(vm.scalars(int))


@pytest.mark.parametrize("values", [np.array(INTS), np.array(FLOATS)], ids=["int", "float"])
def test_predicates_are_combined_as_logic_has_it(values: Any) -> None:
    basic = [vm.between(0, None), vm.between(None, "0.3"), vm.between(-1, 1), vm.between(2**70, None)]
    for one, two in itertools.product(basic, repeat=2):
        left, right = one.mask(values), two.mask(values)
        assert (one & two).mask(values).tolist() == [a and b for a, b in zip(left, right, strict=True)]
        assert (one | two).mask(values).tolist() == [a or b for a, b in zip(left, right, strict=True)]
        assert (~one).mask(values).tolist() == [not a for a in left]
        assert (~~one).mask(values).tolist() == left.tolist()
        assert (~(one & ~two)).mask(values).tolist() == [(not a) or b for a, b in zip(left, right, strict=True)]


def test_predicates_are_combined_with_predicates_only() -> None:
    for other in (True, 1, None, len):
        with pytest.raises(TypeError):
            vm.between(0, 1) & other  # type: ignore[operator]
        with pytest.raises(TypeError):
            vm.between(0, 1) | other  # type: ignore[operator]


def test_predicates_are_equal_when_they_say_the_same() -> None:
    assert vm.is_in(["a", "b"]) == vm.is_in(("a", "b"))
    assert vm.between(0, 1) & vm.is_in([1]) == vm.between(0, 1) & vm.is_in([1])
    assert ~~vm.between(0, 1) == vm.between(0, 1)
    assert vm.between(0, 1) != vm.between(0, 2)
    assert len({vm.between(0, 1), ~vm.between(0, 1), vm.is_in([0]), vm.between(0, 1)}) == 3
    assert repr(~vm.between(0, 1) & vm.is_in([1])) == "(~between(0, 1) & is_in([1]))"


def test_the_list_of_a_predicate_cannot_be_changed_later() -> None:
    values = ["a"]
    predicate = vm.is_in(values)
    values.append("b")
    assert predicate == vm.is_in(["a"])


def test_is_in_does_not_take_a_string_for_its_letters() -> None:
    with pytest.raises(ParameterError, match="'ab'"):
        vm.is_in("ab")


@pytest.mark.parametrize("values", [5, None], ids=shown)
def test_is_in_refuses_what_is_no_list_by_name(values: Any) -> None:
    with pytest.raises(ViameterError, match="is_in"):
        vm.is_in(values)
