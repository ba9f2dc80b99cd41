"""Claims to losses: what a program was proved to cost, at the budgets and public inputs that were given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import dyadic
from viameter.core import Loss
from viameter.errors import NoTheorem, ParameterError
from viameter.logic.claims import Claim
from viameter.logic.lang.scales import Amount, Monomial, logarithm_of
from viameter.logic.running.values import Value, evaluate, names_in, names_measured
from viameter.measures import approx, pure, zcdp


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before any data are: budgets, public inputs, and the lengths of lists."""

    budgets: Mapping[str, Fraction]
    values: Mapping[str, Value]
    lengths: Mapping[str, int]

    @property
    def everything(self) -> dict[str, Value]:
        """All values; of lists of which the length alone is known, something of that length."""
        return {**{name: range(length) for name, length in self.lengths.items()}, **self.values}


def loss_of(claim: Claim, known: Known) -> Loss:
    """The loss of one step of adjacency, in the measure of the claim; rounded up where a logarithm is in it."""
    amount = amount_up(claim.shown, known)
    if claim.measure == "zcdp":
        return zcdp(amount)
    if claim.delta is None and claim.measure == "pure":
        return pure(amount)
    if claim.delta is None:  # no claim is made so
        raise NoTheorem(f"a claim in {claim.measure} without its delta")
    return approx(amount, claim.delta)


def stated(claim: Claim) -> str:
    """What the claim says, as people read it: `eps`, `rho 1/200`, `1 with delta 1/1000000`."""
    delta = f" with delta {claim.delta}" if claim.measure == "approx" else ""
    return f"{'rho ' if claim.measure == 'zcdp' else ''}{claim.shown}{delta}"


def amount_up(amount: Amount, known: Known) -> Fraction:
    """What an amount comes to; logarithms are rounded up.

    >>> from viameter.logic.lang.parsing import read_amount
    >>> claim = read_amount("2*N*eps + 1/10", frozenset({"eps"}), {"N": "int"})
    >>> amount_up(claim, Known({"eps": Fraction(1, 2)}, {"N": 3}, {}))
    Fraction(31, 10)
    """
    return sum((_part_up(part, amount, known) for part in amount.parts), Fraction(0))


def _part_up(part: Monomial, amount: Amount, known: Known) -> Fraction:
    for name in sorted(names_in(part.factors) - known.values.keys()):
        raise ParameterError(f"the bound {amount} depends on {name}: give it, as in {name}=10")
    for name in sorted({name for factor in part.factors for name in names_measured(factor)} - known.everything.keys()):
        raise ParameterError(
            f"the bound {amount} depends on the length of {name}: fix it, as in length={{'{name}': 100}}"
        )
    number = part.coefficient
    for factor in part.factors:
        number *= evaluate(factor, known.everything)
    if number < 0:
        raise ParameterError(
            f"the bound {amount} is negative in {part.as_amount()} at these inputs: nothing shows that"
        )
    return number * _base_up(part.base, amount, known.budgets)


def _base_up(base: str, amount: Amount, budgets: Mapping[str, Fraction]) -> Fraction:
    logarithm = logarithm_of(base)
    if logarithm is not None:
        return dyadic.log_up(logarithm)
    if base == "1":
        return Fraction(1)
    if base not in budgets:
        raise ParameterError(f"the bound {amount} speaks of {base}, which is no budget of the program")
    return budgets[base]
