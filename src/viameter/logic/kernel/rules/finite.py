"""The rule for laws with finitely many values: any relation on the values, at the exact cost of the best coupling."""

from __future__ import annotations

from fractions import Fraction

from viameter.arith import Number, exact
from viameter.errors import NoTheorem, ParameterError
from viameter.logic.couplings import Coupling, least_delta, least_epsilon
from viameter.logic.exact import evaluate
from viameter.logic.kernel.assertion import clause
from viameter.logic.kernel.context import Context
from viameter.logic.kernel.judgment import Judgment, made
from viameter.logic.kernel.rules.amounts import logarithmic_budget, plain_budget
from viameter.logic.lang.core import Block, Flip, Sample, Uniform
from viameter.logic.lang.terms import Num, Term, Var, show, sort_of, variables

MOST_VALUES = 256


def finite(
    context: Context,
    left: Sample,
    right: Sample | None = None,
    *,
    relation: Term,
    factor: Number | None = None,
    delta: Number = 0,
) -> Judgment:
    """|-_{ln f, d} x :=$ law ~ x' :=$ law' : true => R(x<1>, x'<2>), for coins and uniform laws between constants.

    Without a `factor` f is the least for which d = `delta` is enough; with one, d is the least for it.
    Sound: the coupling of the two laws is made and checked by `viameter.logic.couplings`: its witnesses are within R,
    have the laws as marginals, and mu_L exceeds f mu_R by a mass of at most d. All else in the memories stays.
    Side conditions: both laws are finite and constant; R speaks of x<1> and x'<2> alone; every value that has positive
    probability has a partner in R (there is no star that could take the rest).
    """
    right = left if right is None else right
    drawn = Var(left.target.name, left.target.sort, 1), Var(right.target.name, right.target.sort, 2)
    loose = variables(relation) - set(drawn)
    if loose or sort_of(relation) != "bool":
        raise ParameterError(
            f"line {left.at}: the relation {show(relation)}: expected a truth value over {drawn[0]} and {drawn[1]}"
        )
    first, second = _values(left), _values(right)
    names = str(drawn[0]), str(drawn[1])

    def holds(one: int | bool, other: int | bool) -> bool:
        return bool(evaluate(relation, {names[0]: one, names[1]: other}))

    coupling: Coupling | None
    if factor is not None:
        coupling = least_delta(first, second, relation=holds, factor=factor)
    else:
        least = least_epsilon(first, second, relation=holds, delta=delta)
        coupling = least.coupling
        if coupling is None:
            raise NoTheorem(f"line {left.at}: the draws cannot be coupled by {show(relation)}: {least.obstacle}")
    budget = {
        **logarithmic_budget(context, coupling.factor),
        **plain_budget(context, "delta", coupling.delta),
    }
    return made(
        context=context, left=Block((left,)), right=Block((right,)), pre=(),
        post=clause(relation, "the draws are coupled", left.at), rule="finite", line=left.at, budget=budget,
        notes={"factor": str(coupling.factor), "delta": str(coupling.delta)},
    )  # fmt: skip


def _values(statement: Sample) -> dict[int | bool, Fraction]:
    match statement.law, statement.target.sort:
        case Flip(probability=p), "bool":
            chance = exact(p, name="probability")
            if not 0 <= chance <= 1:
                raise ParameterError(f"line {statement.at}: flip({p}) is no coin: expected a probability")
            return {True: chance, False: 1 - chance}
        case Uniform(low=Num(low), high=Num(high)), "int":
            if not 0 <= high - low < MOST_VALUES:
                raise ParameterError(f"line {statement.at}: expected 1 to {MOST_VALUES} values, from {low} to {high}")
            return dict.fromkeys(range(low, high + 1), Fraction(1, high - low + 1))
    raise ParameterError(f"line {statement.at}: the rule is for flip(p) and uniform(a, b) with constants a and b")
