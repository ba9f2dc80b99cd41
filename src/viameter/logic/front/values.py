"""Values: terms of the core language together with their kind, and arithmetic that keeps track of grids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from viameter.logic.front.kinds import BIT, BOOL, INT, Kind, common, join, number
from viameter.logic.lang.terms import (
    ONE,
    TRUE,
    ZERO,
    App,
    Num,
    Term,
    Truth,
    apply,
    eq,
    ite,
    le,
    lt,
    mul,
    neg,
    not_,
)


@dataclass(frozen=True, slots=True)
class Value:
    """A term that stands for term * grid, if it is a number."""

    term: Term
    kind: Kind


def literal(constant: Fraction | bool) -> Value:
    """A constant."""
    if isinstance(constant, bool):
        return Value(Truth(constant), BOOL)
    if constant == 0:
        return Value(ZERO, number(0))
    return Value(Num(constant.numerator), number(Fraction(1, constant.denominator)))


def as_number(value: Value) -> Value:
    """The value as Python's arithmetic takes it: True counts as 1."""
    match value.kind.sort:
        case "bool":
            return Value(ite(value.term, ONE, ZERO), INT)
        case "bit":
            return Value(value.term, INT)
        case "unknown":
            return Value(value.term, number(0))
    return value


def as_truth(value: Value) -> Term | None:
    """The value as a test, or None for a number."""
    match value.kind.sort:
        case "bool":
            return value.term
        case "bit":
            return eq(value.term, ONE)
        case "unknown":  # the kinds are not all found yet: what is made of this is made again
            return TRUE
    return None


def on_grid(value: Value, grid: Fraction) -> Term | None:
    """The number in steps of a grid, or None if it may be between two steps."""
    exact = as_number(value)
    if exact.kind.grid == 0:
        return exact.term
    ratio = exact.kind.grid / grid if grid else Fraction(0)
    return mul(Num(int(ratio)), exact.term) if ratio.denominator == 1 and ratio else None


def to_kind(value: Value, kind: Kind) -> Term | None:
    """The value as a variable of a kind stores it, or None if it cannot."""
    if value.kind.sort == "unknown":
        return value.term
    match kind.sort:
        case "bool":
            return as_truth(value)
        case "bit":
            if value.kind.sort == "number":
                return None
            return value.term if value.kind == BIT else as_number(value).term
        case "number":
            return on_grid(value, kind.grid)
    return value.term


def aligned(left: Value, right: Value) -> tuple[Term, Term, Fraction]:
    """Two numbers in steps of one grid."""
    first, second = as_number(left), as_number(right)
    grid = common(first.kind.grid, second.kind.grid)
    one, other = on_grid(first, grid), on_grid(second, grid)
    assert one is not None and other is not None, "the common grid holds both"  # noqa: PT018
    return one, other, grid


def arithmetic(op: str, left: Value, right: Value) -> Value:
    """+, -, *, //, %, min or max of two numbers; a quotient is a whole number."""
    if op == "*":
        first, second = as_number(left), as_number(right)
        return Value(mul(first.term, second.term), number(first.kind.grid * second.kind.grid))
    one, other, grid = aligned(left, right)
    if op in ("//", "%") and isinstance(one, Num) and isinstance(other, Num) and other.value:
        folded = one.value // other.value if op == "//" else one.value % other.value
        return Value(Num(folded), INT if op == "//" else number(grid))
    return Value(apply(op, (one, other)), INT if op == "//" else number(grid))


def negated(value: Value) -> Value:
    """-value."""
    exact = as_number(value)
    return Value(neg(exact.term), exact.kind)


def absolute(value: Value) -> Value:
    """abs(value)."""
    exact = as_number(value)
    return Value(apply("abs", (exact.term,)), exact.kind)


def divided(value: Value, constant: Fraction) -> Value:
    """The value over a constant, exactly: the grid is divided."""
    over = 1 / constant
    exact = as_number(value)
    return Value(mul(Num(over.numerator), exact.term), number(exact.kind.grid / over.denominator))


def compared(op: str, left: Value, right: Value) -> Value:
    """A comparison; of two truth values, == and != compare them as such."""
    first, second = as_truth(left), as_truth(right)
    truths = op in ("==", "!=") and "bool" in (left.kind.sort, right.kind.sort)
    if truths and first is not None and second is not None:
        return Value(apply(op, (first, second)), BOOL)
    one, other, _ = aligned(left, right)
    return Value(apply(op, (one, other)), BOOL)


def either(test: Term, then: Value, orelse: Value) -> Value | None:
    """`then` if the test holds, else `orelse`; None if one is a number and the other a truth value."""
    kind = join(then.kind, orelse.kind)
    if kind is None:
        return None
    one, other = to_kind(then, kind), to_kind(orelse, kind)
    assert one is not None and other is not None, "the join holds both"  # noqa: PT018
    return Value(ite(test, one, other), kind)


def negation(term: Term) -> Term:
    """Not term, with comparisons turned around."""
    turned: dict[str, Callable[[Term, Term], Term]] = {"<=": lt, "<": le}
    if isinstance(term, App) and term.op in turned:
        return turned[term.op](term.args[1], term.args[0])
    return not_(term)
