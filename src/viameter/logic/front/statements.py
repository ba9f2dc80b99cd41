"""Statements: blocks of Python to blocks of the core language, which has no return, break or continue.

What follows an `if` that always leaves in one branch goes into its other branch; where a branch leaves only sometimes,
and after a loop that returns, what follows stands under a test of the flags `returned`, `stopped` and `skipped`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from viameter.logic.front.assigning import annotated, assign, augmented
from viameter.logic.front.context import Context, block
from viameter.logic.front.deciding import truth
from viameter.logic.front.exits import completes, exits
from viameter.logic.front.kinds import BOOL
from viameter.logic.front.literals import refuse_statement
from viameter.logic.front.loops import for_loop, while_loop
from viameter.logic.front.markers import NOISE
from viameter.logic.front.returning import give_back, returned
from viameter.logic.front.values import negation
from viameter.logic.lang.core import Assign, If, Statement
from viameter.logic.lang.terms import TRUE, Term, Truth, Var, and_, not_


def translate(ctx: Context, statements: Sequence[ast.stmt]) -> None:
    """Translate statements one after another."""
    for place, statement in enumerate(statements):
        rest = list(statements[place + 1 :])
        match statement:
            case ast.Return():
                give_back(ctx, statement)
                return
            case ast.Break():
                _set(ctx, statement, _loop_flag(ctx, statement, "stopped"))
                return
            case ast.Continue():
                _loop_flag(ctx, statement, "continue")
                if ctx.loops[-1].waiting:
                    _set(ctx, statement, _loop_flag(ctx, statement, "skipped"))
                return
            case ast.If(test=test, body=body, orelse=orelse):
                if rest and not completes(body):
                    branch(ctx, statement, test, body, [*orelse, *rest])
                    return
                if rest and not completes(orelse):
                    branch(ctx, statement, test, [*body, *rest], orelse)
                    return
                if rest and exits([statement]):
                    _guarded(ctx, statement, rest)
                    return
                branch(ctx, statement, test, body, orelse)
            case ast.While() | ast.For() if rest and exits([statement]):
                _guarded(ctx, statement, rest)
                return
            case _:
                _single(ctx, statement)


def branch(ctx: Context, node: ast.stmt, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
    """if test then body else orelse."""
    found = truth(ctx, test)
    with ctx.collecting() as then:
        translate(ctx, body)
    with ctx.collecting() as other:
        translate(ctx, orelse)
    emit_if(ctx, node, found, then, other)


def emit_if(ctx: Context, node: ast.AST, test: Term, then: list[Statement], orelse: list[Statement]) -> None:
    """An `if` of which the first branch is not empty; a test that is known takes its branch."""
    if isinstance(test, Truth):
        for statement in then if test == TRUE else orelse:
            ctx.emit(statement)
    elif then:
        ctx.emit(If(test, block(then), block(orelse), ctx.source.line(node)))
    elif orelse:
        ctx.emit(If(negation(test), block(orelse), block([]), ctx.source.line(node)))


def _guarded(ctx: Context, statement: ast.stmt, rest: list[ast.stmt]) -> None:
    """A statement that leaves only sometimes, and what follows it if it does not."""
    ways = exits([statement])
    looped = isinstance(statement, ast.While | ast.For)
    ctx.watching += 1
    if ctx.loops and not looped:
        ctx.loops[-1].waiting += 1
    if isinstance(statement, ast.If):
        branch(ctx, statement, statement.test, statement.body, statement.orelse)
    else:
        _single(ctx, statement)
    ctx.watching -= 1
    if ctx.loops and not looped:
        ctx.loops[-1].waiting -= 1
    flags = [returned(ctx)] if "return" in ways else []
    flags += [_loop_flag(ctx, statement, "stopped")] if "break" in ways else []
    flags += [_loop_flag(ctx, statement, "skipped")] if "continue" in ways else []
    with ctx.collecting() as then:
        translate(ctx, rest)
    emit_if(ctx, rest[0], and_(*(not_(flag) for flag in flags)), then, [])


def _loop_flag(ctx: Context, node: ast.stmt, which: str) -> Var:
    if not ctx.loops:
        word = "break" if which == "stopped" else "continue"
        raise ctx.error(node, f"{word} stands outside a loop")
    loop = ctx.loops[-1]
    if which == "skipped" and loop.skipped is None:
        loop.skipped = Var(ctx.name(loop.node, "skipped", "skipped"), "bool")
    return (loop.skipped if which == "skipped" else loop.stopped) or Var("stopped", "bool")


def _set(ctx: Context, node: ast.stmt, flag: Var) -> None:
    ctx.fixed[flag.name] = BOOL
    ctx.emit(Assign(flag, TRUE, ctx.source.line(node)))


def _single(ctx: Context, node: ast.stmt) -> None:
    """A statement after which control goes on."""
    match node:
        case ast.Assign():
            assign(ctx, node)
        case ast.AugAssign():
            augmented(ctx, node)
        case ast.AnnAssign():
            annotated(ctx, node)
        case ast.While(orelse=orelse):
            _no_else(ctx, orelse)
            while_loop(ctx, node)
        case ast.For(orelse=orelse):
            _no_else(ctx, orelse)
            for_loop(ctx, node)
        case ast.Pass():
            pass
        case ast.Expr(value=value):
            _expression(ctx, node, value)
        case _:
            raise refuse_statement(ctx, node)


def _no_else(ctx: Context, orelse: list[ast.stmt]) -> None:
    if orelse:
        raise ctx.error(orelse[0], "the else of a loop is outside the subset", "keep a flag of your own")


def _expression(ctx: Context, node: ast.Expr, value: ast.expr) -> None:
    match value:
        case ast.Constant(value=str()):  # a docstring
            return
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item], keywords=[]):
            if ctx.locals.get(name) in ctx.lists:
                ctx.append(node, ctx.locals[name], ctx.value(item))
                return
            if name in ctx.inputs:
                raise ctx.error(node, f"the input {name} is changed", "inputs are only read: append to an output list")
        case ast.Call():
            called, _ = ctx.called(value)
            if called == "invariant":
                raise ctx.error(node, "an invariant stands elsewhere", "write it at the top of the body of its loop")
            if called in NOISE:
                raise ctx.error(node, "what is drawn here is not used", "assign it to a variable, or leave it out")
        case ast.Yield() | ast.YieldFrom() | ast.Await():
            ctx.value(value)
    raise ctx.error(
        node, f"the statement {ast.unparse(node)} is outside the subset", "assign to a variable, or out.append(...)"
    )
