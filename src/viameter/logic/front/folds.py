"""Folds over a whole input list, as loops before the statement: `sum(q)`, and `len(q)` of a list of slots."""

from __future__ import annotations

import ast

from viameter.logic.front.context import Context
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
    ctx.locals.setdefault(name, name)
    key = (id(node), "fold")
    if key not in ctx.trees:
        item = ctx.name(node, "item", "item")
        ctx.locals.setdefault(item, item)
        more = item if each else "1"
        tree = ast.parse(f"{name} = 0\nfor {item} in {items}:\n    {name} = {name} + {more}").body
        for statement in tree:
            for part in ast.walk(statement):
                ast.copy_location(part, node)
        ctx.trees[key] = tree
    translate(ctx, ctx.trees[key])
    return ctx.read(name)
