"""Joins: on equal columns, with public tables, with other private ones on the unit, and with the groups to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from viameter.tables.expressions import Kind, Schema
from viameter.tables.public_tables import PublicTable, public
from viameter.tables.sql.places import Text
from viameter.tables.sql.scalars import Scalars
from viameter.tables.sql.scopes import Columns, Keys, Scope
from viameter.tables.steps import Join

Pairs = list[tuple[str, str]]
"""Columns of the left side, and those of the right side that they are equal to."""
EQUAL = "tables are joined on columns that are equal: ON a.x = b.x AND ..., or USING (x, ...)"


def listed_values(node: Any, text: Text) -> PublicTable:
    """The values of UNNEST([...]) AS name, as a public table of one column."""
    for name, value in node.args.items():
        if value and name not in ("expressions", "alias"):
            raise text.at(node, f"{name.upper()} is not read in this place; leave it out")
    alias = node.args.get("alias")
    columns = [] if alias is None else [one.name for one in alias.args.get("columns") or ()]
    if alias is None or len(columns) > 1 or len(node.expressions) != 1:
        raise text.at(node, "expected UNNEST([...]) AS name: one list, with a name")
    values = node.expressions[0]
    if type(values).__name__ != "Array" or not values.expressions:
        raise text.at(node, "expected a list of values: UNNEST(['A', 'B']) AS name")
    scalars = Scalars(text, lambda one, depth: None)
    found = []
    for one in values.expressions:
        scalar = scalars.read(one) if type(one).__name__ != "Column" else None
        if scalar is None or not scalar.is_constant:
            raise text.at(one, "expected a value; text is written in single quotes, '...'")
        found.append(scalar.expression.value if scalar.expression is not None else None)  # type: ignore[attr-defined]
    with text.blaming(node):
        return public({columns[0] if columns else alias.name: found})


def equal_columns(join: Any, scope: Scope, alias: str, right: Columns | None, text: Text) -> Pairs:
    """The pairs of columns that are equal in a join."""
    using = join.args.get("using")
    if using:
        names = [one if type(one).__name__ == "Column" else _as_column(one) for one in using]
        return [(scope.name_of(one, text), _right_name(one, right, text)) for one in names]
    pairs, open_parts = [], [join.args["on"]]
    while open_parts:
        part = open_parts.pop()
        kind = type(part).__name__
        if kind == "And":
            open_parts += [part.expression, part.this]
        elif kind == "Paren":
            open_parts.append(part.this)
        elif kind == "EQ" and all(type(one).__name__ == "Column" for one in (part.this, part.expression)):
            pairs.append(_pair(part, scope, alias, right, text))
        else:
            raise text.at(part, EQUAL)
    return pairs


def _as_column(node: Any) -> Any:
    from sqlglot import exp

    made = exp.Column(this=node.copy())
    made.meta.update(node.meta)
    return made


def _pair(node: Any, scope: Scope, alias: str, right: Columns | None, text: Text) -> tuple[str, str]:
    one, other = node.this, node.expression
    sides = [_is_right(each, scope, alias, right) for each in (one, other)]
    if sides[0] is None or sides[1] is None or sides[0] is sides[1]:
        raise text.at(node, f"of which table is each column? Write table.column: {EQUAL}")
    mine, theirs = (other, one) if sides[0] else (one, other)
    return scope.name_of(mine, text), _right_name(theirs, right, text)


def _is_right(node: Any, scope: Scope, alias: str, right: Columns | None) -> bool | None:
    """Whether a column is of the joined table; None if that cannot be told."""
    if node.table:
        return bool(node.table.casefold() == alias.casefold())
    there = right is not None and any(name.casefold() == node.name.casefold() for name in right)
    here = scope.has(node) or (not there and any(columns is None for columns in scope.tables.values()))
    return there if here is not there else None


def _right_name(node: Any, right: Columns | None, text: Text) -> str:
    if right is None:
        return str(node.name)
    alike = [name for name in right if name == node.name] or [
        name for name in right if name.casefold() == node.name.casefold()
    ]
    if len(alike) != 1:
        raise text.at(node, f"the joined table has no column {node.name}. It has: {', '.join(right)}")
    return alike[0]


def list_keys(join: Any, scope: Scope, other: PublicTable, alias: str, pairs: Pairs, text: Text) -> Scope:
    """The groups of a RIGHT JOIN: the public values, each once, whether or not rows have them."""
    columns = tuple(mine for mine, _ in pairs)
    if len(set(columns)) != len(columns):
        raise text.at(join, "each column is equal to one column of the groups")
    values = dict.fromkeys(zip(*(other.columns[theirs] for _, theirs in pairs), strict=True))
    called = {theirs: mine for mine, theirs in pairs}
    return replace(scope, keys=Keys(columns, tuple(values)), tables={**scope.tables, alias.casefold(): called})


def join_public(join: Any, scope: Scope, other: PublicTable, alias: str, pairs: Pairs, text: Text) -> Scope:
    """Rows joined with public ones, whose columns are renamed where both sides have one of a name."""
    mine = {name.casefold() for name in scope.schema} if scope.schema is not None else set()
    columns = {left: other.columns[right] for left, right in pairs}
    called = {right: left for left, right in pairs}
    for name, values in other.columns.items():
        if name not in called:
            is_taken = name.casefold() in mine or any(name.casefold() == one.casefold() for one in columns)
            called[name] = f"{alias}_{name}" if is_taken else name
            columns[called[name]] = values
    with text.blaming(join):
        joined = other if list(columns) == list(other.columns) else public(columns)
    schema = scope.schema
    if schema is not None:
        for name, _ in pairs:
            _require_joinable(join, name, schema, joined.schema, text)
        schema = Schema({**schema, **joined.schema, **schema}, schema.unusable)
    step = Join(joined, tuple(name for name, _ in pairs))
    tables = {**scope.tables, alias.casefold(): called}
    return replace(scope, steps=(*scope.steps, step), schema=schema, tables=tables)


def join_private(join: Any, scope: Scope, other: Scope, alias: str, pairs: Pairs, text: Text) -> Scope:
    """Pairs of rows of one unit in two private tables."""
    on_unit = [(mine, theirs) for mine, theirs in pairs if mine in scope.unit and theirs in other.unit]
    rest = [pair for pair in pairs if pair not in on_unit]
    if not on_unit:
        known = f"{', '.join(sorted(scope.unit)) or 'the unit'} = {', '.join(sorted(other.unit)) or 'the unit'}"
        public = f'a public table is given by its name: tables={{"{alias}": vm.public(...)}}'
        raise text.at(join, f"two private tables are joined on the privacy unit: ON ... {known}; {public}")
    if any(mine != theirs for mine, theirs in rest):
        raise text.at(join, "columns that are equal beside the unit need one name: rename one in a subquery, with AS")
    keys = tuple(mine for mine, _ in rest)
    # A unit that is one column of all tables comes in once.
    once = {theirs for mine, theirs in on_unit if mine == theirs}
    schema = None
    if scope.schema is not None and other.schema is not None:
        for name in keys:
            _require_joinable(join, name, scope.schema, other.schema, text)
        added = {name: kind for name, kind in other.schema.items() if name not in keys and name not in once}
        both = [name for name in added if name in scope.schema]
        if both:
            raise text.at(
                join,
                f"both tables have a column {both[0]}: take the columns that you need in a subquery, "
                f"as in JOIN (SELECT {on_unit[0][1]}, ... FROM ...) AS {alias}",
            )
        schema = Schema({**scope.schema, **added}, scope.schema.unusable)
    theirs_called: Columns | None = other.tables[alias.casefold()]
    step = Join(other.source, keys)
    tables: Mapping[str, Columns | None] = {**scope.tables, alias.casefold(): theirs_called}
    unit = scope.unit | {theirs for _, theirs in on_unit}
    return replace(scope, steps=(*scope.steps, step), schema=schema, tables=tables, unit=unit)


def _require_joinable(join: Any, name: str, mine: Schema, theirs: Schema, text: Text) -> None:
    here, there = mine.require(name).kind, theirs.require(name).kind
    if here is not there:
        raise text.at(join, f"{name} is {here.value} in the one table and {there.value} in the other")
    if here is Kind.REAL:
        raise text.at(join, f"{name} is REAL, and reals are equal by accident: join on another column")
