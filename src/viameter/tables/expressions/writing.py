"""Write an expression as one would type it; its literals are public."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from viameter.errors import ViameterError
from viameter.tables.expressions.document import from_json, to_json
from viameter.tables.expressions.nodes import Call, Column, Expression, Literal
from viameter.tables.expressions.schema import Schema

INFIX = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&", "or": "|",
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "modulo": "%",
}  # fmt: skip
PREFIX = {"not": "~", "negate": "-"}
CONSTANTS = ("True", "False", "None")
FUNCTIONS = {"absolute": "abs", "least": "least", "greatest": "greatest"}


def written(expression: Expression) -> str:
    """The expression as text, without the casts to REAL that were put in by themselves.

    Two that mean different things have different texts: questions are told apart by them. Where the casts that are put
    in by themselves are not those that are there, all of them are shown.
    """
    seen = _document(expression)
    types = {}
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Column):
            types[one.name] = one.type
        elif isinstance(one, Call):
            waiting += one.arguments
    try:
        is_faithful = from_json(seen, Schema(types)).key == expression.key
    except ViameterError:
        is_faithful = False
    return written_document(seen if is_faithful else to_json(expression))


def written_document(document: Any) -> str:
    """The same of a document (see `document`), whose columns need not be known."""
    if not isinstance(document, Mapping):
        return repr(document)
    if "column" in document:
        name = document["column"]
        return name if str(name).isidentifier() and name not in CONSTANTS else f"column({name!r})"
    if "value" in document:
        value, kind = document["value"], str(document.get("kind")).upper()
        if value is None and "kind" in document:
            return f"None.cast({kind.lower()!r})"
        is_time = isinstance(value, str) and kind in ("DATE", "TIMESTAMP")
        return value.replace("T", " ") if is_time else repr(value)
    operation, arguments = document["operation"], document["arguments"]
    options = document.get("options", ())
    if operation in INFIX:
        return f"{_inner(arguments[0], INFIX)} {INFIX[operation]} {_inner(arguments[1], INFIX)}"
    if operation in PREFIX:
        return PREFIX[operation] + _inner(arguments[0])
    if operation in FUNCTIONS:
        return f"{FUNCTIONS[operation]}({', '.join(map(written_document, arguments))})"
    if operation == "case":
        pairs = zip(arguments[0:-1:2], arguments[1:-1:2], strict=True)
        arms = "".join(f"({written_document(condition)}, {written_document(value)}), " for condition, value in pairs)
        return f"case({arms}default={written_document(arguments[-1])})"
    rest = [written_document(argument) for argument in arguments[1:]] + [
        repr(option.lower() if operation == "cast" else option) for option in options
    ]
    inside = f"[{', '.join(rest)}]" if operation in ("is_in", "bin") else ", ".join(rest)
    return f"{_inner(arguments[0])}.{operation}({inside})"


def _document(expression: Expression) -> Any:
    """The document of what is seen of an expression."""
    while isinstance(expression, Call) and (
        expression.operation == "settle"
        or (
            expression.operation == "cast"
            and expression.options == ("REAL",)
            and expression.arguments[0].type.is_number
        )
    ):
        expression = expression.arguments[0]
    if isinstance(expression, Literal) and expression.value is None:
        return {"value": None}  # of the kind that those beside it have
    if not isinstance(expression, Call):
        return to_json(expression)
    parts = [_document(argument) for argument in expression.arguments]
    return {"operation": expression.operation, "arguments": parts, "options": list(expression.options)}


def _inner(document: Any, loose: Container[str] = (*INFIX, *PREFIX)) -> str:
    # A sign or a ~ binds more tightly than operators between two, and less than a method.
    text = written_document(document)
    is_loose = isinstance(document, Mapping) and document.get("operation") in loose
    is_call = isinstance(document, Mapping) and ("operation" in document or "column" in document)
    return f"({text})" if is_loose or (text.startswith("-") and not is_call) else text
