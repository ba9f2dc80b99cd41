"""The type of each operation's result from its arguments' types; what does not fit is refused with what to write.

Arguments have been brought to fitting types by `building` before; these rules check them and compute with ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.expressions import ranges
from viameter.tables.expressions.nodes import Expression, Literal
from viameter.tables.expressions.types import (
    BOOLEAN,
    DATE,
    INTEGER,
    REAL,
    TEXT,
    TIMESTAMP,
    Kind,
    Type,
    integer,
    real_of_integer,
    union,
)

Rule = Callable[[str, Sequence[Expression], tuple[Any, ...]], Type]
UNITS = ("day", "week", "month", "year")
ORDERED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)
CASTS = {
    (Kind.INTEGER, Kind.REAL): REAL,
    (Kind.INTEGER, Kind.TEXT): TEXT,
    (Kind.BOOLEAN, Kind.INTEGER): integer(0, 1),
    (Kind.BOOLEAN, Kind.TEXT): TEXT,
    (Kind.DATE, Kind.TEXT): TEXT,
    (Kind.DATE, Kind.TIMESTAMP): TIMESTAMP,
    (Kind.TIMESTAMP, Kind.DATE): DATE,
    (Kind.TEXT, Kind.INTEGER): integer(1 - 10**18, 10**18 - 1),
    (Kind.TEXT, Kind.REAL): REAL,
    (Kind.TEXT, Kind.BOOLEAN): BOOLEAN,
    (Kind.TEXT, Kind.DATE): DATE,
    (Kind.TEXT, Kind.TIMESTAMP): TIMESTAMP,
}


def type_of_call(operation: str, arguments: tuple[Expression, ...], options: tuple[Any, ...]) -> Type:
    """The type of the operation's result; ParameterError if there is no such operation or it does not fit."""
    if operation not in RULES:
        raise ParameterError(f"there is no operation {operation!r}; there are: {', '.join(RULES)}")
    least, most, rule = RULES[operation]
    if not least <= len(arguments) <= most:
        raise ParameterError(
            f"{operation} takes {least} arguments{' or more' if most > least else ''}: got {len(arguments)}"
        )
    if any(not isinstance(argument, Expression) for argument in arguments):
        raise ParameterError(f"{operation}: every argument is an expression")
    if len(options) != OPTIONS.get(operation, 0):
        raise ParameterError(f"{operation} takes {OPTIONS.get(operation, 0)} options: got {len(options)}")
    return rule(operation, arguments, options)


def _kinds(operation: str, arguments: Sequence[Expression], *allowed: Kind) -> None:
    """All arguments have one kind, which is among these."""
    for argument in arguments:
        if argument.type.kind not in allowed:
            raise ParameterError(_not_allowed(operation, argument, allowed))
        if argument.type.kind is not arguments[0].type.kind:
            raise ParameterError(
                f"{operation}: {arguments[0]!r} is {arguments[0].type.kind.value} and {argument!r} is "
                f"{argument.type.kind.value}; {_bring_together(arguments[0].type.kind, argument.type.kind)}"
            )


def _not_allowed(operation: str, argument: Expression, allowed: tuple[Kind, ...]) -> str:
    kind = argument.type.kind
    text = f"{operation} is for {' or '.join(each.value for each in allowed)}: {argument!r} is {kind.value}"
    if kind is Kind.TEXT and Kind.INTEGER in allowed and operation not in ("lt", "le", "gt", "ge", "between"):
        return f'{text}; write .cast("integer") or .cast("real") if it holds numbers'
    if kind is Kind.TEXT:
        return f"{text}; engines order text differently, so that only == and != compare it"
    if kind is Kind.REAL and allowed == (Kind.INTEGER,):
        return f"{text}; write .floor() or .round_to(1).floor() first"
    if kind is Kind.BOOLEAN and Kind.INTEGER in allowed:
        return f'{text}; write .cast("integer") for 0 and 1'
    if kind is Kind.DATE and allowed == (Kind.TIMESTAMP,):
        return f"{text}, which has no time of day"
    if allowed == (Kind.BOOLEAN,):
        return f"{text}; write a comparison, with parentheses around it: (a > 1) & (b < 2)"
    if allowed == (Kind.TEXT,) and (kind, Kind.TEXT) in CASTS:
        return f'{text}; write .cast("text") first'
    return text


