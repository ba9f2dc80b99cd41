"""Numbers, inputs and outputs of witnesses as short text, with roundings that keep what they prove."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from viameter.arith import INFINITY, Extended
from viameter.logic.exact import Output, Value

_SHORT = 10**9
_DIGITS = 6


def shown(number: Extended, *, up: bool) -> str:
    """A number that is at least 0: short rationals as they are, others in a few digits, rounded to the side named.

    >>> shown(Fraction(1, 6), up=False), shown(Fraction(1, 3**40), up=True)
    ('1/6', '8.22527e-20 (rounded up)')
    """
    if number == INFINITY or not isinstance(number, Fraction):
        return "infinite"
    if number.numerator < _SHORT and number.denominator < _SHORT:
        return str(number)
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    # One rounding only: the quotient of the exact integers.
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"{quotient.normalize():g} (rounded {'up' if up else 'down'})".replace("E", "e")


def shown_output(output: Output) -> str:
    """An output as a program prints it."""
    if isinstance(output, bool):
        return "true" if output else "false"
    if isinstance(output, tuple):
        return "[" + ", ".join(shown_output(entry) for entry in output) + "]"
    return str(output)


def shown_inputs(inputs: Mapping[str, Value]) -> str:
    """Inputs by name."""
    return ", ".join(f"{name} = {shown_output(value)}" for name, value in inputs.items()) or "none"
