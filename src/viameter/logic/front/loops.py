"""Loops: while and for to the core language's while, with flags for return and break where there are any."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from viameter.logic.front.constants import string
from viameter.logic.front.context import Context, Loop, block
from viameter.logic.front.deciding import truth, whole
from viameter.logic.front.effects import has_effects
from viameter.logic.front.exits import exits
from viameter.logic.front.iterating import Iteration, iteration
from viameter.logic.front.kinds import BOOL
from viameter.logic.front.returning import returned
from viameter.logic.lang.core import Assign, Block, If, Statement, While
from viameter.logic.lang.terms import FALSE, TRUE, Var, and_, not_


def while_loop(ctx: Context, node: ast.While) -> None:
    """`while test: body`."""
    invariants, body = _hints(ctx, node.body)
    _loop(ctx, node, Iteration((), node.test, body, ()), invariants)


def for_loop(ctx: Context, node: ast.For) -> None:
    """`for ... in ...: body`, as a while loop."""
    from viameter.logic.front.statements import translate

    invariants, body = _hints(ctx, node.body)
    key = (id(node), "for")
    if key not in ctx.trees:
        ctx.trees[key] = iteration(ctx, node, body)
    found: Iteration = ctx.trees[key]
    if found.last is not None:
        whole(ctx, found.last, "the end of a range")
    translate(ctx, found.before)
    _loop(ctx, node, found, invariants)


def _loop(ctx: Context, node: ast.While | ast.For, parts: Iteration, invariants: tuple[str, ...]) -> None:
    from viameter.logic.front.statements import emit_if, translate

    line = ctx.source.line(node)
    ways, noisy = exits(parts.body), has_effects(ctx, parts.test)
    loop = Loop(node)
    if noisy or "break" in ways:
        loop.stopped = Var(ctx.name(node, "stopped", "stopped"), "bool")
        ctx.fixed[loop.stopped.name] = BOOL
        ctx.emit(Assign(loop.stopped, FALSE, line))
    always = parts.tail_always or "continue" in ways
    ctx.loops.append(loop)
    ctx.watching += 1
    with ctx.collecting() as inner:
        # A test that draws is made anew at the top of the body of a loop that goes on until it fails.
        test = truth(ctx, parts.test)
        with ctx.collecting() as repeated:
            translate(ctx, parts.body if always else [*parts.body, *parts.tail])
            if always:
                translate(ctx, parts.tail)
        if loop.skipped is not None:
            _reset(repeated, Assign(loop.skipped, FALSE, line), within=parts.tail_always)
        if noisy and loop.stopped is not None:
            emit_if(ctx, node, test, repeated, [Assign(loop.stopped, TRUE, line)])
            test = TRUE
        else:
            inner.extend(repeated)
    ctx.watching -= 1
    ctx.loops.pop()
    flags = [returned(ctx)] if "return" in ways else []
    flags += [loop.stopped] if loop.stopped is not None else []
    statement = While(and_(test, *(not_(flag) for flag in flags)), block(inner), line)
    ctx.emit(statement)
    if invariants:
        ctx.invariants.append((statement, invariants))


def _reset(body: list[Statement], statement: Assign, *, within: bool) -> None:
    """Put a statement first; within the test of its slot, if the body is one, so that a free slot does nothing."""
    first = body[0]
    if within and isinstance(first, If):
        body[0] = If(first.test, Block((statement, *first.then)), first.orelse, first.at)
    else:
        body.insert(0, statement)


def _is_invariant(ctx: Context, statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call() as call):
            return _last(call.func) == "invariant" and ctx.called(call)[1] is None
    return False


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _hints(ctx: Context, body: Sequence[ast.stmt]) -> tuple[tuple[str, ...], tuple[ast.stmt, ...]]:
    """The invariants at the top of a loop's body, and the rest of it; others stay there, and are refused."""
    found: list[str] = []
    for statement in body:
        if not isinstance(statement, ast.Expr) or not _is_invariant(ctx, statement):
            break
        call = statement.value
        text = string(call.args[0], ctx.lookup) if isinstance(call, ast.Call) and len(call.args) == 1 else None
        if text is None:
            raise ctx.error(statement, "an invariant is given as one text", 'write vm.invariant("i<1> == i<2>")')
        found.append(text)
    return tuple(found), tuple(body[len(found) :])
