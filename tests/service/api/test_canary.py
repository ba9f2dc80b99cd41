"""Canaries in the data: none is in any reply or in any line of the log, whatever is asked and whatever goes wrong."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.service.routes import API_ROUTES
from tests.service.serving import API, VISITS, WAGES, Running, make_folder, running_in

from viameter.service import catalog, desk
from viameter.service.api import datasets, proofs
from viameter.tables import Query

TEXT = "KANARIENVOGEL"
NUMBER = 7340033
PASSWORD = "pa55-w0rd-of-a-source"
CANARIES = (TEXT.lower(), str(NUMBER), f"{NUMBER:,}", "kanarien")
"""In lower case, as replies are looked through; the number as it is written in rows."""
TABLES = ("birds", "birdtypes", "cages")


def make_birds(folder: Path) -> list[dict[str, Any]]:
    """Tables with canaries in all their columns, and views over them that fail in the engine."""
    make_folder(folder)
    rows = [f"p{n},{n % 7},{'ward'},{n % 90}" for n in range(80)]
    rows += [f"{TEXT},{NUMBER},{TEXT},{NUMBER}"] * 3
    (folder / "birds.csv").write_text("\n".join(["person,age,place,wait", *rows]) + "\n")
    with duckdb.connect(str(folder / "birds.duckdb")) as made:
        made.execute(
            "CREATE TABLE birdtypes AS SELECT range AS id, "
            f"CASE WHEN range = 7 THEN '{TEXT}' ELSE CAST(range AS VARCHAR) END AS word, "
            f"CASE WHEN range = 7 THEN {NUMBER} ELSE range END AS age FROM range(50)"
        )
        made.execute(
            "CREATE TABLE caged AS SELECT * FROM birdtypes"
        )  # rows of their own, which have a budget of their own
        made.execute(
            "CREATE VIEW cages AS SELECT id, word, age, CAST(word AS INTEGER) AS cast_of, "
            f"CASE WHEN id = 7 THEN error('{TEXT}') ELSE word END AS told FROM caged"
        )
    types = {"types": {"age": "integer", "wait": "integer"}}
    birds = {"unit": {"per": "person", "rows": 2}, "table": "birds.csv", **types}
    others = [{"table": f"birds.duckdb#{name}", "unit": {"row": True}} for name in TABLES[1:]]
    common = {"source": "files", "budget": {"approx_zcdp": ["100", "1/100"]}}
    return [{"name": name, **common, **one} for name, one in zip(TABLES, [birds, *others], strict=True)]


@pytest.fixture(scope="module")
def aviary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service over the tables with canaries, and a source whose URL has a password."""
    folder = tmp_path_factory.mktemp("aviary")
    made = make_birds(folder / "data")
    url = f"postgresql://ann:{PASSWORD}@127.0.0.1:1/nowhere?connect_timeout=1"
    sources = {"files": {"folder": "data"}, "server": {"url": url}}
    with running_in(folder, datasets=[*made, VISITS, WAGES], sources=sources, limits={"seconds": 5}) as running:
        yield running


def look_through(running: Running, replies: list[httpx.Response]) -> None:
    """Refuse a canary, a secret or a path in any of the replies, or in the log."""
    home = str(running.folder.parent)
    secrets = [token.removeprefix("vmt_").lower() for token in running.tokens.values()]
    unwanted = [*CANARIES, PASSWORD, home.lower(), *secrets]
    for reply in replies:
        said = (reply.text + str(dict(reply.headers))).lower()
        # Numbers and fingerprints that are long hold every short sequence of digits.
        plain = re.sub(r"[0-9a-f]{16,}|\d{12,}", "", said)
        for word in unwanted:
            assert word not in plain, (word, reply.request.method, reply.request.url, reply.text[:1000])
    logged = re.sub(r"[0-9a-f]{16,}", "", running.log_text().lower())
    for word in unwanted:
        assert word not in logged, word


