"""Named points in the life of a request, at which a process kills itself: hooks around what the library calls there."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from typing import Any

from tests.ledger.crash.clients import Client, make_ledger
from tests.ledger.crash.referee import problems, read_database
from tests.ledger.crash.world import World
from tests.processes import folder_in_memory, fork, wait_until_killed

from viameter.ledger import witness as witness_module
from viameter.ledger.witness import Witness


def die() -> None:
    """End as by kill -9."""
    os.kill(os.getpid(), signal.SIGKILL)


def nth(times: int, action: Callable[[], None] = die) -> Callable[[], None]:
    """Do something when called for the nth time."""
    left = [times]

    def count() -> None:
        left[0] -= 1
        if left[0] == 0:
            action()

    return count


def around(function: Callable[..., Any], *, before: Any = None, after: Any = None) -> Callable[..., Any]:
    """The same function, with something done before or after it."""

    def wrapped(*args: Any, **options: Any) -> Any:
        if before is not None:
            before()
        result = function(*args, **options)
        if after is not None:
            after()
        return result

    return wrapped


def before_begin(client: Client, action: Callable[[], None]) -> None:
    """Just before a transaction of the writer."""
    store: Any = client.ledger.store
    store.writing = around(store.writing, before=action)


def in_transaction(client: Client, action: Callable[[], None]) -> None:
    """After the scopes were checked and the entry was made, before anything is sent to the database."""
    store: Any = client.ledger.store
    store._keep = around(store._keep, before=action)


def before_commit(client: Client, action: Callable[[], None]) -> None:
    """With everything written, just before COMMIT."""
    dialect: Any = client.ledger.store._engine.dialect  # type: ignore[attr-defined]
    dialect.do_commit = around(dialect.do_commit, before=action)


def after_commit(client: Client, action: Callable[[], None]) -> None:
    """Just after COMMIT, before the witness is told."""
    dialect: Any = client.ledger.store._engine.dialect  # type: ignore[attr-defined]
    dialect.do_commit = around(dialect.do_commit, after=action)


def within_witness(client: Client, action: Callable[[], None]) -> None:
    """With the witness locked and read, before it is written."""
    written = witness_module._line
    witness_module._line = around(written, before=action)


def after_witness(client: Client, action: Callable[[], None]) -> None:
    """After the witness is told, before the caller is."""
    witness: Any = client.ledger.witness
    witness.advance = around(witness.advance, after=action)


def before_run(client: Client, action: Callable[[], None]) -> None:
    """Between RESERVE and RUN."""
    meter: Any = client.meter
    meter._run = around(meter._run, before=action)


def after_run(client: Client, action: Callable[[], None]) -> None:
    """Between RUN and COMMIT."""
    ledger: Any = client.ledger
    ledger.settle = around(ledger.settle, before=action)


def before_release(client: Client, action: Callable[[], None]) -> None:
    """Between COMMIT and RELEASE."""
    ledger: Any = client.ledger
    ledger.settle = around(ledger.settle, after=action)


def after_release(client: Client, action: Callable[[], None]) -> None:
    """When the bytes have left."""
    setattr(client, "ask", around(client.ask, after=action))  # noqa: B010


NOTHING, CHARGED, STORED, LEFT = "nothing", "charged", "stored", "left"

POINTS: dict[str, tuple[Any, int, str]] = {
    "before BEGIN of RESERVE": (before_begin, 1, NOTHING),
    "in the transaction of RESERVE": (in_transaction, 1, NOTHING),
    "before COMMIT of RESERVE": (before_commit, 1, NOTHING),
    "after COMMIT of RESERVE, before the witness": (after_commit, 1, CHARGED),
    "within the witness of RESERVE": (within_witness, 1, CHARGED),
    "after the witness of RESERVE": (after_witness, 1, CHARGED),
    "before RUN": (before_run, 1, CHARGED),
    "after RUN": (after_run, 1, CHARGED),
    "before BEGIN of COMMIT": (before_begin, 2, CHARGED),
    "in the transaction of COMMIT": (in_transaction, 2, CHARGED),
    "before COMMIT of COMMIT": (before_commit, 2, CHARGED),
    "after COMMIT of COMMIT, before the witness": (after_commit, 2, STORED),
    "within the witness of COMMIT": (within_witness, 2, STORED),
    "after the witness of COMMIT": (after_witness, 2, STORED),
    "before RELEASE": (before_release, 1, STORED),
    "after RELEASE": (after_release, 1, LEFT),
}
"""Points by name: the hook, at which of its calls, and how far the request is by then."""


@contextmanager
def _ledger(location: str | None) -> Any:
    with folder_in_memory() as folder:
        where = str(folder / "budget.db") if location is None else location
        make_ledger(where, room=len(POINTS))
        yield where, World(folder / "world")


def kill_at_points(location: str | None) -> dict[str, tuple[str, list[str]]]:
    """Kill a process at every point; how far its request came, and what the referee found."""
    found = {}
    with _ledger(location) as (where, world):
        for number, (name, (hook, times, _)) in enumerate(POINTS.items()):
            key = f"key-{number}"
            wait_until_killed(fork(partial(_die_at, where, world, hook, times, key)))
            found[name] = (_reached(where, world, key), problems(where, world, latest=4))
    return found


def _die_at(location: str, world: World, hook: Any, times: int, key: str) -> None:
    client = Client(location, world)
    hook(client, nth(times))
    client.ask(key)


def _reached(location: str, world: World, key: str) -> str:
    found = read_database(location)
    if any(seen.key == key for seen in world.seen("left")):
        return LEFT
    return STORED if key in found.answers else CHARGED if key in found.charges else NOTHING


def kill_while_made(folder: str) -> list[str]:
    """Kill a process that makes a ledger, before or after its first witness is written; what opening it says then."""
    said = []
    for number, hook in enumerate(("_line", "_advance", "replace")):
        location = f"{folder}/{number}.db"
        wait_until_killed(fork(partial(_die_making, location, hook)))
        try:
            make_ledger(location, room=1)
            said.append("opened")
        except Exception as problem:
            said.append(repr(problem))
    return said


def _die_making(location: str, hook: str) -> None:
    if hook == "_line":
        witness_module._line = around(witness_module._line, before=nth(1))
    elif hook == "_advance":
        setattr(Witness, hook, around(Witness._advance, before=nth(1)))
    else:
        setattr(Witness, "_advance", around(Witness._advance, after=nth(1)))  # noqa: B010
    make_ledger(location, room=1)
