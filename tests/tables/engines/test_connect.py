"""Spark Connect: sessions of a server in another process, as a cluster is reached, opened as those of this one are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.tables.engines.connect_server import running_connect_server

import viameter as vm
from viameter.errors import ParameterError, SourceUnavailable
from viameter.tables.engines import engine_named, open_source, public_table, ready, run

COLUMNS: dict[str, Any] = {"k": ["a", "b", None], "n": [1, 2, 3]}
ROWS = [{"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": None, "n": 3}]


def rows_of(table: Any) -> list[dict[str, Any]]:
    return sorted(run(table, table.expression), key=lambda row: int(row["n"]))


def test_tables_frames_and_files_of_a_remote_session_are_opened_and_joined(
    connect_session: Any, tmp_path: Path
) -> None:
    frame = connect_session.createDataFrame(pa.table(COLUMNS))
    table = open_source(frame)
    assert table.engine.name == "pyspark" and rows_of(table) == ROWS
    frame.createOrReplaceTempView("opened_remotely")
    named = open_source(connect_session, table="opened_remotely", beside=table)
    pq.write_table(pa.table(COLUMNS), tmp_path / "flights.parquet")
    parquet = open_source(tmp_path / "flights.parquet", beside=table)
    joined = named.expression.join(parquet.expression, "n").join(table.expression, "n").select("k", "n")
    assert rows_of(table.with_expression(joined)) == ROWS
    with pytest.raises(ParameterError, match="the SparkSession has no table 'nowhere'"):
        open_source(connect_session, table="nowhere")
    with pytest.raises(ParameterError, match="not in this DataFrame's SparkSession"):
        open_source(frame, beside=open_source(COLUMNS))


def test_the_place_of_a_remote_table_names_its_server(connect_session: Any) -> None:
    connect_session.createDataFrame(pa.table(COLUMNS)).createOrReplaceTempView("placed_remotely")
    place = engine_named("pyspark").place(None, connect_session, "PLACED_remotely")
    assert place.text == "spark 127.0.0.1#.placed_remotely"


def test_a_public_table_without_rows_is_brought_to_a_remote_session(connect_session: Any) -> None:
    table = open_source(connect_session.createDataFrame(pa.table(COLUMNS)))
    empty = public_table(table, {"n": []}, types={"n": "int64"})
    assert run(table, table.expression.semi_join(empty, "n")) == []


AS_USERS_DO = """
import sys
import pyarrow as pa
from pyspark.sql import SparkSession
import viameter as vm

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.createDataFrame(pa.table({"u": ["a", "a", "b"], "n": [1, 2, 3]})).createOrReplaceTempView("visits")
visits = vm.open(spark, table="visits", unit=vm.per("u", rows=2), budget=vm.zcdp(10**9))
answer = visits.agg(n=vm.count(), s=vm.sum("n", bounds=(0, 10))).release(spend=vm.zcdp(10**8))
print([round(float(answer[name].value[0])) for name in ("n", "s")])
"""


def test_a_session_that_is_made_as_users_make_it_is_opened(connect_session: Any) -> None:
    """In a process of its own, since `pyspark.sql` has one session in a process, of either kind."""
    url = f"sc://{connect_session.client._builder.endpoint}"
    command = [sys.executable, "-W", "ignore", "-c", AS_USERS_DO, url]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "[3, 6]\n"


@pytest.mark.spark
def test_a_server_that_is_gone_costs_nothing(tmp_path: Path) -> None:
    from pyspark.sql.connect.session import SparkSession

    with running_connect_server(tmp_path) as url:
        session, ended = (SparkSession.builder.remote(url).create() for _ in range(2))
        table = vm.open(session.createDataFrame(pa.table(COLUMNS)), unit=vm.per_row(), budget=vm.zcdp(1))
        other = open_source(ended.createDataFrame(pa.table(COLUMNS)))
        ended.client.release_session()  # as the server does with one that was idle for long
        with pytest.raises(SourceUnavailable, match="has ended"), ready([other]):
            pass
        with ready([table.session.source.on]):
            pass
    with pytest.raises(SourceUnavailable, match="is closed"):
        table.agg(n=vm.count()).release(spend=vm.zcdp("1/2"))
    assert table.left == vm.zcdp(1)
