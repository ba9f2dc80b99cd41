"""Obligations as z3 formulas without quantifiers.

Lists are uninterpreted functions, one for each run; what is known of each element is instantiated at every index that
is read. Products and quotients of two unknowns are uninterpreted first (then everything is linear, and what follows
is right whatever they mean); only if that does not suffice they get their meaning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from viameter.logic.kernel.context import Context
from viameter.logic.lang.core import ANY
from viameter.logic.lang.terms import (
    ZERO,
    App,
    Num,
    Term,
    Truth,
    Var,
    and_,
    eq,
    implies,
    le,
    length,
    lt,
    not_,
    read,
    substitute,
    subterms,
)


def load() -> Any:
    """The z3 module; if it is missing, an error that says how to get it."""
    try:
        import z3  # type: ignore[import-untyped]
    except ImportError as error:
        from viameter.logic.errors import SolverMissing

        raise SolverMissing("z3") from error
    # Else z3 takes an interrupt for itself, and the search goes on.
    z3.set_param("ctrl_c", False)
    return z3


def instances(context: Context, terms: Iterable[Term]) -> list[Term]:
    """What is known of the elements that the terms read: facts at these indices, and 0 outside a list."""
    reads: dict[str, dict[Term, None]] = {}
    for term in terms:
        for part in subterms(term):
            if isinstance(part, App) and part.op == "read" and isinstance(part.args[0], Var):
                reads.setdefault(part.args[0].name, {})[part.args[1]] = None
    found: list[Term] = []
    # A fact about one list may read another at the same index: an index of either is an index of both.
    linked: dict[str, set[str]] = {}
    elements = context.elements()
    for name, fact in elements:
        lists = {v.name for v in (s for s in subterms(fact) if isinstance(s, Var)) if v.sort == "list"} | {name}
        for item in lists:
            linked.setdefault(item, set()).update(lists)
    indices: dict[str, dict[Term, None]] = {}
    for name, read_at in reads.items():
        for other in linked.get(name, set()) | {name}:
            indices.setdefault(other, {}).update(read_at)
    for name, fact in elements:
        found += [substitute(fact, {ANY: index}) for index in indices.get(name, {})]
    for name, read_at in indices.items():
        items = Var(name, "list")
        sides = (1, 2) if name in context.neighbors.private else (0,)
        for index in read_at:
            outside = not_(and_(le(ZERO, index), lt(index, length(items))))
            found += [implies(outside, eq(read(Var(name, "list", side), index), ZERO)) for side in sides]
    return found


@dataclass(slots=True)
class Translator:
    """Terms as z3 expressions; with `exact` products and quotients of unknowns have their meaning."""

    z3: Any
    exact: bool
    made: dict[Term, Any] = field(default_factory=dict)
    facts: list[Any] = field(default_factory=list)
    quotients: list[tuple[Any, Any, Any]] = field(default_factory=list)

    def __call__(self, term: Term) -> Any:
        """The z3 expression of a term."""
        found = self.made.get(term)
        if found is None:
            found = self.made[term] = self._make(term)
        return found

    def _make(self, term: Term) -> Any:
        z3 = self.z3
        match term:
            case Num(value):
                return z3.IntVal(value)
            case Truth(value):
                return z3.BoolVal(value)
            case Var(sort="bool"):
                return z3.Bool(str(term))
            case Var():
                return z3.Int(str(term))
            case App("read", (items, index)):
                return z3.Function(f"{items}[]", z3.IntSort(), z3.IntSort())(self(index))
            case App("len", (items,)):
                return z3.Int(f"len({items})")
        assert isinstance(term, App)
        args = [self(arg) for arg in term.args]
        return self._operation(term, args)

    def _operation(self, term: App, args: list[Any]) -> Any:
        z3 = self.z3
        match term.op:
            case "+":
                return args[0] + args[1]
            case "-":
                return args[0] - args[1]
            case "neg":
                return -args[0]
            case "*":
                if self.exact or any(isinstance(arg, Num) for arg in term.args):
                    return args[0] * args[1]
                return self._opaque("product", *args)
            case "//" | "%":
                return self._quotient(term, args)
            case "abs":
                return z3.If(args[0] >= 0, args[0], -args[0])
            case "min":
                return z3.If(args[0] <= args[1], args[0], args[1])
            case "max":
                return z3.If(args[0] <= args[1], args[1], args[0])
            case "<=":
                return args[0] <= args[1]
            case "<":
                return args[0] < args[1]
            case "==":
                return args[0] == args[1]
            case "and":
                return z3.And(*args)
            case "or":
                return z3.Or(*args)
            case "not":
                return z3.Not(args[0])
            case "=>":
                return z3.Implies(args[0], args[1])
            case "ite":
                return z3.If(args[0], args[1], args[2])
        raise AssertionError(term.op)

    def _opaque(self, name: str, *args: Any) -> Any:
        integers = self.z3.IntSort()
        return self.z3.Function(name, integers, integers, integers)(*args)

    def _quotient(self, term: App, args: list[Any]) -> Any:
        z3, (top, below) = self.z3, args
        divisor = term.args[1]
        if isinstance(divisor, Num):
            # SMT-LIB's div floors for a positive divisor.
            if divisor.value == 0:
                return z3.IntVal(0) if term.op == "//" else top
            sign = 1 if divisor.value > 0 else -1
            quotient = (sign * top) / z3.IntVal(sign * divisor.value)
            return quotient if term.op == "//" else top - below * quotient
        quotient = self._opaque("quotient", top, below)
        rest = self._opaque("rest", top, below)
        if self.exact:
            self.facts += [
                z3.Implies(below > 0, z3.And(below * quotient <= top, top < below * quotient + below)),
                z3.Implies(below < 0, z3.And(below * quotient >= top, top > below * quotient + below)),
                z3.Implies(below == 0, quotient == 0),
                rest == top - below * quotient,
            ]
        else:
            self.facts += [
                z3.Implies(below > 0, z3.And(rest >= 0, rest < below)),
                z3.Implies(below < 0, z3.And(rest <= 0, rest > below)),
                z3.Implies(below == 0, z3.And(quotient == 0, rest == top)),
            ]
        self._compare(top, below, quotient)
        return quotient if term.op == "//" else rest

    def _compare(self, top: Any, below: Any, quotient: Any) -> None:
        """Division by the same positive number keeps the order, and brings numbers nearer: linear, and often enough."""
        z3 = self.z3
        for other_top, other_below, other in self.quotients:
            for small, large, low, high in ((top, other_top, quotient, other), (other_top, top, other, quotient)):
                same = z3.And(below == other_below, below >= 1, small <= large)
                self.facts.append(z3.Implies(same, z3.And(low <= high, high - low <= large - small)))
        self.quotients.append((top, below, quotient))
