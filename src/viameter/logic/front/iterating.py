"""Iterations: `for` over a range or an input list, as the parts of a while loop.

Where nothing else reads or assigns the loop's variable, it is itself the counter; else a counter of its own is kept, so
that the variable has the value that Python gives it, in the loop and after.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from viameter.logic.front.context import Context
from viameter.logic.front.effects import has_effects
from viameter.logic.front.inputs import PRESENT
from viameter.logic.front.kinds import INT
from viameter.logic.front.slots import Builtin, SlotRead


@dataclass(frozen=True, slots=True)
class Iteration:
    """before; while test: body; tail. The tail also runs after `continue`, and `tail_always` however the body ends."""

    before: tuple[ast.stmt, ...]
    test: ast.expr
    body: tuple[ast.stmt, ...]
    tail: tuple[ast.stmt, ...]
    tail_always: bool = False
    last: ast.expr | None = None
    """What must be a whole number, where the test alone does not say so."""


def iteration(ctx: Context, node: ast.For, body: tuple[ast.stmt, ...]) -> Iteration:
    """The parts of a for loop with this body."""
    match node.target, node.iter:
        case ast.Name(id=name), ast.Call(func=ast.Name(id="range") as function, args=args, keywords=[]) if 1 <= len(
            args
        ) <= 3 and ctx.is_builtin(function):
            return _range(ctx, node, body, name, args)
        case ast.Name(id=name), ast.Name(id=items) if _is_list(ctx, items):
            return _slots(ctx, node, body, name, items) if items in ctx.slots else _items(ctx, node, body, name, items)
        case (
            ast.Tuple(elts=[ast.Name(id=index), ast.Name(id=name)]),
            ast.Call(func=ast.Name(id="enumerate") as function, args=[ast.Name(id=items)], keywords=[]),
        ) if _is_list(ctx, items) and ctx.is_builtin(function):
            if items in ctx.slots:
                raise ctx.error(
                    node, f"enumerate({items}) gives rows an index, and rows of {items} may be added or removed",
                    f"write for {name} in {items}",
                )  # fmt: skip
            return _enumerate(ctx, node, body, index, name, items)
    raise ctx.error(
        node, f"a loop over {ast.unparse(node.iter)} is outside the subset",
        "write for i in range(n), for x in q or for i, x in enumerate(q), of an input list q, with Python's own range",
    )  # fmt: skip


def _is_list(ctx: Context, name: str) -> bool:
    return name in ctx.inputs and ctx.inputs[name].shape == "list"


def _range(ctx: Context, node: ast.For, inner: tuple[ast.stmt, ...], name: str, args: list[ast.expr]) -> Iteration:
    first, last = (ast.Constant(0), args[0]) if len(args) == 1 else (args[0], args[1])
    step = ctx.constant(args[2]) if len(args) == 3 else INT.grid
    if step is None or isinstance(step, bool) or step.denominator != 1 or step == 0:
        raise ctx.error(node, "the step of a range is no whole constant other than 0", "write range(a, b, 2)")
    own = _is_own_counter(ctx, node, name)
    counter = name if own else _variable(ctx, node, "counter", f"{name}_next")
    before: list[ast.stmt] = []
    check: ast.expr | None = last
    if has_effects(ctx, first):
        begin = _variable(ctx, node, "first", "first")
        before.append(_set(node, begin, first))
        first = _name(begin)
    if has_effects(ctx, last) or not _is_stable(last, node, counter):
        end = _variable(ctx, node, "last", "last")
        before.append(_set(node, end, last))
        last = _name(end)
        check = None
    before.append(_set(node, counter, first))
    for target in before:
        if isinstance(target, ast.Assign) and isinstance(target.targets[0], ast.Name):
            variable = ctx.locals.get(target.targets[0].id)
            if variable is not None:
                ctx.fixed[variable] = INT
    test = _located(node, ast.Compare(_name(counter), [ast.Lt() if step > 0 else ast.Gt()], [last]))
    head = [] if own else [_set(node, name, _name(counter))]
    return Iteration(tuple(before), test, (*head, *inner), (_step(node, counter, int(step)),), last=check)


def _items(ctx: Context, node: ast.For, inner: tuple[ast.stmt, ...], name: str, items: str) -> Iteration:
    counter = _variable(ctx, node, "counter", "index")
    head = [_set(node, name, _read(items, counter))]
    return _over(node, inner, counter, items, head)


def _enumerate(
    ctx: Context, node: ast.For, inner: tuple[ast.stmt, ...], index: str, name: str, items: str
) -> Iteration:
    own = index != name and _is_own_counter(ctx, node, index)
    counter = index if own else _variable(ctx, node, "counter", f"{index}_next")
    head = [] if own else [_set(node, index, _name(counter))]
    return _over(node, inner, counter, items, [*head, _set(node, name, _read(items, counter))])


def _over(node: ast.For, inner: tuple[ast.stmt, ...], counter: str, items: str, head: list[ast.stmt]) -> Iteration:
    before = (_set(node, counter, ast.Constant(0)),)
    return Iteration(before, _below_length(node, counter, items), (*head, *inner), (_step(node, counter, 1),))


def _slots(ctx: Context, node: ast.For, inner: tuple[ast.stmt, ...], name: str, items: str) -> Iteration:
    """Every slot of the list is passed, and the body runs where it is taken."""
    counter = _variable(ctx, node, "counter", "slot")
    taken = ast.Compare(_read(items + PRESENT, counter), [ast.Eq()], [ast.Constant(1)])
    row = _set(node, name, SlotRead(_name(items), _name(counter), ast.Load()))
    body = ast.copy_location(ast.If(_located(node, taken), [row, *inner], []), node)
    before = (_set(node, counter, ast.Constant(0)),)
    test = _below_length(node, counter, items + PRESENT)
    return Iteration(before, test, (body,), (_step(node, counter, 1),), tail_always=True)


def _is_own_counter(ctx: Context, node: ast.For, name: str) -> bool:
    """Whether the loop's variable is assigned by the loop alone, and read nowhere but in its body."""
    inside = {id(part) for statement in node.body for part in ast.walk(statement)}
    for statement in node.body:
        for part in ast.walk(statement):
            if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store):
                return False
    read = (part for part in _reads(ctx.source.tree, node, name) if id(part) not in inside)
    return next(read, None) is None


