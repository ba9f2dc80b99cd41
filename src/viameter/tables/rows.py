"""Rows: a table on an engine as questions see it, lazily; and the hidden column that names the unit of a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from viameter.tables.engines import EngineTable
from viameter.tables.expressions import Schema

UNIT = "viameter_unit"
"""The column that names the unit of a row, whatever else is selected."""
RESERVED = "viameter_"
"""How columns start that are not the table's own."""


@dataclass(frozen=True, slots=True, repr=False)
class Rows:
    """A handle to rows that stay where they are: an Ibis expression with the types of its columns."""

    on: EngineTable
    schema: Schema
    """The columns that questions may use."""
    unit: str | None
    """The column that names the unit of a row; None where each row is its own."""

    @property
    def expression(self) -> Any:
        """The Ibis table."""
        return self.on.expression

    def with_expression(self, change: Callable[[Any], Any], schema: Schema | None = None) -> Rows:
        """Rows that are made of these by the engine; nothing is run."""
        changed = self.on.with_expression(change(self.on.expression))
        return replace(self, on=changed, schema=self.schema if schema is None else schema)

    def sketch(self) -> Rows:
        """The same rows, of which queries are compiled and never run."""
        return replace(self, on=replace(self.on, is_sketch=True))

    def __copy__(self) -> Rows:
        return self

    def __deepcopy__(self, memo: Any) -> Rows:
        return self  # nothing of it can be changed

    def __repr__(self) -> str:
        return f"<rows on {self.on.engine.name}: {', '.join(self.schema)}>"
