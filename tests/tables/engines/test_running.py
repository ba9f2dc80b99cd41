"""Queries run in every engine: values come back, Ctrl-C cancels where the rows are, and errors hold no row."""

from __future__ import annotations

import datetime as dt
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Thread, Timer
from typing import Any

import psycopg
import pytest
from tests.interrupting import interrupt_after, interrupted
from tests.processes import alone
from tests.threads import in_threads

from viameter.core import deadlines
from viameter.tables.engines import (
    ConnectionLost,
    EngineError,
    EngineTable,
    open_source,
    run,
    running,
)
from viameter.tables.engines.compiled import written_sql
from viameter.tables.engines.duckdb import DuckDB
from viameter.tables.engines.turns import turn_of

Load = Callable[[Any, str, Any], EngineTable]


MANY = {"duckdb": 5_000, "postgres": 5_000, "pyspark": 1_500}
"""Rows of which all pairs of pairs take much longer than a test; Spark hears that it is cancelled after each row of the
first table, which takes it the square of this.
"""


def endless(table: EngineTable) -> Any:
    """A query that takes hours: it counts some of the pairs of pairs."""
    rows = table.expression
    pairs = rows.cross_join(rows.view(), rname="{name}_2").cross_join(rows.view(), rname="{name}_3")
    return pairs.filter((pairs.n * pairs.n_2 + pairs.n_3) % 7 == 3).agg(n=lambda kept: kept.count())


@pytest.fixture
def many(backend: Any, load: Load) -> EngineTable:
    return load(backend, "many_rows", {"n": list(range(MANY[backend.name]))})


def interrupt(_: str) -> None:
    raise KeyboardInterrupt


def count(table: EngineTable) -> int:
    [row] = run(table, table.expression.agg(n=table.expression.count()))
    return int(row["n"])


def test_values_come_back_as_python_has_them(backend: Any, load: Load) -> None:
    day, moment = dt.date(1969, 12, 31), dt.datetime(2020, 2, 29, 23, 59, 59, 999_999)
    row = {"i": -(2**63), "x": 0.1, "s": "é'\"\\%", "b": True, "day": day, "moment": moment, "none": "x"}
    table = load(backend, "values_of", {name: [value, None] for name, value in row.items()})
    [back] = run(table, table.expression.filter(table.expression.i < 0))
    assert back == row
    assert [type(value) for value in back.values()] == [type(value) for value in row.values()]
    assert count(table) == 2


def test_an_interrupt_cancels_the_query_and_the_table_can_be_asked_again(many: EngineTable) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(many, endless(many), progress=interrupt)
    assert count(many) == MANY[many.engine.name]


def test_ctrl_c_is_heard_without_anyone_asking_for_progress(many: EngineTable) -> None:
    with pytest.raises(KeyboardInterrupt), interrupt_after(0.3):
        run(many, endless(many))
    assert count(many) == MANY[many.engine.name]


def test_an_interrupt_while_another_query_has_its_turn_leaves_that_one_alone(many: EngineTable) -> None:
    heard: list[str] = []
    began = Event()

    def patient(text: str) -> None:
        heard.append(text)
        began.set()
        if len(heard) > 4:
            raise KeyboardInterrupt

    def first() -> None:
        with pytest.raises(KeyboardInterrupt):
            run(many, endless(many), progress=patient)

    other = Thread(target=first)
    other.start()
    began.wait()
    with pytest.raises(KeyboardInterrupt):
        run(many, endless(many), progress=interrupt)
    assert other.is_alive()
    other.join()
    assert len(heard) == 5 and count(many) == MANY[many.engine.name]


def test_a_cancelled_query_has_stopped_in_postgres(postgres_backend: Any, postgres_url: str, load: Load) -> None:
    many = load(postgres_backend, "stops", {"n": list(range(MANY["postgres"]))})
    with pytest.raises(KeyboardInterrupt):
        run(many, endless(many), progress=interrupt)
    with psycopg.connect(postgres_url) as other:
        question = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()"
        assert other.execute(question + " AND backend_type LIKE '%client%'").fetchone() == (0,)


def test_a_cancelled_query_has_stopped_in_spark(spark_backend: Any, spark_session: Any, load: Load) -> None:
    many = load(spark_backend, "stops", {"n": list(range(MANY["pyspark"]))})
    with pytest.raises(KeyboardInterrupt):
        run(many, endless(many), progress=interrupt)
    assert list(spark_session.sparkContext.statusTracker().getActiveJobsIds()) == []


def test_progress_says_how_long_it_took_and_duckdb_says_how_much_is_done() -> None:
    backend = DuckDB().connect()
    backend.con.execute("CREATE VIEW endless AS SELECT range AS n FROM range(1000000000000)")
    table = EngineTable(backend.table("endless"), backend)
    heard: list[str] = []

    def listen(text: str) -> None:
        heard.append(text)
        if len(heard) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(table, table.expression.agg(n=table.expression.n.max()), progress=listen)
    assert heard[0].startswith(("0 s", "1 s"))
    assert any(text.endswith("% done") for text in heard)


