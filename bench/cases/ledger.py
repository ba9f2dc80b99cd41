"""The ledger: what a request costs that is charged, stored and released durably; whether it grows with the ledger."""

from __future__ import annotations

import atexit
import itertools
import os
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.model import Benchmark, Case, Variant

CLIENTS = 64
EACH = 8
"""Requests of each client in one timed call."""

_KEYS = itertools.count()


def folder() -> Path:
    """A folder of this process, which is removed at its end."""
    made = tempfile.TemporaryDirectory(prefix="viameter-bench-")
    atexit.register(made.cleanup)
    return Path(made.name)


def request(book: Any, loss: Any, scope: str) -> None:
    """One request: reserved and committed, each on the disk."""
    reserved = book.reserve(loss, scopes=[scope], key=f"{next(_KEYS)}", by="bench", query="count")
    book.commit(reserved, b"12345")


def opened(location: str | Path, scopes: int = 1) -> tuple[Any, Any]:
    """A ledger with so many scopes, and a small loss."""
    vm: Any = import_module("viameter")
    book = vm.ledger.open(location)
    atexit.register(book.close)
    for number in range(scopes):
        book.define(f"scope {number}", vm.pure(10**9), "unbounded()")
    return book, vm.pure("1/1000")


def ask(book: Any, loss: Any, clients: int, scopes: int) -> Callable[[], object]:
    """Requests by clients at the same time, each on the disk before its client asks the next."""

    def client(number: int) -> None:
        for _ in range(EACH):
            request(book, loss, f"scope {number % scopes}")

    def call() -> None:
        threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return call


def on_sqlite(clients: int) -> Callable[[], object]:
    """A SQLite ledger."""
    book, loss = opened(folder() / "budget.db")
    return ask(book, loss, clients, 1)


def in_memory(clients: int) -> Callable[[], object]:
    """A ledger in memory: what Python costs."""
    vm: Any = import_module("viameter")
    book = vm.ledger.in_memory()
    book.define("scope 0", vm.pure(10**9), "unbounded()")
    return ask(book, vm.pure("1/1000"), clients, 1)


def synced_appends(clients: int) -> Callable[[], object]:
    """Two synced appends of 4 KiB for each request, by one process: what the disk costs without a group commit."""
    file = os.open(folder() / "appended", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    block = bytes(4096)

    def call() -> None:
        for _ in range(2 * EACH * clients):
            os.write(file, block)
            os.fdatasync(file)

    return call


@cache
def server() -> str:
    """A PostgreSQL server that syncs its commits."""
    helper: Any = import_module("tests.tables.engines.postgres_server")
    running = helper.running_server(durable=True)
    url: str = running.__enter__()
    atexit.register(running.__exit__, None, None, None)
    os.environ["XDG_STATE_HOME"] = str(folder())  # where the witness is
    return url


def on_postgres(clients: int, scopes: int) -> Callable[[], object]:
    """A PostgreSQL ledger."""
    psycopg: Any = import_module("psycopg")
    name = f"bench_{next(_KEYS)}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    book, loss = opened(server().replace("/postgres?", f"/{name}?"), scopes)
    return ask(book, loss, clients, scopes)


@cache
def grown(entries: int) -> Path:
    """A SQLite ledger with so many entries, made by the library's own requests, many in a transaction."""
    path = folder() / f"grown-{entries}.db"
    book, loss = opened(path)
    parts: Any = import_module("viameter.ledger.requests")
    needed: Any = import_module("viameter.ledger.book").Needed
    scopes: Any = import_module("viameter.ledger.scopes")
    made, store = 2, book.store
    while made < entries:
        with store.writing(needed(scopes=("scope 0",)), None) as page:
            for _ in range(min(5000, (entries - made) // 2)):
                key = f"before {next(_KEYS)}"
                asked = parts.Reserve(
                    by="bench", nonce=f"{made:032x}", key=key, query="q", costs=(scopes.Cost("scope 0", loss),)
                )
                found = asked.apply(page)
                parts.Settle(by="bench", nonce=f"{made + 1:032x}", request=found.request, content=b"12345").apply(page)
                made += 2
        book.witness.advance(import_module("viameter.ledger.witness").Seen(book.id, store.head()))
        if entries - made < 2:
            break
    book.close()
    return path


def request_after(entries: int) -> Callable[[], object]:
    """One request by one client, on a ledger that has so many entries."""
    vm: Any = import_module("viameter")
    book = vm.ledger.open(grown(entries))
    atexit.register(book.close)
    loss = vm.pure("1/1000")
    return lambda: request(book, loss, "scope 0")


def open_after(entries: int) -> Callable[[], object]:
    """Opening a ledger that has so many entries, with the checks that are made then."""
    vm: Any = import_module("viameter")
    path = grown(entries)
    return lambda: vm.ledger.open(path).close()


def at_once(clients: int) -> Case:
    """Requests of clients on SQLite."""
    return Case(
        "requests, reserved and committed",
        [
            Variant("viameter, SQLite", on_sqlite),
            Variant("viameter, in memory", in_memory),
            Variant("two synced appends each", synced_appends),
        ],
        {"clients": clients},
        units=clients * EACH,
        unit="request",
    )


def on_server(scopes: int) -> Case:
    """Requests of 64 clients on PostgreSQL."""
    return Case(
        "requests on PostgreSQL",
        [Variant("viameter, PostgreSQL", on_postgres)],
        {"clients": CLIENTS, "scopes": scopes},
        units=CLIENTS * EACH,
        unit="request",
    )


BENCHMARK = Benchmark(
    title="Ledger",
    about=(
        "A request is reserved and committed, and each of the two is on the disk before it returns. The row of synced "
        "appends is the disk's own speed in the same run: state rates as multiples of it. No peer has a durable ledger "
        "that many processes share. Rates, waits and the races of processes are measured by `scripts/bench-ledger`."
    ),
    cases=[
        at_once(1),
        at_once(CLIENTS),
        on_server(1),
        on_server(8),
        *(
            Case("one request on a ledger", [Variant("viameter", request_after)], {"entries": entries}, unit="request")
            for entries in (1_000, 1_000_000)
        ),
        *(
            Case("opening a ledger", [Variant("viameter", open_after)], {"entries": entries})
            for entries in (1_000, 1_000_000)
        ),
    ],
)
