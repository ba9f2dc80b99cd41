"""Routes about datasets: what they are, their columns, budgets, history; registering and describing them."""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from viameter.errors import LedgerUnavailable, ParameterError, ViameterError
from viameter.ledger import Ledger
from viameter.ledger.lines import Line, entries_back, line_of, with_outcomes
from viameter.service.access import GRANTED_BY_CUSTODIANS, Action, Grant, Role
from viameter.service.api import models as m
from viameter.service.api.needing import Visit, needs
from viameter.service.documents import (
    dataset_document,
    line_document,
    loss_document,
    registered_document,
    schema_document,
    scope_document,
)
from viameter.service.problems import Problem, not_found
from viameter.service.watching import log
from viameter.tables.cost import read_loss
from viameter.tables.units import read_unit

router = APIRouter(prefix="/datasets", tags=["datasets"])
MOST_LINES = 200
MOST_LOOKED_AT = 500
"""How many entries one reply looks through for those of one person; `before` in it says where to go on."""
DatasetName = Annotated[str, Path(max_length=64)]


@router.get("", response_model=m.Datasets)
def list_datasets(visit: Visit = needs(Action.SIGNED_IN)) -> dict[str, Any]:
    """The datasets that you may see, with what is left of their budgets."""
    names = visit.person.visible(visit.service.catalog.names())
    found = []
    for name in names:
        try:
            found.append(_dataset(visit, name))
        except LedgerUnavailable:
            raise  # of all of them: a list without them would say that there are none
        except ViameterError as problem:
            # Rows that cannot be reached now hide no other dataset.
            log("unavailable", dataset=name, error=type(problem).__name__)
    return {"datasets": found}


@router.post("", response_model=m.Dataset, status_code=201)
def register_dataset(body: m.NewDataset, visit: Visit = needs(Action.REGISTER)) -> dict[str, Any]:
    """Register a dataset with its budget. Rows that cannot be read are refused, with how many there are."""
    document = body.model_dump(exclude_none=True, exclude={"name", "why"})
    visit.service.catalog.register(body.name, document, by=visit.person.name, why=body.why or "registered")
    return _dataset(visit, body.name)


@router.get("/{dataset}", response_model=m.Dataset)
def show_dataset(dataset: DatasetName, visit: Visit = needs(Action.SEE)) -> dict[str, Any]:
    """What is public of a dataset, and what is left of its budget."""
    return _dataset(visit, dataset)


@router.patch("/{dataset}", response_model=m.Dataset)
def describe_dataset(dataset: DatasetName, body: m.Description, visit: Visit = needs(Action.MANAGE)) -> dict[str, Any]:
    """Say something else of a dataset: title, description, what is public of its columns."""
    visit.service.catalog.describe(dataset, body.model_dump(exclude_none=True), by=visit.person.name)
    return _dataset(visit, dataset)


@router.post("/{dataset}/retire", response_model=m.Dataset)
def retire_dataset(dataset: DatasetName, body: m.Reason, visit: Visit = needs(Action.MANAGE)) -> dict[str, Any]:
    """Let a dataset be asked no more. Its history, answers and budget stay: its rows are not given another one."""
    visit.service.catalog.retire(dataset, by=visit.person.name, why=body.why)
    return _dataset(visit, dataset)


@router.post("/{dataset}/reinstate", response_model=m.Dataset)
def reinstate_dataset(dataset: DatasetName, body: m.Reason, visit: Visit = needs(Action.MANAGE)) -> dict[str, Any]:
    """Let a dataset that was retired be asked again, under the budget that it had."""
    visit.service.catalog.reinstate(dataset, by=visit.person.name, why=body.why)
    return _dataset(visit, dataset)


@router.post("/{dataset}/renew", response_model=m.Budgets)
def renew_budget(dataset: DatasetName, body: m.Reason, visit: Visit = needs(Action.MANAGE)) -> dict[str, Any]:
    """Start a budget over that was registered with renews="rows": say that new rows have arrived, and which.

    It is a promise: from now on, questions are of the new rows alone. What was spent on others stays spent, and whoever
    is among both loses twice; `ever_spent` adds it all up.
    """
    visit.service.catalog.renew(dataset, by=visit.person.name, why=body.why)
    return budgets_document(visit, dataset)


