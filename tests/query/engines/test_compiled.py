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

from viameter.query.bounding import Limits, contributions, statement
from viameter.query.bounding.summing import is_salted
from viameter.query.engines import EngineError, EngineTable, open_source, run, sql_of
from viameter.query.engines import compiled as module
from viameter.query.engines.compiled import Compiled, CompiledQueries

Load = Callable[[Any, str, Any], EngineTable]
ROWS = {"u": ["a", "a", "b", "b"], "g": ["x", "y", "x", None], "v": [1, 2, 3, 4], "b": [0, 1, None, 1]}
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
SHAPES: list[dict[str, Any]] = [
    {"unit": unit, "groups": groups, "totals": totals, "bins": bins, "first": first, "limits": limits}
    for unit, groups, totals, bins, first, limits in itertools.product(
        (None, "u"), ((), ("g",)), ({"n": 1}, {"n": 1, "s": "v"}), (None, "b"), (None, "v"), LIMITS
    )
]

SAMPLED: dict[str, Any] = {"unit": "u", "groups": ("g",), "totals": {"n": 1, "s": "v"}, "limits": Limits(rows=1)}


def salts(seed: int = 0) -> Iterator[str]:
    dice = random.Random(seed)
    return (f"{dice.getrandbits(128):032x}" for _ in itertools.count())


def asked(table: EngineTable, shape: dict[str, Any], *, salt: str, fresh: Callable[[], str], **options: Any) -> Any:
    known_by = options.pop("known_by", "rows")
    return statement(
        table, lambda: table.expression, known_by=known_by, salt=salt, fresh_salt=fresh, **shape, **options
    )


@pytest.mark.parametrize("order", ["native", "portable"])
def test_a_compiled_query_with_a_salt_is_the_query_with_that_salt(backend: Any, load: Load, order: Any) -> None:
    table = load(backend, "compiled_shapes", ROWS)
    drawn, dice = salts(), random.Random(f"{backend.name} {order}")
    # All kinds of limits, whatever else is asked, in a different selection for each engine and order.
    by_limits = [[shape for shape in SHAPES if shape["limits"] == limits] for limits in LIMITS]
    ordered_bins = [shape for shape in SHAPES if shape["first"] and shape["bins"]]
    for shape in [one for shapes in by_limits for one in dice.sample(shapes, 2)] + dice.sample(ordered_bins, 6):
        ordered = {**shape, "order": order}
        texts = []
        for salt in (next(drawn), next(drawn)):
            made = asked(table, ordered, salt=salt, fresh=drawn.__next__, known_by=repr(shape))
            query = contributions(table.expression, engine=table.engine, salt=salt, **ordered)
            assert made.sql == sql_of(table, query, pretty=False), shape
            assert made.columns == tuple(query.columns)
            texts.append(made.sql)
        depends = is_salted(**shape)
        assert (texts[0] != texts[1]) is depends, shape


def test_the_same_rows_in_two_orders_are_two_queries(backend: Any, load: Load) -> None:
    table, drawn = load(backend, "compiled_orders", ROWS), salts()
    for order in ("native", "portable", "native"):
        salt = next(drawn)
        made = asked(table, SAMPLED, salt=salt, fresh=drawn.__next__, order=order)
        query = contributions(table.expression, engine=table.engine, salt=salt, order=order, **SAMPLED)
        assert made.sql == sql_of(table, query, pretty=False)
    assert len(table.compiled) == 2


def test_every_query_of_which_rows_are_chosen_is_kept(backend: Any, load: Load) -> None:
    table = load(backend, "compiled_kept", ROWS)
    drawn = salts()
    for limits in LIMITS:
        shape = {"unit": "u", "groups": ("g",), "totals": {"n": 1, "s": "v"}, "limits": limits}
        before = len(table.compiled)
        asked(table, shape, salt=next(drawn), fresh=drawn.__next__)
        assert len(table.compiled) == before + 1
        asked(table, shape, salt=next(drawn), fresh=lambda: pytest.fail("it was compiled twice"))
        assert len(table.compiled) == before + 1


