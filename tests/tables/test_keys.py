"""Keys: the public groups of a question, as people give them and as an engine finds them."""

import datetime
import itertools
from typing import Any

import numpy as np
import pytest

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables.expressions import Schema
from viameter.tables.expressions.types import BOOLEAN, DATE, INTEGER, REAL, TEXT, TIMESTAMP
from viameter.tables.keys import LISTED, OTHER, WRITTEN_OUT, Keys, read_keys

SCHEMA = Schema({"k": TEXT, "n": INTEGER, "b": BOOLEAN, "d": DATE, "t": TIMESTAMP, "r": REAL})
DAY, NOON = datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 12)


def read(columns: str, keys: Any, *, other: bool = False) -> Keys:
    return read_keys(SCHEMA, list(columns), keys, other=other)


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        ("k", ["a", "b", "", "it's"]),
        ("k", ("a", None)),
        ("k", iter(["a"])),
        ("k", [("a",), ("b",)]),
        ("k", {"a": 1, "b": 2}.keys()),
        ("n", [0, 1, -(2**63), 2**63 - 1, None]),
        ("n", range(3)),
        ("n", np.array([1, 2], dtype=np.int8)),
        ("b", [False, True, None]),
        ("d", [DAY]),
        ("t", [NOON]),
        ("k", [None]),
    ],
)
def test_keys_of_one_column_are_a_list(column: str, keys: Any) -> None:
    given = list(keys) if not isinstance(keys, list | np.ndarray) else keys
    found = read(column, given)
    values = [key[0] if isinstance(key, tuple) else key for key in given]
    assert found.groups == tuple((value,) for value in values) == found.labels
    assert found.columns == (column,) and found.size == len(values) and not found.other
    known = (str, int, bool, datetime.date, datetime.datetime, type(None))
    assert all(type(value) in known for (value,) in found.groups)


def test_keys_of_several_columns_are_tuples_or_a_dict_of_lists() -> None:
    listed = read("kn", [("a", 1), ("b", 1), ["a", None]])
    assert listed.groups == (("a", 1), ("b", 1), ("a", None)) and listed.each is None
    product = read("kn", {"n": [1, 2], "k": ["a", None]})
    assert product.groups == (("a", 1), ("a", 2), (None, 1), (None, 2)) and product.each == (("a", None), (1, 2))
    assert read("k", {"k": ["a"]}).groups == (("a",),)


