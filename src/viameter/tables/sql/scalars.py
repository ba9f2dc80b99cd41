"""Scalar expressions: what SQL computes of one row, as documents of `expressions.document`.

Where the columns' types are known, every part is made as an expression at once, so that an error is at its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.expressions import Column, Expression, Kind, Schema, literal, make, to_json
from viameter.tables.expressions.building import MAY_BE_NULL
from viameter.tables.expressions.nodes import DEEPEST, MOST_NODES
from viameter.tables.formula import Formula, Operand
from viameter.tables.sql.functions import AGGREGATES, FUNCTIONS, unknown_function
from viameter.tables.sql.places import Text

DEEPEST_READ = DEEPEST - 4
"""How deeply operators may be nested; a document may be a little deeper, where one operator is several operations."""
BALANCED = 16
"""From how many parts on AND and OR are written as a balanced tree, which is less deep and means the same."""
UNTYPED: Any = None
KINDS = {
    "INT": Kind.INTEGER, "BIGINT": Kind.INTEGER, "SMALLINT": Kind.INTEGER, "TINYINT": Kind.INTEGER,
    "FLOAT": Kind.REAL, "DOUBLE": Kind.REAL, "BOOLEAN": Kind.BOOLEAN, "TEXT": Kind.TEXT, "VARCHAR": Kind.TEXT,
    "DATE": Kind.DATE, "TIMESTAMP": Kind.TIMESTAMP,
}  # fmt: skip
BINARY = {
    "EQ": "eq", "NEQ": "ne", "LT": "lt", "LTE": "le", "GT": "gt", "GTE": "ge",
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide",
}  # fmt: skip
NOT_HERE = {
    "Window": "window functions (OVER) give a number to each row; ask aggregates with GROUP BY instead",
    "Subquery": "a subquery in an expression is not read; join a public table, or write a subquery after FROM",
    "Select": "a subquery in an expression is not read; join a public table, or write a subquery after FROM",
    "Exists": "EXISTS is not read; join a public table instead",
    "Star": "rows are never shown: name columns, and ask aggregates of them, as in COUNT(*)",
    "ILike": "ILIKE is not read: write LOWER(x) LIKE 'abc%'",
    "DPipe": "text cannot be joined together here; group by both columns instead",
    "Concat": "text cannot be joined together here; group by both columns instead",
    "Interval": "intervals are not read: compare with a date, or DATE_DIFF(a, b, DAY) with a number of days",
    "Array": "a list stands only after IN, in UNNEST and in OPTIONS",
    "Bracket": "[...] stands only after APPROX_QUANTILES, as in APPROX_QUANTILES(x, 2)[OFFSET(1)]",
    "Tuple": "a pair of values is not read: compare them one by one, joined by AND",
    "Distinct": "DISTINCT stands only in COUNT(DISTINCT ...) of the privacy unit's column",
    "Escape": "ESCAPE is not read",
    "Kwarg": "arguments by name (=>) stand only in aggregates: AVG(x, contribution_bounds_per_row => (0, 240))",
    "Filter": "FILTER stands only after an aggregate",
    "Placeholder": "parameters (? and :name) are not read: write the value",
    "Parameter": "parameters (@name) are not read: write the value",
}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value of a row: its document, how large that is, and the expression where types are known."""

    document: Any
    expression: Expression | None = None
    nodes: int = 1
    depth: int = 1

    @property
    def constant(self) -> Any:
        """The value of a constant; None for what is none, and for NULL."""
        return self.document.get("value")

    @property
    def is_constant(self) -> bool:
        """Whether it is a constant, NULL among them."""
        return "value" in self.document

    @property
    def is_null(self) -> bool:
        """Whether it is NULL, as it was written."""
        return self.is_constant and self.constant is None

    @property
    def column(self) -> str | None:
        """The name of the column that it is; None where it is more than that."""
        name: str | None = self.document.get("column")
        return name

    @property
    def operand(self) -> Operand:
        """It as aggregates take it: a column by its name, or a formula."""
        return self.column if self.column is not None else self.formula

    @property
    def formula(self) -> Formula:
        """It as filters and derived columns have it."""
        return Formula.of(self.document if self.expression is None else to_json(self.expression))


