"""Routes about people: who one is, tokens, grants, and what was administered."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from viameter.errors import ParameterError
from viameter.service.access import ALL, Action, Grant, Role
from viameter.service.api import models as m
from viameter.service.api.needing import Visit, needs
from viameter.service.documents import grant_document, token_document
from viameter.service.problems import Problem, not_found

router = APIRouter(tags=["people"])
PersonName = Annotated[str, Path(max_length=64)]
TokenId = Annotated[str, Path(max_length=64)]


@router.get("/me", response_model=m.Me)
def show_me(visit: Visit = needs(Action.SIGNED_IN)) -> dict[str, Any]:
    """Who you are, and what you were granted."""
    grants = sorted(visit.person.grants, key=lambda one: (one.dataset, one.role.value))
    names = visit.person.visible(visit.service.catalog.names())
    return {"name": visit.person.name, "grants": [grant_document(one) for one in grants], "datasets": names}


@router.get("/me/tokens", response_model=m.Tokens)
def show_my_tokens(visit: Visit = needs(Action.SIGNED_IN)) -> dict[str, Any]:
    """The tokens that you were given."""
    return {"tokens": [token_document(one) for one in visit.service.state.tokens(visit.person.name)]}


@router.delete("/me/tokens/{token}", response_model=m.Done)
def revoke_my_token(token: TokenId, visit: Visit = needs(Action.SIGNED_IN)) -> dict[str, Any]:
    """Make one of your tokens worthless."""
    return _revoked(visit, visit.person.name, token)


@router.get("/people", response_model=m.People)
def list_people(visit: Visit = needs(Action.PEOPLE)) -> dict[str, Any]:
    """Everybody, with what they were granted."""
    found = visit.service.state.people()
    return {"people": [{**one, "grants": [grant_document(grant) for grant in one["grants"]]} for one in found]}


@router.post("/people", response_model=m.Done, status_code=201)
def add_person(body: m.NewPerson, visit: Visit = needs(Action.PEOPLE)) -> dict[str, Any]:
    """A new person, who gets in once they have a token."""
    visit.service.state.add_person(body.name, read_grants(visit, body.grants), by=visit.person.name)
    return {"done": True}


@router.patch("/people/{person}", response_model=m.Done)
def set_active(person: PersonName, body: m.Active, visit: Visit = needs(Action.PEOPLE)) -> dict[str, Any]:
    """Shut somebody out with all their tokens, or let them in again."""
    if person == visit.person.name and not body.active:
        raise Problem(409, "refused", "nobody shuts themselves out")
    visit.service.state.set_active(person, body.active, by=visit.person.name)
    return {"done": True}


@router.put("/people/{person}/grants", response_model=m.Done)
def set_grants(person: PersonName, body: m.Grants, visit: Visit = needs(Action.PEOPLE)) -> dict[str, Any]:
    """What somebody is granted from now on."""
    grants = read_grants(visit, body.grants)
    if person == visit.person.name and Grant(Role.ADMIN) not in grants:
        raise Problem(409, "refused", "nobody takes the role of admin from themselves: another admin does")
    visit.service.state.set_grants(person, grants, by=visit.person.name)
    return {"done": True}


@router.get("/people/{person}/tokens", response_model=m.Tokens)
def show_tokens(person: PersonName, visit: Visit = needs(Action.PEOPLE)) -> dict[str, Any]:
    """The tokens of a person; never the tokens themselves."""
    if visit.service.state.person(person) is None:
        raise not_found()
    return {"tokens": [token_document(one) for one in visit.service.state.tokens(person)]}


@router.post("/people/{person}/tokens", response_model=m.TokenShown, status_code=201)
def make_token(person: PersonName, body: m.NewToken, visit: Visit = needs(Action.PEOPLE)) -> dict[str, Any]:
    """A new token for somebody. It is in this reply, and nowhere else."""
    return new_token(visit, person, body)


@router.delete("/people/{person}/tokens/{token}", response_model=m.Done)
def revoke_token(person: PersonName, token: TokenId, visit: Visit = needs(Action.PEOPLE)) -> dict[str, Any]:
    """Make a token worthless, at once, and with it whoever signed in by it."""
    return _revoked(visit, person, token)


@router.get("/acts", response_model=m.Acts)
def list_acts(last: Annotated[int, Query(ge=1, le=1000)] = 100, visit: Visit = needs(Action.OVERSEE)) -> dict[str, Any]:
    """What was administered: people, tokens, grants, datasets; the newest first."""
    found = visit.service.state.acts(last=last)
    return {"acts": [{"at": one.at, "by": one.by, "what": one.what, "about": dict(one.about)} for one in found]}


def read_grants(visit: Visit, given: list[m.GrantBody]) -> list[Grant]:
    """Grants of roles for datasets that there are."""
    known = set(visit.service.catalog.names())
    for one in given:
        if one.dataset != ALL and one.dataset not in known:
            raise ParameterError(f"grants: there is no dataset {one.dataset!r}")
        if one.role == Role.ADMIN.value and one.dataset != ALL:
            raise ParameterError("grants: an admin is one of the whole service: leave the dataset out")
    return [Grant(Role(one.role), one.dataset) for one in given]


def new_token(visit: Visit, person: str, body: m.NewToken, *, number: str | None = None) -> dict[str, Any]:
    """A new token, shown this once; MadeAlready if there is one of that number."""
    days = body.days or visit.service.config.limits.token_days
    added = visit.service.state.add_token(person, label=body.label, days=days, by=visit.person.name, number=number)
    return {"token": added[0], "id": added[1].id, "expires": added[1].expires}


def _revoked(visit: Visit, person: str, token: str) -> dict[str, Any]:
    if not visit.service.state.revoke(person, token, by=visit.person.name):
        raise not_found()
    return {"done": True}
