"""Queries that DuckDB has planned before: the same rows as their text gives, each time with a salt of its own."""

import re
from typing import Any

import pytest
from tests.tables.quiet import without_warnings_of_engines

import viameter as vm
from viameter.tables.engines import duckdb, open_source
from viameter.tables.engines.engine import Job
from viameter.tables.engines.turns import turn_of

ROWS = {"user": [u for u in range(60) for _ in range(6)], "page": [f"p{i % 6}" for i in range(360)]}
PAGES = [f"p{i}" for i in range(6)]


def opened(rows: Any = None) -> Any:
    return vm.open(ROWS if rows is None else rows, unit=vm.per("user", rows=2), budget=vm.zcdp(10**12))


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What each question made DuckDB execute."""
    found: list[str] = []
    plain = duckdb.DuckDB.prepared

    def noting(self: duckdb.DuckDB, job: Job) -> str:
        said = plain(self, job)
        found.append(said or job.statement.sql)
        return said

    monkeypatch.setattr(duckdb.DuckDB, "prepared", noting)
    return found


def ask(table: Any, keys: list[str] = PAGES) -> list[int]:
    answer = table.group_by("page", keys=keys).agg(n=vm.count()).release(spend=vm.zcdp(10**9))
    return [int(value) for value in answer["n"].value]


def test_a_question_is_planned_when_it_is_asked_again_and_has_a_salt_of_its_own_each_time(executed: list[str]) -> None:
    table = opened()
    answers = [ask(table) for _ in range(12)]
    assert executed[0].startswith("SELECT")
    names = {re.sub(r"\(.*", "", said) for said in executed[1:]}
    salts = [re.sub(r".*\((-?\d+)\)", r"\1", said) for said in executed[1:]]
    assert len(names) == 1 and next(iter(names)).startswith("EXECUTE ")
    assert len(set(salts)) == 11
    # Two of six rows of each user are kept: other ones each time, and as many.
    assert all(sum(answer) == 120 for answer in answers) and len({tuple(answer) for answer in answers}) > 6


def test_what_was_planned_gives_what_the_text_gives() -> None:
    table = opened()
    ask(table)
    ask(table)
    backend = table.session.source.on.backend
    ((template, name),) = turn_of(backend).prepared.items()
    for salt in ("0", "-5", "9223372036854775807", "-9223372036854775808"):
        written = template.replace("$1", f"'{salt}'")
        as_text = sorted(backend.con.execute(written).fetchall())
        assert sorted(backend.con.execute(f"EXECUTE {name}({salt})").fetchall()) == as_text


def test_what_was_planned_sees_rows_that_came_later() -> None:
    backend = open_source(ROWS).backend
    backend.con.execute("CREATE TABLE growing AS SELECT range AS user, 'p0' AS page FROM range(10)")
    with without_warnings_of_engines():
        table = opened(backend.table("growing"))
    assert [ask(table, ["p0"]) for _ in range(3)] == [[10]] * 3
    backend.con.execute("INSERT INTO growing SELECT range + 100, 'p0' FROM range(5)")
    assert ask(table, ["p0"]) == [15]


def test_only_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb, "MOST_PREPARED", 3)
    table = opened()
    for _ in range(2):
        for number in range(5):
            ask(table, [f"p{number}"])
            ask(table, [f"p{number}"])
    turn = turn_of(table.session.source.on.backend)
    assert len(turn.prepared) <= 3 and len(turn.asked_once) <= 3
    assert ask(table, ["p4"])


def test_a_portable_order_is_not_prepared(executed: list[str]) -> None:
    table = vm.open(ROWS, unit=vm.per("user", rows=2), budget=vm.zcdp(10**12), order="portable")
    assert sum(ask(table)) == sum(ask(table)) == 120
    assert all(said.startswith("SELECT") for said in executed)
