"""Links and forms of other sites, in a real browser: a link leads to the page that it names, a form does nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.service.serving import Running
from tests.system.browser.guest import LONG

from viameter.service.api.needing import COOKIE
from viameter.service.secrets import guard_of

MAIL = "https://mail.example"
"""Another site."""
NEIGHBOR = "http://127.0.0.1:9"
"""Another origin of the same site, whose forms are sent with the cookie."""


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of somebody who gets mail; what stands in it is what a test says."""
    made = browser.new_context()
    made.set_default_timeout(LONG)
    yield made
    made.close()


def show(context: BrowserContext, page: Page, origin: str, content: str) -> None:
    """A page of another origin with this content."""
    context.route(f"{origin}/**", lambda route: route.fulfill(body=content, content_type="text/html"))
    page.goto(f"{origin}/letter")


def sign_in(page: Page, running: Running, person: str) -> None:
    """Sign in as somebody."""
    page.goto(running.url + "/login")
    page.get_by_label("Token").fill(running.tokens[person])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Datasets")


def secret_of(context: BrowserContext) -> str:
    """The secret of the cookie."""
    return next(str(one["value"]) for one in context.cookies() if one["name"] == COOKIE)


def form(running: Running, path: str, **fields: str) -> str:
    """A page with a form that is sent to the service."""
    inputs = "".join(f'<input type="hidden" name="{name}" value="{value}">' for name, value in fields.items())
    return f'<form method="post" action="{running.url}{path}">{inputs}<button>Win</button></form>'


def press(page: Page) -> int:
    """Press the button; the status of the reply to the form."""
    with page.expect_response(lambda reply: reply.request.method == "POST") as waiting:
        page.get_by_role("button", name="Win").click()
    return int(waiting.value.status)


def test_a_link_in_a_mail_leads_to_the_page_that_it_names(context: BrowserContext, running: Running) -> None:
    page = context.new_page()
    sign_in(page, running, "analyst-visits")
    show(context, page, MAIL, f'<a href="{running.url}/datasets/visits/history">What was asked</a>')
    page.get_by_role("link", name="What was asked").click()
    expect(page).to_have_url(f"{running.url}/datasets/visits/history")
    expect(page.get_by_label("Token")).to_have_count(0)


def test_a_form_of_another_site_does_nothing(context: BrowserContext, running: Running) -> None:
    """Although it knows the guard, which it cannot: the browser keeps the cookie to itself."""
    page = context.new_page()
    sign_in(page, running, "admin")
    before = running.service.state.acts(last=1)
    guard = guard_of(secret_of(context))
    show(context, page, MAIL, form(running, "/people", guard=guard, name="forged"))
    assert press(page) == 303  # to the place to sign in, and on from there: the form came from nobody
    expect(page.get_by_role("heading", level=1)).to_have_text("Datasets")
    assert running.service.state.acts(last=1) == before


@pytest.mark.parametrize("origin", [NEIGHBOR, MAIL])
def test_nobody_is_signed_in_by_another_site(context: BrowserContext, running: Running, origin: str) -> None:
    page = context.new_page()
    show(context, page, origin, form(running, "/login", guard=guard_of(""), token=running.tokens["nobody"]))
    assert press(page) == 403
    assert not [one for one in context.cookies() if one["name"] == COOKIE]


def test_a_form_of_a_neighbor_is_sent_with_the_cookie_and_refused(context: BrowserContext, running: Running) -> None:
    page = context.new_page()
    sign_in(page, running, "admin")
    before = running.service.state.acts(last=1)
    guard = guard_of(secret_of(context))
    show(context, page, NEIGHBOR, form(running, "/people", guard=guard, name="forged"))
    assert press(page) == 403
    assert running.service.state.acts(last=1) == before
