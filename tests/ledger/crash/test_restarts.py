"""A server that crashes and comes back while clients charge: no charge is lost or doubled, and clients go on."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.ledger.conftest import new_database
from tests.ledger.crash.clients import COST, make_ledger
from tests.ledger.crash.points import around, nth
from tests.ledger.crash.referee import in_the_books, read_database
from tests.ledger.crash.restarts import charge_through_restarts
from tests.processes import in_clean_process
from tests.threads import in_threads

import viameter as vm
from viameter import ledger as ledgers

END_ALL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'viameter-ledger'"


def test_clients_go_on_when_their_server_crashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found, left = in_clean_process(charge_through_restarts, str(tmp_path), restarts=2)
    assert found == []
    assert left == sorted(set(left))


def test_connections_that_are_ended_in_the_middle(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    location, done = new_database(server), threading.Event()
    make_ledger(location, room=1000)
    with ledgers.open(location) as book, psycopg.connect(location, autocommit=True) as other:

        def charge(name: int) -> None:
            for number in range(30):  # more than the ends of connections leave time for
                assert book.reserve(COST, scopes=["visits"], key=f"{name}-{number}").new
                assert book.scope("visits").spent != vm.pure(0)  # others read while some write

        def end() -> None:
            for _ in range(10):
                other.execute(END_ALL)
                done.wait(0.1)

        ending = threading.Thread(target=end)
        ending.start()
        try:
            in_threads(*[lambda name=name: charge(name) for name in range(4)])
        finally:
            done.set()
            ending.join()
        found = read_database(location)
        assert list(in_the_books(found)) == []
        assert len(found.charges) == 120 and found.spent["visits"] == 120 * COST.epsilon
        assert ledgers.verify(book).ok


def test_a_reader_that_is_cut_off_leaves_the_writer_alone(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    location = new_database(server)
    make_ledger(location, room=10)
    with ledgers.open(location) as book, psycopg.connect(location, autocommit=True) as other:
        book.reserve(COST, scopes=["visits"], key="before")
        store: Any = book.store
        writer, backend = store._writer, store._reader.connection.driver_connection.info.backend_pid

        def cut_off() -> None:
            other.execute("SELECT pg_terminate_backend(%s)", [backend])
            assert book.scope("visits").spent == COST  # by a new connection

        store._keep = around(store._keep, before=nth(1, cut_off))
        assert book.reserve(COST, scopes=["visits"], key="meanwhile").new
        assert store._writer is writer and ledgers.verify(book).ok
