"""Scales such as `4*N/eps`, and amounts such as `2*N*eps + ln(3)`: numbers and factors, over a base or times it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from viameter_check.amounts import shortened
from viameter_check.programs.reading import Reader
from viameter_check.programs.scopes import Scope
from viameter_check.programs.showing import show
from viameter_check.programs.terms import INT, Term
from viameter_check.report import Refused


@dataclass(frozen=True, slots=True)
class Monomial:
    """coefficient * factors, over a base (a scale) or times it (an amount); the factors are sorted by their text."""

    coefficient: Fraction
    factors: tuple[Term, ...]
    base: str

    def __post_init__(self) -> None:
        if self.coefficient < 0:
            raise Refused(f"{self.coefficient} times {self.base} is negative: costs and scales are not")


def read_monomial(reader: Reader, budgets: frozenset[str], *, scale: bool) -> Monomial:
    """A product such as `4*N/eps`, where it is a scale, or `2*N*eps`, where it is an amount."""
    coefficient, factors, base = Fraction(1), list[Term](), "1"
    op = "*"
    while op:
        below = op == "/"
        if reader.kind == "number":
            value = reader.integer()
            if below and value == 0:
                raise reader.problem("divides by zero")
            coefficient = coefficient / value if below else coefficient * value
        elif reader.next in budgets or reader.next == "ln":
            if base != "1" or below != scale:
                raise reader.problem("a scale is over one budget, as 2/eps; an amount is times one, as 2*eps")
            base = _base(reader)
        elif below:
            raise reader.problem("only numbers and a budget may stand below")
        else:
            factor = reader.atom()
            if factor.sort != INT:
                raise reader.problem(f"the factor {show(factor)[:60]} is {factor.sort}, not int")
            if factor.is_literal:
                coefficient *= factor.leaf
            else:
                factors.append(factor)
        op = reader.accept("*", "/")
    return Monomial(coefficient, tuple(sorted(factors, key=show)), base)


def _base(reader: Reader) -> str:
    name = reader.word()
    if name != "ln":
        return name
    reader.take("(")
    odds = reader.ratio()
    reader.take(")")
    if odds <= 1:
        raise reader.problem(f"ln({odds}) is not above 0")
    return f"ln({odds})"


def read_amount(text: object, scope: Scope, budgets: frozenset[str]) -> tuple[Monomial, ...]:
    """The monomials whose sum a text is."""
    if not isinstance(text, str):
        raise Refused(f'{shortened(text)} is not text: expected an amount, such as "2*eps"')
    reader = Reader(text, scope)
    found = [read_monomial(reader, budgets, scale=False)]
    while reader.accept("+"):
        found.append(read_monomial(reader, budgets, scale=False))
    reader.done()
    return tuple(found)
