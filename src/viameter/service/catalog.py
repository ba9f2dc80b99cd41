"""Catalog: datasets that custodians registered, opened once, and asked by many people under one budget."""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from viameter.core import Loss
from viameter.errors import FormatError, ParameterError, UnknownScope, plain
from viameter.ledger import Ledger, Scope
from viameter.query.engines import DataWarning, UnreadableData, copied
from viameter.query.engines.names import split_name
from viameter.query.engines.quiet import without_warnings_of_engines
from viameter.query.rows import Rows
from viameter.service.config import NAME, Limits, Source, read_size
from viameter.service.state import SAME_ROWS, Registered, State
from viameter.session import Table
from viameter.session import open as open_table
from viameter.session.budget import check_budget
from viameter.session.durable import open_purse
from viameter.session.purse import Purse
from viameter.session.written import mapping
from viameter.session.written_values import read_loss, read_unit

DESCRIPTION = frozenset({"title", "description", "columns"})
"""What may be said anew of a dataset at any time; all else is settled when it is registered."""
SETTLED = frozenset({"source", "table", "unit", "types", "order"})
LONGEST = 10_000
COLUMN_KEYS = frozenset({"description", "values", "bounds"})
MOVED = (
    "the rows of the dataset {!r} are in another place than when it was registered, and its budget may not be theirs: "
    "put them back where they were; if these are the rows of others, register them as a new dataset"
)
UNREADABLE = "the rows of the dataset {!r} cannot be read any more: whoever registered it must look at them"
MAYBE_SAME = (
    "these rows may be those of {!r}: tables and databases have the same names, and a server does not say which one it "
    "is; let the users of both sources execute pg_control_system() before they are registered"
)
CERTAIN = "postgresql system "
"""How the place of rows begins whose server says which one it is."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A dataset that is open: its table, whose questions somebody else pays for, and what was said of it."""

    registered: Registered
    table: Table


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows are, in words that are the same for the same rows, under whatever name they are asked for."""

    text: str
    by_address: str | None = None
    """The words for it if the server did not say which one it is."""
    on_server: str = ""
    """The end of the words, which are the same on all servers."""

    @property
    def texts(self) -> tuple[str, ...]:
        """All words for it."""
        return (self.text,) if self.by_address is None else (self.text, self.by_address)


class Catalog:
    """All datasets of a service."""

    def __init__(self, state: State, ledger: Ledger, sources: Mapping[str, Source], limits: Limits) -> None:
        self._state, self._ledger, self._sources, self._limits = state, ledger, dict(sources), limits
        self._opened: dict[str, Opened] = {}
        self._asked: dict[tuple[str, str, bool], Table] = {}
        self._opening = threading.RLock()
        self._spark: dict[str, Any] = {}

    @property
    def sources(self) -> list[str]:
        """The names of the places whose tables can be registered."""
        return sorted(self._sources)

    def names(self) -> list[str]:
        """What datasets are called."""
        return [one.name for one in self._state.datasets()]

    def registered(self, name: str) -> Registered | None:
        """What was registered under a name."""
        return self._state.dataset(name)

    def register(self, name: str, document: Mapping[str, Any], *, by: str, why: str = "registered") -> Opened:
        """A new dataset with its budget. Rows are looked at: whether they can be read, and whether values are of the
        types that are said. What is said of it is for who registers them; later nobody is told of it. Values that are
        of another type are refused, unless strict is false: then they are read as NULL.

        The budget is a scope of the ledger of the same name. One that is there already is taken as it is, and with it
        what was spent of it.
        """
        if not isinstance(name, str) or not re.fullmatch(NAME, name):
            raise ParameterError(f"name={plain(name)}: a name has letters, digits, '_', '-' and '.', at most 64")
        unknown = sorted(set(document) - DESCRIPTION - SETTLED - {"budget", "strict"})
        if unknown:
            raise FormatError(f"dataset: unknown name {plain(unknown[0])}")
        budget = read_loss(document["budget"], "budget") if document.get("budget") is not None else None
        strict = document.get("strict", True)
        if not isinstance(strict, bool):
            raise FormatError(f"strict={plain(strict)}: expected true or false")
        once = ("budget", "strict")
        settled = {key: value for key, value in document.items() if key not in once and value is not None}
        _check_description(settled)
        with self._opening:
            source, table = self._source(settled)
            opened = self._open_rows(settled, source, table, strict=strict)
            check_columns(settled, opened)
            _require_limits(opened)
            known = self._scope(name)
            if known is None:
                if budget is None:
                    raise ParameterError("budget is missing: what may be spent on this dataset in all")
                check_budget(budget)
            elif budget is not None and budget != known.budget:
                raise ParameterError(
                    f"the ledger has a budget of {known.budget!r} for {name!r}: leave budget out to take it as it is"
                )
            if known is not None:
                self._purse(name, opened)  # refused, if what it is a budget of is something else
            place = self._place(settled, source, table, opened)
            self._refuse_same(name, source, table, place)
            # First the name, then the budget: a budget of nothing does no harm, rows without a name of their own may.
            unfinished = known is None and self._is_unfinished(name, settled, place)
            if not unfinished:
                self._state.add_dataset(name, settled, place=place.text, by=by)
            if known is None:
                assert budget is not None
                try:
                    self._ledger.define(name, budget, opened.session.space, by=by, why=why)
                except BaseException:
                    if not unfinished:
                        self._state.drop_dataset(name, by=by)
                    raise
            registered = self._state.dataset(name)
            assert registered is not None
            return self._keep(registered, opened)

    def describe(self, name: str, document: Mapping[str, Any], *, by: str) -> None:
        """Say something else of a dataset: its title, its description, what is public of its columns."""
        unknown = sorted(set(document) - DESCRIPTION)
        if unknown:
            raise FormatError(f"{plain(unknown[0])} is settled when a dataset is registered, and does not change")
        _check_description(document)
        opened = self.opened(name)
        check_columns(document, opened.table)
        said = {**opened.registered.document, **document}
        if "columns" in document:
            # Of columns that are not named now, what was said stays.
            said["columns"] = {**opened.registered.document.get("columns", {}), **document["columns"]}
        self._state.describe_dataset(name, said, by=by, changed=document)
        with self._opening:
            self._opened[name] = replace(opened, registered=replace(opened.registered, document=said))

    def opened(self, name: str) -> Opened:
        """A dataset, opened when it is first needed; ParameterError if there is none."""
        found = self._opened.get(name)
        if found is not None:
            return found
        with self._opening:
            if name in self._opened:
                return self._opened[name]
            registered = self._state.dataset(name)
            if registered is None:
                raise ParameterError(f"there is no dataset {plain(name)}")
            source, table = self._source(registered.document)
            try:
                rows = self._open_rows(registered.document, source, table, strict=False)
            except UnreadableData:
                raise ParameterError(UNREADABLE.format(name)) from None
            place = self._place(registered.document, source, table, rows)
            if registered.place not in place.texts:
                raise ParameterError(MOVED.format(name))
            self._refuse_same(name, source, table, place)
            return self._keep(registered, rows)

    def _keep(self, registered: Registered, rows: Table) -> Opened:
        """A dataset whose rows are open, from now on under its budget."""
        purse = self._purse(registered.name, rows)
        made = Opened(registered, Table(rows.session.under(purse), rows.relation))
        self._opened[registered.name] = made
        return made

    def asked_by(self, name: str, person: str) -> Table:
        """A dataset as somebody asks it: their own limit pays too, if they have one."""
        limited = self._has_scope(personal(name, person))
        found = self._asked.get((name, person, limited))
        if found is None:
            own = [personal(name, person)]
            # A limit that is set between this look and the charge is seen by the charge itself.
            paying = {"scopes": own} if limited else {"unless": own}
            made = self.opened(name).table.asked_by(person, deadline=self._limits.seconds, **paying)
            # Two threads may have made one: all use the same, and it stays.
            found = self._asked.setdefault((name, person, limited), made)
        return found

    def scope(self, name: str) -> Scope:
        """The budget of a dataset as it stands."""
        return self._ledger.scope(name)

    def personal_scopes(self, name: str) -> dict[str, Scope]:
        """The limits of single people for a dataset, by person."""
        start = personal(name, "")
        return {one.name.removeprefix(start): one for one in self._ledger.scopes() if one.name.startswith(start)}

    def set_budget(self, name: str, budget: Loss, *, by: str, why: str) -> Scope:
        """Another budget for a dataset, as an entry of the ledger that says why."""
        return self._ledger.set_budget(name, budget, by=by, why=why)

    def set_personal(self, name: str, person: str, budget: Loss, *, by: str, why: str) -> Scope:
        """What one person may spend of a dataset's budget; asked for again, another amount."""
        scope = personal(name, person)
        if self._scope(scope) is not None:
            return self._ledger.set_budget(scope, budget, by=by, why=why)
        if budget.measure != self.scope(name).measure:
            raise ParameterError(f"budget={budget!r}: the dataset is counted in {self.scope(name).measure!r}")
        return self._ledger.define(scope, budget, self.opened(name).table.session.space, by=by, why=why)

    def is_registered(self, name: str) -> bool:
        """Whether there is such a dataset; once there is, there always is."""
        return name in self._opened or self._state.dataset(name) is not None

    def has_budget(self, name: str) -> bool:
        """Whether there is such a dataset, with its budget; without one, it was cut off while it was registered."""
        return self._state.dataset(name) is not None and self._has_scope(name)

    def _is_unfinished(self, name: str, settled: Mapping[str, Any], place: Place) -> bool:
        """Whether these rows have the name already, and somebody was cut off before they were given a budget."""
        found = self._state.dataset(name)
        if found is None or any(found.document.get(word) != settled.get(word) for word in SETTLED):
            return False
        if found.place not in place.texts:
            raise ParameterError(MOVED.format(name))
        return True

    def _purse(self, name: str, rows: Table) -> Purse:
        session = rows.session
        return open_purse(
            self._ledger, session.source, session.space, None, dataset=name, scopes=(), by="service", deadline=None
        )

    def _scope(self, name: str) -> Scope | None:
        try:
            return self._ledger.scope(name)
        except UnknownScope:
            return None

    def _has_scope(self, name: str) -> bool:
        return self._ledger.has_scope(name)

    def _open_rows(self, document: Mapping[str, Any], source: Any, table: str | None, *, strict: bool) -> Table:
        """The rows of a dataset under a budget that nobody uses: what is spent is charged to the ledger."""
        from viameter.measures import pure

        options: dict[str, Any] = {"types": mapping(document["types"], "types")} if "types" in document else {}
        if "unit" not in document:
            raise ParameterError('unit is missing: whose presence is hidden, as in {"per": "patient", "rows": 5}')
        unit = read_unit(document["unit"])
        order = document.get("order", "native")
        options["strict"] = strict
        try:
            # Who registered the rows was told, and nobody else is.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                opened: Table = open_table(source, table=table, unit=unit, budget=pure(1), order=order, **options)
        except ParameterError as problem:
            # Where the folder is on this machine is nobody's business.
            folder = self._sources[document["source"]].folder
            hidden = "" if folder is None else f"{Path(folder).resolve()}{os.sep}"
            kind = UnreadableData if isinstance(problem, UnreadableData) else ParameterError
            raise kind(str(problem).replace(hidden, "") if hidden else str(problem)) from None
        rows = opened.session.source
        if not isinstance(rows, Rows) or rows.on.engine != "duckdb":
            return opened
        size = read_size(self._limits.memory, "memory")
        rows.on.backend.con.execute(f"SET memory_limit = '{size}B'")
        if not self._is_cached(source):
            return opened
        try:
            copy = copied(rows.on.with_expression(rows.expression.select(*rows.schema)))
            kept: Table = open_table(copy.expression, unit=unit, budget=pure(1), order=order)
        except ParameterError:
            return opened  # too large after all: whether it is kept in memory is nobody's to see
        return kept

    def _is_cached(self, source: Any) -> bool:
        """Whether a source is a file that is small enough to be kept in memory."""
        if not isinstance(source, str) or not source.lower().endswith((".csv", ".parquet")):
            return False
        path = Path(source)
        return path.is_file() and path.stat().st_size <= read_size(self._limits.cache, "cache")

    def _source(self, document: Mapping[str, Any]) -> tuple[Any, str | None]:
        """Where rows are: only in places that the configuration names, and not elsewhere by a clever name."""
        given, table = document.get("source"), document.get("table")
        if not isinstance(given, str) or given not in self._sources:
            known = ", ".join(self.sources) or "none"
            raise ParameterError(f"source={plain(given)} is no source of the configuration; there are: {known}")
        if not isinstance(table, str) or not table or len(table) > 300:
            raise ParameterError(f"table={plain(table)}: expected the name of a table, or of a file in the folder")
        source = self._sources[given]
        if source.folder is None and table.count(".") > (1 if source.url is not None else 2):
            # Ibis takes what is before a schema for a database, and reads from this one all the same.
            raise ParameterError(f"table={plain(table)}: expected 'table' or 'schema.table' as the server spells them")
        if source.url is not None:
            return source.url, table
        if source.spark is not None:
            session = self._spark_session(source)
            _in_spark(session, table)  # refused here: Ibis lets errors of Java through, with all that they say
            return session, table
        assert source.folder is not None
        file, _, inner = table.partition("#")
        if re.search(r"[*?\[\]\0]", file):
            raise ParameterError(f"table={plain(table)}: expected the name of one file")
        folder = Path(source.folder).resolve()
        path = (folder / file).resolve()
        if not path.is_relative_to(folder) or not os.path.isfile(path):  # noqa: PTH113, long names
            raise ParameterError(f"table={plain(table)}: there is no such file in the source {given!r}")
        return str(path), inner or None

    def _place(self, document: Mapping[str, Any], source: Any, table: str | None, opened: Table) -> Place:
        """Where rows are. What is opened and what is looked for here was found once: links may move in between."""
        if not isinstance(source, str):
            # In one process there is one session, whatever master or server others ask for.
            is_remote = str(self._sources[document["source"]].spark).startswith("sc://")
            server = f" {source.client.host}".casefold() if is_remote else ""
            return Place(f"spark{server}#{_in_spark(source, str(table))}")
        if not _is_file(source):
            return _in_postgres(opened.session.source.on.backend.con, str(table))  # type: ignore[union-attr]
        return Place(f"{source}#{_in_duckdb(table)}")

    def _refuse_same(self, name: str, source: Any, table: str | None, place: Place) -> None:
        """Refuse rows that others are by another name: a file by a hard link, a table of a server that is unknown."""
        for other in self._state.datasets():
            if other.name == name:
                continue
            if other.place in place.texts or (_is_file(source) and _is_linked(other, source, table)):
                raise ParameterError(SAME_ROWS.format(other.name))
            is_certain = place.text.startswith(CERTAIN) and other.place.startswith(CERTAIN)
            if place.on_server and other.place.endswith(place.on_server) and not is_certain:
                raise ParameterError(MAYBE_SAME.format(other.name))

    def _spark_session(self, source: Source) -> Any:
        if source.name not in self._spark:
            try:
                from pyspark.sql import SparkSession
            except ModuleNotFoundError:
                raise ParameterError("this source needs Spark: pip install 'viameter[spark]'") from None
            assert source.spark is not None
            builder = SparkSession.builder.appName("viameter")
            remote = source.spark.startswith("sc://")
            self._spark[source.name] = (
                builder.remote(source.spark) if remote else builder.master(source.spark)
            ).getOrCreate()
        return self._spark[source.name]


