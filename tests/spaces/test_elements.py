"""Single values: who is a member, in which form, and what a constructor refuses."""

from __future__ import annotations

import enum
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
from tests.spaces.oracles import GREATEST, LEAST, bits, check_refused_in_silence, loose, shown
from tests.transforms.oracles import drawn

import viameter as vm
from viameter.errors import NotExact, NumberError, ParameterError, ViameterError
from viameter.spaces import CategoryDomain, FloatDomain, IntDomain, ScalarDomain, float_bounds

CANARY, WORD = 867530942, "canary-7f3a"
NAN, INF, LARGEST, TINY = math.nan, math.inf, 1.7976931348623157e308, 5e-324
INTEGER_TYPES = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


class Color(enum.IntEnum):
    RED = 3


class Word(str):
    __slots__ = ()


@for_each(
    ("domain", "value", "expected"),
    [
        (vm.scalars(int), 0, 0),
        (vm.scalars(int), LEAST, LEAST),
        (vm.scalars(int), GREATEST, GREATEST),
        (vm.scalars(int), np.uint64(GREATEST), GREATEST),
        (vm.scalars(int), Color.RED, 3),
        *((vm.scalars(int), kind(7), 7) for kind in INTEGER_TYPES),
        (vm.scalars(int, bounds=(3, 5)), 3, 3),
        (vm.scalars(int, bounds=(3, 5)), 5, 5),
        (vm.scalars(int, bounds=(LEAST, GREATEST)), LEAST, LEAST),
        (vm.scalars(float), 0.5, 0.5),
        (vm.scalars(float), -0.0, -0.0),
        (vm.scalars(float), INF, INF),
        (vm.scalars(float), TINY, TINY),
        (vm.scalars(float), 3, 3.0),
        (vm.scalars(float), 2**53, 2.0**53),
        (vm.scalars(float), np.float16(0.5), 0.5),
        (vm.scalars(float), np.float32(0.1), float(np.float32(0.1))),
        (vm.scalars(float), np.float64(0.1), 0.1),
        (vm.scalars(float, nan=True), NAN, NAN),
        (vm.scalars(float, bounds=("-0.5", 1)), -0.5, -0.5),
        (vm.scalars(float, bounds=("-0.5", 1)), 1, 1.0),
        (vm.scalars(float, bounds=(0, 1)), -0.0, -0.0),
        (vm.scalars(float, bounds=(0, 1), nan=True), NAN, NAN),
        (vm.scalars(str), "", ""),
        (vm.scalars(str), "\ud800\0", "\ud800\0"),
        (vm.scalars(str), np.str_("x"), "x"),
        (vm.scalars(str), Word("x"), "x"),
        (vm.categories(["A", "B"]), "A", "A"),
        (vm.categories(["A", "B"]), np.str_("B"), "B"),
        (vm.categories([3, 1]), 1, 1),
        (vm.categories([3, 1]), np.int8(3), 3),
    ],
)
def test_a_member_is_returned_in_canonical_form(domain: ScalarDomain, value: Any, expected: Any) -> None:
    assert domain.contains(value)
    assert domain.why_not(value) is None
    admitted = domain.admit(value)
    assert type(admitted) is type(expected)
    assert bits(admitted) == bits(expected)
    assert bits(domain.admit(admitted)) == bits(expected)


@for_each(
    ("domain", "value"),
    [
        (vm.scalars(int), True),
        (vm.scalars(int), np.True_),
        (vm.scalars(int), float(CANARY)),
        (vm.scalars(int), str(CANARY)),
        (vm.scalars(int), Fraction(CANARY)),
        (vm.scalars(int), Decimal(CANARY)),
        (vm.scalars(int), None),
        (vm.scalars(int), np.array(CANARY)),
        (vm.scalars(int), [CANARY]),
        (vm.scalars(int), GREATEST + 1),
        (vm.scalars(int), LEAST - 1),
        (vm.scalars(int), np.uint64(2**63)),
        (vm.scalars(int), CANARY * 10**20),
        (vm.scalars(int, bounds=(3, 5)), 2),
        (vm.scalars(int, bounds=(3, 5)), 6),
        (vm.scalars(int, bounds=(3, 5)), CANARY),
        (vm.scalars(float), NAN),
        (vm.scalars(float), np.float32(NAN)),
        (vm.scalars(float), True),
        (vm.scalars(float), np.False_),
        (vm.scalars(float), complex(CANARY)),
        (vm.scalars(float), np.longdouble(CANARY)),
        (vm.scalars(float), Fraction(CANARY)),
        (vm.scalars(float), Decimal(CANARY)),
        (vm.scalars(float), WORD),
        (vm.scalars(float), None),
        (vm.scalars(float), [0.5]),
        (vm.scalars(float), CANARY * 2**53),
        (vm.scalars(float), CANARY * 10**400),
        (vm.scalars(float, bounds=(0, 1)), float(CANARY)),
        (vm.scalars(float, bounds=(0, 1)), INF),
        (vm.scalars(float, bounds=(0, 1)), -TINY),
        (vm.scalars(float, bounds=(0, 1)), math.nextafter(1.0, 2.0)),
        (vm.scalars(float, bounds=(0, 1), nan=True), -INF),
        (vm.scalars(str), CANARY),
        (vm.scalars(str), WORD.encode()),
        (vm.scalars(str), None),
        (vm.scalars(str), [WORD]),
        (vm.categories(["A", "B"]), WORD),
        (vm.categories(["A", "B"]), CANARY),
        (vm.categories(["A", "B"]), "a"),
        (vm.categories([3, 1]), CANARY),
        (vm.categories([3, 1]), "3"),
        (vm.categories([3, 1]), 3.0),
        (vm.categories([0, 1]), True),
    ],
)
def test_what_is_no_member_is_refused_without_saying_what_it_was(domain: ScalarDomain, value: Any) -> None:
    check_refused_in_silence(domain, value, CANARY, WORD)


