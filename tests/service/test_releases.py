"""Releases: one key is one answer, a budget is never overspent, and a question that fails tells nothing of why."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pytest
from tests.service.serving import API, PATIENCE, QUESTION, VISITS, WAGES, Running, make_folder, running_in
from tests.threads import in_threads

import viameter as vm
from viameter.service import desk
from viameter.tables import Query

Start = Callable[..., Running]
ANALYST = "analyst-visits"


def stripped(reply: httpx.Response) -> bytes:
    """The body of a reply without its number."""
    return reply.content.replace(reply.headers["x-request-id"].encode(), b"NUMBER")


def error(reply: httpx.Response) -> tuple[int, str]:
    """The status and the code of an error."""
    return reply.status_code, reply.json()["error"]["code"]


def until_done(running: Running, person: str, path: str) -> dict[str, Any]:
    """What came of a question, once something did."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found: dict[str, Any] = running.api(person, "GET", path).json()
        if found.get("state") != "running":
            return found
        time.sleep(0.02)
    raise AssertionError("it still runs")


# Keys.


def test_the_same_key_gives_the_same_answer_and_is_charged_once(running: Running) -> None:
    first = running.ask(ANALYST, key="same")
    spent = running.spent()
    again = running.ask(ANALYST, key="same")
    assert (first.status_code, again.status_code) == (200, 200)
    assert (first.json()["replayed"], again.json()["replayed"]) == (False, True)
    assert {**first.json(), "replayed": None} == {**again.json(), "replayed": None}
    # To the byte: numbers too.
    assert first.content.replace(b'"replayed":false', b'"replayed":true') == again.content
    looked = running.api(ANALYST, "GET", "/datasets/visits/releases/same")
    assert looked.content == again.content
    assert running.spent() == spent
    lines = running.api(ANALYST, "GET", "/datasets/visits/history").json()["lines"]
    assert [line["key"] for line in lines].count("same") == 1


def test_a_reply_names_its_own_entry(running: Running) -> None:
    replies = [running.ask(ANALYST, key=f"entry-{number}").json() for number in range(3)]
    replies.append(running.ask(ANALYST, key="entry-1").json())
    lines = running.api(ANALYST, "GET", "/datasets/visits/history").json()["lines"]
    by_key = {line["key"]: line["entry"] for line in lines}
    for reply in replies:
        assert reply["entry"] == by_key[reply["key"]]


def test_without_a_key_noise_is_drawn_anew(running: Running) -> None:
    answers = {str(running.ask(ANALYST).json()["answer"]["rows"]) for _ in range(5)}
    assert len(answers) == 5


@pytest.mark.parametrize("change", [{"spend": {"zcdp": "1/1001"}}, {"filter": "wait > 1"}, {"alpha": "1/10"}])
def test_a_key_of_another_question_is_refused(running: Running, change: dict[str, Any]) -> None:
    assert running.ask(ANALYST, key="taken").status_code == 200
    spent = running.spent()
    assert error(running.ask(ANALYST, question={**QUESTION, **change}, key="taken")) == (422, "key_taken")
    assert running.spent() == spent


def test_a_key_of_another_dataset_is_refused(running: Running) -> None:
    assert running.ask("analyst-all", key="two-sets").status_code == 200
    assert error(running.ask("analyst-all", "wages", key="two-sets")) == (422, "key_taken")
    assert error(running.api("analyst-all", "GET", "/datasets/wages/releases/two-sets")) == (404, "not_found")


def test_everybody_has_keys_of_their_own(running: Running) -> None:
    first = running.ask(ANALYST, key="mine").json()
    other = running.ask("analyst-all", key="mine").json()
    assert (other["replayed"], other["by"]) == (False, "analyst-all")
    assert first["answer"]["rows"] != other["answer"]["rows"]
    assert error(running.api("custodian-visits", "GET", "/datasets/visits/releases/mine")) == (404, "not_found")
    for person in (ANALYST, "analyst-all"):
        read = running.api("auditor-visits", "GET", f"/datasets/visits/releases/mine?by={person}").json()
        assert read["by"] == person


