"""Expressions written as text, such as `distance > 500 and carrier in ["UA", "AA"]`: read as data, never executed."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Container
from functools import reduce
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.expressions.building import case, greatest, least
from viameter.tables.expressions.constants import literal
from viameter.tables.expressions.methods import Methods
from viameter.tables.expressions.nodes import Column, Expression
from viameter.tables.expressions.schema import Schema

OPERATIONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
    ast.Eq: lambda left, right: left == right,
    ast.NotEq: lambda left, right: left != right,
    ast.Lt: lambda left, right: left < right,
    ast.LtE: lambda left, right: left <= right,
    ast.Gt: lambda left, right: left > right,
    ast.GtE: lambda left, right: left >= right,
    ast.BitAnd: lambda left, right: left & right,
    ast.BitOr: lambda left, right: left | right,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {"least": least, "greatest": greatest, "case": case}
METHODS = frozenset(name for name in vars(Methods) if not name.startswith("_"))
LONGEST = 10_000
"""How many characters an expression may have."""


def parse(text: str, schema: Schema) -> Expression:
    """The expression that a text writes in the words of Python: columns by name, operators, methods of expressions.

    >>> from viameter.tables.expressions import Kind, Type
    >>> schema = Schema({"distance": Type(Kind.INTEGER), "carrier": Type(Kind.TEXT)})
    >>> parse('distance > 500 and carrier in ["UA", "AA"]', schema)
    (distance > 500) & carrier.is_in(['UA', 'AA'])
    """
    if len(text) > LONGEST:
        raise ParameterError(f"an expression of {len(text)} characters is too long: at most {LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        found = _Reader(text.strip(), schema).read(tree.body)
    except (SyntaxError, ValueError) as problem:
        if isinstance(problem, ParameterError):
            raise
        raise ParameterError(f"{text!r} is no expression: {_hint(text)}") from None
    except (RecursionError, MemoryError):
        raise ParameterError(f"the expression {text[:40]!r}... is nested too deeply") from None
    return found if isinstance(found, Expression) else literal(found)


def _hint(text: str) -> str:
    """How to write what somebody may have meant."""
    found = ["write it as in distance > 500 and carrier == 'UA'"]
    if re.search(r"(?<![=!<>])=(?!=)", text):
        found.append("equal is ==")
    if "&&" in text or "||" in text:
        found.append("&& is and, || is or")
    if re.search(r"\w\s+\w", text):
        found.append('a column whose name has spaces is table["its name"] in Python, {"column": "its name"} in JSON')
    return "; ".join(found)


def name_of(node: ast.Name, text: str, known: Container[str]) -> str:
    """The name of a column as it is written; Python reads some letters as others, which may be another column's."""
    written = ast.get_source_segment(text, node)
    return written if written is not None and (written in known or node.id not in known) else node.id


class _Reader:
    def __init__(self, text: str, schema: Schema) -> None:
        self.text, self.schema = text, schema

    def read(self, node: ast.expr) -> Any:
        match node:
            case ast.Name():
                name = name_of(node, self.text, self.schema)
                return Column(name, self.schema.require(name))
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self.read(item) for item in items]
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
                return ~self._expression(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.read(operand)
                return -value if isinstance(value, int | float | Expression) else -literal(value)
            case ast.BoolOp(op=joined, values=values):
                parts = [self._expression(value) for value in values]
                whole = isinstance(joined, ast.And)
                return reduce((lambda a, b: a & b) if whole else (lambda a, b: a | b), parts)
            case ast.BinOp(left=left, op=operation, right=right) if type(operation) in OPERATIONS:
                return self._applied(type(operation), left, right)
            case ast.Compare(left=left, ops=operations, comparators=others):
                sides = [left, *others]
                parts = [self._compared(sides[i], operation, sides[i + 1]) for i, operation in enumerate(operations)]
                return reduce(lambda a, b: a & b, parts)
            case ast.Call(func=ast.Attribute(value=subject, attr=name), args=given, keywords=[]) if name in METHODS:
                return self._called(getattr(self._expression(subject), name), [self.read(one) for one in given])
            case ast.Call(func=ast.Name(id="case"), args=arms, keywords=keywords):
                default = [self.read(word.value) for word in keywords if word.arg == "default"]
                pairs: list[Any] = [tuple(self.read(arm)) for arm in arms]
                return case(*pairs, default=default[0] if default else None)
            case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in FUNCTIONS:
                return self._called(FUNCTIONS[name], [self.read(one) for one in given])
        raise self._unknown(node)

    def _called(self, function: Callable[..., Any], given: list[Any]) -> Any:
        try:
            inspect.signature(function).bind(*given)
        except TypeError:
            raise ParameterError(
                f"{function.__name__} does not take {len(given)} values, as in {self.text[:100]!r}"
            ) from None
        return function(*given)

    def _compared(self, left: ast.expr, operation: ast.cmpop, right: ast.expr) -> Any:
        if isinstance(operation, ast.In | ast.NotIn):
            found = self._expression(left).is_in(self.read(right))
            return ~found if isinstance(operation, ast.NotIn) else found
        if isinstance(operation, ast.Is | ast.IsNot) and isinstance(right, ast.Constant) and right.value is None:
            found = self._expression(left).is_null()
            return ~found if isinstance(operation, ast.IsNot) else found
        if type(operation) not in OPERATIONS:
            raise self._unknown(left)
        return self._applied(type(operation), left, right)

    def _applied(self, operation: type[ast.AST], left: ast.expr, right: ast.expr) -> Any:
        one, other = self.read(left), self.read(right)
        # Of two plain values one is made an expression: their arithmetic would be Python's, as long as it likes.
        if not isinstance(one, Expression) and not isinstance(other, Expression):
            one = literal(one)
        return OPERATIONS[operation](one, other)

    def _expression(self, node: ast.expr) -> Any:
        found = self.read(node)
        return found if isinstance(found, Expression) else literal(found)

    def _unknown(self, node: ast.AST) -> ParameterError:
        part = ast.get_source_segment(self.text.strip(), node) or self.text
        return ParameterError(
            f"{part!r} is not understood: expressions have columns, numbers, text in quotes, comparisons, and, or, "
            f"not, in [...], arithmetic, methods such as .is_null() or .year(), and {', '.join(FUNCTIONS)}"
        )
