"""Logs and metrics: lines of JSON and counts that can be read by machines, with nothing in them that is secret."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Callable
from datetime import datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.service.serving import API, QUESTION, Running, keeping_logs

from viameter.service.watching import JsonLines, describe_error, log

Start = Callable[..., Running]
Sample = tuple[str, tuple[tuple[str, str], ...]]
EVENTS = {"request", "release", "stopped"}


def counts(running: Running) -> dict[Sample, float]:
    """The samples of the metrics, read."""
    text = running.client("admin").get("/metrics").text
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_count_what_was_asked(run_service: Start) -> None:
    running = run_service()
    assert running.ask("analyst-visits", key="k").status_code == 200
    assert running.ask("analyst-visits", key="k").status_code == 200
    assert running.ask("analyst-visits", question={**QUESTION, "spend": {"zcdp": "9"}}).status_code == 409
    assert running.ask("analyst-visits", question={**QUESTION, "filter": "nope"}).status_code == 422
    last = running.ask("analyst-wages")
    assert last.status_code == 404
    running.lines_of(last.headers["x-request-id"])
    found = counts(running)

    def releases(outcome: str) -> float:
        return found["viameter_releases_total", (("outcome", outcome),)]

    assert (releases("released"), releases("replayed"), releases("over_budget")) == (1, 1, 1)

    def requests(status: str) -> float:
        return found["viameter_requests_total", (("method", "POST"), ("route", "release"), ("status", status))]

    assert [requests(status) for status in ("200", "409", "422", "404")] == [2, 1, 1, 1]
    assert found["viameter_request_seconds_count", (("route", "release"),)] == 5
    assert found["viameter_questions_in_flight", ()] == 0


def test_metrics_are_open_only_if_the_configuration_says_so(run_service: Start, running: Running) -> None:
    for person, status in (("", 401), ("analyst-visits", 403), ("auditor-visits", 403), ("auditor-all", 200)):
        assert running.client(person).get("/metrics").status_code == status
    opened = run_service(metrics={"open": True})
    assert opened.client().get("/metrics").headers["content-type"].startswith("text/plain; version=0.0.4")


def test_names_of_routes_and_methods_are_few(running: Running) -> None:
    """What somebody writes into a path is no label: else there would be as many as they like."""

    def counted(number: int) -> dict[Sample, float]:
        running.client().get(f"/nope-{number}")
        running.client("admin").get(f"{API}/datasets/x{number}")
        running.client().request(f"METHOD{number}", "/healthz")
        return counts(running)

    assert counted(0).keys() <= counted(1).keys()  # the metrics count their own request, too
    before, after = counted(2), [counted(number) for number in range(3, 30)][-1]
    assert after.keys() == before.keys()
    assert not any("nope" in str(key) or "METHOD" in str(key) for key in after)


def test_every_line_is_an_object_with_a_time(run_service: Callable[..., Running]) -> None:
    running = run_service()
    running.ask("analyst-visits")
    running.client().get("/nope")
    lines = running.log_lines()
    assert lines
    for line in lines:
        assert datetime.fromisoformat(line["at"]).tzinfo is not None
        assert line["level"] in ("info", "warning", "error")
        assert line["event"] in EVENTS


def test_a_request_is_found_by_its_number(running: Running) -> None:
    reply = running.api("analyst-visits", "GET", "/datasets/nope")
    number = reply.json()["error"]["request"]
    assert reply.headers["x-request-id"] == number
    (line,) = running.lines_of(number)
    found = (line["event"], line["method"], line["route"], line["status"], line["person"])
    assert found == ("request", "GET", "show_dataset", 404, "analyst-visits")
    assert line["ms"] >= 0
    numbers = [running.client().get("/healthz").headers["x-request-id"] for _ in range(20)]
    assert len(set(numbers)) == 20
    given = {"x-request-id": "mine\\n"}
    assert running.client().get("/healthz", headers=given).headers["x-request-id"] != "mine\\n"


def test_nothing_that_people_write_makes_a_line_of_its_own(run_service: Callable[..., Running]) -> None:
    running = run_service()
    evil = '\r\n{"event": "forged", "level": "info"}\x1b[31m\u2028'
    running.lines_of(running.client().get("/healthz").headers["x-request-id"])
    before = len(running.log_text().splitlines())
    quoted = "".join(f"%{byte:02X}" for byte in evil.encode())
    sent = [
        running.client("admin").get(f"{API}/datasets/{quoted}"),
        running.client("admin").get(f"/{quoted}?{quoted}"),
        running.api("admin", "POST", "/people", json={"name": evil}),
        running.api("admin", "POST", "/people/nobody/tokens", json={"label": evil}),
        running.api("admin", "PATCH", "/datasets/visits", json={"title": evil}),
        running.ask("analyst-visits", question={**QUESTION, "aggregates": {evil: {"count": True}}}),
        running.ask("analyst-visits", question={**QUESTION, "filter": evil}),
        running.client("admin").get("/healthz", headers={"user-agent": "x{'event': 'forged'}", "referer": "/forged"}),
    ]
    for reply in sent:
        assert reply.status_code < 500
        running.lines_of(reply.headers["x-request-id"])
    lines = running.log_lines()
    assert "forged" not in running.log_text()
    assert "\x1b" not in running.log_text()
    # A line for each request, and one for the release; splitlines knows all ways to break a line.
    assert len(running.log_text().splitlines()) - before == len(sent) + 1
    assert {line["event"] for line in lines} <= EVENTS


def test_no_secret_is_logged(running: Running) -> None:
    running.client().get("/?token=" + running.tokens["admin"])
    running.client().get(f"/{running.tokens['admin']}")
    running.client("admin").get(f"{API}/me", headers={"cookie": f"viameter_login={running.tokens['admin']}"})
    running.api("admin", "DELETE", f"/me/tokens/{running.tokens['admin']}")
    last = running.client().get("/healthz")
    running.lines_of(last.headers["x-request-id"])
    assert not any(token.removeprefix("vmt_") in running.log_text() for token in running.tokens.values())


def int_of(text: str) -> int:
    """Fail with the text in the error."""
    return int(text)


def test_of_an_error_only_its_kind_and_its_place_are_told() -> None:
    with pytest.raises(ValueError, match="CANARY") as caught:
        int_of("CANARY")
    said = describe_error(caught.value)
    assert said["error"] == "ValueError"
    assert re.fullmatch(r"test_watching\.py:\d+ int_of", said["where"][-1])
    assert "CANARY" not in json.dumps(said)


@pytest.mark.parametrize("name", ["uvicorn.error", "uvicorn", "viameter.service"])
def test_what_libraries_log_is_said_without_what_they_put_in(name: str) -> None:
    with keeping_logs() as kept:
        logger = logging.getLogger(name)
        try:
            int_of("CANARY")
        except ValueError:
            logger.exception("failed for %s", "CANARY")
    line = json.loads(kept.getvalue())
    assert "CANARY" not in kept.getvalue()
    assert (line["error"], line["level"]) == ("ValueError", "error")
    assert "failed for %s" in line["event"]


def test_fields_that_are_no_json_are_still_a_line() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("viameter.service")
    logger.addHandler(handler)
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.INFO)
    try:
        log("odd", what=object, text="a\nb")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["text"] == "a\nb"


def test_ready_is_said_only_if_the_ledger_and_the_tables_can_be_read(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert running.client().get("/readyz").text == "ok\n"

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("CANARY")

    monkeypatch.setattr(type(running.service.state), "acts", fail)
    reply = running.client().get("/readyz")
    assert (reply.status_code, reply.text) == (503, "not ready\n")
    assert running.client().get("/healthz").text == "ok\n"


HEADERS = {
    "content-security-policy": "default-src 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}


@pytest.mark.parametrize(
    "path", [f"{API}/me", "/healthz", "/login", "/nope", f"{API}/nope", f"{API}/openapi.json", "/%00"]
)
def test_every_reply_has_the_headers_that_protect(running: Running, path: str) -> None:
    reply = running.client().get(path)
    for name, value in HEADERS.items():
        assert value in reply.headers[name], (path, name)
    assert "strict-transport-security" not in reply.headers
    assert "access-control-allow-origin" not in reply.headers


def test_over_https_browsers_are_told_to_stay_there(run_service: Start) -> None:
    running = run_service(server={"https": True})
    assert "max-age" in running.client().get("/healthz").headers["strict-transport-security"]
