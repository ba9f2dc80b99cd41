"""The registry of theorems: every function that states a privacy fact is in it, under a slug.

A registered function takes the distance `d_in` first and public parameters after it, and returns the bound that the
theorem gives: a distance or a loss. It stays an ordinary function.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from viameter.errors import RegistryError
from viameter.theorem.statement import Statement

Function = TypeVar("Function", bound=Callable[..., Any])


class Numbers(enum.Enum):
    """How the numbers that a theorem gives are meant."""

    EXACT = "exact"
    """The bound itself, as a rational number."""
    OUTWARD = "outward"
    """At least the bound: rounded away from zero where it is not a short rational."""
    IDEALIZED = "idealized"
    """True of a mathematical model (real-valued noise, say), not of what a machine runs. Never used for a release."""
    ASSUMED = "assumed"
    """Given by somebody; the derivation names the trust it asks for."""


@dataclass(frozen=True, slots=True)
class Theorem:
    """A registered statement: what it says, whose it is, and the function that computes its bound."""

    slug: str
    cites: str
    numbers: Numbers
    statement: Statement
    function: Callable[..., Any] = field(repr=False)

    @property
    def where(self) -> str:
        """The function's place in the code, as a dotted name."""
        return f"{self.function.__module__}.{self.function.__qualname__}"


_THEOREMS: dict[str, Theorem] = {}
_ATTRIBUTE = "__viameter_theorem__"


def theorem(slug: str, *, cites: str, numbers: Numbers = Numbers.EXACT) -> Callable[[Function], Function]:
    """Register a function as the computation of a theorem's bound."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug):
        raise RegistryError(f"slug={slug!r} is not a slug: expected lower-case words joined by hyphens")

    if not isinstance(cites, str) or not cites.strip():
        raise RegistryError(f"slug={slug!r} cites nothing: say whose theorem it is, or that it is derived here")

    def register(function: Function) -> Function:
        where = f"{function.__module__}.{function.__qualname__}"
        known = _THEOREMS.get(slug)
        if known is not None and known.where != where:
            raise RegistryError(f"slug={slug!r} is taken by {known.where}: {where} needs another")
        statement = Statement.read(function.__doc__, where=where)
        made = Theorem(slug=slug, cites=cites, numbers=numbers, statement=statement, function=function)
        _THEOREMS[slug] = made
        setattr(function, _ATTRIBUTE, made)
        return function

    return register


def theorem_of(function: Callable[..., Any]) -> Theorem:
    """The theorem that a function computes the bound of."""
    found = getattr(function, _ATTRIBUTE, None)
    if not isinstance(found, Theorem):
        raise RegistryError(f"{getattr(function, '__qualname__', function)!r} is not registered as a theorem")
    return found


def find_theorem(slug: str) -> Theorem:
    """The theorem of that slug."""
    try:
        return _THEOREMS[slug]
    except KeyError:
        raise RegistryError(f"no theorem is called {slug!r}: `viameter theorems` lists them") from None


def all_theorems() -> tuple[Theorem, ...]:
    """All registered theorems, by slug."""
    return tuple(_THEOREMS[slug] for slug in sorted(_THEOREMS))