NULL = Scalar({"value": None})


def column(name: str, schema: Schema | None) -> Scalar:
    """A column of a table, whose columns may not be known."""
    return Scalar({"column": name}, UNTYPED if schema is None else Column(name, schema.require(name)))


def constant(value: Any, kind: Kind | None = None) -> Scalar:
    """A public constant."""
    made = literal(value, kind)
    return Scalar(to_json(made), made)


def call(operation: str, *arguments: Scalar, options: tuple[Any, ...] = ()) -> Scalar:
    """An operation on scalars; ParameterError where it does not fit, as far as types are known."""
    if any(one.is_null for one in arguments) and operation not in MAY_BE_NULL:
        raise ParameterError("a comparison or computation with NULL is NULL on every row: write IS NULL to ask for it")
    nodes, depth = 1 + sum(one.nodes for one in arguments), 1 + max(one.depth for one in arguments)
    if nodes > MOST_NODES or depth > DEEPEST:
        raise ParameterError(f"the expression is too large: at most {MOST_NODES} parts, {DEEPEST} deep, can be read")
    document = {"operation": operation, "arguments": [one.document for one in arguments]}
    if options:
        document["options"] = list(options)
    made = None
    if all(one.expression is not None or one.is_null for one in arguments):
        made = make(operation, [one.expression for one in arguments], options)
    return Scalar(document, made, nodes, depth)


def case(*parts: Scalar) -> Scalar:
    """Conditions and values in turn, and then what to take otherwise."""
    return call("case", *parts)


