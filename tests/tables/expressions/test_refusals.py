"""What does not fit is refused when it is built, with what to write instead."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from viameter.errors import ParameterError
from viameter.tables.expressions import Call, Column, Kind, Literal, Schema, Type, case, least, literal, make, to_ibis

number, real, text = Column("a", Type(Kind.INTEGER)), Column("x", Type(Kind.REAL)), Column("s", Type(Kind.TEXT))
truth, day, moment = Column("p", Type(Kind.BOOLEAN)), Column("d", Type(Kind.DATE)), Column("m", Type(Kind.TIMESTAMP))


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: text + 1, '.cast("integer")'),
        (lambda: text == 1, "quotes around the number"),
        (lambda: number == "1", "quotes around the number"),
        (lambda: text < "b", "only == and !="),
        (lambda: least(text, "b"), "TEXT"),
        (lambda: truth + 1, '.cast("integer")'),
        (lambda: number & truth, "parentheses"),
        (lambda: ~number, "parentheses"),
        (lambda: real // 2, ".floor()"),
        (lambda: number % 0.5, ".floor()"),
        (lambda: real.cast("integer"), ".floor()"),
        (lambda: number.cast("date"), "cannot be cast"),
        (lambda: number.cast("money"), "the kinds are"),
        (lambda: day == moment, '.cast("date")'),
        (lambda: day == "31.5.2024", "2024-05-31"),
        (day.hour, "no time of day"),
        (number.lower, '.cast("text")'),
        (lambda: day.truncate("decade"), "day, week, month, year"),
        (lambda: bool(number > 1), "& | ~"),
        (lambda: number == None, "is_null"),  # noqa: E711
        (lambda: number.is_in([None]), "is_null"),
        (lambda: text.is_in("ab"), "['ab']"),
        (lambda: number.is_in([number]), "constants"),
        (lambda: number > float("nan"), "finite"),  # noqa: PLW0177
        (lambda: number > float("inf"), "finite"),
        (lambda: number > 2**63, "64 bits"),
        (lambda: real > 1e60, "9.35e49"),
        (lambda: real > 1e-60, "1.07e-50"),
        (lambda: real > Fraction(10) ** 400, "finite"),
        (lambda: text == "a\0", "control character"),
        (lambda: text == "a\f", "control character"),
        (lambda: text == "\ud800", "surrogates"),
        (lambda: number > [1], "no constant"),
        (lambda: moment > datetime(1, 1, 1), "years 2 to 9998"),
        (lambda: number.clip(3, 2), "above"),
        (number.clip, "lower or an upper"),
        (lambda: number.clip(number, 2), "constants"),
        (lambda: number.bin([1]), "3 arguments"),
        (lambda: number.bin([2, 1]), "grow"),
        (lambda: number.round_to(0), "above 0"),
        (lambda: text.slice(-1, 2), "0 <= start"),
        (lambda: text.slice(3, 2), "0 <= start"),
        (lambda: text.slice(True, 2), "0 <= start"),
        (lambda: text.contains(text), "constants"),  # type: ignore[arg-type]
        (lambda: case(number > 1, 2), "pairs"),  # type: ignore[arg-type]
        (lambda: case((number > 1, 2), default=True), "truth value"),
        (lambda: case((number, 2)), "parentheses"),
        (lambda: case((number > 1, None)), "None"),
        (lambda: make("drop", [number]), "there are: add"),
        (lambda: make("add", [number]), "2 arguments"),
        (lambda: make("slice", [text]), "2 options"),
        (lambda: Call("multiply", (real * real * real * real, real)), "settled first"),
        (lambda: Call("add", (number, 1)), "is an expression"),  # type: ignore[arg-type]
        (lambda: Literal(float("nan"), Type(Kind.REAL)), "literal(...)"),
        (lambda: Literal(2, Type(Kind.TEXT)), "literal(...)"),
        (lambda: Literal(2, Type(Kind.INTEGER, upper=1)), "literal(...)"),
        (lambda: literal(None), "which kind"),
        (lambda: Type(Kind.INTEGER, lower=1, upper=0), "64 bits"),
        (lambda: Column(1, Type(Kind.TEXT)), "name and a type"),  # type: ignore[arg-type]
        (lambda: to_ibis(1, None), "takes an expression"),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_fit_is_refused_with_what_to_write(build: Callable[[], Any], says: str) -> None:
    with pytest.raises(ParameterError) as caught:
        build()
    assert says in str(caught.value)


def test_a_missing_column_is_refused_with_those_that_exist() -> None:
    schema = Schema({"distance": number.type, "carrier": text.type}, unusable=["route"])
    with pytest.raises(ParameterError, match=r"did you mean 'distance'.*distance, carrier"):
        schema.require("distanse")
    with pytest.raises(ParameterError, match="cannot use"):
        schema.require("route")
    with pytest.raises(ParameterError, match="does not change"):
        schema.unusable = ()
    assert schema == Schema({"carrier": text.type, "distance": number.type}) and "route" not in schema
    assert pickle.loads(pickle.dumps(schema)) == copy.deepcopy(schema) == schema and len({schema, Schema(schema)}) == 1


def test_a_column_of_another_kind_in_the_table_is_refused() -> None:
    import ibis

    table = ibis.table({"a": "string", "b": "array<int8>"}, name="other")
    with pytest.raises(ParameterError, match="is TEXT in the table"):
        to_ibis(number + 1, table)
    with pytest.raises(ParameterError, match="unusable in the table"):
        to_ibis(Column("b", number.type), table)


def test_expressions_are_the_same_by_key_and_not_by_equality() -> None:
    assert (number + 1 > 2).same_as(number + 1 > 2) and not (number + 1 > 2).same_as(number + 1 > 3)
    assert len({(number > 1).key, (number > 1).key, (number >= 1).key}) == 2
    assert not literal(True).same_as(literal(1)) and not literal(1.0).same_as(literal(1))
    assert not Column("a", number.type).same_as("a")
    with pytest.raises(TypeError):
        hash(number)
    assert copy.deepcopy(number > 1).same_as(number > 1) and pickle.loads(pickle.dumps(number > 1)).same_as(number > 1)


def test_expressions_are_written_as_one_would_type_them() -> None:
    written = {
        "(a > 500) & s.is_in(['AA', 'UA'])": (number > 500) & text.is_in(["AA", "UA"]),
        "~(a == 1) | p": ~(number == 1) | truth,
        "(-a).is_null()": (-number).is_null(),
        "a + (-1)": number + -1,
        "(x / a).round_to(0.5)": (real / number).round_to(0.5),
        "d >= 2024-05-31": day >= "2024-05-31",
        "column('odd name').cast('text')": Column("odd name", number.type).cast("text"),
        "case((p, 1), default=None)": case((truth, 1)),
        "abs(least(a, 3))": abs(least(number, 3)),
        "s.slice(0, 2)": text.slice(0, 2),
        "x.bin([0.0, 1.0, 2.0])": real.bin([0, 1, 2]),
    }
    assert {text: repr(made) for text, made in written.items()} == {text: text for text in written}


def test_numbers_of_other_libraries_are_constants() -> None:
    assert (np.float64(0.5) * real).same_as(0.5 * real) and (np.int64(3) + number).same_as(3 + number)
    assert (real > Decimal("0.5")).same_as(real > 0.5) and literal(-0.0).same_as(literal(0.0))
    assert number.cast("integer") is number and (number + real).columns == {"a", "x"}
