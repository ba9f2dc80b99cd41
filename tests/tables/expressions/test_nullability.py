"""Expressions that are never NULL: on rows of all kinds, by the reference; and what a filter leaves."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from tests.tables.expressions.generating import Trees, columns_of, single_operations
from tests.tables.expressions.nasty import INTEGERS, REALS, nasty_table

from viameter.tables.engines import open_source
from viameter.tables.expressions import Column, Expression, Kind, Schema, Type, case, evaluate, greatest, least
from viameter.tables.expressions.nullability import never_null, required_by

A, B = Column("a", Type(Kind.INTEGER)), Column("b", Type(Kind.INTEGER))
SMALL = Column("small", Type(Kind.INTEGER, lower=-100, upper=100))
X, P = Column("x", Type(Kind.REAL)), Column("p", Type(Kind.BOOLEAN))


@pytest.fixture(scope="module")
def table() -> Any:
    return nasty_table()


def test_what_is_never_null_has_a_value_on_every_row_that_has_the_columns(table: Any) -> None:
    columns = columns_of(Schema.of_ibis(open_source(table).ibis_schema))
    trees, chance = Trees(columns, seed=11), random.Random(5)
    made = [*single_operations(columns), *(trees.some(1 + place % 3) for place in range(1500))]
    rows = table.to_pylist()
    found = 0
    for expression in made:
        required = [name for name in expression.columns if chance.random() < 0.8]
        if never_null(expression, required):
            found += 1
            # A column has a value where it is read as one.
            having = [row for row in rows if all(evaluate(columns[name], row) is not None for name in required)]
            assert all(evaluate(expression, row) is not None for row in having), expression
    assert found > 200


@pytest.mark.parametrize(
    ("expression", "known"),
    [
        (A, False), (A.fill_null(0), True), (A.fill_null(B), False), (A.is_null(), True), (X.fill_null(0.5), True),
        (A > 1, False), (case((P, 1), default=0), True), (case((P, A), default=0), False),
        (case((P, 1), default=None), False),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_known_without_any_required_column(expression: Expression, known: bool) -> None:
    assert never_null(expression, []) is known


@pytest.mark.parametrize(
    ("expression", "known"),
    [
        (SMALL + SMALL, True), (A + SMALL, False), (A * B, False), (-SMALL, True), (-A, False), (abs(A), False),
        (X + X, True), (X * 2, True), (X / 2, True), (X / X, False), (X.sqrt(), False), (X.log(), False),
        (A // 2, True),
        (A % 7, True), (A // -1, False), (A // 0, False), (A // B, False), (A % B, False), (1 / A, False),
        (X.floor(), False), (A.cast("real"), True), (P.cast("integer"), True), (A.bin([0, 1]), False),
        (A.clip(0, 5), True), (least(A, B), True), (greatest(X, A), True), ((A > 1) & P, True), (~P, True),
        (A.is_in([1]), True), (A.between(1, 2), True), (case((P, A), default=B), True),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_known_where_all_columns_are_required(expression: Expression, known: bool) -> None:
    everything = expression.columns
    assert never_null(expression, everything) is known
    values: dict[str, list[Any]] = {
        "a": INTEGERS,
        "b": INTEGERS[:9],
        "small": [-100, 0, 100],
        "x": [*REALS, -1.0],
        "p": [True, False],
    }
    rows = list(itertools.product(*(values[name] for name in sorted(everything))))
    given = (dict(zip(sorted(everything), row, strict=True)) for row in rows)
    missing = [
        row for row in given
        if evaluate(expression, row) is None and (row.get("x") is None or evaluate(X, row) is not None)
    ]  # fmt: skip
    assert known == (not missing)  # no rule is missing that would hold
    for name in everything - {"p"}:  # a condition that is NULL is one that does not hold
        assert not never_null(expression, everything - {name})


@pytest.mark.parametrize(
    ("predicate", "columns"),
    [
        (~A.is_null(), {"a"}), (A.is_null(), set()), (A > 1, {"a"}), (A != B, {"a", "b"}), (~(A > 1), set()),
        ((A > 1) & ~X.is_null(), {"a", "x"}), ((A > 1) | (A < 0), set()), (P, {"p"}), (P & (A == 1), {"a", "p"}),
        (A.is_in([1, 2]), {"a"}), (A.between(1, B), {"a", "b"}), (A.fill_null(0) > 1, set()), ((A + 1) > 1, set()),
        (~A.fill_null(0).is_null(), set()),
    ],
    ids=lambda value: repr(sorted(value) if isinstance(value, set) else value),
)  # fmt: skip
def test_a_filter_leaves_values_in_the_columns_that_it_compares(predicate: Expression, columns: set[str]) -> None:
    assert required_by(predicate) == columns
    values: dict[str, list[Any]] = {
        "a": [None, -1, 1, 2],
        "b": [None, 0, 2],
        "x": [None, float("nan"), 1.5],
        "p": [None, True, False],
    }
    all_columns = {"a": A, "b": B, "x": X, "p": P}
    for row in itertools.product(*values.values()):
        given = dict(zip(values, row, strict=True))
        if evaluate(predicate, given) is True:
            assert all(evaluate(all_columns[name], given) is not None for name in columns)
