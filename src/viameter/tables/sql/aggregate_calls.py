"""Aggregates as SQL writes them: COUNT, SUM, AVG, VAR_POP and quantiles, with bounds that values are clipped to."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import exact
from viameter.errors import ParameterError
from viameter.tables.aggregates import WORDS, Aggregate, Count, CountUnits
from viameter.tables.expressions import Kind
from viameter.tables.expressions.nullability import never_null
from viameter.tables.sql.functions import AGGREGATES, NO_AGGREGATES
from viameter.tables.sql.places import Text
from viameter.tables.sql.scalars import NULL, Scalar, call, case, constant
from viameter.tables.sql.scopes import Scope

BOUNDS, BOUNDS_OF_SUMS = "contribution_bounds_per_row", "contribution_bounds_per_group"
OF_NUMBERS = {
    "SUM": "sum", "AVG": "mean", "MEAN": "mean", "VAR_POP": "variance", "VARIANCE": "variance", "VAR": "variance",
    "STDDEV_POP": "std", "STDDEV": "std", "STD": "std",
}  # fmt: skip
QUANTILES = (
    "APPROX_QUANTILE", "APPROX_PERCENTILE", "PERCENTILE_CONT", "PERCENTILE_DISC", "QUANTILE", "QUANTILE_CONT",
    "QUANTILE_DISC",
)  # fmt: skip
WRAPPERS = ("Filter", "WithinGroup", "Bracket")


def is_aggregate(node: Any) -> bool:
    """Whether a node is the call of an aggregate, one that is refused among them."""
    while type(node).__name__ in WRAPPERS:
        node = node.this
    return type(node).__name__ == "Anonymous" and node.name.upper() in (*AGGREGATES, *NO_AGGREGATES)


def default_name(node: Any) -> str:
    """What an aggregate is called that was given no name: `count`, `avg_wait`."""
    while type(node).__name__ in WRAPPERS:
        node = node.this
    first = node.expressions[0] if node.expressions else None
    of = first.name if first is not None and type(first).__name__ == "Column" else ""
    return f"{node.name.lower()}_{of}" if of else str(node.name.lower())


@dataclass(frozen=True, slots=True)
class _Call:
    """The parts of a call: `PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) FILTER (WHERE late)`."""

    name: str
    arguments: tuple[Any, ...]
    bounds: Any = None
    test: Any = None
    place: Any = None
    """The number behind a list of quantiles: `[OFFSET(1)]`."""
    ordered: Any = None


class AggregateCalls:
    """Reads aggregates of the rows of a scope."""

    def __init__(self, text: Text, scope: Scope) -> None:
        self.text, self.scope, self.scalars = text, scope, scope.scalars(text)

    def read(self, node: Any) -> Aggregate:
        """The aggregate of a node."""
        with self.text.blaming(node):
            asked = self._parts(node)
            if asked.name in NO_AGGREGATES:
                raise ParameterError(NO_AGGREGATES[asked.name])
            if asked.place is not None and asked.name != "APPROX_QUANTILES":
                raise ParameterError("[...] stands only after APPROX_QUANTILES")
            if asked.ordered is not None and asked.name not in QUANTILES:
                raise ParameterError("WITHIN GROUP stands only after PERCENTILE_CONT and PERCENTILE_DISC")
            test = None if asked.test is None else self.scalars.read(asked.test)
            if asked.name in ("COUNT", "COUNTIF", "COUNT_IF"):
                return self._count(node, asked, test)
            return self._of_numbers(node, asked, test)

    def _parts(self, node: Any) -> _Call:
        found: dict[str, Any] = {}
        while type(node).__name__ in WRAPPERS:
            kind = type(node).__name__
            if kind == "Filter":
                self.scalars.only(node, "this", "expression")
                key, value = "test", node.expression.this
            elif kind == "WithinGroup":
                self.scalars.only(node, "this", "expression")
                key, value = "ordered", node.expression
            else:
                self.scalars.only(node, "this", "expressions", "offset", "safe")
                key, value = "place", node.expressions
            if key in found:
                raise self.text.at(node, "it is said twice")
            found[key] = value
            node = node.this
        arguments = []
        for one in node.expressions:
            if type(one).__name__ != "Kwarg":
                arguments.append(one)
            elif one.this.name.lower() == BOUNDS and "bounds" not in found:
                found["bounds"] = one.expression
            elif one.this.name.lower() == BOUNDS_OF_SUMS:
                raise self.text.at(one, f"rows are clipped here, not sums of them: write {BOUNDS} => (l, u)")
            else:
                raise self.text.at(one, f"the argument by name is {BOUNDS} => (l, u), once")
        return _Call(node.name.upper(), tuple(arguments), **found)

    def _count(self, node: Any, asked: _Call, test: Scalar | None) -> Aggregate:
        if asked.bounds is not None:
            raise ParameterError(
                "a count has no bounds: OPTIONS(max_rows_per_group = 5) limits what one unit adds to it"
            )
        if len(asked.arguments) != 1:
            raise ParameterError("a count is of one thing: COUNT(*), COUNT(x), COUNT(DISTINCT unit) or COUNTIF(x > 5)")
        (argument,) = asked.arguments
        if asked.name != "COUNT":
            return self._rows_where([test, self.scalars.read(argument)])
        if type(argument).__name__ == "Star":
            self.scalars.only(argument)
            return Count() if test is None else self._rows_where([test])
        if type(argument).__name__ == "Distinct":
            return self._count_units(argument, test)
        value = self.scalars.read(argument)
        if value.is_null:
            raise ParameterError("no row has a value in NULL")
        if value.is_constant or self._is_never_null(value):
            return Count() if test is None else self._rows_where([test])
        return self._rows_where([test, call("not", call("is_null", value))])

    def _is_never_null(self, value: Scalar) -> bool:
        schema = self.scope.schema
        return value.expression is not None and schema is not None and never_null(value.expression, schema.required)

    def _rows_where(self, tests: list[Scalar | None]) -> Aggregate:
        """How many rows there are for which all is true: the sum of what is 1 there, and 0 or NULL elsewhere."""
        first, *others = [one for one in tests if one is not None]
        for other in others:
            first = call("and", first, other)
        if first.expression is not None and first.expression.type.kind is not Kind.BOOLEAN:
            raise ParameterError(f"expected a condition, as in x > 5: this is {first.expression.type.kind.value}")
        return WORDS["sum"].make(first.formula, bounds=(0, 1))

    def _count_units(self, node: Any, test: Scalar | None) -> Aggregate:
        self.scalars.only(node, "expressions")
        only = node.expressions[0] if len(node.expressions) == 1 else None
        unit = self.scope.unit
        if not unit:
            raise ParameterError(
                "which column names the unit? Write OPTIONS(privacy_unit_column = ...), and keep it in subqueries"
            )
        if type(only).__name__ != "Column" or self.scope.name_of(only, self.text) not in unit:
            raise ParameterError(
                f"distinct values are counted of the privacy unit alone, {' or '.join(sorted(unit))}: group by the "
                "column and count"
            )
        if test is not None:
            raise ParameterError("units are counted of all rows: write the condition in WHERE")
        return CountUnits()

    def _of_numbers(self, node: Any, asked: _Call, test: Scalar | None) -> Aggregate:
        arguments, options = self._quantile(asked) if asked.name not in OF_NUMBERS else (asked.arguments, {})
        if len(arguments) != 1 or type(arguments[0]).__name__ in ("Star", "Distinct"):
            raise ParameterError(
                f"{asked.name} is of one column or expression, which is named first; DISTINCT is not read"
            )
        value, bounds = self._bounded(arguments[0], asked)
        if test is not None:
            value = case(test, value, NULL)
        word = OF_NUMBERS.get(asked.name, "quantile")
        return WORDS[word].make(value.operand, bounds=bounds, **options)

    def _quantile(self, asked: _Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What a quantile is of, and which one it is."""
        if asked.name == "MEDIAN":
            return asked.arguments, {"q": Fraction(1, 2)}
        if asked.name == "APPROX_QUANTILES":
            return asked.arguments[:1], {"q": self._part(asked)}
        if asked.ordered is not None:
            one = asked.ordered.expressions[0]
            if len(asked.arguments) != 1 or len(asked.ordered.expressions) != 1 or one.args.get("desc"):
                raise ParameterError(f"write {asked.name}(0.9) WITHIN GROUP (ORDER BY x), in ascending order")
            return (one.this,), {"q": self._number(asked.arguments[0])}
        if len(asked.arguments) != 2:
            raise ParameterError(f"which quantile? Write {asked.name}(x, 0.9, {BOUNDS} => (0, 240))")
        return asked.arguments[:1], {"q": self._number(asked.arguments[1])}

    def _part(self, asked: _Call) -> Fraction:
        """APPROX_QUANTILES(x, 100)[OFFSET(90)] is the quantile 90/100."""
        hint = "write APPROX_QUANTILES(x, 100)[OFFSET(90)]: all of them at once are not read"
        place = asked.place
        if place is None or len(place) != 1 or len(asked.arguments) != 2:
            raise ParameterError(hint)
        (one,) = place
        first = 0
        if type(one).__name__ == "Anonymous":
            known = {"OFFSET": 0, "SAFE_OFFSET": 0, "ORDINAL": 1, "SAFE_ORDINAL": 1}
            if one.name.upper() not in known or len(one.expressions) != 1:
                raise ParameterError(hint)
            first, one = known[one.name.upper()], one.expressions[0]
        parts, number = self._number(asked.arguments[1]), self._number(one) - first
        if parts.denominator != 1 or number.denominator != 1 or not parts >= 1 or not 0 <= number <= parts:
            raise ParameterError(hint)
        return number / parts

    def _number(self, node: Any) -> Fraction:
        """A number that is written out, to its last digit."""
        sign = 1
        while type(node).__name__ in ("Neg", "Paren"):
            sign, node = -sign if type(node).__name__ == "Neg" else sign, node.this
        if type(node).__name__ != "Literal" or node.is_string or len(node.this) > 60:
            raise self.text.at(node, "expected a number that is written out")
        constant(float(node.this))  # refuses what no float holds, before it is made exact
        return sign * exact(node.this)

    def _bounded(self, node: Any, asked: _Call) -> tuple[Scalar, tuple[Fraction, Fraction]]:
        """What is asked about, and between which bounds: those that are said, or those it is clipped to."""
        if asked.bounds is not None:
            pair = asked.bounds
            if type(pair).__name__ != "Tuple" or len(pair.expressions) != 2:
                raise self.text.at(pair, f"expected two numbers, as in {BOUNDS} => (0, 240)")
            return self.scalars.read(node), (self._number(pair.expressions[0]), self._number(pair.expressions[1]))
        clipped = self._clipped(node)
        if clipped is None:
            shown = self.text.at(node, "").text
            raise ParameterError(
                "between which bounds? Values are clipped to them, so that one row can only matter so much: write "
                f"{asked.name}({shown}, {'0.9, ' if asked.name in QUANTILES else ''}{BOUNDS} => (l, u)), or "
                f"{asked.name}(CLAMP({shown}, l, u){', 0.9' if asked.name in QUANTILES else ''})"
            )
        inner, lower, upper = clipped
        return self.scalars.read(inner), (lower, upper)

    def _clipped(self, node: Any) -> tuple[Any, Fraction, Fraction] | None:
        """What stands in CLAMP(x, l, u), LEAST(GREATEST(x, l), u) or GREATEST(LEAST(x, u), l), with the bounds."""
        while type(node).__name__ == "Paren":
            node = node.this
        if type(node).__name__ != "Anonymous":
            return None
        name, given = node.name.upper(), node.expressions
        if name == "CLAMP" and len(given) == 3:
            return given[0], self._number(given[1]), self._number(given[2])
        pairs: dict[str, str] = {"LEAST": "GREATEST", "GREATEST": "LEAST"}
        if name not in pairs or len(given) != 2:
            return None
        outer = self._with_number(given)
        if outer is None or type(outer[0]).__name__ != "Anonymous" or outer[0].name.upper() != pairs[name]:
            return None
        inner = outer[0]
        within = self._with_number(inner.expressions) if len(inner.expressions) == 2 else None
        if within is None:
            return None
        lower, upper = (within[1], outer[1]) if name == "LEAST" else (outer[1], within[1])
        return within[0], lower, upper

    def _with_number(self, given: list[Any]) -> tuple[Any, Fraction] | None:
        """Of two arguments, in either order, the one that is no number, and the number."""
        numbers = [_is_number(one) for one in given]
        if numbers == [False, True]:
            return given[0], self._number(given[1])
        return (given[1], self._number(given[0])) if numbers == [True, False] else None


def _is_number(node: Any) -> bool:
    while type(node).__name__ in ("Neg", "Paren"):
        node = node.this
    return type(node).__name__ == "Literal" and not node.is_string
