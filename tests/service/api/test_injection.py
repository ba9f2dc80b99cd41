"""What hostile people write: names that are SQL or paths, numbers that never end, rows by another name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pytest
from tests.service.serving import API, QUESTION, VISITS, WAGES, Running, make_folder, running_in

import viameter as vm

Start = Callable[..., Running]
ANALYST = "analyst-visits"
PATIENT = 20.0
"""Seconds in which even a machine with much else to do refuses a question; what hangs takes for ever."""
NASTY = [
    "'; DROP TABLE viameter_people; --",
    'x"; DELETE FROM viameter_tokens; --',
    "{{7*7}}",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "\u202eevil",
    "\u0000",
    "line\nbreak\r\nSet-Cookie: x=y",
    "a" * 5000,
    "\U0001f600",
    "__class__",
    "\\u0000",
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with files of many names in its folder."""
    folder = tmp_path_factory.mktemp("injection")
    files = folder / "data"
    make_folder(files)
    with duckdb.connect(str(files / "shop.duckdb")) as made:
        made.execute("CREATE TABLE Sales AS SELECT range AS id, range % 3 AS kind FROM range(50)")
        made.execute("CREATE SCHEMA other")
        made.execute("CREATE TABLE other.Sales AS SELECT range AS id FROM range(50)")
    for name in ("a", "b", "c", "[ab]"):
        (files / f"{name}.csv").write_text("x,y\n1,2\n")
    (folder / "outside.csv").write_text("x,y\n1,2\n")
    (files / "sub").mkdir()
    (files / "sub" / "d.csv").write_text("x,y\n1,2\n")
    (files / "link-out.csv").symlink_to(folder / "outside.csv")
    (files / "link-in.csv").symlink_to(files / "visits.csv")
    (files / "folder-out").symlink_to(folder)
    os.link(files / "visits.csv", files / "hard.csv")
    os.link(files / "shop.duckdb", files / "hard.duckdb")
    with running_in(folder) as running:
        yield running


