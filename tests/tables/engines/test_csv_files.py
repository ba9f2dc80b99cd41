"""CSV files: a record says nothing of how others are read, and what is not of the dialect is refused when opened."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables.engines import UnreadableData, csv_files, open_source, run

Rows = list[tuple[str | None, ...]]
WRITERS: dict[str, dict[str, Any]] = {
    "minimal, LF": {"lineterminator": "\n"},
    "minimal, CRLF": {"lineterminator": "\r\n"},
    "all in quotes": {"lineterminator": "\n", "quoting": csv.QUOTE_ALL},
}


def written(rows: Any, **dialect: Any) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, **dialect).writerows(rows)
    return text.getvalue().encode()


def read(path: Path) -> Rows:
    """What the engine holds."""
    table = open_source(path)
    return [tuple(row.values()) for row in run(table, table.expression)]


def parsed(content: bytes, path: Path) -> Rows:
    """What is read of a file, without an engine."""
    path.write_bytes(content)
    names, tables = csv_files.read_csv(path)
    return [tuple(row[name] for name in names) for table in tables for row in table.to_pylist()]


def as_null(row: Any) -> tuple[str | None, ...]:
    return tuple(value or None for value in row)


HOSTILE = [
    '"', '""', '"""', '","', '\n"', '"\n', '\n"u0","1"\n', '\r', '\r\n', '\n\r', ',', ',,,', "\0", "\0\0", "\ufeff",
    "é\n日", "\u2028", "\x85", "\x1c", "'", "\\", '\\"', "#", "a\rb", "\x1a", "NULL", " ", '" "', "x\r", '"\r',
    "\n" * 50, '"' * 51,
]  # fmt: skip


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("block", [13, 2**23])
def test_a_row_changes_only_what_is_read_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str, block: int
) -> None:
    monkeypatch.setattr(csv_files, "BLOCK", block)
    others = [(f"u{number}", random.Random(number).choice(HOSTILE), str(number)) for number in range(9)]
    head = ("user", "text", "n")
    without = parsed(written([head, *others], **WRITERS[writer]), tmp_path / "t.csv")
    assert without == [as_null(row) for row in others]
    for number, text in enumerate(HOSTILE):
        place = number % (len(others) + 1)
        for hostile in ((("p", text, "7")), ("p", "7", text), ("p" + text, "7", text * 2)):
            rows = [*others[:place], hostile, *others[place:]]
            got = parsed(written([head, *rows], **WRITERS[writer]), tmp_path / "t.csv")
            assert without[:place] == got[:place] and without[place:] == got[place + 1 :]
            # A bare CR at the end of a record that is not in quotes belongs to the end of the line.
            if not (text.endswith("\r") and writer == "minimal, LF"):
                assert got[place] == as_null(hostile)


@given(
    st.lists(st.tuples(st.text(alphabet='ab",\n\0é', max_size=6), st.text(alphabet='"\n,a', max_size=6)), max_size=8)
)
def test_what_a_writer_wrote_is_read_whatever_the_size_of_blocks(rows: Any) -> None:
    from tempfile import TemporaryDirectory

    before = csv_files.BLOCK
    with TemporaryDirectory() as folder:
        try:
            for block in (1, 3, 2**23):
                csv_files.BLOCK = block
                content = written([("a", "b"), *rows], lineterminator="\n")
                assert parsed(content, Path(folder) / "t.csv") == [as_null(row) for row in rows]
        finally:
            csv_files.BLOCK = before


def test_text_that_spans_the_buffers_of_readers_does_not_make_rows_of_others(tmp_path: Path) -> None:
    people = [(f"u{number}", "x" * 40) for number in range(1000)]
    forged = "\n" + "\n".join(f'"v{number}","forged"' for number in range(700_000))
    for hostile in (forged, forged.replace('"', ""), "\r\n" * (5 * 2**20), '"' * (9 * 2**20 + 1)):
        assert len(hostile) > 2**23
        (tmp_path / "t.csv").write_bytes(written([("user", "text"), *people[:500], ("p", hostile), *people[500:]]))
        table = open_source(tmp_path / "t.csv")
        rows = table.expression
        counts = {"n": rows.count(), "users": rows.user.nunique(), "most": rows.text.length().max()}
        assert run(table, rows.aggregate(**counts)) == [{"n": 1001, "users": 1001, "most": len(hostile)}]


def test_the_engine_holds_what_was_read(tmp_path: Path) -> None:
    rows = [("p", text) for text in HOSTILE]
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbf" + written([("user", "a\nb"), *rows], lineterminator="\r\n"))
    assert read(tmp_path / "t.csv") == [as_null(row) for row in rows]
    assert open_source(tmp_path / "t.csv").columns == ("user", "a\nb")


def test_line_ends_may_be_mixed_and_blank_lines_are_no_records(tmp_path: Path) -> None:
    content = b'\xef\xbb\xbfa,b\r\n1,2\n\n"3",""\r\n\r\n4,"5\r\n6"\n,\n7,x\ry'
    assert parsed(content, tmp_path / "t.csv") == [
        ("1", "2"),
        ("3", None),
        ("4", "5\r\n6"),
        (None, None),
        ("7", "x\ry"),
    ]
    assert parsed(b"a,b\nx\r,y\n", tmp_path / "t.csv") == [("x\r", "y")]
    assert parsed(b"a\n1\n\n2\n", tmp_path / "t.csv") == [("1",), (None,), ("2",)]
    assert parsed(b"a,b\n", tmp_path / "t.csv") == [] == parsed(b"a,b", tmp_path / "t.csv")


