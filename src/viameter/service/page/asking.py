"""Asking: a form that builds a question, its preview, which is free, and its release, which is not."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from viameter.core import Loss
from viameter.errors import AnswerLost, SealedError, ViameterError
from viameter.ledger.plots import share, share_left
from viameter.measures import loss_from_json
from viameter.service.access import Action
from viameter.service.api.datasets import show_dataset
from viameter.service.api.needing import Visit, page_needs
from viameter.service.api.releases import look_up, read_key
from viameter.service.documents import scope_document, share_of
from viameter.service.page import questions as q
from viameter.service.page.aggregate_fields import INPUT_FIELDS, has_width
from viameter.service.page.drafts import Draft, draft_of, read_document
from viameter.service.page.forms import Sent
from viameter.service.page.reading_questions import form_of_document
from viameter.service.page.rendering import redirect, render, segment
from viameter.service.page.typed_values import kind_in_words, lines_of, text_of
from viameter.service.page.wording import (
    confidence_in_words,
    errors_in_words,
    kept_in_words,
    plural,
    question_in_words,
)
from viameter.service.problems import Problem, problem_of
from viameter.service.secrets import fresh_id
from viameter.service.state import DatasetRetired
from viameter.tables.aggregates import WORDS
from viameter.tables.cost import cost_from_json

router = APIRouter(include_in_schema=False)
DatasetName = Annotated[str, Path(max_length=64)]
Asking = Annotated[Visit, Depends(page_needs(Action.ASK))]
Sending = Annotated[Visit, Depends(page_needs(Action.ASK, unsafe=True))]
PATIENCE = 1.5
"""Seconds for which a release is waited for, before its page says that it runs."""
PAYING = (
    ("dataset", "The budget of this dataset", "the budget"),
    ("person", "Your own limit", "your own limit"),
)
"""The budgets that may pay for a question, as a preview names them, with what they are called on the page."""
LABELS = {
    "column": "of the column",
    "lower": "Lower bound",
    "upper": "Upper bound",
    "q": "Share below",
    "column-2": "and the column",
    "lower-2": "Its lowest",
    "upper-2": "Its highest",
}
"""What fields for inputs of aggregates are called; others are called by their names."""


@router.get("/datasets/{dataset}/ask")
def show_form(
    request: Request,
    dataset: DatasetName,
    visit: Asking,
    like: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """The form: as it is at first, or with a question that was asked before."""
    registered = visit.service.catalog.registered(dataset)
    if registered is not None and registered.retired is not None:
        raise DatasetRetired(dataset, registered.retired)
    sheet = sheet_of(visit)
    if like is None:
        return _form_page(request, visit, sheet, Draft(q.first_form(sheet.budget.to_json())))
    asked = look_up(visit, dataset, like, None)
    form, whole = form_of_document(asked["question"], sheet)
    return _form_page(request, visit, sheet, Draft(form, whole=whole))


@router.post("/datasets/{dataset}/ask")
async def preview_question(request: Request, dataset: DatasetName, visit: Sending, sent: Sent) -> Response:
    """What the question would cost. Nothing is read or spent, however often one looks."""
    sheet = await run_in_threadpool(sheet_of, visit)
    draft = await run_in_threadpool(draft_of, sent, sheet)
    status, retry_after = 422, None
    try:
        if draft.wrong is not None:
            raise draft.wrong
        # Not in a thread that others need: a dataset may take long.
        preview = await asyncio.wrap_future(visit.service.desk.preview(visit.person.name, dataset, draft.document))
    except q.Misread as wrong:
        message = str(wrong)
    except (ViameterError, Problem) as wrong:
        problem = wrong if isinstance(wrong, Problem) else problem_of(wrong)
        # What is wrong with the question, or passes: the form stays as it was filled in.
        if problem.status not in (422, 503):
            raise
        message, status, retry_after = problem.message, problem.status, problem.retry_after
    else:
        shown = await run_in_threadpool(preview_view, visit, sheet, draft, preview)
        return await run_in_threadpool(_form_page, request, visit, sheet, draft, preview=shown)
    answered = await run_in_threadpool(_form_page, request, visit, sheet, draft, message=message, status=status)
    if retry_after is not None:
        answered.headers["retry-after"] = str(retry_after)
    return answered


@router.post("/datasets/{dataset}/release")
async def release_question(request: Request, dataset: DatasetName, visit: Sending, sent: Sent) -> Response:
    """Spend and run, then show what came of it. The same form once more is the same answer, charged once."""
    service, person = visit.service, visit.person.name
    # Before anything is reserved, or even read.
    service.releases.take(person)
    loop = asyncio.get_running_loop()
    document: dict[str, Any] | None = None
    key = ""
    try:
        key = read_key(sent.word("key"))
        document = read_document(sent.text("question"))
        await asyncio.wrap_future(service.desk.read(person, dataset, document, key))
        job = service.desk.ask(person, dataset, document, key)
        future = asyncio.wrap_future(job.future)
        try:
            await asyncio.wait_for(asyncio.shield(future), PATIENCE)
        except TimeoutError:
            # It goes on without us; whatever comes of it is asked for by its key.
            future.add_done_callback(lambda late: late.cancelled() or late.exception())
    except (SealedError, AnswerLost):
        pass  # the page of the answer tells
    except ViameterError as wrong:
        return await loop.run_in_executor(None, _refusal, request, visit, problem_of(wrong), document, key)
    except Problem as problem:
        return await loop.run_in_executor(None, _refusal, request, visit, problem, document, key)
    return redirect(request, f"/datasets/{dataset}/answers/{segment(key)}")


def sheet_of(visit: Visit) -> q.Sheet:
    """What is public of a dataset, as a form needs it."""
    opened = visit.service.catalog.opened(visit.dataset)
    published = opened.registered.document.get("columns", {})
    table = opened.table
    return q.Sheet(table.schema, table.unit, visit.service.catalog.scope(visit.dataset).cap, published)


def preview_view(visit: Visit, sheet: q.Sheet, draft: Draft, preview: dict[str, Any]) -> dict[str, Any]:
    """What a preview shows: cost, budgets before and after, expected errors."""
    loss, document, unit = _loss(preview["loss"]), draft.document, sheet.unit.name
    budgets = budget_views(preview, loss)
    return {
        "question": json.dumps(document),
        "document": document,
        "words": question_in_words(draft.form, unit) if draft.whole else "",
        "key": fresh_id(),
        "loss": preview["loss"],
        "offered": offered if (offered := spend_text(document)) != preview["loss"]["text"] else "",
        "fits": preview["fits"],
        "budgets": budgets,
        "too_small": next((one["called"] for one in budgets if one["binds"]), budgets[0]["called"]),
        "confidence": confidence_in_words(preview["alpha"]),
        "kept": kept_in_words(preview["kept"], unit),
        "notes": preview["notes"],
        "rows": [
            {**row, "errors": errors_in_words(row, document, unit), "is_keys": row["name"] == "(keys)"}
            for row in preview["aggregates"]
        ],
    }


def spend_text(document: dict[str, Any]) -> str:
    """What a question may spend, as it was asked for, of which it may cost less; empty if widths were asked for."""
    spend = cost_from_json(document).spend
    return "" if spend is None else repr(spend)


def budget_views(preview: dict[str, Any], loss: Loss) -> list[dict[str, Any]]:
    """The budgets that pay for a question: before it, and after it."""
    found = []
    for whose, name, called in PAYING:
        paying = preview["budgets"][whose]
        if paying is None:
            continue
        budget, before, left = (_loss(paying[amount]) for amount in ("budget", "spent", "left"))
        spent = share_of(before, budget)
        cost = share(loss, budget)  # more than all of it where it does not fit
        after = left.left_after(loss) if paying["fits"] else None
        found.append(
            {
                **paying,
                "name": name,
                "called": called,
                "binds": preview["budgets"]["person"] is not None and whose == preview["binding"],
                "share_spent": spent,
                "left_share": float(share_left(left, budget)),
                "after": after,
                "after_share": None if after is None else float(share_left(after, budget)),
                "share": cost,
                # In thousandths, for the bar; what is there at all can be seen.
                "spent_width": round(spent * 1000),
                "cost_width": max(min(round(cost * 1000), 1000 - round(spent * 1000)), 4),
            }
        )
    return found


def options_of(sheet: q.Sheet) -> dict[str, list[tuple[str, str]]]:
    """What can be chosen in fields, each with its text."""
    kinds = {name: kind.kind.value for name, kind in sheet.schema.items()}
    titles = {name: word.title for name, word in WORDS.items()}
    parts = ("1 %", "2 %", "5 %", "10 %")
    return {
        "columns": [(name, f"{name} ({kind_in_words(kind)})") for name, kind in kinds.items()],
        "numbers": [(name, name) for name, kind in kinds.items() if kind in ("INTEGER", "REAL", "BOOLEAN")],
        "comparisons": list(q.COMPARISONS.items()),
        "aggregates": list((titles | {"count_units": f"number of {plural(sheet.unit.name)}"}).items()),
        "amounts": list(zip(q.suggested_amounts(sheet.budget.to_json()), parts, strict=False)),
    }


def _published(sheet: q.Sheet) -> list[dict[str, str]]:
    """What the custodian published of columns, for the script that fills it in."""
    found = []
    for name in sheet.schema:
        lower, upper = map(text_of, sheet.public(name, "bounds") or ("", ""))
        found.append({"name": name, "listed": lines_of(sheet.public(name, "values")), "lower": lower, "upper": upper})
    return found


def _form_page(
    request: Request,
    visit: Visit,
    sheet: q.Sheet,
    draft: Draft,
    *,
    preview: dict[str, Any] | None = None,
    message: str = "",
    status: int = 200,
) -> Response:
    own = visit.service.catalog.personal_scopes(visit.dataset).get(visit.person.name)
    usual = q.first_form(sheet.budget.to_json())["amount"]
    return render(
        request,
        "ask.html",
        visit=visit,
        status=status,
        dataset=visit.dataset,
        fields=draft.form if draft.form["sql"] else {**draft.form, "sql-amount": usual},
        words=q,
        inputs=INPUT_FIELDS,
        labels=LABELS,
        with_width=[what for what in WORDS if has_width(what)],
        options=options_of(sheet),
        published=_published(sheet),
        units=plural(sheet.unit.name),
        amount_name="rho" if "rho" in sheet.budget.to_json() else "epsilon",
        with_delta=sheet.with_delta,
        scope=scope_document(visit.service.catalog.scope(visit.dataset)),
        own=None if own is None else scope_document(own),
        least=show_dataset(visit.dataset, visit).get("least_spend"),
        whole=draft.whole,
        preview=preview,
        problems={} if draft.wrong is None else draft.wrong.problems,
        place=draft.place,
        left_out=draft.left_out,
        message=message,
    )


def _refusal(request: Request, visit: Visit, problem: Problem, document: dict[str, Any] | None, key: str) -> Response:
    """A question that was not released: why, what there is, and the way back to the form with the question kept."""
    answered = render(
        request,
        "refused.html",
        visit=visit,
        status=problem.status,
        dataset=visit.dataset,
        problem=problem,
        amounts={name: _text(problem.details.get(name)) for name in ("budget", "spent", "left", "asked")},
        personal="@" in str(problem.details.get("scope") or ""),
        question=None if document is None else json.dumps(document),
        key=key,
    )
    if problem.retry_after is not None:
        answered.headers["retry-after"] = str(problem.retry_after)
    return answered


def _text(loss: Any) -> str:
    return str(loss["text"]) if isinstance(loss, dict) else str(loss or "")


def _loss(document: dict[str, Any]) -> Loss:
    return loss_from_json({name: value for name, value in document.items() if name != "text"})
