"""One slow or hostile dataset: how long a plain count of another one takes meanwhile, and alone.

Each dataset has workers and a queue of its own, so what is left is what they share: the interpreter, the cores (on
which the clients run, too), the ledger. Run by `bench.service_load`, or by itself: `python -m bench.service_hostile`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bench.service_load import Client, serving

CONFIG = """
[sources.files]
folder = "data"
[sources.warehouse]
url = "postgresql://postgres@127.0.0.1:{port}/postgres"
[[dataset]]
name = "slow"
source = "files"
table = "rows.duckdb#slow"
unit = {{row = true}}
budget = {{zcdp = "1000"}}
[[dataset]]
name = "file"
source = "files"
table = "rows.duckdb#items"
unit = {{row = true}}
budget = {{zcdp = "1000"}}
[[dataset]]
name = "remote"
source = "warehouse"
table = "items"
unit = {{row = true}}
budget = {{zcdp = "1000"}}
"""
SPEND = {"zcdp": "1/1000"}
COUNT: dict[str, Any] = {"aggregates": {"n": {"count": True}}, "spend": SPEND}
ROWS = "CREATE TABLE items AS SELECT n AS age, n % 7 + 1 AS items FROM generate_series(1, 200000) AS g(n)"
SLOW = (
    "CREATE VIEW slow AS SELECT a.range AS age FROM range(40000000) a, range(50000) b "
    "WHERE hash(a.range * 50000 + b.range) % 1000 = 0"
)
LARGE = (
    "age" + ".round_to(3)" * 5 + " > {0}",
    "age" + ".clip(0, {0})" * 12 + " > 1",
    "//".join(["items"] * 5) + " > {0}",
    " or ".join(f"age.round_to({number}) = {{0}}" for number in range(1, 40)),
)
"""Filters that were compiled to very much, or run for very long; {0} is another number each time."""
_NUMBERS = itertools.count(1000)


@dataclass(frozen=True)
class Hostile:
    """What is done to some datasets while another one is asked."""

    what: str
    datasets: Sequence[str]
    clients: int
    filters: Sequence[str] = ()
    hangs: bool = False

    def question(self) -> str:
        """The next question, which is a new one."""
        number = next(_NUMBERS)
        chosen = {"filter": self.filters[number % len(self.filters)].format(number)} if self.filters else {}
        return json.dumps({**COUNT, **chosen})


CASES = (
    Hostile("has ten questions at a time that run into their limit", ["slow"], 10),
    Hostile("is on a server that hangs, with ten questions", ["remote"], 10, hangs=True),
    Hostile("is asked large expressions by four", ["file"], 4, LARGE),
    Hostile("is asked large expressions by four, on PostgreSQL", ["remote"], 4, LARGE),
)


@dataclass
class Waits:
    """How long a plain count took, in seconds."""

    taken: list[float] = field(default_factory=list)

    def at(self, share: float) -> float:
        """A quantile in milliseconds."""
        return sorted(self.taken)[min(int(len(self.taken) * share), len(self.taken) - 1)] * 1e3

    def __str__(self) -> str:
        return f"waits {self.at(0.5):.0f} ms (99 %: {self.at(0.99):.0f} ms, longest: {self.at(1):.0f} ms)"

    def compared_with(self, alone: Waits) -> str:
        """As ratios, and as what is added."""
        shares = (0.5, 0.99, 1.0)
        ratios = ", ".join(f"{self.at(share) / alone.at(share):.1f}" for share in shares)
        added = ", ".join(f"{self.at(share) - alone.at(share):+.0f}" for share in shares)
        return f"{ratios} times, {added} ms"


def counts(port: int, token: str, seconds: float) -> Waits:
    """One client that asks plain counts of "visits", one after the other; all must be answered."""
    waits, question = Waits(), json.dumps(COUNT)
    with closing(Client(port, token)) as asking:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            began = time.perf_counter()
            status = asking.release(question)
            waits.taken.append(time.perf_counter() - began)
            if status != 200:
                raise RuntimeError(f"a plain count was not answered: {status}")
    return waits


@contextmanager
def asking(port: int, token: str, hostile: Hostile) -> Iterator[Counter[int]]:
    """Clients that ask hostile questions meanwhile; how often they were told what."""
    told: Counter[int] = Counter()
    done = threading.Event()

    def ask(dataset: str) -> None:
        with suppress(OSError, RuntimeError), closing(Client(port, token, dataset)) as client:
            while not done.is_set():
                told[client.release(hostile.question())] += 1
                done.wait(0.05)  # those who are refused do not come back at once

    for number in range(hostile.clients):
        dataset = hostile.datasets[number % len(hostile.datasets)]
        threading.Thread(target=ask, args=[dataset], daemon=True).start()
    try:
        yield told
    finally:
        done.set()


def run(seconds: float) -> None:
    """Each case in a service of its own, said line by line."""
    from tests.faulty_proxy import FaultyProxy
    from tests.tables.engines.postgres_server import running_server

    with running_server() as url:
        import psycopg

        with psycopg.connect(url, autocommit=True) as server:
            server.execute(ROWS)
        for hostile in CASES:
            with FaultyProxy(parse_qs(urlsplit(url).query)["host"][0], 5432) as proxy:
                _run(hostile, seconds, proxy.port, proxy.hang if hostile.hangs else lambda: None)


def _run(hostile: Hostile, seconds: float, port_of_server: int, begin: Callable[[], None]) -> None:
    import duckdb

    with tempfile.TemporaryDirectory(prefix="viameter-bench-") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        with duckdb.connect(str(folder / "data" / "rows.duckdb")) as made:
            made.execute(ROWS)
            made.execute(SLOW)
        with serving(folder, CONFIG.format(port=port_of_server), seconds=2) as (port, token, _):
            for dataset in ("visits", *hostile.datasets):
                with closing(Client(port, token, dataset)) as first:
                    first.release(json.dumps(COUNT))  # opens the dataset
            alone = counts(port, token, seconds)
            begin()
            with asking(port, token, hostile) as told:
                time.sleep(min(1.0, seconds / 4))  # until they are all asked
                meanwhile = counts(port, token, seconds)
            print(f"a plain count alone: {alone}")
            print(f"a plain count while another dataset {hostile.what}: {meanwhile}; {meanwhile.compared_with(alone)}")
            replies = ", ".join(f"{count} times {status}" for status, count in sorted(told.items())) or "none yet"
            print(f"  replies to the hostile ones: {replies}")


def main() -> None:
    """Read the command line, and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each case, alone and meanwhile")
    run(parser.parse_args().seconds)


if __name__ == "__main__":
    main()
