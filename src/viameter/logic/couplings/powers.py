"""Powers of e between rationals, and exact comparisons with them.

A power of e with a rational exponent other than 0 is irrational. So whatever compares one with a rational is decided
by enough bits, and loops that double the bits until it is decided end.
"""

from __future__ import annotations

from fractions import Fraction

from viameter.arith import dyadic

FEW_BITS = 8
_FIRST_BITS = 64


def power_bounds(epsilon: Fraction, *, bits: int, cap: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals 1 <= low <= e**epsilon <= high, or (cap, cap) if e**epsilon is surely as large: for callers to whom
    all factors from the cap on are alike. The two are equal only if it is the cap, or if e**epsilon is 1.

    >>> power_bounds(Fraction(3, 10), bits=8, cap=Fraction(9)), power_bounds(Fraction(10**9), bits=8, cap=Fraction(9))
    ((Fraction(43, 32), Fraction(173, 128)), (Fraction(9, 1), Fraction(9, 1)))
    """
    if epsilon == 0:
        return Fraction(1), Fraction(1)
    if dyadic.log_up(cap) <= epsilon:
        return cap, cap
    return dyadic.exp_down(epsilon, bits=bits), dyadic.exp_up(epsilon, bits=bits)


def at_most_power(number: Fraction, epsilon: Fraction) -> bool:
    """Whether number <= e**epsilon, decided exactly, for epsilon >= 0.

    >>> at_most_power(Fraction(271828, 100000), Fraction(1)), at_most_power(Fraction(271829, 100000), Fraction(1))
    (True, False)
    """
    if number <= 1 or epsilon == 0:
        return number <= 1
    bits = _FIRST_BITS
    while True:
        if dyadic.log_up(number, bits=bits) <= epsilon:
            return True
        if dyadic.log_down(number, bits=bits) >= epsilon:
            return False
        bits *= 2
