"""Steps in any order become a document that means the same; of the plain form, where they can be put in its order."""

from __future__ import annotations

from typing import Any

import pytest

import viameter as vm
from viameter.tables.aggregates import Count
from viameter.tables.document import plainly, question_from_json, question_to_json
from viameter.tables.expressions import Column, Kind, Schema, Type, evaluate
from viameter.tables.formula import Formula
from viameter.tables.question import Aggregates, Question
from viameter.tables.steps import Derive, Filter, Source

SCHEMA = Schema({"a": Type(Kind.INTEGER), "b": Type(Kind.INTEGER)})
ROWS = [{"a": a, "b": b} for a in (None, 0, 1, 2, 5) for b in (None, 0, 3)]


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
    """Rows as whoever reads a document has them."""
    schema, rows = SCHEMA, [dict(row) for row in ROWS]
    for step in question_from_json(document).source.steps:
        if isinstance(step, Filter):
            predicate = step.predicate.read(schema)
            rows = [row for row in rows if evaluate(predicate, row) is True]
        elif isinstance(step, Derive):
            made = {name: formula.read(schema) for name, formula in step.columns}
            rows = [{**row, **{name: evaluate(one, row) for name, one in made.items()}} for row in rows]
            schema = Schema({**dict(schema), **{name: one.type for name, one in made.items()}})
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


def recorded(steps: list[tuple[str, Any]]) -> Question:
    made = [
        Filter(Formula.of(what))
        if kind == "filter"
        else Derive(tuple((name, Formula.of(one)) for name, one in what.items()))
        for kind, what in steps
    ]
    return Question(Source(steps=tuple(made)), asked=Aggregates((("n", Count()),)))


@pytest.mark.parametrize("name", ALLOWED)
def test_steps_and_their_document_give_the_same_rows(name: str) -> None:
    question = recorded(ALLOWED[name])
    for document in (question_to_json(question), question_to_json(plainly(question))):
        found = by_document(document)
        assert found == by_steps(ALLOWED[name]) and found
    # Every version of a service reads what has columns first, and one filter then.
    assert "steps" not in document and "version" not in document


@pytest.mark.parametrize("name", REFUSED)
def test_a_column_that_gets_another_meaning_after_it_was_used_keeps_its_place(name: str) -> None:
    question = recorded(REFUSED[name])
    assert plainly(question) == question
    document = question_to_json(question)
    assert document["version"] == 2 and by_document(document) == by_steps(REFUSED[name])


def test_the_document_of_derived_columns_keeps_their_order() -> None:
    made = recorded([("derive", {"z": A}), ("derive", {"b2": column("z") + 1})])
    assert list(question_to_json(made)["derive"]) == ["z", "b2"]


def test_limits_are_tightened_and_left_out_where_there_are_none() -> None:
    rows: dict[str, list[Any]] = {"u": [1, 2], "a": [1, 2]}
    table = vm.open(rows, unit=vm.per("u"), budget=vm.pure(1)).limit(rows=5).limit(rows=7, per_group=2).limit()
    assert table.agg(n=vm.count()).to_json()["limit"] == {"rows": 5, "per_group": 2}
    first = table.limit(keep="first by a").agg(n=vm.count())
    assert first.to_json()["limit"] == {"rows": 5, "per_group": 2, "keep": "first by a"}
    assert "limit" not in question_to_json(recorded([]))
