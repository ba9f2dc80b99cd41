"""Forms of questions: what one can fill in makes a question, and a question that was asked fills the form in again."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.service.page.question_forms import Aggregate, Condition, Group, QuestionForm, fields_of, form_in

import viameter as vm
from viameter.service.api.models import Question
from viameter.service.page import questions as q
from viameter.service.page import reading_questions, wording, writing_questions
from viameter.service.page.aggregate_fields import INPUT_FIELDS, has_width
from viameter.service.page.questions import Misread
from viameter.service.page.typed_values import line_of, read_line, read_number, read_value, text_of
from viameter.service.page.wording import kept_in_words
from viameter.tables.aggregates import WORDS
from viameter.tables.bounding.limits import Limits
from viameter.tables.cost import Cost, cost_from_json
from viameter.tables.document import question_from_json
from viameter.tables.expressions import Kind, Schema, Type

TYPES = {
    "ward": "TEXT", "<b>odd & 'name\"": "TEXT", "wait": "INTEGER", "pay": "REAL", "urgent": "BOOLEAN", "day": "DATE",
    "at": "TIMESTAMP",
}  # fmt: skip
COLUMNS: dict[str, dict[str, Any]] = {
    name: {"name": name, "type": kind, "values": None, "bounds": None} for name, kind in TYPES.items()
}
COLUMNS["ward"]["values"] = ["A", "B"]
COLUMNS["wait"]["bounds"] = [0, 240]
MEASURES = {
    "pure": vm.pure(1), "zcdp": vm.zcdp(1), "approx": vm.approx(1, "1e-6"), "approx-zcdp": vm.approx_zcdp(1, "1e-6")
}  # fmt: skip

WITH_DELTA = ("approx", "approx-zcdp")
OF_TEXT = ("contains", "starts_with", "ends_with")
OF_ORDER = ("lt", "le", "gt", "ge", "between")
COUNTS = ("count", "count_units")


def sheet(columns: dict[str, dict[str, Any]], measure: str) -> q.Sheet:
    """What forms are filled in against."""
    types = {name: Type(Kind(one["type"])) for name, one in columns.items()}
    return q.Sheet(Schema(types), vm.per_row(), MEASURES[measure], columns)


def document_of(form: QuestionForm, columns: dict[str, dict[str, Any]], measure: str) -> dict[str, Any]:
    """The document of the question that a form asks."""
    return writing_questions.document_of(fields_of(form), sheet(columns, measure))


def form_of(document: Any, columns: dict[str, dict[str, Any]], measure: str) -> tuple[QuestionForm, bool]:
    """The form of a question, and whether it asks all of it."""
    held, whole = reading_questions.form_of_document(document, sheet(columns, measure))
    return form_in(held), whole


def completed(form: QuestionForm, columns: dict[str, dict[str, Any]]) -> QuestionForm:
    """A form with what is public."""
    return form_in(q.completed(fields_of(form), sheet(columns, "zcdp")))


def fields_for(what: str) -> set[str]:
    """The fields that a row has for a word."""
    return {field for field, words in INPUT_FIELDS.items() if what in words}


def question_in_words(form: QuestionForm, unit: str) -> str:
    """What a form asks."""
    return wording.question_in_words(fields_of(form), unit)


# Text as fields hold it: no spaces around it, one line.
words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=8)
words = words.map(str.strip).filter(bool)
whole = st.integers(-(10**6), 10**6).map(str)
# What is smaller, or of years beyond, is refused beside its field.
decimals = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda one: one == 0 or abs(one) > 1e-40).map(repr)
VALUES: dict[str, st.SearchStrategy[str]] = {
    "TEXT": words,
    "INTEGER": whole,
    "REAL": st.one_of(whole, decimals),
    "BOOLEAN": st.sampled_from(["true", "false"]),
    "DATE": st.dates(date(2, 1, 1), date(9998, 12, 31)).map(lambda day: day.isoformat()),
    "TIMESTAMP": st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)).map(lambda moment: moment.isoformat()),
}


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    """A condition that is filled in."""
    column = draw(st.sampled_from(list(TYPES)))
    kind = TYPES[column]
    wrong = {"TEXT": OF_ORDER, "BOOLEAN": (*OF_ORDER, *OF_TEXT)}.get(kind, OF_TEXT)
    comparison = draw(st.sampled_from([one for one in q.COMPARISONS if one not in wrong]))
    if comparison in q.WITHOUT_VALUE:
        return Condition(column, comparison)
    if comparison in ("is_in", "not_in", "between"):
        sizes = (2, 2) if comparison == "between" else (1, 4)
        values = draw(st.lists(VALUES[kind], min_size=sizes[0], max_size=sizes[1]))
        return Condition(column, comparison, line_of([read_value(one, kind) for one in values]))
    return Condition(column, comparison, draw(VALUES[kind]))


@st.composite
def aggregates(draw: st.DrawFn, costing: str) -> Aggregate:
    """A number that is asked for."""
    what = draw(st.sampled_from(list(WORDS)))
    within = draw(st.sampled_from(["", "25", "0.5"])) if costing == "within" and has_width(what) else ""
    if what in COUNTS:
        return Aggregate(what, within=within)
    lower, upper = sorted(draw(st.sets(st.integers(-1000, 1000), min_size=2, max_size=2)))
    ends = draw(st.sampled_from([(str(lower), str(upper)), (f"{lower}.25", f"{upper}.5"), (str(lower), "1e4")]))
    if float(ends[0]) >= float(ends[1]):
        ends = (str(lower), str(upper))
    part = draw(st.sampled_from(["0.9", "0.25", "1"])) if what == "quantile" else ""
    column, other = draw(st.permutations(["wait", "pay", "urgent"]))[:2]
    second = {"column_2": other, "lower_2": "-1.5", "upper_2": "7"} if "column-2" in fields_for(what) else {}
    return Aggregate(what, column, *ends, part, within, **second)


@st.composite
def forms(draw: st.DrawFn, measure: str) -> QuestionForm:
    """A form that is filled in, without what does not apply."""
    grouping = draw(st.sampled_from([one for one in q.CHOICES["grouping"] if one != "found" or measure in WITH_DELTA]))
    asked = draw(st.sampled_from(["numbers", "top"])) if grouping in ("listed", "intervals") else "numbers"
    costing = draw(st.sampled_from(["spend", "within"])) if asked == "numbers" else "spend"
    groups: tuple[Group, ...] = ()
    if grouping == "intervals":
        groups = (Group(draw(st.sampled_from(["wait", "pay"]))),)
    elif grouping != "none":
        exact = [name for name, kind in TYPES.items() if kind != "REAL"]
        names = draw(st.lists(st.sampled_from(exact), min_size=1, max_size=2, unique=True))
        listed = [st.lists(VALUES[TYPES[one]], min_size=1, max_size=4, unique=True) for one in names]
        groups = tuple(
            Group(name, "\n".join(draw(values)) if grouping == "listed" else "")
            for name, values in zip(names, listed, strict=True)
        )
    edges = ", ".join(map(str, sorted(draw(st.sets(st.integers(-99, 99), min_size=2, max_size=5)))))
    asked_for = tuple(draw(st.lists(aggregates(costing), min_size=1, max_size=q.AGGREGATES)))
    if costing == "within" and not any(one.within for one in asked_for):
        asked_for = (Aggregate("count", within="10"), *asked_for[1:])
    # Names of one's own, which are those of nothing else.
    named = tuple(
        replace(one, name=f"own name {place}") if draw(st.booleans()) else one for place, one in enumerate(asked_for)
    )
    expression = draw(st.sampled_from(["", "wait > 60 and ward == 'A'"]))
    delta = draw(st.sampled_from(["", "1e-7"])) if measure in WITH_DELTA and costing == "spend" else ""
    return QuestionForm(
        conditions=() if expression else tuple(draw(st.lists(conditions(), max_size=q.CONDITIONS))),
        expression=expression,
        grouping=grouping,
        groups=groups,
        edges=edges if grouping == "intervals" else "",
        other=draw(st.booleans()) if grouping != "none" else False,
        asked=asked,
        aggregates=named if asked == "numbers" else (),
        top="1" if asked == "top" else "",
        by=draw(st.sampled_from(["rows", "units"])) if asked == "top" else "rows",
        costing=costing,
        amount=draw(st.sampled_from(["1/100", "0.05", "1e-3"])) if costing == "spend" else "",
        delta=delta,
        confidence=draw(st.sampled_from(list(q.CONFIDENCES))),
    )


asked_in = st.sampled_from(list(MEASURES)).flatmap(lambda measure: st.tuples(st.just(measure), forms(measure)))


@given(asked_in)
@settings(max_examples=100)
def test_every_question_that_a_form_asks_and_the_fields_it_sends_read_back_to_the_same_form(
    case: tuple[str, QuestionForm],
) -> None:
    measure, form = case
    document = document_of(form, COLUMNS, measure)
    # It is JSON, of the shape that the API takes, and nothing of it is lost there.
    sent = json.loads(json.dumps(document))
    assert Question.model_validate(sent).document() == document
    assert form_of(sent, COLUMNS, measure) == (form, True)
    fields = {**dict.fromkeys(q.TYPED, ""), **dict.fromkeys(q.CHOICES, ""), **fields_of(form)}
    # Browsers send all fields, those of empty rows too, and end lines in their own way.
    sent = {name: value.replace("\n", "\r\n") for name, value in fields.items()}
    again = q.form_of_fields(lambda name: sent.get(name, "").replace("\r\n", "\n"))
    assert again.keys() == fields.keys() and form_in(again) == form
    assert writing_questions.document_of(again, sheet(COLUMNS, measure)) == document


@functools.cache
def table(measure: str) -> Any:
    """A table of these columns."""
    rows = {
        "ward": ["A", "B"], "<b>odd & 'name\"": ["x", "y"], "wait": [1, 2], "pay": [1.5, 2.5], "urgent": [True, False],
        "day": [vm_date(1), vm_date(2)], "at": [vm_moment(1), vm_moment(2)],
    }  # fmt: skip
    return vm.open(rows, unit=vm.per_row(), budget=MEASURES[measure])


def vm_date(day: int) -> Any:
    """A day."""
    return date(2024, 5, day)


def vm_moment(hour: int) -> Any:
    """A time."""
    return datetime(2024, 5, 1, hour)


SOUND = [
    QuestionForm(
        conditions=(
            Condition("ward", "not_in", 'A, "B, north"'), Condition("wait", "between", "1, 2"),
            Condition("day", "ge", "2024-05-01"), Condition("at", "lt", "2024-05-01T12:00:00"),
            Condition("urgent", "eq", "true"), Condition("<b>odd & 'name\"", "starts_with", "x"),
        ),
        aggregates=(
            Aggregate("count"), Aggregate("count_units"), Aggregate("mean", "wait", "0", "240"),
            Aggregate("quantile", "pay", "0.5", "10", "0.9"), Aggregate("std", "urgent", "0", "1"),
        ),
        amount="1/100",
    ),
    QuestionForm(
        conditions=(Condition("wait", "not_null"), Condition("pay", "ne", "2.5")),
        grouping="listed", groups=(Group("ward", "A\nB"), Group("day", "2024-05-01")), other=True,
        aggregates=(Aggregate("count", within="50"), Aggregate("sum", "pay", "0", "10")), costing="within",
        confidence="99",
    ),
    QuestionForm(
        grouping="listed", groups=(Group("urgent", "true\nfalse"),), asked="top", top="1", by="units", amount="0.1"
    ),
    QuestionForm(
        grouping="intervals", groups=(Group("pay"),), edges="0, 1.5, 3", expression="wait > 0",
        aggregates=(Aggregate("maximum", "wait", "0", "9"), Aggregate("variance", "wait", "0", "9")), amount="1/10",
    ),
]  # fmt: skip


@pytest.mark.parametrize("measure", list(MEASURES))
@pytest.mark.parametrize("form", SOUND)
def test_what_a_form_asks_is_understood_and_previewed(form: QuestionForm, measure: str) -> None:
    document = document_of(form, COLUMNS, measure)
    preview = table(measure).query(question_from_json(document)).preview_for(cost_from_json(document))
    # How many numbers the preview has is how many the form asks for.
    assert len(preview.rows) == (len(form.aggregates) or 1)
    assert str(preview.alpha) == q.CONFIDENCES[form.confidence]


@pytest.mark.parametrize("measure", ["approx", "approx-zcdp"])
def test_groups_that_are_to_be_found_need_a_delta(measure: str) -> None:
    form = QuestionForm(
        grouping="found", groups=(Group("ward"),), aggregates=(Aggregate("count"),), amount="1/10", delta="1e-7"
    )
    document = document_of(form, COLUMNS, measure)
    assert document["spend"] == {measure.replace("-", "_"): ["1/10", "1e-7"]} and "keys" not in document
    assert table(measure).query(question_from_json(document)).preview_for(cost_from_json(document)).fits
    with pytest.raises(Misread) as wrong:
        document_of(form, COLUMNS, "zcdp")
    assert "grouping" in wrong.value.problems


def _field(sent: dict[str, str], name: str) -> str:
    return sent.get(name, "")


def test_the_document_of_a_form_says_exactly_what_was_filled_in() -> None:
    form = QuestionForm(
        conditions=(Condition(), Condition("wait", "gt", "60"), Condition(), Condition("ward", "is_in", "A, B")),
        grouping="listed",
        groups=(Group("ward", "A\nB"),),
        aggregates=(Aggregate("count"), Aggregate(), Aggregate("mean", "wait", "0", "240", q="0.9", name="minutes")),
        amount="1/100",
        delta="1e-7",
        top="3",
    )
    assert document_of(form, COLUMNS, "zcdp") == {
        "filter": {
            "operation": "and",
            "arguments": [
                {"operation": "gt", "arguments": [{"column": "wait"}, {"value": 60}]},
                {"operation": "is_in", "arguments": [{"column": "ward"}, {"value": "A"}, {"value": "B"}]},
            ],
        },
        "group_by": "ward",
        "keys": ["A", "B"],
        "aggregates": {"rows": {"count": True}, "minutes": {"mean": "wait", "bounds": [0, 240]}},
        "spend": {"zcdp": "1/100"},
        "alpha": "1/20",
    }


def test_names_that_nobody_chose_are_those_of_nothing_else() -> None:
    columns = {"rows": {"type": "TEXT"}, "wait": {"type": "INTEGER"}}
    twice = Aggregate("sum", "wait", "0", "9")
    form = QuestionForm(
        grouping="listed",
        groups=(Group("rows", "A"),),
        aggregates=(Aggregate("count"), twice, replace(twice, upper="99"), Aggregate("count", name="units")),
        amount="1",
    )
    document = document_of(form, columns, "zcdp")
    assert list(document["aggregates"]) == ["rows_2", "sum_wait", "sum_wait_2", "units"]
    assert form_of(document, columns, "zcdp") == (form, True)


def test_aggregates_of_two_columns_are_asked_by_the_same_fields() -> None:
    columns = {"wait": {"type": "INTEGER", "bounds": [0, 240]}, "pay": {"type": "REAL", "bounds": [0.5, 9]}}
    given = {"column": "wait", "lower": "0", "upper": "240", "column_2": "pay", "lower_2": "1", "upper_2": "2"}
    form = QuestionForm(aggregates=(Aggregate("covariance", **given), Aggregate("regression", **given)), amount="1")
    document = document_of(form, columns, "zcdp")
    assert document["aggregates"] == {
        "covariance_wait_pay": {"covariance": "wait", "y": "pay", "bounds": [[0, 240], [1, 2]]},
        "regression_wait_pay": {"regression": "wait", "on": ["pay"], "bounds": [[0, 240], [1, 2]]},
    }
    assert form_of(document, columns, "zcdp") == (form, True)
    assert question_in_words(form, "patient").startswith(
        "The covariance of wait between 0 and 240 and pay between 1 and 2 and the line of least squares of wait"
    )
    empty = replace(form, aggregates=(Aggregate("correlation", "wait", column_2="pay"),))
    (filled,) = completed(empty, columns).aggregates
    assert (filled.lower, filled.upper, filled.lower_2, filled.upper_2) == ("0", "240", "0.5", "9")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"column_2": ""}, "column-2"), ({"column_2": "ward"}, "column-2"), ({"column_2": "wait"}, "column-2"),
        ({"upper_2": "-1"}, "upper-2"), ({"lower_2": "x"}, "lower-2"), ({"column": "ward"}, "column"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_one_of_two_columns_is_said_beside_it(change: dict[str, str], field: str) -> None:
    given = {"column": "wait", "lower": "0", "upper": "1", "column_2": "pay", "lower_2": "0", "upper_2": "1"}
    form = QuestionForm(aggregates=(Aggregate("count"), Aggregate("covariance", **{**given, **change})), amount="1")
    with pytest.raises(Misread) as wrong:
        document_of(form, COLUMNS, "zcdp")
    assert list(wrong.value.problems) == [f"aggregate-2-{field}"]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    form = QuestionForm(
        conditions=(Condition("ward", "lt", "A"), Condition("wait", "eq", "x")),
        grouping="listed", groups=(Group("pay", "1"),),
        aggregates=(Aggregate("mean", "wait", "1", "0"), Aggregate("sum", "ward", "0", "1")), amount="0",
    )  # fmt: skip
    with pytest.raises(Misread) as wrong:
        document_of(form, COLUMNS, "zcdp")
    assert wrong.value.problems.keys() == {
        "condition-1-comparison", "condition-2-value", "group-1-column", "aggregate-1-upper", "aggregate-2-column",
        "amount",
    }  # fmt: skip
    assert wrong.value.problems["condition-1-comparison"] == "ward is text, which cannot be compared so"


def test_questions_of_the_client_fill_the_form_in() -> None:
    known = table("zcdp")
    asked = known.filter(known["wait"] >= 60).filter(known["ward"].is_in(["A", "B"])).group_by("ward", keys=["A"])
    cost = Cost(spend=vm.zcdp("1/20"))
    document = {**asked.agg(m=vm.median("pay", bounds=(0, "9/8"))).to_json(), **cost.to_json()}
    form, complete = form_of(document, COLUMNS, "zcdp")
    assert complete and form.conditions == (Condition("wait", "ge", "60"), Condition("ward", "is_in", "A, B"))
    assert form.aggregates == (Aggregate("quantile", "pay", "0", "9/8", "1/2", name="m"),) and form.amount == "1/20"
    # Without a document, the word is the one that needs least, and numbers are short.
    held, complete = reading_questions.form_of(question_from_json(document), cost, sheet(COLUMNS, "zcdp"))
    assert complete and held["aggregate-1-what"] == "median"
    assert (held["aggregate-1-upper"], held["amount"]) == ("1.125", "0.05")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no column": ({"conditions": (Condition("", "eq", "3"),)}, "condition-1-column"),
    "unknown column": ({"conditions": (Condition("nope", "eq", "3"),)}, "condition-1-column"),
    "no number": ({"conditions": (Condition(), Condition("wait", "eq", "x"))}, "condition-2-value"),
    "no value": ({"conditions": (Condition("ward", "eq", ""),)}, "condition-1-value"),
    "no day": ({"conditions": (Condition("day", "eq", "31.5.2024"),)}, "condition-1-value"),
    "beyond": ({"conditions": (Condition("pay", "gt", "1e-200"),)}, "condition-1-value"),
    "not two": ({"conditions": (Condition("wait", "between", "3"),)}, "condition-1-value"),
    "an open quote": ({"conditions": (Condition("ward", "is_in", 'A, "B'),)}, "condition-1-value"),
    "text has no order": ({"conditions": (Condition("ward", "lt", "B"),)}, "condition-1-comparison"),
    "numbers contain nothing": ({"conditions": (Condition("wait", "contains", "1"),)}, "condition-1-comparison"),
    "both": ({"conditions": (Condition("ward", "eq", "A"),), "expression": "wait > 1"}, "expression"),
    "no group": ({"grouping": "listed"}, "group-1-column"),
    "no values": ({"grouping": "listed", "groups": (Group("wait", ""),)}, "group-1-values"),
    "a value twice": ({"grouping": "listed", "groups": (Group("wait", "1\n2\n1"),)}, "group-1-values"),
    "no whole": ({"grouping": "listed", "groups": (Group("wait", "a"),)}, "group-1-values"),
    "real keys": ({"grouping": "listed", "groups": (Group("pay", "1.5"),)}, "group-1-column"),
    "twice": ({"grouping": "listed", "groups": (Group("ward", "A"), Group("ward", "B"))}, "group-2-column"),
    "one edge": ({"grouping": "intervals", "groups": (Group("wait"),), "edges": "3"}, "edges"),
    "falling": ({"grouping": "intervals", "groups": (Group("wait"),), "edges": "3, 1"}, "edges"),
    "no edges": ({"grouping": "intervals", "groups": (Group("wait"),), "edges": "a, b"}, "edges"),
    "top of nothing": ({"asked": "top", "top": "3"}, "asked"),
    "top how many": ({"asked": "top", "grouping": "listed", "groups": (Group("ward", "A"),)}, "top"),
    "nothing asked": ({"aggregates": ()}, "aggregate-1-what"),
    "of no column": ({"aggregates": (Aggregate("mean", "", "0", "1"),)}, "aggregate-1-column"),
    "of text": ({"aggregates": (Aggregate("mean", "ward", "0", "1"),)}, "aggregate-1-column"),
    "no lower": ({"aggregates": (Aggregate("mean", "pay", "", "1"),)}, "aggregate-1-lower"),
    "no fraction": ({"aggregates": (Aggregate("mean", "pay", "1/0", "2"),)}, "aggregate-1-lower"),
    "turned": ({"aggregates": (Aggregate(), Aggregate("mean", "wait", "5", "1"))}, "aggregate-2-upper"),
    "which quantile": ({"aggregates": (Aggregate("quantile", "wait", "0", "1"),)}, "aggregate-1-q"),
    "quantile of 2": ({"aggregates": (Aggregate("quantile", "wait", "0", "1", "2"),)}, "aggregate-1-q"),
    "names": ({"aggregates": (Aggregate("count", name="n"), Aggregate("count", name="n"))}, "aggregate-2-name"),
    "name of a key": (
        {"grouping": "listed", "groups": (Group("ward", "A"),), "aggregates": (Aggregate("count", name="ward"),)},
        "aggregate-1-name",
    ),
    "long name": ({"aggregates": (Aggregate("count", name="n" * 61),)}, "aggregate-1-name"),
    "no width": ({"costing": "within"}, "costing"),
    "width 0": ({"costing": "within", "aggregates": (Aggregate("count", within="0"),)}, "aggregate-1-within"),
    "width a": ({"costing": "within", "aggregates": (Aggregate("count", within="a"),)}, "aggregate-1-within"),
    "no amount": ({"amount": ""}, "amount"),
    "bad amount": ({"amount": "1/0"}, "amount"),
    "negative": ({"amount": "-1"}, "amount"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(WRONG))
def test_what_is_wrong_is_said_of_its_field_and_of_no_other(name: str) -> None:
    changes, field = WRONG[name]
    form = replace(QuestionForm(aggregates=(Aggregate("count"),), amount="1/100"), **changes)
    with pytest.raises(Misread) as wrong:
        document_of(form, COLUMNS, "zcdp")
    assert list(wrong.value.problems) == [field]


def test_a_delta_that_is_none_is_said_beside_it() -> None:
    form = QuestionForm(aggregates=(Aggregate("count"),), amount="1/100", delta="2")
    with pytest.raises(Misread) as wrong:
        document_of(form, COLUMNS, "approx")
    assert list(wrong.value.problems) == ["delta"]


BEYOND: list[dict[str, Any]] = [
    {"limit": {"rows": 1}},
    {"weights": {"n": 2}},
    {"raw": True},
    {"derive": {"x": "wait + 1"}},
    {"heavy_hitters": "ward", "aggregates": None},
    {"filter": {"operation": "or", "arguments": [{"column": "urgent"}, {"column": "urgent"}]}},
    {"filter": 3},
    {"group_by": ["ward", "wait"], "keys": [["A", 1]]},
    {"group_by": ["ward", "wait", "day"], "keys": {"ward": ["A"], "wait": [1], "day": ["2024-05-01"]}},
    {"group_by": "ward", "keys": ["A ", "B"]},
    {"group_by": "ward", "keys": ["A\nB"]},
    {"aggregates": {f"n{place}": {"count": True} for place in range(6)}},
    {"aggregates": {"m": {"median": "wait", "bounds": [0, 1], "bins": 16}}},
    {"aggregates": {"m": {"median": "wait", "bounds": [0, 1], "interval": False}}},
    {"aggregates": {"n": "no"}},
    {"alpha": "1/7"},
    {"spend": {"pure": "1"}},
    {"alpha": "1/0"},
    {"group_by": {}, "keys": 3},
]


@pytest.mark.parametrize("part", BEYOND)
def test_what_the_form_does_not_have_is_told(part: dict[str, Any]) -> None:
    document = {"aggregates": {"n": {"count": True}}, "spend": {"zcdp": "1/100"}, **part}
    assert form_of({key: value for key, value in document.items() if value is not None}, COLUMNS, "zcdp")[1] is False


def test_questions_that_were_written_in_another_way_fill_the_form_in() -> None:
    document = {
        "group_by": ["ward"],
        "keys": {"ward": ["A", "B"]},
        "other": False,
        "aggregates": {"n": {"count": True}, "w": {"quantile": "wait", "q": 0.9, "bounds": [0.5, 240]}},
        "spend": {"measure": "zcdp", "rho": "1/100"},
        "alpha": "0.05",
    }
    form, complete = form_of(document, COLUMNS, "zcdp")
    assert complete
    assert form.groups == (Group("ward", "A\nB"),) and form.amount == "1/100" and form.confidence == "95"
    assert form.aggregates[1] == Aggregate("quantile", "wait", "0.5", "240", "0.9", name="w")


WRITTEN = [
    json.loads(line) for line in Path(__file__).with_name("form_documents.jsonl").read_text("utf-8").splitlines()
]
"""Forms with the documents that they made before questions were values: those are in states, under keys."""


@pytest.mark.parametrize("measure", list(MEASURES))
def test_the_same_form_makes_the_same_document_as_ever(measure: str) -> None:
    cases = [one for one in WRITTEN if one["measure"] == measure]
    assert len(cases) > 25
    for one in cases:
        sent = {name: text.replace("\r\n", "\n") for name, text in one["fields"].items()}
        against = sheet(COLUMNS, measure)
        form = q.completed(q.form_of_fields(partial(_field, sent)), against)
        assert json.dumps(writing_questions.document_of(form, against)) == one["document"]


def test_what_is_public_of_columns_stands_for_what_was_left_empty() -> None:
    form = QuestionForm(
        grouping="listed",
        groups=(Group("ward"), Group("wait", "1")),
        aggregates=(Aggregate("mean", "wait"), Aggregate("sum", "wait", "5", ""), Aggregate("sum", "pay")),
    )
    made = completed(form, COLUMNS)
    assert made.groups == (Group("ward", "A\nB"), Group("wait", "1"))
    # What somebody began to fill in is theirs; what nobody published stays empty.
    assert [(one.lower, one.upper) for one in made.aggregates] == [("0", "240"), ("5", ""), ("", "")]
    assert completed(replace(form, grouping="found"), COLUMNS).groups[0].values == ""


@given(st.lists(words, min_size=1, max_size=5))
@settings(deadline=None)
def test_values_in_one_line_are_read_as_they_were_written(values: list[str]) -> None:
    assert read_line(line_of(values), "TEXT") == values


@given(st.one_of(st.integers(-(10**18), 10**18), st.floats(-1e40, 1e40)))
def test_numbers_are_read_as_they_were_written(number: float) -> None:
    found = read_number(text_of(number))
    assert found == number and type(found) is type(number)


@pytest.mark.parametrize("text", ["", "1,000", "0x10", "1_000", "nan", "inf", "1e999", "٣", "1 2", "--1"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(vm.errors.ViameterError):
        read_number(text)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(), ""),
        (Limits(rows=5), "at most 5 rows are used; which ones are chosen at random, and"),
        (Limits(groups=1), "at most 1 group is used; which one is chosen at random, and"),
        (Limits(rows=1, keep="first by day"), "at most 1 row is used, the first by day;"),
        (Limits(rows=2, keep="first by a, first by b"), "at most 2 rows are used, the first by a, first by b;"),
        (
            Limits(rows=5, per_group=2, keep="first by t"),
            "at most 5 rows, 2 rows in each group, are used, the first by t;",
        ),
        # Which groups is chosen at random, whatever is said of rows; with one row in each group, rows are groups.
        (Limits(groups=2, per_group=3, keep="first by t"), "are used: groups chosen at random, and in each the first"),
        (
            Limits(rows=5, groups=2, keep="first by t"),
            "are used: groups chosen at random, and in each the first rows by t;",
        ),
        (Limits(rows=5, per_group=1, keep="first by t"), "are used: groups chosen at random, and in each the first"),
    ],
)
def test_what_is_kept_is_said_as_it_is_chosen(limits: Limits, said: str) -> None:
    found = kept_in_words(limits.words, "plane")
    assert said in found and bool(said) == bool(found)
    assert not found or (found.startswith("Of each plane, at most ") and "intervals do not cover" in found)


def test_questions_are_said_in_words() -> None:
    form = replace(SOUND[1], costing="spend", amount="1")
    assert question_in_words(form, "patient") == (
        "The number of rows and the sum of pay between 0 and 10, by ward and day (2 times 1 listed values), with all "
        "others as one group, of rows where wait is not missing and pay is not 2.5."
    )
    top = replace(SOUND[2], conditions=(Condition("wait", "between", "1, 2"),))
    assert question_in_words(top, "patient") == (
        "Which 1 groups have most patients, in order, by urgent (2 listed values), "
        "of rows where wait is between 1 and 2."
    )


def test_amounts_that_are_suggested_are_parts_of_the_budget() -> None:
    assert q.suggested_amounts({"measure": "approx", "epsilon": "1", "delta": "1/1000000"}) == [
        "1/100",
        "1/50",
        "1/20",
        "1/10",
    ]
    assert q.suggested_amounts({"measure": "pure", "epsilon": "inf"}) == []
    assert q.suggested_amounts({"measure": "zcdp", "rho": "123456789/987654321987"}) == []
    assert q.first_form({"measure": "zcdp", "rho": "1/2"})["amount"] == "1/100"
