"""Record what the store and the witness ask of the disk: the real store, on connections of APSW with a VFS of its own.

The store is the library's, with its SQL and its PRAGMAs; only what `SQLite._connect` returns is another driver, dressed
as the one of the standard library. The witness writes through `os`, which is recorded too.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.ledger.power.disk import Operation

from viameter.ledger import witness
from viameter.ledger.stores import dialects

_NUMBERS = itertools.count()
_LOGS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL


class Recording:
    """What was asked of the disk, in order."""

    def __init__(self) -> None:
        self.log: list[Operation] = []

    def add(self, kind: str, path: Any = "", offset: int = 0, data: bytes = b"") -> None:
        self.log.append(Operation(kind, Path(path).name if path else "", offset, bytes(data)))

    def acknowledge(self, key: str, answer: bytes | None = None) -> None:
        self.log.append(Operation("acknowledged", said=(key, answer)))


class _VFS(apsw.VFS):
    def __init__(self, name: str, recording: Recording) -> None:
        self.recording = recording
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> _VFSFile:  # noqa: N802
        return _VFSFile(self.recording, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(name, syncdir)
        self.recording.add("delete", name)
        if syncdir:
            self.recording.add("sync folder")


class _VFSFile(apsw.VFSFile):
    def __init__(self, recording: Recording, name: Any, flags: list[int]) -> None:
        self._recording = recording
        self._path = name.filename() if isinstance(name, apsw.URIFilename) else name
        new = not Path(self._path).exists()
        super().__init__("", name, flags)
        # SQLite syncs the folder with the first sync of a journal that it was allowed to make, whoever made it then.
        self._syncs_folder = bool(flags[0] & _LOGS and flags[0] & apsw.SQLITE_OPEN_CREATE)
        if new:
            recording.add("create", self._path)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._recording.add("write", self._path, offset, data)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._recording.add("truncate", self._path, newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._recording.add("sync", self._path)  # nothing need reach the real disk
        if self._syncs_folder:
            self._recording.add("sync folder")
            self._syncs_folder = False


class _Cursor:
    """A cursor of APSW that looks like one of sqlite3."""

    arraysize = 1
    lastrowid = None

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._rows: Iterator[Any] = iter(())
        self.description: Any = None
        self.rowcount = -1

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> _Cursor:
        cursor = self._connection.cursor()
        self.description = None

        def look(cursor: Any, _: str, __: Any) -> bool:
            # Before the first step: afterwards, a query without rows does not tell its columns.
            self.description = tuple((*column[:1], *(None,) * 6) for column in cursor.get_description()) or None
            return True

        cursor.exec_trace = look
        before = self._connection.total_changes()
        try:
            self._rows = iter(cursor.execute(sql, tuple(parameters)).fetchall())
        except apsw.Error as problem:
            raise sqlite3.OperationalError(str(problem)) from None
        self.rowcount = self._connection.total_changes() - before
        return self

    def executemany(self, sql: str, many: Sequence[Sequence[Any]]) -> _Cursor:
        for parameters in many:
            self.execute(sql, parameters)
        return self

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchmany(self, size: int | None = None) -> list[Any]:
        return list(itertools.islice(self._rows, size or self.arraysize))

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def close(self) -> None:
        self._rows = iter(())


class _Connection:
    """A connection of APSW that looks like one of sqlite3 that leaves transactions to whoever uses it."""

    isolation_level = None

    def __init__(self, path: Path, vfs: str) -> None:
        self._inner = apsw.Connection(str(path), vfs=vfs)

    @property
    def in_transaction(self) -> bool:
        return bool(self._inner.in_transaction)

    def cursor(self, *_: Any) -> _Cursor:
        return _Cursor(self._inner)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> _Cursor:
        return self.cursor().execute(sql, parameters)

    def commit(self) -> None:
        if self._inner.in_transaction:
            self.execute("COMMIT")

    def rollback(self) -> None:
        if self._inner.in_transaction:
            self.execute("ROLLBACK")

    def create_function(self, name: str, numargs: int, function: Callable[..., Any], **_: Any) -> None:
        self._inner.create_scalar_function(name, function, numargs)

    def close(self) -> None:
        self._inner.close()


class _RecordedOS:
    """What the witness uses of `os`, with its writes and syncs recorded."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._names: dict[int, Path] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def open(self, path: Any, *arguments: Any) -> int:
        new = not Path(path).exists()
        file = os.open(path, *arguments)
        self._names[file] = Path(path)
        if new:
            self._recording.add("create", path)
        return file

    def pwrite(self, file: int, data: bytes, offset: int) -> int:
        self._recording.add("write", self._names[file], offset, data)
        return os.pwrite(file, data, offset)

    def fsync(self, file: int) -> None:
        path = self._names[file]
        if path.is_dir():
            self._recording.add("sync folder")
        else:
            self._recording.add("sync", path)


@contextmanager
def recorded(
    monkeypatch: pytest.MonkeyPatch, *, synchronous: str = "FULL", checkpoint: int = 1000
) -> Iterator[Recording]:
    """Ledgers that are opened on SQLite files are recorded; `synchronous` is FULL unless a mutant is wanted."""
    recording = Recording()
    name = f"recording-{next(_NUMBERS)}"
    vfs = _VFS(name, recording)

    class Recorded(dialects.SQLite):
        def _connect(self) -> Any:
            connection = _Connection(self.path, name)
            self._set_up(connection)  # type: ignore[arg-type]
            if synchronous != "FULL":
                connection.execute(f"PRAGMA synchronous={synchronous}")
            connection.execute(f"PRAGMA wal_autocheckpoint={checkpoint}")
            return connection

    with monkeypatch.context() as patch:
        patch.setattr(dialects, "SQLite", Recorded)
        patch.setattr(witness, "os", _RecordedOS(recording))
        yield recording
    vfs.unregister()
