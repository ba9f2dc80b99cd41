"""The datasets that one may see: all of them with what is left, and each by itself."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from viameter.errors import LedgerUnavailable, ViameterError
from viameter.service.access import Action, Grant, Role
from viameter.service.api.datasets import budgets_document
from viameter.service.api.needing import Visit, page_needs
from viameter.service.catalog import personal
from viameter.service.documents import dataset_document, schema_document
from viameter.service.page.burndown import burndown_of
from viameter.service.page.losses import budget_shown
from viameter.service.page.rendering import render
from viameter.tables.showing.words import limit_words, unit_words

router = APIRouter(include_in_schema=False)
SignedIn = Annotated[Visit, Depends(page_needs(Action.SIGNED_IN))]
Seeing = Annotated[Visit, Depends(page_needs(Action.SEE))]


@router.get("/")
def show_overview(request: Request, visit: SignedIn) -> Response:
    """The datasets, with what is left of their budgets."""
    catalog, person = visit.service.catalog, visit.person
    # All of the state at once: not a question to the tables for each dataset.
    registered = {one.name: one for one in visit.service.state.datasets()}
    scopes = {one.name: one for one in visit.service.ledger.scopes()}
    cards = []
    for name in person.visible(registered):
        if name in scopes:
            said = registered[name].document
            own = scopes.get(personal(name, person.name))
            cards.append(
                {
                    "name": name,
                    "title": said.get("title") or name,
                    "description": said.get("description", ""),
                    "roles": sorted(role.value for role in person.roles(name)),
                    "may_ask": person.may(Action.ASK, name) and registered[name].retired is None,
                    "retired": registered[name].retired,
                    "own": None if own is None else budget_shown(own),
                    **budget_shown(scopes[name]),
                }
            )
    return render(
        request,
        "overview.html",
        visit=visit,
        cards=[card for card in cards if not card["retired"]],
        retired_cards=[card for card in cards if card["retired"]],
        sources=catalog.sources,
        is_admin=Grant(Role.ADMIN) in person.grants,
    )


@router.get("/datasets/{dataset}")
def show_dataset_page(request: Request, dataset: str, visit: Seeing) -> Response:
    """A dataset: what it is, whose presence answers hide, its columns, its budget."""
    catalog = visit.service.catalog
    scope, registered = catalog.scope(dataset), catalog.registered(dataset)
    assert registered is not None
    shown: dict[str, Any] = {
        "scope": budget_shown(scope),
        "chart": burndown_of(visit, dataset, scope),
        "own": budgets_document(visit, dataset)["people"].get(visit.person.name),
        "registered": registered,
        "description": registered.document.get("description", ""),
    }
    try:
        opened = catalog.opened(dataset)
    except LedgerUnavailable:
        raise
    except ViameterError:
        # Its rows cannot be reached. What was spent of its budget is known all the same.
        return render(request, "dataset.html", visit=visit, about=None, **shown)
    roles = [role.value for role in visit.person.roles(dataset)]
    table = opened.table
    about = {
        **dataset_document(opened, scope, roles),
        "unit_words": unit_words(table.unit),
        "limit_words": limit_words(table.unit, table.limits),
        "schema": schema_document(opened),
    }
    return render(request, "dataset.html", visit=visit, about=about, **shown)
