"""Adjacency as a user says it: which inputs are private, and how they may differ between two runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from viameter.arith import Number, exact
from viameter.errors import ParameterError, plain
from viameter.logic.front.adjacency import SIDED, AddedOrRemoved, Adjacency, Differing, Related, Together

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def all_differ(name: str, by: Number | None = 1, *, monotone: bool = False) -> Adjacency:
    """Every element of the list, or the one value, differs by at most `by`; None: by anything that its type allows.

    With `monotone`, all change in one direction: 0 <= second - first <= by, or the other way around.
    """
    return Differing(_named(name), _amount(by), _flag(monotone), one=False)


def one_differs(name: str, by: Number | None = 1, *, monotone: bool = False) -> Adjacency:
    """One element of the list differs by at most `by`; None means by anything that its type allows."""
    return Differing(_named(name), _amount(by), _flag(monotone), one=True)


def related(text: str) -> Adjacency:
    """A relation as text over `x<1>` and `x<2>`, of lists over `q<1>[any.k]` and `q<2>[any.k]`, the same for every k.

    Names that occur with a side are private. Numbers are in the inputs' own units, not in grid steps.
    """
    if not isinstance(text, str) or not SIDED.search(text):
        why = "it must name an input of both runs, x as x<1> and x<2>: " if isinstance(text, str) else ""
        raise ParameterError(f"related({plain(text)}): {why}expected text such as 'abs(x<1> - x<2>) <= 1'")
    return Related(text)


def added_or_removed(name: str) -> Adjacency:
    """One row of the list is added or removed, anywhere.

    The program may use the list only by `for x in q`, `sum(q)` and `len(q)`.
    """
    return AddedOrRemoved(_named(name))


def combined(adjacent: object) -> Adjacency:
    """One adjacency, or several that are given as a tuple or list."""
    if isinstance(adjacent, Adjacency):
        return adjacent
    if isinstance(adjacent, Iterable) and not isinstance(adjacent, str):
        parts = tuple(adjacent)
        if all(isinstance(part, Adjacency) for part in parts):
            return parts[0] if len(parts) == 1 else Together(parts)
    raise ParameterError(f"adjacent={plain(adjacent)}: expected an adjacency, such as vm.all_differ('q', by=1)")


def _named(name: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParameterError(f"{plain(name)} is no name of an input")
    return name


def _amount(by: Number | None) -> Fraction | None:
    if by is None:
        return None
    if isinstance(by, bool):
        raise ParameterError(f"by={by}: expected a number")
    taken = exact(by, name="by")
    if taken < 0:
        raise ParameterError(f"by={taken} is negative: expected how far inputs may differ")
    return taken


def _flag(monotone: bool) -> bool:
    if not isinstance(monotone, bool):
        raise ParameterError(f"monotone={plain(monotone)}: expected True or False")
    return monotone
