"""Datasets that are not asked any more, and budgets that start over: what is refused, what stays, and for whom."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.service.serving import VISITS, WAGES, Running

from viameter.errors import ParameterError
from viameter.service.service import open_service
from viameter.service.state import DatasetRetired

WHY = {"why": "the study ended"}


def reply(running: Running, person: str, path: str, body: Any = WHY) -> tuple[int, Any]:
    """What a person is told who posts something about "visits"."""
    found = running.api(person, "POST", f"/datasets/visits{path}", json=body)
    return found.status_code, found.json()


def test_a_retired_dataset_is_not_asked_and_stays_readable(run_service: Callable[..., Running]) -> None:
    running = run_service()
    first = running.ask("analyst-visits", key="k").json()
    spent = running.spent()
    for person in ("analyst-visits", "auditor-all", "only-admin", "nobody"):
        assert reply(running, person, "/retire")[0] in (403, 404), person
    status, dataset = reply(running, "custodian-visits", "/retire")
    assert (status, dataset["retired"]["by"], dataset["retired"]["why"]) == (200, "custodian-visits", WHY["why"])
    # Again, it is no news; and there is nothing to take back twice.
    assert reply(running, "custodian-visits", "/retire")[0] == 422
    for refused in (running.ask("analyst-visits", key="new"), running.ask("analyst-visits")):
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "retired")
        assert refused.json()["error"]["details"] == dataset["retired"]
    status, said = reply(
        running, "analyst-visits", "/preview", running.ask("analyst-visits", key="k").json()["question"]
    )
    assert (status, said["error"]["code"]) == (409, "retired")
    # What was asked before is answered again, for nothing; another question under its key is none of it.
    again = running.ask("analyst-visits", key="k")
    assert (again.status_code, again.json()["replayed"], again.json()["answer"]) == (200, True, first["answer"])
    other = running.ask("analyst-visits", "visits", {**first["question"], "filter": "age > 3"}, key="k")
    assert other.json()["error"]["code"] == "key_taken"
    entry = first["entry"]
    for path in (
        "",
        "/schema",
        "/budgets",
        "/history",
        f"/history/{entry}",
        f"/history/{entry}/certificate",
        "/releases/k",
    ):
        assert running.api("analyst-visits", "GET", f"/datasets/visits{path}").status_code == 200, path
    listed = running.api("analyst-all", "GET", "/datasets").json()["datasets"]
    assert {one["name"]: one["retired"] is not None for one in listed} == {"visits": True, "wages": False}
    assert running.spent() == spent
    # No second budget for its rows.
    document = {key: value for key, value in VISITS.items() if key != "name"}
    with pytest.raises(ParameterError, match="registered as 'visits'"):
        running.service.catalog.register("second", document, by="x")
    status, dataset = reply(running, "custodian-visits", "/reinstate")
    assert (status, dataset["retired"]) == (200, None)
    assert reply(running, "custodian-visits", "/reinstate")[0] == 422
    assert running.ask("analyst-visits", key="new").status_code == 200
    acts = [(one["what"], one["about"].get("why")) for one in running.api("admin", "GET", "/acts").json()["acts"][:2]]
    assert acts == [("reinstated a dataset", WHY["why"]), ("retired a dataset", WHY["why"])]


def test_another_process_and_a_later_one_know_that_it_is_retired(tmp_path: Path, run_service: Any) -> None:
    running = run_service()
    other = open_service(running.service.config)
    try:
        assert other.catalog.asked_by("visits", "ann") is not None
        running.service.catalog.retire("visits", by="cus", why="over")
        with pytest.raises(DatasetRetired, match=r"by cus \(over\)"):
            other.catalog.asked_by("visits", "ann")
        # Its rows may be gone: it is shown, and no other dataset notices.
        (running.folder / "visits.csv").unlink()
        later = open_service(running.service.config)
        later.close()
        assert running.api("analyst-all", "GET", "/datasets/visits").json()["retired"]["why"] == "over"
    finally:
        other.close()
    for why in ("", "  "):
        with pytest.raises(ParameterError, match="reason"):
            running.service.catalog.retire("wages", by="cus", why=why)
    with pytest.raises(ParameterError, match=r"there is no dataset|retired"):
        running.service.catalog.retire("none", by="cus", why="x")


def test_what_waits_while_its_dataset_is_retired_is_not_charged(run_service: Callable[..., Running]) -> None:
    running = run_service()
    assert running.ask("analyst-visits", key="k").status_code == 200  # read and kept: asked again at once
    spent = running.spent()
    running.service.catalog.retire("visits", by="cus", why="over")
    question = running.api("analyst-visits", "GET", "/datasets/visits/releases/k").json()["question"]
    job = running.service.desk.ask("analyst-visits", "visits", question, "later")
    with pytest.raises(DatasetRetired):
        job.future.result(60)
    assert running.spent() == spent
    assert running.service.state.asked("analyst-visits", "later") is None


# Budgets that start over.


def test_a_budget_starts_over_with_new_rows_and_they_are_read(run_service: Callable[..., Running]) -> None:
    wages = {**WAGES, "renews": "rows", "budget": {"pure": "1000"}}
    running = run_service(datasets=[VISITS, wages])
    asked = {"aggregates": {"n": {"count": True}}, "spend": {"pure": "400"}}
    catalog = running.service.catalog
    catalog.set_personal("wages", "analyst-wages", catalog.scope("wages").budget, by="c", why="x")

    def count() -> Any:
        found = running.ask("analyst-wages", "wages", asked)
        return found.json()["answer"]["rows"][0][0] if found.status_code == 200 else found.json()["error"]["code"]

    other = open_service(running.service.config)
    try:
        assert other.catalog.opened("wages").batch == "000001"
        before = other.catalog.asked_by("wages", "analyst-all")
        assert [count(), count(), count()] == [60, 60, "over_budget"]
        (running.folder / "wages.csv").write_text("worker,wage,city\nw,1,N\n")
        assert running.api("custodian-visits", "POST", "/datasets/wages/renew", json=WHY).status_code == 404
        renewed = running.api("custodian-all", "POST", "/datasets/wages/renew", json={"why": "June"})
        assert renewed.status_code == 200, renewed.text
        for scope in (renewed.json()["dataset"], renewed.json()["people"]["analyst-wages"]):
            assert (scope["spent"]["text"], scope["ever_spent"]["text"]) == ("pure(0)", "pure(800)")
            assert "batch" in scope["renewal"] and "pure(800) in all" in scope["renewal"]
        # The old rows are not asked under the new budget: not here, and not in another process.
        assert [count(), count(), count()] == [1, 1, "over_budget"]
        assert other.catalog.asked_by("wages", "analyst-all") is not before
        assert other.catalog.asked_by("wages", "analyst-all") is other.catalog.asked_by("wages", "analyst-all")
    finally:
        other.close()


def test_a_budget_starts_over_only_as_it_was_registered(run_service: Callable[..., Running]) -> None:
    monthly = {**WAGES, "renews": "month"}
    running = run_service(datasets=[VISITS, monthly])
    for dataset in ("visits", "wages"):
        found = running.api("custodian-all", "POST", f"/datasets/{dataset}/renew", json=WHY)
        assert (found.status_code, found.json()["error"]["code"]) == (422, "invalid")
        with pytest.raises(ParameterError, match=r"starts? over|renews='rows'"):
            running.service.catalog.renew(dataset, by="x", why="x")
    said = running.api("custodian-all", "GET", "/datasets/wages").json()
    assert said["renews"] == "month" and "every month" in said["renewal"]
    assert running.api("custodian-all", "GET", "/datasets/visits").json()["renewal"] is None
    catalog = running.service.catalog
    limit = catalog.set_personal("wages", "nobody", catalog.scope("wages").budget, by="x", why="x")
    assert limit.terms.renews == "month"
    body = {**WAGES, "name": "more", "renews": "minute"}
    assert running.api("custodian-all", "POST", "/datasets", json=body).status_code == 422


def test_a_policy_that_is_not_that_of_the_ledger_is_refused(run_service: Callable[..., Running]) -> None:
    running = run_service(datasets=[VISITS])
    space = running.service.catalog.opened("visits").table.session.space
    document = {key: value for key, value in WAGES.items() if key != "name"}
    other = running.service.ledger
    other.define("wages", running.service.catalog.scope("visits").budget, space, by="x", why="x")
    with pytest.raises(ParameterError, match=r"renews='day'.*never starts over"):
        running.service.catalog.register("wages", {**document, "budget": None, "renews": "day"}, by="x")
