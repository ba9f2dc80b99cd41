"""Open files, frames and databases in DuckDB: as views of what stays where it is."""

from __future__ import annotations

import csv
from contextlib import suppress
from glob import has_magic
from pathlib import Path
from typing import Any

from viameter.errors import ParameterError
from viameter.query.engines.capabilities import DUCKDB
from viameter.query.engines.compiled import written_sql
from viameter.query.engines.imports import import_ibis, import_optional, table_not_found
from viameter.query.engines.names import fresh_name, split_name
from viameter.query.engines.quiet import without_warnings_of_engines
from viameter.query.engines.table import EngineTable, as_its_own

LONGEST_HEADER = 2**20
DATABASE_SUFFIXES = (".duckdb", ".ddb", ".db")


def memory_backend() -> Any:
    """A DuckDB of this process, without a file."""
    import_optional("duckdb", extra="query", wanted_for="files and frames")
    return _telling_progress(as_its_own(import_ibis().duckdb.connect(":memory:")))


def _telling_progress(backend: Any) -> Any:
    """DuckDB keeps account of a query's progress only if it would draw it, which it is then told not to do.

    In a notebook it draws with ipywidgets and refuses where they are missing: then progress is told in seconds alone.
    """
    import duckdb

    with suppress(duckdb.Error):
        backend.con.execute("SET enable_progress_bar = true")
        backend.con.execute("SET enable_progress_bar_print = false")
    return backend


def open_parquet(path: str, backend: Any) -> EngineTable:
    """A Parquet file, a glob of them, or a folder of them: the files' own description is read, and no row."""
    if Path(path).is_dir():
        path = str(Path(path) / "**" / "*.parquet")
    _demand_files(path)
    return _reading(path, "read_parquet", backend, {})


def open_csv(path: str, backend: Any) -> EngineTable:
    """A CSV file with commas and a header line. All columns are text: to guess their types would be to read rows.

    A row with another number of values is left out; to refuse it instead would be an error that depends on rows.
    """
    _demand_files(path)
    columns = dict.fromkeys(_header(path), "VARCHAR")
    fixed = {"auto_detect": False, "header": True, "delim": ",", "quote": '"', "escape": '"', "ignore_errors": True}
    return _reading(path, "read_csv", backend, {"columns": columns, **fixed})


