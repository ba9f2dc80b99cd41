"""Sources: whatever holds a table can be opened, nothing is read or copied, and refusals show no secret."""

from __future__ import annotations

import contextlib
import copy
import gc
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from viameter.errors import ParameterError
from viameter.tables.engines import EngineTable, open_source, run, spills
from viameter.tables.engines.turns import turn_of

Load = Callable[[Any, str, Any], EngineTable]
COLUMNS = {"k": ["a", "b", None], "n": [1, 2, 3]}
ROWS = [{"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": None, "n": 3}]


def rows_of(table: EngineTable) -> list[dict[str, Any]]:
    return run(table, table.expression.order_by("n"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(pa.table(COLUMNS), tmp_path / "flights.parquet")
    pd.DataFrame(COLUMNS).to_csv(tmp_path / "flights.csv", index=False)
    with duckdb.connect(str(tmp_path / "air.duckdb")) as database:
        database.execute("CREATE SCHEMA other")
        for name in ("flights", "other.planes"):
            database.execute(f"CREATE TABLE {name} AS SELECT * FROM '{tmp_path / 'flights.parquet'}'")
    return tmp_path


@pytest.mark.parametrize("name", ["flights.parquet", "*.parquet", "", "flights.csv"])
def test_files_are_opened_by_path_pattern_and_folder(folder: Path, name: str) -> None:
    for source in (folder / name, str(folder / name)):
        table = open_source(source)
        # To guess what the columns of a CSV file are would be to look at rows: they are text.
        rows: list[Any] = list(ROWS)
        texts = [{**row, "n": str(row["n"])} for row in rows]
        assert table.engine.name == "duckdb" and table.columns == ("k", "n")
        assert rows_of(table) == (texts if name.endswith("csv") else ROWS)


@pytest.mark.parametrize("name", ["flights", "main.flights", "other.planes"])
def test_tables_of_a_duckdb_file_are_opened_by_name_for_reading_alone(folder: Path, name: str) -> None:
    table = open_source(folder / "air.duckdb", table=name)
    assert rows_of(table) == ROWS
    with pytest.raises(Exception, match="read-only"):
        table.backend.con.execute(f"DELETE FROM {table.expression.op().namespace.catalog}.{name}")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        pl.LazyFrame(COLUMNS),
        pa.table(COLUMNS),
        COLUMNS,
        ibis.memtable(pa.table(COLUMNS)),
    ],
    ids=["pandas", "polars", "lazy polars", "arrow", "dict", "ibis"],
)
def test_frames_are_opened(frame: Any) -> None:
    table = open_source(frame)
    assert table.engine.name == "duckdb" and rows_of(table) == ROWS


def test_files_and_frames_stay_where_they_are(folder: Path) -> None:
    frame = pa.table(COLUMNS)
    for table in (open_source(folder / "flights.parquet"), open_source(frame)):
        assert table.backend.con.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]
    lazy = open_source(folder / "flights.parquet")
    pq.write_table(pa.table({"k": ["z"], "n": [9]}), folder / "flights.parquet")
    assert rows_of(lazy) == [{"k": "z", "n": 9}]


