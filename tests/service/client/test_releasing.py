"""A release is charged once: whatever happens on the way, it is asked for again under the same key."""

from __future__ import annotations

import io
import re
import sys
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.service.client.lines import MadeTime, body_of, playing, problem, proxy_to, release, released, running
from tests.service.serving import PATIENCE, Running

import viameter as vm
from viameter.errors import AnswerLost, LedgerUnavailable, OverBudget, SealedError, ServiceError
from viameter.service.client import Connection
from viameter.service.client import releasing as protocol
from viameter.service.client.releasing import fresh_key

SPEND = vm.zcdp("1/1000")


def question(made: Connection) -> Any:
    return made["visits"].agg(n=vm.count())


def test_keys_are_fresh_and_have_128_bits() -> None:
    keys = {fresh_key() for _ in range(100)}
    assert len(keys) == 100 and all(re.fullmatch("[0-9a-f]{32}", key) for key in keys)


def test_a_release_is_sent_with_a_key_and_a_time_to_wait() -> None:
    played = playing(released, released, released)
    with played.connect() as made:
        first, second = (question(made).release(spend=SPEND) for _ in range(2))
        assert question(made).release(spend=SPEND, key="mine").key == "mine"
    assert played.keys == {first.key, second.key, "mine"} and len(played.keys) == 3
    assert all(one.headers["prefer"] == "wait=2" for one in played.asked)
    assert all(one.headers["authorization"].startswith("Bearer vmt_") for one in played.asked)
    assert body_of(played.asked[0]) == {"aggregates": {"n": {"count": True}}, "spend": SPEND.to_json()}


