"""PostgreSQL: tables of a server, opened by URL without ever showing its password, and asked where they are."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from viameter.errors import ParameterError, plain
from viameter.tables.engines import readings
from viameter.tables.engines.digests import builtin, said
from viameter.tables.engines.engine import Engine, Job
from viameter.tables.engines.errors import NoConnection
from viameter.tables.engines.imports import import_ibis, import_optional
from viameter.tables.engines.names import split_name
from viameter.tables.engines.places import Place, sharing_rows
from viameter.tables.engines.postgres_links import PostgresLink, link_of, number_of, require_utf8
from viameter.tables.engines.readings import LONG, Reading, moment, native_table, reading_of, written_name
from viameter.tables.engines.table import EngineTable, as_its_own

LATE = 5
"""Seconds after a deadline at which a query is ended by the server itself."""
SETTINGS = "; ".join(
    f"SET LOCAL {name} = {value}"
    for name, value in {
        # A backslash in a constant is a backslash, and a date is written in one way.
        "standard_conforming_strings": "on",
        "datestyle": "'ISO, YMD'",
        "timezone": "'UTC'",
        # In other encodings there are texts that cannot be handed over.
        "client_encoding": "'UTF8'",
        # To compile takes minutes where there is much to compile, and does not look whether it was cancelled.
        "jit": "off",
    }.items()
)
"""What a query runs under, whatever the server, the role or the connection is set to."""

_TEXT = '{0}::text COLLATE "C"'
TYPES: Final[dict[str, tuple[str, str]]] = {
    **readings.plain(
        bool="boolean", int2="int16", int4="int32", int8="int64", float4="float32", float8="float64", date="date",
        timestamp="timestamp(6)",
    ),
    # Nondeterministic collations lack operations, and others take texts for equal that are not.
    **dict.fromkeys(("text", "varchar", "bpchar", "name"), ("string", _TEXT)),
    "oid": ("int64", "{0}::int8"),
    "timestamptz": ("timestamp(6)", moment("timestamptz", LONG, "({} AT TIME ZONE 'UTC')", "+00")),
}  # fmt: skip
"""Types of pg_catalog, but numeric; enums are read as text, domains as what they are made of."""
_OF_RELATION = """
WITH RECURSIVE found AS (
  SELECT a.attnum, a.attname, a.atttypid AS kind, a.atttypmod AS modifier, NOT a.attnotnull AS nullable,
    pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT') AS readable
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  WHERE c.oid = pg_catalog.to_regclass(%(relation)s) AND a.attnum > 0 AND NOT a.attisdropped
    AND (%(is_qualified)s OR c.relnamespace IN (current_schema()::regnamespace, pg_catalog.pg_my_temp_schema()))
  UNION ALL
  SELECT f.attnum, f.attname, t.typbasetype, t.typtypmod, f.nullable, f.readable
  FROM found f JOIN pg_catalog.pg_type t ON t.oid = f.kind AND t.typtype = 'd'
)
SELECT f.attname, t.typtype, t.typnamespace = 'pg_catalog'::regnamespace, t.typname, f.modifier, f.nullable, f.readable
FROM found f JOIN pg_catalog.pg_type t ON t.oid = f.kind AND t.typtype <> 'd'
ORDER BY f.attnum
"""
"""The columns of a table, by the types that domains are made of, and whether this user may read them."""
_IS_HIDDEN = "SELECT pg_catalog.row_security_active(pg_catalog.to_regclass(%s))"
_READS = """
SELECT inhparent::int8, inhrelid::int8 FROM pg_catalog.pg_inherits
UNION ALL
SELECT r.ev_class::int8, CASE d.refclassid WHEN 'pg_catalog.pg_proc'::regclass THEN -1 ELSE 1 END * d.refobjid::int8
FROM pg_catalog.pg_depend d
JOIN pg_catalog.pg_rewrite r ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid AND r.ev_type = '1'
WHERE d.refclassid IN ('pg_catalog.pg_class'::regclass, 'pg_catalog.pg_proc'::regclass)
AND (d.refclassid, d.refobjid) <> ('pg_catalog.pg_class'::regclass, r.ev_class)
UNION ALL
SELECT -d.objid::int8, CASE d.refclassid WHEN 'pg_catalog.pg_proc'::regclass THEN -1 ELSE 1 END * d.refobjid::int8
FROM pg_catalog.pg_depend d
WHERE d.classid = 'pg_catalog.pg_proc'::regclass
AND d.refclassid IN ('pg_catalog.pg_class'::regclass, 'pg_catalog.pg_proc'::regclass)
"""
"""Who reads what directly: parents their partitions and heirs, views and functions what they are written over.

