"""Stopping a service: questions in flight are finished if there is time, and stay charged if there is not."""

from __future__ import annotations

import contextlib
import http.client
import signal
import sys
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.system.crash.referee import Books, problems_of, read_books
from tests.system.crash.served import COUNT, PATIENCE, Connection, Reply, Served, serving, write_config

import viameter as vm
from viameter.errors import AnswerLost
from viameter.service import desk, starting
from viameter.service.config import read_config
from viameter.service.problems import Problem
from viameter.service.service import Service, open_service

COST = Fraction(1, 1000)
"""What a question costs at most: noise comes in steps, and what it costs is a little less."""


class Question(threading.Thread):
    """A question that somebody waits for."""

    def __init__(self, served: Served, dataset: str, key: str) -> None:
        super().__init__()
        self.served, self.dataset, self.key = served, dataset, key
        self.reply: Reply | None = None
        self.start()

    def run(self) -> None:
        """Ask, and wait for the reply, or for the connection to be cut."""
        connection = Connection(self.served.port, self.served.token)
        try:
            self.reply = connection.ask(self.dataset, self.key)
        except OSError:
            self.reply = None
        finally:
            connection.close()

    def answer(self) -> Reply | None:
        """The reply, or None if there was none."""
        self.join(PATIENCE)
        return self.reply


def wait_for(location: str, is_so: Callable[[Books], bool]) -> Books:
    """The books, once they say so."""
    until = time.monotonic() + PATIENCE
    while not is_so(found := read_books(location)):
        assert time.monotonic() < until
        time.sleep(0.02)
    return found


def charged(key: str) -> Callable[[Books], bool]:
    """Whether a key is charged."""
    return lambda books: key in books.charges


def wait_until_refused(served: Served) -> None:
    """Wait until the service takes nobody any more."""
    until = time.monotonic() + PATIENCE
    while True:
        connection = Connection(served.port, served.token)
        try:
            reply = connection.ask("visits", "while it stops", {**COUNT, "spend": {"zcdp": "0"}})
            assert reply.status == 422
        except OSError:
            return
        finally:
            connection.close()
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_question_in_flight_is_answered_before_the_service_stops(tmp_path: Path) -> None:
    location = str(tmp_path / "ledger.db")
    with serving(tmp_path) as served, served.connection() as idle:
        assert idle.look("slow", "k").status == 404
        question = Question(served, "slow", "k")
        assert "k" not in wait_for(location, charged("k")).answers
        served.signal(signal.SIGTERM)
        wait_until_refused(served)
        with pytest.raises(OSError):
            idle.ask("visits", "too late")
        reply = question.answer()
        assert reply is not None and reply.status == 200
        assert served.ended() == 0
    assert "leaked" not in served.log()
    assert problems_of(location) == []
    books = read_books(location)
    assert books.answers["k"] is not None
    assert 0 < books.spent["slow"] <= COST
    assert books.spent["visits"] == 0
    assert '"questions_left": 0' in served.log()


def test_what_takes_longer_than_the_time_to_wait_stays_charged_and_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = str(tmp_path / "ledger.db")
    with serving(tmp_path, shutdown_seconds=1) as served:
        question = Question(served, "endless", "k")
        wait_for(location, charged("k"))
        served.signal(signal.SIGTERM)
        reply = question.answer()
        assert reply is not None and (reply.status, reply.code) == (503, "shutting_down")
        assert reply.headers["retry-after"]
        assert served.ended() == 1
    assert '"questions_left": 1' in served.log()
    assert problems_of(location) == []
    assert "k" not in read_books(location).answers

    write_config(tmp_path, seconds=1)
    service = open_service(read_config(tmp_path / "service.toml"))
    try:
        looked = service.desk.look("admin", "endless", "k")
        assert looked["state"] == "running"
        monkeypatch.setattr(desk, "GRACE", -1000.0)
        assert service.desk.look("admin", "endless", "k")["state"] == "lost"
        with pytest.raises(AnswerLost):
            service.desk.ask("admin", "endless", looked["question"], "k").future.result(PATIENCE)
    finally:
        service.close()
    assert 0 < read_books(location).spent["endless"] <= COST
    assert problems_of(location) == []


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM], ids=lambda which: which.name)
def test_a_second_signal_does_not_wait(tmp_path: Path, which: signal.Signals) -> None:
    location = str(tmp_path / "ledger.db")
    # Whoever waits for all of this fails: the tests are less patient.
    with serving(tmp_path, shutdown_seconds=1000, seconds=1000, queries=2) as served:
        questions = [Question(served, "endless", f"{number}") for number in range(2)]
        wait_for(location, lambda books: len(books.charges) == 1)  # the other one waits for the engine
        served.signal(which)
        wait_until_refused(served)
        served.signal(which)
        assert served.ended() == 1
        assert all(reply is None or reply.status == 503 for reply in (one.answer() for one in questions))
    assert problems_of(location) == []
    assert 0 < read_books(location).spent["endless"] <= COST


