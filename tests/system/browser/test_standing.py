"""In a browser: what came of charges, whose budget limits, and datasets that are retired or start over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.service.outcomes import PERSON, Charged, charged_at
from tests.service.serving import VISITS, WAGES, Running, running_in
from tests.system.browser.conftest import Arriving
from tests.system.browser.guest import faults_of, preview_counts

import viameter as vm


@pytest.fixture(scope="module")
def charged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Charged]:
    """A service with charges of every outcome, a limit for who asked, and a dataset that is retired."""
    datasets = [{**VISITS, "renews": "rows"}, WAGES]
    with running_in(tmp_path_factory.mktemp("service"), datasets=datasets) as there, charged_at(there) as made:
        catalog = there.service.catalog
        catalog.set_personal("visits", PERSON, vm.zcdp("1/100"), by="admin", why="a first study")
        there.ask(PERSON, key="limited")
        catalog.retire("wages", by="admin", why="the study ended, and its rows are kept for the record alone")
        yield made


@pytest.fixture(scope="module")
def running(charged: Charged) -> Running:
    return charged.at


def test_pages_about_what_stands_can_be_read(arrive: Arriving, charged: Charged) -> None:
    guest = arrive("admin", color_scheme="dark", viewport={"width": 390, "height": 800}, refused=[409])
    found: dict[str, list[str]] = {}
    entries = [f"/datasets/visits/history/{entry}" for entry in charged.entries.values()]
    for path in (
        "/",
        "/datasets/visits",
        "/datasets/visits/manage",
        "/datasets/visits/history",
        *entries,
        "/datasets/wages",
        "/datasets/wages/manage",
        "/datasets/wages/ask",
    ):
        page = guest.go(path)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        found[path] = [*faults_of(page, "dark", 390), *faults_of(page, "light", 1200)]
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_a_preview_says_which_budget_limits(arrive: Arriving) -> None:
    guest = arrive(PERSON, viewport={"width": 390, "height": 800})
    preview_counts(guest, spend="1/50")
    page = guest.page
    expect(page.get_by_text("limits this question")).to_have_count(1)
    expect(page.get_by_role("heading", name="Your own limit: zcdp(1/100) limits this question")).to_be_visible()
    expect(page.get_by_role("heading", name="The budget of this dataset: zcdp(1/2)", exact=True)).to_be_visible()
    assert [*faults_of(page, "light", 390), *faults_of(page, "dark", 1200)] == []


def test_a_custodian_starts_a_budget_over_retires_a_dataset_and_takes_it_back(arrive: Arriving) -> None:
    guest = arrive("admin")
    page = guest.go("/datasets/visits/manage")
    page.get_by_label("Which rows have arrived").fill("rows of May")
    guest.click("Start the budget over")
    expect(page.get_by_role("status").first).to_contain_text("The budget was started over.")
    assert guest.spent() == 0
    page.locator("#retiring-why").fill("enough was asked")
    guest.click("Retire the dataset")
    expect(page.get_by_role("status").first).to_contain_text("The dataset was retired.")
    guest.go("/")
    expect(page.get_by_role("heading", name="Retired")).to_be_visible()
    expect(page.get_by_role("link", name="Ask", exact=False)).to_have_count(0)
    guest.go("/datasets/visits/manage")
    page.locator("#retiring-why").fill("one more")
    guest.click("Reinstate the dataset")
    guest.click("About", "link")
    expect(page.get_by_role("link", name="Ask a question")).to_be_visible()
