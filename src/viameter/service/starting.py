"""Starting: open a service, say where it is, serve it until it is told to stop, and close it in order."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvicorn

from viameter.errors import ViameterError
from viameter.service.app import create_app
from viameter.service.checking_config import Finding, check_config
from viameter.service.config import Config
from viameter.service.service import ADMIN, Service, first_token, open_service
from viameter.service.state import State, Token
from viameter.service.token_files import place_beside, remove_used, write_token
from viameter.service.watching import log, set_up_logging

Say = Callable[[str], None]
BACKLOG = 2048
"""How many connections may wait to be taken: as many as the server asks for."""
LATE = 3.0
"""Seconds after the time to stop in which files are closed."""


SWITCH_SECONDS = 0.0005
"""Seconds after which a thread that computes lets others go on. A plain count changes threads some thirty times, and
waits that long for each of those that compute: at Python's own 0.005, four previews of another dataset delay it by most
of a second.
"""


class CannotStart(ViameterError):
    """A service that cannot be started as it is configured."""


def serve(config: Config, say: Say) -> None:
    """Serve until a signal says to stop.

    The first time, a token for the first person is handed over, once: on a terminal, else in a file beside the state.
    """
    set_up_logging()
    sys.setswitchinterval(SWITCH_SECONDS)
    with private_files(), listening(config) as socket_:
        service = open_service(config)
        server = _server(service)
        with Stopping(server, config.server.shutdown_seconds) as stopping:
            try:
                _announce(service, address_of(config, socket_), say)
                server.run(sockets=[socket_])
                tell_manager("STOPPING=1")
                say("stopping: questions in flight are finished, or stay charged; a second signal ends it at once")
            finally:
                left = service.close(seconds=stopping.seconds_left)
            if left:
                say("stopped before all questions were done: those stay charged, and whoever asks again learns it")
                sys.stdout.flush()
                # Threads that wait for an engine would hold the process up.
                os._exit(1)


class Stopping:
    """What signals do: the first one sets the one deadline of all that is waited for, a second one ends the process.

    What is charged stays charged in either case: the ledger and the tables are as after `kill -9`.
    """

    def __init__(self, server: uvicorn.Server, seconds: float) -> None:
        self._server, self._seconds = server, seconds
        self._until: float | None = None
        self._told, self._done = threading.Event(), threading.Event()
        self._late = threading.Thread(target=self._end_late, name="viameter-stopping", daemon=True)

    def __enter__(self) -> Stopping:
        # Before a signal comes: a handler may interrupt whatever holds the locks that a thread is started with.
        self._late.start()
        self._before = {one: signal.signal(one, self._on_signal) for one in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)
        self._done.set()
        self._told.set()
        self._late.join()

    @property
    def seconds_left(self) -> float:
        """How long may still be waited for what runs."""
        return self._seconds if self._until is None else max(self._until - time.monotonic(), 0.0)

    def _on_signal(self, *_: object) -> None:
        if self._until is not None:
            _end("a second signal")
        self._until = time.monotonic() + self._seconds
        self._server.should_exit = True
        self._told.set()

    def _end_late(self) -> None:
        """End the process if it is not done in time: a thread that hangs is waited for by asyncio, without end."""
        self._told.wait()
        if not self._done.wait(self._seconds + LATE):
            _end("the time to stop is over")


def _end(why: str) -> None:
    # Past all buffers and locks, which this may have interrupted.
    line = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": "error", "event": "ended", "why": why}
    os.write(2, json.dumps(line).encode() + b"\n")
    os._exit(1)


@contextmanager
def private_files() -> Iterator[None]:
    """Files that are made meanwhile are for whoever runs this alone: they hold answers, and hashes of tokens."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def serve_and_check(config: Config, say: Say, *, sign_in: bool = False) -> None:
    """See whether a service of this configuration would start, without making, registering or changing anything.

    With `sign_in` it is served just long enough to see that the page answers to a first token, which is for services
    that nobody will start again.
    """
    set_up_logging(level=logging.WARNING)
    if not sign_in:
        findings = check_config(config)
        try:
            with listening(config):
                findings.append(
                    Finding("ok", "[server]", f"it can listen at {config.server.host}:{config.server.port}")
                )
        except CannotStart as problem:
            findings.append(Finding("differs", "[server]", str(problem)))  # the service itself may be running
        for finding in findings:
            say(str(finding))
        if any(finding.kind == "wrong" for finding in findings):
            raise CannotStart("a service of this configuration would not start, or not with all that it names")
        return
    with private_files(), listening(config) as socket_, opened(config) as service:
        token = first_token(service.state, days=1)
        with running(service, socket_) as address:
            if "<form" not in _fetch(f"{address}/login") or _fetch(f"{address}/readyz") != "ok\n":
                raise CannotStart(f"the page at {address} does not show what it should")
            if token is not None and not json.loads(_fetch(f"{address}/api/v1/datasets", token=token))["datasets"]:
                raise CannotStart(f"the service at {address} has no datasets")
        say(f"the page at {address}/ answers, with the datasets {', '.join(service.catalog.names())}; it was stopped")


