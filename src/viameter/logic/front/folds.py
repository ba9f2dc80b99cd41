"""Folds over a whole input list, as loops before the statement: `sum(q)`, and `len(q)` of a list of slots."""

from __future__ import annotations

import ast

from viameter.logic.front.context import Context
from viameter.logic.front.inputs import PRESENT
from viameter.logic.front.slots import Builtin, SlotRead
from viameter.logic.front.values import Value


def total(ctx: Context, node: ast.Call, items: str) -> Value:
    """sum(items)."""
    return _fold(ctx, node, items, "total", each=True)


def count_slots(ctx: Context, node: ast.Call, items: str) -> Value:
    """How many rows there are."""
    return _fold(ctx, node, items, "count", each=False)


def _fold(ctx: Context, node: ast.Call, items: str, wanted: str, *, each: bool) -> Value:
    from viameter.logic.front.statements import translate

    name = ctx.name(node, "fold", wanted)
    key = (id(node), "fold")
    if key not in ctx.trees:
        slotted = items in ctx.slots
        counter = ctx.name(node, "counter", "slot" if slotted else "index")
        ctx.locals |= {name: name, counter: counter}
        ctx.trees[key] = _tree(node, name, counter, items, slotted=slotted, each=each)
    translate(ctx, ctx.trees[key])
    return ctx.read(name)


def _tree(node: ast.Call, name: str, counter: str, items: str, *, slotted: bool, each: bool) -> list[ast.stmt]:
    """name = 0; counter = 0; while counter < len(items): name = name + items[counter]; counter = counter + 1."""
    place = ast.Subscript if not slotted else SlotRead
    more = place(_load(items), _load(counter), ast.Load()) if each else ast.Constant(1)
    add: ast.stmt = _set(name, ast.BinOp(_load(name), ast.Add(), more))
    over = items + PRESENT if slotted else items
    if slotted:
        mark = ast.Subscript(_load(over), _load(counter), ast.Load())
        add = ast.If(ast.Compare(mark, [ast.Eq()], [ast.Constant(1)]), [add], [])
    test = ast.Compare(_load(counter), [ast.Lt()], [ast.Call(Builtin("len", ast.Load()), [_load(over)], [])])
    step = _set(counter, ast.BinOp(_load(counter), ast.Add(), ast.Constant(1)))
    tree = [_set(name, ast.Constant(0)), _set(counter, ast.Constant(0)), ast.While(test, [add, step], [])]
    for statement in tree:
        for part in ast.walk(statement):
            ast.copy_location(part, node)
    return tree


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _set(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)
