"""What tests of questions on the page share: forms as people fill them in, and what stands in the preview of one."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from typing import Any

import httpx
from tests.service.page.visiting import Page, Visitor, read

FIELDS = {
    "grouping": "listed",
    "group-1-column": "ward",
    "group-1-values": "Cardiology\r\nEmergency",
    "asked": "numbers",
    "aggregate-1-what": "count",
    "aggregate-2-what": "mean",
    "aggregate-2-column": "wait",
    "aggregate-2-lower": "0",
    "aggregate-2-upper": "240",
    "costing": "spend",
    "amount": "1/1000",
    "confidence": "95",
}
"""A form that "visits" can answer."""


def hidden(answered: httpx.Response, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'<input type="hidden" name="{name}" value="([^"]*)">', answered.text)
    assert found is not None, answered.text[:3000]
    return html.unescape(found[1])


def preview(visitor: Visitor, fields: Mapping[str, str] = FIELDS, dataset: str = "visits") -> httpx.Response:
    """Preview a form."""
    return visitor.send(f"/datasets/{dataset}/ask", fields)


def released_by(answered: httpx.Response) -> dict[str, str]:
    """The form that releases what was previewed, as the page has it."""
    return {name: hidden(answered, name) for name in ("key", "question")}


def release(visitor: Visitor, fields: Mapping[str, str] = FIELDS, dataset: str = "visits") -> str:
    """Preview and release a form; where its answer is."""
    sent = visitor.send(f"/datasets/{dataset}/release", released_by(preview(visitor, fields, dataset)))
    assert sent.status_code == 303, sent.text[:3000]
    return sent.headers["location"]


def document(answered: httpx.Response) -> Any:
    """The question that a preview would release."""
    return json.loads(hidden(answered, "question"))


def filled_in(page: Page) -> dict[str, str]:
    """What the fields of the form of a question hold: texts, and what is chosen."""
    found = {
        str(one["name"]): str(one.get("value") or "")
        for one in page.all("input")
        if one.get("type") == "text" or (one.get("type") in ("radio", "checkbox") and "checked" in one)
    }
    chosen = ""
    for tag, one in page.elements:
        if tag == "select":
            chosen = str(one["name"])
            found.setdefault(chosen, "")
        elif tag == "option" and "selected" in one:
            found[chosen] = str(one["value"])
    for name, text in re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n?([^<]*)</textarea>', page.source):
        found[name] = html.unescape(text)
    return found


def seen(answered: httpx.Response, status: int = 200) -> Page:
    """A reply of a status, read."""
    assert answered.status_code == status, (answered.status_code, answered.text[:3000])
    return read(answered)
