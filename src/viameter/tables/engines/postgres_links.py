"""Links to PostgreSQL servers: connections that are probed before use, reopened once lost, and cut if they hang."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from threading import Timer
from typing import Any

from viameter.errors import ParameterError, SourceUnavailable
from viameter.tables.engines.imports import import_ibis, import_optional
from viameter.tables.engines.turns import turn_of

_ATTRIBUTE = "_viameter_link"
CONNECT_SECONDS = 5
"""How long a connection may take to be made, unless the URL says `connect_timeout`."""
LONGEST_PROBE = 3.0
"""Seconds within which a server that is up says so."""
LONGEST_ASIDE = 30.0
"""Seconds for what is asked of a server beside the queries of questions: columns, small public tables."""
LONGEST_TABLE = 10.0
"""Seconds within which a table, of which no row is read, is there to be read: foreign servers are called."""
MOST_ABANDONED = 2
"""How many queries that do not stop a server may still work on before it is asked no more."""


_PROCESSES = "SELECT pid, extract(epoch FROM backend_start)::text FROM pg_catalog.pg_stat_activity"


@dataclass(frozen=True, slots=True)
class Server:
    """Which database is at the other end, in words that stay the same when it is restarted."""

    number: int | None
    """The number that the server was given when it was made; None if this user may not see it."""
    database: str
    schema: str | None
    """Where tables are looked for that are named without a schema."""


@dataclass(frozen=True, slots=True)
class Process:
    """The server's process of a connection; numbers are used again, times are not."""

    pid: int
    began: str | None


