"""Compiled queries: made once, with another salt each time and nothing else changed; bounded, and let go in time."""

from __future__ import annotations

import gc
import itertools
import random
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.threads import in_threads

from viameter.tables.bounding import Limits, asking, contributions, statement
from viameter.tables.bounding.projection import Projection
from viameter.tables.bounding.summing import is_salted
from viameter.tables.engines import EngineError, EngineTable, engine_named, open_source, run
from viameter.tables.engines import compiled as module
from viameter.tables.engines.compiled import Compiled, CompiledQueries

Load = Callable[[Any, str, Any], EngineTable]
ROWS = {
    "u": ["a", "a", "b", "b"],
    "g": ["x", "y", "x", None],
    "v": [1, 2, 3, 4],
    "w": [9, 0, 5, 6],
    "b": [0, 1, None, 1],
}
LIMITS = [
    Limits(),
    Limits(rows=1),
    Limits(groups=1),
    Limits(per_group=1),
    Limits(rows=3, groups=2),
    Limits(rows=3, per_group=2),
    Limits(groups=2, per_group=2),
    Limits(rows=5, groups=3, per_group=2),
]
MANY = {
    "u": [n % 5 for n in range(40)],
    "g": [("x", "y", "z", None)[n * n % 4] for n in range(40)],
    "v": [n * 7 % 11 for n in range(40)],
    "w": [n * 5 % 13 - 6 for n in range(40)],
    "b": [None if n % 3 == 0 else n % 2 for n in range(40)],
}
SHAPES: list[dict[str, Any]] = [
    {"unit": unit, "groups": groups, "totals": totals, "bins": bins, "first": first, "limits": limits}
    for unit, groups, totals, bins, first, limits in itertools.product(
        (None, "u"),
        ((), ("g",)),
        ({"n": 1}, {"n": 1, "s": "v"}, {"t": "w", "n": 1, "s": "v"}),
        (None, "b"),
        (None, "v"),
        LIMITS,
    )
]

SAMPLED: dict[str, Any] = {"unit": "u", "groups": ("g",), "totals": {"n": 1, "s": "v"}, "limits": Limits(rows=1)}


def salts(seed: int = 0) -> Iterator[str]:
    dice = random.Random(seed)
    return (f"{dice.getrandbits(128):032x}" for _ in itertools.count())


def asked(table: EngineTable, shape: dict[str, Any], *, salt: str, **options: Any) -> Any:
    known_by = options.pop("known_by", "rows")
    return statement(table, lambda: table.expression, known_by=known_by, salt=salt, **shape, **options)


def given(rows: Any) -> Callable[[], Any]:
    return lambda: rows


def salted(shape: dict[str, Any]) -> bool:
    return is_salted(Projection(**{name: value for name, value in shape.items() if name != "limits"}), shape["limits"])


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, rows))


@pytest.mark.parametrize("order", ["native", "portable"])
def test_a_compiled_query_with_a_salt_gives_what_the_query_with_that_salt_does(
    backend: Any, load: Load, order: Any
) -> None:
    table = load(backend, "compiled_shapes", MANY)
    dice = random.Random(f"{backend.name} {order}")
    # All kinds of limits, whatever else is asked, in a different selection for each engine and order.
    by_limits = [[shape for shape in SHAPES if shape["limits"] == limits] for limits in LIMITS]
    ordered_bins = [shape for shape in SHAPES if shape["first"] and shape["bins"]]
    chosen = [one for shapes in by_limits for one in dice.sample(shapes, 2)] + dice.sample(ordered_bins, 6)
    for shape in chosen if backend.name != "pyspark" else dice.sample(chosen, 3):  # Spark takes long for each
        made = [
            asked(table, {**shape, "order": order}, salt=salt, known_by=repr(shape))
            for salt in ("first", "second", "first")
        ]
        wanted = contributions(table.expression, engine=table.engine, salt="first", order=order, **shape)
        assert made[0].columns == tuple(wanted.columns)
        assert in_order(run(table, made[0])) == in_order(run(table, wanted)), shape
        assert made[0].sql == made[2].sql
        assert (made[0].sql != made[1].sql) is salted(shape), shape


