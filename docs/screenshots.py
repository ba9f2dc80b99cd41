"""Take the pictures of the service's page: start it with the bundled data, ask a few questions, and look at it.

Run by scripts/screenshots. What is asked is drawn anew each time, so that noise differs from picture to picture.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

from playwright.sync_api import Browser, Page, sync_playwright

import viameter as vm
from viameter.service.access import Grant, Role
from viameter.service.bundled import VISITS, bundled_config
from viameter.service.service import Service, open_service
from viameter.service.starting import listening, running

PICTURES = Path(__file__).parent / "pictures"
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTH, MOST_HEIGHT = 1200, 1400
WARDS = VISITS["columns"]["ward"]["values"]
COUNT: dict[str, Any] = {"rows": {"count": True}}
WAIT: dict[str, Any] = {"wait": {"mean": "wait", "bounds": [0, 240]}}
BY_WARD: dict[str, Any] = {"group_by": "ward", "keys": WARDS}
ASKED: list[tuple[int, str, str, dict[str, Any]]] = [
    (2, "ada", "visits", {"aggregates": COUNT, "spend": {"zcdp": "1/100"}}),
    (5, "grace", "visits", {**BY_WARD, "aggregates": COUNT, "spend": {"zcdp": "1/25"}}),
    (9, "ada", "visits", {"filter": "age >= 65", "aggregates": WAIT, "spend": {"zcdp": "1/50"}}),
    (10, "ada", "flights", {"aggregates": COUNT, "spend": {"zcdp": "1/10"}}),
    (16, "grace", "visits", {**BY_WARD, "aggregates": WAIT, "spend": {"zcdp": "1/20"}}),
    (23, "ada", "visits", {"filter": "wait > 120", "aggregates": COUNT, "spend": {"zcdp": "1/100"}}),
]
"""After how many days, by whom, and what."""
RAISED = 19
"""After how many days the budget is raised."""


class Clock(datetime):
    """Some weeks in a moment."""

    at = datetime.now(UTC) - timedelta(days=28)

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        """The time that it is told to be."""
        return cls.at


@contextmanager
def weeks_ago() -> Iterator[None]:
    """What the ledger and the tables write down meanwhile happens at the time of the clock."""
    with ExitStack() as stack:
        for module in ("viameter.ledger.stores.sql", "viameter.ledger.ledger", "viameter.service.state"):
            stack.enter_context(patch(f"{module}.datetime", Clock))
        yield


def opened_with_a_past(folder: Path) -> Service:
    """A service with the bundled data at which people have asked for some weeks."""
    with weeks_ago():
        service = open_service(bundled_config(folder, port=0))
        for name in ("ada", "grace"):
            service.state.add_person(name, [Grant(Role.ANALYST), Grant(Role.AUDITOR)], by="admin")
        began, raised = Clock.at, False
        for day, person, dataset, question in ASKED:
            if day > RAISED and not raised:
                Clock.at, raised = began + timedelta(days=RAISED), True
                service.catalog.set_budget("visits", vm.zcdp("3/5"), by="admin", why="a second study was approved")
            Clock.at = began + timedelta(days=day)
            service.desk.ask(person, dataset, question, f"{person}-{day}").future.result()
    return service


def take(page: Page, name: str) -> None:
    """A picture of a page from its top, as far down as it goes or may go."""
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    height = min(int(page.evaluate("document.documentElement.scrollHeight")), MOST_HEIGHT)
    whole = {"x": 0.0, "y": 0.0, "width": float(WIDTH), "height": float(height)}
    page.screenshot(path=PICTURES / f"service-{name}.png", full_page=True, clip=whole)  # type: ignore[arg-type]


@contextmanager
def signed_in(browser: Browser, address: str, token: str, scheme: Literal["light", "dark"] = "light") -> Iterator[Page]:
    """A window of somebody who shows a token."""
    context = browser.new_context(viewport={"width": WIDTH, "height": 500}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{address}/login")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Datasets").wait_for()
    yield page
    context.close()


def ask_by_form(page: Page) -> None:
    """Fill in the form of a question, and preview it."""
    page.get_by_label("Values of one or two columns that I list").check()
    page.get_by_role("group", name="Column that makes groups").get_by_label("Column").select_option("ward")
    first = page.get_by_role("group", name="Number 1")
    first.get_by_label("Number").select_option("mean")
    first.get_by_label("of the column").select_option("wait")
    page.get_by_role("button", name="Add a number").click()
    page.get_by_role("group", name="Number 2").get_by_label("Number").select_option("count")
    page.get_by_label("Spend (rho)").fill("1/5")
    page.get_by_role("button", name="Preview, for free").click()
    page.get_by_role("heading", name="Preview").wait_for()


def take_all(browser: Browser, address: str, token: str) -> None:
    """All pictures."""
    with signed_in(browser, address, token) as page:
        take(page, "datasets")
        page.goto(f"{address}/datasets/visits")
        take(page, "dataset")
        page.goto(f"{address}/datasets/visits/ask")
        ask_by_form(page)
        take(page, "preview")
        page.get_by_role("button", name="Release: spend").click()
        page.get_by_role("heading", name="Answer", exact=True).wait_for()
        take(page, "answer")
        answer = page.url
        page.get_by_role("link", name="The charge, with the theorems behind it").click()
        take(page, "history-entry")
        page.goto(f"{address}/programs")
        page.get_by_role("button", name="Verify").click()
        page.get_by_role("heading", name="Verdict").wait_for(timeout=120_000)
        take(page, "program")
    with signed_in(browser, address, token, "dark") as page:
        page.goto(answer)
        take(page, "dark")


def main() -> None:
    """Start a service in a folder of its own, and take the pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        service = opened_with_a_past(Path(folder))
        try:
            token, _ = service.state.add_token("ada", label="for pictures", days=1, by="admin")
            with listening(service.config) as socket, running(service, socket) as address, sync_playwright() as player:
                browser = player.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
                take_all(browser, address, token)
                browser.close()
        finally:
            service.close()


if __name__ == "__main__":
    main()
