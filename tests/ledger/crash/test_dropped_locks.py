"""A process that reads the files of its open ledger: POSIX drops its locks then, and nothing may be charged twice."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.conftest import SPACE
from tests.processes import alone, folder_in_memory, fork, kill

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerBehind, LedgerUnavailable, OverBudget, ViameterError
from viameter.ledger import Ledger, locking
from viameter.ledger.stores import files as files_module
from viameter.ledger.stores.files import OpenFiles
from viameter.ledger.stores.sql import SQLStore

ROOM = 8
"""How many requests of 1 the budget allows."""

Order = Callable[["Client", "Client"], list[str]]


class Client:
    """Another process with the ledger, which does what it is told, one thing after the other."""

    def __init__(self, path: Path, detection: bool) -> None:
        self._end, other = socket.socketpair()
        self._process = fork(partial(serve, path, other, detection))
        other.close()

    def ask(self, word: str) -> str:
        """Tell it to do something; returns how that ended."""
        self._end.sendall(word.encode())
        return self._end.recv(10_000).decode()

    def kill(self) -> None:
        """End it, as a crash does."""
        kill(self._process)
        self._process = 0

    def end(self) -> None:
        """Let it end by itself, if it is still there."""
        if self._process:
            assert self.ask("end") == "done"
            assert os.waitpid(self._process, 0)[1] == 0
        self._end.close()


def serve(path: Path, end: socket.socket, detection: bool) -> None:
    """What another process does."""
    if detection:  # as on systems whose locks are all of a process
        vars(files_module)["_LOCKS"] = ()
    books: list[Ledger] = []
    word = ""
    while word != "end":
        word, _, key = end.recv(10_000).decode().partition(" ")
        try:
            obey(path, books, word, key)
            said = "done"
        except OverBudget:
            said = "over budget"
        except ViameterError as problem:
            said = f"{type(problem).__name__}: {problem}"
        end.sendall(said.encode())


def obey(path: Path, books: list[Ledger], word: str, key: str) -> None:
    """Do what a word says."""
    if word == "open":
        books.append(ledgers.open(path))
    elif word == "charge":
        books[-1].commit(books[-1].reserve(vm.pure(1), scopes=["visits"], key=key, by="ann"), b"1")
    elif word == "close":
        books[-1].close()
    elif word == "read_one":
        path.read_bytes()
    else:
        with folder_in_memory() as folder:
            if word == "copy_one":
                shutil.copy(path, folder)
            if word == "copy_all":
                shutil.copytree(path.parent, folder / "copy")


@contextmanager
def clients(path: Path, count: int, *, detection: bool = False) -> Iterator[list[Client]]:
    """Processes that are forked before this one has the ledger open."""
    made = [Client(path, detection) for _ in range(count)]
    yield made
    for one in made:
        one.end()


@pytest.fixture
def path() -> Iterator[Path]:
    with folder_in_memory() as folder:
        made = folder / "budget.db"
        with ledgers.open(made) as ledger:
            ledger.define("visits", vm.pure(ROOM), SPACE)
        yield made


def answers(path: Path) -> int:
    with ledgers.open(path) as ledger:
        assert ledgers.verify(ledger).ok
        return sum(entry.kind == "commit" for entry in ledger.entries())


def in_turn(first: Client, second: Client) -> list[str]:
    return [who.ask(f"charge {name} {number}") for number in range(ROOM) for name, who in enumerate((first, second))]


def one_after_the_other(first: Client, second: Client) -> list[str]:
    """The second one's log and its witness are far ahead of the first one's."""
    return [who.ask(f"charge {name} {number}") for name, who in enumerate((second, first)) for number in range(ROOM)]


@pytest.mark.parametrize(
    ("reading", "order"),
    [
        ("read_one", in_turn),
        ("read_one", one_after_the_other),
        ("copy_one", one_after_the_other),
        ("copy_all", one_after_the_other),
    ],
)
@alone
def test_whoever_reads_its_ledgers_file_goes_on_with_the_others(path: Path, reading: str, order: Order) -> None:
    with clients(path, 2) as (first, second):
        assert [first.ask("open"), first.ask("charge a"), first.ask(reading)] == ["done"] * 3
        assert second.ask("open") == "done"
        assert order(first, second) == ["done"] * (ROOM - 1) + ["over budget"] * (ROOM + 1)
        assert [first.ask("close"), second.ask("close")] == ["done"] * 2
    assert answers(path) == ROOM
    assert not list(path.parent.glob("*-wal"))  # the last one deleted it


@pytest.mark.parametrize(
    ("order", "ending"), [(in_turn, "close"), (one_after_the_other, "open"), (one_after_the_other, "kill")]
)
@alone
def test_whoever_has_lost_its_log_charges_nothing(path: Path, order: Order, ending: str) -> None:
    """Where nothing keeps others from deleting it."""
    with clients(path, 2, detection=True) as (first, second):
        assert [first.ask("open"), first.ask("charge a"), first.ask("read_one")] == ["done"] * 3
        assert second.ask("open") == "done"
        said = order(first, second)
        refused = [one for one in said if one.startswith("LedgerBehind: the log beside") and "end this process" in one]
        assert (len(refused), said.count("done"), said.count("over budget")) == (ROOM, ROOM - 1, 1)
        if ending == "open":  # a new connection would share what SQLite has in this process
            assert first.ask("open") in refused
        if ending == "kill":
            second.kill()
        assert first.ask("close") == "done"  # and leaves the log of others where it is
    assert answers(path) == ROOM


@alone
def test_a_log_that_was_removed_is_not_written_to(path: Path) -> None:
    with clients(path, 1) as (first,):
        assert [first.ask("open"), first.ask("charge a")] == ["done"] * 2
        path.with_name(f"{path.name}-wal").unlink()
        assert first.ask("charge b").startswith("LedgerBehind: the log beside")


def test_a_log_that_is_removed_in_the_middle_of_a_transaction_is_not_committed_to(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = SQLStore._keep

    def then_removed(self: SQLStore, *given: Any) -> None:
        keep(self, *given)
        path.with_name(f"{path.name}-wal").unlink()

    with ledgers.open(path) as ledger:
        ledger.reserve(vm.pure(1), scopes=["visits"])
        head = ledger.head
        monkeypatch.setattr(SQLStore, "_keep", then_removed)
        with pytest.raises(LedgerBehind, match="the log beside"):
            ledger.reserve(vm.pure(1), scopes=["visits"])
        assert ledger.head == head


@pytest.mark.parametrize(("suffix", "start"), [("", 0x40000000 + 2), ("-shm", 128)])
@alone
def test_bytes_that_sqlite_locks_stay_locked(path: Path, suffix: str, start: int) -> None:
    """By whom others know that they are not the last one to close a database, and not the first to open its index."""
    with clients(path, 1) as (first,):
        assert [first.ask("open"), first.ask("charge a"), first.ask("copy_all")] == ["done"] * 3
        with path.with_name(f"{path.name}{suffix}").open("r+b") as file:
            with pytest.raises(BlockingIOError):
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, start)
            assert first.ask("close") == "done"
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, start)


def test_whoever_closes_last_is_not_taken_for_gone_before(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock of this library is let go of before SQLite asks whether it is the last one; then SQLite's is there."""
    log, unlock, found = path.with_name(f"{path.name}-wal"), OpenFiles.unlock, []

    def then_another_comes_and_goes(self: OpenFiles) -> None:
        unlock(self)
        command = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT 1 FROM sqlite_master').fetchall()"
        subprocess.run([sys.executable, "-c", command, str(path)], check=True)
        found.append(log.exists())

    with ledgers.open(path) as ledger:
        ledger.reserve(vm.pure(1), scopes=["visits"])
        path.read_bytes()
        monkeypatch.setattr(OpenFiles, "unlock", then_another_comes_and_goes)
    assert found[0]
    assert not log.exists()


