"""Types of columns and expressions: six kinds, with what is known of the numbers' size.

Ranges are there so that guards can be left out where nothing can go wrong: the sum of two 32-bit columns fits into 64
bits. An INTEGER lies between `lower` and `upper`. A REAL is a multiple of 2**grain (so that it is 0 or at least that
large) and at most 2**top in magnitude; both together say which products and quotients neither overflow nor underflow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

from viameter.errors import ParameterError, plain

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
REACH = 166
"""A REAL that is read from a column is 0 or between 2**-REACH and 2**REACH (1e-50 and 9e49) in magnitude."""
GRAIN = -REACH - 52
"""Floats of at least 2**-REACH are multiples of 2**GRAIN."""
SAFE = 1000
"""No operation overflows or underflows while exponents stay within -SAFE and SAFE; float64 ends at 1023 and -1074."""

FIRST_MOMENT, LAST_MOMENT = datetime(2, 1, 1), datetime(9998, 12, 31, 23, 59, 59, 999999)
"""Timestamps lie between these: nearer to the ends of Python's years some engines fail to hand them over."""


class Kind(Enum):
    """What a value is; each may be NULL."""

    INTEGER = "INTEGER"
    REAL = "REAL"
    BOOLEAN = "BOOLEAN"
    TEXT = "TEXT"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"


@dataclass(frozen=True, slots=True, repr=False)
class Type:
    """A kind, and for numbers what is known of their size.

    >>> Type(Kind.INTEGER, lower=0, upper=255)
    INTEGER 0..255
    >>> Type(Kind.TEXT)
    TEXT
    """

    kind: Kind
    lower: int = INT64_MIN
    upper: int = INT64_MAX
    top: int = REACH
    grain: int = GRAIN

    def __post_init__(self) -> None:
        if not INT64_MIN <= self.lower <= self.upper <= INT64_MAX:
            raise ParameterError(f"an INTEGER between {self.lower} and {self.upper} is none of 64 bits")
        if self.grain < -SAFE or self.top > SAFE:
            raise ParameterError(f"a REAL of grain 2**{self.grain} up to 2**{self.top} is not safe in float64")

    @property
    def is_number(self) -> bool:
        """Whether it is INTEGER or REAL."""
        return self.kind in (Kind.INTEGER, Kind.REAL)

    @property
    def is_settled(self) -> bool:
        """Whether a REAL is no larger and no finer than what is read from a column."""
        return self.top <= REACH and self.grain >= GRAIN

    def settled(self) -> Type:
        """The type after values beyond 2**REACH became NULL, and those below 2**-REACH became 0."""
        return replace(self, top=min(self.top, REACH), grain=max(self.grain, GRAIN))

    def __repr__(self) -> str:
        if self.kind is Kind.INTEGER and (self.lower, self.upper) != (INT64_MIN, INT64_MAX):
            return f"INTEGER {self.lower}..{self.upper}"
        return self.kind.value


INTEGER, REAL, BOOLEAN = Type(Kind.INTEGER), Type(Kind.REAL), Type(Kind.BOOLEAN)
TEXT, DATE, TIMESTAMP = Type(Kind.TEXT), Type(Kind.DATE), Type(Kind.TIMESTAMP)


def integer(lower: int, upper: int) -> Type:
    """INTEGER between two ends, as far as 64 bits reach."""
    return Type(Kind.INTEGER, lower=max(lower, INT64_MIN), upper=min(upper, INT64_MAX))


def real(top: int, grain: int) -> Type:
    """REAL of a size."""
    return Type(Kind.REAL, top=max(top, grain), grain=grain)


def real_of_value(value: float) -> Type:
    """The type of one float: its own size and grain."""
    if value == 0:
        return real(0, 0)
    numerator, denominator = abs(value).as_integer_ratio()
    twos = (numerator & -numerator).bit_length() - 1
    return real(math.frexp(value)[1], twos - (denominator.bit_length() - 1))


def real_of_integer(type_: Type) -> Type:
    """What an INTEGER becomes as a REAL."""
    return real(max(abs(type_.lower), abs(type_.upper)).bit_length(), 0)


def union(left: Type, right: Type) -> Type:
    """The type of a value that is one or the other, both of one kind."""
    return Type(
        left.kind,
        lower=min(left.lower, right.lower),
        upper=max(left.upper, right.upper),
        top=max(left.top, right.top),
        grain=min(left.grain, right.grain),
    )


def type_of_value(value: object) -> Type:
    """The type that a column of such Python values has; ParameterError if there is none.

    >>> type_of_value(3), type_of_value("a")
    (INTEGER, TEXT)
    """
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int):
        return INTEGER
    if isinstance(value, (float, Fraction, Decimal)):
        return REAL
    if isinstance(value, str):
        return TEXT
    if isinstance(value, datetime):
        return TIMESTAMP
    if isinstance(value, date):
        return DATE
    raise ParameterError(f"{plain(value)} is no number, text, truth value, date or datetime")


def type_of_ibis(dtype: Any) -> Type | None:
    """The type of a column from its Ibis type; None for columns that questions cannot use, such as structs.

    Integers of any width are INTEGER; unsigned 64 bits too, where values beyond 2**63 - 1 are read as NULL. Decimals
    without a fraction of at most 18 digits are INTEGER, other decimals the nearest REAL. Timestamps with a zone are
    read in UTC.

    >>> import ibis.expr.datatypes as dt
    >>> type_of_ibis(dt.int8), type_of_ibis(dt.Decimal(10, 2)), type_of_ibis(dt.Array(dt.int8))
    (INTEGER -128..127, REAL, None)
    """
    if dtype.is_integer():
        bounds = dtype.bounds
        return integer(bounds.lower, bounds.upper)
    if dtype.is_decimal():
        if dtype.scale == 0 and dtype.precision is not None and dtype.precision <= 18:
            return integer(1 - 10**dtype.precision, 10**dtype.precision - 1)
        return REAL
    for is_kind, found in (
        (dtype.is_floating, REAL),
        (dtype.is_boolean, BOOLEAN),
        (dtype.is_string, TEXT),
        (dtype.is_date, DATE),
        (dtype.is_timestamp, TIMESTAMP),
    ):
        if is_kind():
            return found
    return None
