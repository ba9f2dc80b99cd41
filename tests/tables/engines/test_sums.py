"""Exact sums: of integers at the ends of 64 bits, over more rows than 64 bits could sum, in every engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from viameter.errors import ParameterError
from viameter.tables.engines import EngineTable, engine_named, engine_of, run

Load = Callable[[Any, str, Any], EngineTable]
HIGHEST, LOWEST = 2**63 - 1, -(2**63)


def test_sums_beyond_64_bits_are_exact_in_every_engine(backend: Any, load: Load) -> None:
    values: dict[str, list[Any]] = {
        "up": [HIGHEST] * 5000,
        "down": [LOWEST] * 5000,
        "mixed": [2**62, 2**62, -(2**61), 1, None] * 1000,
    }
    table = load(backend, "long_sums", values)
    rows = table.expression
    [sums] = run(table, rows.agg(**{name: engine_of(backend).exact_sum(rows[name]) for name in values}))
    assert sums == {name: str(sum(value or 0 for value in column)) for name, column in values.items()}


def test_sums_are_text_by_group_and_zero_where_there_is_nothing(backend: Any, load: Load) -> None:
    table = load(backend, "group_sums", {"g": ["a", "a", "b", None], "n": [2**62, 2**62, None, -7]})
    rows = table.expression
    groups = run(table, rows.group_by("g").agg(n=engine_of(backend).exact_sum(rows.n)))
    assert {row["g"]: row["n"] for row in groups} == {"a": str(2**63), "b": "0", None: "-7"}
    none = rows.filter(rows.n > 2**62)
    assert run(table, none.agg(n=engine_of(backend).exact_sum(none.n))) == [{"n": "0"}]


def test_narrow_columns_and_ones_sum_as_wide_ones_do(backend: Any, load: Load) -> None:
    import ibis

    table = load(backend, "narrow_sums", {"n": [2**31 - 1] * 100})
    rows = table.expression.mutate(narrow=table.expression.n.cast("int32"), one=ibis.literal(1), flag=ibis.literal(127))
    sums = {name: engine_of(backend).exact_sum(rows[name]) for name in ("narrow", "one", "flag")}
    assert run(table, rows.agg(**sums)) == [{"narrow": str(100 * (2**31 - 1)), "one": "100", "flag": "12700"}]


@pytest.mark.parametrize("kind", ["float64", "string", "decimal(20, 0)", "uint64", "boolean"])
def test_what_is_not_an_integer_of_64_bits_is_refused(kind: str) -> None:
    import ibis

    with pytest.raises(ParameterError, match="takes integers of at most 64 bits"):
        engine_named("duckdb").exact_sum(ibis.table({"x": kind}, name="t").x)
