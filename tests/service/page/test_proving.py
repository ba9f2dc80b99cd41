"""Proving: verdicts with proofs that hold nothing but known markup, and certificates that are checked."""

from __future__ import annotations

import html
import json
import re
import urllib.parse
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.service.forks import run_in_a_fork
from tests.service.page.ask_fixtures import filled_in, hidden, seen
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import Page, faults
from tests.service.serving import Running

from viameter.service import programs
from viameter.service.page.proof_markup import CLASSES, ELEMENTS, proof_markup
from viameter.service.page.proving import example

HEAD = "import viameter as vm\n"
RIGHT = """
@vm.program(adjacent=vm.all_differ("q", by=1))
def noisy(q: int, eps: vm.Eps) -> int:
    return q + vm.lap(1 / eps)
"""
WRONG = RIGHT.replace("noisy", "leaky").replace("q + vm.lap(1 / eps)", "q")
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> {{ 7*7 }} </textarea></title>"


@pytest.fixture(autouse=True)
def _forks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "run_alone", run_in_a_fork)


def table_faults(page: Page) -> list[str]:
    """What is wrong with a page of verdicts, beside their tables, which are lists of words with what they mean."""
    known = ("a table without a caption", "th without scope")
    return [one for one in faults(page) if one not in known and not one.startswith("href=data:application/json")]


def test_the_example_is_there_and_is_proved_with_a_certificate_that_holds(running: Running, visit: Visiting) -> None:
    visitor, before = visit("nobody"), running.spent()
    empty = visitor.see("/programs")
    assert faults(empty) == [] and filled_in(empty)["source"] == example() and "@vm.program" in example()
    answered = visitor.send("/programs", {"source": example(), "bound": "eps"})
    page = seen(answered)
    assert table_faults(page) == []
    assert "PROVED" in page.text and "There is a proof" in page.text and "Bound: eps" in page.text
    assert filled_in(page)["source"] == example() and filled_in(page)["bound"] == "eps"
    # The file that the link holds is the certificate, and the one that can be checked here.
    link = next(one for one in page.links() if one.startswith("data:"))
    kept = urllib.parse.unquote(link.removeprefix("data:application/json;charset=utf-8,"))
    assert kept == hidden(answered, "certificate")
    for text, held in ((kept, True), (kept.replace('"eps"', '"eps/2"'), False)):
        checked = seen(visitor.send("/certificates", {"certificate": text}))
        assert faults(checked) == []
        assert ("it holds" in checked.text, "it does not hold" in checked.text) == (held, not held)
        assert filled_in(checked)["certificate"] == text
    assert running.spent() == before


def test_every_program_has_its_verdict(visit: Visiting) -> None:
    page = seen(visit("analyst-visits").send("/programs", {"source": HEAD + RIGHT + WRONG, "bound": "eps"}))
    assert table_faults(page) == []
    articles = re.findall(r"<article.*?</article>", page.source, re.DOTALL)
    assert [
        re.findall(r"<code>(\w+)</code> <span class=\"tag ([\w-]+)\">(\w+)</span>", one)[0] for one in articles
    ] == [
        ("noisy", "tag-good", "PROVED"),
        ("leaky", "tag-bad", "REFUTED"),
    ]
    assert "Download the certificate" in articles[0]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"source": ""}, "Paste the text"),
        ({"source": "x" * 100_001}, "at most 100,000"),
        ({"source": HEAD + RIGHT, "bound": "e" * 201}, "at most 200"),
        ({"source": HEAD + RIGHT, "bound": "nope +"}, "Nothing was verified"),
        ({"source": "import os\nos.system('x')"}, "Nothing was verified"),
        ({"source": HEAD + RIGHT.replace("vm.lap", "open")}, "Nothing was verified"),
        ({"source": HOSTILE}, "Nothing was verified"),
    ],
)
def test_what_cannot_be_verified_is_said_and_kept(visit: Visiting, fields: dict[str, str], said: str) -> None:
    page = seen(visit("nobody").send("/programs", fields), 422)
    assert faults(page) == [] and said in page.text
    assert filled_in(page)["source"] == fields["source"] and filled_in(page)["bound"] == fields.get("bound", "")
    assert not page.all("img") and "49" not in page.text


