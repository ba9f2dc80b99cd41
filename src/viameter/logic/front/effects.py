"""Effects: which expressions draw noise or need statements of their own, so that how often they run matters."""

from __future__ import annotations

import ast

from viameter.logic.front.context import Context
from viameter.logic.front.markers import NOISE


def has_effects(ctx: Context, node: ast.expr) -> bool:
    """Whether statements come before the value of an expression: a draw, a loop that sums, another program."""
    return any(isinstance(part, ast.Call) and _is_effect(ctx, part) for part in ast.walk(node))


def _is_effect(ctx: Context, call: ast.Call) -> bool:
    if ctx.constant(call) is not None:
        return False
    name, program = ctx.called(call)
    if program is not None or name in NOISE or name == "sum":
        return True
    return name == "len" and any(isinstance(arg, ast.Name) and arg.id in ctx.slots for arg in call.args)
