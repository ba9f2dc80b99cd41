"""Every engine gives what the reference gives, on rows chosen to hurt, and none fails."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.query.expressions.generating import APPROXIMATE, Trees, columns_of, single_operations
from tests.query.expressions.nasty import nasty_table

from viameter.query.engines import EngineTable, run
from viameter.query.expressions import Call, Expression, Kind, Schema, evaluate, to_ibis

SMALL_TREES, LARGE_TREES = 150, 40


@pytest.fixture(scope="module")
def table(backend: Any, load: Callable[[Any, str, Any], EngineTable]) -> EngineTable:
    return load(backend, "nasty_rows", nasty_table())


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return list(nasty_table().to_pylist())


def results(table: EngineTable, expressions: list[Expression]) -> Iterator[tuple[Expression, list[Any]]]:
    """The value of each expression by row; many expressions to a query."""
    for start in range(0, len(expressions), 1000):
        part = expressions[start : start + 1000]
        named = {f"e{index}": to_ibis(expression, table.expression) for index, expression in enumerate(part)}
        answer = run(table, table.expression.select("row", **named))
        answer.sort(key=lambda row: row["row"])
        for index, expression in enumerate(part):
            yield expression, [row[f"e{index}"] for row in answer]


def agree(expression: Expression, got: Any, expected: Any) -> bool:
    if got is None or expected is None:
        return got is expected
    if expression.type.kind is Kind.REAL and isinstance(expression, Call) and expression.operation in APPROXIMATE:
        return math.isclose(got, expected, rel_tol=1e-12)
    return type(got) is type(expected) and bool(got == expected)


def disagreements(table: EngineTable, rows: list[dict[str, Any]], expressions: list[Expression]) -> list[str]:
    found = []
    for expression, values in results(table, expressions):
        for row, got in zip(rows, values, strict=True):
            expected = evaluate(expression, row)
            if not agree(expression, got, expected):
                needed = {name: row[name] for name in expression.columns}
                found.append(f"{expression!r} at {needed}: {got!r} instead of {expected!r}")
    return found


def test_every_operation_gives_on_every_engine_what_the_reference_gives(
    table: EngineTable, rows: list[dict[str, Any]]
) -> None:
    expressions = single_operations(columns_of(Schema.of_ibis(table.ibis_schema)))
    assert disagreements(table, rows, expressions) == []


def test_random_trees_give_on_every_engine_what_the_reference_gives(
    table: EngineTable, rows: list[dict[str, Any]]
) -> None:
    trees = Trees(columns_of(Schema.of_ibis(table.ibis_schema)), seed=7)
    expressions = [trees.some(1 + index % 2) for index in range(SMALL_TREES)]
    if table.engine != "pyspark":  # which takes long to plan them
        expressions += [trees.some(3) for _ in range(LARGE_TREES)]
    assert disagreements(table, rows, expressions) == []
