"""Real numbers of 192 bits that are rounded up or down: the scalar arithmetic of accounting, by MPFR.

MPFR rounds every operation correctly in the direction of its context, and its exponents reach beyond 2**(10**18), so
that e**-1000 or a binomial of ten thousand are ordinary numbers here.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias

import gmpy2  # type: ignore[import-untyped]

BITS = 192

Real: TypeAlias = Any
"""An MPFR number; gmpy2 has no types."""


def _context(direction: int) -> Any:
    return gmpy2.context(
        precision=BITS, round=direction, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max(), allow_complex=False
    )


UP = _context(gmpy2.RoundUp)
"""Operations that are rounded up; used through its methods only."""
DOWN = _context(gmpy2.RoundDown)
"""Operations that are rounded down."""


def real_up(number: Fraction | int | float) -> Real:
    """The least real of 192 bits that is at least the number."""
    return _real(number, UP)


def real_down(number: Fraction | int | float) -> Real:
    """The greatest real of 192 bits that is at most the number."""
    return _real(number, DOWN)


def float_up(number: Real) -> float:
    """The least float that is at least the real."""
    near = float(number)
    return math.nextafter(near, math.inf) if near < number else near


def float_down(number: Real) -> float:
    """The greatest float that is at most the real."""
    near = float(number)
    return math.nextafter(near, -math.inf) if near > number else near


def float_near(number: Fraction) -> float:
    """A float near a number >= 0, or 10^150 where that is less: for choices that nothing rests on."""
    return 1e150 if number > 10**150 else float(number)


def as_fraction(number: Real) -> Fraction:
    """The exact value of a finite real."""
    numerator, denominator = number.as_integer_ratio()
    return Fraction(int(numerator), int(denominator))


def _real(number: Fraction | int | float, context: Any) -> Real:
    if isinstance(number, float):
        return gmpy2.mpfr(number, 0, context)  # 53 bits: exact
    exact = number if isinstance(number, Fraction) else Fraction(number)
    return gmpy2.mpfr(gmpy2.mpq(exact.numerator, exact.denominator), 0, context)
