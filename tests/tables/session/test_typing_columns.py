"""Stated types: what a value is by each of them, and that a value that is none is never lost silently."""

from __future__ import annotations

import warnings
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables.engines import DataWarning, UnreadableData, run

READ: dict[str, dict[str, Any]] = {
    "boolean": {
        "True": True, "False": False, "true": True, "false": False, "TRUE": True, "FALSE": False, "t": True, "f": False,
        "T": True, "F": False, "1": True, "0": False,
    },
    "integer": {
        "30": 30, "-30": -30, "+30": 30, "30.0": 30, "-30.000": -30, "007": 7, "0": 0, "-0": 0, "9" * 18: 10**18 - 1,
    },
    "real": {
        "30": 30.0, "1e3": 1000.0, "1E+05": 1e5, "0.30000000000000004": 0.30000000000000004, ".5": 0.5, "5.": 5.0,
        "-2.5": -2.5, "0.1234567890123456789": 0.1234567890123456789, "1e-60": 0.0,
    },
    "date": {
        "2024-02-29": date(2024, 2, 29), "2024-02-29T23:59:59": date(2024, 2, 29),
        "2024-02-29 00:00:00": date(2024, 2, 29), "2024-02-29T23:30:00-05:00": date(2024, 2, 29),
        "2024-02-29T12:00:00.123456789Z": date(2024, 2, 29),
    },
    "timestamp": {
        "2024-02-29": datetime(2024, 2, 29), "2024-02-29T12:34:56": datetime(2024, 2, 29, 12, 34, 56),
        "2024-02-29 12:34:56.5": datetime(2024, 2, 29, 12, 34, 56, 500_000),
        "2024-02-29 12:34:56.123456789": datetime(2024, 2, 29, 12, 34, 56, 123_456),
        "2024-02-29T12:34:56Z": datetime(2024, 2, 29, 12, 34, 56),
        "2024-02-29T12:34:56+00:00": datetime(2024, 2, 29, 12, 34, 56),
    },
    "text": {"30.0": "30.0", " x ": " x ", "NA": "NA"},
}  # fmt: skip
"""What is read, by type."""
NONE: dict[str, list[str]] = {
    "boolean": ["yes", "no", "2", "tRUE", " true", "NA"],
    "integer": ["30.5", "1,000", " 30 ", "1e3", "NA", "NaN", "inf", "9" * 19, "0x1F", "1_000", "٣", "--1"],
    "real": ["1,000", " 30 ", "NA", "NaN", "inf", "-Infinity", "1e400", "1e50", "0x1p3", "1_0"],
    "date": ["2024-02-30", "29.02.2024", "2024-2-9", "NA", "infinity", "0000-01-01", "2024-02-29T25:00:00", "20240229"],
    "timestamp": ["2024-06-30T23:59:60", "2024-02-29T24:00:00", "2024-02-29T12:34:56+05:30", "NA", "2024-02-29T12:34",
                  "1700000000", "2024-02-30T00:00:00", "9999-12-31T23:59:59"],
}  # fmt: skip
"""What is no value of a type."""


def opened(source: Any, kind: str, **options: Any) -> Any:
    return vm.open(source, unit=vm.per_row(), budget=vm.zcdp(10**12), types={"x": kind}, **options)


def values(table: Any) -> list[Any]:
    rows = table.session.source
    return [row["x"] for row in run(rows.on, rows.expression.order_by("n").select("x"))]


def sources(texts: list[str], folder: Path) -> dict[str, Any]:
    frame = pd.DataFrame({"n": range(len(texts)), "x": pd.Series(texts, dtype=object)})
    frame.to_csv(folder / "t.csv", index=False)
    table = pa.table({"n": list(range(len(texts))), "x": texts})
    return {"csv": folder / "t.csv", "objects of pandas": frame, "arrow": table}


@pytest.mark.parametrize("kind", READ)
def test_values_are_read_by_their_type(tmp_path: Path, kind: str) -> None:
    for name, source in sources(list(READ[kind]), tmp_path).items():
        if name == "csv":
            texts = vm.open(source, unit=vm.per_row(), budget=vm.zcdp(1), types={"n": "integer"})
            assert values(texts) == list(READ[kind])
            continue
        assert values(opened(source, kind, strict=True)) == list(READ[kind].values()), name


@pytest.mark.parametrize("kind", NONE)
def test_values_that_are_none_are_null_and_counted_or_refused(tmp_path: Path, kind: str) -> None:
    texts = [*NONE[kind], *READ[kind]]
    for source in sources(texts, tmp_path).values():
        counted = f"{len(NONE[kind])} of 'x' are no {kind}"
        with pytest.warns(DataWarning, match=f"{counted}; they are read as NULL") as caught:
            table = opened(source, kind)
        assert caught[0].filename == __file__ and table.schema["x"].kind.value == kind.upper()
        assert set(values(opened_quietly(source, kind))[: len(NONE[kind])]) == {None}
        with pytest.raises(UnreadableData, match=counted):
            opened(source, kind, strict=True)


def opened_quietly(source: Any, kind: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return vm.open(source, unit=vm.per_row(), budget=vm.zcdp(1), types={"x": kind, "n": "integer"})


def test_empty_values_are_null_and_no_loss(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('n,x\n1,\n2,""\n3,30\n')
    assert values(opened(tmp_path / "t.csv", "integer", strict=True)) == [None, None, 30]


def test_numbers_are_not_rounded_to_integers(tmp_path: Path) -> None:
    source = {"n": [1, 2, 3, 4], "x": [30.0, 30.5, -1.0, 1e300]}
    with pytest.warns(DataWarning, match="2 of 'x' are no integer"):
        table = opened(source, "integer")
    assert values(table) == [30, None, -1, None]
    assert values(opened({"n": [1, 2], "x": [datetime(2024, 2, 29, 23), None]}, "date", strict=True)) == [
        date(2024, 2, 29),
        None,
    ]
    with pytest.raises(ParameterError, match="cannot be cast"):
        opened({"n": [1], "x": [3]}, "date")


def test_what_is_said_of_values_shows_none_of_them(tmp_path: Path) -> None:
    with pytest.warns(DataWarning) as caught:
        opened({"n": [1, 2], "x": ["hunter2", "7"]}, "integer")
    assert "hunter2" not in str(caught[0].message)


def test_every_type_that_is_listed_is_taken_from_a_file(tmp_path: Path) -> None:
    line = {"a": "1", "b": "1.5", "c": "x", "d": "True", "e": "2024-02-29", "f": "2024-02-29 12:00:00"}
    types = dict(zip(line, ("integer", "real", "text", "boolean", "date", "timestamp"), strict=True))
    pd.DataFrame([line]).to_csv(tmp_path / "t.csv", index=False)
    table = vm.open(tmp_path / "t.csv", unit=vm.per_row(), budget=vm.zcdp(10**12), types=types, strict=True)
    assert [table.schema[name].kind.value.lower() for name in line] == list(types.values())
    is_there = table["f"].hour() == 12
    assert table.filter(is_there & table["d"]).agg(n=vm.count()).release(spend=vm.zcdp(10**9))["n"].value.tolist() == [
        1
    ]
