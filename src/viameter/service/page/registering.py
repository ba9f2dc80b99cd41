"""Registering a dataset: which table, whose presence is hidden, what may be spent in all."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from viameter.errors import ParameterError, ViameterError, plain
from viameter.ledger.renewal import BY_CALENDAR, ON_NEW_ROWS
from viameter.service.access import Action
from viameter.service.api.needing import Visit, page_needs
from viameter.service.page.forms import Form, Sent
from viameter.service.page.losses import NUMBERS, WORDS, fields_of, read_fields
from viameter.service.page.managing import said_of
from viameter.service.page.rendering import redirect, render

router = APIRouter(include_in_schema=False)
Registering = Annotated[Visit, Depends(page_needs(Action.REGISTER))]
Adding = Annotated[Visit, Depends(page_needs(Action.REGISTER, unsafe=True))]
RENEWALS = {
    "": "Never",
    **{period: f"Every {period}" for period in BY_CALENDAR},
    ON_NEW_ROWS: "When a custodian says that new rows have arrived",
}
"""When a budget starts over, as the form offers it."""
AS_IT_IS = "ledger"
TYPES = ("integer", "real", "text", "boolean", "date", "timestamp")


@router.get("/register")
def show_register(request: Request, visit: Registering) -> Response:
    """The form for a new dataset."""
    return _page(request, visit, Form())


@router.post("/register")
def register_from_form(request: Request, visit: Adding, form: Sent) -> Response:
    """Register it, and go on to where it is described."""
    name = form.word("name")
    try:
        visit.service.catalog.register(
            name, read_dataset(form), by=visit.person.name, why=form.word("why") or "registered"
        )
    except ViameterError as error:
        return _page(request, visit, form, error=said_of(error))
    return redirect(request, f"/datasets/{name}/manage", done="registered")


def read_dataset(form: Form) -> dict[str, Any]:
    """The document of a dataset, as the API takes it, from what was typed."""
    document: dict[str, Any] = {
        "source": form.word("source"),
        "table": form.word("table"),
        "unit": read_unit_fields(form),
    }
    types = read_types(form.text("types"))
    if types:
        document["types"] = types
        if "nulls" in form:
            document["strict"] = False
    for word in ("title", "description"):
        if form.word(word):
            document[word] = form.word(word)
    measure = form.word("measure")
    if measure != AS_IT_IS:
        loss = read_fields(form, measure, prefix=f"{measure}-")
        document["budget"] = loss.to_json()
    if form.word("renews"):
        document["renews"] = form.word("renews")
    return document


def read_unit_fields(form: Form) -> dict[str, Any]:
    """Whose presence answers hide.

    >>> read_unit_fields(Form((("unit", "per"), ("per", "patient"), ("rows", "5"))))
    {'per': 'patient', 'rows': 5}
    >>> read_unit_fields(Form((("unit", "per"), ("per", "patient"), ("rows", "5"), ("keep", "first by time"))))
    {'per': 'patient', 'rows': 5, 'keep': 'first by time'}
    """
    kind = form.word("unit")
    if kind == "row":
        return {"row": True, **({"replace": True} if "row-replace" in form else {})}
    if kind == "event":
        window = _whole(form, "window")
        return {"event": _column(form, "event"), **({} if window is None else {"window": window})}
    if kind != "per":
        raise ParameterError("unit: choose whose presence answers hide")
    limits = {name: _whole(form, name) for name in ("rows", "groups", "per_group")}
    given: dict[str, Any] = {**limits, "keep": form.word("keep") or None}
    return {"per": _column(form, "per"), **{name: value for name, value in given.items() if value is not None}}


def read_types(text: str) -> dict[str, str]:
    """Types of columns, one in a line.

    >>> read_types("age: integer")
    {'age': 'integer'}
    """
    found = {}
    for line in text.splitlines():
        if line.strip():
            column, mark, kind = (part.strip() for part in line.rpartition(":"))
            if not mark or not column or kind.lower() not in TYPES:
                raise ParameterError(
                    f"types: {plain(line.strip())}: expected lines such as age: integer; types are {', '.join(TYPES)}"
                )
            found[column] = kind.lower()
    return found


def _column(form: Form, name: str) -> str:
    if not form.word(name):
        raise ParameterError("unit: the name of its column is missing")
    return form.word(name)


def _whole(form: Form, name: str) -> int | None:
    text = form.word(name)
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise ParameterError(f"{name}={plain(text)}: expected a whole number")
    return int(text)


def _page(request: Request, visit: Visit, typed: Form, *, error: str = "") -> Response:
    budgets = [
        {"measure": measure, "words": WORDS[measure], "fields": fields_of(measure, prefix=f"{measure}-", typed=typed)}
        for measure in NUMBERS
    ]
    return render(
        request,
        "register.html",
        visit=visit,
        status=422 if error else 200,
        error=error,
        typed=typed,
        sources=visit.service.catalog.sources,
        budgets=budgets,
        as_it_is=AS_IT_IS,
        types=TYPES,
        renewals=RENEWALS,
    )
