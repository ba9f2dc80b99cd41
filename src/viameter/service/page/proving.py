"""Proving: programs that are verified, and certificates that are checked, for everybody who is signed in."""

from __future__ import annotations

import json
import urllib.parse
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from viameter.errors import ViameterError
from viameter.service.access import Action
from viameter.service.api.needing import Visit, page_needs
from viameter.service.api.proofs import verified
from viameter.service.checking import check_submitted
from viameter.service.page.forms import Sent
from viameter.service.page.proof_markup import proof_markup
from viameter.service.page.rendering import HERE, render
from viameter.service.problems import problem_of

router = APIRouter(include_in_schema=False)
SignedIn = Annotated[Visit, Depends(page_needs(Action.SIGNED_IN))]
Sending = Annotated[Visit, Depends(page_needs(Action.SIGNED_IN, unsafe=True))]
MEANING = {
    "PROVED": "There is a proof: on any two inputs that are neighbors, the bound holds.",
    "REFUTED": "There are two inputs that are neighbors for which no such bound, or not this one, holds.",
    "UNKNOWN": "Neither a proof nor a counterexample was found. This says nothing about the program.",
}
TAGS = {"PROVED": "tag-good", "REFUTED": "tag-bad", "UNKNOWN": "tag-warn"}
NONE = (
    "This is no certificate, so nothing was checked. A certificate is a file of JSON that begins with { and ends "
    "with }: paste all of it."
)
LONGEST_SOURCE, LONGEST_BOUND = 100_000, 200


@router.get("/programs")
def show_programs(request: Request, visit: SignedIn) -> Response:
    """A place for programs, with an example."""
    return _programs(request, visit, example())


@router.post("/programs")
def verify_programs(request: Request, visit: Sending, sent: Sent) -> Response:
    """Verdicts on programs. Their text is parsed and never executed; it takes up to some seconds."""
    source, bound = sent.text("source"), sent.word("bound")
    problems = {}
    if not source.strip():
        problems["source"] = "Paste the text of one or more programs."
    elif len(source) > LONGEST_SOURCE:
        problems["source"] = f"A text has at most {LONGEST_SOURCE:,} characters."
    if len(bound) > LONGEST_BOUND:
        problems["bound"] = f"A bound has at most {LONGEST_BOUND} characters."
    if problems:
        return _programs(request, visit, source, bound, problems=problems, status=422)
    try:
        verdicts = verified(visit, source, bound or None)
    except ViameterError as wrong:
        problem = problem_of(wrong)
        return _programs(request, visit, source, bound, message=problem.message, status=problem.status)
    return _programs(request, visit, source, bound, verdicts=[verdict_view(one) for one in verdicts])


@router.get("/certificates")
def show_certificates(request: Request, visit: SignedIn) -> Response:
    """A place for a certificate."""
    return render(request, "certificates.html", visit=visit, text="", result=None, error="")


@router.post("/certificates")
def check_certificate(request: Request, visit: Sending, sent: Sent) -> Response:
    """Whether a certificate holds: every number of it is derived again, by a checker that shares no code."""
    text = sent.text("certificate")
    if not text.strip():
        error = "Paste a certificate, or choose its file."
        return render(request, "certificates.html", visit=visit, status=422, text="", result=None, error=error)
    if not is_like_a_certificate(text):
        return render(request, "certificates.html", visit=visit, status=422, text=text, result=None, error=NONE)
    return render(request, "certificates.html", visit=visit, text=text, result=check_submitted(text), error="")


def is_like_a_certificate(text: str) -> bool:
    """Whether a text is an object of JSON that says which format it has; whether it holds, the checker alone says.

    >>> is_like_a_certificate('{"format": "viameter-certificate/1"}'), is_like_a_certificate("hello")
    (True, False)
    """
    try:
        # What numbers there are is not looked at: they may be as long as they like.
        found = json.loads(text, parse_int=float, parse_float=float)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and isinstance(found.get("format"), str)


@cache
def example() -> str:
    """A program to begin with."""
    return (HERE / "templates" / "example_program.txt").read_text(encoding="utf-8")


def verdict_view(verdict: dict[str, Any]) -> dict[str, Any]:
    """A verdict as the page shows it."""
    certificate = verdict["certificate"]
    text = None if certificate is None else certificate if isinstance(certificate, str) else json.dumps(certificate)
    return {
        **verdict,
        "tag": TAGS.get(verdict["status"], "tag-warn"),
        "meaning": MEANING.get(verdict["status"], MEANING["UNKNOWN"]),
        "proof": proof_markup(verdict["html"]),
        "certificate": text,
        # A link that holds the file itself: certificates can be longer than what a form may send back.
        "file": None if text is None else "data:application/json;charset=utf-8," + urllib.parse.quote(text, safe=""),
    }


def _programs(
    request: Request,
    visit: Visit,
    source: str,
    bound: str = "",
    *,
    verdicts: list[dict[str, Any]] | None = None,
    problems: dict[str, str] | None = None,
    message: str = "",
    status: int = 200,
) -> Response:
    return render(
        request,
        "programs.html",
        visit=visit,
        status=status,
        source=source,
        bound=bound,
        verdicts=verdicts,
        problems=problems or {},
        message=message,
        seconds=round(visit.service.config.limits.verify_seconds),
    )
