"""Pages for what went wrong: what it is, what to do next, and the number under which the log has it."""

from __future__ import annotations

import logging

from fastapi import Request
from fastapi.responses import Response

from viameter.service.api.needing import COOKIE, Visit, by_cookie, service_of
from viameter.service.page.rendering import render
from viameter.service.problems import Problem
from viameter.service.secrets import guard_of
from viameter.service.watching import describe_error, log

HEADINGS = {
    400: "That was not understood",
    403: "You may not do this",
    404: "Not found",
    405: "That is not how this page is used",
    409: "That was refused",
    410: "The answer was lost",
    413: "That is too large",
    415: "That was not understood",
    422: "That was not understood",
    429: "That was too often",
    500: "Something went wrong",
    503: "Not at the moment",
}
HEADINGS_BY_CODE = {
    "retired": "This dataset is retired",
    "source_unavailable": "The data cannot be reached",
    "busy": "Too many questions wait",
}
OF_A_DATASET = ("source_unavailable", "busy")
"""Codes of what is the matter with the rows of one dataset: the service itself is well."""
NEXT = {
    400: "Go back, and try it again.",
    403: "Whoever manages the dataset can let you ask; an admin can give you other roles.",
    404: "Look at the address, or begin with the datasets that you may see.",
    405: "Begin with the datasets that you may see.",
    409: "Nothing was changed. Go back to see how things stand now.",
    410: "What it cost stays charged. A question that is asked anew is charged anew.",
    413: "Send less at once.",
    415: "Go back, and use the form of the page.",
    422: "Go back, and change what you entered.",
    429: "Wait a little, then try again.",
    500: "Try it again. If it stays so, tell whoever runs this service the number below.",
    503: "Try it again in a moment. If it stays so, tell whoever runs this service the number below.",
}
NEXT_BY_CODE = {
    "retired": "Its history, answers and certificates stay. Whoever manages the dataset can reinstate it.",
    "source_unavailable": "Nothing was charged. Try it again; if it stays so, tell whoever manages the dataset.",
    "busy": "Nothing was charged. Others are being answered: try it again in a moment.",
    "forged_form": "Go back, reload the page, and send the form again. You may have signed in anew meanwhile.",
    "failed": "The question cannot be answered as it is; asking it anew is charged anew.",
    "ledger_unsound": "Tell whoever runs this service: `viameter ledger verify` says what does not hold.",
    "no_certificate": "The charge itself stands in the history, with the theorems that it rests on.",
}


def problem_page(request: Request, problem: Problem) -> Response:
    """A problem, with its status and, where waiting helps, how long."""
    answered = render(
        request,
        "problem.html",
        visit=_visit(request, problem),
        status=problem.status,
        heading=HEADINGS_BY_CODE.get(problem.code) or HEADINGS.get(problem.status, "That did not work"),
        message=problem.message,
        advice=_advice(problem),
        number=request.scope["state"]["request"],
        notice=None,
    )
    if problem.retry_after is not None:
        answered.headers["retry-after"] = str(problem.retry_after)
    return answered


def _advice(problem: Problem) -> str:
    if problem.code in NEXT_BY_CODE:
        return NEXT_BY_CODE[problem.code]
    if problem.retry_after is not None:
        unit = "second" if problem.retry_after == 1 else "seconds"
        return f"Wait {problem.retry_after} {unit}, then try again."
    return NEXT.get(problem.status, NEXT[400])


def _visit(request: Request, problem: Problem) -> Visit | None:
    """Who is signed in, for the menu; nobody is looked up while the tables of the service may be down."""
    if problem.status >= 500 and problem.code not in OF_A_DATASET:
        return None
    try:
        person = by_cookie(request)
    except Exception as error:  # a page about one problem does not become another one
        log("no menu", level=logging.WARNING, **describe_error(error))
        return None
    return None if person is None else Visit(service_of(request), person, guard=guard_of(request.cookies[COOKIE]))
