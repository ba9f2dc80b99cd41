"""The order by content: a permutation that depends on what is in the rows alone."""

from __future__ import annotations

import itertools
import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spaces.oracles import GREATEST, LEAST, rows_of, shown
from tests.transforms.oracles import drawn

import viameter as vm
from viameter.transforms import order
from viameter.transforms.order import content_order

NAN = math.nan
OTHER_NAN: float = struct.unpack("<d", struct.pack("<Q", 0x7FF0000000000001))[0]


def taken(member: Any, places: Any) -> Any:
    if isinstance(member, dict):
        return rows_of({name: column[places] for name, column in member.items()})
    return rows_of(member[places])


def one_less(before: list[Any], after: list[Any], row: Any) -> bool:
    """Whether `after` is `before` with the row inserted somewhere."""
    return any(after[:place] + after[place + 1 :] == before for place in range(len(after)) if after[place] == row)


@pytest.fixture(params=["the hash", "no hash"])
def hashing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the hash as it is, and with one for which all rows collide."""
    if request.param == "no hash":
        monkeypatch.setattr(order, "_mix", np.zeros_like)


@pytest.mark.parametrize(
    ("domain", "rows"),
    [
        (vm.vectors(int), [LEAST, -1, 0, 0, GREATEST]),
        (vm.vectors(float, nan=True), [NAN, OTHER_NAN, -0.0, 0.0, 0.0]),
        (vm.vectors(str), ["", "a", "a", "\ud800", "ab"]),
        (vm.vectors(vm.categories([2, 1])), [1, 2, 2, 1]),
    ],
    ids=shown,
)
@pytest.mark.usefixtures("hashing")
def test_all_orders_of_the_same_rows_are_brought_into_one(domain: Any, rows: list[Any]) -> None:
    found = set()
    for some in itertools.permutations(rows):
        member = domain.admit(list(some))
        places = content_order(member)
        assert sorted(places.tolist()) == list(range(len(rows)))
        found.add(taken(member, places))
    assert len(found) == 1


@pytest.mark.usefixtures("hashing")
def test_all_orders_of_the_rows_of_a_table_are_brought_into_one() -> None:
    domain = vm.tables({"name": str, "value": int, "share": vm.scalars(float, nan=True)})
    rows = [("a", 1, NAN), ("a", 0, NAN), ("b", 1, -0.0), ("b", 1, 0.0), ("a", 1, NAN)]
    found, by_name = set(), set()
    for some in itertools.permutations(rows):
        columns = dict(zip(domain.names, map(list, zip(*some, strict=True)), strict=True))
        member = domain.admit(columns)
        found.add(taken(member, content_order(member)))
        grouped = taken(member, content_order(member, first=member["name"]))
        assert [row[0] for row in grouped] == sorted(row[0] for row in grouped)
        by_name.add(grouped)
    assert len(found) == len(by_name) == 1


@given(data=st.lists(st.integers(-3, 3), max_size=20), row=st.integers(-3, 3))
@drawn
def test_a_row_more_leaves_the_order_of_the_others_as_it_was(data: list[int], row: int) -> None:
    less, more = np.array(data, dtype=np.int64), np.array([row, *data], dtype=np.int64)
    before, after = less[content_order(less)].tolist(), more[content_order(more)].tolist()
    assert one_less(before, after, row)


@given(data=st.lists(st.text(max_size=2), max_size=12), row=st.text(max_size=2))
@drawn
def test_a_string_more_leaves_the_order_of_the_others_as_it_was(data: list[str], row: str) -> None:
    less, more = vm.vectors(str).admit(data), vm.vectors(str).admit([row, *data])
    before, after = less[content_order(less)].tolist(), more[content_order(more)].tolist()
    assert one_less(before, after, row)


def test_the_order_of_nothing_is_empty() -> None:
    for domain, data in ((vm.vectors(int), []), (vm.vectors(str), []), (vm.tables({"a": int}), {"a": []})):
        assert content_order(domain.admit(data)).tolist() == []


def test_the_order_stays_the_same_from_run_to_run() -> None:
    # Python's own hash of strings changes with every start; this one may not.
    words = vm.vectors(str).admit(["ann", "bob", "eve", "joe"])
    numbers = np.arange(8)
    assert words[content_order(words)].tolist() == ["joe", "bob", "ann", "eve"]
    assert content_order(numbers).tolist() == [0, 6, 2, 1, 7, 3, 5, 4]