def test_the_order_of_the_names_in_a_question_does_not_matter(running: Running) -> None:
    shuffled = dict(reversed(QUESTION.items()))
    assert running.ask(ANALYST, key="order").status_code == 200
    assert running.ask(ANALYST, question=shuffled, key="order").json()["replayed"] is True


def test_columns_that_are_derived_in_another_order_are_another_question(running: Running) -> None:
    derived = {"late": "wait > 60", "long": "wait > 120"}
    question = {**QUESTION, "derive": derived}
    assert running.ask(ANALYST, question=question, key="derived").status_code == 200
    assert running.ask(ANALYST, question=question, key="derived").json()["replayed"] is True
    turned = {**question, "derive": dict(reversed(derived.items()))}
    assert error(running.ask(ANALYST, question=turned, key="derived")) == (422, "key_taken")


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "\u00e9", "tab\tin"])
def test_what_is_no_key_is_refused(running: Running, key: str) -> None:
    spent = running.spent()
    reply = running.client(ANALYST).post(
        f"{API}/datasets/visits/releases", json=QUESTION, headers=[(b"idempotency-key", key.encode())]
    )
    assert error(reply) == (422, "invalid")
    assert running.spent() == spent


@pytest.mark.parametrize("key", ["a/b", "a//b?c#d%2Fe", "answer.csv", "~!'\"<>&;"])
def test_keys_of_any_signs_can_be_looked_up(running: Running, key: str) -> None:
    assert running.ask(ANALYST, key=key).status_code == 200
    path = httpx.URL("http://x").copy_with(raw_path=b"/" + _quoted(key).encode()).raw_path.decode()
    reply = running.api(ANALYST, "GET", f"/datasets/visits/releases{path}")
    assert (reply.status_code, reply.json()["key"]) == (200, key)


def _quoted(text: str) -> str:
    return "".join(f"%{ord(sign):02X}" for sign in text)


# Questions that take a while.


def slow_datasets(folder: Path) -> list[dict[str, Any]]:
    """Three tables of the same columns: one that fails on a row, one that does not end, one that is fine."""
    make_folder(folder)
    with duckdb.connect(str(folder / "views.duckdb")) as made:
        made.execute("CREATE TABLE fine AS SELECT range AS id, range % 3 AS kind FROM range(50)")
        made.execute("CREATE TABLE others AS SELECT * FROM fine")
        failing = "SELECT id, CASE WHEN id = 7 THEN error('CANARY') ELSE kind END AS kind FROM others"
        made.execute(f"CREATE VIEW failing AS {failing}")
        made.execute(
            "CREATE VIEW stalling AS SELECT a.range AS id, hash(a.range + b.range) % 3 AS kind "
            "FROM range(300000) a, range(300000) b WHERE hash(a.range, b.range) % 1000003 < 3"
        )
    common = {"source": "files", "unit": {"row": True}, "budget": {"pure": "1"}}
    return [{"name": name, "table": f"views.duckdb#{name}", **common} for name in ("fine", "failing", "stalling")]


