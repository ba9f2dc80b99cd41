"""Renaming: the statements of one program as they stand in another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from viameter.errors import ParameterError
from viameter.logic.front.scaling import Product
from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Call,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    If,
    Laplace,
    Law,
    Sample,
    Skip,
    Statement,
    Uniform,
    While,
)
from viameter.logic.lang.scales import Monomial
from viameter.logic.lang.terms import Num, Term, Var, mul, show, substitute

_NAME = re.compile(r"([A-Za-z_]\w*)((?:\.\w+)*)(<[12]>)?")


@dataclass(slots=True)
class Renaming:
    """Variables and budgets replaced; what is appended to the output list is multiplied by `steps`."""

    terms: Mapping[Var, Term]
    budgets: Mapping[str, Product]
    output: Var
    steps: Fraction
    line: int
    made: list[tuple[Statement, Any]] = field(default_factory=list)
    """Pairs of a statement and what it has become."""

    def statement(self, statement: Statement) -> Statement:
        """A statement as it stands in the other program."""
        new = self._renamed(statement)
        self.made.append((statement, new))
        return new

    def _renamed(self, statement: Statement) -> Statement:
        match statement:
            case Assign(target, value):
                return Assign(self._target(target), self._term(value), self.line)
            case Append(target, value):
                term = self._term(value)
                if target == self.output:
                    term = mul(Num(int(self.steps)), term)
                return Append(self._target(target), term, self.line)
            case Sample(target, law):
                return Sample(self._target(target), self._law(law), self.line)
            case If(test, then, orelse):
                return If(self._term(test), self._block(then), self._block(orelse), self.line)
            case While(test, body):
                return While(self._term(test), self._block(body), self.line)
        return Skip(self.line)

    def text(self, text: str) -> str:
        """A hint's text, with its names replaced."""
        by_name = {var.name: term for var, term in self.terms.items()}

        def replace(found: re.Match[str]) -> str:
            name, rest, side = found[1], found[2], found[3] or ""
            term = by_name.get(name + rest)
            if term is None and rest:
                ghost = name == "same"
                head = by_name.get(rest[1:] if ghost else name)
                if not isinstance(head, Var) or head.sort != "list":
                    return found[0]
                return f"same.{head.name}" if ghost else f"{head.name}{rest}{side}"
            if term is None:
                return found[0]
            return f"{term.name}{side}" if isinstance(term, Var) else f"({show(term)})"

        return _NAME.sub(replace, text)

    def _block(self, block: Block) -> Block:
        return Block(tuple(self.statement(statement) for statement in block))

    def _target(self, var: Var) -> Var:
        found = self.terms[var]
        assert isinstance(found, Var), "variables are replaced by variables"
        return found

    def _term(self, term: Term) -> Term:
        return substitute(term, self.terms)

    def _scale(self, scale: Monomial) -> Monomial:
        factors = tuple(self._term(factor) for factor in scale.factors)
        budget = self.budgets.get(scale.base, Product(Fraction(1), powers=((scale.base, 1),)))
        base = budget.powers[0][0] if budget.powers else "1"
        new = Monomial.of(scale.coefficient / budget.coefficient, (*factors, *budget.down), base)
        if new.coefficient <= 0:
            raise ParameterError(f"the scale {scale.as_scale()} becomes {new.as_scale()}, which is not positive")
        return new

    def _law(self, law: Law) -> Law:
        match law:
            case Laplace(scale, center):
                return Laplace(self._scale(scale), self._term(center))
            case Gaussian(sigma, center):
                return Gaussian(self._scale(sigma), self._term(center))
            case Exponential(scale):
                return Exponential(self._scale(scale))
            case Uniform(low, high):
                return Uniform(self._term(low), self._term(high))
            case Choose(scores, scale):
                return Choose(self._target(scores), self._scale(scale))
            case Call(name, argument):
                return Call(name, self._term(argument))
            case Flip():
                return law
