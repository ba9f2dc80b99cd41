"""Services for tests: a real server in a thread, with people of every role and a client for each of them."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import shutil
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn

import viameter
from viameter.service.access import ALL, Grant, Role
from viameter.service.app import create_app
from viameter.service.config import Config, config_of
from viameter.service.service import Service, first_token, open_service
from viameter.service.watching import set_up_logging

API = "/api/v1"
PATIENCE = 60.0
"""Seconds for what should be long done; nothing waits for it unless a test is failing."""
WARDS = ["Cardiology", "Emergency", "Maternity", "Oncology", "Pediatrics"]
VISITS: dict[str, Any] = {
    "name": "visits",
    "source": "files",
    "table": "visits.csv",
    "unit": {"per": "patient", "rows": 5},
    "budget": {"zcdp": "1/2"},
    "types": {"age": "integer", "wait": "integer"},
    "title": "Visits to wards",
    "columns": {"ward": {"values": WARDS}, "wait": {"bounds": [0, 240], "description": "minutes"}},
}
WAGES: dict[str, Any] = {
    "name": "wages",
    "source": "files",
    "table": "wages.csv",
    "unit": {"row": True},
    "budget": {"pure": "1"},
    "types": {"wage": "integer"},
}
QUESTION: dict[str, Any] = {
    "group_by": "ward",
    "keys": ["Cardiology", "Emergency"],
    "aggregates": {"n": {"count": True}, "wait": {"mean": "wait", "bounds": [0, 240]}},
    "spend": {"zcdp": "1/1000"},
}
"""One that "visits" can answer."""
WAGES_QUESTION: dict[str, Any] = {"aggregates": {"n": {"count": True}}, "spend": {"pure": "1/1000"}}
"""One that "wages" can answer."""
GENEROUS: dict[str, Any] = {
    "requests_per_minute": 1_000_000,
    "releases_per_minute": 1_000_000,
    "logins_per_minute": 1_000_000,
    "verify_seconds": 5,
}
"""Limits that no test meets by accident."""
PEOPLE: dict[str, tuple[Grant, ...]] = {
    "only-admin": (Grant(Role.ADMIN),),
    "custodian-visits": (Grant(Role.CUSTODIAN, "visits"),),
    "custodian-all": (Grant(Role.CUSTODIAN, ALL),),
    "analyst-visits": (Grant(Role.ANALYST, "visits"),),
    "analyst-wages": (Grant(Role.ANALYST, "wages"),),
    "analyst-all": (Grant(Role.ANALYST, ALL),),
    "auditor-visits": (Grant(Role.AUDITOR, "visits"),),
    "auditor-all": (Grant(Role.AUDITOR, ALL),),
    "nobody": (),
    "shut-out": (Grant(Role.ADMIN), Grant(Role.CUSTODIAN), Grant(Role.ANALYST), Grant(Role.AUDITOR)),
    "expired": (Grant(Role.ADMIN), Grant(Role.CUSTODIAN), Grant(Role.ANALYST), Grant(Role.AUDITOR)),
    "revoked": (Grant(Role.ADMIN), Grant(Role.CUSTODIAN), Grant(Role.ANALYST), Grant(Role.AUDITOR)),
}
"""Beside "admin", who is the first person and may do all; the last three have every role and a worthless token."""
LOCKED_OUT = ("shut-out", "expired", "revoked")


class _Streams:
    """A stream to all logs that are being kept: loggers are those of the process, whichever service logs."""

    def __init__(self) -> None:
        self.open: list[io.StringIO] = []

    def write(self, text: str) -> int:
        for stream in list(self.open):
            stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""


_STREAMS = _Streams()
_LOGGERS = ("viameter.service", "uvicorn", "uvicorn.error", "uvicorn.access")


@contextlib.contextmanager
def keeping_logs() -> Iterator[io.StringIO]:
    """What is logged meanwhile, as `set_up_logging` writes it, and what anything else logs too."""
    kept = io.StringIO()
    before = [(one, list(one.handlers), one.propagate, one.level) for one in map(logging.getLogger, _LOGGERS)]
    _STREAMS.open.append(kept)
    set_up_logging(_STREAMS)  # type: ignore[arg-type]
    others = logging.StreamHandler(_STREAMS)
    logging.getLogger().addHandler(others)
    try:
        yield kept
    finally:
        logging.getLogger().removeHandler(others)
        _STREAMS.open.remove(kept)
        for logger, handlers, propagate, level in before:
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)


@dataclass
class Running:
    """A service that runs: where, who there is, and what it logs."""

    service: Service
    app: Any
    url: str
    logs: io.StringIO
    tokens: dict[str, str] = field(default_factory=dict, repr=False)
    _clients: dict[str, httpx.Client] = field(default_factory=dict, repr=False)
    _making: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def folder(self) -> Path:
        """Where the files of its source are."""
        found = self.service.config.sources["files"].folder
        assert found is not None
        return Path(found)

    def client(self, person: str = "") -> httpx.Client:
        """A client with the token of a person; of nobody, without one. It is closed with the service."""
        with self._making:  # tests ask in threads
            if person not in self._clients:
                headers = {"authorization": f"Bearer {self.tokens[person]}"} if person else {}
                self._clients[person] = httpx.Client(
                    base_url=self.url, headers=headers, verify=False, trust_env=False, timeout=PATIENCE
                )
            return self._clients[person]

    def api(self, person: str, method: str, path: str, **options: Any) -> httpx.Response:
        """A request to the API: `running.api("nobody", "GET", "/me")`."""
        return self.client(person).request(method, API + path, **options)

    def ask(
        self, person: str, dataset: str = "visits", question: Mapping[str, Any] | None = None, **headers: str
    ) -> httpx.Response:
        """A release: `running.ask("analyst-visits", key="k1", prefer="wait=1")`."""
        named = {{"key": "idempotency-key"}.get(name, name): value for name, value in headers.items()}
        chosen = question or (QUESTION if dataset == "visits" else WAGES_QUESTION)
        return self.api(person, "POST", f"/datasets/{dataset}/releases", json=chosen, headers=named)

    def spent(self, scope: str = "visits") -> Any:
        """What was spent of a budget."""
        return self.service.ledger.scope(scope).spent

    def log_text(self) -> str:
        """All that was logged."""
        return self.logs.getvalue()

    def log_lines(self) -> list[dict[str, Any]]:
        """All that was logged, read."""
        return [json.loads(line) for line in self.log_text().splitlines()]

    def lines_of(self, request: str) -> list[dict[str, Any]]:
        """What was logged of a request by its number; it is logged after the reply was sent."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = [line for line in self.log_lines() if line.get("request") == request]
            if found:
                return found
            time.sleep(0.005)
        return []

    def close_clients(self) -> None:
        """Close the connections of all clients."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()


@contextlib.contextmanager
def service_in_thread(config: Config) -> Iterator[Running]:
    """Open a service and serve it on a port of its own; close all of it in the end."""
    with keeping_logs() as logs:
        service = open_service(config)
        try:
            app = create_app(service)
            with listening(app, prefix=config.server.prefix) as url:
                running = Running(service, app, url, logs)
                try:
                    yield running
                finally:
                    running.close_clients()
        finally:
            service.close()


@contextlib.contextmanager
def listening(app: Any, *, prefix: str = "") -> Iterator[str]:
    """Serve an ASGI application by uvicorn in a thread; its URL."""
    # The protocol is named: else asyncio does not know it for TCP, and small replies wait for more to send.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    settings = uvicorn.Config(app, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=5)
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        until = time.monotonic() + PATIENCE
        while not server.started:
            assert thread.is_alive() and time.monotonic() < until, "the server did not start"
            time.sleep(0.005)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}{prefix}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listener.close()
        assert not thread.is_alive(), f"the server did not stop: {_where(thread)}"


def _where(thread: threading.Thread) -> str:
    """What a thread is doing, and all others."""
    frames = {one.name: sys._current_frames().get(one.ident or 0) for one in [thread, *threading.enumerate()]}
    return "\n".join(f"{name}:\n{''.join(traceback.format_stack(frame))}" for name, frame in frames.items())


def make_folder(folder: Path) -> None:
    """The files of the source "files"."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(viameter.__file__).parent / "cli" / "data" / "visits.csv", folder / "visits.csv")
    rows = [f"w{number},{2000 + 37 * number % 1000},{'NS'[number % 2]}" for number in range(60)]
    (folder / "wages.csv").write_text("\n".join(["worker,wage,city", *rows]) + "\n")


