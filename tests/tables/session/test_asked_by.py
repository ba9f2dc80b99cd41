"""One table, several people; and a deadline that stops the engine."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.tables.held import held

import viameter as vm
from viameter.errors import OverBudget, ParameterError, SealedError
from viameter.tables.engines.turns import turn_of

ROWS = {"ward": ["A", "B"] * 50, "wait": list(range(100))}


def test_people_share_the_budget_and_not_their_keys(tmp_path: Path) -> None:
    table = vm.open(
        held(ROWS), unit=vm.per_row(), budget=vm.pure(1), ledger=tmp_path / "b.db", dataset="visits", by="root"
    )
    ann, bob = table.asked_by("ann"), table.asked_by("bob")
    first = ann.agg(n=vm.count()).release(spend=vm.pure("1/4"), key="k")
    assert ann.agg(n=vm.count()).release(spend=vm.pure("1/4"), key="k").to_dicts() == first.to_dicts()
    bob.agg(n=vm.count()).release(spend=vm.pure("1/4"), key="k")
    assert table.spent == ann.spent == bob.spent == vm.pure("1/2")
    assert table.ledger is not None
    assert [entry.record["by"] for entry in table.ledger.entries() if entry.kind == "reserve"] == ["ann", "bob"]


def test_scopes_of_a_person_pay_for_that_person_alone(tmp_path: Path) -> None:
    table = vm.open(
        held(ROWS), unit=vm.per_row(), budget=vm.pure(1), ledger=tmp_path / "b.db", dataset="visits", by="root"
    )
    assert table.ledger is not None
    table.ledger.define("visits@ann", vm.pure("1/4"), table.session.space, why="a test")
    ann, bob = table.asked_by("ann", scopes=["visits@ann"]), table.asked_by("bob")
    ann.agg(n=vm.count()).release(spend=vm.pure("1/4"))
    with pytest.raises(OverBudget):
        ann.agg(n=vm.count()).release(spend=vm.pure("1/8"))
    bob.agg(n=vm.count()).release(spend=vm.pure("1/2"))


def test_without_a_ledger_nobody_is_asked_by() -> None:
    with pytest.raises(ParameterError, match="ledger"):
        vm.open(held(ROWS), unit=vm.per_row(), budget=vm.pure(1)).asked_by("ann")


def test_a_deadline_stops_the_engine_and_lets_others_ask(tmp_path: Path) -> None:
    import duckdb

    many = "range(100000) a, range(100000) b, range(1000) c"
    with duckdb.connect(str(tmp_path / "slow.duckdb")) as made:
        made.execute(f"CREATE VIEW slow AS SELECT a.range + b.range + c.range AS x FROM {many}")
    where: dict[str, Any] = {"ledger": tmp_path / "b.db", "dataset": "slow"}
    table = vm.open(tmp_path / "slow.duckdb", table="slow", unit=vm.per_row(), budget=vm.pure(1), **where)
    late = table.asked_by("ann", deadline=1.0)
    with pytest.raises(SealedError):
        late.agg(x=vm.sum("x", bounds=(0, 10))).release(spend=vm.pure("1/4"))
    # The connection is free for others.
    turn = turn_of(table.session.engine_tables[0].backend)
    assert turn.lock.acquire(timeout=60), "the engine still works for nobody"
    turn.lock.release()


def test_a_question_has_its_time_even_behind_slow_ones(tmp_path: Path) -> None:
    where: dict[str, Any] = {"ledger": tmp_path / "b.db", "dataset": "visits"}
    table = vm.open(held(ROWS), unit=vm.per_row(), budget=vm.pure(1), **where)
    turn = turn_of(table.session.engine_tables[0].backend)
    turn.lock.acquire()  # what the question of somebody else does, for longer than this one may run
    threading.Timer(2.0, turn.lock.release).start()
    answer = table.asked_by("ann", deadline=1.0).agg(n=vm.count()).release(spend=vm.pure(1))
    assert len(answer.to_dicts()) == 1
