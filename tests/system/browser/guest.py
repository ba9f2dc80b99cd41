"""Guests: somebody with a real browser at the page, and whatever goes wrong while they look around."""

from __future__ import annotations

import urllib.parse
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import BrowserContext, ConsoleMessage, Download, Locator, Page, Request, Response, expect
from tests.service.serving import PATIENCE, Running

from viameter.service.secrets import guard_of

ANSWERED_SO = "Failed to load resource: the server responded with a status of"
"""What Chromium writes to its console about replies of 400 and more, which are watched by themselves."""

LONG = PATIENCE * 1000 / 2
"""Milliseconds after which a page does not show any more what it should."""


FAULTS = (Path(__file__).parent / "page_faults.js").read_text(encoding="utf-8")


def faults_of(page: Page, scheme: Literal["light", "dark"], width: int) -> list[str]:
    """What readers would stumble over on a page, in light or dark and so many pixels wide, after a Tab was pressed."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.keyboard.press("Tab")
    return [f"{scheme}, {width}: {fault}" for fault in page.evaluate(FAULTS)]


class Guest:
    """A browser of one person. `refused` are the statuses of 400 and more that the service replied with."""

    def __init__(self, context: BrowserContext, running: Running) -> None:
        context.set_default_timeout(LONG)
        self.running = running
        self.faults: list[str] = []
        self.refused: list[int] = []
        self.sent: list[str] = []
        self._aborted: list[str] = []
        self._taken: list[str] = []
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self.faults.append(f"script: {error.error}"))
        context.on("request", self._on_request)
        context.on("requestfailed", self._on_failed)
        context.on("response", self._on_response)
        self.page: Page = context.new_page()
        self.page.on("download", lambda download: self._taken.append(download.url))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(ANSWERED_SO):
            self.faults.append(f"console: {message.text}")

    def _on_request(self, request: Request) -> None:
        own = urllib.parse.urlsplit(self.running.url).netloc
        address = urllib.parse.urlsplit(request.url)
        if address.scheme != "data" and address.netloc != own:
            self.faults.append(f"request to another host: {request.url}")
        self.sent.append(f"{request.method} {address.path}")

    def _on_failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":
            self.faults.append(f"failed request: {request.url} {request.failure}")
        elif request.resource_type == "document":
            # A file that is downloaded is a page that is not gone to. What else is given up belongs to a page that was
            # left before it was all there, such as its icon.
            self._aborted.append(request.url)

    def _on_response(self, response: Response) -> None:
        if response.status >= 400:
            self.refused.append(response.status)

    def all_faults(self, *, hasty: bool = False) -> list[str]:
        """What went wrong; whoever is hasty sends a form again before it was answered, and gives up the first one."""
        given_up = [] if hasty else [f"given up: {url}" for url in self._aborted if url not in self._taken]
        return [*self.faults, *given_up]

    def go(self, path: str) -> Page:
        """Open a page of the service."""
        self.page.goto(self.running.url + path)
        return self.page

    def come_in(self, person: str) -> None:
        """Be signed in as a person, without a look at the page where one signs in."""
        form: dict[str, str | float | bool] = {"guard": guard_of(""), "token": self.running.tokens[person], "next": "/"}
        origin = self.running.url
        sent = self.page.context.request.post(f"{origin}/login", form=form, headers={"origin": origin}, max_redirects=0)
        assert sent.status == 303

    def sign_in(self, person: str) -> Page:
        """Sign in with the token of a person."""
        return self.sign_in_with(self.running.tokens[person])

    def sign_in_with(self, token: str) -> Page:
        """Sign in with a token."""
        self.go("/login")
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_role("button", name="Sign in").click()
        return self.page

    def click(self, name: str, kind: Any = "button") -> None:
        """Press what is called exactly so."""
        self.page.get_by_role(kind, name=name, exact=True).click()

    def download(self, link: Locator, folder: Path) -> Path:
        """Take a file away."""
        with self.page.expect_download() as waiting:
            link.click()
        found: Download = waiting.value
        place = folder / found.suggested_filename
        found.save_as(place)
        return place

    def sees(self, heading: str) -> None:
        """The heading of the page is this one, or becomes it."""
        expect(self.page.get_by_role("heading", level=1)).to_have_text(heading)

    def spent(self, dataset: str = "visits") -> Fraction:
        """What the ledger says was spent of a dataset."""
        loss = self.running.spent(dataset)
        return Fraction(loss.rho if dataset == "visits" else loss.epsilon)


def preview_counts(
    guest: Guest, *, spend: str = "1/1000", dataset: str = "visits", amount: str = "Spend (rho)"
) -> None:
    """A preview of the number of rows of a dataset."""
    page = guest.go(f"/datasets/{dataset}/ask")
    page.get_by_role("group", name="Number 1").get_by_label("Number").select_option(label="number of rows")
    page.get_by_label("Spend (rho)" if dataset == "visits" else "Spend (epsilon)").fill(spend)
    guest.click("Preview, for free")
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()


def preview_wards(guest: Guest, *, scripts: bool = True, spend: str = "1/100") -> None:
    """A preview of waits and rows by ward, for grown-ups, with all parts of the form."""
    page = guest.go("/datasets/visits/ask")
    if scripts:
        guest.click("Add a condition")
    condition = page.get_by_role("group", name="Condition 1")
    condition.get_by_label("Column").select_option("age")
    condition.get_by_label("Comparison").select_option(label="is at least")
    condition.get_by_label("Value").fill("18")
    page.get_by_label("Values of one or two columns that I list").check()
    groups = page.get_by_role("group", name="Column that makes groups")
    groups.get_by_label("Column").select_option("ward")
    first = page.get_by_role("group", name="Number 1")
    first.get_by_label("Number").select_option(label="mean")
    first.get_by_label("of the column").select_option("wait")
    if scripts:
        expect(groups.get_by_label("Values, one in each line")).to_have_value(
            "Cardiology\nEmergency\nMaternity\nOncology\nPediatrics"
        )
        expect(first.get_by_label("Lower bound")).to_have_value("0")
        expect(first.get_by_label("Upper bound")).to_have_value("240")
        guest.click("Add a number")
    page.get_by_role("group", name="Number 2").get_by_label("Number").select_option(label="number of rows")
    page.get_by_label("Spend (rho)").fill(spend)
    guest.click("Preview, for free")
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()


def release(guest: Guest) -> None:
    """Release what was previewed, and see the answer."""
    guest.page.get_by_role("button", name="Release: spend").click()
    guest.sees("Answer")


def table_of(page: Page) -> list[list[str]]:
    """The rows of an answer, numbers as exactly as the page has them."""
    rows: list[list[str]] = page.locator("table.answer tbody tr").evaluate_all(
        """rows => rows.map(row => [...row.children].map(cell => {
            const exact = cell.querySelector("data");
            return exact ? exact.value : cell.textContent.trim();
        }))"""
    )
    return rows
