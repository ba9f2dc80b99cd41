"""Signing in: whoever shows a token gets a cookie, which is worth nothing once the token is.

The cookie is SameSite=Lax: a link in a mail leads to the page that it names, and not to "Sign in". So whatever another
site can make a browser send with the cookie is a GET that opens a page. That is safe by what does not rest on SameSite:

- A GET changes nothing. Whatever changes something is a POST, of which every one carries the guard, a hash of the
  cookie's secret, which only pages of this service have; and browsers say where a form comes from (`Sec-Fetch-Site`,
  else `Origin`), which is to be this very origin. Signing in needs the latter too, so that nobody is signed in as
  somebody else.
- Another site cannot read what it opens (no CORS), nor frame it (frame-ancestors 'none'), nor keep a hand on its window
  (Cross-Origin-Opener-Policy).
- The API takes tokens in a header, and no cookie.
"""

from __future__ import annotations

import re
import urllib.parse
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from viameter.service.access import Action
from viameter.service.api.needing import COOKIE, Visit, _address, by_cookie, got_in, page_needs, service_of
from viameter.service.page.forms import Sent
from viameter.service.page.rendering import redirect, render

router = APIRouter(include_in_schema=False)
Leaving = Annotated[Visit, Depends(page_needs(Action.SIGNED_IN, unsafe=True))]


@router.get("/login")
def show_login(request: Request, next: Annotated[str, Query(max_length=2000)] = "/") -> Response:
    """The form that takes a token; whoever is signed in goes on at once."""
    if by_cookie(request) is not None:
        return redirect(request, local_path(next))
    return render(request, "login.html", next=local_path(next), error="")


@router.post("/login")
def sign_in(request: Request, form: Sent) -> Response:
    """Take a token, and give a cookie for it."""
    service = service_of(request)
    after = local_path(form.text("next"))
    person = service.state.who_has(form.word("token"))
    if person is None:
        # Only wrong ones count: tokens cannot be guessed, and many people may come from one address.
        service.logins.take(_address(request))
        error = "This token opens nothing: it may be mistyped, revoked or expired. Ask an admin for a new one."
        return render(request, "login.html", status=422, next=after, error=error)
    got_in(service, person)
    request.scope["state"]["person"] = person.name
    service.requests.take(person.name)
    hours = service.config.limits.login_hours
    secret = service.state.sign_in(person, hours=hours)
    answered = redirect(request, after)
    answered.set_cookie(
        COOKIE,
        secret,
        max_age=hours * 3600,
        path=service.config.server.prefix or "/",
        secure=service.config.server.https,
        httponly=True,
        samesite="lax",
    )
    return answered


@router.post("/logout")
def sign_out(request: Request, visit: Leaving, form: Sent) -> Response:
    """Make the cookie worthless, here and in the tables."""
    service = visit.service
    service.state.sign_out(request.cookies[COOKIE])
    answered = redirect(request, "/login", done="signed_out")
    answered.delete_cookie(COOKIE, path=service.config.server.prefix or "/", httponly=True, samesite="lax")
    return answered


def place_to_sign_in(request: Request) -> str:
    """Where somebody signs in who wanted to be here, and comes back to here."""
    wanted = urllib.parse.quote(request.scope["path"])
    if request.method != "GET":
        # What was sent is gone; the page that it was about is not.
        dataset = request.path_params.get("dataset")
        wanted = "/" if dataset is None else f"/datasets/{urllib.parse.quote(dataset, safe='')}"
    elif request.url.query:
        wanted += f"?{request.url.query}"
    after = local_path(wanted)
    return "/login" if after == "/" else f"/login?{urllib.parse.urlencode({'next': after})}"


def local_path(given: str) -> str:
    """A path of this service as somebody asks to be sent to; "/" for everything that could lead anywhere else.

    >>> local_path("/datasets/visits?last=9"), local_path("//evil.example"), local_path("/a/../../b")
    ('/datasets/visits?last=9', '/', '/')
    """
    # Browsers read a backslash as a slash, drop tabs and newlines, and take %2e for a dot.
    if not re.fullmatch(r"/(?!/)[\x21-\x7e]{0,2000}", given) or "\\" in given:
        return "/"
    place = given.partition("?")[0].partition("#")[0]
    parts = [urllib.parse.unquote(part) for part in place.split("/")[1:]]
    if any(part in (".", "..") or "\\" in part or "/" in part or not part.isprintable() for part in parts):
        return "/"
    return "/" if parts[0] in ("login", "logout") else given
