"""Lines to a service that go wrong: a proxy that cuts connections, replies made by hand, and a clock of its own."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from tests.service.serving import PATIENCE

import viameter as vm
from viameter.service.client import Connection
from viameter.service.client.waiting import Progress, Time
from viameter.service.client.wire import Token, Wire

ADDRESS = "https://service.example"
TOKEN = "vmt_" + "s3cret" * 7


@dataclass
class MadeTime:
    """Time that passes when somebody sleeps, and only then."""

    at: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds

    def time(self) -> Time:
        return Time(now=lambda: self.at, sleep=self.sleep)


@dataclass
class Played:
    """A service that is played: replies by hand, and what it was asked."""

    answer: Callable[[httpx.Request], httpx.Response]
    asked: list[httpx.Request] = field(default_factory=list)
    time: MadeTime = field(default_factory=MadeTime)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path == "/api/v1/me":
            return httpx.Response(200, json={"name": "ann", "grants": [], "datasets": ["visits"]})
        if path == "/api/v1/datasets/visits":
            return httpx.Response(200, json=DATASET)
        if path == "/api/v1/datasets/visits/schema":
            return httpx.Response(200, json=SCHEMA)
        self.asked.append(request)
        return self.answer(request)

    def connect(self, *, patience: float = 300.0, progress: Progress | None = None) -> Connection:
        """A connection to it."""
        client = httpx.Client(transport=httpx.MockTransport(self), auth=Token(TOKEN).sign)
        return Connection(Wire(client, ADDRESS, patience, progress, self.time.time()))

    @property
    def keys(self) -> set[str]:
        """The keys that releases came under."""
        return {one.headers["idempotency-key"] for one in self.asked if one.method == "POST"}


def playing(*replies: Any) -> Played:
    """A service that gives these replies in turn: responses, errors, or functions of the request."""
    left = iter(replies)

    def answer(request: httpx.Request) -> httpx.Response:
        reply = next(left)
        if isinstance(reply, Exception):
            raise reply
        found: httpx.Response = reply(request) if callable(reply) else reply
        return found

    return Played(answer)


def loss(rho: str) -> dict[str, Any]:
    """A loss as replies write it."""
    return {**vm.zcdp(rho).to_json(), "text": f"zcdp({rho})"}


DATASET = {
    "name": "visits", "title": "Visits", "description": "", "measure": "ZCDP", "registered": "", "roles": [],
    "unit": {"text": "per('patient', rows=5)", "name": "patient", "granularity": "user()"},
    "budget": loss("1/2"), "spent": loss("0"), "left": loss("1/2"),
}  # fmt: skip
SCHEMA = {
    "columns": [
        {"name": "ward", "type": "TEXT"},
        {"name": "wait", "type": "INTEGER", "lower": "0", "upper": "255"},
        {"name": "day", "type": "DATE"},
        {"name": "shape", "type": "POLYGON"},
    ],
    "unusable": ["blob"],
    "unit": "per('patient', rows=5)",
}
ANSWER: dict[str, Any] = {
    "keys": ["day"],
    "columns": ["day", "n", "n_lower", "n_upper", "w", "w_lower", "w_upper"],
    "rows": [["2024-05-01", 12, 9, 15, 2.5, None, 3.0], ["(other)", 4, 1, 7, None, -1.0, None]],
    "loss": loss("1/100"), "guarantee": "", "unit": "per('patient', rows=5)",
    "aggregates": [{"name": "n", "covers": "noise"}, {"name": "w", "covers": "noise and more"}],
    "alpha": "1/20", "notes": ["a note"],
}  # fmt: skip


def release(key: str, state: str = "released", **said: Any) -> dict[str, Any]:
    """What came of a question, as the service says it."""
    return {
        "key": key, "by": "ann", "dataset": "visits", "asked": "2024-05-02T10:00:00Z", "question": {"group_by": "day"},
        "state": state, "entry": 7, "replayed": False, "seconds": None,
        "answer": ANSWER if state == "released" else None, **said,
    }  # fmt: skip


def released(request: httpx.Request) -> httpx.Response:
    """The answer, under the key that was asked for."""
    key = request.headers.get("idempotency-key") or request.url.path.rpartition("/")[2]
    return httpx.Response(200, json=release(key))


def running(request: httpx.Request) -> httpx.Response:
    """Not done yet."""
    key = request.headers.get("idempotency-key") or request.url.path.rpartition("/")[2]
    status = 202 if request.method == "POST" else 200
    return httpx.Response(status, json=release(key, "running", entry=None))


def problem(status: int, code: str, message: str = "no", *, after: str | None = None, **details: Any) -> httpx.Response:
    """An error as the service says it."""
    said = {"error": {"code": code, "message": message, "request": "5f0c", "details": details}}
    return httpx.Response(status, json=said, headers={} if after is None else {"retry-after": after})


@dataclass
class Proxy:
    """Stands between a client and a service, and cuts connections of releases when it is told to."""

    port: int
    target: tuple[str, int]
    cut_before: int = 0
    """How many releases never reach the service."""
    cut_after: int = 0
    """How many releases reach it, and their replies are lost."""
    seen: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self, client: socket.socket) -> None:
        """One connection, request by request."""
        with client, socket.create_connection(self.target, timeout=PATIENCE) as service:
            while request := _message(client):
                is_release = request.startswith(b"POST") and b"/releases " in request.partition(b"\r\n")[0]
                if is_release:
                    self.seen.append(_header(request, b"idempotency-key"))
                if is_release and self.cut_before:
                    self.cut_before -= 1
                    return
                service.sendall(request)
                reply = _message(service)
                if is_release and self.cut_after:
                    self.cut_after -= 1
                    return
                client.sendall(reply)


@contextlib.contextmanager
def proxy_to(url: str) -> Iterator[Proxy]:
    """A proxy to a service."""
    found = httpx.URL(url)
    listener = socket.create_server(("127.0.0.1", 0))
    proxy = Proxy(listener.getsockname()[1], (found.host, found.port or 80))
    threads: list[threading.Thread] = []

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            client.settimeout(PATIENCE)
            threads.append(threading.Thread(target=proxy.serve, args=(client,), daemon=True))
            threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield proxy
    finally:
        # Closing does not wake whoever waits in accept.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in [accepting, *threads]:
            thread.join(PATIENCE)


def _message(stream: socket.socket) -> bytes:
    """One request or reply, which says how long it is; nothing if the other side has gone."""
    found = b""
    while b"\r\n\r\n" not in found:
        part = stream.recv(65536)
        if not part:
            return b""
        found += part
    head, _, body = found.partition(b"\r\n\r\n")
    length = int(_header(head, b"content-length") or 0)
    while len(body) < length:
        body += stream.recv(65536)
    return head + b"\r\n\r\n" + body


def _header(message: bytes, name: bytes) -> str:
    for line in message.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip().decode()
    return ""


def body_of(request: httpx.Request) -> Any:
    """What was sent."""
    return json.loads(request.content)
