"""Workers that are killed at random times, and what a referee finds after each round."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import time
from functools import partial

from tests.ledger.crash.clients import Client, make_ledger
from tests.ledger.crash.referee import problems, read_database
from tests.ledger.crash.world import World
from tests.processes import folder_in_memory, fork, kill

from viameter.errors import OverBudget

AT_ONCE = 4
"""Workers at the same time, so that one is often killed while another writes."""

LONGEST = 0.03
"""Seconds until the next worker is killed, at most, or as long as its last question took: a few take that long."""


def kill_workers(
    kills: int,
    *,
    seed: int,
    location: str | None = None,
    client: type[Client] = Client,
    room: int = 100_000,
) -> tuple[list[str], int]:
    """Start workers and kill them, so many in all; what the referee found, and how much left."""
    with folder_in_memory() as folder:
        where = str(folder / "budget.db") if location is None else location
        make_ledger(where, room=room)
        world = World(folder / "world")
        chance = random.Random(seed)
        found: list[str] = []
        for number in range(kills // AT_ONCE):
            _round(where, world, client, chance, name=f"{number}")
            found += problems(where, world, client, latest=10)
            if found:
                break
        return found or problems(where, world, client), len(world.seen("left"))


def _round(location: str, world: World, client: type[Client], chance: random.Random, *, name: str) -> None:
    # A fifth is killed while it opens the ledger, the others in their first questions, or after an answer: within the
    # time of some questions, however slow they are on a machine with much to do.
    plans = [(0 if chance.random() < 0.2 else chance.choice((1, 2)), chance.random()) for _ in range(AT_ONCE)]
    started = []
    for number, (steps, share) in enumerate(plans):
        reader, writer = os.pipe()
        process = fork(partial(work, location, world, client, f"{name}-{number}", writer))
        os.close(writer)
        started.append((process, reader, steps, share))
    for process, reader, steps, share in started:
        took = 0.0
        for step in range(steps):
            began = time.monotonic()
            os.read(reader, 1)
            took = time.monotonic() - began if step else 0.0  # to open it takes longer than to ask
        time.sleep(share * max(LONGEST, took))
        kill(process)
        os.close(reader)


def work(location: str, world: World, client: type[Client], name: str, ready: int) -> None:
    """Ask until killed; says when it begins, and when an answer has left."""
    worker = client(location, world)
    os.write(ready, b"!")
    for number in itertools.count():
        with contextlib.suppress(OverBudget):
            worker.ask(f"{name}-{number}")
        os.write(ready, b"!")


def spend_the_rest(location: str, world: World) -> int:
    """Ask until there is no room, and return how many were charged in all."""
    last = Client(location, world)
    try:
        for number in itertools.count():
            try:
                last.ask(f"last-{number}")
            except OverBudget:
                return len(read_database(location).charges)
    finally:
        last.close()
    raise AssertionError


def kill_until_spent(kills: int, *, seed: int, room: int) -> tuple[list[str], int]:
    """Kill workers on a ledger with little room, then spend what is left: all that was ever charged is the room."""
    with folder_in_memory() as folder:
        location, world, chance = str(folder / "budget.db"), World(folder / "world"), random.Random(seed)
        make_ledger(location, room=room)
        for number in range(kills // AT_ONCE):
            _round(location, world, Client, chance, name=f"{number}")
        charged = spend_the_rest(location, world)
        return problems(location, world), charged