def test_questions_of_one_shape_share_what_is_around_their_rows(backend: Any, load: Load) -> None:
    """Whatever their columns are called, and whatever their rows are: none of it is in what is shared."""
    table = load(backend, "compiled_frames", MANY)
    answers, compiled = [], 0
    for number, name in ((2, "g"), (3, "h"), (4, "'\" -- $1 ?")):
        kept = table.expression.filter(table.expression.v > number)
        rows = kept.mutate(**{name: kept.g}).select("u", name, total=kept.v)
        shape: dict[str, Any] = {"unit": "u", "groups": (name,), "totals": {f"{name} n": 1, f"{name} s": "total"}}
        made = statement(table, given(rows), known_by=number, salt="salt", limits=Limits(rows=2), **shape)
        wanted = contributions(rows, engine=table.engine, limits=Limits(rows=2), salt="salt", **shape)
        answers.append((in_order(run(table, made)), in_order(run(table, wanted))))
        compiled = compiled or asking._frame.cache_info().misses
    assert asking._frame.cache_info().misses == compiled
    assert all(one == other for one, other in answers)


def test_the_same_rows_in_two_orders_are_two_queries(backend: Any, load: Load) -> None:
    table = load(backend, "compiled_orders", MANY)
    texts = {order: asked(table, SAMPLED, salt="salt", order=order).sql for order in ("native", "portable", "native")}
    assert texts["native"] != texts["portable"] and len(table.compiled) == 2
    if backend.name != "pyspark":
        for order in ("native", "portable"):
            query = contributions(table.expression, engine=table.engine, salt="salt", order=order, **SAMPLED)
            made = asked(table, SAMPLED, salt="salt", order=order)
            assert in_order(run(table, made)) == in_order(run(table, query))


def test_every_query_of_which_rows_are_chosen_is_kept(backend: Any, load: Load) -> None:
    table = load(backend, "compiled_kept", ROWS)
    drawn = salts()
    for limits in LIMITS:
        shape: dict[str, Any] = {"unit": "u", "groups": ("g",), "totals": {"n": 1, "s": "v"}, "limits": limits}
        before = len(table.compiled)
        asked(table, shape, salt=next(drawn))
        assert len(table.compiled) == before + 1
        again = statement(
            table, lambda: pytest.fail("it was compiled twice"), known_by="rows", salt=next(drawn), **shape
        )
        assert again.columns == ("g", "n", "s")
        assert len(table.compiled) == before + 1


def test_what_a_question_says_is_never_taken_for_the_salt(backend: Any, load: Load) -> None:
    """Neither a constant that is a placeholder, nor one that is a release's salt."""
    table, drawn = load(backend, "compiled_elsewhere", ROWS), salts()
    placeholder, used = asking.PLACEHOLDERS[0], next(drawn)
    number = int(table.engine.salt_in_sql("native", placeholder)) if backend.name != "postgres" else 7
    rows = table.expression
    rows = rows.filter((rows.g != f"{placeholder} {placeholder}|") & (rows.g != used) & (rows.v != number))
    for order in ("native", "portable"):
        texts = set()
        for salt in (used, next(drawn)):
            made = statement(table, lambda: rows, known_by=order, salt=salt, order=order, **SAMPLED)
            assert f"{placeholder} {placeholder}|" in made.sql and used in made.sql and str(abs(number)) in made.sql
            texts.add(made.sql)
        assert len(texts) == 2
    assert len(table.compiled) == 2