def new_admin_token(config: Config, to: Path | None = None, *, shows: bool = False) -> str | Path:
    """A new token for the first person; the old ones are worthless. Works beside a running service.

    It is returned if it may be shown; else it goes to a file, whose place is returned.
    """
    from viameter import ledger as ledgers

    with ledgers.open(config.storage.ledger, create=False, read_only=True) as book:
        state = State(config.storage.state, ledger=book.id)
    try:
        made = _hand_over(state, config, to, shows=shows, again=True)
    finally:
        state.close()
    assert made is not None
    return made


def _hand_over(
    state: State, config: Config, to: Path | None = None, *, shows: bool, again: bool = False
) -> str | Path | None:
    """A token for the first person, if there is to be one: itself, or the file that it was written to."""

    def make() -> tuple[str, Token] | None:
        secret = first_token(state, days=config.limits.token_days, again=again)
        return None if secret is None else (secret, next(one for one in state.tokens(ADMIN) if one.revoked is None))

    if shows and to is None:
        made = make()
        return None if made is None else made[0]
    place = place_beside(config.storage) if to is None else to
    return place if write_token(place, make, replaces=to is None) else None


@contextmanager
def listening(config: Config) -> Iterator[socket.socket]:
    """The socket that it listens at, bound before anything else is done."""
    server = config.server
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    # The protocol is named: else asyncio does not know it for TCP, and small replies wait for more to send.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((server.host, server.port))
        # Two can be bound to the same port, but not listen at it. Whoever comes before all is ready waits for it.
        made.listen(BACKLOG)
    except OSError as problem:
        made.close()
        raise CannotStart(
            f"cannot listen at {server.host}:{server.port} ({problem.strerror}): is another service running there? "
            "Choose another port"
        ) from None
    try:
        yield made
    finally:
        made.close()


@contextmanager
def opened(config: Config) -> Iterator[Service]:
    """A service, closed at the end whatever happens."""
    service = open_service(config)
    try:
        yield service
    finally:
        service.close()


@contextmanager
def running(service: Service, socket_: socket.socket) -> Iterator[str]:
    """A service in a thread of this process, by its address; stopped at the end."""
    server = _server(service)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket_]}, name="viameter-server", daemon=True)
    thread.start()
    try:
        until = time.monotonic() + 60
        while not server.started:
            if not thread.is_alive() or time.monotonic() > until:
                raise CannotStart("the server did not start")
            time.sleep(0.01)
        yield address_of(service.config, socket_)
    finally:
        server.should_exit = True
        thread.join()


def address_of(config: Config, socket_: socket.socket) -> str:
    """Where a browser finds the page, without a / at its end."""
    host, port = socket_.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}{config.server.prefix}"


class _Server(uvicorn.Server):
    """A server that leaves signals to `Stopping`, from before it starts until all is closed."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture none."""
        yield


def _server(service: Service) -> uvicorn.Server:
    settings = service.config.server
    return _Server(
        uvicorn.Config(
            create_app(service),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=settings.trusted_proxies or "",
            timeout_graceful_shutdown=settings.shutdown_seconds,
            http="h11",  # the other one has no limit on headers, and anybody can send those
            h11_max_incomplete_event_size=64 * 1024,
            ws="none",
        )
    )


def _announce(service: Service, address: str, say: Say) -> None:
    config = service.config
    place = place_beside(config.storage)
    remove_used(place)
    is_new = service.state.person(ADMIN) is None
    # What is no terminal is collected: by a journal, by whoever runs containers.
    token = _hand_over(service.state, config, shows=sys.stdout.isatty()) if is_new else None
    say(f"viameter serves {address}/")
    say(f"  datasets: {', '.join(service.catalog.names()) or 'none yet; register one on the page'}")
    say(f"  ledger:   {service.ledger.place}")
    if isinstance(token, str):
        say(f"  sign in as admin with this token, which is shown this once:\n\n    {token}\n")
    elif place.exists():
        say(f"  sign in as admin with the token in {place}, which is removed when it is first used")
    else:
        say("  sign in with your token; an admin who lost theirs gets a new one by --new-admin-token")
    if config.server.host not in ("127.0.0.1", "::1", "localhost") and not config.server.https:
        say("  warning: others can reach this address, and tokens cross the network in the clear; see [server] https")
    say("  stop it with Ctrl-C")
    log("started", address=address)
    tell_manager("READY=1")


def tell_manager(what: str) -> None:
    """Tell what started the process how it is, if it asks for that as systemd does (Type=notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
            made.sendto(what.encode(), f"\0{address[1:]}" if address.startswith("@") else address)


def _fetch(url: str, *, token: str | None = None) -> str:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as reply:
            found: Any = reply.read().decode("utf-8")
    except urllib.error.URLError as problem:
        raise CannotStart(f"{url} does not answer ({type(problem).__name__})") from None
    return str(found)
