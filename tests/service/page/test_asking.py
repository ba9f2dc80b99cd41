"""Asking: previews are free, a release is charged once, and whatever goes wrong keeps what was typed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from tests.service.page.ask_fixtures import FIELDS, document, filled_in, preview, release, released_by, seen
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import faults
from tests.service.serving import PATIENCE, QUESTION, VISITS, WAGES, Running

from viameter.errors import FormatError
from viameter.measures import loss_from_json, zcdp
from viameter.service.documents import loss_document
from viameter.service.page import asking
from viameter.service.page.drafts import read_document
from viameter.service.page.losses import show_left, show_spent

DEEP = '{"operation":"not","arguments":[' * 450 + "true" + "]}" * 450
"""Not so deep that Python gives up on reading it."""
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> {{ 'q' * 9 }} </textarea></title>"
ASK = "/datasets/visits/ask"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases are waited for, however busy the machine is."""
    monkeypatch.setattr("viameter.service.page.asking.PATIENCE", PATIENCE)


def test_the_form_is_there_for_those_who_may_ask_and_well_made(visit: Visiting) -> None:
    page = visit("analyst-visits").see(ASK)
    assert faults(page) == []
    held = filled_in(page)
    assert (held["aggregate-1-what"], held["grouping"], held["amount"]) == ("count", "none", "1/100")
    # What the custodian published is there for the script.
    public = {one["data-column"]: one for one in page.all("span") if "data-column" in one}
    assert public["ward"]["data-listed"] == "Cardiology\nEmergency\nMaternity\nOncology\nPediatrics"
    assert (public["wait"]["data-lower"], public["wait"]["data-upper"]) == ("0", "240")


def test_groups_to_be_found_are_offered_where_the_budget_has_a_delta(
    run_service: Callable[..., Running], visit: Visiting
) -> None:
    assert "grouping-found" not in {one.get("id") for one in visit("analyst-visits").see(ASK).all("input")}
    there = run_service(datasets=[{**VISITS, "budget": {"approx": ["1", "1e-6"]}}, WAGES])
    visitor = visit("analyst-visits", at=there)
    assert {"grouping-found", "delta"} <= {one.get("id") for one in visitor.see(ASK).all("input")}
    fields = {**FIELDS, "grouping": "found", "group-1-values": "", "amount": "1/2", "delta": "1e-7"}
    answered = preview(visitor, fields)
    assert document(answered)["spend"] == {"approx": ["1/2", "1e-7"]} and "keys" not in document(answered)
    assert faults(seen(answered)) == []


@pytest.mark.parametrize(
    ("person", "status"),
    [("auditor-visits", 403), ("custodian-visits", 403), ("analyst-wages", 404), ("nobody", 404), ("admin", 200)],
)
def test_who_may_ask(running: Running, visit: Visiting, person: str, status: int) -> None:
    visitor, before = visit(person), running.spent()
    question = {"key": f"by-{person}", "question": json.dumps(QUESTION)}
    assert visitor.get(ASK).status_code == preview(visitor).status_code == status
    released = visitor.send("/datasets/visits/release", question).status_code
    assert released == (303 if status == 200 else status)
    assert (running.spent() != before) == (status == 200)


def test_whoever_is_not_signed_in_is_sent_to_sign_in(visit: Visiting) -> None:
    nobody = visit()
    for answered in (nobody.get(ASK), nobody.send(ASK, FIELDS), nobody.send("/datasets/visits/release")):
        assert answered.status_code == 303 and "/login" in answered.headers["location"]


