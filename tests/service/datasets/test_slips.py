"""Slips of the finger: what people mistype is refused with words that help, or does no harm that lasts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.service.page.visiting import Visitor
from tests.service.serving import Running

from viameter.service.starting import serve_and_check

Start = Callable[..., Running]


def test_a_budget_beyond_all_reason_can_be_set_back_and_leaves_the_page_as_it_was(run_service: Start) -> None:
    running = run_service()
    visitor = Visitor(running)
    visitor.sign_in(running.tokens["custodian-visits"])
    for amount in ("1e12", "1/2"):
        body = {"budget": {"zcdp": amount}, "why": "a test"}
        assert running.api("custodian-visits", "PUT", "/datasets/visits/budget", json=body).status_code == 200
        for page in ("/", "/datasets/visits", "/datasets/visits/history", "/datasets/visits/manage"):
            assert visitor.get(page).status_code == 200, page
    visitor.close()


def test_what_is_said_of_one_column_leaves_the_others_as_they_are(run_service: Start) -> None:
    running = run_service()
    before = columns(running)
    said = {"columns": {"age": {"bounds": [0, 120]}}}
    assert running.api("custodian-visits", "PATCH", "/datasets/visits", json=said).status_code == 200
    after = columns(running)
    assert after.pop("age")["bounds"] == [0, 120]
    assert after == {name: column for name, column in before.items() if name != "age"}
    said = {"columns": {"age": {}}}  # nothing is said of it any more
    assert running.api("custodian-visits", "PATCH", "/datasets/visits", json=said).status_code == 200
    assert columns(running) == before


def columns(running: Running) -> dict[str, Any]:
    """What is public of the columns of the visits."""
    found = running.api("custodian-visits", "GET", "/datasets/visits/schema").json()["columns"]
    return {column["name"]: column for column in found}


def test_public_bounds_that_are_turned_around_are_refused(running: Running) -> None:
    said = {"columns": {"wait": {"bounds": [240, 0]}}}
    refused = running.api("custodian-visits", "PATCH", "/datasets/visits", json=said)
    assert refused.status_code == 422 and "the first is above the second" in refused.text


@pytest.mark.parametrize(
    ("person", "method", "path", "role"),
    [
        ("analyst-visits", "PUT", "/datasets/visits/budget", "custodian"),
        ("custodian-visits", "POST", "/datasets/visits/releases", "analyst"),
        ("analyst-visits", "GET", "/people", "admin of all datasets"),
        ("analyst-visits", "GET", "/ledger/verify", "admin or auditor of all datasets"),
    ],
)
def test_who_may_not_is_told_which_role_may(running: Running, person: str, method: str, path: str, role: str) -> None:
    bodies: dict[str, Any] = {
        "PUT": {"budget": {"zcdp": "1"}, "why": "a test"},
        "POST": {"aggregates": {"n": {"count": True}}, "spend": {"zcdp": "1/1000"}},
    }
    reply = running.api(person, method, path, json=bodies.get(method))
    assert reply.status_code == 403
    assert reply.json()["error"]["message"].endswith(f"a role that you do not have here: {role}")


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("age = 65", "equal is =="),
        ("age > 6 && age < 9", "&& is and"),
        ("wait minutes > 3", '{\\"column\\": \\"its name\\"}'),
    ],
)
def test_an_expression_that_is_none_says_how_it_may_be_meant(running: Running, written: str, hint: str) -> None:
    question = {"filter": written, "aggregates": {"n": {"count": True}}, "spend": {"zcdp": "1/1000"}}
    reply = running.api("analyst-visits", "POST", "/datasets/visits/preview", json=question)
    assert reply.status_code == 422 and hint in reply.text


def test_files_that_a_check_makes_are_for_their_owner_alone(tmp_path: Path) -> None:
    from viameter.service.bundled import bundled_config

    serve_and_check(bundled_config(tmp_path / "service", port=0), lambda _: None, sign_in=True)
    made = {path.name: path.stat().st_mode & 0o077 for path in (tmp_path / "service").glob("*.db*")}
    assert {"ledger.db", "ledger.db.witness", "service.db"} <= made.keys()
    assert set(made.values()) == {0}, made