@for_each("value", [2**53 + 1, -(2**53) - 1, np.int64(2**53 + 1), np.uint64(2**53 + 1)])
def test_an_integer_that_no_float_equals_is_not_a_float(value: Any) -> None:
    check_refused_in_silence(vm.scalars(float), value, value)


@pytest.mark.parametrize("domain", [vm.scalars(int, bounds=(3, 5)), vm.scalars(float, bounds=("0.1", 1))], ids=shown)
def test_why_not_names_the_bounds_for_whoever_may_see_the_data(domain: ScalarDomain) -> None:
    assert "outside of [" in str(domain.why_not(CANARY))
    assert "not a" in str(domain.why_not("text"))


@given(value=st.integers(-(2**70), 2**70), ends=st.tuples(st.integers(LEAST, GREATEST), st.integers(LEAST, GREATEST)))
@drawn
def test_bounds_of_integers_are_inclusive(value: int, ends: tuple[int, int]) -> None:
    lower, upper = sorted(ends)
    domain = vm.scalars(int, bounds=(lower, upper))
    assert domain.contains(value) == (lower <= value <= upper)
    assert domain.contains(lower) and domain.contains(upper)
    assert not domain.contains(lower - 1) and not domain.contains(upper + 1)


small = st.fractions(-1000, 1000, max_denominator=997)


@given(value=st.floats(allow_nan=False), ends=st.tuples(small, small))
@drawn
def test_bounds_of_floats_hold_the_same_floats_as_the_exact_numbers_do(
    value: float, ends: tuple[Fraction, Fraction]
) -> None:
    lower, upper = sorted(ends)
    if float(lower) == float(upper):
        upper += 1
    domain = vm.scalars(float, bounds=(lower, upper))
    for candidate in (value, float(lower), float(upper), *float_bounds((lower, upper))):
        exact = candidate if math.isinf(candidate) else Fraction(candidate)
        assert domain.contains(candidate) == (lower <= exact <= upper)


def test_float_bounds_are_the_floats_nearest_to_the_exact_bounds_from_inside() -> None:
    lower, upper = float_bounds(("0.1", "0.3"))
    assert Fraction(math.nextafter(lower, -1.0)) < Fraction("0.1") <= Fraction(lower)
    assert Fraction(upper) <= Fraction("0.3") < Fraction(math.nextafter(upper, 1.0))
    assert float_bounds((0, 10**400)) == (0.0, LARGEST)
    assert float_bounds((Decimal("-0.5"), np.int64(2))) == (-0.5, 2.0)  # type: ignore[arg-type]


@for_each(
    ("kind", "bounds", "said"),
    [
        (int, 5, "bounds=5"),
        (int, (1,), r"bounds=a value of type tuple"),
        (int, (1, 2, 3), r"bounds=a value of type tuple"),
        (int, (2, 1), r"bounds=\(2, 1\)"),
        (int, (0.5, 1), "0.5"),
        (int, (0, 1.0), "1.0"),
        (int, ("0", 1), "'0'"),
        (int, (None, 1), "None"),
        (int, (False, True), "False"),
        (int, (0, GREATEST + 1), "does not fit into 64 bits"),
        (int, (LEAST - 1, 0), "does not fit into 64 bits"),
        (int, (0, NAN), "nan"),
        (int, "01", "'01'"),
        (float, 5, "bounds=5"),
        (float, (2, 1), r"bounds=\(2, 1\)"),
        (float, ("a", 1), "'a'"),
        (float, (0, True), "True"),
        (float, (0, INF), "inf"),
        (float, (NAN, 1), "nan"),
        (float, (None, 1), "NoneType"),
        (float, (10**400, 10**401), "no finite float"),
        (float, ("1e-400", "2e-400"), "no finite float"),
        (str, (0, 1), r"bounds=\(0, 1\)"),
        (bool, None, "bool"),
        (object, None, "object"),
        (np.int64, None, "int64"),
        ("int", None, "'int'"),
        (None, None, "None"),
    ],
)
def test_scalars_that_make_no_sense_are_refused_by_name(kind: Any, bounds: Any, said: str) -> None:
    with pytest.raises((ParameterError, NumberError), match=said):
        vm.scalars(kind, bounds=bounds)