def test_a_preview_says_what_it_costs_and_spends_nothing(running: Running, visit: Visiting) -> None:
    visitor, before, head = visit("analyst-visits"), running.spent(), running.service.ledger.head
    answered = preview(visitor)
    page = seen(answered)
    assert faults(page) == []
    assert "fits the budget" in page.text
    assert "Of each patient, at most 5 rows are used; which ones are chosen at random" in page.text
    expected = running.service.desk.preview("analyst-visits", "visits", document(answered)).result()
    # The error of the count as the preview has it, and three of the mean, for groups of three sizes.
    assert f"± {expected['aggregates'][0]['widths'][0]['width']:.0f} rows, 95 %" in page.text
    assert page.text.count("in a group of") == 3
    left = running.service.ledger.scope("visits").left
    loss = loss_from_json({name: value for name, value in expected["loss"].items() if name != "text"})
    for label, amount in (("Left now", left), ("Left after it", left.left_after(loss))):
        assert f"{label} {show_left(amount).striptags()}" in page.text
    for label in ("This question", "This question costs", "Release: spend"):
        assert f"{label} {show_spent(loss).striptags()}" in page.text
    assert running.spent() == before and running.service.ledger.head == head
    # The question is kept in the form below.
    assert {name: value.replace("\r\n", "\n") for name, value in FIELDS.items()}.items() <= filled_in(page).items()
    # Two previews are two questions that one may release.
    assert released_by(preview(visitor))["key"] != released_by(answered)["key"]


def test_what_was_left_empty_is_what_the_custodian_published(visit: Visiting) -> None:
    fields = {**FIELDS, "group-1-values": "", "aggregate-2-lower": "", "aggregate-2-upper": ""}
    found = document(preview(visit("analyst-visits"), fields))
    assert found["keys"] == ["Cardiology", "Emergency", "Maternity", "Oncology", "Pediatrics"]
    assert found["aggregates"]["mean_wait"]["bounds"] == [0, 240]


def test_a_width_that_is_wanted_is_bought(visit: Visiting) -> None:
    fields = {**FIELDS, "aggregate-2-what": "", "costing": "within", "aggregate-1-within": "150", "confidence": "99"}
    answered = preview(visit("analyst-visits"), fields)
    assert document(answered)["within"] == {"rows": "150"} and document(answered)["alpha"] == "1/100"
    assert "± 150 rows, 99 %" in seen(answered).text


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"aggregate-2-lower": "abc"}, "aggregate-2-lower", "expected a number"),
        ({"condition-3-column": "nope", "condition-3-value": "1"}, "condition-3-column", "There is no column"),
        ({"amount": "1/0"}, "amount", "divides by zero"),
        ({"expression": "nope > 3"}, "expression", "There is no column"),
        ({"expression": "__import__('os')"}, "expression", "is not understood"),
        ({"amount": "0"}, "amount", "expected a finite loss above 0"),
        ({"aggregate-1-name": "x", "aggregate-2-name": "x_lower"}, "aggregate-2-name", "another aggregate"),
    ],
)
def test_what_is_wrong_is_said_on_the_form_which_keeps_what_was_typed(
    running: Running, visit: Visiting, change: dict[str, str], field: str, said: str
) -> None:
    fields, before = {**FIELDS, **change}, running.spent()
    page = seen(preview(visit("analyst-visits"), fields), 422)
    assert faults(page) == []
    held = filled_in(page)
    # A name that is no column cannot be chosen; all else is as it was.
    kept = {name: value.replace("\r\n", "\n") for name, value in fields.items() if value != "nope"}
    assert kept.items() <= held.items()
    assert said in page.text and [one for _, one in page.elements if one.get("role") == "alert"]
    wrong = [one.get("id") for _, one in page.elements if one.get("aria-invalid") == "true"]
    assert wrong == ([field] if field else [])
    assert not [one for one in page.all("section") if one.get("id") == "preview"]
    assert running.spent() == before


def test_a_question_sent_twice_has_one_answer_and_is_charged_once(running: Running, visit: Visiting) -> None:
    visitor, before = visit("analyst-visits"), running.spent()
    form = released_by(preview(visitor))
    sent = [visitor.send("/datasets/visits/release", form) for _ in range(3)]
    assert [one.status_code for one in sent] == [303] * 3
    assert {one.headers["location"] for one in sent} == {f"/datasets/visits/answers/{form['key']}"}
    spent = running.spent().rho - before.rho
    assert 0 < spent <= Fraction(1, 1000)
    first, second = (visitor.get(sent[0].headers["location"]).text for _ in range(2))
    assert first == second and 'data-state="released"' in first
    # The same key for another question is refused.
    other = {**form, "question": json.dumps({**json.loads(form["question"]), "spend": {"zcdp": "1/2000"}})}
    refused = visitor.send("/datasets/visits/release", other)
    assert refused.status_code == 422 and running.spent().rho - before.rho == spent


