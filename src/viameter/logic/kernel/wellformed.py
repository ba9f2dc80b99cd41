"""What a program and an adjacency must be for the rules to mean what they say: names, sorts, scales, mechanisms.

Each check stands for a program that tells its private input and that a kernel without the check proved: a variable that
passes for a logical constant, the length of an output list, a scale read off private data, a cost below zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from viameter.errors import ParameterError, plain
from viameter.logic.lang.core import (
    ANY,
    Assign,
    Call,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    Laplace,
    Program,
    Sample,
    assigned,
    statements_of,
    terms_of,
)
from viameter.logic.lang.parsing import check_size, read_program
from viameter.logic.lang.scales import Amount, Monomial, check_base, logarithm_of
from viameter.logic.lang.terms import App, Term, Var, subterms
from viameter.logic.lang.text import show_program
from viameter.logic.neighbors import Neighbors

RESERVED = ("cost.", "same.", "before.", "count.")
"""How the names of ghosts and of remembered values begin."""
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_OWN = frozenset({"out.R", ANY.name})
_BASES = frozenset({"rho", "delta", "ln"})


def check_program(program: Program) -> None:
    """Names without a dot (that is for the logic's own), right sorts, and laws that are laws."""
    inputs = {entry.name for entry in program.inputs}
    for name in inputs:
        if not _PLAIN.fullmatch(name.removesuffix(".in")):
            raise ParameterError(f"an input cannot be called {name!r}: a dot is for the logic's own names")
    for name in program.budgets:
        if not _PLAIN.fullmatch(name) or name in _BASES or name in inputs:
            raise ParameterError(f"a budget cannot be called {name!r}")
    for var in assigned(program.body):
        if not _PLAIN.fullmatch(var.name) or var.side or var.name in inputs or var.name in program.budgets:
            raise ParameterError(f"a variable cannot be called {var} here")
    lists = {entry.name for entry in program.inputs if entry.sort == "list"}
    written = [term for statement in statements_of(program.body) for term in terms_of(statement)]
    for term in (*written, *program.requires, *(fact for _, fact in program.each)):
        _check_reads(term, lists)
    for statement in statements_of(program.body):
        if isinstance(statement, Assign) and statement.target.sort == "list":
            raise ParameterError(f"line {statement.at}: a list is appended to, not assigned")
        if isinstance(statement, Sample):
            _check_law(program, statement, lists)
    check_size(program)
    # Certificates keep the text, so that the text must say all: sorts, too, are those that are read from it.
    if read_program(show_program(program)) != program:
        raise ParameterError(f"the text of program {program.name} reads as another program: its sorts do not fit")


def _check_reads(term: Term, lists: set[str]) -> None:
    for part in subterms(term):
        if isinstance(part, App) and part.op in ("read", "len") and str(part.args[0]) not in lists:
            raise ParameterError(f"{part} reads {part.args[0]}, which is not an input list")
        if isinstance(part, Var) and part.side:
            raise ParameterError(f"{part} names one run in the program's own text")


def _check_law(program: Program, statement: Sample, lists: set[str]) -> None:
    law, at = statement.law, statement.at
    match law:
        case Laplace(scale=scale) | Exponential(scale=scale):
            _check_scale(scale, frozenset(program.budgets), at)
        case Gaussian(sigma=scale):
            _check_scale(scale, frozenset(), at)
            if scale.base != "1":
                raise ParameterError(f"line {at}: sigma={scale.as_scale()} must be a number, or public")
        case Flip(probability=p):
            if not 0 <= p <= 1:
                raise ParameterError(f"line {at}: flip({p}): expected a probability")
        case Choose(scores=scores, scale=scale):
            _check_scale(scale, frozenset(program.budgets), at)
            if scores.name not in lists:
                raise ParameterError(f"line {at}: choose takes an input list, and {scores} is none")
        case Call(name=name):
            check_mechanism(program, name, at)


def _check_scale(scale: Monomial, budgets: frozenset[str], at: int) -> None:
    known = scale.base == "1" or scale.base in budgets or logarithm_of(scale.base) is not None
    if scale.coefficient <= 0 or not known:
        raise ParameterError(f"line {at}: the scale {scale.as_scale()} is not a positive one")


def check_mechanism(program: Program, name: str, at: int = 0) -> None:
    """A name that a program calls stands for a mechanism with an exact cost."""
    from viameter.logic.kernel.rules.mechanism import Mechanism

    entry = program.mechanisms.get(name)
    if entry is None:
        known = ", ".join(sorted(program.mechanisms)) or "none"
        raise ParameterError(f"line {at}: no mechanism {name!r} was given; given: {known}")
    if type(entry) is not Mechanism:
        raise ParameterError(f"line {at}: {name} must be mechanism(measurement, distance=...), whose cost its map says")


def check_bases(program: Program, bases: Iterable[str]) -> None:
    """Costs are counted in the program's budgets, numbers, logarithms of numbers above 1, rho and delta."""
    for base in bases:
        check_base(base)
        if base not in ("1", "rho", "delta", *program.budgets) and logarithm_of(base) is None:
            known = ", ".join(program.budgets) or "none"
            raise ParameterError(f"costs cannot be counted in {base!r}; the budgets of {program.name} are: {known}")


def check_claim(program: Program, neighbors: Neighbors, claim: Amount) -> None:
    """A bound is known before there are data: its factors are public inputs and lengths."""
    if type(claim) is not Amount:
        raise ParameterError(f"{plain(claim)} is no amount: a claim is one")
    check_bases(program, (part.base for part in claim.parts))
    for factor in (factor for part in claim.parts for factor in part.factors):
        _check_public(program, neighbors, factor, f"the bound {claim}")


def check_neighbors(program: Program, neighbors: Neighbors) -> None:
    """An adjacency speaks of inputs (private ones in one run, public ones in both) and of constants of its own."""
    inputs = {entry.name: entry for entry in program.inputs}
    unknown = neighbors.private - inputs.keys()
    if unknown:
        raise ParameterError(f"adjacency names {sorted(unknown)}; the program's inputs are {sorted(inputs)}")
    for name in neighbors.constants:
        drawn = re.search(r"\.v\d+$", name) is not None
        if name in inputs or _PLAIN.fullmatch(name) or name.startswith(RESERVED) or name in _OWN or drawn:
            raise ParameterError(f"a logical constant cannot be called {name!r}")
    for fact in neighbors.facts:
        _check_fact(fact, neighbors, inputs.keys(), each=False)
    for name, fact in neighbors.each:
        if name not in inputs or inputs[name].sort != "list":
            raise ParameterError(f"adjacency speaks of each element of {name!r}, which is not an input list")
        _check_fact(fact, neighbors, inputs.keys(), each=True)


def _check_fact(fact: Term, neighbors: Neighbors, inputs: Iterable[str], *, each: bool) -> None:
    for part in subterms(fact):
        if isinstance(part, App) and part.op == "len":
            continue
        if isinstance(part, Var):
            known = part.name in inputs or part.name in neighbors.constants or (each and part == ANY)
            sided = part.name in neighbors.private and part.sort != "list"
            if not known or (part.side and part.name not in neighbors.private) or (sided and not part.side):
                raise ParameterError(f"adjacency speaks of {part} in {fact}: expected inputs and its own constants")


def check_public(program: Program, neighbors: Neighbors, factors: Iterable[Term]) -> None:
    """Scales, and units of cost, are made of public inputs and of lengths: the same in both runs, and never changed."""
    for statement in statements_of(program.body):
        if isinstance(statement, Sample):
            scale = getattr(statement.law, "scale", getattr(statement.law, "sigma", None))
            if isinstance(scale, Monomial):
                for factor in scale.factors:
                    _check_public(program, neighbors, factor, f"line {statement.at}: the scale {scale.as_scale()}")
    for factor in factors:
        _check_public(program, neighbors, factor, "the unit of cost")


def _check_public(program: Program, neighbors: Neighbors, factor: Term, what: str) -> None:
    public = {entry.name for entry in program.inputs} - neighbors.private

    def walk(part: Term) -> None:
        if isinstance(part, App) and part.op == "len":
            return
        if isinstance(part, Var) and (part.name not in public or part.side):
            raise ParameterError(f"{what} depends on {part}: it must be public and the same in both runs")
        if isinstance(part, App):
            for arg in part.args:
                walk(arg)

    walk(factor)
