"""Kinds: what the front end knows of a value before there are only integers: a truth value, or a number and its grid.

Every variable keeps one kind, the join of everything that is assigned to it. A number on a grid is stored in steps of
it; the join of two grids is the coarsest grid that holds both. Grid 0 is that of the number 0, which is on every grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Literal

from viameter.logic.lang.terms import Sort


@dataclass(frozen=True, slots=True)
class Kind:
    """`bit` is an element of a list of truth values, stored as 0 or 1: it counts as a number and as a truth value."""

    sort: Literal["unknown", "bit", "bool", "number"]
    grid: Fraction = Fraction(0)

    @property
    def core(self) -> Sort:
        """The sort of a variable of this kind in the core language."""
        return "bool" if self.sort == "bool" else "int"

    def __str__(self) -> str:
        if self.sort != "number":
            return "bool" if self.sort in ("bool", "bit") else "unknown"
        return "int" if self.grid in (0, 1) else f"on the grid of {self.grid}"


UNKNOWN, BIT, BOOL = Kind("unknown"), Kind("bit", Fraction(1)), Kind("bool")


def number(grid: Fraction | int) -> Kind:
    """A number on a grid."""
    return Kind("number", Fraction(grid))


INT = number(1)


def common(left: Fraction, right: Fraction) -> Fraction:
    """The coarsest grid that holds both.

    >>> common(Fraction(1, 2), Fraction(1, 3)), common(Fraction(0), Fraction(5))
    (Fraction(1, 6), Fraction(5, 1))
    """
    over = left.denominator * right.denominator
    return Fraction(gcd(left.numerator * right.denominator, right.numerator * left.denominator), over)


def join(left: Kind, right: Kind) -> Kind | None:
    """The kind of a variable that takes values of both; None if there is none."""
    if left == right or right.sort == "unknown":
        return left
    if left.sort == "unknown":
        return right
    sorts = {left.sort, right.sort}
    if sorts == {"bit", "bool"}:
        return BOOL
    return None if "bool" in sorts else number(common(left.grid, right.grid))
