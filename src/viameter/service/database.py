"""Database: where the service's tables are, in SQLite or PostgreSQL; opened, and brought to this version if need be."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from viameter.errors import LedgerUnavailable
from viameter.ledger.migrations import migrate
from viameter.service import migrations
from viameter.service.tables import ABOUT, REVISIONS, VERSION, VERSION_TABLE

PATIENCE = 10.0
"""Seconds to wait for another process that writes."""


class Database:
    """Tables that are open. Threads and processes may share them.

    Read only, nothing is made or changed: tables that are not there, or of an older version, are refused.
    """

    def __init__(self, location: str, *, ledger: str, read_only: bool = False) -> None:
        self._writing = threading.Lock()
        self._is_file = "://" not in location
        self._engine = _file(location, read_only) if self._is_file else _server(location, read_only)
        self.place = location if self._is_file else self._engine.url.render_as_string(hide_password=True)
        try:
            if read_only:
                with self._engine.connect() as connection:
                    self._require_current(connection, ledger)
            else:
                self._prepare(ledger)
        except sa.exc.SQLAlchemyError as problem:
            self.close()
            raise LedgerUnavailable(f"{self.place} cannot be used ({type(problem).__name__})") from None
        except BaseException:
            self.close()
            raise

    def _require_current(self, connection: sa.Connection, ledger: str) -> None:
        found = _version(connection)
        if found is None:
            raise NoTables(f"{self.place} has no tables of a service yet: `viameter serve` makes them")
        self._check(connection, found, ledger)
        if found != REVISIONS[-1]:
            raise OlderTables(self.place, found)

    def _prepare(self, ledger: str) -> None:
        """See that the tables are there, of this version and of this ledger; make them, or bring them there."""
        with self._write() as connection:
            if not self._is_file:  # two that start at once would both make the tables
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('viameter tables'))"))
            found = _version(connection)
            if found is not None:
                self._check(connection, found, ledger)
            if found == REVISIONS[-1]:
                return
            if found == REVISIONS[0] and not sa.inspect(connection).has_table(VERSION_TABLE):
                # The first version kept a number alone.
                connection.exec_driver_sql(f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) PRIMARY KEY)")
                connection.exec_driver_sql(f"INSERT INTO {VERSION_TABLE} VALUES ('{found}')")
            versions = Path(migrations.__file__).parent
            migrate(connection, versions=versions, version_table=VERSION_TABLE)
            if found is None:
                connection.execute(sa.insert(ABOUT).values(version=VERSION, ledger=ledger))

    def _check(self, connection: sa.Connection, found: str, ledger: str) -> None:
        """Refuse tables of a later version, and those of another ledger, before anything is changed."""
        if found not in REVISIONS:
            raise LedgerUnavailable(
                f"{self.place} was written by a later version of viameter (tables of version {found}; this one knows "
                f"up to {REVISIONS[-1]}): upgrade viameter"
            )
        owner = connection.execute(sa.select(ABOUT.c.ledger)).scalar_one()
        if owner != ledger:
            raise LedgerUnavailable(
                f"{self.place} belongs to the ledger {owner[:12]}, and this is {ledger[:12]}: "
                "[storage] names two that do not go together"
            )

    def close(self) -> None:
        """Let go of files and connections."""
        self._engine.dispose()

    @contextlib.contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        with self._writing if self._is_file else contextlib.nullcontext(), self._engine.connect() as connection:
            connection.info["writes"] = True
            try:
                with connection.begin():
                    yield connection
            finally:
                connection.info.pop("writes", None)

    def _read(self, query: Any, **values: Any) -> list[Any]:
        with self._engine.connect() as connection:
            return list(connection.execute(query, values))


class NoTables(LedgerUnavailable):
    """There are no tables of a service yet."""


class OlderTables(LedgerUnavailable):
    """Tables of an older version, which are upgraded when they are opened to be written."""

    def __init__(self, place: str, found: str) -> None:
        self.found = found
        super().__init__(f"{place} has tables of version {found}: they are brought to {REVISIONS[-1]} at the start")


def _version(connection: sa.Connection) -> str | None:
    """The version of the tables; None if there are none."""
    tables = sa.inspect(connection)
    if tables.has_table(VERSION_TABLE):
        found = connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one()
        return str(found)
    if not tables.has_table(ABOUT.name):
        return None
    return f"{connection.execute(sa.select(ABOUT.c.version)).scalar_one():04}"


def _file(location: str, read_only: bool) -> sa.Engine:
    path = Path(location).absolute()
    try:
        if not read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                # Only one that is new: to close a file drops all locks that this process has on it.
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        elif not path.is_file():
            raise NoTables(f"{location} is not there yet: `viameter serve` makes it")
    except OSError as problem:
        raise LedgerUnavailable(f"{location} cannot be made or opened: {problem.strerror}") from None
    url = sa.URL.create("sqlite", database=str(path))
    if read_only:
        # Where nobody has it open, SQLite would make files beside it to tell others.
        how = {"mode": "ro"} if Path(f"{path}-wal").exists() else {"immutable": "1"}
        url = sa.URL.create("sqlite", database=path.as_uri(), query={**how, "uri": "true"})
    engine = sa.create_engine(url, hide_parameters=True, connect_args={"timeout": PATIENCE}, pool_size=16)
    sa.event.listen(engine, "connect", _set_up_reading if read_only else _set_up_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _server(location: str, read_only: bool) -> sa.Engine:
    address = location.replace("postgres://", "postgresql://", 1)
    url = sa.make_url(address).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, hide_parameters=True, pool_pre_ping=True, pool_size=16)
    if read_only:
        sa.event.listen(engine, "connect", _read_only_postgres)
    return engine


def _set_up_sqlite(connection: Any, _: Any) -> None:
    _set_up_reading(connection, _)
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}").close()


def _set_up_reading(connection: Any, _: Any) -> None:
    # Transactions are begun below, and not by the driver whenever it sees fit.
    connection.isolation_level = None


def _begin_sqlite(connection: sa.Connection) -> None:
    # One that reads first and asks to write later would find that another process has written in between; what only
    # reads is one statement, and needs none.
    if connection.info.get("writes"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _read_only_postgres(connection: Any, _: Any) -> None:
    connection.read_only = True
