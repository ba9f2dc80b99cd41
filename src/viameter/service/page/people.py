"""People: who there is, what they were granted, their tokens; one's own tokens; and what was administered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import Response

from viameter.errors import ParameterError, ViameterError, plain
from viameter.service.access import ALL, Action, Role
from viameter.service.api import models as m
from viameter.service.api import people as api
from viameter.service.api.needing import Visit, page_needs
from viameter.service.api.proofs import verify_ledger
from viameter.service.config import NAME
from viameter.service.documents import grant_document
from viameter.service.page.forms import Form, Sent
from viameter.service.page.managing import said_of
from viameter.service.page.rendering import redirect, render
from viameter.service.problems import Problem, not_found
from viameter.service.secrets import fresh_id
from viameter.service.state import MadeAlready, now

router = APIRouter(include_in_schema=False)
SignedIn = Annotated[Visit, Depends(page_needs(Action.SIGNED_IN))]
Oneself = Annotated[Visit, Depends(page_needs(Action.SIGNED_IN, unsafe=True))]
Seeing = Annotated[Visit, Depends(page_needs(Action.PEOPLE))]
Changing = Annotated[Visit, Depends(page_needs(Action.PEOPLE, unsafe=True))]
Overseeing = Annotated[Visit, Depends(page_needs(Action.OVERSEE))]
Checking = Annotated[Visit, Depends(page_needs(Action.OVERSEE, unsafe=True))]
PersonName = Annotated[str, Path(max_length=64)]
LAST_ACTS = 200
ROLES = (Role.ADMIN, Role.CUSTODIAN, Role.ANALYST, Role.AUDITOR)
LONGEST_LABEL = 200
MOST_DAYS = 3650


@router.get("/people")
def show_people(request: Request, visit: Seeing) -> Response:
    """Everybody, with what they were granted."""
    return _people_page(request, visit)


@router.post("/people")
def add_person_from_form(request: Request, visit: Changing, form: Sent) -> Response:
    """A new person, and on to their page, where they get their grants and a token."""
    name = form.word("name")
    try:
        if not re.fullmatch(NAME, name):
            raise ParameterError(f"name={plain(name)}: a name has letters, digits, '_', '-' and '.', at most 64")
        api.add_person(m.NewPerson(name=name), visit)
    except ViameterError as error:
        return _people_page(request, visit, status=422, typed=name, error=said_of(error))
    return redirect(request, f"/people/{name}", done="person")


@router.get("/people/{person}")
def show_person(request: Request, person: PersonName, visit: Seeing) -> Response:
    """One of them."""
    return _person_page(request, visit, person)


@router.post("/people/{person}/grants")
def change_grants(request: Request, person: PersonName, visit: Changing, form: Sent) -> Response:
    """What somebody is granted from now on."""
    _known(visit, person)
    try:
        api.set_grants(person, m.Grants.model_validate({"grants": read_grants(form)}), visit)
    except (ViameterError, Problem) as error:
        return _person_page(request, visit, person, failed="grants", error=_said(error), typed=form)
    return redirect(request, f"/people/{person}", done="grants")


@router.post("/people/{person}/active")
def change_active(request: Request, person: PersonName, visit: Changing, form: Sent) -> Response:
    """Shut somebody out with all their tokens, or let them in again."""
    _known(visit, person)
    active = form.word("active") == "yes"
    try:
        api.set_active(person, m.Active(active=active), visit)
    except (ViameterError, Problem) as error:
        return _person_page(request, visit, person, failed="active", error=_said(error))
    return redirect(request, f"/people/{person}", done="let_in" if active else "shut_out")


@router.post("/people/{person}/tokens")
def make_token_from_form(request: Request, person: PersonName, visit: Changing, form: Sent) -> Response:
    """A new token: it is on this page, once, and nowhere else."""
    _known(visit, person)
    try:
        made = api.new_token(visit, person, read_token(form), number=read_number(form))
    except MadeAlready:
        # The form was sent again, by a reload: what it made was shown.
        return redirect(request, f"/people/{person}", done="token_made")
    except ViameterError as error:
        return _person_page(request, visit, person, failed="token", error=said_of(error), typed=form)
    return render(request, "token.html", visit=visit, person=person, made=made, label=form.word("label"))


@router.post("/people/{person}/tokens/{token}/revoke")
def revoke_token_of(request: Request, person: PersonName, token: str, visit: Changing, form: Sent) -> Response:
    """Make a token worthless."""
    _known(visit, person)
    api.revoke_token(person, token, visit)
    return redirect(request, f"/people/{person}", done="revoked")


@router.get("/me")
def show_me_page(request: Request, visit: SignedIn) -> Response:
    """Who one is, what one may do, and one's tokens."""
    return render(
        request,
        "me.html",
        visit=visit,
        grants=_sorted_grants(visit.person.grants),
        tokens=_tokens(visit, visit.person.name),
        all=ALL,
    )