def test_what_does_not_fit_is_previewed_without_a_button_and_refused_if_it_is_sent(
    running: Running, visit: Visiting
) -> None:
    visitor, before = visit("analyst-visits"), running.spent()
    page = seen(preview(visitor, {**FIELDS, "amount": "3"}))
    assert faults(page) == [] and "does not fit the budget" in page.text
    assert "Release:" not in page.text and not [one for one in page.all("form") if "release" in str(one["action"])]
    form = released_by(preview(visitor))
    form["question"] = json.dumps({**json.loads(form["question"]), "spend": {"zcdp": "3"}})
    refused = visitor.send("/datasets/visits/release", form)
    page = seen(refused, 409)
    assert faults(page) == []
    # The loss that it asks for may be a little less than 3, as the noise is a little more.
    assert "nothing was spent on it" in page.text and "zcdp(1/2)" in page.text and "Asked for zcdp(" in page.text
    assert repr(running.service.ledger.scope("visits").left) in page.text
    assert running.spent() == before
    # The way back to the form has the question.
    again = seen(visitor.send(ASK, {"question": json.dumps(json.loads(form["question"]))}))
    assert filled_in(again)["amount"] == "3" and filled_in(again)["aggregate-2-column"] == "wait"


def test_a_limit_of_ones_own_is_shown_and_refuses_too(run_service: Callable[..., Running], visit: Visiting) -> None:
    there = run_service()
    there.service.catalog.set_personal("visits", "analyst-visits", zcdp("1/100"), by="admin", why="a limit")
    visitor = visit("analyst-visits", at=there)
    page = seen(preview(visitor, {**FIELDS, "amount": "1/1000"}))
    assert faults(page) == [] and "Your own limit" in page.text and "fits the budget" in page.text
    form = released_by(preview(visitor))
    form["question"] = form["question"].replace("1/1000", "1/10")
    page = seen(visitor.send("/datasets/visits/release", form), 409)
    assert "Your limit" in page.text and "of what you may spend" in page.text
    text = seen(preview(visitor, {**FIELDS, "amount": "1/25"})).text
    assert text.count("it does not fit") == 1 and "does not fit your own limit" in text
    assert "does not fit the budget" not in text and "more than is left of your own limit" in text
    # 8 % of the budget, and four times the limit: the loss may be a little less than what is to be spent.
    own = text[text.index("Your own limit") :]
    assert re.search(r"This question zcdp\([^)]*\) (39\d|400) %", own) and " 8 %" in text
    text = seen(preview(visitor, {**FIELDS, "amount": "3"})).text
    assert text.count("it does not fit") == 2 and "does not fit the budget" in text
    # It is said which one limits, once; and programs are told the same, with the numbers of each.
    assert text.count("limits this question") == 1
    for amount, binds in (("1/1000", "person"), ("1/25", "person"), ("3", "dataset")):
        asked = {**QUESTION, "spend": {"zcdp": amount}}
        told = there.api("analyst-visits", "POST", "/datasets/visits/preview", json=asked).json()
        budgets = told["budgets"]
        assert told["binding"] == binds and told["fits"] == all(one["fits"] for one in budgets.values())
        assert [told[name] for name in ("spent", "left")] == [budgets[binds][name] for name in ("spent", "left")]
        for whose, budget in (("dataset", "1/2"), ("person", "1/100")):
            texts = [budgets[whose][name]["text"] for name in ("budget", "spent", "left")]
            assert texts == [f"zcdp({budget})", "zcdp(0)", f"zcdp({budget})"]
    others = there.api("analyst-all", "POST", "/datasets/visits/preview", json=QUESTION).json()
    assert (others["budgets"]["person"], others["binding"]) == (None, "dataset")


