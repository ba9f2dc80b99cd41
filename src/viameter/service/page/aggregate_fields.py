"""The fields in which the inputs of aggregates are filled in: those of every word that there is."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from viameter.errors import ViameterError
from viameter.tables.aggregates import WORDS, Aggregate, aggregate_from_json
from viameter.tables.expressions import Kind, Schema, Type


@dataclass(frozen=True, slots=True)
class Input:
    """Something that an aggregate is made of."""

    kind: str
    """"column", "columns", "bounds", or an option by its name."""
    key: str
    """What documents call it."""
    fields: tuple[str, ...]
    """Where it is filled in."""

    @property
    def is_column(self) -> bool:
        """Whether it names a column."""
        return self.kind in ("column", "columns")

    @property
    def is_pair(self) -> bool:
        """Whether it is a pair of bounds."""
        return self.kind == "bounds"


@functools.cache
def inputs_of(what: str) -> tuple[Input, ...]:
    """The inputs of a word; a second column, or pair of bounds, has other fields than the first.

    >>> [one.fields for one in inputs_of("mean")]
    [('column',), ('lower', 'upper')]
    """
    found, seen = [], Counter[str]()
    for wanted in WORDS[what].inputs:
        kind, _, of = wanted.partition(":")
        names = {"bounds": ("lower", "upper"), "columns": ("column",)}.get(kind, (kind,))
        seen[names[0]] += 1
        number = "" if seen[names[0]] == 1 else f"-{seen[names[0]]}"
        key = kind if kind == "bounds" else of or (what if kind == "column" else kind)
        found.append(Input(kind, key, tuple(f"{name}{number}" for name in names)))
    return tuple(found)


def columns_of(what: str) -> list[str]:
    """The fields in which columns are chosen."""
    return [one.fields[0] for one in inputs_of(what) if one.is_column]


INPUT_FIELDS = {
    field: tuple(what for what in WORDS if any(field in one.fields for one in inputs_of(what)))
    for field in dict.fromkeys(field for what in WORDS for one in inputs_of(what) for field in one.fields)
}
"""The fields for inputs that a row has, each with the words that it is for."""


def entry_of(what: str, read: Callable[[Input], Any]) -> dict[str, Any]:
    """An aggregate as documents have it, of what is read for its inputs."""
    given = [(one, read(one)) for one in inputs_of(what)]
    bounds = [pair for one, pair in given if one.is_pair]
    found = {one.key: [value] if one.kind == "columns" else value for one, value in given if not one.is_pair}
    return {what: True, **found, **({"bounds": bounds if len(bounds) > 1 else bounds[0]} if bounds else {})}


def made_of(what: str, texts: Mapping[str, str]) -> Aggregate:
    """The aggregate of what is typed in its fields."""
    entry = entry_of(what, lambda one: [texts[end] for end in one.fields] if one.is_pair else texts[one.fields[0]])
    return aggregate_from_json(entry, what)


def texts_of(what: str, entry: Mapping[str, Any], shown: Callable[[Any], str]) -> dict[str, str]:
    """What one would fill in for an aggregate as documents have it; `shown` writes numbers."""
    found: dict[str, str] = {}
    bounds: Any = entry.get("bounds", [])
    pairs = iter(bounds if any(isinstance(pair, list) for pair in bounds) else [bounds])
    for one in inputs_of(what):
        value: Any = next(pairs) if one.is_pair else entry[one.key]
        if one.is_column:
            (value,) = value if one.kind == "columns" else [value]
            if not isinstance(value, str):
                raise TypeError("a form asks of columns, and not of formulas")
            found[one.fields[0]] = value
        else:
            ends = value if one.is_pair else [value]
            found |= {field: shown(part) for field, part in zip(one.fields, ends, strict=True)}
    return found


@functools.cache
def has_width(what: str) -> bool:
    """Whether it can be asked for within a width; how wide others are depends on how many rows there are."""
    columns, pairs = columns_of(what), [one.fields for one in inputs_of(what) if one.is_pair]
    texts = {field: field if field in columns else "1" for one in inputs_of(what) for field in one.fields}
    with suppress(ViameterError):
        made = made_of(what, texts | {lower: "0" for lower, _ in pairs})
        return made.read(Schema(dict.fromkeys(columns, Type(Kind.INTEGER))), "laplace").fixed_width is not None
    return False
