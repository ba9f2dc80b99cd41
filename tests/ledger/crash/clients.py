"""Clients of a ledger: one that asks as users of the library do, and tells the world of every step that can be seen."""

from __future__ import annotations

import os
import threading
from typing import Any

import alembic.command  # noqa: F401  # here, and not in each process that is forked
from tests.ledger.conftest import SPACE
from tests.ledger.crash.world import World

import viameter as vm
from viameter import ledger as ledgers
from viameter.core import Measurement
from viameter.ledger.stores import sql  # noqa: F401  # as above

SCOPE, WHO = "visits", "ann"
COST = vm.pure("1/7")
"""No float: ten of them are not ten sevenths in binary."""


def make_ledger(location: str, *, room: int) -> None:
    """A new ledger with a scope that has room for so many requests of a client."""
    with ledgers.open(location) as book:
        book.define(SCOPE, vm.pure(COST.epsilon * room), SPACE)


class Current(threading.local):
    """The client that asks now. A question is known by what its function holds on to, and must not hold on to it."""

    client: Client


CURRENT = Current()


def noisy(rows: Any) -> int:
    """A number that is never the same twice; the world sees that it was drawn."""
    CURRENT.client.world.see("ran", CURRENT.client.asking)
    return int.from_bytes(os.urandom(6), "big")


def cost(d_in: Any) -> Any:
    """What it costs, at any distance."""
    return COST if d_in else vm.pure(0)


class Client:
    """Asks one noisy question again and again, each time under another key, and hands the bytes out."""

    def __init__(self, location: str, world: World) -> None:
        self.ledger = ledgers.open(location)
        self.world = world
        self.meter = self.ledger.meter(SPACE, [1, 2, 3], scopes=[SCOPE], by=WHO)
        self.measurement = self._measurement()
        self.asking = ""

    def _measurement(self) -> Measurement:
        made: Measurement = vm.measurement(SPACE, function=noisy, measure=vm.PureDP, privacy=cost, trust="for tests")
        return made

    def ask(self, key: str) -> bytes:
        """Ask, and hand out what came of it: from then on the world has it."""
        self.asking, CURRENT.client = key, self
        content = self.answer(key)
        self.world.see("left", key, content)
        return content

    def answer(self, key: str) -> bytes:
        """What the library gives to whoever asks under a key."""
        return self.meter.release(self.measurement, key=key).content

    def close(self) -> None:
        """Let go of the ledger."""
        self.ledger.close()
