"""Load on a service: releases a second by many clients, waits, page loads, memory; with the time of a sync beside them.

The service is a process of its own, as `viameter serve` starts it, with the bundled visits; clients are threads of this
process, on the same cores. Every figure is of one run; `--repetitions` shows how far runs differ.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench.ledger_load import sync_time

CONFIG = """
[server]
port = 0
[sources.bundled]
folder = {folder!r}
[limits]
requests_per_minute = 1000000
releases_per_minute = 1000000
logins_per_minute = 1000
seconds = {seconds}
[[dataset]]
name = "visits"
source = "bundled"
table = "visits.csv"
unit = {{per = "patient", rows = 5}}
budget = {{zcdp = "1000"}}
types = {{age = "integer", wait = "integer"}}
"""
WARDS = ["Cardiology", "Emergency", "Maternity", "Oncology", "Pediatrics"]
QUESTION: dict[str, Any] = {
    "group_by": "ward",
    "keys": WARDS,
    "aggregates": {"n": {"count": True}},
    "spend": {"zcdp": "1/1000"},
}
_NUMBERS = itertools.count()


@contextmanager
def serving(folder: Path, more: str = "", *, seconds: int = 60) -> Iterator[tuple[int, str, int]]:
    """A service in a process of its own: its port, the admin's token, and the number of the process.

    `more` is written behind the configuration: other sources and datasets; `seconds` is how long a question may run.
    """
    import viameter

    data = Path(viameter.__file__).parent / "cli" / "data"
    (folder / "service.toml").write_text(CONFIG.format(folder=str(data), seconds=seconds) + more)
    with started(folder) as (port, said, process):
        handed_over = re.search(r"the token in (.*), which is removed", said)
        assert handed_over is not None
        yield port, Path(handed_over[1]).read_text().split()[0], process


@contextmanager
def started(folder: Path) -> Iterator[tuple[int, str, int]]:
    """A process that serves what the configuration in a folder says: its port, what it said, and its number."""
    command = [str(Path(sys.executable).parent / "viameter"), "serve", "--config", str(folder / "service.toml")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder)
    try:
        assert process.stdout is not None
        said = ""
        while "Ctrl-C" not in said:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"the service did not start: {said}")
            said += line
        port = re.search(r":(\d+)/", said)
        assert port is not None
        yield int(port[1]), said, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


class Client:
    """A client that does as little as one can, since it takes its time from the cores that the service has."""

    def __init__(self, port: int, token: str, dataset: str = "visits") -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = (
            f"POST /api/v1/datasets/{dataset}/releases HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nAuthorization: Bearer {token}\r\nContent-Length: "
        )

    def release(self, question: str) -> int:
        """One release; its status."""
        self._socket.sendall(f"{self._head}{len(question)}\r\n\r\n{question}".encode())
        reply = b""
        while b"\r\n\r\n" not in reply:
            reply += self._more()
        head, _, body = reply.partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: (\d+)", head, re.IGNORECASE)
        assert length is not None
        missing = int(length[1]) - len(body)
        while missing > 0:
            missing -= len(self._more())
        return int(head[9:12])

    def _more(self) -> bytes:
        found = self._socket.recv(65536)
        if not found:
            raise RuntimeError("the service hung up")
        return found

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def load(port: int, token: str, clients: int, each: int, *, different: bool) -> tuple[float, list[float]]:
    """So many clients, each with so many releases: releases a second, and every wait. All must be answered."""
    waits: list[float] = []
    statuses: list[int] = []

    def client() -> None:
        with closing(Client(port, token)) as asking:
            for _ in range(each):
                filtered = {"filter": f"wait > {next(_NUMBERS)}"} if different else {}
                question = json.dumps({**QUESTION, **filtered})
                started = time.perf_counter()
                statuses.append(asking.release(question))
                waits.append(time.perf_counter() - started)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    if set(statuses) != {200}:
        raise RuntimeError(f"not all were answered: {sorted(set(statuses))}")
    return clients * each / seconds, waits


def load_both(ports: tuple[int, int], token: str, clients: int, each: int) -> float:
    """So many clients of each of two services at once: releases a second of both together."""
    began = time.perf_counter()
    with ThreadPoolExecutor(len(ports)) as threads:
        for loaded in [threads.submit(load, port, token, clients, each, different=False) for port in ports]:
            loaded.result()
    return len(ports) * clients * each / (time.perf_counter() - began)


def page_times(port: int, token: str, paths: list[str], times: int = 10) -> dict[str, float]:
    """The median time of a page for somebody who is signed in, in seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("GET", "/login")
    guard = re.search(r'name="guard" value="(\w+)"', connection.getresponse().read().decode())
    assert guard is not None
    connection.request("POST", "/login", urlencode({"token": token, "guard": guard[1]}), form)
    reply = connection.getresponse()
    reply.read()
    cookie = str(reply.getheader("set-cookie")).partition(";")[0]
    found = {}
    for path in paths:
        taken = []
        for _ in range(times):
            started = time.perf_counter()
            connection.request("GET", path, headers={"Cookie": cookie})
            reply = connection.getresponse()
            reply.read()
            taken.append(time.perf_counter() - started)
            if reply.status != 200:
                raise RuntimeError(f"{path}: {reply.status}")
        found[path] = statistics.median(taken)
    connection.close()
    return found


def memory_of(process: int) -> float:
    """What a process has in memory, in MB."""
    text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    assert found is not None
    return int(found[1]) / 1000


def run(clients: int, each: int) -> None:
    """One run, said line by line."""
    with tempfile.TemporaryDirectory(prefix="viameter-bench-") as name, serving(Path(name)) as (port, token, process):
        print(f"a synced append of 4 KiB: {sync_time(Path(name)) * 1e3:.2f} ms")
        print(f"memory before anything is asked: {memory_of(process):.0f} MB")
        load(port, token, 1, 5, different=False)  # opens the dataset and compiles the question
        print(f"memory, idle, with the dataset open: {memory_of(process):.0f} MB")
        for count, different in ((1, False), (clients, False), (clients, True)):
            rate, waits = load(port, token, count, each if count > 1 else 100, different=different)
            waits.sort()
            what = "each question new" if different else "one question, new noise each time"
            middle, late = waits[len(waits) // 2] * 1e3, waits[int(len(waits) * 0.99)] * 1e3
            print(f"{count} clients, {what}: {rate:.0f} releases/s, waits {middle:.0f} ms (99 %: {late:.0f} ms)")
        with started(Path(name)) as (other, _, _):
            load(other, token, 1, 5, different=False)
            rate = load_both((port, other), token, clients // 2, each)
            print(f"two processes on the same files, {clients // 2} clients each: {rate:.0f} releases/s together")
        pages = ["/", "/datasets/visits", "/datasets/visits/ask", "/datasets/visits/history"]
        for path, seconds in page_times(port, token, pages).items():
            print(f"page {path}: {seconds * 1e3:.0f} ms")
        print(f"memory at the end: {memory_of(process):.0f} MB")


def main() -> None:
    """Read the command line, and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--each", type=int, default=20, help="releases of each client")
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each hostile dataset")
    parser.add_argument(
        "--no-postgres", action="store_true", help="leave out the hostile datasets, which need a server"
    )
    given = parser.parse_args()
    for number in range(given.repetitions):
        print(f"run {number + 1} of {given.repetitions}")
        run(given.clients, given.each)
        if not given.no_postgres:
            from bench import service_hostile

            service_hostile.run(given.seconds)


if __name__ == "__main__":
    main()