def test_a_salt_or_rows_that_are_not_where_they_are_expected_are_noticed(duckdb_backend: Any) -> None:
    import ibis

    compiler, salts = duckdb_backend.compiler, ("1234567890123456789", "-42")
    rows = ibis.table({"v": "int64"}, name="rows")

    def frame(query: Callable[[int], Any], *, is_salted: bool = True, name: str = "rows") -> Any:
        queries = {salt: query(int(salt)) for salt in salts}
        return module.compile_frame(compiler, queries, rows=name, is_salted=is_salted)

    def with_it(salt: int) -> Any:
        return rows.filter(rows.v < salt)

    def without(salt: int) -> Any:
        return rows.filter(rows.v < 7)

    made = frame(with_it)
    assert (len(made.before), len(made.after)) == (1, 2)
    assert len(frame(without, is_salted=False).after) == 1
    # A salt that must be there and is not, one that is there and must not be, and numbers that look like it.
    same, longer = int(salts[0]), f"a{salts[0]}0"
    for query, is_there in (
        (without, True),
        (with_it, False),
        (lambda salt: with_it(salt).filter(rows.v != same), True),
        (lambda salt: with_it(salt).mutate(text=ibis.literal(longer)), True),
    ):
        with pytest.raises(RuntimeError, match="the place of the salt"):
            frame(query, is_salted=is_there)
    # Rows that are not there, are there twice, or whose name stands elsewhere.
    for query, name in (
        (with_it, "other"),
        (lambda salt: with_it(salt).union(rows), "rows"),
        (lambda salt: with_it(salt).mutate(rows=rows.v), "rows"),
    ):
        with pytest.raises(RuntimeError, match="the place of the rows"):
            frame(query, name=name)


