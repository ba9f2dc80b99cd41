"""Exact numbers as short text: exactly where that is short, else rounded up and marked so."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from viameter.arith.rationals import INFINITY, Extended
from viameter.errors import FormatError

LONGEST_EXACT = 24
# The lengths keep within what Python reads as decimals; longer numbers are written in hexadecimal.
_WRITTEN = re.compile(r"inf|[0-9]{1,2000}(/[0-9]{1,2000})?|0x[0-9a-f]+/0x[0-9a-f]+", re.ASCII)
DIGITS = 12


def show(number: Extended) -> str:
    """Write a number for people: exact if that takes few characters, else as an upper bound marked by `<=`.

    >>> show(Fraction(1, 10)), show(Fraction(1, 10**30)), show(INFINITY)
    ('1/10', '1e-30', 'inf')
    >>> show(Fraction(2**200 + 1, 3**130))
    '<=0.0151438402349'
    """
    if number == INFINITY:
        return "inf"
    number = Fraction(number)
    # The lengths are checked before the text is made: Python refuses to write integers of many digits.
    if max(abs(number.numerator), number.denominator).bit_length() <= 4 * LONGEST_EXACT:
        text = str(number)
        if len(text) <= LONGEST_EXACT:
            return text
    rounded = _decimal(number)
    marked = "" if Fraction(rounded) == number else "<="
    # In a context of its own: the caller's could have fewer digits, and would round again, down.
    short = rounded.normalize(_context(ROUND_CEILING))
    mantissa, _, exponent = f"{short:e}".partition("e")
    if -5 < int(exponent) < DIGITS:
        return f"{marked}{short:f}"
    return f"{marked}{mantissa}e{int(exponent)}"


def write(number: Extended) -> str:
    """Write a number >= 0 exactly, for storage: "3", "1/10" or "inf"; numbers too long for decimals go in hexadecimal.

    >>> write(Fraction(1, 10)), write(INFINITY), write(Fraction(1, 2**20000))[:12]
    ('1/10', 'inf', '0x1/0x100000')
    """
    if number == INFINITY:
        return "inf"
    number = Fraction(number)
    if max(abs(number.numerator), number.denominator).bit_length() > 4096:
        return f"{number.numerator:#x}/{number.denominator:#x}"
    return str(number)


def read_written(text: object, *, name: str = "number") -> Extended:
    """Read what `write` wrote.

    >>> read_written(write(Fraction(1, 3)))
    Fraction(1, 3)
    """
    if not isinstance(text, str):
        raise FormatError(
            f"{name} is stored as {type(text).__name__}: expected text, since numbers in JSON are inexact"
        )
    if not _WRITTEN.fullmatch(text):
        raise FormatError(f"{name} cannot be read: {text[:40]!r} is not a number as this library writes it")
    if text == "inf":
        return INFINITY
    numerator, _, denominator = text.partition("/")
    base = 16 if text.startswith("0x") else 10
    number = Fraction(int(numerator, base), int(denominator or "1", base) or 1)
    if write(number) != text:
        raise FormatError(f"{name} cannot be read: {text[:40]!r} is not written as this library writes it")
    return number


def _decimal(number: Fraction) -> Decimal:
    """The least decimal of `DIGITS` significant digits that is not below the number."""
    negative, magnitude = number < 0, abs(number)
    # Scale so that the quotient has DIGITS + 1 digits or one more, then round it the right way once.
    bits = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    shift = DIGITS + 1 - int(bits * 0.30103)
    scaled = magnitude * Fraction(10) ** shift
    quotient = scaled.numerator // scaled.denominator
    exact = quotient * scaled.denominator == scaled.numerator
    if not exact and not negative:
        quotient += 1
    wide = Decimal((0, tuple(map(int, str(quotient))), -shift))
    rounded = _context(ROUND_FLOOR if negative else ROUND_CEILING).plus(wide)
    return rounded.copy_negate() if negative else rounded


def _context(rounding: str) -> Context:
    return Context(prec=DIGITS, rounding=rounding, Emin=-(10**9), Emax=10**9, traps=[])
