"""One question released again and again: compiled once, salted each time, and never with the answer of another."""

from __future__ import annotations

import gc
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import viameter as vm
from viameter.tables import collecting as module
from viameter.tables import selection
from viameter.tables.bounding import Limits
from viameter.tables.bounding.asking import PLACEHOLDERS
from viameter.tables.collecting import Collecting
from viameter.tables.engines import EngineTable, Statement, engine_of
from viameter.tables.engines.turns import turn_of
from viameter.tables.keys import read_keys
from viameter.tables.relation import source_rows
from viameter.tables.selection import Counting
from viameter.tables.statistics import Statistic, Total, Units

Load = Callable[[Any, str, Any], EngineTable]
ROWS: dict[str, Any] = {
    "u": [n % 20 for n in range(200)],
    "k": ["a", "b", "c", "d"] * 50,
    "j": [1, 2] * 100,
    "n": list(range(200)),
}
ROWS["t"] = [n < 30 for n in range(200)]


class Spied:
    """What was run, and which salts were drawn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, watched: Any) -> None:
        self.run: list[Statement] = []
        self.salts: list[str] = []
        engine, draw = watched.run, watched.fresh_salt

        def run(table: Any, statement: Any, **options: Any) -> Any:
            self.run.append(statement)
            return engine(table, statement, **options)

        def fresh_salt() -> str:
            self.salts.append(draw())
            return self.salts[-1]

        monkeypatch.setattr(watched, "run", run)
        monkeypatch.setattr(watched, "fresh_salt", fresh_salt)


@pytest.mark.parametrize("order", ["native", "portable"])
def test_every_release_of_a_question_has_a_salt_of_its_own(
    backend: Any, load: Load, monkeypatch: pytest.MonkeyPatch, order: Any
) -> None:
    rows = source_rows(load(backend, "salted_releases", ROWS), "u")
    keys = read_keys(rows.schema, ["k"], ["a", "b", "c"], other=False)
    spied = Spied(monkeypatch, module)
    for _ in range(4):
        Collecting(keys, Limits(rows=2), order)(rows, [Total(), Units()])
    salts = [engine_of(backend).salt_in_sql(order, salt) for salt in spied.salts]
    placeholders = [engine_of(backend).salt_in_sql(order, placeholder) for placeholder in PLACEHOLDERS]
    # Two queries a release: of rows, and of units.
    assert len(rows.on.compiled) == 2 and len(set(salts)) == 4 and len(spied.run) == 8
    for place, statement in enumerate(spied.run):
        mine = salts[place // 2]
        assert mine in statement.sql and not any(one in statement.sql for one in placeholders)
        assert not any(other in statement.sql for other in salts if other != mine)
    # But for the salt they are the same text.
    assert len({one.sql.replace(salts[place // 2], "") for place, one in enumerate(spied.run)}) == 2


def test_which_rows_are_kept_is_another_choice_each_time(backend: Any, load: Load) -> None:
    rows = source_rows(load(backend, "chosen_again", {**ROWS, "u": [n // 10 for n in range(200)]}), "u")
    keys = read_keys(rows.schema, ["k"], ["a", "b", "c", "d"], other=False)
    collecting = Collecting(keys, Limits(groups=1, per_group=2))
    found = {tuple(collecting(rows, [Total()])[0].tolist()) for _ in range(6)}
    # 20 units choose one of 4 keys each, and no outcome has a chance above 1/70: six times the same is below 1e-9.
    assert len(found) > 1 and all(sum(one) == 40 for one in found)
    assert len(rows.on.compiled) == 1


def test_every_selection_of_keys_has_a_salt_of_its_own(
    backend: Any, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = source_rows(load(backend, "salted_selections", ROWS), "u")
    spied = Spied(monkeypatch, selection)
    for _ in range(3):
        assert sum(Counting(("k",), Limits(groups=1, per_group=1))(rows).values()) == 20
    salts = [engine_of(backend).salt_in_sql("native", salt) for salt in spied.salts]
    placeholders = [engine_of(backend).salt_in_sql("native", placeholder) for placeholder in PLACEHOLDERS]
    assert len(rows.on.compiled) == 1 and len(spied.run) == 3
    for statement, salt in zip(spied.run, salts, strict=True):
        assert salt in statement.sql and not any(one in statement.sql for one in placeholders)


def test_where_nothing_is_chosen_the_query_has_no_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    table = vm.open(ROWS, unit=vm.per_row(), budget=vm.zcdp(10**9))
    spied = Spied(monkeypatch, module)
    for _ in range(2):
        table.group_by("k", keys=["a"]).agg(n=vm.count()).release(spend=vm.zcdp(1))
    assert spied.run[0].sql == spied.run[1].sql
    assert not re.search(r"\d{15}", spied.run[0].sql)


def questions(table: Any) -> dict[str, Callable[[], Any]]:
    """Questions of one table that look alike."""
    few, n, k = ["a", "b"], table["n"], table["k"]

    def joined(values: list[float]) -> Any:
        return table.join(vm.public({"k": ["a", "b"], "w": values}), on="k").agg(s=vm.sum("w", bounds=(0, 9)))

    return {
        "two keys": lambda: table.group_by("k", keys=few).agg(n=vm.count()),
        "in another order": lambda: table.group_by("k", keys=["b", "a"]).agg(n=vm.count()),
        "and others": lambda: table.group_by("k", keys=few, other=True).agg(n=vm.count()),
        "units": lambda: table.group_by("k", keys=few).agg(n=vm.count_units()),
        "integers": lambda: table.group_by("j", keys=[1, 2]).agg(n=vm.count()),
        "truth": lambda: table.group_by("t", keys=[True, False]).agg(n=vm.count()),
        "untruth": lambda: table.group_by("t", keys=[False, True]).agg(n=vm.count()),
        "pairs": lambda: table.group_by("k", "j", keys=[("a", 1), ("b", 2), ("d", 2)]).agg(n=vm.count()),
        "other pairs": lambda: table.group_by("k", "j", keys=[("a", 1), ("b", 2), ("c", 1)]).agg(n=vm.count()),
        "below 100": lambda: table.filter(n < 100).group_by("k", keys=few).agg(n=vm.count()),
        "below 101": lambda: table.filter(n < 101).group_by("k", keys=few).agg(n=vm.count()),
        "below 100.5": lambda: table.filter(n < 100.5).group_by("k", keys=few).agg(n=vm.count()),
        "at 1": lambda: table.filter(n == 1).agg(n=vm.count()),
        "at 'b'": lambda: table.filter(k == "b").agg(n=vm.count()),
        "at 'B'": lambda: table.filter(k == "B").agg(n=vm.count()),
        "sum to 100": lambda: table.agg(s=vm.sum("n", bounds=(0, 100))),
        "sum to 200": lambda: table.agg(s=vm.sum("n", bounds=(0, 200))),
        "sum of another": lambda: table.agg(s=vm.sum("j", bounds=(0, 200))),
        "halves": lambda: table.agg(q=vm.quantile("n", 0.5, bounds=(0, 200))),
        "halves to 100": lambda: table.agg(q=vm.quantile("n", 0.5, bounds=(0, 100))),
        "halves of another": lambda: table.agg(q=vm.quantile("j", 0.5, bounds=(0, 200))),
        "mean": lambda: table.group_by("k", keys=few).agg(m=vm.mean("n", bounds=(0, 200))),
        "joined": lambda: joined([1, 2]),
        "otherwise": lambda: joined([1, 3]),
        "reals": lambda: joined([1.0, 3.0]),
    }


def integers(asked: Any) -> dict[Statistic, list[int]]:
    statistics = list(dict.fromkeys(one for reading in asked.plan.readings.values() for one in reading.statistics))
    arrays = asked.plan.collecting(asked.plan.relation.rows(), statistics)
    return {one: array.tolist() for one, array in zip(statistics, arrays, strict=True)}


def test_no_question_has_the_answer_of_another(backend: Any, load: Load) -> None:
    rows = load(backend, "alike", ROWS).expression

    def opened() -> Any:
        # So many rows of a unit count that none is left out, and answers are exact.
        return vm.open(rows, unit=vm.per("u", rows=100), budget=vm.zcdp(10**9))

    table = opened()
    # What a question is known by does not depend on the engine: on the others a part of them is enough.
    chosen = list(questions(table))[:: 1 if backend.name == "duckdb" else 4]
    alone = {name: integers(questions(opened())[name]()) for name in chosen}
    dice = random.Random(7)
    for _ in range(2):
        names = list(alone)
        dice.shuffle(names)
        made = questions(table)
        assert {name: integers(made[name]()) for name in names} == alone
    compiled = len(table.relation.source.on.compiled)
    assert compiled == len(alone)
    assert {name: integers(one()) for name, one in questions(table).items() if name in alone} == alone
    assert len(table.relation.source.on.compiled) == compiled


@pytest.fixture
def little_to_collect() -> Iterator[None]:
    """What was made before is left out of collections, which would take long, and would drop tables of other tests."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("little_to_collect")
def test_keys_that_are_joined_as_a_table_stay_as_long_as_their_query_is_kept(backend: Any, load: Load) -> None:
    rows = source_rows(load(backend, "joined_keys", ROWS), "u")
    keys = read_keys(rows.schema, ["k", "j"], [("a", 1), ("b", 2)], other=True)
    sizes = turn_of(backend).sizes
    Collecting(keys, Limits(rows=100))(rows, [Total()])
    before = set(sizes)
    for _ in range(3):
        gc.collect()
        assert Collecting(keys, Limits(rows=100))(rows, [Total()])[0].tolist() == [50, 50, 100]
    assert set(sizes) == before
    [mine] = [name for name in before if any(table.name == name for table in read_by(rows))]
    del rows
    gc.collect()
    turn_of(backend).drop_what_is_unused()
    assert mine not in sizes


def read_by(rows: Any) -> list[Any]:
    return [table for compiled, _ in rows.on.compiled._kept.values() for table in compiled.tables]
