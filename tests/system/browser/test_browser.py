"""The page in a real browser: whole visits of analysts, custodians and admins, with and without scripts."""

from __future__ import annotations

import csv
import json
import re
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.service.serving import PATIENCE, QUESTION, WARDS, Running
from tests.system.browser.conftest import Arriving
from tests.system.browser.guest import Guest, faults_of, preview_counts, preview_wards, release, table_of

from viameter import pure, zcdp
from viameter.service.access import Grant, Role
from viameter.service.page import asking
from viameter.service.page.proving import example
from viameter.tables import Query

LEAKS = """
import viameter as vm


@vm.program(adjacent=vm.all_differ("q", by=1))
def leaks(q: list[int], eps: vm.Eps) -> int:
    return q[0]
"""


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Questions wait, running, until the gate is opened."""
    opened, real = threading.Event(), Query.release_for

    def release_slowly(*arguments: Any, **options: Any) -> Any:
        assert opened.wait(PATIENCE)
        return real(*arguments, **options)

    monkeypatch.setattr(Query, "release_for", release_slowly)
    monkeypatch.setattr(asking, "PATIENCE", 0.2)
    yield opened
    opened.set()


def assert_charged_once(guest: Guest, before: Fraction, folder: Path) -> dict[str, Any]:
    """What was spent since then is what the answer that is looked at says it cost; the answer as a document."""
    file = guest.download(guest.page.get_by_role("link", name="Download everything (.json)"), folder)
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    cost = Fraction(document["answer"]["loss"]["rho"])
    # Sums in the ledger are rounded up, by far less than that.
    assert 0 < cost <= guest.spent() - before < cost * Fraction(1001, 1000)
    return document


# Signing in


def test_a_wrong_token_opens_nothing_and_the_right_one_leads_to_where_one_wanted(arrive: Arriving) -> None:
    guest = arrive(refused=[422])
    page = guest.go("/datasets/visits")
    guest.sees("Sign in")
    expect(page.get_by_label("Token")).to_be_focused()
    page.get_by_label("Token").fill("vmt_wrong")
    guest.click("Sign in")
    expect(page.get_by_role("alert")).to_contain_text("opens nothing")
    page.get_by_label("Token").fill(guest.running.tokens["analyst-visits"])
    guest.click("Sign in")
    guest.sees("Visits to wards")
    guest.click("Sign out")
    guest.sees("Sign in")
    guest.go("/")
    guest.sees("Sign in")


def test_datasets_are_seen_with_what_is_left_step_by_step(arrive: Arriving) -> None:
    guest = arrive("analyst-all")
    for _ in range(3):
        assert guest.running.ask("analyst-all", "wages").status_code == 200
    page = guest.go("/")
    expect(page.get_by_role("heading", level=2)).to_have_text(["Visits to wards", "wages"])
    guest.click("wages", "link")
    guest.sees("wages")
    chart = page.get_by_role("region", name="Chart of what is left").get_by_role("img")
    expect(chart).to_be_visible()
    page.get_by_text("The same as a table").click()
    steps = page.get_by_role("region", name="What was left").locator("tbody tr")
    expect(steps.filter(has_text="charge")).to_have_count(3)
    expect(steps.first).to_contain_text("now")
    left = guest.running.service.ledger.scope("wages").left
    expect(steps.first).to_contain_text(repr(left))


def test_a_token_revoked_in_mid_use_ends_the_visit_at_the_next_click(arrive: Arriving, running: Running) -> None:
    state = running.service.state
    state.add_person("leaving", [Grant(Role.ANALYST, "visits")], by="admin")
    secret, made = state.add_token("leaving", label="", days=1, by="admin")
    guest = arrive()
    guest.sign_in_with(secret)
    guest.sees("Datasets")
    preview_counts(guest)
    before = guest.spent()
    assert state.revoke("leaving", made.id, by="admin")
    guest.page.get_by_role("button", name="Release: spend").click()
    guest.sees("Sign in")
    assert guest.spent() == before
    guest.go("/datasets/visits/history")
    guest.sees("Sign in")


# Asking


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_question_is_built_previewed_released_and_taken_away(
    arrive: Arriving, tmp_path: Path, *, scripts: bool
) -> None:
    guest = arrive("analyst-visits", java_script_enabled=scripts)
    page, before = guest.page, guest.spent()
    preview_wards(guest, scripts=scripts)
    expect(page.locator("#preview")).to_contain_text("fits the budget")
    expect(page.locator("#preview")).to_contain_text("Nothing has been spent on it yet.")
    assert guest.spent() == before
    release(guest)

    table = table_of(page)
    assert [row[0] for row in table] == WARDS
    figures = page.locator("figure").filter(has=page.locator("svg"))
    expect(figures).to_have_count(2)
    for number in range(2):
        drawn = figures.nth(number).get_by_role("img")
        expect(drawn.locator("line.interval")).to_have_count(len(WARDS))
        # What is unknown has an interval, and no dot.
        known = [row for row in table if row[1 + 3 * number] != "unknown"]
        expect(drawn.locator("circle")).to_have_count(len(known))
        expect(drawn.locator("text.label")).to_have_text(WARDS)

    file = guest.download(page.get_by_role("link", name="Download the table (.csv)"), tmp_path)
    with file.open(newline="", encoding="utf-8") as lines:
        names, *rows = csv.reader(lines)
    assert names[0] == "ward" and len(names) == 7
    # What is unknown is empty in a file, and null in a document.
    assert rows == [["" if cell == "unknown" else cell for cell in row] for row in table]
    document = assert_charged_once(guest, before, tmp_path)
    released = document["answer"]["rows"]
    assert [["unknown" if cell is None else str(cell) for cell in row] for row in released] == table

    guest.click("Ask something like this again", "link")
    expect(page.get_by_label("Spend (rho)")).to_have_value("1/100")
    assert page.get_by_role("group", name="Condition 1").get_by_label("Value").input_value() == "18"


def test_a_changed_form_says_that_the_preview_is_of_another_question(arrive: Arriving) -> None:
    guest = arrive("analyst-visits")
    preview_counts(guest)
    outdated = guest.page.get_by_text("You changed the form.")
    expect(outdated).to_be_hidden()
    guest.page.get_by_label("Spend (rho)").press_sequentially("0")
    expect(outdated).to_be_visible()


def test_a_number_of_two_columns_shows_the_fields_that_it_needs(arrive: Arriving) -> None:
    guest = arrive("analyst-visits")
    page = guest.go("/datasets/visits/ask")
    row = page.get_by_role("group", name="Number 1")
    second = row.get_by_label("and the column")
    expect(second).to_be_hidden()
    row.get_by_label("Number").select_option(label="covariance")
    row.get_by_label("of the column").select_option("age")
    second.select_option("wait")
    # What is published of the second column is filled in beside it, and not beside the first.
    expect(row.get_by_label("Its highest")).to_have_value("240")
    expect(row.get_by_label("Upper bound")).to_have_value("")
    row.get_by_label("Lower bound").fill("0")
    row.get_by_label("Upper bound").fill("110")
    guest.click("Preview, for free")
    said = "The covariance of age between 0 and 110 and wait between 0 and 240"
    expect(page.locator("#preview")).to_contain_text(said)
    row.get_by_label("Number").select_option(label="number of rows")
    expect(second).to_be_hidden()
    expect(row.get_by_label("Upper bound")).to_be_hidden()


def test_a_question_in_sql_is_previewed_and_what_is_wrong_with_it_has_its_place(arrive: Arriving) -> None:
    guest = arrive("analyst-visits", refused=[422])
    page = guest.go("/datasets/visits/ask")
    page.get_by_text("Or write it as SQL").click()
    text = page.get_by_label("A question in SQL")
    text.fill("SELECT COUNT(*) AS n\nFROM visits WHERE wiat > 60")
    guest.click("Preview the SQL, for free")
    expect(page.get_by_role("alert")).to_contain_text("Line 2, column 19, at 'wiat'")
    expect(page.locator(".sql-place")).to_contain_text("wiat > 60")
    for width in (1200, 390):
        assert [*faults_of(page, "light", width), *faults_of(page, "dark", width)] == []
    text.fill(text.input_value().replace("wiat", "wait"))
    guest.click("Preview the SQL, for free")
    expect(page.locator("#preview")).to_contain_text("The number of rows, of rows where wait is more than 60.")
    expect(page.get_by_role("group", name="Condition 1").get_by_label("Value")).to_have_value("60")
    text.press_sequentially(" ")
    expect(page.get_by_text("You changed the form.")).to_be_visible()


def test_what_is_wrong_with_a_form_is_said_beside_its_field(arrive: Arriving) -> None:
    guest = arrive("analyst-visits", refused=[422])
    page = guest.go("/datasets/visits/ask")
    page.get_by_role("group", name="Number 1").get_by_label("Number").select_option(label="mean")
    page.get_by_label("Spend (rho)").fill("much")
    guest.click("Preview, for free")
    alert = page.get_by_role("alert")
    expect(alert).to_be_focused()
    expect(page.get_by_label("Spend (rho)")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Spend (rho)")).to_have_value("much")
    alert.get_by_role("link").last.click()
    assert page.url.endswith("#amount")


def test_more_than_is_left_is_refused_and_nothing_is_spent(arrive: Arriving, running: Running) -> None:
    guest = arrive("analyst-wages", refused=[409])
    preview_counts(guest, dataset="wages", spend="2")
    expect(guest.page.locator("#preview")).to_contain_text("does not fit the budget")
    expect(guest.page.get_by_role("button", name="Release")).to_have_count(0)

    preview_counts(guest, dataset="wages", spend="1/2")
    catalog, before = running.service.catalog, guest.spent("wages")
    catalog.set_budget("wages", pure("1/4"), by="admin", why="for a moment")
    try:
        guest.page.get_by_role("button", name="Release: spend").click()
        guest.sees("Not released: too little is left")
        expect(guest.page.get_by_role("alert")).to_contain_text("nothing was spent")
    finally:
        catalog.set_budget("wages", pure(1), by="admin", why="as before")
    assert guest.spent("wages") == before
    guest.click("Back to the form, with this question")
    expect(guest.page.locator("#preview")).to_contain_text("fits the budget")
    expect(guest.page.get_by_label("Spend (epsilon)")).to_have_value("1/2")
    assert guest.spent("wages") == before


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_reload_during_a_slow_question_shows_it_and_then_its_answer_charged_once(
    arrive: Arriving, tmp_path: Path, gate: threading.Event, *, scripts: bool
) -> None:
    guest = arrive("analyst-visits", java_script_enabled=scripts)
    preview_counts(guest, spend="1/500")
    page, before = guest.page, guest.spent()
    page.get_by_role("button", name="Release: spend").click()
    guest.sees("The question is running")
    place, asked = page.url, page.locator(".lead").inner_text()
    page.reload()
    guest.sees("The question is running")
    assert (page.url, page.locator(".lead").inner_text()) == (place, asked)
    gate.set()
    guest.sees("Answer")
    assert (page.url, page.locator(".lead").inner_text()) == (place, asked)
    table = table_of(page)
    page.reload()
    guest.sees("Answer")
    assert table_of(page) == table
    assert_charged_once(guest, before, tmp_path)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_double_click_on_release_is_charged_once(
    arrive: Arriving, tmp_path: Path, gate: threading.Event, monkeypatch: pytest.MonkeyPatch, *, scripts: bool
) -> None:
    monkeypatch.setattr(asking, "PATIENCE", PATIENCE)
    guest = arrive("analyst-visits", hasty=not scripts, java_script_enabled=scripts)
    preview_counts(guest, spend="1/400")
    page, before = guest.page, guest.spent()
    box = page.get_by_role("button", name="Release: spend").bounding_box()
    assert box is not None
    # The second click comes while the first is being answered; nothing of Playwright's waits in between.
    with page.expect_request("**/release"):
        page.mouse.click(box["x"] + 9, box["y"] + 9)
    page.mouse.click(box["x"] + 9, box["y"] + 9)
    page.wait_for_timeout(200)
    gate.set()
    guest.sees("Answer")
    assert_charged_once(guest, before, tmp_path)
    assert guest.sent.count("POST /datasets/visits/release") == (1 if scripts else 2)


# The keyboard


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what is called so has the focus."""
    seen: list[str] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                """() => {
                    const one = document.activeElement;
                    const label = one.labels && one.labels.length ? one.labels[0].textContent : one.textContent;
                    return label.trim().replace(/\\s+/g, " ");
                }"""
            )
        )
        if seen[-1].startswith(name):
            return
    pytest.fail(f"no way to {name!r} by Tab: {seen}")


