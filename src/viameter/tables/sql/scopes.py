"""Scopes: the rows that FROM gives, as steps of a question, and how their columns are called there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from viameter.tables.expressions import Schema
from viameter.tables.sql.functions import NOT_DETERMINED
from viameter.tables.sql.places import Text
from viameter.tables.sql.scalars import Scalar, Scalars, column
from viameter.tables.steps import Derive, Filter, Select, Source, Step

Columns = Mapping[str, str]
"""Columns of a table by the names that it has for them, and how they are called in the rows."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Public keys of columns, as a RIGHT JOIN lists them."""

    columns: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """Rows of a private table after steps, and the tables whose columns they have."""

    table: str
    schema: Schema | None
    """The columns; None where they are not known."""
    tables: Mapping[str, Columns | None]
    """By name or alias in small letters; None where the columns are not known."""
    unit: frozenset[str] = frozenset()
    """The columns that name the privacy unit."""
    steps: tuple[Step, ...] = ()
    keys: Keys | None = None
    used: set[str] = field(default_factory=set)
    """The columns that were read so far."""

    @property
    def source(self) -> Source:
        """It as a question has it."""
        return Source(self.table, self.steps)

    def filtered(self, predicate: Scalar) -> Scope:
        """The rows for which a predicate is true."""
        return replace(self, steps=(*self.steps, Filter(predicate.formula)))

    def derived(self, columns: Mapping[str, Scalar]) -> Scope:
        """With more columns, all of them of the rows before."""
        if not columns:
            return self
        schema = self.schema
        if schema is not None:
            types = {name: one.expression.type for name, one in columns.items() if one.expression is not None}
            schema = Schema({**schema, **types}, schema.unusable)
        step = Derive(tuple((name, one.formula) for name, one in columns.items()))
        return replace(self, steps=(*self.steps, step), schema=schema)

    def selected(self, names: Iterable[str]) -> Scope:
        """With these columns alone."""
        kept = tuple(names)
        schema = None if self.schema is None else Schema({name: self.schema[name] for name in kept})
        return replace(self, steps=(*self.steps, Select(kept)), schema=schema)

    def called(self, name: str, columns: Iterable[str] | None) -> Scope:
        """The same rows as a table of one name."""
        known = None if columns is None else {one: one for one in columns}
        return replace(self, tables={name.casefold(): known})

    def name_of(self, node: Any, text: Text) -> str:
        """How a column that is written somewhere is called in these rows; SqlError if there is none, or several."""
        written, table = node.name, node.table
        if node.args.get("db") or node.args.get("catalog"):
            raise text.at(node, "a column is written as column, or as table.column")
        if table and table.casefold() not in self.tables:
            raise text.at(node, f"there is no table {table} here; there are {', '.join(self.tables)}")
        tables = [self.tables[table.casefold()]] if table else list(self.tables.values())
        found = {one for columns in tables if columns is not None for one in _matching(columns, node)}
        if len(found) > 1:
            raise text.at(node, f"several columns are called {written}: write table.column")
        if found:
            name = found.pop()
        elif written.upper() in NOT_DETERMINED and not node.this.args.get("quoted"):
            raise text.at(node, f"{written} is another value each time: write the value, as in DATE '2024-05-31'")
        elif any(columns is None for columns in tables):
            name = written
        else:
            known = sorted({one for columns in tables if columns is not None for one in columns})
            raise text.at(node, _missing(written, known, self.schema, is_quoted=node.this.args.get("quoted") is True))
        self.used.add(name)
        return name

    def has(self, node: Any) -> bool:
        """Whether a column of that name is known to be there."""
        return any(_matching(columns, node) for columns in self.tables.values() if columns is not None)

    def leaf(self, text: Text) -> Any:
        """What `Scalars` asks for columns."""

        def found(node: Any, depth: int) -> Scalar | None:
            if type(node).__name__ != "Column" or type(node.this).__name__ == "Star":
                return None
            return column(self.name_of(node, text), self.schema)

        return found

    def scalars(self, text: Text) -> Scalars:
        """Reads expressions of these rows."""
        return Scalars(text, self.leaf(text))


def _matching(columns: Columns, node: Any) -> list[str]:
    """The columns that a name means: the one that is written so; without quotes, else the only one but for capitals."""
    if node.name in columns:
        return [columns[node.name]]
    if node.this.args.get("quoted"):
        return []
    return [called for name, called in columns.items() if name.casefold() == node.name.casefold()]


def _missing(written: str, known: list[str], schema: Schema | None, *, is_quoted: bool) -> str:
    if schema is not None and written in schema.unusable:
        return f"the column {written!r} has a type that questions cannot use"
    close = get_close_matches(written, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    quoted = "; text is written in single quotes, '...'" if is_quoted and not close else ""
    return f"there is no column {written}{quoted}{hint if not quoted else '.'} There are: {', '.join(known)}"
