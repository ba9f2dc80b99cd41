"""What a custodian does with a dataset: its budget, limits of people, who may ask, what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from viameter.errors import LedgerUnavailable, ParameterError, ViameterError
from viameter.ledger.renewal import ON_NEW_ROWS
from viameter.service.access import ALL, GRANTED_BY_CUSTODIANS, Action, Role
from viameter.service.api.datasets import grant_roles
from viameter.service.api.needing import Visit, page_needs
from viameter.service.catalog import Opened
from viameter.service.documents import schema_document
from viameter.service.page.forms import Form, Sent
from viameter.service.page.losses import budget_shown, fields_of, measure_of, read_fields
from viameter.service.page.rendering import redirect, render
from viameter.service.page.typed_values import lines_of, read_lines, read_number, text_of
from viameter.service.problems import problem_of
from viameter.service.state import UnknownPerson

router = APIRouter(include_in_schema=False)
Managing = Annotated[Visit, Depends(page_needs(Action.MANAGE))]
Changing = Annotated[Visit, Depends(page_needs(Action.MANAGE, unsafe=True))]
AT = "/datasets/{dataset}/manage"


@router.get(AT)
def show_manage(request: Request, dataset: str, visit: Managing) -> Response:
    """All that can be changed of a dataset."""
    return _page(request, visit)


@router.post(f"{AT}/budget")
def change_budget(request: Request, dataset: str, visit: Changing, form: Sent) -> Response:
    """Another budget, with the reason for it."""
    catalog = visit.service.catalog

    def change() -> None:
        loss = read_fields(form, measure_of(catalog.scope(dataset).budget), prefix="budget-")
        catalog.set_budget(dataset, loss, by=visit.person.name, why=read_why(form))

    return _changed(request, visit, form, "budget", change)


@router.post(f"{AT}/renew")
def renew_budget(request: Request, dataset: str, visit: Changing, form: Sent) -> Response:
    """Start the budget over: new rows have arrived."""

    def change() -> None:
        visit.service.catalog.renew(dataset, by=visit.person.name, why=read_why(form))

    return _changed(request, visit, form, "renew", change)


@router.post(f"{AT}/retire")
def retire(request: Request, dataset: str, visit: Changing, form: Sent) -> Response:
    """Let the dataset be asked no more."""

    def change() -> None:
        visit.service.catalog.retire(dataset, by=visit.person.name, why=read_why(form))

    return _changed(request, visit, form, "retire", change)


@router.post(f"{AT}/reinstate")
def reinstate(request: Request, dataset: str, visit: Changing, form: Sent) -> Response:
    """Let a dataset that was retired be asked again."""

    def change() -> None:
        visit.service.catalog.reinstate(dataset, by=visit.person.name, why=read_why(form))

    return _changed(request, visit, form, "reinstate", change)


@router.post(f"{AT}/limit")
def change_limit(request: Request, dataset: str, visit: Changing, form: Sent) -> Response:
    """What one person may spend of the budget."""
    catalog = visit.service.catalog

    def change() -> None:
        person = _known_person(visit, form)
        loss = read_fields(form, measure_of(catalog.scope(dataset).budget), prefix="limit-")
        catalog.set_personal(dataset, person, loss, by=visit.person.name, why=read_why(form))

    return _changed(request, visit, form, "limit", change)


@router.post(f"{AT}/roles")
def change_roles(request: Request, dataset: str, visit: Changing, form: Sent) -> Response:
    """Who may ask, and who may read all of the history."""

    def change() -> None:
        grantable = {role.value: role for role in GRANTED_BY_CUSTODIANS}
        wanted = form.all("role")
        if any(one not in grantable for one in wanted):
            raise ParameterError("role: a custodian can let somebody be analyst or auditor of their dataset")
        grant_roles(visit, dataset, _known_person(visit, form), [grantable[one] for one in wanted])

    return _changed(request, visit, form, "roles", change)


@router.post(f"{AT}/description")
def change_description(request: Request, dataset: str, visit: Changing, form: Sent) -> Response:
    """The title and the description."""

    def change() -> None:
        said = {"title": form.word("title"), "description": form.text("description").strip()}
        visit.service.catalog.describe(dataset, said, by=visit.person.name)

    return _changed(request, visit, form, "description", change)


@router.post(f"{AT}/column")
def change_column(request: Request, dataset: str, visit: Changing, form: Sent) -> Response:
    """What is public of a column: what it is, its values, its bounds."""

    def change() -> None:
        catalog = visit.service.catalog
        opened = catalog.opened(dataset)
        column = form.text("column")
        said = column_said(form, opened.table.schema.require(column).kind.value)
        columns = {**opened.registered.document.get("columns", {}), column: said}
        catalog.describe(dataset, {"columns": columns}, by=visit.person.name)

    return _changed(request, visit, form, "column", change)


def column_said(form: Form, kind: str) -> dict[str, Any]:
    """What a form says of a column of a kind; what is left empty is not said."""
    said: dict[str, Any] = {}
    if form.word("description"):
        said["description"] = form.word("description")
    values = read_lines(form.text("values"), kind)
    if values:
        said["values"] = values
    ends = [form.word("lower"), form.word("upper")]
    if any(ends):
        if not all(ends):
            raise ParameterError("bounds: give both ends, or neither")
        lower, upper = (read_number(end) for end in ends)
        if not lower < upper:
            raise ParameterError(f"bounds: the lower end, {lower}, is not below the upper one, {upper}")
        said["bounds"] = [lower, upper]
    return said


def read_why(form: Form) -> str:
    """The reason, which is kept."""
    why = " ".join(form.text("why").split())
    if not why:
        raise ParameterError("why is missing: the reason is kept for good")
    return why


def said_of(error: ViameterError) -> str:
    """What a form says of an error; what is no fault of the form is raised on."""
    problem = problem_of(error)
    if problem.status >= 500:
        raise error
    return problem.message


def _known_person(visit: Visit, form: Form) -> str:
    name = form.word("person")
    if not name:
        raise ParameterError("person is missing: the name of somebody who has been added to this service")
    if visit.service.state.person(name) is None:
        raise UnknownPerson(name)
    return name


def _changed(request: Request, visit: Visit, form: Form, what: str, change: Callable[[], None]) -> Response:
    """Do it and go on to the page; or show what is wrong, with what was typed."""
    try:
        change()
    except ViameterError as error:
        return _page(request, visit, status=422, failed=what, error=said_of(error), typed=form)
    return redirect(request, f"/datasets/{visit.dataset}/manage", done=what)


def _page(
    request: Request, visit: Visit, *, status: int = 200, failed: str = "", error: str = "", typed: Form | None = None
) -> Response:
    catalog, dataset = visit.service.catalog, visit.dataset
    scope, registered = catalog.scope(dataset), catalog.registered(dataset)
    assert registered is not None
    try:
        columns = _columns(catalog.opened(dataset), typed if failed == "column" else None)
    except LedgerUnavailable:
        raise
    except ViameterError:
        # Its rows cannot be reached. Its budget, and who may ask, can be changed all the same.
        columns = []
    measure = measure_of(scope.budget)
    limits = catalog.personal_scopes(dataset)
    said = registered.document
    return render(
        request,
        "manage.html",
        visit=visit,
        status=status,
        failed=failed,
        error=error,
        typed=typed or Form(),
        scope=budget_shown(scope),
        budget_fields=fields_of(
            measure, prefix="budget-", typed=typed if failed == "budget" else None, loss=scope.budget
        ),
        limit_fields=fields_of(measure, prefix="limit-", typed=typed if failed == "limit" else None),
        limits={name: budget_shown(one) for name, one in sorted(limits.items())},
        people=_people(visit),
        said={"title": said.get("title", ""), "description": said.get("description", "")},
        columns=columns,
        differs=visit.service.differences(dataset),
        renews_with_rows=scope.terms.renews == ON_NEW_ROWS,
    )


def _people(visit: Visit) -> list[dict[str, Any]]:
    """Those who are something here; not everybody whom the service knows."""
    found = []
    for one in visit.service.state.people():
        here = {grant.role for grant in one["grants"] if grant.dataset == visit.dataset}
        everywhere = {grant.role for grant in one["grants"] if grant.dataset == ALL and grant.role is not Role.ADMIN}
        if here or everywhere:
            found.append(
                {
                    "name": one["name"],
                    "active": one["active"],
                    "here": sorted(role.value for role in here),
                    "everywhere": sorted(role.value for role in everywhere),
                }
            )
    return found


def _columns(opened: Opened, typed: Form | None) -> list[dict[str, Any]]:
    """The columns with the texts of their fields."""
    found = []
    for column in schema_document(opened)["columns"]:
        bounds = column["bounds"] or ["", ""]
        texts = {
            "description": column["description"],
            "values": lines_of(column["values"] or []),
            "lower": text_of(bounds[0]),
            "upper": text_of(bounds[1]),
        }
        wrong = typed is not None and typed.text("column") == column["name"]
        if wrong and typed is not None:
            texts = {name: typed.text(name) for name in texts}
        found.append({**texts, "name": column["name"], "type": column["type"], "wrong": wrong})
    return found