@router.get("/{dataset}/schema", response_model=m.Schema)
def show_schema(dataset: DatasetName, visit: Visit = needs(Action.SEE)) -> dict[str, Any]:
    """The columns: their types, and what the custodian says of them. Nothing of it is found out from rows."""
    return schema_document(visit.service.catalog.opened(dataset))


@router.get("/{dataset}/budgets", response_model=m.Budgets)
def show_budgets(dataset: DatasetName, visit: Visit = needs(Action.SEE)) -> dict[str, Any]:
    """The budget of a dataset, and limits of single people: all of them for a custodian or auditor, else your own."""
    return budgets_document(visit, dataset)


@router.put("/{dataset}/budget", response_model=m.Budgets)
def set_budget(dataset: DatasetName, body: m.NewBudget, visit: Visit = needs(Action.MANAGE)) -> dict[str, Any]:
    """Another budget, as an entry of the ledger that says who and why; never below what was spent."""
    loss = read_loss(body.budget, "budget")
    visit.service.catalog.set_budget(dataset, loss, by=visit.person.name, why=body.why)
    return budgets_document(visit, dataset)


@router.put("/{dataset}/budgets/{person}", response_model=m.Budgets)
def set_personal_budget(
    dataset: DatasetName, person: DatasetName, body: m.NewBudget, visit: Visit = needs(Action.MANAGE)
) -> dict[str, Any]:
    """What one person may spend of the dataset's budget."""
    if visit.service.state.person(person) is None:
        raise not_found()
    loss = read_loss(body.budget, "budget")
    visit.service.catalog.set_personal(dataset, person, loss, by=visit.person.name, why=body.why)
    return budgets_document(visit, dataset)


@router.put("/{dataset}/people/{person}", response_model=m.Done)
def set_roles(
    dataset: DatasetName, person: DatasetName, body: m.Roles, visit: Visit = needs(Action.MANAGE)
) -> dict[str, Any]:
    """Who may ask: the roles of a person for this dataset that a custodian can grant, analyst and auditor."""
    grant_roles(visit, dataset, person, [Role(role) for role in body.roles])
    return {"done": True}


def grant_roles(visit: Visit, dataset: str, person: str, roles: list[Role]) -> None:
    """Set the roles of a person for a dataset; those that a custodian cannot grant stay as they are.

    Nobody grants themselves a role: who keeps a dataset's budget is not to spend it unless others say so.
    """
    if visit.service.state.person(person) is None:
        raise not_found()
    if person == visit.person.name and not visit.person.roles(dataset).issuperset(roles):
        raise ParameterError("nobody grants themselves a role: another custodian or an admin does")
    wanted = [Grant(role, dataset) for role in roles if role in GRANTED_BY_CUSTODIANS]
    visit.service.state.set_roles(person, wanted, among=GRANTED_BY_CUSTODIANS, dataset=dataset, by=visit.person.name)


@router.get("/{dataset}/history", response_model=m.History)
def show_history(
    dataset: DatasetName,
    last: Annotated[int, Query(ge=1, le=MOST_LINES)] = 50,
    before: Annotated[int | None, Query(ge=1, le=2**62, description="Only entries before this one.")] = None,
    visit: Visit = needs(Action.SEE),
) -> dict[str, Any]:
    """What was charged and decided, the newest first. Analysts see what they asked themselves."""
    return history_document(visit, dataset, last=last, before=before)


@router.get("/{dataset}/history/{entry}", response_model=m.LineDetail)
def show_entry(
    dataset: DatasetName, entry: Annotated[int, Path(ge=1, le=2**62)], visit: Visit = needs(Action.SEE)
) -> dict[str, Any]:
    """One charge, with the tree of theorems behind it."""
    line, certificate = charge_of(visit, dataset, entry)
    said = None if certificate is None else json.loads(certificate)
    return {
        "line": line_document(line, dataset=dataset, outcome=visit.service.desk.outcome(line)),
        "claim": None if said is None else said["claim"]["text"],
        "derivation": None if said is None else said["derivation"],
    }


