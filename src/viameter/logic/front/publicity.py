"""A last look at a core program: the widths of its draws depend on public inputs, lengths and budgets alone."""

from __future__ import annotations

from viameter.errors import ParameterError
from viameter.logic.lang.core import Choose, Exponential, Gaussian, Laplace, Program, Sample, statements_of
from viameter.logic.lang.terms import App, Term, Var


def require_public_scales(program: Program, private: frozenset[str]) -> None:
    """Refuse a scale with a factor that private data, or something drawn before, could change."""
    public = {entry.name for entry in program.inputs} - private
    lengths = {entry.name for entry in program.inputs}
    for statement in statements_of(program.body):
        match statement:
            case Sample(law=Laplace(scale=scale) | Exponential(scale=scale) | Choose(scale=scale)):
                factors = scale.factors
            case Sample(law=Gaussian(sigma=scale)):
                factors = scale.factors
            case _:
                continue
        for factor in factors:
            strange = sorted(name for name in _read(factor, lengths) if name not in public)
            if strange:
                raise ParameterError(
                    f"line {statement.at} of {program.name}: a scale must be public: {scale.as_scale()} depends on "
                    f"{', '.join(strange)}; make it of numbers, public inputs, budgets and len(list)"
                )


def _read(term: Term, lists: set[str]) -> set[str]:
    match term:
        case Var(name=name):
            return {name}
        case App("len", (Var(name=name),)) if name in lists:
            # How many slots there are is not how many are taken, and is the same in both runs.
            return set()
        case App(args=args):
            return set().union(*(_read(arg, lists) for arg in args))
    return set()
