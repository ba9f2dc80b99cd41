"""Public tables: read from whatever holds them, and how many rows match."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from viameter.errors import ParameterError
from viameter.tables.expressions import Kind
from viameter.tables.public_tables import PublicTable, public

COLUMNS: dict[str, list[Any]] = {"k": ["a", "b", None], "x": [1, 2, 3], "y": [0.5, None, 2.0], "z": [True, False, None]}
DAY, NOON = datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 12)


@pytest.mark.parametrize(
    "table",
    [
        COLUMNS,
        {name: tuple(values) for name, values in COLUMNS.items()},
        [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)],
        pa.table(COLUMNS),
        pl.DataFrame(COLUMNS),
        pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in COLUMNS.items()}),
    ],
    ids=["dict", "tuples", "dicts", "arrow", "polars", "pandas"],
)
def test_a_table_is_read_from_whatever_holds_it(table: Any) -> None:
    found = public(table)
    assert {name: list(values) for name, values in found.columns.items()} == COLUMNS
    assert [kind.kind for kind in found.schema.values()] == [Kind.TEXT, Kind.INTEGER, Kind.REAL, Kind.BOOLEAN]
    assert found.size == 3 and repr(found) == "<public table of 3 rows: k, x, y, z>"
    assert public(found) is found


def test_values_become_those_of_python() -> None:
    found = public({
        "n": np.array([1, 2], dtype=np.int32), "f": np.array([1.5, np.nan]), "t": [pd.Timestamp(NOON), pd.NaT],
        "d": [DAY, None],
    })  # fmt: skip
    assert found.columns == {"n": (1, 2), "f": (1.5, None), "t": (NOON, None), "d": (DAY, None)}
    assert all(type(value) is int for value in found.columns["n"])
    assert type(found.columns["t"][0]) is datetime.datetime
    assert [kind.kind for kind in found.schema.values()] == [Kind.INTEGER, Kind.REAL, Kind.TIMESTAMP, Kind.DATE]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({}, "one length"),
        ({"a": [1], "b": [1, 2]}, "one length: got 1, 2"),
        ({"a": [1, "x"]}, "mixes 2 types"),
        ({"a": [1, 2.5]}, "mixes 2 types"),
        ({"a": [1, True]}, "mixes 2 types"),
        ({"a": [DAY, NOON]}, "mixes 2 types"),
        ({"a": []}, "mixes 0 types"),
        ({"a": [None]}, "mixes 0 types"),
        ({"a": [object()]}, "is no number, text"),
        ({"a": [[1]]}, "is no number, text"),
        ([], "is a dict of lists"),
        ([{"a": 1}, {"b": 1}], "the same names"),
        ([{"a": 1, "b": 2}, {"b": 1, "a": 2}], "in the same order"),
        ([1, 2], "is a dict of lists"),
        ("ab", "is a dict of lists"),
        (None, "is a dict of lists"),
        (3, "is a dict of lists"),
    ],
)
def test_what_is_no_table_is_refused(table: Any, problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        public(table)


def most(table: PublicTable, *on: str) -> int:
    """How many rows have the same values, by looking at each beside each."""
    rows = list(zip(*(table.columns[name] for name in on), strict=True))
    return max(rows.count(row) for row in rows)


def test_the_most_matches_are_those_of_the_commonest_values() -> None:
    table = public({"a": [1, 1, 2, 1, 2], "b": ["x", "y", "x", "x", "x"], "c": [0.0, -0.0, 1.0, 2.0, 3.0]})
    for on in (("a",), ("b",), ("a", "b"), ("a", "b", "c"), ("c",)):
        assert table.most_matches(on) == most(table, *on)
    assert [table.most_matches((name,)) for name in "abc"] == [3, 4, 2]
    assert table.most_matches(("a", "b")) == 2
