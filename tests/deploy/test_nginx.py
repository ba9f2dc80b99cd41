"""deploy/nginx.conf: nginx takes it, and passes on requests to two processes as the service needs them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.deploy.proxying import SITE, Proxy, proxied, require_nginx, write_site
from tests.system.crash.served import COUNT, Served, serving

from viameter.service.config import Limits
from viameter.service.secrets import guard_of

API = "/privacy/api/v1"
SERVER = {"prefix": "/privacy", "https": "true", "trusted_proxies": "127.0.0.1"}


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Served]]:
    """Two processes that share a ledger and a state."""
    folder = tmp_path_factory.mktemp("service")
    with serving(folder, **SERVER) as one, serving(folder, **SERVER) as other:
        yield [one, other]


@pytest.fixture(scope="module")
def proxy(processes: list[Served], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with proxied(tmp_path_factory.mktemp("nginx"), [one.port for one in processes]) as made:
        yield made


@pytest.fixture
def client(proxy: Proxy, processes: list[Served]) -> Iterator[httpx.Client]:
    with proxy.client(headers={"authorization": f"Bearer {processes[0].token}"}) as made:
        yield made


def test_nginx_takes_the_configuration(tmp_path: Path) -> None:
    main = write_site(tmp_path, [1, 2], plain=3, tls=4)
    command = [require_nginx(), "-t", "-p", str(tmp_path), "-c", str(main)]
    checked = subprocess.run(command, check=False, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert "warn" not in checked.stderr


def test_it_waits_for_longer_than_any_reply_takes() -> None:
    found = re.search(r"proxy_read_timeout\s+(\d+)s;", SITE.read_text())
    assert found is not None and int(found[1]) > Limits().seconds + 5
    size = re.search(r"client_max_body_size\s+(\d+)m;", SITE.read_text())
    assert size is not None and int(size[1]) * 2**20 > Limits().body_bytes
    assert f"client_body_buffer_size  {size[1]}m;" in SITE.read_text(), "questions are written to no disk"


def test_whoever_comes_in_plain_or_without_a_slash_is_sent_on(proxy: Proxy) -> None:
    plain = httpx.get(f"{proxy.plain}/privacy/login", trust_env=False)
    assert (plain.status_code, plain.headers["location"]) == (301, "https://localhost/privacy/login")
    with proxy.client() as client:
        assert client.get("/privacy").headers["location"].endswith("/privacy/")
        assert client.get("/privacy/").headers["location"] == "/privacy/login"
        assert client.get("/privacy/healthz").text == "ok\n"
        assert client.get("/elsewhere").status_code == 404


def test_people_sign_in_below_the_prefix_and_send_forms(proxy: Proxy, processes: list[Served]) -> None:
    with proxy.client() as client:
        form = {"guard": guard_of(""), "token": processes[0].token, "next": "/datasets/visits"}
        forged = client.post("/privacy/login", data=form, headers={"origin": "https://evil.example"})
        assert forged.status_code == 403
        signed_in = client.post("/privacy/login", data=form, headers={"origin": proxy.url})
        assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/privacy/datasets/visits")
        cookie = signed_in.headers["set-cookie"].lower()
        assert "secure" in cookie and "path=/privacy" in cookie and "samesite=lax" in cookie
        assert signed_in.headers["strict-transport-security"]
        page = client.get("/privacy/datasets/visits")
        assert page.status_code == 200
        assert not re.findall(r'(?:href|src|action)="/(?!privacy/)[^"]*"', page.text)


def test_a_question_is_asked_and_found_under_a_key_with_a_slash(client: httpx.Client) -> None:
    headers = {"idempotency-key": "report/May"}
    first = client.post(f"{API}/datasets/visits/releases", json=COUNT, headers=headers)
    assert first.status_code == 200, first.text
    again = client.post(f"{API}/datasets/visits/releases", json=COUNT, headers=headers).json()
    assert again["replayed"] and again["answer"] == first.json()["answer"]
    for at in ("report/May", "report%2FMay"):
        looked = client.get(f"{API}/datasets/visits/releases/{at}")
        assert looked.status_code == 200 and looked.json()["answer"] == first.json()["answer"]


def test_large_replies_arrive_whole(client: httpx.Client, processes: list[Served]) -> None:
    direct = httpx.get(f"http://127.0.0.1:{processes[0].port}{API}/openapi.json", trust_env=False)
    assert len(direct.content) > 50_000
    assert client.get(f"{API}/openapi.json").content == direct.content


def test_bodies_that_are_too_large_are_refused_in_the_words_of_the_service(client: httpx.Client) -> None:
    most = Limits().body_bytes
    said = client.post(f"{API}/datasets/visits/preview", content=b"x" * (most + 1))
    assert (said.status_code, said.json()["error"]["code"]) == (413, "too_large")
    assert client.post(f"{API}/datasets/visits/preview", content=b"x" * 2 * 2**20).status_code == 413


def test_wrong_tokens_are_counted_by_whom_nginx_sees(proxy: Proxy) -> None:
    """Whoever writes another address into each request is still one sender."""
    statuses = set()
    with proxy.client(headers={"authorization": "Bearer vmt_" + "x" * 43}) as client:
        for number in range(30):
            statuses.add(client.get(f"{API}/me", headers={"x-forwarded-for": f"10.0.0.{number}"}).status_code)
    assert 429 in statuses


def test_metrics_are_asked_of_each_process(client: httpx.Client) -> None:
    assert client.get("/privacy/metrics").status_code == 404


def test_a_dataset_stays_with_a_process_and_moves_when_that_is_gone(
    client: httpx.Client, processes: list[Served]
) -> None:
    """The last test of this module: it stops a process."""

    def counts() -> list[float]:
        """How many requests for a schema each process has answered."""
        found = []
        for one in processes:
            text = httpx.get(
                f"http://127.0.0.1:{one.port}/metrics",
                headers={"authorization": f"Bearer {one.token}"},
                trust_env=False,
            ).text
            said = re.search(
                r'viameter_requests_total\{method="GET",route="show_schema",status="200"\} ([0-9.]+)', text
            )
            found.append(0.0 if said is None else float(said[1]))
        return found

    for _ in range(6):
        assert client.get(f"{API}/datasets/visits/schema").status_code == 200
    assert sorted(counts()) == [0, 6]
    assert processes.pop(counts().index(6)).stop() == 0
    for number in range(3):
        assert client.get(f"{API}/datasets/visits/schema").status_code == 200
        reply = client.post(f"{API}/datasets/visits/releases", json=COUNT, headers={"idempotency-key": f"m{number}"})
        assert reply.status_code == 200, reply.text