def _is_file(source: Any) -> bool:
    return isinstance(source, str) and "://" not in source


def _is_linked(other: Registered, source: str, table: str | None) -> bool:
    """Whether a dataset was registered from this file, by whatever path; other links are seen through."""
    end = f"#{_in_duckdb(table)}"
    if not Path(other.place).is_absolute() or not other.place.endswith(end):
        return False
    try:
        return Path(other.place.removesuffix(end)).samefile(source)
    except OSError:  # gone by now
        return False


def _in_spark(session: Any, table: str) -> str:
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


def _in_postgres(connection: Any, table: str) -> Place:
    """A table as its server knows it, by whatever address, user or words it was found."""
    import psycopg

    schema, name = split_name(table)
    where = "n.nspname = current_schema() AND pg_catalog.pg_table_is_visible(c.oid)"
    with_schema = "n.nspname = %(schema)s::text"
    wanted = (
        "SELECT current_database(), n.nspname, c.relname FROM pg_catalog.pg_class c "
        "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        f"WHERE c.relname = %(name)s::text AND {where if schema is None else with_schema}"
    )
    try:
        # As text, since the server cuts names that are too long.
        found = connection.execute(wanted, {"name": name, "schema": schema}).fetchone()
        number = _number_of(connection)
    except psycopg.Error as error:
        raise ParameterError(
            f"table={plain(table)}: the server does not say where it is ({type(error).__name__})"
        ) from None
    if found is None:
        raise ParameterError(f"table={plain(table)}: expected 'table' or 'schema.table' as the server spells them")
    on_server = f"/{found[0]}#{found[1]}.{found[2]}"
    by_address = f"postgresql {connection.info.host}:{connection.info.port}{on_server}"
    return Place(by_address if number is None else f"{CERTAIN}{number}{on_server}", by_address, on_server)