class PostgresLink:
    """The way from a backend to a server that was opened by its URL. The backend's lock is held wherever it is used.

    A backend without a link has a connection of somebody else's: it is never reopened or cut.
    """

    def __init__(self, url: str, shown: str, columns: Callable[..., dict[str, Any]]) -> None:
        self._url, self._shown, self._columns = url, shown, columns
        self._connection: Any = None
        self._socket: socket.socket | None = None
        self._server: Server | None = None
        self._process: Process | None = None
        self._tables: dict[tuple[str | None, str], Any] = {}
        self._abandoned: list[Process] = []

    def connect(self) -> Any:
        """An Ibis backend on a new connection; errors of psycopg if there is none to be had."""
        psycopg = import_optional("psycopg", extra="postgres", wanted_for="PostgreSQL tables")
        timeout = {} if "connect_timeout" in self._url else {"connect_timeout": CONNECT_SECONDS}
        connection = psycopg.connect(
            self._url, autocommit=True, fallback_application_name="viameter", client_encoding="utf8", **timeout
        )
        self.close()
        self._connection = connection
        # A second handle to the same socket: it is cut by it from other threads, and no other socket by mistake.
        self._socket = socket.socket(fileno=os.dup(connection.fileno()))
        try:
            with self.aside():
                require_utf8(connection)
                self._process = _process(connection)
                self._require_same(_server(connection))
                backend = import_ibis().postgres.from_connection(connection)
                vars(backend)[_ATTRIBUTE] = self
                return backend
        except BaseException:
            self.close()
            raise

    def remember(self, backend: Any, schema: str | None, name: str) -> None:
        """Note what a table is like: whenever it is asked, it must be the same."""
        self._tables[schema, name] = self._columns(backend, schema, name)

    def require(self, backend: Any) -> None:
        """Make sure that the server answers, on another connection if need be, and that its tables can be read as they
        were opened; else SourceUnavailable.
        """
        if not self._answers():
            self._reopen(backend)
        self._require_few_abandoned()
        for (schema, name), columns in self._tables.items():
            self._require_table(backend, schema, name, columns)

    def cut(self) -> None:
        """End the connection at once, whoever waits for it; from any thread."""
        with suppress(OSError, AttributeError):
            self._socket.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]

    def abandon(self) -> None:
        """Cut a connection whose query does not stop. The server may work on it until it looks up."""
        if self._process is not None:
            self._abandoned.append(self._process)
        self.cut()

    @contextmanager
    def within(self, seconds: float, *, otherwise: Callable[[], None] | None = None) -> Iterator[None]:
        """Cut the connection, or do something else, if what is asked of it takes longer."""
        timer = Timer(seconds, otherwise or self.cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def aside(self) -> AbstractContextManager[None]:
        """For what is asked of the server beside queries of questions: a connection that hangs meanwhile is cut."""
        return self.within(LONGEST_ASIDE)

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            with suppress(Exception):
                self._connection.close()
        if self._socket is not None:
            self._socket.close()
        self._connection = self._socket = None

    def _require_same(self, server: Server) -> None:
        if self._server not in (None, server):
            raise SourceUnavailable(f"{self._shown} is another server or database than the one that was opened")
        self._server = server

    def _answers(self) -> bool:
        if self._connection is None or self._connection.closed:
            return False
        try:
            with self.within(LONGEST_PROBE):
                self._connection.execute("SELECT 1")
        except Exception:  # whatever it is, another connection is tried
            return False
        return True

    def _reopen(self, backend: Any) -> None:
        psycopg = import_optional("psycopg", extra="postgres", wanted_for="PostgreSQL tables")
        try:
            backend.con = self.connect().con
            turn_of(backend).forget_connection()
        except (psycopg.Error, ParameterError) as error:
            raise SourceUnavailable(
                f"no connection to {self._shown} ({type(error).__name__}): try again when the server is up; nothing "
                "was spent"
            ) from None

    def _require_table(self, backend: Any, schema: str | None, name: str, columns: Mapping[str, Any]) -> None:
        """Refuse a table that cannot be read, or whose columns are others than when it was opened; in one round trip.

        A table that is locked is not waited for: its query is abandoned.
        """
        psycopg = import_optional("psycopg", extra="postgres", wanted_for="PostgreSQL tables")
        usable = [column for column, reading in columns.items() if reading is not None]
        try:
            with self.within(LONGEST_TABLE, otherwise=self.abandon):
                found = self._columns(backend, schema, name, usable)
        except psycopg.Error as error:
            raise SourceUnavailable(
                f"a table of {self._shown} cannot be read as it was opened ({type(error).__name__}): is it there, may "
                "this user still read it, and is it locked? Nothing was spent"
            ) from None
        if not found:
            raise SourceUnavailable(
                f"a table of {self._shown} cannot be read as it was opened: row-level security hides rows of it from "
                "this user; nothing was spent"
            )
        if any(found.get(column) != columns[column] for column in usable):
            raise SourceUnavailable(
                f"tables of {self._shown} have other columns than when they were opened: open them again; nothing was "
                "spent"
            )

    def _require_few_abandoned(self) -> None:
        """Refuse a server that still works on queries which nobody waits for and which did not stop."""
        if not self._abandoned:
            return
        psycopg = import_optional("psycopg", extra="postgres", wanted_for="PostgreSQL tables")
        try:
            with self.within(LONGEST_PROBE):
                there = {Process(*row) for row in self._connection.execute(_PROCESSES).fetchall()}
        except psycopg.Error as error:
            raise SourceUnavailable(f"{self._shown} does not answer ({type(error).__name__})") from None
        self._abandoned = [one for one in self._abandoned if one in there]
        if len(self._abandoned) >= MOST_ABANDONED:
            raise SourceUnavailable(
                f"{self._shown} still works on {len(self._abandoned)} queries that were cancelled: try again when they "
                "have ended; nothing was spent"
            )


def link_of(backend: Any) -> PostgresLink | None:
    """The link of a backend, if its connection is one of ours."""
    found: PostgresLink | None = vars(backend).get(_ATTRIBUTE)
    return found


def require_utf8(connection: Any) -> None:
    """Refuse a database of another encoding: its text may hold what cannot be handed over, which fails on some rows."""
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise ParameterError(
            f"the PostgreSQL database has the encoding {encoding}, whose text cannot always be handed over as UTF8: "
            "open a copy of it in a database of encoding UTF8"
        )


def _server(connection: Any) -> Server:
    database, schema = connection.execute("SELECT current_database(), current_schema()").fetchone()
    return Server(number_of(connection), database, schema)


def number_of(connection: Any) -> int | None:
    """The number that a server was given when it was made; None if this user may not see it."""
    import psycopg

    try:
        with connection.transaction():  # of its own: what is refused ends it, and the connection stays
            found = connection.execute("SELECT system_identifier FROM pg_catalog.pg_control_system()").fetchone()
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFunction):
        return None
    return None if found is None or found[0] is None else int(found[0])


def _process(connection: Any) -> Process | None:
    found = connection.execute(f"{_PROCESSES} WHERE pid = pg_backend_pid()").fetchone()
    return None if found is None else Process(*found)
