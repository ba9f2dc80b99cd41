"""The benchmark of tables: its rows, and that every query by hand keeps what the limits allow, checked by counting."""

from __future__ import annotations

import sqlite3
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from bench.model import Benchmark, Case, load
from bench.peers import tables_data
from bench.peers.tables_data import GROUPS, GROUPS_OF_USER, LOWER, PER_GROUP, UPPER, arrays, parquet_file, sqlite_file
from bench.places import CASES

ROWS = 20_000


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(tables_data, "temporary_folder", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    monkeypatch.setenv("BENCH_TABLES_ROWS", f"{ROWS},{2 * ROWS}")
    return load(CASES / "tables.py")


def prepared(benchmark: Benchmark, case: str, variant: str) -> tuple[Callable[[], Any], Callable[..., Any]]:
    found = first(benchmark, case)
    chosen = next(each for each in found.variants if each.name == variant)
    assert chosen.read is not None
    return chosen.prepare(**found.parameters), chosen.read


def first(benchmark: Benchmark, name: str) -> Case:
    return next(case for case in benchmark.cases if case.name == name)


def listed() -> list[tuple[int, int, int]]:
    return list(zip(*(column.tolist() for column in arrays(ROWS).values()), strict=True))


def kept_counts() -> tuple[int, dict[int, int]]:
    """How many rows any choice within the limits keeps in all, at most; and how many a group can have, at most."""
    places: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for user, group, _ in listed():
        places[user][group] += 1
    most = 0
    by_group: dict[int, int] = defaultdict(int)
    for groups in places.values():
        full = {group: min(count, PER_GROUP) for group, count in groups.items()}
        most += sum(sorted(full.values())[-GROUPS_OF_USER:])
        for group, count in full.items():
            by_group[group] += count
    return most, by_group


def test_rows_are_the_same_every_time_and_every_limit_leaves_something_out() -> None:
    rows = listed()
    assert rows == listed()
    most, by_group = kept_counts()
    assert most < sum(by_group.values()) < len(rows) == ROWS
    assert {group for _, group, _ in rows} <= set(range(GROUPS))
    assert max(value for _, _, value in rows) > UPPER


def test_files_hold_the_rows_and_are_made_once(folder: Path) -> None:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(parquet_file(ROWS))
    assert list(zip(*(table[name].to_pylist() for name in ("user", "grp", "value")), strict=True)) == listed()
    with closing(sqlite3.connect(sqlite_file(ROWS))) as database:
        assert database.execute("SELECT user, grp, value FROM rows").fetchall() == listed()
    assert sorted(path.name for path in folder.iterdir()) == [f"rows-{ROWS}.parquet", f"rows-{ROWS}.sqlite"]
    parquet_file(ROWS).write_bytes(b"kept")
    assert parquet_file(ROWS).read_bytes() == b"kept"


def test_the_query_by_hand_keeps_ten_rows_in_ten_groups_of_a_user(benchmark: Benchmark) -> None:
    """Of a user within both limits everything is kept; of one with many rows in many groups a full ten times ten."""
    run, _ = prepared(benchmark, "by group on DuckDB", "DuckDB by hand, no noise")
    counts, sums = run()
    most, by_group = kept_counts()
    assert 0.9 * most < sum(counts) <= most
    assert max(counts) <= max(by_group.values())
    assert LOWER * sum(counts) <= sum(sums) <= UPPER * sum(counts)


def test_the_query_by_hand_limits_one_user_exactly(benchmark: Benchmark, folder: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    # 12 groups of a user with 15 rows each; and one row of another user, above the bound.
    columns = {"user": [1] * 180 + [2], "grp": [*range(12)] * 15 + [500], "value": [7] * 180 + [UPPER + 9]}
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"rows-{ROWS}.parquet")
    run, _ = prepared(benchmark, "by group on DuckDB", "DuckDB by hand, no noise")
    counts, sums = run()
    assert sorted(counts) == [1, *[PER_GROUP] * GROUPS_OF_USER]
    assert sorted(sums) == [7 * PER_GROUP] * GROUPS_OF_USER + [UPPER]


@pytest.mark.parametrize("order", ["native", "portable"])
def test_our_release_answers_the_same_question_as_the_query_by_hand(benchmark: Benchmark, order: str) -> None:
    by_hand, read = prepared(benchmark, "by group on DuckDB", "DuckDB by hand, no noise")
    asked, spend = sys.modules["bench_case_tables"].question(str(parquet_file(ROWS)), order=order)
    # So much that there is hardly any noise; which groups of a user are kept is chance all the same.
    answer = asked.release(spend=spend.measure.total([spend] * 10**6))
    assert len(answer) == GROUPS
    assert f"{GROUPS_OF_USER} groups, {PER_GROUP} rows in each group" in str(asked.preview(spend=spend))
    assert read(answer) == pytest.approx(read(by_hand()), rel=0.015)


@pytest.mark.parametrize("variant", ["viameter", "viameter, portable order"])
def test_our_release_can_be_repeated(benchmark: Benchmark, variant: str) -> None:
    run, read = prepared(benchmark, "by group on DuckDB", variant)
    assert read(run()) != read(run())


def test_the_raw_query_keeps_all_rows_and_is_not_compared(benchmark: Benchmark) -> None:
    run, read = prepared(benchmark, "by group on DuckDB", "DuckDB, raw group-by")
    assert read(run()) == [ROWS, sum(value for _, _, value in listed())]
    variants = {variant.name: variant for variant in first(benchmark, "by group on DuckDB").variants}
    assert variants["DuckDB, raw group-by"].units == 1


def test_further_sizes_are_for_duckdb_alone(benchmark: Benchmark) -> None:
    sizes = [(case.name, case.parameters["rows"]) for case in benchmark.cases if "rows" in case.parameters]
    assert [name for name, rows in sizes if rows == 2 * ROWS] == ["by group on DuckDB"]


@pytest.mark.parametrize("name", ["open a Parquet file", "preview of counts and sums in 1,000 groups"])
def test_what_nobody_else_does_runs(benchmark: Benchmark, name: str) -> None:
    run, read = prepared(benchmark, name, "viameter")
    assert run() is not None
    assert read(run()) is None
