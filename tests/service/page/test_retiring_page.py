"""On the page: datasets that are retired and reinstated, budgets that start over."""

from __future__ import annotations

import html
from collections.abc import Callable

import pytest
from tests.service.page.ask_fixtures import FIELDS, hidden, preview, released_by, seen
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import faults
from tests.service.serving import VISITS, WAGES, Running

import viameter as vm

MANAGE = "/datasets/visits/manage"
WHY = "the study <ended> & so on"


@pytest.fixture
def there(run_service: Callable[..., Running]) -> Running:
    return run_service()


def test_a_retired_dataset_is_apart_marked_and_cannot_be_asked(there: Running, visit: Visiting) -> None:
    custodian, analyst = visit("custodian-visits", at=there), visit("analyst-all", at=there)
    before = released_by(preview(analyst))
    there.ask("analyst-all", key="first")
    entry = there.service.ledger.store.request("analyst-all", "first").reserved  # type: ignore[union-attr]
    spent = there.spent()
    sent = custodian.send(f"{MANAGE}/retire", {"why": WHY})
    assert sent.headers["location"] == f"{MANAGE}?done=retire"
    retired = there.service.catalog.registered("visits").retired  # type: ignore[union-attr]
    assert retired is not None and (retired.by, retired.why) == ("custodian-visits", WHY)

    overview = analyst.see("/")
    assert faults(overview) == []
    apart = overview.source.index('id="retired"')
    assert overview.source.index("/datasets/visits") > apart > overview.source.index("/datasets/wages")
    assert "/datasets/visits/ask" not in overview.links() and "/datasets/wages/ask" in overview.links()
    assert html.escape(WHY) in overview.source

    for visitor, path in (
        (analyst, "/datasets/visits"),
        (custodian, MANAGE),
        (analyst, "/datasets/visits/history"),
        (analyst, f"/datasets/visits/history/{entry}"),
        (analyst, "/datasets/visits/answers/first"),
    ):
        page = visitor.see(path)
        assert faults(page) == []
        assert not [link for link in page.links() if "/datasets/visits/ask" in link], path
    assert "This dataset is retired: it cannot be asked any more" in analyst.see("/datasets/visits").text
    assert 'data-state="released"' in analyst.see("/datasets/visits/answers/first").source

    # The form, a preview, and a release of what was previewed before: refused in words, and nothing is spent.
    for answered in (
        analyst.get("/datasets/visits/ask"),
        analyst.get("/datasets/visits/ask?like=first"),
        analyst.send("/datasets/visits/ask", FIELDS),
        analyst.send("/datasets/visits/release", before),
    ):
        page = seen(answered, 409)
        assert faults(page) == [] and "retired" in page.text
    assert there.spent() == spent

    assert "It can be asked again" in custodian.see("/datasets/visits/manage?done=reinstate").text
    sent = custodian.send(f"{MANAGE}/reinstate", {"why": "needed again"})
    assert sent.headers["location"] == f"{MANAGE}?done=reinstate"
    assert 'id="retired"' not in analyst.see("/").source and "/datasets/visits/ask" in analyst.see("/").links()
    assert hidden(preview(analyst), "key") and there.spent() == spent


def test_whoever_sees_nothing_but_retired_datasets_is_told_so(there: Running, visit: Visiting) -> None:
    visit("custodian-visits", at=there).send(f"{MANAGE}/retire", {"why": WHY})
    page = visit("analyst-visits", at=there).see("/")
    assert faults(page) == [] and "No dataset that you may see can be asked now" in page.text and "Retired" in page.text


@pytest.mark.parametrize("what", ["retire", "reinstate", "renew"])
def test_what_has_no_reason_or_makes_no_sense_is_not_done(there: Running, visit: Visiting, what: str) -> None:
    custodian = visit("custodian-visits", at=there)
    head = there.service.ledger.head
    for why in ("", "  ", "twice"):
        if why == "twice" and what == "retire":
            custodian.send(f"{MANAGE}/retire", {"why": "once"})
        page = seen(custodian.send(f"{MANAGE}/{what}", {"why": why}), 422)
        assert faults(page) == [] and "This was not done" in page.text
    assert there.service.ledger.head == head
    for person in ("analyst-visits", "auditor-visits", "only-admin"):
        assert visit(person, at=there).send(f"{MANAGE}/{what}", {"why": "so"}).status_code in (403, 404)


def test_a_budget_starts_over_with_new_rows_when_a_custodian_says_so(
    run_service: Callable[..., Running], visit: Visiting
) -> None:
    there = run_service(datasets=[{**VISITS, "renews": "rows"}, {**WAGES, "renews": "month"}])
    there.service.catalog.set_personal("visits", "analyst-visits", vm.zcdp("1/10"), by="admin", why="a limit")
    there.ask("analyst-visits")
    there.ask("analyst-wages", "wages")
    custodian = visit("custodian-all", at=there)
    spent, own = there.spent(), there.spent("visits@analyst-visits")
    assert spent == own != vm.zcdp(0)
    page = custodian.see(MANAGE)
    assert faults(page) == [] and "It is a promise that from now on questions are of the new rows alone" in page.text
    assert f"{spent!r} in all so far" in page.text
    sent = custodian.send(f"{MANAGE}/renew", {"why": "rows of May"})
    assert sent.headers["location"] == f"{MANAGE}?done=renew"
    assert there.spent() == there.spent("visits@analyst-visits") == vm.zcdp(0)
    assert there.service.ledger.scope("visits").lifetime == spent
    assert "rows of May" in custodian.see("/datasets/visits/history").text
    about = visit("analyst-visits", at=there).see("/datasets/visits")
    assert faults(about) == [] and f"{spent!r} in all so far" in about.text
    # Those of the calendar start over by themselves, and say so; others never do.
    page = custodian.see("/datasets/wages/manage")
    assert "starts over every month" in page.text and "/datasets/wages/manage/renew" not in page.source
    refused = seen(custodian.send("/datasets/wages/manage/renew", {"why": "so"}), 422)
    assert there.spent("wages") != vm.pure(0) and faults(refused) == []


def test_when_a_budget_starts_over_is_said_at_registration(there: Running, visit: Visiting) -> None:
    (there.folder / "second.csv").write_text("patient,age\na,1\n")
    custodian = visit("custodian-all", at=there)
    page = custodian.see("/register")
    assert faults(page) == [] and "over several, losses add up" in page.text
    fields = {"name": "second", "source": "files", "table": "second.csv", "unit": "row", "measure": "zcdp"}
    sent = custodian.send("/register", {**fields, "zcdp-rho": "1", "renews": "rows"})
    assert sent.status_code == 303, sent.text[:3000]
    assert there.service.ledger.scope("second").terms.renews == "rows"
    assert "/datasets/second/manage/renew" in custodian.see("/datasets/second/manage").source
    assert "This budget never starts over" in custodian.see(MANAGE).text
