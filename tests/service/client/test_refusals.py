"""What a service says went wrong is the library's own error where there is one, and a ServiceError where not."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import httpx
import pytest
from tests.service.client.lines import loss, playing, problem, released
from tests.service.serving import Running

import viameter as vm
from viameter import errors
from viameter.service.client import Connection
from viameter.service.client.refusals import error_of

AMOUNTS = {"spent": loss("1/3"), "asked": loss("1/2"), "left": loss("1/6"), "budget": loss("1/2")}
KNOWN: dict[str, tuple[int, str, dict[str, Any], type[Exception]]] = {
    "over_budget": (409, "over_budget", {**AMOUNTS, "scope": "visits"}, errors.OverBudget),
    "failed": (422, "failed", {}, errors.SealedError),
    "key_taken": (422, "key_taken", {}, errors.KeyTaken),
    "answer_lost": (410, "answer_lost", {"entry": 7, "at": "2024-05-02"}, errors.AnswerLost),
    "invalid": (422, "invalid", {}, errors.ParameterError),
    "refused": (409, "refused", {}, errors.LedgerError),
    "ledger_unsound": (503, "ledger_unsound", {}, errors.LedgerError),
    "ledger_unavailable": (503, "ledger_unavailable", {}, errors.LedgerUnavailable),
    "source_unavailable": (503, "source_unavailable", {}, errors.SourceUnavailable),
    "forbidden": (403, "forbidden", {}, errors.ServiceError),
    "a code of a later version": (418, "teapot", {}, errors.ServiceError),
    "amounts that cannot be read": (409, "over_budget", {"spent": "much"}, errors.ServiceError),
    "an entry that is none": (410, "answer_lost", {"entry": None}, errors.ServiceError),
}


@pytest.mark.parametrize("name", KNOWN)
def test_every_code_has_its_error(name: str) -> None:
    status, code, details, kind = KNOWN[name]
    said = {"error": {"code": code, "message": "in words", "request": "5f0c", "details": details}}
    found = error_of(status, said, key="k1")
    assert type(found) is kind
    if isinstance(found, errors.ServiceError):
        assert (found.code, found.status, found.request, found.message) == (code, status, "5f0c", "in words")
        assert str(found) == f"in words ({code}, status {status}, request 5f0c)"
    else:
        assert "request 5f0c of the service" in found.__notes__


def test_errors_carry_what_the_service_said() -> None:
    over: Any = error_of(409, _said("over_budget", **AMOUNTS, scope="visits"))
    assert (over.spent, over.asked, over.left, over.budget) == tuple(map(vm.zcdp, ("1/3", "1/2", "1/6", "1/2")))
    assert over.scope == "visits" and "nothing was spent now" in str(over)
    lost: Any = error_of(410, _said("answer_lost", entry=7, at="in May"), key="k1")
    assert (lost.key, lost.entry, lost.at) == ("k1", 7, "in May")
    taken: Any = error_of(422, _said("key_taken"), key="k1")
    assert taken.key == "k1"
    assert "no" in error_of(422, _said("failed")).__notes__


@pytest.mark.parametrize("body", [None, [], "text", {"error": "text"}, {"error": {"code": 7}}, {"detail": "x"}])
def test_what_no_service_would_say_is_not_shown(body: Any) -> None:
    found: Any = error_of(502, body)
    assert type(found) is errors.ServiceError and found.code == "not_understood" and found.request is None
    assert "none of a viameter service" in str(found)


def test_texts_of_a_service_move_no_cursor_and_end() -> None:
    found = str(error_of(403, _said("forbidden", "\x1b[2Jgone\n" + "x" * 10_000)))
    assert "\x1b" not in found and "\n" not in found and len(found) < 2_100


def test_a_service_error_survives_the_way_to_another_process() -> None:
    error = errors.ServiceError("text", code="busy", status=503, request="5f0c")
    for back in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(back) is errors.ServiceError and vars(back) == vars(error) and str(back) == str(error)
    assert str(errors.ServiceError("text", code="unreachable")) == "text (unreachable)"


def test_errors_of_a_real_service(serving: Running, connection: Connection) -> None:
    visits = connection["visits"]
    question = visits.agg(n=vm.count())
    before = visits.spent
    with pytest.raises(errors.OverBudget) as over:
        question.release(spend=vm.zcdp(1000))
    assert over.value.budget == vm.zcdp(100) and over.value.spent == before and over.value.scope == "visits"
    question.release(spend=vm.zcdp("1/1000"), key="taken")
    with pytest.raises(errors.KeyTaken) as taken:
        question.release(spend=vm.zcdp("1/999"), key="taken")
    assert taken.value.key == "taken"
    with pytest.raises(errors.ServiceError, match="nothing was asked of 'visits' under key='nothing'") as nothing:
        visits.answer("nothing")
    assert nothing.value.status == 404
    with vm.connect(serving.url, token=serving.tokens["auditor-visits"]) as auditor:
        with pytest.raises(errors.ServiceError) as forbidden:
            auditor["visits"].agg(n=vm.count()).preview(spend=vm.zcdp("1/1000"))
        assert (forbidden.value.code, forbidden.value.status) == ("forbidden", 403) and forbidden.value.request
        # What others asked is there for those who may read it.
        assert auditor["visits"].answer("taken", by="analyst-all").key == "taken"


def test_an_error_that_time_does_not_mend_is_told_at_once() -> None:
    for reply in (problem(500, "unexpected"), problem(503, "ledger_unsound"), problem(403, "forbidden")):
        played = playing(reply, released)
        with played.connect() as made, pytest.raises(errors.ViameterError):
            made["visits"].agg(n=vm.count()).release(spend=vm.zcdp("1/100"))
        assert len(played.asked) == 1 and played.time.slept == []


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(200, text="<html>Sign in to the network</html>"),
        httpx.Response(200, json=[1, 2]),
        httpx.Response(200, json={"question": "agg(n)"}),
        httpx.Response(200, json={"aggregates": 7}),
        httpx.Response(204),
    ],
    ids=["a page", "a list", "a part", "another shape", "nothing"],
)
def test_a_reply_that_is_none_of_a_service_is_a_service_error(reply: httpx.Response) -> None:
    with playing(reply).connect() as made, pytest.raises(errors.ServiceError) as refused:
        made["visits"].agg(n=vm.count()).preview(spend=vm.zcdp("1/100"))
    assert refused.value.code == "not_understood" and "Sign in" not in str(refused.value)


def _said(code: str, message: str = "no", /, **details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "request": "5f0c", "details": details}}
