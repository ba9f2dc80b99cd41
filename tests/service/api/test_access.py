"""Every route x everybody x every dataset: who gets in, by a table that shares nothing with the one of the service."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from tests.service.routes import ACTIONS, API_ROUTES, BODIES, EVERYBODY, LET_IN, MAY, PAGE_ROUTES, filled
from tests.service.serving import API, PEOPLE, WAGES, WAGES_QUESTION, Running, cookie_of

from viameter.service.api.needing import COOKIE
from viameter.service.secrets import guard_of

pytestmark = pytest.mark.usefixtures("no_processes")

WITHOUT_NEEDS = {
    *[(method, path) for (method, path), what in {**API_ROUTES, **PAGE_ROUTES}.items() if what == "open"],
    ("GET", "/metrics"),  # open, if the configuration says so; it looks for a token itself
}


@pytest.fixture(scope="module")
def charges(running: Running) -> dict[str, str]:
    """The entry of one charge for each dataset, asked under the key "known"; and somebody whom requests are about."""
    found = {}
    for person, dataset in (("analyst-visits", "visits"), ("analyst-wages", "wages")):
        reply = running.ask(person, dataset, key="known")
        assert reply.status_code == 200, reply.text
        found[dataset] = str(reply.json()["entry"])
    running.service.state.add_person("somebody", (), by="admin")
    return {**found, "missing": found["visits"]}


def expected(what: str, person: str, dataset: str) -> str:
    """What comes of a request: "sign in", "hidden", "forbidden" or "in"."""
    if what == "open":
        return "in"
    if person not in LET_IN:
        return "sign in"
    if not dataset:
        return "in" if person in MAY[what, ""] else "forbidden"
    if person not in MAY.get(("see", dataset), set()):
        return "hidden"
    if what in ACTIONS:
        return "in" if person in MAY[what, dataset] else "hidden"
    return "in" if person in MAY[what, dataset] else "forbidden"


def outcome(reply: httpx.Response) -> str:
    """What came of a request."""
    assert reply.status_code < 500, reply.text
    if reply.status_code == 401 or "/login" in reply.headers.get("location", ""):
        return "sign in"
    return {404: "hidden", 403: "forbidden", 405: "no such method"}.get(reply.status_code, "in")


def cases(path: str) -> list[str]:
    """The datasets that a route is asked for."""
    return ["visits", "wages", "missing"] if "{dataset}" in path else [""]


def all_routes(running: Running) -> dict[tuple[str, str], Any]:
    """Every route that the application has."""
    found: dict[tuple[str, str], Any] = {}
    for one in iter_route_contexts(running.app.app.routes):
        assert one.path is not None
        for method in (one.methods or set()) - {"HEAD"}:
            assert (method, one.path) not in found, "two routes of one path: the second is never reached"
            found[method, one.path] = one.original_route
    return found


def needs_of(dependant: Any) -> list[Any]:
    """What the dependencies of a route say that it needs."""
    own = [dependant.call.action] if hasattr(dependant.call, "action") else []
    return own + [action for one in dependant.dependencies for action in needs_of(one)]


def test_every_route_is_in_the_table_of_this_test(running: Running) -> None:
    assert set(all_routes(running)) == set(API_ROUTES) | set(PAGE_ROUTES)
    described = running.client().get(f"{API}/openapi.json").json()["paths"]
    written = {path.replace("{key:path}", "{key}") for _, path in API_ROUTES if path.startswith(API)}
    assert set(described) == written - {f"{API}/openapi.json"}


def test_every_route_says_what_it_needs(running: Running) -> None:
    for (method, path), route in all_routes(running).items():
        needed = [one.value for one in needs_of(route.dependant)] if hasattr(route, "dependant") else []
        if (method, path) in WITHOUT_NEEDS:
            assert needed == [], (method, path)
        else:
            what = {**API_ROUTES, **PAGE_ROUTES}[method, path]
            assert needed == [ACTIONS.get(what, what)], (method, path)


@pytest.mark.parametrize(("method", "path"), list(API_ROUTES), ids=lambda part: str(part).removeprefix(API))
def test_the_api_lets_in_whom_it_should(running: Running, charges: dict[str, str], method: str, path: str) -> None:
    what, body = API_ROUTES[method, path], BODIES.get((method, path))
    wrong = []
    hidden: set[bytes] = set()
    for person, dataset in itertools.product(EVERYBODY, cases(path)):
        at = filled(path, running, charges, person, dataset)
        sent = {} if body is None else {"json": body(dataset)}
        reply = running.client(person).request(method, at, **sent)
        came, should = outcome(reply), expected(what, person, dataset)
        if came != should:
            wrong.append((person, dataset, should, came, reply.status_code, reply.text[:200]))
        if reply.status_code == 404:
            hidden.add(reply.content.replace(reply.headers["x-request-id"].encode(), b"NUMBER"))
        if reply.status_code == 401:
            assert reply.headers["www-authenticate"] == "Bearer"
    assert wrong == []
    # A dataset that is not there, and one that is not for you: the same bytes.
    assert len(hidden) == (1 if "{dataset}" in path else 0) or path.endswith("{key:path}")


@pytest.fixture(scope="module")
def cookies(running: Running) -> dict[str, str]:
    """A cookie of everybody."""
    return {"": "", **{person: cookie_of(running, person) for person in EVERYBODY if person}}


@pytest.mark.parametrize(("method", "path"), list(PAGE_ROUTES), ids=str)
def test_the_page_lets_in_whom_it_should(
    running: Running, charges: dict[str, str], cookies: dict[str, str], method: str, path: str
) -> None:
    if PAGE_ROUTES[method, path] == "open":
        return
    what = PAGE_ROUTES[method, path]
    wrong = []
    for person, dataset in itertools.product(EVERYBODY, cases(path)[:2]):
        secret = cookie_of(running, person) if person and path == "/logout" else cookies[person]
        at = filled(path, running, charges, person, dataset)
        sent = {"guard": guard_of(secret)} if method == "POST" else None
        headers = {"cookie": f"{COOKIE}={secret}"} if person else {}
        reply = running.client().request(method, at, headers=headers, data=sent)
        came, should = outcome(reply), expected(what, person, dataset)
        if path == "/logout" and person in LET_IN:
            came = "in" if reply.status_code == 303 else came
        if came != should:
            wrong.append((person, dataset, should, came, reply.status_code, reply.headers.get("location")))
    assert wrong == []


@pytest.mark.parametrize(("method", "path"), [one for one in PAGE_ROUTES if one[0] == "POST"], ids=str)
def test_a_form_of_another_page_does_nothing(running: Running, charges: dict[str, str], method: str, path: str) -> None:
    if path == "/login":
        return
    secret = cookie_of(running, "admin")
    at = filled(path, running, charges, "admin", "visits")
    acts = running.service.state.acts(last=1)
    for guard in ("", "x", guard_of(cookie_of(running, "admin")), guard_of("")):
        reply = running.client().post(at, headers={"cookie": f"{COOKIE}={secret}"}, data={"guard": guard})
        assert reply.status_code == 403, (path, reply.status_code)
    without = running.client().post(at, headers={"cookie": f"{COOKIE}={secret}"})
    assert without.status_code in (403, 415)
    elsewhere = {"cookie": f"{COOKIE}={secret}", "sec-fetch-site": "cross-site"}
    assert running.client().post(at, headers=elsewhere, data={"guard": guard_of(secret)}).status_code == 403
    assert running.service.state.acts(last=1) == acts
    assert running.service.state.who_signed_in(secret) is not None


def test_an_answer_of_somebody_else_is_for_those_who_may_read_all(running: Running, charges: dict[str, str]) -> None:
    for person in sorted(LET_IN):
        reply = running.api(person, "GET", "/datasets/visits/releases/known?by=analyst-visits")
        assert (reply.status_code == 200) == (person in MAY["read a charge", "visits"]), person
        assert reply.status_code in (200, 404)
    for by in ("", "%00", "nobody%0A", "x" * 64, "*", "analyst-visits%20"):
        assert running.api("auditor-all", "GET", f"/datasets/visits/releases/known?by={by}").status_code == 404, by


def test_whoever_may_not_ask_any_more_does_not_read_their_answers(run_service: Callable[..., Running]) -> None:
    running = run_service()
    assert running.ask("analyst-visits", key="mine").status_code == 200
    at = "/datasets/visits/releases/mine"
    assert running.api("analyst-visits", "GET", at).status_code == 200
    # A custodian sees the dataset, and may read what others asked, but asks nothing and has no answers there.
    grants = {"grants": [{"role": "custodian", "dataset": "visits"}]}
    assert running.api("only-admin", "PUT", "/people/analyst-visits/grants", json=grants).status_code == 200
    assert running.api("analyst-visits", "GET", "/datasets/visits").status_code == 200
    assert running.api("analyst-visits", "GET", at).status_code == 404
    assert running.api("only-admin", "PUT", "/people/analyst-visits/grants", json={"grants": []}).status_code == 200
    assert running.api("analyst-visits", "GET", at).status_code == 404


def test_a_charge_of_another_dataset_is_not_read_by_its_number(running: Running, charges: dict[str, str]) -> None:
    for path in ("", "/certificate"):
        mixed = f"/datasets/visits/history/{charges['wages']}{path}"
        assert running.api("custodian-all", "GET", mixed).status_code == 404
        assert running.api("analyst-wages", "GET", mixed).status_code == 404


def test_a_charge_of_a_dataset_is_not_read_by_the_name_that_its_own_begins_with(
    run_service: Callable[..., Running],
) -> None:
    running = run_service()
    document = {name: value for name, value in WAGES.items() if name != "name"}
    file = Path(str(running.service.config.sources["files"].value)) / "more.csv"
    file.write_text("wage\n10\n20\n")
    running.service.catalog.register("visits-of-others", {**document, "table": file.name}, by="custodian-all")
    reply = running.ask("analyst-all", "visits-of-others", WAGES_QUESTION, key="k")
    assert reply.status_code == 200, reply.text
    for path in ("", "/certificate"):
        at = f"history/{reply.json()['entry']}{path}"
        assert running.api("auditor-visits", "GET", f"/datasets/visits/{at}").status_code == 404
        assert running.api("auditor-all", "GET", f"/datasets/visits-of-others/{at}").status_code == 200


def test_analysts_read_their_own_lines_and_nobody_elses(run_service: Callable[..., Running]) -> None:
    running = run_service()
    for person in ("analyst-visits", "analyst-all"):
        assert running.ask(person).status_code == 200
    for person in ("analyst-visits", "analyst-all"):
        lines = running.api(person, "GET", "/datasets/visits/history?last=200").json()["lines"]
        assert {line["by"] for line in lines if line["loss"] is not None} == {person}
    everybody = running.api("auditor-visits", "GET", "/datasets/visits/history?last=200").json()["lines"]
    assert {"analyst-visits", "analyst-all"} <= {line["by"] for line in everybody}
    assert running.api("only-admin", "GET", "/datasets/visits/history?last=200").json()["lines"] != []
    own = running.api("only-admin", "GET", "/datasets/visits/history?last=200").json()["lines"]
    assert [line for line in own if line["loss"] is not None] == []


def test_limits_of_others_are_for_custodians_and_auditors(running: Running) -> None:
    for person in ("analyst-visits", "analyst-all"):
        body = {"budget": {"zcdp": "1/3"}, "why": "a limit"}
        path = f"/datasets/visits/budgets/{person}"
        assert running.api("custodian-visits", "PUT", path, json=body).status_code == 200
    limits = {"analyst-visits", "analyst-all"}
    for person, seen in (("analyst-visits", {"analyst-visits"}), ("auditor-visits", limits), ("only-admin", set())):
        people = running.api(person, "GET", "/datasets/visits/budgets").json()["people"]
        assert set(people) & limits == seen, person


def test_a_custodian_grants_what_custodians_may_and_takes_nothing_else(running: Running) -> None:
    state = running.service.state
    state.add_person("helper", PEOPLE["custodian-visits"] + PEOPLE["analyst-wages"], by="admin")
    for role, status in (("analyst", 200), ("auditor", 200), ("custodian", 422), ("admin", 422)):
        reply = running.api("custodian-visits", "PUT", "/datasets/visits/people/helper", json={"roles": [role]})
        assert reply.status_code == status, role
    kept = {(one.role.value, one.dataset) for one in (state.person("helper") or {})["grants"]}
    assert kept == {("custodian", "visits"), ("analyst", "wages"), ("auditor", "visits")}


def test_nobody_locks_out_the_last_admin_by_mistake(running: Running) -> None:
    for method, path, body in (
        ("PATCH", "/people/only-admin", {"active": False}),
        ("PUT", "/people/only-admin/grants", {"grants": [{"role": "analyst"}]}),
    ):
        reply = running.api("only-admin", method, path, json=body)
        assert (reply.status_code, reply.json()["error"]["code"]) == (409, "refused")
    assert running.api("only-admin", "GET", "/people").status_code == 200


def test_a_grant_counts_from_the_next_request_on(running: Running) -> None:
    body = {"grants": [{"role": "analyst", "dataset": "wages"}]}
    assert running.api("nobody", "GET", "/datasets/wages").status_code == 404
    assert running.api("only-admin", "PUT", "/people/nobody/grants", json=body).status_code == 200
    assert running.api("nobody", "GET", "/datasets/wages").status_code == 200
    assert running.api("nobody", "GET", "/datasets").json()["datasets"][0]["name"] == "wages"
    assert running.api("only-admin", "PUT", "/people/nobody/grants", json={"grants": []}).status_code == 200
    assert running.api("nobody", "GET", "/datasets/wages").status_code == 404
    assert running.api("nobody", "GET", "/datasets").json() == {"datasets": []}


def test_nothing_of_all_this_was_unexpected(running: Running) -> None:
    running.lines_of(running.client().get("/healthz").headers["x-request-id"])
    assert [line for line in running.log_lines() if line["level"] != "info"] == []


def test_nobody_grants_themselves_a_role(running: Running) -> None:
    def grant(by: str, to: str, *roles: str) -> int:
        body = {"roles": list(roles)}
        return running.api(by, "PUT", f"/datasets/visits/people/{to}", json=body).status_code

    def roles(name: str) -> set[str]:
        found = running.service.state.person(name)
        assert found is not None
        return {grant.role.value for grant in found["grants"]}

    for custodian in ("custodian-visits", "custodian-all"):
        for wanted in (["analyst"], ["auditor"], ["analyst", "auditor"]):
            before = roles(custodian)
            assert grant(custodian, custodian, *wanted) == 422
            assert roles(custodian) == before
        assert running.ask(custodian, "visits").status_code == 403
        assert running.api(custodian, "POST", "/people", json={"name": "puppet"}).status_code == 403
        assert running.api(custodian, "PUT", f"/people/{custodian}/grants", json={"grants": []}).status_code == 403
    # A role for another dataset is none for this one.
    elsewhere = {"grants": [{"role": "custodian", "dataset": "visits"}, {"role": "analyst", "dataset": "wages"}]}
    assert running.api("only-admin", "PUT", "/people/custodian-visits/grants", json=elsewhere).status_code == 200
    assert grant("custodian-visits", "custodian-visits", "analyst") == 422
    elsewhere["grants"].pop()
    assert running.api("only-admin", "PUT", "/people/custodian-visits/grants", json=elsewhere).status_code == 200
    # Others let them, and what they have they may keep or give up.
    assert grant("custodian-all", "custodian-visits", "analyst") == 200
    assert grant("custodian-visits", "custodian-visits", "analyst", "auditor") == 422
    assert grant("custodian-visits", "custodian-visits", "analyst") == 200
    assert grant("custodian-visits", "custodian-visits") == 200
    assert roles("custodian-visits") == {"custodian"}
    # A role for all datasets is not touched here; the first person has all of them and begins alone.
    assert grant("admin", "admin", "analyst") == 200
    assert grant("admin", "admin") == 200
    assert roles("admin") == {"admin", "custodian", "analyst"}
