"""Catalog: datasets that custodians registered, opened once, and asked by many people under one budget."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from viameter.core import Loss
from viameter.errors import FormatError, ParameterError, SourceUnavailable, UnknownScope, plain
from viameter.ledger import Ledger, Scope
from viameter.ledger.renewal import ON_NEW_ROWS, read_policy
from viameter.ledger.sizes import require_size
from viameter.service.config import NAME, PATTERN, Limits, Source, read_share, read_size
from viameter.service.least import least_spend
from viameter.service.places import Place, in_spark, place_of
from viameter.service.reachable import Reachable
from viameter.service.state import DatasetRetired, Registered, State
from viameter.service.watching import log
from viameter.tables import Table
from viameter.tables import open as open_table
from viameter.tables.cost import mapping, read_loss
from viameter.tables.durable import open_purse
from viameter.tables.engines import DataWarning, UnreadableData, copied
from viameter.tables.purse import Purse
from viameter.tables.rows import Rows
from viameter.tables.session import check_budget
from viameter.tables.units import read_unit

DESCRIPTION = frozenset({"title", "description", "columns"})
"""What may be said anew of a dataset at any time; all else is settled when it is registered."""
SETTLED = frozenset({"source", "table", "unit", "types", "order"})
AT_ONCE = frozenset({"budget", "renews", "strict"})
"""What is said when a dataset is registered and not kept with it: the ledger has its budget."""
LONGEST = 10_000
COLUMN_KEYS = frozenset({"description", "values", "bounds"})
MOVED = (
    "the rows of the dataset {!r} are in another place than when it was registered, and its budget may not be theirs: "
    "put them back where they were; if these are the rows of others, register them as a new dataset"
)
SHARED = (
    "the rows of the dataset {!r} may be in another dataset too, and would have two budgets: whoever registered it "
    "must look at them"
)
CUT_OFF = "the dataset {!r} has no budget, since it was cut off while it was registered: register it again"
UNREADABLE = "the rows of the dataset {!r} cannot be read any more: whoever registered it must look at them"
LONG_WAIT, SHORT_WAIT = 10.0, 0.5
"""Seconds for which a dataset that is being opened is waited for: at first, and if it could not be reached before."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A dataset that is open: its table, whose questions somebody else pays for, and what was said of it."""

    registered: Registered
    table: Table
    batch: str = ""
    """Which batch of rows it is, of a dataset whose budget starts over with new ones."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A dataset that can be registered."""

    settled: Mapping[str, Any]
    """What is kept with it."""
    rows: Table
    place: Place
    known: Scope | None
    """The budget that the ledger has for it already."""
    budget: Loss
    renews: str | None
    batch: str


@dataclass(frozen=True, slots=True)
class Opening:
    """A dataset that is being opened, since when."""

    future: Future[Opened]
    began: float

    def result(self, *, wait: float) -> Opened:
        """The dataset, if it is open so many seconds after this began; else TimeoutError."""
        return self.future.result(max(self.began + wait - time.monotonic(), 0))


