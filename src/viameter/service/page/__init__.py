"""The page: what people see. Server-rendered, with a little script; nothing comes from elsewhere.

- `rendering`: templates, filters, addresses below a prefix. `forms`: what was typed, and whether it comes from here.
- `signing_in`: a token for a cookie. `problem_pages`: what went wrong. `static_files`: styles and scripts.
- `overview`, `burndown`: datasets and what is left. `history`, `theorem_tree`: charges and the proofs behind them.
- `managing`, `registering`, `losses`: for custodians. `people`: for admins; one's own tokens; what was administered.
- `asking`, `questions`, `answers`, `chart`: previews, releases and answers. `proving`: programs and certificates.
"""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import Response

from viameter.service.api.needing import SignInFirst
from viameter.service.page import (
    answers,
    asking,
    history,
    managing,
    overview,
    people,
    proving,
    registering,
    signing_in,
    static_files,
)
from viameter.service.page.problem_pages import problem_page
from viameter.service.page.rendering import redirect
from viameter.service.page.signing_in import place_to_sign_in
from viameter.service.problems import Problem

PARTS = (static_files, signing_in, overview, asking, answers, history, managing, registering, people, proving)
FOR_MACHINES = ("/api", "/healthz", "/readyz", "/metrics")


def add_page(app: FastAPI) -> None:
    """Add the routes of the page, and the way to where people sign in."""
    for part in PARTS:
        app.include_router(part.router)

    @app.exception_handler(SignInFirst)
    def sign_in_first(request: Request, _: SignInFirst) -> Response:
        return redirect(request, place_to_sign_in(request))


def wants_page(request: Request) -> bool:
    """Whether a reply is for people: everything that is not under /api and not for machines."""
    path = request.scope["path"]
    return not any(path == place or path.startswith(f"{place}/") for place in FOR_MACHINES)


def show_problem(request: Request, problem: Problem) -> Response:
    """What went wrong, as a page."""
    return problem_page(request, problem)
