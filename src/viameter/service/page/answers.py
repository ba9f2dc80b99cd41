"""Answers: what came of a question, as a page with a table and charts, and as files to take away."""

from __future__ import annotations

import csv
import io
import json
import urllib.parse
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response

from viameter.errors import ViameterError
from viameter.service.access import Action
from viameter.service.api.needing import Visit, page_needs
from viameter.service.api.releases import look_up
from viameter.service.page.asking import sheet_of, spend_text
from viameter.service.page.chart import MOST_ROWS, chart, group_shown, rows_of
from viameter.service.page.figures import decimals_for, shown
from viameter.service.page.questions import Sheet
from viameter.service.page.reading_questions import form_of_document
from viameter.service.page.rendering import render, segment
from viameter.service.page.wording import confidence_in_words, neighbors_in_words, question_in_words
from viameter.service.problems import Problem

router = APIRouter(include_in_schema=False)
DatasetName = Annotated[str, Path(max_length=64)]
Key = Annotated[str, Path(max_length=200)]
By = Annotated[str | None, Query(max_length=64)]
Seeing = Annotated[Visit, Depends(page_needs(Action.SEE))]
MOST_SHOWN = 500
"""How many groups a page shows; files have all of them."""
MOST_CHARTS = 5
NO_END = "none"
"""What stands in the place of an end that there is not."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for the beginning of a formula."""


@router.get("/datasets/{dataset}/answers/{key:path}/answer.csv")
def download_csv(dataset: DatasetName, key: Key, visit: Seeing, by: By = None) -> Response:
    """The table of an answer, for spreadsheets."""
    found = _released(visit, dataset, key, by)
    return _file(csv_of(found["answer"]), "text/csv; charset=utf-8", f"{dataset}-{found['entry']}.csv")


@router.get("/datasets/{dataset}/answers/{key:path}/answer.json")
def download_json(dataset: DatasetName, key: Key, visit: Seeing, by: By = None) -> Response:
    """The question and its answer, for programs, as the API gives them."""
    found = _released(visit, dataset, key, by)
    return _file(json.dumps(found, indent=2), "application/json", f"{dataset}-{found['entry']}.json")


@router.get("/datasets/{dataset}/answers/{key:path}")
def show_answer(request: Request, dataset: DatasetName, key: Key, visit: Seeing, by: By = None) -> Response:
    """What came of a question: it runs, was released, failed, or was cut off."""
    try:
        found = look_up(visit, dataset, key, by)
    except Problem as problem:
        if problem.status != 404:
            raise
        # The same for what was never asked, what was refused, and what somebody else asked.
        return render(request, "answer_missing.html", visit=visit, status=404, dataset=dataset)
    sheet = sheet_of(visit)
    form, whole = form_of_document(found["question"], sheet)
    place = f"/datasets/{dataset}/answers/{segment(key)}"
    others = "" if by is None or by == visit.person.name else "?" + urllib.parse.urlencode({"by": by})
    return render(
        request,
        "answer.html",
        visit=visit,
        status=410 if found["state"] == "lost" else 200,
        dataset=dataset,
        found=found,
        state=found["state"],
        words=question_in_words(form, sheet.unit.name) if whole else "",
        cost=_cost(found["question"]),
        own=found["by"] == visit.person.name and visit.may(Action.ASK),
        like=urllib.parse.urlencode({"like": key}),
        files={kind: f"{place}/answer.{kind}{others}" for kind in ("csv", "json")},
        view=view_of(found["answer"], sheet) if found["state"] == "released" else None,
    )


def view_of(answer: dict[str, Any], sheet: Sheet) -> dict[str, Any]:
    """An answer as its page shows it: cells in words, charts, what it guarantees."""
    names = [one["name"] for one in answer["aggregates"]]
    columns = answer["columns"]
    rows = []
    for row in answer["rows"][:MOST_SHOWN]:
        keys = [group_shown(row[columns.index(key)]) for key in answer["keys"]]
        cells = [_cells(row, columns.index(name)) for name in names]
        rows.append({"keys": keys or ["all rows"], "cells": [cell for three in cells for cell in three]})
    aggregates = [{**one, "has_intervals": _has_intervals(answer, one["name"])} for one in answer["aggregates"]]
    drawn = [
        {
            **one,
            "svg": chart(
                rows_of(answer, one["name"]),
                id=f"chart-{place}",
                title=f"{one['name']} by group{', with intervals' if one['has_intervals'] else ''}",
            ),
        }
        for place, one in enumerate(aggregates[:MOST_CHARTS])
    ]
    return {
        "keys": answer["keys"] or ["group"],
        "aggregates": aggregates,
        "has_intervals": any(one["has_intervals"] for one in aggregates),
        "rows": rows,
        "total": len(answer["rows"]),
        "charts": [one for one in drawn if one["svg"]] if answer["rows"] else [],
        "most_drawn": MOST_ROWS,
        "loss": answer["loss"],
        "neighbors": neighbors_in_words(answer["guarantee"]),
        "unit": sheet.unit.name,
        "confidence": None if answer["alpha"] is None else confidence_in_words(answer["alpha"]),
        "notes": answer["notes"],
    }


def csv_of(answer: dict[str, Any]) -> str:
    """The table as CSV (RFC 4180): one line of names, then one for each group.

    Text that a spreadsheet would take for a formula has a ' before it; numbers are as they are.

    >>> csv_of({"columns": ["ward", "n"], "rows": [["=1+1", -3]]}).splitlines()
    ['ward,n', "'=1+1,-3"]
    """
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\r\n")
    lines.writerow([_harmless(name) for name in answer["columns"]])
    lines.writerows([[_harmless(value) for value in row] for row in answer["rows"]])
    return written.getvalue()


def _harmless(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _cells(row: list[Any], place: int) -> list[dict[str, Any]]:
    value, lower, upper = row[place : place + 3]
    decimals = decimals_for(lower, upper)
    ends = [{"text": NO_END if end is None else shown(end, decimals), "exact": end} for end in (lower, upper)]
    return [{"text": shown(value, decimals), "exact": value}, *ends]


def _has_intervals(answer: dict[str, Any], name: str) -> bool:
    """Whether any group has an end: quantiles that were picked have none. Where there are no groups, it may have."""
    rows = rows_of(answer, name, most=len(answer["rows"]))
    return not rows or any(row.has_interval for row in rows)


def _cost(question: dict[str, Any]) -> str:
    try:
        return spend_text(question)
    except ViameterError:
        return ""


def _released(visit: Visit, dataset: str, key: str, by: str | None) -> dict[str, Any]:
    found = look_up(visit, dataset, key, by)
    if found["state"] != "released":
        raise Problem(409, "not_released", "there is no answer to take away: its page says why")
    return found


def _file(content: str, kind: str, name: str) -> Response:
    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
