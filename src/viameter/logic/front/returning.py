"""Returns: what a program gives back, as assignments to its output variable."""

from __future__ import annotations

import ast

from viameter.logic.front.calls import append_program
from viameter.logic.front.context import Context
from viameter.logic.front.kinds import BOOL
from viameter.logic.lang.core import Assign
from viameter.logic.lang.terms import TRUE, Var


def returned(ctx: Context) -> Var:
    """The flag that says whether the function has returned."""
    return Var(ctx.name(ctx.source.tree, "returned", "returned"), "bool")


def give_back(ctx: Context, node: ast.Return) -> None:
    """`return e`: the output variable, and the flag where something looks at it."""
    if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
        raise ctx.error(node, "nothing is returned", "a program returns what it releases")
    if ctx.returns.shape == "list":
        _give_list(ctx, node, node.value)
    elif not (isinstance(node.value, ast.Name) and ctx.locals.get(node.value.id) == ctx.output):
        _no_list(ctx, node.value)
        ctx.assign(node, ctx.output, ctx.value(node.value))
    if ctx.watching:
        flag = returned(ctx)
        ctx.fixed[flag.name] = BOOL
        ctx.emit(Assign(flag, TRUE, ctx.source.line(node)))


def _no_list(ctx: Context, value: ast.expr) -> None:
    named = isinstance(value, ast.Name) and ctx.locals.get(value.id) in ctx.lists
    if named or isinstance(value, ast.List):
        raise ctx.error(value, "a list is returned, and the function is said to return one value", "write -> list[...]")


def _give_list(ctx: Context, node: ast.Return, value: ast.expr) -> None:
    match value:
        case ast.Name(id=name) if ctx.locals.get(name) == ctx.output:
            return
        case ast.List(elts=items):
            for item in items:
                ctx.append(node, ctx.output, ctx.value(item))
            return
        case ast.Call():
            _, program = ctx.called(value)
            if program is not None:
                append_program(ctx, value, program, ctx.output)
                return
    raise ctx.error(
        node, f"{ast.unparse(value)} is not the output list {ctx.output}",
        "every return gives back the same list by its name, or none does",
    )  # fmt: skip


def output_name(returns: list[ast.Return], lists: frozenset[str], *, list_returned: bool) -> str | None:
    """The user's variable that is the output: the list that is returned by name, or a variable called result."""
    names = {node.value.id if isinstance(node.value, ast.Name) else "" for node in returns}
    if list_returned:
        return next(iter(names)) if len(names) == 1 and names <= lists else None
    return "result" if names == {"result"} and len(returns) == 1 else None
