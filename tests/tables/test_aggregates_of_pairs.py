"""Covariance, correlation and regression as they are asked for: documents, parts, statistics, and answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.tables.held import held

import viameter as vm
from viameter.errors import FormatError, NumberError, ParameterError
from viameter.tables.aggregates import WORDS, Aggregate, Mean, Variance, aggregate_from_json
from viameter.tables.expressions import Column, Kind, Schema, Type
from viameter.tables.sharing import read_together
from viameter.tables.statistics import FixedPoint, Total, product_of
from viameter_check import check

F = Fraction
BOUNDS = ((0, 240), (0, 10))
ASKED: dict[str, Callable[..., Any]] = {
    "covariance": lambda **options: vm.covariance("x", "y", bounds=BOUNDS, **options),
    "correlation": lambda **options: vm.correlation("x", "y", bounds={"y": (0, 10), "x": (0, 240)}, **options),
    "regression": lambda **options: vm.regression("x", on=["y"], bounds=BOUNDS, **options),
}
X, Y = (Column(name, Type(Kind.INTEGER)) for name in "xy")
SCHEMA = Schema({"x": Type(Kind.INTEGER), "y": Type(Kind.INTEGER)})


@pytest.mark.parametrize("word", ASKED)
def test_documents_are_read_as_they_were_written(word: str) -> None:
    made = ASKED[word]()
    document = json.loads(json.dumps(made.to_json()))
    assert document[word] == "x" and document["bounds"] == [[0, 240], [0, 10]]
    assert aggregate_from_json(document, "here") == made
    by_name = {**document, "bounds": {"x": [0, 240], "y": [0, 10]}}
    assert aggregate_from_json(by_name, "here") == made
    other: Any = {"operation": "absolute", "arguments": [{"column": "y"}]}
    options: dict[str, Any] = {"on": [{"column": "y"}]} if "on" in document else {"y": other}
    derived: dict[str, Any] = {word: "x", "bounds": [[0, "1/3"], [1, 2]], **options}
    read = aggregate_from_json(derived, "here")
    assert aggregate_from_json(read.to_json(), "here") == read


@pytest.mark.parametrize(
    "document",
    [
        {"covariance": "x", "y": "y", "bounds": [0, 240]},
        {"covariance": "x", "y": "y", "bounds": [[0, 240]]},
        {"covariance": "x", "y": "y", "bounds": [[0, 240], [0, 10], [0, 1]]},
        {"covariance": "x", "y": "y", "bounds": {"x": [0, 1], "z": [0, 1]}},
        {"covariance": "x", "y": "y", "bounds": {"x": [0, 1]}},
        {"covariance": "x", "y": "y"},
        {"covariance": "x", "bounds": [[0, 240], [0, 10]]},
        {"covariance": "x", "y": 3, "bounds": [[0, 240], [0, 10]]},
        {"covariance": "x", "y": ["y"], "bounds": [[0, 240], [0, 10]]},
        {"correlation": "x", "y": "x", "bounds": [[0, 240], [0, 10]]},
        {"correlation": "x", "y": "y", "bounds": [[0, 240], [10, 0]]},
        {"regression": "x", "on": [], "bounds": [[0, 240]]},
        {"regression": "x", "on": ["y", "z"], "bounds": [[0, 240], [0, 10], [0, 1]]},
        {"regression": "x", "on": ["x"], "bounds": [[0, 240], [0, 10]]},
        {"regression": "x", "on": ["intercept"], "bounds": [[0, 240], [0, 10]]},
        {"regression": "x", "on": True, "bounds": [[0, 240], [0, 10]]},
    ],
)
def test_documents_that_say_something_else_are_refused(document: dict[str, Any]) -> None:
    with pytest.raises((FormatError, ParameterError, NumberError)):
        aggregate_from_json(document, "here")


def test_forms_know_of_every_column_and_its_bounds() -> None:
    assert WORDS["covariance"].columns == WORDS["correlation"].columns == ("y",)
    assert WORDS["regression"].columns == ("on",) and WORDS["mean"].columns == ()
    for word in WORDS.values():
        named = [one.partition(":")[2] or "column" for one in word.inputs if one.startswith("column")]
        bounded = [one.partition(":")[2] or "column" for one in word.inputs if one.startswith("bounds")]
        assert named == bounded, word.name


def test_a_regression_has_two_numbers_that_share_their_statistics() -> None:
    asked: dict[str, Aggregate] = {"fit": ASKED["regression"]()}
    readings = read_together(asked, SCHEMA, "laplace")
    assert list(readings) == ["fit_intercept", "fit_y"]
    assert readings["fit_intercept"].statistics == readings["fit_y"].statistics
    assert len(set(readings["fit_y"].statistics)) == 5
    for name in ("fit_y", "fit_intercept"):
        with pytest.raises(ParameterError, match="the name of two numbers"):
            read_together({**asked, name: vm.variance("x", bounds=(0, 1))}, SCHEMA, "laplace")


def test_rows_without_one_of_both_values_count_in_no_sum() -> None:
    rows: list[dict[str, Any]] = [
        {"x": 3, "y": 4},
        {"x": None, "y": 9},
        {"x": 200, "y": None},
        {"x": 240, "y": 10},
        {"x": None, "y": None},
    ]
    whole = [row for row in rows if None not in row.values()]
    for reading in read_together({name: make() for name, make in ASKED.items()}, SCHEMA, "laplace").values():
        totals = [one for one in reading.statistics if isinstance(one, Total)]
        assert len(totals) == len(reading.statistics)
        for total in totals:
            assert sum(total.evaluate(row) for row in rows) == sum(total.evaluate(row) for row in whole)
        assert sum(totals[-1].evaluate(row) for row in rows) == 2


def test_sums_are_those_of_a_mean_and_a_variance_where_no_row_can_be_without_a_value() -> None:
    required = Schema(dict(SCHEMA), required=frozenset("xy"))
    asked: dict[str, Aggregate] = {
        "r": ASKED["correlation"](), "m": Mean("x", (F(0), F(240))), "v": Variance("y", (F(0), F(10))),
        "turned": vm.regression("y", on="x", bounds=BOUNDS[::-1]),
    }  # fmt: skip
    used = {one for reading in read_together(asked, required, "laplace").values() for one in reading.statistics}
    assert len(used) == 6


def test_products_have_exact_ends_and_stay_within_what_engines_multiply() -> None:
    wide = FixedPoint.of((F(-5), F(2**40)), Kind.INTEGER, centered=True)
    low, high = (FixedPoint.of((F(a), F(b)), Kind.INTEGER, centered=False) for a, b in ((-3, 7), (-2, 5)))
    cases = [
        (Total(X, low, times=Total(Y, high)), (-15, 35)),
        (Total(X, low, squared=True, times=Total(Y, high)), (-98, 245)),
        (Total(X, low, times=Total(Y)), (-3, 7)),
        (Total(X, times=Total(Y)), (0, 1)),
    ]
    for total, ends in cases:
        found = [total.evaluate({"x": x, "y": y}) for x in (None, *range(-9, 10)) for y in (None, *range(-9, 10))]
        assert (min(found), max(found)) == ends == total.ends, total
    with pytest.raises(NumberError, match="more than 2\\^52"):
        Total(X, wide, squared=True, times=Total(Y, wide))
    assert product_of([Total(Y, high), Total(X, low)]) == product_of([Total(X, low), Total(Y, high), Total(X)])
    assert product_of([Total(X, low), Total(X, low)]) == Total(X, low, squared=True)
    assert len({total.key for total, _ in cases}) == len(cases)


@pytest.mark.parametrize("budget", [vm.zcdp(10**9), vm.pure(10**6)], ids=["gaussian", "laplace"])
def test_answers_at_a_high_price_are_what_numpy_says_of_the_clipped_rows(backend: Any, load: Any, budget: Any) -> None:
    n = 400
    x = [(7 * i) % 300 for i in range(n)]
    y = [None if i % 9 == 0 else 0.03 * v + ((i * 13) % 17) / 4 - 1 for i, v in enumerate(x)]
    data = {"u": list(range(n)), "g": [i % 2 for i in range(n)], "x": x, "y": y}
    table = vm.open(load(backend, "of_pairs", data).expression, unit=vm.per("u", rows=1), budget=budget)
    asked = {"c": ASKED["covariance"](), "r": ASKED["correlation"](), "fit": ASKED["regression"]()}
    answer = table.group_by("g", keys=[0, 1, 2]).agg(**asked).release(spend=budget)
    assert check(answer.certificate().text).ok
    for group, row in enumerate(answer.to_dicts()[:2]):
        both = [pair for i, pair in enumerate(zip(x, y, strict=True)) if pair[1] is not None and i % 2 == group]
        kept = [(min(one, 240), min(max(other or 0, 0), 10)) for one, other in both]
        first, second = np.array(kept, dtype=float).T
        slope, height = np.polyfit(second, first, 1)
        expected = {
            "c": np.cov(first, second, bias=True)[0, 1], "r": np.corrcoef(first, second)[0, 1], "fit_y": slope,
            "fit_intercept": height,
        }  # fmt: skip
        for name, truth in expected.items():
            assert row[name] == pytest.approx(truth, rel=1e-2), name
            assert row[f"{name}_lower"] <= truth <= row[f"{name}_upper"], name
    empty = answer.to_dicts()[2]
    assert (empty["c_lower"], empty["c_upper"], empty["r_lower"], empty["r_upper"]) == (-600, 600, -1, 1)
    assert all(empty[name] is None for name in ("c", "r", "fit_y", "fit_intercept", "fit_y_lower", "fit_y_upper"))


def test_a_line_of_too_few_rows_is_shown_as_unknown_and_not_as_a_pick() -> None:
    table = vm.open(
        held({"u": [1, 2], "x": [3, 4], "y": [1, 2]}), unit=vm.per("u", rows=1), budget=vm.approx(9, "1e-6")
    )
    question = table.agg(fit=ASKED["regression"]())
    preview = question.preview(spend=vm.approx("1/100", "1e-7"))
    assert [row.name for row in preview.rows] == ["fit_intercept", "fit_y"] and "nan" not in repr(preview)
    answer = question.release(spend=vm.approx("1/100", "1e-7"))
    assert answer["fit_y"].has_intervals and np.isnan(answer["fit_y"].value).all()
    assert "unknown" in repr(answer) and "without an interval" not in repr(answer)
    assert answer.to_columns()["fit_y"] == answer.to_columns()["fit_y_upper"] == [None]
