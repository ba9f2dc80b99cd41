"""The files of a SQLite database that are open in this process: kept from being deleted, and known again.

POSIX drops all record locks that a process has on a file as soon as the process closes any descriptor of it, and
SQLite's locks are of that kind: whoever copies the file of an open ledger unlocks it. Another process then takes itself
for the last one when it closes its connection, and deletes the log (`-wal`) and its index (`-shm`), while this one goes
on writing to what was deleted.

Prevention: beside SQLite's locks, the same bytes are locked by an open file description (Linux). Such a lock is dropped
with its own descriptor only, and it keeps every process, this one too, from taking itself for the last one. Before a
connection is closed, SQLite's own locks are taken again. Detection, everywhere: a writer compares the files with those
that were opened, before COMMIT and after it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sqlite3
import struct
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from viameter.errors import LedgerBehind, LedgerUnavailable
from viameter.ledger.locking import let_go_of

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

_BESIDE = ("-wal", "-shm")

_LOCKS = (("", 0x40000000 + 2, 510), ("-shm", 128, 1))
"""Bytes that SQLite locks for reading as long as a connection is open: whoever writes to them all is the last one to
use a database, and whoever writes to the one of the index is the first, and empties it (os_unix.c)."""

Identity = tuple[int, int] | None

_OPEN: dict[Identity, OpenFiles] = {}
"""By the device and number of the main file: SQLite, too, has one index in a process for all of its connections."""

_CHANGING = [threading.RLock()]
"""Held while a connection is opened or closed."""


def _after_fork_in_child() -> None:
    for files in _OPEN.values():
        let_go_of(files.descriptors)
    _OPEN.clear()
    _CHANGING[0] = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


class Connection(sqlite3.Connection):
    """A connection that undoes its transaction when it is closed, and not when the last of its cursors is collected."""

    files: OpenFiles | None = None

    def close(self) -> None:
        """Let go of the files at once, whoever still has a cursor."""
        with contextlib.suppress(sqlite3.Error):
            self.rollback()
        with _CHANGING[0]:
            if self.files is None:
                super().close()
                return
            self.files.restore_locks()
            if self.files.are_the_same():
                self.files.connections.discard(self)
                if not self.files.connections:
                    self.files.unlock()  # the last one deletes the log
                super().close()
                if not self.files.connections:
                    self.files.release()
            else:
                # SQLite would delete the log of others, by its name, or write an old one's pages over theirs. The
                # connection is never closed, not even at exit: the system closes its descriptors.
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))


class OpenFiles:
    """The files of one database, shared by all connections to it in this process."""

    def __init__(self, path: str, main: Identity) -> None:
        self.path, self.main = path, main
        self.connections: weakref.WeakSet[Connection] = weakref.WeakSet()
        self.descriptors: list[int] = []
        self._locked: list[tuple[int, int, int]] = []
        """Descriptors, each with the bytes that are locked by it."""
        self._beside: dict[str, Identity] = dict.fromkeys(_BESIDE)
        self._replaced = False

    def restore_locks(self) -> None:
        """Take SQLite's own locks again: they are of the process, whatever descriptor they are set by.

        Only while nobody else closes a connection: SQLite, if it closes its last one, has these bytes for itself.
        """
        for descriptor, start, length in self._locked:
            with contextlib.suppress(OSError):
                fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, length, start)

    def unlock(self) -> None:
        """Let the last connection of all processes be the last, by SQLite's own locks alone."""
        self._set_locks("F_UNLCK")

    def _set_locks(self, kind: str) -> None:
        if sys.platform != "linux":
            return
        for descriptor, start, length in self._locked:
            with contextlib.suppress(OSError):  # a file system without such locks
                lock = struct.pack("hhqqi0q", getattr(fcntl, kind), os.SEEK_SET, start, length, 0)
                fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)

    def release(self) -> None:
        """Close what was opened here; no connection is left whose locks that could drop."""
        while self.descriptors:
            os.close(self.descriptors.pop())
        self._locked = []
        if _OPEN.get(self.main) is self:
            del _OPEN[self.main]

    def find(self) -> None:
        """Lock the files, and remember the log and its index, which whoever only reads may have to do without.

        Without an index there is no log, and SQLite locks the file while it reads alone: whoever turns the log on could
        not do so beside a lock that stays.
        """
        if fcntl is not None and not self.descriptors and identity(f"{self.path}-shm") is not None:
            for suffix, start, length in _LOCKS:
                with contextlib.suppress(OSError):  # it may be removed
                    self.descriptors.append(os.open(f"{self.path}{suffix}", os.O_RDONLY | os.O_CLOEXEC))
                    self._locked.append((self.descriptors[-1], start, length))
        self._set_locks("F_RDLCK")
        for suffix in _BESIDE:
            if self._beside[suffix] is None:
                self._beside[suffix] = identity(self.path + suffix)

    def are_the_same(self) -> bool:
        """Whether the log and its index are still the ones that this process has open.

        If not, then not in this process any more: new connections would share the old index. A main file that was
        moved is for others to find, and SQLite itself leaves alone what lies beside its old name.
        """
        if self.connections and identity(self.path) == self.main:
            self._set_locks("F_RDLCK")  # again: whoever was closing it may have kept this from it before
            there = [(one, identity(self.path + suffix)) for suffix, one in self._beside.items() if one is not None]
            self._replaced |= any(one != now for one, now in there)
        return not self._replaced

    def require_same(self, place: str, *, writing: bool) -> None:
        """Refuse to go on with files that nobody else will read; whoever writes has had both from the start."""
        if not self.are_the_same() or (writing and None in self._beside.values()):
            raise LedgerBehind(
                f"the log beside {place} (-wal, -shm) is another file than the one that was opened: it was removed, or "
                "another program took itself for the last one to use it. Nothing more is charged here, and what was "
                "being charged is not released: end this process, and open the ledger in a new one"
            )


