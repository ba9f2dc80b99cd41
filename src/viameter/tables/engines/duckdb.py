"""DuckDB: files and frames, read within this process, as views of what stays where it is; text files are read once."""

from __future__ import annotations

import re
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import has_magic
from pathlib import Path
from typing import Any, Final

from viameter.errors import ParameterError, SourceUnavailable
from viameter.tables.engines import readings, spills
from viameter.tables.engines.compiled import written_sql
from viameter.tables.engines.csv_files import read_csv
from viameter.tables.engines.digests import builtin
from viameter.tables.engines.duckdb_files import DatabaseFile, views_of
from viameter.tables.engines.engine import Engine, Job
from viameter.tables.engines.errors import UnreadableData
from viameter.tables.engines.imports import import_ibis, import_optional, is_of
from viameter.tables.engines.names import fresh_name, is_path, refuse_table, require_different, split_name
from viameter.tables.engines.places import Place, sharing_rows
from viameter.tables.engines.readings import AS_IT_IS, LONG, SHORT, Reading, moment, reading_of, written_name
from viameter.tables.engines.table import EngineTable, as_its_own
from viameter.tables.engines.turns import turn_of

MOST_PREPARED = 256
"""How many queries are kept planned for one backend."""
DATABASE_SUFFIXES = (".duckdb", ".ddb", ".db")
FIXED: Final[dict[str, tuple[str, str]]] = readings.plain(
    BOOLEAN="boolean", TINYINT="int8", SMALLINT="int16", INTEGER="int32", BIGINT="int64", UTINYINT="uint8",
    USMALLINT="uint16", UINTEGER="uint32", UBIGINT="uint64", FLOAT="float32", DOUBLE="float64",
)  # fmt: skip
"""Types of a fixed size, of which every pattern of bits is a value."""
_CAST, _IN_UTC = "CAST({} AS TIMESTAMP)", "timezone('UTC', {})"
TYPES: Final[dict[str, tuple[str, str]]] = {
    **FIXED,
    **readings.plain(VARCHAR="string", DATE="date", TIMESTAMP="timestamp(6)"),
    # What has no value at all; by another type it can be called by types=.
    '"NULL"': ("string", "CAST({0} AS VARCHAR)"),
    # By way of text: DuckDB's own cast of integers of 39 digits is not to the nearest float.
    "HUGEINT": ("float64", "CAST(CAST({0} AS VARCHAR) AS DOUBLE)"),
    "ENUM": ("string", "CAST({0} AS VARCHAR)"),
    "TIMESTAMP_S": ("timestamp(6)", moment("TIMESTAMP_S", LONG, _CAST)),
    "TIMESTAMP_MS": ("timestamp(6)", moment("TIMESTAMP_MS", LONG, _CAST)),
    "TIMESTAMP_NS": ("timestamp(6)", moment("TIMESTAMP_NS", SHORT, _CAST)),
    "TIMESTAMP WITH TIME ZONE": ("timestamp(6)", moment("TIMESTAMPTZ", LONG, _IN_UTC, "+00")),
    "TIMESTAMPTZ_NS": ("timestamp(6)", moment("TIMESTAMPTZ_NS", SHORT, _IN_UTC, "+00")),
}
"""Types of its catalog, but decimals."""


@dataclass(frozen=True, slots=True)
class File:
    """A file that is read anew for each query: where it is, and what it was like when it was opened."""

    path: str
    view: str
    """The name under which the engine reads it."""
    stamp: tuple[int, int, int]
    columns: tuple[tuple[str, str], ...]

    @classmethod
    def opened(cls, backend: Any, path: str, view: str) -> File:
        """A file as it is now."""
        return cls(path, view, _stamp(path), _columns(backend, view))

    def require(self, backend: Any) -> None:
        """Make sure that it has the columns that it had: other rows are read as they are."""
        try:
            can_be_read = _stamp(self.path) == self.stamp or _columns(backend, self.view) == self.columns
        except OSError as error:
            raise SourceUnavailable(
                f"a file is gone ({type(error).__name__}): put it back; nothing was spent"
            ) from None
        except Exception:  # of the engine: it is no such file any more
            can_be_read = False
        if not can_be_read:
            raise SourceUnavailable(
                "a file has changed, and cannot be read as it was opened: open it again; nothing was spent"
            )