def test_from_signing_in_to_an_answer_by_the_keyboard_alone(arrive: Arriving) -> None:
    guest = arrive()
    page = guest.go("/")
    keyboard, before = page.keyboard, guest.spent()
    expect(page.locator("[autofocus]")).to_be_focused()  # what is typed before goes nowhere
    keyboard.type(guest.running.tokens["analyst-visits"])
    keyboard.press("Enter")
    guest.sees("Datasets")
    keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    keyboard.press("Enter")
    tab_to(page, "Ask about Visits to wards")
    keyboard.press("Enter")
    guest.sees("Ask a question")
    tab_to(page, "None: one number")
    keyboard.press("ArrowDown")
    expect(page.get_by_label("Values of one or two columns that I list")).to_be_checked()
    tab_to(page, "Column")
    keyboard.type("ward")
    tab_to(page, "All other rows")
    keyboard.press("Space")
    expect(page.get_by_label("All other rows make one more group")).to_be_checked()
    tab_to(page, "Number")
    keyboard.type("number of rows")
    tab_to(page, "Spend (rho)")
    keyboard.press("Control+A")
    keyboard.type("1/300")
    keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()
    assert guest.spent() == before
    tab_to(page, "Release: spend")
    keyboard.press("Space")
    guest.sees("Answer")
    assert len(table_of(page)) == len(WARDS) + 1
    assert guest.spent() > before


