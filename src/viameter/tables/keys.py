"""Keys: the public groups of a question, and how rows find theirs on an engine."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.engines import Engine, public_table
from viameter.tables.expressions import Column, Kind, Schema, to_ibis
from viameter.tables.expressions.constants import is_storable
from viameter.tables.expressions.engine_values import one_of
from viameter.tables.formula import in_order
from viameter.tables.rows import RESERVED, Rows

OTHER = "(other)"
"""How the group of keys that are not listed is called in an answer."""
LISTED = f"{RESERVED}listed"
WRITTEN_OUT = 2000
"""Up to so many keys stand in the text of a query; more of them are joined as a table."""
MOST_LETTERS = 2**15
"""How many letters keys have together that are written out."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The columns that group rows, and the groups that an answer has: all of them, whether or not there are rows."""

    columns: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    other: bool = False
    """Whether rows of keys that are not listed make one more group, or are left out."""
    each: tuple[tuple[Any, ...], ...] | None = None
    """The values of each column, where the groups are all combinations of them."""

    @property
    def size(self) -> int:
        """How many groups there are."""
        return len(self.groups) + self.other

    @property
    def labels(self) -> tuple[tuple[Any, ...], ...]:
        """The groups as an answer shows them."""
        return (*self.groups, *([(OTHER,) * len(self.columns)] if self.other else []))

    def place(self, values: Sequence[Any], listed: bool) -> int | None:
        """Which group it is that the engine gave; None for one that is not asked for."""
        return self.finder()(values, listed)

    def finder(self) -> Callable[[Sequence[Any], bool], int | None]:
        """The same for many: which group it is that the engine gave."""
        places = {tuple(map(_comparable, group)): place for place, group in enumerate(self.groups)}

        def place(values: Sequence[Any], listed: bool) -> int | None:
            return len(self.groups) if self.other and not listed else places.get(tuple(map(_comparable, values)))

        return place

    def group_columns(self) -> tuple[str, ...]:
        """The columns that the engine groups by."""
        return (*self.columns, *([LISTED] if self.other else []))

    def mark(self, rows: Rows) -> Any:
        """The rows of these groups on the engine; with `other` all rows, marked, without keys that are not listed."""
        import ibis

        table = rows.expression
        if not self.columns:
            return table
        # Times of a zone, and whole numbers that are decimals, are compared as expressions read them.
        read = [name for name in self.columns if _is_read(table[name].type())]
        if read:
            table = table.mutate(**{name: to_ibis(Column(name, rows.schema[name]), table) for name in read})
        if self.each is not None and _are_written_out(self.each, rows.on.engine):
            listed = None
            for name, values in zip(self.columns, self.each, strict=True):
                here = _is_in(table[name], values)
                listed = here if listed is None else listed & here
            return self._marked(table, listed)
        # By number: with a prefix before it, a name may be longer than engines keep.
        columns = {f"{RESERVED}key_{i}": [group[i] for group in self.groups] for i in range(len(self.columns))}
        # Nothing but NULL does not tell its type.
        types = {f"{RESERVED}key_{i}": table[name].type() for i, name in enumerate(self.columns) if self._is_null(i)}
        public = public_table(rows.on, columns, types=types)
        matches = [
            table[name].identical_to(public[f"{RESERVED}key_{i}"]) if self._has_null(i)
            else table[name] == public[f"{RESERVED}key_{i}"]
            for i, name in enumerate(self.columns)
        ]  # fmt: skip
        if not self.other:
            return table.semi_join(public, matches)
        # Every row is in one of the two, and in it once, whichever keys the engine takes for the same.
        without = {name: ibis.null(table[name].type()) for name in self.columns}
        listed = table.semi_join(public, matches).mutate(**{LISTED: ibis.literal(True)})
        return listed.union(table.anti_join(public, matches).mutate(**{LISTED: ibis.literal(False), **without}))

    def _has_null(self, place: int) -> bool:
        return any(group[place] is None for group in self.groups)

    def _is_null(self, place: int) -> bool:
        return all(group[place] is None for group in self.groups)

    def _marked(self, table: Any, listed: Any) -> Any:
        import ibis

        if not self.other:
            return table.filter(listed)
        # Keys that are not listed are not told apart: the other group has none.
        kept = {name: ibis.ifelse(listed, table[name], ibis.null(table[name].type())) for name in self.columns}
        return table.mutate(**{LISTED: listed, **kept})


def read_keys(schema: Schema, columns: Sequence[str], keys: Any, *, other: bool) -> Keys:
    """Keys as people give them: a list for one column; tuples, or a dict of lists (all combinations), for several."""
    if len(set(columns)) != len(columns):
        raise ParameterError(f"group_by: one of {', '.join(columns)} is named twice")
    for name in columns:
        kind = schema.require(name).kind
        if kind is Kind.REAL:
            raise ParameterError(
                f"group_by: {name!r} is real; cut it into bins first, as in edges=[0, 10, 20], since keys must be exact"
            )
    found = _read_keys(schema, columns, keys, other=other)
    if other and (OTHER,) * len(columns) in found.groups:
        raise ParameterError(f"keys: {OTHER!r} is what the group of other keys is called; leave it out of keys")
    return found


