"""Formula: an expression as it was written, as data; it is read against the columns of a table when they are known."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from viameter.errors import FormatError, ParameterError, plain
from viameter.tables.expressions import Column, Expression, Schema, from_json, to_json
from viameter.tables.expressions.parsing import LONGEST, parse
from viameter.tables.expressions.writing import written_document

WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True, repr=False)
class Json:
    """A public JSON value that does not change, kept as its text: 1, 1.0, true and "1" are four values.

    >>> Json.of([1, True, "A"]).value, Json.of(1) == Json.of(True)
    ([1, True, 'A'], False)
    """

    text: str

    @classmethod
    def of(cls, value: Any) -> Json:
        """A value of Python, NumPy or pandas as JSON has it: dates as ISO text, fractions and decimals as floats."""
        try:
            return cls(json.dumps(value, allow_nan=False, default=_as_json, separators=(",", ":")))
        except (TypeError, ValueError, RecursionError):
            raise ParameterError(
                f"{plain(value)} cannot be written down: expected numbers that are finite, text, truth values, dates, "
                "or lists of them"
            ) from None

    @property
    def value(self) -> Any:
        """The value."""
        return json.loads(self.text)

    def __repr__(self) -> str:
        return self.text


def in_order(values: Iterable[Any]) -> tuple[Any, ...]:
    """The values of a set, whose own order is another one in every process: ascending, with None last."""

    def place(value: Any) -> Any:
        return tuple(map(place, value)) if isinstance(value, tuple) else (value is None, 0 if value is None else value)

    return tuple(sorted(values, key=place))


def _as_json(value: Any) -> Any:
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Fraction | Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers, and pandas' columns
        return value.tolist()
    if isinstance(value, set | frozenset):
        return in_order(value)
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return list(value)
    raise TypeError


@dataclass(frozen=True, slots=True, repr=False)
class Formula:
    """An expression as text, `wait > 60`, or as a document (see `viameter.tables.expressions.document`).

    Two are equal if they are written alike; nothing is known of types before it is read against a schema.

    >>> Formula.of("wait > 60"), Formula.of({"operation": "is_null", "arguments": [{"column": "wait"}]})
    (wait > 60, wait.is_null())
    """

    written: Json

    @classmethod
    def of(cls, given: Any) -> Formula:
        """What somebody wrote: an expression, text, a document or a constant."""
        if isinstance(given, Formula):
            return given
        if isinstance(given, Expression):
            return cls(Json.of(to_json(given)))
        if not isinstance(given, str | int | float | bool | Mapping):
            raise FormatError(f"an expression is text, or a document of JSON: got {plain(given)}")
        return cls(Json.of(given))

    def read(self, schema: Schema) -> Expression:
        """The expression over the columns of a schema; ParameterError where it does not fit them."""
        return _read(self.written.text, schema)

    @property
    def words(self) -> frozenset[str]:
        """The columns that it may read: of one that is text, every name in it, as Python reads names."""
        written = self.to_json()
        return _names(written) if isinstance(written, str) else frozenset(_columns(written))

    def to_json(self) -> Any:
        """As it was written."""
        return self.written.value

    def __repr__(self) -> str:
        written = self.to_json()
        try:
            return written if isinstance(written, str) else written_document(written)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
            return self.written.text  # it is no expression, which is said when it is read


def _names(text: str) -> frozenset[str]:
    try:
        text = text[:LONGEST].strip()
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(WORD.findall(text))  # refused when it is read
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return frozenset(name for node in nodes for name in (node.id, ast.get_source_segment(text, node) or node.id))


def _columns(document: Any) -> Iterator[str]:
    if isinstance(document, Mapping):
        if "column" in document:
            yield str(document["column"])
        arguments = document.get("arguments")
        for argument in arguments if isinstance(arguments, list) else ():
            yield from _columns(argument)


Operand = str | Formula
"""What an aggregate is of: a column by its name, or a formula."""


def read_operand(given: Any, where: str) -> Operand:
    """A column by its name, or an expression of columns, as people and documents write it."""
    if isinstance(given, Expression):
        given.require_moderate(where)
        return given.name if isinstance(given, Column) else Formula.of(given)
    if isinstance(given, Mapping):
        return str(given["column"]) if set(given) == {"column"} else Formula.of(given)
    if isinstance(given, str | Formula):
        return given
    raise ParameterError(f"{where}: {plain(given)} is neither the name of a column nor an expression")


def operand_expression(operand: Operand, schema: Schema) -> Expression:
    """The expression that an operand names, over the columns of a schema."""
    return Column(operand, schema.require(operand)) if isinstance(operand, str) else operand.read(schema)


@lru_cache(maxsize=4096)
def _read(text: str, schema: Schema) -> Expression:
    written = json.loads(text)
    return parse(written, schema) if isinstance(written, str) else from_json(written, schema)
