"""Numbers as people write them, taken exactly: int, Fraction, Decimal or text in; Fraction out."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import TypeAlias

from viameter.errors import NotExact, NumberError

Number: TypeAlias = int | Fraction | Decimal | str
"""What a caller may write where an exact number is wanted."""

Extended: TypeAlias = Fraction | float
"""A rational or `INFINITY`; no other float ever stands here."""

INFINITY = math.inf
ZERO = Fraction(0)

# "1e999999999" is eleven characters and would be a number of 400 MB: text is taken up to this many digits.
MOST_DIGITS = 4000
_TEXT = re.compile(
    r"\s*[+-]?(?:(?P<numerator>\d+)\s*/\s*(?P<denominator>\d+)|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE](?P<exponent>[+-]?\d+))?)\s*",
    re.ASCII,
)
_INFINITE_TEXT = frozenset({"inf", "+inf", "infinity", "+infinity", "∞"})


def exactly(value: float) -> Fraction:
    """Take a float at its exact binary value.

    >>> exactly(0.5)
    Fraction(1, 2)
    >>> exactly(0.1)
    Fraction(3602879701896397, 36028797018963968)
    """
    if not isinstance(value, float):
        raise NumberError(
            f"exactly({as_given(value)}) takes a float; an int, Fraction, Decimal or string is exact already"
        )
    if not math.isfinite(value):
        raise NumberError(f"exactly({value!r}) has no exact value: expected a finite float")
    return Fraction(value)


def exact(value: Number, *, name: str = "value") -> Fraction:
    """Take a number exactly; a float is refused, since it is rarely the number that was meant.

    >>> exact("1/10"), exact("0.1"), exact("1e-1"), exact(Decimal("0.1"))
    (Fraction(1, 10), Fraction(1, 10), Fraction(1, 10), Fraction(1, 10))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise NumberError(f"{name}={value!r} is a truth value: expected a number")
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, str):
        return _from_text(value, name)
    if isinstance(value, float):
        if math.isfinite(value):
            raise NotExact(name, float(value))
        raise NumberError(f"{name}={float(value)!r} is not a number that can be computed with: expected a finite one")
    if isinstance(value, Decimal):
        return _from_decimal(value, name)
    if isinstance(value, Integral):  # numpy's integers
        return Fraction(int(value))
    if isinstance(value, Rational):  # gmpy2's rationals
        return Fraction(int(value.numerator), int(value.denominator))
    raise NumberError(f"{name} is of type {type(value).__name__}: expected an int, Fraction, Decimal or string")


def nonnegative(value: Number, *, name: str = "value") -> Fraction:
    """Take a finite number >= 0 exactly."""
    number = exact(value, name=name)
    if number < 0:
        raise NumberError(f"{name}={as_given(value)} is negative: expected a number >= 0")
    return number


def extended(value: Number | float, *, name: str = "value") -> Extended:
    """Take a number >= 0 exactly, or infinity (`math.inf`, "inf").

    >>> extended("inf"), extended("1/3")
    (inf, Fraction(1, 3))
    """
    if isinstance(value, str) and value.strip().lower() in _INFINITE_TEXT:
        return INFINITY
    if isinstance(value, float) and value == INFINITY:
        return INFINITY
    return nonnegative(value, name=name)  # type: ignore[arg-type]  # what other floats get is the error


def probability(value: Number, *, name: str = "value") -> Fraction:
    """Take a number between 0 and 1 exactly."""
    number = nonnegative(value, name=name)
    if number > 1:
        raise NumberError(f"{name}={as_given(value)} is more than 1: expected a probability")
    return number


def whole(value: Number, *, name: str = "value") -> int:
    """Take a whole number >= 0."""
    number = nonnegative(value, name=name)
    if number.denominator != 1:
        raise NumberError(f"{name}={as_given(value)} is not whole: expected a whole number >= 0")
    return number.numerator


def times(factor: Extended, distance: Extended) -> Extended:
    """Multiply where 0 times infinity is 0: no change in, no change out, however unstable the map.

    >>> times(INFINITY, ZERO), times(INFINITY, Fraction(1)), times(Fraction(2), Fraction(3))
    (Fraction(0, 1), inf, Fraction(6, 1))
    """
    if factor == 0 or distance == 0:
        return ZERO
    if INFINITY in (factor, distance):
        return INFINITY
    return factor * distance


def as_given(value: object) -> str:
    """A number as it was given; Python refuses to write integers of very many digits."""
    if isinstance(value, int | Fraction) and max(abs(value.numerator), value.denominator).bit_length() > 1000:
        return "(a number of very many digits)"
    return str(value)


def _from_text(text: str, name: str) -> Fraction:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise NumberError(f'{name}={text[:40]!r} is not a number: expected text like "1/10", "0.1" or "1e-6"')
    if len(text) > MOST_DIGITS or abs(int(match["exponent"] or 0)) > MOST_DIGITS:
        raise NumberError(f"{name} has more than {MOST_DIGITS} digits: write it as a Fraction if it is meant")
    if match["denominator"] is not None and int(match["denominator"]) == 0:
        raise NumberError(f"{name}={text!r} divides by zero")
    return Fraction("".join(text.split()))


def _from_decimal(value: Decimal, name: str) -> Fraction:
    if not value.is_finite():
        raise NumberError(f"{name}={value!s} is not a number that can be computed with: expected a finite one")
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and abs(exponent) > MOST_DIGITS:
        raise NumberError(f"{name} has more than {MOST_DIGITS} digits: write it as a Fraction if it is meant")
    return Fraction(value)