Functions have their numbers negated: relations may have the same ones.
"""
_ROWLESS = "SELECT -oid::int8 FROM pg_catalog.pg_proc WHERE NOT proretset"
"""Functions that compute a value. Those that return sets may be where the rows of two views come from."""
CERTAIN = "postgresql system "
"""How the place of rows begins whose server says which one it is."""


class PostgreSQL(Engine):
    """A PostgreSQL server. Each table that is opened by its URL has a connection of its own (see `postgres_links`)."""

    name = "postgres"
    title = "PostgreSQL"
    opens = "a postgresql:// URL with table=..."
    bytes_of_name = 63
    salt_is_number = False
    setting = "url"
    setting_starts = ("postgresql://", "postgres://")
    setting_like = "postgresql://..."

    def open(self, source: Any, *, table: str | None, beside: EngineTable | None) -> EngineTable | None:
        """A table of the server that a URL names; beside another of the same URL, on its connection."""
        if not isinstance(source, str) or not source.startswith(self.setting_starts):
            return None
        shown = shown_url(source)
        if table is None:
            raise ParameterError(f"{shown} holds several tables: say which by table='name' or table='schema.name'")
        schema, name = split_name(table)
        backend = self.connect(source) if beside is None else self._same_server(source, beside)
        with self.aside(backend):
            opened = self._named(backend, schema, name, shown=shown)
            link = link_of(backend)
            if link is not None:
                link.remember(backend, schema, name)
        return opened

    def connect(self, url: str) -> Any:
        """An Ibis backend with a connection of its own, which is looked after."""
        psycopg = import_optional("psycopg", extra="postgres", wanted_for="PostgreSQL tables")
        import_optional("ibis.backends.postgres", extra="postgres", wanted_for="PostgreSQL tables")
        link = PostgresLink(url, shown_url(url), self.columns)
        try:
            backend = as_its_own(link.connect())
        except psycopg.Error as error:
            # libpq's own words may repeat parts of the URL.
            raise NoConnection(
                f"no connection to {shown_url(url)} ({type(error).__name__}): are host, port, database, user and "
                "password right, and is the server up?"
            ) from None
        weakref.finalize(backend, link.close)
        return backend

    def _same_server(self, url: str, beside: EngineTable) -> Any:
        if beside.engine is not self:
            raise ParameterError(
                f"two tables can be joined on one backend only: the table beside is in {beside.engine.title}, and "
                f"{shown_url(url)} is a PostgreSQL server"
            )
        psycopg = import_optional("psycopg", extra="postgres", wanted_for="PostgreSQL tables")
        probe = psycopg.conninfo.conninfo_to_dict(url)
        info = beside.backend.con.info
        wanted = {"dbname": info.dbname, "user": info.user, "host": info.host, "port": str(info.port)}
        if any(str(probe[key]) != value for key, value in wanted.items() if key in probe):
            raise ParameterError(
                f"{shown_url(url)} is another server, database or user than that of the table beside: two tables can "
                "be joined on one connection only"
            )
        return beside.backend

    def _named(self, backend: Any, schema: str | None, name: str, *, shown: str) -> EngineTable:
        """A table by its name, if this user can read it: no question fails on that later."""
        import ibis.expr.operations as ops
        import psycopg

        space = ops.Namespace(database=schema)
        try:
            columns = self.columns(backend, schema, name)
            if columns:
                _probe(backend, written_name(backend, name, space), columns)
        except psycopg.Error as error:
            # What the server said may repeat an address or a password, or what it read from elsewhere.
            raise (NoConnection if backend.con.closed else ParameterError)(
                f"{name!r} of {shown} cannot be read ({type(error).__name__}): may this user read it, and whatever a "
                "view of it reads? Is its foreign server up, and is a materialized view of it populated?"
            ) from None
        if not columns:
            where = f"the schema {schema!r} of {shown}" if schema else shown
            names = sorted(backend.list_tables(database=schema) if schema else backend.list_tables())
            listed = f"it has: {', '.join(names)}" if names else "it has none that this user may see"
            raise ParameterError(f"{where} has no table {name!r}; {listed}")
        return EngineTable(native_table(backend, name, space, columns), backend)

    def require_known(self, backend: Any) -> None:
        """Refuse a database of another encoding."""
        require_utf8(backend.con)

    def readings(self, backend: Any, node: Any) -> dict[str, Reading | None]:
        """How each column of a table is read."""
        return self.columns(backend, node.namespace.database, node.name)

    def columns(
        self, backend: Any, schema: str | None, name: str, reading: Sequence[str] = ()
    ) -> dict[str, Reading | None]:
        """How each column of a table is read; empty if there is no such table. Ibis fails on some types.

        With columns that are read, by the same query: it fails if the server does not let them be read, or hides rows.
        """
        import ibis.expr.operations as ops

        relation = written_name(backend, name, ops.Namespace(database=schema))
        wanted = {"relation": relation, "is_qualified": schema is not None}
        # The columns are in what is asked for: else the server would leave out what a view computes for them.
        tables = f"({_OF_RELATION}) found {_while_reading(relation, reading) if reading else ''}"
        question = f"SELECT found.*, {'read IS NULL' if reading else 'true'} FROM {tables}"
        alone = nullcontext() if backend.con.autocommit else backend.con.transaction()
        with alone, backend.con.cursor() as cursor:
            columns = cursor.execute(question, wanted).fetchall()
        return {column: _reading(*kind) if may_read else None for column, *kind, may_read, _ in columns}

    def bring(self, backend: Any, name: str, rows: Any) -> Callable[[], None]:
        """Make a temporary table of an Arrow table."""
        schema = import_ibis().Schema.from_pyarrow(rows.schema)
        definitions = ", ".join(column.sql("postgres") for column in schema.to_sqlglot_column_defs("postgres"))
        with backend.con.transaction(), backend.con.cursor() as cursor:
            cursor.execute(f'CREATE TEMPORARY TABLE "{name}" ({definitions})')
            with cursor.copy(f'COPY pg_temp."{name}" FROM STDIN') as copy:
                for row in rows.to_pylist():
                    copy.write_row(tuple(row.values()))
        return lambda: backend.con.execute(f'DROP TABLE IF EXISTS pg_temp."{name}"')

    def look(self, setting: str) -> str:
        """How many tables there are."""
        backend = self.connect(setting)
        count = len(backend.list_tables())
        backend.con.close()
        return f"{count} tables that this user may see"

    def place(self, backend: Any, source: Any, table: str) -> Place:
        """A table as its server knows it, by whatever address, user or words it was found."""
        import psycopg

        connection, (schema, name) = backend.con, split_name(table)
        where = "n.nspname = current_schema() AND pg_catalog.pg_table_is_visible(c.oid)"
        with_schema = "n.nspname = %(schema)s::text"
        named = (
            "SELECT c.oid::int8, '/' || current_database() || '#' || n.nspname || '.' || c.relname "
            "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE "
        )
        wanted = f"{named} c.relname = %(name)s::text AND {where if schema is None else with_schema}"
        reads: dict[int, list[int]] = {}
        try:
            with self.aside(backend):
                # As text, since the server cuts names that are too long.
                found = connection.execute(wanted, {"name": name, "schema": schema}).fetchone()
                if found is None:
                    raise ParameterError(
                        f"table={plain(table)}: expected 'table' or 'schema.table' as the server spells them"
                    )
                for reader, read in connection.execute(_READS).fetchall():
                    reads.setdefault(reader, []).append(read)
                rowless = {function for (function,) in connection.execute(_ROWLESS).fetchall()}
                sharing_numbers = sharing_rows(found[0], reads, rowless=rowless) - {found[0]}
                others = [number for number in sharing_numbers if number > 0]
                sharing = connection.execute(f"{named} c.oid = ANY(%s::int8[]::oid[])", [others]).fetchall()
                number = number_of(connection)
        except psycopg.Error as error:
            raise ParameterError(
                f"table={plain(table)}: the server does not say where it is ({type(error).__name__})"
            ) from None
        by_address = f"postgresql {connection.info.host}:{connection.info.port}"
        starts = (by_address,) if number is None else (f"{CERTAIN}{number}", by_address)
        return Place(starts, found[1], frozenset(end for _, end in sharing), certain=CERTAIN)

    def fetch(self, job: Job) -> list[Any]:
        """Run it on the backend's connection."""
        connection = job.backend.con
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute(SETTINGS)
            if job.seconds is not None:
                # For a server that is not told to stop: it is reached no more, or nobody is left to tell it.
                cursor.execute(f"SET LOCAL statement_timeout = '{math.ceil(job.seconds) + LATE}s'")
            rows: list[Any] = cursor.execute(job.statement.sql).fetchall()
            return rows

    def cancel(self, job: Job) -> None:
        """Ask the server to stop."""
        job.backend.con.cancel_safe(timeout=2)

    def abandon(self, job: Job) -> None:
        """Cut the connection, if it is one of ours."""
        link = link_of(job.backend)
        if link is not None:
            link.abandon()

    def is_gone(self, backend: Any) -> bool:
        """Whether the connection is closed."""
        return bool(backend.con.closed)

    def require_reachable(self, backend: Any, tables: Sequence[EngineTable]) -> None:
        """Probe a connection of ours, and reopen it if it was lost."""
        link = link_of(backend)
        if link is None:
            super().require_reachable(backend, tables)
        else:
            link.require(backend)

    def aside(self, backend: Any) -> AbstractContextManager[None]:
        """A connection of ours that hangs is cut."""
        link = link_of(backend)
        return nullcontext() if link is None else link.aside()

    def native_digest(self, parts: tuple[Any, ...], salt: str) -> Any:
        """PostgreSQL's own hash of short texts that differ in a bit prefers some orders: it is given their MD5."""
        text = import_ibis().literal(f"{salt}|")
        for part in parts:
            text = text + said(part.cast("string"))
        digest = builtin("md5", (text.type(),), "string")(text)
        return builtin("hashtextextended", ("string", "int64"), "int64")(digest, 0)

    def plain_text(self, column: Any) -> Any:
        """Text by way of bytes, since a cast keeps a collation."""
        encoding = builtin("getdatabaseencoding", (), "string")()
        as_bytes = builtin("convert_to", ("string", "string"), "binary")(column, encoding)
        return builtin("convert_from", ("binary", "string"), "string")(as_bytes, encoding)

    def plain_decimal(self, column: Any) -> Any:
        """1.00 as 1.0 is written."""
        kind = column.type()
        return builtin("trim_scale", (kind,), kind)(column)


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
        backend.con.execute(f"SELECT {_listed(usable)} FROM {relation} LIMIT 0").fetchall()


