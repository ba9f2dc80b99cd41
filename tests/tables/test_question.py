"""Questions as values and as documents: what is equal, what is read back, what is refused and where it says so."""

from __future__ import annotations

import copy
import json
import pickle
from contextlib import suppress
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tables.held import held
from tests.tables.session.versions.asking import QUESTIONS

import viameter as vm
from viameter.errors import FormatError, NumberError, ParameterError, ViameterError
from viameter.tables.aggregates import WORDS, Count, aggregate_from_json
from viameter.tables.bounding import Limits
from viameter.tables.cost import Cost, cost_from_json
from viameter.tables.document import (
    DEEPEST_JOINS,
    MOST_AGGREGATES,
    MOST_DERIVED,
    MOST_EDGES,
    MOST_KEYS,
    MOST_PUBLIC,
    MOST_STEPS,
    plainly,
    question_from_json,
    question_to_json,
)
from viameter.tables.expressions import Column, Kind, Schema
from viameter.tables.expressions.types import Type
from viameter.tables.formula import Formula, Json
from viameter.tables.public_tables import public
from viameter.tables.question import (
    Aggregates,
    All,
    Edges,
    FindBounds,
    Found,
    HeavyHitters,
    Listed,
    Question,
    Top,
    read_bounds_question,
    read_groups,
)
from viameter.tables.steps import Derive, Filter, Join, Sample, Select, Source, Step

SCHEMA = Schema(
    {
        "ward": Type(Kind.TEXT), "wait": Type(Kind.INTEGER), "cost": Type(Kind.REAL), "urgent": Type(Kind.BOOLEAN),
        "day": Type(Kind.DATE), "at": Type(Kind.TIMESTAMP),
    }
)  # fmt: skip
C = {name: Column(name, kind) for name, kind in SCHEMA.items()}
PREDICATES: list[Any] = [
    "wait > 60", "not urgent and cost < 2.5", True, {"column": "urgent"},
    {"operation": "is_null", "arguments": [{"column": "cost"}]}, C["wait"] > 60, C["wait"] > 60.0,
    C["ward"].is_in(["A", "B", "é\u2028"]), C["day"] >= date(2026, 1, 31),
    C["at"] < datetime(2026, 1, 31, 12, 30, 1, 5),
]  # fmt: skip
NUMBERS: list[Any] = ["wait / 60", 1, 1.0, "wait", C["wait"] * 2, C["cost"].fill_null(0), C["wait"].clip(0, 10)]

ROWS_COUNTED = Aggregates((("n", Count()),))

names = st.sampled_from(["ward", "wait", "cost", "a b", "Größe", "x" * 63, "select", "it's", "n"])
formulas = st.sampled_from([*PREDICATES, *NUMBERS]).map(Formula.of)
fractions = st.fractions(Fraction(1, 1000), 1).map(str) | st.sampled_from(["0.1", "1", "1e-3"])
whole = st.integers(1, 10**6)
finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def limits(draw: st.DrawFn) -> Limits:
    """Limits of every kind, and none."""
    keep = st.sampled_from([None, "uniform", "first by day", "first by a b"])
    rows, groups, per_group = (draw(st.none() | whole) for _ in range(3))
    return Limits(rows, groups, per_group, draw(keep))


@st.composite
def publics(draw: st.DrawFn) -> Any:
    """Public tables with columns of every type."""
    size = draw(st.integers(1, 4))
    kinds: list[Any] = [
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
        st.integers(-(2**63), 2**63 - 1), st.booleans(), finite, st.dates(), st.datetimes(),
    ]  # fmt: skip
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))
    columns = {
        f"p{place}": [draw(kind), *(draw(st.none() | kind) for _ in range(size - 1))]
        for place, kind in enumerate(chosen)
    }
    return public(columns)


def joins(steps: st.SearchStrategy[Step]) -> st.SearchStrategy[Step]:
    """Joins with public tables, and with other private ones after steps."""
    sources = st.builds(Source, st.sampled_from(["", "drugs", "other"]), st.lists(steps, max_size=2).map(tuple))
    return st.builds(Join, publics() | sources, st.lists(names, max_size=2).map(tuple))


