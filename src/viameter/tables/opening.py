"""Open private tables under a budget: a file, a database, a frame."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any, overload

from viameter.composition import FilterMeter, Odometer
from viameter.core import Loss, Space
from viameter.errors import ParameterError, plain
from viameter.ledger import Ledger
from viameter.tables.collecting import Order, Progress
from viameter.tables.contributing import require_order
from viameter.tables.database import Database, database_space, picking
from viameter.tables.durable import name_of, open_purse
from viameter.tables.engines import EngineTable, copied, open_source, run
from viameter.tables.expressions import Kind
from viameter.tables.purse import FilterPurse
from viameter.tables.relation import Relation, naming, source_rows
from viameter.tables.rows import RESERVED, UNIT, Rows
from viameter.tables.session import Session, check_budget
from viameter.tables.spaces import space_of
from viameter.tables.steps import Source
from viameter.tables.table import Table, Tables
from viameter.tables.typing_columns import typed
from viameter.tables.units import PerEntity, PerEvent, Unit


@overload
def open(
    source: Mapping[str, str] | Mapping[str, tuple[Any, str]] | Mapping[str, Mapping[str, Any]],
    *,
    unit: Unit,
    budget: Loss | None = None,
    order: Order = "native",
    progress: Progress | None = None,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    scopes: Sequence[str] = (),
    by: str | None = None,
    deadline: float | None = None,
) -> Tables: ...


@overload
def open(
    source: Any,
    *,
    unit: Unit,
    budget: Loss | None = None,
    table: str | None = None,
    types: Mapping[str, str] | None = None,
    required: Sequence[str] = (),
    strict: bool = False,
    order: Order = "native",
    progress: Progress | None = None,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    scopes: Sequence[str] = (),
    by: str | None = None,
    deadline: float | None = None,
    cached: bool = False,
) -> Table: ...


def open(
    source: Any,
    *,
    unit: Unit,
    budget: Loss | None = None,
    table: str | None = None,
    types: Mapping[str, str] | None = None,
    required: Sequence[str] = (),
    strict: bool = False,
    order: Order = "native",
    progress: Progress | None = None,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    scopes: Sequence[str] = (),
    by: str | None = None,
    deadline: float | None = None,
    cached: bool = False,
) -> Table | Tables:
    """Open private rows under a budget.

    `source` is a path (Parquet, CSV, a DuckDB file), a PostgreSQL URL or a Spark session with `table=`, a Spark, pandas
    or Polars DataFrame, an Arrow table, a dict of lists, or any Ibis table; or a dict of several such sources by name,
    which then share the budget. `unit` says whose presence is hidden: `per("patient", rows=5)`, `per_row()`, ...
    `types` says what columns are ("integer", "real", "text", "boolean", "date", "timestamp") where that would be found
    out from rows, as in a CSV file; values that are none are read as NULL, and a warning says how many there are of
    each column (with `strict`, they are refused). Rows are looked at for that, and for what the engine could fail on:
    what is said of it here is for whoever opens them, and not for those who ask. `required` names columns that must
    have a value: rows without one are left out of every question, so that their number serves as the denominator of a
    mean, too. With order="portable" every engine keeps the same rows of a unit; "native" is faster. CSV files are read
    once, now; with `cached`, other files and frames are copied into memory too, so that questions need not read them
    again.

    With a `ledger` (a path, a PostgreSQL URL, or one that is open), what is spent is on disk, and shared with all who
    ask: `dataset` is what the rows are called there (the name of a file or a table, if it has one), and has the budget;
    `scopes` are others that pay too, such as an analyst's; `by` is who asks. A question that runs for longer than
    `deadline` seconds is given up; it stays charged.

    >>> import viameter as vm
    >>> visits = vm.open(
    ...     {"patient": ["p", "p", "q"], "wait": [10, 20, 5]}, unit=vm.per("patient", rows=2), budget=vm.zcdp("1/2")
    ... )
    >>> answer = visits.agg(n=vm.count()).release(spend=vm.zcdp("1/10"))
    >>> visits.spent, visits.left
    (zcdp(<=0.1), zcdp(2/5))
    """
    if not isinstance(unit, Unit):
        raise ParameterError(
            f"unit={plain(unit)} does not say whose presence is hidden: "
            'expected e.g. vm.per("patient", rows=5) or vm.per_row()'
        )
    paying = Paying.read(source, table, budget, ledger, dataset, scopes, by, deadline)
    if order not in ("native", "portable"):
        raise ParameterError(f"order={plain(order)}: expected 'native' or 'portable'")
    if required and isinstance(source, Mapping) and source and all(_is_source(value) for value in source.values()):
        raise ParameterError(
            'required: columns of several tables; filter each of them, as in t.filter(~t["x"].is_null())'
        )
    if types is not None and isinstance(source, Mapping) and all(_is_source(value) for value in source.values()):
        raise ParameterError("types: columns of several tables; give a table of known types for each of them")
    if cached and isinstance(source, Mapping) and source and all(_is_source(value) for value in source.values()):
        raise ParameterError("cached: one table of a file or a frame; several are read where they are")
    if isinstance(source, Mapping) and source and all(_is_source(value) for value in source.values()):
        return _open_several(source, unit, partial(_session, paying=paying, order=order, progress=progress))
    if isinstance(unit, PerEntity):
        raise ParameterError(
            f"{unit!r} spans several tables: open them together, vm.open({{{unit.root!r}: ..., ...}}, ...)"
        )
    opened = typed(open_source(source, table=table), types or {}, strict=strict)
    # What was parsed of text is kept, and not parsed again by each question.
    is_parsed = bool(types) and isinstance(source, str | Path) and str(source).lower().endswith(".csv")
    rows = _rows(copied(opened) if cached or is_parsed else opened, unit)
    relations = {"": _with_values(Relation(rows, unit), required)}
    return Table(
        _session(rows, space_of(rows.schema, unit), unit, relations, paying=paying, order=order, progress=progress)
    )


def _with_values(relation: Relation, required: Any) -> Relation:
    """The rows that have a value in each of these columns: a filter, which looks at one row at a time."""
    if isinstance(required, str) or not isinstance(required, Sequence):
        raise ParameterError(f'required={plain(required)}: expected a list of columns, as in required=["wait"]')
    for name in required:
        relation = relation.filter(~relation[name].is_null())
    return relation


@dataclass(frozen=True, slots=True)
class Paying:
    """What pays for questions, as it was given to `open`."""

    budget: Loss | None
    ledger: Ledger | str | Path | None
    dataset: Callable[[], str]
    scopes: Sequence[str]
    by: str | None
    deadline: float | None

    @classmethod
    def read(
        cls,
        source: Any,
        table: str | None,
        budget: Loss | None,
        ledger: Ledger | str | Path | None,
        dataset: str | None,
        scopes: Sequence[str],
        by: str | None,
        deadline: float | None,
    ) -> Paying:
        """Refuse what only means something with a ledger, if there is none."""
        if ledger is None:
            given = {"dataset": dataset, "scopes": scopes or None, "by": by, "deadline": deadline}
            for name, value in given.items():
                if value is not None:
                    raise ParameterError(f"{name}={plain(value)} goes with a ledger: give ledger='budget.db'")
            check_budget(budget)
        return cls(budget, ledger, lambda: name_of(source, table) if dataset is None else dataset, scopes, by, deadline)


def _session(
    source: Rows | Database,
    space: Space,
    unit: Unit,
    relations: Mapping[str, Relation],
    *,
    paying: Paying,
    order: Order,
    progress: Progress | None,
) -> Session:
    if paying.ledger is None:
        assert paying.budget is not None
        # Check, charge, run: whatever is asked, and chosen by earlier answers, all answers stay within the budget.
        meter: FilterMeter = Odometer(space, paying.budget.measure).filter(d_in=1, budget=paying.budget)(source)
        return Session(source, space, unit, FilterPurse(meter), relations=relations, order=order, progress=progress)
    purse = open_purse(
        paying.ledger,
        source,
        space,
        paying.budget,
        dataset=paying.dataset(),
        scopes=paying.scopes,
        by=paying.by,
        deadline=paying.deadline,
    )
    return Session(source, space, unit, purse, relations=relations, order=order, progress=progress)


def _open_several(sources: Mapping[str, Any], unit: Unit, begin: Callable[..., Session]) -> Tables:
    opened: dict[str, EngineTable] = {}
    for name, source in sources.items():
        given, table = source if isinstance(source, tuple) else (source, None)
        first = next(iter(opened.values()), None)
        opened[name] = open_source(given, table=table, beside=first)
    if isinstance(unit, PerEntity):
        rows = {name: _entity_rows(opened, name, unit) for name in opened}
    else:
        rows = {name: _rows(table, unit) for name, table in opened.items()}
    database = Database(rows)
    relations = {name: Relation(database, unit, (picking(database, name, unit),)) for name in database}
    session = begin(database, database_space(database, unit), unit, relations)
    return Tables(session, {name: Table(session, Source(name)) for name in database})


def _rows(table: EngineTable, unit: Unit) -> Rows:
    rows = source_rows(table, unit.column)
    require_order(rows.schema, unit.limits)
    if isinstance(unit, PerEvent):
        kind = rows.schema.require(unit.time).kind
        if kind not in (Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP):
            raise ParameterError(f"per_event: {unit.time!r} is {kind.value}; times are integers, dates or timestamps")
    return rows


def _entity_rows(opened: Mapping[str, EngineTable], name: str, unit: PerEntity) -> Rows:
    """Rows with the entity that they lead to: the value by which the last table on the way refers to the root."""
    path = unit.path(name)
    for link in path:
        if link.table not in opened:
            raise ParameterError(f"{name!r} refers to {link.table!r}, which was not opened with it")
    table = opened[name]
    if not path:
        return source_rows(table, unit.key)
    if len(path) == 1:
        return source_rows(table, path[0].column)
    # Along the way, each key leads to one row of the next table.
    hop = f"{RESERVED}hop"
    own = source_rows(table, None)
    named = own.expression.mutate(**{hop: naming(table.engine, own.expression, own.schema, path[0].column)})

    def follow(current: Any, step: tuple[Any, Any]) -> Any:
        link, following = step
        rows = source_rows(opened[link.table], None)
        parent = rows.expression
        key, further = (naming(table.engine, parent, rows.schema, x) for x in (link.key, following.column))
        if key.type().is_string() != current[hop].type().is_string():
            raise ParameterError(
                f"links: {link.column!r} and the key {link.key!r} of {link.table!r} are of different types: expected "
                "text in both, or whole numbers in both"
            )
        keyed = parent.select(**{f"{RESERVED}key": key, f"{RESERVED}next": further})
        joined = current.left_join(keyed, current[hop] == keyed[f"{RESERVED}key"])
        kept = {column: joined[column] for column in current.columns if column != hop}
        return joined.select(**kept, **{hop: joined[f"{RESERVED}next"]})

    led = reduce(follow, itertools.pairwise(path), named)
    owned = led.filter(led[hop].notnull()).select(*own.schema, **{UNIT: led[hop]})
    return Rows(table.with_expression(owned), own.schema, UNIT)


def ambiguous_keys(session: Session) -> dict[str, int]:
    """By `table.key`, how many values name several rows; of the keys that a unit of several tables refers to."""
    unit, database = session.unit, session.source
    if not isinstance(unit, PerEntity) or not isinstance(database, Database):
        raise ParameterError("check_keys: tables were not opened with per_entity(...), and no keys lead anywhere")
    # The root's key is what names an entity: several rows of one value are simply more rows of it.
    wanted = dict.fromkeys((link.table, link.key) for _, link in unit.links if link.table != unit.root)
    found = {}
    for name, key in wanted:
        rows = database[name]
        counted = rows.expression.group_by(key).aggregate(**{f"{RESERVED}rows": rows.expression.count()})
        several = counted.filter(counted[f"{RESERVED}rows"] > 1)
        query = several.aggregate(several=several.count())
        (answer,) = run(rows.on, query)
        found[f"{name}.{key}"] = int(answer["several"])
    return found


def _is_source(value: Any) -> bool:
    """Whether a value in a dict is a table of its own, and not a column."""
    if isinstance(value, tuple):
        return len(value) == 2 and isinstance(value[1], str) and not isinstance(value[0], int | float)
    return isinstance(value, str | Mapping) or hasattr(value, "columns") or hasattr(value, "schema")
