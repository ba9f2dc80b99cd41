"""The frame of the page: every page is well made, says nothing that was not escaped, and stays below its prefix."""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Callable

import httpx
import pytest
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import Page, Visitor, faults, read
from tests.service.serving import PATIENCE, VISITS, WAGES, Running

from viameter.service.page import PARTS, overview
from viameter.service.page.rendering import NOTICES, environment

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> {{ 7*7 }} </textarea></title>"
EVERYBODY = ("admin", "only-admin", "custodian-visits", "analyst-visits", "auditor-all", "nobody")


def crawl(visitor: Visitor, prefix: str = "") -> dict[str, Page]:
    """All pages that links lead to, from the start on; each is there and without fault."""
    waiting, seen = ["/"], {}
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        answered = visitor.get(path)
        assert answered.status_code == 200, (path, answered.status_code, answered.text[:2000])
        if not answered.headers["content-type"].startswith("text/html"):
            continue
        seen[path] = read(answered)
        assert faults(seen[path], prefix) == [], path
        for link in seen[path].links():
            if not link.startswith("#"):
                assert link.startswith(f"{prefix}/")
                waiting.append(link.removeprefix(prefix).partition("#")[0])
    return seen


@pytest.mark.parametrize("person", EVERYBODY)
def test_all_that_links_lead_to_is_there_and_well_made(running: Running, visit: Visiting, person: str) -> None:
    running.ask("analyst-visits", key="crawl")
    seen = crawl(visit(person))
    assert {"/", "/me", "/programs", "/certificates"} <= set(seen)
    assert ("/people" in seen) == (person in ("admin", "only-admin"))
    assert ("/acts" in seen) == (person in ("admin", "only-admin", "auditor-all"))
    assert ("/datasets/visits/manage" in seen) == (person in ("admin", "custodian-visits"))
    assert ("/datasets/visits/ask" in seen) == (person in ("admin", "analyst-visits"))


def test_below_a_prefix_all_links_forms_and_redirects_stay_below_it(
    run_service: Callable[..., Running], visit: Visiting
) -> None:
    there = run_service(server={"prefix": "/privacy"})
    visitor = visit("admin", at=there)
    assert len(crawl(visitor, "/privacy")) > 10
    assert visitor.send("/people", {"name": "zoe"}).headers["location"] == "/privacy/people/zoe?done=person"
    assert visitor.send("/logout").headers["location"] == "/privacy/login?done=signed_out"
    assert visitor.get("/datasets/visits").headers["location"] == "/privacy/login?next=%2Fdatasets%2Fvisits"
    # A proxy may take the prefix off.
    bare = there.url.removesuffix("/privacy")
    assert httpx.get(f"{bare}/login", trust_env=False).text.count('"/privacy/') > 3


def test_what_people_write_is_shown_and_never_read_as_markup(
    run_service: Callable[..., Running], visit: Visiting
) -> None:
    there = run_service(
        server={"title": HOSTILE},
        datasets=[
            {**VISITS, "title": HOSTILE, "description": HOSTILE, "columns": {"ward": {"description": HOSTILE}}},
            WAGES,
        ],
    )
    visitor = visit("admin", at=there)
    there.ask("analyst-visits", key=HOSTILE.replace(" ", ""))
    saved = [
        visitor.send("/datasets/visits/manage/budget", {"budget-rho": "2", "why": HOSTILE}),
        visitor.send("/datasets/visits/manage/column", {"column": "ward", "values": HOSTILE, "description": HOSTILE}),
        visitor.send("/people/nobody/grants", {"grant": ["auditor visits"]}),
    ]
    assert [one.status_code for one in saved] == [303] * 3
    shown = [
        visitor.send("/people/nobody/tokens", {"label": HOSTILE, "days": "3"}),
        visitor.send("/datasets/visits/manage/budget", {"budget-rho": HOSTILE, "why": HOSTILE}),
        visitor.send("/datasets/visits/manage/limit", {"person": HOSTILE, "limit-rho": HOSTILE, "why": HOSTILE}),
        visitor.send("/datasets/visits/manage/roles", {"person": HOSTILE, "role": "analyst"}),
        visitor.send("/datasets/visits/manage/column", {"column": "wait", "lower": HOSTILE, "values": HOSTILE}),
        visitor.send("/register", {"name": HOSTILE, "table": HOSTILE, "types": HOSTILE, "unit": "per"}),
        visitor.send("/people", {"name": HOSTILE}),
        visitor.get(f"/login?next={urllib.parse.quote(HOSTILE)}"),
        visit(at=there).sign_in("vmt_" + HOSTILE, next=HOSTILE),
        visitor.get(f"/{urllib.parse.quote(HOSTILE, safe='')}"),
    ]
    assert [one.status_code for one in shown] == [200, *[422] * 6, 303, 422, 404]
    pages = [*crawl(visitor).values(), *(read(one) for one in shown if one.status_code != 303)]
    for page in pages:
        assert faults(page) == []
        assert not page.all("img")
        assert all(one.get("src", "").startswith("/static/") for one in page.all("script") if one.get("src"))  # type: ignore[union-attr]
        assert HOSTILE in page.text  # at least as the title of the service
    about = visitor.see("/datasets/visits")
    assert about.text.count(HOSTILE) > 3
    history = visitor.see("/datasets/visits/history")
    assert f"to zcdp(2): {HOSTILE}" in history.text