def send(running: Running, document: Any, kind: str = "preview", person: str = ANALYST) -> httpx.Response:
    """Send a question, and see that it does not take for ever and is no surprise."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    began = time.monotonic()
    reply = running.client(person).post(
        f"{API}/datasets/visits/{kind}",
        content=body,
        headers={"content-type": "application/json"},
        timeout=PATIENT,
    )
    assert time.monotonic() - began < PATIENT
    assert reply.status_code < 500, reply.text
    return reply


def register(running: Running, **changes: Any) -> httpx.Response:
    """Register a dataset."""
    document = {"name": "new", "source": "files", "table": "a.csv", "unit": {"row": True}, "budget": {"pure": "1"}}
    body = json.dumps({**document, **changes}).encode()
    headers = {"content-type": "application/json"}
    return running.client("custodian-all").post(f"{API}/datasets", content=body, headers=headers)


def question(**changes: Any) -> dict[str, Any]:
    """A question that is fine but for the changes; None leaves something out."""
    made = {"aggregates": {"n": {"count": True}}, "spend": {"zcdp": "1/10000"}, **changes}
    return {name: value for name, value in made.items() if value is not None}


# Texts.


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text)[:24])
def test_texts_are_data_wherever_they_stand(database: Running, text: str) -> None:
    where = [
        question(filter={"operation": "eq", "arguments": [{"column": "ward"}, {"value": text}]}),
        question(filter={"column": text}),
        question(filter={"operation": text, "arguments": []}),
        question(filter={"value": 1, "kind": text}),
        question(filter=text),
        question(derive={text: "wait + 1"}),
        question(group_by=text),
        question(group_by="ward", keys=[text, "Emergency"]),
        question(group_by="ward", keys={text: ["Emergency"]}),
        question(aggregates={text: {"count": True}}),
        question(aggregates={"n": {text: "wait", "bounds": [0, 1]}}),
        question(aggregates={"n": {"mean": text, "bounds": [0, 1]}}),
        question(aggregates={"n": {"quantile": "wait", "q": text, "bounds": [0, 1]}}),
        question(heavy_hitters=text, aggregates=None),
        question(spend={text: "1"}),
        question(spend={"zcdp": text}),
        question(spend={"measure": text}),
        question(alpha=text),
        question(spend=None, within={text: 5}),
        question(weights={text: 1}),
        {text: 1},
    ]
    for one in where:
        reply = send(database, one)
        assert reply.headers["content-type"] == "application/json"
        assert "set-cookie" not in reply.headers
        assert len(reply.content) < 100_000
    assert database.service.state.person("admin") is not None
    assert len(database.service.state.tokens("admin")) >= 1


def test_a_text_that_is_sql_is_a_value_like_others(database: Running) -> None:
    for text in ("'; DROP TABLE visits; --", "Robert'); --", 'a"b', "a\\'b", "\U0001f600"):
        asked = question(group_by="ward", keys=["Emergency", text], aggregates={text: {"count": True}})
        answer = send(database, asked, "releases").json()["answer"]
        assert [row[0] for row in answer["rows"]] == ["Emergency", text]
        assert answer["columns"][1] == text
        by_filter = question(filter={"operation": "eq", "arguments": [{"column": "ward"}, {"value": text}]})
        assert send(database, by_filter, "releases").status_code == 200
    assert send(database, QUESTION, "releases").status_code == 200


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text)[:24])
def test_names_in_paths_find_nothing(database: Running, text: str) -> None:
    quoted = urllib.parse.quote(text[:60], safe="")
    for path in (
        f"/datasets/{quoted}",
        f"/datasets/{quoted}/history",
        f"/datasets/visits/history/{quoted}",
        f"/datasets/visits/releases/{quoted}",
        f"/people/{quoted}/tokens",
    ):
        reply = database.api("admin", "GET", path)
        assert reply.status_code in (404, 422), (path, reply.status_code)
        assert reply.headers["content-type"] == "application/json"
    for method, path, body in (
        ("PATCH", f"/people/{quoted}", {"active": False}),
        ("PUT", f"/people/{quoted}/grants", {"grants": []}),
        ("POST", f"/people/{quoted}/tokens", {}),
        ("DELETE", f"/people/{quoted}/tokens/{quoted}", None),
        ("DELETE", f"/me/tokens/{quoted}", None),
        ("PUT", f"/datasets/visits/budgets/{quoted}", {"budget": {"zcdp": "1"}, "why": "x"}),
        ("PUT", f"/datasets/visits/people/{quoted}", {"roles": []}),
    ):
        assert database.api("admin", method, path, json=body).status_code in (404, 405), (method, path)


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text)[:24])
def test_names_that_are_given_are_letters_and_digits(database: Running, text: str) -> None:
    people = database.service.state.people()
    added = database.api("admin", "POST", "/people", json={"name": text})
    grants = {"grants": [{"role": "analyst", "dataset": text[:64]}]}
    granted = database.api("admin", "PUT", "/people/nobody/grants", json=grants)
    assert {added.status_code, granted.status_code, register(database, name=text).status_code} == {422}
    assert register(database, source=text).status_code == 422
    assert register(database, types={"x": text}).status_code == 422
    assert register(database, unit={"per": text, "rows": 1}).status_code == 422
    assert register(database, columns={text: {"description": ""}}).status_code == 422
    assert database.service.state.people() == people
    assert [one["name"] for one in database.api("admin", "GET", "/datasets").json()["datasets"]] == ["visits", "wages"]


@pytest.mark.parametrize("name", ["admin ", "admin\n", "Admin\u200b", "service", "*", "visits@x", ".", "-x", "", "a/b"])
def test_nobody_is_called_so(database: Running, name: str) -> None:
    assert database.api("admin", "POST", "/people", json={"name": name}).status_code == 422


# Files.


@pytest.mark.parametrize(
    "table",
    [
        "../outside.csv",
        "sub/../../outside.csv",
        "link-out.csv",
        "folder-out/outside.csv",
        "/etc/passwd",
        "~/x.csv",
        "*.csv",
        "?.csv",
        "[ab].csv",
        "a.csv\0.parquet",
        "a.csv\n",
        " a.csv",
        ".",
        "..",
        "/",
        "sub",
        "a" * 300,
        "sub/" * 70,
        "http://example.org/x.csv",
        "s3://bucket/x.csv",
        "file:///etc/passwd",
        "data:,x",
        "postgresql://x/y",
        "a.csv#x",
        "shop.duckdb",
        "shop.duckdb#",
        "shop.duckdb#nope",
        'shop.duckdb#"Sales"',
        "shop.duckdb#Sales; DROP TABLE Sales",
        "shop.duckdb#information_schema.tables; --",
        "shop.duckdb#main.Sales.x",
        "shop.duckdb#.Sales",
        "shop.duckdb#Sales.",
        "\ud800.csv",
        "a.csv'; ATTACH 'other.db' AS y; --",
        "read_csv('/etc/passwd')",
    ],
    ids=lambda table: ascii(table)[:30],
)
def test_only_what_is_in_the_folder_can_be_registered(database: Running, table: str) -> None:
    reply = register(database, table=table)
    assert reply.status_code == 422, reply.text
    assert "root:" not in reply.text
    assert database.service.catalog.names() == ["visits", "wages"]
    assert Path(database.folder / "shop.duckdb").exists()


def test_the_same_rows_have_one_budget(run_service: Start, tmp_path: Path) -> None:
    files = tmp_path / "service-0" / "data"
    make_folder(files)
    with duckdb.connect(str(files / "shop.duckdb")) as made:
        made.execute("CREATE TABLE Sales AS SELECT range AS id, range % 3 AS kind FROM range(50)")
        made.execute("CREATE SCHEMA other")
        made.execute("CREATE TABLE other.Sales AS SELECT range AS id FROM range(50)")
    (files / "sub").mkdir()
    (files / "link.csv").symlink_to(files / "visits.csv")
    (files / "loop").symlink_to(files)
    os.link(files / "visits.csv", files / "hard.csv")
    sources = {"files": {"folder": "data"}, "same": {"folder": "data/../data"}, "inner": {"folder": "data/sub/.."}}
    running = run_service(sources=sources)
    absolute = str(files / "visits.csv")
    for table in (
        "visits.csv",
        "./visits.csv",
        "sub/../visits.csv",
        "link.csv",
        "loop/visits.csv",
        "hard.csv",
        absolute,
    ):
        for source in sources:
            reply = register(running, name="again", source=source, table=table)
            assert reply.status_code == 422, (source, table, reply.text)
            assert "'visits'" in reply.json()["error"]["message"]
    assert register(running, name="sales", table="shop.duckdb#Sales").status_code == 201
    os.link(files / "shop.duckdb", files / "hard.duckdb")
    for table in (
        "shop.duckdb#sales",
        "shop.duckdb#SALES",
        "shop.duckdb#main.Sales",
        "loop/shop.duckdb#Main.sales",
        "hard.duckdb#sales",
    ):
        assert register(running, name="again", table=table).status_code == 422, table
    # And others have one of their own.
    assert register(running, name="others", table="shop.duckdb#other.Sales").status_code == 201
    assert running.service.catalog.names() == ["others", "sales", "visits", "wages"]


def test_a_budget_that_is_refused_leaves_no_dataset_behind(database: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise vm.errors.LedgerUnavailable("the disk is full")

    monkeypatch.setattr(type(database.service.ledger), "define", refuse)
    assert register(database, table="b.csv").status_code == 503
    monkeypatch.undo()
    assert database.service.catalog.names() == ["visits", "wages"]
    assert database.api("admin", "GET", "/datasets").status_code == 200


def test_a_budget_of_other_rows_is_not_taken(database: Running) -> None:
    ledger = database.service.ledger
    space = database.service.catalog.opened("visits").table.session.space
    ledger.define("left-over", vm.pure(1), space, by="custodian-all", why="of something else")
    reply = register(database, name="left-over", table="c.csv", budget={"pure": "1"})
    assert reply.status_code in (409, 422), reply.text
    assert database.service.catalog.names() == ["visits", "wages"]
    assert database.api("admin", "GET", "/datasets").status_code == 200


# Numbers and sizes.

HUGE = [
    "1e999999999",
    "-1e999999999",
    "1e-999999999",
    "9" * 5000,
    "1/" + "9" * 5000,
    "1/0",
    "0/0",
    "nan",
    "inf",
    "-inf",
    "Infinity",
    "1e",
    "1/2/3",
    "0x10",
    "1_000",
    "",
    " ",
    "\u0661",
    "1e99999999999999999999999",
    "--1",
    "1/-2",
]


READING = """
import json, sys
import viameter as vm
from viameter.tables.cost import cost_from_json
from viameter.tables.document import question_from_json
table = vm.open({"wait": [1, 2]}, unit=vm.per_row(), budget=vm.zcdp(1))
for one in json.load(sys.stdin):
    try:
        table.query(question_from_json(one)).preview_for(cost_from_json(one))
    except vm.errors.ViameterError:
        pass