SPEND = {"approx_zcdp": ["1/1000", "0"]}
ALL = {"n": {"count": True}}
FAILING: list[tuple[str, dict[str, Any]]] = [
    ("birds", {"filter": "wait / (age - age) > 1"}),
    ("birds", {"derive": {"x": "wait * wait * wait * wait"}, "aggregates": {"x": {"sum": "x", "bounds": [0, 1]}}}),
    ("birds", {"derive": {"x": "place.cast('integer')"}, "aggregates": {"x": {"mean": "x", "bounds": [0, 9]}}}),
    ("birds", {"derive": {"x": "place.cast('date')"}, "group_by": "x", "keys": ["2020-01-01"]}),
    ("birds", {"filter": "log(wait - 8000000) > 1"}),
    ("birds", {"filter": "sqrt(0 - wait) > 1"}),
    ("birds", {"filter": "wait % (age - age) == 1"}),
    ("birds", {"group_by": "age", "edges": [0, 10, 100], "aggregates": {"m": {"maximum": "wait", "bounds": [0, 90]}}}),
    ("birdtypes", {"derive": {"x": "word.cast('integer')"}, "aggregates": {"x": {"mean": "x", "bounds": [0, 9]}}}),
    ("birdtypes", {"derive": {"x": "word.cast('timestamp')"}, "filter": "x == x"}),
    ("birdtypes", {"derive": {"x": "age * 9223372036854775807"}, "aggregates": {"x": {"sum": "x", "bounds": [0, 9]}}}),
    ("cages", {"aggregates": {"x": {"mean": "cast_of", "bounds": [0, 9]}}}),
    ("cages", {"filter": "told == 'x'"}),
    ("cages", {"group_by": "told", "keys": ["x"]}),
    ("cages", {"aggregates": {"x": {"median": "cast_of", "bounds": [0, 9]}}}),
]


def test_failures_in_the_engine_say_nothing(aviary: Running) -> None:
    replies = []
    for dataset, question in FAILING:
        asked = {"aggregates": ALL, **question, "spend": SPEND}
        for kind in ("preview", "releases"):
            replies.append(aviary.api("analyst-all", "POST", f"/datasets/{dataset}/{kind}", json=asked))
    codes = [reply.json()["error"]["code"] for reply in replies if reply.status_code == 422]
    assert codes.count("failed") >= 4, codes
    assert all(reply.status_code in (200, 422) for reply in replies)
    look_through(aviary, replies)


def test_groups_that_are_found_out_are_not_those_of_one_person(aviary: Running) -> None:
    finding = {"group_by": "place", "aggregates": ALL, "spend": {"approx_zcdp": ["1", "1/100000"]}}
    replies = [aviary.ask("analyst-all", "birds", finding) for _ in range(3)]
    replies.append(aviary.ask("analyst-all", "birds", {"heavy_hitters": "place", "spend": finding["spend"]}))
    assert replies[0].status_code == 200
    assert "ward" in replies[0].text
    look_through(aviary, replies)


BAD_BODIES: list[Any] = [
    b"", b"{", b"[1]", b'"x"', b"null", b"\x80\x04\x95\x10", b"{" * 5000, b"[" * 100_000, b'{"filter": NaN}',
    b"\xff\xfe", b'{"spend": 1e999}', b'{"a": ' + b"9" * 6000 + b"}", b"<xml/>", b"cos\nsystem\n(S'id'\ntR.",
]  # fmt: skip


def test_every_route_with_every_bad_body(aviary: Running) -> None:
    replies = []
    for (method, route), dataset in itertools.product(API_ROUTES, ("birds", "cages")):
        path = re.sub(r"\{.*?\}", "x", route.replace("{dataset}", dataset).replace("{entry}", "3"))
        for body in BAD_BODIES if method != "GET" else BAD_BODIES[:1]:
            kind = "application/json" if dataset == "birds" else "application/x-www-form-urlencoded"
            headers = {"content-type": kind, "idempotency-key": "k"}
            replies.append(aviary.client("admin").request(method, path, content=body, headers=headers))
    assert len(replies) > 300
    assert [reply.text for reply in replies if reply.status_code >= 500] == []
    look_through(aviary, replies)


