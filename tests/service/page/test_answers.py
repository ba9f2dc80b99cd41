"""Answers: what a page shows is what was released, to those who may read it; files have it all."""

from __future__ import annotations

import csv
import io
import json
import re
import threading
import urllib.parse
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.service.page import ask_fixtures
from tests.service.page.ask_fixtures import FIELDS, preview, release, released_by, seen
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import faults
from tests.service.serving import PATIENCE, QUESTION, Running

import viameter as vm
from viameter.service.page.answers import csv_of, view_of
from viameter.service.page.questions import Sheet
from viameter.tables.expressions import Schema

ANSWER: dict[str, Any] = {
    "keys": ["ward"],
    "columns": ["ward", "n", "n_lower", "n_upper"],
    "rows": [["A", -3, -5, -1]],
    "loss": {"measure": "zcdp", "rho": "1/100", "text": "zcdp(1/100)"},
    "guarantee": "zcdp(1/100) for user(): two datasets are neighbors if one has one person more",
    "unit": "per('patient')",
    "aggregates": [{"name": "n", "covers": "noise"}],
    "alpha": "1/20",
    "notes": [],
}
SHEET = Sheet(Schema({}), vm.per("patient", rows=5), vm.zcdp(1))


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases are waited for, however busy the machine is."""
    monkeypatch.setattr("viameter.service.page.asking.PATIENCE", PATIENCE)


def answer_of(running: Running, person: str, key: str) -> dict[str, Any]:
    """What the ledger has."""
    found: dict[str, Any] = running.service.desk.look(person, "visits", key)["answer"]
    return found


def test_the_page_has_the_numbers_of_the_answer_in_its_table_and_its_charts(running: Running, visit: Visiting) -> None:
    visitor = visit("analyst-visits")
    place = release(visitor, {**FIELDS, "amount": "1/50"})
    page = visitor.see(place)
    assert faults(page) == [] and 'data-state="released"' in page.source
    answer = answer_of(running, "analyst-visits", place.rpartition("/")[2])
    exact = [float(str(one["value"])) for one in page.all("data")]
    assert exact == [number for row in answer["rows"] for number in row[1:]]
    svgs = [ET.fromstring(one) for one in re.findall(r'<svg class="intervals".*?</svg>', page.source, re.DOTALL)]
    assert [svg.findtext("title") for svg in svgs] == [
        "rows by group, with intervals",
        "mean_wait by group, with intervals",
    ]
    for start, svg in zip((1, 4), svgs, strict=True):
        ticks = [one for one in svg.iter("text") if "data-number" in one.attrib]
        (x1, n1), (x2, n2) = ((_at(one, "x"), float(one.attrib["data-number"])) for one in (ticks[0], ticks[-1]))
        for row, group in zip(answer["rows"], svg.findall("g"), strict=True):
            dot, line = group.find("circle"), group.find("line[@class='interval']")
            assert dot is not None and line is not None and group.findtext("text[@class='label']") == row[0]
            drawn = [
                n1 + (at - x1) / (x2 - x1) * (n2 - n1) for at in (_at(dot, "cx"), _at(line, "x1"), _at(line, "x2"))
            ]
            assert drawn == pytest.approx(row[start : start + 3], abs=(n2 - n1) * 1e-4)
    # What it cost, for whom that is stated, and where the proof is.
    assert f"It was charged {answer['loss']['text']} , of zcdp(1/50) that it might spend" in page.text
    assert "two datasets are neighbors if one has one person more" in page.text
    entry = running.service.desk.look("analyst-visits", "visits", place.rpartition("/")[2])["entry"]
    links = page.links()
    assert {f"/datasets/visits/history/{entry}", f"/datasets/visits/history/{entry}/certificate"} <= set(links)
    assert all(visitor.get(one).status_code == 200 for one in links if not one.startswith("#"))


def _at(element: ET.Element, name: str) -> float:
    return float(element.attrib[name].removesuffix("%"))


def test_files_have_the_answer_as_it_was_released(running: Running, visit: Visiting) -> None:
    visitor = visit("analyst-visits")
    place = release(visitor)
    answer = answer_of(running, "analyst-visits", place.rpartition("/")[2])
    table = visitor.get(f"{place}/answer.csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="visits-\d+\.csv"', table.headers["content-disposition"])
    assert table.text.count("\r\n") == 3 and table.text.endswith("\r\n")
    lines = list(csv.reader(io.StringIO(table.text, newline="")))
    assert lines[0] == answer["columns"] and len(lines) == 1 + len(answer["rows"])
    for line, row in zip(lines[1:], answer["rows"], strict=True):
        assert line[0] == row[0] and [float(one) if one else None for one in line[1:]] == row[1:]
    whole = visitor.get(f"{place}/answer.json")
    assert whole.json()["answer"] == answer and whole.json()["question"]["spend"] == {"zcdp": "1/1000"}
    assert whole.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_text_that_spreadsheets_would_compute_is_made_harmless_and_numbers_are_not(text: str) -> None:
    answer = {"columns": ["ward", text, "n"], "rows": [[text, 'plain, "text"', -3], [None, True, -2.5]]}
    lines = list(csv.reader(io.StringIO(csv_of(answer), newline="")))
    assert lines == [["ward", f"'{text}", "n"], [f"'{text}", 'plain, "text"', "-3"], ["", "true", "-2.5"]]


def test_a_formula_among_the_groups_is_harmless_in_the_file_and_whole_on_the_page(
    run_service: Callable[..., Running], visit: Visiting
) -> None:
    there = run_service()
    visitor = visit("analyst-visits", at=there)
    place = release(
        visitor, {**FIELDS, "group-1-values": '=HYPERLINK("http://x")\nCardiology', "aggregate-1-name": "=n"}
    )
    table = visitor.get(f"{place}/answer.csv").text
    assert table.startswith("ward,'=n,'=n_lower,'=n_upper,") and '"\'=HYPERLINK(""http://x"")",' in table
    assert '=HYPERLINK("http://x")' in visitor.see(place).text


def test_who_may_read_an_answer(running: Running, visit: Visiting) -> None:
    place = release(visit("analyst-visits"))
    others = f"{place}?by=analyst-visits"
    files = [f"{place}/answer.{kind}" for kind in ("csv", "json")]
    expected = {
        "analyst-visits": (200, 200),
        "analyst-all": (404, 404),  # asked under that key themselves: nothing
        "auditor-visits": (404, 200),
        "custodian-all": (404, 200),
        "admin": (404, 200),
        "only-admin": (404, 404),
        "analyst-wages": (404, 404),
        "nobody": (404, 404),
    }
    for person, (own, by) in expected.items():
        visitor = visit(person)
        assert [visitor.get(one).status_code for one in (place, *files)] == [own] * 3, person
        assert [visitor.get(one).status_code for one in (others, *(f"{one}?by=analyst-visits" for one in files))] == [
            by
        ] * 3
    nobody = visit()
    assert nobody.get(place).status_code == 303 and nobody.get(files[0]).status_code == 303
    page = visit("auditor-visits").see(others)
    assert faults(page) == [] and "Asked by analyst-visits" in page.text
    # An auditor takes files away, and does not ask.
    assert f"{files[0]}?by=analyst-visits" in page.links() and not any("like=" in one for one in page.links())
    assert visit("auditor-visits").get(f"{files[0]}?by=analyst-visits").status_code == 200


def test_what_is_not_there_and_what_is_not_for_you_look_the_same(visit: Visiting) -> None:
    place = release(visit("analyst-visits"))
    visitor = visit("analyst-all")
    absent = seen(visitor.get("/datasets/visits/answers/never-asked"), 404)
    present = seen(visitor.get(place), 404)
    assert faults(absent) == [] and present.text == absent.text and "never-asked" not in absent.source


@pytest.mark.parametrize("key", ["a/b", "x?y=1&z", 'q"<b>', "k%2F", "report.csv", "..%"])
def test_keys_of_programs_may_have_any_signs(running: Running, visit: Visiting, key: str) -> None:
    assert running.ask("analyst-visits", key=key).status_code == 200
    visitor = visit("analyst-visits")
    place = f"/datasets/visits/answers/{urllib.parse.quote(key, safe='')}"
    page = visitor.see(place)
    assert faults(page) == [] and not page.all("b")
    for link in page.links():
        if "answer." in link or "like=" in link:
            assert visitor.get(link).status_code == 200


def test_a_question_that_runs_says_so_until_it_does_not(
    run_service: Callable[..., Running], visit: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = run_service()
    visitor = visit("analyst-visits", at=there)
    form = released_by(preview(visitor))
    desk, go = there.service.desk, threading.Event()
    whole = desk._release

    def waiting(*given: Any) -> Any:
        assert go.wait(PATIENCE)
        return whole(*given)

    monkeypatch.setattr(desk, "_release", waiting)
    monkeypatch.setattr("viameter.service.page.asking.PATIENCE", 0.05)
    try:
        place = visitor.send("/datasets/visits/release", form).headers["location"]
        page = visitor.see(place)
        assert (
            faults(page) == []
            and "It waits for the engine of this dataset. Nothing is charged yet. It was asked" in page.text
        )
        assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page.source
        assert [one for _, one in page.elements if one.get("aria-live") == "polite" and one["data-state"] == "running"]
        assert visitor.get(f"{place}/answer.csv").status_code == 409
        # Sent once more meanwhile: the same place.
        assert visitor.send("/datasets/visits/release", form).headers["location"] == place
    finally:
        go.set()
    desk.ask("analyst-visits", "visits", json.loads(form["question"]), form["key"]).future.result(PATIENCE)
    page = visitor.see(place)
    assert 'data-state="released"' in page.source and "http-equiv" not in page.source
    charges = [one for one in there.service.ledger.scopes() if one.name == "visits"]
    assert repr(charges[0].spent) == answer_of(there, "analyst-visits", form["key"])["loss"]["text"]


@pytest.mark.parametrize(("state", "status", "said"), [
    ("failed", 200, "The question failed on the data, or took too long. Nothing more is said"),
    ("lost", 410, "its answer was not stored"),
])  # fmt: skip
def test_what_failed_or_was_lost_says_that_it_stays_charged(
    running: Running, visit: Visiting, monkeypatch: pytest.MonkeyPatch, state: str, status: int, said: str
) -> None:
    running.ask("analyst-visits", key=f"is-{state}")
    found = {**running.service.desk.look("analyst-visits", "visits", f"is-{state}"), "state": state, "answer": None}
    monkeypatch.setattr(running.service.desk, "look", lambda *_: found)
    visitor = visit("analyst-visits")
    page = seen(visitor.get(f"/datasets/visits/answers/is-{state}"), status)
    assert faults(page) == [] and said in page.text and "stays charged" in page.text and "zcdp(1/1000)" in page.text
    assert visitor.get(f"/datasets/visits/answers/is-{state}/answer.json").status_code == 409


def test_a_question_that_fails_leads_to_a_page_that_does_not_say_why(
    run_service: Callable[..., Running], visit: Visiting
) -> None:
    there = run_service(limits={"seconds": 1e-6})
    visitor = visit("analyst-visits", at=there)
    sent = visitor.send("/datasets/visits/release", released_by(preview(visitor)))
    assert sent.status_code == 303
    page = seen(visitor.get(sent.headers["location"]))
    assert 'data-state="failed"' in page.source and "seconds" not in page.text
    assert there.spent().rho > 0


def test_groups_in_order_have_places_and_no_numbers(visit: Visiting) -> None:
    visitor = visit("analyst-visits")
    fields = {"grouping": "listed", "group-1-column": "ward", "asked": "top", "top": "2", "amount": "1/100"}
    place = release(visitor, fields)
    page = visitor.see(place)
    assert faults(page) == [] and not page.all("data") and 'class="intervals"' not in page.source
    rows = visitor.get(f"{place}/answer.csv").text.split("\r\n")
    assert rows[0] == "ward" and len(rows) == 4 and all(one in page.text for one in rows)


def test_a_long_answer_is_shown_in_part_and_says_so() -> None:
    many = {**ANSWER, "rows": [[f"w{place}", place, place - 1, place + 1] for place in range(1200)]}
    view = view_of(many, SHEET)
    assert view["total"] == 1200 and len(view["rows"]) == 500
    assert csv_of(many).count("\r\n") == 1201


def test_an_answer_without_groups_says_that_this_is_one(running: Running, visit: Visiting, monkeypatch: Any) -> None:
    running.ask("analyst-visits", key="none-found")
    found = running.service.desk.look("analyst-visits", "visits", "none-found")
    found["answer"]["rows"] = []
    monkeypatch.setattr(running.service.desk, "look", lambda *_: found)
    page = visit("analyst-visits").see("/datasets/visits/answers/none-found")
    assert faults(page) == [] and "That too is an answer" in page.text


def test_what_has_no_number_is_said_to_be_unknown() -> None:
    view = view_of({**ANSWER, "rows": [["A", 5.0, None, None], [None, None, None, None]]}, SHEET)
    assert [cell["text"] for cell in view["rows"][0]["cells"]] == ["5.00", "none", "none"]
    assert [cell["text"] for cell in view["rows"][1]["cells"]] == ["unknown", "none", "none"]
    assert view["rows"][1]["keys"] == ["(missing)"] and len(view["charts"]) == 1
    unknown = view_of({**ANSWER, "rows": [["A", None, 0, 240]]}, SHEET)
    assert [cell["text"] for cell in unknown["rows"][0]["cells"]] == ["unknown", "0", "240"]
    assert unknown["has_intervals"] and "unknown (0 to 240)" in unknown["charts"][0]["svg"]


def test_a_quantile_that_was_picked_has_no_ends_and_no_word_of_intervals(running: Running, visit: Visiting) -> None:
    picked = {"median": "wait", "bounds": [0, 240], "interval": False}
    place = "/datasets/visits/answers/"
    for key, aggregates in (("picked", {"x": picked}), ("beside", {"x": picked, "n": {"count": True}})):
        asked = running.ask("analyst-visits", question={**QUESTION, "aggregates": aggregates}, key=key)
        assert asked.status_code == 200, asked.text
    alone, beside = (visit("analyst-visits").see(f"{place}{key}") for key in ("picked", "beside"))
    for page in (alone, beside):
        assert faults(page) == [] and "unknown" not in page.text and "no lower end" not in page.text
        assert (
            page.text.count("none none") == len(QUESTION["keys"])
            and "x has no interval: known is its rank" in page.text
        )
    first, second = (re.findall(r"<figure.*?</figure>", page.source, re.DOTALL) for page in (alone, beside))
    assert len(first) == 1 and len(second) == 2
    for figure in (first[0], second[0]):
        assert "interval" not in figure.replace('class="intervals"', "") and "dot" in figure
    assert "lines their intervals" in second[1] and 'class="interval"' in second[1]
    assert "ends of their intervals" in beside.text and "ends of their intervals" not in alone.text


def test_the_question_of_the_fixtures_is_the_one_of_the_api(running: Running, visit: Visiting) -> None:
    found = ask_fixtures.document(preview(visit("analyst-visits")))
    assert found["keys"] == QUESTION["keys"] and list(found["aggregates"].values()) == list(
        QUESTION["aggregates"].values()
    )
