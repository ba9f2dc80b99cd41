"""Give an expression to an engine, as an Ibis value that cannot fail on any row.

Operands are made harmless before an operation sees them, rather than results being left out afterwards: engines may
compute both sides of a CASE. Where it can be had, a guard mentions its argument once, so that nested guards stay small:
`nullif(least(x, end), end)` is NULL where x is NULL, NaN or not below the end, on every engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.expressions import engine_numbers as numbers
from viameter.tables.expressions import engine_text as text
from viameter.tables.expressions import engine_time as time
from viameter.tables.expressions.engine_values import constant, is_null_constant, one_of, reading, representable
from viameter.tables.expressions.nodes import Call, Column, Expression, Literal
from viameter.tables.expressions.ranges import may_leave_64_bits
from viameter.tables.expressions.reference import OF_NULLS, evaluate
from viameter.tables.expressions.types import Kind

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
}


def to_ibis(expression: Expression, table: Any) -> Any:
    """The expression as a value of an Ibis table with its columns: int64, float64, boolean, string, date, timestamp.

    Parts that occur several times are one value; `binding` writes them once.

    >>> import ibis
    >>> from viameter.tables.expressions import Column, Type
    >>> table = ibis.table({"distance": "int32"}, name="flights")
    >>> to_ibis(Column("distance", Type(Kind.INTEGER)) > 500, table).type()
    Boolean(nullable=True)
    """
    if not isinstance(expression, Expression):
        raise ParameterError(f"to_ibis takes an expression: got a value of type {type(expression).__name__}")
    return _Encoder(table)(expression)


class _Encoder:
    """Expressions as values of one table; each is encoded once, however often it occurs."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._known: dict[int, tuple[Expression, Any]] = {}
        """By identity, which the expression that is held keeps."""

    def __call__(self, expression: Expression) -> Any:
        if id(expression) not in self._known:
            self._known[id(expression)] = expression, self._encoded(expression)
        return self._known[id(expression)][1]

    def _encoded(self, expression: Expression) -> Any:
        if isinstance(expression, Column):
            return reading(expression, self.table)
        if not expression.columns:
            # Engines compute what is constant while they plan, outside of every guard.
            return constant(evaluate(expression, {}), expression.type.kind)
        assert isinstance(expression, Call)
        operation, arguments, options = expression.operation, expression.arguments, expression.options
        if operation == "round_to":
            return self(numbers.rounded(*arguments))
        values = [self(argument) for argument in arguments]
        types = [argument.type for argument in arguments]
        kind = types[0].kind
        if operation not in (*OF_NULLS, "case") and any(map(is_null_constant, values)):
            return constant(None, expression.type.kind)
        if operation in COMPARISONS:
            return COMPARISONS[operation](*values)
        if operation in OTHERS:
            return OTHERS[operation](*values)
        if operation in time.OPERATIONS:
            return time.OPERATIONS[operation](*values, *options)
        if operation in text.OPERATIONS:
            constants = [argument.value for argument in arguments[1:] if isinstance(argument, Literal)]
            return text.OPERATIONS[operation](values[0], *constants, *options)
        if operation == "cast":
            return _cast(values[0], kind, Kind(options[0]))
        if kind is Kind.INTEGER and operation in numbers.INTEGERS:
            return numbers.INTEGERS[operation](*values, types, may_leave_64_bits(operation, types))
        return numbers.REALS[operation](*values)


def _case(*values: Any) -> Any:
    import ibis

    *arms, default = values
    return ibis.cases(*zip(arms[0::2], arms[1::2], strict=True), else_=default)


def _is_in(value: Any, *others: Any) -> Any:
    import ibis

    if not others:
        return ibis.ifelse(value.isnull(), ibis.null("boolean"), False)
    return one_of(value, others)


def _where_comparable(values: tuple[Any, Any], result: Any) -> Any:
    """The result where both values are there: engines leave NULL out of the least and the greatest."""
    import ibis

    return ibis.ifelse((values[0] <= values[1]).notnull(), result, ibis.null(result.type()))


def _least(left: Any, right: Any) -> Any:
    import ibis

    return _where_comparable((left, right), ibis.least(left, right))


def _greatest(left: Any, right: Any) -> Any:
    import ibis

    return _where_comparable((left, right), ibis.greatest(left, right))


def _clip(value: Any, lower: Any, upper: Any) -> Any:
    import ibis

    return _where_comparable((value, upper), ibis.greatest(ibis.least(value, upper), lower))


def _bin(value: Any, *edges: Any) -> Any:
    import ibis

    def search(low: int, high: int) -> Any:
        """The bin among those from low to before high, halved at each step."""
        if high - low == 1:
            return constant(low, Kind.INTEGER)
        middle = (low + high) // 2
        return ibis.ifelse(value < edges[middle], search(low, middle), search(middle, high))

    return ibis.ifelse(value.between(edges[0], edges[-1]), search(0, len(edges) - 1), ibis.null("int64"))


def _cast(value: Any, source: Kind, target: Kind) -> Any:
    if source is Kind.TEXT:
        return text.PARSERS[target](value)
    if target is Kind.TEXT:
        return text.written(value, source)
    if source is Kind.BOOLEAN:
        return _case(value, constant(1, Kind.INTEGER), ~value, constant(0, Kind.INTEGER), constant(None, Kind.INTEGER))
    if target is Kind.TIMESTAMP:
        return representable(value.cast("timestamp"))
    return value.cast({Kind.REAL: "float64", Kind.DATE: "date"}[target])


OTHERS: dict[str, Callable[..., Any]] = {
    "not": lambda x: ~x,
    "is_null": lambda x: x.isnull(),
    "is_in": _is_in,
    "between": lambda x, lower, upper: x.between(lower, upper),
    "fill_null": lambda x, other: x.fill_null(other),
    "case": _case,
    "least": _least,
    "greatest": _greatest,
    "clip": _clip,
    "bin": _bin,
}