def test_a_limit_that_is_a_placeholder_is_noticed_and_not_replaced_by_a_salt(
    duckdb_backend: Any, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a unit would keep as many rows as the salt says."""
    table, names = load(duckdb_backend, "compiled_limits", ROWS), [f"salt{number}" for number in range(20)]
    first, second = [name for name in names if int(engine_named("duckdb").salt_in_sql("native", name)) > 0][:2]
    limit = int(engine_named("duckdb").salt_in_sql("native", first))
    monkeypatch.setattr(asking, "PLACEHOLDERS", (first, second))
    with pytest.raises(RuntimeError, match="the place of the salt"):
        asked(table, {**SAMPLED, "limits": Limits(rows=limit)}, salt="salt")
    monkeypatch.setattr(asking, "PLACEHOLDERS", (second, first))
    made = asked(table, {**SAMPLED, "limits": Limits(rows=limit)}, salt="salt")
    assert made.sql.count(str(limit)) == 1


def test_queries_are_kept_up_to_a_number_and_a_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_QUERIES", 3)
    monkeypatch.setattr(module, "MOST_WEIGHT", 100)
    kept = CompiledQueries()

    def query(weight: int) -> Compiled:
        return Compiled(("",), (), None, (), weight)

    queries = [query(weight) for weight in (10, 10, 10, 10)]
    for key, one in enumerate(queries[:3]):
        kept.keep(key, one)
    assert kept.find(0) is queries[0]  # now 1 was asked for longest ago
    kept.keep(3, queries[3])
    assert [kept.find(key) for key in range(4)] == [queries[0], None, queries[2], queries[3]]
    kept.keep(4, query(71), weight=10)
    assert [kept.find(key) is not None for key in range(5)] == [False, False, False, True, True]
    # Put in the place of itself it weighs once, and what weighs too much by itself is not kept.
    for _ in range(5):
        kept.keep(4, query(80), weight=10)
    kept.keep(5, query(50), weight=51)
    assert [kept.find(key) is not None for key in range(6)] == [False, False, False, True, True, False]
    kept.keep(6, query(11))
    assert [kept.find(key) is not None for key in (3, 4, 6)] == [False, False, True]
    assert len(kept) == 1


def test_a_backend_is_let_go_at_once_with_its_compiled_queries() -> None:
    table = open_source(ROWS)
    drawn = salts()
    for limits in LIMITS:
        run(table, asked(table, {**SAMPLED, "limits": limits}, salt=next(drawn)))
    assert len(table.compiled) == len(LIMITS)
    gone = weakref.ref(table.backend)
    gc.disable()
    try:
        del table
        assert gone() is None
    finally:
        gc.enable()


def test_tables_made_of_one_share_what_was_compiled_and_those_opened_apart_do_not() -> None:
    table, other = open_source(ROWS), open_source(ROWS)
    assert table.with_expression(table.expression.select("u")).compiled is table.compiled
    assert other.compiled is not table.compiled


def test_small_tables_in_memory_are_handed_over_again_after_they_were_dropped(duckdb_backend: Any) -> None:
    import ibis

    held = ibis.memtable({"u": ["a", "b"], "g": ["x", "x"], "v": [1, 2]})
    table = EngineTable(held, duckdb_backend)
    shape = {**SAMPLED, "groups": ()}
    drawn = salts()

    def answer() -> Any:
        return run(table, asked(table, shape, salt=next(drawn)))

    assert answer() == answer() == [{"n": "2", "s": "3"}]
    assert len(table.compiled) == 1
    name = held.op().name
    duckdb_backend.con.unregister(name)
    duckdb_backend._memtables.remove(held.op())
    assert answer() == [{"n": "2", "s": "3"}]
    duckdb_backend.con.unregister(name)


def test_functions_of_python_are_handed_over_each_time(duckdb_backend: Any, load: Load) -> None:
    import ibis

    @ibis.udf.scalar.python  # type: ignore[untyped-decorator]
    def doubled(x: int) -> int:
        return 2 * x

    table = load(duckdb_backend, "compiled_functions", ROWS)
    rows, drawn = table.expression.mutate(v=doubled(table.expression.v)), salts()
    for _ in range(2):
        shape = {**SAMPLED, "groups": (), "limits": Limits()}
        made = statement(table, lambda: rows, known_by=0, salt=next(drawn), **shape)
        assert run(table, made) == [{"n": "4", "s": "20"}]
        duckdb_backend.con.remove_function("doubled_0" if "doubled_0" in made.sql else type(doubled(1).op()).__name__)


def test_a_source_that_changes_between_two_runs_is_an_error_or_read_as_it_is(backend: Any, load: Load) -> None:
    table = load(backend, "compiled_changing", ROWS)
    drawn = salts()
    shape = {**SAMPLED, "groups": (), "limits": Limits(per_group=9)}

    def answer() -> Any:
        return run(table, asked(table, shape, salt=next(drawn)))

    assert answer() == [{"n": "4", "s": "10"}]
    load(backend, "compiled_changing", {**ROWS, "v": [5, 6, 7, 8]})
    assert answer() == [{"n": "4", "s": "26"}]
    load(backend, "compiled_changing", {name: values for name, values in ROWS.items() if name != "v"})
    with pytest.raises(EngineError) as caught:
        answer()
    assert "v" not in str(caught.value).split()
    load(backend, "compiled_changing", ROWS)
    assert answer() == [{"n": "4", "s": "10"}]


def test_threads_ask_the_same_and_other_questions_of_one_table() -> None:
    table = open_source({"u": list(range(60)), "g": ["x", "y", "z"] * 20, "v": list(range(60))})
    rows = table.expression

    def ask(place: int) -> Any:
        drawn = salts(place)
        below = place % 5 * 10 + 10
        made = [
            statement(
                table, lambda: rows.filter(rows.v < below), known_by=below, salt=next(drawn),
                unit="u", groups=(), totals={"s": "v"}, limits=Limits(rows=1, groups=1),
            )
            for _ in range(3)
        ]  # fmt: skip
        return [run(table, one) for one in made]

    found: dict[int, Any] = {}
    in_threads(*(lambda place=place: found.update({place: ask(place)}) for place in range(16)))
    for place in range(16):
        assert found[place] == [[{"s": str(sum(range(place % 5 * 10 + 10)))}]] * 3
    assert len(table.compiled) == 5
