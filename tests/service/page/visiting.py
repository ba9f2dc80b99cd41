"""People at the page: a client that signs in and sends forms as a browser would, and what every page must be like."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

import httpx
from tests.service.serving import Running

from viameter.service.api.needing import COOKIE
from viameter.service.secrets import guard_of

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
FIELDS = {"input", "select", "textarea"}


class Visitor:
    """Somebody with a browser: cookies are kept, redirects are not followed, forms carry the guard."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.client = running.new_client()

    def sign_in(self, token: str, next: str = "/") -> httpx.Response:
        """Show a token."""
        return self.client.post("/login", data={"guard": guard_of(""), "token": token, "next": next})

    @property
    def guard(self) -> str:
        """What forms carry."""
        return guard_of(self.client.cookies.get(COOKIE) or "")

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Look at a page."""
        return self.client.get(path, **options)

    def see(self, path: str) -> Page:
        """Look at a page that is there, and read it."""
        answered = self.get(path)
        assert answered.status_code == 200, (path, answered.status_code, answered.text[:2000])
        return read(answered)

    def send(self, path: str, fields: Mapping[str, Any] | None = None, **options: Any) -> httpx.Response:
        """Send a form."""
        return self.client.post(path, data={"guard": self.guard, **(fields or {})}, **options)

    def close(self) -> None:
        """Leave."""
        self.client.close()


class Page(HTMLParser):
    """A page as it was read: its elements with their attributes, and its text."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = source
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.repeated: list[str] = []
        self.open: list[str] = []
        self.badly_nested: list[str] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        self.elements.append((tag, dict(attrs)))
        self.repeated += [name for name, _ in attrs if [one for one, _ in attrs].count(name) > 1]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """An element ends: the one that was opened last."""
        if not self.open or self.open.pop() != tag:
            self.badly_nested.append(tag)

    def handle_data(self, data: str) -> None:
        """Text."""
        self.words.append(data)

    @property
    def text(self) -> str:
        """All text, with single spaces."""
        return " ".join(" ".join(self.words).split())

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of these kinds."""
        return [attributes for tag, attributes in self.elements if tag in tags]

    def links(self) -> list[str]:
        """Where links go."""
        return [str(one["href"]) for one in self.all("a") if one.get("href")]


def read(answered: httpx.Response) -> Page:
    """A reply as a page."""
    assert answered.headers["content-type"].startswith("text/html"), answered.headers["content-type"]
    return Page(answered.text)


def faults(page: Page, prefix: str = "") -> list[str]:
    """What is wrong with a page: what the policy forbids, what readers of screens miss, what leads elsewhere."""
    found = [f"<{tag}> is not nested" for tag in page.badly_nested] + [f"repeated {name}" for name in page.repeated]
    found += [f"<{tag}> is open" for tag in page.open]
    for tag, attributes in page.elements:
        found += [f"<{tag} {name}=>" for name in attributes if name == "style" or name.startswith("on")]
        found += ["<style>"] if tag == "style" else []
        found += ["a script in the page"] if tag == "script" and not attributes.get("src") else []
        for name in ("href", "src", "action", "formaction"):
            value = attributes.get(name)
            if value is not None and not value.startswith("#") and not _is_local(value, prefix):
                found.append(f"{name}={value}")
    return found + _unreadable(page) + _unguarded(page)


def _is_local(value: str, prefix: str) -> bool:
    return value.startswith(f"{prefix}/") and not value.startswith("//")


def _unreadable(page: Page) -> list[str]:
    found = []
    headings = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    if headings.count(1) != 1 or (headings and headings[0] != 1):
        found.append(f"headings {headings}")
    found += [f"h{two} below h{one}" for one, two in itertools.pairwise(headings) if two > one + 1]
    ids = [str(one["id"]) for _, one in page.elements if "id" in one]
    found += [f"id={one} twice" for one in set(ids) if ids.count(one) > 1]
    labeled = {one.get("for") for one in page.all("label")}
    found += [f"label for {one}, which is not there" for one in labeled if one not in ids]
    for tag, one in page.elements:
        if tag in FIELDS and one.get("type") != "hidden" and not one.get("aria-label") and one.get("id") not in labeled:
            found.append(f"no label: {tag} {one}")
        for name in ("aria-describedby", "aria-labelledby"):
            found += [f"{name}={word}" for word in (one.get(name) or "").split() if word not in ids]
        if tag == "svg" and one.get("role") == "img" and not (one.get("aria-label") or one.get("aria-labelledby")):
            found.append("a picture without a name")
        if tag == "th" and one.get("scope") not in ("row", "col", "rowgroup", "colgroup"):
            found.append("th without scope")
    if len(page.all("table")) != len(page.all("caption")):
        found.append("a table without a caption")
    if len(page.all("main")) != 1 or page.all("html")[0].get("lang") != "en":
        found.append("no main, or no language")
    return found


def _unguarded(page: Page) -> list[str]:
    posts = [one for one in page.all("form") if (one.get("method") or "get").lower() == "post"]
    guards = [one for one in page.all("input") if one.get("name") == "guard" and one.get("value")]
    return [] if len(posts) == len(guards) else [f"{len(posts)} forms and {len(guards)} guards"]
