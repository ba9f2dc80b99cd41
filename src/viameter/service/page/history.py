"""The history of a dataset: what was charged and decided, page by page, and the theorems behind each charge."""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from viameter.ledger import Ledger, Line
from viameter.ledger.chain import Entry
from viameter.ledger.lines import entries_back, line_of
from viameter.service.access import Action
from viameter.service.api.datasets import charge_of, line_documents, may_read, show_certificate
from viameter.service.api.needing import Visit, page_needs
from viameter.service.catalog import personal
from viameter.service.documents import line_document
from viameter.service.page.rendering import render
from viameter.service.page.theorem_tree import tree_of
from viameter.service.problems import not_found

router = APIRouter(include_in_schema=False)
Seeing = Annotated[Visit, Depends(page_needs(Action.SEE))]
PER_PAGE = 50
MOST_READ = 500
"""How many entries one page looks at."""
LAST_ENTRY = 2**62
KINDS = {
    "define": "first budget",
    "reserve": "charge",
    "budget": "budget changed",
    "renew": "started over",
    "restore": "restored",
}
LIMIT_KINDS = {"define": "first limit", "budget": "limit changed", "renew": "limit started over"}
"""The same for the limit of one person."""


@router.get("/datasets/{dataset}/history")
def show_history_page(
    request: Request,
    dataset: str,
    visit: Seeing,
    before: Annotated[int | None, Query(ge=1, le=LAST_ENTRY)] = None,
) -> Response:
    """What was charged and decided, the newest first; so many lines on a page."""
    lines, older = lines_before(visit, dataset, before)
    return render(
        request,
        "history.html",
        visit=visit,
        lines=lines,
        before=before,
        older=older,
        unanswered=any(line["outcome"] in ("failed", "lost") for line in lines),
    )


def lines_before(visit: Visit, dataset: str, before: int | None) -> tuple[list[dict[str, Any]], int | None]:
    """Lines that a person may read, and the entry before which there may be more.

    So many entries are looked at and no more: whoever asked little among many reads several short pages.
    """
    found: list[tuple[Line, str]] = []
    seen, more = None, False
    for count, entry in enumerate(_entries(visit, dataset, before)):
        if len(found) == PER_PAGE or count == MOST_READ:
            more = True
            break
        line = line_of(entry)
        if may_read(visit, line):
            found.append((line, kind_in_words(entry, dataset)))
        seen = entry.seq
    lines = line_documents(visit, dataset, [line for line, _ in found])
    shown = [{**line, "kind_text": kind} for line, (_, kind) in zip(lines, found, strict=True)]
    return shown, seen if more else None


def kind_in_words(entry: Entry, dataset: str) -> str:
    """What kind of thing happened, and to whose limit where it is not about the budget of the dataset itself."""
    kind, scope = str(entry.record["kind"]), str(entry.record.get("scope", dataset))
    if scope == dataset:
        return KINDS.get(kind, kind)
    return f"{LIMIT_KINDS.get(kind, kind)}: {scope.removeprefix(personal(dataset, ''))}"


def _entries(visit: Visit, dataset: str, before: int | None) -> Iterator[Entry]:
    """The entries of a dataset's budget and of the limits that one may see, each once, from one back."""
    everybody = visit.may(Action.READ_ALL)
    limits = [
        scope.name
        for person, scope in visit.service.catalog.personal_scopes(dataset).items()
        if everybody or person == visit.person.name
    ]
    back = [_entries_of(visit.service.ledger, scope, before) for scope in (dataset, *limits)]
    merged = heapq.merge(*back, key=lambda entry: -entry.seq)
    # A charge is in the history of every scope that paid.
    return (next(same) for _, same in itertools.groupby(merged, key=lambda entry: entry.seq))


def _entries_of(ledger: Ledger, scope: str, before: int | None) -> Iterator[Entry]:
    """The entries of a scope from one back; where that is one of its own, it says which was before it."""
    if before is None or before > ledger.head.seq:
        yield from entries_back(ledger, scope)
        return
    place = ledger.entry(before).record.get("before", {}).get(scope)
    if place is None:
        yield from (entry for entry in entries_back(ledger, scope) if entry.seq < before)
        return
    while place:
        entry = ledger.entry(int(place))
        yield entry
        place = entry.record["before"][scope]


@router.get("/datasets/{dataset}/history/{entry:int}")
def show_entry_page(request: Request, dataset: str, entry: int, visit: Seeing) -> Response:
    """One charge: what it cost whom, and the tree of theorems from which its loss follows."""
    line, certificate = _charge(visit, dataset, entry)
    said = None if certificate is None else json.loads(certificate)
    return render(
        request,
        "entry.html",
        visit=visit,
        line=line_document(line, dataset=dataset, outcome=visit.service.desk.outcome(line)),
        costs=_other_costs(visit, dataset, line),
        claim=None if said is None else said["claim"],
        tree=None if said is None else tree_of(said["derivation"]),
        asked=visit.service.state.asked(line.by, line.key) is not None,
        own=line.by == visit.person.name and visit.may(Action.ASK),
    )


@router.get("/datasets/{dataset}/history/{entry:int}/certificate")
def download_certificate(dataset: str, entry: int, visit: Seeing) -> Response:
    """The certificate of a charge, as a file for `viameter check`."""
    _charge(visit, dataset, entry)
    return show_certificate(dataset, entry, visit)


def _charge(visit: Visit, dataset: str, entry: int) -> tuple[Line, str | None]:
    if not 1 <= entry <= LAST_ENTRY:
        raise not_found()
    return charge_of(visit, dataset, entry)


def _other_costs(visit: Visit, dataset: str, line: Line) -> list[dict[str, str]]:
    """What a charge cost beside the dataset's own budget: the limit of whoever asked."""
    found = []
    for scope, part, loss, spent in line.costs:
        whose = scope.removeprefix(f"{dataset}@")
        if scope not in (dataset, whose):
            found.append({"whose": whose, "part": part or "", "loss": repr(loss), "spent": repr(spent)})
    return found