def test_a_float_as_the_bound_of_floats_asks_for_the_number_that_was_meant() -> None:
    with pytest.raises(NotExact, match=r"bound=0\.1 is a float"):
        loose.scalars(float, bounds=(0.1, 1))


def test_only_floats_may_be_nan() -> None:
    for kind in (int, str):
        with pytest.raises(ParameterError, match="nan=True"):
            vm.scalars(kind, nan=True)


@for_each(
    "values",
    [[], [1, "a"], [1, True], [1, 1], ["a", "a"], [0.5], [None], [2**63], [np.int64(1)], [[1]], [("a",)], [{}]],
)
def test_categories_are_different_strings_or_different_integers(values: Any) -> None:
    with pytest.raises(ParameterError, match="categories"):
        vm.categories(values)


@pytest.mark.parametrize("values", [5, None, 0.5], ids=shown)
def test_categories_that_are_no_list_are_refused_by_name(values: Any) -> None:
    with pytest.raises(ViameterError, match="categories"):
        vm.categories(values)


def test_a_string_is_not_taken_for_its_letters() -> None:
    with pytest.raises(ParameterError, match="AB"):
        vm.categories("AB")


# Once: the order of a set of strings changes from run to run, and with it the bins of a histogram of such categories.
def test_categories_without_an_order_are_refused_or_put_in_one() -> None:
    names = {"ann", "bob", "eve", "joe", "kim"}
    try:
        domain = vm.categories(names)
    except ParameterError:
        return
    assert list(domain.values) == sorted(names)


# Once: only float_bounds() checks bounds of floats; the class itself (it is exported) takes anything. A lower bound of
# NaN bounds nothing, and sum fails with a bare ValueError or OverflowError.
@for_each("bounds", [(NAN, 1.0), (0.0, INF), (2.0, 1.0), ("0", "1"), (0.0,), 5])
def test_a_domain_of_floats_checks_its_bounds_itself(bounds: Any) -> None:
    with pytest.raises(ViameterError, match="bounds"):
        FloatDomain(bounds)


DIFFERENT: tuple[ScalarDomain, ...] = (
    vm.scalars(int),
    vm.scalars(int, bounds=(0, 1)),
    vm.scalars(int, bounds=(0, 2)),
    vm.scalars(float),
    vm.scalars(float, bounds=(0, 1)),
    vm.scalars(float, nan=True),
    vm.scalars(float, bounds=(0, 1), nan=True),
    vm.scalars(str),
    vm.categories([0, 1]),
    vm.categories([1, 0]),
    vm.categories(["0", "1"]),
)


def test_domains_of_scalars_are_equal_when_they_say_the_same() -> None:
    for one, two in itertools.product(range(len(DIFFERENT)), repeat=2):
        assert (DIFFERENT[one] == DIFFERENT[two]) == (one == two)
    assert len(set(DIFFERENT)) == len(set(map(repr, DIFFERENT))) == len(DIFFERENT)
    assert loose.scalars(int, bounds=[0, 1]) == loose.scalars(int, bounds=(np.int64(0), np.int8(1)))
    assert hash(vm.scalars(float, bounds=(0, 1))) == hash(vm.scalars(float, bounds=("0", Decimal(1))))
    assert IntDomain((0, 1)) == vm.scalars(int, bounds=(0, 1))


@for_each("domain", DIFFERENT)
def test_the_repr_of_scalars_is_how_they_are_written(domain: ScalarDomain) -> None:
    text = repr(domain)
    if isinstance(domain, CategoryDomain):
        assert text == f"categories({list(domain.values)!r})"
    else:
        assert text.startswith("scalars(")
        # Bounds of floats are shown as floats; as exact numbers they are written by their digits.
        names = {"scalars": vm.scalars, "int": int, "float": float, "str": str, "True": True}
        assert eval(text.replace("0.0", "0").replace("1.0", "1"), {"__builtins__": {}}, names) == domain


def test_domains_cannot_be_changed() -> None:
    domain: Any = vm.scalars(int, bounds=(0, 1))
    with pytest.raises(AttributeError):
        domain.bounds = (0, 100)
    written = [0, 1]
    frozen = loose.scalars(int, bounds=written)
    written[1] = 100
    assert not frozen.contains(100)
