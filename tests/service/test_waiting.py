"""Questions that wait: who pays is settled when they are charged, people take turns, what is too large is refused."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.service.serving import PATIENCE, QUESTION, VISITS, WAGES, Running, engine_is_busy, wait_until

import viameter as vm
from viameter.service import desk as desks
from viameter.service.api import releases

Start = Callable[..., Running]
COUNT: dict[str, Any] = {"aggregates": {"n": {"count": True}}, "spend": {"zcdp": "1/100"}}


def held_up(running: Running, ask: Callable[[], Any], meanwhile: Callable[[], Any], dataset: str = "visits") -> Any:
    """Ask while another question has the engine, and do something before it is let go."""
    desk = running.service.desk
    with ThreadPoolExecutor(1) as threads:
        with engine_is_busy(running, dataset):
            asked = threads.submit(ask)
            # It was read, with whoever paid at that time, and waits.
            wait_until(lambda: desk._read and desk._lane(dataset).engine._threads, "nobody asks")
            meanwhile()
        return asked.result(PATIENCE)


def test_a_limit_that_is_set_while_a_question_waits_pays_for_it(run_service: Start) -> None:
    running = run_service()
    limit = {"budget": {"zcdp": "1/1000"}, "why": "a test"}

    def set_limit() -> None:
        reply = running.api("custodian-visits", "PUT", "/datasets/visits/budgets/analyst-visits", json=limit)
        assert reply.status_code == 200

    reply = held_up(running, lambda: running.ask("analyst-visits", question=COUNT), set_limit)
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "over_budget")
    assert running.spent() == vm.zcdp(0)
    cheap = {**COUNT, "spend": {"zcdp": "1/1000"}}
    assert running.ask("analyst-visits", question=cheap).status_code == 200
    assert running.spent("visits@analyst-visits") == running.spent() != vm.zcdp(0)


RENEWED = {**WAGES, "renews": "rows", "budget": {"pure": "1000"}}
COUNT_WAGES: dict[str, Any] = {"aggregates": {"n": {"count": True}}, "spend": {"pure": "400"}}


def renew(running: Running) -> None:
    """One row instead of sixty, and a budget that starts over."""
    (running.folder / "wages.csv").write_text("worker,wage,city\nw,1,N\n")
    reply = running.api("custodian-all", "POST", "/datasets/wages/renew", json={"why": "June"})
    assert reply.status_code == 200


def counted(running: Running) -> Any:
    """How many rows a question of the wages counts; its noise is too small to be seen."""
    return running.ask("analyst-wages", "wages", COUNT_WAGES).json()["answer"]["rows"][0][0]


def test_a_question_that_waited_while_new_rows_came_is_of_the_new_rows(run_service: Start) -> None:
    running = run_service(datasets=[VISITS, RENEWED])
    assert counted(running) == 60
    assert held_up(running, lambda: counted(running), lambda: renew(running), "wages") == 1
    assert running.spent("wages") == vm.pure(400)


def test_a_question_of_new_rows_waits_for_one_of_the_old_rows(run_service: Start) -> None:
    """They are two sessions, of which each would take the engine for its own, and the second would end the first."""
    running = run_service(datasets=[VISITS, RENEWED])
    desk, catalog = running.service.desk, running.service.catalog
    old = catalog.opened("wages")
    with ThreadPoolExecutor(1) as threads:
        with desk._engine("wages"):
            renew(running)
            asked = threads.submit(lambda: counted(running))
            wait_until(lambda: catalog.opened("wages") is not old and desk._lane("wages").engine._threads, "not read")
            with pytest.raises(TimeoutError):
                asked.result(0.3)
        assert asked.result(PATIENCE) == 1


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/people/analyst-visits/grants", {"grants": []}),
        ("PUT", "/people/analyst-visits/grants", {"grants": [{"role": "auditor", "dataset": "visits"}]}),
        ("PATCH", "/people/analyst-visits", {"active": False}),
    ],
)
def test_whoever_is_shut_out_while_a_question_waits_gets_no_answer(
    run_service: Start, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: dict[str, Any]
) -> None:
    monkeypatch.setattr(desks, "LONG_AGO", 0.0)
    running = run_service()

    def shut_out() -> None:
        assert running.api("admin", method, path, json=body).status_code == 200

    reply = held_up(running, lambda: running.ask("analyst-visits", question=COUNT, key="k"), shut_out)
    assert reply.status_code == 404
    assert running.spent() == vm.zcdp(0)


def test_people_take_turns(run_service: Start) -> None:
    running = run_service(limits={"queries": 1})
    desk = running.service.desk
    order: list[str] = []
    release = desk._release

    def noted(job: desks.Job) -> Any:
        order.append(job.asked.by)
        return release(job)

    desk._release = noted  # type: ignore[method-assign]
    waiting = desk._lane("visits").engine._queues
    with engine_is_busy(running):
        many = [desk.ask("analyst-visits", "visits", COUNT, f"k{number}") for number in range(5)]
        wait_until(lambda: order and len(waiting.get("analyst-visits", ())) == 4, "nothing runs")
        one = desk.ask("analyst-all", "visits", COUNT, "k")
        wait_until(lambda: "analyst-all" in waiting, "the other one does not wait")
    for job in (*many, one):
        job.future.result(PATIENCE)
    assert order == ["analyst-visits", "analyst-visits", "analyst-all", *["analyst-visits"] * 3]


def test_an_answer_that_would_be_too_large_is_refused_before_it_costs(
    run_service: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desks, "MOST_CELLS", 3)
    running = run_service()
    reply = running.ask("analyst-visits")  # two groups, two aggregates
    assert reply.status_code == 422 and "at most 3 cells" in reply.text
    assert running.api("analyst-visits", "POST", "/datasets/visits/preview", json=QUESTION).status_code == 422
    assert running.spent() == vm.zcdp(0)


def test_a_large_answer_is_the_same_as_a_small_one(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    small = running.ask("analyst-visits", key="large")
    monkeypatch.setattr(releases, "LARGE", 0)
    large = running.ask("analyst-visits", key="large")
    looked = running.api("analyst-visits", "GET", "/datasets/visits/releases/large")
    assert large.headers["content-type"] == looked.headers["content-type"] == "application/json"
    assert large.json() == looked.json() == {**small.json(), "replayed": True}


@pytest.mark.parametrize(
    "written", [" or ".join(["age > 1"] * 900), "greatest(age, age, age, age) > 1", "age.is_null(1, 2)", "least() > 1"]
)
def test_what_is_badly_formed_is_refused_and_no_surprise(running: Running, written: str) -> None:
    question = {**COUNT, "filter": written}
    for path in ("preview", "releases"):
        reply = running.api("analyst-visits", "POST", f"/datasets/visits/{path}", json=question)
        assert reply.status_code in (200, 422), reply.text
