"""Open files and frames in DuckDB: as views of what stays where it is; text files are read once."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.engines import spills
from viameter.tables.engines.capabilities import DUCKDB
from viameter.tables.engines.compiled import written_sql
from viameter.tables.engines.csv_files import read_csv
from viameter.tables.engines.errors import UnreadableData
from viameter.tables.engines.imports import import_ibis, import_optional
from viameter.tables.engines.names import fresh_name, require_different
from viameter.tables.engines.native_types import DUCKDB_TYPES
from viameter.tables.engines.quiet import without_warnings_of_engines
from viameter.tables.engines.table import EngineTable, File, as_its_own
from viameter.tables.engines.turns import turn_of


def memory_backend() -> Any:
    """A DuckDB of this process, without a file."""
    import_optional("duckdb", extra="query", wanted_for="files and frames")
    return _with_own_spills(_telling_progress(as_its_own(import_ibis().duckdb.connect(":memory:"))))


def _with_own_spills(backend: Any) -> Any:
    """What does not fit into memory is spilled into a folder that no other DuckDB uses, and that goes with this one.

    By itself DuckDB spills into one folder for all, `.tmp`, and lets any of them read there. Without a place for
    temporary files (`TMPDIR`), nothing is spilled.
    """
    backend.con.execute("SET temp_directory = '{}'".format(spills.folder_for(backend).replace("'", "''")))
    return backend


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
    if "://" not in path:
        _files(path)
    if is_closed(backend):
        return brought(_scanned(_reading(path, memory_backend())), backend)
    table = _scanned(_reading(path, backend))
    is_one = "://" not in path and not has_magic(path)
    return replace(table, files=(File.opened(backend, path, table.expression.op().name),)) if is_one else table


def open_csv(path: str, backend: Any) -> EngineTable:
    """A CSV file, or a pattern of them with the same names: read now, once, into the memory of the engine.

    All columns are text: to guess their types would make these a fact about rows.
    """
    files, name = _files(path), fresh_name("file")
    return _made(name, backend, lambda: _load(backend, name, files))


def _made(name: str, backend: Any, make: Callable[[], None]) -> EngineTable:
    """A table that is made in the memory of the engine, and dropped when nobody uses it any more."""

    def drop() -> None:
        backend.con.execute(f'DROP TABLE IF EXISTS "{name}"')

    try:
        make()
        with without_warnings_of_engines():
            expression = backend.table(name)
    except BaseException:
        drop()
        raise
    weakref.finalize(expression.op(), turn_of(backend).to_drop.append, drop).atexit = False
    return EngineTable(expression, backend, keeps=(expression.op(),))


def _load(backend: Any, name: str, files: list[Path]) -> None:
    known: list[str] = []
    for file in files:
        try:
            names, tables = read_csv(file)
            if known and names != known:
                raise UnreadableData(f"{str(file)!r} has other names in its first line than {str(files[0])!r}")
            if not known:
                known = names
                _make(backend, name, names)
            for rows in tables:
                _insert(backend, name, rows)
        except OSError as error:
            raise ParameterError(f"{str(file)!r} cannot be read as csv ({type(error).__name__})") from None


def _make(backend: Any, name: str, names: list[str]) -> None:
    import sqlglot as sg

    columns = ", ".join(f"{sg.to_identifier(column, quoted=True).sql('duckdb')} VARCHAR" for column in names)
    duckdb = import_optional("duckdb", extra="query", wanted_for="files")
    try:
        backend.con.execute(f'CREATE TABLE "{name}" ({columns})')
    except duckdb.Error as error:
        raise ParameterError(
            f"DuckDB cannot make a table of these names ({type(error).__name__}): {', '.join(names)}"
        ) from None


def _insert(backend: Any, name: str, rows: Any) -> None:
    part = fresh_name("part")
    backend.con.register(part, rows)
    try:
        backend.con.execute(f'INSERT INTO "{name}" SELECT * FROM "{part}"')
    finally:
        backend.con.unregister(part)


def open_frame(frame: Any, backend: Any) -> EngineTable:
    """A frame of pandas, Polars or Arrow, which DuckDB reads in place; columns of objects are text."""
    name = fresh_name("frame")
    require_different(_names_of(frame), where=type(frame).__name__)
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
    return _scanned(EngineTable(expression, backend, keeps=(frame,)))


def _names_of(frame: Any) -> list[str]:
    if hasattr(frame, "column_names"):
        return list(frame.column_names)
    return [str(name) for name in (frame.collect_schema() if hasattr(frame, "collect_schema") else frame.columns)]


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


def is_closed(backend: Any) -> bool:
    """Whether a DuckDB can reach no file but those that it knows."""
    ((is_open,),) = backend.con.execute("SELECT current_setting('enable_external_access')").fetchall()
    return not is_open


def brought(table: EngineTable, backend: Any) -> EngineTable:
    """A copy of a table of another DuckDB in the memory of this one: neither can reach what the other one reads."""
    name = fresh_name("copy")

    def load() -> None:
        failed = ""
        with without_warnings_of_engines():
            try:
                query = written_sql(table.backend, table.expression, pretty=False)
                relation = table.backend.con.sql(query)  # which stays as long as rows are read from it
                _make_of(backend, name, relation.to_arrow_reader())
            except Exception as error:
                failed = type(error).__name__
        if failed:  # what the engine said may show rows
            raise ParameterError(f"these rows cannot be copied to where the table beside them is ({failed})")

    made = _made(name, backend, load)
    return replace(made, unusable=table.unusable)


def _make_of(backend: Any, name: str, rows: Any) -> None:
    part = fresh_name("part")
    backend.con.register(part, rows)
    try:
        backend.con.execute(f'CREATE TABLE "{name}" AS SELECT * FROM "{part}"')
    finally:
        backend.con.unregister(part)


def _files(path: str) -> list[Path]:
    """The files of a path or a pattern, of which there is at least one."""
    if has_magic(path):
        folder = Path(path).anchor or "."
        found = sorted(Path(folder).glob(str(Path(path).relative_to(Path(path).anchor))))
        if not found:
            raise ParameterError(f"no file matches {path!r}")
        return found
    if not Path(path).is_file():
        raise ParameterError(f"there is no file {path!r}")
    return [Path(path)]


def _reading(path: str, backend: Any) -> EngineTable:
    duckdb = import_optional("duckdb", extra="query", wanted_for="files")
    with without_warnings_of_engines():
        try:
            return EngineTable(backend.read_parquet(path, table_name=fresh_name("file")), backend)
        except duckdb.Error as error:
            raise ParameterError(f"{path!r} cannot be read as parquet ({type(error).__name__})") from None


CANNOT_FAIL = ("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
               "FLOAT", "DOUBLE")  # fmt: skip
"""Types of a fixed size, of which every pattern of bits is a value."""


def _scanned(table: EngineTable) -> EngineTable:
    """The table, if all values of a file or a frame can be read: DuckDB fails on some while it reads.

    These are text that is not UTF-8, text of pandas with lone surrogates, and moments that leave 64 bits when they are
    counted in microseconds. They are looked for when the table is opened, by whoever opens it: as long as the file
    does not change, no question fails on them.
    """
    name = table.expression.op().name
    for column, kind, *_ in table.backend.con.execute(f'DESCRIBE "{name}"').fetchall():
        if kind in CANNOT_FAIL or kind not in DUCKDB_TYPES:
            continue
        quoted = '"{}"'.format(column.replace('"', '""'))
        read = f"decode(encode({quoted}))" if kind == "VARCHAR" else quoted
        try:
            table.backend.con.execute(f'SELECT bit_xor(hash({read})) FROM "{name}"').fetchall()
        except Exception as error:
            raise UnreadableData(
                f"the column {column!r} ({kind}) has values that cannot be read ({type(error).__name__}): text that is "
                "not UTF-8, or moments out of range; mend the data, or leave the column out"
            ) from None
    return table
