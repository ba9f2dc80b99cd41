"""Vectors, tables and finite sets: who is a member, in which form, and what a constructor refuses."""

from __future__ import annotations

import array
import datetime
import itertools
import math
import struct
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each
from tests.spaces.oracles import GREATEST, LEAST, check_refused_in_silence, loose, rows_of, same, shown
from tests.transforms.oracles import drawn

import viameter as vm
from viameter.core import Domain
from viameter.errors import NotInDomain, ParameterError, ViameterError
from viameter.spaces import FloatDomain, IntDomain, VectorDomain, row_count

CANARY, WORD = 867530942, "canary-7f3a"
NAN, INF, TINY = math.nan, math.inf, 5e-324
INTEGER_TYPES = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


class Column:
    """What pandas and others are to NumPy: something with `__array__`."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if isinstance(self.values, Exception):
            raise self.values
        return np.asarray(self.values, dtype=dtype)


class Lazy(Mapping[str, Any]):
    """A table that reads its columns when it is asked for them, and fails."""

    def __iter__(self) -> Iterator[str]:
        return iter(("name", "value"))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, name: str) -> Any:
        raise OSError(WORD)


def objects(*values: Any) -> Any:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


VECTORS: list[tuple[Domain, Any, Any]] = [
    (vm.vectors(int), [], np.array([], dtype=np.int64)),
    (vm.vectors(int), (), np.array([], dtype=np.int64)),
    (vm.vectors(int), [1, LEAST, GREATEST], np.array([1, LEAST, GREATEST])),
    (vm.vectors(int), (1, 2), np.array([1, 2])),
    *((vm.vectors(int), np.array([1, 2], dtype=kind), np.array([1, 2])) for kind in INTEGER_TYPES),
    *((vm.vectors(int), [kind(1), kind(2)], np.array([1, 2])) for kind in INTEGER_TYPES),
    (vm.vectors(int), np.array([1, 2], dtype=">i8"), np.array([1, 2])),
    (vm.vectors(int), np.array([GREATEST], dtype=np.uint64), np.array([GREATEST])),
    (vm.vectors(int), np.arange(10)[::-3], np.array([9, 6, 3, 0])),
    (vm.vectors(int), Column([1, 2]), np.array([1, 2])),
    (vm.vectors(int, bounds=(3, 5)), [3, 5], np.array([3, 5])),
    (vm.vectors(int, bounds=(3, 5)), [], np.array([], dtype=np.int64)),
    (vm.vectors(int, size=2), [1, 2], np.array([1, 2])),
    (vm.vectors(int, size=0), [], np.array([], dtype=np.int64)),
    (vm.vectors(float), [], np.array([], dtype=np.float64)),
    (vm.vectors(float), [0.5, -0.0, INF, TINY], np.array([0.5, -0.0, INF, TINY])),
    (vm.vectors(float), [1, 0.5], np.array([1.0, 0.5])),
    (vm.vectors(float), [1, 2**53, -(2**53)], np.array([1.0, 2.0**53, -(2.0**53)])),
    (vm.vectors(float), np.array([0.5], dtype=np.float16), np.array([0.5])),
    (vm.vectors(float), np.array([0.1], dtype=np.float32), np.array([float(np.float32(0.1))])),
    (vm.vectors(float), np.array([0.1], dtype=">f8"), np.array([0.1])),
    (vm.vectors(float), np.array([7], dtype=np.uint64), np.array([7.0])),
    (vm.vectors(float, nan=True), [NAN, 1.0], np.array([NAN, 1.0])),
    (vm.vectors(float, bounds=(0, 1)), [0.0, -0.0, 1.0], np.array([0.0, -0.0, 1.0])),
    (vm.vectors(float, bounds=(0, 1), nan=True), [NAN, 1.0], np.array([NAN, 1.0])),
    (vm.vectors(str), [], objects()),
    (vm.vectors(str), ["a", "", "a\0", "\ud800"], objects("a", "", "a\0", "\ud800")),
    (vm.vectors(str), np.array(["a", "bcd"]), objects("a", "bcd")),
    (vm.vectors(str), [np.str_("a"), np.str_("b")], objects("a", "b")),
    (vm.vectors(str), objects("a", "b"), objects("a", "b")),
    (vm.vectors(str), Column(["a", "b"]), objects("a", "b")),
    (vm.vectors(vm.categories(["A", "B"])), ["A", "A"], objects("A", "A")),
    (vm.vectors(vm.categories([3, 1])), [1, 3], np.array([1, 3])),
    (vm.vectors(vm.categories([3, 1])), np.array([1, 3], dtype=np.uint8), np.array([1, 3])),
]


@for_each(("domain", "value", "expected"), VECTORS)
def test_a_vector_is_returned_as_a_read_only_array(domain: Domain, value: Any, expected: Any) -> None:
    assert domain.contains(value)
    admitted = domain.admit(value)
    assert same(admitted, expected)
    assert type(admitted) is np.ndarray
    assert admitted.ndim == 1
    assert not admitted.flags.writeable
    assert same(domain.admit(admitted), expected)
    assert row_count(admitted) == len(expected)


@for_each(
    ("domain", "value"),
    [
        (vm.vectors(int), CANARY),
        (vm.vectors(int), np.int64(CANARY)),
        (vm.vectors(int), np.array(CANARY)),
        (vm.vectors(int), [[CANARY]]),
        (vm.vectors(int), np.zeros((2, 2), dtype=np.int64)),
        (vm.vectors(int), np.zeros((1, 0), dtype=np.int64)),
        (vm.vectors(int), [[CANARY], [1, 2]]),
        (vm.vectors(int), [CANARY, WORD]),
        (vm.vectors(int), [CANARY, 0.5]),
        (vm.vectors(int), [CANARY, None]),
        (vm.vectors(int), [True, CANARY]),
        (vm.vectors(int), [True, False]),
        (vm.vectors(int), np.array([True])),
        (vm.vectors(int), [float(CANARY)]),
        (vm.vectors(int), np.array([1.0])),
        (vm.vectors(int), [str(CANARY)]),
        (vm.vectors(int), [CANARY, 2**63]),
        (vm.vectors(int), [-CANARY, 2**63]),
        (vm.vectors(int), [CANARY * 10**30]),
        (vm.vectors(int), [LEAST - 1]),
        (vm.vectors(int), np.array([2**63], dtype=np.uint64)),
        (vm.vectors(int), objects(CANARY)),
        (vm.vectors(int), np.ma.array([CANARY, 2], mask=[False, True])),
        (vm.vectors(int), np.ma.array([CANARY, 2])),
        (vm.vectors(int), {CANARY}),
        (vm.vectors(int), {"a": [CANARY]}),
        (vm.vectors(int), iter([CANARY])),
        (vm.vectors(int), range(3)),
        (vm.vectors(int), WORD),
        (vm.vectors(int), b"abc"),
        (vm.vectors(int), None),
        (vm.vectors(int), array.array("q", [CANARY])),
        (vm.vectors(int), Column([[CANARY]])),
        (vm.vectors(int), Column(RuntimeError(WORD))),
        (vm.vectors(int), np.array([CANARY], dtype="M8[s]")),
        (vm.vectors(int), np.array([CANARY], dtype="m8[s]")),
        (vm.vectors(int), np.array([(CANARY,)], dtype=[("a", np.int64)])),
        (vm.vectors(int), np.ndarray),
        (vm.vectors(int, bounds=(3, 5)), [3, CANARY]),
        (vm.vectors(int, bounds=(3, 5)), [2]),
        (vm.vectors(int, bounds=(3, 5)), [6]),
        (vm.vectors(int, bounds=(3, 5)), np.array([255], dtype=np.uint8)),
        (vm.vectors(int, size=2), [CANARY]),
        (vm.vectors(int, size=2), [1, 2, CANARY]),
        (vm.vectors(int, size=0), [CANARY]),
        (vm.vectors(float), [NAN, float(CANARY)]),
        (vm.vectors(float), np.array([NAN], dtype=np.float16)),
        (vm.vectors(float), [CANARY * 2**53]),
        (vm.vectors(float), np.array([2**64 - 1], dtype=np.uint64)),
        (vm.vectors(float), [CANARY * 10**400, 0.5]),
        (vm.vectors(float), np.array([CANARY], dtype=np.longdouble)),
        (vm.vectors(float), [complex(CANARY)]),
        (vm.vectors(float), [Decimal(CANARY)]),
        (vm.vectors(float), [Fraction(CANARY)]),
        (vm.vectors(float), [True]),
        (vm.vectors(float), [True, 0.5]),
        (vm.vectors(float), [str(CANARY)]),
        (vm.vectors(float), [None]),
        (vm.vectors(float), [0.5, None]),
        (vm.vectors(float), objects(0.5)),
        (vm.vectors(float), [np.ma.masked, 0.5]),
        (vm.vectors(float, bounds=(0, 1)), [0.5, float(CANARY)]),
        (vm.vectors(float, bounds=(0, 1)), [-TINY]),
        (vm.vectors(float, bounds=(0, 1)), [INF]),
        (vm.vectors(float, bounds=(0, 1), nan=True), [NAN, float(CANARY)]),
        (vm.vectors(float, bounds=(0, 1), nan=True), [NAN, -INF]),
        (vm.vectors(str), [WORD, CANARY]),
        (vm.vectors(str), [WORD, None]),
        (vm.vectors(str), [CANARY]),
        (vm.vectors(str), [WORD.encode()]),
        (vm.vectors(str), np.array([WORD.encode()])),
        (vm.vectors(str), objects(WORD, None)),
        (vm.vectors(str), objects(WORD, NAN)),
        (vm.vectors(str), objects(np.str_(WORD))),
        (vm.vectors(str), [[WORD]]),
        (vm.vectors(str), [datetime.date(2020, 1, 1)]),
        (vm.vectors(vm.categories(["A", "B"])), ["A", WORD]),
        (vm.vectors(vm.categories(["A", "B"])), [CANARY]),
        (vm.vectors(vm.categories([3, 1])), [1, CANARY]),
        (vm.vectors(vm.categories([3, 1])), [1.0]),
        (vm.vectors(vm.categories([0, 1])), [True]),
    ],
)
def test_what_is_no_vector_is_refused_without_saying_what_it_was(domain: Domain, value: Any) -> None:
    check_refused_in_silence(domain, value, CANARY, WORD)


# As a float, 2**53 + 1 is 2**53; in a list with floats or with both signs, NumPy rounds before anybody looks.
@for_each(
    "value",
    [
        [2**53 + 1],
        np.array([2**53 + 1]),
        np.array([-(2**53) - 1]),
        np.array([2**53 + 1], dtype=np.uint64),
        [2**53 + 1, 0.5],
        [CANARY * 2**30 + 1, 0.5],
        [-1, 2**63 + 1],
    ],
)
def test_integers_that_no_float_equals_are_not_taken_for_floats(value: Any) -> None:
    check_refused_in_silence(vm.vectors(float), value, CANARY)


# NumPy's variable-length strings may hold None (or NaN) for what is missing.
@pytest.mark.parametrize("missing", [None, NAN], ids=shown)
def test_a_missing_string_is_not_a_string(missing: Any) -> None:
    strings = np.array([WORD, missing], dtype=np.dtypes.StringDType(na_object=missing))
    check_refused_in_silence(vm.vectors(str), strings, WORD)


def test_strings_of_variable_length_are_strings() -> None:
    strings = np.array(["a", ""], dtype=np.dtypes.StringDType())
    assert same(vm.vectors(str).admit(strings), objects("a", ""))


# Once: a masked array is refused "whose mask would be lost", but not one that comes out of __array__.
def test_a_masked_array_that_comes_out_of_a_column_is_refused_too() -> None:
    class Masked:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ma.array([CANARY, 2], mask=[False, True])

    check_refused_in_silence(vm.vectors(int), Masked(), CANARY)


# NumPy's conversion from float32 warns ("invalid value encountered in cast"), and whether it does depends on rows.
@pytest.mark.parametrize("nan", [True, False])
def test_a_signaling_nan_is_admitted_or_refused_without_a_warning(nan: bool) -> None:
    for kind, pattern in ((np.float64, struct.pack("<Q", 0x7FF0000000000001)), (np.float32, b"\x01\x00\x80\x7f")):
        values = np.frombuffer(pattern * 3, dtype=kind)
        assert vm.vectors(float, nan=nan).contains(values) == nan


def test_an_array_that_is_canonical_already_is_not_copied_and_stays_writable_for_its_owner() -> None:
    for domain, values in (
        (vm.vectors(int, bounds=(0, 9)), np.arange(3)),
        (vm.vectors(float), np.arange(3.0)),
        (vm.vectors(str), objects("a", "b")),
    ):
        admitted = domain.admit(values)
        assert np.shares_memory(admitted, values)
        assert values.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            admitted[0] = values[1]


def test_the_columns_of_a_table_are_not_copied_and_the_dict_is() -> None:
    columns = {"value": np.arange(3), "name": objects("a", "b", "c")}
    admitted = vm.tables({"name": str, "value": int}).admit(columns)
    assert list(admitted) == ["name", "value"]
    assert all(np.shares_memory(admitted[name], columns[name]) for name in columns)
    assert not any(column.flags.writeable for column in admitted.values())
    assert admitted is not columns
    assert columns["value"].flags.writeable


NAMED = vm.tables({"name": str, "value": vm.scalars(int, bounds=(0, 9))})


@pytest.mark.parametrize(
    "value",
    [
        {"name": ["a", "b"], "value": [1, 2]},
        {"value": np.array([1, 2], dtype=np.uint8), "name": ("a", "b")},
        MappingProxyType({"name": ["a", "b"], "value": Column([1, 2])}),
    ],
    ids=shown,
)
def test_a_table_is_returned_with_its_columns_in_order(value: Any) -> None:
    admitted = NAMED.admit(value)
    assert type(admitted) is dict
    assert list(admitted) == ["name", "value"]
    assert same(admitted, {"name": objects("a", "b"), "value": np.array([1, 2])})
    assert row_count(admitted) == 2


@for_each(
    ("domain", "value"),
    [
        (NAMED, [[WORD, CANARY]]),
        (NAMED, [{"name": WORD, "value": CANARY}]),
        (NAMED, None),
        (NAMED, {}),
        (NAMED, {"name": [WORD]}),
        (NAMED, {"name": [WORD], "value": [1], WORD: [CANARY]}),
        (NAMED, {"name": [WORD], "Value": [1]}),
        (NAMED, {"name": [WORD], "value": [1, 2]}),
        (NAMED, {"name": [], "value": [1]}),
        (NAMED, {"name": [WORD], "value": [CANARY]}),
        (NAMED, {"name": [WORD], "value": [-1]}),
        (NAMED, {"name": [CANARY], "value": [1]}),
        (NAMED, {"name": [WORD], "value": CANARY}),
        (NAMED, {"name": WORD, "value": [1]}),
        (NAMED, {"name": [WORD], "value": np.ma.array([1])}),
        (NAMED, {"name": [WORD], "value": np.array([[1]])}),
        (vm.tables({"a": int}, size=2), {"a": [CANARY]}),
        (vm.tables({"a": int}, size=2), {"a": [CANARY, 1, 2]}),
        (vm.tables({"a": int, "b": int}, size=1), {"a": [CANARY], "b": [1, 2]}),
    ],
)
def test_what_is_no_table_is_refused_without_saying_what_it_was(domain: Domain, value: Any) -> None:
    check_refused_in_silence(domain, value, CANARY, WORD)


def test_a_table_without_rows_is_a_table() -> None:
    empty: dict[str, list[Any]] = {"name": [], "value": []}
    assert NAMED.contains(empty)
    assert row_count(NAMED.admit(empty)) == 0
    assert vm.tables({"a": int}, size=0).contains({"a": []})


def test_why_not_names_the_column() -> None:
    assert "column 'value'" in str(NAMED.why_not({"name": ["a"], "value": [10]}))
    assert "different lengths" in str(NAMED.why_not({"name": ["a"], "value": []}))
    assert "missing are ['value'], and too many are []" in str(NAMED.why_not({"name": ["a"]}))


def test_what_a_foreign_table_raises_is_not_passed_on() -> None:
    with pytest.raises(NotInDomain) as caught:
        NAMED.admit(Lazy())
    assert WORD not in str(caught.value)
    assert caught.value.__context__ is None


@for_each(
    ("value", "inside"),
    [("yes", True), (1, True), ((1, 2), True), (None, True), ("no", False), ([1], False), ({}, False), (WORD, False)],
)
def test_a_finite_set_has_the_members_that_were_listed(value: Any, inside: bool) -> None:
    domain = vm.finite(["yes", 1, (1, 2), None])
    assert domain.contains(value) == inside
    if inside:
        assert domain.admit(value) == value
    else:
        check_refused_in_silence(domain, value, WORD)


# True == 1 == 1.0, and a function may tell them apart: what is equal to a member is not it.
def test_a_finite_set_has_one_form_of_each_member() -> None:
    domain = vm.finite([1])
    for alias in (True, 1.0, np.int64(1)):
        assert not domain.contains(alias) or type(domain.admit(alias)) is int


# Once: members are found by ==, and NaN is not equal to itself.
def test_every_value_that_was_listed_is_a_member() -> None:
    assert vm.finite([NAN, 1]).contains(NAN)


def test_a_finite_set_without_members_is_refused() -> None:
    with pytest.raises(ParameterError, match="no members"):
        vm.finite([])


@for_each("values", [5, None, [[1]], [{}]])
def test_what_is_no_set_of_values_is_refused_by_name(values: Any) -> None:
    with pytest.raises(ViameterError, match="finite"):
        vm.finite(values)


@for_each("size", [-1, 1.0, "3", True, [1]])
def test_a_size_is_a_whole_number(size: Any) -> None:
    for make in (lambda: vm.vectors(int, size=size), lambda: vm.tables({"a": int}, size=size)):
        with pytest.raises(ParameterError, match="size="):
            make()


@for_each(
    ("columns", "said"),
    [
        ({}, "one or more"),
        ([("a", int)], "by name"),
        ("a", "by name"),
        (None, "by name"),
        ({1: int}, "names"),
        ({"a": bool}, "bool"),
        ({"a": None}, "None"),
        ({"a": []}, r"\[\]"),
        ({"a": vm.vectors(int)}, "vectors"),
    ],
)
def test_a_schema_that_makes_no_sense_is_refused_by_name(columns: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        vm.tables(columns)


def test_a_column_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(ParameterError, match="'age' does not exist: the columns are 'name', 'value'"):
        NAMED.column("age")


def test_bounds_belong_into_the_element() -> None:
    with pytest.raises(ParameterError, match="belong into the element"):
        vm.vectors(vm.scalars(int), bounds=(0, 1))
    with pytest.raises(ParameterError, match="belong into the element"):
        vm.vectors(vm.scalars(float), nan=True)
    with pytest.raises(ParameterError, match="domain of scalars"):
        VectorDomain(int)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="kind="):
        loose.vectors(vm.vectors(int))


DIFFERENT: tuple[Domain, ...] = (
    vm.vectors(int),
    vm.vectors(int, size=0),
    vm.vectors(int, size=3),
    vm.vectors(int, bounds=(0, 1)),
    vm.vectors(int, bounds=(0, 1), size=3),
    vm.vectors(float),
    vm.vectors(float, nan=True),
    vm.vectors(str),
    vm.vectors(vm.categories(["A"])),
    vm.tables({"a": int}),
    vm.tables({"a": int}, size=3),
    vm.tables({"b": int}),
    vm.tables({"a": int, "b": str}),
    vm.tables({"b": str, "a": int}),
    vm.finite([1, 2]),
    vm.finite(["1"]),
    vm.scalars(int),
)


def test_domains_are_equal_when_they_say_the_same() -> None:
    for one, two in itertools.product(range(len(DIFFERENT)), repeat=2):
        assert (DIFFERENT[one] == DIFFERENT[two]) == (one == two)
    assert len(set(DIFFERENT)) == len(set(map(repr, DIFFERENT))) == len(DIFFERENT)
    assert vm.vectors(int, bounds=(0, 1)) == vm.vectors(IntDomain((0, 1)))
    assert hash(vm.tables({"a": int})) == hash(vm.tables({"a": vm.scalars(int)}))
    assert vm.finite([1, 2]) == vm.finite({2, 1})


@for_each(
    ("domain", "text"),
    [
        (vm.vectors(int, bounds=(0, 1), size=3), "vectors(int, bounds=(0, 1), size=3)"),
        (vm.vectors(float, bounds=("-0.5", 1), nan=True), "vectors(float, bounds=(-0.5, 1.0), nan=True)"),
        (vm.vectors(vm.categories(["A", "B"]), size=2), "vectors(categories(['A', 'B']), size=2)"),
        (vm.tables({"a": int, "b": str}, size=1), "tables({'a': scalars(int), 'b': scalars(str)}, size=1)"),
        (vm.finite([2, 1]), "finite([1, 2])"),
    ],
)
def test_the_repr_of_a_domain_is_how_it_is_written(domain: Domain, text: str) -> None:
    assert repr(domain) == text


@given(
    rows=st.lists(st.one_of(st.integers(), st.floats(), st.text(max_size=2), st.none(), st.booleans()), max_size=4),
    domain=st.sampled_from([vm.vectors(int), vm.vectors(float), vm.vectors(float, nan=True), vm.vectors(str)]),
)
@drawn
def test_whatever_a_list_holds_it_is_admitted_exactly_or_refused(rows: list[Any], domain: VectorDomain) -> None:
    if not domain.contains(rows):
        with pytest.raises(NotInDomain):
            domain.admit(rows)
        return
    admitted = domain.admit(rows)
    assert admitted.dtype == domain.element.dtype
    for given_value, value in zip(rows, admitted.tolist(), strict=True):
        assert value == given_value or (math.isnan(value) and math.isnan(given_value))
        assert not isinstance(given_value, bool)
        assert isinstance(domain.element, FloatDomain) or type(value) is type(given_value)
    assert rows_of(domain.admit(admitted)) == rows_of(admitted)
