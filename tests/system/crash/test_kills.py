"""Kill -9 of a service under load: what was answered is in the ledger, and what was cut off is never run again."""

from __future__ import annotations

import http.client
import itertools
import random
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.conftest import new_database
from tests.system.crash.referee import problems_of, read_books
from tests.system.crash.served import COUNT, PATIENCE, Connection, Reply, Served, serving, write_config

import viameter as vm
from viameter.service import desk
from viameter.service.config import read_config
from viameter.service.service import open_service

CLIENTS = 5
WARDS = {**COUNT, "group_by": "ward", "keys": ["Cardiology", "Emergency"]}
MEANS = {**COUNT, "aggregates": {"wait": {"mean": "wait", "bounds": [0, 240]}}}


@dataclass
class Asked:
    """A question that a client asked under a key of its own, and the reply, if there was one."""

    key: str
    dataset: str
    question: Mapping[str, Any]
    reply: Reply | None = None


@dataclass
class Load:
    """Clients that ask until the service is gone; one of them asks what takes long, to be cut off in it."""

    served: Served
    name: str
    asked: list[Asked] = field(default_factory=list)

    def run_until_killed(self, *, seconds: float) -> None:
        threads = [threading.Thread(target=self._client, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + PATIENCE
        while sum(one.reply is not None for one in self.asked) < CLIENTS and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(seconds)
        self.served.kill()
        for thread in threads:
            thread.join()

    def _client(self, number: int) -> None:
        connection = Connection(self.served.port, self.served.token)
        try:
            for count in itertools.count():
                question = (COUNT, WARDS, MEANS)[count % 3] if number else COUNT
                one = Asked(f"{self.name}-{number}-{count}", "visits" if number else "slow", question)
                self.asked.append(one)
                one.reply = connection.ask(one.dataset, one.key, one.question)
        except (OSError, http.client.HTTPException):
            return  # killed
        finally:
            connection.close()


def kill_and_restart(folder: Path, location: str, *, rounds: int, seed: int, **settings: Any) -> None:
    """Kill a service so many times under load, and see after each start that all promises are kept."""
    chance = random.Random(seed)
    asked: list[Asked] = []
    stuck: set[str] = set()
    for number in range(rounds):
        with serving(folder, **settings) as served:
            if asked:
                _check(served, location, _some_of(asked, chance), stuck)
            load = Load(served, f"{number}")
            load.run_until_killed(seconds=chance.uniform(0, 0.4))
        asked += load.asked
        assert all(one.reply is None or one.reply.status == 200 for one in load.asked)
        found = read_books(location)
        stuck |= {key for key in found.charges if key not in found.answers}
    assert stuck, "no kill cut a question off"
    with serving(folder, **settings) as served:
        _check(served, location, _some_of(asked, chance), stuck)
        assert served.stop() == 0
    _check_lost(folder, [one for one in asked if one.key in stuck])
    assert problems_of(location) == []


def _some_of(asked: list[Asked], chance: random.Random) -> list[Asked]:
    """All that were not answered, the last that were, and some from before."""
    answered = [one for one in asked if one.reply is not None]
    return [
        *(one for one in asked if one.reply is None),
        *answered[-8:],
        *chance.sample(answered, min(6, len(answered))),
    ]


def _check(served: Served, location: str, asked: list[Asked], stuck: set[str]) -> None:
    assert problems_of(location) == []
    before = read_books(location)
    charged_anew = 0
    with served.connection() as connection:
        for one in {one.key: one for one in asked}.values():
            looked, again = connection.look(one.dataset, one.key), None
            if one.key in before.answers:
                again = connection.ask(one.dataset, one.key, one.question)
                assert (looked.status, again.status) == (200, 200)
                assert looked.body == again.body
                assert again.document["replayed"] is True
                if one.reply is not None:
                    assert one.reply.body.replace(b'"replayed":false', b'"replayed":true') == again.body
            elif one.key in before.charges:
                assert one.reply is None and one.key in stuck
                again = connection.ask(one.dataset, one.key, one.question)
                assert (looked.status, looked.document["state"]) == (200, "running")
                assert (again.status, again.document["state"]) == (202, "running")
                assert again.headers["location"].endswith(f"/datasets/{one.dataset}/releases/{one.key}")
            else:
                # It never got as far as being charged: whoever asks again is answered, once.
                assert one.reply is None and looked.status == 404
                if one.dataset != "slow":
                    again = connection.ask(one.dataset, one.key, one.question)
                    assert (again.status, again.document["replayed"]) == (200, False)
                    one.reply = again
                    charged_anew += 1
    after = read_books(location)
    assert len(after.charges) == len(before.charges) + charged_anew
    assert all(after.answers[key] == content for key, content in before.answers.items())
    assert not stuck & set(after.answers), "what was cut off was run again"
    assert problems_of(location) == []


def _check_lost(folder: Path, asked: list[Asked]) -> None:
    """Once no process can be storing an answer any more, what was cut off is lost, and says so."""
    before, desk.GRACE = desk.GRACE, -1000.0
    service = open_service(read_config(folder / "service.toml"))
    try:
        for one in asked:
            looked = service.desk.look("admin", one.dataset, one.key)
            assert looked["state"] == "lost"
            job = service.desk.ask("admin", one.dataset, looked["question"], one.key)
            assert type(job.future.exception(PATIENCE)).__name__ == "AnswerLost"
    finally:
        service.close()
        desk.GRACE = before


@pytest.fixture
def witnessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The witness of a server's ledger is where the services of this test have it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "witnesses"))


def test_what_a_client_was_told_survives_kills_of_the_service(tmp_path: Path) -> None:
    kill_and_restart(tmp_path, str(tmp_path / "ledger.db"), rounds=2, seed=1)


@pytest.mark.usefixtures("witnessed")
def test_it_survives_with_its_tables_on_a_server(tmp_path: Path, server: str) -> None:
    url = new_database(server)
    kill_and_restart(tmp_path, url, rounds=1, seed=2, ledger=url, state=url)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 15))
def test_it_survives_many_kills(tmp_path: Path, seed: int) -> None:
    kill_and_restart(tmp_path, str(tmp_path / "ledger.db"), rounds=12, seed=seed, budget="100")


@pytest.mark.long
@pytest.mark.usefixtures("witnessed")
def test_it_survives_many_kills_with_its_tables_on_a_server(tmp_path: Path, server: str) -> None:
    url = new_database(server)
    kill_and_restart(tmp_path, url, rounds=12, seed=20, ledger=url, state=url, budget="100")


CUT_OFF = """
import os, sys
from viameter.ledger import Ledger
from viameter.service.config import read_config
from viameter.service.service import open_service
Ledger.define = lambda *args, **options: os._exit(9)
open_service(read_config(sys.argv[1]))
"""


def test_a_registration_that_was_cut_off_before_its_budget_is_finished_at_the_next_start(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    ended = subprocess.run([sys.executable, "-c", CUT_OFF, str(path)], check=False)
    assert ended.returncode == 9
    service = open_service(read_config(path))
    try:
        assert service.catalog.names() == ["endless", "slow", "visits"]
        assert service.ledger.scope("visits").budget == vm.zcdp(1)
        service.desk.ask("admin", "visits", COUNT, "k").future.result(PATIENCE)
        assert vm.zcdp(0) < service.ledger.scope("visits").spent <= vm.zcdp("1/1000")
        assert [one.what for one in service.state.acts(last=100)].count("registered a dataset") == 3
    finally:
        service.close()
