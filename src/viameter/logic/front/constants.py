"""Constants: what a program's text knows before it runs: literals, names of the module, and arithmetic on them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from viameter.arith import exact
from viameter.errors import NumberError

MISSING: Any = object()
"""Stands for a name that nothing is known of."""


class _Elsewhere:
    """What a text binds to something that is not known; so is everything in it."""

    def __getattr__(self, name: str) -> Any:
        return self


ELSEWHERE: Any = _Elsewhere()
"""Stands for a name that is bound to something that no program may use."""

Lookup = Callable[[str], Any]
"""What the module knows of a name; MISSING if nothing, or if the function has a variable of this name."""

_OPERATIONS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction | int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def constant(node: ast.expr, lookup: Lookup) -> Fraction | bool | None:
    """The number or truth value that an expression always is, or None.

    >>> constant(ast.parse("-3 / 4 + N", mode="eval").body, {"N": 1}.get)
    Fraction(1, 4)
    """
    match node:
        case ast.Constant(value=value):
            return _plain(value)
        case ast.Name(id=name):
            return _plain(lookup(name))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            inner = constant(operand, lookup)
            if inner is None or isinstance(inner, bool):
                return None
            return -inner if isinstance(sign, ast.USub) else inner
        case ast.BinOp(left=left, op=op, right=right):
            return _folded(op, constant(left, lookup), constant(right, lookup))
        case ast.Call(func=function, args=args, keywords=[]) if _is_fraction(function, lookup):
            return _fraction([text_or_number(arg, lookup) for arg in args])
    return None


def _is_fraction(node: ast.expr, lookup: Lookup) -> bool:
    """Whether a name stands for Python's own Fraction, as far as is known."""
    match node:
        case ast.Name(id="Fraction"):
            found = lookup("Fraction")
        case ast.Attribute(value=ast.Name(id=module), attr="Fraction"):
            found = getattr(lookup(module), "Fraction", MISSING)
        case _:
            return False
    return found in (MISSING, None) or found is Fraction


def text_or_number(node: ast.expr, lookup: Lookup) -> Fraction | None:
    """A number, also as text such as "1/100"; None if it is neither."""
    text = string(node, lookup)
    if text is not None:
        try:
            return exact(text)
        except NumberError:
            return None
    found = constant(node, lookup)
    return None if isinstance(found, bool) else found


def string(node: ast.expr, lookup: Lookup) -> str | None:
    """The text that an expression always is, or None."""
    value = node.value if isinstance(node, ast.Constant) else lookup(node.id) if isinstance(node, ast.Name) else None
    return value if isinstance(value, str) else None


def _plain(value: Any) -> Fraction | bool | None:
    if isinstance(value, bool | Fraction):
        return value
    return Fraction(value) if isinstance(value, int) else None


def _folded(op: ast.operator, left: Fraction | bool | None, right: Fraction | bool | None) -> Fraction | None:
    fold = _OPERATIONS.get(type(op))
    if fold is None or left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return None
    if isinstance(op, ast.Div | ast.FloorDiv | ast.Mod) and right == 0:
        return None
    return Fraction(fold(left, right))


def _fraction(parts: list[Fraction | None]) -> Fraction | None:
    if len(parts) == 1:
        return parts[0]
    if len(parts) != 2 or parts[0] is None or not parts[1]:
        return None
    return parts[0] / parts[1]