class Scalars:
    """Reads expressions; `leaf` is asked first for each part, and resolves the columns."""

    def __init__(self, text: Text, leaf: Callable[[Any, int], Scalar | None]) -> None:
        self.text, self.leaf = text, leaf

    def read(self, node: Any, depth: int = 0) -> Scalar:
        """The scalar of a node of the tree."""
        if depth > DEEPEST_READ:
            raise self.text.at(node, f"the expression is nested too deeply: at most {DEEPEST_READ} operators")
        found = self.leaf(node, depth)
        if found is not None:
            return found
        name = type(node).__name__
        if name == "Column" and type(node.this).__name__ == "Star":
            name = "Star"
        reader = getattr(self, f"_read_{name.lower()}", None)
        if name in BINARY:
            reader = self._binary
        if reader is None:
            raise self.text.at(node, NOT_HERE.get(name, f"{name.upper()} is not read here"))
        with self.text.blaming(node):
            made: Scalar = reader(node, depth + 1)
            return made

    def only(self, node: Any, *names: str) -> None:
        """Refuse whatever else is written there: nothing is left out silently."""
        for name, value in node.args.items():
            if value and name not in names:
                raise self.text.at(node, f"{name.strip('_').upper()} is not read in this place; leave it out")

    def _binary(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this", "expression")
        return call(BINARY[type(node).__name__], self.read(node.this, depth), self.read(node.expression, depth))

    def _read_paren(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this")
        return self.read(node.this, depth)

    def _read_literal(self, node: Any, depth: int) -> Scalar:
        if node.is_string:
            return constant(node.this)
        return constant(int(node.this) if node.this.isdecimal() else float(node.this))

    def _read_boolean(self, node: Any, depth: int) -> Scalar:
        return constant(bool(node.this))

    def _read_null(self, node: Any, depth: int) -> Scalar:
        return NULL

    def _read_neg(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this")
        found = self.read(node.this, depth)
        is_number = found.is_constant and type(found.constant) in (int, float)
        return constant(-found.constant) if is_number else call("negate", found)

    def _read_not(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this")
        return call("not", self.read(node.this, depth))

    def _read_and(self, node: Any, depth: int) -> Scalar:
        parts, open_parts = [], [node]
        while open_parts:
            part = open_parts.pop()
            if type(part) is type(node):
                self.only(part, "this", "expression")
                open_parts += [part.expression, part.this]
            else:
                parts.append(self.read(part, depth))
        return _joined("and" if type(node).__name__ == "And" else "or", parts)

    _read_or = _read_and

    def _read_mod(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this", "expression")
        return FUNCTIONS["MOD"].make(self.read(node.this, depth), self.read(node.expression, depth))

    def _read_in(self, node: Any, depth: int) -> Scalar:
        if node.args.get("query"):
            raise self.text.at(node, "IN (SELECT ...) is not read: list the values, or join a public table")
        self.only(node, "this", "expressions")
        subject, values = self.read(node.this, depth), [self.read(one, depth) for one in node.expressions]
        if any(value.is_null for value in values):
            raise ParameterError("nothing is equal to NULL: leave it out of the list, and write OR ... IS NULL")
        if all(value.is_constant for value in values):
            return call("is_in", subject, *values)
        return _joined("or", [call("eq", subject, value) for value in values])

    def _read_between(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this", "low", "high")
        return call("between", *(self.read(node.args[name], depth) for name in ("this", "low", "high")))

    def _read_is(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this", "expression")
        subject, other = self.read(node.this, depth), self.read(node.expression, depth)
        if other.is_null:
            return call("is_null", subject)
        if other.constant is True:
            return call("fill_null", subject, constant(False))
        if other.constant is False and other.is_constant:
            return call("fill_null", call("not", subject), constant(False))
        raise ParameterError("IS stands before NULL, TRUE and FALSE: write = to compare")

    def _read_nullsafeeq(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this", "expression")
        one, other = self.read(node.this, depth), self.read(node.expression, depth)
        both = call("and", call("is_null", one), call("is_null", other))
        return call("fill_null", call("eq", one, other), both)

    def _read_nullsafeneq(self, node: Any, depth: int) -> Scalar:
        return call("not", self._read_nullsafeeq(node, depth))

    def _read_like(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this", "expression")
        subject, pattern = self.read(node.this, depth), self.read(node.expression, depth)
        return _like(subject, pattern)

    def _read_case(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this", "ifs", "default")
        subject = self.read(node.this, depth) if node.this is not None else None
        parts: list[Scalar] = []
        for arm in node.args["ifs"]:
            test, value = self.read(arm.this, depth), self.read(arm.args["true"], depth)
            parts += [test if subject is None else call("eq", subject, test), value]
        default = node.args.get("default")
        return case(*parts, NULL if default is None else self.read(default, depth))

    def _read_cast(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this", "to", "safe", "requires_string")
        kind = self.kind(node.args["to"])
        value = self.read(node.this, depth)
        if value.is_constant and isinstance(value.constant, str) and kind in (Kind.DATE, Kind.TIMESTAMP):
            return constant(value.constant, kind)
        return NULL if value.is_null else call("cast", value, options=(kind.value,))

    _read_trycast = _read_cast

    def kind(self, node: Any) -> Kind:
        """What a type of SQL is here."""
        name = getattr(node.this, "value", str(node.this))
        if name not in KINDS or node.expressions or node.args.get("nested"):
            raise self.text.at(
                node.parent or node,
                "types to cast to are INT64, FLOAT64, BOOL, STRING, DATE and TIMESTAMP, without sizes",
            )
        return KINDS[name]

    def _read_extract(self, node: Any, depth: int) -> Scalar:
        self.only(node, "this", "expression")
        part = node.this.name.upper()
        if part not in EXTRACTS or node.this.expressions:
            raise ParameterError(f"EXTRACT is of {', '.join(EXTRACTS)}")
        return EXTRACTS[part](self.read(node.expression, depth))

    def _read_anonymous(self, node: Any, depth: int) -> Scalar:
        name = node.name.upper()
        if name in AGGREGATES:
            raise ParameterError(
                f"{name} is of a group: it stands in SELECT, HAVING and ORDER BY, and not in an aggregate"
            )
        if name not in FUNCTIONS:
            raise ParameterError(unknown_function(name))
        function = FUNCTIONS[name]
        least, most = function.arity
        if not least <= len(node.expressions) <= most:
            raise ParameterError(f"{name} is written as {function.written}")
        return function.make(*(self.read(one, depth) for one in self._arguments(node, function.units)))

    def _arguments(self, node: Any, units: bool) -> list[Any]:
        """Arguments, the last of which is a word such as MONTH where a function takes one and has no unit as text."""
        given = list(node.expressions)
        if not units or (type(given[0]).__name__ == "Literal" and given[0].is_string):
            return given
        from sqlglot import exp

        last = given[-1]
        is_week = type(last).__name__ == "Anonymous" and last.name.upper() == "WEEK" and len(last.expressions) == 1
        if is_week:
            given[-1] = exp.Literal.string(f"WEEK({last.expressions[0].name})")
        elif type(last).__name__ == "Column" and not last.table and last.name.upper() in UNITS:
            given[-1] = exp.Literal.string(last.name)
        return given


UNITS = ("DAY", "WEEK", "ISOWEEK", "MONTH", "QUARTER", "YEAR", "ISOYEAR", "HOUR", "MINUTE", "SECOND")


def _weekday(part: str) -> Callable[[Scalar], Scalar]:
    # Here Monday is 0. ISODOW counts from 1, Monday; DOW from 0, Sunday; DAYOFWEEK, of BigQuery, from 1, Sunday.
    def made(day: Scalar) -> Scalar:
        found = call("weekday", day)
        if part != "ISODOW":
            found = call("modulo", call("add", found, constant(1)), constant(7))
        return found if part == "DOW" else call("add", found, constant(1))

    return made


def _quarter(day: Scalar) -> Scalar:
    months = call("subtract", call("month", day), constant(1))
    return call("add", call("floor_divide", months, constant(3)), constant(1))


EXTRACTS: dict[str, Callable[[Scalar], Scalar]] = {
    **{part: partial(call, part.lower()) for part in ("YEAR", "MONTH", "DAY", "HOUR")},
    "QUARTER": _quarter,
    **{part: _weekday(part) for part in ("DAYOFWEEK", "DOW", "ISODOW")},
    "DATE": lambda moment: call("cast", moment, options=(Kind.DATE.value,)),
}


def _joined(operation: str, parts: list[Scalar]) -> Scalar:
    if len(parts) <= BALANCED:
        return reduce(lambda one, other: call(operation, one, other), parts)
    while len(parts) > 1:
        pairs = [parts[place : place + 2] for place in range(0, len(parts), 2)]
        parts = [call(operation, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]


def _like(subject: Scalar, pattern: Scalar) -> Scalar:
    written = pattern.constant
    hint = "patterns are 'abc%', '%abc', '%abc%' and 'abc%xyz', without _ and \\"
    if not isinstance(written, str) or "_" in written or "\\" in written:
        raise ParameterError(hint)
    first, *middle, last = ["", written] if "%" not in written else written.split("%")
    if "%" not in written:
        return call("eq", subject, pattern)
    if len(middle) == 1 and not first and not last and middle[0]:
        return call("contains", subject, constant(middle[0]))
    if middle or not (first or last):
        raise ParameterError(hint)
    parts = [call("starts_with", subject, constant(first))] if first else []
    parts += [call("ends_with", subject, constant(last))] if last else []
    if len(parts) == 2:  # the two must not overlap
        parts.append(call("ge", call("length", subject), constant(len(first) + len(last))))
    return _joined("and", parts)
