"""What must differ between databases: how they are opened, how one writer at a time is had, what their errors mean."""

from __future__ import annotations

import contextlib
import io
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from viameter.errors import LedgerBehind, LedgerError, LedgerUnavailable
from viameter.ledger.locking import locked
from viameter.ledger.stores import files
from viameter.ledger.stores.base import Disconnected, NotDone

PATIENCE = 60.0
"""Seconds to wait for another writer before giving up."""


def _for_its_owner(name: str, flags: int) -> int:
    """Open a file that nobody else can open, if it is new: whoever can may hold all writers up."""
    return os.open(name, flags, 0o600)


class Dialect(ABC):
    """One kind of database."""

    place: str
    is_own: bool
    """Whether a ledger has such a database to itself; on a server, other tables may stand beside its own."""

    @abstractmethod
    def engine(self, *, writing: bool) -> sa.Engine:
        """A new engine: for transactions of a writer, or for reading outside of any."""

    @abstractmethod
    def alone(self, held: list[Any] | None = None) -> AbstractContextManager[None]:
        """Wait until no other process writes, before a transaction is begun.

        What is to be closed afterwards is in `held` meanwhile, for whoever comes after one that was interrupted.
        """

    @abstractmethod
    def hold(self, connection: sa.Connection) -> None:
        """At the start of a transaction in which tables are made: let no other process make them."""

    @abstractmethod
    def in_transaction(self, connection: Any) -> bool:
        """Whether a connection of the driver is in a transaction that can be committed."""

    @abstractmethod
    def explain(self, problem: sa.exc.DBAPIError) -> Exception:
        """What an error of the database means for whoever asked."""

    @abstractmethod
    def snapshot(self, engine: sa.Engine) -> AbstractContextManager[sa.Connection]:
        """A connection of an engine for reading that sees all tables as they are at one time."""

    @abstractmethod
    def require_same_files(self) -> None:
        """In a transaction, before it is committed: refuse files that others do not have."""

    def exists(self) -> bool:
        """Whether there is a database that could be opened."""
        return True

    def check(self, connection: sa.Connection) -> list[str]:
        """What the database finds wrong with its own files."""
        return []

    def facts(self, connection: sa.Connection) -> dict[str, Any]:
        """What is to be known of how it keeps what it is given."""
        return {}


