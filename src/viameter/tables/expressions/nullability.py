"""Which expressions are never NULL, by rules over their tree and columns that are known to have no NULL.

Nothing is found out from rows: a column has no NULL where rows that have one were left out by a public filter.
"""

from __future__ import annotations

from collections.abc import Collection

from viameter.tables.expressions.nodes import Call, Column, Expression, Literal
from viameter.tables.expressions.ranges import may_leave_64_bits
from viameter.tables.expressions.types import Kind

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "between", "is_in")
"""They are NULL only where an argument is: where one is true, no argument is NULL."""
EXTREMES = ("least", "greatest", "clip")
TOTAL = ("add", "subtract", "multiply", "negate", "absolute")
"""Arithmetic that gives a number for every number, but for integers beyond 64 bits."""
QUOTIENTS = ("divide", "floor_divide", "modulo")
"""The same, where the divisor is a constant other than 0."""
CASTS = ((Kind.INTEGER, Kind.REAL), (Kind.BOOLEAN, Kind.INTEGER))


def never_null(expression: Expression, required: Collection[str]) -> bool:
    """Whether it has a value on every row on which the columns `required` have one; False if no rule says so.

    >>> from viameter.tables.expressions import Type
    >>> wait = Column("wait", Type(Kind.INTEGER, lower=0, upper=999))
    >>> never_null(wait * 60, ["wait"]), never_null(60 / wait, ["wait"]), never_null(wait.fill_null(0), [])
    (True, False, True)
    """
    if isinstance(expression, Literal):
        return expression.value is not None
    if isinstance(expression, Column):
        return expression.name in required
    assert isinstance(expression, Call)
    operation, arguments = expression.operation, expression.arguments
    known = [never_null(argument, required) for argument in arguments]
    if operation == "is_null":
        return True
    if operation == "fill_null":
        return any(known)
    if operation == "case":
        # Values stand behind their conditions, and the last one is the default.
        return all(known[1:-1:2]) and known[-1]
    if not all(known):
        return False
    if operation == "cast":
        return (arguments[0].type.kind, expression.type.kind) in CASTS
    if operation in QUOTIENTS and not (isinstance(arguments[1], Literal) and arguments[1].value != 0):
        return False
    if operation in (*TOTAL, *QUOTIENTS) and expression.type.kind is Kind.INTEGER:
        return not may_leave_64_bits(operation, [argument.type for argument in arguments])
    return operation in (*COMPARISONS, *EXTREMES, *TOTAL, *QUOTIENTS, "and", "or", "not")


def required_by(predicate: Expression) -> frozenset[str]:
    """Columns that have a value on every row for which the predicate is true.

    >>> from viameter.tables.expressions import Type
    >>> wait, age = (Column(name, Type(Kind.INTEGER)) for name in ("wait", "age"))
    >>> sorted(required_by(~wait.is_null() & (age > 18))), sorted(required_by(~wait.is_null() | (age > 18)))
    (['age', 'wait'], [])
    """
    if isinstance(predicate, Column):
        return frozenset((predicate.name,))
    if not isinstance(predicate, Call):
        return frozenset()
    operation, arguments = predicate.operation, predicate.arguments
    if operation == "and":
        return required_by(arguments[0]) | required_by(arguments[1])
    if operation == "not" and isinstance(arguments[0], Call) and arguments[0].operation == "is_null":
        arguments = arguments[0].arguments
    elif operation not in COMPARISONS:
        return frozenset()
    return frozenset(argument.name for argument in arguments if isinstance(argument, Column))