# What every page is like


def test_every_page_can_be_read(arrive: Arriving) -> None:
    guest = arrive("admin", viewport={"width": 390, "height": 800})
    page = guest.page
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        found[name] = [*faults_of(page, "light", 1200), *faults_of(page, "dark", 390)]

    preview_wards(guest, spend="1/1000")
    look("preview")
    release(guest)
    look("answer")
    guest.click("The charge, with the theorems behind it", "link")
    guest.click("Open all")
    look("entry")
    for path in (
        "/",
        "/datasets/visits",
        "/datasets/visits/ask",
        "/datasets/visits/history",
        "/datasets/visits/manage",
    ):
        guest.go(path)
        look(path)
    for path in ("/register", "/people", "/people/nobody", "/me", "/acts", "/programs", "/certificates"):
        guest.go(path)
        look(path)
    brightness = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness[scheme] = sum(map(int, re.findall(r"\d+", ground)[:3])) / 3
    assert brightness["light"] > 200 and brightness["dark"] < 60
    guest.click("Sign out")
    look("signed out")
    assert {name: faults for name, faults in found.items() if faults} == {}


NARROW = """() => ({
  cut: [...document.querySelectorAll(".scroll")].filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => [one.getAttribute("aria-label"), getComputedStyle(one, "::before").content.includes("sideways")]),
  captions: [...document.querySelectorAll(".scroll caption")].filter((one) => one.checkVisibility()
    && one.getBoundingClientRect().right > one.closest(".scroll").getBoundingClientRect().right + 1).length,
  charts: [...document.querySelectorAll("svg.chart")]
    .filter((one) => one.getBoundingClientRect().right > innerWidth).length,
  badges: [...document.querySelectorAll(".tag")].filter((one) => one.scrollWidth > one.clientWidth + 1
    || getComputedStyle(one).overflowWrap === "anywhere").length,
})"""


