"""One dataset holds up no other: engines that hang, die and come back, and what is charged meanwhile."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from tests.faulty_proxy import FaultyProxy
from tests.service.serving import PATIENCE, WAGES, Running, engine_is_busy, wait_until

import viameter as vm
from viameter.service import catalog as catalogs
from viameter.service import desk as desks
from viameter.service.lanes import Crew, Lane
from viameter.tables.engines import postgres, postgres_links, running
from viameter.tables.engines.postgres_links import link_of

Start = Callable[..., Running]
REMOTE: dict[str, Any] = {
    "name": "remote",
    "source": "warehouse",
    "table": "visits",
    "unit": {"per": "patient", "rows": 1},
    "budget": {"pure": "1"},
}
ENDLESS = {**REMOTE, "name": "endless", "table": "endless"}
COUNT: dict[str, Any] = {"aggregates": {"n": {"count": True}}, "spend": {"pure": "1/100"}}
ANALYST = "analyst-all"


@pytest.fixture(scope="module")
def server(server: str) -> str:
    """The URL of a warehouse with a table, and a view that nobody sees the end of."""
    with psycopg.connect(server, autocommit=True) as made:
        made.execute("CREATE DATABASE warehouse")
    url = server.replace("/postgres?", "/warehouse?")
    with psycopg.connect(url) as made:
        made.execute("CREATE TABLE visits AS SELECT i AS patient, i % 5 AS ward FROM generate_series(1, 100) i")
        made.execute("CREATE TABLE rows AS TABLE visits")  # of its own: shared ones would have one budget
        made.execute("CREATE VIEW endless AS SELECT patient, ward FROM rows WHERE pg_sleep(3600) IS NOT NULL")
    return url


@pytest.fixture
def proxy(server: str) -> Iterator[FaultyProxy]:
    """What stands between a service and the warehouse."""
    (folder,) = parse_qs(urlsplit(server).query)["host"]
    with FaultyProxy(folder, 5432) as made:
        yield made


@pytest.fixture
def start(run_service: Start, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch) -> Start:
    """A service of the warehouse and of a file; once it has begun, waits are short, so that tests are."""

    def started(**limits: Any) -> Running:
        url = f"postgresql://postgres@127.0.0.1:{proxy.port}/warehouse"
        sources = {"files": {"folder": "data"}, "warehouse": {"url": url}}
        made = run_service(datasets=[REMOTE, ENDLESS, WAGES], sources=sources, limits=limits)
        monkeypatch.setattr(postgres_links, "LONGEST_PROBE", 0.5)
        monkeypatch.setattr(postgres_links, "CONNECT_SECONDS", 2)
        monkeypatch.setattr(postgres_links, "LONGEST_ASIDE", 2)
        monkeypatch.setattr(running, "ABANDON_AFTER", 0.2)
        monkeypatch.setattr(postgres, "LATE", 1)
        monkeypatch.setattr(catalogs, "LONG_WAIT", 0.5)
        monkeypatch.setattr(catalogs, "SHORT_WAIT", 0.2)
        return made

    return started


@pytest.fixture
def tries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be reached is tried again with the next question."""
    monkeypatch.setattr(desks, "RETRY", 0.0)
    monkeypatch.setattr(desks, "LONG_KNOWN", 0.0)


def charges(there: Running) -> list[str]:
    """The keys under which something was charged, in order."""
    return [entry.record["key"] for entry in there.service.ledger.entries(1) if entry.kind == "reserve"]


def ask(there: Running, key: str, dataset: str = "remote", **headers: str) -> tuple[int, str]:
    """A count: the status, and the state or the code of the error."""
    reply = there.ask(ANALYST, dataset, COUNT, key=key, **headers)
    body = reply.json()
    return reply.status_code, body["error"]["code"] if "error" in body else body["state"]


def until_settled(there: Running) -> None:
    wait_until(lambda: not there.service.desk._jobs, "questions still run or wait")


def running_queries(server: str) -> int:
    """How many queries the server works on that take for ever."""
    with psycopg.connect(server) as other:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        (found,) = other.execute(asked).fetchone() or (0,)
        return int(found)


def processes(server: str) -> list[int]:
    with psycopg.connect(server) as other:
        return [pid for (pid,) in other.execute("SELECT pid FROM pg_stat_activity").fetchall()]


