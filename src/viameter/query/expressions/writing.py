"""Write an expression as one would type it; its literals are public."""

from __future__ import annotations

from collections.abc import Container
from datetime import date

from viameter.query.expressions.nodes import Call, Column, Expression, Literal

INFIX = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&", "or": "|",
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "modulo": "%",
}  # fmt: skip
PREFIX = {"not": "~", "negate": "-"}
FUNCTIONS = {"absolute": "abs", "least": "least", "greatest": "greatest"}


def written(expression: Expression) -> str:
    """The expression as text, without the casts to REAL that were put in by themselves."""
    expression = _seen(expression)
    if isinstance(expression, Column):
        return expression.name if expression.name.isidentifier() else f"column({expression.name!r})"
    if isinstance(expression, Literal):
        return str(expression.value) if isinstance(expression.value, date) else repr(expression.value)
    assert isinstance(expression, Call)
    operation, arguments = expression.operation, expression.arguments
    if operation in INFIX:
        return f"{_inner(arguments[0], INFIX)} {INFIX[operation]} {_inner(arguments[1], INFIX)}"
    if operation in PREFIX:
        return PREFIX[operation] + _inner(arguments[0])
    if operation in FUNCTIONS:
        return f"{FUNCTIONS[operation]}({', '.join(map(written, arguments))})"
    if operation == "case":
        pairs = zip(arguments[0:-1:2], arguments[1:-1:2], strict=True)
        arms = "".join(f"({written(condition)}, {written(value)}), " for condition, value in pairs)
        return f"case({arms}default={written(arguments[-1])})"
    rest = [written(argument) for argument in arguments[1:]] + [
        repr(option.lower() if operation == "cast" else option) for option in expression.options
    ]
    inside = f"[{', '.join(rest)}]" if operation in ("is_in", "bin") else ", ".join(rest)
    return f"{_inner(arguments[0])}.{operation}({inside})"


def _seen(expression: Expression) -> Expression:
    while isinstance(expression, Call) and (
        expression.operation == "settle"
        or (
            expression.operation == "cast"
            and expression.options == ("REAL",)
            and expression.arguments[0].type.is_number
        )
    ):
        expression = expression.arguments[0]
    return expression


def _inner(expression: Expression, loose: Container[str] = (*INFIX, *PREFIX)) -> str:
    # A sign or a ~ binds more tightly than operators between two, and less than a method.
    seen = _seen(expression)
    text = written(seen)
    is_loose = isinstance(seen, Call) and seen.operation in loose
    is_negative = isinstance(seen, Literal) and text.startswith("-")
    return f"({text})" if is_loose or is_negative else text