def test_reading_says_nothing(aviary: Running) -> None:
    replies = []
    for person, dataset in itertools.product(("admin", "auditor-all", "only-admin", "nobody", ""), TABLES):
        for path in ("", "/schema", "/budgets", "/history", "/history/1", "/releases/x"):
            replies.append(aviary.api(person, "GET", f"/datasets/{dataset}{path}"))
        for page in ("", "/ask", "/history", "/manage", "/answers/x"):
            replies.append(aviary.client(person).get(f"/datasets/{dataset}{page}"))
    replies += [aviary.client("admin").get(path) for path in ("/metrics", "/readyz", "/healthz", f"{API}/openapi.json")]
    look_through(aviary, replies)


def test_a_source_that_cannot_be_reached_keeps_its_password(aviary: Running) -> None:
    replies = [
        aviary.api(
            "admin",
            "POST",
            "/datasets",
            json={"name": "far", "source": "server", "table": table, "unit": {"row": True}, "budget": {"pure": "1"}},
        )
        for table in ("t", "s.t", "'; DROP", ".")
    ]
    # What is no name of a table is refused before the server is asked, which cannot be reached.
    assert [reply.status_code for reply in replies] == [503, 503, 503, 422]
    look_through(aviary, replies)
    assert PASSWORD not in repr(aviary.service.config)


def test_files_that_cannot_be_read_are_named_and_their_folder_is_not(aviary: Running) -> None:
    (aviary.folder / "broken.parquet").write_text(TEXT)
    (aviary.folder / "broken.duckdb").write_text(TEXT)
    (aviary.folder / "broken.csv").write_bytes(TEXT.encode("utf-16") + bytes(range(256)))
    (aviary.folder / "sub").mkdir(exist_ok=True)
    tables = ("broken.parquet", "broken.duckdb#t", "broken.csv", "sub", "birds.duckdb", "birds.duckdb#no", "no.csv")
    replies = []
    for table in tables:
        body = {"name": "x", "source": "files", "table": table, "unit": {"row": True}, "budget": {"pure": "1"}}
        replies.append(aviary.api("admin", "POST", "/datasets", json=body))
    assert {reply.status_code for reply in replies} == {422}
    look_through(aviary, replies)


INNER: list[tuple[Any, str, str, str, Any]] = [
    (datasets, "schema_document", "GET", "/datasets/birds/schema", None),
    (datasets, "history_document", "GET", "/datasets/birds/history", None),
    (datasets, "budgets_document", "GET", "/datasets/birds/budgets", None),
    (datasets, "dataset_document", "GET", "/datasets", None),
    (Query, "preview_for", "POST", "/datasets/birds/preview", {"spend": SPEND}),
    (Query, "release_for", "POST", "/datasets/birds/releases", {"spend": SPEND}),
    (desk, "answer_document", "POST", "/datasets/birds/releases", {"spend": SPEND}),
    (desk, "cost_from_json", "POST", "/datasets/birds/releases", {"spend": SPEND, "alpha": "1/30"}),
    (catalog, "open_table", "POST", "/datasets", None),
    (proofs, "check_submitted", "POST", "/certificates/check", {"certificate": {}}),
    (proofs, "verify", "GET", "/ledger/verify", None),
]