def test_what_is_wider_than_a_phone_says_so_and_nothing_is_cut_off(arrive: Arriving) -> None:
    guest = arrive("admin", viewport={"width": 390, "height": 800})
    assert guest.running.ask("analyst-visits").status_code == 200
    for path, wide in (("/datasets/visits", None), ("/datasets/visits/history", "History"), ("/people", "People")):
        page = guest.go(path)
        if wide is not None:
            expect(page.get_by_role("region", name=wide)).to_have_attribute("data-goes-on", "")
        else:
            expect(page.locator("svg.chart")).to_be_visible()
            page.get_by_text("The same as a table").click()
            expect(page.get_by_role("region", name="What was left")).to_have_attribute("data-goes-on", "")
        found = page.evaluate(NARROW)
        assert all(said for _, said in found["cut"]) and found["cut"]
        assert (found["captions"], found["charts"], found["badges"]) == (0, 0, 0)


def test_the_whole_history_is_seen_on_a_screen(arrive: Arriving) -> None:
    guest = arrive("admin")
    catalog = guest.running.service.catalog
    catalog.set_personal("visits", "custodian-visits", zcdp("1/7"), by="admin", why="a share for the study")
    # Words that have no place to break, and more digits than there is room for.
    long_name = "a_name_of_a_column_that_is_long"
    aggregates = {"mean": {"mean": long_name, "bounds": [0, 240]}}
    question = {**QUESTION, "derive": {long_name: "wait"}, "aggregates": aggregates, "spend": {"zcdp": "1/700"}}
    assert guest.running.ask("analyst-visits", question=question).status_code == 200
    table = guest.go("/datasets/visits/history").get_by_role("region", name="History")
    expect(table).to_contain_text("first limit: custodian-visits")
    assert table.evaluate("one => one.scrollWidth - one.clientWidth") <= 1
    spent = table.locator("tbody tr").first.locator("td").last.locator("[title]")
    expect(spent).to_have_text(re.compile(r"zcdp\(<=0\.\d{1,6}\)"))


# Custodians and admins


