"""A process that reads the files of its open ledger: POSIX drops its locks then, and nothing may be charged twice."""

from __future__ import annotations

import fcntl
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.conftest import SPACE
from tests.processes import folder_in_memory

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerBehind, LedgerUnavailable
from viameter.ledger import locking
from viameter.ledger.stores import files as files_module
from viameter.ledger.stores.files import OpenFiles
from viameter.ledger.stores.sql import SQLStore

ROOM = 8
"""How many requests of 1 the budget allows."""

_CLIENT = """
import pathlib, shutil, sys, tempfile, viameter as vm
from viameter import ledger
from viameter.errors import OverBudget, ViameterError

path, book = pathlib.Path(sys.argv[1]), None
if "detection" in sys.argv:  # as on systems whose locks are all of a process
    from viameter.ledger.stores import files
    files._LOCKS = ()


def read_one():
    open(path, "rb").close()


def copy_one():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, folder)


def copy_all():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(path.parent, pathlib.Path(folder, "copy"))


for line in sys.stdin:
    word, _, key = line.strip().partition(" ")
    try:
        if word == "open":
            book = ledger.open(path)
        elif word == "charge":
            book.commit(book.reserve(vm.pure(1), scopes=["visits"], key=key, by="ann"), b"1")
        elif word == "close":
            book.close()
        else:
            {"read_one": read_one, "copy_one": copy_one, "copy_all": copy_all}[word]()
        said = "done"
    except OverBudget:
        said = "over budget"
    except ViameterError as problem:
        said = f"{type(problem).__name__}: {problem}"
    print(said, flush=True)
"""


class Client:
    """Another process with the ledger, which does what it is told, one thing after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, word: str) -> str:
        """Tell it to do something; returns how that ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def kill(self) -> None:
        """End it, as a crash does."""
        self._process.kill()
        self._process.wait(30)


@contextmanager
def client(path: Path, *options: str) -> Iterator[Client]:
    command = [sys.executable, "-c", _CLIENT, str(path), *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Client(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) in (0, -signal.SIGKILL)


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
def test_whoever_reads_its_ledgers_file_goes_on_with_the_others(
    path: Path, reading: str, order: Callable[[Client, Client], list[str]]
) -> None:
    with client(path) as first, client(path) as second:
        assert [first.ask("open"), first.ask("charge a"), first.ask(reading)] == ["done"] * 3
        assert second.ask("open") == "done"
        assert order(first, second) == ["done"] * (ROOM - 1) + ["over budget"] * (ROOM + 1)
        assert [first.ask("close"), second.ask("close")] == ["done"] * 2
    assert answers(path) == ROOM
    assert not list(path.parent.glob("*-wal"))  # the last one deleted it


@pytest.mark.parametrize(
    ("order", "ending"), [(in_turn, "close"), (one_after_the_other, "open"), (one_after_the_other, "kill")]
)
def test_whoever_has_lost_its_log_charges_nothing(
    path: Path, order: Callable[[Client, Client], list[str]], ending: str
) -> None:
    """Where nothing keeps others from deleting it."""
    with client(path, "detection") as first, client(path, "detection") as second:
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


def test_a_log_that_was_removed_is_not_written_to(path: Path) -> None:
    with client(path) as first:
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
def test_bytes_that_sqlite_locks_stay_locked(path: Path, suffix: str, start: int) -> None:
    """By whom others know that they are not the last one to close a database, and not the first to open its index."""
    with client(path) as first:
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


def test_whoever_reads_a_ledger_without_a_log_keeps_nobody_from_writing(path: Path) -> None:
    """As some backups are, and files that others have changed: the first who writes turns the log on."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    with ledgers.open(path, read_only=True) as reader, client(path) as writer:
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
