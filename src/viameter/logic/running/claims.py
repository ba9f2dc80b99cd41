"""Claims to losses: what a verdict says that a program costs, at the budgets and public inputs that were given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from viameter.arith import dyadic, exact, show
from viameter.core import Loss
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.logic.lang.scales import Amount, Monomial, logarithm_of
from viameter.logic.running.values import Value, evaluate, names_in, names_measured
from viameter.measures import ApproxDP, approx, pure, zcdp


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


def loss_of(verdict: Any, known: Known) -> Loss:
    """The loss of one step of adjacency; rounded up where a logarithm is in it."""
    match verdict.measure:
        case "pure":
            return pure(amount_up(verdict.bound, known))
        case "zcdp":
            return zcdp(amount_up(verdict.bound, known))
        case "approx":
            return _approximate(verdict, known)
    raise NoTheorem(f"the verdict is in {plain(verdict.measure)}: expected 'pure', 'zcdp' or 'approx'")


def _approximate(verdict: Any, known: Known) -> Loss:
    """(epsilon, delta) as the verdict has it; what was proved, at these inputs, must not come to more."""
    epsilon, delta = amount_up(verdict.bound, known), exact(verdict.delta, name="delta")
    rho = _proved_up(verdict, "rho", known)
    if rho and not zcdp(rho).to(ApproxDP, delta=delta) <= approx(epsilon, delta):
        raise NoTheorem(
            f"what was proved comes to rho {show(rho)} here, which does not give {approx(epsilon, delta)!r}"
        )
    return approx(epsilon, min(max(delta, _proved_up(verdict, "delta", known)), Fraction(1)))


def _proved_up(verdict: Any, base: str, known: Known) -> Fraction:
    """The largest amount of a base that the proofs of a verdict have shown, with its factors."""
    found = [Fraction(0)]
    for proof in getattr(verdict, "proofs", ()):
        parts = tuple(replace(part, base="1") for part in proof.claim.parts if part.base == base)
        found.append(amount_up(Amount(parts), known))
    return max(found)


def stated(verdict: Any) -> str:
    """What the verdict says, as people read it: `eps`, `rho 1/200`, `1 with delta 1/1000000`."""
    delta = f" with delta {verdict.delta}" if verdict.measure == "approx" else ""
    return f"{'rho ' if verdict.measure == 'zcdp' else ''}{verdict.bound}{delta}"


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
        if logarithm < 1:
            raise ParameterError(f"the bound {amount} has the logarithm of a number below 1")
        return Fraction(0) if logarithm == 1 else dyadic.log_up(logarithm)
    if base == "1":
        return Fraction(1)
    if base not in budgets:
        raise ParameterError(f"the bound {amount} speaks of {base}, which is no budget of the program")
    return budgets[base]