def _header(path: str) -> list[str]:
    """The names in the first line of a file, or of the first file that a pattern matches."""
    if has_magic(path):
        folder = Path(path).anchor or "."
        path = str(min(Path(folder).glob(str(Path(path).relative_to(Path(path).anchor)))))
    try:
        with Path(path).open("rb") as file:
            # No more than the first line is decoded: what stands in rows decides nothing here.
            names = next(csv.reader([_first_line(file.read(LONGEST_HEADER)).decode("utf-8-sig")]), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ParameterError(f"{path!r} cannot be read as csv ({type(error).__name__})") from None
    if not names or len(set(names)) != len(names) or not all(names):
        raise ParameterError(f"{path!r} has no header: expected a first line of different names, with commas between")
    return names


def _first_line(start: bytes) -> bytes:
    """The bytes up to the first end of a line that is not within quotes."""
    is_quoted = False
    for place, byte in enumerate(start):
        if byte == ord('"'):
            is_quoted = not is_quoted
        elif byte in b"\r\n" and not is_quoted:
            return start[:place]
    return start


def open_frame(frame: Any, backend: Any) -> EngineTable:
    """A frame of pandas, Polars or Arrow, which DuckDB reads in place; columns of objects are text."""
    name = fresh_name("frame")
    with without_warnings_of_engines():
        try:
            # To look at rows for what objects of pandas are would make the types a fact about rows.
            backend.con.execute("SET pandas_analyze_sample = 0")
            backend.con.register(name, frame)
            expression = backend.table(name)
        except Exception:
            raise ParameterError(
                f"DuckDB cannot read this {type(frame).__module__.partition('.')[0]} {type(frame).__name__}: does a "
                "column hold values of several types, or of a type of its own? (What the engine said may show rows, "
                "and is not shown.)"
            ) from None
    return EngineTable(expression, backend, keeps=(frame,))


def copied(table: EngineTable) -> EngineTable:
    """The rows of a table as they are now, copied into the memory of its DuckDB: files need not be read each time."""
    if table.engine != DUCKDB:
        raise ParameterError(f"cached: rows in {table.engine} are where they are; files and frames can be cached")
    name, backend = fresh_name("copy"), table.backend
    with without_warnings_of_engines():
        try:
            backend.con.execute(f'CREATE TABLE "{name}" AS {written_sql(backend, table.expression, pretty=False)}')
            return EngineTable(backend.table(name), backend)
        except Exception as error:
            failed = type(error).__name__
    # What the engine said may show rows.
    raise ParameterError(f"cached: DuckDB cannot copy these rows into its memory ({failed}); leave cached out")


def open_database(path: str, *, table: str | None, backend: Any = None) -> EngineTable:
    """A table of a DuckDB database file, which is opened for reading alone; on a backend, if one is given."""
    if not Path(path).is_file():
        raise ParameterError(f"there is no file {path!r}")
    duckdb = import_optional("duckdb", extra="query", wanted_for="DuckDB databases")
    try:
        if backend is None:
            backend = _telling_progress(as_its_own(import_ibis().duckdb.connect(path, read_only=True)))
        catalog = _attached(backend, path)
    except duckdb.Error as error:
        raise ParameterError(
            f"{path!r} cannot be opened as a DuckDB database ({type(error).__name__}): is it one, and is no other "
            "process writing to it?"
        ) from None
    names = _names(backend, catalog)
    if table is None:
        raise ParameterError(f"{path!r} is a database: say which table by table=...; {_listed(names)}")
    schema, name = split_name(table)
    with without_warnings_of_engines():
        try:
            return EngineTable(backend.table(name, database=(catalog, schema or "main")), backend)
        except table_not_found():
            raise ParameterError(f"{path!r} has no table {table!r}; {_listed(names)}") from None


def _attached(backend: Any, path: str) -> str:
    """The name under which the backend knows the file; it is told of the file if it did not know it."""
    for name, known in backend.con.execute("SELECT database_name, path FROM duckdb_databases()").fetchall():
        if known and Path(known).exists() and Path(known).samefile(path):
            return str(name)
    name = fresh_name("database")
    quoted = path.replace("'", "''")
    backend.con.execute(f"ATTACH '{quoted}' AS {name} (READ_ONLY)")
    return name


def _names(backend: Any, catalog: str) -> list[str]:
    # Not by Ibis, whose way of listing tables DuckDB 2 does not know any more.
    question = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = ?"
    found = backend.con.execute(question, [catalog]).fetchall()
    return [name if schema == "main" else f"{schema}.{name}" for schema, name in found]


def _listed(names: list[str]) -> str:
    return f"it has: {', '.join(sorted(names))}" if names else "it has none"


def _demand_files(path: str) -> None:
    if "://" in path:
        return
    if has_magic(path):
        folder = Path(path).anchor or "."
        if not any(Path(folder).glob(str(Path(path).relative_to(Path(path).anchor)))):
            raise ParameterError(f"no file matches {path!r}")
    elif not Path(path).is_file():
        raise ParameterError(f"there is no file {path!r}")


def _reading(path: str, reader: str, backend: Any, options: dict[str, Any]) -> EngineTable:
    duckdb = import_optional("duckdb", extra="query", wanted_for="files")
    with without_warnings_of_engines():
        try:
            return EngineTable(getattr(backend, reader)(path, table_name=fresh_name("file"), **options), backend)
        except duckdb.Error as error:
            kind = reader.removeprefix("read_")
            raise ParameterError(f"{path!r} cannot be read as {kind} ({type(error).__name__})") from None
