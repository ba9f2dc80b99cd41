"""Finite mechanisms as tables {member: {outcome: probability}}, and exact comparisons of rationals with powers of e."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from viameter.arith import INFINITY, Extended, dyadic, extended, probability
from viameter.core import Loss
from viameter.errors import NoTheorem, ParameterError
from viameter.measures import PureDP

Table: TypeAlias = Mapping[Any, Mapping[Any, Fraction]]

_FIRST_BITS = 64


def at_most_exp(ratio: Fraction, exponent: Fraction) -> bool:
    """Whether ratio <= e**exponent, decided exactly.

    A power of e with a rational exponent other than 0 is irrational, so that enough bits always decide.

    >>> at_most_exp(Fraction(271828, 100000), Fraction(1)), at_most_exp(Fraction(271829, 100000), Fraction(1))
    (True, False)
    """
    if ratio <= 0:
        return True
    if exponent == 0 or ratio == 1:
        return ratio <= 1 if exponent == 0 else exponent > 0
    bits = _FIRST_BITS
    while True:
        low, high = log_bounds(ratio, bits=bits)
        if high <= exponent:
            return True
        if low >= exponent:
            return False
        bits *= 2


def log_bounds(ratio: Fraction, *, bits: int = dyadic.BITS) -> tuple[Fraction, Fraction]:
    """The natural logarithm of a ratio > 0, from below and from above."""
    return dyadic.log_down(ratio, bits=bits), dyadic.log_up(ratio, bits=bits)


def check_table(table: Table, members: Sequence[Any]) -> Table:
    """A mechanism's table, if every member has probabilities that are exact and sum to 1."""
    for member in members:
        if member not in table:
            raise ParameterError(f"the mechanism says nothing about {member!r}: expected probabilities for each member")
        if sum((probability(p, name="probability") for p in table[member].values()), Fraction(0)) != 1:
            raise ParameterError(f"the probabilities for {member!r} do not sum to 1")
    return table


def epsilon_of(loss: Loss | Extended | int) -> Extended:
    """The epsilon of a pure loss, or the number itself."""
    if not isinstance(loss, Loss):
        return extended(loss, name="epsilon")
    if loss.measure != PureDP:
        raise NoTheorem(f"tables are checked for pure privacy only, not for {loss!r}: give pure(epsilon)")
    epsilon: Extended = getattr(loss, "epsilon", INFINITY)
    return epsilon


def compose_tables(members: Sequence[Any], leaves: Sequence[tuple[Any, Table]]) -> dict[Any, dict[Any, Fraction]]:
    """The table of independent mechanisms run beside one another: leaf i is (map, table of the images)."""
    composed: dict[Any, dict[Any, Fraction]] = {}
    for member in members:
        rows: dict[Any, Fraction] = {(): Fraction(1)}
        for function, table in leaves:
            outcomes = table[function(member)]
            rows = {(*so_far, outcome): p * q for so_far, p in rows.items() for outcome, q in outcomes.items()}
        composed[member] = rows
    return composed
