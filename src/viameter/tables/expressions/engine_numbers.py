"""Arithmetic on engines: nothing overflows, underflows or divides by zero, whatever the row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from viameter.tables.expressions.engine_values import above, below, constant, constant_like, settled
from viameter.tables.expressions.nodes import Expression
from viameter.tables.expressions.reference import LARGEST_EXPONENT
from viameter.tables.expressions.types import INT64_MIN, Kind, Type, integer

EXACT_IN_FLOATS = 2**53


def whole(value: int) -> Any:
    """An INTEGER constant."""
    return constant(value, Kind.INTEGER)


def number(value: float) -> Any:
    """A REAL constant."""
    return constant(value, Kind.REAL)


def _wide(value: Any) -> Any:
    """An INTEGER with room for sums and products: those of two such numbers have at most 38 digits."""
    return value.cast("decimal(19, 0)")


def _narrow(value: Any) -> Any:
    """A wide integer as INTEGER; NULL beyond 64 bits."""
    import ibis.expr.datatypes as dt

    room = dt.Decimal(38, 0)
    inside = above(below(value.cast(room), constant_like(2**63, room)), constant_like(-(2**63) - 1, room))
    return inside.cast("int64")


def _binary(compute: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def operation(left: Any, right: Any, types: Sequence[Type], may_leave: bool) -> Any:
        return _narrow(compute(_wide(left), _wide(right))) if may_leave else compute(left, right)

    return operation


def _negate(value: Any, types: Sequence[Type], may_leave: bool) -> Any:
    return -(value.nullif(whole(INT64_MIN)) if may_leave else value)


def _absolute(value: Any, types: Sequence[Type], may_leave: bool) -> Any:
    return (value.nullif(whole(INT64_MIN)) if may_leave else value).abs()


def _divisor(value: Any, type_: Type) -> Any:
    """A divisor that is not 0: NULL instead."""
    return value.nullif(whole(0)) if type_.lower <= 0 <= type_.upper else value


def _is_constant(value: Any) -> bool:
    """Whether it is the same on every row: a column that can be one number alone may be NULL too."""
    return not value.op().shape.is_columnar()


def _modulo(left: Any, right: Any, types: Sequence[Type], may_leave: bool) -> Any:
    import ibis

    divisor = types[1]
    if (divisor.lower, divisor.upper) in ((1, 1), (-1, -1)) and _is_constant(right):
        return left * whole(0)
    right = _divisor(right, divisor)
    # Some engines fail on the remainder of the least integer by -1, which is 0 as by 1.
    is_minus_1 = divisor.lower <= -1 <= divisor.upper and types[0].lower == INT64_MIN
    rest = left % (ibis.ifelse(right == whole(-1), whole(1), right) if is_minus_1 else right)
    if divisor.lower >= -(2**62) and divisor.upper <= 2**62:
        return (rest + right) % right
    return ibis.ifelse((rest != whole(0)) & ((rest < whole(0)) != (right < whole(0))), rest + right, rest)


def _floor_divide(left: Any, right: Any, types: Sequence[Type], may_leave: bool) -> Any:
    import ibis

    dividend, divisor = types
    if all(each.lower > -EXACT_IN_FLOATS and each.upper < EXACT_IN_FLOATS for each in types):
        # The quotient is further from the integer above than a float can be off.
        return _quotient(left, _divisor(right, divisor)).floor().cast("int64")
    if divisor.lower == divisor.upper and _is_constant(right):
        return _floor_divide_by_constant(left, divisor.lower, dividend, may_leave)
    # An estimate, and then how many times the divisor is left: that is whole and below 2**13, so floats tell it.
    right = _divisor(right, divisor)
    estimate = _wide(ibis.least(_quotient(left, right), number(2.0**63 - 1024)).floor().cast("int64"))
    multiple = _wide(left) - _wide(_modulo(left, right, types, may_leave))
    left_over = _quotient(multiple - estimate * _wide(right), right)
    return _narrow(estimate + _wide((left_over + number(0.5)).floor().cast("int64")))


def _quotient(left: Any, right: Any) -> Any:
    return left.cast("float64") / right.cast("float64")


def _floor_divide_by_constant(left: Any, divisor: int, dividend: Type, may_leave: bool) -> Any:
    import ibis

    if divisor in (-1, 0, 1):
        return {0: ibis.null("int64"), 1: left}[divisor] if divisor >= 0 else _negate(left, [dividend], may_leave)
    if abs(divisor) >= 2**14:
        # Floats are off by less than 2**10 in the dividend, which is less than half a divisor.
        rest = _modulo(left, whole(divisor), [dividend, integer(divisor, divisor)], may_leave)
        multiple = left.cast("float64") - rest.cast("float64")
        return (multiple / number(float(divisor)) + number(0.5)).floor().cast("int64")
    # First by a larger multiple of the divisor, then what is left over, which floats hold exactly.
    larger = divisor * 2**14
    rest = _modulo(left, whole(larger), [dividend, integer(larger, larger)], may_leave)
    coarse = _floor_divide_by_constant(left, larger, dividend, may_leave)
    return coarse * whole(2**14) + _quotient(rest, number(float(divisor))).floor().cast("int64")


def _floor(value: Any) -> Any:
    inside = above(below(value, number(2.0**63)), number(-(2.0**63) - 2048))
    return inside.floor().cast("int64")


def _sqrt(value: Any) -> Any:
    import ibis

    return ibis.ifelse(value >= number(0.0), value, ibis.null("float64")).sqrt()


def _log(value: Any) -> Any:
    return above(value, number(0.0)).ln()


def _exp(value: Any) -> Any:
    import ibis

    end = number(float(LARGEST_EXPONENT))
    harmless = ibis.ifelse(value.between(-end, end), value, ibis.null("float64"))
    return ibis.ifelse(value < -end, number(0.0), harmless.exp())


def rounded(value: Expression, multiple: Expression) -> Expression:
    """A number rounded to a multiple, by operations that are there already."""
    from viameter.tables.expressions.building import case

    if value.type.kind is Kind.INTEGER:
        rest = value % multiple
        return value + case((rest >= multiple - rest, multiple - rest), default=-rest)
    return (value / multiple + 0.5).floor() * multiple


INTEGERS: dict[str, Callable[..., Any]] = {
    "add": _binary(lambda x, y: x + y),
    "subtract": _binary(lambda x, y: x - y),
    "multiply": _binary(lambda x, y: x * y),
    "negate": _negate,
    "absolute": _absolute,
    "modulo": _modulo,
    "floor_divide": _floor_divide,
}
REALS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y.nullif(number(0.0)),
    "negate": lambda x: -x,
    "absolute": lambda x: x.abs(),
    "settle": settled,
    "sqrt": _sqrt,
    "log": _log,
    "exp": _exp,
    "floor": _floor,
}
