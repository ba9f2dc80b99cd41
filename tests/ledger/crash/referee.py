"""The referee: compares what the world saw with what a ledger says, by reading the database itself."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import psycopg
from tests.ledger.crash.clients import WHO, Client
from tests.ledger.crash.world import World

from viameter import ledger as ledgers
from viameter.errors import AnswerLost


@dataclass
class Found:
    """What the database says: read by SQL and plain JSON, and added up anew, without the library."""

    charges: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """The entries that charged a key: one for each, if all is well."""
    answers: dict[str, bytes | None] = field(default_factory=dict)
    spent: dict[str, Fraction] = field(default_factory=dict)
    budget: dict[str, Fraction] = field(default_factory=dict)
    sums: defaultdict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    nonces: Counter[str] = field(default_factory=Counter)


def read_database(location: str) -> Found:
    """Read all entries, scopes and answers."""
    found, keys = Found(), {}
    for (body,) in rows(location, "SELECT body FROM ledger_entries ORDER BY seq"):
        record = json.loads(body)
        found.nonces[record["nonce"]] += 1
        if record["kind"] == "reserve":
            keys[record["seq"]] = record["key"]
            found.charges.setdefault(record["key"], []).append(record)
            for cost in record["costs"]:
                found.sums[cost["scope"]] += Fraction(cost["loss"]["epsilon"])
    for name, state in rows(location, "SELECT name, state FROM ledger_scopes"):
        scope = json.loads(state)
        found.spent[name] = Fraction(scope["spent"]["epsilon"])
        found.budget[name] = Fraction(scope["terms"]["budget"]["epsilon"])
    for reserved, content in rows(location, "SELECT reserved, content FROM ledger_answers WHERE number = 0"):
        found.answers[keys[reserved]] = None if content is None else bytes(content)
    return found


def rows(location: str, query: str) -> list[tuple[Any, ...]]:
    """Ask the database."""
    if "://" in location:
        with psycopg.connect(location) as server:
            return server.execute(query).fetchall()
    file = sqlite3.connect(location)
    try:
        return file.execute(query).fetchall()
    finally:
        file.close()


def problems(location: str, world: World, client: type[Client] = Client, *, latest: int | None = None) -> list[str]:
    """Whatever breaks a promise: in the books, in what left, and for whoever asks again. No worker runs meanwhile.

    All that was ever asked is asked again, or the latest so many.
    """
    if "://" in location:
        wait_for_server(location)
    found = read_database(location)
    listed = [*in_the_books(found), *outside(found, world)]
    again = client(location, world)
    try:
        if read_database(location).spent != found.spent:
            listed.append("opening the ledger changed what was spent")
        listed += [f"verify: {problem}" for problem in ledgers.verify(again.ledger).problems]
        listed += for_retries(found, again, latest)
    finally:
        again.close()
    if read_database(location).spent != found.spent:
        listed.append("retries were charged")
    return [*listed, *outside(read_database(location), world)]


def wait_for_server(location: str) -> None:
    """Wait until a server has done, or given up, what clients that were killed had asked of it."""
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND backend_type = 'client backend'"
    )
    with psycopg.connect(location, autocommit=True) as connection:
        for _ in range(1200):
            if connection.execute(others).fetchone() == (0,):
                return
            time.sleep(0.05)
    raise AssertionError("the server still works for clients that were killed")


def in_the_books(found: Found) -> Iterator[str]:
    """Sums that are not exact or over the budget, and what was written twice."""
    for scope, spent in found.spent.items():
        if spent != found.sums[scope]:
            yield f"{scope}: {spent} spent, and charges add up to {found.sums[scope]}"
        if spent > found.budget[scope]:
            yield f"{scope}: {spent} spent of {found.budget[scope]}"
    yield from (f"{key}: charged {len(entries)} times" for key, entries in found.charges.items() if len(entries) > 1)
    yield from (f"nonce {nonce} written {times} times" for nonce, times in found.nonces.items() if times > 1)


def outside(found: Found, world: World) -> Iterator[str]:
    """What ran or left and was not charged, ran twice, or is stored otherwise than it left."""
    ran = Counter(seen.key for seen in world.seen("ran"))
    yield from (f"{key}: ran, and is not charged" for key in ran if key not in found.charges)
    yield from (f"{key}: ran {times} times" for key, times in ran.items() if times > 1)
    for _, key, content in world.seen("left"):
        if key not in found.charges:
            yield f"{key}: left, and is not charged"
        if found.answers.get(key) != content:
            yield f"{key}: left as other bytes than are stored"
    told = {seen.key for seen in world.seen("charged")}
    yield from (f"{key}: said to be charged, and is not" for key in told - found.charges.keys())


def for_retries(found: Found, again: Client, latest: int | None) -> Iterator[str]:
    """What whoever asks again gets: the same bytes, or that they are lost."""
    keys = list(found.charges)
    for key in keys if latest is None else keys[-latest:]:
        content = found.answers.get(key)
        for ask in (again.ask, lambda key: again.ledger.replay(key, by=WHO).content):
            try:
                answer = ask(key)
            except AnswerLost as lost:
                if content is not None or lost.entry != found.charges[key][0]["seq"]:
                    yield f"{key}: said to be lost by entry {lost.entry}, which is not so"
            else:
                if content is None:
                    yield f"{key}: charged, lost, and answered after all"
                elif answer != content:
                    yield f"{key}: other bytes on a retry"