def test_a_log_that_is_gone_when_a_ledger_is_opened_is_not_written_to(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads the file while it is opened drops the lock before there is another one."""
    find = OpenFiles.find

    def after_it_was_removed(self: OpenFiles) -> None:
        path.with_name(f"{path.name}-wal").unlink()
        find(self)

    monkeypatch.setattr(OpenFiles, "find", after_it_was_removed)
    with pytest.raises(LedgerBehind, match="the log beside"), ledgers.open(path) as ledger:
        ledger.reserve(vm.pure(1), scopes=["visits"])


@alone
def test_whoever_reads_a_ledger_without_a_log_keeps_nobody_from_writing(path: Path) -> None:
    """As some backups are, and files that others have changed: the first who writes turns the log on."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    with clients(path, 1) as (writer,), ledgers.open(path, read_only=True) as reader:
        assert reader.scope("visits").spent == vm.pure(0)
        assert [writer.ask("open"), writer.ask("charge a")] == ["done"] * 2
        assert reader.scope("visits").spent == vm.pure(1)
        with ledgers.open(path) as own:  # beside a connection of this process that began without a log
            own.reserve(vm.pure(1), scopes=["visits"])
            path.read_bytes()
            assert [writer.ask("charge b"), writer.ask("close")] == ["done"] * 2
            own.reserve(vm.pure(1), scopes=["visits"])
    assert answers(path) == 2


def test_a_lock_that_was_replaced_while_it_was_waited_for_lets_nobody_write(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has the old one, and whoever has the new one, would not know of one another."""
    take = locking._take

    def after_it_was_removed(*given: Any) -> None:
        monkeypatch.setattr(locking, "_take", take)
        path.with_name(f"{path.name}-lock").unlink()
        take(*given)

    with ledgers.open(path) as ledger:
        head = ledger.head
        monkeypatch.setattr(locking, "_take", after_it_was_removed)
        with pytest.raises(LedgerUnavailable, match="was replaced meanwhile"):
            ledger.reserve(vm.pure(1), scopes=["visits"])
        assert ledger.head == head
        ledger.reserve(vm.pure(1), scopes=["visits"])


def test_a_link_to_a_ledger_has_the_same_lock_and_log(path: Path) -> None:
    link = path.with_name("link.db")
    link.symlink_to(path)
    with ledgers.open(path) as one, ledgers.open(link, witness=path.with_name(f"{path.name}.witness")) as other:
        for ledger in (one, other, one):
            ledger.reserve(vm.pure(1), scopes=["visits"])
        assert one.head == other.head and not list(path.parent.glob("link.db-*"))


def test_a_copy_made_beside_others_of_the_process_leaves_no_log(path: Path) -> None:
    """Whoever is not the last one to close it does not let go of what the others hold."""
    with ledgers.open(path) as one:
        for _ in range(3):
            with ledgers.open(path) as other, ledgers.open(path, read_only=True):
                other.reserve(vm.pure(1), scopes=["visits"])
            (files_of_it,) = [files for files in files_module._OPEN.values() if files.path == str(path)]
            assert len(files_of_it.connections) >= 1 and files_of_it.are_the_same()
        one.reserve(vm.pure(1), scopes=["visits"])
    assert sorted(found.name for found in path.parent.iterdir()) == ["budget.db", "budget.db-lock", "budget.db.witness"]
    assert str(path) not in [files.path for files in files_module._OPEN.values()]