class DuckDB(Engine):
    """The DuckDB of this process: one for each source that is opened, and those of somebody else's Ibis tables."""

    name = "duckdb"
    title = "DuckDB"
    opens = (
        "a path to .parquet, .csv or a DuckDB file (.duckdb, .ddb, .db), a pandas or Polars DataFrame, an Arrow table"
    )
    # Ibis 12 describes tables of DuckDB by a function that DuckDB 2 renamed.
    noise = (("fetch_arrow_table\\(\\) is deprecated", DeprecationWarning),)
    # A small table costs nothing, and a long text is slow to make.
    most_keys_in_text = 100

    def open(self, source: Any, *, table: str | None, beside: EngineTable | None) -> EngineTable | None:
        """A path, a pattern of paths or a frame."""
        if is_of(source, "pandas polars pyarrow", "DataFrame", "LazyFrame", "Table"):
            refuse_table(table, type(source).__name__)
            return self._frame(source, self._backend(beside))
        if not isinstance(source, str) or not is_path(source):
            return None
        suffix = Path(source.removesuffix("/")).suffix.lower()
        if suffix in DATABASE_SUFFIXES:
            return self._database(source, table, None if beside is None else self._backend(beside))
        is_folder = Path(source).is_dir()
        if suffix not in (".csv", ".parquet") and not is_folder:
            return None
        refuse_table(table, suffix or "folder")
        backend = self._backend(beside)
        return self._csv(source, backend) if suffix == ".csv" else self._parquet(source, is_folder, backend)

    def _backend(self, beside: EngineTable | None) -> Any:
        if beside is None:
            return self.connect()
        if beside.engine is not self:
            raise ParameterError(
                f"files and frames are read by DuckDB, but the table beside is in {beside.engine.title}: load this one "
                "there first, and open it by its name"
            )
        return beside.backend

    def connect(self) -> Any:
        """A DuckDB of this process, without a file.

        What does not fit into memory is spilled into a folder that no other DuckDB uses, and that goes with this one:
        by itself it would spill into one folder for all, `.tmp`, and let any of them read there. Without a place for
        temporary files (`TMPDIR`), nothing is spilled.
        """
        duckdb = import_optional("duckdb", extra="query", wanted_for="files and frames")
        backend = as_its_own(import_ibis().duckdb.connect(":memory:"))
        # It keeps account of a query's progress only if it would draw it, which it is then told not to do. In a
        # notebook it draws with ipywidgets and refuses where they are missing: then progress is told in seconds alone.
        with suppress(duckdb.Error):
            backend.con.execute("SET enable_progress_bar = true")
            backend.con.execute("SET enable_progress_bar_print = false")
        backend.con.execute("SET temp_directory = '{}'".format(spills.folder_for(backend).replace("'", "''")))
        return backend

    def _database(self, path: str, table: str | None, backend: Any) -> EngineTable:
        """A table of a database file, opened for reading alone; beside another DuckDB, a copy of it there."""
        file = DatabaseFile.attached(path, backend) if backend is not None and is_closed(backend) else None
        file = DatabaseFile.opened(path, self.connect) if file is None else file
        opened = file.table(table, self.readings)
        if backend is None or file.backend is backend:
            return opened
        return self._brought(readings.readable(opened), backend)

    def _parquet(self, path: str, is_folder: bool, backend: Any) -> EngineTable:
        """A Parquet file, a glob of them, or a folder of them: the files' own description is read, and no row."""
        if is_folder:
            path = str(Path(path) / "**" / "*.parquet")
        if "://" not in path:
            _files(path)
        if is_closed(backend):
            return self._brought(self._scanned(self._reading(path, self.connect())), backend)
        table = self._scanned(self._reading(path, backend))
        is_one = "://" not in path and not has_magic(path)
        return replace(table, files=(File.opened(backend, path, table.expression.op().name),)) if is_one else table

    def _reading(self, path: str, backend: Any) -> EngineTable:
        duckdb = import_optional("duckdb", extra="query", wanted_for="files")
        with self.quiet():
            try:
                return EngineTable(backend.read_parquet(path, table_name=fresh_name("file")), backend)
            except duckdb.Error as error:
                raise ParameterError(f"{path!r} cannot be read as parquet ({type(error).__name__})") from None

    def _csv(self, path: str, backend: Any) -> EngineTable:
        """A CSV file, or a pattern of them with the same names: read now, once, into the memory of the engine.

        All columns are text: to guess their types would make these a fact about rows.
        """
        files, name = _files(path), fresh_name("file")

        def load() -> None:
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
                        _put(backend, f'INSERT INTO "{name}"', rows)
                except OSError as error:
                    raise ParameterError(f"{str(file)!r} cannot be read as csv ({type(error).__name__})") from None

        return self._made(name, backend, load)

    def _frame(self, frame: Any, backend: Any) -> EngineTable:
        """A frame of pandas, Polars or Arrow, which is read in place; columns of objects are text."""
        name = fresh_name("frame")
        require_different(_names_of(frame), where=type(frame).__name__)
        with self.quiet():
            try:
                # To look at rows for what objects of pandas are would make the types a fact about rows.
                backend.con.execute("SET pandas_analyze_sample = 0")
                backend.con.register(name, frame)
                expression = backend.table(name)
            except Exception:
                kind = f"{type(frame).__module__.partition('.')[0]} {type(frame).__name__}"
                raise ParameterError(
                    f"DuckDB cannot read this {kind}: does a column hold values of several types, or of a type of its "
                    "own? (What the engine said may show rows, and is not shown.)"
                ) from None
        return self._scanned(EngineTable(expression, backend, keeps=(frame,)))

    def _scanned(self, table: EngineTable) -> EngineTable:
        """The table, if all values of a file or a frame can be read: DuckDB fails on some while it reads.

        These are text that is not UTF-8, text of pandas with lone surrogates, and moments that leave 64 bits when they
        are counted in microseconds. They are looked for when the table is opened, by whoever opens it: as long as the
        file does not change, no question fails on them.
        """
        name = table.expression.op().name
        for column, kind in _columns(table.backend, name):
            if kind in FIXED or kind not in TYPES:
                continue
            quoted = '"{}"'.format(column.replace('"', '""'))
            read = f"decode(encode({quoted}))" if kind == "VARCHAR" else quoted
            try:
                table.backend.con.execute(f'SELECT bit_xor(hash({read})) FROM "{name}"').fetchall()
            except Exception as error:
                raise UnreadableData(
                    f"the column {column!r} ({kind}) has values that cannot be read ({type(error).__name__}): text "
                    "that is not UTF-8, or moments out of range; mend the data, or leave the column out"
                ) from None
        return table

    def _made(self, name: str, backend: Any, make: Callable[[], None]) -> EngineTable:
        """A table that is made in the memory of the engine, and dropped when nobody uses it any more."""

        def drop() -> None:
            backend.con.execute(f'DROP TABLE IF EXISTS "{name}"')

        try:
            make()
            with self.quiet():
                expression = backend.table(name)
        except BaseException:
            drop()
            raise
        weakref.finalize(expression.op(), turn_of(backend).to_drop.append, drop).atexit = False
        return EngineTable(expression, backend, keeps=(expression.op(),))

    def copied(self, table: EngineTable) -> EngineTable:
        """The rows of a table as they are now, in the memory of its DuckDB."""
        name, backend = fresh_name("copy"), table.backend
        self._copy(table, backend, name)
        with self.quiet():
            return EngineTable(backend.table(name), backend)

    def _brought(self, table: EngineTable, backend: Any) -> EngineTable:
        """A copy of a table of another DuckDB in the memory of this one: neither reaches what the other one reads."""
        name = fresh_name("copy")
        return replace(self._made(name, backend, lambda: self._copy(table, backend, name)), unusable=table.unusable)

    def _copy(self, table: EngineTable, backend: Any, name: str) -> None:
        query, failed = written_sql(table.backend, table.expression), ""
        with self.quiet():
            try:
                if backend is table.backend:
                    backend.con.execute(f'CREATE TABLE "{name}" AS {query}')
                else:
                    relation = table.backend.con.sql(query)  # which stays as long as rows are read from it
                    _put(backend, f'CREATE TABLE "{name}" AS', relation.to_arrow_reader())
            except Exception as error:
                failed = type(error).__name__
        if failed:  # what the engine said may show rows
            raise ParameterError(
                f"DuckDB cannot copy these rows into its memory ({failed}); leave cached out, or open them alone"
            )

    def require_known(self, backend: Any) -> None:
        """Refuse a DuckDB that takes different texts for equal everywhere: limits would be kept of other groups."""
        ((collation,),) = backend.con.execute("SELECT current_setting('default_collation')").fetchall()
        if collation:
            raise ParameterError(
                f"this DuckDB compares texts by default_collation={collation!r}, so that different texts are equal; "
                "RESET default_collation first"
            )

    def readings(self, backend: Any, node: Any) -> dict[str, Reading | None]:
        """How each column of a table is read; the table must be there."""
        decimal = import_ibis().expr.datatypes.Decimal
        question = f"DESCRIBE {written_name(backend, node.name, node.namespace)}"
        found: dict[str, Reading | None] = {}
        for column, kind, null, *_ in backend.con.execute(question).fetchall():
            sizes = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", kind)
            if sizes is not None:
                found[column] = Reading(decimal(*map(int, sizes.groups()), nullable=null == "YES"), AS_IT_IS)
            else:
                found[column] = reading_of(TYPES, "ENUM" if kind.startswith("ENUM(") else kind, nullable=null == "YES")
        return found

    def bring(self, backend: Any, name: str, rows: Any) -> Callable[[], None]:
        """Read an Arrow table in place."""
        backend.con.register(name, rows)
        return lambda: backend.con.unregister(name)

    def limit_memory(self, backend: Any, size: int) -> bool:
        """What takes more is spilled."""
        backend.con.execute(f"SET memory_limit = '{size}B'")
        return True

    def place(self, backend: Any, source: Any, table: str) -> Place:
        """A table of a database file, which DuckDB knows in capitals or without, and by its schema or without."""
        schema, name = split_name(table)
        own = f"{schema or 'main'}.{name}".casefold()
        reads = views_of(backend, source)
        return Place((source,), f"#{own}", frozenset(f"#{other}" for other in sharing_rows(own, reads) - {own}))

    def fetch(self, job: Job) -> list[Any]:
        """Run it on the backend's connection, which knows the registered frames."""
        self.require_known(job.backend)
        rows: list[Any] = job.backend.con.execute(self.prepared(job) or job.statement.sql).fetchall()
        return rows

    def prepared(self, job: Job) -> str:
        """The query as one that was planned before, if it is asked again; to plan takes longer than to run.

        The turn of the backend is held: nobody else prepares or runs.
        """
        template, turn, execute = job.statement.template, turn_of(job.backend), job.backend.con.execute
        if not template:
            return ""
        name = turn.prepared.pop(template, None)
        if template not in turn.asked_once and name is None:
            turn.asked_once[template] = True
            _forget_oldest(turn.asked_once)
            return ""
        if name is None:
            name = fresh_name("prepared")
            execute(f"PREPARE {name} AS {template}")
        turn.prepared[template] = name
        for old in _forget_oldest(turn.prepared):
            execute(f"DEALLOCATE {old}")
        return f"EXECUTE {name}({job.statement.salt})"

    def cancel(self, job: Job) -> None:
        """Interrupt the connection."""
        job.backend.con.interrupt()

    def share(self, job: Job) -> float | None:
        """What it says of its progress."""
        percent = job.backend.con.query_progress()
        return percent / 100 if percent >= 0 else None

    def require_reachable(self, backend: Any, tables: Sequence[EngineTable]) -> None:
        """Make sure that files are there, with the same columns."""
        for file in dict.fromkeys(file for table in tables for file in table.files):
            file.require(backend)

    def native_digest(self, parts: tuple[Any, ...], salt: str) -> Any:
        """Hashes of parts are combined by exclusive or: hashed once more, so that the salt does not only flip bits."""
        first = import_ibis().literal(int(salt), type="int64")
        inner = builtin("hash", (first.type(), *(part.type() for part in parts)), "uint64")(first, *parts)
        return builtin("hash", (inner.type(),), "uint64")(inner)

    def plain_text(self, column: Any) -> Any:
        """Text by way of bytes, since a cast keeps a collation."""
        return builtin("decode", ("binary",), "string")(builtin("encode", ("string",), "binary")(column))