@pytest.mark.parametrize(
    ("columns", "keys", "problem"),
    [
        ("r", [1.5], "'r' is real; cut it into bins"),
        ("kr", [("a", 1.5)], "'r' is real"),
        ("q", ["a"], "there is no column 'q'"),
        ("k", "abc", "expected a list of the public values of k"),
        ("k", 3, "expected a list"),
        ("k", None, "expected a list"),
        ("k", [], "the list is empty"),
        ("kn", [], "the list is empty"),
        ("k", {"k": []}, "the list is empty"),
        ("k", {"k": "abc"}, "expected a list of values"),
        ("k", {"k": 3}, "expected a list of values"),
        ("k", {}, "a list of values for each of k"),
        ("kn", {"k": ["a"]}, "a list of values for each of k, n"),
        ("k", {"k": ["a"], "n": [1]}, "a list of values for each of k"),
        ("k", {"n": [1]}, "a list of values for each of k"),
        ("kn", ["a", "b"], "tuples of 2 values"),
        ("kn", [("a", 1), ("b",)], "tuples of 2 values"),
        ("kn", [("a", 1, 2)], "tuples of 2 values"),
        ("k", ["a", "b", "a"], "listed twice"),
        ("k", [None, None], "listed twice"),
        ("n", [1, np.int64(1)], "listed twice"),
        ("kn", [("a", 1), ("a", 1)], "listed twice"),
        ("kn", {"k": ["a", "a"], "n": [1]}, "listed twice"),
        ("k", [1], "1 is no value of a column that is TEXT"),
        ("k", ["a\x00"], "no value of a column that is TEXT"),
        ("k", [["a"]], "no value of a column that is TEXT"),
        ("k", [float("nan")], "no value of a column that is TEXT"),
        ("n", ["1"], "no value of a column that is INTEGER"),
        ("n", [1.0], "no value of a column that is INTEGER"),
        ("n", [True], "no value of a column that is INTEGER"),
        ("n", [2**63], "no value of a column that is INTEGER"),
        ("n", [-(2**63) - 1], "no value of a column that is INTEGER"),
        ("b", [1], "no value of a column that is BOOLEAN"),
        ("b", ["True"], "no value of a column that is BOOLEAN"),
        ("d", [NOON], "no value of a column that is DATE"),
        ("d", ["2021-02-29"], "no value of a column that is DATE"),
        ("t", [DAY], "no value of a column that is TIMESTAMP"),
        ("kn", [("a", "b")], "no value of a column that is INTEGER"),
    ],
)
def test_what_are_no_keys_is_refused(columns: str, keys: Any, problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        read(columns, keys)


@pytest.mark.parametrize("key", [("a", "b"), ()])
def test_tuples_of_another_length_are_refused_for_one_column_too(key: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError):
        read("k", [key])


def test_the_place_of_a_group_is_that_in_the_list() -> None:
    keys = read("kn", [("a", 1), (None, 2), ("b", None)])
    assert [keys.place(group, True) for group in keys.groups] == [0, 1, 2]
    assert keys.place(("a", 2), True) is keys.place(("c", 1), True) is keys.place((None, None), True) is None
    assert keys.place(("a", 1), False) == 0  # without a group of others nothing is marked
    assert keys.group_columns() == ("k", "n")


def test_other_keys_make_one_more_group() -> None:
    keys = read("kn", [("a", 1), (None, None)], other=True)
    assert keys.size == 3 and keys.labels == (("a", 1), (None, None), (OTHER, OTHER))
    assert keys.group_columns() == ("k", "n", LISTED)
    # The engine writes NULL for what is not listed: that is no key, though NULL is one.
    assert keys.place((None, None), True) == 1 and keys.place((None, None), False) == 2
    assert keys.place(("a", 1), True) == 0 and keys.place(("z", 1), True) is None


def test_truth_values_and_numbers_are_told_apart() -> None:
    mixed = Keys(("a",), ((True,), (1,), (False,), (0,), (None,)))
    assert [mixed.place((value,), True) for value in (True, 1, False, 0, None)] == [0, 1, 2, 3, 4]
    assert read("n", [0, 1]).place((True,), True) is None
    assert read("b", [False, True]).place((1,), True) is None


def test_no_columns_make_one_group() -> None:
    keys = Keys((), ((),))
    assert keys.size == 1 and keys.labels == ((),) and keys.group_columns() == ()


# --- on an engine ----------------------------------------------------------------------------------------------------

COLUMNS: dict[str, list[Any]] = {
    "k": ["a", "a", "b", None, "c", None],
    "n": [1, 2, 1, 1, None, None],
    "b": [True, False, None, True, True, False],
}
SINGLE: list[tuple[str, list[Any]]] = [
    ("k", ["a", "b"]),
    ("k", ["z", None]),
    ("n", [2, None, 1]),
    ("b", [True, None]),
    ("k", [None]),
    ("n", [7]),
]


def counts(columns: tuple[str, ...], keys: Any, *, other: bool = False) -> list[int]:
    """How many rows each group has, before noise."""
    table = vm.open(COLUMNS, unit=vm.per_row(), budget=vm.pure(1))
    asked = table.group_by(*columns, keys=keys, other=other).agg(rows=vm.count())
    plan: Any = asked.plan
    (statistic,) = plan.readings["rows"].statistics
    found: list[int] = plan.collecting(table.relation.rows(), [statistic])[0].tolist()
    return found


def expected(columns: tuple[str, ...], groups: list[tuple[Any, ...]], *, other: bool = False) -> list[int]:
    rows = list(zip(*(COLUMNS[name] for name in columns), strict=True))
    found = [rows.count(group) for group in groups]
    return [*found, len(rows) - sum(found)] if other else found


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize(("column", "keys"), SINGLE)
def test_rows_find_their_group(column: str, keys: list[Any], other: bool) -> None:
    assert counts((column,), keys, other=other) == expected((column,), [(key,) for key in keys], other=other)


@pytest.mark.parametrize("other", [False, True])
def test_rows_find_their_combination(other: bool) -> None:
    keys: dict[str, list[Any]] = {"k": ["a", None], "n": [1, None]}
    assert counts(("k", "n"), keys, other=other) == expected(
        ("k", "n"), list(itertools.product(*keys.values())), other=other
    )


PAIRS: list[tuple[Any, ...]] = [("a", 1), ("a", None), (None, None), ("b", 1)]


def test_rows_find_their_tuple() -> None:
    assert counts(("k", "n"), PAIRS) == expected(("k", "n"), PAIRS)


def test_rows_of_other_tuples_make_one_more_group() -> None:
    assert counts(("k", "n"), PAIRS, other=True) == expected(("k", "n"), PAIRS, other=True)


@pytest.mark.parametrize("other", [False, True])
def test_rows_find_their_group_among_very_many_keys(other: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert WRITTEN_OUT > 100
    monkeypatch.setattr("viameter.tables.keys.WRITTEN_OUT", 1)
    for column, keys in SINGLE:
        if len(keys) > 1:
            groups = [(key,) for key in keys]
            assert counts((column,), keys, other=other) == expected((column,), groups, other=other)