def test_a_query_whose_placeholder_stands_elsewhere_is_not_kept_and_right(backend: Any, load: Load) -> None:
    table = load(backend, "compiled_elsewhere", ROWS)
    drawn = salts()
    placeholder = next(drawn)
    constants = table.expression.filter(table.expression.g != f"before {placeholder} after")
    for order in ("native", "portable"):
        for salt in (next(drawn), next(drawn)):
            shape = {**SAMPLED, "order": order}
            made = statement(
                table, lambda: constants, known_by=order, salt=salt, fresh_salt=lambda: placeholder, **shape
            )
            wanted = contributions(constants, engine=table.engine, salt=salt, **shape)
            assert made.sql == sql_of(table, wanted, pretty=False)
            assert f"before {placeholder} after" in made.sql


def test_a_constant_that_is_the_salt_of_a_release_stays(backend: Any, load: Load) -> None:
    table = load(backend, "compiled_constants", ROWS)
    drawn = salts()
    used = next(drawn)
    rows = table.expression.filter(table.expression.g != used)
    for salt in (used, next(drawn)):
        made = statement(table, lambda: rows, known_by=1, salt=salt, fresh_salt=drawn.__next__, **SAMPLED)
        query = contributions(rows, engine=table.engine, salt=salt, **SAMPLED)
        assert made.sql == sql_of(table, query, pretty=False)
    assert len(table.compiled) == 1


@pytest.mark.parametrize("is_salted", [True, False])
def test_a_salt_that_is_not_where_it_is_expected_is_noticed(backend: Any, load: Load, is_salted: bool) -> None:
    table = load(backend, "compiled_noticed", ROWS)
    rows = table.expression
    digits = "1234567890123456789"
    with_it, without = rows.filter(rows.v < int(digits)), rows.filter(rows.v < 7)
    found = module.compile_salted(backend, with_it if is_salted else without, placeholder=digits, is_salted=is_salted)
    assert found is not None and len(found.pieces) == 1 + is_salted
    # A salt that must be there and is not, and one that is there and must not be.
    other = without if is_salted else with_it
    assert module.compile_salted(backend, other, placeholder=digits, is_salted=is_salted) is None
    # A part of a longer number.
    longer = rows.filter(rows.v < int(digits)).filter(rows.v > int("-1" + digits[:-1]))
    assert module.compile_salted(backend, longer, placeholder=digits[:-1], is_salted=True) is None


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
        run(table, asked(table, {**SAMPLED, "limits": limits}, salt=next(drawn), fresh=drawn.__next__))
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
        return run(table, asked(table, shape, salt=next(drawn), fresh=drawn.__next__))

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
        made = statement(table, lambda: rows, known_by=0, salt=next(drawn), fresh_salt=drawn.__next__, **shape)
        assert run(table, made) == [{"n": "4", "s": "20"}]
        duckdb_backend.con.remove_function("doubled_0" if "doubled_0" in made.sql else type(doubled(1).op()).__name__)


def test_a_source_that_changes_between_two_runs_is_an_error_or_read_as_it_is(backend: Any, load: Load) -> None:
    table = load(backend, "compiled_changing", ROWS)
    drawn = salts()
    shape = {**SAMPLED, "groups": (), "limits": Limits(per_group=9)}

    def answer() -> Any:
        return run(table, asked(table, shape, salt=next(drawn), fresh=drawn.__next__))

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
                fresh_salt=drawn.__next__, unit="u", groups=(), totals={"s": "v"}, limits=Limits(rows=1, groups=1),
            )
            for _ in range(3)
        ]  # fmt: skip
        return [run(table, one) for one in made]

    found: dict[int, Any] = {}
    in_threads(*(lambda place=place: found.update({place: ask(place)}) for place in range(16)))
    for place in range(16):
        assert found[place] == [[{"s": str(sum(range(place % 5 * 10 + 10)))}]] * 3
    assert len(table.compiled) == 5
