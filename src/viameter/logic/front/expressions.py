"""Expressions: a Python expression to a term; draws within it become statements before it, in Python's own order."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from viameter.logic.front.calls import call_program
from viameter.logic.front.context import Context
from viameter.logic.front.deciding import chain, conditional, junction, refuse_operator, truth, whole
from viameter.logic.front.folds import count_slots, total
from viameter.logic.front.indexing import element
from viameter.logic.front.kinds import BOOL, INT, UNKNOWN
from viameter.logic.front.literals import refuse_expression, refuse_literal
from viameter.logic.front.markers import NOISE
from viameter.logic.front.noise import sample
from viameter.logic.front.scaling import mentions_budget
from viameter.logic.front.slots import SlotRead
from viameter.logic.front.values import Value, absolute, arithmetic, divided, literal, negated, negation
from viameter.logic.lang.terms import Num, Var, length

OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%",
}  # fmt: skip


def evaluate(ctx: Context, node: ast.expr) -> Value:
    """The value of an expression."""
    found = ctx.constant(node)
    if found is not None:
        return literal(found)
    refuse_literal(ctx, node)
    match node:
        case ast.Name():
            return _name(ctx, node)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Value(negation(truth(ctx, operand)), BOOL)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return negated(evaluate(ctx, operand))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return evaluate(ctx, operand)
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(ctx, node, left, op, right)
        case ast.Compare():
            return Value(chain(ctx, node), BOOL)
        case ast.BoolOp(op=op, values=values):
            return Value(junction(ctx, node, values, both=isinstance(op, ast.And)), BOOL)
        case ast.IfExp():
            return conditional(ctx, node)
        case ast.Subscript():
            return _element(ctx, node)
        case ast.Call():
            return _call(ctx, node)
    raise refuse_expression(ctx, node)


def _name(ctx: Context, node: ast.Name) -> Value:
    name = node.id
    entry = ctx.inputs.get(name)
    if entry is not None:
        if entry.shape == "list":
            raise ctx.error(node, f"the list {name} as a whole is outside the subset here", f"read {name}[i]")
        return Value(Var(name, entry.kind.core), entry.kind)
    if mentions_budget(ctx, node):
        raise ctx.error(node, f"{name} is a budget", "a budget stands in a scale only, as in vm.lap(2 / eps)")
    core = ctx.locals.get(name)
    if core is None:
        raise ctx.error(
            node, f"{name} is not known here",
            "a name is a parameter, a variable that is assigned, or an int or bool constant of the module",
        )  # fmt: skip
    if core in ctx.lists:
        raise ctx.error(node, f"the output list {name} is read", "output lists are only appended to and returned")
    if ctx.kind(core) == UNKNOWN:
        ctx.unknown.setdefault(name, node)
    return ctx.read(core)


def _binary(ctx: Context, node: ast.BinOp, left: ast.expr, op: ast.operator, right: ast.expr) -> Value:
    if isinstance(op, ast.Div):
        over = ctx.constant(right)
        if over is None or isinstance(over, bool) or over == 0:
            raise ctx.error(
                node, f"{ast.unparse(node)} is outside the subset",
                "/ divides by constants only, and in scales: write // for whole numbers",
            )  # fmt: skip
        return divided(evaluate(ctx, left), over)
    name = OPERATORS.get(type(op))
    if name is None:
        raise refuse_operator(ctx, node, op)
    one, other = evaluate(ctx, left), evaluate(ctx, right)
    if name in ("//", "%") and other.term == Num(0):
        raise ctx.error(node, f"{ast.unparse(node)} divides by zero")
    return arithmetic(name, one, other)


def _element(ctx: Context, node: ast.Subscript) -> Value:
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    entry = ctx.inputs.get(name)
    if ctx.locals.get(name) in ctx.lists:
        raise ctx.error(node, f"the output list {name} is read", "output lists are only appended to and returned")
    if entry is None or entry.shape != "list":
        raise ctx.error(node, f"{ast.unparse(node.value)} is not an input list", "only input lists are read, as q[i]")
    if name in ctx.slots and not isinstance(node, SlotRead):
        raise ctx.error(
            node, f"{name}[...] is read by its index, and rows of {name} may be added or removed",
            f"an index means another row when one is added before it: write for x in {name}",
        )  # fmt: skip
    if isinstance(node.slice, ast.Slice | ast.Tuple):
        raise ctx.error(node, "a slice is outside the subset", f"write a loop that reads {name}[i]")
    index = whole(ctx, node.slice, "an index")
    if isinstance(index, Num) and index.value < 0:
        raise ctx.error(node, "a negative index is outside the subset", f"write {name}[len({name}) - 1]")
    found = element(Var(name, "list"), index, ctx.negative)
    if found is None:
        raise ctx.error(
            node, f"{ast.unparse(node)} is read at an index that is read from a list, and may be below 0",
            f"name the index first: i = {ast.unparse(node.slice)}, and then {name}[i]",
        )  # fmt: skip
    return Value(found, entry.kind)


def _call(ctx: Context, node: ast.Call) -> Value:
    name, program = ctx.called(node)
    if program is not None:
        return call_program(ctx, node, program)
    if name in NOISE:
        return sample(ctx, node, name)
    if isinstance(node.func, ast.Name) and not node.keywords:
        match name, node.args:
            case "abs", [argument]:
                return absolute(evaluate(ctx, argument))
            case "min" | "max", [first, *rest] if rest:
                found = evaluate(ctx, first)
                for argument in rest:
                    found = arithmetic(name, found, evaluate(ctx, argument))
                return found
            case "len" | "sum", [ast.Name(id=items)] if items in ctx.inputs and ctx.inputs[items].shape == "list":
                return _whole_list(ctx, node, name, items)
            case "int", [argument]:
                term = whole(ctx, argument, ast.unparse(argument))
                return Value(term, INT)
            case "bool", [argument]:
                return Value(truth(ctx, argument), BOOL)
    raise ctx.error(
        node, f"the call {ast.unparse(node)} is outside the subset",
        "a program calls abs, min and max of numbers, len and sum of an input list, vm.lap and the like, and programs",
    )  # fmt: skip


def _whole_list(ctx: Context, node: ast.Call, name: str, items: str) -> Value:
    if name == "sum":
        return total(ctx, node, items)
    if items in ctx.slots:
        return count_slots(ctx, node, items)
    return Value(length(Var(items, "list")), INT)
