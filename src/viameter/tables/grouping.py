"""Grouping: what groups become when columns are known: public keys, or columns whose keys are yet to be found."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from viameter.tables.expressions import Column, Expression, Kind, Schema
from viameter.tables.keys import Keys, read_keys
from viameter.tables.question import All, Edges, Found, Groups, Listed
from viameter.tables.schemas import LONGEST_NAME, derived_schema
from viameter.tables.selection import require_keys


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups of the rows of a table."""

    keys: Keys | None
    """The public keys; None if they are to be found."""
    shown: tuple[str, ...]
    """The columns of an answer that name a group."""
    other: bool = False
    derived: dict[str, Expression] = field(default_factory=dict)
    """Columns that rows are grouped by and did not have."""
    intervals: tuple[tuple[Any, ...], ...] | None = None
    """What groups are called, if not by their keys."""

    @property
    def labels(self) -> tuple[tuple[Any, ...], ...]:
        """The groups as an answer shows them."""
        assert self.keys is not None
        if self.intervals is None:
            return self.keys.labels
        return (*self.intervals, *self.keys.labels[len(self.keys.groups) :])


def require_groups(schema: Schema, columns: Sequence[str], *, keys: Any, edges: Any, other: bool) -> None:
    """Refuse keys, or edges, as somebody gave them: once they are written down, a date is text."""
    if edges is None and keys is not None:
        read_keys(schema, columns, keys, other=other)
    elif edges is not None and keys is None and len(columns) == 1:
        Column(columns[0], schema.require(columns[0])).bin(list(edges))


def grouping(schema: Schema, groups: Groups) -> Grouping:
    """The grouping of rows with these columns; ParameterError for keys and edges that make no sense of them."""
    match groups:
        case All():
            return Grouping(Keys((), ((),)), ())
        case Listed(columns, keys, other):
            return Grouping(read_keys(schema, columns, _as_keys(keys.value), other=other), columns, other)
        case Edges(column, edges, other):
            return _by_edges(schema, column, edges.value, other=other)
        case Found(columns, other):
            if all(schema.require(name).kind is Kind.BOOLEAN for name in columns):
                every = {name: [False, True] for name in columns}
                return Grouping(read_keys(schema, columns, every, other=other), columns, other)
            require_keys(schema, columns)
            return Grouping(None, columns, other)


def _as_keys(keys: Any) -> Any:
    return [tuple(key) if isinstance(key, list) else key for key in keys] if isinstance(keys, list) else keys


def _by_edges(schema: Schema, column: str, ends: list[Any], *, other: bool) -> Grouping:
    binned = Column(column, schema.require(column)).bin(ends)
    taken = {known.casefold() for known in (*schema, *schema.unusable)}
    named = itertools.chain([f"{column}_bin"], (f"bin_{number}" for number in itertools.count()))
    name = next(one for one in named if one.casefold() not in taken and len(one.encode()) <= LONGEST_NAME)
    keys = read_keys(derived_schema(schema, {name: binned}), [name], list(range(len(ends) - 1)), other=other)
    pairs = list(itertools.pairwise(ends))
    # The last interval has its upper end too.
    intervals = tuple((f"[{left}, {right}{']' if right is ends[-1] else ')'}",) for left, right in pairs)
    return Grouping(keys, (column,), other, {name: binned}, intervals)