def test_templates_escape_whatever_they_are_called() -> None:
    assert environment().autoescape is True


def test_notices_are_texts_of_the_page_and_never_of_an_address(visit: Visiting) -> None:
    visitor = visit("admin")
    assert NOTICES["budget"] in visitor.see("/datasets/visits/manage?done=budget").text
    said = visitor.see("/datasets/visits/manage?done=Send+your+token+to+mallory")
    assert "mallory" not in said.source
    assert not [one for one in said.all("p") if one.get("role") == "status"]


def test_styles_and_scripts_are_kept_by_browsers_under_their_hash(visit: Visiting) -> None:
    nobody = visit()
    page = nobody.see("/login")
    places = [str(one.get("href") or one.get("src")) for one in page.all("link", "script")]
    assert len(places) == 3
    for place in places:
        answered = nobody.get(place)
        assert answered.status_code == 200
        assert answered.headers["cache-control"] == "public, max-age=31536000, immutable"
        _, _, digest, name = place.split("/")
        assert nobody.get(f"/static/{'0' * len(digest)}/{name}").status_code == 404
    for away in ("/static/x/..%2f__init__.py", "/static/x/__init__.py", "/static/../__init__.py", "/static/"):
        assert nobody.get(away).status_code == 404
    assert nobody.get("/login").headers["cache-control"] == "no-store"


def test_styles_load_nothing_from_elsewhere(visit: Visiting) -> None:
    nobody = visit()
    sheet = next(str(one["href"]) for one in nobody.see("/login").all("link") if one.get("rel") == "stylesheet")
    assert not {"url(", "@import", "http"} & set(nobody.get(sheet).text.split())
    assert "url(" not in nobody.get(sheet).text and "@import" not in nobody.get(sheet).text


@pytest.mark.parametrize(
    ("person", "path", "status", "said"),
    [
        ("admin", "/nope", 404, "Not found"),
        ("", "/nope", 404, "Not found"),
        ("analyst-wages", "/datasets/visits", 404, "Not found"),
        ("analyst-wages", "/datasets/nope", 404, "Not found"),
        ("analyst-visits", "/datasets/visits/manage", 403, "You may not do this"),
        ("custodian-visits", "/datasets/visits/ask", 403, "You may not do this"),
        ("custodian-visits", "/register", 403, "You may not do this"),
        ("analyst-all", "/people", 403, "You may not do this"),
        ("analyst-all", "/acts", 403, "You may not do this"),
        ("admin", "/logout", 405, "That is not how this page is used"),
        ("admin", "/people/nobody-at-all", 404, "Not found"),
        ("admin", "/datasets/visits/history/99999999", 404, "Not found"),
        ("admin", "/datasets/visits/history/0", 404, "Not found"),
        ("admin", "/datasets/visits/history/" + "9" * 30, 404, "Not found"),
        ("admin", "/datasets/visits/history/abc", 404, "Not found"),
        ("admin", "/datasets/visits/history?before=x", 422, "That was not understood"),
    ],
)
def test_problems_are_pages_with_a_status_and_a_number(
    visit: Visiting, person: str, path: str, status: int, said: str
) -> None:
    answered = visit(person).get(path)
    page = read(answered)
    assert answered.status_code == status
    assert faults(page) == []
    assert said in page.text
    assert answered.headers["x-request-id"] in page.text


