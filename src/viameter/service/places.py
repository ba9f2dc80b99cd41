"""Places: where the rows of a dataset are, in words that are the same for the same rows, and which places share rows.

Rows that are reached in two ways would have two budgets. These ways are seen, whichever is registered first, when a
dataset is registered and whenever it is opened:

- a file by another path, by a symbolic link or by a hard link;
- a table of a DuckDB file in other capitals, or without its schema; a view in the file beside a table that it reads, or
  beside another view that reads the same table;
- a table of a PostgreSQL server by another address, user or source; a partition or a table that inherits beside its
  parent; a view or a materialized view beside what it reads, by way of other views and of functions in SQL whose
  bodies the server has parsed (BEGIN ATOMIC), too;
- a table of Spark by another name.

These are not, and whoever registers rows vouches for them: copies of rows; foreign tables, which may be of the same
server; functions whose bodies are text; views of Spark, and tables of Spark over the same files; one file that is read
by DuckDB and by Spark; operators and domains of PostgreSQL; views with `security_invoker` over tables with policies, of
which each user sees other rows. What is attached to a table or written into a view while a dataset is open is seen
when it is opened next.

A place is a name, so that rows can be loaded anew under it. So these are not seen either, after a dataset was
registered: names that are changed or swapped, files that are moved, views that are dropped or replaced, partitions
that are detached. Whoever may do that in a source must be trusted with the budgets of its rows.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from viameter.errors import ParameterError, plain
from viameter.service.state import SAME_ROWS, Registered
from viameter.tables.engines.duckdb_files import attached_as, views_of
from viameter.tables.engines.names import split_name
from viameter.tables.engines.postgres_links import aside, number_of
from viameter.tables.engines.quiet import without_warnings_of_engines

Node = TypeVar("Node", bound=Hashable)

MAYBE_SAME = (
    "these rows may be those of {!r}: tables and databases have the same names, and a server does not say which one it "
    "is; let the users of both sources execute pg_control_system() before they are registered"
)
CERTAIN = "postgresql system "
"""How the place of rows begins whose server says which one it is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows are: a file, server or session, and a table there; and the tables there that share rows with it."""

    starts: tuple[str, ...]
    """All words for the file, server or session; the first are those that are kept."""
    end: str
    """The table there."""
    sharing: frozenset[str] = frozenset()
    """The tables there that have some of the same rows."""
    is_on_server: bool = False
    """Whether another start may be the same server."""

    @property
    def text(self) -> str:
        """The words that are kept."""
        return self.starts[0] + self.end

    @property
    def texts(self) -> tuple[str, ...]:
        """All words for it."""
        return tuple(start + self.end for start in self.starts)

    def refuse_same(self, name: str, others: Iterable[Registered]) -> None:
        """Refuse rows that are, or may be, in another dataset."""
        ends = (self.end, *self.sharing)
        for other in others:
            if other.name == name:
                continue
            if any(start + end == other.place for start in self.starts for end in ends):
                raise ParameterError(SAME_ROWS.format(other.name))
            here = [end for end in ends if other.place.endswith(end)]
            if any(_is_linked(other.place.removesuffix(end), self.starts[0]) for end in here):
                raise ParameterError(SAME_ROWS.format(other.name))
            is_certain = self.starts[0].startswith(CERTAIN) and other.place.startswith(CERTAIN)
            if here and self.is_on_server and not is_certain:
                raise ParameterError(MAYBE_SAME.format(other.name))


def place_of(source: Any, table: str | None, rows: Any, *, is_remote: bool = False) -> Place:
    """Where rows are that were opened from a path, a URL or a Spark session.

    What is opened and what is looked for here was found once: links may move in between.
    """
    if not isinstance(source, str):
        # In one process there is one session, whatever master or server others ask for.
        server = f" {source.client.host}".casefold() if is_remote else ""
        return Place((f"spark{server}",), f"#{in_spark(source, str(table))}")
    if "://" in source:
        with aside(rows.on.backend):
            return _in_postgres(rows.on.backend.con, str(table))
    if table is None:
        return Place((source,), "#")
    schema, name = split_name(table)
    # DuckDB knows a table in capitals or without, and by its schema or without.
    own = f"{schema or 'main'}.{name}".casefold()
    backend = rows.on.backend
    reads = views_of(backend, attached_as(backend, source))
    return Place((source,), f"#{own}", frozenset(f"#{other}" for other in sharing_rows(own, reads) - {own}))


def sharing_rows(
    start: Node, reads: Mapping[Node, Collection[Node]], *, rowless: Collection[Node] = frozenset()
) -> set[Node]:
    """What shares rows with a table or view, itself too, by what each of them reads directly.

    Two share rows if something is read by both: they are what reads any of what the first reads. What is `rowless` has
    no rows of its own: two that use it share only what it reads.

    >>> sorted(sharing_rows("view", {"view": ["table"], "other": ["table", "third"], "more": ["other"]}))
    ['more', 'other', 'table', 'view']
    >>> sorted(sharing_rows("part 1", {"all": ["part 1", "part 2"]}))
    ['all', 'part 1']
    >>> sorted(sharing_rows("view", {"view": ["table", "digest"], "other": ["digest"]}, rowless={"digest"}))
    ['table', 'view']
    """
    read_by: dict[Node, list[Node]] = {}
    for reader, read in reads.items():
        for one in read:
            read_by.setdefault(one, []).append(reader)
    return _reached(_reached({start}, reads) - set(rowless), read_by)


def _reached(found: set[Node], edges: Mapping[Node, Collection[Node]]) -> set[Node]:
    found, new = set(found), list(found)
    while new:
        following = [one for one in edges.get(new.pop(), ()) if one not in found]
        found.update(following)
        new += following
    return found


def _is_linked(one: str, other: str) -> bool:
    """Whether two paths lead to one file."""
    try:
        return os.path.isabs(one) and Path(one).samefile(other)  # noqa: PTH117, other words are no paths
    except (OSError, ValueError):  # gone by now
        return False


def in_spark(session: Any, table: str) -> str:
    """A table as Spark finds it, which knows it by its catalog and database or without, in capitals or without."""
    schema, name = split_name(table)
    parts = [*(schema.split(".") if schema else ()), name]
    quoted = ".".join("`{}`".format(part.replace("`", "``")) for part in parts)
    with without_warnings_of_engines():
        try:
            found = session.catalog.getTable(quoted)
        except Exception:  # by the name of its kind in each of Spark's clients; its words may say more
            raise ParameterError(f"table={plain(table)}: Spark finds no such table") from None
    # Views that end with the session are in no catalog.
    return ".".join([found.catalog or "", *(found.namespace or ()), found.name]).casefold()


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


def _in_postgres(connection: Any, table: str) -> Place:
    """A table as its server knows it, by whatever address, user or words it was found."""
    import psycopg

    schema, name = split_name(table)
    where = "n.nspname = current_schema() AND pg_catalog.pg_table_is_visible(c.oid)"
    with_schema = "n.nspname = %(schema)s::text"
    named = (
        "SELECT c.oid::int8, '/' || current_database() || '#' || n.nspname || '.' || c.relname "
        "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE "
    )
    wanted = f"{named} c.relname = %(name)s::text AND {where if schema is None else with_schema}"
    reads: dict[int, list[int]] = {}
    try:
        # As text, since the server cuts names that are too long.
        found = connection.execute(wanted, {"name": name, "schema": schema}).fetchone()
        if found is None:
            raise ParameterError(f"table={plain(table)}: expected 'table' or 'schema.table' as the server spells them")
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
    return Place(starts, found[1], frozenset(end for _, end in sharing), is_on_server=True)
