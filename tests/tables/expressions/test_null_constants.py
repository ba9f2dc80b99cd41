"""A NULL constant in each argument of each operation: engines give what the reference gives, and filters keep that."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.tables.expressions.agreement import disagreements
from tests.tables.expressions.generating import columns_of
from tests.tables.expressions.nasty import nasty_table

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables.engines import EngineTable, open_source
from viameter.tables.expressions import Call, Column, Expression, Kind, Schema, Type, evaluate, literal, make
from viameter.tables.expressions.typing_rules import RULES

COLUMNS = {
    Kind.INTEGER: ("a", "b"), Kind.REAL: ("x", "y"), Kind.TEXT: ("s", "t"), Kind.BOOLEAN: ("p", "q"),
    Kind.DATE: ("day", "other_day"), Kind.TIMESTAMP: ("moment", "zoned"),
}  # fmt: skip
OPTIONS: dict[str, list[tuple[Any, ...]]] = {
    "cast": [(kind.value,) for kind in Kind],
    "slice": [(0, 2)],
    "truncate": [("month",), ("day",)],
}
NO_OPTIONS: list[tuple[Any, ...]] = [()]
CONSTANTS: dict[Kind, tuple[Any, Any]] = {
    Kind.INTEGER: (1, 60), Kind.REAL: (0.5, 2.5), Kind.TEXT: ("a", "ab"), Kind.BOOLEAN: (True, False),
    Kind.DATE: ("1970-01-01", "2000-02-29"), Kind.TIMESTAMP: ("1970-01-01", "2000-02-29"),
}  # fmt: skip
COMPUTED: dict[Kind, Callable[[], Expression]] = {
    Kind.INTEGER: lambda: literal(1) // 0,
    Kind.REAL: lambda: literal(-1.0).sqrt(),
    Kind.TEXT: lambda: (literal(1) // 0).cast("text"),
    Kind.BOOLEAN: lambda: literal("").cast("boolean"),
    Kind.DATE: lambda: literal("").cast("date"),
    Kind.TIMESTAMP: lambda: literal("").cast("timestamp"),
}
"""NULL as an expression of constants."""


@pytest.fixture(scope="module")
def table(backend: Any, load: Callable[[Any, str, Any], EngineTable]) -> EngineTable:
    return load(backend, "null_constants", nasty_table())


def with_nulls(columns: dict[str, Expression]) -> Iterator[Expression]:
    """Every operation on every kind, with NULL, constants and columns in its places, wherever its rule allows it."""
    for operation, (least, most, _) in RULES.items():
        sizes = {least, min(most, 3)}
        for size, kind, options in itertools.product(sizes, Kind, OPTIONS.get(operation, NO_OPTIONS)):
            column, constants = [columns[name] for name in COLUMNS[kind]], [literal(c, kind) for c in CONSTANTS[kind]]
            nulls = [COMPUTED[kind](), literal(None, kind), *([column[0] // 0] if kind is Kind.INTEGER else [])]
            choices = [[column[i % 2], constants[i == 2], *nulls] for i in range(size)]
            if operation == "case":
                choices[0] = [columns["p"], COMPUTED[Kind.BOOLEAN](), literal(None, Kind.BOOLEAN)]
            for arguments in itertools.product(*choices):
                if any(argument.columns for argument in arguments):
                    try:
                        yield make(operation, arguments, options)
                    except ParameterError:
                        continue


def test_a_null_constant_anywhere_gives_what_the_reference_gives(table: EngineTable) -> None:
    expressions = list(with_nulls(columns_of(Schema.of_ibis(table.ibis_schema))))
    if table.engine.name == "pyspark":  # which takes long to plan them
        expressions = expressions[::10]
    assert disagreements(table, list(nasty_table().to_pylist()), expressions) == []


def test_every_operation_is_tried_with_null() -> None:
    columns = columns_of(Schema.of_ibis(open_source(nasty_table()).ibis_schema))
    tried = {one.operation for one in with_nulls(columns) if isinstance(one, Call)}
    assert tried == set(RULES)


@pytest.mark.parametrize("null", ["''.cast", "1 // 0", "a // 0"])
def test_a_filter_by_a_comparison_with_null_keeps_no_row(null: str) -> None:
    table = vm.open({"u": [1, 2, 3], "v": [1, None, 3]}, unit=vm.per("u", rows=1), budget=vm.zcdp(10**9))
    other = {"''.cast": literal("").cast("integer"), "1 // 0": literal(1) // 0, "a // 0": table["u"] // 0}[null]
    for predicate in (table["v"] == other, other == table["v"], table["v"] != other, ~(table["v"] == other)):
        answer = table.filter(predicate).agg(n=vm.count()).release(spend=vm.zcdp(10**8))
        assert round(answer["n"].value[0]) == 0


@pytest.mark.parametrize("end", [1, -1])
def test_a_divisor_that_is_one_number_or_null_gives_null_where_it_is_null(table: EngineTable, end: int) -> None:
    columns = columns_of(Schema.of_ibis(table.ibis_schema))
    divisor = columns["b"].clip(end, end)
    expressions = [columns["a"] % divisor, columns["a"] // divisor]
    assert disagreements(table, list(nasty_table().to_pylist()), expressions) == []


@pytest.mark.parametrize(
    ("value", "lower", "upper", "expected"),
    [
        (5, None, 3, False), (5, 7, None, False), (5, None, 7, None), (5, 3, None, None), (None, 1, 2, None),
        (5, None, None, None), (5, 5, 5, True), (5, 6, 5, False),
    ],
)  # fmt: skip
def test_between_is_the_three_valued_and_of_two_comparisons(value: Any, lower: Any, upper: Any, expected: Any) -> None:
    x, low, high = (Column(name, Type(Kind.INTEGER)) for name in ("x", "low", "high"))
    assert evaluate(x.between(low, high), {"x": value, "low": lower, "high": upper}) is expected
