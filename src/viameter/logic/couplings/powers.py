"""The factor e**epsilon: given exactly, or by its exponent and then between rationals; and exact comparisons with it.

A power of e with a rational exponent other than 0 is irrational. So whatever compares one with a rational is decided
by enough bits, and loops that take more bits until it is decided end.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import Number, dyadic, nonnegative, show
from viameter.errors import ParameterError

FEW_BITS = 8
"""The first try of a search, so that numbers in witnesses stay short where few bits are enough."""
ENOUGH_BITS = 64
"""The first try of a comparison."""


@dataclass(frozen=True, slots=True)
class Power:
    """e**epsilon as it was given: the factor itself, or epsilon alone."""

    epsilon: Fraction
    """As given, or the logarithm of the factor rounded up."""
    factor: Fraction | None = None

    def bounds(self, *, bits: int, cap: Fraction) -> tuple[Fraction, Fraction]:
        """Rationals with 1 <= low <= e**epsilon <= high, equal if the factor is known.

        They are (cap, cap) as well if epsilon was given and e**epsilon is surely as large: for callers to whom all
        factors from the cap on are alike.

        >>> Power(Fraction(3, 10)).bounds(bits=8, cap=Fraction(9))
        (Fraction(43, 32), Fraction(173, 128))
        >>> Power(Fraction(10**9)).bounds(bits=8, cap=Fraction(9))
        (Fraction(9, 1), Fraction(9, 1))
        """
        if self.factor is not None:
            return self.factor, self.factor
        if dyadic.log_up(cap) <= self.epsilon:
            return cap, cap
        return dyadic.exp_down(self.epsilon, bits=bits), dyadic.exp_up(self.epsilon, bits=bits)


def read_power(*, epsilon: Number | None, factor: Number | None) -> Power:
    """The one of the two that was given."""
    if epsilon is not None and factor is None:
        return Power(nonnegative(epsilon, name="epsilon"))
    if factor is not None and epsilon is None:
        read = read_factor(factor)
        return Power(dyadic.log_up(read), read)
    given = "neither" if factor is None else "both"
    raise ParameterError(f"expected one of epsilon= and factor=, which is e**epsilon as an exact number: {given} given")


def read_factor(factor: Number) -> Fraction:
    """A factor e**epsilon, at least 1 since epsilon is at least 0."""
    read = nonnegative(factor, name="factor")
    if read < 1:
        raise ParameterError(f"factor={show(read)} is below 1: expected e**epsilon for an epsilon >= 0")
    return read


def at_most_power(number: Fraction, epsilon: Fraction) -> bool:
    """Whether number <= e**epsilon, decided exactly, for epsilon >= 0.

    >>> at_most_power(Fraction(271828, 100000), Fraction(1)), at_most_power(Fraction(271829, 100000), Fraction(1))
    (True, False)
    """
    if number <= 1:
        return True
    bits = ENOUGH_BITS
    while True:
        if dyadic.log_up(number, bits=bits) <= epsilon:
            return True
        if dyadic.log_down(number, bits=bits) >= epsilon:
            return False
        bits *= 2
