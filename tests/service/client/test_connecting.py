"""Connecting: where the token comes from, where it goes, and that it is shown nowhere."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
import traceback
from typing import Any

import httpx
import pytest
from tests.service.client.lines import TOKEN, playing
from tests.service.serving import Running

import viameter as vm
from viameter.errors import ParameterError, ServiceError
from viameter.service.client import connecting
from viameter.service.client.wire import Token


def test_a_connection_names_who_one_is_and_what_one_may_see(serving: Running) -> None:
    with vm.connect(serving.url + "/", token=serving.tokens["analyst-visits"]) as service:
        assert service.me.name == "analyst-visits" and service.me.grants == (("analyst", "visits"),)
        assert service.datasets == ("visits",) == tuple(service) and len(service) == 1
        assert "visits" in service and "stays" not in service
        assert repr(service) == f"<connection to {serving.url} as analyst-visits>"
    assert repr(service).startswith("<closed connection")
    with pytest.raises(ParameterError, match="this connection is closed"):
        _ = service.datasets


def test_the_token_comes_from_the_environment_if_none_is_given(
    serving: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIAMETER_TOKEN", serving.tokens["nobody"] + "\n")
    with vm.connect(serving.url) as service:
        assert service.me.name == "nobody" and service.datasets == ()
    with vm.connect(serving.url, token=serving.tokens["admin"]) as service:
        assert service.me.name == "admin"
    monkeypatch.delenv("VIAMETER_TOKEN")
    with pytest.raises(ParameterError, match="set the environment variable VIAMETER_TOKEN"):
        vm.connect(serving.url)


@pytest.mark.parametrize("name", ["wages", "..", "visits/../stays", "", 7])
def test_a_dataset_that_is_not_there_is_named_with_those_that_are(name: Any, serving: Running) -> None:
    with (
        vm.connect(serving.url, token=serving.tokens["analyst-visits"]) as service,
        pytest.raises(ParameterError, match=r"there is no dataset .* there are: visits"),
    ):
        service[name]


BAD_ADDRESSES = {
    "no scheme": "service.example",
    "another scheme": "ftp://service.example",
    "no host": "https://",
    "a port that is none": "https://service.example:port",
    "half a bracket": "https://[::1",
    "no text": None,
    "a name and a password": "https://ann:hunter2@service.example",
    "a token in the path's end": "https://service.example/?token=hunter2",
    "a fragment": "https://service.example/#hunter2",
}


@pytest.mark.parametrize("kind", BAD_ADDRESSES)
def test_an_address_that_is_none_is_refused_and_not_shown(kind: str) -> None:
    with pytest.raises(ParameterError, match=r"^url: expected an address") as refused:
        vm.connect(BAD_ADDRESSES[kind], token=TOKEN)  # type: ignore[arg-type]
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("host", ["service.example", "10.0.0.7", "localhost.example", "127.0.0.1.example"])
def test_plain_http_goes_to_this_machine_only(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(connecting, "Connection", lambda wire: made.append(wire.address))
    with pytest.raises(ParameterError, match="plain HTTP"):
        vm.connect(f"http://{host}", token=TOKEN)
    vm.connect(f"http://{host}", token=TOKEN, insecure=True)
    vm.connect(f"https://{host}/privacy/", token=TOKEN)
    for here in ("http://localhost:8321", "http://127.0.0.1:8321", "http://[::1]:8321"):
        vm.connect(here, token=TOKEN)
    assert made == [
        f"http://{host}",
        f"https://{host}/privacy",
        "http://localhost:8321",
        "http://127.0.0.1:8321",
        "http://[::1]:8321",
    ]


def test_what_stays_on_this_machine_goes_through_no_proxy(serving: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with vm.connect(serving.url, token=serving.tokens["nobody"], patience=0) as service:
        assert service.me.name == "nobody"


@pytest.mark.parametrize("patience", [-1, float("inf"), float("nan"), "long", True])
def test_patience_is_a_number_of_seconds(patience: Any) -> None:
    with pytest.raises(ParameterError, match=r"^patience="):
        vm.connect("http://localhost:1", token=TOKEN, patience=patience)


def test_without_httpx_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ParameterError, match=r"pip install 'viameter\[client\]'"):
        vm.connect("http://localhost:1", token=TOKEN)


def test_the_client_imports_nothing_of_the_service_and_httpx_only_to_connect() -> None:
    program = """
