"""Agreement of an engine with the reference: the values of many expressions by row, and where they differ."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tests.tables.expressions.generating import APPROXIMATE

from viameter.tables.engines import EngineTable, run
from viameter.tables.expressions import Call, Expression, Kind, evaluate, to_ibis


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
