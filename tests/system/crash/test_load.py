"""Many clients at once: each is answered or told when to come back, and the ledger has exactly what was answered."""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.service.serving import VISITS, Running
from tests.system.crash.referee import problems_of, read_books
from tests.system.crash.served import COUNT, PROGRAM, Connection, Reply, Served, serving

CLIENTS = 64


def ask_at_once(port: int, token: str, keys: Sequence[Sequence[str]]) -> list[Reply]:
    """So many clients that start together, each with keys of its own in its order; all replies."""
    replies: list[Reply] = []
    errors: list[Exception] = []
    together = threading.Barrier(len(keys))

    def client(own: Sequence[str]) -> None:
        connection = Connection(port, token)
        try:
            together.wait()
            for key in own:
                replies.append(connection.ask("visits", key))
        except Exception as problem:
            errors.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=client, args=(own,)) for own in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    return replies


def cost_of(replies: Sequence[Reply]) -> Fraction:
    """What these releases say that they cost, together."""
    return sum((Fraction(one.document["answer"]["loss"]["rho"]) for one in replies), Fraction(0))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service that takes few at once, and not too many a minute."""
    folder = tmp_path_factory.mktemp("load")
    with serving(folder, queries=2, waiting=20, releases_per_minute=150) as made:
        yield made


def test_a_service_with_nothing_to_do_is_small(tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not say how much memory a process has")
    with serving(tmp_path, program=[str(PROGRAM)]) as served:  # as people start it
        with served.connection() as connection:
            assert connection.ask("visits", "first").status == 200
        status = Path(f"/proc/{served.process.pid}/status").read_text(encoding="ascii")
    # What is its own: how many pages of libraries count as its, too, is up to the system's cache.
    found = re.search(r"RssAnon:\s+(\d+) kB", status)
    assert found is not None
    assert int(found[1]) < 220_000


def test_all_clients_are_answered_or_told_when_to_come_back(served: Served) -> None:
    location = str(served.folder / "ledger.db")
    before = read_books(location)
    replies = ask_at_once(served.port, served.token, [[f"{one}-{n}" for n in range(5)] for one in range(CLIENTS)])
    statuses = Counter(one.status for one in replies)
    assert sum(statuses.values()) == 5 * CLIENTS
    assert set(statuses) == {200, 429, 503}
    refused = [one for one in replies if one.status != 200]
    assert {one.code for one in refused} == {"too_many_requests", "busy"}
    assert all(int(one.headers["retry-after"]) >= 1 for one in refused)
    answered = [one for one in replies if one.status == 200]
    after = read_books(location)
    assert set(after.charges) - set(before.charges) == {one.document["key"] for one in answered}
    assert after.spent["visits"] - before.spent["visits"] == cost_of(answered)
    assert problems_of(location) == []


def port_of(running: Running) -> int:
    """Where a service of a thread is."""
    found = urlsplit(running.url).port
    assert found is not None
    return found


def test_of_more_questions_than_fit_exactly_those_that_fit_are_answered(run_service: Callable[..., Running]) -> None:
    running = run_service(datasets=[{**VISITS, "budget": {"zcdp": "1/50"}}])
    replies = ask_at_once(port_of(running), running.tokens["admin"], [[f"{one}"] for one in range(CLIENTS)])
    answered = [one for one in replies if one.status == 200]
    each = cost_of(answered[:1])
    assert len(answered) == Fraction(1, 50) // each == 20
    assert {(one.status, one.code) for one in replies if one.status != 200} == {(409, "over_budget")}
    assert running.spent().rho == cost_of(answered) == 20 * each
    assert problems_of(running.service.config.storage.ledger) == []
    # What was refused left nothing behind: with more budget, its key is as good as new, for another question too.
    charged = read_books(running.service.config.storage.ledger).charges
    key = next(f"{one}" for one in range(CLIENTS) if f"{one}" not in charged)
    assert running.api("admin", "GET", f"/datasets/visits/releases/{key}").status_code == 404
    raised = {"budget": {"zcdp": "1"}, "why": "for tests"}
    assert running.api("admin", "PUT", "/datasets/visits/budget", json=raised).status_code == 200
    assert running.ask("admin", question={**COUNT, "filter": "wait > 60"}, key=key).status_code == 200


def test_a_key_is_charged_once_however_many_ask_under_it(run_service: Callable[..., Running]) -> None:
    running = run_service(datasets=[VISITS])
    chance, names = random.Random(3), [f"key {number}".replace(" ", "-") for number in range(6)]
    orders = [chance.sample(names, len(names)) for _ in range(24)]
    replies = ask_at_once(port_of(running), running.tokens["admin"], orders)
    assert {one.status for one in replies} == {200}
    bodies: dict[str, set[bytes]] = {}
    for one in replies:
        same = one.body.replace(b'"replayed":false', b'"replayed":true')
        bodies.setdefault(one.document["key"], set()).add(same)
    assert {key: len(found) for key, found in bodies.items()} == dict.fromkeys(names, 1)
    books = read_books(running.service.config.storage.ledger)
    assert books.charges == dict.fromkeys(names, 1)
    assert problems_of(running.service.config.storage.ledger) == []