@pytest.mark.parametrize(
    "sent",
    [
        "", "[]", "null", "{", '{"nope": 1}', '{"spend": 3}', '{"filter": ' + '{"operation":"not","arguments":[' * 400,
        "[" * 20_000, f'{{"spend": {{"zcdp": "1/1000"}}, "filter": {DEEP}}}',
        json.dumps({"spend": {"zcdp": "1/1000"}, "filter": {"operation": "system", "arguments": []}}),
    ],
)  # fmt: skip
def test_what_is_no_question_is_refused(running: Running, visit: Visiting, sent: str) -> None:
    visitor, before = visit("analyst-visits"), running.spent()
    refused = visitor.send("/datasets/visits/release", {"key": "k", "question": sent})
    assert refused.status_code == 422 and faults(seen(refused, 422)) == []
    assert visitor.send(ASK, {"question": sent}).status_code == 422
    assert running.spent() == before


def test_a_question_that_is_nested_too_deeply_is_not_looked_at() -> None:
    with pytest.raises(FormatError, match="nested too deeply"):
        read_document(f'{{"spend": {{"zcdp": "1/1000"}}, "filter": {DEEP}}}')


@pytest.mark.parametrize("key", ["", "a b", "k" * 201, "ä"])
def test_what_is_no_key_is_refused(running: Running, visit: Visiting, key: str) -> None:
    before = running.spent()
    sent = visit("analyst-visits").send("/datasets/visits/release", {"key": key, "question": json.dumps(QUESTION)})
    assert sent.status_code == 422 and running.spent() == before


def test_a_form_from_elsewhere_spends_nothing(running: Running, visit: Visiting) -> None:
    visitor, before = visit("analyst-visits"), running.spent()
    form = released_by(preview(visitor))
    for guard in ("", "0" * 64):
        for path in (ASK, "/datasets/visits/release"):
            assert visitor.client.post(path, data={**form, **FIELDS, "guard": guard}).status_code == 403
    crossed = visitor.send("/datasets/visits/release", form, headers={"sec-fetch-site": "cross-site"})
    assert crossed.status_code == 403 and running.spent() == before
    assert visitor.get("/datasets/visits/release").status_code == 405


def test_releases_have_a_rate(run_service: Callable[..., Running], visit: Visiting) -> None:
    there = run_service(limits={"releases_per_minute": 2})
    visitor = visit("analyst-visits", at=there)
    form = released_by(preview(visitor))
    sent = [visitor.send("/datasets/visits/release", form) for _ in range(3)]
    assert [one.status_code for one in sent] == [303, 303, 429] and "retry-after" in sent[2].headers


def test_a_question_that_was_asked_fills_the_form_in(visit: Visiting) -> None:
    visitor = visit("analyst-visits")
    fields = {
        **FIELDS,
        "condition-1-column": "ward",
        "condition-1-comparison": "is_in",
        "condition-1-value": 'Cardiology, "a, b"',
        "condition-2-column": "age",
        "condition-2-comparison": "ge",
        "condition-2-value": "30",
        "aggregate-2-name": "minutes",
        "confidence": "90",
    }
    place = release(visitor, fields)
    link = next(one for one in visitor.see(place).links() if "like=" in one)
    page = visitor.see(link)
    assert faults(page) == []
    assert {name: value.replace("\r\n", "\n") for name, value in fields.items()}.items() <= filled_in(page).items()
    # It is one's own, and nobody else's.
    assert visit("analyst-all").get(link).status_code == 404


def test_a_question_of_a_program_is_told_to_be_more_than_the_form_has(running: Running, visit: Visiting) -> None:
    asked = running.ask("analyst-visits", question={**QUESTION, "limit": {"rows": 2}, "weights": {"n": 2}}, key="api-1")
    assert asked.status_code == 200
    visitor = visit("analyst-visits")
    page = visitor.see(f"{ASK}?like=api-1")
    assert "does not have all parts of this question" in page.text and filled_in(page)["aggregate-1-name"] == "n"
    # Sent as a whole, it is previewed as a whole.
    whole = seen(visitor.send(ASK, {"question": json.dumps(asked.json()["question"])}))
    assert "Of each patient, at most 2 rows are used" in whole.text and "does not have all parts" in whole.text


