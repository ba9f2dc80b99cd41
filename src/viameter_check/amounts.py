"""Exact numbers: read from text, written for people. A number is a Fraction or INFINITY, and no other float."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TypeAlias

from viameter_check.report import Refused

Number: TypeAlias = Fraction | float
INFINITY = math.inf

# What the library writes: decimals up to 4096 bits, and hexadecimals up to a million bits beyond that. Longer text is
# refused before it is looked at, so that no number takes long to read.
_NUMBER = re.compile(r"inf|-?[0-9]{1,1300}(/[0-9]{1,1300})?|-?0x[0-9a-f]{1,262200}/0x[0-9a-f]{1,262200}", re.ASCII)
_DIGITS = 12
_LONGEST_SHOWN = 24


def read_number(text: object) -> Number:
    """A number >= 0, or infinity."""
    number = read_signed(text)
    if number < 0:
        raise Refused(f"{shortened(text)} is negative: expected a number >= 0")
    return number


def read_signed(text: object) -> Number:
    """A number of any sign in lowest terms, or infinity."""
    if not isinstance(text, str):
        raise Refused(f'{shortened(text)} is not text: numbers are written as text, such as "1/10"')
    if not _NUMBER.fullmatch(text):
        raise Refused(f'{shortened(text)} is not a number as certificates write it, such as "3", "1/10" or "inf"')
    if text == "inf":
        return INFINITY
    top, _, bottom = text.partition("/")
    base = 16 if "x" in text else 10
    numerator, denominator = int(top, base), int(bottom or "1", base)
    if denominator == 0:
        raise Refused(f"{shortened(text)} divides by zero")
    number = Fraction(numerator, denominator)
    # One number has one text: what two people compare by eye is the same where it looks the same.
    if write(number) != text:
        raise Refused(f"{shortened(text)} is not in lowest terms")
    return number


def write(number: Number) -> str:
    """A number as certificates write it."""
    if isinstance(number, float):
        return "inf"
    if max(abs(number.numerator), number.denominator).bit_length() > 4096:
        return f"{number.numerator:#x}/{number.denominator:#x}"
    return str(number)


def show(number: Number) -> str:
    """A number >= 0 for people: exact where that is short, else rounded up to 12 digits and marked by `<=`."""
    if isinstance(number, float):
        return "inf"
    if max(number.numerator, number.denominator).bit_length() <= 4 * _LONGEST_SHOWN:
        text = str(number)
        if len(text) <= _LONGEST_SHOWN:
            return text
    exponent = _decimal_exponent(number)
    scaled = number * Fraction(10) ** (_DIGITS - 1 - exponent)
    digits = math.ceil(scaled)
    mark = "" if digits == scaled else "<="
    if digits == 10**_DIGITS:
        digits, exponent = digits // 10, exponent + 1
    text = str(digits)
    if -5 < exponent < _DIGITS:
        text = text.zfill(_DIGITS - exponent if exponent < 0 else _DIGITS)
        point = len(text) - (_DIGITS - 1 - exponent)
        whole, part = text[:point] or "0", text[point:].rstrip("0")
        return f"{mark}{whole}.{part}" if part else f"{mark}{whole}"
    part = text[1:].rstrip("0")
    return f"{mark}{text[0]}{'.' if part else ''}{part}e{exponent}"


def _decimal_exponent(number: Fraction) -> int:
    """The integer e with 10**e <= number < 10**(e + 1), for a number > 0."""
    guess = int((number.numerator.bit_length() - number.denominator.bit_length()) * 0.30103)
    while Fraction(10) ** guess > number:
        guess -= 1
    while Fraction(10) ** (guess + 1) <= number:
        guess += 1
    return guess


def times(factor: Number, distance: Number) -> Number:
    """Multiply where 0 times infinity is 0: nothing in, nothing out."""
    if factor == 0 or distance == 0:
        return Fraction(0)
    if isinstance(factor, float) or isinstance(distance, float):
        return INFINITY
    return factor * distance


def shortened(value: object) -> str:
    """What was found, for a message; long text is cut."""
    text = repr(value) if isinstance(value, str | bool | type(None)) else f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:60]}..."