def test_tables_of_postgres_are_opened_by_url_and_schema(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as other:
        other.execute('CREATE SCHEMA IF NOT EXISTS air; DROP TABLE IF EXISTS air."Flights"')
        other.execute('CREATE TABLE air."Flights" (k text, n bigint)')
        other.execute("INSERT INTO air.\"Flights\" VALUES ('a', 1), ('b', 2), (NULL, 3)")
    for url in (postgres_url, postgres_url.replace("postgresql://", "postgres://")):
        table = open_source(url, table="air.Flights")
        assert table.engine.name == "postgres" and rows_of(table) == ROWS
    second = open_source(postgres_url, table="air.Flights", beside=table)
    assert second.backend is table.backend
    with pytest.raises(ParameterError, match=r"schema 'air' .* has no table 'Planes'; it has: Flights"):
        open_source(postgres_url, table="air.Planes")
    with pytest.raises(ParameterError, match="another server"):
        open_source("postgresql://postgres@/elsewhere", table="t", beside=table)


def test_spark_frames_and_tables_are_opened(spark_session: Any, load: Load, folder: Path) -> None:
    frame = spark_session.createDataFrame(pa.table(COLUMNS))
    table = open_source(frame)
    assert table.engine.name == "pyspark" and rows_of(table) == ROWS
    frame.createOrReplaceTempView("opened_view")
    named = open_source(spark_session, table="opened_view", beside=table)
    parquet = open_source(folder / "flights.parquet", beside=table)
    joined = named.expression.join(parquet.expression, "n").join(table.expression, "n").select("k", "n")
    assert rows_of(table.with_expression(joined)) == ROWS
    with pytest.raises(ParameterError, match="no table 'nowhere'"):
        open_source(spark_session, table="nowhere")
    with pytest.raises(ParameterError, match="say which by table="):
        open_source(spark_session)
    with pytest.raises(ParameterError, match="createDataFrame"):
        open_source(COLUMNS, beside=table)
    with pytest.raises(ParameterError, match="not in this DataFrame's SparkSession"):
        open_source(frame, beside=open_source(COLUMNS))


def test_tables_beside_one_another_are_joined(folder: Path) -> None:
    first = open_source(folder / "flights.parquet")
    second = open_source(pd.DataFrame({"n": [3, 1], "m": [30, 10]}), beside=first)
    third = open_source(folder / "flights.csv", beside=second)
    texts = third.expression.select(n=third.expression.n.cast("int64"))
    joined = first.expression.join(second.expression, "n").join(texts, "n").select("n", "m")
    assert rows_of(first.with_expression(joined)) == [{"n": 1, "m": 10}, {"n": 3, "m": 30}]


def test_databases_beside_a_table_are_copied_to_it(folder: Path) -> None:
    first = open_source(folder / "flights.parquet")
    second = open_source(folder / "air.duckdb", table="flights", beside=first)
    third = open_source(folder / "air.duckdb", table="other.planes", beside=second)
    joined = first.expression.join(second.expression, "n").join(third.expression, "n").select("k", "n")
    assert rows_of(first.with_expression(joined)) == ROWS
    assert first.backend.con.execute("SELECT count(path) FROM duckdb_databases()").fetchall() == [(0,)]
    alone = open_source(folder / "air.duckdb", table="flights")
    assert open_source(folder / "air.duckdb", table="other.planes", beside=alone).backend is alone.backend
    assert len(alone.backend.con.execute("SELECT * FROM duckdb_tables() WHERE NOT internal").fetchall()) == 2


def test_files_beside_a_database_are_copied_to_it_and_dropped_with_their_table(folder: Path) -> None:
    first = open_source(folder / "air.duckdb", table="flights")
    shutil.copy(folder / "air.duckdb", folder / "second.duckdb")
    with duckdb.connect(str(folder / "second.duckdb")) as database:
        database.execute("CREATE TYPE mood AS ENUM ('a', 'b')")
        # What has no plain counterpart elsewhere is read as it would be in its own database.
        columns = "n, n::HUGEINT * 1000000000000000000000000000000 AS h, 'a'::mood AS e, [n] AS l"
        database.execute(f"CREATE TABLE wide AS SELECT {columns} FROM flights")
    second = open_source(folder / "second.duckdb", table="wide", beside=first)
    assert (second.columns, second.unusable) == (("n", "h", "e"), ("l",))
    assert [row["h"] for row in rows_of(second)] == [1e30, 2e30, 3e30]
    others = [open_source(folder / name, beside=first) for name in ("flights.parquet", "flights.csv")]
    assert all(table.backend is first.backend for table in (second, *others))
    joined = first.expression.join(others[0].expression, "n").select("k", "n")
    assert rows_of(first.with_expression(joined)) == ROWS
    del second, others, joined
    gc.collect()
    turn_of(first.backend).drop_what_is_unused()
    assert rows_of(first) == ROWS
    left = first.backend.con.execute("SELECT count(*) FROM duckdb_tables() WHERE database_name = 'memory'")
    assert left.fetchall() == [(0,)]


def reading_views(path: Path) -> list[str]:
    """Views of a database, each of which reads files in another way."""
    outside, folder = path.with_name("flights.csv"), path.parent
    views = {
        "text": f"SELECT * FROM read_text('{outside}')",
        "blob": f"SELECT filename FROM read_blob('{outside}')",
        "csv": f"SELECT * FROM read_csv('{outside}')",
        "by_name": f"SELECT * FROM '{outside}'",
        "parquet": f"SELECT * FROM read_parquet('{folder}/*.parquet')",
        "glob": f"SELECT * FROM glob('{folder}/*')",
        "nested": "SELECT n FROM flights WHERE n IN (SELECT length(content) FROM text)",
        "by_macro": "SELECT * FROM lines()",
        "by_scalar": "SELECT n, size_of() AS s FROM flights",
    }
    with duckdb.connect(str(path)) as database:
        database.execute(f"CREATE MACRO lines() AS TABLE SELECT * FROM read_text('{outside}')")
        database.execute(f"CREATE MACRO size_of() AS (SELECT sum(size) FROM read_text('{outside}'))")
        for name, query in views.items():
            database.execute(f'CREATE VIEW "{name}" AS {query}')
        database.execute("CREATE MACRO twice(x) AS 2 * x")
        database.execute("CREATE VIEW own AS SELECT k, twice(n) // 2 AS n FROM flights")
        database.execute(f"ATTACH '{folder / 'elsewhere.duckdb'}' AS elsewhere")
        database.execute("CREATE TABLE elsewhere.t AS SELECT 1 AS n")
        database.execute("CREATE VIEW attached AS SELECT * FROM elsewhere.t")
    return [*views, "attached"]


@pytest.mark.parametrize("beside", [False, True])
def test_a_database_file_reads_no_other_file(folder: Path, beside: bool) -> None:
    first = open_source(folder / "flights.parquet") if beside else None
    views = reading_views(folder / "air.duckdb")
    for view in views:
        with pytest.raises(ParameterError, match=r"cannot|has no table") as caught:
            open_source(folder / "air.duckdb", table=view, beside=first)
        assert str(folder / "flights.csv") not in str(caught.value)
    with pytest.raises(ParameterError, match="open these files themselves"):
        open_source(folder / "air.duckdb", table="text", beside=first)
    # Views of its own tables work, and so do its macros.
    assert rows_of(open_source(folder / "air.duckdb", table="own", beside=first)) == ROWS


def test_what_other_engines_spill_is_read_by_no_database_file(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".tmp").mkdir()
    (tmp_path / ".tmp" / "spilled").write_text("a row of others")
    first, second = (open_source(folder / "air.duckdb", table="flights") for _ in range(2))
    others = open_source({"n": [1]})
    folders = [one.backend.con.execute(SPILLS).fetchone()[0] for one in (first, second, others)]
    assert len(set(folders)) == 3 and all(Path(one).stat().st_mode & 0o777 == 0o700 for one in folders)
    (Path(folders[1]) / "spilled").write_text("a row of others")
    for where in (".tmp", folders[1], folders[2]):
        for view in ("read_blob('{}/*')", "read_text('{}/spilled')", "glob('{}/*')", "'{}/spilled'"):
            with pytest.raises(duckdb.Error):
                first.backend.con.execute(f"SELECT * FROM {view.format(where)}").fetchall()
            with duckdb.connect(str(tmp_path / "view.duckdb")) as database:
                database.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS n")
                with contextlib.suppress(duckdb.Error):
                    database.execute(f"CREATE OR REPLACE VIEW v AS SELECT * FROM {view.format(where)}")
            with pytest.raises(ParameterError):
                open_source(tmp_path / "view.duckdb", table="v")


def test_what_is_spilled_goes_with_its_engine_and_not_with_a_fork_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_source({"n": [1]})
    (folder,) = table.backend.con.execute(SPILLS).fetchone()
    (Path(folder) / "spilled").write_text("a row")
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        spills.remove(folder, None, owner=1)
        assert Path(folder).exists()
    del table
    gc.collect()
    assert not Path(folder).exists()


KILLED = """
import os, signal
from pathlib import Path
from viameter.tables.engines import open_source

table = open_source({"n": [1]})
(folder,) = table.backend.con.execute("SELECT current_setting('temp_directory')").fetchone()
(Path(folder) / "spilled").write_text("a row")
print(folder, flush=True)
input()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_spilled_by_a_process_that_was_killed_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"{spills.PREFIX}of-somebody-else").symlink_to("/")
    environment = {**os.environ, "TMPDIR": str(tmp_path)}

    def left(lives: bool) -> tuple[Path, subprocess.Popen[str]]:
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED], env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        if not lives:
            process.communicate("\n")
        return folder, process

    living, killed = left(lives=True), left(lives=False)[0]
    assert (killed / "spilled").exists()
    spills._remove_left_over.cache_clear()
    table = open_source({"n": [1]})
    (own,) = table.backend.con.execute(SPILLS).fetchone()
    assert not killed.parent.exists() and (living[0] / "spilled").exists() and Path(own).exists()
    living[1].communicate("\n")
    spills._remove_left_over.cache_clear()
    again = open_source({"n": [1]})
    assert not living[0].parent.exists() and Path(own).exists() and again is not table


def test_without_a_place_for_temporary_files_nothing_is_spilled(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_place(**named: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(tempfile, "mkdtemp", no_place)
    table = open_source({"n": [1]})
    assert table.backend.con.execute(SPILLS).fetchone()[0] in ("", None)


@pytest.mark.parametrize("function", ["duckdb_secrets()", "sniff_csv('/etc/passwd')"])
def test_functions_that_look_for_their_files_late_are_refused_too(tmp_path: Path, function: str) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
        database.execute(f"CREATE VIEW late AS SELECT * FROM {function}")
    with pytest.raises(ParameterError, match="reads other files"):
        open_source(tmp_path / "x.duckdb", table="late")


@pytest.mark.parametrize("text", ["1", "x"])
def test_whether_a_database_file_opens_does_not_depend_on_rows(tmp_path: Path, text: str) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
        database.execute(f"CREATE TABLE t AS SELECT '{text}' AS n")
        database.execute("CREATE VIEW v AS SELECT CAST(n AS int) AS n FROM t")
    assert open_source(tmp_path / "x.duckdb", table="v").expression.columns == ("n",)


@pytest.mark.parametrize("stem", ["information_schema", "pg_catalog", "main", "Main", "memory", "system", "temp"])
def test_a_database_file_may_be_called_like_a_part_of_duckdb(tmp_path: Path, stem: str) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
        database.execute("CREATE TABLE t AS SELECT 7 AS n")
        database.execute("CREATE VIEW v AS SELECT n FROM main.t")
    (tmp_path / "x.duckdb").rename(tmp_path / f"{stem}.duckdb")
    for table in ("t", "v"):
        assert rows_of(open_source(tmp_path / f"{stem}.duckdb", table=table)) == [{"n": 7}]
    with pytest.raises(ParameterError, match="has no table"):
        open_source(tmp_path / f"{stem}.duckdb", table="gone")


SPILLS = "SELECT current_setting('temp_directory')"


def test_what_a_database_file_can_reach_is_not_changed_later(folder: Path) -> None:
    table = open_source(folder / "air.duckdb", table="flights")
    run = table.backend.con.execute
    for statement in (
        "SET enable_external_access = true",
        f"SET allowed_directories = ['{folder}']",
        "LOAD httpfs",
        "INSTALL httpfs",
        f"ATTACH '{folder / 'other.duckdb'}'",
        f"COPY (SELECT 1) TO '{folder / 'out.csv'}'",
    ):
        with pytest.raises(duckdb.Error, match=r"(?i)disabled|cannot"):
            run(statement)
    # Memory is limited after the file is opened, and what is larger spills.
    run("SET memory_limit = '80MB'")
    run("SET threads = 1")
    run("CREATE TEMP TABLE big AS SELECT hash(i) AS h, repeat('x', 40) AS x FROM range(2500000) r(i) ORDER BY h")
    assert run("SELECT count(*) FROM big").fetchall() == [(2500000,)]


def test_a_database_of_another_kind_is_not_opened_by_an_extension(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.execute("CREATE TABLE t (n int)")
    with pytest.raises(ParameterError, match="cannot be opened as a DuckDB database"):
        open_source(tmp_path / "x.db", table="t")


def test_tables_of_two_backends_are_not_joined() -> None:
    first, second = open_source(COLUMNS), open_source(COLUMNS)
    assert first.backend != second.backend
    with pytest.raises(ParameterError, match="beside="):
        first.with_expression(second.expression)
    with pytest.raises(ParameterError, match="one backend only"):
        open_source(second.expression, beside=first)


SECRET = "hunter2"


@pytest.mark.parametrize(
    ("source", "options", "reason"),
    [
        ("nowhere.parquet", {}, "there is no file 'nowhere.parquet'"),
        ("nowhere-*.parquet", {}, "no file matches"),
        ("nowhere.csv", {}, "there is no file"),
        ("nowhere.duckdb", {"table": "t"}, "there is no file"),
        ("flights.xlsx", {}, "cannot tell from its name"),
        ("mysql://ann:hunter2@host/db", {"table": "t"}, "mysql://"),
        ("postgresql://ann:hunter2@127.0.0.1:1/db", {"table": "t"}, r"postgresql://127\.0\.0\.1:1/db"),
        ("postgresql://ann:hunter2@127.0.0.1:99999999/db", {"table": "t"}, "no connection to the postgresql:// URL"),
        ("postgresql://127.0.0.1:1/db?password=hunter2", {"table": "t"}, "no connection"),
        ("postgresql://ann:hunter2@127.0.0.1/db", {}, "say which by table="),
        ("postgresql://ann:hunter2@127.0.0.1/db", {"table": "a."}, "'schema.table'"),
        ("postgresql://ann:hunter2@127.0.0.1/db", {"table": 3}, "is not a name"),
        (COLUMNS, {"table": "t"}, "is one already"),
        (COLUMNS, {"beside": "x"}, "takes an EngineTable"),
        ({"k": ["hunter2", 3]}, {}, "column 'k'"),
        ([1, 2], {}, "cannot open a list"),
        (7, {}, "cannot open a int"),
        (ibis.table({"n": "int64"}, name="t"), {}, "no single backend"),
    ],
)
def test_refusals_say_what_is_wrong_and_show_no_secret(source: Any, options: Any, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason) as caught:
        open_source(source, **options)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None and (caught.value.__context__ is None or caught.value.__suppress_context__)


def test_files_that_are_something_else_are_refused_without_their_content(tmp_path: Path) -> None:
    for name in ("x.parquet", "x.duckdb"):
        (tmp_path / name).write_text(f"{SECRET}\n" * 1000)
        with pytest.raises(ParameterError, match="cannot be") as caught:
            open_source(tmp_path / name, table="t" if name.endswith("duckdb") else None)
        assert SECRET not in str(caught.value)


def test_a_duckdb_file_says_which_tables_it_has(folder: Path) -> None:
    for table in (None, "nowhere"):
        with pytest.raises(ParameterError, match=r"it has: flights, other\.planes"):
            open_source(folder / "air.duckdb", table=table)


def test_a_library_that_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ParameterError, match=r'psycopg, .*pip install "viameter\[postgres\]"'):
        open_source("postgresql:///db", table="t")
    monkeypatch.setitem(sys.modules, "ibis", None)
    with pytest.raises(ParameterError, match=r'ibis, .*pip install "viameter\[query\]"'):
        open_source(COLUMNS)


def test_engines_whose_ways_are_not_known_are_refused() -> None:
    other = ibis.polars.connect({"t": pl.DataFrame(COLUMNS)})
    with pytest.raises(ParameterError, match="'polars' is not one whose arithmetic"):
        open_source(other.table("t"))


def test_a_table_is_a_handle_that_shows_columns_alone() -> None:
    table = open_source({"name": [SECRET]})
    assert copy.copy(table) is table and copy.deepcopy({"t": table})["t"] is table
    assert repr(table) == "EngineTable(duckdb; name: string)"
    with pytest.raises(ParameterError, match="stays in its process"):
        pickle.dumps(table)
    with pytest.raises(ParameterError, match="holds an Ibis table"):
        table.with_expression(3)
    with pytest.raises(AttributeError):
        table.expression = None  # type: ignore[misc]
    assert table.with_expression(table.expression.filter(table.expression.name == "x")).backend is table.backend
