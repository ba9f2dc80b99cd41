"""Answers as bytes: what is read is what was written, the same value has the same bytes, and nothing read can run."""

from __future__ import annotations

import contextlib
import json
import math
import pickle
from collections import OrderedDict, defaultdict, namedtuple
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.processes import in_clean_process

import viameter as vm
from viameter.errors import FormatError
from viameter.ledger.codec import DEEPEST, decode, encode
from viameter.measures.amounts import PureLoss


def same(left: Any, right: Any) -> bool:
    """Equal, of the same types all the way down; a NaN is the same as a NaN, and -0.0 is not 0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return repr(left) == repr(right)
    if isinstance(left, Decimal):
        return str(left) == str(right)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return len(left) == len(right) and all(map(same, left.items(), right.items()))  # also in order
    if isinstance(left, np.ndarray):
        if left.dtype != right.dtype or left.shape != right.shape:
            return False
        if left.dtype == object:
            return all(map(same, left.ravel().tolist(), right.ravel().tolist()))
        return bool(left.tobytes() == right.tobytes())
    if isinstance(left, np.generic):
        return bool(left.dtype == right.dtype and left.tobytes() == right.tobytes())
    return bool(left == right)


VALUES: list[Any] = [
    None,
    True,
    0,
    -(2**63) - 1,
    2**1024 - 1,
    2**1024,
    -(10**5000),
    0.1,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    math.nan,
    math.inf,
    -math.inf,
    "",
    "é\u0000\ud800\U0001f600",
    '{"tuple":[1]}',
    b"",
    bytes(range(256)),
    [],
    [[], [[]], ()],
    (),
    (1, "a", None, 2.5),
    {},
    {"b": 1, "a": 2},
    {1: "x", "1": "y", (1, (2,)): "z", None: 0, 2.5: 1, frozenset({1}): 3},
    {"tuple": [1, 2]},
    {"dict": {"dict": 1}},
    set(),
    {3, 1, 2},
    {"b", "a", ("c",), frozenset({"d"})},
    frozenset({1, "1"}),
    Fraction(1, 3),
    Fraction(-(10**5000), 7),
    Decimal("1.10"),
    Decimal("NaN"),
    Decimal("-0"),
    Decimal("1e999999"),
    date(2026, 2, 28),
    time(23, 59, 59, 999999),
    time(1, 2, tzinfo=UTC),
    datetime(1, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone(-timedelta(hours=11, minutes=30, seconds=1))),
    timedelta(days=-3, microseconds=1),
    timedelta.max,
    np.int8(-3),
    np.uint64(2**64 - 1),
    np.float16(1.5),
    np.float32("nan"),
    np.float64(-0.0),
    np.bool_(True),
    np.str_("é"),
    np.bytes_(b"\x01"),
    np.datetime64("2026-01-01T00:00:00.123456789"),
    np.datetime64("NaT"),
    np.timedelta64(5, "D"),
    np.array(7),
    np.array([]),
    np.zeros((0, 3), dtype=np.int16),
    np.arange(6).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(10)[::3],
    np.array([1, 2], dtype=">i4"),
    np.array(["a", "bcd"]),
    np.array([b"a", b"bcd"]),
    np.array([True, False]),
    np.array(["2026-01-01"], dtype="M8[ns]"),
    np.array([math.nan, -0.0, math.inf]),
    np.array([1, "a", None, Fraction(1, 2)], dtype=object),
    np.array(None, dtype=object),
    np.empty((2, 0), dtype=object),
    [np.arange(2), {"k": np.float32(1)}],
    vm.pure("1/3"),
    vm.pure(math.inf),
    vm.approx(1, "1e-6"),
    vm.zcdp("1/7"),
    vm.approx_zcdp("1/7", "1e-9"),
    vm.gdp(2),
    vm.gdp(1) + vm.gdp(1),
    vm.bounded_range("1/2"),
    vm.renyi({2: "1/2", 4: 1}),
    vm.renyi({math.inf: 1}),
    vm.profile({1: "1/1000"}),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__}")
def test_what_is_read_is_what_was_written(value: Any) -> None:
    content = encode(value)
    assert same(decode(content), value)
    assert encode(decode(content)) == content
    assert content.isascii()


def test_lists_inside_of_an_object_array_stay_lists() -> None:
    value = np.empty(2, dtype=object)
    value[0], value[1] = [1, 2], [3, 4]
    assert same(decode(encode(value)), value)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**2000), 2**2000)
    | st.floats()
    | st.text(st.characters())
    | st.binary()
    | st.fractions()
    | st.decimals()
    | st.dates()
    | st.datetimes(timezones=st.just(UTC) | st.none())
    | st.times()
    | st.timedeltas()
    | arrays.arrays(
        arrays.boolean_dtypes()
        | arrays.integer_dtypes()
        | arrays.floating_dtypes(sizes=(16, 32, 64))
        | arrays.unicode_string_dtypes()
        | arrays.byte_string_dtypes()
        | arrays.datetime64_dtypes()
        | arrays.timedelta64_dtypes(),
        arrays.array_shapes(min_dims=0, min_side=0),
    ),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers(), st.text()), inner)
        | st.sets(st.integers() | st.text())
        | st.frozensets(st.integers() | st.text())
    ),
    max_leaves=12,
)


@given(plain)
@settings(max_examples=150)
def test_any_nesting_is_read_as_it_was_written_and_has_one_form(value: Any) -> None:
    content = encode(value)
    read = decode(content)
    assert same(read, value) and encode(read) == content


def encoded_sets() -> tuple[bytes, list[str]]:
    """The same sets, and the order that one of them is in."""
    return encode([{"b", "a", "cc", "d", ("e", 1)}, frozenset("xyz")]), list(frozenset("abcdefgh"))


def test_order_of_sets_is_not_part_of_the_bytes_and_that_of_dicts_is() -> None:
    first, second = (in_clean_process(encoded_sets, hash_seed=seed) for seed in (1, 2))
    assert first[0] == second[0] and first[1] != second[1]
    assert encode({"a": 1, "b": 2}) != encode({"b": 2, "a": 1})


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (0, False),
        (1, 1.0),
        ("1", 1),
        ([1], (1,)),
        ({1}, frozenset({1})),
        (0.0, -0.0),
        (b"a", "a"),
        ({"tuple": [1]}, (1,)),
        (Fraction(1), 1),
        (np.int64(1), 1),
        (np.array(1), np.int64(1)),
        (np.array([1]), np.array([1], dtype=np.int32)),
        (date(2026, 1, 1), datetime(2026, 1, 1)),
        (vm.pure(1), vm.zcdp(1)),
    ],
    ids=repr,
)
def test_different_values_have_different_bytes(left: Any, right: Any) -> None:
    assert encode(left) != encode(right)


def test_kinds_of_dicts_and_tuples_are_stored_as_the_plain_ones() -> None:
    pair = namedtuple("pair", "low high")
    assert decode(encode(pair(1, 2))) == (1, 2)
    assert decode(encode(OrderedDict(a=1))) == {"a": 1} == decode(encode(defaultdict(int, a=1)))


class Colour(IntEnum):
    RED = 1


class Sly(PureLoss):
    """A loss that says that it is another."""

    def to_json(self) -> dict[str, Any]:
        return {"measure": "pure", "epsilon": "0"}


TRUSTED = vm.measure("Own", adds=True, trust="for tests")
REFUSED = [
    object(),
    1j,
    Colour.RED,
    bytearray(b"a"),
    range(3),
    lambda: 0,
    iter([1]),
    np.longdouble(1) if np.dtype(np.longdouble).itemsize > 8 else 1j,
    np.array([1], dtype=np.longdouble) if np.dtype(np.longdouble).itemsize > 8 else 1j,
    np.array([1j]),
    np.array([(1, 2)], dtype=[("a", int), ("b", int)]),
    np.ma.masked_array([41, 42], mask=[True, False]),
    np.array([object()], dtype=object),
    {"a": [{"b": object()}]},
    {object(): 1},
    {object()},
    TRUSTED(1),
    Sly(Fraction(1)),
    vm.profile(lambda epsilon: Fraction(1, 2)),
    vm.Queryable(lambda self, query: 1),
]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_what_cannot_be_stored_is_refused_before_it_is(value: Any) -> None:
    with pytest.raises(FormatError, match="cannot be stored"):
        encode(value)


def test_what_is_nested_too_deep_or_holds_itself_is_refused() -> None:
    value: Any = 1
    for _ in range(DEEPEST):
        value = [value]
    assert decode(encode(value)) == value
    for deep in ([value], {"a": value}, ({"b": [value]},)):
        with pytest.raises(FormatError, match="nested"):
            encode(deep)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(FormatError, match="nested"):
        encode(endless)


class Runs:
    """What pickle would run."""

    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('it ran')",))


BAD = [
    b"",
    b"\xff\xfe",
    b"{",
    b"{}",
    b'{"tuple":[1],"list":[2]}',
    b'{"unknown":1}',
    b'{"tuple":5}',
    b'{"dict":[[1]]}',
    b'{"dict":[[[1],2]]}',
    b'{"set":[[1]]}',
    b'{"fraction":"1e999999999"}',
    b'{"fraction":["1e999999999",1]}',
    b'{"fraction":[1,0]}',
    b'{"fraction":[1.5,1]}',
    b'{"float":"__import__"}',
    b'{"float":[1]}',
    b'{"int":"0xzz"}',
    b'{"int":5}',
    b'{"bytes":"zz"}',
    b'{"bytes":7}',
    b'{"decimal":"x"}',
    b'{"datetime":"yesterday"}',
    b'{"seconds":[1]}',
    b'{"seconds":[1e999,0,0]}',
    b'{"array":["O",[1],"AAAAAAAAAAA="]}',
    b'{"array":["<i8",[2],"AAAAAAAAAAA="]}',
    b'{"array":["<i8",[-5],"AAAAAAAAAAA="]}',
    b'{"array":["<i8",[1],"****"]}',
    b'{"array":["i8,(99999999,)f8",[1],"AAAA"]}',
    b'{"array":["object",[99],[1]]}',
    b'{"array":5}',
    b'{"scalar":["<i8",[],""]}',
    b'{"loss":{"measure":"pure","epsilon":"-1"}}',
    b'{"loss":{"measure":"pure","epsilon":"1e999999999"}}',
    b'{"loss":{"measure":"os.system"}}',
    b'{"loss":"pure(1)"}',
    b'{"queryable":0}',
    b'{"__reduce__":["os.system","true"]}',
    b"[" * 100_000,
    b'{"tuple":[' * 50_000,
    b"1" * 10_000,
    pickle.dumps(Runs()),
]


@pytest.mark.parametrize("content", BAD, ids=lambda content: content[:30].decode("latin-1"))
def test_bytes_that_were_not_written_here_are_refused_and_run_nothing(content: bytes) -> None:
    with pytest.raises(FormatError):
        decode(content)


@given(st.data())
def test_changed_bytes_are_read_as_something_or_refused(data: Any) -> None:
    value = [1, (2.5, "a"), {"k": Fraction(1, 3)}, np.arange(3), {frozenset({1})}, vm.pure("1/3"), date(2026, 1, 1)]
    content = bytearray(encode(value))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(FormatError):
        decode(bytes(content))


def test_queryables_are_placed_and_found() -> None:
    asked = vm.Queryable(lambda self, query: 1)
    placed: list[Any] = []

    def place(queryable: Any) -> int:
        placed.append(queryable)
        return len(placed) - 1

    content = encode({"a": asked, "b": [asked]}, place=place)
    assert decode(content, find=lambda number: f"number {number}") == {"a": "number 0", "b": ["number 1"]}
    assert json.loads(content) == {"dict": [["a", {"queryable": 0}], ["b", [{"queryable": 1}]]]}
