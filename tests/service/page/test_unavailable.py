"""What the page says of what passes: rows that cannot be reached, lines that are full, questions that wait."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest
from tests.service.page.ask_fixtures import FIELDS, filled_in, hidden, preview, released_by, seen
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import faults, read
from tests.service.serving import QUESTION, Running

from viameter.errors import ParameterError
from viameter.service.desk import Job
from viameter.service.problems import Problem
from viameter.service.state import Asked

PERSON = "analyst-visits"
PASSING = {
    "source_unavailable": Problem(503, "source_unavailable", "the rows of this dataset cannot be reached now", {}, 5),
    "busy": Problem(503, "busy", "too many questions wait already; nothing was spent", {}, 2),
}
TOO_LARGE = "the question is too large: its query has 400000 characters; ask for less at a time"


def refuse(monkeypatch: pytest.MonkeyPatch, running: Running, name: str, problem: Exception) -> None:
    """Let a method of the desk refuse."""

    def refused(*_: Any) -> Any:
        raise problem

    monkeypatch.setattr(running.service.desk, name, refused)


@pytest.mark.parametrize("code", sorted(PASSING))
def test_what_passes_is_said_and_leaves_the_question_as_it_was_typed(
    running: Running, visit: Visiting, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    visitor, spent = visit(PERSON), running.spent()
    form = released_by(preview(visitor))
    with monkeypatch.context() as patch:
        refuse(patch, running, "preview", PASSING[code])
        page = seen(preview(visitor), 503)
        assert faults(page) == [] and PASSING[code].message[1:] in page.text
        typed = {**FIELDS, "group-1-values": "Cardiology\nEmergency"}
        assert {name: filled_in(page).get(name) for name in typed} == typed
    with monkeypatch.context() as patch:
        refuse(patch, running, "ask", PASSING[code])
        answered = visitor.send("/datasets/visits/release", form)
        page = seen(answered, 503)
        assert faults(page) == [] and "was not run, and nothing was spent on it" in page.text
        assert answered.headers["retry-after"] == str(PASSING[code].retry_after)
        assert "it is charged once" in page.text
        # Sent again from there, it is the same question under the same key.
        assert {name: hidden(answered, name) for name in ("key", "question")} == form
    assert running.spent() == spent
    sent = visitor.send("/datasets/visits/release", form)
    assert sent.headers["location"] == f"/datasets/visits/answers/{form['key']}"


@pytest.mark.parametrize("code", sorted(PASSING))
def test_a_page_about_rows_that_cannot_be_reached_has_the_menu(
    running: Running, visit: Visiting, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    def refused(*_: Any) -> Any:
        raise PASSING[code]

    monkeypatch.setattr(running.service.catalog, "opened", refused)
    page = read(visit(PERSON).get("/datasets/visits/ask"))
    assert faults(page) == [] and "Nothing was charged" in page.text
    # The service is well: whoever is signed in stays so.
    assert "Sign out" in page.text and PERSON in page.text


def test_a_question_that_is_too_large_says_so_beside_the_form(
    running: Running, visit: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = visit(PERSON)
    form = released_by(preview(visitor))
    refuse(monkeypatch, running, "preview", ParameterError(TOO_LARGE))
    refuse(monkeypatch, running, "ask", ParameterError(TOO_LARGE))
    for answered in (preview(visitor), visitor.send("/datasets/visits/release", form)):
        page = seen(answered, 422)
        assert faults(page) == [] and TOO_LARGE[1:] in page.text and "Send it again" not in page.text


def test_a_question_that_waits_says_that_nothing_is_charged_and_one_that_runs_does_not(
    running: Running, visit: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor, service = visit(PERSON), running.service
    asked = Asked(PERSON, "waits", "visits", QUESTION, "2026-01-01T00:00:00+00:00")
    job = Job(asked, Future())
    monkeypatch.setitem(service.desk._jobs, (PERSON, "waits"), job)
    page = visitor.see("/datasets/visits/answers/waits")
    assert faults(page) == [] and "It waits for the engine of this dataset. Nothing is charged yet." in page.text
    told = running.api(PERSON, "GET", "/datasets/visits/releases/waits").json()
    assert (told["state"], told["waits"], told["entry"]) == ("running", True, None)
    job.has_engine.set()
    page = visitor.see("/datasets/visits/answers/waits")
    assert faults(page) == [] and "It is being answered." in page.text and "Nothing is charged" not in page.text
    told = running.api(PERSON, "GET", "/datasets/visits/releases/waits").json()
    assert (told["state"], told["waits"], told["entry"]) == ("running", False, None)