@router.post("/me/tokens/{token}/revoke")
def revoke_own_token(request: Request, token: str, visit: Oneself, form: Sent) -> Response:
    """Make one of one's own tokens worthless; with that of this login, one is signed out."""
    api.revoke_my_token(token, visit)
    return redirect(request, "/login" if token == visit.person.token else "/me", done="revoked")


@router.get("/acts")
def show_acts(request: Request, visit: Overseeing) -> Response:
    """What was administered, the newest first."""
    return _acts_page(request, visit)


@router.post("/acts/ledger")
def check_ledger(request: Request, visit: Checking, form: Sent) -> Response:
    """Read the whole ledger and add everything up anew."""
    return _acts_page(request, visit, checked=verify_ledger(visit))


def read_grants(form: Form) -> list[dict[str, str]]:
    """The boxes that were ticked: "analyst visits", "admin *"."""
    found = []
    for value in form.all("grant"):
        role, _, dataset = value.partition(" ")
        if role not in {one.value for one in Role} or len(dataset) > 64:
            raise ParameterError(f"grants: {plain(value)} is no role for a dataset")
        found.append({"role": role, "dataset": dataset})
    return found


def read_number(form: Form) -> str | None:
    """The number of the token that a form makes, so that it makes one only."""
    number = form.text("number")
    return number if re.fullmatch(r"[0-9a-f]{24}", number) else None


def read_token(form: Form) -> m.NewToken:
    """What a token is for, and how long it is valid."""
    label, days = form.word("label"), form.word("days")
    if len(label) > LONGEST_LABEL:
        raise ParameterError(f"label: expected at most {LONGEST_LABEL} characters")
    if days and not (days.isascii() and days.isdigit() and len(days) <= 4 and 1 <= int(days) <= MOST_DAYS):
        raise ParameterError(f"days={plain(days)}: expected a whole number from 1 to {MOST_DAYS}")
    return m.NewToken(label=label, days=int(days) if days else None)


def _said(error: ViameterError | Problem) -> str:
    return error.message if isinstance(error, Problem) else said_of(error)


def _known(visit: Visit, person: str) -> dict[str, Any]:
    found = visit.service.state.person(person)
    if found is None:
        raise not_found()
    return found


def _sorted_grants(grants: Any) -> list[dict[str, str]]:
    return [grant_document(one) for one in sorted(grants, key=lambda one: (one.dataset, one.role.value))]


def _tokens(visit: Visit, person: str) -> list[dict[str, Any]]:
    moment = now()
    return [
        {
            "id": one.id,
            "label": one.label,
            "created": one.created,
            "expires": one.expires,
            "revoked": one.revoked,
            "is_valid": one.is_valid(moment),
            "is_here": one.id == visit.person.token,
        }
        for one in visit.service.state.tokens(person)
    ]


def _people_page(request: Request, visit: Visit, *, status: int = 200, typed: str = "", error: str = "") -> Response:
    people = [{**one, "grants": _sorted_grants(one["grants"])} for one in visit.service.state.people()]
    return render(request, "people.html", visit=visit, status=status, people=people, typed=typed, error=error, all=ALL)


def _person_page(
    request: Request, visit: Visit, person: str, *, failed: str = "", error: str = "", typed: Form | None = None
) -> Response:
    known = _known(visit, person)
    held = {f"{one.role.value} {one.dataset}" for one in known["grants"]}
    return render(
        request,
        "person.html",
        visit=visit,
        status=422 if failed else 200,
        person=known,
        ticked=set(typed.all("grant")) if typed is not None and failed == "grants" else held,
        roles=[role.value for role in ROLES],
        datasets=visit.service.catalog.names(),
        tokens=_tokens(visit, person),
        days=visit.service.config.limits.token_days,
        number=fresh_id(),
        typed=typed or Form(),
        failed=failed,
        error=error,
        all=ALL,
    )


def _acts_page(request: Request, visit: Visit, *, checked: dict[str, Any] | None = None) -> Response:
    acts = [
        {"at": one.at, "by": one.by, "what": one.what, "about": _about(one.about)}
        for one in visit.service.state.acts(last=LAST_ACTS)
    ]
    return render(request, "acts.html", visit=visit, acts=acts, most=LAST_ACTS, checked=checked)


def _about(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What an act is about, each value as one text."""
    texts = {name: value if isinstance(value, list) else [value] for name, value in about.items()}
    return [(name, ", ".join(map(str, values))) for name, values in texts.items()]