class Catalog:
    """All datasets of a service."""

    def __init__(
        self, state: State, ledger: Ledger, sources: Mapping[str, Source], limits: Limits, reachable: Reachable
    ) -> None:
        self._state, self._ledger, self._sources, self._limits = state, ledger, dict(sources), limits
        self.reachable = reachable
        self._opened: dict[str, Opened] = {}
        self._asked: dict[tuple[str, str, bool], tuple[Table, Table]] = {}
        """A dataset as somebody asks it, beside the table that it was made of."""
        self._registering = threading.RLock()
        self._lock = threading.Lock()
        self._openings: dict[str, Opening] = {}
        """The datasets that are being opened."""
        self._spark: dict[str, Any] = {}
        self._starting_spark = threading.Lock()

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

    def examine(self, name: str, document: Mapping[str, Any], *, beside: Iterable[Registered]) -> Candidate:
        """A dataset that can be registered beside others; refused otherwise. Nothing is written.

        Rows are looked at: whether they can be read, and whether values are of the types that are said. What is said
        of it is for who registers them; later nobody is told of it.
        """
        if not isinstance(name, str) or not re.fullmatch(NAME, name):
            raise ParameterError(f"name={plain(name)}: a name has letters, digits, '_', '-' and '.', at most 64")
        unknown = sorted(set(document) - DESCRIPTION - SETTLED - AT_ONCE)
        if unknown:
            raise FormatError(f"dataset: unknown name {plain(unknown[0])}")
        budget = read_loss(document["budget"], "budget") if document.get("budget") is not None else None
        if budget is not None:
            require_size(budget)
        strict = document.get("strict", True)
        if not isinstance(strict, bool):
            raise FormatError(f"strict={plain(strict)}: expected true or false")
        renews = read_policy(document.get("renews"))
        settled = {key: value for key, value in document.items() if key not in AT_ONCE and value is not None}
        _check_description(settled)
        batch = self._batch(name)
        source, table = self._source(settled)
        rows = self._open_rows(settled, source, table, strict=strict)
        check_columns(settled, rows)
        _require_limits(rows)
        known = self._scope(name)
        limit = budget if known is None else known.budget
        if limit is None:
            raise ParameterError("budget is missing: what may be spent on this dataset in all")
        if known is None:
            check_budget(limit)
        else:
            _require_same_terms(known, budget, renews)
            self._purse(name, rows)  # refused, if what it is a budget of is something else
        place = self._place(settled, source, table, rows)
        place.refuse_same(name, beside)
        return Candidate(settled, rows, place, known, limit, renews, batch)

    def register(self, name: str, document: Mapping[str, Any], *, by: str, why: str = "registered") -> Opened:
        """A new dataset with its budget. Values that are of another type than is said are refused, unless strict is
        false: then they are read as NULL.

        The budget is a scope of the ledger of the same name. One that is there already is taken as it is, and with it
        what was spent of it.
        """
        # Before anything is locked: a server that does not answer is nobody else's concern.
        made = self.examine(name, document, beside=self._state.datasets())
        is_new = made.known is None
        with self._registering:
            # First the name, then the budget: a budget of nothing does no harm, rows without a name of their own may.
            unfinished = is_new and self._is_unfinished(name, made.settled, made.place)
            if not unfinished:
                self._state.add_dataset(name, made.settled, place=made.place.text, by=by)
            try:
                # Again, now that others see this one: of two processes that register shared rows at once, one does.
                made.place.refuse_same(name, self._state.datasets())
                if is_new:
                    space = made.rows.session.space
                    self._ledger.define(name, made.budget, space, by=by, why=why, renews=made.renews)
            except BaseException:
                # Another process may have found this name unfinished, and given it a budget: then it is theirs.
                is_theirs = is_new and self._has_scope(name)
                if not unfinished and not is_theirs:
                    self._state.drop_dataset(name, by=by)
                raise
            return self._keep(self._require(name), made.rows, self._batch(name) if is_new else made.batch)

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

    def retire(self, name: str, *, by: str, why: str) -> None:
        """Let a dataset be asked no more, in any process; what was asked before is answered again.

        Its rows stay registered, so that nobody gives them a second budget: `reinstate` takes it back.
        """
        self._set_retired(name, True, by=by, why=why)

    def reinstate(self, name: str, *, by: str, why: str) -> None:
        """Let a dataset that was retired be asked again, under the budget that it had."""
        self._set_retired(name, False, by=by, why=why)

    def _set_retired(self, name: str, retired: bool, *, by: str, why: str) -> None:
        registered, why = self._require(name), _read_why(why)
        self.scope(name)  # refused before anything is written
        self._state.set_retired(registered.name, retired, by=by, why=why)

    def renew(self, name: str, *, by: str, why: str) -> Scope:
        """Start the budget of a dataset over, with the limits of single people: new rows have arrived.

        Whoever says so answers for it: from now on, questions are of the new rows alone. Files that are kept in
        memory are read again. ParameterError, if its budget was not registered to start over with new rows.
        """
        self.scope(name)
        for limit in self.personal_scopes(name).values():
            if limit.terms.renews == ON_NEW_ROWS:
                self._ledger.renew(limit.name, by=by, why=why)
        # The last, since it alone lets anything be spent.
        return self._ledger.renew(name, by=by, why=why)

    def _batch(self, name: str) -> str:
        scope = self._scope(name)
        return scope.period if scope is not None and scope.terms.renews == ON_NEW_ROWS else ""

    def opened(self, name: str) -> Opened:
        """A dataset, opened when it is first needed; ParameterError if there is none.

        It is opened in a thread of its own, once for all who wait: SourceUnavailable if that takes too long, which ends
        their waiting and not the opening.
        """
        return self._open(self._require(name))

    def _require(self, name: str) -> Registered:
        registered = self._state.dataset(name)
        if registered is None:
            raise ParameterError(f"there is no dataset {plain(name)}")
        return registered

    def _open(self, registered: Registered) -> Opened:
        """A dataset as it is registered now, with the rows of its present batch."""
        name = registered.name
        while True:
            batch = self._batch(name)
            with self._lock:
                found = self._opened.get(name)
                if found is not None and found.batch == batch:
                    return replace(found, registered=registered)
                opening = self._openings.get(name) or self._begin_opening(registered)
            try:
                opening.result(wait=SHORT_WAIT if self.reachable.is_lost(name) else LONG_WAIT)
            except TimeoutError:
                self.reachable.note(name, False)
                raise SourceUnavailable(f"the dataset {name!r} takes long to be opened: try again") from None

    def _begin_opening(self, registered: Registered) -> Opening:
        """Open a dataset in a thread of its own. The lock is held."""
        made = self._openings[registered.name] = Opening(Future(), time.monotonic())
        thread = threading.Thread(target=self._finish_opening, args=[registered, made], name="viameter-opening")
        thread.daemon = True
        thread.start()
        return made

    def _finish_opening(self, registered: Registered, opening: Opening) -> None:
        """Open a dataset, for all who wait for it."""
        try:
            result = self._opened_now(registered)
        except BaseException as problem:
            self.reachable.note(registered.name, not isinstance(problem, SourceUnavailable))
            self._end_opening(registered.name)
            opening.future.set_exception(problem)
        else:
            self.reachable.note(registered.name, True)
            self._end_opening(registered.name)
            opening.future.set_result(result)

    def _end_opening(self, name: str) -> None:
        with self._lock:
            del self._openings[name]

    def _opened_now(self, registered: Registered) -> Opened:
        name, batch = registered.name, self._batch(registered.name)  # before rows are read: later ones are read again
        try:
            source, table = self._source(registered.document)
            rows = self._open_rows(registered.document, source, table, strict=False)
            place = self._place(registered.document, source, table, rows)
        except UnreadableData:
            raise ParameterError(UNREADABLE.format(name)) from None
        except ParameterError as problem:
            # Names of servers, files and other tables are nothing for whoever asks.
            log("dataset_not_opened", level=logging.WARNING, dataset=name, why=str(problem))
            raise SourceUnavailable(f"the rows of the dataset {name!r} cannot be reached") from None
        if registered.place not in place.texts:
            raise ParameterError(MOVED.format(name))
        try:
            place.refuse_same(name, self._state.datasets())
        except ParameterError as problem:
            # Whoever asks need not know of the other dataset.
            log("dataset_not_opened", level=logging.WARNING, dataset=name, why=str(problem))
            raise ParameterError(SHARED.format(name)) from None
        return self._keep(registered, rows, batch)

    def _keep(self, registered: Registered, rows: Table, batch: str) -> Opened:
        """A dataset whose rows are open, from now on under its budget."""
        self.scope(registered.name)
        purse = self._purse(registered.name, rows)
        made = Opened(registered, Table(rows.session.under(purse)), batch)
        self._opened[registered.name] = made
        return made

    def asked_by(self, name: str, person: str) -> Table:
        """A dataset as somebody asks it: their own limit pays too, if they have one. DatasetRetired if nobody may."""
        registered = self._require(name)
        if registered.retired is not None:
            raise DatasetRetired(name, registered.retired)
        opened = self._open(registered)
        limited = self._has_scope(personal(name, person))
        found = self._asked.get((name, person, limited))
        if found is None or found[0] is not opened.table:
            own = [personal(name, person)]
            # A limit that is set between this look and the charge is seen by the charge itself.
            paying = {"scopes": own} if limited else {"unless": own}
            made = opened.table.asked_by(person, deadline=self._limits.seconds, **paying)
            # Two threads may have made one: all use the same, as long as the dataset stays open.
            with self._lock:
                found = self._asked.get((name, person, limited))
                if found is None or found[0] is not opened.table:
                    found = self._asked[name, person, limited] = (opened.table, made)
        return found[1]

    def scope(self, name: str) -> Scope:
        """The budget of a dataset as it stands."""
        found = self._scope(name)
        if found is None:  # the ledger's own words say where it is, and what else is in it
            raise ParameterError(CUT_OFF.format(name))
        return found

    def least_spend(self, name: str) -> Loss:
        """The least that may be spent of a dataset's budget at once."""
        return least_spend(self.scope(name).cap, read_share(self._limits.least_share, "least_share"))

    def personal_scopes(self, name: str) -> dict[str, Scope]:
        """The limits of single people for a dataset, by person."""
        start = personal(name, "")
        return {one.name.removeprefix(start): one for one in self._ledger.scopes() if one.name.startswith(start)}

    def set_budget(self, name: str, budget: Loss, *, by: str, why: str) -> Scope:
        """Another budget for a dataset, as an entry of the ledger that says why."""
        self.scope(name)
        return self._ledger.set_budget(name, budget, by=by, why=why)

    def set_personal(self, name: str, person: str, budget: Loss, *, by: str, why: str) -> Scope:
        """What one person may spend of a dataset's budget; asked for again, another amount."""
        scope = personal(name, person)
        if self._scope(scope) is not None:
            return self._ledger.set_budget(scope, budget, by=by, why=why)
        of = self.scope(name)
        if budget.measure != of.measure:
            raise ParameterError(f"budget={budget!r}: the dataset is counted in {of.measure!r}")
        space = self.opened(name).table.session.space
        return self._ledger.define(scope, budget, space, by=by, why=why, renews=of.terms.renews)

    def is_open(self, name: str) -> bool:
        """Whether a dataset was opened."""
        return name in self._opened

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
        except SourceUnavailable:
            raise
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
            in_spark(session, table)  # refused here: Ibis lets errors of Java through, with all that they say
            return session, table
        assert source.folder is not None
        file, _, inner = table.partition("#")
        if "\0" in file or re.search(PATTERN, file):
            raise ParameterError(f"table={plain(table)}: expected the name of one file")
        folder = Path(source.folder).resolve()
        path = (folder / file).resolve()
        if not path.is_relative_to(folder) or not os.path.isfile(path):  # noqa: PTH113, long names
            raise ParameterError(f"table={plain(table)}: there is no such file in the source {given!r}")
        if re.search(PATTERN, str(path)):
            # Engines would read all that matches it.
            raise ParameterError(
                f"table={plain(table)}: the real path of this file, where links lead, has one of * ? [ ], which is a "
                "pattern of several files to engines: rename the file or its folder"
            )
        return str(path), inner or None

    def _place(self, document: Mapping[str, Any], source: Any, table: str | None, opened: Table) -> Place:
        is_remote = str(self._sources[document["source"]].spark).startswith("sc://")
        return place_of(source, table, opened.session.source, is_remote=is_remote)

    def _spark_session(self, source: Source) -> Any:
        try:
            from pyspark.sql import SparkSession
        except ModuleNotFoundError:
            raise ParameterError("this source needs Spark: pip install 'viameter[spark]'") from None
        assert source.spark is not None
        with self._starting_spark:
            if source.name not in self._spark:
                builder = SparkSession.builder.appName("viameter")
                remote = source.spark.startswith("sc://")
                self._spark[source.name] = (
                    builder.remote(source.spark) if remote else builder.master(source.spark)
                ).getOrCreate()
            return self._spark[source.name]


def personal(name: str, person: str) -> str:
    """What the limit of a person for a dataset is called in the ledger; no dataset's name has such a sign."""
    return f"{name}@{person}"


def _require_same_terms(known: Scope, budget: Loss | None, renews: str | None) -> None:
    """Refuse other terms than those of a budget that the ledger has."""
    if budget is not None and budget != known.budget:
        raise ParameterError(
            f"the ledger has a budget of {known.budget!r} for {known.name!r}: leave budget out to take it as it is"
        )
    if renews is not None and renews != known.terms.renews:
        policy = "never starts over" if known.terms.renews is None else f"starts over ({known.terms.renews})"
        raise ParameterError(f"renews={renews!r}: the ledger has a budget for {known.name!r} that {policy}")


def _read_why(why: str) -> str:
    if not isinstance(why, str) or not why.strip():
        raise ParameterError("why: expected a reason, which is written down")
    return why


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