def identity(name: str | int) -> Identity:
    """Which file has this name or descriptor, by its device and number; None if there is none."""
    try:
        found = os.stat(name)  # noqa: PTH116 (a Path takes longer to make, several times with each request)
    except OSError:
        return None
    return found.st_dev, found.st_ino


_pause = time.sleep


def connect(path: str, set_up: Callable[[Connection], None], *, patience: float, **options: Any) -> Connection:
    """Connect to a database by its real path, set the connection up, and count it among those of its files.

    Who turns the log on, or deletes it as the last one to close, has the file alone for a moment. SQLite then says at
    once that the file is busy, whatever its timeout is; so it is tried again, for some seconds.
    """
    end = time.monotonic() + patience
    while True:
        try:
            return _connect(path, set_up, timeout=patience, **options)
        except sqlite3.OperationalError as problem:
            if getattr(problem, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        _pause(0.002)


def _connect(path: str, set_up: Callable[[Connection], None], **options: Any) -> Connection:
    with _CHANGING[0]:
        known = _OPEN.get(identity(path))
        if known is not None and known.connections:
            known.require_same(path, writing=False)
            if known.path != path:
                raise LedgerUnavailable(
                    f"{path} is open in this process as {known.path}: under several names (hard links, mounts), SQLite "
                    "would keep several logs of it"
                )
        elif known is not None:
            known.release()  # before there is a connection again: an interrupt had come before it was done
        connection: Connection = sqlite3.connect(uri=True, factory=Connection, **options)
        try:
            set_up(connection)
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # opens the log, if nothing did
            _register(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def _register(connection: Connection, path: str) -> None:
    main = identity(path)
    files = _OPEN.get(main)
    if files is None:
        files = _OPEN[main] = OpenFiles(path, main)
    files.connections.add(connection)
    if _OPEN.get(main) is files:
        files.find()
        connection.files = files
    else:  # the garbage collector closed its last connection in between
        _register(connection, path)