def backend_of(there: Running, dataset: str = "remote") -> Any:
    return there.service.catalog.opened(dataset).table.session.engine_tables[0].backend


# A warehouse that hangs.


def test_a_dataset_whose_engine_hangs_holds_up_no_other(start: Start, proxy: FaultyProxy) -> None:
    there = start()
    assert ask(there, "first") == (200, "released")
    proxy.hang()
    assert [ask(there, f"k{number}", prefer="wait=0") for number in range(10)] == [(202, "running")] * 10
    # More than the web framework has threads.
    previews = [there.service.desk.preview(ANALYST, "remote", COUNT) for _ in range(4)]
    assert there.ask("analyst-wages", "wages").status_code == 200
    assert there.client().get("/readyz").status_code == 200
    assert ask(there, "first") == (200, "released")  # what was answered is given again without the engine
    assert all(preview.result(PATIENCE)["fits"] for preview in previews)
    until_settled(there)
    assert charges(there)[0] == "first" and [key for key in charges(there) if key.startswith("k")] == []
    proxy.pass_through()
    wait_until(lambda: ask(there, "last") == (200, "released"), "it does not come back")
    assert charges(there).count("last") == 1


def test_what_waits_behind_a_query_that_hangs_is_not_charged(start: Start, proxy: FaultyProxy, server: str) -> None:
    there = start(seconds=1)
    first = there.service.desk.ask(ANALYST, "endless", COUNT, "first")
    wait_until(lambda: charges(there) == ["first"], "it was not charged")
    proxy.hang()  # nor does the server hear that it is cancelled
    assert [ask(there, f"k{number}", "endless", prefer="wait=0") for number in range(5)] == [(202, "running")] * 5
    with pytest.raises(vm.errors.SealedError):
        first.future.result(PATIENCE)
    until_settled(there)
    assert charges(there) == ["first"]
    proxy.pass_through()
    assert ask(there, "other") == (200, "released")
    # A new connection; the server ends the query on the old one by itself.
    wait_until(lambda: ask(there, "last", "endless") == (422, "failed"), "it does not come back")
    assert charges(there) == ["first", "other", "last"]
    wait_until(lambda: running_queries(server) == 0, "a query goes on that nobody waits for")


def test_a_dataset_that_cannot_be_opened_hides_no_other(start: Start, proxy: FaultyProxy) -> None:
    there = start()
    catalog = there.service.catalog
    catalog._opened.clear()
    proxy.hang()
    assert ask(there, "k") == (503, "source_unavailable")
    shown = there.api(ANALYST, "GET", "/datasets/remote")
    assert (shown.status_code, shown.json()["error"]["code"]) == (503, "source_unavailable")
    assert there.ask("analyst-wages", "wages").status_code == 200
    listed = there.api(ANALYST, "GET", "/datasets").json()["datasets"]
    assert [one["name"] for one in listed] == ["wages"]
    proxy.pass_through()
    wait_until(lambda: not catalog._openings, "it is still being opened")
    wait_until(lambda: ask(there, "k") == (200, "released"), "it does not come back")
    assert charges(there).count("k") == 1


def test_a_dataset_that_is_being_opened_is_not_waited_for_for_ever(
    run_service: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogs, "LONG_WAIT", 0.1)
    there = run_service()
    catalog, go = there.service.catalog, threading.Event()
    plain = catalog._open_rows

    def slow(document: Any, *given: Any, **options: Any) -> Any:
        if document["table"] == WAGES["table"]:
            go.wait(5)
        return plain(document, *given, **options)

    monkeypatch.setattr(catalog, "_open_rows", slow)
    catalog._opened.clear()
    for _ in range(2):
        with pytest.raises(vm.errors.SourceUnavailable, match="takes long to be opened"):
            catalog.opened("wages")
    assert catalog.reachable.is_lost("wages") and len(catalog._openings) == 1
    monkeypatch.setattr(catalogs, "LONG_WAIT", PATIENCE)
    catalog.opened("visits")
    go.set()
    wait_until(lambda: catalog.is_open("wages") and not catalog.reachable.is_lost("wages"), "it is not opened")


# A warehouse that goes and comes back.


def test_a_connection_that_was_lost_is_made_anew_before_anything_is_charged(start: Start, proxy: FaultyProxy) -> None:
    there = start()
    assert ask(there, "before") == (200, "released")
    proxy.drop_all()
    assert ask(there, "after") == (200, "released")
    assert charges(there) == ["before", "after"]
    assert there.spent("remote") == vm.pure("2/100")


