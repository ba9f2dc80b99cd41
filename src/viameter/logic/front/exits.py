"""Exits: how control may leave statements other than by coming to their end."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def exits(statements: Sequence[ast.stmt]) -> frozenset[str]:
    """Which of return, break and continue may leave these statements; those of a loop within stay in it."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Return():
                found.add("return")
            case ast.Break():
                found.add("break")
            case ast.Continue():
                found.add("continue")
            case ast.If(body=body, orelse=orelse):
                found |= exits(body) | exits(orelse)
            case ast.While(body=body) | ast.For(body=body):
                found |= exits(body) & {"return"}
    return frozenset(found)


def completes(statements: Sequence[ast.stmt]) -> bool:
    """Whether control may come to the end of these statements."""
    return all(_completes(statement) for statement in statements)


def _completes(statement: ast.stmt) -> bool:
    match statement:
        case ast.Return() | ast.Break() | ast.Continue():
            return False
        case ast.If(body=body, orelse=orelse):
            return completes(body) or completes(orelse)
        case ast.While(test=ast.Constant(value=True), body=body):
            return "break" in exits(body)
    return True
