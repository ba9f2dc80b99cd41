"""Rendering: templates of the page, with what they all need. Everything that they show is escaped.

Templates have `path("/datasets")` (an address below the prefix), `static("style.css")` (a file with its hash in its
address), `visit` (who is signed in; None if nobody is), `guard` (for the hidden field of every form), `title` (of the
service), `here` (the path that was asked for), `notice`, `Action`, `dataset_title` and `retired` (of the dataset that a
page is about), and the filters below.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import urllib.parse
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from viameter.core import Loss
from viameter.ledger.plots import percent
from viameter.service.access import Action
from viameter.service.api.needing import COOKIE, Visit, service_of
from viameter.service.page.losses import show_left, show_spent
from viameter.service.secrets import guard_of
from viameter.service.state import Registered

HERE = Path(__file__).parent
NOTICES = {
    "budget": "The budget was changed. The ledger has an entry that says so.",
    "limit": "The limit of this person was set. The ledger has an entry that says so.",
    "description": "The description was saved.",
    "column": "What is said of the column was saved.",
    "roles": "What this person may do here was saved.",
    "renew": "The budget was started over. The ledger has an entry that says so.",
    "retire": "The dataset was retired. Nobody can ask it any more; what was asked before stays.",
    "reinstate": "The dataset was reinstated. It can be asked again, under the budget that it had.",
    "registered": "The dataset was registered. Nothing was spent.",
    "person": "The person was added. They get in once they have a token.",
    "grants": "The grants were saved.",
    "shut_out": "This person was shut out, with all of their tokens.",
    "let_in": "This person was let in again. Tokens that were not revoked are valid again.",
    "token_made": "The token was made and shown already. If you did not keep it, revoke it and make another one.",
    "revoked": "The token was revoked. Whoever signed in with it is signed out.",
    "signed_out": "You are signed out.",
}
"""What is said after a form was taken, by the code in the address: texts are ours, and never from an address."""


def render(
    request: Request, template: str, *, visit: Visit | None = None, status: int = 200, **context: Any
) -> HTMLResponse:
    """A page; `context` is what its template shows."""
    service = service_of(request)
    registered = service.catalog.registered(visit.dataset) if visit is not None and visit.dataset else None
    given: dict[str, Any] = {
        "visit": visit,
        "guard": visit.guard if visit is not None else guard_of(request.cookies.get(COOKIE, "")),
        "title": service.config.server.title,
        "here": request.scope["path"],
        "notice": NOTICES.get(request.query_params.get("done", "")),
        "path": functools.partial(path, request),
        "static": functools.partial(static, request),
        "dataset_title": "" if visit is None else _title(registered, visit.dataset),
        "retired": None if registered is None else registered.retired,
    }
    text = environment().get_template(template).render({**given, **context})
    return HTMLResponse(text, status)


def path(request: Request, local: str) -> str:
    """The address of a path of the service, such as "/datasets": below the prefix, where there is one."""
    return service_of(request).config.server.prefix + local


def redirect(request: Request, local: str, *, done: str = "") -> RedirectResponse:
    """Go on to a path of the service after a form was taken, and say there what was done."""
    if done:
        assert done in NOTICES
        local += ("&" if "?" in local else "?") + urllib.parse.urlencode({"done": done})
    return RedirectResponse(path(request, local), 303)


def static(request: Request, name: str) -> str:
    """The address of a file; another one whenever its content is another one, so that browsers may keep it."""
    return path(request, f"/static/{stored_files()[name][0]}/{name}")


@functools.cache
def stored_files() -> dict[str, tuple[str, bytes]]:
    """Files that the page needs, by name: a hash of their content, and their content."""
    found = {file.name: file.read_bytes() for file in sorted((HERE / "static").iterdir()) if file.is_file()}
    return {name: (hashlib.sha256(content).hexdigest()[:16], content) for name, content in found.items()}


@functools.cache
def environment() -> Environment:
    """The templates. A name that nobody gave is an error, and not an empty place."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals["Action"] = Action
    made.filters |= {
        "loss": show_loss,
        "spent": show_spent,
        "left": show_left,
        "number": show_number,
        "percent": show_percent,
        "when": show_time,
        "day": show_day,
        "segment": segment,
        "counted": counted,
        "json": show_json,
        "sentence": sentence,
    }
    return made


def show_loss(loss: Loss | Mapping[str, Any] | None) -> str:
    """A loss as people read it: the short text, and never a fraction of hundreds of digits.

    >>> show_loss({"measure": "zcdp", "rho": "1/2", "text": "zcdp(1/2)"}), show_loss(None)
    ('zcdp(1/2)', '')
    """
    if loss is None:
        return ""
    return repr(loss) if isinstance(loss, Loss) else str(loss["text"])


def show_number(value: float | Fraction | None) -> str:
    """A number in short: groups of three digits, four digits that count; "unknown" for null.

    >>> show_number(1234567), show_number(0.123456), show_number(1e-9), show_number(None)
    ('1,234,567', '0.1235', '1e-09', 'unknown')
    """
    if value is None:
        return "unknown"
    if isinstance(value, int):
        return f"{value:,}"
    number = float(value)
    return f"{number:,.0f}" if abs(number) >= 10_000 else f"{number:.4g}"


def show_percent(share: float | Fraction) -> str:
    """A share; 0 and 100 percent only where it is exactly that.

    >>> show_percent(0.5), show_percent(0.001), show_percent(1.0), show_percent(Fraction(1001, 1000))
    ('50 %', 'under 1 %', '100 %', '101 %')
    """
    # What is more than all of it is never made to look like all of it.
    return f"{math.ceil(100 * share):,} %" if share > 1 else percent(Fraction(share))


def show_time(written: str) -> Markup:
    """A time, to the minute, in UTC.

    >>> show_time("2026-05-04T12:03:59Z")
    Markup('<time datetime="2026-05-04T12:03:59+00:00">2026-05-04 12:03 UTC</time>')
    """
    return _time(written, "%Y-%m-%d %H:%M UTC")


def show_day(written: str) -> Markup:
    """The day of a time.

    >>> show_day("2026-05-04T12:03:59Z")
    Markup('<time datetime="2026-05-04T12:03:59+00:00">2026-05-04</time>')
    """
    return _time(written, "%Y-%m-%d")


def _time(written: str, form: str) -> Markup:
    moment = datetime.fromisoformat(written).astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(timespec="seconds"), moment.strftime(form))


def segment(name: object) -> str:
    """A name as one segment of an address, whatever signs it has.

    >>> segment("a/b?c")
    'a%2Fb%3Fc'
    """
    return urllib.parse.quote(str(name), safe="")


def counted(count: int, one: str, many: str = "") -> str:
    """How many, in words.

    >>> counted(1, "charge"), counted(2, "charge"), counted(0, "person", "people")
    ('1 charge', '2 charges', '0 people')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def show_json(value: Any) -> str:
    """Plain values as JSON that people can read."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def sentence(message: str) -> str:
    """What the library says of an error, as a sentence of its own.

    >>> sentence("the body is not JSON"), sentence("rows=0: expected more")
    ('The body is not JSON.', 'rows=0: expected more.')
    """
    first = message.partition(" ")[0]
    begun = message[:1].upper() + message[1:] if first.isalpha() and first.islower() else message
    return begun if begun.endswith((".", "!", "?")) else f"{begun}."


def _title(registered: Registered | None, name: str) -> str:
    return name if registered is None else str(registered.document.get("title") or registered.name)
