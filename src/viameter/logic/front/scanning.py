"""A first look at a function: which names it assigns, which of them are lists, and where it returns."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viameter.logic.front.names import is_plain
from viameter.logic.front.source import Source
from viameter.logic.lang.core import Program


@dataclass(frozen=True, slots=True)
class Scan:
    """What is found: names in the order of the text."""

    used: frozenset[str]
    assigned: tuple[str, ...]
    lists: frozenset[str]
    once: frozenset[str]
    """Names that are assigned once, by a statement of the function's own block."""
    returns: list[ast.Return]


def scanned(source: Source, inputs: Mapping[str, Any], budgets: tuple[str, ...]) -> Scan:
    """Look through a function."""
    names = [part for part in ast.walk(source.tree) if isinstance(part, ast.Name)]
    stored = [part for part in names if isinstance(part.ctx, ast.Store)]
    known = (*inputs, *budgets)
    counts = Counter(part.id for part in stored)
    for part in stored:
        if not is_plain(part.id):
            raise source.error(part, f"the name {part.id} has letters outside ASCII", "rename it")
    top = {
        target.id
        for statement in source.tree.body
        for target in _targets(statement)
        if isinstance(target, ast.Name) and counts[target.id] == 1
    }
    return Scan(
        frozenset(part.id for part in names),
        tuple(dict.fromkeys(part.id for part in stored if part.id not in known)),
        frozenset(_lists(source) - set(known)),
        frozenset(top),
        [part for part in ast.walk(source.tree) if isinstance(part, ast.Return)],
    )


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AnnAssign) and statement.value is not None else []


def _lists(source: Source) -> set[str]:
    """The variables that lists are assigned to, or that something is appended to."""
    found: set[str] = set()
    for part in ast.walk(source.tree):
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_list(source, value):
                found.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = zip(targets, values, strict=False)
                found |= {one.id for one, value in pairs if isinstance(one, ast.Name) and _is_list(source, value)}
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None and _is_list(source, value):
                found.add(name)
            case ast.AugAssign(target=ast.Name(id=name), value=value) if _is_list(source, value):
                found.add(name)
    return found


def _is_list(source: Source, value: ast.expr) -> bool:
    match value:
        case ast.List():
            return True
        case ast.Call(func=ast.Name(id=name)):
            core = getattr(source.names.get(name), "core", None)
            return isinstance(core, Program) and core.output.sort == "list"
    return False
