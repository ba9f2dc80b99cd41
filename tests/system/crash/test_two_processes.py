"""Two processes on one ledger and one state: one budget, one answer to a key, and who is locked out is out of both."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.conftest import new_database
from tests.system.crash.served import PATIENCE, Connection, Reply, Served, serving

AT_ONCE = 8


@contextlib.contextmanager
def another(served: Served) -> Iterator[Served]:
    """One more process of the same configuration."""
    made = Served(served.folder)
    try:
        yield made
    finally:
        made.kill()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    """Two on the same files."""
    with serving(tmp_path_factory.mktemp("pair")) as one, another(one) as two:
        yield one, two


def answered(served: Served, key: str, token: str = "") -> Reply:
    """Ask, and look again as long as it is said to run."""
    with contextlib.closing(Connection(served.port, token or served.token)) as asking:
        reply, until = asking.ask("visits", key), time.monotonic() + PATIENCE
        while reply.status == 202 or (reply.status == 200 and reply.document["state"] == "running"):
            assert time.monotonic() < until, "it runs for ever"
            time.sleep(0.02)
            reply = asking.look("visits", key)
        return reply


def newcomer(served: Served, name: str) -> dict[str, str]:
    """A new analyst: the token, and its number."""
    with served.connection() as admin:
        grants = [{"role": "analyst", "dataset": "visits"}]
        assert admin.request("POST", "/people", {"name": name, "grants": grants}).status == 201
        made: dict[str, str] = admin.request("POST", f"/people/{name}/tokens", {"label": "for a test"}).document
        return made


def test_a_key_that_is_asked_of_both_at_once_is_charged_once_and_has_one_answer(pair: tuple[Served, Served]) -> None:
    with pair[0].connection() as admin:
        before = admin.request("GET", "/datasets/visits/history").document
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for turn in range(5):
            asked = [threads.submit(answered, served, f"k{turn}") for served in pair * (AT_ONCE // 2)]
            replies = [future.result(PATIENCE).document for future in asked]
            assert {reply["state"] for reply in replies} == {"released"}
            assert len({str(reply["answer"]["rows"]) for reply in replies}) == 1
            assert len({reply["entry"] for reply in replies}) == 1
    # A connection that was idle for that long may have been closed by the server.
    with pair[0].connection() as admin:
        after = admin.request("GET", "/datasets/visits/history").document
        assert _charges(after) == _charges(before) + 5
        assert admin.request("GET", "/ledger/verify").document["holds"] is True


def _charges(history: dict[str, Any]) -> int:
    return sum(line["kind"] == "reserve" for line in history["lines"])


def test_what_is_left_is_given_out_once(pair: tuple[Served, Served]) -> None:
    token = newcomer(pair[0], "bob")["token"]
    with pair[1].connection() as admin:
        limit = {"budget": {"zcdp": "20/1000"}, "why": "a test"}
        assert admin.request("PUT", "/datasets/visits/budgets/bob", limit).status == 200
    with ThreadPoolExecutor(AT_ONCE) as threads:
        asked = [threads.submit(answered, pair[turn % 2], f"k{turn}", token) for turn in range(40)]
        replies = [future.result(PATIENCE) for future in asked]
    codes = sorted("released" if reply.status == 200 else reply.code for reply in replies)
    assert codes == ["over_budget"] * 20 + ["released"] * 20


def test_tokens_and_limits_of_one_hold_in_the_other(pair: tuple[Served, Served]) -> None:
    one, two = pair
    made = newcomer(one, "ann")
    with one.connection() as admin, contextlib.closing(Connection(two.port, made["token"])) as ann:
        assert ann.ask("visits", "k1").status == 200
        limit = {"budget": {"zcdp": "1/1000"}, "why": "a test"}
        assert admin.request("PUT", "/datasets/visits/budgets/ann", limit).status == 200
        # The limit counts from when it was set, whichever process is asked.
        assert [ann.ask("visits", key).status for key in ("k2", "k3")] == [200, 409]
        assert admin.request("DELETE", f"/people/ann/tokens/{made['id']}").status == 200
        assert ann.request("GET", "/me").status == 401


@pytest.mark.parametrize(("trusted", "status"), [("127.0.0.1", 401), ("", 429)], ids=["behind a proxy", "by itself"])
def test_wrong_tokens_are_counted_by_the_sender_that_a_trusted_proxy_names(
    tmp_path: Path, trusted: str, status: int
) -> None:
    with serving(tmp_path, trusted_proxies=trusted) as served:
        guess = "vmt_" + "A" * 43

        def guesses(sender: str, times: int) -> list[int]:
            with contextlib.closing(Connection(served.port, guess)) as asking:
                headers = {"X-Forwarded-For": sender}
                return [asking.request("GET", "/me", **headers).status for _ in range(times)]

        assert guesses("192.0.2.1", 15)[-1] == 429
        assert guesses("192.0.2.2", 1) == [status]


def test_two_that_start_at_once_on_a_server_serve_the_same(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "witnesses"))
    url = new_database(server)
    with serving(tmp_path, ledger=url, state=url) as one, another(one) as two:
        first, second = answered(one, "k").document, answered(two, "k").document
        assert (first["replayed"], second["replayed"]) == (False, True)
        assert first["answer"]["rows"] == second["answer"]["rows"]