import sys, viameter as vm
assert not any(name.startswith("viameter.service") for name in sys.modules)
assert callable(vm.connect) and "connect" in vm.__all__
heavy = {"fastapi", "starlette", "uvicorn", "sqlalchemy", "pydantic", "jinja2", "httpx", "ibis", "duckdb", "pandas"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_redirect_is_not_followed() -> None:
    elsewhere: list[str] = []

    def redirect(request: httpx.Request) -> httpx.Response:
        elsewhere.append(request.url.host)
        return httpx.Response(307, headers={"location": "https://elsewhere.example/api/v1/datasets/visits/preview"})

    with playing(redirect, redirect).connect() as made, pytest.raises(ServiceError, match="not followed") as refused:
        made["visits"].agg(n=vm.count()).preview(spend=vm.zcdp("1/10"))
    assert elsewhere == ["service.example"] and refused.value.status == 307


def test_clients_as_they_are_made_follow_no_redirect_and_have_time_limits() -> None:
    with connecting._client(Token(TOKEN), host="service.example") as client:
        assert client.follow_redirects is False and client.trust_env is True
        assert all(value is not None for value in client.timeout.as_dict().values())
    with connecting._client(Token(TOKEN), host="::1") as client:
        assert client.trust_env is False


@pytest.mark.parametrize("token", ["", "  ", 7, f"{TOKEN} x", f"{TOKEN}\nX-Other: 1", TOKEN + "é", TOKEN * 100])
def test_a_token_that_is_none_is_refused_and_not_shown(token: Any) -> None:
    with pytest.raises(ParameterError, match=r"^token") as refused:
        vm.connect("http://localhost:1", token=token)
    assert "s3cret" not in str(refused.value)


def test_the_token_is_in_no_text_error_or_log(serving: Running, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpcore"):
        caplog.set_level(logging.DEBUG, logger=name)
    secret = serving.tokens["analyst-all"]
    texts: list[str] = []
    with vm.connect(serving.url, token=secret) as service:
        table = service["visits"]
        question = table.agg(n=vm.count())
        answer = question.release(spend=vm.zcdp("1/1000"))
        wire = service._wire
        proof: Any = answer.proof
        shown: list[Any] = [service, wire, vars(service), table, table.backend, question, answer, proof]
        texts += [repr(one) for one in [*shown, proof.proofs, wire.client, wire.client.auth, Token(secret).sign]]
        for mistake in (
            lambda: question.release(spend=vm.zcdp(1000)),
            lambda: table.answer("never-asked"),
            lambda: table.limit(rows=99).agg(n=vm.count()).preview(spend=vm.zcdp(1)),
        ):
            with pytest.raises(vm.errors.ViameterError) as refused:
                mistake()
            texts.append("".join(traceback.format_exception(refused.value)))
        with pytest.raises(ParameterError, match="not copied or stored"):
            pickle.dumps(Token(secret))
    worthless = secret[:-4] + "AAAA"
    with pytest.raises(ServiceError) as shut_out:
        vm.connect(serving.url, token=worthless)
    assert (shut_out.value.code, shut_out.value.status) == ("unauthorized", 401)
    texts.append("".join(traceback.format_exception(shut_out.value)))
    with pytest.raises(ServiceError) as unreachable:
        vm.connect("http://127.0.0.1:9", token=secret, patience=0)
    assert unreachable.value.code == "unreachable" and unreachable.value.__context__ is None
    texts.append("".join(traceback.format_exception(unreachable.value)))
    texts.append(caplog.text)
    assert "HTTP Request" in caplog.text  # the library below does log
    assert not any(secret[:-4] in text for text in texts)
