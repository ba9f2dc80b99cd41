"""Steps in any order become one document that means the same, or are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import viameter as vm
from viameter.errors import ParameterError
from viameter.service.client.steps import Steps
from viameter.tables.expressions import Column, Kind, Schema, Type, evaluate
from viameter.tables.written import read_expression

SCHEMA = Schema({"a": Type(Kind.INTEGER), "b": Type(Kind.INTEGER)})
ROWS = [{"a": a, "b": b} for a in (None, 0, 1, 2, 5) for b in (None, 0, 3)]
Made = Callable[[Any], Any]


def column(name: str) -> Any:
    return Column(name, Type(Kind.INTEGER))


def by_steps(steps: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    """Rows after each step in turn, as a local table has them: all columns of one step see the rows before it."""
    rows = [dict(row) for row in ROWS]
    for kind, what in steps:
        if kind == "filter":
            rows = [row for row in rows if evaluate(what, row) is True]
        else:
            rows = [{**row, **{name: evaluate(made, row) for name, made in what.items()}} for row in rows]
    return rows


def by_document(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows as a service has them: column by column, then the filter."""
    schema, rows = SCHEMA, [dict(row) for row in ROWS]
    for name, written in document.get("derive", {}).items():
        made = read_expression(written, schema)
        rows = [{**row, name: evaluate(made, row)} for row in rows]
        schema = Schema({**dict(schema), name: made.type})
    if "filter" in document:
        predicate = read_expression(document["filter"], schema)
        rows = [row for row in rows if evaluate(predicate, row) is True]
    return rows


A, B, C = column("a"), column("b"), column("c")
ALLOWED: dict[str, list[tuple[str, Any]]] = {
    "nothing": [],
    "filters": [("filter", A > 0), ("filter", B < 3), ("filter", A != 2)],
    "a filter of nulls": [("filter", A.is_null()), ("filter", ~B.is_null())],
    "columns of columns": [("derive", {"c": A + B}), ("derive", {"d": C * 2}), ("filter", C > 1)],
    "columns after a filter": [("filter", A > 0), ("derive", {"c": A + 1}), ("filter", C < 5), ("derive", {"d": B})],
    "a new meaning that nobody has read": [("derive", {"a": A + 1}), ("filter", A > 1)],
    "a new meaning after another column was read": [("filter", B >= 0), ("derive", {"a": A * 10})],
    "two columns at once": [("derive", {"c": A + 1, "d": B + 1})],
}
REFUSED: dict[str, list[tuple[str, Any]]] = {
    "what a filter has read": [("filter", A > 0), ("derive", {"a": A - 2})],
    "what was derived before": [("derive", {"c": A}), ("derive", {"c": C + 1})],
    "what a column beside it reads": [("derive", {"a": A + 1, "c": A * 2})],
    "what a column beside it reads, the other way round": [("derive", {"c": A * 2, "a": A + 1})],
}


def recorded(steps: list[tuple[str, Any]]) -> Steps:
    made = Steps(SCHEMA)
    for kind, what in steps:
        made = made.filter(what) if kind == "filter" else made.derive(what)
    return made


@pytest.mark.parametrize("name", ALLOWED)
def test_steps_and_their_document_give_the_same_rows(name: str) -> None:
    found = by_document(recorded(ALLOWED[name]).document())
    assert found == by_steps(ALLOWED[name]) and found


@pytest.mark.parametrize("name", REFUSED)
def test_a_column_does_not_get_another_meaning_after_it_was_used(name: str) -> None:
    with pytest.raises(ParameterError, match="choose a new name"):
        recorded(REFUSED[name])


def test_the_document_of_derived_columns_keeps_their_order() -> None:
    made = recorded([("derive", {"z": A}), ("derive", {"b2": column("z") + 1})])
    assert list(made.document()["derive"]) == ["z", "b2"]


def test_limits_are_tightened_and_left_out_where_there_are_none() -> None:
    from viameter.tables.bounding import Limits

    made = Steps(SCHEMA).limit(Limits(rows=5)).limit(Limits(rows=7, per_group=2)).limit(Limits())
    assert made.document() == {"limit": {"rows": 5, "per_group": 2}}
    assert Steps(SCHEMA).limit(Limits()).document() == {}
    first = made.limit(Limits(keep="first by a"))
    assert first.document() == {"limit": {"rows": 5, "per_group": 2, "keep": "first by a"}}
    assert first.texts[-1] == "limit(keep='first by a')"


def test_steps_do_not_change() -> None:
    first = Steps(SCHEMA)
    assert first.filter(A > 0) is not first and first.document() == {} and vm.connect is not None
