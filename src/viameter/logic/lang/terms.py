"""Terms: the expressions of programs and of the assertions about two runs of them.

A program's own expression has variables without a side; an assertion speaks of two runs, so that its variables
are `x<1>` (the first run), `x<2>` (the second) or `x` (the same in both: a public input, a logical constant, a
ghost). Everything is an integer, a truth value or a list of integers; reals on a grid are integers of grid steps.

All operations are total: a read outside a list gives 0, `a // 0` is 0 and `a % 0` is a.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Sort = Literal["int", "bool", "list"]

COMPARISONS = ("<=", "<", "==", "!=", ">=", ">")
ARITHMETIC = ("+", "-", "*", "//", "%", "neg", "abs", "min", "max")
LOGICAL = ("and", "or", "not", "=>")


@dataclass(frozen=True, slots=True)
class Var:
    """A variable: `side` is 1 or 2 in one run, 0 where both runs share it (or in a program's own text)."""

    name: str
    sort: Sort = "int"
    side: int = 0

    def __str__(self) -> str:
        return f"{self.name}<{self.side}>" if self.side else self.name


@dataclass(frozen=True, slots=True)
class Num:
    """An integer."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Truth:
    """true or false."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True, slots=True, eq=False)
class App:
    """An operation on terms: `read` (list, index), `len` (list), `ite` (test, then, else), and the usual ones."""

    op: str
    args: tuple[Term, ...]
    key: int = 0

    def __post_init__(self) -> None:
        # Terms are compared and looked up often, and share their parts: the hash is made once.
        object.__setattr__(self, "key", hash((self.op, self.args)))

    def __hash__(self) -> int:
        return self.key

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, App) and self.key == other.key and self.op == other.op and self.args == other.args

    def __str__(self) -> str:
        return show(self)


Term = Var | Num | Truth | App

TRUE, FALSE = Truth(True), Truth(False)
ZERO, ONE = Num(0), Num(1)


def sort_of(term: Term) -> Sort:
    """The sort of a term; terms are well sorted when they are made by this file's functions or read by the parser."""
    match term:
        case Var(sort=sort):
            return sort
        case Num():
            return "int"
        case Truth():
            return "bool"
        case App("ite", (_, then, _)):
            return sort_of(then)
        case App(op):
            return "bool" if op in COMPARISONS or op in LOGICAL else "int"


def add(left: Term, right: Term) -> Term:
    """left + right."""
    match left, right:
        case Num(a), Num(b):
            return Num(a + b)
        case _, Num(0):
            return left
        case Num(0), _:
            return right
        case _, Num(b) if b < 0:
            return App("-", (left, Num(-b)))
    return App("+", (left, right))


def sub(left: Term, right: Term) -> Term:
    """left - right."""
    match left, right:
        case Num(a), Num(b):
            return Num(a - b)
        case _, Num(0):
            return left
        case _, Num(b) if b < 0:
            return App("+", (left, Num(-b)))
    return ZERO if left == right else App("-", (left, right))


def mul(left: Term, right: Term) -> Term:
    """left * right."""
    match left, right:
        case Num(a), Num(b):
            return Num(a * b)
        case (Num(0), _) | (_, Num(0)):
            return ZERO
        case Num(1), _:
            return right
        case _, Num(1):
            return left
        case Num(a), App("*", (Num(b), rest)):
            return mul(Num(a * b), rest)
    return App("*", (left, right))


def neg(term: Term) -> Term:
    """-term."""
    return Num(-term.value) if isinstance(term, Num) else App("neg", (term,))


def magnitude(term: Term) -> Term:
    """|term|."""
    return Num(abs(term.value)) if isinstance(term, Num) else App("abs", (term,))


def le(left: Term, right: Term) -> Term:
    """left <= right."""
    match left, right:
        case Num(a), Num(b):
            return Truth(a <= b)
    return TRUE if left == right else App("<=", (left, right))


def lt(left: Term, right: Term) -> Term:
    """left < right."""
    match left, right:
        case Num(a), Num(b):
            return Truth(a < b)
    return FALSE if left == right else App("<", (left, right))


def eq(left: Term, right: Term) -> Term:
    """left == right, of integers or of truth values."""
    match left, right:
        case (Num(), Num()) | (Truth(), Truth()):
            return Truth(left == right)
        case Truth(True), _:
            return right
        case _, Truth(True):
            return left
        case Truth(False), _:
            return not_(right)
        case _, Truth(False):
            return not_(left)
    return TRUE if left == right else App("==", (left, right))


def ne(left: Term, right: Term) -> Term:
    """left != right."""
    return not_(eq(left, right))


def not_(term: Term) -> Term:
    """Not term."""
    match term:
        case Truth(value):
            return Truth(not value)
        case App("not", (inner,)):
            return inner
    return App("not", (term,))


def and_(*terms: Term) -> Term:
    """All of them; nested conjunctions are one."""
    parts: list[Term] = []
    for term in terms:
        if term == FALSE:
            return FALSE
        inner = term.args if isinstance(term, App) and term.op == "and" else (term,)
        parts.extend(part for part in inner if part != TRUE and part not in parts)
    if not parts:
        return TRUE
    return parts[0] if len(parts) == 1 else App("and", tuple(parts))


def or_(*terms: Term) -> Term:
    """At least one of them."""
    parts: list[Term] = []
    for term in terms:
        if term == TRUE:
            return TRUE
        inner = term.args if isinstance(term, App) and term.op == "or" else (term,)
        parts.extend(part for part in inner if part != FALSE and part not in parts)
    if not parts:
        return FALSE
    return parts[0] if len(parts) == 1 else App("or", tuple(parts))


