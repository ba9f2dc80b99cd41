"""Make expressions: read constants, bring arguments to fitting types, and settle REAL operands where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.expressions.constants import as_kind, literal
from viameter.tables.expressions.nodes import Call, Expression, Literal
from viameter.tables.expressions.ranges import real_range
from viameter.tables.expressions.types import Kind

REAL_ONLY = ("divide", "sqrt", "log", "exp", "settle")
ALIKE = (
    "add", "subtract", "multiply", "divide", "floor_divide", "modulo", "least", "greatest", "clip", "round_to", "bin",
    "eq", "ne", "lt", "le", "gt", "ge", "between", "is_in", "fill_null", "and", "or", "days_since", "starts_with",
    "ends_with", "contains",
)  # fmt: skip
"""Operations whose arguments all have one kind."""
MAY_BE_NULL = ("case", "fill_null")


def kind_named(kind: Kind | str) -> Kind:
    """A kind by its name in capitals or not."""
    if isinstance(kind, Kind):
        return kind
    if isinstance(kind, str) and kind.upper() in Kind.__members__:
        return Kind[kind.upper()]
    names = ", ".join(repr(each.value.lower()) for each in Kind)
    raise ParameterError(f"there is no kind {plain(kind)}; the kinds are {names}")


def make(operation: str, arguments: Sequence[Any], options: tuple[Any, ...] = ()) -> Expression:
    """A call of an operation, with its arguments brought to fitting types."""
    if operation == "case":
        conditions, values = list(arguments[0:-1:2]), [*arguments[1:-1:2], *arguments[-1:]]
        typed = _alike(operation, values)
        placed = [_expression(operation, condition) for condition in conditions]
        pairs = [each for pair in zip(placed, typed[:-1], strict=False) for each in pair]
        return Call(operation, (*pairs, *typed[-1:]))
    made = _alike(operation, arguments) if operation in ALIKE else [_expression(operation, each) for each in arguments]
    if operation in REAL_ONLY:
        made = [as_real(each) for each in made]
    if operation == "cast" and len(options) == 1:
        kind = kind_named(options[0])
        options = (kind.value,)
        if made and made[0].type.kind is kind:
            return made[0]
    if operation == "floor" and len(made) == 1 and made[0].type.kind is Kind.INTEGER:
        return made[0]
    if operation in ("add", "subtract", "multiply", "divide") and len(made) == 2:
        made = _settled(operation, made)
    if operation == "round_to" and len(made) == 2 and made[0].type.kind is Kind.REAL:
        # What is computed is floor(value / multiple + 1/2) * multiple.
        made = _settled("divide", made)
    return Call(operation, tuple(made), tuple(options))


def _settled(operation: str, made: list[Expression]) -> list[Expression]:
    types = [each.type for each in made]
    if any(found.kind is not Kind.REAL for found in types) or real_range(operation, types) is not None:
        return made
    return [each if each.type.is_settled else Call("settle", (each,)) for each in made]


def as_real(expression: Expression) -> Expression:
    """An INTEGER as REAL; anything else as it is."""
    if expression.type.kind is not Kind.INTEGER:
        return expression
    if isinstance(expression, Literal):
        return as_kind(expression, Kind.REAL)
    return Call("cast", (expression,), (Kind.REAL.value,))


def _expression(operation: str, value: Any) -> Expression:
    if isinstance(value, Expression):
        return value
    if value is None:
        raise ParameterError(
            f"{operation}: None is no value to compute or compare with; write .is_null() to ask for it"
        )
    return literal(value)


def _alike(operation: str, values: Sequence[Any]) -> list[Expression]:
    """Arguments of one kind: numbers become REAL if one of them is; constants follow the kind of the expressions."""
    made: list[Expression | None] = [
        None if value is None and operation in MAY_BE_NULL else _expression(operation, value) for value in values
    ]
    kinds = [each.type.kind for each in made if each is not None and not isinstance(each, Literal)]
    kinds = kinds or [each.type.kind for each in made if each is not None]
    if not kinds:
        raise ParameterError(f"{operation}: at least one value must not be None")
    kind = kinds[0]
    found = {each.type.kind for each in made if each is not None}
    if found == {Kind.INTEGER, Kind.REAL}:
        kind = Kind.REAL
    fitted: list[Expression] = []
    for each in made:
        if each is None:
            fitted.append(literal(None, kind))
        elif isinstance(each, Literal):
            fitted.append(as_kind(each, kind))
        else:
            fitted.append(as_real(each) if kind is Kind.REAL else each)
    return fitted


def case(*arms: tuple[Any, Any], default: Any = None) -> Expression:
    """The value of the first arm whose condition is true, else the default (None: NULL).

    >>> from viameter.tables.expressions import Column, Type
    >>> delay = Column("delay", Type(Kind.INTEGER))
    >>> case((delay < 0, "early"), (delay == 0, "on time"), default="late")
    case((delay < 0, 'early'), (delay == 0, 'on time'), default='late')
    """
    if not arms or any(not isinstance(arm, tuple) or len(arm) != 2 for arm in arms):
        raise ParameterError("case takes pairs: case((condition, value), (condition, value), default=value)")
    return make("case", [*(each for arm in arms for each in arm), default])


def least(left: Any, right: Any) -> Expression:
    """The lesser of two; NULL where one of them is NULL."""
    return make("least", (left, right))


def greatest(left: Any, right: Any) -> Expression:
    """The greater of two; NULL where one of them is NULL."""
    return make("greatest", (left, right))
