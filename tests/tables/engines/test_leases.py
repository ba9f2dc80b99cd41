"""Engines are made sure of before anything is charged: lost connections, files that vanished, sessions that ended."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import viameter as vm
from viameter.core.deadlines import run_by
from viameter.errors import SourceUnavailable
from viameter.tables.engines import EngineTable, NoConnection, open_source, postgres_links, ready, run, running
from viameter.tables.engines.postgres_links import link_of
from viameter.tables.engines.turns import turn_of

Load = Callable[[Any, str, Any], EngineTable]
SPEND = vm.pure("1/10")


@pytest.fixture
def visits(postgres_backend: Any, postgres_url: str, load: Load) -> Any:
    """A table of a server by its URL."""
    load(postgres_backend, "lease_visits", {"patient": list(range(50)), "ward": [i % 3 for i in range(50)]})
    return vm.open(postgres_url, table="lease_visits", unit=vm.per("patient", rows=1), budget=vm.pure(10))


def count(table: Any) -> Any:
    return table.agg(n=vm.count()).release(spend=SPEND)


def kill(table: Any, url: str) -> None:
    """End the connection of a table, as a restart of its server does."""
    pid = table.session.engine_tables[0].backend.con.info.backend_pid
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])


def test_a_lost_connection_is_made_anew_and_charged_once(visits: Any, postgres_url: str) -> None:
    count(visits)
    for times in (2, 3):
        kill(visits, postgres_url)
        count(visits)
        assert visits.spent == vm.pure(f"{times}/10")


def test_small_tables_of_a_lost_connection_are_made_anew(visits: Any, postgres_url: str) -> None:
    # Too many keys to be written out: they are joined as a temporary table, and the query is kept.
    question = visits.group_by("ward", keys=list(range(3000))).agg(n=vm.count())
    wards = visits.join(vm.public({"ward": [0, 1, 2], "name": ["a", "b", "c"]}), on="ward")
    joined = wards.group_by("name", keys=["a", "b"]).agg(n=vm.count())
    for _ in range(2):
        question.release(spend=SPEND)
        joined.release(spend=SPEND)
        kill(visits, postgres_url)
    assert visits.spent == vm.pure("4/10")


def test_rows_that_are_not_the_same_any_more_are_not_asked(
    visits: Any, postgres_url: str, postgres_backend: Any
) -> None:
    count(visits)
    postgres_backend.con.execute("ALTER TABLE lease_visits ALTER COLUMN ward TYPE text")
    kill(visits, postgres_url)
    for _ in range(2):
        with pytest.raises(SourceUnavailable, match="other columns than when they were opened"):
            count(visits)
    postgres_backend.con.execute("ALTER TABLE lease_visits ALTER COLUMN ward TYPE bigint USING ward::bigint")
    count(visits)
    assert visits.spent == vm.pure("2/10")


CHANGES = {
    "REVOKE SELECT ON of_reader.t FROM reader": "GRANT SELECT ON of_reader.t TO reader",
    "REVOKE SELECT ON of_reader.t FROM reader; GRANT SELECT (ward) ON of_reader.t TO reader": (
        "GRANT SELECT ON of_reader.t TO reader"
    ),
    "REVOKE USAGE ON SCHEMA of_reader FROM reader": "GRANT USAGE ON SCHEMA of_reader TO reader",
    "ALTER TABLE of_reader.t RENAME TO u": "ALTER TABLE of_reader.u RENAME TO t",
    "ALTER TABLE of_reader.t RENAME ward TO room": "ALTER TABLE of_reader.t RENAME room TO ward",
    "ALTER TABLE of_reader.t ALTER ward TYPE text": "ALTER TABLE of_reader.t ALTER ward TYPE int USING ward::int",
    "ALTER TABLE of_reader.t ALTER ward SET NOT NULL": "ALTER TABLE of_reader.t ALTER ward DROP NOT NULL",
    "ALTER TABLE of_reader.t ENABLE ROW LEVEL SECURITY": "ALTER TABLE of_reader.t DISABLE ROW LEVEL SECURITY",
    "REFRESH MATERIALIZED VIEW of_reader.kept WITH NO DATA": "REFRESH MATERIALIZED VIEW of_reader.kept",
}
"""What is done to tables that are open, and how it is undone."""


@pytest.fixture
def of_reader(postgres_backend: Any, postgres_url: str) -> Iterator[list[Any]]:
    """A table, a materialized view and a view that are open, as a user who owns none of them."""
    execute = postgres_backend.con.execute
    execute(
        "CREATE ROLE reader LOGIN; CREATE SCHEMA of_reader; GRANT USAGE ON SCHEMA of_reader TO reader; "
        'CREATE TABLE of_reader.t AS SELECT n AS patient, n %% 3 AS ward, n AS "a%%s""b" FROM generate_series(1, 9) n; '
        "CREATE MATERIALIZED VIEW of_reader.kept AS SELECT n AS patient FROM generate_series(1, 9) n; "
        "CREATE VIEW of_reader.seen AS "
        "SELECT patient, (SELECT max(patient) FROM of_reader.kept) AS most FROM of_reader.t; "
        "GRANT SELECT ON of_reader.t, of_reader.kept, of_reader.seen TO reader".replace("%%", "%")
    )
    start, _, end = postgres_url.partition("://")
    url = f"{start}://reader@{end.rpartition('@')[2]}"
    named: dict[str, Any] = {"unit": vm.per("patient", rows=1), "budget": vm.pure(10)}
    yield [vm.open(url, table=f"of_reader.{name}", **named) for name in ("t", "kept", "seen")]
    execute("DROP SCHEMA of_reader CASCADE; DROP ROLE reader")


@pytest.mark.parametrize("is_lost", [False, True], ids=["open", "lost"])
def test_a_table_that_cannot_be_read_any_more_costs_nothing(
    of_reader: list[Any], postgres_backend: Any, postgres_url: str, is_lost: bool
) -> None:
    for change, undo in CHANGES.items():
        table = of_reader["kept" in change]
        before = table.spent
        postgres_backend.con.execute(change)
        if is_lost:
            kill(table, postgres_url)
        for _ in range(2):
            with pytest.raises(
                SourceUnavailable, match=r"(cannot be read as it was|than when they were) opened"
            ) as caught:
                count(table)
            assert "reader" not in str(caught.value) and "othing was spent" in str(caught.value)
        assert table.spent == before, change
        postgres_backend.con.execute(undo)
        count(table)
        assert table.spent != before
    # A column that nobody asks for is nobody's concern.
    postgres_backend.con.execute("ALTER TABLE of_reader.t ADD COLUMN later int")
    count(of_reader[0])


def test_what_a_view_computes_for_its_columns_is_read_before_a_charge(
    of_reader: list[Any], postgres_backend: Any
) -> None:
    """The server leaves out what nobody looks at: to read no row of a view is not to read its columns."""
    view = of_reader[2]
    postgres_backend.con.execute("REFRESH MATERIALIZED VIEW of_reader.kept WITH NO DATA")
    with pytest.raises(SourceUnavailable, match="cannot be read as it was opened"):
        view.agg(most=vm.sum("most", bounds=(0, 9))).release(spend=vm.pure("1/10"))
    assert view.spent == vm.pure(0)


def test_a_table_that_is_locked_is_not_waited_for(
    visits: Any, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_links, "LONGEST_TABLE", 0.2)
    with psycopg.connect(postgres_url) as other:
        other.execute("LOCK TABLE lease_visits")
        for said in ("cannot be read as it was opened",) * 2 + ("still works on 2 queries",) * 2:
            with pytest.raises(SourceUnavailable, match=said):
                count(visits)
    assert visits.spent == vm.pure(0)
    for _ in range(600):  # until the server has seen that nobody waits
        with contextlib.suppress(SourceUnavailable):
            count(visits)
            break
        time.sleep(0.05)
    assert visits.spent == SPEND


def test_a_server_that_is_gone_costs_nothing_and_its_url_stays_secret(
    visits: Any, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = link_of(visits.session.engine_tables[0].backend)
    assert link is not None
    monkeypatch.setattr(link, "_url", "postgresql://ann:secret@127.0.0.1:1/nope")
    kill(visits, postgres_url)
    with pytest.raises(SourceUnavailable) as caught:
        count(visits)
    assert "secret" not in str(caught.value) and "nothing was spent" in str(caught.value)
    assert visits.spent == vm.pure(0)


def test_what_was_answered_is_given_again_without_the_engine(
    postgres_backend: Any, postgres_url: str, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(postgres_backend, "lease_keyed", {"patient": [1, 2, 3]})
    options: dict[str, Any] = {"unit": vm.per_row(), "budget": vm.pure(1), "ledger": tmp_path / "budget.db"}
    table = vm.open(postgres_url, table="lease_keyed", **options)
    question = table.agg(n=vm.count())
    first = question.release(spend=SPEND, key="k")
    link = link_of(table.session.engine_tables[0].backend)
    assert link is not None
    monkeypatch.setattr(link, "_url", "postgresql://127.0.0.1:1/nope")
    kill(table, postgres_url)
    assert question.release(spend=SPEND, key="k").to_columns() == first.to_columns()
    with pytest.raises(SourceUnavailable):
        question.release(spend=SPEND, key="other")
    assert table.spent == SPEND


def test_a_connection_of_somebody_else_is_not_made_anew(postgres_url: str, postgres_backend: Any, load: Load) -> None:
    import ibis

    load(postgres_backend, "lease_visits", {"patient": [1, 2], "ward": [1, 2]})
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        mine = ibis.postgres.from_connection(connection).table("lease_visits")
        table = vm.open(mine, unit=vm.per("patient", rows=1), budget=vm.pure(1))
        count(table)
        connection.close()
        with pytest.raises(SourceUnavailable, match="open the source again"):
            count(table)
    assert table.spent == SPEND


def test_a_server_that_cannot_be_reached_is_no_table() -> None:
    with pytest.raises(NoConnection) as caught:
        open_source("postgresql://ann:secret@127.0.0.1:1/nope", table="t")
    assert isinstance(caught.value, vm.errors.ParameterError) and "secret" not in str(caught.value)


def test_queries_run_without_jit_and_end_by_themselves(postgres_url: str, postgres_backend: Any) -> None:
    asked = "current_setting('jit') AS jit, current_setting('statement_timeout') AS late"
    postgres_backend.con.execute(f"CREATE OR REPLACE VIEW lease_settings AS SELECT {asked}")
    table = open_source(postgres_url, table="lease_settings")
    assert run(table, table.expression) == [{"jit": "off", "late": "0"}]
    [said] = run_by(100, lambda: run(table, table.expression))
    assert said == {"jit": "off", "late": "105s"}


def test_a_query_that_does_not_stop_is_abandoned_and_the_next_one_answered(
    postgres_url: str, postgres_backend: Any, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "ABANDON_AFTER", 0.1)
    postgres_backend.con.execute(
        "CREATE OR REPLACE FUNCTION deaf() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..100 LOOP "
        "BEGIN PERFORM pg_sleep(0.1); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; RETURN true; END $$"
    )
    postgres_backend.con.execute("CREATE OR REPLACE VIEW lease_deaf AS SELECT deaf() AS b")
    table = open_source(postgres_url, table="lease_deaf")

    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    link = link_of(table.backend)
    assert link is not None
    for number in (1, 2):
        with ready([table]), pytest.raises(KeyboardInterrupt):
            run(table, table.expression, progress=interrupt)
        assert len(link._abandoned) == number
    with pytest.raises(SourceUnavailable, match="still works on 2 queries"), ready([table]):
        pass
    load(postgres_backend, "lease_other", {"n": [1]})
    other = open_source(postgres_url, table="lease_other")
    assert run(other, other.expression) == [{"n": 1}]
    for process in link._abandoned:
        postgres_backend.con.execute("SELECT pg_terminate_backend(%s, 10000)", [process.pid])
    with ready([table]):
        assert link._abandoned == []


def test_a_probe_does_not_wait_for_ever(visits: Any, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = visits.session.engine_tables[0].backend
    link, pid = link_of(backend), backend.con.info.backend_pid
    assert link is not None
    with link.within(0.05), pytest.raises(psycopg.OperationalError):
        link._connection.execute("SELECT pg_sleep(3600)")
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    monkeypatch.setattr(postgres_links, "LONGEST_PROBE", 0.0)  # every connection that is probed is late
    count(visits)


# Any engine.


def test_an_engine_that_is_held_is_waited_for_and_held_once_here() -> None:
    table = open_source({"n": [1, 2]})
    order: list[str] = []

    def other() -> None:
        with ready([table]):
            order.append("second")

    with ready([table]), ready([table]):
        waiting = threading.Thread(target=other)
        waiting.start()
        waiting.join(0.05)
        order.append("first")
        assert run_by(10, lambda: run(table, table.expression.agg(n=table.expression.count()))) == [{"n": 2}]
    waiting.join()
    assert order == ["first", "second"]


def test_an_engine_that_works_on_what_nobody_waits_for_is_unavailable() -> None:
    table = open_source({"n": [1]})
    turn = turn_of(table.backend)
    with turn.lock, pytest.raises(SourceUnavailable, match="still works on a query"), ready([table], patience=0.01):
        pass
    with ready([table], patience=0.01):
        pass


def test_a_spark_session_that_was_stopped_is_unavailable() -> None:
    session = SimpleNamespace(sparkContext=SimpleNamespace(_jsc=object()))
    table: Any = SimpleNamespace(backend=SimpleNamespace(name="pyspark", _session=session), files=())
    with ready([table]), ready([table]):
        pass
    session.sparkContext._jsc = None
    with pytest.raises(SourceUnavailable, match="pyspark is closed"), ready([table]):
        pass


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        (lambda path: path.unlink(), "a file is gone"),
        (lambda path: path.write_text("no Parquet"), "a file has changed"),
        (lambda path: pq.write_table(pa.table({"other": [1]}), path), "a file has changed"),
        (lambda path: pq.write_table(pa.table({"n": ["a"]}), path), "a file has changed"),
        (lambda path: pq.write_table(pa.table({"n": [1] * 9}), path), ""),
    ],
    ids=["gone", "no Parquet", "other columns", "other types", "other rows"],
)
def test_a_file_is_looked_at_before_anything_is_charged(
    tmp_path: Path, change: Callable[[Path], Any], refused: str
) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"n": [1, 2]}), path)
    table = vm.open(path, unit=vm.per_row(), budget=vm.pure(1))
    count(table)
    change(path)
    if refused:
        with pytest.raises(SourceUnavailable, match=refused) as caught:
            count(table)
        assert str(tmp_path) not in str(caught.value)
    else:
        count(table)
    assert table.spent == (SPEND if refused else vm.pure("2/10"))


def test_a_file_that_was_copied_may_go(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"n": [1, 2]}), path)
    table = vm.open(path, unit=vm.per_row(), budget=vm.pure(1), cached=True)
    path.unlink()
    count(table)
