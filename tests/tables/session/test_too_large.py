"""Questions that are too large: refused before anything is charged, by previews and releases alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables.held import held

import viameter as vm
from viameter.errors import ParameterError, SealedError
from viameter.tables.engines import compiled
from viameter.tables.expressions.nodes import DEEPEST, MOST_NODES
from viameter.tables.rows import Rows
from viameter.tables.table import Table

ROWS = {"u": [n % 9 for n in range(90)], "k": ["a", "b", "c"] * 30, "n": list(range(90))}
SPEND = vm.approx("1/10", "1e-8")
TEXTS = ["x" * 250 + str(place) for place in range(1100)]
ASKED: dict[str, Callable[[Table], Any]] = {
    "count": lambda t: t.agg(n=vm.count()),
    "groups": lambda t: t.group_by("k", keys=["a", "b"]).agg(n=vm.count(), m=vm.mean("n", bounds=(0, 90))),
    "many keys": lambda t: t.group_by("n", keys=list(range(200))).agg(number=vm.count()),
    "selected": lambda t: t.group_by("k").agg(n=vm.count(), m=vm.mean("n", bounds=(0, 90))),
    "top": lambda t: t.group_by("k", keys=["a", "b"]).top(1),
    "heavy hitters": lambda t: t.heavy_hitters("k"),
    "together": lambda t: vm.together(one=t.agg(n=vm.count()), other=t.group_by("k", keys=["a"]).agg(n=vm.count())),
}


@pytest.fixture(params=["memory", "ledger"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    stored: dict[str, Any] = {"ledger": tmp_path / "budget.db", "dataset": "rows"} if request.param == "ledger" else {}
    table: Table = vm.open(held(ROWS), unit=vm.per("u", rows=5), budget=vm.approx(1, "1e-6"), **stored)
    return table


def key_of(table: Table) -> dict[str, str]:
    return {} if table.session.ledger is None else {"key": "once"}


def asks(question: Any, table: Table) -> list[Callable[[], Any]]:
    """The ways to ask, of which the last one would be charged."""
    return [lambda: question.preview(spend=SPEND), lambda: question.release(spend=SPEND, **key_of(table))]


@pytest.mark.parametrize("name", ASKED)
def test_too_much_sql_is_refused_and_nothing_is_charged(
    opened: Table, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    question = ASKED[name](opened.filter(opened["k"].is_in(TEXTS[:80])))
    with monkeypatch.context() as patched:
        patched.setattr(compiled, "MOST_SQL", 20_000)
        for ask in asks(question, opened):
            with pytest.raises(ParameterError, match=r"has \d+,\d+ letters of SQL, and at most 20,000 are"):
                ask()
    assert opened.spent == vm.approx(0, 0) and opened.session.history == ()
    # The key is free: nothing was asked under it.
    assert question.release(spend=SPEND, **key_of(opened)) is not None


def test_a_quarter_of_a_megabyte_is_too_much(opened: Table) -> None:
    with pytest.raises(ParameterError, match="letters of SQL, and at most 262,144 are run; nothing was charged"):
        opened.filter(opened["k"].is_in(TEXTS)).agg(n=vm.count()).release(spend=SPEND)
    assert opened.session.history == ()


@pytest.mark.parametrize("name", ASKED)
def test_what_cannot_be_compiled_is_refused_and_nothing_is_charged(
    opened: Table, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    question = ASKED[name](opened.filter(opened["n"] > 3))

    def broken(*_: Any, **__: Any) -> Any:
        raise RecursionError("of Ibis")

    monkeypatch.setattr(Rows, "with_expression", broken)
    for ask in asks(question, opened):
        with pytest.raises(ParameterError, match=r"cannot be compiled \(RecursionError\); nothing was charged"):
            ask()
    assert opened.session.history == ()


def test_many_bound_values_are_refused_before_they_are_written(opened: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    value: Any = opened["n"]
    for _ in range(60):
        value = value.round_to(3)
    question = opened.filter(value > 0).agg(n=vm.count())
    monkeypatch.setattr(compiled, "_tree", lambda *_: pytest.fail("it was written"))
    for ask in (question.preview, question.release):
        with pytest.raises(ParameterError, match="nested selects, and at most 40 are run; nothing was charged"):
            ask(spend=SPEND)
    assert opened.session.history == ()


def test_many_values_are_refused_before_they_are_written(opened: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    question = opened.agg(n=vm.count())
    monkeypatch.setattr(compiled, "MOST_VALUES", 2)
    monkeypatch.setattr(compiled, "_tree", lambda *_: pytest.fail("it was written"))
    with pytest.raises(ParameterError, match=r"has \d+ different values, and at most 2 are run"):
        question.release(spend=SPEND)
    assert opened.session.history == ()


def test_expressions_that_are_too_large_are_refused_at_once(opened: Table) -> None:
    value: Any = opened["n"]
    for _ in range(60):
        value = value + value  # a tree of 2**61 nodes, in 60 objects
    flat = opened["n"].is_in(range(MOST_NODES))
    deep: Any = opened["n"]
    for _ in range(DEEPEST):
        deep = -deep
    for made in (value, flat.cast("integer"), deep):
        for ask in (
            lambda made=made: opened.filter(made > 0),
            lambda made=made: opened.derive(m=made),
            lambda made=made: opened.agg(m=vm.mean(made, bounds=(0, 9))),
        ):
            with pytest.raises(
                ParameterError, match=r"has [\d,]+ nodes, [\d,]+ deep; expected at most 10,000 nodes, 100"
            ):
                ask()
    assert "nodes" in repr(value)


def test_what_was_compiled_is_not_compiled_again(opened: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    question = opened.filter(opened["n"] > 3).group_by("k", keys=["a", "b"]).agg(n=vm.count())
    question.preview(spend=SPEND)
    monkeypatch.setattr(compiled, "_tree", lambda *_: pytest.fail("it was compiled twice"))
    question.preview(spend=SPEND)
    question.release(spend=SPEND)


def test_a_preview_brings_nothing_to_the_engine_and_what_it_compiled_is_not_run(
    opened: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = vm.public({"n": list(range(90)), "double": [2 * n for n in range(90)]})
    joined = opened.join(public, on=["n"]).group_by("n", keys=list(range(200))).agg(m=vm.sum("double", bounds=(0, 200)))
    with monkeypatch.context() as patched:
        patched.setattr("viameter.tables.engines.duckdb.DuckDB.bring", lambda *_: pytest.fail("it was brought"))
        joined.preview(spend=SPEND)
    answer = joined.release(spend=SPEND)
    assert len(answer.groups) == 200


def test_what_fails_while_it_runs_is_charged(opened: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("row 17")

    monkeypatch.setattr("viameter.tables.collecting.run", broken)
    with pytest.raises(SealedError):
        opened.agg(n=vm.count()).release(spend=SPEND)
    assert len(opened.session.history) == 1


def test_keys_that_are_found_in_rows_never_make_a_question_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"u": list(range(4000)), "k": [f"{n % 40} {'long' * 20}" for n in range(4000)]}
    table = vm.open(held(rows), unit=vm.per("u", rows=1), budget=vm.approx(9, "1e-3"))
    question = table.group_by("k").agg(n=vm.count())
    found = question.release(spend=vm.approx(4, "1e-4"))
    longest = max(len("".join(one.pieces)) for one, _ in table.relation.rows().on.compiled._kept.values())
    other = vm.open(held(rows), unit=vm.per("u", rows=1), budget=vm.approx(9, "1e-3"))
    monkeypatch.setattr(compiled, "MOST_SQL", longest - 1)
    assert (
        len(other.group_by("k").agg(n=vm.count()).release(spend=vm.approx(4, "1e-4")).groups) == len(found.groups) == 40
    )
