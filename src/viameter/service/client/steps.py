"""Steps: what was done to a remote table, kept until a question is sent: one document says all of it.

A document has its columns derived first, then one filter, then limits. Steps may come in any order, as long as that
means the same: a column that an earlier step has read cannot get another meaning later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.bounding import Limits
from viameter.tables.expressions import Expression, Kind, Schema, to_json


@dataclass(frozen=True, slots=True)
class Steps:
    """Columns that were derived, predicates that rows were filtered by, and limits."""

    schema: Schema
    """The columns that there are now."""
    derived: tuple[tuple[str, Expression], ...] = ()
    filters: tuple[Expression, ...] = ()
    limits: Limits = field(default_factory=Limits)
    texts: tuple[str, ...] = ()

    def filter(self, predicate: Any) -> Steps:
        """The rows for which one more predicate is true."""
        self._require(predicate, "filter")
        if predicate.type.kind is not Kind.BOOLEAN:
            raise ParameterError(f"filter: {predicate!r} is {predicate.type.kind.value}, not {Kind.BOOLEAN.value}")
        return replace(self, filters=(*self.filters, predicate), texts=(*self.texts, f"filter({predicate!r})"))

    def derive(self, columns: Mapping[str, Any]) -> Steps:
        """One more column for each expression; one that is there already, if nothing has read it."""
        for name, expression in columns.items():
            self._require(expression, f"derive({name}=...)")
            self._refuse_other_meaning(name, columns)
        types = {**dict(self.schema), **{name: made.type for name, made in columns.items()}}
        text = ", ".join(f"{name}={made!r}" for name, made in columns.items())
        return replace(
            self,
            schema=Schema(types),
            derived=(*self.derived, *columns.items()),
            texts=(*self.texts, f"derive({text})"),
        )

    def limit(self, asked: Limits) -> Steps:
        """Fewer rows of a unit."""
        text = ", ".join(f"{name}={value!r}" for name, value in asked.given.items())
        return replace(self, limits=self.limits.tightened(asked), texts=(*self.texts, f"limit({text})"))

    def document(self) -> dict[str, Any]:
        """All of it, as it is sent."""
        found: dict[str, Any] = {}
        if self.derived:
            found["derive"] = {name: to_json(made) for name, made in self.derived}
        if self.filters:
            # A row is kept by all of them if and only if it is kept by their conjunction, also where one is NULL.
            found["filter"] = to_json(reduce(lambda left, right: left & right, self.filters))
        if self.limits.given:
            found["limit"] = self.limits.given
        return found

    def _require(self, expression: Any, where: str) -> None:
        if not isinstance(expression, Expression):
            raise ParameterError(f'{where} takes an expression such as table["age"] > 40, not {plain(expression)}')
        for name in expression.columns:
            self.schema.require(name)

    def _refuse_other_meaning(self, name: str, columns: Mapping[str, Expression]) -> None:
        """Refuse a name that another step, or another column of this one, has read or made under another meaning."""
        if name not in self.schema:
            return
        made = any(name == other for other, _ in self.derived)
        read = any(name in predicate.columns for predicate in self.filters)
        beside = any(name in other.columns for key, other in columns.items() if key != name)
        if made or read or beside:
            raise ParameterError(
                f"derive({name}=...): an earlier step uses another column of that name, and a service derives columns "
                "before it filters; choose a new name"
            )