SECRET = b"hunter2"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'a,b\nx,1\n"hunter2,1\ny,2\n', "line 3 does not end"),
        (b'a,b\nx,1\n"hunter2,1\ny,"2"\n', "line 3 does not end"),
        (b'a,b\nx,hun"ter2\n', "line 3 does not|line 2 does not"),
        (b'a,b\nx,hun""ter2\n', "line 2 has a quote"),
        (b'a,b\nx,"hunter2"y\n', "line 2 has a quote"),
        (b'a,b\nx, "hunter2"\n', "line 2 has a quote"),
        (b'a,b\n"q\nq",1\nhunter2\n', "line 4 has another number"),
        (b"a,b\nx,1\nhunter2,1,2\n", "line 3 has another number"),
        (b"a,b\nx,1\nhunter2\n1,2,3\n", "line 3 has another number"),
        (b"a,b\nx,1\nhunter2,\xff\n", "line 3 is not UTF-8"),
        (b"a,b\nx,\xed\xa0\x80hunter2\n", "line 2 is not UTF-8"),
        (b"a,b\r1,2\rhunter2,3\r", "lines end with CR alone"),
        (b"", "header"),
    ],
)
def test_what_is_not_of_the_dialect_is_refused_when_it_is_opened_by_its_line(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    beside = open_source({"n": [1]})
    for place in (None, beside):
        with pytest.raises(UnreadableData, match=reason) as caught:
            open_source(tmp_path / "t.csv", beside=place)
        assert SECRET.decode() not in str(caught.value)
    assert beside.backend.con.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]


def test_a_quote_that_is_not_closed_does_not_bring_a_large_file_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_files, "BLOCK", 1000)
    monkeypatch.setattr(csv_files, "LONGEST_RECORD", 5000)
    (tmp_path / "t.csv").write_bytes(b'a,b\n1,2\n"1,2\n' + b"1,2\n" * 100_000)
    with pytest.raises(UnreadableData, match=r"line 3 does not end \(it is longer than 5000 bytes"):
        open_source(tmp_path / "t.csv")


def test_files_of_a_pattern_have_the_same_names(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("a,b\n3,4\n")
    assert read(tmp_path / "*.csv") == [("1", "2"), ("3", "4")]
    (tmp_path / "2.csv").write_text("b,a\n3,4\n")
    with pytest.raises(UnreadableData, match="other names"):
        open_source(tmp_path / "*.csv")


def test_a_file_is_read_once_and_its_rows_go_with_the_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    first = open_source({"n": [1]})
    table = open_source(tmp_path / "t.csv", beside=first)
    (tmp_path / "t.csv").write_text("a,b\n5,6\n7,8\n")
    assert [tuple(row.values()) for row in run(table, table.expression)] == [("1", "2")]
    del table
    run(first, first.expression)
    assert first.backend.con.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]


def counted(table: Any) -> int:
    answer = table.agg(n=vm.count_units()).release(spend=vm.zcdp(10**9))
    return int(answer["n"].value[0])


@pytest.mark.parametrize("make", [lambda: "\n".join(f"v{n},1" for n in range(900_000)), lambda: '"\n' * 4_300_000])
def test_one_persons_text_does_not_move_a_count_of_units_by_more_than_one(
    tmp_path: Path, make: Callable[[], str]
) -> None:
    people = [(f"u{number}", "1") for number in range(1000)]
    found = []
    for rows in (people, [*people[:7], ("p", make()), *people[7:]]):
        (tmp_path / "t.csv").write_bytes(written([("user", "text"), *rows]))
        table = vm.open(tmp_path / "t.csv", unit=vm.per("user", rows=1), budget=vm.zcdp(10**12))
        found.append(counted(table))
    assert found == [1000, 1001]


def test_a_folder_or_a_file_that_is_gone_is_a_plain_refusal(tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(ParameterError, match="no file"):
        open_source(tmp_path / "t.csv" / "u.csv")


@pytest.mark.parametrize(
    ("header", "said"), [(",a", "name 1 .* empty"), ("a,b,a", "'a' twice"), ("a,A", "'A' beside 'a'")]
)
def test_names_that_are_missing_or_alike_are_named(tmp_path: Path, header: str, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\n1,2,3\n")
    with pytest.raises(ParameterError, match=said):
        vm.open(str(path), unit=vm.per_row(), budget=vm.pure(1))


def test_frames_with_names_that_are_alike_are_refused() -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    for frame in (
        pd.DataFrame([[1, 2]], columns=["id", "id"]),
        pd.DataFrame([[1, 2]], columns=["id", "ID"]),
        pa.table([[1], [2]], names=["id", "id"]),
        pl.DataFrame({"id": [1], "Id": [2]}).lazy(),
    ):
        with pytest.raises(ParameterError, match="has the column"):
            vm.open(frame, unit=vm.per_row(), budget=vm.pure(1))
