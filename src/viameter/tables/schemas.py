"""Which columns there are after a step, and what a step may not be: known from schemas alone, wherever rows are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.engines import engines
from viameter.tables.expressions import Expression, Kind, Schema
from viameter.tables.expressions.constants import is_storable
from viameter.tables.expressions.nullability import never_null, required_by
from viameter.tables.rows import RESERVED
from viameter.tables.steps import Derive, Filter, Join, Sample, Select, Source, Step

_SHORTEST = min(engines(), key=lambda engine: engine.bytes_of_name)
LONGEST_NAME = int(_SHORTEST.bytes_of_name)
"""How many bytes engines keep of a name, at the least: two that agree in so many would be one."""
WHOLE = (Kind.INTEGER, Kind.BOOLEAN)


def schema_after(step: Step, schema: Schema, other: Callable[[Source], Schema], *, unit: str | None = None) -> Schema:
    """The columns after a step; `other` gives those of another private table, `unit` is the column that names units."""
    match step:
        case Filter(predicate):
            return filtered_schema(schema, predicate.read(schema))
        case Derive(columns):
            return derived_schema(schema, {name: made.read(schema) for name, made in columns})
        case Select(names):
            return selected_schema(schema, names)
        case Join(Source() as source, on):
            return joined_schema(schema, other(source), on, "the other table", without={unit} if unit else ())
        case Join(public, on):
            assert not isinstance(public, Source)
            if not on:
                raise ParameterError("join: on=[] names no column to join on")
            return joined_schema(schema, public.schema, on, "the public table")
        case Sample():
            return schema


def filtered_schema(schema: Schema, predicate: Expression) -> Schema:
    """The columns of rows for which a predicate is true."""
    require_expression(schema, predicate, Kind.BOOLEAN, "filter")
    return Schema(schema, schema.unusable, schema.required | required_by(predicate))


def derived_schema(schema: Schema, columns: Mapping[str, Expression]) -> Schema:
    """The columns with one more for each expression, or another in the place of the one of that name."""
    for name, expression in columns.items():
        require_expression(schema, expression, None, f"derive({name}=...)")
        if name not in schema:
            require_own(name)
    types = {**dict(schema), **{name: expression.type for name, expression in columns.items()}}
    require_apart(types, columns)
    # A real beyond the range of columns is NULL when it is read again.
    filled = {
        name for name, made in columns.items()
        if never_null(made, schema.required) and (made.type.kind in WHOLE or made.type.is_settled)
    }  # fmt: skip
    return Schema(types, required=(schema.required - set(columns)) | filled)


def selected_schema(schema: Schema, names: Sequence[str]) -> Schema:
    """These columns alone."""
    if len(set(names)) < len(names):
        raise ParameterError("select: a column is named twice")
    return Schema({name: schema.require(name) for name in names}, required=schema.required)


def joined_schema(
    mine: Schema, theirs: Schema, on: Sequence[str], where: str, *, without: Collection[str] | None = None
) -> Schema:
    """The columns of rows that are joined where `on` agree; of private tables, `without` the other's unit column."""
    for name in on:
        here, there = mine.require(name).kind, theirs.require(name).kind
        if here is not there:
            raise ParameterError(f"join: {name!r} is {here.value} here and {there.value} in {where}")
        if here is Kind.REAL:
            raise ParameterError(f"join: {name!r} is REAL, and reals are equal by accident; cut it into bins first")
    is_public = without is None
    added = {name: kind for name, kind in theirs.items() if name not in on and name not in (without or ())}
    both = [name for name in added if name in mine]
    if both:
        raise ParameterError(f"join: both tables have the column {both[0]!r}; select or rename it away first")
    # Of a public table, nothing is known of NULL; of a private one, of the columns that are taken over.
    filled = frozenset() if is_public else theirs.required.intersection(added)
    if is_public:
        for name in added:
            require_own(name)
    schema = Schema({**dict(mine), **added}, required=mine.required | filled)
    require_apart(schema, added)
    return schema


def require_expression(schema: Schema, expression: Any, kind: Kind | None, where: str) -> None:
    """Refuse what is no expression over these columns, or none of a kind."""
    if not isinstance(expression, Expression):
        raise ParameterError(f'{where} takes an expression such as table["age"] > 40, not {plain(expression)}')
    expression.require_moderate(where)
    for name in expression.columns:
        schema.require(name)
    if kind is not None and expression.type.kind is not kind:
        raise ParameterError(f"{where}: {expression!r} is {expression.type.kind.value}, not {kind.value}")


def require_own(name: str) -> None:
    """Refuse a name for a new column that some engine would cut, refuse or take for one of the library's own."""
    if not isinstance(name, str) or not name or is_reserved(name):
        raise ParameterError(f"column name {plain(name)}: expected text that does not start with {RESERVED!r}")
    if not is_storable(name):
        raise ParameterError(f"column name {plain(name)}: expected Unicode without NUL and surrogates; rename it")
    if (size := len(name.encode())) > LONGEST_NAME:
        raise ParameterError(
            f"column name {plain(name)} has {size} bytes in UTF-8: expected at most {LONGEST_NAME}, which is what "
            f"{_SHORTEST.title} keeps of a name; choose a shorter one"
        )


def require_apart(names: Iterable[str], new: Iterable[str]) -> None:
    """Engines that do not tell capitals would take one column for another, of another type, and fail on some rows."""
    for name in new:
        alike = [other for other in names if other != name and other.casefold() == name.casefold()]
        if alike:
            raise ParameterError(f"columns {alike[0]!r} and {name!r} differ in capitals alone; choose another name")


def is_reserved(name: str) -> bool:
    """Whether it is the library's own, to engines that do not tell capitals."""
    return name.casefold().startswith(RESERVED)
