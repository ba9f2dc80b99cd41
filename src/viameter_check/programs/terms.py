"""Terms: integers, truth values and reads of lists, over variables of either run (`x<1>`, `x<2>`) or of both (`x`).

Equal terms are one object, so that they are compared by identity and looked up quickly. What would take a solver
forever (towers of products, numbers of thousands of digits) is refused when it is made. All operations are total: a
read outside a list is 0, `a // 0` is 0, `a % 0` is a, and division rounds down as in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from viameter_check.report import Refused

INT, BOOL, LIST = "int", "bool", "list"

MOST_BITS = 2048
MOST_DEGREE = 12
MOST_MONOMIALS = 4096
MOST_DEPTH = 4000


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Term:
    """A variable (op `name`), a literal (op `literal`) or an operation; made by the functions of this file only."""

    op: str
    args: tuple[Term, ...]
    leaf: Any
    """(name, side) of a variable, the value of a literal."""
    sort: str
    depth: int
    degree: int
    monomials: int
    """At most how many products a sum has when it is multiplied out."""

    @property
    def is_literal(self) -> bool:
        """Whether this is a number, true or false."""
        return self.op == "literal"

    @property
    def name(self) -> str:
        """The name of a variable, without its side."""
        return str(self.leaf[0])

    @property
    def side(self) -> int:
        """1 or 2 in one run, 0 where both runs share the variable."""
        return int(self.leaf[1])


_KNOWN: WeakValueDictionary[tuple[Any, ...], Term] = WeakValueDictionary()


def _interned(op: str, args: tuple[Term, ...], leaf: Any, sort: str) -> Term:
    key = (op, args, leaf, sort)
    found = _KNOWN.get(key)
    if found is None:
        depth = 1 + max((arg.depth for arg in args), default=0)
        if depth > MOST_DEPTH:
            raise Refused(f"an expression grows to more than {MOST_DEPTH} levels: this checker does not follow it")
        found = _KNOWN[key] = Term(op, args, leaf, sort, depth, *_size(op, args))
    return found


def _size(op: str, args: tuple[Term, ...]) -> tuple[int, int]:
    """The degree, and how many monomials there are when everything is multiplied out."""
    if op in ("+", "-"):
        same = args[0] is args[1]
        total = args[0].monomials if same else args[0].monomials + args[1].monomials
        return max(arg.degree for arg in args), min(total, 10**9)
    if op == "neg":
        return args[0].degree, args[0].monomials
    if op in ("*", "//", "%"):
        degree = args[0].degree + args[1].degree
        monomials = args[0].monomials * args[1].monomials
        several = min(arg.monomials for arg in args) > 1
        if degree > MOST_DEGREE or (several and monomials > MOST_MONOMIALS):
            raise Refused("an expression multiplies too many sums: this checker does not follow it")
        return degree, monomials
    return (0, 1) if op == "literal" else (1, 1)


def variable(name: str, sort: str = INT, side: int = 0) -> Term:
    """A variable; `side` 0 is that of both runs, or of a program's own text."""
    return _interned("name", (), (name, side), sort)


def number(value: int) -> Term:
    """An integer."""
    if value.bit_length() > MOST_BITS:
        raise Refused(f"a number grows to more than {MOST_BITS} bits: this checker does not follow it")
    return _interned("literal", (), value, INT)


TRUE, FALSE = (_interned("literal", (), value, BOOL) for value in (True, False))
ZERO, ONE = number(0), number(1)


def truth(value: bool) -> Term:
    """True or false."""
    return TRUE if value else FALSE


def floor_divide(a: int, b: int) -> int:
    """a // b, where a // 0 is 0."""
    return 0 if b == 0 else a // b


_FOLDS: Mapping[str, Callable[..., int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "neg": lambda a: -a,
    "abs": abs, "min": min, "max": max, "//": floor_divide, "%": lambda a, b: a - b * floor_divide(a, b),
}  # fmt: skip
_COMPARES: Mapping[str, Callable[[int, int], bool]] = {
    "<=": lambda a, b: a <= b, "<": lambda a, b: a < b, "==": lambda a, b: a == b,
}  # fmt: skip


def make(op: str, *args: Term) -> Term:
    """An operation on terms whose sorts fit, simplified a little."""
    if op in _FOLDS:
        return _arithmetic(op, args)
    if op in _COMPARES:
        return _comparison(op, *args)
    if op == "!=":
        return make("not", make("==", *args))
    if op in (">=", ">"):
        return make("<=" if op == ">=" else "<", args[1], args[0])
    if op in ("read", "len"):
        return _interned(op, args, None, INT)
    return _logical(op, args)


def _arithmetic(op: str, args: tuple[Term, ...]) -> Term:
    if all(arg.is_literal for arg in args):
        return number(_FOLDS[op](*(arg.leaf for arg in args)))
    if op in ("+", "-") and args[1] is ZERO:
        return args[0]
    if op == "+" and args[0] is ZERO:
        return args[1]
    if op == "-" and args[0] is args[1]:
        return ZERO
    if op == "*":
        for one, other in (args, args[::-1]):
            if one is ZERO:
                return one
            if one is ONE:
                return other
            # A product with one of a few numbers is linear in the other factor, if it is written so.
            if _is_choice_of_numbers(one):
                test, then, orelse = one.args
                return make("ite", test, make("*", other, then), make("*", other, orelse))
    if op in ("abs", "neg") and _is_choice_of_numbers(args[0]):
        test, then, orelse = args[0].args
        return make("ite", test, make(op, then), make(op, orelse))
    return _interned(op, args, None, INT)


def _is_choice_of_numbers(term: Term) -> bool:
    return term.op == "ite" and all(arg.is_literal for arg in term.args[1:])


def _comparison(op: str, left: Term, right: Term) -> Term:
    if left is right:
        return truth(op != "<")
    if left.is_literal and right.is_literal:
        return truth(_COMPARES[op](left.leaf, right.leaf))
    if left.sort == BOOL:
        for one, other in ((left, right), (right, left)):
            if one.is_literal:
                return other if one.leaf else make("not", other)
    return _interned(op, (left, right), None, BOOL)


def _logical(op: str, args: tuple[Term, ...]) -> Term:
    if op == "not":
        inner = args[0]
        if inner.is_literal:
            return truth(not inner.leaf)
        return inner.args[0] if inner.op == "not" else _interned(op, args, None, BOOL)
    if op == "ite":
        test, then, orelse = args
        if test.is_literal:
            return then if test.leaf else orelse
        return then if then is orelse else _interned(op, args, None, then.sort)
    if op == "=>":
        left, right = args
        if left is FALSE or right is TRUE or left is right:
            return TRUE
        if left is TRUE:
            return right
        return make("not", left) if right is FALSE else _interned(op, args, None, BOOL)
    if op not in ("and", "or"):
        raise ValueError(f"no operation {op!r}")
    absorbing = truth(op == "or")
    rest = tuple(dict.fromkeys(arg for arg in args if not arg.is_literal))
    if any(arg is absorbing for arg in args):
        return absorbing
    if len(rest) < 2:
        return rest[0] if rest else truth(op == "and")
    return _interned(op, rest, None, BOOL)


def within(index: Term, items: str) -> Term:
    """Whether an index is that of an element of an input list."""
    return make("and", make("<=", number(0), index), make("<", index, length(items)))


def length(items: str) -> Term:
    """The length of an input list, which is the same in both runs."""
    return make("len", variable(items, LIST))
