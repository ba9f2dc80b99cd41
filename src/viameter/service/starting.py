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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from viameter.errors import ViameterError
from viameter.service.app import create_app
from viameter.service.checking_config import Finding, check_config
from viameter.service.config import Config
from viameter.service.service import Service, first_token, open_service
from viameter.service.state import State
from viameter.service.watching import log, set_up_logging

Say = Callable[[str], None]
BACKLOG = 2048
"""How many connections may wait to be taken: as many as the server asks for."""


class CannotStart(ViameterError):
    """A service that cannot be started as it is configured."""


def serve(config: Config, say: Say) -> None:
    """Serve until a signal says to stop. The first time, a token for the first person is said, and never again."""
    set_up_logging()
    with private_files(), listening(config) as socket_:
        service = open_service(config)
        waits = True
        try:
            server = _server(service)
            with signals_end_the_server_only(server):
                _announce(service, address_of(config, socket_), say)
                server.run(sockets=[socket_])
            waits = not server.force_exit
            say("stopping: questions in flight are finished, or stay charged; a second Ctrl-C does not wait for them")
        except KeyboardInterrupt:
            waits = False  # a second one, before the waiting began
        finally:
            _close(service, say, waits=waits)


@contextmanager
def private_files() -> Iterator[None]:
    """Files that are made meanwhile are for whoever runs this alone: they hold answers, and hashes of tokens."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def _close(service: Service, say: Say, *, waits: bool) -> None:
    """Close a service; what still runs after the time to wait ends with the process, and stays charged."""
    try:
        left = service.close(waits=waits)
    except KeyboardInterrupt:
        left = 1
    if left:
        say("stopped before all questions were done: those stay charged, and whoever asks again learns it")
        sys.stdout.flush()
        # Threads that wait for an engine would hold the process up.
        os._exit(1)


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


def new_admin_token(config: Config) -> str:
    """A new token for the first person; the old ones are worthless. Works beside a running service."""
    from viameter import ledger as ledgers

    with ledgers.open(config.storage.ledger, create=False, read_only=True) as book:
        state = State(config.storage.state, ledger=book.id)
    try:
        token = first_token(state, days=config.limits.token_days, again=True)
    finally:
        state.close()
    assert token is not None
    return token


@contextmanager
def signals_end_the_server_only(server: uvicorn.Server) -> Iterator[None]:
    """The server takes a signal to stop, and sends it again when it has stopped: that must not end the process then.

    Questions in flight are waited for after it. From then on, another signal ends the process at once, and what runs
    stays charged.
    """

    def stop(*_: object) -> None:
        # One that comes before the server looks for signals is meant for it, too.
        server.should_exit = True

    wanted = (signal.SIGINT, signal.SIGTERM)
    before = {one: signal.signal(one, stop) for one in wanted}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


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


def _server(service: Service) -> uvicorn.Server:
    settings = service.config.server
    return uvicorn.Server(
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
    token = first_token(service.state, days=config.limits.token_days)
    say(f"viameter serves {address}/")
    say(f"  datasets: {', '.join(service.catalog.names()) or 'none yet; register one on the page'}")
    say(f"  ledger:   {service.ledger.place}")
    if token is not None:
        say(f"  sign in as admin with this token, which is shown this once:\n\n    {token}\n")
    else:
        say("  sign in with your token; an admin who lost theirs gets a new one by --new-admin-token")
    if config.server.host not in ("127.0.0.1", "::1", "localhost") and not config.server.https:
        say("  warning: others can reach this address, and tokens cross the network in the clear; see [server] https")
    say("  stop it with Ctrl-C")
    log("started", address=address)


def _fetch(url: str, *, token: str | None = None) -> str:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as reply:
            found: Any = reply.read().decode("utf-8")
    except urllib.error.URLError as problem:
        raise CannotStart(f"{url} does not answer ({type(problem).__name__})") from None
    return str(found)
