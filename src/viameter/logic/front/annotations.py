"""Annotations: the declared types of parameters, of local variables and of what is returned."""

from __future__ import annotations

import ast
import typing
from dataclasses import dataclass
from fractions import Fraction
from types import GenericAlias
from typing import Any, Literal

from viameter.errors import ViameterError
from viameter.logic.front.constants import ELSEWHERE, MISSING, text_or_number
from viameter.logic.front.kinds import BIT, BOOL, INT, Kind, number
from viameter.logic.front.markers import Between, Eps, Grid
from viameter.logic.front.source import Source

EXPECTED = 'expected int, bool, vm.Eps, vm.Grid("1/100"), vm.Between(0, 1), or list[...] of one of these'


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared type: a budget, one value, or a list of values; the ends, if any, are in steps of the grid."""

    shape: Literal["budget", "scalar", "list"]
    kind: Kind = INT
    low: int | None = None
    high: int | None = None

    @property
    def bounded(self) -> bool:
        """Whether it has ends."""
        return self.low is not None


def declared(source: Source, node: ast.expr) -> Declared:
    """The type that an annotation stands for; names are matched by their last part: `vm.Eps` or `Eps`."""
    match node:
        case ast.Constant(value=str(text)):
            try:
                inner = ast.parse(text, mode="eval").body
            except SyntaxError:
                raise _unknown(source, node) from None
            return declared(source, ast.copy_location(_moved(inner, node), node))
        case ast.Subscript(
            value=(ast.Name(id="list" | "List") | ast.Attribute(attr="List")) as kind, slice=element
        ) if _found(source, kind) in (MISSING, list, typing.List):  # noqa: UP006  # the old name of it
            return _list_of(source, node, declared(source, element))
        case ast.Name(id=name) | ast.Attribute(attr=name):
            plain = {"int": Declared("scalar"), "bool": Declared("scalar", BOOL), "Eps": Declared("budget")}
            found = _found(source, node)
            return plain[name] if found is MISSING and name in plain else _of_value(source, node, found)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords):
            return _made(source, node, name, args, keywords)
    raise _unknown(source, node)


def _found(source: Source, node: ast.expr) -> Any:
    """What a name stands for, as far as is known."""
    match node:
        case ast.Name(id=name):
            return source.names.get(name, MISSING)
        case ast.Attribute(value=inner, attr=name):
            around = _found(source, inner)
            return MISSING if around is MISSING else getattr(around, name, ELSEWHERE)
    return MISSING


def _moved(node: ast.expr, place: ast.expr) -> ast.expr:
    for part in ast.walk(node):
        ast.copy_location(part, place)
    return node


def _made(source: Source, node: ast.expr, name: str, args: list[ast.expr], keywords: list[ast.keyword]) -> Declared:
    makers: dict[str, Any] = {"Grid": Grid, "Between": Between}
    if name in makers and isinstance(node, ast.Call) and _found(source, node.func) not in (MISSING, makers[name]):
        raise _unknown(source, node)
    given = [text_or_number(arg, lambda other: source.names.get(other, MISSING)) for arg in args]
    named = {
        str(word.arg): text_or_number(word.value, lambda other: source.names.get(other, MISSING)) for word in keywords
    }
    if name not in makers or None in given or None in named.values():
        raise _unknown(source, node)
    try:
        return _of_value(source, node, makers[name](*given, **named))
    except (ViameterError, TypeError) as problem:
        raise source.error(node, str(problem), EXPECTED) from None


def _of_value(source: Source, node: ast.expr, value: Any) -> Declared:
    if isinstance(value, Grid):
        return Declared("scalar", number(value.step))
    if isinstance(value, Between):
        return Declared("scalar", number(value.grid), int(value.low / value.grid), int(value.high / value.grid))
    if isinstance(value, GenericAlias) and value.__origin__ is list:
        return _list_of(source, node, _of_value(source, node, value.__args__[0]))
    types = {int: Declared("scalar"), bool: Declared("scalar", BOOL), Eps: Declared("budget")}
    if isinstance(value, type) and value in types:
        return types[value]
    raise _unknown(source, node)


def _list_of(source: Source, node: ast.expr, element: Declared) -> Declared:
    if element.shape != "scalar":
        raise source.error(node, f"a list of {element.shape}s is outside the subset", "a list is of numbers or bools")
    if element.kind == BOOL:
        return Declared("list", BIT, 0, 1)
    return Declared("list", element.kind, element.low, element.high)


def _unknown(source: Source, node: ast.expr) -> Exception:
    return source.error(node, f"the type {ast.unparse(node)} is outside the subset", EXPECTED)


def noise_grid(private: list[Declared], returned: Declared) -> Fraction:
    """The grid of noise that does not say its own: the one that the private inputs and the result share, else 1."""
    grids = {entry.kind.grid for entry in private if entry.kind.sort in ("number", "bit")}
    if returned.kind.sort == "number" and returned.kind.grid != 1:
        grids.add(returned.kind.grid)
    return grids.pop() if len(grids) == 1 else Fraction(1)