@pytest.fixture(scope="module")
def stalling(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A service with a table that fails and one that stalls, and a second for each question."""
    folder = tmp_path_factory.mktemp("stalling")
    datasets = slow_datasets(folder / "data")
    with running_in(folder, datasets=[*datasets, VISITS, WAGES], limits={"seconds": 1, "queries": 2}) as made:
        yield made


KINDS = {"aggregates": {"n": {"sum": "kind", "bounds": [0, 2]}}, "spend": {"pure": "1/100"}}


def test_a_question_that_fails_and_one_that_stalls_look_the_same(stalling: Running) -> None:
    names = ("fine", "failing", "stalling")
    before = {name: stalling.spent(name).epsilon for name in names}
    replies = {name: stalling.ask("analyst-all", name, KINDS, key=f"k-{name}") for name in names}
    assert replies["fine"].status_code == 200, replies["fine"].text
    assert error(replies["failing"]) == error(replies["stalling"]) == (422, "failed")
    assert stripped(replies["failing"]) == stripped(replies["stalling"])
    volatile = ("x-request-id", "date")
    headers = [
        {name: value for name, value in replies[one].headers.items() if name not in volatile}
        for one in ("failing", "stalling")
    ]
    assert headers[0] == headers[1]
    charged = {name: stalling.spent(name).epsilon - before[name] for name in names}
    assert charged["fine"] == charged["failing"] == charged["stalling"] > 0
    # Asked again under the same key, and looked up: the same again, for nothing more.
    for name in ("failing", "stalling"):
        spent = stalling.spent(name)
        again = stalling.ask("analyst-all", name, KINDS, key=f"k-{name}")
        assert stripped(again) == stripped(replies[name])
        found = stalling.api("analyst-all", "GET", f"/datasets/{name}/releases/k-{name}").json()
        assert (found["state"], found["answer"]) == ("failed", None)
        assert stalling.spent(name) == spent
    assert "CANARY" not in stalling.log_text()


def test_an_answer_can_be_had_later(stalling: Running) -> None:
    reply = stalling.ask("analyst-all", "stalling", KINDS, key="a/later-one", prefer="wait=0")
    assert (reply.status_code, reply.json()["state"], reply.json()["answer"]) == (202, "running", None)
    assert reply.headers["retry-after"] == "1"
    assert reply.headers["preference-applied"] == "wait"
    place = reply.headers["location"]
    assert place == f"{API}/datasets/stalling/releases/a%2Flater-one"
    found = until_done(stalling, "analyst-all", place.removeprefix(API))
    assert found["state"] == "failed"
    quick = stalling.ask("analyst-all", "fine", KINDS, key="quick", prefer="respond-async, wait=50")
    assert (quick.status_code, quick.json()["state"]) == (200, "released")
    assert "location" not in quick.headers


def test_who_asks_while_it_runs_waits_for_the_same_answer(stalling: Running) -> None:
    stalling.ask("analyst-all", "stalling", KINDS, key="shared", prefer="wait=0")
    changed = {**KINDS, "spend": {"pure": "1/99"}}
    assert error(stalling.ask("analyst-all", "stalling", changed, key="shared")) == (422, "key_taken")
    replies: list[httpx.Response] = []
    in_threads(*[lambda: replies.append(stalling.ask("analyst-all", "stalling", KINDS, key="shared"))] * 4)
    assert {stripped(reply) for reply in replies} == {stripped(replies[0])}
    assert error(replies[0]) == (422, "failed")
    lines = stalling.api("auditor-all", "GET", "/datasets/stalling/history").json()["lines"]
    assert [line["key"] for line in lines].count("shared") == 1


def test_everything_that_is_wrong_with_a_question_is_said_with_its_place(running: Running) -> None:
    wrong = {
        "derive": {"hours": "wait / 60", "late": "weight > 3"},
        "filter": "late and wiat > 60",
        "aggregates": {"n": {"count": True}, "m": {"mean": "ward", "bounds": [0, 1]}},
        "spend": {"zcdp": "1/1000"},
    }
    reply = running.ask(ANALYST, question=wrong, key="all-wrong")
    assert error(reply) == (422, "invalid")
    said = reply.json()["error"]
    # What a column that is wrong would have made is not missed once more.
    assert [one["place"] for one in said["details"]["problems"]] == ["derive.late", "aggregates.m"]
    assert said["message"] == said["details"]["problems"][0]["message"]
    steps = [{"filter": "wiat > 60"}, {"derive": {"late": "weight > 3"}}]
    listed = {"version": 2, "steps": steps, "spend": wrong["spend"]}
    found = running.ask(ANALYST, question=listed, key="all-wrong").json()["error"]["details"]["problems"]
    assert [one["place"] for one in found] == ["steps[0].filter", "steps[1].derive.late"]


def test_many_at_once_under_one_key_get_one_answer(running: Running) -> None:
    spent = Fraction(running.spent("wages").epsilon)
    replies: list[httpx.Response] = []
    in_threads(*[lambda: replies.append(running.ask("analyst-wages", "wages", key="at-once"))] * 8)
    assert {reply.status_code for reply in replies} == {200}
    assert len({str(reply.json()["answer"]) for reply in replies}) == 1
    assert Fraction(running.spent("wages").epsilon) == spent + Fraction(1, 1000)


def test_too_many_waiting_are_told_to_come_back(run_service: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    running = run_service(limits={"queries": 1, "waiting": 1})
    gate, ask = threading.Event(), Query.release_for

    def waiting(*given: Any, **options: Any) -> Any:
        assert gate.wait(PATIENCE)
        return ask(*given, **options)

    monkeypatch.setattr(Query, "release_for", waiting)
    for number in range(2):
        assert running.ask(ANALYST, key=f"full-{number}", prefer="wait=0").status_code == 202
    busy = running.ask(ANALYST, key="too-late")
    assert error(busy) == (503, "busy")
    assert int(busy.headers["retry-after"]) > 0
    assert running.spent() == vm.zcdp(0)
    gate.set()
    for number in range(2):
        assert until_done(running, ANALYST, f"/datasets/visits/releases/full-{number}")["state"] == "released"
    # Nothing of it was kept, so that the key is free.
    assert running.ask(ANALYST, key="too-late").json()["replayed"] is False


# Budgets.


def test_over_budget_destroys_nothing(running: Running) -> None:
    spent = running.spent()
    over = running.ask(ANALYST, question={**QUESTION, "spend": {"zcdp": "3"}}, key="over")
    assert error(over) == (409, "over_budget")
    details = over.json()["error"]["details"]
    assert details["scope"] == "visits"
    assert {"spent", "asked", "left", "budget"} <= set(details)
    assert running.spent() == spent
    assert error(running.api(ANALYST, "GET", "/datasets/visits/releases/over")) == (404, "not_found")
    # The key is free for a question that fits.
    assert running.ask(ANALYST, key="over").json()["replayed"] is False


def test_a_limit_of_ones_own_holds_too(run_service: Start) -> None:
    running = run_service()
    limit = {"budget": {"zcdp": "1/500"}, "why": "a start"}
    path = f"/datasets/visits/budgets/{ANALYST}"
    assert running.ask(ANALYST).status_code == 200
    assert running.api("custodian-visits", "PUT", path, json=limit).status_code == 200
    assert [running.ask(ANALYST).status_code for _ in range(3)] == [200, 200, 409]
    assert running.ask("analyst-all").status_code == 200
    people = running.api("custodian-visits", "GET", "/datasets/visits/budgets").json()["people"]
    assert set(people) == {ANALYST}
    assert people[ANALYST]["share_spent"] > 0.99


def test_a_limit_that_is_set_while_a_question_is_about_to_be_charged_holds(
    run_service: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = run_service()
    asked: list[Any] = []
    ask = Query.release_for

    def after_a_limit_is_set(*given: Any, **named: Any) -> Any:
        if not asked:
            limit = {"budget": {"zcdp": "1/2000"}, "why": "less than the question costs"}
            path = f"/datasets/visits/budgets/{ANALYST}"
            assert running.api("custodian-visits", "PUT", path, json=limit).status_code == 200
        asked.append(given)
        return ask(*given, **named)

    monkeypatch.setattr(Query, "release_for", after_a_limit_is_set)
    spent = running.spent()
    assert error(running.ask(ANALYST)) == (409, "over_budget")
    assert (len(asked), running.spent()) == (2, spent)
    assert running.ask("analyst-all").status_code == 200


def test_what_is_not_understood_costs_nothing(running: Running) -> None:
    spent, head = running.spent(), running.service.ledger.head
    for question in (
        {**QUESTION, "filter": "nope > 1"},
        {**QUESTION, "spend": {"pure": "1/10"}},
        {**QUESTION, "spend": None},
        {**QUESTION, "aggregates": {"n": {"mean": "ward", "bounds": [0, 1]}}},
        {**QUESTION, "unknown": 1},
        {**QUESTION, "filter": {"operation": "eq", "arguments": 3}},
        {**QUESTION, "raw": "yes"},
        {**QUESTION, "edges": [0, None], "group_by": "wait"},
    ):
        assert error(running.ask(ANALYST, question=question, key="not-understood")) == (422, "invalid")
    assert (running.spent(), running.service.ledger.head) == (spent, head)


def test_a_preview_costs_nothing(running: Running) -> None:
    spent, head = running.spent(), running.service.ledger.head
    fits = running.api(ANALYST, "POST", "/datasets/visits/preview", json=QUESTION).json()
    over = running.api(ANALYST, "POST", "/datasets/visits/preview", json={**QUESTION, "spend": {"zcdp": "9"}}).json()
    assert (fits["fits"], over["fits"]) == (True, False)
    assert (running.spent(), running.service.ledger.head) == (spent, head)


def test_of_two_who_race_for_the_last_of_a_budget_one_wins(run_service: Start) -> None:
    small = {**WAGES, "budget": {"pure": "1/10"}}
    running = run_service(datasets=[VISITS, small])
    rounds = 15
    # Each takes all that is left, and then the budget is raised by as much.
    for number in range(rounds):
        replies: list[httpx.Response] = []
        gate = threading.Barrier(2)

        def race(person: str, replies: list[httpx.Response] = replies, gate: threading.Barrier = gate) -> None:
            question = {"aggregates": {"n": {"count": True}}, "spend": {"pure": "1/10"}}
            gate.wait()
            replies.append(running.ask(person, "wages", question))

        in_threads(lambda: race("analyst-wages"), lambda: race("analyst-all"))
        assert sorted(reply.status_code for reply in replies) == [200, 409], number
        assert Fraction(running.spent("wages").epsilon) == Fraction(number + 1, 10)
        raised = {"budget": {"pure": f"{number + 2}/10"}, "why": "another round"}
        assert running.api("custodian-all", "PUT", "/datasets/wages/budget", json=raised).status_code == 200


def test_many_who_ask_at_once_never_overspend(run_service: Start) -> None:
    running = run_service(datasets=[VISITS, {**WAGES, "budget": {"pure": "1/10"}}], limits={"queries": 8})
    question = {"aggregates": {"n": {"count": True}}, "spend": {"pure": "1/100"}}
    running.client("analyst-wages")
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: running.ask("analyst-wages", "wages", question), range(40)))
    assert sorted(reply.status_code for reply in replies) == [200] * 10 + [409] * 30
    assert running.spent("wages") == vm.pure("1/10")
    assert running.api("auditor-all", "GET", "/ledger/verify").json()["holds"] is True


def test_keys_that_are_found_out_are_found_whatever_else_is_asked(run_service: Start) -> None:
    budget = {"budget": {"approx_zcdp": ["5", "1/100"]}}
    running = run_service(datasets=[{**VISITS, **budget}, WAGES], limits={"queries": 4})
    finding = {
        "group_by": "ward",
        "aggregates": {"n": {"count": True}},
        "spend": {"approx_zcdp": ["1/20", "1/100000"]},
    }
    other = {"aggregates": {"n": {"count": True}}, "spend": {"approx_zcdp": ["1/1000", "0"]}}
    finds: list[httpx.Response] = []
    others: list[httpx.Response] = []
    in_threads(
        *[lambda: finds.extend(running.ask("analyst-all", "visits", finding) for _ in range(4))] * 2,
        *[lambda: others.extend(running.ask(ANALYST, "visits", other) for _ in range(12))] * 3,
    )
    assert {reply.status_code for reply in others} == {200}
    assert [reply.text for reply in finds if reply.status_code != 200] == []
    assert all(len(reply.json()["answer"]["rows"]) >= 3 for reply in finds)


# Limits.


def test_the_rate_is_looked_at_before_anything_is_reserved(run_service: Start) -> None:
    running = run_service(limits={"releases_per_minute": 2})
    assert [running.ask(ANALYST).status_code for _ in range(2)] == [200, 200]
    head = running.service.ledger.head
    late = running.ask(ANALYST)
    assert error(late) == (429, "too_many_requests")
    assert int(late.headers["retry-after"]) >= 1
    # Even what could not be understood is not looked at.
    assert error(running.ask(ANALYST, question={"filter": "nope"})) == (429, "too_many_requests")
    assert running.service.ledger.head == head
    assert running.ask("analyst-all").status_code == 200


def test_a_body_that_is_too_large_is_refused(running: Running) -> None:
    most = running.service.config.limits.body_bytes
    head = running.service.ledger.head
    path = f"{API}/datasets/visits/releases"
    as_json = {"content-type": "application/json"}
    long = b'{"filter": "' + b"x" * most + b'"}'
    said = running.client(ANALYST).post(path, content=long, headers=as_json)
    assert error(said) == (413, "too_large")
    parts = (long[at : at + 5000] for at in range(0, len(long), 5000))
    assert error(running.client(ANALYST).post(path, content=parts, headers=as_json)) == (413, "too_large")
    padded = b" " * (most - 200) + b'{"filter": "nope"}'
    assert error(running.client(ANALYST).post(path, content=padded, headers=as_json)) == (422, "invalid")
    assert running.service.ledger.head == head
    assert said.headers["content-security-policy"]


def test_a_service_that_is_stopped_takes_no_more(run_service: Start) -> None:
    running = run_service()
    assert running.ask(ANALYST, key="before").status_code == 200
    assert running.service.desk.close(seconds=1) == 0
    spent = running.spent()
    assert error(running.ask(ANALYST, key="after")) == (503, "shutting_down")
    assert running.spent() == spent


def test_a_refusal_at_the_last_moment_is_told(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """With wait=0 a question may be refused between the waiting and the looking; that is no "not found"."""
    look = desk.Desk.look

    def late(self: Any, person: str, dataset: str, key: str) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while self._jobs and time.monotonic() < end:
            time.sleep(0.01)
        return look(self, person, dataset, key)

    monkeypatch.setattr(desk.Desk, "look", late)
    over = running.ask(ANALYST, question={**QUESTION, "spend": {"zcdp": "3"}}, prefer="wait=0")
    assert error(over) == (409, "over_budget")


def test_an_answer_that_was_never_stored_is_lost_and_stays_charged(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = running.service.ledger
    assert running.ask(ANALYST, key="cut").status_code == 200
    request = ledger.store.request(ANALYST, "cut")
    assert request is not None
    cut = type("Cut", (), {"settled": None, "reserved": request.reserved})()
    spent = running.spent()
    with monkeypatch.context() as patch:
        patch.setattr(ledger.store, "request", lambda *_: cut)
        running_yet = running.ask(ANALYST, key="cut")
        assert (running_yet.status_code, running_yet.json()["state"]) == (202, "running")
        patch.setattr(desk, "GRACE", -1000.0)
        assert error(running.ask(ANALYST, key="cut")) == (410, "answer_lost")
        assert running.api(ANALYST, "GET", "/datasets/visits/releases/cut").json()["state"] == "lost"
    assert running.spent() == spent
