"""Clients that go on asking while their server is stopped as by a crash, and started again."""

from __future__ import annotations

import itertools
import os
import threading
import time
from pathlib import Path

from tests.ledger.crash.clients import Client, make_ledger
from tests.ledger.crash.referee import problems, read_database
from tests.ledger.crash.server import Server
from tests.ledger.crash.world import World
from tests.processes import results_of

from viameter.errors import AnswerLost

PROCESSES, THREADS = 2, 2


def charge_through_restarts(folder: str, *, restarts: int) -> tuple[list[str], list[int]]:
    """Stop and start a server while clients ask; what the referee found, and how many answers left by each restart."""
    world, stop = World(Path(folder) / "world"), Path(folder) / "stop"
    left: list[int] = []
    with Server() as server:
        make_ledger(server.url, room=100_000)

        def restart() -> None:
            _wait_for(world, "open", PROCESSES)  # who opens a ledger while its server is down is refused, as it should
            for _ in range(restarts):
                _wait_for_more(world)
                server.stop()
                left.append(len(world.seen("left")))
                server.start()
            _wait_for_more(world)
            left.append(len(world.seen("left")))
            stop.touch()

        lost = results_of([lambda: ask_in_threads(server.url, world, stop) for _ in range(PROCESSES)], restart)
        found = problems(server.url, world, latest=50)
        if read_database(server.url).charges.keys() != {seen.key for seen in world.seen("charged")}:
            found.append("other requests were charged than were said to be")
        return found + [key for keys in lost for key in keys], left


def _wait_for_more(world: World, answers: int = 8) -> None:
    """Wait until clients are at work again."""
    _wait_for(world, "left", len(world.seen("left")) + answers)


def _wait_for(world: World, what: str, enough: int) -> None:
    end = time.monotonic() + 60
    while len(world.seen(what)) < enough:
        assert time.monotonic() < end, "clients do not go on"
        time.sleep(0.01)


def ask_in_threads(location: str, world: World, stop: Path) -> list[str]:
    """Ask from several threads that share one ledger, until told to stop; keys of answers that were lost."""
    clients = [Client(location, world) for _ in range(THREADS)]
    for client in clients[1:]:  # one ledger, with one writer, and a meter for each
        client.close()
        client.ledger, client.meter = clients[0].ledger, clients[0].meter
    world.see("open", str(os.getpid()))
    lost: list[str] = []
    threads = [
        threading.Thread(target=_ask, args=(client, f"{os.getpid()}-{number}", stop, lost))
        for number, client in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    clients[0].close()
    return lost


def _ask(client: Client, name: str, stop: Path, lost: list[str]) -> None:
    for number in itertools.count():
        if stop.exists():
            return
        key = f"{name}-{number}"
        try:
            client.ask(key)
            client.world.see("charged", key)
        except AnswerLost:
            lost.append(f"{key}: charged to a call that does not know of it")
        except BaseException as problem:
            lost.append(f"{key}: {problem!r}")
            return
