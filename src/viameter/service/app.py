"""The application: routes of the API and of the page around one Service, as ASGI."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from viameter._version import __version__
from viameter.errors import ViameterError
from viameter.service.access import Action, roles_for
from viameter.service.api import datasets, models, people, proofs, releases
from viameter.service.api.needing import by_token, service_of
from viameter.service.asgi import Front
from viameter.service.lanes import Lane
from viameter.service.problems import (
    UNEXPECTED,
    UNKNOWN_OUTCOME,
    Problem,
    forbidden,
    not_found,
    problem_of,
    unavailable,
)
from viameter.service.service import Service
from viameter.service.watching import describe_error, log

API = "/api/v1"
READY_SECONDS = 2.0
"""Seconds within which the ledger and the tables answer where they can be read."""
PARTS = (datasets, releases, people, proofs)
CODES = {404: "not_found", 405: "wrong_method", 400: "malformed", 401: "unauthorized", 403: "forbidden"}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": models.Error, "description": text}
    for status, text in {
        400: "The body is not JSON.",
        401: "No token, or one that opens nothing.",
        403: "A role is missing.",
        404: "Not there, or not for you.",
        409: "Over budget, or refused as things stand; nothing was spent.",
        410: "Charged, and no answer was stored.",
        413: "The body is too large.",
        422: "Not understood; or a key that was used for something else; or a question that failed and stays charged.",
        429: "Too many requests.",
        503: "Busy, being stopped, or storage cannot be reached; the message says whether anything was spent.",
    }.items()
}


def create_app(service: Service) -> Any:
    """The ASGI application of a service, which whoever opened it closes."""
    app = _api(service.config.server.prefix)
    app.state.service = service
    _add_operations(app)
    from viameter.service.page import add_page

    add_page(app)
    _add_problems(app)
    return Front(app, service.config, service.metrics)


@dataclass(frozen=True, slots=True)
class RouteNeeds:
    """A route of the API, and what it needs."""

    method: str
    path: str
    action: Action
    says: str


def api_routes() -> list[RouteNeeds]:
    """Every route of the API, without a service."""
    found = []
    for part in PARTS:
        for route in part.router.routes:
            assert isinstance(route, APIRoute)
            calls = [one.call for one in route.dependant.dependencies]
            (action,) = (getattr(call, "action") for call in calls if hasattr(call, "action"))  # noqa: B009
            says = (route.description or "").partition("\n\n")[0].replace("\n", " ")
            found += [RouteNeeds(method, route.path, action, says) for method in sorted(route.methods or ())]
    return found


def _api(prefix: str) -> FastAPI:
    app = FastAPI(
        title="viameter",
        version=__version__,
        description="Differentially private questions under budgets that cannot be overspent.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        servers=[{"url": prefix or "/"}],
        redirect_slashes=False,  # it knows no prefix
    )
    api = APIRouter(prefix=API, responses=ERRORS)
    for part in PARTS:
        api.include_router(part.router)
    app.include_router(api)
    return app


def _add_operations(app: FastAPI) -> None:
    @app.get("/healthz", include_in_schema=False)
    async def healthy() -> Response:
        """Whether the process answers."""
        return PlainTextResponse("ok\n")

    storage = Lane(1)
    asked: list[Future[None]] = []

    async def can_be_read(service: Service) -> bool:
        """Whether the ledger and the tables can be read; one thread asks, since a server that is gone says so late."""

        def ask() -> None:
            _ = service.ledger.head
            service.state.acts(last=1)

        if not asked or asked[0].done():
            asked[:] = [storage.read("", ask)]
        try:
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(asked[0])), READY_SECONDS)
        except Exception:  # whatever it is, it is not ready
            return False
        return True

    @app.get("/readyz", include_in_schema=False)
    async def ready(request: Request) -> Response:
        """Whether the ledger and the tables can be read; and how many datasets cannot be reached, whose names may be
        private. These are asked after this reply, and what comes of it is in the next.
        """
        service = service_of(request)
        if not await can_be_read(service):
            return PlainTextResponse("not ready\n", 503)
        await run_in_threadpool(service.desk.probe)
        # One warehouse that is down is no reason to take all other datasets away.
        lost, names = service.catalog.reachable.lost, await run_in_threadpool(service.catalog.names)
        degraded = f"degraded: the rows of {lost} of {len(names)} datasets cannot be reached\n" if lost else ""
        return PlainTextResponse(f"ok\n{degraded}")

    @app.get("/metrics", include_in_schema=False)
    def metrics(request: Request) -> Response:
        """Counts and times, in the format of Prometheus."""
        service = service_of(request)
        if not service.config.open_metrics and not by_token(request).may(Action.OVERSEE):
            raise forbidden(roles_for(Action.OVERSEE))
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_problems(app: FastAPI) -> None:
    def reply(request: Request, problem: Problem) -> Response:
        from viameter.service.page import wants_page

        if wants_page(request):
            from viameter.service.page import show_problem

            return show_problem(request, problem)
        headers = {} if problem.retry_after is None else {"retry-after": str(problem.retry_after)}
        if problem.status == 401:
            headers["www-authenticate"] = "Bearer"
        return JSONResponse(problem.document(request.scope["state"]["request"]), problem.status, headers=headers)

    def trouble_of(request: Request, error: Exception) -> Problem | None:
        """Trouble of storage as a reply. What only reads can simply be done again."""
        return unavailable(error, "" if request.method in ("GET", "HEAD") else UNKNOWN_OUTCOME)

    def log_trouble(request: Request, error: BaseException) -> None:
        # The words of this library say which disk is full; those of others may say anything.
        why = {"why": str(error)} if isinstance(error, ViameterError) else {}
        log(
            "unavailable",
            level=logging.ERROR,
            request=request.scope["state"]["request"],
            **why,
            **describe_error(error),
        )

    @app.exception_handler(Problem)
    async def on_problem(request: Request, error: Problem) -> Response:
        if error.__cause__ is not None:
            log_trouble(request, error.__cause__)
        return reply(request, error)

    @app.exception_handler(ViameterError)
    async def on_known(request: Request, error: ViameterError) -> Response:
        problem = trouble_of(request, error) or problem_of(error)
        if problem.status >= 500:
            log_trouble(request, error)
        return reply(request, problem)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(request: Request, error: RequestValidationError) -> Response:
        # Where it is wrong and how; not what was written, which may be long, or a secret in the wrong place.
        found = error.errors()[:20]
        said = [{"at": ".".join(str(part) for part in one["loc"]), "problem": one["msg"]} for one in found]
        if any(one["type"] == "json_invalid" for one in found):
            return reply(request, Problem(400, "malformed", "the body is not JSON"))
        if any(one["type"] == "model_attributes_type" and len(one["loc"]) == 1 for one in found):
            wanted = "the body is to be a JSON object, sent with the header Content-Type: application/json"
            return reply(request, Problem(422, "invalid", wanted))
        first = said[0] if said else {"at": "", "problem": ""}
        message = f"{first['at']}: {first['problem']}"
        return reply(request, Problem(422, "invalid", message, {"problems": said}))

    @app.exception_handler(Exception)
    async def on_unexpected(request: Request, error: Exception) -> Response:
        # Without this one the framework replies in its own words. It raises the error again, for the front to log.
        return reply(request, trouble_of(request, error) or Problem(500, "unexpected", UNEXPECTED))

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404:
            return reply(request, not_found())
        code = CODES.get(error.status_code, "malformed")
        problem = Problem(error.status_code, code, str(error.detail))
        answered = reply(request, problem)
        for name, value in (error.headers or {}).items():
            answered.headers[name] = value
        return answered
