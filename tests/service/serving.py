"""Services for tests: with people of every role, and a client for each of them that needs no socket.

What is the same for all services is made once in a process: the routes, and the files of a service with "visits",
"wages" and people, which are copied. Tokens are those of one service alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import json
import logging
import shutil
import socket
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn

import viameter
from viameter.service.access import ALL, Grant, Person, Role
from viameter.service.app import create_app
from viameter.service.asgi import Front
from viameter.service.config import Config, config_of
from viameter.service.secrets import fresh_token, hashed
from viameter.service.service import Service, first_token, open_service
from viameter.service.watching import set_up_logging
from viameter.tables.engines import ready

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
    "verify_seconds": 60,
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
FIRST_TABLES = Path(__file__).parent / "versions" / "first.db"
"""Tables as the first version wrote them; made once, and kept as it is."""


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


class InProcess(httpx.BaseTransport):
    """Hands requests to an application without a socket, and gives back what it replies."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One request; tests may send several at once from threads of theirs."""
        replying = asyncio.run_coroutine_threadsafe(self._reply(request, request.read()), _loop())
        return replying.result(PATIENCE)

    async def _reply(self, request: httpx.Request, body: bytes) -> httpx.Response:
        url, is_sent = request.url, asyncio.Event()
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": request.method,
            "scheme": url.scheme, "path": url.path, "raw_path": url.raw_path.partition(b"?")[0],
            "query_string": url.query, "root_path": "", "server": (url.host, url.port), "client": ("127.0.0.1", 50000),
            "headers": [(name.lower(), value) for name, value in request.headers.raw], "state": {},
        }  # fmt: skip
        parts = iter([{"type": "http.request", "body": body, "more_body": False}])
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            part = next(parts, None)
            if part is None:
                await is_sent.wait()
            return part or {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                is_sent.set()

        await self.app(scope, receive, send)
        start, *rest = sent
        assert start["type"] == "http.response.start" and is_sent.is_set()
        content = b"".join(message.get("body", b"") for message in rest)
        reply = httpx.Response(start["status"], headers=start["headers"], content=content)
        # Servers hold applications to what they said, except where there is no body.
        assert request.method == "HEAD" or int(reply.headers.get("content-length", 0)) == len(content), reply.headers
        return reply


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """Where applications run that need no server."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="applications", daemon=True).start()
    return loop


@dataclass
class Running:
    """A service that runs: who there is, and what it logs."""

    service: Service
    app: Any
    logs: io.StringIO
    closing: contextlib.ExitStack = field(repr=False)
    """What is to be closed with it."""
    tokens: dict[str, str] = field(default_factory=dict, repr=False)
    _clients: dict[str, httpx.Client] = field(default_factory=dict, repr=False)
    _making: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @functools.cached_property
    def url(self) -> str:
        """Where it listens, from now on: for those that need a socket."""
        return self.closing.enter_context(listening(self.app, prefix=self.service.config.server.prefix))

    def new_client(self, **options: Any) -> httpx.Client:
        """Somebody who sends requests, and closes the client when done; without a socket."""
        base = f"http://127.0.0.1:8000{self.service.config.server.prefix}"
        return httpx.Client(base_url=base, transport=InProcess(self.app), **options)

    @property
    def folder(self) -> Path:
        """Where the files of its source are."""
        found = self.service.config.sources["files"].value
        assert found is not None
        return Path(found)

    def client(self, person: str = "") -> httpx.Client:
        """A client with the token of a person; of nobody, without one. It is closed with the service."""
        with self._making:  # tests ask in threads
            if person not in self._clients:
                headers = {"authorization": f"Bearer {self.tokens[person]}"} if person else {}
                self._clients[person] = self.closing.enter_context(self.new_client(headers=headers))
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


def cookie_of(running: Running, person: str) -> str:
    """A cookie of somebody who signed in, also of those whose token became worthless after that."""
    number = running.service.state.tokens(person)[-1].id
    return running.service.state.sign_in(Person(person, frozenset(), number), hours=1)


def wait_until(is_so: Callable[[], Any], what: str) -> None:
    """Look again until it is so."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, what
        time.sleep(0.005)


@contextlib.contextmanager
def engine_is_busy(running: Running, dataset: str = "visits") -> Iterator[None]:
    """Have the engine of a dataset as a question does that is charged and runs."""
    with ready(running.service.catalog.opened(dataset).table.session.engine_tables):
        yield


@contextlib.contextmanager
def service_of(config: Config) -> Iterator[Running]:
    """Open a service and what stands around it; close all of it in the end."""
    with (
        keeping_logs() as logs,
        contextlib.closing(open_service(config)) as service,
        _app_of(service) as app,
        contextlib.ExitStack() as closing,
    ):
        yield Running(service, app, logs, closing)


_IDLE: dict[str, list[Any]] = {}
"""Applications by prefix, whose services were closed: the routes of one take longer to make than most tests."""


@contextlib.contextmanager
def _app_of(service: Service) -> Iterator[Any]:
    idle = _IDLE.setdefault(service.config.server.prefix, [])
    if idle:
        front = Front(idle.pop(), service.config, service.metrics)
        front.app.state.service = service
    else:
        front = create_app(service)
    yield front
    del front.app.state.service
    idle.append(front.app)


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


@dataclass(frozen=True)
class Ready:
    """The files of a service with its datasets and people, to be copied."""

    folder: Path
    files: dict[str, bytes]
    people: tuple[str, ...]

    @classmethod
    def of(cls, running: Running, folder: Path) -> Ready:
        """As a service has them now."""
        files = {}
        for name in ("ledger.db", "service.db"):
            with contextlib.closing(sqlite3.connect(folder / name)) as database:
                files[name] = database.serialize()
        files["ledger.db.witness"] = (folder / "ledger.db.witness").read_bytes()
        return cls(folder, files, tuple(running.tokens))

    def copy_to(self, folder: Path) -> dict[str, str]:
        """Another service, whose files are in another folder; the tokens that open it, and no other."""
        for name, content in self.files.items():
            (folder / name).touch(mode=0o600)
            (folder / name).write_bytes(content)
        tokens = {person: fresh_token() for person in self.people}
        with contextlib.closing(sqlite3.connect(folder / "service.db")) as database, database:
            database.execute("PRAGMA synchronous = OFF")
            places = (str(self.folder), str(folder))
            database.execute("UPDATE viameter_datasets SET place = replace(place, ?, ?)", places)
            for person, token in tokens.items():
                database.execute("UPDATE viameter_tokens SET hash = ? WHERE person = ?", (hashed(token), person))
        return tokens


_READY: list[Ready] = []
"""What a service without datasets or storage of its own begins with."""


@contextlib.contextmanager
def running_in(
    folder: Path, *, datasets: list[dict[str, Any]] | None = None, like: Ready | None = None, **sections: Any
) -> Iterator[Running]:
    """A service in a folder with "visits", "wages" and people of every role; or one `like` another was."""
    make_folder(folder / "data")
    is_usual = datasets is None and not {"sources", "storage"} & set(sections)
    ready = like or (_READY[0] if is_usual and _READY else None)
    tokens = {} if ready is None else ready.copy_to(folder)
    with service_of(make_config(folder, datasets=datasets, **sections)) as running:
        if tokens:
            running.tokens.update(tokens)
        else:
            add_people(running)
        if is_usual and not _READY:
            _READY.append(Ready.of(running, folder))
        yield running
