"""Ledgers that are closed, forked, interrupted or put back under those who use them: what was acknowledged is there."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.ledger.conftest import SPACE
from tests.processes import alone, fork, in_clean_process

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerBehind, LedgerError, LedgerTampered, LedgerUnavailable
from viameter.ledger import Ledger
from viameter.ledger import book as book_module
from viameter.ledger import requests as requests_module
from viameter.ledger.requests import Renew, Reserve
from viameter.ledger.stores import dialects
from viameter.ledger.stores.sql import SQLStore

COST = vm.pure("1/100")
SECONDS = 30.0


def charge(ledger: Ledger, key: str) -> int:
    return ledger.reserve(COST, scopes=["visits"], key=key, by="ann").request.reserved


def charged(location: str | Path) -> dict[str, int]:
    """What is in the ledger for whoever opens it next, which is in order and not behind its witness."""
    with ledgers.open(location) as opened:
        assert ledgers.verify(opened).ok
        return {request.key: request.reserved for request in opened.store.requests()}


def in_threads(work: Callable[[int], None], count: int) -> list[threading.Thread]:
    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    return threads


def join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads)


@contextmanager
def held_before_commit(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """The first writer says that it is there and waits between its last statement and COMMIT."""
    keep, inside, go = SQLStore._keep, threading.Event(), threading.Event()

    def slow(self: SQLStore, *given: Any) -> None:
        keep(self, *given)
        if not inside.is_set():
            inside.set()
            assert go.wait(SECONDS)

    with monkeypatch.context() as patched:
        patched.setattr(SQLStore, "_keep", slow)
        try:
            yield inside, go
        finally:
            go.set()


# Forks are made in processes of their own: this one has threads and a server.


def charge_and_say(book: Ledger, said: Path, key: str) -> None:
    """Charge, and write down what was acknowledged."""
    with said.open("a") as file:
        file.write(f"{key} {charge(book, key)}\n")


def the_parent_closes(path: Path, said: Path) -> None:
    """A child goes on with a ledger that its parent closes."""
    book = ledgers.open(path)
    ledgers.open(path.with_name("other.db"))  # unused, and left open
    ledgers.open(path.with_name("closed.db")).close()
    charge_and_say(book, said, "parent")
    from_child, to_parent = os.pipe()
    from_parent, to_child = os.pipe()

    def go_on() -> None:
        charge_and_say(book, said, "child")
        os.write(to_parent, b".")
        os.read(from_parent, 1)
        for number in range(3):
            charge_and_say(book, said, f"child {number}")

    child = fork(go_on)
    os.read(from_child, 1)
    book.close()
    with ledgers.open(path) as other:
        other.scopes()
    os.write(to_child, b".")
    assert os.waitpid(child, 0)[1] == 0


def in_another_threads_write(path: Path, said: Path) -> None:
    """A fork while a thread writes and others wait for their turn."""
    keep, inside, go = SQLStore._keep, threading.Event(), threading.Event()

    def slow(self: SQLStore, *given: Any) -> None:
        keep(self, *given)
        inside.set()
        go.wait()

    SQLStore._keep = slow  # type: ignore[assignment]
    with ledgers.open(path) as book:
        threads = [
            threading.Thread(target=charge_and_say, args=(book, said, f"thread {number}")) for number in range(3)
        ]
        threads[0].start()
        inside.wait()
        for thread in threads[1:]:
            thread.start()
        threading.Timer(0.1, go.set).start()  # while the fork waits for the thread
        child = os.fork()
        SQLStore._keep = keep  # type: ignore[method-assign]
        if child == 0:
            charge_and_say(book, said, "child")
            os._exit(0)
        charge_and_say(book, said, "parent")
        for thread in threads:
            thread.join()
        assert os.waitpid(child, 0)[1] == 0


def in_its_own_write(path: Path, said: Path) -> None:
    """A thread that forks between its last statement and COMMIT: the child is refused, and ends nothing."""
    keep = SQLStore._keep

    def forking(self: SQLStore, *given: Any) -> None:
        SQLStore._keep = keep  # type: ignore[method-assign]
        keep(self, *given)
        if os.fork() == 0:
            try:
                charge_and_say(book, said, "child")
            except LedgerError as refused:
                os._exit(7 if "forked" in str(refused) else 8)
            os._exit(9)

    with ledgers.open(path) as book:
        SQLStore._keep = forking  # type: ignore[assignment]
        charge_and_say(book, said, "parent")
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 7


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "budget.db"
    with ledgers.open(made) as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
    return made


def acknowledged(said: Path) -> dict[str, int]:
    return {key: int(seq) for key, _, seq in (line.rpartition(" ") for line in said.read_text().splitlines())}


@pytest.mark.parametrize(
    ("forks", "keys"),
    [
        (the_parent_closes, {"parent", "child", "child 0", "child 1", "child 2"}),
        (in_another_threads_write, {"thread 0", "thread 1", "thread 2", "child", "parent"}),
        (in_its_own_write, {"parent"}),
    ],
)
def test_a_fork(forks: Callable[[Path, Path], None], keys: set[str], path: Path) -> None:
    said = path.with_name("said")
    in_clean_process(forks, path, said, within=60, quiet=True)
    assert set(acknowledged(said)) == keys
    assert charged(path) == acknowledged(said)


def fork_a_worker(path: Path, end: socket.socket, other: socket.socket) -> None:
    """Open a ledger, and end when there is a worker that charges for whoever asks it."""
    other.close()
    book = ledgers.open(path)
    if os.fork() == 0:
        while key := end.recv(100).decode():
            end.sendall(b"%d" % charge(book, key))


@alone
def test_a_worker_goes_on_after_its_master_ended(path: Path) -> None:
    end, other = socket.socketpair()
    master = fork(partial(fork_a_worker, path, other, end))
    other.close()
    assert os.waitpid(master, 0)[1] == 0
    said = {}
    with end:
        for number in range(4):
            end.sendall(b"worker %d" % number)
            said[f"worker {number}"] = int(end.recv(100))
            with ledgers.open(path) as again:  # the last to close a file deletes its log, if it believes to be the last
                said[f"other {number}"] = charge(again, f"other {number}")
    assert len(said) == 8
    assert charged(path) == said


# Closing.


def test_it_is_closed_while_others_write(location: str, opened: Callable[..., Ledger]) -> None:
    opened().define("visits", vm.pure(100), SPACE)
    said: dict[str, int] = {}
    refused: list[BaseException] = []
    for number in range(5):
        ledger, busy = ledgers.open(location), threading.Event()

        def work(thread: int, ledger: Ledger = ledger, number: int = number, busy: threading.Event = busy) -> None:
            try:
                for turn in range(10_000):
                    key = f"{number} {thread} {turn}"
                    said[key] = charge(ledger, key)
                    busy.set()
            except BaseException as problem:
                refused.append(problem)

        threads = in_threads(work, 3)
        assert busy.wait(SECONDS)
        ledger.close()
        join(threads)
    assert {type(problem) for problem in refused} == {LedgerError} and len(refused) == 15
    assert charged(location) == said


def test_it_is_closed_just_before_a_commit(
    location: str, opened: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened().define("visits", vm.pure(1), SPACE)
    ledger = ledgers.open(location)
    said: dict[str, int] = {}
    with held_before_commit(monkeypatch) as (inside, go):
        writing = in_threads(lambda _: said.update(a=charge(ledger, "a")), 1)
        assert inside.wait(SECONDS)
        closing_it = in_threads(lambda _: ledger.close(), 1)
        while not ledger._closed:
            time.sleep(0.001)
        with pytest.raises(LedgerError, match="closed"):
            charge(ledger, "b")
        assert said == {} and closing_it[0].is_alive()
        go.set()
        join(writing + closing_it)
    assert set(said) == {"a"} and charged(location) == said


def test_whoever_came_just_before_it_was_closed_and_is_late_is_refused(path: Path) -> None:
    ledger = ledgers.open(path)
    store, writer = ledger._live()[1:]
    ledger.close()
    with pytest.raises(LedgerError, match="closed"):
        writer.write(Renew(by="ann", nonce="", name="visits", why=""))
    assert store._writer is None and not store._held  # type: ignore[attr-defined]


def test_a_transaction_that_somebody_ended_is_not_acknowledged(
    location: str, opened: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = opened()
    ledger.define("visits", vm.pure(1), SPACE)
    keep = SQLStore._keep
    ended: list[bool] = []

    def undone(self: SQLStore, connection: Any, *given: Any) -> None:
        keep(self, connection, *given)
        if not ended:
            ended.append(True)
            connection.connection.driver_connection.rollback()

    monkeypatch.setattr(SQLStore, "_keep", undone)
    said = {"a": charge(ledger, "a")}  # tried again
    assert ended and charged(location) == said


def end_while_threads_write(path: Path, said: Path, name: int) -> None:
    """Charge in threads that nobody waits for, until the interpreter ends."""
    book, busy, file = ledgers.open(path), threading.Event(), os.open(said, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def work(thread: int) -> None:
        for number in range(100_000):
            key = f"{name} {thread} {number}"
            seq = book.reserve(vm.pure(0), scopes=["visits"], key=key, by="ann").request.reserved
            os.write(file, f"{key} {seq}\n".encode())
            busy.set()

    in_threads(work, 2)
    busy.wait()


def test_a_process_ends_while_its_threads_write(path: Path) -> None:
    said = path.with_name("said")
    for number in range(3):
        in_clean_process(end_while_threads_write, path, said, number, within=60)
    there = charged(path)
    assert acknowledged(said) and {key: there.get(key) for key in acknowledged(said)} == acknowledged(said)


# Errors that come from outside, at any line.


class Late(Exception):
    """What a signal handler raises."""


def _raising_at(line: int, names: set[str]) -> tuple[Callable[..., Any], list[str]]:
    """A trace function that sends a signal at the nth line that is run in functions of these names."""
    hit: list[str] = []
    seen = 0

    def at_line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal seen
        if event == "line":
            if seen == line and not hit:
                hit.append(f"{frame.f_code.co_name}:{frame.f_lineno}")
                signal.raise_signal(signal.SIGUSR1)
            seen += 1
        return at_line

    def trace(frame: FrameType, _: str, __: Any) -> Any:
        code = frame.f_code
        files = (book_module.__file__, requests_module.__file__)
        return at_line if code.co_filename in files and code.co_name in names else None

    return trace, hit


def test_an_error_from_outside_leaves_no_half_of_a_request() -> None:
    def handler(*_: object) -> None:
        raise Late

    before, tracing = signal.signal(signal.SIGUSR1, handler), sys.gettrace()
    try:
        ledger = ledgers.in_memory()
        ledger.define("visits", vm.pure(1), SPACE)
        for line in range(1000):
            head = ledger.head
            trace, hit = _raising_at(line, {"apply", "add", "put_request", "put_document", "copy", "become"})
            sys.settrace(trace)
            try:
                ledger.reserve(vm.pure("1/1000"), scopes=["visits"], key=f"{line}", certificate=f"{line}")
                raised = False
            except Late:
                raised = True
            finally:
                sys.settrace(tracing)
            assert raised == bool(hit)
            assert raised == (ledger.head == head), hit
            if not hit:
                break
        assert line > 30
        assert ledgers.verify(ledger).ok and ledger.store.counts()["documents"] == 1
        assert ledger.scope("visits").spent == vm.pure("1/1000")
    finally:
        sys.settrace(tracing)
        signal.signal(signal.SIGUSR1, before)


def _together(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, keys: list[str]) -> dict[str, Any]:
    """Requests that wait while another one is written, and are then written in one transaction."""
    ended: dict[str, Any] = {}
    writer = ledger._live()[2]

    def ask(number: int) -> None:
        try:
            ended[keys[number]] = charge(ledger, keys[number])
        except BaseException as problem:
            ended[keys[number]] = problem

    with held_before_commit(monkeypatch) as (inside, go):
        first = in_threads(lambda _: ended.update(first=charge(ledger, "first")), 1)
        assert inside.wait(SECONDS)
        others = in_threads(ask, len(keys))
        while len(writer.line) < len(keys) + 1:
            time.sleep(0.001)
        go.set()
        join(first + others)
    return ended


def test_a_mistake_in_one_request_is_that_ones_alone(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    apply = Reserve.apply

    def mistaken(self: Reserve, book: Any) -> Any:
        result = apply(self, book)
        if self.key == "bad":
            raise RuntimeError("a mistake")
        return result

    monkeypatch.setattr(Reserve, "apply", mistaken)
    ended = _together(ledger, monkeypatch, ["a", "bad", "b"])
    assert isinstance(ended.pop("bad"), RuntimeError)
    assert sorted(ended) == ["a", "b", "first"] and sorted(ended.values()) == [3, 4, 5]
    assert ledgers.verify(ledger).ok


def test_what_the_database_does_not_take_is_the_error_of_who_asked(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    lend = SQLStore._lend

    def refusing(self: SQLStore, connection: Any, needed: Any) -> Any:
        if ("ann", "bad") in needed.requests:
            connection.exec_driver_sql("SELECT no_such_column")
        return lend(self, connection, needed)

    monkeypatch.setattr(SQLStore, "_lend", refusing)
    ended = _together(ledger, monkeypatch, ["a", "bad", "b"])
    assert isinstance(ended.pop("bad"), LedgerUnavailable)
    assert sorted(ended) == ["a", "b", "first"] and sorted(ended.values()) == [3, 4, 5]
    assert ledgers.verify(ledger).ok


# A database that is put back.


@pytest.mark.parametrize("then", [0, 1, 2], ids=["behind", "as long", "longer"])
def test_a_database_that_was_put_back_under_a_service(then: int, tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with ledgers.open(path) as service:
        service.define("visits", vm.pure(1), SPACE)
        service.define("other", vm.pure(1), SPACE)
        with closing(sqlite3.connect(tmp_path / "older.db")) as older, closing(sqlite3.connect(path)) as current:
            current.backup(older)
            charge(service, "a")
            older.backup(current)
        with ledgers.open(path, witness=False) as another:
            for number in range(then):
                charge(another, f"again {number}")
        for scope in ("other", "visits"):
            with pytest.raises((LedgerBehind, LedgerTampered) if scope == "visits" else LedgerBehind):
                service.reserve(COST, scopes=[scope], key="b", by="ann")
        assert service.head.seq == 3 + then


# What errors carry.


def test_errors_carry_nothing_of_what_was_asked(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = SQLStore._keep

    def failing(self: SQLStore, connection: Any, *given: Any) -> None:
        keep(self, connection, *given)
        keep(self, connection, *given)  # the same rows again, which the database refuses

    monkeypatch.setattr(SQLStore, "_keep", failing)
    with pytest.raises(LedgerUnavailable) as caught:
        ledger.reserve(COST, scopes=["visits"], key="a", by="ann", label="a secret label")
    error: BaseException = caught.value
    assert error.__cause__ is None and error.__context__ is None
    text = "".join(traceback.format_exception(error))
    assert "INSERT" not in text and "secret label" not in text.replace('label="a secret label"', "")
    engines = [ledger.store._engine, ledger.store._reading_engine]  # type: ignore[attr-defined]
    assert all(engine.hide_parameters for engine in engines)


# The lock beside a file.


def test_the_lock_is_opened_by_nobody_else_and_not_waited_for_forever(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = path.with_name("budget.db-lock")
    assert lock.stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(dialects, "PATIENCE", 0.1)
    with ledgers.open(path) as ledger, lock.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(LedgerUnavailable, match="is locked by another program"):
            charge(ledger, "a")
        fcntl.flock(other, fcntl.LOCK_UN)
        charge(ledger, "a")
        assert ledger.scope("visits").spent == COST
