"""Ways in which a service once gave out what it should not, or let itself be held up; each stays closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.service.serving import Running

import viameter as vm
from viameter.service.api.needing import GUARD
from viameter.service.desk import PREVIEWS, Job
from viameter.service.secrets import guard_of
from viameter.service.state import Asked

Run = Callable[..., Running]
WAGES = {"aggregates": {"total": {"sum": "wage", "bounds": [0, 3000]}}, "spend": {"pure": "1/10"}}
COUNT = {"filter": "age > 60", "aggregates": {"total": {"count": True}}, "spend": {"zcdp": "1/100000"}}


def test_an_answer_is_given_to_the_question_that_was_asked_for_it_alone(run_service: Run) -> None:
    running = run_service()
    assert running.ask("analyst-all", "wages", WAGES, key="k1").status_code == 200
    # The tables were restored from a backup that has not seen the question; the ledger has.
    running.service.state.forget("analyst-all", "k1")
    spent = running.spent("visits")
    for _ in range(3):
        refused = running.ask("analyst-all", "visits", COUNT, key="k1")
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "key_taken")
        assert running.api("analyst-all", "GET", "/datasets/visits/releases/k1").status_code == 404
    # Even tables that say that it was this question are not believed.
    running.service.state.remember(Asked("analyst-all", "k1", "visits", COUNT, "2026-01-01T00:00:00Z"))
    assert running.ask("analyst-all", "visits", COUNT, key="k1").status_code == 422
    assert running.api("analyst-all", "GET", "/datasets/visits/releases/k1").status_code == 422
    assert running.spent("visits") == spent
    again = running.ask("analyst-all", "wages", WAGES, key="k1")
    assert again.status_code == 422 or again.json()["replayed"]


def test_a_folder_is_no_table(run_service: Run) -> None:
    running = run_service()
    inner = running.folder / "data" / "inner" if (running.folder / "data").is_dir() else running.folder / "inner"
    inner.mkdir()
    pq.write_table(pa.table({"wage": [1, 2, 3]}), inner / "a.parquet")
    (source,) = {one.document["source"] for one in running.service.state.datasets()}
    body = {"source": source, "unit": {"row": True}, "budget": {"pure": "1"}}
    made = running.api("custodian-all", "POST", "/datasets", json={**body, "name": "a", "table": "inner/a.parquet"})
    assert made.status_code == 201
    refused = running.api("custodian-all", "POST", "/datasets", json={**body, "name": "b", "table": "inner"})
    assert refused.status_code == 422


BODY = {"source": "files", "unit": {"per": "user", "rows": 1}, "budget": {"pure": "1"}}


@pytest.mark.parametrize(
    ("row", "reason"),
    [(b"p1,\xff\n", "line 3 is not UTF-8"), (b'"p1,3\n', "line 3 does not end"), (b"p1\n", "line 3 has")],
)
def test_a_file_that_cannot_be_read_is_refused_to_who_registers_it_and_told_to_nobody_else(
    run_service: Run, row: bytes, reason: str
) -> None:
    running = run_service()
    (source,) = {one.document["source"] for one in running.service.state.datasets()}
    file = running.folder / "data" / "t.csv" if (running.folder / "data").is_dir() else running.folder / "t.csv"
    file.write_bytes(b"user,n\np0,3\n" + row)
    body = {**BODY, "source": source, "name": "t", "table": "t.csv"}
    refused = running.api("custodian-all", "POST", "/datasets", json=body)
    assert refused.status_code == 422 and reason in refused.json()["error"]["message"]
    assert str(file.parent) not in refused.json()["error"]["message"]
    file.write_bytes(b"user,n\np0,3\n")
    assert running.api("custodian-all", "POST", "/datasets", json=body).status_code == 201
    # Opened again, as after a restart, the file is another one.
    running.service.catalog._opened.pop("t")
    file.write_bytes(b"user,n\np0,3\n" + row)
    said = running.api("analyst-all", "GET", "/datasets/t/schema").json()["error"]["message"]
    assert "cannot be read any more" in said and "line" not in said


def test_values_of_another_type_are_refused_unless_they_may_be_null(run_service: Run) -> None:
    running = run_service()
    (source,) = {one.document["source"] for one in running.service.state.datasets()}
    file = running.folder / "data" / "t.csv" if (running.folder / "data").is_dir() else running.folder / "t.csv"
    file.write_bytes(b"user,n\np0,3\np1,NA\n")
    body = {**BODY, "source": source, "name": "t", "table": "t.csv", "types": {"n": "integer"}}
    refused = running.api("custodian-all", "POST", "/datasets", json=body)
    assert refused.status_code == 422 and "1 of 'n' is no integer" in refused.json()["error"]["message"]
    made = running.api("custodian-all", "POST", "/datasets", json={**body, "strict": False})
    assert made.status_code == 201
    registered = running.service.state.dataset("t")
    assert registered is not None and "strict" not in registered.document
    running.service.catalog._opened.pop("t")
    assert running.api("analyst-all", "GET", "/datasets/t/schema").status_code == 200


def test_a_limit_that_is_set_while_a_question_waits_pays_too(run_service: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    running = run_service()
    desk, catalog = running.service.desk, running.service.catalog
    plain = desk._release

    def limited_first(job: Job) -> dict[str, Any]:
        catalog.set_personal("visits", job.asked.by, vm.zcdp("1/1000000"), by="custodian-visits", why="a test")
        return plain(job)

    monkeypatch.setattr(desk, "_release", limited_first)
    refused = running.ask("analyst-visits", "visits", COUNT, key="late")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "over_budget")
    assert refused.json()["error"]["details"]["scope"] == "visits@analyst-visits"


def test_a_form_of_another_host_signs_nobody_in(running: Running) -> None:
    token = running.tokens["analyst-visits"]
    form = {"token": token, GUARD: guard_of("")}
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
        assert running.client().post("/login", data=form, headers=headers).status_code == 403


def test_too_many_previews_at_once_are_told_to_come_back(running: Running) -> None:
    lane = running.service.desk._lane("visits")
    lane.previews += PREVIEWS
    try:
        busy = running.api("analyst-visits", "POST", "/datasets/visits/preview", json=COUNT)
        assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
        # Those of another dataset are none of its concern.
        other = {"aggregates": {"n": {"count": True}}, "spend": {"pure": "1/100"}}
        assert running.api("analyst-wages", "POST", "/datasets/wages/preview", json=other).status_code == 200
    finally:
        lane.previews -= PREVIEWS
    assert running.api("analyst-visits", "POST", "/datasets/visits/preview", json=COUNT).status_code == 200


def test_a_file_that_is_gone_hides_no_other_dataset(run_service: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    running = run_service()
    catalog = running.service.catalog
    plain = catalog.opened

    def lost(name: str) -> Any:
        if name == "wages":
            raise vm.errors.ParameterError("gone")
        return plain(name)

    monkeypatch.setattr(catalog, "opened", lost)
    listed = running.api("analyst-all", "GET", "/datasets")
    assert [one["name"] for one in listed.json()["datasets"]] == ["visits"]


def test_an_analyst_who_asked_little_is_told_where_to_go_on(run_service: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from viameter.service.api import datasets

    monkeypatch.setattr(datasets, "MOST_LOOKED_AT", 2)
    running = run_service()
    assert running.ask("analyst-visits", "visits", COUNT, key="mine").status_code == 200
    for number in range(5):
        assert running.ask("analyst-all", "visits", COUNT, key=f"k{number}").status_code == 200
    found, before = [], None
    for _ in range(10):
        options: dict[str, Any] = {} if before is None else {"params": {"before": before}}
        reply = running.api("analyst-visits", "GET", "/datasets/visits/history", **options).json()
        found += [line["by"] for line in reply["lines"] if line["loss"] is not None]
        before = reply["before"]
        if not reply["more"]:
            break
    assert found == ["analyst-visits"] and before is None
