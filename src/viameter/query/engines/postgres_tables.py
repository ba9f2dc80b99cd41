"""Open tables of a PostgreSQL server by URL, without ever showing its password."""

from __future__ import annotations

import weakref
from typing import Any
from urllib.parse import SplitResult, urlsplit

from viameter.errors import ParameterError
from viameter.query.engines.capabilities import POSTGRES
from viameter.query.engines.errors import NoConnection
from viameter.query.engines.imports import import_optional
from viameter.query.engines.names import split_name
from viameter.query.engines.native_types import native_table, postgres_columns
from viameter.query.engines.postgres_links import PostgresLink, aside, link_of, with_link
from viameter.query.engines.table import EngineTable, as_its_own


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
    """A table of a PostgreSQL backend by its name."""
    import ibis.expr.operations as ops

    columns = postgres_columns(backend, schema, name)
    if not columns:
        where = f"the schema {schema!r} of {shown}" if schema else shown
        names = sorted(backend.list_tables(database=schema) if schema else backend.list_tables())
        listed = f"it has: {', '.join(names)}" if names else "it has none that this user may see"
        raise ParameterError(f"{where} has no table {name!r}; {listed}")
    return EngineTable(native_table(backend, name, ops.Namespace(database=schema), columns), backend)


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
