"""Outcomes: every place that shows a charge says whether it was answered, failed, was lost, or runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from tests.service.outcomes import PERSON, Charged, charged_at
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import faults
from tests.service.serving import Running

import viameter as vm
from viameter.service import desk
from viameter.service.api.needing import Visit
from viameter.service.page.burndown import burndown_of

SIGNS = {"answered": "✓", "failed": "×", "lost": "!", "running": "…"}
COSTS_ANEW = "new question under a new key, which costs anew"


@pytest.fixture
def charged(run_service: Callable[..., Running]) -> Iterator[Charged]:
    """Charges of every outcome."""
    with charged_at(run_service()) as made:
        yield made


def test_programs_are_told_what_came_of_each_charge(charged: Charged) -> None:
    found = charged.at.api(PERSON, "GET", "/datasets/visits/history").json()["lines"]
    told = {line["entry"]: line["outcome"] for line in found}
    assert {entry: told.pop(entry) for entry in charged.entries.values()} == {
        entry: outcome for outcome, entry in charged.entries.items()
    }
    assert told and set(told.values()) == {None}  # decisions
    for outcome, entry in charged.entries.items():
        alone = charged.at.api("auditor-visits", "GET", f"/datasets/visits/history/{entry}").json()["line"]
        assert (alone["outcome"], alone["loss"]["measure"]) == (outcome, "zcdp")


def test_the_client_tells_what_came_of_each_charge(charged: Charged) -> None:
    with vm.connect(charged.at.url, token=charged.at.tokens[PERSON]) as service:
        history = service["visits"].history
    assert {one.outcome: one.entry for one in history} == charged.entries
    assert all(f"outcome={one.outcome!r}" in repr(one) for one in history)


@pytest.mark.parametrize("person", [PERSON, "auditor-visits"])
def test_the_history_says_it_in_a_word_and_a_sign(charged: Charged, visit: Visiting, person: str) -> None:
    page = visit(person, at=charged.at).see("/datasets/visits/history")
    assert faults(page) == []
    rows = {int(number): row for number, row in re.findall(r'/history/(\d+)">(.*?)</tr>', page.source, re.DOTALL)}
    for outcome, entry in charged.entries.items():
        said = f'<span aria-hidden="true">{SIGNS[outcome]}</span> {outcome}</span>'
        assert [said in rows[entry], rows[entry].count("outcome")] == [True, 1]
    assert "stays charged" in page.text and COSTS_ANEW in page.text


def test_only_an_answer_that_is_there_or_comes_is_offered(charged: Charged, visit: Visiting) -> None:
    for person in (PERSON, "auditor-visits"):
        visitor = visit(person, at=charged.at)
        for outcome, entry in charged.entries.items():
            page = visitor.see(f"/datasets/visits/history/{entry}")
            assert faults(page) == [] and f"{SIGNS[outcome]} {outcome}" in page.text
            answers = [link for link in page.links() if "/answers/" in link]
            again = [link for link in page.links() if "/ask?like=" in link]
            assert len(answers) == (outcome in ("answered", "running"))
            assert (COSTS_ANEW in page.text) == (outcome in ("failed", "lost"))
            # Only whoever asked is offered to ask again.
            assert len(again) == (outcome in ("failed", "lost") and person == PERSON)


def test_the_picture_of_the_budget_and_its_table_mark_charges_without_an_answer(
    charged: Charged, visit: Visiting
) -> None:
    page = visit(PERSON, at=charged.at).see("/datasets/visits")
    assert faults(page) == []
    assert "4 charges, 1 of them failed, 1 of them lost:" in page.text
    assert page.source.count('class="unanswered"') == 2 and "A cross (×) is a charge without an answer" in page.text
    for outcome, entry in charged.entries.items():
        assert f"charge {entry} {SIGNS[outcome]} {outcome}" in " ".join(page.text.split())


def test_what_came_of_a_charge_is_looked_up_until_it_is_settled(charged: Charged) -> None:
    service, entry = charged.at.service, charged.entries["running"]
    person = service.state.who_has(charged.at.tokens[PERSON])
    assert person is not None

    def shown() -> str | None:
        made = burndown_of(Visit(service, person, "visits"), "visits", service.ledger.scope("visits"))
        assert made is not None
        return next(point.outcome for point in made.points if point.entry == entry)

    assert shown() == "running"
    request = service.ledger.store.request(PERSON, "is-running")
    assert request is not None
    service.ledger.settle(request, b"1")
    assert shown() == "answered"


def test_what_runs_here_is_running_however_long_it_takes(charged: Charged, monkeypatch: pytest.MonkeyPatch) -> None:
    service = charged.at.service
    monkeypatch.setattr(desk.Desk, "_may_still_run", lambda *_: False)
    lost = charged.at.api(PERSON, "GET", f"/datasets/visits/history/{charged.entries['running']}").json()
    assert lost["line"]["outcome"] == "lost"
    monkeypatch.setitem(service.desk._jobs, (PERSON, "is-running"), None)
    runs = charged.at.api(PERSON, "GET", f"/datasets/visits/history/{charged.entries['running']}").json()
    assert runs["line"]["outcome"] == "running"