derived = st.lists(st.tuples(names, formulas), max_size=3, unique_by=lambda pair: pair[0]).map(tuple)
simple = st.one_of(
    st.builds(Filter, formulas), st.builds(Derive, derived), st.builds(Sample, fractions),
    st.builds(Select, st.lists(names, max_size=3).map(tuple)),
)  # fmt: skip
steps = st.recursive(simple, joins, max_leaves=4)
sources = st.builds(Source, st.sampled_from(["", "visits", "a b"]), st.lists(steps, max_size=4).map(tuple))
keys = st.lists(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=4) | st.dates(), min_size=1, max_size=4
)
listed = keys | keys.map(lambda found: {"ward": found}) | st.lists(keys, min_size=1, max_size=3)
groups = st.one_of(
    st.just(All()),
    st.builds(Listed, st.lists(names, min_size=1, max_size=2).map(tuple), listed.map(Json.of), st.booleans()),
    st.builds(Edges, names, st.lists(st.integers() | finite, max_size=4).map(Json.of), st.booleans()),
    st.builds(Found, st.lists(names, min_size=1, max_size=3).map(tuple), st.booleans()),
)  # fmt: skip


@st.composite
def aggregates(draw: st.DrawFn) -> Aggregates:
    """Each of the words, with and without its options."""
    named = []
    for place, word in enumerate(draw(st.lists(st.sampled_from(list(WORDS)), min_size=1, max_size=5))):
        inputs = WORDS[word].inputs
        document: dict[str, Any] = {word: True}
        if "column" in inputs:
            written = draw(st.sampled_from(["wait", *NUMBERS[4:]]))
            document[word] = written if isinstance(written, str) else Formula.of(written).to_json()
            pairs = [draw(st.sampled_from([[0, 240], [-1.5, 3], ["1/3", "2/3"]])) for one in inputs if "bounds" in one]
            document["bounds"] = pairs[0] if len(pairs) == 1 else pairs
        for kind, _, option in (one.partition(":") for one in inputs):
            other = draw(st.sampled_from(["age", "cost"]))
            document |= {"column": {option: other}, "columns": {option: [other]}}.get(kind, {}) if option else {}
        if "q" in inputs:
            document["q"] = draw(st.sampled_from(["9/10", "0.5", 0.25]))
        if word in ("median", "quantile", "minimum", "maximum"):
            document |= draw(st.sampled_from([{}, {"bins": 16}, {"interval": False}, {"bins": 2, "interval": False}]))
        named.append((f"n{place}", aggregate_from_json(document, word)))
    return Aggregates(tuple(named))