@pytest.mark.usefixtures("tries_at_once")
def test_a_server_that_is_down_costs_nothing(start: Start, proxy: FaultyProxy) -> None:
    there = start()
    assert ask(there, "before") == (200, "released")
    proxy.refuse()
    refused = there.ask(ANALYST, "remote", COUNT, key="down")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    error = refused.json()["error"]
    assert error["code"] == "source_unavailable" and "Nothing was spent" in error["message"]
    assert str(proxy.port) not in refused.text and "postgres" not in refused.text
    assert ask(there, "down") == (503, "source_unavailable")
    ready = there.client().get("/readyz")
    assert ready.status_code == 200
    assert re.fullmatch(r"ok\ndegraded: the rows of [12] of 3 datasets cannot be reached\n", ready.text)
    gauge = 'viameter_source_up{dataset="remote"} '
    assert f"{gauge}0.0" in there.client("admin").get("/metrics").text
    assert ask(there, "before") == (200, "released")
    assert charges(there) == ["before"]
    proxy.pass_through()
    assert ask(there, "down") == (200, "released")
    assert f"{gauge}1.0" in there.client("admin").get("/metrics").text
    wait_until(lambda: there.client().get("/readyz").text == "ok\n", "nobody is told that it is back")
    lines = [line for line in there.log_lines() if line.get("dataset") == "remote"]
    told = [line["event"] for line in lines if "source" in line["event"]]
    assert told == ["source_unavailable", "source_available"]


def test_what_was_charged_before_is_not_said_to_be_free(start: Start, proxy: FaultyProxy) -> None:
    there = start()
    assert ask(there, "before") == (200, "released")
    proxy.refuse()
    there.service.catalog._opened.clear()  # as after a start
    there.service.desk._read.clear()
    asked = there.ask(ANALYST, "remote", COUNT, key="before")
    for reply in (asked, there.api(ANALYST, "GET", "/datasets/remote/releases/before")):
        error = reply.json()["error"]
        assert (reply.status_code, error["code"]) == (503, "source_unavailable")
        assert "charged before" in error["message"] and "othing was spent" not in error["message"]


@pytest.mark.usefixtures("tries_at_once")
def test_readiness_finds_out_by_itself(start: Start, proxy: FaultyProxy) -> None:
    there = start()
    ready = there.client()
    assert ready.get("/readyz").text == "ok\n"
    proxy.refuse()
    wait_until(lambda: "2 of 3" in ready.get("/readyz").text, "nobody is told")
    proxy.pass_through()
    wait_until(lambda: ready.get("/readyz").text == "ok\n", "nobody is told that it is back")
    assert charges(there) == []


@pytest.mark.usefixtures("tries_at_once")
def test_another_server_at_the_same_address_is_not_asked(start: Start, proxy: FaultyProxy) -> None:
    there = start()
    backend = backend_of(there)
    link = link_of(backend)
    assert link is not None and link._server is not None
    other = postgres_links.Server((link._server.number or 0) + 1, link._server.database, link._server.schema)
    link._server, mine = other, link._server
    proxy.drop_all()
    assert ask(there, "k") == (503, "source_unavailable")
    assert charges(there) == []
    link._server = mine
    assert ask(there, "k") == (200, "released")


@pytest.mark.usefixtures("tries_at_once")
def test_a_warehouse_that_does_not_end_queries_is_asked_no_more_until_it_did(
    start: Start, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_links, "MOST_ABANDONED", 1)
    there = start()
    assert ask(there, "before") == (200, "released")
    link = link_of(backend_of(there))
    assert link is not None
    with psycopg.connect(server, autocommit=True) as other:
        process = postgres_links._process(other)
        assert process is not None
        link._abandoned.append(process)
        assert ask(there, "k") == (503, "source_unavailable")
        assert ask(there, "k") == (503, "source_unavailable")
        assert charges(there) == ["before"]
    wait_until(lambda: process.pid not in processes(server), "it does not end")
    assert ask(there, "k") == (200, "released")


# Lanes.


