"""The core language: a small probabilistic while language that judgments and certificates speak of.

    c ::= skip | x := e | x :=$ law | append(out, e) | c; c | if e then c else c end | while e do c end

A program has inputs, budgets (positive reals), what it requires of public inputs, a body and one output variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from viameter.logic.lang.scales import Monomial
from viameter.logic.lang.terms import ZERO, Sort, Term, Var


@dataclass(frozen=True, slots=True)
class Laplace:
    """P(center + k) proportional to exp(-|k| / scale) on the integers."""

    scale: Monomial
    center: Term = ZERO


@dataclass(frozen=True, slots=True)
class Exponential:
    """P(k) proportional to exp(-k / scale) on 0, 1, 2, ...: the geometric law."""

    scale: Monomial


@dataclass(frozen=True, slots=True)
class Gaussian:
    """P(center + k) proportional to exp(-k^2 / (2 sigma^2)) on the integers; sigma is a scale of base 1."""

    sigma: Monomial
    center: Term = ZERO


@dataclass(frozen=True, slots=True)
class Flip:
    """True with a fixed rational probability."""

    probability: Fraction


@dataclass(frozen=True, slots=True)
class Uniform:
    """One of low, ..., high, each as likely as another; the ends are public, and low <= high is an obligation."""

    low: Term
    high: Term


@dataclass(frozen=True, slots=True)
class Choose:
    """The exponential mechanism: an index i of a list with probability proportional to exp(scores[i] / scale)."""

    scores: Var
    scale: Monomial


@dataclass(frozen=True, slots=True)
class Call:
    """A mechanism of the library or a proved program, on one integer or one input list.

    Its output is whatever it releases, as one integer; `name` is looked up in the program's table of mechanisms.
    """

    name: str
    argument: Term


Law = Laplace | Exponential | Gaussian | Flip | Uniform | Choose | Call


@dataclass(frozen=True, slots=True)
class Skip:
    """Do nothing."""

    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Assign:
    """target := value."""

    target: Var
    value: Term
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Sample:
    """target :=$ law."""

    target: Var
    law: Law
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Append:
    """Append a value to an output list, which is never read again."""

    target: Var
    value: Term
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """if test then ... else ... end."""

    test: Term
    then: Block
    orelse: Block
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """while test do ... end."""

    test: Term
    body: Block
    at: int = field(default=0, compare=False)


ANY = Var("any.k")
"""The index of whichever element a fact about each element of a list speaks of."""

Statement = Skip | Assign | Sample | Append | If | While


@dataclass(frozen=True, slots=True)
class Block:
    """Statements one after another."""

    statements: tuple[Statement, ...] = ()

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)


@dataclass(frozen=True, slots=True)
class Input:
    """An input: an integer, a truth value or a list of integers, in steps of `grid`."""

    name: str
    sort: Sort
    grid: Fraction = Fraction(1)

    @property
    def var(self) -> Var:
        """The input as a variable of the program's own text."""
        return Var(self.name, self.sort)


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the core language; its text (see `text.py`) is what a certificate keeps of it.

    `requires` are facts about inputs, and `each` facts about every element of an input list, at index `any.k`:
    preconditions of whoever runs it. Variables start as 0, false or the empty list. Equality is that of the text:
    `source` maps lines of the text to lines of the file that it was written in, and `mechanisms` are the objects behind
    the names that it calls.
    """

    name: str
    inputs: tuple[Input, ...]
    budgets: tuple[str, ...]
    requires: tuple[Term, ...]
    body: Block
    output: Var
    each: tuple[tuple[str, Term], ...] = ()
    output_grid: Fraction = Fraction(1)
    source: Mapping[int, int] = field(default_factory=dict, compare=False)
    mechanisms: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        # What a proof was made for is what is run: nobody exchanges a mechanism afterwards.
        object.__setattr__(self, "mechanisms", MappingProxyType(dict(self.mechanisms)))

    def input(self, name: str) -> Input | None:
        """The input of this name, or None."""
        return next((entry for entry in self.inputs if entry.name == name), None)


def statements_of(block: Block) -> Iterator[Statement]:
    """Every statement, in the order of the text."""
    for statement in block:
        yield statement
        if isinstance(statement, If):
            yield from statements_of(statement.then)
            yield from statements_of(statement.orelse)
        elif isinstance(statement, While):
            yield from statements_of(statement.body)


def assigned(block: Block) -> set[Var]:
    """The variables that a block may change (output lists among them)."""
    return {s.target for s in statements_of(block) if isinstance(s, Assign | Sample | Append)}


def terms_of(statement: Statement) -> tuple[Term, ...]:
    """The expressions that a statement itself reads, without those of the statements in it."""
    match statement:
        case Assign(value=value) | Append(value=value):
            return (value,)
        case If(test=test) | While(test=test):
            return (test,)
        case Sample(law=Laplace(scale=scale, center=center) | Gaussian(sigma=scale, center=center)):
            return (center, *scale.factors)
        case Sample(law=Exponential(scale=scale)):
            return scale.factors
        case Sample(law=Uniform(low=low, high=high)):
            return (low, high)
        case Sample(law=Choose(scores=scores, scale=scale)):
            return (scores, *scale.factors)
        case Sample(law=Call(argument=argument)):
            return (argument,)
    return ()
