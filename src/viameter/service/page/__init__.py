"""The page: what people see. Server-rendered, with a little script; nothing comes from elsewhere.

- `rendering`: templates, filters, addresses below a prefix. `forms`: what was typed, and whether it comes from here.
- `signing_in`: a token for a cookie. `problem_pages`: what went wrong. `static_files`: styles and scripts.
- `overview`, `burndown`: datasets and what is left. `history`, `theorem_tree`: charges and the proofs behind them.
- `managing`, `registering`, `losses`: for custodians. `people`: for admins; one's own tokens; what was administered.
- `asking`, `questions`, `answers`, `chart`: previews, releases and answers. `proving`: programs and certificates.
"""

from __future__ import annotations

import importlib
import importlib.util

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from viameter.service.api.needing import SignInFirst
from viameter.service.asgi import TooLarge
from viameter.service.page import history, managing, overview, people, registering, signing_in, static_files
from viameter.service.page.problem_pages import problem_page
from viameter.service.page.rendering import redirect
from viameter.service.page.signing_in import place_to_sign_in
from viameter.service.problems import UNEXPECTED, Problem
from viameter.service.service import Service

FOR_MACHINES = ("/api", "/healthz", "/readyz", "/metrics")


def add_page(app: FastAPI) -> None:
    """Add the routes of the page, and pages for what goes wrong on them."""
    for part in (static_files, signing_in, overview, history, managing, registering, people):
        app.include_router(part.router)
    for name in ("asking", "answers", "proving"):
        if importlib.util.find_spec(f"viameter.service.page.{name}") is not None:
            app.include_router(importlib.import_module(f"viameter.service.page.{name}").router)

    @app.exception_handler(SignInFirst)
    def sign_in_first(request: Request, _: SignInFirst) -> Response:
        return redirect(request, place_to_sign_in(request))

    @app.exception_handler(Exception)
    def on_unexpected(request: Request, error: Exception) -> Response:
        # It is raised on after this reply, so that the front logs it.
        problem = Problem(500, "unexpected", UNEXPECTED)
        if isinstance(error, TooLarge):
            service: Service = request.app.state.service
            most = service.config.limits.body_bytes
            problem = Problem(413, "too_large", f"the body of a request has at most {most} bytes")
        if wants_page(request):
            return show_problem(request, problem)
        return JSONResponse(problem.document(request.scope["state"]["request"]), problem.status)


def wants_page(request: Request) -> bool:
    """Whether a reply is for people: everything that is not under /api and not for machines."""
    path = request.scope["path"]
    return not any(path == place or path.startswith(f"{place}/") for place in FOR_MACHINES)


def show_problem(request: Request, problem: Problem) -> Response:
    """What went wrong, as a page."""
    return problem_page(request, problem)