def implies(left: Term, right: Term) -> Term:
    """left => right."""
    match left, right:
        case (Truth(False), _) | (_, Truth(True)):
            return TRUE
        case Truth(True), _:
            return right
        case _, Truth(False):
            return not_(left)
    return TRUE if left == right else App("=>", (left, right))


def ite(test: Term, then: Term, orelse: Term) -> Term:
    """`then` if the test holds, else `orelse`."""
    match test:
        case Truth(value):
            return then if value else orelse
    return then if then == orelse else App("ite", (test, then, orelse))


def read(items: Term, index: Term) -> Term:
    """items[index]; 0 outside the list."""
    return App("read", (items, index))


def length(items: Term) -> Term:
    """len(items): the same in both runs, so that it has no side."""
    return App("len", (items,))


def apply(op: str, args: tuple[Term, ...]) -> Term:
    """The operation `op` on `args`, through the function of this file that simplifies it."""
    if op == "!=":
        return ne(*args)
    if op == ">=":
        return le(args[1], args[0])
    if op == ">":
        return lt(args[1], args[0])
    maker = _MAKERS.get(op)
    return App(op, args) if maker is None else maker(*args)


_MAKERS: Mapping[str, Callable[..., Term]] = {
    "+": add, "-": sub, "*": mul, "neg": neg, "abs": magnitude, "<=": le, "<": lt, "==": eq, "not": not_,
    "and": and_, "or": or_, "=>": implies, "ite": ite, "read": read, "len": length,
}  # fmt: skip


def subterms(term: Term) -> Iterator[Term]:
    """The term and everything in it, each once."""
    seen: set[Term] = set()
    stack = [term]
    while stack:
        top = stack.pop()
        if top in seen:
            continue
        seen.add(top)
        yield top
        if isinstance(top, App):
            stack.extend(top.args)


def height(term: Term) -> int:
    """How many operations lie in one another, at most; found without recursion."""
    found: dict[Term, int] = {}
    stack = [term]
    while stack:
        top = stack[-1]
        args = top.args if isinstance(top, App) else ()
        waiting = [arg for arg in args if arg not in found]
        if waiting:
            stack.extend(waiting)
            continue
        found[stack.pop()] = 1 + max((found[arg] for arg in args), default=0)
    return found[term]


def variables(term: Term) -> set[Var]:
    """The variables that occur in a term (lists too)."""
    return {part for part in subterms(term) if isinstance(part, Var)}


def substitute(term: Term, values: Mapping[Var, Term]) -> Term:
    """The term with variables replaced, all at once."""
    if not values:
        return term
    done: dict[Term, Term] = {}

    def walk(part: Term) -> Term:
        if isinstance(part, Var):
            return values.get(part, part)
        if not isinstance(part, App):
            return part
        found = done.get(part)
        if found is None:
            args = tuple(walk(arg) for arg in part.args)
            found = part if args == part.args else apply(part.op, args)
            done[part] = found
        return found

    return walk(term)


def in_run(term: Term, side: int, shared: frozenset[str]) -> Term:
    """A program's own expression as one run sees it: variables get the side, except those that both runs share.

    A length is shared: adjacency never changes it.
    """
    done: dict[Term, Term] = {}

    def walk(part: Term) -> Term:
        if isinstance(part, Var):
            return part if part.name in shared or part.side else Var(part.name, part.sort, side)
        if not isinstance(part, App) or part.op == "len":
            return part
        found = done.get(part)
        if found is None:
            found = done[part] = apply(part.op, tuple(walk(arg) for arg in part.args))
        return found

    return walk(term)


_PRECEDENCE = {
    "=>": 1, "or": 2, "and": 3, "not": 4, "==": 5, "!=": 5, "<=": 5, "<": 5, ">=": 5, ">": 5,
    "+": 6, "-": 6, "*": 7, "//": 7, "%": 7, "neg": 8,
}  # fmt: skip


def show(term: Term, level: int = 0) -> str:
    """The text of a term; the parser reads it back to an equal term.

    >>> show(le(magnitude(sub(Var("x", side=1), Var("x", side=2))), ONE))
    'abs(x<1> - x<2>) <= 1'
    """
    if not isinstance(term, App):
        text = str(term)
        return f"({text})" if isinstance(term, Num) and term.value < 0 and level > 6 else text
    op, args = term.op, term.args
    if op == "read":
        return f"{show(args[0])}[{show(args[1])}]"
    if op == "ite":
        return f"ite({', '.join(show(arg) for arg in args)})"
    if op == "not" and isinstance(args[0], App) and args[0].op == "==":
        op, args = "!=", args[0].args
    if op not in _PRECEDENCE:
        return f"{op}({', '.join(show(arg) for arg in args)})"
    mine = _PRECEDENCE[op]
    if op == "not":
        text = f"not {show(args[0], mine)}"
    elif op == "neg":
        text = f"-{show(args[0], mine)}"
    elif op in ("and", "or"):
        text = f" {op} ".join(show(arg, mine + 1) for arg in args)
    elif op == "=>":
        text = f"{show(args[0], mine + 1)} => {show(args[1], mine)}"
    elif mine == 5:
        text = f"{show(args[0], mine + 1)} {op} {show(args[1], mine + 1)}"
    else:
        text = f"{show(args[0], mine)} {op} {show(args[1], mine + 1)}"
    return f"({text})" if mine < level else text