def test_all_that_is_waited_for_has_one_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the server waits for is not waited for once more by the desk."""
    now, waited = 1000.0, []
    monkeypatch.setattr(
        starting, "time", SimpleNamespace(monotonic=lambda: now, sleep=lambda _: threading.Event().wait())
    )

    class Server:
        should_exit = False

        def run(self, sockets: object) -> None:
            nonlocal now
            handler = signal.getsignal(signal.SIGTERM)
            assert callable(handler)
            handler(signal.SIGTERM, None)
            assert self.should_exit
            now += 20  # of the 30 that there are

    close = Service.close

    def closing(self: Service, *, seconds: float | None = None) -> int:
        waited.append(seconds)
        return close(self, seconds=seconds)

    monkeypatch.setattr(starting, "_server", lambda _: Server())
    monkeypatch.setattr(Service, "close", closing)
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    starting.serve(read_config(write_config(tmp_path)), lambda _: None)
    assert waited == [10]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
    assert not [one for one in threading.enumerate() if one.name == "viameter-stopping"], "it would end the process"


HANGS = """
import sys, threading
from viameter.cli import main
from viameter.service import starting
from viameter.service.catalog import Catalog
starting.LATE = 0.1
def hang(*_):
    print("hangs", flush=True)
    threading.Event().wait()
Catalog.names = lambda self: hang() if threading.current_thread() is not threading.main_thread() else []
sys.argv[0] = "viameter"
main()
"""


def test_a_thread_that_hangs_does_not_keep_the_process(tmp_path: Path) -> None:
    """Servers wait for threads without end: whatever waits in one, the process ends when its time is over."""
    with serving(tmp_path, program=[sys.executable, "-c", HANGS], shutdown_seconds=0) as served:
        hung_up = Connection(served.port, served.token)
        waiting = threading.Thread(target=_ask_me, args=(hung_up,), daemon=True)
        waiting.start()
        served.waits_to_say("hangs")
        served.signal(signal.SIGTERM)
        assert served.ended() == 1
        hung_up.close()
    assert '"event": "ended"' in served.log()


def _ask_me(connection: Connection) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/me")


def test_an_interrupt_does_not_wait_for_what_nobody_waits_for(tmp_path: Path) -> None:
    location = str(tmp_path / "ledger.db")
    with serving(tmp_path, shutdown_seconds=1000, seconds=1000, queries=2) as served:
        with served.connection() as connection:
            for number in range(2):
                assert connection.ask("endless", f"{number}", Prefer="wait=0").status == 202
        wait_for(location, lambda books: len(books.charges) == 1)
        served.signal(signal.SIGINT)
        served.waits_to_say("stopping")
        served.signal(signal.SIGINT)
        assert served.ended() == 1
    assert problems_of(location) == []
    assert "Traceback" not in served.log()


def test_a_desk_that_is_being_closed_takes_nothing_more(tmp_path: Path) -> None:
    service = open_service(read_config(write_config(tmp_path)))
    try:
        running = service.desk.ask("admin", "slow", COUNT, "k")
        closing = threading.Thread(target=service.desk.close, kwargs={"seconds": PATIENCE})
        closing.start()
        wait_for(str(tmp_path / "ledger.db"), charged("k"))
        assert service.desk.ask("admin", "slow", COUNT, "k") is running
        with pytest.raises(Problem) as refused:
            service.desk.ask("admin", "visits", COUNT, "other")
        assert (refused.value.status, refused.value.code) == (503, "shutting_down")
        assert refused.value.retry_after
        assert running.future.result(PATIENCE)["state"] == "released"
        closing.join()
        assert service.ledger.scope("visits").spent == vm.zcdp(0)
        assert service.state.asked("admin", "other") is None
    finally:
        service.close()


def test_whoever_gives_up_waiting_does_not_take_the_answer_from_others(tmp_path: Path) -> None:
    service = open_service(read_config(write_config(tmp_path)))
    try:
        running = service.desk.ask("admin", "slow", COUNT, "k")
        assert not running.future.cancel()
        assert service.desk.ask("admin", "slow", COUNT, "k").future.result(PATIENCE)["state"] == "released"
    finally:
        service.close()