def make_config(folder: Path, *, datasets: list[dict[str, Any]] | None = None, **sections: Any) -> Config:
    """The configuration of a service in a folder: sections by name, on top of generous limits."""
    document = {
        "sources": {"files": {"folder": "data"}},
        "dataset": [VISITS, WAGES] if datasets is None else datasets,
        **sections,
        "limits": {**GENEROUS, **sections.get("limits", {})},
    }
    return config_of(document, folder=folder)


def add_people(running: Running) -> None:
    """People of every role, with a token each."""
    state = running.service.state
    first = first_token(state, days=1)
    assert first is not None
    running.tokens["admin"] = first
    for name, grants in PEOPLE.items():
        state.add_person(name, grants, by="admin")
        secret, made = state.add_token(name, label="for tests", days=-1 if name == "expired" else 1, by="admin")
        running.tokens[name] = secret
        if name == "revoked":
            assert state.revoke(name, made.id, by="admin")
    state.set_active("shut-out", False, by="admin")


@contextlib.contextmanager
def running_in(folder: Path, *, datasets: list[dict[str, Any]] | None = None, **sections: Any) -> Iterator[Running]:
    """A service in a folder with "visits", "wages" and people of every role."""
    make_folder(folder / "data")
    with service_in_thread(make_config(folder, datasets=datasets, **sections)) as running:
        add_people(running)
        yield running
