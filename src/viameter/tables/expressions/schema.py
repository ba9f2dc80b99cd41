"""Schema: the columns of a table by name, each with its type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.expressions.types import Type, type_of_ibis


class Schema(Mapping[str, Type]):
    """An immutable mapping of names to types; `unusable` are the names of columns that questions cannot use.

    `required` are those in which no row is NULL, since rows with a NULL were left out: it is no part of what a schema
    is equal to.

    >>> from viameter.tables.expressions import Kind
    >>> Schema({"carrier": Type(Kind.TEXT)}).require("carier")
    Traceback (most recent call last):
    viameter.errors.ParameterError: there is no column 'carier'; did you mean 'carrier'? There are: carrier
    """

    __slots__ = ("_types", "required", "unusable")
    _types: dict[str, Type]
    unusable: tuple[str, ...]
    required: frozenset[str]

    def __init__(self, types: Mapping[str, Type], unusable: Iterable[str] = (), required: Iterable[str] = ()) -> None:
        for name, found in types.items():
            if not isinstance(name, str) or not isinstance(found, Type):
                raise ParameterError(f"a schema maps names to types: got {plain(name)} and {plain(found)}")
        object.__setattr__(self, "_types", dict(types))
        object.__setattr__(self, "unusable", tuple(unusable))
        object.__setattr__(self, "required", frozenset(required).intersection(types))

    @classmethod
    def of_ibis(cls, schema: Mapping[str, Any]) -> Schema:
        """The schema of an Ibis table's schema."""
        types = {name: type_of_ibis(dtype) for name, dtype in schema.items()}
        usable = {name: found for name, found in types.items() if found is not None}
        return cls(usable, (name for name, found in types.items() if found is None))

    def require(self, name: str) -> Type:
        """The type of a column; an error that names the columns that exist if there is none of that name."""
        types = self._types
        if isinstance(name, str) and name in types:
            return types[name]
        if name in self.unusable:
            raise ParameterError(
                f"the column {name!r} has a type that questions cannot use; "
                "usable are numbers, text, truth values, dates and timestamps"
            )
        close = get_close_matches(str(name), types, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ParameterError(f"there is no column {plain(name)}{hint} There are: {', '.join(types)}")

    def __getitem__(self, name: str) -> Type:
        return self._types[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def __hash__(self) -> int:
        return hash(frozenset(self._types.items()))

    def __setattr__(self, name: str, value: object) -> None:
        raise ParameterError(f"a schema does not change: {name!r} cannot be set; make another one")

    def __delattr__(self, name: str) -> None:
        raise ParameterError(f"a schema does not change: {name!r} cannot be removed; make another one")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self), self.unusable, self.required)

    def __repr__(self) -> str:
        return f"Schema({', '.join(f'{name!r}: {found!r}' for name, found in self.items())})"