def _number_of(connection: Any) -> int | None:
    """The number that a server was given when it was made; None if this user may not see it."""
    import psycopg

    try:
        with connection.transaction():  # of its own: what is refused ends it, and the connection stays
            found = connection.execute("SELECT system_identifier FROM pg_catalog.pg_control_system()").fetchone()
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFunction):
        return None
    return None if found is None or found[0] is None else int(found[0])


def _in_duckdb(table: str | None) -> str:
    """A table of a DuckDB file, which knows it in capitals or without, and by its schema or without."""
    if table is None:
        return ""
    schema, name = split_name(table)
    return f"{schema or 'main'}.{name}".casefold()


def personal(name: str, person: str) -> str:
    """What the limit of a person for a dataset is called in the ledger; no dataset's name has such a sign."""
    return f"{name}@{person}"


def _require_limits(table: Table) -> None:
    """Refuse a unit of which any number of rows counts: hardly a question could be asked, and it stays so for good."""
    if table.unit.rows_without_limit is None and not table.unit.limits.is_limited:
        raise ParameterError(
            f"unit={table.unit!r}: say how much of one {table.unit.name} counts in a question, as in "
            '{"per": "patient", "rows": 5}'
        )


def _check_description(document: Mapping[str, Any]) -> None:
    for word in ("title", "description"):
        value = document.get(word, "")
        if not isinstance(value, str) or len(value) > LONGEST:
            raise FormatError(f"{word}: expected text of at most {LONGEST} characters")
    for column, said in mapping(document.get("columns", {}), "columns").items():
        known = mapping(said, f"columns.{column}")
        unknown = sorted(set(known) - COLUMN_KEYS)
        if unknown:
            raise FormatError(f"columns.{column}: unknown name {plain(unknown[0])}; known are {', '.join(COLUMN_KEYS)}")
        if not isinstance(known.get("description", ""), str) or len(known.get("description", "")) > LONGEST:
            raise FormatError(f"columns.{column}.description: expected text")
        values, bounds = known.get("values", []), known.get("bounds", [0, 0])
        if not isinstance(values, list) or len(values) > 1000 or not all(_is_plain(one) for one in values):
            raise FormatError(f"columns.{column}.values: expected a list of at most 1000 values that are public")
        if not isinstance(bounds, list) or len(bounds) != 2 or not all(_is_number(one) for one in bounds):
            raise FormatError(f"columns.{column}.bounds: expected two numbers that are public, as in [0, 240]")
        if bounds[0] > bounds[1]:
            raise FormatError(f"columns.{column}.bounds: the first is above the second; expected as in [0, 240]")


def check_columns(document: Mapping[str, Any], table: Table) -> None:
    """Refuse what is said of columns that are not there."""
    for column in mapping(document.get("columns", {}), "columns"):
        table.schema.require(column)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
