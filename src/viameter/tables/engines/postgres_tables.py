"""Open tables of a PostgreSQL server by URL, without ever showing its password."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from viameter.errors import ParameterError
from viameter.tables.engines.capabilities import POSTGRES
from viameter.tables.engines.errors import NoConnection
from viameter.tables.engines.imports import import_optional
from viameter.tables.engines.names import split_name
from viameter.tables.engines.native_types import Reading, native_table, postgres_columns, written_name
from viameter.tables.engines.postgres_links import PostgresLink, aside, link_of, with_link
from viameter.tables.engines.table import EngineTable, as_its_own


def open_url(url: str, *, table: str | None, beside: EngineTable | None = None) -> EngineTable:
    """A table of the server that the URL names; beside another of the same URL, on its connection."""
    shown = shown_url(url)
    if table is None:
        raise ParameterError(f"{shown} holds several tables: say which by table='name' or table='schema.name'")
    schema, name = split_name(table)
    backend = connect(url) if beside is None else _same_server(url, beside)
    with aside(backend):
        opened = open_named(backend, schema, name, shown=shown)
        link = link_of(backend)
        if link is not None:
            link.remember(backend, schema, name)
    return opened


def connect(url: str) -> Any:
    """An Ibis backend with a connection of its own, which is looked after (see `engines.postgres_links`)."""
    psycopg = import_optional("psycopg", extra="postgres", wanted_for="PostgreSQL tables")
    import_optional("ibis.backends.postgres", extra="postgres", wanted_for="PostgreSQL tables")
    link = PostgresLink(url, shown_url(url))
    try:
        backend = with_link(as_its_own(link.connect()), link)
    except psycopg.Error as error:
        # libpq's own words may repeat parts of the URL.
        raise NoConnection(
            f"no connection to {shown_url(url)} ({type(error).__name__}): are host, port, database, user and password "
            "right, and is the server up?"
        ) from None
    weakref.finalize(backend, link.close)
    return backend


def open_named(backend: Any, schema: str | None, name: str, *, shown: str) -> EngineTable:
    """A table of a PostgreSQL backend by its name, if this user can read it: no question fails on that later."""
    import ibis.expr.operations as ops
    import psycopg

    space = ops.Namespace(database=schema)
    try:
        columns = postgres_columns(backend, schema, name)
        if columns:
            _probe(backend, written_name(backend, name, space), columns)
    except psycopg.Error as error:
        # What the server said may repeat an address or a password, or what it read from elsewhere.
        raise (NoConnection if backend.con.closed else ParameterError)(
            f"{name!r} of {shown} cannot be read ({type(error).__name__}): may this user read it, and whatever a view "
            "of it reads? Is its foreign server up, and is a materialized view of it populated?"
        ) from None
    if not columns:
        where = f"the schema {schema!r} of {shown}" if schema else shown
        names = sorted(backend.list_tables(database=schema) if schema else backend.list_tables())
        listed = f"it has: {', '.join(names)}" if names else "it has none that this user may see"
        raise ParameterError(f"{where} has no table {name!r}; {listed}")
    return EngineTable(native_table(backend, name, space, columns), backend)


_IS_HIDDEN = "SELECT pg_catalog.row_security_active(pg_catalog.to_regclass(%s))"


def _probe(backend: Any, relation: str, columns: Mapping[str, Reading | None]) -> None:
    """Read no row of the columns that questions can use: what the server refuses at all it refuses here.

    Privileges are looked at, materialized views must be populated and foreign servers are called when a query begins.
    """
    with backend.con.transaction():
        (is_hidden,) = backend.con.execute(_IS_HIDDEN, [relation]).fetchone()
        if is_hidden:
            raise ParameterError(
                f"{relation}: row-level security hides rows of it from this user, by policies that may look at other "
                "rows, or fail: open it as a user whom none applies to (BYPASSRLS), or a view that says which rows"
            )
        usable = [name for name, reading in columns.items() if reading is not None]
        if not usable:
            raise ParameterError(
                f"{relation} has no column that questions can use: of their types, or since this user has no SELECT "
                "privilege on them"
            )
        listed = ", ".join(_quoted(name) for name in usable)
        backend.con.execute(f"SELECT {listed} FROM {relation} LIMIT 0").fetchall()


def _quoted(name: str) -> str:
    """A name as PostgreSQL takes it."""
    return '"{}"'.format(name.replace('"', '""'))


def shown_url(url: str) -> str:
    """A URL as messages may show it: the server and the database, and nothing that could be a secret.

    >>> shown_url("postgresql://ann:secret@db.example:5433/air?sslpassword=x")
    'postgresql://db.example:5433/air'
    """
    try:
        parts: SplitResult = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the postgresql:// URL"
    return f"postgresql://{parts.hostname or ''}{port}{parts.path}"


def _same_server(url: str, beside: EngineTable) -> Any:
    if beside.engine != POSTGRES:
        raise ParameterError(
            f"two tables can be joined on one backend only: the table beside is in {beside.engine}, and "
            f"{shown_url(url)} is a PostgreSQL server"
        )
    psycopg = import_optional("psycopg", extra="postgres", wanted_for="PostgreSQL tables")
    probe = psycopg.conninfo.conninfo_to_dict(url)
    info = beside.backend.con.info
    wanted = {"dbname": info.dbname, "user": info.user, "host": info.host, "port": str(info.port)}
    if any(str(probe[key]) != value for key, value in wanted.items() if key in probe):
        raise ParameterError(
            f"{shown_url(url)} is another server, database or user than that of the table beside: two tables can be "
            "joined on one connection only"
        )
    return beside.backend
