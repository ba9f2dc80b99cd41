"""Calls of other programs: their statements, with variables renamed and inputs replaced, in the place of the call."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.errors import ParameterError
from viameter.logic.front.context import Context
from viameter.logic.front.inputs import PRESENT, element_facts
from viameter.logic.front.kinds import BOOL, Kind, number
from viameter.logic.front.renaming import Renaming
from viameter.logic.front.scaling import Product, expanded, is_public, product
from viameter.logic.front.starting import unassigned
from viameter.logic.front.values import Value, to_kind
from viameter.logic.lang.core import Input, Program, Sample, assigned, statements_of
from viameter.logic.lang.terms import FALSE, TRUE, ZERO, App, Term, Var, substitute, variables


def call_program(ctx: Context, node: ast.Call, callee: Any) -> Value:
    """Run a program that returns one value; that value."""
    core: Program = callee.core
    if core.output.sort == "list":
        raise ctx.error(
            node, f"{core.name} returns a list, which is outside the subset within an expression",
            f"write out = {core.name}(...), out += {core.name}(...) or return {core.name}(...)",
        )  # fmt: skip
    name = ctx.name(node, f"local {core.output.name}", f"{core.name}_{core.output.name}")
    ctx.fixed[name] = result_kind(core)
    _inline(ctx, node, callee, Fraction(1))
    return ctx.read(name)


def append_program(ctx: Context, node: ast.Call, callee: Any, target: str) -> None:
    """Run a program that returns a list, and append what it appends to its list to `target`."""
    core: Program = callee.core
    if core.output.sort != "list":
        raise ctx.error(node, f"{core.name} returns no list", "assign what it returns to a variable")
    element = Value(Var("element"), number(core.output_grid))
    ctx.fit(node, target, element)
    steps = core.output_grid / (ctx.kind(target).grid or core.output_grid)
    ctx.made[id(node), f"local {core.output.name}"] = target
    ctx.appended.add(target)
    _inline(ctx, node, callee, steps)


def result_kind(core: Program) -> Kind:
    """The kind of what a program returns."""
    return BOOL if core.output.sort == "bool" else number(core.output_grid)


@dataclass(slots=True)
class _Given:
    """What the inputs and budgets of a program that is called stand for."""

    terms: dict[Var, Term]
    budgets: dict[str, Product]


def _inline(ctx: Context, node: ast.Call, callee: Any, steps: Fraction) -> None:
    core: Program = callee.core
    given = _bound(ctx, node, callee)
    line = ctx.source.line(node)
    for var in sorted({*assigned(core.body), *unassigned(core.body, frozenset(e.name for e in core.inputs))}, key=str):
        name = ctx.name(node, f"local {var.name}", f"{core.name}_{var.name}")
        given.terms[var] = Var(name, var.sort)
    if ctx.loops:  # the second time around, variables are not what they start as
        starts = unassigned(core.body, frozenset(e.name for e in core.inputs))
        for var in (*starts, *([] if core.output.sort == "list" else [core.output])):
            name = ctx.name(node, f"local {var.name}", var.name)
            ctx.assign_core(node, Var(name, var.sort), FALSE if var.sort == "bool" else ZERO)
    rename = Renaming(given.terms, given.budgets, core.output, steps, line)
    try:
        for statement in core.body:
            ctx.emit(rename.statement(statement))
    except ParameterError as problem:
        raise ctx.error(node, str(problem), "noise needs a positive scale") from None
    for old, new in rename.made:
        if old.at in callee.hints.shifts:
            ctx.shifts.append((new, rename.text(callee.hints.shifts[old.at])))
        if old.at in callee.hints.invariants:
            ctx.invariants.append((new, tuple(map(rename.text, callee.hints.invariants[old.at]))))
    _require(ctx, node, core, given)
    for name, mechanism in core.mechanisms.items():
        if ctx.mechanisms.setdefault(name, mechanism) is not mechanism:
            raise ctx.error(node, f"two mechanisms are called {name}", "give them two names")


def _bound(ctx: Context, node: ast.Call, callee: Any) -> _Given:
    core: Program = callee.core
    parameters: tuple[str, ...] = callee.parameters
    pairs = [*zip(parameters, node.args, strict=False), *((str(word.arg), word.value) for word in node.keywords)]
    names = [name for name, _ in pairs]
    if sorted(names) != sorted(parameters) or len(pairs) != len(node.args) + len(node.keywords):
        raise ctx.error(
            node, f"the arguments of {ast.unparse(node)} are not those of {core.name}",
            f"write {core.name}({', '.join(parameters)})",
        )  # fmt: skip
    given = _Given({}, {})
    scaled = _in_scales(core)
    for name, argument in pairs:
        entry = core.input(name)
        if entry is None:
            given.budgets[name] = _budget(ctx, argument, name)
        elif entry.sort == "list":
            given.terms |= _list(ctx, argument, core, entry)
        else:
            given.terms[entry.var] = _scalar(ctx, argument, core, entry, scaled)
    return given


def _in_scales(core: Program) -> set[str]:
    """The inputs that the widths of draws depend on."""
    found: set[str] = set()
    for statement in statements_of(core.body):
        if isinstance(statement, Sample):
            scale = getattr(statement.law, "scale", None) or getattr(statement.law, "sigma", None)
            for factor in scale.factors if scale is not None else ():
                found |= {var.name for var in variables(factor)}
    return found


def _budget(ctx: Context, node: ast.expr, name: str) -> Product:
    found = product(ctx, node)
    if found.up or found.coefficient <= 0 or [power for _, power in found.powers] not in ([], [1]):
        raise ctx.error(
            node, f"{ast.unparse(node)} is no budget for {name}", "pass eps, or eps over a number, such as eps / 2"
        )
    return found


def _list(ctx: Context, node: ast.expr, core: Program, entry: Input) -> dict[Var, Term]:
    given = ctx.inputs.get(node.id) if isinstance(node, ast.Name) else None
    if not isinstance(node, ast.Name) or given is None or given.shape != "list":
        raise ctx.error(
            node, f"{core.name} takes a list as {entry.name}, and {ast.unparse(node)} is no input list",
            "pass an input list as it is",
        )  # fmt: skip
    slotted = core.input(entry.name + PRESENT) is not None
    if slotted != (node.id in ctx.slots):
        raise ctx.error(
            node, f"rows of {node.id if not slotted else entry.name} may be added or removed, but not in both programs",
            "give both programs the same adjacency",
        )  # fmt: skip
    found: dict[Var, Term] = {entry.var: Var(node.id, "list")}
    if slotted:
        found[Var(entry.name + PRESENT, "list")] = Var(node.id + PRESENT, "list")
    known = {fact for _, fact in element_facts(node.id, given)}
    wanted = {substitute(fact, found) for name, fact in core.each if name == entry.name}
    if given.kind.grid != entry.grid or not wanted <= known:
        raise ctx.error(
            node, f"{core.name} takes a list of another type as {entry.name} than that of {node.id}",
            "declare both with the same grid and the same bounds",
        )  # fmt: skip
    return found


def _scalar(ctx: Context, node: ast.expr, core: Program, entry: Input, scaled: set[str]) -> Term:
    public = entry.name in scaled
    if public and not is_public(ctx, node):
        raise ctx.error(
            node, f"a scale must be public: scales of {core.name} depend on {entry.name}",
            "pass an expression of public parameters and numbers",
        )  # fmt: skip
    value = ctx.value(expanded(ctx, node) if public else node)
    term = to_kind(value, BOOL if entry.sort == "bool" else number(entry.grid))
    if term is None:
        raise ctx.error(node, f"{entry.name} of {core.name} is on a grid of {entry.grid}, and this is {value.kind}")
    if public or not isinstance(term, App):
        return term
    name = ctx.name(node, f"input {entry.name}", f"{core.name}_{entry.name}")
    ctx.fixed[name] = BOOL if entry.sort == "bool" else number(entry.grid)
    ctx.assign_core(node, ctx.var(name), term)
    return ctx.var(name)


def _require(ctx: Context, node: ast.Call, core: Program, given: _Given) -> None:
    """What the program requires of this program's inputs is required by this program too."""
    for fact in core.requires:
        found = substitute(fact, given.terms)
        if found == FALSE:
            raise ctx.error(node, f"{core.name} requires {fact}, which does not hold here")
        names = {var.name.removesuffix(PRESENT) for var in variables(found)}
        if found != TRUE and names <= set(ctx.inputs) and found not in ctx.requires:
            ctx.requires.append(found)
