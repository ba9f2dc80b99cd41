"""A Chromium that all tests share, and guests who use it: whatever goes wrong in it fails the test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright
from tests.service.serving import Running, running_in
from tests.system.browser.guest import LONG, Guest

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--js-flags=--lite-mode --single-threaded",  # no page computes for so long that compiling it would pay
]
Arriving = Callable[..., Guest]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all tests; where the system's packages are installed for tests, it must be there."""
    if not CHROMIUM.exists():
        reason = f"{CHROMIUM} is missing: scripts/system-packages installs it"
        if os.environ.get("CI") or os.geteuid() == 0:
            pytest.fail(reason)
        pytest.skip(reason)
    expect.set_options(timeout=LONG)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that verifies programs for as long as a busy machine may need beside a browser."""
    with running_in(tmp_path_factory.mktemp("service"), limits={"verify_seconds": 30}) as made:
        yield made


@pytest.fixture
def arrive(browser: Browser, running: Running) -> Iterator[Arriving]:
    """`arrive("analyst-visits", color_scheme="dark")`: a guest who is signed in; nobody in particular without a name.

    `refused=[422]` says which replies of 400 and more there will be; `hasty` is whoever sends a form twice.
    """
    guests: list[tuple[BrowserContext, Guest, list[int], bool]] = []

    def enter(person: str = "", *, refused: list[int] | None = None, hasty: bool = False, **options: Any) -> Guest:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        guest = Guest(context, running)
        guests.append((context, guest, refused or [], hasty))
        if person:
            guest.come_in(person)
        return guest

    yield enter
    for context, _, _, _ in guests:
        context.close()
    for _, guest, refused, hasty in guests:
        assert guest.all_faults(hasty=hasty) == []
        assert guest.refused == refused
