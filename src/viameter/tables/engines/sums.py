"""Exact sums of integers in every engine, as text: no table is so long that they overflow or pass through floats."""

from __future__ import annotations

from typing import Any

from viameter.errors import ParameterError
from viameter.tables.engines.capabilities import DUCKDB, POSTGRES, PYSPARK, require
from viameter.tables.engines.imports import import_ibis

# What the column is cast to before it is summed, so that the engine sums in a type that holds 2^63 times 2^63 rows:
# DuckDB sums 64 bits in 128; PostgreSQL in numeric (32 bits it would sum in 64); Spark adds ten digits to a decimal.
_SUMMED_AS = {DUCKDB: "int64", POSTGRES: "int64", PYSPARK: "decimal(28, 0)"}


def exact_sum(engine: str, column: Any) -> Any:
    """The sum of an integer column (at most 64 bits, signed) as decimal text; '0' where there is no row, or only NULL.

    >>> import ibis
    >>> rows = ibis.table({"delay": "int32"}, name="rows")
    >>> print(ibis.to_sql(rows.agg(n=exact_sum("postgres", rows.delay)), dialect="postgres", pretty=False))
    SELECT COALESCE(CAST(SUM(CAST("t0"."delay" AS BIGINT)) AS VARCHAR), '0') AS "n" FROM "rows" AS "t0"
    """
    require(engine, "exact sums")
    ibis = import_ibis()
    kind = column.type()
    if not kind.is_integer() or kind == ibis.dtype("uint64").copy(nullable=kind.nullable):
        raise ParameterError(f"exact_sum takes integers of at most 64 bits with a sign, not a column of type {kind}")
    # Made as an operation, since Ibis leaves out a cast that changes nothing by its own types: where it takes an
    # expression for 64 bits, PostgreSQL may have computed it in 32.
    widened = ibis.expr.operations.Cast(column, to=ibis.dtype(_SUMMED_AS[engine])).to_expr()
    return widened.sum().cast("string").fill_null("0")