@pytest.mark.parametrize(("where", "name", "method", "path", "body"), INNER, ids=lambda part: str(part)[:40])
def test_what_nobody_expected_becomes_a_constant_text(
    aviary: Running, where: Any, name: str, method: str, path: str, body: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path == "/datasets" and method == "POST":
        body = {"name": "y", "source": "files", "table": "wages.csv", "unit": {"row": True}, "budget": {"pure": "1"}}

    def failing(*_: Any, **__: Any) -> Any:
        local = TEXT * 3
        raise RuntimeError(f"{local} in row {NUMBER} of {aviary.folder}") from ValueError(TEXT)

    monkeypatch.setattr(where, name, failing)
    reply = aviary.api("admin", method, path, json=body)
    assert reply.status_code == 500
    error = reply.json()["error"]
    assert (error["code"], error["details"]) == ("unexpected", {})
    assert error["request"] == reply.headers["x-request-id"]
    assert reply.headers["content-security-policy"]
    look_through(aviary, [reply])
    logged = aviary.lines_of(error["request"])
    assert [(line["error"], line["status"], line["level"]) for line in logged] == [("RuntimeError", 500, "error")]
    assert any("failing" in place for place in logged[0]["where"])


COLUMNS = st.sampled_from(["person", "age", "place", "wait", "nope", TEXT[:3]])
SIMPLE = st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5), st.booleans(), st.none())
OPERATIONS = st.sampled_from(
    ["add", "multiply", "divide", "modulo", "gt", "eq", "is_in", "log", "sqrt", "cast", "lower", "is_null", "year", "x"]
)  # fmt: skip
EXPRESSIONS = st.recursive(
    st.one_of(st.builds(lambda name: {"column": name}, COLUMNS), st.builds(lambda value: {"value": value}, SIMPLE)),
    lambda inner: st.builds(
        lambda name, arguments: {"operation": name, "arguments": arguments}, OPERATIONS, st.lists(inner, max_size=3)
    ),
    max_leaves=6,
)
QUESTIONS = st.fixed_dictionaries(
    {"spend": st.sampled_from([SPEND, {"zcdp": "1/10"}, {"approx_zcdp": ["1/1000", "1e-9"]}])},
    optional={
        "filter": EXPRESSIONS,
        "derive": st.dictionaries(st.sampled_from(["x", "wait", ""]), EXPRESSIONS, max_size=2),
        "group_by": st.one_of(COLUMNS, st.lists(COLUMNS, max_size=2)),
        "keys": st.one_of(st.lists(SIMPLE, max_size=3), st.dictionaries(COLUMNS, st.lists(SIMPLE), max_size=2)),
        "edges": st.lists(st.one_of(st.integers(-5, 300), st.floats()), max_size=4),
        "limit": st.dictionaries(
            st.sampled_from(["rows", "groups", "per_group", "keep"]),
            st.one_of(st.integers(0, 9), st.builds(lambda name: f"first by {name}", COLUMNS), st.text(max_size=9)),
            max_size=2,
        ),
        "aggregates": st.dictionaries(
            st.sampled_from(["n", "x", "self", "place"]),
            st.one_of(
                st.just({"count": True}),
                st.builds(
                    lambda what, column, bounds: {what: column, "bounds": bounds},
                    st.sampled_from(["mean", "sum", "median", "maximum", "std", "nope"]),
                    COLUMNS,
                    st.lists(st.one_of(st.integers(-(2**60), 2**60), st.floats(), st.text(max_size=3)), max_size=3),
                ),
            ),
            max_size=2,
        ),
        "top": st.integers(-1, 5),
        "alpha": st.one_of(st.floats(), st.text(max_size=5)),
        "within": st.dictionaries(st.sampled_from(["n", "x"]), SIMPLE, max_size=2),
    },
)  # fmt: skip


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(question=QUESTIONS, kind=st.sampled_from(["preview", "releases"]))
def test_questions_of_all_sorts(aviary: Running, question: dict[str, Any], kind: str) -> None:
    body = json.dumps(question).encode()
    headers = {"content-type": "application/json"}
    reply = aviary.client("analyst-all").post(f"{API}/datasets/birds/{kind}", content=body, headers=headers)
    assert reply.status_code in (200, 422), reply.text
    look_through(aviary, [reply])


@pytest.mark.long
@settings(max_examples=1500, suppress_health_check=list(HealthCheck))
@given(question=QUESTIONS, kind=st.sampled_from(["preview", "preview", "preview", "releases"]))
def test_questions_of_all_sorts_for_minutes(aviary: Running, question: dict[str, Any], kind: str) -> None:
    body = json.dumps(question).encode()
    headers = {"content-type": "application/json"}
    reply = aviary.client("analyst-all").post(f"{API}/datasets/birds/{kind}", content=body, headers=headers)
    assert reply.status_code in (200, 422), reply.text
    look_through(aviary, [reply])
