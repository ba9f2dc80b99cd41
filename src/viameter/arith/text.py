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
    mantissa, _, exponent = f"{rounded.normalize():e}".partition("e")
    if -5 < int(exponent) < DIGITS:
        return f"{marked}{rounded.normalize():f}"
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
    if denominator and not int(denominator, base):
        raise FormatError(f"{name} cannot be read: {text[:40]!r} divides by zero")
    return Fraction(int(numerator, base), int(denominator or "1", base))


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
    context = Context(prec=DIGITS, rounding=ROUND_FLOOR if negative else ROUND_CEILING, Emin=-(10**9), Emax=10**9)
    rounded = context.plus(Decimal(quotient).scaleb(-shift, Context(prec=60, Emin=-(10**9), Emax=10**9)))
    return rounded.copy_negate() if negative else rounded
