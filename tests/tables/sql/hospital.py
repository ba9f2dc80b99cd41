"""A table of visits to ask in SQL: its schema, rows with NULLs, and the same rows on DuckDB."""

from __future__ import annotations

import math
import random
from datetime import date, datetime, timedelta
from typing import Any

import duckdb

from viameter.tables.expressions import Kind, Schema, Type, evaluate
from viameter.tables.sql import read_sql
from viameter.tables.steps import Derive, Filter

SCHEMA = Schema(
    {
        "patient": Type(Kind.TEXT),
        "ward": Type(Kind.TEXT),
        "wait": Type(Kind.INTEGER),
        "beds": Type(Kind.INTEGER),
        "cost": Type(Kind.REAL),
        "late": Type(Kind.BOOLEAN),
        "day": Type(Kind.DATE),
        "moment": Type(Kind.TIMESTAMP),
    }
)
ENGINE_TYPES = {
    "patient": "VARCHAR", "ward": "VARCHAR", "wait": "BIGINT", "beds": "BIGINT", "cost": "DOUBLE", "late": "BOOLEAN",
    "day": "DATE", "moment": "TIMESTAMP",
}  # fmt: skip
WARDS = ("A", "B", "Emergency", "emergency", "", "a%b_c", "it's", "naïve")


def rows(count: int = 120, seed: int = 7) -> list[dict[str, Any]]:
    """Random rows, about a fifth of whose values are NULL."""
    draw = random.Random(seed)

    def maybe(value: Any) -> Any:
        return None if draw.random() < 0.2 else value

    return [
        {
            "patient": maybe(f"p{draw.randrange(30)}"),
            "ward": maybe(draw.choice(WARDS)),
            "wait": maybe(draw.randrange(-20, 300)),
            "beds": maybe(draw.randrange(-3, 4)),
            "cost": maybe(draw.choice([0.0, -2.5, 0.5, 1.25, -1.5, 1e6, draw.uniform(-10, 10)])),
            "late": maybe(draw.random() < 0.5),
            "day": maybe(date(2023, 12, 1) + timedelta(days=draw.randrange(500))),
            "moment": maybe(datetime(2024, 1, 1) + timedelta(minutes=draw.randrange(10**6))),
        }
        for _ in range(count)
    ]


def on_duckdb(table: list[dict[str, Any]]) -> duckdb.DuckDBPyConnection:
    """A connection to a database with these rows as `visits`, in order of `place`."""
    connection = duckdb.connect()
    connection.execute("SET error_on_division_by_zero = false")
    columns = ", ".join(f'"{name}" {kind}' for name, kind in ENGINE_TYPES.items())
    connection.execute(f"CREATE TABLE visits (place BIGINT, {columns})")
    marks = ", ".join("?" * (len(ENGINE_TYPES) + 1))
    connection.executemany(
        f"INSERT INTO visits VALUES ({marks})", [[place, *row.values()] for place, row in enumerate(table)]
    )
    return connection


def by_duckdb(connection: duckdb.DuckDBPyConnection, sql: str) -> list[Any]:
    """What DuckDB computes of an expression for each row; NaN and infinities as None, as expressions have it."""
    found = connection.execute(f"SELECT {sql} FROM visits ORDER BY place").fetchall()
    return [None if isinstance(one, float) and not math.isfinite(one) else one for (one,) in found]


def by_reference(table: list[dict[str, Any]], sql: str, *, typed: bool = True) -> list[Any]:
    """What the reference computes of the question that is read of the same expression."""
    asked = read_sql(f"SELECT COUNT(*) AS n FROM (SELECT {sql} AS made FROM visits) AS v", SCHEMA if typed else None)
    step = asked.question.source.steps[0]
    assert isinstance(step, Derive)
    ((name, formula),) = step.columns
    assert name == "made"
    expression = formula.read(SCHEMA)
    return [evaluate(expression, row) for row in table]


def kept(table: list[dict[str, Any]], where: str) -> list[int]:
    """The places of the rows that a question with this WHERE keeps."""
    asked = read_sql(f"SELECT COUNT(*) AS n FROM visits WHERE {where}", SCHEMA)
    (step,) = asked.question.source.steps
    assert isinstance(step, Filter)
    predicate = step.predicate.read(SCHEMA)
    return [place for place, row in enumerate(table) if evaluate(predicate, row) is True]
