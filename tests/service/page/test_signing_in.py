"""Signing in and out: what a cookie is, what ends it, where one is sent afterwards, and forms from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from http.cookies import SimpleCookie

import pytest
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import Visitor, faults, read
from tests.service.serving import LOCKED_OUT, Running

from viameter.service.api.needing import COOKIE
from viameter.service.page import PARTS
from viameter.service.page.forms import MOST_FIELDS, parse_form
from viameter.service.page.signing_in import local_path
from viameter.service.problems import Problem
from viameter.service.secrets import guard_of
from viameter.service.tables import METADATA

TABLES = METADATA.sorted_tables
ELSEWHERE = [
    "//evil.example",
    "///evil.example",
    "https://evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "\\\\evil.example",
    "/\\evil.example",
    "/%5cevil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\t//evil.example",
    "/%2f%2fevil.example",
    "/..",
    "/../other",
    "/a/../../other",
    "/%2e%2e/other",
    "/.%2e/other",
    "evil.example",
    "",
    "/login?next=/login",
    "/logout",
    "/ä",
    "/" + "x" * 3000,
]


@pytest.mark.parametrize("given", ELSEWHERE)
def test_nobody_is_sent_elsewhere(given: str) -> None:
    assert local_path(given) == "/"


@pytest.mark.parametrize("given", ["/", "/me", "/datasets/visits/history?before=7", "/datasets/a.b-c_d", "/a?b=//c"])
def test_paths_of_the_service_are_gone_on_to(given: str) -> None:
    assert local_path(given) == given


@pytest.mark.parametrize("given", [one for one in ELSEWHERE if len(one) < 2000])
def test_a_reply_to_a_token_leads_nowhere_else(running: Running, visit: Visiting, given: str) -> None:
    visitor = visit()
    assert visitor.sign_in(running.tokens["nobody"], next=given).headers["location"] == "/"
    assert visitor.get("/login", params={"next": given}).headers["location"] == "/"


def test_one_comes_back_to_where_one_wanted_to_go(running: Running, visit: Visiting) -> None:
    visitor = visit()
    wanted = "/datasets/visits/history?before=5"
    away = visitor.get(wanted)
    assert away.status_code == 303
    page = visitor.see(away.headers["location"])
    (after,) = [one["value"] for one in page.all("input") if one.get("name") == "next"]
    assert after == wanted
    assert visitor.sign_in(running.tokens["admin"], next=str(after)).headers["location"] == wanted


def test_after_a_form_one_comes_back_to_a_page_that_can_be_seen(visit: Visiting) -> None:
    nobody = visit()
    sent = [nobody.send("/datasets/visits/manage/budget"), nobody.send("/people"), nobody.send("/logout")]
    assert [one.headers["location"] for one in sent] == ["/login?next=%2Fdatasets%2Fvisits", "/login", "/login"]


@pytest.mark.parametrize(("https", "prefix"), [(False, ""), (True, "/privacy")])
def test_the_cookie_is_for_this_service_alone_and_for_no_script(
    run_service: Callable[..., Running], visit: Visiting, https: bool, prefix: str
) -> None:
    there = run_service(server={"https": https, "prefix": prefix}, limits={"login_hours": 2})
    answered = visit(at=there).sign_in(there.tokens["admin"])
    cookie = SimpleCookie(answered.headers["set-cookie"])[COOKIE]
    assert bool(cookie["secure"]) == https
    assert cookie["httponly"] is True
    assert cookie["samesite"].lower() == "lax"
    assert cookie["path"] == (prefix or "/")
    assert cookie["max-age"] == "7200"
    assert cookie.value not in there.tokens.values()


@pytest.mark.parametrize("person", LOCKED_OUT)
def test_tokens_that_open_nothing_sign_nobody_in(running: Running, visit: Visiting, person: str) -> None:
    visitor = visit()
    answered = visitor.sign_in(running.tokens[person])
    assert answered.status_code == 422 and "set-cookie" not in answered.headers
    page = read(answered)
    assert faults(page) == []
    assert [one for one in page.all("div") if one.get("role") == "alert"]
    assert running.tokens[person] not in answered.text
    assert visitor.get("/").status_code == 303


def test_whoever_signs_out_is_out_and_their_cookie_is_worth_nothing(visit: Visiting) -> None:
    visitor = visit("admin")
    secret = visitor.client.cookies[COOKIE]
    answered = visitor.send("/logout")
    assert answered.headers["location"] == "/login?done=signed_out"
    assert COOKIE not in visitor.client.cookies
    assert "You are signed out" in visitor.see("/login?done=signed_out").text
    visitor.client.cookies.set(COOKIE, secret)
    assert visitor.get("/").headers["location"] == "/login"


def test_a_token_that_is_revoked_ends_the_logins_by_it_at_once(
    run_service: Callable[..., Running], visit: Visiting
) -> None:
    there = run_service()
    admin, ann, auditor = visit("admin", at=there), visit("analyst-visits", at=there), visit("auditor-all", at=there)
    assert ann.get("/").status_code == auditor.get("/").status_code == 200
    (token,) = there.service.state.tokens("analyst-visits")
    assert admin.send(f"/people/analyst-visits/tokens/{token.id}/revoke").status_code == 303
    assert ann.get("/").status_code == 303
    assert admin.send("/people/auditor-all/active", {"active": "no"}).status_code == 303
    assert auditor.get("/").status_code == 303
    assert admin.get("/").status_code == 200


def test_wrong_tokens_are_counted_by_address(run_service: Callable[..., Running], visit: Visiting) -> None:
    there = run_service(limits={"logins_per_minute": 3})
    visitor = visit(at=there)
    tried = [visitor.sign_in(f"vmt_{'x' * 43}") for _ in range(4)]
    assert [one.status_code for one in tried] == [422, 422, 422, 429]
    assert int(tried[-1].headers["retry-after"]) > 0
    # Those who have one get in all the same.
    assert visitor.sign_in(there.tokens["admin"]).status_code == 303


def posts() -> list[str]:
    """The paths of all forms of all parts of the page."""
    found = [route.path for part in PARTS for route in part.router.routes if route.methods == {"POST"}]
    names = {"{dataset}": "visits", "{person}": "nobody", "{token}": "0" * 24}
    for name, value in names.items():
        found = [path.replace(name, value) for path in found]
    return found


def test_there_are_forms_to_be_guarded() -> None:
    assert len(posts()) >= 16
    assert not [path for path in posts() if "{" in path]


@pytest.mark.parametrize("path", posts())
def test_forms_without_the_guard_do_nothing(running: Running, visit: Visiting, path: str) -> None:
    visitor, other = visit("admin"), visit("admin")
    before = running.service.ledger.head, running.service.state.acts(last=1)
    fields = {"name": "forged", "active": "no", "budget-rho": "9", "why": "forged", "title": "forged", "token": "vmt_"}
    wrong = ["", "x", guard_of(""), other.guard, visitor.guard[:-1], "ä"]
    if path == "/login":
        wrong = ["", "x", "ä"]
        visitor = visit()
    forged = [visitor.client.post(path, data={**fields, "guard": one}) for one in wrong]
    forged.append(visitor.client.post(path, data=fields))
    forged.append(visitor.send(path, fields, headers={"sec-fetch-site": "cross-site"}))
    forged.append(visitor.send(path, fields, headers={"sec-fetch-site": "same-site"}))
    for answered in forged:
        assert answered.status_code == 403
        assert faults(read(answered)) == []
        assert "does not come from this page" in answered.text
    assert visitor.client.post(path, json={"guard": visitor.guard, **fields}).status_code == 415
    assert visitor.get(path).status_code in (200, 303, 404, 405)
    assert (running.service.ledger.head, running.service.state.acts(last=1)) == before


def test_pages_are_opened_by_get_and_changed_by_post_alone() -> None:
    methods = {frozenset(route.methods) for part in PARTS for route in part.router.routes}
    assert methods == {frozenset({"GET"}), frozenset({"POST"})}


def gets() -> list[str]:
    """The paths of all pages."""
    found = [route.path for part in PARTS for route in part.router.routes if route.methods == {"GET"}]
    names = {"{dataset}": "visits", "{person}": "nobody", "{key:path}": "linked", "{digest}": "x", "{name}": "x"}
    for name, value in names.items():
        found = [path.replace(name, value) for path in found]
    return found


@pytest.fixture(scope="module")
def charge(running: Running) -> int:
    """The entry of a charge of the admin, under the key "linked"."""
    return int(running.ask("admin", key="linked").json()["entry"])


def everything(running: Running) -> list[object]:
    """All that the service keeps."""
    engine = running.service.state._engine
    with engine.connect() as connection:
        return [running.service.ledger.head, *(sorted(map(repr, connection.execute(one.select()))) for one in TABLES)]


@pytest.mark.parametrize("path", gets())
def test_a_link_from_elsewhere_opens_the_page_and_changes_nothing(
    running: Running, visit: Visiting, charge: int, path: str
) -> None:
    """The cookie goes along with links of other sites: whatever they open must change nothing."""
    visitor = visit("admin")
    at = path.replace("{entry:int}", str(charge))
    assert "{" not in at
    own = visitor.get(at)
    before = everything(running)
    linked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "referer": "https://mail.example/"}
    queries = ["", "?last=9&before=5&name=forged&active=no&token=vmt_&spend=1&release=1&key=forged&done=signed_out"]
    for query in queries:
        answered = visitor.get(at + query, headers=linked)
        assert answered.status_code in (own.status_code, 422)
        assert "/login" not in answered.headers.get("location", "")
    assert everything(running) == before


@pytest.mark.parametrize(
    ("https", "origin", "status"),
    [
        (False, "http://{host}", 303),
        (False, "https://{host}", 303),
        (True, "https://{host}", 303),
        (True, "http://{host}", 403),
        (False, "http://{host}.evil.example", 403),
        (False, "http://evil.example", 403),
        (False, "null", 403),
        (False, "", 403),
    ],
)
def test_browsers_that_do_not_say_the_site_say_the_origin(
    run_service: Callable[..., Running], visit: Visiting, https: bool, origin: str, status: int
) -> None:
    there = run_service(server={"https": https})
    visitor = visit(at=there)
    host = visitor.client.base_url.netloc.decode()
    form = {"guard": guard_of(""), "token": there.tokens["nobody"]}
    assert visitor.client.post("/login", data=form, headers={"origin": origin.format(host=host)}).status_code == status


def test_forms_are_held_to_limits(visit: Visiting) -> None:
    visitor = visit("admin")
    assert visitor.send("/people", {"name": ["x"] * MOST_FIELDS}).status_code == 400
    kind = {"content-type": "application/x-www-form-urlencoded"}
    for body in (b"name=\xff", b"name=%ff%fe", b"name=a%00b", b"name=%1b"):
        answered = visitor.client.post("/people", content=f"guard={visitor.guard}&".encode() + body, headers=kind)
        assert answered.status_code == 400, body
        assert faults(read(answered)) == []


def test_fields_are_read_as_browsers_send_them() -> None:
    form = parse_form(b"a=1&a=2&b=x%0D%0Ay%0Dz&c=+d+&e=")
    assert (form.all("a"), form.text("b"), form.word("c"), form.text("c")) == (["1", "2"], "x\ny\nz", "d", " d ")
    assert ("e" in form, "f" in form, form.text("f"), form.all("f")) == (True, False, "", [])


def test_too_many_fields_are_refused() -> None:
    parse_form(b"&".join([b"a=1"] * MOST_FIELDS))
    with pytest.raises(Problem):
        parse_form(b"&".join([b"a=1"] * (MOST_FIELDS + 1)))


def test_the_menu_is_that_of_whoever_is_signed_in(visit: Visiting) -> None:
    def menu(visitor: Visitor) -> set[str]:
        return set(visitor.see("/me").links())

    assert "/people" in menu(visit("only-admin"))
    assert not {"/people", "/acts"} & menu(visit("analyst-all"))
    assert {"/acts"} <= menu(visit("auditor-all"))
    current = [one for one in visit("admin").see("/me").all("a") if one.get("aria-current")]
    assert [one["href"] for one in current] == ["/me"]
