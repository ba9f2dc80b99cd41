"""Operators and methods that every expression has; each makes another expression."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from viameter.errors import ParameterError

if TYPE_CHECKING:
    from viameter.tables.expressions.nodes import Expression
    from viameter.tables.expressions.types import Kind


def _make(operation: str, *arguments: Any, options: tuple[Any, ...] = ()) -> Expression:
    from viameter.tables.expressions.building import make

    return make(operation, arguments, options)


class Methods:
    """What can be done with an expression."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's numbers on the left leave the operation to the expression.
    __hash__ = None  # type: ignore[assignment]  # Use `key`: `==` makes an expression.

    def __bool__(self) -> bool:
        raise ParameterError(
            f"{self!r} has a value for each row and is not simply true or false; "
            "join conditions by & | ~ with parentheses instead of and, or, not; use between for chains"
        )

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return _make("eq", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return _make("ne", self, other)

    def __lt__(self, other: Any) -> Expression:
        return _make("lt", self, other)

    def __le__(self, other: Any) -> Expression:
        return _make("le", self, other)

    def __gt__(self, other: Any) -> Expression:
        return _make("gt", self, other)

    def __ge__(self, other: Any) -> Expression:
        return _make("ge", self, other)

    def __and__(self, other: Any) -> Expression:
        return _make("and", self, other)

    def __rand__(self, other: Any) -> Expression:
        return _make("and", other, self)

    def __or__(self, other: Any) -> Expression:
        return _make("or", self, other)

    def __ror__(self, other: Any) -> Expression:
        return _make("or", other, self)

    def __invert__(self) -> Expression:
        return _make("not", self)

    def __add__(self, other: Any) -> Expression:
        return _make("add", self, other)

    def __radd__(self, other: Any) -> Expression:
        return _make("add", other, self)

    def __sub__(self, other: Any) -> Expression:
        return _make("subtract", self, other)

    def __rsub__(self, other: Any) -> Expression:
        return _make("subtract", other, self)

    def __mul__(self, other: Any) -> Expression:
        return _make("multiply", self, other)

    def __rmul__(self, other: Any) -> Expression:
        return _make("multiply", other, self)

    def __truediv__(self, other: Any) -> Expression:
        return _make("divide", self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return _make("divide", other, self)

    def __floordiv__(self, other: Any) -> Expression:
        return _make("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Expression:
        return _make("floor_divide", other, self)

    def __mod__(self, other: Any) -> Expression:
        return _make("modulo", self, other)

    def __rmod__(self, other: Any) -> Expression:
        return _make("modulo", other, self)

    def __neg__(self) -> Expression:
        return _make("negate", self)

    def __abs__(self) -> Expression:
        return _make("absolute", self)

    def is_null(self) -> Expression:
        """Whether there is no value."""
        return _make("is_null", self)

    def is_in(self, values: Iterable[Any]) -> Expression:
        """Whether the value is one of these; NULL where it is NULL."""
        if isinstance(values, str):
            raise ParameterError(f"is_in({values!r}): give a list of values, such as [{values!r}]")
        # A set has another order in every process, and the same question should have the same text.
        listed = sorted(values, key=repr) if isinstance(values, set | frozenset) else values
        return _make("is_in", self, *listed)

    def between(self, lower: Any, upper: Any) -> Expression:
        """Whether lower <= value <= upper, both ends included."""
        return _make("between", self, lower, upper)

    def fill_null(self, value: Any) -> Expression:
        """This value instead of NULL."""
        return _make("fill_null", self, value)

    def clip(self, lower: Any = None, upper: Any = None) -> Expression:
        """The nearest value between two constants; NULL stays NULL."""
        if lower is None and upper is None:
            raise ParameterError("clip needs a lower or an upper end")
        if lower is None:
            return _make("least", self, upper)
        if upper is None:
            return _make("greatest", self, lower)
        return _make("clip", self, lower, upper)

    def floor(self) -> Expression:
        """The greatest INTEGER that is not above; NULL beyond 64 bits."""
        return _make("floor", self)

    def round_to(self, multiple: Any = 1) -> Expression:
        """The nearest multiple of a positive constant; halves go up."""
        return _make("round_to", self, multiple)

    def bin(self, edges: Iterable[Any]) -> Expression:
        """The index i with edges[i] <= value < edges[i + 1] (the last bin has its upper edge too); NULL outside."""
        return _make("bin", self, *edges)

    def sqrt(self) -> Expression:
        """The square root; NULL below 0."""
        return _make("sqrt", self)

    def log(self) -> Expression:
        """The natural logarithm; NULL at 0 and below."""
        return _make("log", self)

    def exp(self) -> Expression:
        """The exponential; NULL above exp(114), 0 below exp(-114)."""
        return _make("exp", self)

    def cast(self, kind: Kind | str) -> Expression:
        """The value as another kind: "integer", "real", "boolean", "text", "date" or "timestamp"."""
        from viameter.tables.expressions.building import kind_named

        return _make("cast", self, options=(kind_named(kind).value,))

    def year(self) -> Expression:
        """The year of a date or timestamp."""
        return _make("year", self)

    def month(self) -> Expression:
        """The month, 1 to 12."""
        return _make("month", self)

    def day(self) -> Expression:
        """The day of the month, 1 to 31."""
        return _make("day", self)

    def weekday(self) -> Expression:
        """The day of the week, 0 (Monday) to 6 (Sunday)."""
        return _make("weekday", self)

    def hour(self) -> Expression:
        """The hour of a timestamp, 0 to 23, in UTC."""
        return _make("hour", self)

    def days_since(self, other: Any) -> Expression:
        """Whole days from another date to this one, negative if it is later."""
        return _make("days_since", self, other)

    def truncate(self, unit: str) -> Expression:
        """The DATE of the first day of the "day", "week" (Monday), "month" or "year"."""
        return _make("truncate", self, options=(unit,))

    def lower(self) -> Expression:
        """The letters A to Z as a to z; others stay, since engines disagree on them."""
        return _make("lower", self)

    def upper(self) -> Expression:
        """The letters a to z as A to Z; others stay, since engines disagree on them."""
        return _make("upper", self)

    def strip(self) -> Expression:
        """The text without spaces, tabs and line ends of ASCII at both ends."""
        return _make("strip", self)

    def length(self) -> Expression:
        """How many characters (code points) there are."""
        return _make("length", self)

    def starts_with(self, text: str) -> Expression:
        """Whether it starts with this constant."""
        return _make("starts_with", self, text)

    def ends_with(self, text: str) -> Expression:
        """Whether it ends with this constant."""
        return _make("ends_with", self, text)

    def contains(self, text: str) -> Expression:
        """Whether this constant occurs in it."""
        return _make("contains", self, text)

    def slice(self, start: int, stop: int) -> Expression:
        """The characters from start to before stop, both counted from 0 and not negative, as in Python."""
        return _make("slice", self, options=(start, stop))