def _reads(tree: ast.AST, loop: ast.For, name: str) -> Iterator[ast.Name]:
    """The places that may read a variable, but for those where another loop, beside this one, gives it its value."""
    for part in ast.iter_child_nodes(tree):
        if isinstance(part, ast.For) and name in _stored(part.target) and all(p is not loop for p in ast.walk(part)):
            yield from _reads(ast.Expr(part.iter), loop, name)
            continue
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load):
            yield part
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name) and part.target.id == name:
            yield part.target
        yield from _reads(part, loop, name)


def _stored(target: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}


def _is_stable(last: ast.expr, node: ast.For, counter: str) -> bool:
    """Whether the end of a range stays what it is while the loop runs."""
    changed = {counter} | _stored(node.target)
    for part in (part for statement in node.body for part in ast.walk(statement)):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            changed.add(part.id)
    return not changed & {part.id for part in ast.walk(last) if isinstance(part, ast.Name)}


def _variable(ctx: Context, node: ast.For, role: str, wanted: str) -> str:
    name = ctx.name(node, role, wanted)
    ctx.locals.setdefault(name, name)
    return name


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _read(items: str, counter: str) -> ast.expr:
    return ast.Subscript(_name(items), _name(counter), ast.Load())


def _set(node: ast.For, name: str, value: ast.expr) -> ast.stmt:
    target = _located(node, ast.Name(name, ast.Store()))
    return ast.copy_location(ast.Assign([target], _located(node, value)), node)


def _step(node: ast.For, counter: str, step: int) -> ast.stmt:
    op = ast.Add() if step > 0 else ast.Sub()
    return _set(node, counter, ast.BinOp(_name(counter), op, ast.Constant(abs(step))))


def _below_length(node: ast.For, counter: str, items: str) -> ast.expr:
    length = ast.Call(Builtin("len", ast.Load()), [_name(items)], [])
    return _located(node, ast.Compare(_name(counter), [ast.Lt()], [length]))


def _located(node: ast.For, tree: ast.expr) -> ast.expr:
    """The tree, of which every part that has no line stands in the line of the loop."""
    for part in ast.walk(tree):
        if isinstance(part, ast.expr) and not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return tree
