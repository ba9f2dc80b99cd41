"""Open private tables under a budget: a file, a database, a frame. No row is read."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import reduce
from typing import Any

from viameter.core import Loss
from viameter.errors import ParameterError, plain
from viameter.query.bounding.identity import comparable
from viameter.query.collecting import Order, Progress
from viameter.query.database import Database, database_space, picking
from viameter.query.engines import EngineTable, open_source, run
from viameter.query.expressions import Column, Expression, Kind, to_ibis, type_of_ibis
from viameter.query.expressions.building import kind_named
from viameter.query.relation import Relation, source_rows
from viameter.query.rows import RESERVED, UNIT, Rows
from viameter.query.spaces import space_of
from viameter.query.units import PerEntity, PerEvent, Unit
from viameter.session.budget import Session
from viameter.session.table import Table, Tables

IBIS_NAMES = {
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.BOOLEAN: "boolean",
    Kind.TEXT: "string",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
}


def open(
    source: Any,
    *,
    unit: Unit,
    budget: Loss,
    table: str | None = None,
    types: Mapping[str, str] | None = None,
    order: Order = "native",
    progress: Progress | None = None,
) -> Any:
    """Open private rows under a budget. Nothing is read or copied.

    `source` is a path (Parquet, CSV, a DuckDB file), a PostgreSQL URL or a Spark session with `table=`, a Spark, pandas
    or Polars DataFrame, an Arrow table, a dict of lists, or any Ibis table; or a dict of several such sources by name,
    which then share the budget. `unit` says whose presence is hidden: `per("patient", rows=5)`, `per_row()`, ...
    `types` says what columns are ("integer", "real", "text", "boolean", "date", "timestamp") where that would be found
    out from rows, as in a CSV file; values that are none are NULL. With order="portable" every engine keeps the same
    rows of a unit; "native" is faster.

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
    if order not in ("native", "portable"):
        raise ParameterError(f"order={plain(order)}: expected 'native' or 'portable'")
    if types is not None and isinstance(source, Mapping) and all(_is_source(value) for value in source.values()):
        raise ParameterError("types: columns of several tables; give a table of known types for each of them")
    if isinstance(source, Mapping) and source and all(_is_source(value) for value in source.values()):
        return _open_several(source, unit, budget, order, progress)
    if isinstance(unit, PerEntity):
        raise ParameterError(
            f"{unit!r} spans several tables: open them together, vm.open({{{unit.root!r}: ..., ...}}, ...)"
        )
    rows = _rows(_typed(open_source(source, table=table), types or {}), unit)
    session = Session(rows, space_of(rows.schema, unit), unit, budget, order=order, progress=progress)
    return Table(session, Relation(rows, unit))


def _open_several(
    sources: Mapping[str, Any], unit: Unit, budget: Loss, order: Order, progress: Progress | None
) -> Tables:
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
    session = Session(database, database_space(database, unit), unit, budget, order=order, progress=progress)
    tables = {name: Table(session, Relation(database, unit, (picking(database, name, unit),))) for name in database}
    return Tables(session, tables)


def _typed(table: EngineTable, types: Mapping[str, str]) -> EngineTable:
    """The table with columns of these types, whatever was found in its rows."""
    import ibis

    found, made = table.ibis_schema, {}
    for name, wanted in types.items():
        kind = kind_named(wanted)
        if name not in found:
            raise ParameterError(f"types: there is no column {plain(name)}. There are: {', '.join(found)}")
        known = type_of_ibis(found[name])
        if known is None:
            # What has no value at all has no type that Ibis knows.
            if not (found[name].is_null() or 'kind="NULL"' in str(found[name])):
                raise ParameterError(f"types: column {name!r} is of a type that questions cannot use")
            made[name] = ibis.null(IBIS_NAMES[kind])
            continue
        column: Expression = Column(name, known)
        if known.kind is Kind.REAL and kind is Kind.INTEGER:
            column = column.floor()
        made[name] = to_ibis(column if column.type.kind is kind else column.cast(kind), table.expression)
    return table.with_expression(table.expression.mutate(**made)) if made else table


def _rows(table: EngineTable, unit: Unit) -> Rows:
    rows = source_rows(table, unit.column)
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
    engine = table.engine
    named = table.expression.mutate(**{hop: comparable(engine, table.expression[path[0].column], name=path[0].column)})

    def follow(current: Any, step: tuple[Any, Any]) -> Any:
        link, following = step
        parent = opened[link.table].expression
        key, further = (comparable(engine, parent[column], name=column) for column in (link.key, following.column))
        keyed = parent.select(**{f"{RESERVED}key": key, f"{RESERVED}next": further})
        joined = current.left_join(keyed, current[hop] == keyed[f"{RESERVED}key"])
        kept = {column: joined[column] for column in current.columns if column != hop}
        return joined.select(**kept, **{hop: joined[f"{RESERVED}next"]})

    led = reduce(follow, itertools.pairwise(path), named)
    schema = source_rows(table, None).schema
    owned = led.filter(led[hop].notnull()).select(*schema, **{UNIT: led[hop]})
    return Rows(table.with_expression(owned), schema, UNIT)


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
