"""People, their grants and tokens on the page; one's own tokens; what was administered."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import Visitor, faults, read
from tests.service.serving import Running

from viameter.service.access import ALL, Grant, Role


@pytest.fixture
def there(run_service: Callable[..., Running]) -> Running:
    return run_service()


@pytest.fixture
def admin(there: Running, visit: Visiting) -> Visitor:
    return visit("only-admin", at=there)


def test_a_person_is_added_and_named_once(there: Running, admin: Visitor) -> None:
    assert admin.send("/people", {"name": " zoe "}).headers["location"] == "/people/zoe?done=person"
    page = admin.see("/people/zoe?done=person")
    assert faults(page) == [] and "No token was made yet" in page.text
    for wrong in ("zoe", "", "a b", "x" * 65, "../x", "-x", "zoe\n"):
        answered = admin.send("/people", {"name": wrong})
        assert answered.status_code == 422 or wrong == "zoe\n", wrong
        assert faults(read(answered)) == []
    assert len([one for one in there.service.state.people() if "zo" in one["name"]]) == 1


def test_grants_are_what_is_ticked(there: Running, admin: Visitor) -> None:
    at = "/people/nobody/grants"
    assert admin.send(at, {"grant": ["analyst visits", f"auditor {ALL}"]}).status_code == 303

    def held() -> set[Grant]:
        found = there.service.state.person("nobody")
        assert found is not None
        return set(found["grants"])

    assert held() == {Grant(Role.ANALYST, "visits"), Grant(Role.AUDITOR, ALL)}
    ticked = [one["value"] for one in admin.see("/people/nobody").all("input") if "checked" in one]
    assert sorted(map(str, ticked)) == ["analyst visits", "auditor *"]
    for wrong in ("admin visits", "analyst nope", "king visits", "analyst", "analyst " + "x" * 99, ""):
        answered = admin.send(at, {"grant": ["custodian wages", wrong]})
        page = read(answered)
        assert answered.status_code == 422, wrong
        assert faults(page) == []
        assert "custodian wages" in [one["value"] for one in page.all("input") if "checked" in one]
    assert held() == {Grant(Role.ANALYST, "visits"), Grant(Role.AUDITOR, ALL)}
    assert admin.send(at).status_code == 303
    assert held() == set()


def test_nobody_locks_themselves_out(there: Running, admin: Visitor) -> None:
    refused = [
        admin.send("/people/only-admin/grants", {"grant": ["analyst visits"]}),
        admin.send("/people/only-admin/active", {"active": "no"}),
    ]
    assert [one.status_code for one in refused] == [422, 422]
    assert all("nobody" in read(one).text.lower() for one in refused)
    assert admin.get("/people").status_code == 200


def test_a_token_is_shown_once_and_works(there: Running, visit: Visiting, admin: Visitor) -> None:
    answered = admin.send("/people/nobody/tokens", {"label": "laptop", "days": "5"})
    page = read(answered)
    assert answered.status_code == 200 and faults(page) == []
    assert answered.headers["cache-control"] == "no-store"
    (secret,) = set(re.findall(r"vmt_[A-Za-z0-9_-]{43}", answered.text))
    assert visit(at=there).sign_in(secret).status_code == 303
    assert secret not in admin.see("/people/nobody").source + admin.see("/acts").source + there.log_text()
    assert "laptop" in admin.see("/people/nobody").text
    for wrong in ({"days": "0"}, {"days": "3651"}, {"days": "x"}, {"days": "-1"}, {"label": "x" * 201}):
        refused = admin.send("/people/nobody/tokens", {"label": "typed", "days": "5", **wrong})
        assert refused.status_code == 422 and "vmt_" not in read(refused).text
    assert len(there.service.state.tokens("nobody")) == 2


def test_tokens_are_revoked_one_by_one(there: Running, visit: Visiting, admin: Visitor) -> None:
    (token,) = there.service.state.tokens("nobody")
    assert admin.send(f"/people/analyst-visits/tokens/{token.id}/revoke").status_code == 404
    assert there.service.state.who_has(there.tokens["nobody"]) is not None
    assert admin.send(f"/people/nobody/tokens/{token.id}/revoke").headers["location"] == "/people/nobody?done=revoked"
    assert there.service.state.who_has(there.tokens["nobody"]) is None
    assert "revoked" in admin.see("/people/nobody").text
    assert not [one for one in admin.see("/people/nobody").all("form") if "/revoke" in str(one.get("action"))]


def test_ones_own_tokens_are_ones_own_to_revoke(there: Running, visit: Visiting) -> None:
    ann = visit("analyst-visits", at=there)
    secret, other = there.service.state.add_token("analyst-visits", label="other", days=1, by="admin")
    (foreign,) = there.service.state.tokens("analyst-all")
    (own,) = [one for one in there.service.state.tokens("analyst-visits") if one.id != other.id]
    assert faults(ann.see("/me")) == []
    assert ann.send(f"/me/tokens/{foreign.id}/revoke").status_code == 404
    assert there.service.state.who_has(there.tokens["analyst-all"]) is not None
    assert ann.send(f"/me/tokens/{other.id}/revoke").headers["location"] == "/me?done=revoked"
    assert there.service.state.who_has(secret) is None
    assert ann.send(f"/me/tokens/{own.id}/revoke").headers["location"] == "/login?done=revoked"
    assert ann.get("/me").status_code == 303


def test_people_are_shut_out_and_let_in_again(there: Running, visit: Visiting, admin: Visitor) -> None:
    assert admin.send("/people/nobody/active", {"active": "no"}).headers["location"] == "/people/nobody?done=shut_out"
    assert visit(at=there).sign_in(there.tokens["nobody"]).status_code == 422
    assert "Let in nobody again" in admin.see("/people/nobody").text
    assert admin.send("/people/nobody/active", {"active": "yes"}).headers["location"] == "/people/nobody?done=let_in"
    assert visit(at=there).sign_in(there.tokens["nobody"]).status_code == 303
    for action in ("active", "grants", "tokens"):
        assert admin.send(f"/people/nobody-at-all/{action}", {"active": "no"}).status_code == 404


def test_acts_and_the_ledger_are_for_those_who_oversee(there: Running, visit: Visiting, admin: Visitor) -> None:
    admin.send("/people/nobody/grants", {"grant": ["analyst visits"]})
    auditor = visit("auditor-all", at=there)
    page = auditor.see("/acts")
    assert "set grants" in page.text and "analyst of visits" in page.text and faults(page) == []
    checked = auditor.send("/acts/ledger")
    assert checked.status_code == 200 and faults(read(checked)) == []
    entries = there.service.ledger.head.seq
    assert f"All {entries} entries were read and added up anew" in read(checked).text
    assert visit("auditor-visits", at=there).send("/acts/ledger").status_code == 403


def test_a_form_that_is_sent_twice_makes_one_token(there: Running, admin: Visitor) -> None:
    before = len(there.service.state.tokens("nobody"))
    sent = {"label": "laptop", "days": "5", "number": "0123456789abcdef01234567"}
    assert admin.send("/people/nobody/tokens", sent).status_code == 200
    again = admin.send("/people/nobody/tokens", sent)
    assert again.headers["location"] == "/people/nobody?done=token_made"
    assert len(there.service.state.tokens("nobody")) == before + 1
