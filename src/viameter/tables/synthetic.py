"""Synthetic rows: made-up tables with the columns of a private one, so that an analysis can be tried for nothing.

They are made of the schema and of what is given as public, never of rows: nothing private is in them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from viameter.arith import exact
from viameter.errors import ParameterError, plain
from viameter.tables.expressions import Kind, Schema, Type

FIRST_DAY = datetime.datetime(2013, 1, 1)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def synthetic(
    schema: Schema, *, rows: int, unit: str | None = None, values: Mapping[str, Any] | None = None
) -> dict[str, list[Any]]:
    """So many made-up rows; `values` gives the values of a column as a list, or the ends of a range as a pair.

    The same call gives the same rows. One in twenty values is NULL, but for those that name units.

    >>> from viameter.tables.expressions import Type
    >>> table = synthetic(Schema({"ward": Type(Kind.TEXT)}), rows=4, values={"ward": ["A", "B"]})
    >>> len(table["ward"]), set(table["ward"]) <= {"A", "B", None}
    (4, True)
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or not 0 <= rows <= 10**7:
        raise ParameterError(f"rows={plain(rows)} is not a number of rows: expected 0 to 10,000,000")
    given = {} if values is None else dict(values)
    for name in given:
        schema.require(name)
    table = {}
    for place, (name, kind) in enumerate(schema.items()):
        draws = [_mixed(place * 2**40 + row) for row in range(rows)]
        if name == unit and name not in given:
            # A few rows of each unit, as in real tables.
            made = [_unit(draw % max(1, rows // 4), kind) for draw in draws]
        else:
            made = [_value(draw >> 8, kind, given.get(name), name) for draw in draws]
        table[name] = [
            None if name != unit and draw % 20 == 0 else value for draw, value in zip(draws, made, strict=True)
        ]
    return table


def _value(draw: int, kind: Type, given: Any, name: str) -> Any:
    if isinstance(given, tuple) and len(given) == 2 and kind.is_number:
        lower, upper = (exact(end, name=f"values[{name!r}]") for end in given)
        number = lower + (upper - lower) * Fraction(draw % 2**32, 2**32)
        return int(number // 1) if kind.kind is Kind.INTEGER else float(number)
    if given is not None:
        if isinstance(given, str) or not isinstance(given, Sequence) or not given:
            raise ParameterError(f"values[{name!r}]={plain(given)}: expected a list of values, or two ends of a range")
        return given[draw % len(given)]
    if kind.kind is Kind.INTEGER:
        return min(max(draw % 100, kind.lower), kind.upper)
    if kind.kind is Kind.REAL:
        return (draw % 10_000) / 100
    if kind.kind is Kind.BOOLEAN:
        return bool(draw % 2)
    if kind.kind is Kind.TEXT:
        return LETTERS[draw % 26]
    moment = FIRST_DAY + datetime.timedelta(minutes=draw % (365 * 24 * 60))
    return moment.date() if kind.kind is Kind.DATE else moment


def _unit(number: int, kind: Type) -> Any:
    return number if kind.kind is Kind.INTEGER else f"unit-{number}"


def _mixed(number: int) -> int:
    """A number that looks random and is not: the mixing of splitmix64. No privacy rests on it."""
    number = (number * 0x9E3779B97F4A7C15 + 0x1234567) % 2**64
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) % 2**64
    return number ^ (number >> 31)
