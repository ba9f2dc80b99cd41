"""Questions as values and as documents: what is equal, what is read back, what is refused and where it says so."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tables.rows_asked import COUNT, WARD, opened
from tests.tables.session.versions.asking import QUESTIONS

import viameter as vm
from viameter.errors import FormatError, ParameterError
from viameter.tables.aggregates import WORDS, Count, aggregate_from_json
from viameter.tables.bounding import Limits
from viameter.tables.document import (
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
            if option and kind != "bounds":
                document[option] = [other] if kind == "columns" else other
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


# ------------------------------------------------------------------------------------------------------- against data

WANTED = ("wait", "cost", "x", "y")


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