def is_closed(backend: Any) -> bool:
    """Whether a DuckDB can reach no file but those that it knows."""
    ((is_open,),) = backend.con.execute("SELECT current_setting('enable_external_access')").fetchall()
    return not is_open


def _stamp(path: str) -> tuple[int, int, int]:
    """What tells that a file was changed."""
    found = Path(path).stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _columns(backend: Any, view: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, kind) for name, kind, *_ in backend.con.execute(f'DESCRIBE "{view}"').fetchall())


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


def _make(backend: Any, name: str, names: list[str]) -> None:
    """Make a table of columns of text."""
    import sqlglot as sg

    columns = ", ".join(f"{sg.to_identifier(column, quoted=True).sql('duckdb')} VARCHAR" for column in names)
    duckdb = import_optional("duckdb", extra="query", wanted_for="files")
    try:
        backend.con.execute(f'CREATE TABLE "{name}" ({columns})')
    except duckdb.Error as error:
        raise ParameterError(
            f"DuckDB cannot make a table of these names ({type(error).__name__}): {', '.join(names)}"
        ) from None


def _put(backend: Any, where: str, rows: Any) -> None:
    """Put an Arrow table, or a reader of one, where a statement says."""
    part = fresh_name("part")
    backend.con.register(part, rows)
    try:
        backend.con.execute(f'{where} SELECT * FROM "{part}"')
    finally:
        backend.con.unregister(part)


def _names_of(frame: Any) -> list[str]:
    if hasattr(frame, "column_names"):
        return list(frame.column_names)
    return [str(name) for name in (frame.collect_schema() if hasattr(frame, "collect_schema") else frame.columns)]


def _forget_oldest(kept: OrderedDict[str, Any]) -> list[Any]:
    """Let go of what was used longest ago, where there is too much; what that was."""
    return [kept.popitem(last=False)[1] for _ in range(len(kept) - MOST_PREPARED)]
