"""Two processes behind nginx with TLS, under load, before a browser: one is told to stop, later one is killed.

Nothing that was answered is lost, nothing is charged twice, and every answer is found again through the other process.
"""

from __future__ import annotations

import http.client
import json
import signal
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import duckdb
import pytest
from playwright.sync_api import Browser
from tests.deploy.proxying import Proxy, free_ports, proxied
from tests.system.browser.guest import Guest, preview_counts, table_of
from tests.system.crash.served import API, COUNT, PATIENCE, Reply, Served
from tests.system.faults.model import Asked, Journal, Outcome, read_books

GATEWAY = (502, 504)
"""What nginx says where there was no reply."""
DATASETS = ["visits", *(f"ward{number}" for number in range(5))]
"""So many that nginx sends requests for some to one process, and for others to the other one."""
CONFIG = """
[server]
port = {port}
prefix = "/privacy"
https = true
trusted_proxies = "127.0.0.1"
shutdown_seconds = 20
[storage]
ledger = "ledger.db"
state = "service.db"
[sources.files]
folder = "data"
[limits]
requests_per_minute = 1000000
releases_per_minute = 1000000
seconds = 10
"""
DATASET = """
[[dataset]]
name = "{name}"
source = "files"
table = "rows.duckdb#{name}"
unit = {{row = true}}
budget = {{zcdp = "100"}}
"""


@dataclass
class Front:
    """The site as people see it, and the processes behind it."""

    folder: Path
    proxy: Proxy
    ports: list[int]
    trust: ssl.SSLContext = field(repr=False)
    processes: list[Served] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return f"{self.proxy.url}/privacy"

    def start(self, which: int) -> None:
        """Start one of the two (again)."""
        config = CONFIG.format(port=self.ports[which]) + "".join(DATASET.format(name=name) for name in DATASETS)
        (self.folder / "service.toml").write_text(config)
        self.processes[which : which + 1] = [Served(self.folder)]


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """The site, with somebody who asks by programs and somebody with a browser."""
    folder, ports = tmp_path_factory.mktemp("front"), free_ports(2)
    (folder / "data").mkdir()
    with duckdb.connect(str(folder / "data" / "rows.duckdb")) as rows:
        for name in DATASETS:
            rows.execute(f"CREATE TABLE {name} AS SELECT range AS patient FROM range(900)")
    with proxied(folder / "nginx", ports, forgets=1) as proxy:
        made = Front(folder, proxy, ports, ssl.create_default_context(cafile=proxy.certificate))
        try:
            for which in range(2):
                made.start(which)
            admin = made.processes[0].token
            for name in ("ann", "bob"):
                people = {"name": name, "grants": [{"role": "analyst"}]}
                assert send(made, admin, "POST", "/people", people).status == 201
                token = send(made, admin, "POST", f"/people/{name}/tokens", {"label": "x"}).document["token"]
                made.tokens[name] = token
            yield made
        finally:
            for process in made.processes:
                process.kill()


def send(front: Front, token: str, method: str, path: str, document: Any = None, **headers: str) -> Reply:
    """A request by HTTPS."""
    port = int(front.proxy.url.rpartition(":")[2])
    connection = http.client.HTTPSConnection("localhost", port, timeout=PATIENCE, context=front.trust)
    said = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers}
    try:
        body = None if document is None else json.dumps(document)
        connection.request(method, f"/privacy{API}{path}", body, said)
        reply = connection.getresponse()
        return Reply(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read())
    finally:
        connection.close()


class Load:
    """Somebody asks every dataset, one question after the other, each under a key of its own until it is answered."""

    def __init__(self, front: Front) -> None:
        self.front, self.journal = front, Journal()
        self.answered: Counter[str] = Counter()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=[dataset]) for dataset in DATASETS]
        for thread in self._threads:
            thread.start()

    def _ask(self, dataset: str) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            asked = self.journal.begin("ann", f"{dataset}-{number}", dataset, "count")
            while not self._stop.is_set() and (outcome := self._send(asked)) is not Outcome.ANSWERED:
                if outcome in (Outcome.RUNNING, Outcome.LOST, Outcome.FAILED):
                    break  # it was cut off with its process
                time.sleep(0.05)
            self.answered[dataset] += Outcome.ANSWERED in asked.outcomes

    def _send(self, asked: Asked) -> Outcome:
        path, key = f"/datasets/{asked.dataset}/releases", {"Idempotency-Key": asked.key}
        reply: Reply | None
        try:
            reply = send(self.front, self.front.tokens["ann"], "POST", path, COUNT, **key)
        except http.client.HTTPException:
            reply = None  # cut in the middle, with the process that wrote it
        is_reply = reply is not None and reply.status not in GATEWAY
        return self.journal.note(asked, reply if is_reply else None, list(self.front.tokens.values()))

    def goes_on(self, each: int = 2) -> None:
        """Wait until every dataset was answered some times more."""
        before = self.answered.copy()
        wait_until(lambda: all(self.answered[dataset] >= before[dataset] + each for dataset in DATASETS))

    def stop(self) -> Journal:
        """Stop asking; what everybody was told."""
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        return self.journal


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for something that comes by itself."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, "it does not go on"
        time.sleep(0.02)


def test_one_is_stopped_and_one_killed_under_load_and_nothing_is_lost_or_charged_twice(
    front: Front, browser: Browser
) -> None:
    load = Load(front)
    context = browser.new_context(ignore_https_errors=True)
    try:
        guest = Guest(context, cast(Any, front))
        guest.sign_in("bob")
        guest.sees("Datasets")
        preview_counts(guest)
        load.goes_on()

        stopped = front.processes[0]
        stopped.signal(signal.SIGTERM)
        guest.page.get_by_role("button", name="Release: spend").click()
        guest.sees("Answer")
        answer = table_of(guest.page)
        assert stopped.ended() == 0
        load.goes_on()
        guest.page.reload()
        assert table_of(guest.page) == answer

        front.start(0)
        load.goes_on()
        front.processes[1].kill()
        load.goes_on()
        guest.page.reload()
        guest.sees("Answer")
        assert table_of(guest.page) == answer
        assert guest.faults == []
    finally:
        context.close()
        journal = load.stop()

    books = read_books(str(front.folder / "ledger.db"))
    charged = {who: entries for who, entries in books.charges.items() if who[0] == "bob"}
    assert [len(entries) for entries in charged.values()] == [1]
    for who in charged:
        del books.charges[who]
    assert journal.problems(books) == []
    for asked in journal.asked.values():
        if asked.answers:
            found = send(front, front.tokens["ann"], "GET", f"/datasets/{asked.dataset}/releases/{asked.key}")
            assert {json.dumps(found.document["answer"]["rows"])} == asked.answers