class SQLite(Dialect):
    """A file: WAL, every commit synced, one writer at a time."""

    is_own = True

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path).absolute()  # a service may go to another folder
        self.place = str(path)
        self.read_only = read_only
        self._opened: tuple[int, int] | None = None
        """Which file it was that was opened first, by its device and number."""
        self._real_path = os.path.realpath(self.path)  # by which SQLite calls its log
        self._files: files.OpenFiles | None = None

    def exists(self) -> bool:
        """Whether the file is there, with anything in it."""
        return self.path.exists() and self.path.stat().st_size > 0

    def engine(self, *, writing: bool) -> sa.Engine:
        """Connections to the file, none kept after it is closed."""
        engine = sa.create_engine("sqlite://", creator=self._connect, poolclass=sa.pool.NullPool, hide_parameters=True)
        if writing:

            @sa.event.listens_for(engine, "begin")
            def begin(connection: sa.Connection) -> None:
                # DEFERRED would read first and ask to write later, when another process may have written in between.
                connection.exec_driver_sql("BEGIN IMMEDIATE")

        return engine

    def _connect(self) -> sqlite3.Connection:
        mode = "ro" if self.read_only else "rwc"
        # Transactions are begun by the engine, and not by the driver whenever it sees fit.
        connection = files.connect(
            self._real_path,
            self._set_up,
            database=f"file:{quote(str(self.path))}?mode={mode}",
            patience=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        self._files = connection.files
        return connection

    def require_same_files(self) -> None:
        """Refuse a file that was moved, replaced or removed since it was opened, or that has a second name.

        What is charged to a file that nobody will open again is forgotten. Under two names, a file has two logs, and
        writers who do not know of one another.
        """
        try:
            found = self.path.stat()
        except OSError:
            raise LedgerBehind(
                f"{self.place} is gone since it was opened: it was moved or removed. What was being charged may stay "
                "charged, and nothing of it was released"
            ) from None
        self._opened = self._opened or (found.st_dev, found.st_ino)
        if self._opened != (found.st_dev, found.st_ino):
            raise LedgerBehind(
                f"{self.place} is another file than the one that was opened: it was replaced. What was being charged "
                "may stay charged, and nothing of it was released"
            )
        if found.st_nlink > 1 and not self.read_only:
            raise LedgerUnavailable(
                f"{self.place} is a file with several names (hard links), under which SQLite would keep several logs "
                "of it: leave one of them"
            )
        if self._files is not None and not self.read_only:
            self._files.require_same(self.place, writing=True)

    def _set_up(self, connection: sqlite3.Connection) -> None:
        if not self.read_only:
            # Several processes may open a new file at once, and only one can turn WAL on.
            (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
            if mode != "wal":
                raise LedgerUnavailable(
                    f"{self.place}: the file system has no shared memory for SQLite's WAL (a network share, perhaps): "
                    "keep the ledger on a local disk, or use PostgreSQL"
                )
        # NORMAL forgets commits when the power fails: a charge must be on the disk before its answer leaves.
        connection.execute("PRAGMA synchronous=FULL")
        if connection.execute("PRAGMA synchronous").fetchone() != (2,):
            raise LedgerUnavailable(f"{self.place}: SQLite does not sync its commits; such a ledger can lose charges")
        self.require_same_files()

    @contextlib.contextmanager
    def alone(self, held: list[Any] | None = None) -> Iterator[None]:
        """Stand in line for a lock beside the file."""
        name = f"{self._real_path}-lock"
        try:
            file = io.FileIO(name, "ab", opener=_for_its_owner)
        except OSError as problem:
            raise LedgerUnavailable(f"{name} cannot be written: {problem.strerror}") from None
        held = [] if held is None else held
        try:
            held.append(file)
            with locked(file, self.place, PATIENCE):
                if files.identity(name) != files.identity(file.fileno()):
                    raise LedgerUnavailable(f"{name} was replaced meanwhile: try again. Nothing was written now")
                if self._opened is not None:
                    self.require_same_files()
                yield
                if self._opened is not None:
                    self.require_same_files()  # it may have been moved meanwhile
        finally:
            file.close()
            if file in held:
                held.remove(file)

    def hold(self, connection: sa.Connection) -> None:
        """A transaction of a writer is alone already."""

    def in_transaction(self, connection: Any) -> bool:
        """SQLite ends a transaction by itself after some errors, and a commit is then no error."""
        return bool(connection.in_transaction)

    @contextlib.contextmanager
    def snapshot(self, engine: sa.Engine) -> Iterator[sa.Connection]:
        """What a transaction sees from its first look on."""
        with engine.connect() as connection:
            connection.exec_driver_sql("BEGIN")
            try:
                yield connection
            finally:
                connection.exec_driver_sql("ROLLBACK")

    def explain(self, problem: sa.exc.DBAPIError) -> Exception:
        """Locked, read-only, full, damaged, or no database at all."""
        said = str(problem.orig).lower()
        if "locked" in said or "busy" in said:
            return LedgerUnavailable(
                f"{self.place} is locked by another program for more than {PATIENCE:.0f} s; nothing was written now"
            )
        if "readonly" in said or "read-only" in said:
            return LedgerUnavailable(f"{self.place} is read-only here; nothing was written now")
        if "full" in said:
            return LedgerUnavailable(f"the disk of {self.place} is full; nothing was written now")
        if "unable to open" in said:
            return LedgerUnavailable(f"{self.place} cannot be opened: is the folder there, and may it be written to?")
        if "not a database" in said or "malformed" in said or "encrypted" in said:
            return LedgerUnavailable(
                f"{self.place} is no SQLite database, or it is damaged: `viameter ledger verify` says more"
            )
        return NotDone(f"{self.place}: SQLite could not do it ({type(problem.orig).__name__})")

    def check(self, connection: sa.Connection) -> list[str]:
        """What SQLite's own check of pages and indexes finds."""
        found = [row[0] for row in connection.exec_driver_sql("PRAGMA integrity_check(10)")]
        return [] if found == ["ok"] else [str(text) for text in found]

    def facts(self, connection: sa.Connection) -> dict[str, Any]:
        """The versions and settings that durability rests on."""
        (mode,) = connection.exec_driver_sql("PRAGMA journal_mode").one()
        (synchronous,) = connection.exec_driver_sql("PRAGMA synchronous").one()
        return {"database": f"SQLite {sqlite3.sqlite_version}", "journal_mode": mode, "synchronous": synchronous}


class PostgreSQL(Dialect):
    """A server: transactions at READ COMMITTED that lock the head first, so that they stand in line there."""

    is_own = False

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        try:
            given = sa.make_url(url)
        except sa.exc.ArgumentError:
            raise LedgerError(
                "the URL of the ledger cannot be read: expected postgresql://user@host/database"
            ) from None
        self.url = given.set(drivername="postgresql+psycopg")
        # Where it is, and nothing else: passwords may stand in the query, too.
        where = {name: value for name, value in given.query.items() if name in ("host", "hostaddr", "port", "dbname")}
        shown = given.set(drivername="postgresql", password=None, query=where)
        self.place = shown.render_as_string(hide_password=True)
        self.read_only = read_only

    def engine(self, *, writing: bool) -> sa.Engine:
        """Connections that say when they are gone."""
        try:
            engine = sa.create_engine(
                self.url,
                isolation_level="READ COMMITTED" if writing else "AUTOCOMMIT",
                poolclass=sa.pool.NullPool,
                hide_parameters=True,
                connect_args={"connect_timeout": 10, "application_name": "viameter-ledger"},
            )
        except ModuleNotFoundError:
            raise LedgerUnavailable("a ledger on PostgreSQL needs psycopg: pip install 'viameter[postgres]'") from None

        @sa.event.listens_for(engine, "connect")
        def set_up(connection: Any, _: Any) -> None:
            with connection.cursor() as cursor:
                # A server or a user may have it off, and then a crash forgets commits that were reported.
                cursor.execute("SET synchronous_commit = on")
                cursor.execute(f"SET lock_timeout = '{int(PATIENCE * 1000)}ms'")
                for name in ("fsync", "full_page_writes"):
                    (value,) = cursor.execute(f"SHOW {name}").fetchone()
                    if value != "on":
                        raise LedgerUnavailable(
                            f"{self.place}: the server runs with {name} = {value}, and can lose charges when its "
                            "machine fails; a ledger needs it on"
                        )
            connection.commit()

        return engine

    @contextlib.contextmanager
    def alone(self, held: list[Any] | None = None) -> Iterator[None]:
        """The server lets writers stand in line at the head."""
        yield

    @contextlib.contextmanager
    def snapshot(self, engine: sa.Engine) -> Iterator[sa.Connection]:
        """A transaction at REPEATABLE READ."""
        with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection, connection.begin():
            yield connection

    def hold(self, connection: sa.Connection) -> None:
        """Take a lock that all who make tables take; it ends with the transaction."""
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(7305803447)"))

    def require_same_files(self) -> None:
        """They are the server's."""

    def in_transaction(self, connection: Any) -> bool:
        """A server takes COMMIT for ROLLBACK after an error, and says nothing."""
        return bool(connection.info.transaction_status.name == "INTRANS")

    def explain(self, problem: sa.exc.DBAPIError) -> Exception:
        """Gone, full, not allowed, or locked for long."""
        state = str(getattr(problem.orig, "sqlstate", None) or "")
        if problem.connection_invalidated or not state or state[:2] in ("08", "57"):
            return Disconnected(self.place)
        if state == "53100":
            return LedgerUnavailable(f"the disk of {self.place} is full; nothing was written now")
        if state in ("25006", "42501"):
            return LedgerUnavailable(f"{self.place}: the server does not let this user write; nothing was written now")
        if state == "55P03":
            return LedgerUnavailable(
                f"{self.place} is locked by another program for more than {PATIENCE:.0f} s; nothing was written now"
            )
        if state[:2] == "53":
            return Disconnected(self.place)  # out of memory or connections: it may be better soon
        return NotDone(f"{self.place}: the server could not do it (SQLSTATE {state})")

    def facts(self, connection: sa.Connection) -> dict[str, Any]:
        """The version and settings that durability rests on."""
        names = ("server_version", "fsync", "full_page_writes", "synchronous_commit")
        values = {name: connection.exec_driver_sql(f"SHOW {name}").scalar() for name in names}
        return {"database": f"PostgreSQL {values.pop('server_version')}", **values}
