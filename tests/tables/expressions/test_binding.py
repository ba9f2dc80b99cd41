"""Nested expressions: text and plans grow with the expression and no faster, and values are the reference's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any

import ibis
import pytest
from tests.tables.expressions.agreement import agree
from tests.tables.expressions.generating import columns_of
from tests.tables.expressions.nasty import nasty_table
from tests.tables.expressions.nesting import NESTED, nested, spine

import viameter as vm
from viameter.tables.bounding import Limits, contributions
from viameter.tables.engines import EngineTable, engine_of, run
from viameter.tables.engines.compiled import written_sql
from viameter.tables.expressions import Expression, Schema, binding, evaluate, filtered, to_ibis, with_columns
from viameter.tables.expressions.typing_rules import RULES
from viameter.tables.relation import Relation, source_rows
from viameter.tables.units import per

LEVELS = (4, 8, 12)
CASES = [(operation, place) for operation, cases in NESTED.items() for place in range(len(cases))]
ROWS: dict[str, list[Any]] = {
    "u": [n % 7 for n in range(60)],
    "items": [n % 13 - 3 for n in range(60)],
    "x": [n / 8 for n in range(60)],
}
Load = Callable[[Any, str, Any], EngineTable]


@pytest.fixture(autouse=True)
def without_jit(request: pytest.FixtureRequest) -> None:
    """PostgreSQL would take longer to compile such queries to machine code than to run them."""
    if "backend" in request.fixturenames and (found := request.getfixturevalue("backend")).name == "postgres":
        with found.con.transaction():
            found.con.execute("SET jit = off")


@pytest.fixture(scope="module")
def table(backend: Any, load: Load) -> EngineTable:
    return load(backend, "nested_rows", nasty_table())


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return list(nasty_table().to_pylist())


def query(rows: Any, expression: Expression) -> Any:
    return with_columns(rows, {"found": to_ibis(expression, rows)}).select("row", "found")


@pytest.fixture(scope="module")
def writers() -> dict[str, Any]:
    """By engine, a backend that is connected to nothing, and writes SQL all the same."""
    found = {}
    for name in ("duckdb", "postgres", "pyspark"):
        assert getattr(ibis, name)  # by which Ibis sets up the options of its writer
        found[name] = import_module(f"ibis.backends.{name}").Backend()
    return found


@pytest.fixture(scope="module")
def planners(chosen: tuple[str, ...], request: pytest.FixtureRequest, load: Load) -> dict[str, Any]:
    """By engine that says soon what it would do, a connection to a table of such rows; Spark takes long to ask."""
    backends = {name: request.getfixturevalue(f"{name}_backend") for name in chosen if name in ("duckdb", "postgres")}
    return {name: load(backend, "nested_rows", nasty_table()).backend.con for name, backend in backends.items()}


def test_every_operation_of_the_grammar_is_nested_here() -> None:
    assert set(NESTED) == set(RULES)


@pytest.mark.parametrize(("operation", "place"), CASES, ids=[f"{name}-{place}" for name, place in CASES])
def test_text_and_plan_grow_with_nesting_and_no_faster(
    writers: dict[str, Any], planners: dict[str, Any], operation: str, place: int
) -> None:
    """The text of every engine, which none is needed for; of filters that of one, for they bind before it is chosen."""
    column, nest = NESTED[operation][place]
    rows = ibis.table(ibis.Schema.from_pyarrow(nasty_table().schema), name="nested_rows")
    columns = columns_of(Schema.of_ibis(rows.schema()))
    sizes: dict[str, list[int]] = defaultdict(list)
    for depth in LEVELS:
        expression = nested(columns[column], nest, columns, depth)
        made = query(rows, expression)
        # Engines push filters through selects, and write out there what is in these.
        kept = made.filter(made["found"].notnull())
        is_there = to_ibis(~expression.is_null(), rows).fill_null(False)
        sizes["filter"].append(len(written_sql(writers["duckdb"], filtered(rows, is_there))))
        for name, backend in writers.items():
            text = written_sql(backend, kept)
            sizes[name].append(len(text))
            if name in planners:
                plan = planners[name].execute(f"EXPLAIN (FORMAT JSON) {text}").fetchall()
                sizes[f"plan of {name}"].append(len(str(plan)))
    for what, (small, middle, large) in sizes.items():
        assert large - middle <= 2 * (middle - small) + 8000, what


def test_deep_expressions_give_what_the_reference_gives(table: EngineTable, rows: list[dict[str, Any]]) -> None:
    seeds, depth = (2, 12) if table.engine.name == "pyspark" else (12, 30)  # Spark takes seconds for each
    for seed in range(seeds):
        expression = spine(columns_of(Schema.of_ibis(table.ibis_schema)), depth, seed)
        found = {row["row"]: row["found"] for row in run(table, query(table.expression, expression))}
        assert len(found) == len(rows)
        wrong = [
            (row, found[row["row"]], evaluate(expression, row))
            for row in rows
            if not agree(expression, found[row["row"]], evaluate(expression, row))
        ]
        assert wrong == [], seed


REPORTED: dict[str, Callable[[Any], Any]] = {
    "round_to": lambda items: nested(items, lambda e, _: e.round_to(3), {}, 5) > 0,
    "clip": lambda items: nested(items, lambda e, _: e.clip(0, 9), {}, 12) > 0,
    "floor_divide": lambda items: items // items // items // items // items > 0,
    "sums": lambda items: nested(items, lambda e, _: e + items, {}, 40) > 0,
}


@pytest.mark.parametrize("name", REPORTED)
def test_nested_filters_are_answered(backend: Any, load: Load, name: str) -> None:
    opened = vm.open(load(backend, "reported", ROWS).expression, unit=vm.per("u", rows=20), budget=vm.zcdp(10**9))
    kept = opened.filter(REPORTED[name](opened["items"]))
    answer = kept.agg(n=vm.count()).release(spend=vm.zcdp(10**8))
    expected = [evaluate(REPORTED[name](opened["items"]), {"items": item}) for item in ROWS["items"]].count(True)
    assert round(answer["n"].value[0]) == expected


def test_columns_derived_of_one_another_are_answered(backend: Any, load: Load) -> None:
    opened = vm.open(load(backend, "derived", ROWS).expression, unit=vm.per("u", rows=20), budget=vm.zcdp(10**9))
    table, expected = opened, [(item % 97, item % 89) for item in ROWS["items"]]
    table = table.derive(c0=table["items"] % 97, c1=table["items"] % 89)
    last_level = 8 if backend.name == "pyspark" else 24  # Spark takes seconds for each
    for level in range(2, last_level + 1):
        one, other = table[f"c{level - 1}"], table[f"c{level - 2}"]
        table = table.derive(**{f"c{level}": (one * 3 + other - one) % 1009})
        expected = [(last, (last * 3 + before - last) % 1009) for before, last in expected]
    answer = table.filter(table[f"c{last_level}"] > 500).agg(n=vm.count()).release(spend=vm.zcdp(10**8))
    assert round(answer["n"].value[0]) == sum(last > 500 for _, last in expected)


@pytest.mark.parametrize("seed", range(6))
def test_columns_of_all_sizes_in_one_derive_are_what_the_reference_gives(
    duckdb_backend: Any, load: Load, seed: int
) -> None:
    rows, chance = Relation(source_rows(load(duckdb_backend, "sizes", ROWS), "u"), per("u", rows=2)), Random(seed)
    sizes = [chance.randint(1, 6) for _ in range(8)]
    columns = {
        f"c{place}": nested(rows[chance.choice(["u", "items"])] // 7, lambda e, _: (e + 1).round_to(3) % 1001, {}, size)
        for place, size in enumerate(sizes)
    }
    columns["again"] = columns["c3"]
    columns["mentions"] = columns["c5"] + columns["c2"]
    made = rows.derive(columns)
    found = run(made.rows().on, made.rows().expression.order_by("x"))
    given = [dict(zip(ROWS, values, strict=True)) for values in zip(*ROWS.values(), strict=True)]
    for name, expression in columns.items():
        assert [row[name] for row in found] == [evaluate(expression, row) for row in given]


def test_two_large_columns_in_one_derive_are_answered() -> None:
    def large(column: Any) -> Any:
        return (column // 7 + 0).round_to(3) % 1001

    table = vm.open({"u": [1, 2], "v": [3, 4]}, unit=vm.per("u", rows=1), budget=vm.zcdp(1))
    made = table.derive(p=large(table["u"]), q=large(table["v"]))
    made.agg(s=vm.sum("p", bounds=(0, 9))).preview(spend=vm.zcdp(1))


def _unbound(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LARGEST", "LARGEST_COLUMN", "TALLEST"):
        monkeypatch.setattr(binding, name, 10**9)


def relation(backend: Any, load: Load) -> Relation:
    return Relation(source_rows(load(backend, "hidden", ROWS), "u"), per("u", rows=2))


def test_hidden_columns_are_in_no_result_and_change_no_sample(
    backend: Any, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> Any:
        rows = relation(backend, load)
        rows = rows.filter(rows["items"].round_to(2).round_to(3) > -3)
        clipped = nested(rows["items"], lambda e, _: e.clip(-2, 8), {}, 4)
        return rows.derive({"k": clipped.round_to(3), "w": rows["x"].clip(0, 5).floor()})

    asked: dict[str, Any] = {"unit": "viameter_unit", "groups": ["k"], "totals": {"n": 1, "s": "w"}, "salt": "salt"}
    results = []
    for _ in range(2):
        rows = made().rows()
        assert set(rows.expression.columns) == {"u", "items", "x", "k", "w", "viameter_unit"}
        assert list(rows.schema) == ["u", "items", "x", "k", "w"]
        found = [
            contributions(rows.expression, engine=engine_of(backend), limits=limits, order="portable", **asked)
            for limits in (Limits(rows=2), Limits(groups=1, per_group=3))
        ]
        text = written_sql(rows.on.backend, found[0])
        results.append([sorted(map(repr, run(rows.on, query))) for query in found])
        assert (binding.HIDDEN in text) is (len(results) == 1)
        _unbound(monkeypatch)
    assert results[0] == results[1]


PLAIN: dict[str, Callable[[Any], Any]] = {
    "count": lambda t: t.agg(n=vm.count()),
    "mean": lambda t: t.agg(m=vm.mean("x", bounds=(0, 8))),
    "variance": lambda t: t.agg(v=vm.variance("x", bounds=(0, 8)), m=vm.mean(t["x"].clip(0, 5), bounds=(0, 5))),
    "filter": lambda t: t.filter((t["items"] > 3) & (t["x"] < 5) | (t["items"].round_to(10) == 0)).agg(n=vm.count()),
    "derive": lambda t: t.derive(y=t["x"] * 60, z=t["items"] + t["u"]).agg(m=vm.sum("y", bounds=(0, 99))),
    "groups": lambda t: t.derive(b=t["x"].bin([0, 2, 4, 8])).group_by("b", keys=[0, 1, 2]).agg(n=vm.count()),
    "median": lambda t: t.agg(m=vm.median("x", bounds=(0, 8))),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_questions_have_no_inner_selects(
    duckdb_backend: Any, load: Load, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def texts() -> list[str]:
        source = load(duckdb_backend, "plain_rows", ROWS).expression
        table = vm.open(source, unit=vm.per("u", rows=2), budget=vm.zcdp(1), order="portable")
        question = PLAIN[name](table)
        question.preview(spend=vm.zcdp("1/10"))
        kept = question.table.relation.rows().on.compiled._kept.values()
        return ["".join(compiled.pieces) for compiled, _ in kept]

    bound = texts()
    _unbound(monkeypatch)
    assert bound == texts() and bound