def test_an_error_of_progress_cancels_too(many: EngineTable) -> None:
    def broken(_: str) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        run(many, endless(many), progress=broken)
    assert count(many) == MANY[many.engine.name]


def test_queries_of_many_threads_take_turns(backend: Any, load: Load) -> None:
    table = load(backend, "turns", {"n": list(range(100))})
    rows = table.expression
    with ThreadPoolExecutor(8) as pool:
        below = [rows.filter(rows.n < number).agg(n=lambda kept: kept.count()) for number in range(16)]
        answers = list(pool.map(lambda query: run(table, query), below))
    assert [row["n"] for [row] in answers] == list(range(16))


def test_an_error_of_the_engine_shows_no_row(backend: Any, load: Load, capfd: pytest.CaptureFixture[str]) -> None:
    table = load(backend, "secret_rows", {"s": ["SECRET", "12"]})
    with pytest.raises(EngineError) as caught:
        run(table, table.expression.select(n=table.expression.s.cast("int64")))
    error = caught.value
    shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert "SECRET" not in shown + repr(vars(error))
    assert error.__cause__ is None and error.__context__ is None
    assert backend.name in str(error) and error.kind in str(error) and not isinstance(error, ConnectionLost)
    out, err = capfd.readouterr()
    assert "SECRET" not in out + err
    assert count(table) == 2


def test_a_lost_connection_is_said_and_shows_no_row(postgres_url: str, postgres_backend: Any, load: Load) -> None:
    load(postgres_backend, "killed", {"n": list(range(5_000))})
    table = open_source(postgres_url, table="killed")
    pid = table.backend.con.info.backend_pid

    def kill(_: str) -> None:
        with psycopg.connect(postgres_url) as other:
            other.execute("SELECT pg_terminate_backend(%s)", (pid,))

    for _ in range(2):  # in mid-query, and when it is gone already
        with pytest.raises(ConnectionLost, match="open the source again") as caught:
            run(table, endless(table), progress=kill)
        assert caught.value.__cause__ is None and caught.value.__context__ is None
        assert "SELECT" not in str(caught.value)
    assert count(open_source(postgres_url, table="killed")) == 5_000


def test_the_sql_is_that_of_the_engine(backend: Any, load: Load) -> None:
    table = load(backend, "sql_text", {"n": [1]})
    quote = "`" if backend.name == "pyspark" else '"'
    assert f"{quote}n{quote}" in written_sql(table.backend, table.expression.filter(table.expression.n > 0))


def test_a_verbose_ibis_is_not_told_what_runs(backend: Any, load: Load, capfd: pytest.CaptureFixture[str]) -> None:
    import ibis

    table = load(backend, "verbose", {"n": [1]})
    told: list[str] = []
    ibis.options.verbose, ibis.options.verbose_log = True, told.append
    try:
        run(table, table.expression.filter(table.expression.n == 314159))
    finally:
        ibis.options.verbose, ibis.options.verbose_log = False, None
    assert told == [] and "314159" not in "".join(capfd.readouterr())


def interrupted_count(table: EngineTable, place: int, watched: tuple[str, ...]) -> BaseException | None:
    try:
        return interrupted(partial(count, table), place, watched)
    except RuntimeError as error:  # the interpreter's, which has no lock any more where it was interrupted
        if not isinstance(error.__context__, KeyboardInterrupt):
            raise
        return error


def require_unused(table: EngineTable) -> None:
    """Nothing runs any more, and the lock was released, once: a thread that releases it again ends with an error."""
    in_threads(partial(count, table), partial(count, table))
    assert turn_of(table.backend).lock.acquire(timeout=30)
    turn_of(table.backend).lock.release()
    end = time.monotonic() + 30
    while running._UNDER_WAY and time.monotonic() < end:
        time.sleep(0.001)
    assert not running._UNDER_WAY


@alone
def test_an_interrupt_anywhere_leaves_the_backend_to_others() -> None:
    """Wherever Ctrl-C comes, and if its traceback is kept."""
    table = open_source({"n": [1, 2, 3]})
    watched = (running.__file__, deadlines.__file__, threading.__file__)
    kept: list[BaseException | None] = [KeyboardInterrupt()]
    while kept[-1] is not None:
        place = len(kept)
        kept.append(interrupted_count(table, place, watched))
        require_unused(table)
    assert place > 50


@alone
def test_an_interrupt_anywhere_in_the_queue_leaves_the_backend_to_others() -> None:
    table = open_source({"n": [1, 2, 3]})
    lock = turn_of(table.backend).lock
    kept: list[BaseException | None] = [KeyboardInterrupt()]
    while kept[-1] is not None:
        place = len(kept)
        lock.acquire()
        later = Timer(0.02, lock.release)
        later.start()
        kept.append(interrupted_count(table, place, (running.__file__,)))
        later.join()
        require_unused(table)
    assert place > 10
