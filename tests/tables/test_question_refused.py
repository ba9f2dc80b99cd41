"""What is no question is refused where it is, in words; and costs are read back as they were written."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tables.rows_asked import COUNT, WARD, opened

import viameter as vm
from viameter.errors import FormatError, NumberError, ParameterError, ViameterError
from viameter.tables.cost import Cost, cost_from_json
from viameter.tables.document import (
    DEEPEST_JOINS,
    MOST_AGGREGATES,
    MOST_DERIVED,
    MOST_EDGES,
    MOST_KEYS,
    MOST_PUBLIC,
    MOST_STEPS,
    question_from_json,
    question_to_json,
)
from viameter.tables.question import (
    Question,
)

# ---------------------------------------------------------------------------------------------------------- refusals

REFUSED: list[tuple[Any, str]] = [
    ({"filtre": "x"}, "question: unknown key 'filtre'"),
    ({5: "x"}, "question: expected names with values"),
    ([], "question: expected names with values"),
    ("count", "question: expected names with values"),
    (None, "question: expected names with values"),
    ({"table": 5}, "question: table=5"),
    ({"derive": []}, "question: derive: expected names"),
    ({"derive": {"x": None}}, "question: derive.x: an expression is"),
    ({"derive": {"x": [1]}}, "question: derive.x: an expression is"),
    ({"derive": {"x": float("inf")}}, "question: derive.x: inf cannot be written down"),
    ({"derive": {"self": 1}}, "question: derive: nothing can be called 'self'"),
    ({"derive": {f"x{place}": 1 for place in range(MOST_DERIVED + 1)}}, "question: derive: there are 41: at most 40"),
    ({"filter": None}, "question: filter: an expression is"),
    ({"filter": ["wait > 1"]}, "question: filter: an expression is"),
    ({"filter": float("nan")}, "question: filter: nan cannot be written down"),
    ({"limit": 5}, "question: limit: expected names"),
    ({"limit": {"row": 5}}, "question: limit: there is no 'row'"),
    ({"limit": {"rows": 0}}, "question: limit: rows=0 is no limit"),
    ({"limit": {"rows": True}}, "question: limit: rows=True is no limit"),
    ({"limit": {"keep": "last by x"}}, "question: limit: keep='last by x'"),
    ({"steps": {}}, "question: steps: expected a list"),
    ({"steps": [], "filter": "x"}, "question: leave filter out"),
    ({"steps": [], "derive": {}}, "question: leave derive out"),
    ({"steps": [{"filter": "x"}] * (MOST_STEPS + 1)}, "question: steps: expected a list of at most 40"),
    ({"steps": ["filter"]}, "question: steps[0]: expected names"),
    ({"steps": [{"filter": "x"}, {}]}, "question: steps[1]: expected one of filter, derive, select, join, sample"),
    ({"steps": [{"filter": "x", "select": "a"}]}, "question: steps[0]: expected one of"),
    ({"steps": [{"filter": "x", "on": "a"}]}, "question: steps[0]: expected one of"),
    ({"steps": [{"sort": "x"}]}, "question: steps[0]: expected one of"),
    ({"steps": [{"filter": None}]}, "question: steps[0].filter: an expression is"),
    ({"steps": [{"derive": "x"}]}, "question: steps[0].derive: expected names"),
    ({"steps": [{"derive": {"x": None}}]}, "question: steps[0].derive.x: an expression is"),
    ({"steps": [{"derive": dict.fromkeys(map(str, range(41)), 1)}]}, "question: steps[0].derive: there are 41"),
    ({"steps": [{"select": 5}]}, "question: steps[0].select: expected the name"),
    ({"steps": [{"select": ["a", None]}]}, "question: steps[0].select: expected the name"),
    ({"steps": [{"sample": 0.5}]}, "question: steps[0].sample: expected a number in quotes"),
    ({"steps": [{"sample": True}]}, "question: steps[0].sample: expected a number in quotes"),
    ({"steps": [{"sample": None}]}, "question: steps[0].sample: expected a number in quotes"),
    ({"steps": [{"sample": "much"}]}, "question: steps[0].sample: fraction='much'"),
    ({"steps": [{"sample": "2"}]}, "question: steps[0].sample: fraction=2 is not between"),
    ({"steps": [{"sample": 0}]}, "question: steps[0].sample: fraction=0 is not between"),
    ({"steps": [{"join": "drugs"}]}, "question: steps[0].join: expected names"),
    ({"steps": [{"join": {}}]}, "question: steps[0].join: expected public rows, or"),
    ({"steps": [{"join": {"table": "t", "public": {}}}]}, "question: steps[0].join: expected public rows, or"),
    ({"steps": [{"join": {"table": 5}}]}, "question: steps[0].join: table=5"),
    ({"steps": [{"join": {"table": "t"}, "on": 5}]}, "question: steps[0].join: on: expected the name"),
    ({"steps": [{"join": {"table": "t", "steps": [{"filter": None}]}}]}, "question: steps[0].join: steps[0].filter: a"),
    ({"steps": [{"join": {"public": []}}]}, "question: steps[0].join: expected names"),
    ({"steps": [{"join": {"public": {}}}]}, "question: steps[0].join: a public table has columns"),
    ({"steps": [{"join": {"public": {"columns": {"a": 5}}}}]}, "question: steps[0].join: expected lists by column"),
    ({"steps": [{"join": {"public": {"columns": {"a": []}}}}]}, "question: steps[0].join: public column 'a'"),
    ({"steps": [{"join": {"public": {"columns": {"a": [1], "b": []}}}}]}, "question: steps[0].join: a public table ha"),
    ({"steps": [{"join": {"public": {"columns": {"a": [1, "x"]}}}}]}, "question: steps[0].join: public column 'a' mix"),
    ({"steps": [{"join": {"public": {"columns": {"a": ["x"]}, "types": {"a": "DATE"}}}}]}, "question: steps[0].join: "),
    ({"steps": [{"join": {"public": {"columns": {"a": [5]}, "types": {"a": "DATE"}}}}]}, "question: steps[0].join: a "),
    ({"steps": [{"join": {"public": {"columns": {"a": [5]}, "types": {"a": []}}}}]}, "question: steps[0].join: a valu"),
    ({"steps": [{"join": {"public": {"columns": {"a": [0] * (MOST_PUBLIC + 1)}}}}]}, "question: steps[0].join: a publ"),
    ({"keys": ["A"]}, "question: leave keys out: they go with group_by"),
    ({"other": True}, "question: leave other out"),
    ({"by": "rows"}, "question: leave by out"),
    ({"group_by": 5}, "question: group_by: expected the name"),
    ({"group_by": []}, "question: group_by: expected the name"),
    ({"group_by": ["a", 1]}, "question: group_by: expected the name"),
    ({**WARD, "keys": "AB"}, "question: keys: expected names"),
    ({**WARD, "keys": 5}, "question: keys: expected names"),
    ({**WARD, "keys": {"ward": "AB"}}, "question: keys: expected lists by column"),
    ({**WARD, "keys": list(range(MOST_KEYS + 1))}, "question: keys name 100001 groups"),
    ({**WARD, "keys": {"a": [0] * 1000, "b": [0] * 1000}}, "question: keys name 1000000 groups"),
    ({**WARD, "keys": [float("nan")]}, "question: a value of type list cannot be written down"),
    ({**WARD, "other": 1}, "question: other: expected true or false"),
    ({**WARD, "edges": 5}, "question: edges: expected a list"),
    ({**WARD, "edges": [0] * (MOST_EDGES + 1)}, "question: edges: expected a list"),
    ({**WARD, "edges": [0, 1], "keys": ["A"]}, "question: group_by: edges=... cuts one column"),
    ({"group_by": ["a", "b"], "edges": [0, 1]}, "question: group_by: edges=... cuts one column"),
    ({"top": 2}, "question: group_by is missing"),
    ({**WARD, "top": 2, "aggregates": COUNT}, "question: leave aggregates out"),
    ({**WARD, "top": 0}, "question: top: k=0"),
    ({**WARD, "top": True}, "question: top: k=True"),
    ({**WARD, "top": "2"}, "question: top: k='2'"),
    ({**WARD, "top": 2, "by": "size"}, "question: top: by='size'"),
    ({"heavy_hitters": 5}, "question: heavy_hitters: expected the name"),
    ({"heavy_hitters": []}, "question: heavy_hitters: expected the name"),
    ({"heavy_hitters": "ward", "aggregates": COUNT}, "question: leave aggregates out"),
    ({"heavy_hitters": "ward", **WARD}, "question: leave group_by out"),
    ({"find_bounds": "wait"}, "question: find_bounds: expected names"),
    ({"find_bounds": {"column": "wait"}}, "question: find_bounds: expected column and within"),
    ({"find_bounds": {"column": "wait", "within": [0, 1], "bins": 5}}, "question: find_bounds: expected column"),
    ({"find_bounds": {"column": 5, "within": [0]}}, "question: find_bounds: find_bounds: within: bounds="),
    ({"find_bounds": {"column": None, "within": [0, 1]}}, "question: find_bounds: an expression is"),
    ({"find_bounds": {"column": "wait", "within": 5}}, "question: find_bounds: find_bounds: within: bounds=5"),
    ({"find_bounds": {"column": "wait", "within": [1, 0]}}, "question: find_bounds: find_bounds: within: bounds=(1, 0"),
    ({"find_bounds": {"column": "wait", "within": [0, 1], "q": 5}}, "question: find_bounds: q=5"),
    ({"find_bounds": {"column": "wait", "within": [0, 1], "q": ["3/4", "1/4"]}}, "question: find_bounds: q=("),
    ({"find_bounds": {"column": "wait", "within": [0, 1], "q": [None, 1]}}, "question: find_bounds: q is of type"),
    ({"find_bounds": {"column": "wait", "within": [0, 1], "spacing": "wide"}}, "question: find_bounds: spacing='wide'"),
    ({"find_bounds": {"column": "wait", "within": [0, 1]}, **WARD}, "question: leave group_by out"),
    ({"aggregates": []}, "question: aggregates: expected names"),
    ({"aggregates": {}}, "question: agg: name at least one"),
    ({"aggregates": {"self": {"count": True}}}, "question: aggregates: nothing can be called 'self'"),
    ({"aggregates": {f"n{place}": {"count": True} for place in range(MOST_AGGREGATES + 1)}}, "question: aggregates: t"),
    ({"aggregates": {"n": 5}}, "question: aggregates: n: expected one of count"),
    ({"aggregates": {"n": {}}}, "question: aggregates: n: expected one of count"),
    ({"aggregates": {"n": {"mode": "wait"}}}, "question: aggregates: n: expected one of count"),
    ({"aggregates": {"n": {"count": "wait"}}}, "question: aggregates: n: count is of no column"),
    ({"aggregates": {"n": {"mean": True, "bounds": [0, 1]}}}, "question: aggregates: n: expected the name of a column"),
    ({"aggregates": {"n": {"mean": "wait"}}}, "question: aggregates: n: bounds: expected two values"),
    ({"aggregates": {"n": {"mean": "wait", "bounds": [1, 0]}}}, "question: aggregates: n: mean: bounds=(1, 0)"),
    ({"aggregates": {"n": {"mean": "wait", "bounds": [0, None]}}}, "question: aggregates: n: mean: bounds"),
    ({"aggregates": {"n": {"mean": "wait", "bounds": [[0], 1]}}}, "question: aggregates: n: mean: bounds"),
    ({"aggregates": {"n": {"mean": "wait", "bounds": [0, 10**400]}}}, "question: aggregates: n: bounds: expected numb"),
    ({"aggregates": {"n": {"mean": "wait", "bounds": [0, 1], "x": 1}}}, "question: aggregates: n: there is no option "),
    ({"aggregates": {"n": {"quantile": "wait", "bounds": [0, 1]}}}, "question: aggregates: n: which quantile?"),
    ({"aggregates": {"n": {"quantile": "wait", "q": 2, "bounds": [0, 1]}}}, "question: aggregates: n: q=2"),
    ({"aggregates": {"n": {"median": "wait", "bins": 1, "bounds": [0, 1]}}}, "question: aggregates: n: quantile: bins"),
    ({"aggregates": {"n": {"count": True}, "n_lower": {"count": True}}}, "question: agg: 'n_lower' is what an end"),
    ({**WARD, "aggregates": {"ward": {"count": True}}}, "question: agg: 'ward' is the name of a column"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "place"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_every_refusal_says_where_it_is(document: Any, place: str) -> None:
    before = copy.deepcopy(document)
    with pytest.raises((FormatError, ParameterError, NumberError)) as refused:
        question_from_json(document)
    assert str(refused.value).startswith(place) and len(str(refused.value)) < 1000
    with pytest.raises((FormatError, ParameterError, NumberError)) as elsewhere:
        question_from_json(document, "questions.early")
    assert str(elsewhere.value).startswith(place.replace("question", "questions.early", 1))
    assert repr(document) == repr(before)


# --------------------------------------------------------------------------------------------------- hostile documents

DEEP: Any = {"column": "wait"}
for _ in range(100_000):
    DEEP = {"operation": "not", "arguments": [DEEP]}
DEEP_LIST: Any = []
for _ in range(100_000):
    DEEP_LIST = [DEEP_LIST]
DEEP_JOIN: Any = []
for _ in range(100_000):
    DEEP_JOIN = [{"join": {"table": "t", "steps": DEEP_JOIN}}]


def refuse(document: Any) -> None:
    with pytest.raises((FormatError, ParameterError, NumberError)):
        question_from_json(document)


def test_documents_that_are_nested_deeply_are_refused_in_words() -> None:
    for document in (
        {"filter": DEEP}, {"derive": {"x": DEEP}}, {"steps": [{"filter": DEEP}]}, {"steps": DEEP_JOIN},
        {"steps": DEEP_LIST}, {**WARD, "keys": DEEP_LIST}, {**WARD, "keys": {"ward": DEEP_LIST}},
        {**WARD, "edges": DEEP_LIST}, {"aggregates": {"n": {"mean": DEEP, "bounds": [0, 1]}}},
        {"aggregates": {"n": {"mean": "wait", "bounds": [DEEP_LIST, 1]}}}, {"limit": {"rows": DEEP_LIST}},
        {"find_bounds": {"column": DEEP, "within": [0, 1]}}, {"find_bounds": {"column": "wait", "within": DEEP_LIST}},
        {"top": DEEP_LIST, **WARD}, {"steps": [{"join": {"public": {"columns": {"a": DEEP_LIST}}}}]},
        {"heavy_hitters": DEEP_LIST}, {"version": DEEP_LIST}, {"group_by": DEEP_LIST}, {"table": DEEP_LIST},
        {"steps": [{"sample": DEEP_LIST}]}, {"steps": [{"select": DEEP_LIST}]},
    ):  # fmt: skip
        refuse(document)


def test_joins_may_be_nested_as_deep_as_is_said_and_no_deeper() -> None:
    made: Any = []
    for _ in range(DEEPEST_JOINS):
        made = [{"join": {"table": "t", "steps": made}}]
    question = question_from_json({"steps": made})
    assert question_from_json(question_to_json(question)) == question
    with pytest.raises(FormatError, match="nested deeper than 8"):
        question_from_json({"steps": [{"join": {"table": "t", "steps": [{"join": {"table": "t", "steps": made}}]}}]})


def test_what_is_nested_less_deeply_is_refused_when_it_meets_columns() -> None:
    table = opened()
    for depth in (50, 150, 300, 600):
        deep: Any = {"column": "urgent"}
        for _ in range(depth):
            deep = {"operation": "not", "arguments": [deep]}
        if depth > 50:
            with pytest.raises((FormatError, ParameterError)):
                table.query({"filter": deep})
    assert table.history == ()


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["wait", "ward"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.text(max_size=5) | st.sampled_from(["column", "value", "operation", "arguments", "mean", "bounds", "public",
                                               "columns", "types", "table", "steps", "filter", "within", "rows", "n"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip
NAMES = [
    "version", "table", "steps", "derive", "filter", "limit", "group_by", "keys", "edges", "other", "aggregates", "top",
    "by", "heavy_hitters", "find_bounds",
]  # fmt: skip
sensible = st.sampled_from([
    {**WARD, "keys": ["A"], "aggregates": COUNT}, {**WARD, "keys": ["A"], "top": 1}, {"heavy_hitters": "ward"},
    {"find_bounds": {"column": "wait", "within": [0, 1]}}, {"steps": [{"filter": "wait > 1"}]},
    {"group_by": "wait", "edges": [0, 1]},
])  # fmt: skip


def read(document: Any) -> tuple[Question | None, str]:
    """The question of a document, or what is said against it."""
    try:
        return question_from_json(document), ""
    except ViameterError as problem:
        return None, str(problem)


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(sensible, st.dictionaries(st.sampled_from(NAMES), anything, max_size=3))
def test_documents_of_wrong_types_are_refused_or_are_questions(good: dict[str, Any], bad: dict[str, Any]) -> None:
    table = opened()
    question, refused = read({**good, **bad})
    if question is None:
        assert refused.startswith("question")
        return
    # What is read can be written, and is then the same; against columns it is refused in words, or has a name.
    assert question_from_json(json.loads(json.dumps(question_to_json(question)))) == question
    with suppress(ViameterError):
        assert repr(table.query(question))
    assert table.history == ()


STEP_NAMES = ["filter", "derive", "select", "sample", "join", "on"]


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(STEP_NAMES), anything, min_size=1, max_size=2), max_size=3))
def test_steps_of_wrong_types_are_refused_or_are_steps(made: list[dict[str, Any]]) -> None:
    table = opened()
    question, refused = read({"steps": made})
    if question is None:
        assert refused.startswith("question: steps")
        return
    assert question_from_json(json.loads(json.dumps(question_to_json(question)))) == question
    with suppress(ViameterError):
        assert repr(table.query(question))


@settings(max_examples=400, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["spend", "within", "alpha", "weights", "raw", "selection_share"]), anything, max_size=3
    )
)
def test_costs_of_wrong_types_are_refused_or_are_costs(made: dict[str, Any]) -> None:
    try:
        cost = cost_from_json(made)
    except ViameterError:
        return
    assert cost_from_json(json.loads(json.dumps(cost.to_json()))) == cost


# ------------------------------------------------------------------------------------------------------------- costs


@pytest.mark.parametrize(
    "cost",
    [
        Cost.read(spend=vm.zcdp("1/3"), alpha="1/7", weights={"n": 2, "m": 0.5}, raw=True),
        Cost.read(spend=vm.approx("1/3", "1e-9"), selection_share="1/3"),
        Cost.read(spend=vm.pure(1)), Cost.read(spend=vm.approx_zcdp(1, "1e-9")),
        Cost.read(within={"n": 30, "m": "1/3"}, alpha="0.05"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_cost_is_read_back_as_it_was_written(cost: Cost) -> None:
    again = cost_from_json(json.loads(json.dumps(cost.to_json())))
    assert again == cost and hash(again) == hash(cost)