def test_a_preview_says_what_is_charged_and_what_is_left_of_the_number_that_is_nearest_to_its_end(
    run_service: Callable[..., Running], visit: Visiting
) -> None:
    unit = {"per": "patient", "rows": 20, "keep": "first by age"}
    there = run_service(datasets=[{**VISITS, "unit": unit, "budget": {"approx": ["4", "1e-6"]}}, WAGES])
    asked = {"aggregates": {"n": {"count": True}}, "spend": {"approx": ["1", "1e-7"]}}
    page = seen(visit("analyst-visits", at=there).send(ASK, {"question": json.dumps(asked)}))
    assert faults(page) == []
    for label in ("This question costs", "This question", "Release: spend"):
        assert f"{label} approx(1, 0)" in page.text
    assert "which is 25 % of the budget; it was offered approx(1, 1/10000000)" in page.text
    assert "Left now approx(4, 1/1000000) 100 %" in page.text
    assert "Left after it approx(3, 1/1000000) 75 %" in page.text
    assert "Of each patient, at most 20 rows are used, the first by age; intervals do not" in page.text
    assert "at random" not in page.text
    assert "The cost of an aggregate is in pure" in page.text


def test_names_and_values_are_shown_and_never_read_as_markup(
    run_service: Callable[..., Running], visit: Visiting
) -> None:
    column = "<b onclick=x>&'\""
    there = run_service()
    (there.folder / "odd.csv").write_text('"<b onclick=x>&\'""",n\n"<i>",1\n"=1+1",2\n')
    there.service.catalog.register(
        "odd",
        {
            "source": "files",
            "table": "odd.csv",
            "unit": {"row": True},
            "budget": {"pure": "1"},
            "title": HOSTILE,
            "columns": {column: {"values": [HOSTILE, "=1+1"]}},
        },
        by="admin",
    )
    visitor = visit("admin", at=there)
    fields = {
        "condition-1-column": column,
        "condition-1-comparison": "ne",
        "condition-1-value": HOSTILE,
        "grouping": "listed",
        "group-1-column": column,
        "aggregate-1-what": "count",
        "aggregate-1-name": HOSTILE[:50],
        "costing": "spend",
        "amount": "1/10",
    }
    first = visitor.see("/datasets/odd/ask")
    previewed = preview(visitor, fields, "odd")
    place = release(visitor, fields, "odd")
    answer = visitor.see(place)
    wrong = seen(preview(visitor, {**fields, "amount": HOSTILE, "expression": HOSTILE}, "odd"), 422)
    for page in (first, seen(previewed), answer, wrong):
        assert faults(page) == []
        assert not page.all("script") or all(one.get("src") for one in page.all("script"))
        assert not page.all("img", "b", "i") and "q" * 9 not in page.text
    assert HOSTILE in seen(previewed).text and document(previewed)["keys"] == [HOSTILE, "=1+1"]
    assert filled_in(wrong)["amount"] == HOSTILE


def test_below_a_prefix_everything_stays_there(run_service: Callable[..., Running], visit: Visiting) -> None:
    there = run_service(server={"prefix": "/privacy"})
    visitor = visit("analyst-visits", at=there)
    answered = preview(visitor)
    assert faults(seen(answered), "/privacy") == []
    sent = visitor.send("/datasets/visits/release", released_by(answered))
    assert sent.headers["location"].startswith("/privacy/datasets/visits/answers/")
    local = sent.headers["location"].removeprefix("/privacy")
    assert faults(visitor.see(local), "/privacy") == []


def test_the_least_that_may_be_spent_is_said_beside_the_field(
    running: Running, visit: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "show_dataset", lambda *_: {"least_spend": loss_document(zcdp("1/2000000"))})
    page = visit("analyst-visits").see(ASK)
    assert faults(page) == [] and "The least here is zcdp(1/2000000)." in page.text
