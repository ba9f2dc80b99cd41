"""PublicTable: rows that everybody may see, to join private ones with."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.expressions import Schema, type_of_value
from viameter.tables.expressions.constants import is_storable


@dataclass(frozen=True, repr=False, eq=False)
class PublicTable:
    """Columns of public values; two that have the same rows are equal."""

    columns: Mapping[str, tuple[Any, ...]]
    schema: Schema

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "columns", MappingProxyType({name: tuple(values) for name, values in self.columns.items()})
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return PublicTable, (dict(self.columns), self.schema)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values()), ()))

    @cached_property
    def digest(self) -> str:
        """What tells these rows from others."""
        content = repr([(name, kind, self.columns[name]) for name, kind in self.schema.items()])
        return hashlib.sha256(content.encode()).hexdigest()[:32]

    def most_matches(self, on: tuple[str, ...]) -> int:
        """How many rows have the same values in these columns at most; at least 1."""
        rows = Counter(zip(*(self.columns[name] for name in on), strict=True))
        return max(rows.values(), default=1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicTable) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<public table of {self.size} rows: {', '.join(self.schema)}>"


def public(table: Any) -> PublicTable:
    """Public rows, to join private ones with: a dict of lists, a pandas, Polars or Arrow table, or a list of dicts.

    >>> public({"carrier": ["AA", "UA"], "alliance": ["oneworld", "star"]})
    <public table of 2 rows: carrier, alliance>
    """
    if isinstance(table, PublicTable):
        return table
    columns = _columns(table)
    sizes = {len(values) for values in columns.values()}
    if not columns or len(sizes) != 1:
        raise ParameterError("a public table has columns of one length: got " + ", ".join(map(str, sorted(sizes))))
    plain_columns = {name: tuple(map(_plain_value, values)) for name, values in columns.items()}
    for name, values in plain_columns.items():
        if any(isinstance(value, str) and not is_storable(value) for value in values):
            raise ParameterError(
                f"public column {name!r}: expected text that is Unicode without NUL and single surrogates; "
                "replace these letters, or leave out their rows"
            )
    return PublicTable(plain_columns, Schema({name: _type(name, values) for name, values in plain_columns.items()}))


def _columns(table: Any) -> dict[str, list[Any]]:
    if isinstance(table, Mapping):
        return {str(name): list(values) for name, values in table.items()}
    if isinstance(table, Sequence) and table and all(isinstance(row, Mapping) for row in table):
        names = list(table[0])
        if any(list(row) != names for row in table):
            raise ParameterError("a public table as a list of dicts: all need the same names, in the same order")
        return {str(name): [row[name] for row in table] for name in names}
    if hasattr(table, "to_pydict"):  # Arrow
        return dict(table.to_pydict())
    if hasattr(table, "to_dict"):
        try:
            found = table.to_dict(as_series=False)  # Polars
        except TypeError:
            found = table.to_dict(orient="list")  # pandas
        return {str(name): list(values) for name, values in found.items()}
    raise ParameterError(f"a public table is a dict of lists, or a pandas, Polars or Arrow table, not {plain(table)}")


def _plain_value(value: Any) -> Any:
    """Values of NumPy and pandas as those of Python; NaN and the like as None."""
    if value is None or bool(value != value):  # noqa: PLR0124  # NaN of any library
        return None
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, Fraction | Decimal):
        # Engines compare them as floats, and so several would match one row that are different here.
        return float(value)
    moment = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        # As expressions read them. Python takes no time in the hour that a clock repeats for one of another zone.
        return moment.astimezone(UTC).replace(tzinfo=None)
    # Which of two times that a clock repeats it is says nothing where there is no zone, and is not written down.
    return moment.replace(fold=0) if isinstance(moment, datetime) else moment


def _type(name: str, values: Sequence[Any]) -> Any:
    kinds = {type_of_value(value) for value in values if value is not None}
    whole = {kind.kind for kind in kinds}
    if len(whole) != 1:
        raise ParameterError(f"public column {name!r} mixes {len(whole)} types of values: expected one")
    return type_of_value(next(value for value in values if value is not None))
