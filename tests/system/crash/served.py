"""A service for tests as people start it: a process of `viameter serve`, which can be killed and started again."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from tests.system.crash.copies import Copy

import viameter

PATIENCE = 60.0
"""Seconds for what should be long done; nothing waits for it unless a test is failing."""
API = "/api/v1"
PROGRAM = Path(sys.executable).parent / "viameter"
"""The command as it is installed."""
COUNT: dict[str, Any] = {"aggregates": {"n": {"count": True}}, "spend": {"zcdp": "1/1000"}}
"""A question that every dataset here can answer; a thousand of them cost zcdp(1)."""
CONFIG = """
[server]
port = 0
prefix = "{prefix}"
https = {https}
shutdown_seconds = {shutdown_seconds}
trusted_proxies = "{trusted_proxies}"
[storage]
ledger = "{ledger}"
state = "{state}"
[sources.files]
folder = "data"
[limits]
requests_per_minute = 1000000
releases_per_minute = {releases_per_minute}
seconds = {seconds}
queries = {queries}
waiting = {waiting}
[[dataset]]
name = "visits"
source = "files"
table = "visits.csv"
unit = {{per = "patient", rows = 5}}
budget = {{zcdp = "{budget}"}}
types = {{age = "integer", wait = "integer"}}
[[dataset]]
name = "slow"
source = "files"
table = "slow.duckdb#slow"
unit = {{row = true}}
budget = {{zcdp = "1"}}
[[dataset]]
name = "endless"
source = "files"
table = "slow.duckdb#endless"
unit = {{row = true}}
budget = {{zcdp = "1"}}
"""
SETTINGS: dict[str, Any] = {
    "ledger": "ledger.db",
    "state": "service.db",
    "shutdown_seconds": 30,
    "releases_per_minute": 1_000_000,
    "seconds": 60,
    "queries": 4,
    "waiting": 100,
    "budget": "1",
    "trusted_proxies": "",
    "prefix": "",
    "https": "false",
}
ROWS = {"slow": 2_000, "endless": 40_000_000}
"""Each of so many rows is joined with fifty thousand: about half a second of work, and more than anybody waits for."""


@dataclass(frozen=True)
class Reply:
    """What a service replied."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        """The body, read."""
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def code(self) -> str:
        """What kind of error it says."""
        return str(self.document["error"]["code"])


class Connection:
    """A client's connection to a service: one request after the other."""

    def __init__(self, port: int, token: str) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self._token = token

    def request(self, method: str, path: str, document: Any = None, **headers: str) -> Reply:
        """One request to the API, and its reply."""
        body = None if document is None else json.dumps(document)
        said = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", **headers}
        self._http.request(method, API + path, body, said)
        reply = self._http.getresponse()
        content = reply.read()
        return Reply(reply.status, {name.lower(): value for name, value in reply.getheaders()}, content)

    def ask(self, dataset: str, key: str, question: Mapping[str, Any] = COUNT, **headers: str) -> Reply:
        """A release under a key."""
        return self.request("POST", f"/datasets/{dataset}/releases", question, **{"Idempotency-Key": key, **headers})

    def look(self, dataset: str, key: str) -> Reply:
        """What came of a key."""
        return self.request("GET", f"/datasets/{dataset}/releases/{key}")

    def close(self) -> None:
        """Hang up."""
        self._http.close()


class Served:
    """A process that serves what the configuration in a folder says: a program, or else a copy of one that is ready.

    What is in `own` is in its environment, whatever is there otherwise.
    """

    def __init__(self, folder: Path, program: Sequence[str] = (), own: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        usual = {"XDG_STATE_HOME": str(folder / "witnesses"), "TMPDIR": str(folder)}
        environment = {**os.environ, **usual, **(own or {})}
        words = ["serve", "--config", "service.toml"]
        says, writes = os.pipe()
        with (folder / "log").open("ab") as log, open(writes, "wb") as out:  # noqa: PTH123
            self.process: subprocess.Popen[bytes] | Copy = (
                subprocess.Popen(
                    [*program, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=log, cwd=folder, env=environment
                )
                if program
                else Copy(words, folder, environment, out.fileno(), log.fileno())
            )
        self._says = os.fdopen(says, encoding="utf-8")
        said = ""
        while "Ctrl-C" not in said:
            line = self._says.readline()
            if not line:
                self.kill()
                raise AssertionError(f"the service did not start: {said}\n{self.log()}")
            said += line
        port = re.search(r"http://127\.0\.0\.1:(\d+)/", said)
        assert port is not None
        self.port = int(port[1])
        token = folder / "token"
        handed_over = re.search(r"the token in (.*), which is removed", said)
        if handed_over is not None and not token.exists():  # it is gone once it is used
            token.write_text((folder / handed_over[1]).read_text().split()[0])
        assert "vmt_" not in said
        self.token = token.read_text()

    def waits_to_say(self, word: str) -> None:
        """Wait until it says a word."""
        while word not in (line := self._says.readline()):
            assert line, f"it ended before it said {word!r}"

    def log(self) -> str:
        """What was logged in this folder, by all that were started there."""
        return (self.folder / "log").read_text(encoding="utf-8")

    @contextlib.contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection with the token of the admin."""
        made = Connection(self.port, self.token)
        try:
            yield made
        finally:
            made.close()

    def kill(self) -> None:
        """Kill -9, and wait until it is gone."""
        self.process.kill()
        self.ended()

    def signal(self, which: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(which)

    def ended(self) -> int:
        """Wait until it has ended; its exit code."""
        code = self.process.wait(timeout=PATIENCE)
        self._says.close()
        return code

    def stop(self) -> int:
        """Have it stop in order; its exit code."""
        self.signal(signal.SIGTERM)
        return self.ended()


def write_config(folder: Path, **settings: Any) -> Path:
    """The configuration of a service, and the files that it serves."""
    data = folder / "data"
    if not data.exists():
        data.mkdir(parents=True)
        shutil.copy(Path(viameter.__file__).parent / "cli" / "data" / "visits.csv", data)
        with duckdb.connect(str(data / "slow.duckdb")) as made:
            for name, rows in ROWS.items():
                made.execute(
                    f"CREATE VIEW {name} AS SELECT a.range AS x FROM range({rows}) a, range(50000) b "
                    "WHERE hash(a.range * 50000 + b.range) % 1000 = 0"
                )
    path = folder / "service.toml"
    path.write_text(CONFIG.format(**{**SETTINGS, **settings}))
    return path


@contextlib.contextmanager
def serving(folder: Path, *, program: Sequence[str] = (), **settings: Any) -> Iterator[Served]:
    """A service in a process; killed in the end, if it is not done by then."""
    write_config(folder, **settings)
    made = Served(folder, program)
    try:
        yield made
    finally:
        made.kill()
