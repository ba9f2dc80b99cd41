"""Every engine gives what the reference gives, on rows chosen to hurt, and none fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.tables.expressions.agreement import disagreements
from tests.tables.expressions.generating import Trees, columns_of, single_operations
from tests.tables.expressions.nasty import nasty_table

from viameter.tables.engines import EngineTable
from viameter.tables.expressions import Schema

SMALL_TREES, LARGE_TREES = 150, 40


@pytest.fixture(scope="module")
def table(backend: Any, load: Callable[[Any, str, Any], EngineTable]) -> EngineTable:
    return load(backend, "nasty_rows", nasty_table())


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return list(nasty_table().to_pylist())


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
    if table.engine.name != "pyspark":  # which takes long to plan them
        expressions += [trees.some(3) for _ in range(LARGE_TREES)]
    assert disagreements(table, rows, expressions) == []
