"""The reference: what an expression is worth on one row, in plain Python; engines must give the same.

Integers are exact and become NULL beyond 64 bits after every operation; floats are IEEE; None is NULL.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.expressions import grammar
from viameter.tables.expressions.grammar import LOWER, UPPER, WHITESPACE
from viameter.tables.expressions.nodes import Call, Column, Expression, Literal
from viameter.tables.expressions.types import FIRST_MOMENT, INT64_MAX, INT64_MIN, LAST_MOMENT, REACH, Kind, Type

LARGEST_EXPONENT = 114


def evaluate(expression: Expression, row: Mapping[str, Any]) -> Any:
    """The value of the expression on a row of Python values; None is NULL.

    >>> from viameter.tables.expressions import Column, Kind, Type
    >>> distance = Column("distance", Type(Kind.INTEGER))
    >>> evaluate(distance // 100, {"distance": -250}), evaluate(distance / 0, {"distance": 1})
    (-3, None)
    """
    if isinstance(expression, Literal):
        return expression.value
    if isinstance(expression, Column):
        if expression.name not in row:
            raise ParameterError(f"the row has no column {expression.name!r}")
        return read(row[expression.name], expression.type)
    assert isinstance(expression, Call)
    operation, options = expression.operation, expression.options
    if operation == "case":
        *arms, default = expression.arguments
        for condition, value in zip(arms[0::2], arms[1::2], strict=True):
            if evaluate(condition, row) is True:
                return evaluate(value, row)
        return evaluate(default, row)
    values = [evaluate(argument, row) for argument in expression.arguments]
    if operation in OF_NULLS:
        return OF_NULLS[operation](*values)
    if any(value is None for value in values):
        return None
    if operation == "cast":
        return CASTS[expression.arguments[0].type.kind, Kind(options[0])](values[0])
    result = FUNCTIONS[operation](*values, *options)
    if expression.type.kind is Kind.INTEGER and result is not None:
        return result if INT64_MIN <= result <= INT64_MAX else None
    return result


def read(value: Any, type_: Type) -> Any:
    """A column's value as expressions see it."""
    if value is None:
        return None
    if type_.kind is Kind.REAL:
        return settle(float(value))
    if type_.kind is Kind.INTEGER:
        return int(value) if value == value and INT64_MIN <= value <= INT64_MAX else None  # noqa: PLR0124
    if type_.kind is Kind.TIMESTAMP:
        return _representable(value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None))
    return value


def _representable(moment: datetime) -> datetime | None:
    return moment if FIRST_MOMENT <= moment <= LAST_MOMENT else None


def settle(value: float) -> float | None:
    """NaN and what is beyond 2**REACH as None; what is below 2**-REACH as 0."""
    if not abs(value) <= 2.0**REACH:
        return None
    return value if abs(value) >= 2.0**-REACH else 0.0


def _and(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _or(left: bool | None, right: bool | None) -> bool | None:
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _between(value: Any, lower: Any, upper: Any) -> bool | None:
    return _and(_at_most(lower, value), _at_most(value, upper))


def _at_most(left: Any, right: Any) -> bool | None:
    return None if left is None or right is None else left <= right


def _floor(value: float) -> int | None:
    # Compared as floats, as engines do: the ends are powers of two.
    return math.floor(value) if -(2.0**63) <= value < 2.0**63 else None


def _round_to(value: Any, multiple: Any) -> Any:
    if isinstance(value, int):
        return (2 * value + multiple) // (2 * multiple) * multiple
    steps = _floor(value / multiple + 0.5)
    return None if steps is None else float(steps) * multiple


def _bin(value: Any, *edges: Any) -> int | None:
    if not edges[0] <= value <= edges[-1]:
        return None
    return min(bisect_right(edges, value) - 1, len(edges) - 2)


def _exp(value: float) -> float | None:
    if value > LARGEST_EXPONENT:
        return None
    return math.exp(value) if value >= -LARGEST_EXPONENT else 0.0


def _day(value: date) -> date:
    return value.date() if isinstance(value, datetime) else value


def _truncate(value: date, unit: str) -> date:
    day = _day(value)
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(month=1, day=1) if unit == "year" else day.replace(day=1) if unit == "month" else day


def _matching(pattern: str, read_text: Callable[[str], Any]) -> Callable[[str], Any]:
    compiled = re.compile(pattern)
    return lambda text: read_text(text) if compiled.fullmatch(text) else None


def _moment(text: str) -> datetime | None:
    return _representable(datetime.fromisoformat(re.sub(grammar.ZONE, "", text)[: grammar.MOMENT_LENGTH]))


OF_NULLS: dict[str, Callable[..., Any]] = {
    "and": _and,
    "or": _or,
    "is_null": lambda value: value is None,
    "fill_null": lambda value, other: other if value is None else value,
    "between": _between,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y if y != 0 else None,
    "floor_divide": lambda x, y: x // y if y != 0 else None,
    "modulo": lambda x, y: x % y if y != 0 else None,
    "negate": lambda x: -x,
    "absolute": abs,
    "settle": settle,
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else None,
    "log": lambda x: math.log(x) if x > 0 else None,
    "exp": _exp,
    "floor": _floor,
    "round_to": _round_to,
    "least": min,
    "greatest": max,
    "clip": lambda x, lower, upper: min(max(x, lower), upper),
    "bin": _bin,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "not": lambda x: not x,
    "is_in": lambda x, *values: x in values,
    "year": lambda x: x.year,
    "month": lambda x: x.month,
    "day": lambda x: x.day,
    "weekday": lambda x: x.weekday(),
    "hour": lambda x: x.hour,
    "days_since": lambda x, y: (x - y).days,
    "truncate": _truncate,
    "lower": lambda x: x.translate(str.maketrans(UPPER, LOWER)),
    "upper": lambda x: x.translate(str.maketrans(LOWER, UPPER)),
    "strip": lambda x: x.strip(WHITESPACE),
    "length": len,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": lambda x, part: part in x,
    "slice": lambda x, start, stop: x[start:stop],
}
CASTS: dict[tuple[Kind, Kind], Callable[[Any], Any]] = {
    (Kind.INTEGER, Kind.REAL): float,
    (Kind.INTEGER, Kind.TEXT): str,
    (Kind.BOOLEAN, Kind.INTEGER): int,
    (Kind.BOOLEAN, Kind.TEXT): lambda x: "true" if x else "false",
    (Kind.DATE, Kind.TEXT): date.isoformat,
    (Kind.DATE, Kind.TIMESTAMP): lambda x: _representable(datetime(x.year, x.month, x.day)),
    (Kind.TIMESTAMP, Kind.DATE): datetime.date,
    (Kind.TEXT, Kind.INTEGER): _matching(grammar.INTEGER_TEXT, lambda text: int(text.partition(".")[0])),
    (Kind.TEXT, Kind.REAL): _matching(grammar.REAL_TEXT, lambda text: settle(float(text))),
    (Kind.TEXT, Kind.BOOLEAN): {
        **dict.fromkeys(grammar.TRUE_TEXTS, True),
        **dict.fromkeys(grammar.FALSE_TEXTS, False),
    }.get,
    (Kind.TEXT, Kind.DATE): _matching(grammar.DATE_TEXT, lambda text: date.fromisoformat(text[: grammar.DATE_LENGTH])),
    (Kind.TEXT, Kind.TIMESTAMP): _matching(grammar.MOMENT_TEXT, _moment),
}