@st.composite
def bounds_questions(draw: st.DrawFn) -> FindBounds:
    """Bounds to be found, in all the ways."""
    column = draw(st.sampled_from(["wait", C["cost"] * 2]))
    within = draw(st.sampled_from([(0, 1), (-1000, 1000), (Fraction(-1, 3), Fraction(2, 3)), (0.1, 2**50)]))
    q = draw(st.sampled_from([("1/100", "99/100"), ("1/4", 0.75), (0, 1)]))
    spacing = draw(st.sampled_from([None, "even", "logarithmic"]))
    return read_bounds_question(column, within=within, q=q, spacing=spacing)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Questions of every kind."""
    source, kept = draw(sources), draw(limits())
    match draw(st.sampled_from(["aggregates", "top", "heavy hitters", "find bounds"])):
        case "aggregates":
            return Question(source, kept, draw(groups), draw(aggregates()))
        case "top":
            grouped = draw(groups.filter(lambda one: not isinstance(one, All)))
            return Question(source, kept, grouped, Top(draw(whole), draw(st.sampled_from(["rows", "units"]))))
        case "heavy hitters":
            return Question(source, kept, All(), HeavyHitters(draw(st.lists(names, min_size=1, max_size=3).map(tuple))))
    return Question(source, kept, All(), draw(bounds_questions()))


many = settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)


# ------------------------------------------------------------------------------------------------------- as documents


@many
@given(questions())
def test_a_question_is_read_back_as_it_was_written(question: Question) -> None:
    document = json.loads(json.dumps(question_to_json(question), allow_nan=False))
    again = question_from_json(document)
    assert again == question and hash(again) == hash(question)
    assert question_to_json(again) == document
    # What can be said without steps is said so, as every version reads it; only what cannot needs the second version.
    assert ("steps" in document) == (document.get("version") == 2)
    assert str(question) == str(again)


@many
@given(questions())
def test_a_question_is_a_value_that_can_be_copied_and_sent(question: Question) -> None:
    for same in (copy.deepcopy(question), pickle.loads(pickle.dumps(question))):
        assert same == question and hash(same) == hash(question)
    assert len({question, copy.copy(question)}) == 1


@many
@given(questions(), questions())
def test_questions_are_equal_if_and_only_if_their_documents_are(one: Question, other: Question) -> None:
    written = [json.dumps(question_to_json(each), sort_keys=True) for each in (one, other)]
    # Numbers in a document are told apart as its text tells them apart.
    assert (one == other) == (written[0] == written[1])


def test_what_python_takes_for_the_same_are_other_questions() -> None:
    for one, other in ((1, True), (1, 1.0), (0, False), ("1", 1), (0.0, -0.0)):
        assert Question(groups=Listed(("k",), Json.of([one]))) != Question(groups=Listed(("k",), Json.of([other])))
        made = [Question(Source(steps=(Derive((("x", Formula.of(value)),)),))) for value in (one, other)]
        assert made[0] != made[1] and len(set(made)) == 2
    assert Question(groups=Edges("k", Json.of([0, 1]))) != Question(groups=Edges("k", Json.of([0, 1.0])))
    assert public({"a": [1]}) != public({"a": [True]}) and public({"a": [1]}) != public({"a": [1.0]})


def test_names_of_tables_and_orders_of_steps_tell_questions_apart() -> None:
    keep, made = Filter(Formula.of("wait > 1")), Derive((("x", Formula.of("wait * 2")),))
    apart = [
        Source(), Source("visits"), Source(steps=(keep,)), Source("visits", (keep,)), Source(steps=(keep, keep)),
        Source(steps=(keep, made)), Source(steps=(made, keep)), Source(steps=(Select(("a", "b")),)),
        Source(steps=(Select(("b", "a")),)), Source(steps=(Sample("1/2"),)), Source(steps=(Sample("0.5"),)),
        Source(steps=(Join(Source()),)), Source(steps=(Join(Source("visits")),)),
        Source(steps=(Join(Source(), ("a",)),)),
    ]  # fmt: skip
    assert len({Question(one) for one in apart}) == len(apart)


@pytest.mark.parametrize("name", QUESTIONS)
def test_documents_of_older_versions_are_read_as_before(name: str) -> None:
    document = QUESTIONS[name]
    question = question_from_json(document)
    assert question.source.table == "" and all(isinstance(step, Derive | Filter) for step in question.source.steps)
    names_derived = [name for step in question.source.steps if isinstance(step, Derive) for name, _ in step.columns]
    assert names_derived == list(document.get("derive", {}))
    assert question.limits.given == document.get("limit", {})
    written = question_to_json(question)
    assert question_from_json(written) == question and "version" not in written and "steps" not in written
    assert question_from_json({**document, "version": 1}) == question
    assert question_from_json({**document, "spend": "anything", "alpha": 5}) == question, "its cost is read elsewhere"


FIRST = Path(__file__).parent / "session" / "versions" / "first" / "answers.json"


def test_the_questions_of_the_first_version_have_the_names_under_which_it_charged_them() -> None:
    stored = json.loads(FIRST.read_text())["questions"]
    assert stored.keys() == QUESTIONS.keys()
    for document in stored.values():
        assert question_from_json(document) == question_from_json(json.loads(json.dumps(document)))


# ---------------------------------------------------------------------------------------------------------- versions


def test_versions_that_are_known_are_read_and_others_are_refused() -> None:
    for version in (1, 2):
        assert question_from_json({"version": version}) == question_from_json({})
    others: list[Any] = [3, 0, -1, 10**30, True, False, 1.0, 2.0, "2", None, [2], {"version": 2}, float("nan")]
    for version in others:
        with pytest.raises(FormatError, match=r"^question: version=.*reads 1 to 2"):
            question_from_json({"version": version})


def test_a_question_with_steps_says_that_it_is_of_the_second_version() -> None:
    one = Question(
        Source(steps=(Sample("1/2"),)), asked=Aggregates((("n", aggregate_from_json({"count": True}, "n")),))
    )
    assert question_to_json(one)["version"] == 2
    two = Question(Source(steps=(Filter(Formula.of("a")), Filter(Formula.of("b")))), asked=one.asked)
    assert question_to_json(two)["steps"] == [{"filter": "a"}, {"filter": "b"}]


# ---------------------------------------------------------------------------------------------------------- refusals

COUNT = {"n": {"count": True}}
WARD = {"group_by": "ward"}
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


# ------------------------------------------------------------------------------------------------------- against data

ROWS: dict[str, Any] = {
    "u": [f"p{place}" for place in range(60)],
    "ward": [None, "A", "B"] * 20,
    "wait": [None if place % 7 == 0 else place for place in range(60)],
    "cost": [None if place % 5 == 0 else place / 4 for place in range(60)],
    "urgent": [True, False, None] * 20,
}
WANTED = ("wait", "cost", "x", "y")


def opened() -> Any:
    return vm.open(held(ROWS), unit=vm.per("u", rows=1), budget=vm.zcdp(10**12))


def rows_of(table: Any, source: Source) -> list[str]:
    """The rows after steps, by the columns of a set that there are."""
    relation = table.session.relation(source)
    kept = [name for name in WANTED if name in relation.schema]
    found = relation.rows().expression[[*kept, "u"]].to_pyarrow().to_pylist()
    return sorted(repr(sorted(row.items())) for row in found)


column = {name: Column(name, Type(kind)) for name, kind in (
    ("wait", Kind.INTEGER), ("cost", Kind.REAL), ("urgent", Kind.BOOLEAN), ("x", Kind.INTEGER), ("y", Kind.INTEGER),
)}  # fmt: skip
PLAIN_FILTERS = [
    column["wait"] > 10, column["wait"] < 50, ~column["cost"].is_null(), column["urgent"], column["cost"] >= 2.5,
    column["x"] > 3, column["y"] < 90,
]  # fmt: skip
PLAIN_DERIVED = [
    ("x", column["wait"] * 2), ("y", column["wait"] + 1), ("x", column["x"] + 1), ("wait", column["wait"].fill_null(3)),
    ("y", column["x"] + 1), ("cost", column["cost"] * 2), ("urgent", ~column["urgent"]), ("x", column["wait"] - 5),
]  # fmt: skip
plain_steps = st.lists(
    st.sampled_from(PLAIN_FILTERS).map(lambda made: Filter(Formula.of(made)))
    | st.lists(st.sampled_from(PLAIN_DERIVED), min_size=1, max_size=2, unique_by=lambda pair: pair[0]).map(
        lambda pairs: Derive(tuple((name, Formula.of(made)) for name, made in pairs))
    ),
    max_size=5,
).map(tuple)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(plain_steps)
def test_columns_first_and_one_filter_then_are_the_same_rows(made: tuple[Step, ...]) -> None:
    table, question = opened(), Question(Source("", made), asked=ROWS_COUNTED)
    plain = plainly(question)
    try:
        expected = rows_of(table, question.source)
    except ParameterError:
        return  # a step is of a column that is not there yet
    assert rows_of(table, plain.source) == expected
    if plain != question:
        assert "steps" not in question_to_json(plain)
    kinds = [type(step) for step in plain.source.steps]
    if "steps" not in question_to_json(plain):
        assert Filter not in kinds[:-1]


def test_columns_that_are_made_at_once_of_one_another_stay_one_step() -> None:
    table = opened()
    swapped = Derive((("wait", Formula.of(column["cost"] * 4)), ("cost", Formula.of(column["wait"] + 0.5))))
    question = Question(Source("", (swapped,)), asked=ROWS_COUNTED)
    assert plainly(question) == question and question_to_json(question)["version"] == 2
    one_by_one = Source("", tuple(Derive((pair,)) for pair in swapped.columns))
    assert rows_of(table, one_by_one) != rows_of(table, question.source)
    apart = Derive((("x", Formula.of(column["cost"] * 4)), ("y", Formula.of(column["wait"] + 1))))
    made = Question(Source("", (apart,)), asked=ROWS_COUNTED)
    assert [len(step.columns) for step in plainly(made).source.steps if isinstance(step, Derive)] == [1, 1]
    assert rows_of(table, plainly(made).source) == rows_of(table, made.source)


def test_what_cannot_be_put_in_that_order_stays_as_it_is() -> None:
    asked = ROWS_COUNTED
    twice, keep = Derive((("wait", Formula.of(column["wait"] * 2)),)), Filter(Formula.of(column["wait"] > 10))
    for made in (
        (keep, twice),
        (twice, twice),
        (Sample("1/2"), keep),
        (Select(("wait",)),),
        (Filter(Formula.of("a")),) * 2,
    ):
        question = Question(Source("", made), asked=asked)
        assert plainly(question) == question
    assert plainly(Question(Source("", (twice, keep)), asked=asked)).source.steps == (twice, keep)
    other = Derive((("x", Formula.of(column["cost"] * 2)),))
    # A filter of another column can wait.
    assert plainly(Question(Source("", (keep, other)), asked=asked)).source.steps == (other, keep)


def test_a_question_from_elsewhere_is_asked_of_the_rows_of_a_table() -> None:
    table = opened()
    late = table.filter("wait > 10").limit(rows=1)
    asked = late.query({"filter": "cost > 2", "limit": {"rows": 1, "keep": "uniform"}})
    assert asked.question.source.steps == (Filter(Formula.of("wait > 10")), Filter(Formula.of("cost > 2")))
    assert asked.question.limits == Limits(rows=1, keep="uniform")
    assert late.query({"limit": {"groups": 1}}).question.limits == Limits(rows=1, groups=1)
    assert table.query(asked.to_json()).question == asked.question
    assert repr(asked) == "filter(wait > 10).filter(cost > 2.0).agg(n)"
    with pytest.raises(ParameterError, match="of the table 'drugs', not ''"):
        table.query({"table": "drugs"})
    with pytest.raises(ParameterError, match="more than the table allows"):
        table.query({"limit": {"rows": 2}})


def test_questions_that_people_write_are_those_of_documents() -> None:
    table = opened()
    pairs: list[tuple[Any, dict[str, Any]]] = [
        (table.agg(n=vm.count()), {"aggregates": COUNT}),
        (table.group_by("ward", keys=["A", None]).agg(n=vm.count()), {"group_by": ["ward"], "keys": ["A", None]}),
        (
            table.group_by("ward", keys=("A", "B"), other=True).top(2),
            {**WARD, "keys": ["A", "B"], "other": True, "top": 2},
        ),
        (
            table.group_by("ward", "wait", keys=[("A", 1)]).agg(n=vm.count()),
            {"group_by": ["ward", "wait"], "keys": [["A", 1]]},
        ),
        (
            table.histogram("wait", [0, 10]),
            {"group_by": "wait", "edges": [0, 10], "aggregates": {"rows": {"count": True}}},
        ),
        (table.bounds_question("wait", within=(0, 100)), {"find_bounds": {"column": "wait", "within": [0, 100]}}),
        (table.filter(table["wait"] > 3).agg(m=vm.mean("wait", bounds=(0, 9))), {
            "filter": {"operation": "gt", "arguments": [{"column": "wait"}, {"value": 3, "kind": "INTEGER"}]},
            "aggregates": {"m": {"mean": "wait", "bounds": [0, 9]}},
        }),
        (table.sample("1/2").select("wait").agg(n=vm.count()), {"steps": [{"sample": "1/2"}, {"select": "wait"}]}),
    ]  # fmt: skip
    for query, document in pairs:
        assert query.question == question_from_json(document)
        assert table.query(document).question == query.question
        assert table.query(query.to_json()).plan is query.plan


def test_groups_that_are_no_groups_are_refused() -> None:
    with pytest.raises(ParameterError, match="name at least one column"):
        read_groups([])
    with pytest.raises(ParameterError, match="other=1"):
        read_groups(["a"], other=1)
    for value in (object(), b"x", {1j}, float("inf")):
        with pytest.raises(ParameterError, match="cannot be written down"):
            Json.of(value)