print("done")
"""


def with_number(number: str) -> list[dict[str, Any]]:
    """Questions with a number in every place that takes one as text."""
    return [
        question(spend={"zcdp": number}),
        question(spend={"measure": "zcdp", "rho": number}),
        question(spend={"approx_zcdp": ["1", number]}),
        question(alpha=number),
        question(spend=None, within={"n": number}),
        question(weights={"n": number}),
        question(aggregates={"n": {"quantile": "wait", "q": number, "bounds": [0, 1]}}),
        question(aggregates={"n": {"mean": "wait", "bounds": [0, number]}}),
    ]


@pytest.fixture(scope="module")
def _numbers_end() -> None:
    """Read all of them in a process of its own first: one that never ends would take the whole test run with it."""
    asked = [one for number in HUGE for one in [*with_number(number), question(filter=f"wait > {number}")]]
    done = subprocess.run(
        [sys.executable, "-c", READING],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


@pytest.mark.usefixtures("_numbers_end")
@pytest.mark.parametrize("number", HUGE, ids=lambda number: number[:16] or "empty")
def test_numbers_in_text_never_hang_and_are_refused(database: Running, number: str) -> None:
    for one in with_number(number):
        reply = send(database, one)
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid"), one
    for body in (
        {"budget": {"zcdp": number}, "why": "x"},
        {"budget": {"measure": "pure", "epsilon": number}, "why": "x"},
    ):
        for path in ("/datasets/visits/budget", f"/datasets/visits/budgets/{ANALYST}"):
            assert database.api("custodian-all", "PUT", path, json=body).status_code == 422
    assert register(database, budget={"pure": number}).status_code == 422
    text = send(database, question(filter=f"wait > {number}"))
    assert text.status_code in (200, 422)


@pytest.mark.parametrize("number", [b"1e999999999", b"-1e400", b"NaN", b"Infinity", b"-Infinity", b"9" * 10_000])
def test_numbers_of_json_that_are_none(database: Running, number: bytes) -> None:
    for template in (
        b'{"filter": %s, "spend": {"zcdp": "1/1000"}}',
        b'{"alpha": %s, "spend": {"zcdp": "1/1000"}}',
        b'{"top": %s, "group_by": "ward", "keys": ["a"], "spend": {"zcdp": "1/1000"}}',
        b'{"group_by": "wait", "edges": [0, %s], "spend": {"zcdp": "1/1000"}}',
        b'{"within": {"n": %s}}',
        b'{"limit": {"rows": %s}, "spend": {"zcdp": "1/1000"}}',
        b'{"aggregates": {"m": {"mean": "wait", "bounds": [0, %s]}}, "spend": {"zcdp": "1/1000"}}',
        b'{"group_by": "wait", "keys": [%s], "spend": {"zcdp": "1/1000"}}',
        b'{"spend": {"zcdp": %s}}',
    ):
        assert send(database, template.replace(b"%s", number)).status_code in (400, 422), template
    body = b'{"columns": {"ward": {"bounds": [0, %s]}}}'.replace(b"%s", number)
    headers = {"content-type": "application/json"}
    told = database.client("custodian-all").patch(f"{API}/datasets/visits", content=body, headers=headers)
    assert told.status_code in (400, 422)
    assert database.api(ANALYST, "GET", "/datasets/visits/schema").status_code == 200


LARGE: list[dict[str, Any]] = [
    question(limit={"rows": 10**400}),
    question(limit={"groups": 10**30}, group_by="ward", keys=["a"]),
    question(group_by="ward", keys=["a", "b"], top=10**400, aggregates=None),
    question(aggregates={"m": {"mean": "wait", "bounds": [0, 10**400]}}),
    question(aggregates={"m": {"median": "wait", "bounds": [-(10**18), 10**18]}}),
    question(filter={"operation": "gt", "arguments": [{"column": "wait"}, {"value": 10**100}]}),
    question(filter="wait ** 999999999 > 1"),
    question(filter="10 ** 10 ** 10 > wait"),
    question(filter="'a' * 9999999999 == ward"),
    question(filter="wait > 1 << 99999999999"),
    question(filter="wait > " + "9" * 5000),
    question(filter="(" * 300 + "wait" + ")" * 300 + " > 1"),
    question(filter="not " * 5000 + "wait > 1"),
    question(filter="-" * 50_000 + "wait > 1"),
    question(filter=" and ".join(["wait > 1"] * 5000)),
    question(filter="+".join(["wait"] * 20_000) + " > 1"),
    question(filter="wait > 1" + " " * 100_000),
    question(aggregates={f"a{number}": {"count": True} for number in range(101)}),
    question(derive={f"d{number}": "wait + 1" for number in range(41)}),
    question(group_by="wait", edges=list(range(1001))),
    question(group_by="ward", keys=[f"k{number}" for number in range(20_000)], aggregates={"n": {"count_units": True}}),
    question(group_by=["ward", "wait"], keys={"ward": ["x"] * 400, "wait": list(range(400))}),
    question(spend=None, within={"n": "1e-3000"}),
    question(spend=None, within={"n": "1e3000"}),
    question(alpha="1e-3900"),
    question(spend={"zcdp": "1/" + "9" * 3900}),
    question(weights={"n": "1e-3900"}),
    question(aggregates={"m": {"mean": "wait", "bounds": ["1e-3900", "1"]}}),
]


@pytest.mark.parametrize("asked", LARGE, ids=lambda asked: json.dumps(asked)[:60])
def test_questions_that_are_large_in_some_way_are_soon_done_with(database: Running, asked: dict[str, Any]) -> None:
    assert send(database, asked).status_code in (200, 422)


@pytest.mark.parametrize(
    "asked",
    [
        question(derive={"self": "wait + 1"}),
        question(aggregates={"self": {"count": True}}),
        question(group_by="ward", keys=[{}]),
        question(group_by="ward", keys=[[["a"]]]),
        question(group_by="ward", keys={"ward": [{}]}),
        question(group_by="ward", keys={"ward": "x"}),
        question(group_by=[]),
        question(filter={"column": {}}),
        question(filter={"column": []}),
        question(filter={"value": 1, "kind": []}),
        question(filter={"operation": [], "arguments": []}),
        question(filter={"operation": "gt", "arguments": {}}),
        question(filter={"operation": "gt", "arguments": [1, 2, 3, 4]}),
        question(filter={"operation": "cast", "arguments": []}),
        question(filter={}),
        question(filter={"column": "wait", "value": 1}),
        question(filter={"operation": "gt"}),
        question(filter="__import__('os').system('id')"),
        question(filter="wait.__class__"),
        question(filter="(lambda: 1)()"),
        question(filter="[x for x in (1,)]"),
        question(filter="exec('1')"),
        question(filter="wait; DROP TABLE visits"),
        question(filter="f'{wait}' == 'x'"),
        question(filter="wait := 1"),
        question(filter="ward.format(1) == ''"),
        question(aggregates={"m": {"mean": "wait", "bounds": [{}, []]}}),
        question(aggregates={"m": None}),
        question(aggregates={"m": {"mean": ["wait"], "bounds": [0, 1]}}),
        question(aggregates={"m": {"count": True, "x": 1}}),
        question(heavy_hitters=[], aggregates=None),
        question(top=0, group_by="ward", keys=["a"], aggregates=None),
        question(derive={"wait\ud800": "wait"}),
        question(filter={"column": "\ud800"}),
        question(group_by="ward", keys=["\udfff"]),
        question(raw="yes please"),
        [],
        "text",
        5,
        None,
        True,
    ],
    ids=lambda asked: ascii(json.dumps(asked))[:60],
)
def test_what_is_no_question_is_refused_in_words(database: Running, asked: Any) -> None:
    spent = database.spent()
    for kind in ("preview", "releases"):
        reply = send(database, asked, kind)
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid"), reply.text
        assert reply.json()["error"]["message"]
    assert database.spent() == spent


@pytest.mark.parametrize(
    "body", [b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94.", b"cos\nsystem\n(S'id'\ntR."]
)
@pytest.mark.parametrize("kind", ["application/json", "application/octet-stream", "application/x-python-pickle", ""])
def test_pickles_are_bytes_like_others(database: Running, body: bytes, kind: str) -> None:
    headers = {"content-type": kind} if kind else {}
    reply = database.client(ANALYST).post(f"{API}/datasets/visits/preview", content=body, headers=headers)
    assert reply.status_code in (400, 422)


def test_a_question_of_another_type_than_json_is_refused(database: Running) -> None:
    """A form of another page can send text/plain without the browser asking; a token it cannot send."""
    body = json.dumps(QUESTION)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        reply = database.client(ANALYST).post(
            f"{API}/datasets/visits/releases", content=body, headers={"content-type": kind}
        )
        assert reply.status_code in (400, 422), kind


@pytest.mark.parametrize("prefix", ["/privacy/data"])
def test_prefixes_lead_to_the_same_and_to_nothing_else(run_service: Start, prefix: str) -> None:
    running = run_service(server={"prefix": prefix})
    root = running.url.removesuffix(prefix)
    token = {"authorization": f"Bearer {running.tokens['admin']}"}
    for path in {prefix, ""}:
        assert httpx.get(f"{root}{path}{API}/me", headers=token).status_code == 200
        assert httpx.get(f"{root}{path}/healthz").text == "ok\n"
    wrong = ["/x", "/privacy", "/privacy/datax"] + ([f"{prefix}{prefix}"] if prefix else [])
    for path in wrong:
        assert httpx.get(f"{root}{path}{API}/me", headers=token).status_code in (404, 303)
    described = httpx.get(f"{running.url}{API}/openapi.json").json()
    assert described["servers"] == [{"url": prefix or "/"}]
    later = running.ask("analyst-visits", prefer="wait=0")
    if later.status_code == 202:
        assert later.headers["location"].startswith(f"{prefix}{API}/datasets/visits/releases/")


def test_describing_a_dataset_cannot_spoil_it(database: Running) -> None:
    before = database.api(ANALYST, "GET", "/datasets/visits/schema").json()
    wrong: list[dict[str, Any]] = [
        {"ward": {"values": [{}]}},
        {"ward": {"values": ["x"] * 1001}},
        {"ward": {"values": None}},
        {"ward": {"bounds": [1]}},
        {"ward": {"bounds": ["0", "1"]}},
        {"ward": {"bounds": [True, False]}},
        {"nope": {}},
        {"ward": {"x": 1}},
        {"ward": {"description": 5}},
        {"ward": {"description": "x" * 10_001}},
    ]
    for said in wrong:
        reply = database.api("custodian-all", "PATCH", "/datasets/visits", json={"columns": said})
        assert reply.status_code == 422, said
    for settled in ("unit", "source", "table", "types", "budget", "name"):
        assert database.api("custodian-all", "PATCH", "/datasets/visits", json={settled: "x"}).status_code == 422
    assert database.api(ANALYST, "GET", "/datasets/visits/schema").json() == before
    assert VISITS["title"] == database.api(ANALYST, "GET", "/datasets/visits").json()["title"]
    assert WAGES["name"] in database.service.catalog.names()
