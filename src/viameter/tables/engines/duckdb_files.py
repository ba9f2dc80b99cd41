"""Database files of DuckDB: their tables and views, opened by an engine that reaches no other file."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from viameter.errors import ParameterError
from viameter.tables.engines.imports import import_optional
from viameter.tables.engines.names import fresh_name, split_name
from viameter.tables.engines.readings import native_table, written_name
from viameter.tables.engines.table import EngineTable


@dataclass(frozen=True, slots=True)
class DatabaseFile:
    """A database file in a DuckDB that reads it and no other file.

    What is in the file was written by somebody: a view or a macro of it could read any file of this machine. So it is
    opened by a DuckDB of its own that can reach no other file, and views of the file's own tables are all that work.
    """

    path: str
    backend: Any
    catalog: str
    """The name under which the backend knows the file."""

    @classmethod
    def attached(cls, path: str, backend: Any) -> Self | None:
        """The file in a backend that may know it already."""
        catalog = _attached_as(backend, path) if Path(path).is_file() else ""
        return cls(path, backend, catalog) if catalog else None

    @classmethod
    def opened(cls, path: str, connect: Callable[[], Any]) -> Self:
        """The file in a DuckDB that can reach no other one, nor an extension."""
        if not Path(path).is_file():
            raise ParameterError(f"there is no file {path!r}")
        duckdb = import_optional("duckdb", extra="query", wanted_for="DuckDB databases")
        backend, quoted = connect(), path.replace("'", "''")
        try:
            # The type is named: else what looks like another kind of database is opened by an extension.
            attach = f"ATTACH '{quoted}' {{}} (TYPE duckdb, READ_ONLY)"
            # By the name of the file, which views may use, unless DuckDB has a database or a schema of that name.
            taken = "SELECT database_name FROM duckdb_databases() UNION SELECT schema_name FROM duckdb_schemas()"
            is_taken = Path(path).stem.casefold() in {name for (name,) in backend.con.execute(taken).fetchall()}
            backend.con.execute(attach.format(f"AS {fresh_name('database')}" if is_taken else ""))
            # From now on; it cannot be taken back, and what does not fit into memory still spills.
            backend.con.execute("SET enable_external_access = false")
        except duckdb.Error as error:
            raise ParameterError(
                f"{path!r} cannot be opened as a DuckDB database ({type(error).__name__}): is it one, and is no other "
                "process writing to it?"
            ) from None
        return cls(path, backend, _attached_as(backend, path))

    def table(self, table: str | None, readings: Callable[[Any, Any], dict[str, Any]]) -> EngineTable:
        """A table or view of the file, opened for reading alone."""
        import duckdb
        import ibis.expr.operations as ops

        if table is None:
            raise ParameterError(f"{self.path!r} is a database: say which table by table=...; {self._listed()}")
        schema, name = split_name(table)
        space = ops.Namespace(catalog=self.catalog, database=schema or "main")
        execute, node = self.backend.con.execute, native_table(self.backend, name, space, {}).op()
        try:
            columns = readings(self.backend, node)
            probe = f"SELECT * FROM {written_name(self.backend, name, space)} LIMIT"
            execute(f"{probe} 0").fetchall()
            _refuse_other_files(self.backend, f"{probe} 1")
        except duckdb.CatalogException:
            raise ParameterError(f"{self.path!r} has no table {table!r}; {self._listed()}") from None
        except duckdb.PermissionException:
            raise ParameterError(
                f"{table!r} of {self.path!r} is a view that reads other files, which a database file that is opened "
                "cannot do: open these files themselves, or load them into tables of the database"
            ) from None
        except duckdb.Error as error:
            raise ParameterError(
                f"{table!r} of {self.path!r} cannot be read ({type(error).__name__}): is it a view?"
            ) from None
        return EngineTable(native_table(self.backend, name, space, columns), self.backend)

    def _listed(self) -> str:
        # Not by Ibis, whose way of listing tables DuckDB 2 does not know any more.
        question = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = ?"
        found = self.backend.con.execute(question, [self.catalog]).fetchall()
        names = [name if schema == "main" else f"{schema}.{name}" for schema, name in found]
        return f"it has: {', '.join(sorted(names))}" if names else "it has none"


def _refuse_other_files(backend: Any, query: str) -> None:
    """Begin to read: some functions look for their files only then. That single rows cannot be read is no concern."""
    import duckdb

    try:
        backend.con.execute(query).fetchall()
    except duckdb.PermissionException:
        raise
    except duckdb.Error:
        return


def _attached_as(backend: Any, path: str) -> str:
    """The name under which a DuckDB knows a file; empty if it does not."""
    for name, known in backend.con.execute("SELECT database_name, path FROM duckdb_databases()").fetchall():
        if known and Path(known).exists() and Path(known).samefile(path):
            return str(name)
    return ""


def views_of(backend: Any, path: str) -> dict[str, set[str]]:
    """What the views of a database file read directly: each as schema.name in small letters.

    DuckDB keeps no account of it, so their text is read, and where that does not tell, more is named than is read:
    tables of the same name in other schemas; and all, where functions or macros may read anything.
    """
    from sqlglot.expressions import Func, GenerateSeries

    catalog = _attached_as(backend, path)

    def listed(question: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = backend.con.execute(question, [catalog]).fetchall()
        return found

    views = listed("SELECT schema_name, view_name, sql FROM duckdb_views() WHERE database_name = ? AND NOT internal")
    tables = listed("SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ?")
    macros = listed("SELECT 1 FROM duckdb_functions() WHERE database_name = ? AND NOT internal")
    every = {f"{schema}.{name}".casefold(): name.casefold() for schema, name, *_ in (*views, *tables)}
    reads: dict[str, set[str]] = {}
    for schema, view, sql in views:
        parts = _tables_in(sql)
        names = {part.name.casefold() for part in parts}
        functions = [part.this for part in parts if isinstance(part.this, Func)]
        is_told = parts and not macros and all(isinstance(one, GenerateSeries) for one in functions)
        own = f"{schema}.{view}".casefold()
        reads[own] = {one for one, name in every.items() if not is_told or name in names} - {own}
    return reads


def _tables_in(sql: str) -> list[Any]:
    """The tables in the text of a view, its own name too; none if the text is not understood."""
    import sqlglot as sg

    log = logging.getLogger("sqlglot")
    was_disabled, log.disabled = log.disabled, True  # it logs what it does not understand, with all that is in it
    try:
        return [part for one in sg.parse(sql, read="duckdb") if one for part in one.find_all(sg.expressions.Table)]
    except sg.errors.SqlglotError:
        return []
    finally:
        log.disabled = was_disabled
