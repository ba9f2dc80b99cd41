"""Read public constants: numbers, text, truth values, dates and times."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.expressions.nodes import Literal
from viameter.tables.expressions.types import (
    BOOLEAN,
    DATE,
    FIRST_MOMENT,
    INT64_MAX,
    INT64_MIN,
    LAST_MOMENT,
    REACH,
    TEXT,
    TIMESTAMP,
    Kind,
    Type,
    integer,
    real,
    real_of_value,
    type_of_value,
)


def literal(value: Any, kind: Kind | None = None) -> Literal:
    """A constant: int, float, Fraction, Decimal, str, bool, date, datetime; None (NULL) where its kind is said.

    Fractions and decimals become the nearest float. A datetime with a zone becomes that time in UTC.

    >>> literal(3), literal("1/2"), literal(Fraction(1, 2))
    (3, '1/2', 0.5)
    """
    if value is None:
        if kind is None:
            raise ParameterError("literal(None): say of which kind the NULL is, such as literal(None, Kind.REAL)")
        return Literal(None, _SMALLEST.get(kind) or Type(kind))
    made = _read(value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value)
    return made if kind is None else as_kind(made, kind)


_SMALLEST = {Kind.INTEGER: integer(0, 0), Kind.REAL: real(0, 0)}


def _read(value: Any) -> Literal:
    if isinstance(value, bool):
        return Literal(value, BOOLEAN)
    if isinstance(value, Integral):
        whole = int(value)
        if not INT64_MIN <= whole <= INT64_MAX:
            raise ParameterError(f"{whole} is no integer of 64 bits; write it as a float, {float(_bounded(whole))!r}")
        return Literal(whole, integer(whole, whole))
    if isinstance(value, (float, Fraction, Decimal)):
        return _real(value)
    if isinstance(value, str):
        return Literal(_text(value), TEXT)
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, date):
        return Literal(value, DATE)
    raise ParameterError(
        f"{plain(value)} is no constant; constants are numbers, text, truth values, dates and datetimes"
    )


def _bounded(whole: int) -> int:
    return max(min(whole, 10**300), -(10**300))


def _real(value: float | Fraction | Decimal) -> Literal:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ParameterError(
            f"{value} is no finite number; NaN and infinities are NULL here, ask for them by .is_null()"
        )
    if number != 0 and not 2.0**-REACH <= abs(number) <= 2.0**REACH:
        raise ParameterError(
            f"{value} is beyond what is computed with: 0, or between 1.07e-50 and 9.35e49 in magnitude"
        )
    return Literal(number + 0.0, real_of_value(number))


def _moment(value: datetime) -> Literal:
    if not FIRST_MOMENT.year <= value.year <= LAST_MOMENT.year:
        raise ParameterError(f"{value} is beyond the timestamps that are computed with, of the years 2 to 9998")
    return Literal(value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value.replace(fold=0), TIMESTAMP)


def _text(value: str) -> str:
    controls = sorted({letter for letter in value if letter < " " and letter not in "\t\n\r"})
    if controls:
        # PostgreSQL refuses NUL; for others Spark's SQL has no escapes, and Ibis writes some that mean letters there.
        raise ParameterError(
            f"a text constant must not contain the control character {controls[0]!r}; "
            "of these only tabs and line ends mean the same on every engine"
        )
    if not is_storable(value):
        raise ParameterError("a text constant must be valid Unicode, without single surrogates")
    return str(value)


def is_storable(text: str) -> bool:
    r"""Whether every engine can hold the text: PostgreSQL refuses NUL, and half of a surrogate pair is no UTF-8.

    >>> is_storable("naïve"), is_storable("\x00"), is_storable("\ud800")
    (True, False, False)
    """
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def require_constant(value: Any, type_: Type) -> None:
    """Refuse what is no constant of a type."""
    if value is None:
        return
    if type_of_value(value).kind is not type_.kind:
        raise ParameterError(
            f"{plain(value)} is no constant of kind {type_.kind.value}; make constants by literal(...)"
        )
    if type_.kind is Kind.INTEGER and not type_.lower <= value <= type_.upper:
        raise ParameterError(f"{value} is not within {type_!r}; make constants by literal(...)")
    if type_.kind is Kind.REAL and not (isinstance(value, float) and abs(value) <= 2.0**type_.top):
        raise ParameterError(f"{plain(value)} is no float of that size; make constants by literal(...)")
    if type_.kind is Kind.TEXT:
        _text(value)


def as_kind(constant: Literal, kind: Kind) -> Literal:
    """The constant as another kind where that is what was meant: ISO text as a date, an integer as a real number."""
    value, own = constant.value, constant.type.kind
    if value is None:
        return literal(None, kind)
    if own is Kind.INTEGER and kind is Kind.REAL:
        return _real(float(value))
    if own is Kind.DATE and kind is Kind.TIMESTAMP:
        return _moment(datetime(value.year, value.month, value.day))
    if own is Kind.TEXT and kind in (Kind.DATE, Kind.TIMESTAMP):
        try:
            found = date.fromisoformat(value) if kind is Kind.DATE else datetime.fromisoformat(value)
        except ValueError:
            example = "2024-05-31" if kind is Kind.DATE else "2024-05-31T23:59:00"
            raise ParameterError(f"{value!r} is no {kind.value} in ISO form, such as {example!r}") from None
        return _read(found)
    return constant
