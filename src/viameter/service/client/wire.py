"""Wire: requests to a service, with the token in a header and nowhere else; what comes back is read, or an error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from viameter.errors import ParameterError, ServiceError, ViameterError
from viameter.service.client.refusals import error_of, may_go_well_later
from viameter.service.client.waiting import Patience, Progress, Time, Waiting

if TYPE_CHECKING:
    import httpx

API = "/api/v1"
PATIENCE = 300.0
"""Seconds for which a release is tried again while the service does not answer."""
SHORT_PATIENCE = 10.0
"""The same for what can be asked again by hand: a preview, a budget."""
HEADER = re.compile(r"[\x21-\x7e]{1,1000}")
"""What may stand in a header as one word."""
T = TypeVar("T")


class Token:
    """A token, which shows itself to the service and to nobody else."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        if not HEADER.fullmatch(secret):
            # Not shown: it may be a token with something around it.
            raise ParameterError("token: expected one word of ASCII letters, digits and signs, as it was given out")
        self._secret = secret

    def sign(self, request: httpx.Request) -> httpx.Request:
        """Put it into the header of a request."""
        request.headers["Authorization"] = f"Bearer {self._secret}"
        return request

    def __repr__(self) -> str:
        return "<token>"

    def __reduce__(self) -> NoReturn:
        raise ParameterError("a token is not copied or stored: connect again where it is needed")


class Again(Exception):
    """A request that may be sent again; if it is not, the error that it is."""

    def __init__(self, error: ViameterError, least: float = 0.0) -> None:
        super().__init__()
        self.error, self.least = error, least


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    text: str
    document: Any


@dataclass(slots=True, repr=False)
class Wire:
    """The way to one service, as one person."""

    client: httpx.Client
    address: str
    """The service's, without a slash at its end."""
    patience: float = PATIENCE
    progress: Progress | None = None
    time: Time = field(default_factory=Time)
    closed: bool = False

    def close(self) -> None:
        """Let go of all connections."""
        self.closed = True
        self.client.close()

    def get(self, path: str, **query: str | int) -> Any:
        """What stands under a path."""
        return self._soon(lambda: self.once("GET", path, query=query)).document

    def text(self, path: str) -> str:
        """The same as it was written."""
        return self._soon(lambda: self.once("GET", path)).text

    def ask(self, path: str, document: Mapping[str, Any]) -> Any:
        """The reply to a question that changes nothing."""
        body = written(document)
        return self._soon(lambda: self.once("POST", path, body=body)).document

    def _soon(self, send: Callable[[], Reply]) -> Reply:
        return insist(send, Patience(min(self.patience, SHORT_PATIENCE), self.time))

    def once(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> Reply:
        """Send a request once: what came back, `Again` where that may go well later, or the error that it is."""
        import httpx

        if self.closed:
            raise ParameterError("this connection is closed: vm.connect(...) makes another one")
        given = dict(headers or {}) | ({} if body is None else {"Content-Type": "application/json"})
        failed: ViameterError | Again
        try:
            response = self.client.request(
                method, f"{self.address}{API}{path}", params=dict(query or {}) or None, content=body, headers=given
            )
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError):
            failed = ServiceError("the request cannot be sent: look at the address", code="unreachable")
        except httpx.TransportError as problem:
            failed = _lost(self.address, problem)
        except httpx.RequestError:
            failed = ServiceError("the reply cannot be decoded", code="not_understood")
        else:
            return _read(response, key)
        # Raised here, where no exception of the library below hangs on to it with the request and its headers.
        raise failed

    def __repr__(self) -> str:
        return f"<wire to {self.address}>"


def insist(send: Callable[[], T], patience: Patience, waiting: Waiting | None = None) -> T:
    """Send something until it is answered, or patience ends; then the error of the last try."""
    while True:
        try:
            found = send()
        except Again as again:
            error, least = again.error, again.least
        else:
            patience.renew()
            return found
        if waiting is not None:
            waiting.tell("the service does not answer" if _is_lost(error) else "the service is busy")
        if not patience.wait(least=least):
            raise error


def written(document: Mapping[str, Any]) -> bytes:
    """A document as it is sent: the same bytes however often."""
    try:
        return json.dumps(document, allow_nan=False).encode("ascii")
    except (TypeError, ValueError):
        raise ParameterError("the question has a value that cannot be sent: numbers must be finite") from None


def _lost(address: str, problem: Exception) -> ViameterError | Again:
    import httpx

    if "CERTIFICATE_VERIFY_FAILED" in str(problem):
        return ServiceError(
            f"{address}: its certificate is not trusted here, so that nothing was sent; SSL_CERT_FILE names others",
            code="untrusted",
        )
    what = "took too long to answer" if isinstance(problem, httpx.TimeoutException) else "cannot be reached"
    return Again(ServiceError(f"{address} {what}", code="unreachable"))


def _is_lost(error: ViameterError) -> bool:
    return isinstance(error, ServiceError) and error.status is None


def _read(response: httpx.Response, key: str | None) -> Reply:
    # What is no object of JSON is no reply of a service, and may hold anything.
    document: Any = None
    with suppress(ValueError, RecursionError):
        document = json.loads(response.content)
    status = response.status_code
    if status in (200, 201, 202) and isinstance(document, dict):
        return Reply(status, response.text, document)
    error = error_of(status, document, key=key)
    if may_go_well_later(status, document):
        raise Again(error, _retry_after(response.headers.get("retry-after", "")))
    raise error


def _retry_after(given: str) -> float:
    """Seconds that a service asks for; a date is taken for a short while, since clocks differ."""
    if re.fullmatch(r"[0-9]{1,6}", given.strip()):
        return float(given)
    return 1.0 if given else 0.0
