"""The context of a judgment: the program's inputs, how two runs' inputs are related, and the units of cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from viameter.errors import ParameterError
from viameter.logic.kernel.wellformed import (
    RESERVED,
    check_bases,
    check_mechanism,
    check_neighbors,
    check_program,
    check_public,
)
from viameter.logic.lang.core import (
    ANY,
    Call,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    Laplace,
    Law,
    Program,
    Sample,
    assigned,
    statements_of,
)
from viameter.logic.lang.scales import Amount, Monomial, Unit, unit_for
from viameter.logic.lang.terms import (
    ONE,
    ZERO,
    App,
    Term,
    Var,
    and_,
    in_run,
    le,
    length,
    lt,
    variables,
)
from viameter.logic.neighbors import Neighbors

RESULT = Var("out.R")
"""The logical constant of pointwise proofs: the output that the first run is asked about."""


def cost(base: str) -> Var:
    """The ghost that counts what was spent of a base, in its unit."""
    return Var(f"cost.{base}")


def same(output: Var) -> Var:
    """The ghost that, while it is true, says that the two runs' output lists are equal."""
    return Var(f"same.{output.name}", "bool")


def charge_of(law: Law, program: Program) -> tuple[Monomial, ...]:
    """The scales in which a law charges, by base; empty if it is free."""
    match law:
        case Laplace(scale=scale) | Exponential(scale=scale) | Choose(scale=scale):
            return (scale,)
        case Gaussian(sigma=sigma):
            return (Monomial.of(2 * sigma.coefficient**2, sigma.factors * 2, "rho"),)
        case Flip(probability=p) if p not in (0, 1) and p != Fraction(1, 2):
            return (Monomial.of(Fraction(1), (), f"ln({max(p, 1 - p) / min(p, 1 - p)})"),)
        case Call(name=name):
            check_mechanism(program, name)
            entry = program.mechanisms[name]
            amounts = ((entry.epsilon, "1"), (entry.delta, "delta"))
            return tuple(Monomial.of(1 / amount, (), base) for amount, base in amounts if amount)
    return ()


@dataclass(frozen=True, slots=True)
class Context:
    """What all judgments of one proof share. Inputs are never assigned, so that facts about them always hold."""

    program: Program
    neighbors: Neighbors
    units: Mapping[str, Unit] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", MappingProxyType(dict(self.units)))
        check_program(self.program)
        check_neighbors(self.program, self.neighbors)
        check_bases(self.program, self.units)
        check_public(self.program, self.neighbors, self.factors())

    @property
    def public(self) -> frozenset[str]:
        """The inputs that are the same in both runs."""
        return frozenset(entry.name for entry in self.program.inputs) - self.neighbors.private

    @property
    def shared(self) -> frozenset[str]:
        """The names that have no side."""
        ghosts = {cost(base).name for base in self.units} | {
            same(var).name for var in assigned(self.program.body) if var.sort == "list"
        }
        return self.public | set(self.neighbors.constants) | {ANY.name, RESULT.name} | ghosts

    def run(self, term: Term, side: int) -> Term:
        """A program's own expression as one run sees it."""
        return in_run(term, side, self.shared)

    def facts(self) -> tuple[Term, ...]:
        """What is known of the inputs, apart from the elements of lists."""
        known = [*self.neighbors.facts]
        for term in self.program.requires:
            known += [self.run(term, 1), self.run(term, 2)]
        lists = [entry.var for entry in self.program.inputs if entry.sort == "list"]
        known += [le(ZERO, length(items)) for items in lists]
        return tuple(dict.fromkeys(known))

    def elements(self) -> tuple[tuple[str, Term], ...]:
        """What is known of each element of a list, at index `any.k`, guarded by the list's range."""
        known: list[tuple[str, Term]] = []
        for name, fact in self.neighbors.each:
            known.append((name, _within(name, fact)))
        for name, fact in self.program.each:
            known += [(name, _within(name, self.run(fact, side))) for side in (1, 2)]
        return tuple(dict.fromkeys(known))

    def factors(self) -> tuple[Term, ...]:
        """The factors of units, which must be proved to be at least 1."""
        return tuple(dict.fromkeys(factor for unit in self.units.values() for factor in unit.factors))

    def positive(self) -> tuple[Term, ...]:
        """That every factor of a scale is at least 1: an obligation, and known from then on."""
        return tuple(le(ONE, factor) for factor in self.factors())


def check_speaks(context: Context, term: Term, *, ghosts: bool, where: str) -> None:
    """A shift, an invariant or a variant speaks only of variables of the runs, inputs, constants and ghosts."""
    local = {v.name for v in assigned(context.program.body) if v.sort != "list"}
    for var in variables(term):
        if var.side:
            known = var.name in local or var.name in context.neighbors.private
        else:
            known = var.name in context.shared or (var.sort == "list" and context.program.input(var.name) is not None)
            known = known and (ghosts or not var.name.startswith(RESERVED))
        if not known or var == ANY:
            raise ParameterError(f"{where}: {var} in {term} is not something that it may speak of")


def _within(name: str, fact: Term) -> Term:
    items = Var(name, "list")
    return App("=>", (and_(le(ZERO, ANY), lt(ANY, length(items))), fact))


def units_for(program: Program, claim: Amount | None) -> Mapping[str, Unit]:
    """A unit for each base in which the program spends or the claim is stated."""
    scales: dict[str, list[Monomial]] = {}
    for statement in statements_of(program.body):
        if isinstance(statement, Sample):
            for scale in charge_of(statement.law, program):
                scales.setdefault(scale.base, []).append(scale)
    amounts: dict[str, list[Monomial]] = {}
    for part in claim.parts if claim else ():
        amounts.setdefault(part.base, []).append(part)
    bases = sorted(scales.keys() | amounts.keys())
    return MappingProxyType({base: unit_for(scales.get(base, []), amounts.get(base, [])) for base in bases})