def _while_reading(relation: str, columns: Sequence[str]) -> str:
    """Read no row of these columns, and find nothing if policies hide rows from this user."""
    read = f"SELECT {_listed(columns)} FROM {relation} LIMIT 0".replace("%", "%%")
    return (
        f"LEFT JOIN ({read}) AS read ON true "
        "WHERE NOT pg_catalog.row_security_active(pg_catalog.to_regclass(%(relation)s))"
    )


def _listed(columns: Sequence[str]) -> str:
    return ", ".join('"{}"'.format(name.replace('"', '""')) for name in columns)


def _reading(kind: Any, is_builtin: bool, name: str, modifier: int, nullable: bool) -> Reading | None:
    ibis = import_ibis()
    if kind in ("e", b"e"):
        return Reading(ibis.dtype("string", nullable=nullable), _TEXT)
    if not is_builtin or kind not in ("b", b"b"):
        return None
    if name == "numeric":
        precision, scale = (modifier - 4) >> 16 & 0xFFFF, ((modifier - 4 & 0x7FF) ^ 1024) - 1024
        # Without a precision, or with a scale that is negative or beyond it, as other engines have none.
        is_usual = modifier >= 4 and precision <= 38 and 0 <= scale <= precision
        return Reading(ibis.expr.datatypes.Decimal(*((precision, scale) if is_usual else ()), nullable=nullable))
    return reading_of(TYPES, name, nullable=nullable)
