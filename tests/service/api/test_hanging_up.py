"""Clients that hang up: logged as such, and not as an error; their questions go on, and are found by their keys."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.service.serving import API, PATIENCE, QUESTION, Running, cookie_of

from viameter.service.api.needing import COOKIE
from viameter.service.state import State

RELEASES = f"{API}/datasets/visits/releases"


def connect(running: Running) -> socket.socket:
    """A connection of somebody who may hang up at any time."""
    place = urlsplit(running.url)
    return socket.create_connection((place.hostname or "", place.port or 0), timeout=PATIENCE)


def head(running: Running, path: str, length: int, **headers: str) -> bytes:
    """The head of a request whose body has so many bytes."""
    token = running.tokens["analyst-visits"]
    said = {"Host": "x", "Authorization": f"Bearer {token}", "Content-Length": str(length), **headers}
    return f"POST {path} HTTP/1.1\r\n".encode() + b"".join(f"{k}: {v}\r\n".encode() for k, v in said.items()) + b"\r\n"


def line_of(running: Running, route: str, since: int) -> dict[str, Any]:
    """The line of the log of a request to a route."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        for line in running.log_lines()[since:]:
            if (line["event"], line.get("route")) == ("request", route):
                return line
        time.sleep(0.005)
    raise AssertionError(f"no request to {route} was logged")


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Holds questions up before they are charged: whether one is there, and what lets it go."""
    arrived, go = threading.Event(), threading.Event()
    remember: Callable[..., Any] = State.remember

    def held(*arguments: Any) -> Any:
        arrived.set()
        assert go.wait(PATIENCE)
        return remember(*arguments)

    monkeypatch.setattr(State, "remember", held)
    yield arrived, go
    go.set()


@pytest.mark.parametrize(
    ("path", "route", "kind"),
    [
        (RELEASES, "release", "application/json"),
        (f"{API}/datasets/visits/preview", "preview", "application/json"),
        ("/datasets/visits/release", "release_question", "application/x-www-form-urlencoded"),
        ("/login", "sign_in", "application/x-www-form-urlencoded"),
    ],
)
def test_whoever_hangs_up_while_sending_is_no_error(running: Running, path: str, route: str, kind: str) -> None:
    since = len(running.log_lines())
    cookie = f"{COOKIE}={cookie_of(running, 'analyst-visits')}"
    with connect(running) as client:
        client.sendall(head(running, path, 1000, **{"Content-Type": kind, "Cookie": cookie}) + b'{"aggregates"')
    line = line_of(running, route, since)
    assert (line["status"], line["code"], line["level"]) == (499, "client_gone", "info")
    assert "error" not in line


def test_a_question_goes_on_when_nobody_waits_for_it_and_is_found_by_its_key(
    running: Running, gate: tuple[threading.Event, threading.Event]
) -> None:
    arrived, go = gate
    since, before = len(running.log_lines()), running.spent()
    body = json.dumps(QUESTION).encode()
    with connect(running) as client:
        headers = {"Content-Type": "application/json", "Idempotency-Key": "hung-up"}
        client.sendall(head(running, RELEASES, len(body), **headers) + body)
        assert arrived.wait(PATIENCE)
    for _ in range(3):  # what happened before them was seen by the server when these are answered
        assert running.client().get("/healthz").status_code == 200
    go.set()
    line = line_of(running, "release", since)
    assert (line["status"], line["code"], line["level"]) == (499, "client_gone", "info")
    looked = running.api("analyst-visits", "GET", "/datasets/visits/releases/hung-up").json()
    assert looked["state"] == "released" and looked["answer"]
    spent = running.spent()
    assert spent != before
    again = running.ask("analyst-visits", key="hung-up").json()
    assert again["replayed"] and again["answer"] == looked["answer"]
    assert running.spent() == spent


def test_whoever_stays_is_answered_and_logged_as_before(running: Running) -> None:
    since = len(running.log_lines())
    assert running.ask("analyst-visits").status_code == 200
    assert running.client("analyst-visits").get(f"{API}/me").status_code == 200
    assert running.client("admin").delete(f"{API}/me/tokens/{'0' * 24}").status_code == 404
    found = {route: line_of(running, route, since) for route in ("release", "show_me", "revoke_my_token")}
    assert {route: line["status"] for route, line in found.items()} == {
        "release": 200,
        "show_me": 200,
        "revoke_my_token": 404,
    }
    assert not any("code" in line for line in found.values())


def test_a_mistake_is_an_error_although_nobody_waits(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a fault of the service would hide behind impatient clients."""
    arrived, go = threading.Event(), threading.Event()

    def broken(*_: Any) -> Any:
        arrived.set()
        assert go.wait(PATIENCE)
        raise RuntimeError("CANARY")

    monkeypatch.setattr(type(running.service.catalog), "names", broken)
    since = len(running.log_lines())
    with connect(running) as client:
        token = running.tokens["analyst-visits"]
        client.sendall(f"GET {API}/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        assert arrived.wait(PATIENCE)
    for _ in range(3):
        assert running.client().get("/healthz").status_code == 200
    go.set()
    line = line_of(running, "show_me", since)
    assert (line["status"], line["level"], line["error"]) == (499, "error", "RuntimeError")
