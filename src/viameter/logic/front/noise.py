"""Noise calls: `vm.lap(2 / eps)` and its kin to sampling statements."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from viameter.logic.front.constants import string, text_or_number
from viameter.logic.front.context import Context
from viameter.logic.front.kinds import BOOL, INT, Kind, number
from viameter.logic.front.scaling import scale
from viameter.logic.front.values import Value, on_grid
from viameter.logic.lang.core import Choose, Exponential, Flip, Gaussian, Laplace, Law, Sample, Uniform
from viameter.logic.lang.scales import Monomial
from viameter.logic.lang.terms import ZERO, Term, Var

_SIGNATURES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lap": (("scale",), ("grid", "center", "shift")),
    "expo": (("scale",), ("grid", "shift")),
    "geom": (("p",), ("shift",)),
    "gauss": (("sigma",), ("grid", "center", "shift")),
    "flip": (("p",), ("shift",)),
    "uniform": (("low", "high"), ("shift",)),
    "choose": (("scores", "scale"), ()),
}
_VARIABLES = {"flip": "coin", "uniform": "drawn", "choose": "chosen"}


@dataclass(frozen=True, slots=True)
class Draw:
    """A law, the kind of what it draws, and the shift that was given as a hint, or nothing."""

    law: Law
    kind: Kind
    shift: str


def sample(ctx: Context, node: ast.Call, name: str) -> Value:
    """Draw into a variable of the draw's own; its value."""
    return held(ctx, node, name, drawn(ctx, node, name))


def held(ctx: Context, node: ast.Call, name: str, found: Draw) -> Value:
    """What was drawn, in a variable of the draw's own."""
    target = ctx.name(node, "noise", _VARIABLES.get(name, "noise"))
    ctx.fit(node, target, Value(ZERO, found.kind))
    emit(ctx, node, target, found)
    return ctx.read(target)


def emit(ctx: Context, node: ast.AST, target: str, found: Draw) -> None:
    """target :=$ law."""
    statement = Sample(ctx.var(target), found.law, ctx.source.line(node))
    ctx.emit(statement)
    if found.shift:
        ctx.shifts.append((statement, found.shift))


def drawn(ctx: Context, node: ast.Call, name: str) -> Draw:
    """The law that a call stands for."""
    given = _arguments(ctx, node, name)
    shift = _shift(ctx, given.get("shift"))
    match name:
        case "flip":
            return Draw(Flip(_probability(ctx, given["p"])), BOOL, shift)
        case "geom":
            p = _probability(ctx, given["p"])
            if p in (0, 1):
                raise ctx.error(node, f"geom({p}) has no noise", "give a probability between 0 and 1")
            return Draw(Exponential(Monomial(Fraction(1), (), f"ln({1 / (1 - p)})")), INT, shift)
        case "uniform":
            return Draw(Uniform(_end(ctx, given["low"]), _end(ctx, given["high"])), INT, shift)
        case "choose":
            return Draw(_chosen(ctx, given["scores"], given["scale"]), INT, shift)
    grid = _grid(ctx, given.get("grid"))
    if name == "gauss":
        sigma = scale(ctx, given["sigma"], grid=grid, budgets=False)
        return Draw(Gaussian(sigma, _center(ctx, given.get("center"), grid)), number(grid), shift)
    width = scale(ctx, given["scale"], grid=grid)
    if name == "expo":
        return Draw(Exponential(width), number(grid), shift)
    return Draw(Laplace(width, _center(ctx, given.get("center"), grid)), number(grid), shift)


def _arguments(ctx: Context, node: ast.Call, name: str) -> dict[str, ast.expr]:
    places, words = _SIGNATURES[name]
    given = dict(zip(places, node.args, strict=False))
    given |= {word.arg: word.value for word in node.keywords if word.arg in (*places, *words) and word.arg not in given}
    if len(given) != len(node.args) + len(node.keywords) or not set(places) <= set(given):
        more = "".join(f", {word}=..." for word in words)
        raise ctx.error(
            node, f"the arguments of {ast.unparse(node)} are not those of vm.{name}",
            f"write vm.{name}({', '.join(places)}){' and perhaps' + more[1:] if more else ''}",
        )  # fmt: skip
    return given


def _shift(ctx: Context, node: ast.expr | None) -> str:
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return ""
    found = string(node, ctx.lookup)
    if found is None:
        raise ctx.error(node, "shift= is no text", 'write what the proof is to use as text, shift="1"')
    return found


def _grid(ctx: Context, node: ast.expr | None) -> Fraction:
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return ctx.noise_grid
    found = text_or_number(node, ctx.lookup)
    if found is None or found <= 0:
        raise ctx.error(node, f"grid={ast.unparse(node)} is no positive constant", 'write grid="1/100"')
    return found


def _probability(ctx: Context, node: ast.expr) -> Fraction:
    found = text_or_number(node, ctx.lookup)
    if found is None or not 0 <= found <= 1:
        raise ctx.error(
            node, f"{ast.unparse(node)} is no fixed probability", 'write a rational between 0 and 1, "3/4" or 3 / 4'
        )
    return found


def _center(ctx: Context, node: ast.expr | None, grid: Fraction) -> Term:
    if node is None:
        return ZERO
    value = ctx.value(node)
    term = on_grid(value, grid)
    if term is None:
        raise ctx.error(node, f"the center is {value.kind}, and the noise on a grid of {grid}", "give both one grid")
    return term


def _end(ctx: Context, node: ast.expr) -> Term:
    value = ctx.value(node)
    term = on_grid(value, INT.grid)
    if term is None:
        raise ctx.error(node, f"an end of uniform is {value.kind}", "uniform draws whole numbers")
    return term


def _chosen(ctx: Context, scores: ast.expr, width: ast.expr) -> Choose:
    entry = ctx.inputs.get(scores.id) if isinstance(scores, ast.Name) else None
    if not isinstance(scores, ast.Name) or entry is None or entry.shape != "list":
        raise ctx.error(scores, f"choose takes an input list, not {ast.unparse(scores)}", "pass the list as it is")
    if scores.id in ctx.slots:
        raise ctx.error(scores, f"rows of {scores.id} may be added or removed", "choose needs a list of fixed length")
    return Choose(Var(scores.id, "list"), scale(ctx, width, grid=entry.kind.grid))
