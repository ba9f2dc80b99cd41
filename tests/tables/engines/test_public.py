"""Public tables: small ones that join a private table in its engine, and go when they are out of use."""

from __future__ import annotations

import datetime as dt
import gc
from collections.abc import Callable
from typing import Any

import pytest

from viameter.errors import ParameterError
from viameter.tables.engines import EngineTable, open_source, public_table, run
from viameter.tables.engines.compiled import written_sql

Load = Callable[[Any, str, Any], EngineTable]


def test_a_public_table_joins_a_private_one(backend: Any, load: Load) -> None:
    private = load(backend, "joined", {"k": ["a", "a'\\", None, "c"], "n": [1, 2, 3, 4]})
    columns: dict[str, list[Any]] = {
        "k": ["a", "a'\\", "z", None],
        "x": [0.5, None, 1.0, 2.0],
        "d": [dt.date(2020, 1, 1), None, None, None],
        "b": [True, False, None, None],
    }
    public = public_table(private, columns)
    joined = private.expression.join(public, "k").order_by("n")
    assert run(private, joined) == [
        {"k": "a", "n": 1, "x": 0.5, "d": dt.date(2020, 1, 1), "b": True},
        {"k": "a'\\", "n": 2, "x": None, "d": None, "b": False},
    ]


def names_in(backend: Any) -> list[str]:
    if backend.name == "duckdb":
        return [name for (name,) in backend.con.execute("SELECT table_name FROM information_schema.tables").fetchall()]
    return list(backend.list_tables())


def test_a_public_table_goes_when_it_is_out_of_use(backend: Any, load: Load) -> None:
    private = load(backend, "kept", {"k": [1, 2]})
    public = public_table(private, {"k": [2, 3]})
    name = public.op().name
    query = private.expression.join(public, "k")
    del public
    gc.collect()
    assert run(private, query) == [{"k": 2}]
    assert name in written_sql(private.backend, query) and name in names_in(backend)
    del query
    gc.collect()
    assert run(private, private.expression.agg(n=private.expression.k.max())) == [{"n": 2}]
    assert name not in names_in(backend)


def test_types_are_told_where_values_do_not_tell(backend: Any, load: Load) -> None:
    private = load(backend, "typed", {"k": [1]})
    public = public_table(private, {"k": [None], "s": [None]}, types={"k": "int32", "s": "string"})
    assert [str(kind) for kind in public.schema().values()] == ["int32", "string"]
    assert run(private, public) == [{"k": None, "s": None}]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({}, "mapping of names"),
        ({"k": [1], "j": []}, "no value that tells its type"),
        ({"k": [1], "j": [1, 2]}, "different lengths: j, k"),
        ({"k": [1, "x"]}, "'k' cannot be made"),
        ({"k": "abc"}, "one text"),
        ([1], "mapping of names"),
        ({1: [1]}, "mapping of names"),
        ({"k": [2**70]}, "'k' cannot be made"),
    ],
)
def test_what_makes_no_table_is_refused(columns: Any, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason) as caught:
        public_table(open_source({"k": [1]}), columns)
    assert str(2**70) not in str(caught.value)


def test_types_of_unknown_columns_are_refused() -> None:
    with pytest.raises(ParameterError, match="not there: j"):
        public_table(open_source({"k": [1]}), {"k": [1]}, types={"j": "int64"})