def test_a_custodian_changes_a_budget_for_a_reason_and_describes_a_column(arrive: Arriving, running: Running) -> None:
    guest = arrive("custodian-all", refused=[422])
    page = guest.go("/datasets/wages/manage")
    budget = page.locator("form").filter(has=page.get_by_role("button", name="Change the budget"))
    budget.get_by_label("epsilon").fill("5/4")
    budget.get_by_label("Why").fill("   ")
    guest.click("Change the budget")
    expect(page.get_by_role("alert")).to_contain_text("the reason is kept for good")
    assert running.service.ledger.scope("wages").budget == pure(1)
    budget.get_by_label("Why").fill("a second study")
    guest.click("Change the budget")
    expect(page.get_by_role("status")).to_contain_text("The budget was changed.")
    assert running.service.ledger.scope("wages").budget == pure("5/4")

    page.locator("summary").filter(has_text="city").click()
    column = page.locator("details[open] form")
    column.get_by_label("What it is").fill("Where they work <North or South>")
    column.get_by_label("Public values").fill("N\nS")
    column.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("was saved")
    guest.click("About", "link")
    row = page.get_by_role("region", name="Columns").get_by_role("row").filter(has_text="city")
    expect(row).to_contain_text("Where they work <North or South>")
    expect(row).to_contain_text("N, S")
    guest.click("History", "link")
    expect(page.get_by_role("region", name="History")).to_contain_text("a second study")


def test_an_admin_adds_a_person_and_makes_a_token_that_is_shown_once(arrive: Arriving) -> None:
    guest = arrive("admin")
    page = guest.go("/people")
    page.get_by_label("Name").fill("grace")
    guest.click("Add")
    guest.sees("grace")
    page.get_by_label("analyst of visits").check()
    guest.click("Save the grants")
    expect(page.get_by_role("status")).to_contain_text("The grants were saved.")
    page.get_by_label("Label").fill("laptop")
    guest.click("Make a token")
    guest.sees("A new token for grace")
    secret = page.locator("#token").inner_text()
    assert secret.startswith("vmt_")

    grace = arrive(refused=[422])
    grace.sign_in_with(secret)
    grace.sees("Datasets")

    guest.click("I have copied it", "link")
    guest.sees("grace")
    assert secret not in page.content()
    page.reload()
    assert secret not in page.content()
    page.locator("summary").filter(has_text="Revoke").click()
    guest.click("Revoke now")
    expect(page.get_by_role("status")).to_contain_text("The token was revoked.")
    grace.click("Visits to wards", "link")
    grace.sees("Sign in")
    grace.sign_in_with(secret)
    expect(grace.page.get_by_role("alert")).to_contain_text("opens nothing")


# Proofs


def test_the_example_program_is_proved_and_its_certificate_holds(arrive: Arriving, tmp_path: Path) -> None:
    guest = arrive("nobody")
    page = guest.go("/programs")
    expect(page.get_by_label("Programs")).to_have_value(example())
    guest.click("Verify")
    verdict = page.get_by_role("article")
    expect(verdict).to_contain_text("PROVED")
    file = guest.download(page.get_by_role("link", name="Download the certificate"), tmp_path)
    assert json.loads(file.read_text())
    guest.click("Check it here")
    guest.sees("Check a certificate")
    expect(page.get_by_role("heading", name="it holds")).to_be_visible()


def test_a_program_that_leaks_is_refuted(arrive: Arriving) -> None:
    guest = arrive("nobody")
    page = guest.go("/programs")
    page.get_by_label("Programs", exact=True).fill(LEAKS)
    guest.click("Verify")
    expect(page.get_by_role("article")).to_contain_text("REFUTED")
    expect(page.get_by_role("link", name="Download the certificate")).to_have_count(0)


def test_the_certificate_of_a_charge_holds_until_it_is_changed(arrive: Arriving, tmp_path: Path) -> None:
    guest = arrive("analyst-visits")
    page = guest.page
    preview_counts(guest)
    release(guest)
    guest.click("The charge, with the theorems behind it", "link")
    file = guest.download(page.get_by_role("link", name="Download the certificate"), tmp_path)
    guest.click("Certificates", "link")
    page.get_by_label("File").set_input_files(file)
    expect(page.get_by_label("Certificate", exact=True)).to_have_value(re.compile("theorem"))
    guest.click("Check")
    expect(page.get_by_role("heading", name="it holds")).to_be_visible()

    text = file.read_text(encoding="utf-8")
    changed = re.sub(r'("rho": ")\d+/', r"\g<1>1/", text, count=1)
    assert changed != text
    page.get_by_label("Certificate", exact=True).fill(changed)
    guest.click("Check")
    expect(page.get_by_role("heading", name="it does not hold")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("does not show what it claims")