def test_while_the_questions_of_one_dataset_wait_those_of_another_are_answered(run_service: Start) -> None:
    there = run_service(limits={"queries": 2})
    desk = there.service.desk
    question = {**COUNT, "spend": {"zcdp": "1/1000"}}
    assert there.ask(ANALYST, "visits", question, key="known").status_code == 200
    with engine_is_busy(there, "visits"):
        waiting = [desk.ask(ANALYST, "visits", question, f"k{number}") for number in range(10)]
        wait_until(lambda: desk._lane("visits").engine._threads == 2, "nobody waits for the engine")
        # Those of another dataset; and of the same one, what needs no engine.
        assert there.ask("analyst-wages", "wages", key="wages").status_code == 200
        assert there.api(ANALYST, "POST", "/datasets/visits/preview", json=question).status_code == 200
        assert there.ask(ANALYST, "visits", question, key="known").json()["replayed"] is True
        assert not any(job.future.done() for job in waiting)
        assert charges(there) == ["known", "wages"]
    for job in waiting:
        assert job.future.result(PATIENCE)["state"] == "released"
    assert len(charges(there)) == 12


def test_a_crew_has_no_thread_without_work_and_no_more_than_its_number() -> None:
    crew, go = Crew("crew-of-a-test", 2), threading.Event()
    done: list[Any] = []
    ran = threading.Semaphore(0)

    def work() -> None:
        assert go.wait(PATIENCE)
        done.append(1)
        ran.release()

    for _ in range(5):
        crew.put("ann", work)
    crew.put_if_idle("bob", lambda: done.append(100))
    assert _threads("crew-of-a-test") == 2
    go.set()
    for _ in range(5):
        assert ran.acquire(timeout=PATIENCE)
    wait_until(lambda: not _threads("crew-of-a-test"), "threads are left")
    assert sum(done) == 5
    crew.put_if_idle("bob", lambda: done.remove("nothing"))  # logged, and no end of the crew
    wait_until(lambda: not _threads("crew-of-a-test"), "threads are left")
    crew.put_if_idle("bob", work)
    assert ran.acquire(timeout=PATIENCE) and sum(done) == 6


def _threads(name: str) -> int:
    return sum(thread.name == name for thread in threading.enumerate())


def test_what_goes_wrong_in_a_lane_is_told_to_who_waits() -> None:
    failed: Future[int] = Lane(1).read("ann", lambda: int("x"))
    with pytest.raises(ValueError, match="x"):
        failed.result(PATIENCE)


def test_questions_that_wait_when_the_service_ends_are_not_begun(run_service: Start) -> None:
    there = run_service(limits={"queries": 1})
    desk = there.service.desk
    lane, go = desk._lane("wages"), threading.Event()

    def hold() -> None:
        go.wait(PATIENCE)

    lane.engine.put("bob", hold)
    job = desk.ask("analyst-wages", "wages", COUNT, "k")
    wait_until(lambda: "analyst-wages" in lane.engine._queues, "it does not wait")
    began = time.monotonic()
    assert desk.close(seconds=0.05) == 1 and time.monotonic() - began < PATIENCE
    go.set()
    with pytest.raises(Exception, match="being stopped"):
        job.future.result(PATIENCE)
    assert charges(there) == []


# Crumbs.


@pytest.mark.parametrize("spend", [{"pure": "1/1000001"}, {"pure": "1e-12"}])
def test_less_than_the_least_is_refused_before_it_is_charged(run_service: Start, spend: dict[str, str]) -> None:
    there = run_service(datasets=[WAGES])
    question = {**COUNT, "spend": spend}
    for path in ("preview", "releases"):
        reply = there.api("analyst-wages", "POST", f"/datasets/wages/{path}", json=question)
        assert reply.status_code == 422 and "at least pure(1/1000000)" in reply.json()["error"]["message"]
    assert charges(there) == []
    least = there.api("analyst-wages", "GET", "/datasets/wages").json()["least_spend"]
    assert least["text"] == "pure(1/1000000)"
    assert there.ask("analyst-wages", "wages", {**COUNT, "spend": {"pure": "1/1000000"}}).status_code == 200


def test_of_two_numbers_the_first_decides_what_is_least(run_service: Start) -> None:
    there = run_service(datasets=[{**WAGES, "budget": {"approx": ["1", "1e-6"]}}], limits={"least_share": "1/100"})
    for epsilon, delta, status in (("1/101", "1e-6", 422), ("1/100", "0", 200), ("1/100", "1e-20", 200)):
        question = {**COUNT, "spend": {"approx": [epsilon, delta]}}
        assert there.ask("analyst-wages", "wages", question).status_code == status
