"""Expressions as JSON documents, to be stored and sent.

A document is one of

    {"column": "distance"}
    {"value": 500, "kind": "INTEGER"}          kind may be left out; dates and timestamps are ISO text; null is NULL
    {"operation": "gt", "arguments": [...], "options": [...]}        options may be left out

and a bare number, text or truth value stands for a constant; in "case" and "fill_null", {"value": null} stands for a
NULL of the kind of the other values. Operations are those of `Call.operation`: "eq", "add",
"is_in", ... Reading checks everything that operators and methods check.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from viameter.errors import FormatError
from viameter.tables.expressions.building import MAY_BE_NULL, kind_named, make
from viameter.tables.expressions.constants import literal
from viameter.tables.expressions.nodes import DEEPEST, MOST_NODES, Call, Column, Expression, Literal
from viameter.tables.expressions.schema import Schema


def to_json(expression: Expression) -> dict[str, Any]:
    """The expression as a document of dicts, lists and JSON's plain values.

    >>> from viameter.tables.expressions import Column, Kind, Type
    >>> to_json(Column("carrier", Type(Kind.TEXT)) == "AA")["arguments"]
    [{'column': 'carrier'}, {'value': 'AA', 'kind': 'TEXT'}]
    """
    if isinstance(expression, Column):
        return {"column": expression.name}
    if isinstance(expression, Literal):
        value = expression.value.isoformat() if isinstance(expression.value, date) else expression.value
        return {"value": value, "kind": expression.type.kind.value}
    if not isinstance(expression, Call):
        raise FormatError(f"to_json takes an expression: got a value of type {type(expression).__name__}")
    document = {"operation": expression.operation, "arguments": [to_json(each) for each in expression.arguments]}
    return {**document, "options": list(expression.options)} if expression.options else document


def from_json(document: Any, schema: Schema) -> Expression:
    """The expression of a document, over the columns of a schema."""
    return _Reader(schema).read(document, 0)


class _Reader:
    def __init__(self, schema: Schema) -> None:
        self.schema, self.nodes = schema, 0

    def read(self, document: Any, depth: int) -> Expression:
        self.nodes += 1
        if depth > DEEPEST or self.nodes > MOST_NODES:
            raise FormatError(f"the expression has more than {MOST_NODES} nodes or is nested deeper than {DEEPEST}")
        if isinstance(document, (bool, int, float, str)):
            return literal(document)
        if not isinstance(document, Mapping):
            raise FormatError(
                f"an expression is an object, a number, text or truth value, not a {type(document).__name__}"
            )
        names = set(document)
        if names == {"column"}:
            return Column(document["column"], self.schema.require(document["column"]))
        if "value" in names and names <= {"value", "kind"}:
            return self._constant(document)
        if {"operation", "arguments"} <= names <= {"operation", "arguments", "options"}:
            return self._call(document, depth)
        raise FormatError(
            'an expression has the names "column", or "value" and "kind", or "operation", "arguments" and "options": '
            f"got {', '.join(sorted(map(repr, names))[:5])}"
        )

    def _constant(self, document: Mapping[str, Any]) -> Expression:
        value = document["value"]
        if value is not None and not isinstance(value, (bool, int, float, str)):
            raise FormatError(f"a constant is a number, text, truth value or null, not a {type(value).__name__}")
        kind = kind_named(document["kind"]) if "kind" in document else None
        made = literal(value, kind)
        if kind is not None and made.type.kind is not kind:
            raise FormatError(f"{value!r} is {made.type.kind.value} and not {kind.value}")
        return made

    def _call(self, document: Mapping[str, Any], depth: int) -> Expression:
        operation, arguments, options = document["operation"], document["arguments"], document.get("options", [])
        if not isinstance(operation, str) or not isinstance(arguments, list) or not isinstance(options, list):
            raise FormatError("an operation is a name, with a list of arguments and a list of options")
        if any(not isinstance(option, (int, str)) for option in options):
            raise FormatError("options are whole numbers or text")
        read = [
            None if operation in MAY_BE_NULL and argument == {"value": None} else self.read(argument, depth + 1)
            for argument in arguments
        ]
        return make(operation, read, tuple(options))