def _bring_together(left: Kind, right: Kind) -> str:
    kinds = {left, right}
    if Kind.TEXT in kinds and kinds & {Kind.INTEGER, Kind.REAL}:
        return 'write .cast("integer") or .cast("real") on the text, or quotes around the number'
    if kinds == {Kind.DATE, Kind.TIMESTAMP}:
        return 'write .cast("date") on the timestamp'
    if Kind.BOOLEAN in kinds and kinds & {Kind.INTEGER, Kind.REAL}:
        return 'write .cast("integer") on the truth value'
    return "both sides must be of one kind"


def _literals(operation: str, arguments: Sequence[Expression]) -> list[Any]:
    values = [argument.value for argument in arguments if isinstance(argument, Literal)]
    if len(values) != len(arguments) or any(value is None for value in values):
        raise ParameterError(f"{operation} takes constants that are not NULL after the first argument")
    return values


def _arithmetic(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    if operation in ("floor_divide", "modulo"):
        _kinds(operation, arguments, Kind.INTEGER)
    elif operation in ("divide", "sqrt", "log", "exp", "settle"):
        _kinds(operation, arguments, Kind.REAL)
    else:
        _kinds(operation, arguments, Kind.INTEGER, Kind.REAL)
    types = [argument.type for argument in arguments]
    if types[0].kind is Kind.INTEGER:
        return integer(*ranges.within_64_bits(ranges.integer_range(operation, types)))
    found = ranges.real_range(operation, types)
    if found is None:
        raise ParameterError(f"{operation}: the arguments must be settled first; write it by operators, which do it")
    return found


def _extreme(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    _kinds(operation, arguments, *ORDERED)
    types = [argument.type for argument in arguments]
    if operation == "clip":
        lower, upper = _literals(operation, arguments[1:])
        if not lower <= upper:
            raise ParameterError(f"clip: the lower end {lower} is above the upper end {upper}")
        types = [types[0], *types[1:]]
    if types[0].kind is not Kind.INTEGER:
        if types[0].kind is Kind.REAL and operation == "clip":
            return ranges.clipped_real(types)
        return reduce(union, types)
    return integer(*ranges.integer_range(operation, types))


def _round_to(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    _kinds(operation, arguments, Kind.INTEGER, Kind.REAL)
    (multiple,) = _literals(operation, arguments[1:])
    if not multiple > 0:
        raise ParameterError(f"round_to({multiple}): the multiple must be above 0")
    value = arguments[0].type
    if value.kind is Kind.INTEGER:
        return integer(*ranges.within_64_bits((value.lower - multiple, value.upper + multiple)))
    return ranges.rounded_real(value, arguments[1].type)


def _floor(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    _kinds(operation, arguments, Kind.REAL)
    reach = 2 ** min(63, max(0, arguments[0].type.top))
    return integer(-reach, reach)


def _bin(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    _kinds(operation, arguments, *ORDERED)
    edges = _literals(operation, arguments[1:])
    if any(not low < high for low, high in pairwise(edges)):
        raise ParameterError("bin: the edges must grow from one to the next")
    return integer(0, len(edges) - 2)


def _compare(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    _kinds(operation, arguments, *(Kind if operation in ("eq", "ne") else ORDERED))
    return BOOLEAN


def _is_in(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    _literals(operation, arguments[1:])
    _kinds(operation, arguments, *Kind)
    return BOOLEAN


def _case(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    if len(arguments) % 2 != 1:
        raise ParameterError("case takes conditions and values in turn, and then what to take otherwise")
    _kinds("a condition of case", arguments[0:-1:2], Kind.BOOLEAN)
    values = [*arguments[1:-1:2], arguments[-1]]
    _kinds("case", values, *Kind)
    return reduce(union, (value.type for value in values))


def _fill_null(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    _kinds(operation, arguments, *Kind)
    return union(arguments[0].type, arguments[1].type)


def _cast(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    source, target = arguments[0].type, Kind(options[0])
    if source.kind is target:
        return source
    if (source.kind, target) not in CASTS:
        hint = "; write .floor() or .round_to(1).floor()" if (source.kind, target) == (Kind.REAL, Kind.INTEGER) else ""
        raise ParameterError(f"{arguments[0]!r} is {source.kind.value} and cannot be cast to {target.value}{hint}")
    return (
        real_of_integer(source) if source.kind is Kind.INTEGER and target is Kind.REAL else CASTS[source.kind, target]
    )


def _slice(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    _kinds(operation, arguments, Kind.TEXT)
    start, stop = options
    if type(start) is not int or type(stop) is not int or not 0 <= start <= stop < 2**31:
        raise ParameterError(f"slice({start!r}, {stop!r}): whole numbers with 0 <= start <= stop are expected")
    return TEXT


def _truncate(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    _kinds(operation, arguments, Kind.DATE, Kind.TIMESTAMP)
    if options[0] not in UNITS:
        raise ParameterError(f"truncate({options[0]!r}): the unit is one of {', '.join(UNITS)}")
    return DATE


def _text_and_constant(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
    _kinds(operation, arguments, Kind.TEXT)
    _literals(operation, arguments[1:])
    return BOOLEAN


def _of(result: Type, *allowed: Kind) -> Rule:
    def rule(operation: str, arguments: Sequence[Expression], options: tuple[Any, ...]) -> Type:
        _kinds(operation, arguments, *allowed)
        return result

    return rule


MANY = 10**6
_TEXT, _DAYS = _of(TEXT, Kind.TEXT), (Kind.DATE, Kind.TIMESTAMP)
OPTIONS = {"cast": 1, "slice": 2, "truncate": 1}
RULES: dict[str, tuple[int, int, Rule]] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "floor_divide", "modulo"), (2, 2, _arithmetic)),
    **dict.fromkeys(("negate", "absolute", "sqrt", "log", "exp", "settle"), (1, 1, _arithmetic)),
    **dict.fromkeys(("least", "greatest"), (2, 2, _extreme)),
    "clip": (3, 3, _extreme),
    "round_to": (2, 2, _round_to),
    "floor": (1, 1, _floor),
    "bin": (3, MANY, _bin),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), (2, 2, _compare)),
    "between": (3, 3, _compare),
    **dict.fromkeys(("and", "or"), (2, 2, _of(BOOLEAN, Kind.BOOLEAN))),
    "not": (1, 1, _of(BOOLEAN, Kind.BOOLEAN)),
    "is_null": (1, 1, _of(BOOLEAN, *Kind)),
    "is_in": (1, MANY, _is_in),
    "case": (3, MANY, _case),
    "fill_null": (2, 2, _fill_null),
    "cast": (1, 1, _cast),
    "year": (1, 1, _of(integer(1, 9999), *_DAYS)),
    "month": (1, 1, _of(integer(1, 12), *_DAYS)),
    "day": (1, 1, _of(integer(1, 31), *_DAYS)),
    "weekday": (1, 1, _of(integer(0, 6), *_DAYS)),
    "hour": (1, 1, _of(integer(0, 23), Kind.TIMESTAMP)),
    "days_since": (2, 2, _of(integer(-3652059, 3652059), Kind.DATE)),
    "truncate": (1, 1, _truncate),
    **dict.fromkeys(("lower", "upper", "strip"), (1, 1, _TEXT)),
    "length": (1, 1, _of(integer(0, 2**31), Kind.TEXT)),
    **dict.fromkeys(("starts_with", "ends_with", "contains"), (2, 2, _text_and_constant)),
    "slice": (1, 1, _slice),
}
__all__ = ["CASTS", "INTEGER", "RULES", "UNITS", "type_of_call"]