def test_texts_of_programs_are_never_read_as_markup(visit: Visiting, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = {
        "program": HOSTILE, "status": "REFUTED", "bound": HOSTILE, "explanation": HOSTILE, "seconds": 1.0,
        "html": f'<div class="title"><style>p{{}}</style><p style="x">{html.escape(HOSTILE)}</p></div>{HOSTILE}',
        "certificate": {"claim": HOSTILE},
    }  # fmt: skip
    monkeypatch.setattr("viameter.service.api.proofs.verify_submitted", lambda *_, **__: [verdict])
    page = seen(visit("nobody").send("/programs", {"source": "x"}))
    assert table_faults(page) == [] and not page.all("img", "style")
    assert all(one.get("src") for one in page.all("script")) and "49" not in page.text
    assert json.loads(hidden_certificate(page.source)) == {"claim": HOSTILE}


def hidden_certificate(source: str) -> str:
    """The certificate that can be checked here."""
    found = re.search(r'name="certificate" value="([^"]*)"', source)
    assert found is not None
    return html.unescape(found[1])


@pytest.mark.parametrize("text", ["hello", "{}", "[]", '{"a": 1}', '{"format": 1}', HOSTILE, "[" * 10_000, "9" * 5000])
def test_what_is_no_certificate_is_said_to_be_none(visit: Visiting, text: str) -> None:
    page = seen(visit("nobody").send("/certificates", {"certificate": text}), 422)
    assert faults(page) == [] and filled_in(page)["certificate"] == text
    assert "This is no certificate, so nothing was checked" in page.text
    assert "it does not hold" not in page.text and "may have been changed" not in page.text
    assert not page.all("img")


@pytest.mark.parametrize("changed", ['"format": "viameter-certificate/2"', '"format": "viameter-certificate/1"'])
def test_what_says_that_it_is_a_certificate_is_checked(visit: Visiting, changed: str) -> None:
    page = seen(visit("nobody").send("/certificates", {"certificate": f"{{{changed}}}"}))
    assert faults(page) == [] and "it does not hold" in page.text and "FAILED" in page.text


def test_nothing_is_no_certificate(visit: Visiting) -> None:
    visitor = visit("nobody")
    assert faults(visitor.see("/certificates")) == []
    assert faults(seen(visitor.send("/certificates", {"certificate": " "}), 422)) == []


def test_proofs_need_somebody_who_is_signed_in_and_a_form_of_the_page(visit: Visiting) -> None:
    nobody = visit()
    for path in ("/programs", "/certificates"):
        assert nobody.get(path).status_code == nobody.send(path, {"source": "x"}).status_code == 303
        assert visit("nobody").client.post(path, data={"source": RIGHT, "certificate": "{}"}).status_code == 403


def test_a_busy_verifier_is_a_page_that_says_when_to_come_back(
    visit: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    from viameter.service.problems import Problem

    def busy(*_: Any, **__: Any) -> Any:
        raise Problem(503, "busy", "other programs are being verified: try again", retry_after=5)

    monkeypatch.setattr("viameter.service.page.proving.verified", busy)
    answered = visit("nobody").send("/programs", {"source": HEAD + RIGHT})
    assert answered.status_code == 503 and answered.headers["retry-after"] == "5"


PIECES = st.sampled_from([
    "<p>", "</p>", "<div class='title x'>", "</div>", "<script>alert(1)</script>", "<script>", "</script>",
    "<style>a</style>",
    "<style>", "<img src=x onerror=y>", "<a href='javascript:x'>", "</a>", "<details open ontoggle=x>", "</details>",
    "<ul><li>", "</ul>", "a < b & c", "&lt;script&gt;", "&amp;lt;", "<!-- x", "-->", "<![CDATA[x]]>", "<svg/onload=x>",
    "</main>", "</article>", "<p style='x'", "'", '"', ">", "<", "<b", "<textarea>", "<?php x ?>", "<!doctype html>",
    "<iframe src=x></iframe>", "<form action=x>", "<code>", "<P CLASS=at>", "\x00", "<template>", "</template>",
])  # fmt: skip


@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=20))
@settings(max_examples=300, deadline=None)
def test_proof_markup_is_known_elements_with_known_classes_that_are_closed(pieces: list[str]) -> None:
    page = Page(str(proof_markup("".join(pieces))))
    assert not page.badly_nested and not page.open
    for tag, attributes in page.elements:
        assert tag in ELEMENTS
        assert set(attributes) <= {"class", "open"} and set((attributes.get("class") or "").split()) <= CLASSES


def test_the_proof_of_a_program_keeps_its_text_and_its_tree() -> None:
    (verdict,) = programs.verify_submitted(HEAD + RIGHT, bound="eps", seconds=20)
    before, after = Page(verdict["html"]), Page(str(proof_markup(verdict["html"])))
    style = " ".join(" ".join(re.findall(r"<style>(.*?)</style>", verdict["html"], re.DOTALL)).split())
    assert style and after.text == before.text.replace(style, "").strip().replace("  ", " ")
    assert [tag for tag, _ in after.elements] == [tag for tag, _ in before.elements if tag != "style"]
    assert after.all("details") == before.all("details") and after.all("details")
