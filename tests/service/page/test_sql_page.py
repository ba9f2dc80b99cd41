"""Questions in SQL on the page: previewed as any other, with what is wrong at its line and column."""

from __future__ import annotations

import html
import json
from typing import Any

import pytest
from tests.service.page.ask_fixtures import document, filled_in, hidden, released_by, seen
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import faults
from tests.service.serving import PATIENCE, Running

ASK = "/datasets/visits/ask"
COUNTS = "SELECT COUNT(*) AS n FROM visits WHERE age >= 18"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases are waited for, however busy the machine is."""
    monkeypatch.setattr("viameter.service.page.asking.PATIENCE", PATIENCE)


def asked(visit: Visiting, text: str, **fields: str) -> Any:
    """The reply to a question in SQL."""
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return visit("analyst-visits").send(ASK, {"sql": text, "sql-amount": "1/1000", **named})


def test_a_question_in_sql_is_previewed_shown_in_the_form_and_released(running: Running, visit: Visiting) -> None:
    before = running.spent()
    answered = asked(visit, COUNTS)
    page = seen(answered)
    assert faults(page) == [] and "fits the budget" in page.text and "does not have all parts" not in page.text
    assert "The number of rows, of rows where age is at least 18." in page.text
    held = filled_in(page)
    assert held["sql"] == COUNTS and held["amount"] == "1/1000"
    row = [held[f"condition-1-{part}"] for part in ("column", "comparison", "value")]
    assert row == ["age", "ge", "18"] and held["aggregate-1-name"] == "n"
    assert document(answered)["aggregates"] == {"n": {"count": True}} and running.spent() == before
    visitor = visit("analyst-visits")
    sent = visitor.send("/datasets/visits/release", released_by(answered))
    assert sent.status_code == 303 and running.spent() != before
    assert "n" in visitor.see(sent.headers["location"]).text


def test_what_it_may_cost_is_said_by_its_options_or_beside_it(visit: Visiting) -> None:
    text = COUNTS.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(rho = 0.002)")
    assert document(asked(visit, text, sql_amount=""))["spend"] == {"measure": "zcdp", "rho": "1/500"}
    page = seen(asked(visit, COUNTS, sql_amount=""), 422)
    assert "say what the question may cost" in page.text.lower() and filled_in(page)["sql"] == COUNTS
    page = seen(asked(visit, text.replace("rho = 0.002", "epsilon = 1")), 422)
    assert [one.get("id") for _, one in page.elements if one.get("aria-invalid") == "true"] == ["sql"]


@pytest.mark.parametrize(
    ("text", "said", "mark"),
    [
        ("SELECT MIN(wait) FROM visits", "line 1, column 8", "SELECT MIN(wait) FROM visits\n       ^^^^^^^^^"),
        (f"{COUNTS}\n AND wiat > 3", "did you mean wait?", " AND wiat > 3\n     ^^^^"),
        ("DROP TABLE visits", "tables are never changed", "DROP TABLE visits\n^^^^"),
        ("SELECT COUNT(*) FROM visits WHERE (", "line 1", "^"),
        ("(" * 3000, "nested too deeply", "^"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(running: Running, visit: Visiting, text: str, said: str, mark: str) -> None:
    before = running.spent()
    answered = asked(visit, text)
    page = seen(answered, 422)
    assert faults(page) == [] and said in page.text.lower() and mark in html.unescape(answered.text)
    assert filled_in(page)["sql"] == text and running.spent() == before
    assert [one.get("id") for _, one in page.elements if one.get("aria-invalid") == "true"] == ["sql"]


def test_what_is_done_with_an_answer_is_said_to_be_left_out(visit: Visiting) -> None:
    text = (
        "SELECT ward, SUM(CLAMP(wait, 0, 240)) / COUNT(*) AS ratio FROM visits RIGHT JOIN UNNEST(['Cardiology']) AS w "
        "ON visits.ward = w GROUP BY w HAVING COUNT(*) > 5 ORDER BY ratio LIMIT 3"
    ).replace("SELECT ward,", "SELECT w,")
    page = seen(asked(visit, text))
    assert faults(page) == []
    assert "left out here: HAVING, ORDER BY, LIMIT, the computed column ratio." in page.text


def test_a_question_that_the_form_does_not_have_is_previewed_as_a_whole(visit: Visiting) -> None:
    text = "SELECT COUNT(*) AS n FROM (SELECT wait / 60 AS hours FROM visits) AS v WHERE hours > 1"
    answered = asked(visit, text)
    page = seen(answered)
    assert faults(page) == [] and "does not have all parts of this question" in page.text
    whole = json.loads(hidden(answered, "question"))
    assert "hours" in json.dumps(whole)


def test_hostile_text_is_shown_and_never_read_as_markup(visit: Visiting) -> None:
    text = "SELECT COUNT(*) FROM visits WHERE ward = '</textarea><script>alert(1)</script>' AND nope = 1"
    page = seen(asked(visit, text), 422)
    assert faults(page) == [] and filled_in(page)["sql"] == text
    assert all(one.get("src") for one in page.all("script"))