@router.get("/{dataset}/history/{entry}/certificate", response_model=dict[str, Any])
def show_certificate(
    dataset: DatasetName, entry: Annotated[int, Path(ge=1, le=2**62)], visit: Visit = needs(Action.SEE)
) -> Response:
    """The certificate of a charge: a file for `viameter check`."""
    _, certificate = charge_of(visit, dataset, entry)
    if certificate is None:
        raise Problem(404, "no_certificate", "a part of this charge's proof cannot be written down")
    name = f'attachment; filename="{dataset}-{entry}.certificate.json"'
    return Response(certificate, media_type="application/json", headers={"content-disposition": name})


def history_document(visit: Visit, dataset: str, *, last: int, before: int | None) -> dict[str, Any]:
    """Lines of a dataset's history that a person may read."""
    found: list[Line] = []
    older = (line for line in _lines(visit, dataset) if before is None or line.seq < before)
    following = None
    for looked_at, line in enumerate(older):
        if len(found) == last or looked_at == MOST_LOOKED_AT:
            following = line.seq + 1
            break
        if may_read(visit, line):
            found.append(line)
    lines = line_documents(visit, dataset, found)
    return {"lines": lines, "more": following is not None, "before": following}


def line_documents(visit: Visit, dataset: str, lines: Iterable[Line]) -> list[dict[str, Any]]:
    """Lines of a dataset's history, each charge with what came of it by now."""
    service = visit.service
    known = with_outcomes(service.ledger, lines)
    return [line_document(line, dataset=dataset, outcome=service.desk.outcome(line)) for line in known]


def _lines(visit: Visit, dataset: str) -> Iterator[Line]:
    """What happened to a dataset's budget and to the limits of people that one may see, the newest first."""
    ledger, everybody = visit.service.ledger, visit.may(Action.READ_ALL)
    limits = [
        scope.name
        for person, scope in visit.service.catalog.personal_scopes(dataset).items()
        if everybody or person == visit.person.name
    ]
    back = [_back(ledger, dataset), *(_back(ledger, name) for name in limits)]
    merged = heapq.merge(*back, key=lambda line: -line.seq)
    # A charge is in the history of every scope that paid.
    return (next(same) for _, same in itertools.groupby(merged, key=lambda line: line.seq))


def _back(ledger: Ledger, scope: str) -> Iterator[Line]:
    return (line_of(entry) for entry in entries_back(ledger, scope))


def may_read(visit: Visit, line: Line) -> bool:
    """Whether a person may read a line: those of everybody, or their own; what the dataset's budget is, all may."""
    if visit.may(Action.READ_ALL) or not line.costs:
        return True
    return visit.may(Action.ASK) and line.by == visit.person.name


def charge_of(visit: Visit, dataset: str, entry: int) -> tuple[Line, str | None]:
    """A charge of this dataset that a person may read, with its certificate."""
    ledger = visit.service.ledger
    if entry > ledger.head.seq:
        raise not_found()
    found = ledger.entry(entry)
    if found.kind != "reserve":
        raise not_found()
    line = line_of(found)
    # An entry of another dataset is none of this one's, whatever number somebody writes.
    if all(scope != dataset for scope, *_ in line.costs) or not may_read(visit, line):
        raise not_found()
    (line,) = with_outcomes(ledger, [line])
    return line, None if line.certificate is None else ledger.document(line.certificate)


def budgets_document(visit: Visit, dataset: str) -> dict[str, Any]:
    """The budgets of a dataset that a person may see."""
    catalog = visit.service.catalog
    personal = catalog.personal_scopes(dataset)
    seen = {name: scope for name, scope in personal.items() if name == visit.person.name or visit.may(Action.READ_ALL)}
    people = {name: scope_document(scope) for name, scope in seen.items()}
    return {"dataset": scope_document(catalog.scope(dataset)), "people": people}


def _dataset(visit: Visit, name: str) -> dict[str, Any]:
    catalog = visit.service.catalog
    roles = [role.value for role in visit.person.roles(name)]
    registered, scope = catalog.registered(name), catalog.scope(name)
    if registered is not None and registered.retired is not None:
        # Its rows may be gone.
        found = registered_document(registered, read_unit(registered.document["unit"]), scope, roles)
    else:
        found = dataset_document(catalog.opened(name), scope, roles)
    manages = visit.person.may(Action.MANAGE, name)
    return {
        **found,
        "least_spend": loss_document(catalog.least_spend(name)),
        "differs": visit.service.differences(name) if manages else None,
    }
