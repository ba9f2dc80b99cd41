"""Functions of one row, by the names that SQL has for them, made of the operations of expressions.

Where the operation of a name differs from SQL's, the function is made of several: `%` keeps the sign of what is
divided, ROUND takes halves away from zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import reduce
from typing import TYPE_CHECKING, Any

from viameter.errors import ParameterError
from viameter.tables.expressions import Kind

if TYPE_CHECKING:
    from viameter.tables.sql.scalars import Scalar

MANY = 1000
AGGREGATES = (
    "COUNT", "COUNTIF", "COUNT_IF", "SUM", "AVG", "MEAN", "VAR_POP", "VARIANCE", "VAR", "STDDEV_POP", "STDDEV", "STD",
    "MEDIAN", "APPROX_QUANTILES", "APPROX_QUANTILE", "APPROX_PERCENTILE", "PERCENTILE_CONT", "PERCENTILE_DISC",
    "QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC",
)  # fmt: skip
"""Names of aggregates that are read; those of `NO_AGGREGATES` are known and refused."""
NO_AGGREGATES = {
    "MIN": "the least row cannot be told: write PERCENTILE_CONT(x, 0.01, contribution_bounds_per_row => (l, u))",
    "MAX": "the greatest row cannot be told: write PERCENTILE_CONT(x, 0.99, contribution_bounds_per_row => (l, u))",
    "VAR_SAMP": "variances divide by n here: write VAR_POP",
    "STDDEV_SAMP": "deviations divide by n here: write STDDEV_POP",
    **dict.fromkeys(
        ("ANY_VALUE", "ARRAY_AGG", "STRING_AGG", "GROUP_CONCAT", "LISTAGG", "FIRST", "LAST", "MODE"),
        "values of rows are never shown: group by the column, and count",
    ),
    "APPROX_COUNT_DISTINCT": "distinct values are not counted: group by the column, or write COUNT(DISTINCT unit)",
    **dict.fromkeys(
        ("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_INTERCEPT"),
        'not in SQL: table.agg(r=vm.correlation(...)), or vm.covariance, or {"correlation": ...} in a document',
    ),
}
NOT_DETERMINED = (
    "RAND", "RANDOM", "NOW", "CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_DATETIME", "CURRENT_TIME", "TODAY", "UUID",
    "GENERATE_UUID", "CURRENT_USER", "SESSION_USER", "LOCALTIME", "LOCALTIMESTAMP", "NEWID", "GETDATE", "SYSDATE",
)  # fmt: skip
WINDOW_ONLY = ("ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")
INSTEAD = {
    "LOG": "of which base? Write LN(x), or LN(x) / LN(10)",
    "LOG10": "write LN(x) / LN(10)",
    "LOG2": "write LN(x) / LN(2)",
    "POW": "write x * x",
    "POWER": "write x * x",
    "CONCAT": "text cannot be joined together here; group by both columns instead",
    "DATE_ADD": "compare DATE_DIFF(a, b, DAY) with a number of days instead",
    "DATE_SUB": "compare DATE_DIFF(a, b, DAY) with a number of days instead",
    "REGEXP_CONTAINS": "write LIKE '%abc%', or STARTS_WITH(x, 'abc')",
    "REGEXP_MATCHES": "write LIKE '%abc%', or STARTS_WITH(x, 'abc')",
    "RIGHT": "write ENDS_WITH(x, 'abc') to compare",
    "LTRIM": "write TRIM(x)",
    "RTRIM": "write TRIM(x)",
    "GROUPING": "write one question for each level of groups",
}


@dataclass(frozen=True, slots=True)
class Function:
    """A function: how it is written, how many arguments it takes, and what it is made of."""

    written: str
    arity: tuple[int, int]
    make: Callable[..., Scalar]
    units: bool = False
    """Whether an argument is a word such as MONTH."""


def unknown_function(name: str) -> str:
    """What to say of a name that is no function here."""
    if name in NO_AGGREGATES:
        return NO_AGGREGATES[name]
    if name in NOT_DETERMINED:
        return f"{name} is another value each time: write the value, as in DATE '2024-05-31'"
    if name in WINDOW_ONLY:
        return "window functions give a number to each row; ask aggregates with GROUP BY instead"
    if name in INSTEAD:
        return INSTEAD[name]
    close = get_close_matches(name, [*FUNCTIONS, *AGGREGATES], n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    return f"there is no function {name}{hint} There are: {', '.join((*AGGREGATES, *FUNCTIONS))}"


def call(operation: str, *arguments: Scalar, options: tuple[Any, ...] = ()) -> Scalar:
    """An operation on scalars."""
    from viameter.tables.sql.scalars import call as made

    return made(operation, *arguments, options=options)


def constant(value: Any) -> Scalar:
    """A public constant."""
    from viameter.tables.sql.scalars import constant as made

    return made(value)


def _null() -> Scalar:
    from viameter.tables.sql.scalars import NULL

    return NULL


def _is_apart(one: Scalar, other: Scalar) -> Scalar:
    """Whether the remainder of two integers is not 0, and one of the two alone is negative."""
    is_below = call("lt", one, constant(0))
    if other.is_constant and other.constant > 0:
        apart = is_below
    else:
        apart = call("ne", is_below, call("lt", other, constant(0)))
    return call("and", call("ne", call("modulo", one, other), constant(0)), apart)


def _modulo(one: Scalar, other: Scalar) -> Scalar:
    # SQL's remainder has the sign of what is divided; that of expressions has the divisor's.
    found = call("modulo", one, other)
    return call("case", _is_apart(one, other), call("subtract", found, other), found)


def _quotient(one: Scalar, other: Scalar) -> Scalar:
    # SQL's quotient is cut off towards zero; that of expressions is rounded down.
    found = call("floor_divide", one, other)
    return call("case", _is_apart(one, other), call("add", found, constant(1)), found)


def _by_sign(value: Scalar, made: Callable[[Scalar], Scalar]) -> Scalar:
    """The same above and below zero, but for the sign."""
    below = call("negate", made(call("negate", value)))
    return call("case", call("lt", value, constant(0)), below, made(value))


def _round(value: Scalar, digits: Scalar | None = None) -> Scalar:
    if digits is not None and digits.constant != 0:
        raise ParameterError("ROUND is to whole numbers: write ROUND(x * 100) / 100 for two digits")
    return _by_sign(value, lambda one: call("round_to", one, constant(1)))


def _ceil(value: Scalar) -> Scalar:
    return call("negate", call("floor", call("negate", value)))


def _sign(value: Scalar) -> Scalar:
    positive, negative = call("gt", value, constant(0)), call("lt", value, constant(0))
    # NULL where there is no value, which the last arm would not see.
    zero = call("case", call("eq", value, constant(0)), constant(0), _null())
    return call("case", positive, constant(1), negative, constant(-1), zero)


def _if(test: Scalar, value: Scalar, other: Scalar) -> Scalar:
    return call("case", test, value, other)


def _null_if(value: Scalar, other: Scalar) -> Scalar:
    return call("case", call("eq", value, other), _null(), value)


def _coalesce(*values: Scalar) -> Scalar:
    return reduce(lambda later, one: call("fill_null", one, later), reversed(values))


def _folded(operation: str) -> Callable[..., Scalar]:
    return lambda *values: reduce(lambda one, other: call(operation, one, other), values)


def _simple(operation: str) -> Callable[..., Scalar]:
    return lambda *values: call(operation, *values)


def _whole(value: Scalar, what: str, least: int) -> int:
    found = value.constant
    if type(found) is not int or not least <= found < 2**31:
        raise ParameterError(f"{what} is a whole number from {least} on, written out")
    return found


def _substring(value: Scalar, start: Scalar, length: Scalar | None = None) -> Scalar:
    begin = _whole(start, "where it starts", 1) - 1
    end = 2**31 - 1 if length is None else begin + _whole(length, "its length", 0)
    return call("slice", value, options=(begin, min(end, 2**31 - 1)))


def _left(value: Scalar, length: Scalar) -> Scalar:
    return call("slice", value, options=(0, _whole(length, "its length", 0)))


def _as_date(value: Scalar) -> Scalar:
    return call("cast", value, options=(Kind.DATE.value,))


TRUNCATED = {"DAY": "day", "ISOWEEK": "week", "WEEK(MONDAY)": "week", "MONTH": "month", "YEAR": "year"}


def _truncate(one: Scalar, other: Scalar) -> Scalar:
    # BigQuery writes DATE_TRUNC(day, MONTH), where WEEK begins on Sunday; others DATE_TRUNC('month', day), with Monday.
    is_unit_first = isinstance(one.constant, str)
    unit, day = (one, other) if is_unit_first else (other, one)
    named = unit.constant.upper() if isinstance(unit.constant, str) else ""
    if is_unit_first and named == "WEEK":
        named = "ISOWEEK"
    if named not in TRUNCATED:
        raise ParameterError(f"dates are truncated to {', '.join(TRUNCATED)}: weeks begin on Monday")
    return call("truncate", day, options=(TRUNCATED[named],))


def _difference(one: Scalar, other: Scalar, last: Scalar) -> Scalar:
    # BigQuery writes DATE_DIFF(end, start, DAY), others DATE_DIFF('day', start, end).
    if isinstance(last.constant, str) and last.constant.upper() == "DAY":
        return call("days_since", one, other)
    if isinstance(one.constant, str) and one.constant.upper() == "DAY":
        return call("days_since", last, other)
    raise ParameterError("differences of dates are in days: DATE_DIFF(end, start, DAY)")


def _named(operation: str, *names: str, arguments: str = "x") -> dict[str, Function]:
    count = arguments.count(",") + 1
    return {name: Function(f"{name}({arguments})", (count, count), _simple(operation)) for name in names}


FUNCTIONS: dict[str, Function] = {
    **_named("absolute", "ABS"),
    **_named("sqrt", "SQRT"),
    **_named("exp", "EXP"),
    **_named("log", "LN"),
    **_named("floor", "FLOOR"),
    **{name: Function(f"{name}(x)", (1, 1), _ceil) for name in ("CEIL", "CEILING")},
    "ROUND": Function("ROUND(x)", (1, 2), _round),
    "TRUNC": Function("TRUNC(x)", (1, 1), lambda value: _by_sign(value, lambda one: call("floor", one))),
    "SIGN": Function("SIGN(x)", (1, 1), _sign),
    "MOD": Function("MOD(a, b)", (2, 2), _modulo),
    "DIV": Function("DIV(a, b)", (2, 2), _quotient),
    **_named("divide", "SAFE_DIVIDE", arguments="a, b"),
    "LEAST": Function("LEAST(a, b)", (2, MANY), _folded("least")),
    "GREATEST": Function("GREATEST(a, b)", (2, MANY), _folded("greatest")),
    **_named("clip", "CLAMP", arguments="x, l, u"),
    "COALESCE": Function("COALESCE(a, b)", (1, MANY), _coalesce),
    "IFNULL": Function("IFNULL(a, b)", (2, 2), _coalesce),
    "NULLIF": Function("NULLIF(a, b)", (2, 2), _null_if),
    **{name: Function(f"{name}(test, a, b)", (3, 3), _if) for name in ("IF", "IIF")},
    **_named("lower", "LOWER"),
    **_named("upper", "UPPER"),
    **_named("strip", "TRIM"),
    **_named("length", "LENGTH", "CHAR_LENGTH", "CHARACTER_LENGTH"),
    **_named("starts_with", "STARTS_WITH", arguments="x, 'abc'"),
    **_named("ends_with", "ENDS_WITH", arguments="x, 'abc'"),
    **_named("contains", "CONTAINS", arguments="x, 'abc'"),
    **{name: Function(f"{name}(x, 1, 3)", (2, 3), _substring) for name in ("SUBSTR", "SUBSTRING")},
    "LEFT": Function("LEFT(x, 3)", (2, 2), _left),
    **_named("year", "YEAR"),
    **_named("month", "MONTH"),
    **_named("day", "DAY"),
    **_named("hour", "HOUR"),
    "DATE": Function("DATE(x)", (1, 1), _as_date),
    **{
        name: Function(f"{name}(x, MONTH)", (2, 2), _truncate, units=True)
        for name in ("DATE_TRUNC", "TIMESTAMP_TRUNC", "DATETIME_TRUNC")
    },
    "DATE_DIFF": Function("DATE_DIFF(end, start, DAY)", (3, 3), _difference, units=True),
}
