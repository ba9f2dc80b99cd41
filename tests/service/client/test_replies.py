"""What replies say, read: ends that are nowhere, days, answers without groups."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.service.client.lines import ANSWER, loss, playing, release, released

import viameter as vm
from viameter.service.client.explaining import Proofs
from viameter.service.client.replies import answer_of, preview_of, schema_of
from viameter.tables import Ranked
from viameter.tables.units import Described

UNIT = Described("per_row()")
PROOFS: Any = Proofs(None, "visits")  # type: ignore[arg-type]
SCHEMA = schema_of(
    {
        "columns": [
            {"name": "day", "type": "DATE"},
            {"name": "at", "type": "TIMESTAMP"},
            {"name": "wait", "type": "INTEGER", "lower": "0", "upper": "9"},
        ],
        "unusable": [],
    }
)


def test_ends_that_are_null_are_nowhere_and_days_are_days() -> None:
    with playing(released).connect() as made:
        answer = made["visits"].agg(n=vm.count()).release(spend=vm.zcdp("1/100"), key="k1")
    assert answer.groups == ((datetime.date(2024, 5, 1),), ("(other)",))
    assert answer["n"].value.dtype == np.int64 and answer["n"].value.tolist() == [12, 4]
    assert answer["w"].lower.tolist() == [-math.inf, -1.0] and answer["w"].upper.tolist() == [3.0, math.inf]
    assert answer["w"].value[0] == 2.5 and math.isnan(answer["w"].value[1])
    assert (answer.key, answer.entry, answer.replayed, answer.alpha) == ("k1", 7, False, Fraction(1, 20))
    assert answer.loss == vm.zcdp("1/100") and answer.notes == ("a note",)
    assert "[-inf,   3]" in repr(answer) and "2024-05-01" in answer._repr_html_() and answer.plot() is not None


@pytest.mark.parametrize(
    ("question", "dtypes"),
    [
        ({"group_by": "day", "aggregates": {"n": {"count": True}, "w": {"mean": "wait"}}}, ("int64", "float64")),
        ({"group_by": "day", "aggregates": {"n": {"count_units": True}, "w": {}}}, ("int64", "float64")),
        ({"heavy_hitters": ["day"]}, ("int64", "int64")),
        ({"group_by": "day"}, ("int64", "float64")),
    ],
)
def test_an_answer_without_groups_has_the_types_of_what_was_asked(question: Any, dtypes: tuple[str, str]) -> None:
    said = release("k1", question=question, answer={**ANSWER, "rows": []})
    answer: Any = answer_of(said, SCHEMA, UNIT, PROOFS)
    assert len(answer) == 0 and (answer["n"].value.dtype, answer["w"].upper.dtype) == dtypes
    assert answer.to_columns() == {name: [] for name in ANSWER["columns"]}


def test_keys_are_read_by_the_kinds_of_their_columns() -> None:
    def keys(name: str, value: Any, **question: Any) -> Any:
        said = {**ANSWER, "keys": [name], "columns": [name], "rows": [[value]], "aggregates": []}
        document = release("k1", question={"group_by": name, **question}, answer=said)
        return answer_of(document, SCHEMA, UNIT, PROOFS).groups[0][0]

    assert keys("at", "2024-05-01T10:30:00") == datetime.datetime(2024, 5, 1, 10, 30)
    assert keys("day", None) is None and keys("day", "(other)") == "(other)"
    # A column of the dataset's kind, or of the question's: text and intervals stay text.
    month = {"month": "truncate(day, 'month')"}
    written = {"operation": "truncate", "arguments": [{"column": "day"}], "options": ["month"]}
    assert keys("month", "2024-05-01", derive={"month": written}) == datetime.date(2024, 5, 1)
    assert keys("month", "2024-05-01", derive={"day2": {"column": "nowhere"}, **month}) == "2024-05-01"
    assert keys("wait", "[0, 5)", edges=[0, 5]) == "[0, 5)"
    assert keys("unknown", "2024-05-01") == "2024-05-01"


def test_keys_in_order_are_read_as_such() -> None:
    said = {**ANSWER, "columns": ["day"], "rows": [["2024-05-02"], ["2024-05-01"]], "aggregates": [], "alpha": None}
    document = release("k1", question={"group_by": "day", "top": 2, "by": "units"}, answer=said)
    ranked = answer_of(document, SCHEMA, UNIT, PROOFS)
    assert isinstance(ranked, Ranked) and ranked.by == "units" and len(ranked) == 2
    assert ranked.to_dicts() == [{"day": datetime.date(2024, 5, 2)}, {"day": datetime.date(2024, 5, 1)}]
    assert ranked.to_columns() == {"day": [datetime.date(2024, 5, 2), datetime.date(2024, 5, 1)]}
    assert repr(ranked).splitlines()[0] == "top 2 by units: day" and "cost zcdp(1/100)" in repr(ranked)


def test_a_preview_is_read_with_what_widths_depend_on() -> None:
    row = {"name": "n", "loss": loss("1/300"), "noise": "gaussian 5", "covers": "noise"}
    widths = [{"depends_on": "", "width": 5.0}, {"depends_on": "at 100 rows", "width": None}]
    preview = preview_of(
        {
            "question": "agg(n)", "loss": loss("1/100"), "spent": loss("0"), "left": loss("1/200"), "fits": False,
            "alpha": "1/20", "unit": "per_row()", "kept": "", "notes": ["a note"],
            "aggregates": [{**row, "widths": widths}],
        },
        "visits",
        vm.zcdp("1/200"),
        UNIT,
    )  # fmt: skip
    assert preview.rows[0].widths == {"": 5.0, " at 100 rows": math.inf} and preview.question == "agg(n)"
    text = repr(preview)
    assert "± 5, ± inf at 100 rows" in text
    assert "no: zcdp(1/200) over what is left" in text and "of one unit, everything" in text
    assert "one unit, per_row()" in preview._repr_html_()
