"""Assignments: to variables, to names for budgets, and to output lists, which are only appended to."""

from __future__ import annotations

import ast
from typing import Any

from viameter.logic.front.annotations import declared
from viameter.logic.front.calls import append_program
from viameter.logic.front.context import Context
from viameter.logic.front.markers import NOISE
from viameter.logic.front.noise import drawn, emit, held
from viameter.logic.front.scaling import is_public, mentions_budget
from viameter.logic.front.values import Value
from viameter.logic.lang.terms import ZERO


def assign(ctx: Context, node: ast.Assign) -> None:
    """`x = e`, `x = y = e`, `x, y = e, f`."""
    match node.targets, node.value:
        case [ast.Tuple(elts=targets)], ast.Tuple(elts=values) if len(targets) == len(values):
            _together(ctx, node, targets, values)
        case [ast.Name() as target], value:
            _one(ctx, node, target, value)
        case several, value:
            names = [_target(ctx, each) for each in several]
            part = ctx.name(node, "part", "part")
            ctx.assign(node, part, ctx.value(value))
            for name in names:
                ctx.assign(node, name, ctx.read(part))


def augmented(ctx: Context, node: ast.AugAssign) -> None:
    """`x += e` and the like, as `x = x + e`."""
    key = (id(node), "augmented")
    if key not in ctx.trees:
        left = ast.Name(getattr(node.target, "id", ""), ast.Load())
        plain = ast.Assign([node.target], ast.BinOp(left, node.op, node.value))
        for part in (left, plain, plain.value):
            ast.copy_location(part, node)
        ctx.trees[key] = plain
    assign(ctx, ctx.trees[key])


def annotated(ctx: Context, node: ast.AnnAssign) -> None:
    """`x: int = e`; the annotation fixes the variable's kind."""
    name = _target(ctx, node.target)
    entry = declared(ctx.source, node.annotation)
    if entry.bounded and entry.kind.sort == "number":
        raise ctx.error(node, "bounds are for inputs, and this is a variable", "write int, or vm.Grid(...)")
    if entry.shape != "budget":
        if (entry.shape == "list") != (name in ctx.lists):
            raise ctx.error(node, f"{ast.unparse(node.target)} is not of this type", "a list starts as []")
        if ctx.fixed.get(name, entry.kind) != entry.kind:
            raise ctx.error(node, f"{name} is {ctx.fixed[name]} elsewhere", "a variable keeps one type")
        if name not in ctx.fixed:
            ctx.fixed[name], ctx.changed = entry.kind, name
    if node.value is not None and isinstance(node.target, ast.Name):
        _one(ctx, node, node.target, node.value)


def _target(ctx: Context, node: ast.expr) -> str:
    """The core name of a variable that may be assigned to."""
    if isinstance(node, ast.Name):
        if node.id in ctx.inputs or node.id in ctx.budgets:
            raise ctx.error(node, f"the parameter {node.id} is assigned to", "inputs are only read: use a new variable")
        return ctx.locals[node.id]
    if isinstance(node, ast.Subscript):
        raise ctx.error(node, f"{ast.unparse(node)} is assigned to", "lists are not changed: append to an output list")
    raise ctx.error(node, f"an assignment to {ast.unparse(node)} is outside the subset", "assign to variables")


def _one(ctx: Context, node: ast.stmt, target: ast.Name, value: ast.expr) -> None:
    name = _target(ctx, target)
    if name in ctx.lists:
        _list(ctx, node, target.id, value)
        return
    if mentions_budget(ctx, value) and not _calls(ctx, value):
        if target.id not in ctx.once:
            raise ctx.error(
                node, f"{target.id} is made of a budget, and assigned more than once or within a branch or loop",
                "name such a thing once, at the top level of the function",
            )  # fmt: skip
        ctx.aliases[target.id] = value
        return
    draw = _drawn(ctx, value)
    if draw is not None and isinstance(value, ast.Call):
        found = drawn(ctx, value, draw)
        ctx.fit(node, name, Value(ZERO, found.kind))
        if ctx.kind(name) == found.kind:
            emit(ctx, node, name, found)
        else:
            ctx.assign(node, name, held(ctx, value, draw, found))
        return
    ctx.assign(node, name, ctx.value(value))
    if target.id in ctx.once and not _calls(ctx, value) and is_public(ctx, value):
        ctx.aliases[target.id] = value


def _calls(ctx: Context, value: ast.expr) -> bool:
    """Whether noise is drawn or a program called, where a budget may stand."""
    for part in ast.walk(value):
        if isinstance(part, ast.Call) and ctx.constant(part) is None:
            name, program = ctx.called(part)
            if program is not None or name in NOISE:
                return True
    return False


def _drawn(ctx: Context, value: ast.expr) -> str | None:
    """The name of the noise if the whole value is one draw."""
    if not isinstance(value, ast.Call) or ctx.constant(value) is not None:
        return None
    name, program = ctx.called(value)
    return name if program is None and name in NOISE else None


def _together(ctx: Context, node: ast.Assign, targets: list[ast.expr], values: list[ast.expr]) -> None:
    names = [_target(ctx, target) for target in targets]
    read = {part.id for value in values for part in ast.walk(value) if isinstance(part, ast.Name)}
    plain = [target for target in targets if isinstance(target, ast.Name)]
    if not read & {target.id for target in plain}:
        for target, value in zip(plain, values, strict=True):
            _one(ctx, node, target, value)
        return
    found: list[Value] = []
    for place, value in enumerate(values):
        temporary = ctx.name(node, f"part {place}", "part")
        ctx.assign(node, temporary, ctx.value(value))
        found.append(ctx.read(temporary))
    for name, part in zip(names, found, strict=True):
        ctx.assign(node, name, part)


def _list(ctx: Context, node: ast.stmt, name: str, value: ast.expr) -> None:
    target = ctx.locals[name]
    match value:
        case ast.BinOp(left=ast.Name(id=same), op=ast.Add(), right=more) if same == name:
            _append(ctx, node, target, more)
        case ast.List(elts=[]):
            _start(ctx, node, name)
        case _:
            _start(ctx, node, name)
            _append(ctx, node, target, value)


def _start(ctx: Context, node: ast.stmt, name: str) -> None:
    if ctx.loops or ctx.locals[name] in ctx.appended:
        raise ctx.error(
            node, f"the output list {name} is made anew in a loop or after something was appended",
            "make it once, before the first append",
        )  # fmt: skip


def _append(ctx: Context, node: ast.stmt, target: str, more: ast.expr) -> None:
    if isinstance(more, ast.List):
        for item in more.elts:
            ctx.append(node, target, ctx.value(item))
        return
    program: Any = ctx.called(more)[1] if isinstance(more, ast.Call) else None
    if program is None or not isinstance(more, ast.Call):
        raise ctx.error(
            node, f"{ast.unparse(more)} is not what an output list is made of",
            "write out = [], out.append(e) or out += [e]",
        )  # fmt: skip
    append_program(ctx, more, program, target)