TROUBLES = {
    "a refused connection": httpx.ConnectError("refused"),
    "a lost connection": httpx.ReadError("gone"),
    "a reply that breaks off": httpx.RemoteProtocolError("incomplete"),
    "a connection that takes too long": httpx.ConnectTimeout("late"),
    "a reply that takes too long": httpx.ReadTimeout("late"),
    "429": problem(429, "too_many_requests"),
    "502": httpx.Response(502, text="<html>Bad gateway</html>"),
    "503": problem(503, "busy"),
    "503 of the ledger": problem(503, "ledger_unavailable"),
    "504": httpx.Response(504),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_may_go_well_later_is_tried_again_under_the_same_key(trouble: str) -> None:
    played = playing(TROUBLES[trouble], TROUBLES[trouble], released)
    with played.connect() as made:
        answer = question(made).release(spend=SPEND)
    assert len(played.asked) == 3 and played.keys == {answer.key}
    assert len({one.content for one in played.asked}) == 1
    assert len(played.time.slept) == 2 and 0 < played.time.slept[0] < played.time.slept[1]


def test_a_service_that_says_when_to_come_back_is_not_asked_before() -> None:
    played = playing(problem(429, "too_many_requests", after="7"), released)
    with played.connect() as made:
        question(made).release(spend=SPEND)
    assert played.time.slept == [7.0]
    late = playing(problem(429, "too_many_requests", after="301"), released)
    with late.connect() as made, pytest.raises(ServiceError, match="too_many_requests"):
        question(made).release(spend=SPEND)
    assert len(late.asked) == 1 and late.time.slept == []
    dated = playing(problem(503, "busy", after="Wed, 21 Oct 2037 07:28:00 GMT"), released)
    with dated.connect() as made:
        question(made).release(spend=SPEND)
    assert dated.time.slept == [1.0]


def test_patience_ends_and_the_error_names_the_key() -> None:
    def gone(_: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("gone")

    played = playing(*[gone] * 200)
    with played.connect(patience=300) as made, pytest.raises(ServiceError) as refused:
        question(made).release(spend=SPEND, key="k1")
    assert refused.value.code == "unreachable" and refused.value.status is None
    assert any("table.answer('k1')" in note for note in refused.value.__notes__)
    assert sum(played.time.slept) == pytest.approx(300) and played.keys == {"k1"}
    assert max(played.time.slept) <= 15 and len(played.asked) == len(played.time.slept) + 1
    ledger = playing(*[problem(503, "ledger_unavailable")] * 200)
    with ledger.connect(patience=5) as made, pytest.raises(LedgerUnavailable) as unavailable:
        question(made).release(spend=SPEND, key="k1")
    assert any("key='k1'" in note for note in unavailable.value.__notes__)
    none = playing(gone)
    with none.connect(patience=0) as made, pytest.raises(ServiceError):
        question(made).release(spend=SPEND)
    assert len(none.asked) == 1


def test_a_refusal_says_nothing_of_a_key() -> None:
    with playing(problem(403, "forbidden")).connect() as made, pytest.raises(ServiceError) as refused:
        question(made).release(spend=SPEND)
    assert getattr(refused.value, "__notes__", []) == []


def test_a_preview_is_given_up_sooner() -> None:
    played = playing(*[httpx.Response(503)] * 200)
    with played.connect() as made, pytest.raises(ServiceError):
        question(made).preview(spend=SPEND)
    assert sum(played.time.slept) == pytest.approx(10)


def test_a_question_that_runs_is_looked_at_in_growing_pauses_for_as_long_as_it_takes() -> None:
    told: list[str] = []
    played = playing(running, *[running] * 400, released)
    with played.connect(patience=5, progress=told.append) as made:
        answer = question(made).release(spend=SPEND)
    assert [one.method for one in played.asked[:3]] == ["POST", "GET", "GET"] and len(played.keys) == 1
    assert played.asked[1].url.path == f"/api/v1/datasets/visits/releases/{answer.key}"
    slept = played.time.slept
    assert slept[0] == 0.2 and slept == sorted(slept) and max(slept) == 2.0 and sum(slept) > 700
    assert told[0] == "waiting for visits: 0 s" and re.fullmatch(r"waiting for visits: 7\d\d s", told[-1])


def test_trouble_while_a_question_runs_is_waited_out_and_said() -> None:
    told: list[str] = []
    gone, busy = httpx.ConnectError("refused"), problem(503, "busy", after="3")
    played = playing(running, running, gone, gone, running, busy, released)
    with played.connect(progress=told.append) as made:
        question(made).release(spend=SPEND)
    assert [one.method for one in played.asked] == ["POST", *["GET"] * 6]
    assert any("the service does not answer" in text for text in told)
    assert any("the service is busy" in text for text in told) and 3.0 in played.time.slept


def test_patience_begins_anew_with_every_reply() -> None:
    # Three troubles of six seconds each, with replies in between, do not end ten seconds of patience.
    trouble = [problem(503, "busy", after="6")]
    played = playing(running, *trouble, running, *trouble, running, *trouble, released)
    with played.connect(patience=10) as made:
        question(made).release(spend=SPEND)
    assert played.time.slept.count(6.0) == 3


def test_what_came_of_a_question_is_told_as_a_local_table_would() -> None:
    for state, kind in (("failed", SealedError), ("lost", AnswerLost)):
        for replies in ([running, running], []):
            last = httpx.Response(200, json=release("k1", state))
            with playing(*replies, last).connect() as made, pytest.raises(kind) as refused:
                question(made).release(spend=SPEND, key="k1")
            if isinstance(refused.value, AnswerLost):
                assert (refused.value.key, refused.value.entry) == ("k1", 7)
            else:
                assert "what it cost stays charged" in refused.value.__notes__
    odd = httpx.Response(200, json=release("k1", "asleep"))
    with playing(odd).connect() as made, pytest.raises(ServiceError, match="not_understood") as strange:
        question(made).release(spend=SPEND, key="k1")
    assert any("key='k1'" in note for note in strange.value.__notes__)


def test_an_answer_is_had_again_by_its_key_and_waited_for() -> None:
    played = playing(running, running, released)
    with played.connect() as made:
        answer = made["visits"].answer("a+b?c%d#e")
    assert answer.entry == 7 and {one.method for one in played.asked} == {"GET"}
    assert played.asked[0].url.raw_path == b"/api/v1/datasets/visits/releases/a%2Bb%3Fc%25d%23e"


def test_a_terminal_shows_a_line_that_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with playing(running, *[running] * 9, released).connect() as made:
        question(made).release(spend=SPEND)
    text = terminal.getvalue()
    assert "\r\x1b[Kwaiting for visits: 0 s" in text and "waiting for visits: 7 s" in text
    assert text.endswith("\r\x1b[K") and "\n" not in text
    for quiet in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", quiet)
        with playing(running, running, released).connect() as made:
            question(made).release(spend=SPEND)
        assert quiet is None or quiet.getvalue() == ""


# Against a real service.


class Held:
    """Holds back releases of a service until it is told to let go."""

    def __init__(self, serving: Running, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = threading.Event()
        self.began = 0
        desk = serving.service.desk
        real: Any = desk._release

        def held(*given: Any) -> Any:
            self.began += 1
            assert self.go.wait(PATIENCE)
            return real(*given)

        monkeypatch.setattr(desk, "_release", held)
        monkeypatch.setattr(protocol, "WAIT", 1)


@pytest.fixture
def held(serving: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    made = Held(serving, monkeypatch)
    yield made
    made.go.set()


def charges(serving: Running, key: str) -> int:
    """How often a key was charged."""
    entries = serving.service.ledger.entries(1)
    return sum(entry.kind == "reserve" and entry.record["key"] == key for entry in entries)


@pytest.mark.parametrize(("before", "after"), [(0, 1), (0, 3), (1, 0), (2, 2)])
def test_a_connection_that_is_cut_is_charged_once(serving: Running, before: int, after: int) -> None:
    key, spent = f"cut-{before}-{after}", serving.spent()
    with (
        proxy_to(serving.url) as proxy,
        vm.connect(proxy.url, token=serving.tokens["analyst-all"], progress=lambda _: None) as made,
    ):
        made._wire.time = MadeTime().time()
        asked = question(made)
        proxy.cut_before, proxy.cut_after = before, after
        answer = asked.release(spend=SPEND, key=key)
        assert (proxy.cut_before, proxy.cut_after) == (0, 0) and proxy.seen == [key] * (before + after + 1)
        assert answer.replayed == (after > 0)
        assert made["visits"].answer(key).to_columns() == answer.to_columns()
    assert charges(serving, key) == 1
    assert serving.spent() == spent.measure.total([spent, answer.loss])


def test_a_slow_question_is_waited_for(serving: Running, held: Held) -> None:
    told: list[str] = []

    def progress(text: str) -> None:
        told.append(text)
        if len(told) == 3:
            held.go.set()

    with vm.connect(serving.url, token=serving.tokens["analyst-all"], progress=progress) as made:
        answer = question(made).release(spend=SPEND, key="slow")
    assert answer.key == "slow" and held.began == 1 and charges(serving, "slow") == 1
    assert len(told) >= 3 and all(text.startswith("waiting for visits: ") for text in told)


def test_a_question_that_is_refused_while_it_is_waited_for_says_why(serving: Running, held: Held) -> None:
    # The service forgets what was refused before it was charged: nothing stands under its key any more.
    with (
        vm.connect(serving.url, token=serving.tokens["analyst-all"], progress=lambda _: held.go.set()) as made,
        pytest.raises(OverBudget) as refused,
    ):
        question(made).release(spend=vm.zcdp(1000), key="refused")
    assert refused.value.budget == vm.zcdp(100) and charges(serving, "refused") == 0


def test_whoever_stops_waiting_is_told_the_key(serving: Running, held: Held) -> None:
    def stop(_: str) -> None:
        raise KeyboardInterrupt

    with vm.connect(serving.url, token=serving.tokens["analyst-all"], progress=stop) as made:
        with pytest.raises(KeyboardInterrupt) as stopped:
            question(made).release(spend=SPEND, key="stopped")
        with pytest.raises(KeyboardInterrupt) as again:
            question(made).release(spend=SPEND)
    note = stopped.value.__notes__[0]
    assert "key='stopped'" in note and "table.answer('stopped')" in note
    fresh = re.search(r"key='([0-9a-f]{32})'", again.value.__notes__[0])
    assert fresh is not None
    with vm.connect(serving.url, token=serving.tokens["analyst-all"], progress=lambda _: held.go.set()) as made:
        assert made["visits"].answer("stopped").key == "stopped"
        assert made["visits"].answer(fresh[1]).key == fresh[1]
    assert charges(serving, "stopped") == charges(serving, fresh[1]) == 1


def test_a_question_under_a_key_that_was_used_is_answered_for_nothing(connection: Connection) -> None:
    asked = question(connection)
    first = asked.release(spend=SPEND, key="twice")
    spent = connection["visits"].spent
    again = asked.release(spend=SPEND, key="twice")
    assert again.replayed and not first.replayed and again.entry == first.entry
    assert again.to_columns() == first.to_columns() and connection["visits"].spent == spent


@pytest.mark.parametrize("key", ["Q1/2025", "a/../b", "100%", "what?", "#1", "a%2Fb", "~"])
def test_every_key_that_the_service_takes_is_found_again(connection: Connection, key: str) -> None:
    table = connection["visits"]
    first = table.agg(n=vm.count()).release(spend=vm.zcdp("1/1000"), key=key)
    assert table.answer(key).to_dicts() == first.to_dicts()
