"""Scales in a program's text: a number times public factors, over a budget, such as `4 * N / eps`."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from fractions import Fraction

from viameter.logic.front.context import Context
from viameter.logic.front.literals import refuse_literal
from viameter.logic.front.values import as_number
from viameter.logic.lang.scales import Monomial
from viameter.logic.lang.terms import App, Num, Term, show

_PUBLIC_CALLS = frozenset({"len", "min", "max", "abs"})


@dataclass(frozen=True, slots=True)
class Product:
    """coefficient * up / down, times powers of budgets and logarithms."""

    coefficient: Fraction
    up: tuple[Term, ...] = ()
    down: tuple[Term, ...] = ()
    powers: tuple[tuple[str, int], ...] = ()

    def times(self, other: Product) -> Product:
        """The product of two, with what stands above and below taken away."""
        up, down = [*self.up, *other.up], [*self.down, *other.down]
        for factor in list(down):
            if factor in up:
                up.remove(factor)
                down.remove(factor)
        powers = dict(self.powers)
        for name, power in other.powers:
            powers[name] = powers.get(name, 0) + power
        left = tuple(sorted((name, power) for name, power in powers.items() if power))
        return Product(
            self.coefficient * other.coefficient, tuple(sorted(up, key=show)), tuple(sorted(down, key=show)), left
        )

    def inverse(self) -> Product:
        """1 / it; the coefficient must not be 0."""
        powers = tuple((name, -power) for name, power in self.powers)
        return Product(1 / self.coefficient, self.down, self.up, powers)


def product(ctx: Context, node: ast.expr) -> Product:
    """The product that an expression of a scale stands for."""
    return _product(ctx, expanded(ctx, node))


def scale(ctx: Context, node: ast.expr, *, grid: Fraction, budgets: bool = True) -> Monomial:
    """A scale in steps of a grid."""
    found = product(ctx, node)
    text = ast.unparse(node)
    allowed = [(), *(((name, -1),) for name, _ in found.powers)] if budgets else [()]
    if found.powers not in allowed or found.down:
        example = "4 * N / eps, with one budget below" if budgets else "3 or 2 * N, with no budget"
        raise ctx.error(node, f"{text} is not a scale", f"a scale is a number times public factors: {example}")
    if found.coefficient <= 0:
        raise ctx.error(node, f"the scale {text} is not positive", "noise needs a positive scale")
    base = found.powers[0][0] if found.powers else "1"
    return Monomial.of(found.coefficient / grid, found.up, base)


def mentions_budget(ctx: Context, node: ast.expr) -> bool:
    """Whether a budget, or a name for something made of one, occurs."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            named = ctx.aliases.get(part.id)
            if part.id in ctx.budgets or (named is not None and mentions_budget(ctx, named)):
                return True
    return False


def is_public(ctx: Context, node: ast.expr) -> bool:
    """Whether an expression is made of public inputs, lengths, budgets and constants only."""
    return _private_part(ctx, expanded(ctx, node)) is None


def expanded(ctx: Context, node: ast.expr) -> ast.expr:
    """The expression with names for public expressions replaced by what they stand for."""

    class Expand(ast.NodeTransformer):
        def visit_Name(self, part: ast.Name) -> ast.expr:
            named = ctx.aliases.get(part.id)
            return part if named is None else _located(expanded(ctx, named), part)

    found: ast.expr = Expand().visit(copy.deepcopy(node))
    return found


def _located(node: ast.expr, place: ast.expr) -> ast.expr:
    moved = copy.deepcopy(node)
    for part in ast.walk(moved):
        ast.copy_location(part, place)
    return moved


def _product(ctx: Context, node: ast.expr) -> Product:
    found = ctx.constant(node)
    if isinstance(found, Fraction):
        return Product(found)
    match node:
        case ast.Name(id=name) if name in ctx.budgets:
            return Product(Fraction(1), powers=((name, 1),))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Product(Fraction(-1)).times(_product(ctx, operand))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _product(ctx, left).times(_product(ctx, right))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            below = _product(ctx, right)
            if below.coefficient == 0:
                raise ctx.error(node, f"{ast.unparse(node)} divides by zero")
            return _product(ctx, left).times(below.inverse())
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if mentions_budget(ctx, node):
            one, other = _product(ctx, left), _product(ctx, right)
            if (one.up, one.down, one.powers) == (other.up, other.down, other.powers):
                sign = 1 if isinstance(op, ast.Add) else -1
                return Product(one.coefficient + sign * other.coefficient, one.up, one.down, one.powers)
        case ast.Call(func=ast.Name(id="ln" | "log") | ast.Attribute(attr="ln" | "log"), args=[argument], keywords=[]):
            ctx.require_logarithm(node)
            number = ctx.constant(argument)
            if isinstance(number, Fraction) and number > 1:
                return Product(Fraction(1), powers=((f"ln({number})", 1),))
    if mentions_budget(ctx, node):
        raise ctx.error(node, f"{ast.unparse(node)} is not a scale", "a budget may be multiplied and divided only")
    return _leaf(ctx, node)


def _leaf(ctx: Context, node: ast.expr) -> Product:
    refuse_literal(ctx, node)
    strange = _private_part(ctx, node)
    if strange is not None:
        raise ctx.error(
            strange, f"a scale must be public: {_says(ctx, strange)}",
            "make it of numbers, public parameters, budgets and len(list)",
        )  # fmt: skip
    value = as_number(ctx.value(node))
    if isinstance(value.term, Num):
        return Product(value.term.value * value.kind.grid)
    if isinstance(value.term, App) and value.term.op == "neg":
        raise ctx.error(node, f"{ast.unparse(node)} is not a factor of a scale", "factors are positive")
    return Product(value.kind.grid, (value.term,))


def _private_part(ctx: Context, node: ast.expr) -> ast.expr | None:
    """The first part that may depend on private data or on what was drawn; None if there is none."""
    match node:
        case ast.Call(func=ast.Name(id="len") as function, args=[ast.Name(id=name)], keywords=[]) if ctx.is_builtin(
            function
        ):
            return node if name in ctx.slots or name not in ctx.inputs else None
        case ast.Call(func=function, args=args, keywords=[]) if (
            isinstance(function, ast.Name) and function.id in _PUBLIC_CALLS and ctx.is_builtin(function)
        ):
            return next((part for arg in args if (part := _private_part(ctx, arg)) is not None), None)
        case ast.Call():
            return None if ctx.constant(node) is not None else node
        case ast.Name(id=name):
            public = (name in ctx.inputs and name not in ctx.private) or name in ctx.budgets
            return None if public or ctx.constant(node) is not None else node
    parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
    return next((found for part in parts if (found := _private_part(ctx, part)) is not None), None)


def _says(ctx: Context, node: ast.expr) -> str:
    text = ast.unparse(node)
    if isinstance(node, ast.Name):
        if node.id in ctx.private:
            return f"{text} is private"
        if node.id in ctx.locals:
            return f"{text} is a variable that may depend on private data"
        return f"{text} is not known"
    if isinstance(node, ast.Call) and any(isinstance(arg, ast.Name) and arg.id in ctx.slots for arg in node.args):
        return f"{text} tells whether a row was added or removed"
    return f"{text} is not a public expression"
