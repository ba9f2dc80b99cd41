"""Tests: comparisons, and, or, and conditional expressions, of which parts are evaluated only where Python would.

A draw in the right operand of `and` or `or`, in a branch of a conditional expression or late in a chain of comparisons
makes an `if` statement and a variable of such an expression.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from viameter.logic.front.context import Context, block
from viameter.logic.front.effects import has_effects
from viameter.logic.front.kinds import BOOL, INT
from viameter.logic.front.values import Value, as_truth, compared, either, negation, on_grid
from viameter.logic.lang.core import If
from viameter.logic.lang.terms import Term, and_, or_

COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_INSTEAD: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Pow: ("**", "multiply"), ast.Is: ("is", "write =="), ast.IsNot: ("is not", "write !="),
    ast.In: ("in", "write a loop"), ast.NotIn: ("not in", "write a loop"), ast.MatMult: ("@", "write a loop"),
}  # fmt: skip


def truth(ctx: Context, node: ast.expr) -> Term:
    """The value of an expression that is a test."""
    found = as_truth(ctx.value(node))
    if found is None:
        raise ctx.error(node, f"{ast.unparse(node)} is a number, and a test is expected", "write a comparison, x != 0")
    return found


def whole(ctx: Context, node: ast.expr, what: str) -> Term:
    """The value of an expression that is a whole number."""
    value = ctx.value(node)
    term = on_grid(value, INT.grid)
    if term is None:
        raise ctx.error(node, f"{what} is {value.kind}, and a whole number is expected", "round it with //")
    return term


def refuse_operator(ctx: Context, node: ast.expr, op: ast.AST) -> Exception:
    """The error for an operator that is outside the subset."""
    what, hint = _INSTEAD.get(type(op), (type(op).__name__, "use + - * // %"))
    return ctx.error(node, f"the operator {what} is outside the subset", hint)


def chain(ctx: Context, node: ast.Compare) -> Term:
    """A chain of comparisons, of which the later ones are made only where the earlier ones hold."""
    for op in node.ops:
        if type(op) not in COMPARISONS:
            raise refuse_operator(ctx, node, op)
    left, found = ctx.value(node.left), None
    for place, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
        if found is not None and has_effects(ctx, comparator):
            flag = ctx.name(node, f"test {place}", "test")
            ctx.assign(node, flag, Value(found, BOOL))
            with ctx.collecting() as inner:
                right = ctx.value(comparator)
                ctx.assign(node, flag, Value(compared(COMPARISONS[type(op)], left, right).term, BOOL))
            found = as_truth(ctx.read(flag))
            assert found is not None  # a flag is a truth value
            ctx.emit(If(found, block(inner), block([]), ctx.source.line(node)))
        else:
            right = ctx.value(comparator)
            now = compared(COMPARISONS[type(op)], left, right).term
            found = now if found is None else and_(found, now)
        left = right
    assert found is not None  # there is one comparison at least
    return found


def junction(ctx: Context, node: ast.BoolOp, values: Sequence[ast.expr], *, both: bool) -> Term:
    """`and` (both) or `or` of values, of which the later ones are made only where the earlier ones leave it open."""
    join = and_ if both else or_
    late = next((place for place in range(1, len(values)) if has_effects(ctx, values[place])), len(values))
    first = join(*(truth(ctx, value) for value in values[:late]))
    if late == len(values):
        return first
    flag = ctx.name(node, f"test {len(values)}", "test")
    ctx.assign(node, flag, Value(first, BOOL))
    with ctx.collecting() as inner:
        ctx.assign(node, flag, Value(junction(ctx, node, values[late:], both=both), BOOL))
    found = as_truth(ctx.read(flag))
    assert found is not None  # a flag is a truth value
    ctx.emit(If(found if both else negation(found), block(inner), block([]), ctx.source.line(node)))
    return found


def conditional(ctx: Context, node: ast.IfExp) -> Value:
    """`a if test else b`."""
    test = truth(ctx, node.test)
    if not has_effects(ctx, node.body) and not has_effects(ctx, node.orelse):
        found = either(test, ctx.value(node.body), ctx.value(node.orelse))
        if found is None:
            raise ctx.error(node, "one branch is a number and the other a truth value", "let both be of one sort")
        return found
    name = ctx.name(node, "choice", "choice")
    with ctx.collecting() as then:
        ctx.assign(node, name, ctx.value(node.body))
    with ctx.collecting() as orelse:
        ctx.assign(node, name, ctx.value(node.orelse))
    ctx.emit(If(test, block(then), block(orelse), ctx.source.line(node)))
    return ctx.read(name)
