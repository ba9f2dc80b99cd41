"""What every request passes: a number, the prefix, limits on its body, headers that protect, a line in the log.

It stands around everything else, so that nothing that goes wrong within reaches the server, which would log its text.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.requests import ClientDisconnect

from viameter.service.config import Config
from viameter.service.problems import UNEXPECTED, Problem, not_found
from viameter.service.secrets import fresh_id
from viameter.service.watching import Metrics, describe_error, log

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)

CLIENT_GONE = 499
"""What is logged where nobody is there to read a reply, as nginx has it; a question that was asked goes on."""
STOPPED = (
    "the service was stopped before this was done; a question that was charged stays charged: "
    "look under its key, or ask again under the same key, which costs nothing more"
)


class TooLarge(Exception):
    """A body that is longer than allowed."""


class Body:
    """The body of a request, as it comes, up to a limit; and whether whoever sends it hung up."""

    def __init__(self, receive: Receive, scope: Scope, limit: int) -> None:
        self._receive, self.limit = receive, limit
        self.is_too_large = self.is_client_gone = False
        said = [value for name, value in scope["headers"] if name == b"content-length"]
        self._seen = limit + 1 if any(value.isdigit() and int(value[:20]) > limit for value in said) else 0
        has_more = any(name == b"transfer-encoding" for name, _ in scope["headers"])
        self._has_all = not has_more and all(value == b"0" for value in said)

    async def look_for_client(self) -> None:
        """See whether the client hung up, as long as that can be told: until a reply is complete."""
        while self._has_all and not self.is_client_gone:  # else the next message would be a part of the body
            waiting = asyncio.ensure_future(self._receive())
            await asyncio.sleep(0)
            if not waiting.done():
                waiting.cancel()
                return
            self.is_client_gone = waiting.result()["type"] == "http.disconnect"

    async def receive(self) -> MutableMapping[str, Any]:
        """The next part; TooLarge once there were too many."""
        message = await self._receive()
        self.is_client_gone |= message["type"] == "http.disconnect" and not self._has_all
        self._has_all |= not message.get("more_body", False)
        self._seen += len(message.get("body", b""))
        if self._seen > self.limit:
            self.is_too_large = True
            raise TooLarge
        return message


class Front:
    """The outermost layer."""

    def __init__(self, app: Any, config: Config, metrics: Metrics) -> None:
        self.app, self.config, self.metrics = app, config, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope = self._without_prefix(scope)
        number, began = fresh_id(), time.perf_counter()
        scope["state"] = {**scope.get("state", {}), "request": number}
        sent: dict[str, Any] = {"status": None}
        body = Body(receive, scope, self.config.limits.body_bytes)

        async def telling(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                sent["status"] = message["status"]
                message["headers"] = self._headers(scope, message.get("headers", ()), number)
            await send(message)

        async def replying(message: MutableMapping[str, Any]) -> None:
            # What the framework makes of a body that was cut off is not what is said of it.
            if not body.is_too_large:
                if message["type"] == "http.response.start":
                    await body.look_for_client()
                await telling(message)

        problem: Problem | None = None
        error: BaseException | None = None
        try:
            if "\0" in scope["path"]:  # no name has one, and databases refuse it
                problem = not_found()
            else:
                await self.app(scope, body.receive, replying)
        except asyncio.CancelledError:
            # The server stops, and waited for this one as long as it may. The process goes on to its end by itself.
            problem = Problem(503, "shutting_down", STOPPED, retry_after=10)
        except ClientDisconnect:
            body.is_client_gone = True
        except Exception as raised:
            if not body.is_too_large:
                error, problem = raised, Problem(500, "unexpected", UNEXPECTED)
        if body.is_too_large:
            problem = Problem(413, "too_large", f"the body of a request has at most {body.limit} bytes")
        if problem is not None and sent["status"] is None:
            await _send_problem(problem, number, telling)
        status = CLIENT_GONE if body.is_client_gone else sent["status"]
        self._log(scope, status, number, time.perf_counter() - began, error)

    def _without_prefix(self, scope: Scope) -> Scope:
        """Proxies may take the prefix off a path, or leave it on; either is understood."""
        prefix = self.config.server.prefix
        path = scope["path"]
        if prefix and (path == prefix or path.startswith(prefix + "/")):
            path = path[len(prefix) :] or "/"
        return {**scope, "path": path, "raw_path": None, "root_path": ""}

    def _headers(self, scope: Scope, given: Any, number: str) -> list[tuple[bytes, bytes]]:
        found = [*given, *HEADERS, (b"x-request-id", number.encode())]
        if not any(name == b"cache-control" for name, _ in found):
            found.append((b"cache-control", b"no-store"))
        if self.config.server.https:
            found.append((b"strict-transport-security", b"max-age=31536000"))
        return found

    def _log(self, scope: Scope, status: int | None, number: str, seconds: float, error: BaseException | None) -> None:
        # The name of what answers, and not what somebody wrote into the path.
        route = getattr(scope.get("endpoint"), "__name__", "(none)")
        person = scope["state"].get("person")
        self.metrics.requests.labels(_method(scope), route, str(status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        level = logging.ERROR if error is not None else logging.INFO
        more = {} if error is None else describe_error(error)
        if status == CLIENT_GONE:
            more["code"] = "client_gone"
        log(
            "request",
            level=level,
            request=number,
            method=_method(scope),
            route=route,
            status=status,
            ms=round(seconds * 1000, 1),
            person=person,
            **more,
        )


def _method(scope: Scope) -> str:
    known = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    return scope["method"] if scope["method"] in known else "(other)"


async def _send_problem(problem: Problem, number: str, send: Send) -> None:
    body = json.dumps(problem.document(number)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if problem.retry_after is not None:
        headers.append((b"retry-after", str(problem.retry_after).encode()))
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