def test_problems_of_the_api_stay_json(running: Running) -> None:
    for path in ("/api/v1/nope", "/api/nope", "/api"):
        answered = running.client().get(path)
        assert answered.status_code == 404
        assert answered.json()["error"]["code"] == "not_found"


def test_who_comes_too_often_is_told_when_to_come_back(run_service: Callable[..., Running], visit: Visiting) -> None:
    there = run_service(limits={"requests_per_minute": 3})
    visitor = visit("analyst-visits", at=there)
    answered = [visitor.get("/me") for _ in range(4)][-1]
    assert answered.status_code == 429
    wait = answered.headers["retry-after"]
    assert f"Wait {wait} seconds" in read(answered).text
    assert faults(read(answered)) == []


def test_what_nobody_expected_is_a_page_that_tells_nothing(
    running: Running, visit: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = visit("admin")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret of row 7")

    monkeypatch.setattr(overview, "budget_shown", fail)
    answered = visitor.get("/")
    assert answered.status_code == 500
    page = read(answered)
    assert faults(page) == []
    assert answered.headers["x-request-id"] in page.text
    assert "secret of row 7" not in answered.text + running.log_text()
    logged: dict[str, object] = {}
    until = time.monotonic() + PATIENCE  # a line is written after its reply is sent
    while not logged and time.monotonic() < until:
        number = answered.headers["x-request-id"]
        logged = next((line for line in running.log_lines() if line.get("request") == number), {})
    assert logged["error"] == "RuntimeError" and logged["level"] == "error"


def test_what_is_too_large_is_refused(running: Running, visit: Visiting) -> None:
    visitor = visit("admin")
    before = running.service.state.acts(last=1)
    assert visitor.send("/people", {"name": "zoe", "more": "x" * 300_000}).status_code == 413
    assert running.service.state.acts(last=1) == before


def test_rows_that_cannot_be_reached_leave_the_page_of_their_budget(
    run_service: Callable[..., Running], visit: Visiting
) -> None:
    there = run_service()
    (there.folder / "wages.csv").rename(there.folder / "gone.csv")
    there.service.catalog._opened.pop("wages", None)
    visitor = visit("admin", at=there)
    page = visitor.see("/datasets/wages")
    assert "cannot be reached" in page.text and "pure(1)" in page.text
    manage = visitor.see("/datasets/wages/manage")
    assert faults(page) + faults(manage) == []
    assert visitor.send("/datasets/wages/manage/budget", {"budget-epsilon": "2", "why": "x"}).status_code == 303
    assert "wages" in visitor.see("/").text


def test_whoever_may_see_nothing_is_told_whom_to_ask(visit: Visiting) -> None:
    page = visit("nobody").see("/")
    assert "There is no dataset that you may see" in page.text
    assert "Register" not in page.text


def test_the_first_custodian_is_told_how_to_begin(run_service: Callable[..., Running], visit: Visiting) -> None:
    page = visit("admin", at=run_service(datasets=[])).see("/")
    assert "/register" in page.links()
    assert "files" in page.text
    assert faults(page) == []


def test_every_route_says_what_it_needs_and_changes_nothing_but_by_post() -> None:
    open_to_all = {"/login", "/static/{digest}/{name}"}
    for part in PARTS:
        for route in part.router.routes:
            needed = [one.call for one in route.dependant.dependencies if hasattr(one.call, "action")]
            assert len(needed) == (0 if route.path in open_to_all else 1), route.path
            assert all(one.unsafe == (route.methods == {"POST"}) for one in needed), route.path
            assert route.methods in ({"GET"}, {"POST"})
            assert not route.include_in_schema