def _read_keys(schema: Schema, columns: Sequence[str], keys: Any, *, other: bool) -> Keys:
    if isinstance(keys, Mapping):
        missing = [name for name in columns if name not in keys]
        if missing or len(keys) != len(columns):
            raise ParameterError(f"keys: expected a list of values for each of {', '.join(columns)}")
        each = tuple(_values(schema, name, keys[name]) for name in columns)
        return Keys(tuple(columns), tuple(itertools.product(*each)), other, each)
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise ParameterError(f"keys={plain(keys)}: expected a list of the public values of {', '.join(columns)}")
    listed = list(keys)
    if len(columns) == 1:
        if any(isinstance(key, tuple) and len(key) != 1 for key in listed):
            raise ParameterError(f"keys of {columns[0]!r}: expected single values, not tuples of several")
        values = _values(schema, columns[0], [key[0] if isinstance(key, tuple) else key for key in listed])
        if isinstance(keys, set | frozenset):
            values = in_order(values)
        return Keys(tuple(columns), tuple((value,) for value in values), other, (values,))
    groups = [tuple(key) if isinstance(key, tuple | list) else (key,) for key in listed]
    if any(len(group) != len(columns) for group in groups):
        raise ParameterError(f"keys: expected tuples of {len(columns)} values, for {', '.join(columns)}")
    checked = [_values(schema, name, [g[i] for g in groups], unique=False) for i, name in enumerate(columns)]
    found = tuple(zip(*checked, strict=True))
    if isinstance(keys, set | frozenset):
        found = in_order(found)
    if len(set(found)) != len(found):
        raise ParameterError("keys: one of them is listed twice")
    return Keys(tuple(columns), found, other)


def _values(schema: Schema, name: str, values: Iterable[Any], *, unique: bool = True) -> tuple[Any, ...]:
    kind = schema.require(name).kind
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(f"keys of {name!r}: expected a list of values, not {plain(values)}")
    found = []
    for value in values:
        plain_value = _as_python(value, kind)
        if isinstance(plain_value, datetime.datetime) and plain_value.tzinfo is not None:
            plain_value = plain_value.astimezone(datetime.UTC).replace(tzinfo=None)
        if plain_value is not None and not _fits(plain_value, kind):
            raise ParameterError(f"keys of {name!r}: {plain(value)} is no value of a column that is {kind.value}")
        found.append(plain_value)
    if not found:
        raise ParameterError(f"keys of {name!r}: the list is empty")
    if unique and len(set(found)) != len(found):
        raise ParameterError(f"keys of {name!r}: one of them is listed twice")
    return in_order(found) if isinstance(values, set | frozenset) else tuple(found)


def _as_python(value: Any, kind: Kind) -> Any:
    """A key of NumPy or pandas, or a date as text, as Python has it."""
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime()
    elif hasattr(value, "item"):
        value = value.item()
    try:
        if kind is Kind.DATE and isinstance(value, str | datetime.datetime):
            moment = datetime.datetime.fromisoformat(value) if isinstance(value, str) else value
            return moment.date() if moment == datetime.datetime.combine(moment.date(), datetime.time()) else value
        if kind is Kind.TIMESTAMP and isinstance(value, str):
            return datetime.datetime.fromisoformat(value)
    except ValueError:
        pass
    return value


def _fits(value: Any, kind: Kind) -> bool:
    if kind is Kind.BOOLEAN:
        return isinstance(value, bool)
    if kind is Kind.INTEGER:
        return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    if kind is Kind.TEXT:
        return isinstance(value, str) and is_storable(value)
    if kind is Kind.DATE:
        return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
    return isinstance(value, datetime.datetime)


def _are_written_out(each: tuple[tuple[Any, ...], ...], engine: Engine) -> bool:
    """Whether keys stand in the text of a query: where they are few, and all engines have escapes for their letters."""
    texts = [value for values in each for value in values if isinstance(value, str)]
    controls = any(letter < " " and letter not in "\t\n\r" for text in texts for letter in text)
    return (
        sum(map(len, each)) <= min(WRITTEN_OUT, engine.most_keys_in_text)
        and sum(map(len, texts)) <= MOST_LETTERS
        and not controls
    )


def _is_read(dtype: Any) -> bool:
    return dtype.is_decimal() or (dtype.is_timestamp() and dtype.timezone is not None)


def _is_in(column: Any, values: tuple[Any, ...]) -> Any:
    present = [value for value in values if value is not None]
    found = one_of(column, present).fill_null(False) if present else column.isnull() & column.notnull()
    return found | column.isnull() if len(present) < len(values) else found


def _comparable(value: Any) -> Any:
    """A value as keys are compared: 1 and True are different groups."""
    return (isinstance(value, bool), value)
