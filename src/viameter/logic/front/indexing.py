"""Indices: what q[i] reads where i may be below 0, and which variables never are.

The core language reads 0 at a negative index, and Python counts from the end. So an index that is not seen to be at
least 0 is read as `ite(0 <= i, q[i], q[len(q) + i])`: what Python reads, or 0 where Python would stop with an error.
"""

from __future__ import annotations

from collections.abc import Set
from itertools import chain

from viameter.logic.lang.core import Assign, Block, Choose, Exponential, Law, Sample, Statement, Uniform, statements_of
from viameter.logic.lang.terms import ONE, ZERO, App, Num, Term, Var, add, ite, le, length, read, sub, subterms


def element(items: Var, index: Term, negative: Set[str]) -> Term | None:
    """items[index] as Python reads it; None if the index is too large to be written three times.

    `negative` are the variables, and lists of numbers, that may be below 0.

    >>> print(element(Var("q", "list"), Var("i"), {"q"}), "or", element(Var("q", "list"), Var("i"), {"q", "i"}))
    q[i] or ite(0 <= i, q[i], q[len(q) + i])
    """
    size = length(items)
    # len(q) - 1 is below 0 where the list is empty, and nothing is read then.
    if is_nonnegative(index, negative) or index == sub(size, ONE):
        return read(items, index)
    if any(isinstance(part, App) and part.op == "read" for part in subterms(index)):
        return None
    return ite(le(ZERO, index), read(items, index), read(items, add(size, index)))


def is_nonnegative(term: Term, negative: Set[str]) -> bool:
    """Whether a number is at least 0 whatever its variables are, of which only those in `negative` may be below 0."""

    def holds(part: Term) -> bool:
        return is_nonnegative(part, negative)

    match term:
        case Num(value):
            return value >= 0
        case Var(name=name) | App("read", (Var(name=name), _)):
            return name not in negative
        case App("abs" | "len"):
            return True
        case App("ite", (_, then, orelse)):
            return holds(then) and holds(orelse)
        case App("max", args):
            return any(map(holds, args))
        case App("%", (left, right)):  # a % 0 is a
            return holds(right) and (holds(left) or (isinstance(right, Num) and right.value > 0))
        case App("+" | "*" | "//" | "min", args):
            return all(map(holds, args))
    return False


def negative_variables(statements: list[Statement], negative: Set[str]) -> frozenset[str]:
    """The inputs that may be below 0, and the variables that they, and what is drawn and subtracted, may make so."""
    found = frozenset(negative)
    each = list(statements_of(Block(tuple(statements))))
    while True:
        below = chain(
            (s.target.name for s in each if isinstance(s, Assign) and not is_nonnegative(s.value, found)),
            (s.target.name for s in each if isinstance(s, Sample) and not _draws_nonnegative(s.law, found)),
        )
        more = found.union(below)
        if more == found:
            return found
        found = more


def _draws_nonnegative(law: Law, negative: Set[str]) -> bool:
    match law:
        case Exponential() | Choose():
            return True
        case Uniform(low=low):
            return is_nonnegative(low, negative)
    return False
