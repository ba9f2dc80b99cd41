"""Values of terms: what an expression of the core language is worth when its variables are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from viameter.logic.lang.terms import App, Num, Term, Truth, Var

Value: TypeAlias = int | bool | Sequence[int]
"""An integer, a truth value or a list of integers; reals on a grid are integers of grid steps."""


def quotient(left: int, right: int) -> int:
    """left // right; 0 where right is 0.

    >>> quotient(-7, 2), quotient(7, 0)
    (-4, 0)
    """
    return left // right if right else 0


def remainder(left: int, right: int) -> int:
    """left % right; left where right is 0.

    >>> remainder(-7, 2), remainder(7, 0)
    (1, 7)
    """
    return left % right if right else left


def element(items: Sequence[int], index: int) -> int:
    """items[index]; 0 outside of the list, also before its start.

    >>> element([5, 6], 1), element([5, 6], -1), element([5, 6], 2)
    (6, 0, 0)
    """
    return items[index] if 0 <= index < len(items) else 0


_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "//": quotient,
    "%": remainder,
    "neg": lambda value: -value,
    "abs": abs,
    "min": min,
    "max": max,
    "<=": lambda left, right: left <= right,
    "<": lambda left, right: left < right,
    ">=": lambda left, right: left >= right,
    ">": lambda left, right: left > right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "not": lambda value: not value,
    "and": lambda *values: all(values),
    "or": lambda *values: any(values),
    "=>": lambda left, right: not left or right,
    "ite": lambda test, then, orelse: then if test else orelse,
    "read": element,
    "len": len,
}


def evaluate(term: Term, values: Mapping[str, Value]) -> Any:
    """The value of a term; variables are looked up by their text, `x` or `x<1>`.

    >>> from viameter.logic.lang.parsing import read_term
    >>> evaluate(read_term("q[i] + 2 * len(q)", {"q": "list", "i": "int"}), {"q": [5, 6], "i": 1})
    10
    """
    match term:
        case Var():
            return values[str(term)]
        case Num(value) | Truth(value):
            return value
        case App(op, args):
            return _OPERATIONS[op](*(evaluate(arg, values) for arg in args))


def names_read(term: Term) -> set[str]:
    """The variables whose values a term reads; those of which it takes the length only are not among them."""
    match term:
        case Var(name=name):
            return {name}
        case App(op, args) if op != "len":
            return names_in(args)
    return set()


def names_measured(term: Term) -> set[str]:
    """The lists whose length a term takes."""
    match term:
        case App("len", (Var(name=name),)):
            return {name}
        case App(_, args):
            return {name for arg in args for name in names_measured(arg)}
    return set()


def names_in(terms: Iterable[Term]) -> set[str]:
    """The variables whose values any of the terms reads."""
    return {name for term in terms for name in names_read(term)}
