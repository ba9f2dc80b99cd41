"""What a route needs: a token, and a role for what it does. Every route says which, and a test sees that it does."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request, Security
from fastapi.security import HTTPBearer

from viameter.service.access import OF_ALL, Action, Person, roles_for
from viameter.service.problems import NOTHING_SPENT, Problem, explained, forbidden, not_found, unauthorized
from viameter.service.secrets import guard_of
from viameter.service.service import ADMIN, Service
from viameter.service.token_files import place_beside, remove_used

BEARER = HTTPBearer(auto_error=False, description="A token, as an admin gave it out.")
COOKIE = "viameter_login"
GUARD = "guard"
"""The field of a form that shows that it comes from the page."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A request that was let in: whose it is, of which dataset, and the service."""

    service: Service
    person: Person
    dataset: str = ""
    guard: str = ""
    """What forms on the page carry; empty for the API."""

    def may(self, action: Action) -> bool:
        """Whether this person may do something with this dataset."""
        return self.person.may(action, self.dataset or None)


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    found: Service = request.app.state.service
    return found


def by_token(request: Request) -> Person:
    """Who sent a request, by the token in its header, and by nothing else that it says."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    service = service_of(request)
    if kind.lower() != "bearer":
        raise unauthorized()
    with explained(NOTHING_SPENT):
        found = service.state.who_has(token.strip())
    if found is None:
        service.logins.take(_address(request))
        raise unauthorized()
    got_in(service, found)
    return found


def got_in(service: Service, person: Person) -> None:
    """Remove the file in which the admin's token was handed over, once that token is used."""
    if person.name == ADMIN:
        remove_used(place_beside(service.config.storage), person.token)


def by_cookie(request: Request) -> Person | None:
    """Who is signed in on the page."""
    secret = request.cookies.get(COOKIE)
    with explained(NOTHING_SPENT):
        return service_of(request).state.who_signed_in(secret) if secret else None


def needs(action: Action) -> Any:
    """A route of the API that needs this; of a dataset, if its path has one."""

    def enter(request: Request, _: Any = Security(BEARER)) -> Visit:
        return admit(request, by_token(request), action)

    enter.action = action  # type: ignore[attr-defined]
    return Security(enter)


def admit(request: Request, person: Person, action: Action, guard: str = "") -> Visit:
    """Let a person in, or not: the rate first, then whether there is such a dataset, then the role."""
    service = service_of(request)
    request.scope["state"]["person"] = person.name
    service.requests.take(person.name)
    if action in OF_ALL or action is Action.SIGNED_IN:
        if not person.may(action):
            raise forbidden(roles_for(action))
        return Visit(service, person, guard=guard)
    name = request.path_params["dataset"]
    # Whoever may not see a dataset cannot tell that it is there.
    if not person.may(Action.SEE, name) or not service.catalog.is_registered(name):
        raise not_found()
    if not person.may(action, name):
        raise forbidden(roles_for(action))
    return Visit(service, person, name, guard)


def page_needs(action: Action, *, unsafe: bool = False) -> Callable[[Request], Visit]:
    """A route of the page that needs this; one that changes something takes a form that carries the guard."""

    def enter(request: Request) -> Visit:
        person = by_cookie(request)
        if person is None:
            raise SignInFirst
        return admit(request, person, action, guard_of(request.cookies[COOKIE]))

    enter.action = action  # type: ignore[attr-defined]
    enter.unsafe = unsafe  # type: ignore[attr-defined]
    return enter


def require_guard(request: Request, given: str) -> None:
    """Refuse a form that does not come from the page of whoever is signed in."""
    wanted = guard_of(request.cookies.get(COOKIE, ""))
    elsewhere = not _is_from_here(request)
    if elsewhere or not hmac.compare_digest(wanted.encode(), given.encode("utf-8", "replace")):
        raise Problem(403, "forged_form", "this form does not come from this page: go back, reload, and try again")


def _is_from_here(request: Request) -> bool:
    """Whether a form was sent by a page of this origin: as the browser says, or by the origin that it names.

    What names neither is no browser of the last years, and has the guard or nothing.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        return site in ("same-origin", "none")
    if origin is None:
        return True
    named = urlsplit(origin)
    # Whoever can put a page into the network's way could put one at http:// of the same host.
    is_secure = named.scheme == "https" or not service_of(request).config.server.https
    return named.netloc == request.headers.get("host", "") and is_secure


class SignInFirst(Exception):
    """Nobody is signed in."""


def _address(request: Request) -> str:
    return f"address {request.client.host if request.client else ''}"
