"""Expressions as JSON: what is written is read again, and what is no expression is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.tables.expressions.generating import Trees, columns_of, single_operations
from tests.tables.expressions.nasty import nasty_table

from viameter.errors import FormatError, ViameterError
from viameter.tables.expressions import Column, Kind, Schema, Type, case, from_json, to_json


@pytest.fixture(scope="module")
def schema() -> Schema:
    import ibis

    return Schema.of_ibis(ibis.memtable(nasty_table()).schema())


def test_every_expression_is_read_as_it_was_written(schema: Schema) -> None:
    columns = columns_of(schema)
    trees = Trees(columns, seed=11)
    for expression in [*single_operations(columns), *(trees.some(3) for _ in range(200)), case((columns["p"], 1))]:
        read = from_json(json.loads(json.dumps(to_json(expression), allow_nan=False)), schema)
        assert read.same_as(expression) and read.type == expression.type


def test_documents_may_be_short() -> None:
    schema = Schema({"a": Type(Kind.INTEGER)})
    short = {"operation": "gt", "arguments": [{"column": "a"}, 0.5]}
    assert from_json(short, schema).same_as(Column("a", Type(Kind.INTEGER)) > 0.5)


def nested(depth: int) -> Any:
    document: Any = {"column": "p"}
    for _ in range(depth):
        document = {"operation": "not", "arguments": [document]}
    return document


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"column": "missing"},
        {"column": ["a"]},
        {"column": "a", "kind": "TEXT"},
        {"value": None},
        {"value": [1]},
        {"value": 1, "kind": "TEXT"},
        {"value": "x", "kind": "DATE"},
        {"value": 1, "kind": "MONEY"},
        {"value": 1, "kind": []},
        {"value": float("nan")},
        {"operation": "add", "arguments": [1]},
        {"operation": "add", "arguments": 1},
        {"operation": ["add"], "arguments": [1, 2]},
        {"operation": "__class__", "arguments": []},
        {"operation": "cast", "arguments": [1], "options": [[]]},
        {"operation": "cast", "arguments": [1], "options": ["MONEY"]},
        {"operation": "cast", "arguments": [1], "options": [3]},
        {"operation": "cast", "arguments": [], "options": ["REAL"]},
        {"operation": "case", "arguments": []},
        {"operation": "case", "arguments": [1]},
        {"operation": "case", "arguments": [True, 1]},
        {"operation": "bin", "arguments": []},
        {"operation": "is_in", "arguments": []},
        {"operation": "floor", "arguments": []},
        {"operation": "floor", "arguments": [1, 2]},
        {"operation": "divide", "arguments": []},
        {"operation": "round_to", "arguments": [1.5]},
        {"operation": "truncate", "arguments": [{"value": "2024-01-01", "kind": "DATE"}], "options": [1]},
        nested(101),
        {"operation": "is_in", "arguments": [1] * 20_000},
    ],
    ids=lambda document: str(document)[:60],
)
def test_what_is_no_expression_is_refused(document: Any) -> None:
    schema = Schema({"a": Type(Kind.INTEGER), "p": Type(Kind.BOOLEAN)})
    with pytest.raises(ViameterError):
        from_json(document, schema)


def test_deep_documents_are_read_up_to_the_limit() -> None:
    schema = Schema({"p": Type(Kind.BOOLEAN)})
    assert to_json(from_json(nested(100), schema)) == nested(100)
    with pytest.raises(FormatError):
        from_json(nested(5000), schema)
