"""Load on a ledger: rates and waits of requests by many clients, with the time of a sync beside them.

Every figure is of one run on whatever else the machine does; `--repetitions` shows how far runs differ.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import viameter as vm
from viameter import ledger as ledgers


def sync_time(folder: Path, times: int = 100) -> float:
    """The median time of a synced append of 4 KiB, in seconds."""
    file = os.open(folder / "sync", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    found = []
    for _ in range(times):
        os.write(file, bytes(4096))
        started = time.perf_counter()
        os.fdatasync(file)
        found.append(time.perf_counter() - started)
    os.close(file)
    return statistics.median(found)


def client(book: Any, scope: str, name: str, requests: int, waits: list[float]) -> None:
    """So many requests, one after the other."""
    loss = vm.pure("1/1000")
    for number in range(requests):
        started = time.perf_counter()
        reserved = book.reserve(loss, scopes=[scope], key=f"{name} {number}", by="bench", query="q")
        book.commit(reserved, b"12345")
        waits.append(time.perf_counter() - started)


def by_threads(location: str, clients: int, requests: int, scopes: int) -> tuple[float, list[float]]:
    """Threads that share one ledger: requests a second, and every wait."""
    waits: list[float] = []
    with ledgers.open(location) as book:
        targets = [(book, f"s{number % scopes}", f"t{number}", requests, waits) for number in range(clients)]
        threads = [threading.Thread(target=client, args=arguments) for arguments in targets]
        started = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return clients * requests / (time.perf_counter() - started), waits


def _process(location: str, number: int, requests: int, scopes: int, ready: Any, results: Any) -> None:
    waits: list[float] = []
    with ledgers.open(location) as book:
        ready.wait()
        client(book, f"s{number % scopes}", f"p{number}", requests, waits)
    results.put(waits)


def by_processes(location: str, clients: int, requests: int, scopes: int) -> tuple[float, list[float]]:
    """Processes with a ledger each."""
    spawn = multiprocessing.get_context("spawn")
    ready, results = spawn.Barrier(clients + 1), spawn.Queue()
    workers = [
        spawn.Process(target=_process, args=(location, number, requests, scopes, ready, results))
        for number in range(clients)
    ]
    for worker in workers:
        worker.start()
    ready.wait()
    started = time.perf_counter()
    waits = [wait for _ in workers for wait in results.get()]
    took = time.perf_counter() - started
    for worker in workers:
        worker.join()
    return clients * requests / took, waits


@contextmanager
def slower_syncs(seconds: float) -> Iterator[None]:
    """A disk that takes so much longer to sync, as far as that is seen from Python: at every commit and witness."""
    from viameter.ledger.stores.sql import SQLStore
    from viameter.ledger.witness import Witness

    keep, advance = SQLStore._keep, Witness._advance

    def kept(self: Any, *arguments: Any) -> None:
        keep(self, *arguments)
        time.sleep(seconds)

    def advanced(self: Any, *arguments: Any) -> None:
        advance(self, *arguments)
        time.sleep(seconds)

    with mock.patch.object(SQLStore, "_keep", kept), mock.patch.object(Witness, "_advance", advanced):
        yield


def report(name: str, run: Callable[[str], tuple[float, list[float]]], location: Callable[[], str], times: int) -> None:
    """Run a few times on ledgers of their own, and print the least, the middle and the largest rate."""
    rates, late = [], []
    for _ in range(times):
        place = location()
        with ledgers.open(place) as book:
            for number in range(8):
                book.define(f"s{number}", vm.pure(10**9), "unbounded()")
        rate, waits = run(place)
        rates.append(rate)
        late.append(sorted(waits)[int(len(waits) * 0.99)])
    middle = statistics.median(rates)
    print(
        f"| {name} | {middle:.0f} ({min(rates):.0f} to {max(rates):.0f}) | {statistics.median(late) * 1000:.0f} ms |",
        flush=True,
    )


def main() -> None:
    """Measure all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--no-postgres", action="store_true")
    options = parser.parse_args()
    times = options.repetitions
    with tempfile.TemporaryDirectory(prefix="viameter-load-") as name:
        folder, made = Path(name), iter(range(10**6))
        print(f"sync of 4 KiB: {sync_time(folder) * 1000:.2f} ms (median); load {os.getloadavg()[0]:.1f}")
        print("| clients | requests/s: median (least to most) | p99 |\n|---|---|---|")

        def file() -> str:
            return str(folder / f"{next(made)}.db")

        report("SQLite, 1 thread", lambda place: by_threads(place, 1, 400, 1), file, times)
        report("SQLite, 64 threads", lambda place: by_threads(place, 64, 60, 1), file, times)
        report("SQLite, 8 processes", lambda place: by_processes(place, 8, 200, 1), file, times)
        with slower_syncs(0.004):
            report("SQLite, 64 threads, 4 ms more a sync", lambda place: by_threads(place, 64, 20, 1), file, times)
        if not options.no_postgres:
            _on_postgres(folder, times)
        print(f"sync of 4 KiB: {sync_time(folder) * 1000:.2f} ms (median); load {os.getloadavg()[0]:.1f}")


def _on_postgres(folder: Path, times: int) -> None:
    import psycopg
    from tests.tables.engines.postgres_server import running_server

    os.environ["XDG_STATE_HOME"] = str(folder)
    made = iter(range(10**6))
    with running_server(durable=True) as url:

        def database() -> str:
            name = f"load_{next(made)}"
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            return url.replace("/postgres?", f"/{name}?")

        for scopes in (1, 8):
            what = "one scope" if scopes == 1 else f"{scopes} scopes"
            threads = f"PostgreSQL, 64 threads, {what}"
            report(threads, lambda place, n=scopes: by_threads(place, 64, 40, n), database, times)  # type: ignore[misc]
            name = f"PostgreSQL, 8 processes, {what}"
            report(name, lambda place, n=scopes: by_processes(place, 8, 100, n), database, times)  # type: ignore[misc]


if __name__ == "__main__":
    main()
