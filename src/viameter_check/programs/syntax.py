"""Programs as they are once read: statements in blocks, and the laws that random values are drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from viameter_check.programs.scales import Monomial
from viameter_check.programs.terms import INT, LIST, Term


@dataclass(frozen=True, slots=True)
class Laplace:
    """P(center + k) proportional to exp(-|k|/scale), on the integers."""

    scale: Monomial
    center: Term


@dataclass(frozen=True, slots=True)
class Exponential:
    """P(k) proportional to exp(-k/scale), on 0, 1, 2, ..."""

    scale: Monomial


@dataclass(frozen=True, slots=True)
class Gaussian:
    """P(center + k) proportional to exp(-k^2/(2 sigma^2)), on the integers."""

    scale: Monomial
    center: Term


@dataclass(frozen=True, slots=True)
class Flip:
    """True with a probability."""

    probability: Fraction


@dataclass(frozen=True, slots=True)
class Uniform:
    """One of low, ..., high."""

    low: Term
    high: Term


@dataclass(frozen=True, slots=True)
class Choose:
    """An index i of an input list, with probability proportional to exp(scores[i]/scale)."""

    scores: str
    scale: Monomial


@dataclass(frozen=True, slots=True)
class Call:
    """What a mechanism releases on an integer."""

    name: str
    argument: Term


Law = Laplace | Exponential | Gaussian | Flip | Uniform | Choose | Call
RULE_OF = {
    Laplace: "laplace", Exponential: "exponential", Gaussian: "gaussian", Flip: "flip", Uniform: "uniform",
    Choose: "choose", Call: "call",
}  # fmt: skip
"""The name of the rule for each law."""


@dataclass(frozen=True, slots=True)
class Assign:
    """target := value."""

    target: str
    value: Term
    line: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Append:
    """append(target, value), for a list that is never read."""

    target: str
    value: Term
    line: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Sample:
    """target :=$ law."""

    target: str
    sort: str
    law: Law
    line: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """if test then ... else ... end; `last` is the line of its `end`."""

    test: Term
    then: Block
    orelse: Block
    line: int = field(compare=False)
    last: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """while test do ... end; `last` is the line of its `end`."""

    test: Term
    body: Block
    line: int = field(compare=False)
    last: int = field(compare=False)


Statement = Assign | Append | Sample | If | While
Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A program; `variables` are what it assigns to by name, and `outputs` the lists that it appends to."""

    name: str
    inputs: Mapping[str, str]
    grids: Mapping[str, Fraction]
    budgets: frozenset[str]
    requires: tuple[Term, ...]
    each: tuple[tuple[str, Term], ...]
    body: Block
    variables: Mapping[str, str]
    outputs: frozenset[str]
    output: str
    output_grid: Fraction

    @property
    def lists(self) -> frozenset[str]:
        """The lists among the inputs."""
        return frozenset(name for name, sort in self.inputs.items() if sort == LIST)

    @property
    def output_sort(self) -> str:
        """The sort of what is returned."""
        return LIST if self.output in self.outputs else {**self.inputs, **self.variables}.get(self.output, INT)


def blocks_in(statement: Statement) -> tuple[Block, ...]:
    """The blocks of a statement, in the order of the text."""
    if isinstance(statement, If):
        return statement.then, statement.orelse
    return (statement.body,) if isinstance(statement, While) else ()


def statements_in(block: Block) -> Iterator[Statement]:
    """Every statement of a block and of the blocks in it, in the order of the text."""
    for statement in block:
        yield statement
        for inner in blocks_in(statement):
            yield from statements_in(inner)


def terms_in(statement: Statement) -> tuple[Term, ...]:
    """The expressions that a statement reads by itself, without those of the blocks in it."""
    match statement:
        case Assign() | Append():
            return (statement.value,)
        case If() | While():
            return (statement.test,)
        case Sample(law=Laplace() | Gaussian() as law):
            return (law.center, *law.scale.factors)
        case Sample(law=Exponential() | Choose() as law):
            return law.scale.factors
        case Sample(law=Uniform() as law):
            return law.low, law.high
        case Sample(law=Call() as law):
            return (law.argument,)
    return ()


def written_by(statement: Statement) -> str:
    """The variable that a statement changes by itself; empty for a branch or a loop."""
    return "" if isinstance(statement, If | While) else statement.target
