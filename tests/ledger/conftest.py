"""Ledgers for tests: a file, or a database of its own on a server that syncs its commits."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import viameter as vm
from viameter import ledger as ledgers
from viameter.ledger import Ledger

SPACE = vm.Space(vm.vectors(int), vm.SymmetricDistance())
_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL server."""
    from tests.tables.engines.postgres_server import running_server

    with running_server(durable=True) as url:
        yield url


def new_database(url: str) -> str:
    """The URL of an empty database on a server: a new one, or one that an earlier test is done with."""
    import psycopg

    if _FREE[url]:
        made = _FREE[url].pop()
        with psycopg.connect(made, autocommit=True, options="-c default_transaction_read_only=off") as connection:
            for statement in _EMPTY:
                connection.execute(statement)
            connection.execute(f'ALTER DATABASE "{connection.info.dbname}" RESET ALL')
    else:
        name = f"ledger_{next(_NUMBERS)}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        made = url.replace("/postgres?", f"/{name}?")
    _IN_USE.append((url, made))
    return made


_EMPTY = (
    "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    "DROP SCHEMA public CASCADE",
    "CREATE SCHEMA public AUTHORIZATION pg_database_owner",
    "GRANT USAGE ON SCHEMA public TO PUBLIC",
)
"""What makes a database as new: nobody is connected, and nothing is in it. To create one takes ten times as long."""

_IN_USE: list[tuple[str, str]] = []
_FREE: defaultdict[str, list[str]] = defaultdict(list)


@pytest.fixture(autouse=True)
def _databases_are_used_again() -> Iterator[None]:
    """What a test was given is free for others when it is over."""
    yield
    for server, made in _IN_USE:
        _FREE[server].append(made)
    _IN_USE.clear()


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a new ledger can be made: a path, or a URL."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # where the witness of a server's ledger is
    if request.param == "sqlite":
        return str(tmp_path / "budget.db")
    return new_database(request.getfixturevalue("server"))


@pytest.fixture
def opened(location: str) -> Iterator[Callable[..., Ledger]]:
    """Opens the ledger at the location, and closes it after the test."""
    made: list[Ledger] = []

    def open_it(**options: Any) -> Ledger:
        made.append(ledgers.open(location, **options))
        return made[-1]

    yield open_it
    for ledger in made:
        ledger.close()


@pytest.fixture
def ledger(opened: Callable[..., Ledger]) -> Ledger:
    """A new ledger with one scope, "visits", of pure(1) for one row added or removed."""
    made = opened()
    made.define("visits", vm.pure(1), SPACE, by="custodian", why="for tests")
    return made
